//! Operations on rows before they are multiplied.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | y (q × p) | `rows` | some rows, one after the other, in the number type of the data |
//! | g (q) | `gains` | the factor of each row |
//! | s (p) | `shift` | what is subtracted from each row; no shift is zero |
//! | w | `weights` | the factors of some of the rows |
//!
//! ```text
//!     e_l = Σ_j y_lj²        S_j ← S_j + Σ_l (g_l y_lj − s_j)        z_lj = g_l y_lj − s_j        u_j = Σ_l w_l y_lj
//! ```
//! Plain Rust, compiled once for the baseline machine and once for this one: data in memory are then read at the
//! memory's bandwidth. Both versions give the same bits.

use crate::machine::Machine;

/// A number type of input data.
pub trait Value: Copy + Into<f64> {}

impl Value for f64 {}
impl Value for f32 {}
impl Value for u8 {}

/// A number type of prepared rows.
pub trait Prepared: Copy {
    /// The nearest number to `value`.
    fn nearest(value: f64) -> Self;
}

impl Prepared for f64 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }
}

impl Prepared for f32 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

/// Number of independent partial sums, so that one addition does not wait for another: value j of a row is added to sum
/// j mod 16, values past the last whole 16 to a sum of their own.
pub const LANES: usize = 16;
/// Rows whose sums are stored at a time.
const BATCH: usize = 16;
/// 2⁵²: an integer from 0 to 2⁵² added to it stands in its last bits.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// Work that is compiled for the baseline machine and for this one.
pub(crate) trait Work {
    type Output;
    /// Implementations must be `#[inline(always)]`, or else they are compiled for the baseline machine only.
    fn run(self) -> Self::Output;
}

/// The total of partial sums.
#[inline(always)]
pub fn total(sums: &[f64; LANES]) -> f64 {
    let mut sums = *sums;
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            sums[l] += sums[l + half];
        }
    }
    sums[0]
}

/// Partial sums of squares of the whole sixteens of a row.
#[inline(always)]
fn squares<S: Value>(row: &[S]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for chunk in row.as_chunks::<LANES>().0 {
        for l in 0..LANES {
            let y: f64 = chunk[l].into();
            sums[l] += y * y;
        }
    }
    sums
}

/// Σy² of one row.
pub fn energy<S: Value>(row: &[S]) -> f64 {
    let mut energy = [0.0];
    energies(row, &mut energy);
    energy[0]
}

/// e: the sum of squares of each row.
pub fn energies<S: Value>(rows: &[S], energies: &mut [f64]) {
    struct Energies<'a, S>(&'a [S], &'a mut [f64]);
    impl<S: Value> Work for Energies<'_, S> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let width = self.0.len() / self.1.len();
            // Sums first, totals after: in one loop, the compiler mixes up the lanes.
            let mut sums = [[0.0; LANES]; BATCH];
            for (rows, energies) in self.0.chunks(BATCH * width).zip(self.1.chunks_mut(BATCH)) {
                for (row, sums) in rows.chunks_exact(width).zip(&mut sums) {
                    *sums = squares(row);
                }
                for (sums, energy) in sums.iter().zip(&mut *energies) {
                    *energy = total(sums);
                }
                let tails = rows.chunks_exact(width).map(|row| &row[width - width % LANES..]);
                for (tail, energy) in tails.zip(energies) {
                    *energy += tail.iter().map(|y| (*y).into() * (*y).into()).sum::<f64>();
                }
            }
        }
    }
    if !rows.is_empty() {
        assert!(rows.len().is_multiple_of(energies.len()), "a row has a value for each column");
        Machine::detect().run(Energies(rows, energies));
    }
}

