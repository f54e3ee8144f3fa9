//! Dense matrices that fit in memory: products, and systems with a positive definite matrix.
//!
//! | call | computes |
//! |---|---|
//! | [`product`] | A B, on several threads |
//! | [`multiply`] | A B into memory at hand, on this thread: for work that is cut into pieces already |
//! | [`multiply_single`] | the same in single precision, twice as fast: for products that something exact follows |
//! | [`Cholesky`] | A = L Lᵀ, and x with A x = b |
//!
//! Views have strides, so that Aᵀ B is `product(a.view().transposed(), b.view(), exec)` without a copy. Bits do not depend
//! on the number of threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut as FaerMut, MatRef as FaerRef, Par};

use crate::Error;
use crate::exec::Exec;
use crate::mat::{Mat, MatRef, Scalar};
use crate::matmul;

/// A B.
pub fn product(a: MatRef<'_>, b: MatRef<'_>, exec: Exec<'_>) -> Result<Mat, Error> {
    let mut out = Mat::zeros(a.rows(), b.cols());
    product_into(a, b, &mut out, exec)?;
    Ok(out)
}

/// A B, into a matrix of its shape.
pub fn product_into(a: MatRef<'_>, b: MatRef<'_>, out: &mut Mat, exec: Exec<'_>) -> Result<(), Error> {
    assert_eq!((a.rows(), a.cols(), b.cols()), (out.rows(), b.rows(), out.cols()), "the shapes of A, B and A B agree");
    let (rows, cols) = (out.rows(), out.cols());
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let out = FaerMut::from_row_major_slice_mut(out.as_mut_slice(), rows, cols);
    // Pieces are stripes of rows: of the transpose, where that has more of them.
    let (out, left, right) = if rows >= cols {
        (out, faer(a), faer(b))
    } else {
        (out.transpose_mut(), faer(b).transpose(), faer(a).transpose())
    };
    let height = height(left.nrows(), right.ncols(), left.ncols());
    matmul::product_in_stripes(out, Accum::Replace, left, right, 1.0, height, exec.silent())
}

/// Rows of a stripe. Every stripe lays out the right factor again for itself, so that where there are many rows each should
/// have some hundreds; where there are few, threads matter more.
fn height(rows: usize, cols: usize, inner: usize) -> usize {
    let pieces = (rows * cols * inner / matmul::PIECE).max(1);
    rows.div_ceil(pieces).max((rows / 12).min(384)).next_multiple_of(48)
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
    assert!(across == 1 || down == 1, "rows or columns lie in one stretch each");
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
        for (rows, inner, cols) in [(1, 1, 1), (5, 7, 3), (1, 9, 1), (9, 1, 9), (3, 60, 200), (200, 60, 3), (4, 0, 2)] {
            let (a, b) = (wave(rows, inner), wave(inner, cols));
            let (at, bt) = (a.transposed(), b.transposed());
            let want = Mat::from_fn(rows, cols, |i, j| (0..inner).map(|l| a.at(i, l) * b.at(l, j)).sum::<f64>());
            for left in [a.view(), at.view().transposed()] {
                for right in [b.view(), bt.view().transposed()] {
                    let got = product(left, right, Exec::default()).unwrap();
                    let mut here = vec![0.0; rows * cols];
                    multiply(left, right, &mut here);
                    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13;
                    assert!(got.as_slice().iter().zip(want.as_slice()).all(close), "{rows} {inner} {cols}");
                    assert!(here.iter().zip(want.as_slice()).all(close), "{rows} {inner} {cols}");
                }
            }
        }
    }

    #[test]
    fn single_products_are_exact_for_small_whole_numbers_however_the_factors_lie() {
        let whole = |rows, cols, step: usize| Mat::from_fn(rows, cols, |i, j| ((i * step + 3 * j) % 17) as f32 - 8.0);
        for (rows, inner, cols) in [(1, 1, 1), (5, 7, 3), (70, 300, 90), (4, 0, 2)] {
            let (a, b) = (whole(rows, inner, 5), whole(cols, inner, 7));
            let mut here = vec![f32::NAN; rows * cols];
            multiply_single(a.view(), b.view().transposed(), &mut here);
            let want = Mat::from_fn(rows, cols, |i, j| (0..inner).map(|l| a.at(i, l) * b.at(j, l)).sum::<f32>());
            assert_eq!(here, want.as_slice(), "{rows} {inner} {cols}");
        }
    }

    #[test]
    fn solutions_solve_and_indefinite_matrices_are_refused() {
        let x = wave(9, 5);
        let mut a = product(x.view().transposed(), x.view(), Exec::default()).unwrap();
        (0..5).for_each(|i| a.row_mut(i)[i] += 1.0);
        let want = wave(5, 2);
        let mut b = product(a.view(), want.view(), Exec::default()).unwrap();
        Cholesky::of(a.clone()).unwrap().solve_all(b.as_mut_slice(), 2);
        assert!(b.as_slice().iter().zip(want.as_slice()).all(|(a, b)| (a - b).abs() < 1e-13));
        a.row_mut(4)[4] = -1.0;
        assert!(Cholesky::of(a).is_none());
    }
}
