//! Dense matrices that fit in memory: products, and systems with a positive definite matrix.
//!
//! | call | computes |
//! |---|---|
//! | [`product`] | A B, on several threads |
//! | [`multiply`] | A B into given memory, on this thread: for work that is already cut into pieces |
//! | [`multiply_single`] | the same in single precision, twice as fast: for products that are verified afterwards |
//! | [`Slab`] | AᵀA and AᵀB of a few hundred packed rows, on this thread |
//! | [`PackedMatrix`] | many products AᵀB with the same A, on this thread |
//! | [`Cholesky`] | A = L Lᵀ, and x with A x = b |
//!
//! Views have strides, so that Aᵀ B is `product(a.view().transposed(), b.view(), exec)` without a copy. The bits do not
//! depend on the number of threads.

use std::ops::Range;

use eigenspan_kernel::{Number, Panel, Stripe, accumulate, accumulate_product, descent};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut as FaerMut, MatRef as FaerRef, Par};

use crate::Error;
use crate::exec::Exec;
use crate::mat::{Mat, MatRef, Scalar};
use crate::matmul;

/// Products with fewer columns, or sums of fewer terms, are left to the backend: too little is reused from a cache.
const MIN_COLUMNS: usize = 12;
const MIN_TERMS: usize = 64;
/// Rows that are packed together.
const PACKED_ROWS: usize = 8;

/// A B.
pub fn product(a: MatRef<'_>, b: MatRef<'_>, exec: Exec<'_>) -> Result<Mat, Error> {
    let mut out = Mat::zeros(a.rows(), b.cols());
    product_into(a, b, &mut out, exec)?;
    Ok(out)
}

/// A B, into a matrix of the right shape.
pub fn product_into(a: MatRef<'_>, b: MatRef<'_>, out: &mut Mat, exec: Exec<'_>) -> Result<(), Error> {
    assert_eq!((a.rows(), a.cols(), b.cols()), (out.rows(), b.rows(), out.cols()), "the shapes of A, B and A B agree");
    let (rows, cols) = (out.rows(), out.cols());
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    if rows >= cols && cols >= MIN_COLUMNS && a.cols() >= MIN_TERMS {
        return tall_product(a, b, out, exec);
    }
    let out = FaerMut::from_row_major_slice_mut(out.as_mut_slice(), rows, cols);
    // Pieces are stripes of rows of A B, or of its transpose where that has more rows.
    let (out, left, right) = if rows >= cols {
        (out, faer(a), faer(b))
    } else {
        (out.transpose_mut(), faer(b).transpose(), faer(a).transpose())
    };
    let height = height(left.nrows(), right.ncols(), left.ncols());
    matmul::product_in_stripes(out, Accum::Replace, left, right, 1.0, height, exec.silent())
}

/// Rows of a stripe. Every stripe packs the right factor again, so each should have some hundred rows where there are
/// many rows; where there are few, the number of threads matters more.
fn height(rows: usize, cols: usize, inner: usize) -> usize {
    let pieces = (rows * cols * inner / matmul::PIECE).max(1);
    rows.div_ceil(pieces).max((rows / 12).min(384)).next_multiple_of(48)
}

/// A B with at least as many rows as columns, by the kernel of the Gram matrix: a piece of the rows of A at a time is
/// multiplied with B, which stays in the cache.
fn tall_product(a: MatRef<'_>, b: MatRef<'_>, out: &mut Mat, exec: Exec<'_>) -> Result<(), Error> {
    let (cols, inner) = (out.cols(), a.cols());
    let height = height(a.rows(), cols, inner);
    exec.silent().each_chunk("multiply", out.as_mut_slice(), height * cols, |piece, out| {
        let rows = piece * height..piece * height + out.len() / cols;
        let (mut left, mut right) = (Panel::new(rows.len()), Panel::new(cols));
        let mut transposed = vec![0.0; out.len()];
        for first in (0..inner).step_by(f64::DEPTH) {
            let slab = first..(first + f64::DEPTH).min(inner);
            pack(&mut left, a, rows.clone(), slab.clone());
            pack(&mut right, b.transposed(), 0..cols, slab);
            let whole = Stripe { rows: 0..cols, entries: &mut transposed, stride: rows.len() };
            accumulate_product(&right, &left, whole);
        }
        for (j, column) in transposed.chunks_exact(rows.len()).enumerate() {
            column.iter().enumerate().for_each(|(i, value)| out[i * cols + j] = *value);
        }
    })
}

/// A matrix packed once for many products with few columns each.
pub struct PackedMatrix {
    slabs: Vec<Panel<f64>>,
    rows: usize,
    cols: usize,
}