/// S: the column sums of the scaled rows minus the shift.
pub fn add_affine<S: Value>(rows: &[S], gains: &[f64], shift: &[f64], sums: &mut [f64]) {
    struct Add<'a, S>(&'a [S], &'a [f64], &'a [f64], &'a mut [f64]);
    impl<S: Value> Work for Add<'_, S> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Self(rows, gains, shift, sums) = self;
            let width = shift.len();
            // Four rows at a time, so that sums and shifts are loaded once for all four.
            for (rows, g) in rows.chunks_exact(4 * width).zip(gains.chunks_exact(4)) {
                let [a, b, c, d] = [0, 1, 2, 3].map(|l| &rows[l * width..(l + 1) * width]);
                let sums = &mut sums[..width];
                for j in 0..width {
                    let z =
                        [(g[0], a[j]), (g[1], b[j]), (g[2], c[j]), (g[3], d[j])].map(|(g, y)| g * y.into() - shift[j]);
                    sums[j] += (z[0] + z[1]) + (z[2] + z[3]);
                }
            }
            let rest = gains.len() / 4 * 4;
            for (row, g) in rows[rest * width..].chunks_exact(width).zip(&gains[rest..]) {
                for ((sum, y), s) in sums.iter_mut().zip(row).zip(shift) {
                    *sum += g * (*y).into() - s;
                }
            }
        }
    }
    assert!(rows.len() == gains.len() * shift.len() && sums.len() == shift.len(), "a value for each row and column");
    if !rows.is_empty() {
        Machine::detect().run(Add(rows, gains, shift, sums));
    }
}

/// S of bytes as integers: exact while sums stay below 2⁵³.
pub fn add_bytes(rows: &[u8], sums: &mut [f64]) {
    /// This many bytes of 255 add up to the largest number of 16 bits.
    const MOST: usize = 257;
    struct Add<'a>(&'a [u8], &'a mut [f64]);
    impl Work for Add<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let width = self.1.len();
            let mut partial = vec![0_u16; width];
            for rows in self.0.chunks(MOST * width) {
                partial.fill(0);
                for row in rows.chunks_exact(width) {
                    partial.iter_mut().zip(row).for_each(|(sum, y)| *sum += u16::from(*y));
                }
                self.1.iter_mut().zip(&partial).for_each(|(sum, partial)| *sum += f64::from(*partial));
            }
        }
    }
    if !rows.is_empty() {
        assert!(rows.len().is_multiple_of(sums.len()), "a row has a value for each column");
        Machine::detect().run(Add(rows, sums));
    }
}

/// z: the rows scaled and shifted.
pub fn affine<S: Value, T: Prepared>(rows: &[S], gains: &[f64], shift: Option<&[f64]>, out: &mut [T]) {
    struct Affine<'a, S, T>(&'a [S], &'a [f64], Option<&'a [f64]>, &'a mut [T]);
    impl<S: Value, T: Prepared> Work for Affine<'_, S, T> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Self(rows, gains, shift, out) = self;
            let width = rows.len() / gains.len();
            for ((row, out), g) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)).zip(gains) {
                match shift {
                    Some(shift) => out.iter_mut().zip(row).zip(shift).for_each(|((z, y), s)| {
                        *z = T::nearest(g * (*y).into() - s);
                    }),
                    None => out.iter_mut().zip(row).for_each(|(z, y)| *z = T::nearest(g * (*y).into())),
                }
            }
        }
    }
    let width = rows.len().checked_div(gains.len()).unwrap_or(0);
    assert!(rows.len() == gains.len() * width && out.len() == rows.len(), "a value for each row and column");
    assert!(shift.is_none_or(|shift| shift.len() == width), "a shift for each column");
    if !rows.is_empty() {
        Machine::detect().run(Affine(rows, gains, shift, out));
    }
}

