//! Columns that are almost orthonormal, made orthonormal to rounding and moved as little as possible.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | B | `b` | m × k, BᵀB = I + Δ |
//! | K | `k` | BᵀB |
//!
//! ```text
//!     B ← B (3I − K)/2        BᵀB = I − ¾Δ² + O(Δ³)
//! ```
//! One Newton–Schulz step towards the orthonormal factor of the polar decomposition, the nearest orthonormal matrix of
//! all. A Δ of 1e-8 is gone after one step, at 3mk² flops in two matrix products; where Δ is too large for that, QR.

use faer::{Accum, Par};

use crate::Error;
use crate::exec::Exec;
use crate::gram::Gram;
use crate::mat::Mat;
use crate::triangle::orthonormalise;

/// Rows multiplied as one piece of work.
const STRETCH: usize = 512;
/// Up to this Δ a step converges at once.
const CLOSE: f64 = 1e-3;

/// An orthonormal basis of the columns of `b` (m ≥ k), each next to where it was.
pub fn polish(mut b: Mat, exec: Exec<'_>) -> Result<Mat, Error> {
    let (m, k) = (b.rows(), b.cols());
    assert!(m >= k, "an orthonormal basis of {k} columns needs {k} rows, not {m}");
    // Δ, Δ², Δ⁴: three steps take 1e-3 to rounding.
    for _ in 0..3 {
        let mut step = Gram::of(&b, exec.silent())?.matrix;
        let off = (0..k).flat_map(|i| (0..k).map(move |j| (i, j)));
        let off = off.map(|(i, j)| (step.at(i, j) - f64::from(u8::from(i == j))).powi(2)).sum::<f64>().sqrt();
        if off <= 4.0 * f64::EPSILON * k as f64 {
            return Ok(b);
        }
        if off.is_nan() || off > CLOSE {
            break;
        }
        step.as_mut_slice().iter_mut().for_each(|v| *v *= -0.5);
        (0..k).for_each(|i| step.row_mut(i)[i] += 1.5);
        times(&mut b, &step, exec)?;
        if off < 1e-8 {
            return Ok(b);
        }
    }
    exec.check()?;
    Ok(orthonormalise(&b))
}

/// B ← B S for a symmetric S. Read column by column, a stretch of rows of B is its transpose, and the product is S Bᵀ.
fn times(b: &mut Mat, s: &Mat, exec: Exec<'_>) -> Result<(), Error> {
    let k = b.cols();
    let s = faer::MatRef::from_column_major_slice(s.as_slice(), k, k);
    exec.each_chunk("project", b.as_mut_slice(), (STRETCH * k).max(1), |_, rows| {
        let before = rows.to_vec();
        let count = rows.len() / k;
        let right = faer::MatRef::from_column_major_slice(&before, k, count);
        let into = faer::MatMut::from_column_major_slice_mut(rows, k, count);
        faer::linalg::matmul::matmul(into, Accum::Replace, s, right, 1.0, Par::Seq);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(b: &Mat) -> f64 {
        let entry = |i: usize, j: usize| (0..b.rows()).map(|r| b.at(r, i) * b.at(r, j)).sum::<f64>();
        let pairs = (0..b.cols()).flat_map(|i| (0..b.cols()).map(move |j| (i, j)));
        pairs.map(|(i, j)| (entry(i, j) - f64::from(u8::from(i == j))).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn columns_become_orthonormal_from_any_distance_and_move_no_further_than_that() {
        let exact = orthonormalise(&Mat::from_fn(900, 30, |i, j| ((i * (j + 1)) as f64 * 0.37).sin()));
        for distance in [0.0, 1e-13, 1e-9, 1e-5, 1e-2] {
            let bent =
                Mat::from_fn(900, 30, |i, j| exact.at(i, j) + distance * if j > 0 { exact.at(i, j - 1) } else { 0.0 });
            let polished = polish(bent.clone(), Exec::default()).unwrap();
            assert!(off(&polished) < 100.0 * f64::EPSILON, "{distance:e}: off by {:e}", off(&polished));
            let moved = bent.as_slice().iter().zip(polished.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(moved <= 2.0 * distance + 100.0 * f64::EPSILON, "{distance:e}: moved by {moved:e}");
        }
    }

    #[test]
    fn no_columns_and_one_column_are_fine() {
        assert_eq!(polish(Mat::zeros(3, 0), Exec::default()).unwrap().cols(), 0);
        let one = polish(Mat::from_fn(4, 1, |_, _| 0.5000001), Exec::default()).unwrap();
        assert!((one.at(0, 0) - 0.5).abs() < 1e-15);
    }
}
