//! Loops without a backend routine, in the widest vectors of the machine.
//!
//! | here | what it does |
//! |---|---|
//! | [`symv`] | y = A x from the lower triangle alone: each entry is loaded once and used twice |
//! | [`symm`] | Y = A X for four columns together: each entry is used eight times |
//! | [`dots`] | z = Lᵀ v |
//! | [`add_columns`] | y = y + L z |
//!
//! Four columns are processed together, so that x and y are read from cache once for four streams from memory. Matrices
//! are stored column after column, `stride` values apart.

use pulp::{Arch, Simd, WithSimd};

/// y = A x, with the order of A taken from `x`; only the lower triangle of `a` is read.
pub fn symv(arch: Arch, a: &[f64], stride: usize, x: &[f64], y: &mut [f64]) {
    y[..x.len()].fill(0.0);
    arch.dispatch(Symv { a, stride, x, y: &mut y[..x.len()] });
}

/// Right-hand sides of [`symm`].
pub const SIDES: usize = 4;

/// Y = A X for [`SIDES`] right-hand sides, both row after row; only the lower triangle of `a` is read.
pub fn symm(arch: Arch, a: &[f64], stride: usize, x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    arch.dispatch(Symm { a, stride, x, y });
}

/// z_c = column c of `l` times `v`, for every c.
pub fn dots(arch: Arch, l: &[f64], stride: usize, v: &[f64], z: &mut [f64]) {
    arch.dispatch(Dots { l, stride, v, z });
}

/// y = y + Σ z_c · column c of `l`.
pub fn add_columns(arch: Arch, l: &[f64], stride: usize, z: &[f64], y: &mut [f64]) {
    arch.dispatch(AddColumns { l, stride, z, y });
}

/// C columns from row `first` on, `len` values each.
#[inline(always)]
fn columns<const C: usize>(a: &[f64], stride: usize, column: usize, first: usize, len: usize) -> [&[f64]; C] {
    std::array::from_fn(|c| &a[(column + c) * stride + first..][..len])
}

struct Symv<'a> {
    a: &'a [f64],
    stride: usize,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl WithSimd for Symv<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { a, stride, x, y } = self;
        let n = x.len();
        let whole = n - n % 4;
        for j in (0..whole).step_by(4) {
            corner(a, stride, j..j + 4, x, y);
            let below = j + 4;
            let columns = columns(a, stride, j, below, n - below);
            let weights = [x[j], x[j + 1], x[j + 2], x[j + 3]];
            let sums = both_ways(simd, columns, weights, &x[below..], &mut y[below..]);
            for c in 0..4 {
                y[j + c] += sums[c];
            }
        }
        corner(a, stride, whole..n, x, y);
    }
}

struct Symm<'a> {
    a: &'a [f64],
    stride: usize,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl WithSimd for Symm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            4 => self.in_parts::<S, 1>(simd),
            2 => self.in_parts::<S, 2>(simd),
            1 => self.in_parts::<S, 4>(simd),
            _ => self.in_parts::<pulp::Scalar, 4>(pulp::Scalar),
        }
    }
}

impl Symm<'_> {
    /// A vector register holds values of one row of X: `PARTS` of them hold a row.
    #[inline(always)]
    fn in_parts<S: Simd, const PARTS: usize>(self, simd: S) {
        let Self { a, stride, x, y } = self;
        let x = S::as_simd_f64s(x).0.as_chunks::<PARTS>().0;
        let y = S::as_mut_simd_f64s(y).0.as_chunks_mut::<PARTS>().0;
        let n = x.len();
        for j in (0..n).step_by(4) {
            let end = (j + 4).min(n);
            for c in j..end {
                for i in c..end {
                    let entry = simd.splat_f64s(a[c * stride + i]);
                    add_row(simd, entry, &x[c], &mut y[i]);
                    if i > c {
                        add_row(simd, entry, &x[i], &mut y[c]);
                    }
                }
            }
            if end == n {
                break;
            }
            let [a0, a1, a2, a3] = columns::<4>(a, stride, j, end, n - end);
            let (x_below, y_below) = (&x[end..], &mut y[end..]);
            let (own, mut sums) = ([x[j], x[j + 1], x[j + 2], x[j + 3]], [[simd.splat_f64s(0.0); PARTS]; 4]);
            for (((((y, x), a0), a1), a2), a3) in y_below.iter_mut().zip(x_below).zip(a0).zip(a1).zip(a2).zip(a3) {
                let (mut row, x) = (*y, *x);
                for (c, entry) in [*a0, *a1, *a2, *a3].into_iter().enumerate() {
                    let entry = simd.splat_f64s(entry);
                    add_row(simd, entry, &own[c], &mut row);
                    add_row(simd, entry, &x, &mut sums[c]);
                }
                *y = row;
            }
            for c in 0..4 {
                for part in 0..PARTS {
                    y[j + c][part] = simd.add_f64s(y[j + c][part], sums[c][part]);
                }
            }
        }
    }
}