/// [`affine`] and S of the same rows in one pass: z, and the sums of z before rounding.
pub fn affine_adding<S: Value, T: Prepared>(rows: &[S], gains: &[f64], shift: &[f64], out: &mut [T], sums: &mut [f64]) {
    struct Affine<'a, S, T>(&'a [S], &'a [f64], &'a [f64], &'a mut [T], &'a mut [f64]);
    impl<S: Value, T: Prepared> Work for Affine<'_, S, T> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Self(rows, gains, shift, out, sums) = self;
            let (width, sums) = (shift.len(), &mut sums[..shift.len()]);
            // Four rows at a time, so that sums and shifts are loaded once for all four.
            let (rows, last) = rows.split_at(gains.len() / 4 * 4 * width);
            let (out, last_out) = out.split_at_mut(rows.len());
            for ((rows, out), g) in
                rows.chunks_exact(4 * width).zip(out.chunks_exact_mut(4 * width)).zip(gains.chunks_exact(4))
            {
                let [y0, y1, y2, y3] = [0, 1, 2, 3].map(|l| &rows[l * width..(l + 1) * width]);
                let (z01, z23) = out.split_at_mut(2 * width);
                let ((z0, z1), (z2, z3)) = (z01.split_at_mut(width), z23.split_at_mut(width));
                let (z2, z3) = (&mut z2[..width], &mut z3[..width]);
                for j in 0..width {
                    let s = shift[j];
                    let (a, b) = (g[0] * y0[j].into() - s, g[1] * y1[j].into() - s);
                    let (c, d) = (g[2] * y2[j].into() - s, g[3] * y3[j].into() - s);
                    sums[j] += (a + b) + (c + d);
                    (z0[j], z1[j], z2[j], z3[j]) = (T::nearest(a), T::nearest(b), T::nearest(c), T::nearest(d));
                }
            }
            let last_gains = &gains[gains.len() / 4 * 4..];
            for ((row, out), g) in last.chunks_exact(width).zip(last_out.chunks_exact_mut(width)).zip(last_gains) {
                for j in 0..width {
                    let z = g * row[j].into() - shift[j];
                    sums[j] += z;
                    out[j] = T::nearest(z);
                }
            }
        }
    }
    assert!(rows.len() == gains.len() * shift.len() && out.len() == rows.len(), "a value for each row and column");
    assert_eq!(sums.len(), shift.len(), "a sum for each column");
    if !rows.is_empty() {
        Machine::detect().run(Affine(rows, gains, shift, out, sums));
    }
}

/// [`affine_adding`] of `f32` to `f32`, with one gain for all rows: a power of two, so that z is rounded once here too.
/// S is the sum of z after rounding.
pub fn affine_adding_single(rows: &[f32], gain: f32, shift: &[f32], out: &mut [f32], sums: &mut [f64]) {
    struct Affine<'a>(&'a [f32], f32, &'a [f32], &'a mut [f32], &'a mut [f64]);
    impl Work for Affine<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Self(rows, gain, shift, out, sums) = self;
            let width = shift.len();
            // A few columns of all rows at a time: their sums and shifts are in registers.
            let (whole, rest) = shift.as_chunks::<LANES>();
            let (whole_sums, rest_sums) = sums.as_chunks_mut::<LANES>();
            for (c, (shift, sums)) in whole.iter().zip(whole_sums).enumerate() {
                let mut partial = [0.0; LANES];
                for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                    let (y, z) = (&row.as_chunks::<LANES>().0[c], &mut out.as_chunks_mut::<LANES>().0[c]);
                    let mut shifted = [0.0_f32; LANES];
                    (0..LANES).for_each(|l| shifted[l] = gain * y[l] - shift[l]);
                    (0..LANES).for_each(|l| partial[l] += f64::from(shifted[l]));
                    *z = shifted;
                }
                (0..LANES).for_each(|l| sums[l] += partial[l]);
            }
            let first = width - rest.len();
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                for (((z, y), s), sum) in out[first..].iter_mut().zip(&row[first..]).zip(rest).zip(&mut *rest_sums) {
                    *z = gain * y - s;
                    *sum += f64::from(*z);
                }
            }
        }
    }
    assert!(out.len() == rows.len() && sums.len() == shift.len(), "a value for each row and column");
    if !rows.is_empty() {
        assert!(rows.len().is_multiple_of(shift.len()), "a row has a value for each column");
        Machine::detect().run(Affine(rows, gain, shift, out, sums));
    }
}

