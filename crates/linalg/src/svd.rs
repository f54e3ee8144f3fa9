//! Singular values and right vectors of a small dense matrix, by the backend; every result is checked.

use faer::Par;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};

use crate::Error;
use crate::mat::Mat;

/// A = W diag(σ) Vᵀ, without W.
pub struct RightSvd {
    /// The singular values, in descending order.
    pub sigma: Vec<f64>,
    /// V, one column per singular value.
    pub v: Mat,
}

/// All singular values of `a`, in descending order.
pub fn values(a: &Mat) -> Result<Vec<f64>, Error> {
    let mut sigma = vec![0.0; a.rows().min(a.cols())];
    run(a, &mut sigma, None)?;
    Ok(sigma)
}

/// All singular values of `a`, in descending order, and the right singular vectors.
pub fn right(a: &Mat) -> Result<RightSvd, Error> {
    let (n, r) = (a.cols(), a.rows().min(a.cols()));
    let mut sigma = vec![0.0; r];
    let mut v = vec![0.0; n * r];
    run(a, &mut sigma, Some(&mut v))?;
    Ok(RightSvd { sigma, v: Mat::from_fn(n, r, |i, j| v[j * n + i]) })
}

/// Callers scale their matrix near one: the backend is silently wrong at 1e-300 and fails at 1e300.
fn run(a: &Mat, sigma: &mut [f64], v: Option<&mut [f64]>) -> Result<(), Error> {
    let (m, n) = (a.rows(), a.cols());
    let r = m.min(n);
    if r == 0 {
        return Ok(());
    }
    let vectors = if v.is_some() { ComputeSvdVectors::Thin } else { ComputeSvdVectors::No };
    let need = svd_scratch::<f64>(m, n, ComputeSvdVectors::No, vectors, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(need);
    svd(
        faer::MatRef::from_row_major_slice(a.as_slice(), m, n),
        DiagMut::from_slice_mut(sigma),
        None,
        v.map(|v| faer::MatMut::from_column_major_slice_mut(v, n, r)),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { rows: m, cols: n })?;
    for s in sigma.iter_mut() {
        *s = s.abs(); // −0 for an exact zero
    }
    // Σσ² = ‖A‖²_F holds for every matrix: a result that violates it is wrong.
    let energy: f64 = a.as_slice().iter().map(|x| x * x).sum();
    let found: f64 = sigma.iter().map(|s| s * s).sum();
    let sorted = sigma.windows(2).all(|w| w[0] >= w[1]);
    let close = (energy - found).abs() <= 1e3 * f64::EPSILON * m.max(n) as f64 * energy;
    if sorted && close { Ok(()) } else { Err(Error::NoConvergence { rows: m, cols: n }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_found_to_a_few_eps() {
        // min(i, j) has the eigenvalues 1 / (4 sin²((2i − 1)π / (4n + 2))).
        let n = 40;
        let a = Mat::from_fn(n, n, |i, j| (i.min(j) + 1) as f64);
        let sigma = values(&a).unwrap();
        for (i, s) in sigma.iter().enumerate() {
            let angle = (2 * i + 1) as f64 * std::f64::consts::PI / (4 * n + 2) as f64;
            let expected = 1.0 / (4.0 * angle.sin().powi(2));
            assert!((s - expected).abs() <= 2.0 * n as f64 * f64::EPSILON * sigma[0], "{i}: {s} ≠ {expected}");
        }
    }

    #[test]
    fn a_v_has_columns_of_length_sigma_at_right_angles() {
        let a = Mat::from_fn(9, 6, |i, j| ((i * 5 + j * 3) as f64).cos());
        let RightSvd { sigma, v } = right(&a).unwrap();
        let av = Mat::from_fn(9, 6, |i, j| (0..6).map(|l| a.at(i, l) * v.at(l, j)).sum::<f64>());
        for i in 0..6 {
            for j in 0..6 {
                let dot: f64 = (0..9).map(|r| av.at(r, i) * av.at(r, j)).sum();
                let expected = if i == j { sigma[i] * sigma[i] } else { 0.0 };
                assert!((dot - expected).abs() < 100.0 * f64::EPSILON * sigma[0] * sigma[0]);
            }
        }
    }

    #[test]
    fn zeros_and_empty_matrices_have_zero_values() {
        assert_eq!(values(&Mat::zeros(3, 2)).unwrap(), [0.0, 0.0]);
        assert!(values(&Mat::zeros(0, 4)).unwrap().is_empty());
    }
}