/// y = y + a x.
#[inline(always)]
fn add_row<S: Simd, const PARTS: usize>(simd: S, a: S::f64s, x: &[S::f64s; PARTS], y: &mut [S::f64s; PARTS]) {
    for part in 0..PARTS {
        y[part] = simd.mul_add_e_f64s(a, x[part], y[part]);
    }
}

/// The contribution to y = A x of a small square on the diagonal.
#[inline(always)]
fn corner(a: &[f64], stride: usize, range: std::ops::Range<usize>, x: &[f64], y: &mut [f64]) {
    for j in range.clone() {
        y[j] += a[j * stride + j] * x[j];
        for i in j + 1..range.end {
            let value = a[j * stride + i];
            y[i] += value * x[j];
            y[j] += value * x[i];
        }
    }
}

/// Adds Σ weights_c · column c to `y` and returns the four products column · `x`.
#[inline(always)]
fn both_ways<S: Simd>(simd: S, columns: [&[f64]; 4], weights: [f64; 4], x: &[f64], y: &mut [f64]) -> [f64; 4] {
    let (x_head, x_tail) = S::as_simd_f64s(x);
    let (y_head, y_tail) = S::as_mut_simd_f64s(y);
    let heads = columns.map(|c| S::as_simd_f64s(c).0);
    let tails = columns.map(|c| S::as_simd_f64s(c).1);
    let w = weights.map(|w| simd.splat_f64s(w));
    let mut sums = [simd.splat_f64s(0.0); 4];
    let [h0, h1, h2, h3] = heads.map(|h| &h[..x_head.len()]);
    let y_head = &mut y_head[..x_head.len()];
    for i in 0..x_head.len() {
        let (xi, a) = (x_head[i], [h0[i], h1[i], h2[i], h3[i]]);
        let mut yi = y_head[i];
        for c in 0..4 {
            yi = simd.mul_add_e_f64s(a[c], w[c], yi);
            sums[c] = simd.mul_add_e_f64s(a[c], xi, sums[c]);
        }
        y_head[i] = yi;
    }
    let mut out = sums.map(|s| simd.reduce_sum_f64s(s));
    for i in 0..x_tail.len() {
        for c in 0..4 {
            y_tail[i] += weights[c] * tails[c][i];
            out[c] += tails[c][i] * x_tail[i];
        }
    }
    out
}

struct Dots<'a> {
    l: &'a [f64],
    stride: usize,
    v: &'a [f64],
    z: &'a mut [f64],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { l, stride, v, z } = self;
        let (fours, rest) = z.as_chunks_mut::<4>();
        let single = 4 * fours.len();
        for (c, z) in fours.iter_mut().enumerate() {
            *z = products(simd, columns(l, stride, 4 * c, 0, v.len()), v);
        }
        for (c, z) in rest.iter_mut().enumerate() {
            [*z] = products(simd, columns(l, stride, single + c, 0, v.len()), v);
        }
    }
}

/// The products column · `v`.
#[inline(always)]
fn products<S: Simd, const C: usize>(simd: S, columns: [&[f64]; C], v: &[f64]) -> [f64; C] {
    let (v_head, v_tail) = S::as_simd_f64s(v);
    let heads = columns.map(|c| &S::as_simd_f64s(c).0[..v_head.len()]);
    let mut sums = [simd.splat_f64s(0.0); C];
    for i in 0..v_head.len() {
        for c in 0..C {
            sums[c] = simd.mul_add_e_f64s(heads[c][i], v_head[i], sums[c]);
        }
    }
    std::array::from_fn(|c| {
        let tail = S::as_simd_f64s(columns[c]).1;
        simd.reduce_sum_f64s(sums[c]) + tail.iter().zip(v_tail).map(|(a, b)| a * b).sum::<f64>()
    })
}

struct AddColumns<'a> {
    l: &'a [f64],
    stride: usize,
    z: &'a [f64],
    y: &'a mut [f64],
}

impl WithSimd for AddColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { l, stride, z, y } = self;
        let (n, (fours, rest)) = (y.len(), z.as_chunks::<4>());
        for (c, weights) in fours.iter().enumerate() {
            add(simd, columns(l, stride, 4 * c, 0, n), *weights, y);
        }
        for (c, weight) in rest.iter().enumerate() {
            add(simd, columns(l, stride, 4 * fours.len() + c, 0, n), [*weight], y);
        }
    }
}

/// y = y + Σ weights_c · column c.
#[inline(always)]
fn add<S: Simd, const C: usize>(simd: S, columns: [&[f64]; C], weights: [f64; C], y: &mut [f64]) {
    let (y_head, y_tail) = S::as_mut_simd_f64s(y);
    let heads = columns.map(|c| &S::as_simd_f64s(c).0[..y_head.len()]);
    let w = weights.map(|w| simd.splat_f64s(w));
    for i in 0..y_head.len() {
        let mut yi = y_head[i];
        for c in 0..C {
            yi = simd.mul_add_e_f64s(heads[c][i], w[c], yi);
        }
        y_head[i] = yi;
    }
    for c in 0..C {
        let tail = S::as_simd_f64s(columns[c]).1;
        y_tail.iter_mut().zip(tail).for_each(|(y, a)| *y += weights[c] * a);
    }
}
