//! The guarantees of a Gram matrix: exact for integers, within its bound, the same bits for any number of threads.

use super::*;
use crate::exec::Quiet;
use std::num::NonZero;

/// Deterministic pseudo-random integers from 0 to 255.
fn byte(i: usize, j: usize) -> u8 {
    ((i * 7919 + j * 104_729 + i * j) % 256) as u8
}

/// Bytes, read as `f64` or as bytes; rows divided by `lengths` where given.
struct Bytes {
    n: usize,
    m: usize,
    lengths: Option<Vec<f64>>,
    native: bool,
}

/// Bytes near the top of their range, with the mean of each column subtracted.
struct Centered {
    n: usize,
    m: usize,
    exponent: i32,
}

impl Centered {
    fn byte(i: usize, j: usize) -> u8 {
        250 + byte(i, j) % 6
    }
    /// n² (X Xᵀ)_ij or n² (XᵀX)_ij for unscaled X, as integers: n times each difference is one.
    fn exact(&self, i: usize, j: usize) -> i128 {
        let n = self.n as i128;
        let sums: Vec<i128> = (0..self.m).map(|j| (0..self.n).map(|i| i128::from(Self::byte(i, j))).sum()).collect();
        let at = |i: usize, j: usize| n * i128::from(Self::byte(i, j)) - sums[j];
        match self.n >= self.m {
            true => (0..self.n).map(|l| at(l, i) * at(l, j)).sum(),
            false => (0..self.m).map(|l| at(i, l) * at(j, l)).sum(),
        }
    }
}

impl Rows<f64> for Centered {
    fn read_row(&self, _: usize, _: Range<usize>, _: &mut [f64]) {
        panic!("bytes are not read as anything else");
    }
}

impl Rows<u8> for Centered {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [u8]) {
        out.iter_mut().zip(cols).for_each(|(to, j)| *to = Self::byte(i, j));
    }
}

impl Blocks for Centered {
    fn rows(&self) -> usize {
        self.n
    }
    fn cols(&self) -> usize {
        self.m
    }
    fn exponent(&self) -> i32 {
        self.exponent
    }
    fn native(&self) -> Native<'_> {
        Native::CenteredU8(self)
    }
}

impl Rows<f64> for Bytes {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        let length = self.lengths.as_ref().map_or(1.0, |l| l[i]);
        out.iter_mut().zip(cols).for_each(|(to, j)| *to = f64::from(byte(i, j)) / length);
    }
}

impl Rows<u8> for Bytes {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [u8]) {
        out.iter_mut().zip(cols).for_each(|(to, j)| *to = byte(i, j));
    }
}

impl Blocks for Bytes {
    fn rows(&self) -> usize {
        self.n
    }
    fn cols(&self) -> usize {
        self.m
    }
    fn native(&self) -> Native<'_> {
        match self.native {
            true => Native::U8 { values: self, lengths: self.lengths.as_deref() },
            false => Native::F64,
        }
    }
}

/// Σ over the long side, as an integer.
fn exact(n: usize, m: usize, i: usize, j: usize) -> f64 {
    let term = |l: usize| match n >= m {
        true => u64::from(byte(l, i)) * u64::from(byte(l, j)),
        false => u64::from(byte(i, l)) * u64::from(byte(j, l)),
    };
    (0..n.max(m)).map(term).sum::<u64>() as f64
}

#[test]
fn whole_numbers_are_multiplied_exactly_on_both_sides_and_in_both_ways() {
    // One slab; several chunks; cut into stripes.
    for (n, m) in [(5, 3), (3, 5), (900, 40), (40, 900), (9000, 17), (17, 9000), (1100, 1030), (1030, 1100)] {
        for native in [false, true] {
            let g = Gram::of(&Bytes { n, m, lengths: None, native }, Exec::default()).unwrap();
            let p = n.min(m);
            let some = (0..p).step_by(1 + p / 50);
            for (i, j) in some.clone().flat_map(|i| some.clone().map(move |j| (i, j))) {
                assert_eq!(g.matrix.at(i, j), exact(n, m, i, j), "{n} × {m}, bytes {native}: entry {i}, {j}");
            }
        }
    }
}

#[test]
fn rows_divided_by_their_lengths_are_divided_in_the_gram_matrix() {
    let lengths: Vec<f64> = (0..30).map(|i| 100.0 + 3.0 * f64::from(i)).collect();
    let by = |native| Gram::of(&Bytes { n: 30, m: 500, lengths: Some(lengths.clone()), native }, Exec::default());
    let (slow, fast) = (by(false).unwrap(), by(true).unwrap());
    let largest = slow.matrix.as_slice().iter().fold(0.0f64, |m, g| m.max(*g));
    for (a, b) in slow.matrix.as_slice().iter().zip(fast.matrix.as_slice()) {
        assert!((a - b).abs() <= 1e-14 * largest, "{a} ≠ {b}");
    }
}

#[test]
fn centered_bytes_are_multiplied_to_the_last_bits_on_both_sides() {
    for (n, m) in [(5, 3), (3, 5), (900, 40), (40, 900), (1, 2), (9000, 17)] {
        for exponent in [0, 9] {
            let x = Centered { n, m, exponent };
            let g = Gram::of(&x, Exec::default()).unwrap();
            let (p, mut off) = (n.min(m), 0.0f64);
            let some = (0..p).step_by(1 + p / 10);
            for (i, j) in some.clone().flat_map(|i| some.clone().map(move |j| (i, j))) {
                let exact = x.exact(i, j) as f64 / (n * n) as f64 / 4f64.powi(exponent);
                let apart = (g.matrix.at(i, j) - exact).abs();
                // Two roundings here, three there: the offset costs no digit.
                assert!(apart <= 6.0 * UNIT * exact.abs(), "{n} × {m}: entry {i}, {j} is {apart:e} off {exact:e}");
                off = off.max(apart);
            }
            assert!(off <= g.error);
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    for (n, m) in [(9000, 33), (50, 5000), (1200, 1100)] {
        let x = Mat::from_fn(n, m, |i, j| ((i * 31 + j * 17) as f64).sin());
        let with = |threads| Gram::of(&x, Exec::new(NonZero::new(threads), &Quiet)).unwrap().matrix;
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(4));
    }
}

#[test]
fn the_error_stays_within_its_bound() {
    // The same sums in twice the precision, by splitting each product into two exact halves.
    let x = Mat::from_fn(3000, 24, |i, j| ((i * 13 + j * 7) as f64 * 0.61).sin() + 0.3);
    let g = Gram::of(&x, Exec::default()).unwrap();
    let mut worst = 0.0f64;
    for i in 0..24 {
        for j in 0..24 {
            let (mut high, mut low) = (0.0f64, 0.0f64);
            for l in 0..3000 {
                let (a, b) = (x.at(l, i), x.at(l, j));
                let product = a * b;
                let sum = high + product;
                let carried = sum - high;
                low += (high - (sum - carried)) + (product - carried) + a.mul_add(b, -product);
                high = sum;
            }
            worst = worst.max((g.matrix.at(i, j) - high - low).abs());
        }
    }
    assert!(worst > 0.0 && 24.0 * worst <= g.error, "{worst:e} against {:e}", g.error);
}