impl PackedMatrix {
    /// Packs A.
    pub fn of(a: MatRef<'_>) -> Self {
        let (rows, cols) = (a.rows(), a.cols());
        let slab = |first: usize| {
            let mut panel = Panel::new(cols);
            pack(&mut panel, a.transposed(), 0..cols, first..(first + f64::DEPTH).min(rows));
            panel
        };
        Self { slabs: (0..rows).step_by(f64::DEPTH).map(slab).collect(), rows, cols }
    }

    /// Adds to `out`, row after row, the contribution of slab number `slab` to BᵀA: `b` holds the same [`Slab::DEPTH`]
    /// rows of B.
    pub fn add_product(&self, slab: usize, b: &Slab, out: &mut [f64]) {
        b.add_transposed_times_panel(&self.slabs[slab], out);
    }

    /// AᵀB into `out`, both row after row, on this thread. B has as many rows as A, and as many columns as `scratch`.
    pub fn transposed_times(&self, b: &[f64], out: &mut [f64], scratch: &mut Slab) {
        let (width, right) = (scratch.0.width(), &mut scratch.0);
        assert_eq!((b.len(), out.len()), (self.rows * width, self.cols * width), "the shapes of A, B and AᵀB agree");
        out.fill(0.0);
        for (slab, b) in self.slabs.iter().zip(b.chunks(f64::DEPTH * width.max(1))) {
            right.set_depth(slab.depth());
            right.set_rows(0, b);
            accumulate_product(slab, right, Stripe { rows: 0..self.cols, entries: out, stride: width });
        }
    }
}

/// One step of Nesterov's method for min_F≥0 ½⟨GFᵀ, Fᵀ⟩ − ⟨B, Fᵀ⟩ ([`descent`]), on this thread; returns δ.
pub fn descend(
    gram: &PackedMatrix,
    iterates: descent::Iterates<'_>,
    length: f64,
    momentum: f64,
    workspace: &mut descent::Workspace,
) -> f64 {
    descent::descend(&gram.slabs, iterates, length, momentum, workspace)
}

/// At most [`Slab::DEPTH`] rows of a matrix, packed for products that sum over them.
pub struct Slab(Panel<f64>);

impl Slab {
    /// The maximum number of rows.
    pub const DEPTH: usize = f64::DEPTH;
    /// Rows of AᵀA may be cut at multiples of this.
    pub const CUT: usize = eigenspan_kernel::STRIPE_ROWS;

    /// Capacity for rows of `cols` values.
    pub fn new(cols: usize) -> Self {
        Self(Panel::new(cols))
    }

    /// Packs A.
    pub fn of(a: MatRef<'_>) -> Self {
        let mut slab = Self::new(a.cols());
        slab.set(a);
        slab
    }

    /// Packs consecutive rows in place of the previous content.
    pub fn set_rows(&mut self, rows: &[f64]) {
        self.0.set_depth(rows.len() / self.0.width().max(1));
        self.0.set_rows(0, rows);
    }

    /// Packs A in place of the previous content.
    pub fn set(&mut self, a: MatRef<'_>) {
        pack(&mut self.0, a.transposed(), 0..a.cols(), 0..a.rows());
    }

    /// Adds AᵀB to `out`, row after row; both have as many rows. The product is fastest where B is the wider matrix.
    pub fn add_transposed_times(&self, b: &Self, out: &mut [f64]) {
        self.add_transposed_times_panel(&b.0, out);
    }

    fn add_transposed_times_panel(&self, b: &Panel<f64>, out: &mut [f64]) {
        accumulate_product(&self.0, b, Stripe { rows: 0..self.0.width(), entries: out, stride: b.width() });
    }

    /// Adds some rows of AᵀA to `out`: the entries up to the diagonal; entries beyond are undefined.
    pub fn add_gram(&self, rows: Range<usize>, out: &mut [f64]) {
        accumulate(&self.0, Stripe { rows, entries: out, stride: self.0.width() });
    }
}

/// Fills the panel with `rows` of A as its columns, cut to the columns `slab` of A.
fn pack(panel: &mut Panel<f64>, a: MatRef<'_>, rows: Range<usize>, slab: Range<usize>) {
    panel.set_depth(slab.len());
    if a.row_slice(rows.start, slab.clone()).is_some() {
        let row = |i: usize| a.row_slice(rows.start + i, slab.clone()).expect("as the first row");
        panel.strips_mut().for_each(|mut strip| strip.set_columns(row));
        return;
    }
    let (across, mut some) = (a.transposed(), Vec::with_capacity(PACKED_ROWS * rows.len()));
    for first in slab.clone().step_by(PACKED_ROWS) {
        some.clear();
        for l in first..(first + PACKED_ROWS).min(slab.end) {
            match across.row_slice(l, rows.clone()) {
                Some(values) => some.extend_from_slice(values),
                None => some.extend(across.row_values(l, rows.clone())),
            }
        }
        panel.set_rows(first - slab.start, &some);
    }
}

