//! Reorthonormalization of almost orthonormal columns.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | B | `b` | m × k, BᵀB = I + Δ |
//! | L | `inverse` holds L⁻¹ | BᵀB = LLᵀ |
//!
//! ```text
//!     B ← B L⁻ᵀ
//! ```
//! Cholesky-QR: 3mk² flops in two matrix products. L⁻ᵀ is upper triangular, so a column is corrected by the columns
//! before it and never by those after: with the most accurate directions first, those are unchanged. The result is as
//! good as Householder QR while Δ is small; otherwise QR is used.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Par};

use crate::Error;
use crate::exec::Exec;
use crate::gram::Gram;
use crate::mat::Mat;
use crate::triangle::orthonormalized;

/// Maximum number of rows of one piece of work.
const MAX_ROWS: usize = 512;
/// Maximum number of multiplications of one piece of work: a few hundredths of a second.
const WORK: usize = 1 << 28;
/// A factorization of this order or more runs on a thread of its own.
const LONG: usize = 500;
/// Up to this Δ the squared condition of B costs nothing.
const CLOSE: f64 = 1e-3;

/// An orthonormal basis of the columns of `b` (m ≥ k), each corrected only by those before it.
pub fn polish(mut b: Mat, exec: Exec<'_>) -> Result<Mat, Error> {
    let (m, k) = (b.rows(), b.cols());
    assert!(m >= k, "an orthonormal basis of {k} columns needs {k} rows, not {m}");
    let square = Gram::in_double(&b, exec.silent())?.matrix;
    let pairs = (0..k).flat_map(|i| (0..k).map(move |j| (i, j)));
    let off = pairs.map(|(i, j)| (square.at(i, j) - f64::from(u8::from(i == j))).powi(2)).sum::<f64>().sqrt();
    exec.check()?;
    if off.is_nan() || off > CLOSE {
        return orthonormalized(&b, exec);
    }
    let inverse = exec.aside_if(k > LONG, "project", move || inverse_factor(square))?;
    times_transposed(&mut b, &inverse, exec)?;
    Ok(b)
}

/// L⁻¹ of S = LLᵀ, for an S that is almost the identity.
fn inverse_factor(mut s: Mat) -> Mat {
    let k = s.cols();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(k, Par::Seq, Default::default()));
    let view = faer::MatMut::from_row_major_slice_mut(s.as_mut_slice(), k, k);
    cholesky_in_place(view, Default::default(), Par::Seq, MemStack::new(&mut memory), Default::default())
        .expect("a matrix this near the identity is positive definite");
    let mut inverse = Mat::zeros(k, k);
    let lower = faer::MatRef::from_row_major_slice(s.as_slice(), k, k);
    let into = faer::MatMut::from_row_major_slice_mut(inverse.as_mut_slice(), k, k);
    invert_lower_triangular(into, lower, Par::Seq);
    inverse
}

/// B ← B Aᵀ for a lower triangular A. Read column by column, a block of rows of B is its transpose, and the product is
/// A Bᵀ.
fn times_transposed(b: &mut Mat, a: &Mat, exec: Exec<'_>) -> Result<(), Error> {
    let k = b.cols();
    let a = faer::MatRef::from_row_major_slice(a.as_slice(), k, k);
    let block = (WORK / (k * k).max(1)).clamp(32, MAX_ROWS);
    exec.each_chunk("project", b.as_mut_slice(), (block * k).max(1), |_, rows| {
        let before = rows.to_vec();
        let count = rows.len() / k;
        let right = faer::MatRef::from_column_major_slice(&before, k, count);
        let into = faer::MatMut::from_column_major_slice_mut(rows, k, count);
        let (whole, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
        triangular::matmul(into, whole, Accum::Replace, a, lower, right, whole, 1.0, Par::Seq);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::orthonormality_error;
    use crate::triangle::orthonormalize;

    #[test]
    fn columns_become_orthonormal_from_any_distance_and_move_no_further_than_that() {
        let exact = orthonormalize(&Mat::from_fn(900, 30, |i, j| ((i * (j + 1)) as f64 * 0.37).sin()));
        for distance in [0.0, 1e-13, 1e-9, 1e-5, 1e-2] {
            let bent =
                Mat::from_fn(900, 30, |i, j| exact.at(i, j) + distance * if j > 0 { exact.at(i, j - 1) } else { 0.0 });
            let polished = polish(bent.clone(), Exec::default()).unwrap();
            assert!(
                orthonormality_error(&polished) < 100.0 * f64::EPSILON,
                "{distance:e}: off by {:e}",
                orthonormality_error(&polished)
            );
            let moved = bent.as_slice().iter().zip(polished.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(moved <= 2.0 * distance + 100.0 * f64::EPSILON, "{distance:e}: moved by {moved:e}");
        }
    }

    #[test]
    fn a_bad_last_column_does_not_touch_the_good_ones_before_it() {
        let exact = orthonormalize(&Mat::from_fn(200, 5, |i, j| ((i * (j + 1)) as f64 * 0.37).sin()));
        let bent = Mat::from_fn(200, 5, |i, j| exact.at(i, j) + if j == 4 { 1e-4 * exact.at(i, 0) } else { 0.0 });
        let polished = polish(bent, Exec::default()).unwrap();
        assert!(orthonormality_error(&polished) < 100.0 * f64::EPSILON);
        for i in 0..200 {
            assert!((0..4).all(|j| (polished.at(i, j) - exact.at(i, j)).abs() < 10.0 * f64::EPSILON));
        }
    }

    #[test]
    fn no_columns_and_one_column_are_fine() {
        assert_eq!(polish(Mat::zeros(3, 0), Exec::default()).unwrap().cols(), 0);
        let one = polish(Mat::from_fn(4, 1, |_, _| 0.5000001), Exec::default()).unwrap();
        assert!((one.at(0, 0) - 0.5).abs() < 1e-15);
    }
}
