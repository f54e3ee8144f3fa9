use super::*;
use crate::blocks::{Blocks, Native, Rows};
use crate::exec::Quiet;
use crate::gram::Gram;
use std::num::NonZero;
use std::ops::Range;

/// A matrix of which some values are stored: every row of seven and every column of eleven is empty.
pub(crate) fn scattered(n: usize, m: usize, share: f64) -> Mat {
    let mix = |i: usize, j: usize| ((i * 7919 + j) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    Mat::from_fn(n, m, |i, j| {
        let (pick, size) = (mix(i, j) % 100_000, mix(i + n, j) % 2001);
        let stored = (pick as f64) < share * 1e5 && i % 7 != 3 && j % 11 != 5;
        if stored { (size as f64 - 1000.0) / 250.0 + 2.0 } else { 0.0 }
    })
}

pub(crate) fn stored(x: &Mat) -> Lines {
    let mut lines = Lines::new(x.cols());
    for i in 0..x.rows() {
        lines.push(x.row(i).iter().copied().enumerate().filter(|(_, v)| *v != 0.0));
    }
    lines
}

/// A sparse matrix and the equal dense one. Reading the dense one panics unless `readable`.
pub(crate) struct Both {
    pub dense: Mat,
    pub sparse: Sparse,
    pub readable: bool,
}

impl Rows<f64> for Both {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        assert!(self.readable, "a sparse matrix was read row by row");
        self.dense.read_row(i, cols, out);
    }
}

impl Blocks for Both {
    fn rows(&self) -> usize {
        self.dense.rows()
    }
    fn cols(&self) -> usize {
        self.dense.cols()
    }
    fn native(&self) -> Native<'_> {
        Native::Sparse(self.sparse.clone())
    }
}

fn mean_of(x: &Mat) -> Vec<f64> {
    (0..x.cols()).map(|j| (0..x.rows()).map(|i| x.at(i, j)).sum::<f64>() / x.rows() as f64).collect()
}

fn deviation_of(x: &Mat, mean: &[f64]) -> Vec<f64> {
    let square = |j: usize| (0..x.rows()).map(|i| (x.at(i, j) - mean[j]).powi(2)).sum::<f64>() / x.rows() as f64;
    (0..x.cols()).map(|j| square(j).sqrt()).map(|s| if s > 0.0 { s } else { 1.0 }).collect()
}

/// Plain, centered, z-scores, and centered with weighted rows.
pub(crate) fn prepared(x: &Mat) -> [Both; 4] {
    let mean = mean_of(x);
    let deviation = deviation_of(x, &mean);
    let weights: Vec<f64> = (0..x.rows()).map(|i| 0.5 + (i % 5) as f64 / 3.0).collect();
    let with = |f: &dyn Fn(usize, usize) -> f64, sparse| {
        let dense = Mat::from_fn(x.rows(), x.cols(), f);
        Both { dense, sparse, readable: false }
    };
    let centered = Sparse::centered(stored(x), &mean, None);
    [
        with(&|i, j| x.at(i, j), stored(x).into()),
        with(&|i, j| x.at(i, j) - mean[j], centered.clone()),
        with(&|i, j| (x.at(i, j) - mean[j]) / deviation[j], Sparse::centered(stored(x), &mean, Some(&deviation))),
        with(&|i, j| (x.at(i, j) - mean[j]) * weights[i], centered.weighted(&weights)),
    ]
}