/// A B into `out`, row after row, on this thread.
pub fn multiply(a: MatRef<'_>, b: MatRef<'_>, out: &mut [f64]) {
    assert_eq!((a.cols(), a.rows() * b.cols()), (b.rows(), out.len()), "the shapes of A, B and A B agree");
    let out = FaerMut::from_row_major_slice_mut(out, a.rows(), b.cols());
    faer::linalg::matmul::matmul(out, Accum::Replace, faer(a), faer(b), 1.0, Par::Seq);
}

/// A B in single precision into `out`, row after row, on this thread.
pub fn multiply_single(a: MatRef<'_, f32>, b: MatRef<'_, f32>, out: &mut [f32]) {
    assert_eq!((a.cols(), a.rows() * b.cols()), (b.rows(), out.len()), "the shapes of A, B and A B agree");
    let out = FaerMut::from_row_major_slice_mut(out, a.rows(), b.cols());
    faer::linalg::matmul::matmul(out, Accum::Replace, faer(a), faer(b), 1.0, Par::Seq);
}

fn faer<'a, T: Scalar>(x: MatRef<'a, T>) -> FaerRef<'a, T> {
    let (data, [down, across]) = x.parts();
    if x.rows() == 0 || x.cols() == 0 {
        return FaerRef::from_row_major_slice(&[], x.rows(), x.cols());
    }
    assert!(across == 1 || down == 1, "rows or columns lie contiguously");
    if across == 1 {
        FaerRef::from_row_major_slice_with_stride(data, x.rows(), x.cols(), down.max(x.cols()))
    } else {
        FaerRef::from_column_major_slice_with_stride(data, x.rows(), x.cols(), across.max(x.rows()))
    }
}

/// The factor L of a positive definite A = L Lᵀ.
#[derive(Debug, Clone)]
pub struct Cholesky {
    lower: Mat,
}