/// Whether every value is one of 0, 1, …, 255. A negative zero is not.
pub fn are_bytes<S: Value>(values: &[S]) -> bool {
    struct AreBytes<'a, S>(&'a [S]);
    impl<S: Value> Work for AreBytes<'_, S> {
        type Output = bool;
        #[inline(always)]
        fn run(self) -> bool {
            // Bits in which a value differs from an integer, and the bits of the integers.
            let (mut off, mut whole) = (0, 0);
            for y in self.0 {
                let y: f64 = (*y).into();
                let high = y + WHOLE;
                off |= (high - WHOLE).to_bits() ^ y.to_bits();
                whole |= high.to_bits() ^ WHOLE.to_bits();
            }
            off == 0 && whole <= 255
        }
    }
    Machine::detect().run(AreBytes(values))
}

/// Converts values that [`are_bytes`].
pub fn to_bytes<S: Value>(values: &[S], out: &mut [u8]) {
    struct ToBytes<'a, S>(&'a [S], &'a mut [u8]);
    impl<S: Value> Work for ToBytes<'_, S> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            self.1.iter_mut().zip(self.0).for_each(|(to, y)| *to = ((*y).into() + WHOLE).to_bits() as u8);
        }
    }
    assert_eq!(values.len(), out.len(), "a byte for each value");
    Machine::detect().run(ToBytes(values, out));
}

/// u: the weighted sum of some rows of a table. Columns are processed a cache full at a time and rows four at a time;
/// the order of the sum is that of `which`.
pub fn combine(table: &[f64], which: &[usize], weights: &[f64], out: &mut [f64]) {
    /// Columns at a time: 4 KB of sums beside four rows in the first-level cache.
    const CHUNK: usize = 512;
    struct Combine<'a>(&'a [f64], &'a [usize], &'a [f64], &'a mut [f64]);
    impl Work for Combine<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Self(table, which, weights, out) = self;
            let width = out.len();
            let (fours, rest) = which.as_chunks::<4>();
            let (weights, last) = weights.split_at(4 * fours.len());
            for (part, out) in out.chunks_mut(CHUNK).enumerate() {
                let len = out.len();
                let row = |i: usize| &table[i * width + part * CHUNK..][..len];
                out.fill(0.0);
                for (i, w) in fours.iter().zip(weights.as_chunks::<4>().0) {
                    let [a, b, c, d] = i.map(row);
                    for j in 0..len {
                        out[j] += (w[0] * a[j] + w[1] * b[j]) + (w[2] * c[j] + w[3] * d[j]);
                    }
                }
                for (i, w) in rest.iter().zip(last) {
                    out.iter_mut().zip(row(*i)).for_each(|(u, y)| *u += w * y);
                }
            }
        }
    }
    assert_eq!(which.len(), weights.len(), "a weight for each row");
    if !out.is_empty() {
        Machine::detect().run(Combine(table, which, weights, out));
    }
}

/// Σ_j a_j b_j.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl Work for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn run(self) -> f64 {
            let (a, b) = (self.0.as_chunks::<LANES>(), self.1.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (a, b) in a.0.iter().zip(b.0) {
                for l in 0..LANES {
                    sums[l] += a[l] * b[l];
                }
            }
            total(&sums) + a.1.iter().zip(b.1).map(|(a, b)| a * b).sum::<f64>()
        }
    }
    assert_eq!(a.len(), b.len(), "as many of the one as of the other");
    Machine::detect().run(Dot(a, b))
}

/// z ← z + w·y.
pub fn add_scaled(z: &mut [f64], w: f64, y: &[f64]) {
    struct Add<'a>(&'a mut [f64], f64, &'a [f64]);
    impl Work for Add<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            self.0.iter_mut().zip(self.2).for_each(|(z, y)| *z += self.1 * y);
        }
    }
    assert_eq!(z.len(), y.len(), "as many of the one as of the other");
    Machine::detect().run(Add(z, w, y));
}