fn distance(a: &Mat, b: &Mat) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn the_gram_matrix_is_that_of_the_dense_matrix_within_both_bounds_on_both_sides() {
    for (n, m) in [(600, 200), (200, 600), (300, 300), (1, 50), (50, 1)] {
        let x = scattered(n, m, if n.min(m) == 1 { 0.1 } else { 0.06 });
        for (which, both) in prepared(&x).into_iter().enumerate() {
            // A single row is all cancellation once it is centered: the dense path is taken there.
            let both = Both { readable: n.min(m) == 1, ..both };
            let (sparse, dense) =
                (Gram::of(&both, Exec::default()).unwrap(), Gram::of(&both.dense, Exec::default()).unwrap());
            let apart = distance(&sparse.matrix, &dense.matrix);
            assert!(apart <= sparse.error + dense.error, "{n} × {m}, {which}: {apart:e} > {:e}", sparse.error);
            assert!(
                sparse.error <= 1e-11 * dense.trace() + f64::MIN_POSITIVE,
                "{n} × {m}, {which}: too coarse a bound"
            );
            assert!((both.sparse.energy() - dense.trace()).abs() <= 1e-12 * dense.trace(), "{n} × {m}, {which}");
        }
    }
}

#[test]
fn whole_numbers_are_multiplied_exactly() {
    for (n, m) in [(700, 90), (90, 700)] {
        let x = scattered(n, m, 0.08);
        let x = Mat::from_fn(n, m, |i, j| x.at(i, j).round());
        let both = Both { sparse: stored(&x).into(), dense: x, readable: false };
        let (sparse, dense) =
            (Gram::of(&both, Exec::default()).unwrap(), Gram::of(&both.dense, Exec::default()).unwrap());
        assert_eq!(sparse.matrix, dense.matrix);
    }
}

#[test]
fn a_matrix_of_zeros_has_a_gram_matrix_of_zeros() {
    for (n, m) in [(30, 20), (20, 30)] {
        let both = Both { dense: Mat::zeros(n, m), sparse: stored(&Mat::zeros(n, m)).into(), readable: false };
        let g = Gram::of(&both, Exec::default()).unwrap();
        assert_eq!((g.matrix, g.error), (Mat::zeros(20, 20), 0.0));
    }
}

#[test]
fn a_full_column_far_from_zero_keeps_its_spread() {
    // Column 0 is 10⁶ ± 1: nμ² against Σ(v − μ)² is 10¹² to 1, and the spread has no correct digit
    // unless the column is made dense.
    let mut x = scattered(800, 150, 0.03);
    (0..800).for_each(|i| x.row_mut(i)[0] = 1e6 + ((i * 37) as f64).sin());
    let [_, centered, ..] = prepared(&x);
    let (sparse, dense) =
        (Gram::of(&centered, Exec::default()).unwrap(), Gram::of(&centered.dense, Exec::default()).unwrap());
    assert!(centered.sparse.size() <= 6.0 * dense.trace(), "the bound of the header");
    assert!((sparse.matrix.at(0, 0) / dense.matrix.at(0, 0) - 1.0).abs() < 1e-12);
    assert!(distance(&sparse.matrix, &dense.matrix) <= sparse.error + dense.error);
}

#[test]
fn a_shift_that_cancels_is_left_to_the_dense_way() {
    let x = scattered(400, 60, 0.05);
    let far = vec![1e4; 60];
    // As if rows had been dropped after the mean was subtracted: V = 10⁴ + x in the few stored columns, minus 10⁴.
    let raised = Mat::from_fn(400, 60, |i, j| x.at(i, j) + 1e4);
    let sparse = Sparse { lines: stored(&raised), shift: Some((vec![1.0; 400], far)) };
    let both = Both { dense: x, sparse, readable: true };
    assert!(!both.sparse.pays());
    let dense = Gram::of(&both.dense, Exec::default()).unwrap();
    assert_eq!(Gram::of(&both, Exec::default()).unwrap().matrix, dense.matrix);
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    for (n, m) in [(1500, 300), (200, 900)] {
        for both in prepared(&scattered(n, m, 0.05)) {
            let exec = |threads| Exec::new(NonZero::new(threads), &Quiet);
            let v: Vec<f64> = (0..m * 3).map(|i| (i as f64).sin()).collect();
            let with = |threads| {
                let product = both.sparse.times(&v, 3, exec(threads)).unwrap();
                (Gram::of(&both, exec(threads)).unwrap().matrix, product)
            };
            assert_eq!(with(1), with(2));
            assert_eq!(with(1), with(4));
        }
    }
}