impl Cholesky {
    /// Factors A, of which the lower triangle is read; `None` where A is not positive definite in floating point.
    pub fn of(mut a: Mat) -> Option<Self> {
        let p = a.rows();
        assert_eq!(p, a.cols(), "a positive definite matrix is square");
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(p, Par::Seq, Default::default()));
        let view = FaerMut::from_row_major_slice_mut(a.as_mut_slice(), p, p);
        let reached =
            cholesky_in_place(view, Default::default(), Par::Seq, MemStack::new(&mut memory), Default::default());
        let finite = (0..p).all(|i| a.at(i, i) > 0.0 && a.at(i, i).is_finite());
        (reached.is_ok() && finite).then_some(Self { lower: a })
    }

    /// Y with L Y = B for `count` right-hand sides, in place of B: row i of B holds entry i of each.
    pub fn solve_lower(&self, b: &mut [f64], count: usize) {
        let p = self.lower.rows();
        assert_eq!(b.len(), p * count, "one entry a row for each right-hand side");
        if !b.is_empty() {
            let lower = FaerRef::from_row_major_slice(self.lower.as_slice(), p, p);
            solve_lower_triangular_in_place(lower, FaerMut::from_row_major_slice_mut(b, p, count), Par::Seq);
        }
    }

    /// x with A x = b, in place of b.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_all(b, 1);
    }

    /// X with A X = B for `count` right-hand sides, in place of B: row i of B holds entry i of each.
    pub fn solve_all(&self, b: &mut [f64], count: usize) {
        let p = self.lower.rows();
        assert_eq!(b.len(), p * count, "one entry a row for each right-hand side");
        if b.is_empty() {
            return;
        }
        let lower = FaerRef::from_row_major_slice(self.lower.as_slice(), p, p);
        let mut b = FaerMut::from_row_major_slice_mut(b, p, count);
        solve_lower_triangular_in_place(lower, b.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(lower.transpose(), b, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rows: usize, cols: usize) -> Mat {
        Mat::from_fn(rows, cols, |i, j| ((3 * i + 7 * j) as f64).sin())
    }

    #[test]
    fn products_agree_with_the_plain_sum_however_the_factors_lie() {
        for (rows, inner, cols) in
            [(1, 1, 1), (5, 7, 3), (1, 9, 1), (9, 1, 9), (3, 60, 200), (200, 60, 3), (4, 0, 2), (70, 300, 15)]
        {
            let (a, b) = (wave(rows, inner), wave(inner, cols));
            let (at, bt) = (a.transposed(), b.transposed());
            let expected = Mat::from_fn(rows, cols, |i, j| (0..inner).map(|l| a.at(i, l) * b.at(l, j)).sum::<f64>());
            for left in [a.view(), at.view().transposed()] {
                for right in [b.view(), bt.view().transposed()] {
                    let got = product(left, right, Exec::default()).unwrap();
                    let mut here = vec![0.0; rows * cols];
                    multiply(left, right, &mut here);
                    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13;
                    assert!(got.as_slice().iter().zip(expected.as_slice()).all(close), "{rows} {inner} {cols}");
                    assert!(here.iter().zip(expected.as_slice()).all(close), "{rows} {inner} {cols}");
                }
            }
        }
    }

    #[test]
    fn products_of_a_matrix_that_is_laid_out_are_those_of_the_matrix() {
        for (rows, cols, width) in [(1, 1, 1), (300, 20, 7), (20, 30, 40), (600, 5, 13)] {
            let (a, b) = (wave(rows, cols), wave(rows, width));
            let expected = product(a.view().transposed(), b.view(), Exec::default()).unwrap();
            for view in [a.view(), a.transposed().view().transposed()] {
                let mut got = vec![f64::NAN; cols * width];
                PackedMatrix::of(view).transposed_times(b.as_slice(), &mut got, &mut Slab::new(width));
                let close = got.iter().zip(expected.as_slice()).all(|(a, b)| (a - b).abs() <= 1e-12);
                assert!(close, "{rows} {cols} {width}");
            }
        }
    }

    #[test]
    fn products_of_slabs_are_those_of_their_rows() {
        for (rows, cols, width) in [(1, 1, 1), (240, 30, 7), (17, 30, 40)] {
            let (a, b) = (wave(rows, cols), wave(rows, width));
            let [gram, product] = [&a, &b].map(|b| product(a.view().transposed(), b.view(), Exec::default()).unwrap());
            let (mut left, right) = (Slab::of(wave(200, cols).view()), Slab::of(b.transposed().view().transposed()));
            left.set(a.view());
            let mut got = vec![1.0; cols * width];
            left.add_transposed_times(&right, &mut got);
            assert!(
                got.iter().zip(product.as_slice()).all(|(a, b)| (a - b - 1.0).abs() <= 1e-12),
                "{rows} {cols} {width}"
            );
            let mut lower = Mat::zeros(cols, cols);
            for first in (0..cols).step_by(Slab::CUT) {
                let rows = first..(first + Slab::CUT).min(cols);
                left.add_gram(rows.clone(), &mut lower.as_mut_slice()[rows.start * cols..rows.end * cols]);
            }
            assert!((0..cols).all(|i| (0..=i).all(|j| (lower.at(i, j) - gram.at(i, j)).abs() <= 1e-12)));
        }
    }

    #[test]
    fn single_products_are_exact_for_small_whole_numbers_however_the_factors_lie() {
        let whole = |rows, cols, step: usize| Mat::from_fn(rows, cols, |i, j| ((i * step + 3 * j) % 17) as f32 - 8.0);
        for (rows, inner, cols) in [(1, 1, 1), (5, 7, 3), (70, 300, 90), (4, 0, 2)] {
            let (a, b) = (whole(rows, inner, 5), whole(cols, inner, 7));
            let mut here = vec![f32::NAN; rows * cols];
            multiply_single(a.view(), b.view().transposed(), &mut here);
            let expected = Mat::from_fn(rows, cols, |i, j| (0..inner).map(|l| a.at(i, l) * b.at(j, l)).sum::<f32>());
            assert_eq!(here, expected.as_slice(), "{rows} {inner} {cols}");
        }
    }

    #[test]
    fn solutions_solve_and_indefinite_matrices_are_refused() {
        let x = wave(9, 5);
        let mut a = product(x.view().transposed(), x.view(), Exec::default()).unwrap();
        (0..5).for_each(|i| a.row_mut(i)[i] += 1.0);
        let expected = wave(5, 2);
        let mut b = product(a.view(), expected.view(), Exec::default()).unwrap();
        Cholesky::of(a.clone()).unwrap().solve_all(b.as_mut_slice(), 2);
        assert!(b.as_slice().iter().zip(expected.as_slice()).all(|(a, b)| (a - b).abs() < 1e-13));
        a.row_mut(4)[4] = -1.0;
        assert!(Cholesky::of(a).is_none());
    }
}