/// The first index from `from` on where |c − step·u| is above `limit`.
pub fn first_above(c: &[f64], u: &[f64], step: f64, limit: f64, from: usize) -> Option<usize> {
    /// Values at a time, of which the maximum is tested first.
    const BLOCK: usize = 64;
    struct First<'a>(&'a [f64], &'a [f64], f64, f64);
    impl Work for First<'_> {
        type Output = Option<usize>;
        #[inline(always)]
        fn run(self) -> Option<usize> {
            let Self(c, u, step, limit) = self;
            for (block, (c, u)) in c.chunks(BLOCK).zip(u.chunks(BLOCK)).enumerate() {
                let mut largest = [0.0; LANES];
                let (sixteens, others) = (c.as_chunks::<LANES>(), u.as_chunks::<LANES>());
                for (c, u) in sixteens.0.iter().zip(others.0) {
                    for l in 0..LANES {
                        let value = (c[l] - step * u[l]).abs();
                        largest[l] = if value > largest[l] { value } else { largest[l] };
                    }
                }
                let tail = sixteens.1.iter().zip(others.1).any(|(c, u)| (c - step * u).abs() > limit);
                if tail || largest.iter().any(|largest| *largest > limit) {
                    let place = c.iter().zip(u).position(|(c, u)| (c - step * u).abs() > limit);
                    return place.map(|place| block * BLOCK + place);
                }
            }
            None
        }
    }
    assert_eq!(c.len(), u.len(), "as many of the one as of the other");
    let found = Machine::detect().run(First(c.get(from..)?, &u[from..], step, limit));
    found.map(|place| from + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 % 1013) as f64 - 300.5) / 64.0).collect()
    }

    #[test]
    fn some_rows_are_combined_and_the_first_place_above_a_limit_is_found() {
        let weights = [2.0, -1.0, 0.5, 4.0, 0.25, -2.0, 1.0];
        for width in [1, 16, 37, 600] {
            let (table, which) = (values(9 * width), [8, 0, 3, 3, 5, 1, 2]);
            for count in 0..=which.len() {
                let mut sums = vec![1.0; width];
                combine(&table, &which[..count], &weights[..count], &mut sums);
                let sum = |j: usize| (0..count).map(|l| weights[l] * table[which[l] * width + j]).sum::<f64>();
                assert!((0..width).all(|j| sums[j] == sum(j)), "{count} rows of {width}"); // exact, see below
            }
            let (c, u) = (&table[..width], &table[width..2 * width]);
            for (limit, from) in [(-1.0, 0), (3.0, 0), (8.0, width / 2), (1e9, 0), (0.0, width), (0.0, width + 1)] {
                let expected = (from..width).find(|j| (c[*j] - 0.5 * u[*j]).abs() > limit);
                assert_eq!(first_above(c, u, 0.5, limit, from), expected, "{width} {limit} {from}");
            }
        }
    }

    #[test]
    fn products_and_multiples_are_those_of_one_by_one() {
        for width in [0, 1, 15, 16, 37, 600] {
            // Exact, see below.
            let (a, b) = (values(width), values(2 * width)[width..].to_vec());
            assert_eq!(dot(&a, &b), (0..width).map(|j| a[j] * b[j]).sum::<f64>(), "{width}");
            let mut z = a.clone();
            add_scaled(&mut z, -0.5, &b);
            assert!((0..width).all(|j| z[j] == a[j] - 0.5 * b[j]), "{width}");
        }
    }

    #[test]
    fn rows_are_squared_summed_and_mapped_as_one_by_one() {
        for width in [1, 3, 16, 37, 128] {
            let (y, shift) = (values(5 * width), values(width));
            let single: Vec<f32> = y.iter().map(|y| *y as f32).collect();
            let gains = [1.0, -0.5, 2.0, 0.25, 3.0];
            // Values are multiples of 1/128 below 2⁴: every product and sum is exact, in any order.
            let at = |l: usize, j: usize| y[l * width + j];
            let (mut e, mut e_single, mut sums) = ([0.0; 5], [0.0; 5], vec![1.0; width]);
            energies(&y, &mut e);
            energies(&single, &mut e_single);
            add_affine(&y, &gains, &shift, &mut sums);
            let mut z = vec![0.0; y.len()];
            affine(&y, &gains, Some(&shift), &mut z);
            let (mut z_again, mut sums_again) = (vec![0.0; y.len()], vec![1.0; width]);
            affine_adding(&y, &gains, &shift, &mut z_again, &mut sums_again);
            assert_eq!((&z_again, &sums_again), (&z, &sums));
            let (mut z_single, mut sums_single) = (vec![0f32; y.len()], vec![1.0; width]);
            let shift_single: Vec<f32> = shift.iter().map(|s| *s as f32).collect();
            affine_adding_single(&single, 0.5, &shift_single, &mut z_single, &mut sums_single);
            for j in 0..width {
                let z = |l: usize| 0.5 * at(l, j) - shift[j];
                assert!((0..5).all(|l| f64::from(z_single[l * width + j]) == z(l)));
                assert_eq!(sums_single[j], 1.0 + (0..5).map(z).sum::<f64>());
            }
            let mut z_single = vec![0f32; y.len()];
            affine(&single, &gains, None, &mut z_single);
            for l in 0..5 {
                assert_eq!(e[l], (0..width).map(|j| at(l, j) * at(l, j)).sum::<f64>());
                assert_eq!(e[l], e_single[l]);
            }
            for j in 0..width {
                assert_eq!(sums[j], 1.0 + (0..5).map(|l| gains[l] * at(l, j) - shift[j]).sum::<f64>());
                for l in 0..5 {
                    assert_eq!(z[l * width + j], gains[l] * at(l, j) - shift[j]);
                    assert_eq!(f64::from(z_single[l * width + j]), gains[l] * at(l, j));
                }
            }
        }
    }

    #[test]
    fn bytes_are_added_up_whatever_their_number() {
        for (rows, width) in [(1, 1), (257, 3), (258, 40), (2000, 17)] {
            let bytes: Vec<u8> = (0..rows * width).map(|i| if i % width == 0 { 255 } else { (i * 31) as u8 }).collect();
            let mut sums = vec![7.0; width];
            add_bytes(&bytes, &mut sums);
            for (j, sum) in sums.iter().enumerate() {
                let exact: u64 = bytes[j..].iter().step_by(width).map(|y| u64::from(*y)).sum();
                assert_eq!(*sum, 7.0 + exact as f64, "{rows} × {width}, column {j}");
            }
        }
    }

    #[test]
    fn empty_input_gives_empty_output() {
        energies::<f64>(&[], &mut []);
        add_bytes(&[], &mut [0.0]);
        add_affine::<f64>(&[], &[], &[0.0], &mut [0.0]);
        affine::<f64, f64>(&[], &[], Some(&[]), &mut []);
        affine_adding::<f64, f64>(&[], &[], &[], &mut [], &mut []);
        affine_adding_single(&[], 1.0, &[], &mut [], &mut []);
        assert!(are_bytes::<f64>(&[]));
    }

    #[test]
    fn bytes_are_distinguished_from_other_values() {
        let all: Vec<f64> = (0..=255).map(f64::from).collect();
        assert!(are_bytes(&all));
        let mut bytes = vec![0; 256];
        to_bytes(&all, &mut bytes);
        assert!(bytes.iter().enumerate().all(|(i, b)| usize::from(*b) == i));
        let (tiny, huge) = (f64::MIN_POSITIVE, 1e300);
        for other in
            [-1.0, 256.0, 0.5, 254.999_999, -0.0, tiny, huge, -huge, f64::NAN, f64::INFINITY, 4_503_599_627_370_497.0]
        {
            let mut some = all.clone();
            some[77] = other;
            assert!(!are_bytes(&some), "{other}");
        }
    }
}
