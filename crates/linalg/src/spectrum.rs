//! All singular values of a large matrix X (n × m, samples in rows), and its leading feature directions.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | `x` | n × m, read block by block |
//! | p | `p` | min(n, m): the small side |
//! | R | `r` | p × p triangle with RᵀR = XᵀX (n ≥ m) or XXᵀ (n < m) |
//! | σ | `sigma` | the p singular values, largest first |
//! | U | `basis` | m × k, orthonormal columns: the paper's U for D = Xᵀ |
//!
//! ```text
//!     n ≥ m :  X = QR,   R = W Σ Uᵀ                    U is there
//!     n < m :  Xᵀ = QR,  R = W Σ Vᵀ,   U = Xᵀ V Σ⁻¹    one more look at X, then made orthonormal again
//! ```
//! Through R rather than the Gram matrix: every σ is right to a few eps·σ₁, however small it is.

use crate::Error;
use crate::blocks::{Blocks, Transposed};
use crate::exec::Exec;
use crate::mat::{Mat, MatMut};
use crate::product::Columns;
use crate::scale::times_power_of_two;
use crate::svd::{self, RightSvd};
use crate::triangle::{orthonormalise, triangle};

/// Feature directions computed at once when X has fewer samples than features.
const STRIPE: usize = 256;

/// The full decomposition of a matrix, ready to give as many feature directions as asked for.
pub struct Decomposition<'a> {
    x: &'a dyn Blocks,
    /// All min(n, m) singular values, largest first.
    pub sigma: Vec<f64>,
    /// Right singular vectors of the triangle: U where n ≥ m, V otherwise.
    small: Mat,
}

/// All singular values of `x`, largest first.
pub fn singular_values(x: &dyn Blocks, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let r = small_side_triangle(x, exec)?;
    exec.begin("decompose")?;
    Ok(unscaled(svd::values(&r)?, x))
}

/// All singular values of `x` and one side's singular vectors.
pub fn decompose<'a>(x: &'a dyn Blocks, exec: Exec<'_>) -> Result<Decomposition<'a>, Error> {
    let r = small_side_triangle(x, exec)?;
    exec.begin("decompose")?;
    let RightSvd { sigma, v } = svd::right(&r)?;
    Ok(Decomposition { x, sigma: unscaled(sigma, x), small: v })
}

impl Decomposition<'_> {
    /// The first `k` feature directions U_k (m × k). The largest entry of each column is positive, the first
    /// one where several are equally large; σ_k must be above rounding.
    pub fn basis(&self, k: usize, exec: Exec<'_>) -> Result<Mat, Error> {
        let leading = self.small.leading_columns(k);
        let mut basis = if self.x.rows() >= self.x.cols() { leading } else { self.through_features(&leading, exec)? };
        fix_signs(&mut basis);
        Ok(basis)
    }

    /// U_k = Xᵀ V_k Σ_k⁻¹. Its columns are orthogonal to eps·σ₁/σ_k only; a QR step makes that eps and moves
    /// no column by more than that error.
    fn through_features(&self, v: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
        let (n, m, k) = (self.x.rows(), self.x.cols(), v.cols());
        let columns = Columns::new(v);
        let mut basis = Mat::zeros(m, k);
        exec.each_chunk("project", basis.as_mut_slice(), (STRIPE * k).max(1), |i, out| {
            let features = i * STRIPE..((i + 1) * STRIPE).min(m);
            let mut stripe = vec![0.0; features.len() * n];
            self.x.read(0..n, features, &mut MatMut::column_major(&mut stripe, n));
            columns.multiply(&stripe, out);
        })?;
        let exponent = self.x.exponent();
        for i in 0..m {
            for (u, s) in basis.row_mut(i).iter_mut().zip(&self.sigma) {
                *u /= times_power_of_two(*s, -exponent);
            }
        }
        Ok(orthonormalise(&basis))
    }
}

fn small_side_triangle(x: &dyn Blocks, exec: Exec<'_>) -> Result<Mat, Error> {
    if x.rows() >= x.cols() { triangle(x, exec) } else { triangle(&Transposed(x), exec) }
}

fn unscaled(mut sigma: Vec<f64>, x: &dyn Blocks) -> Vec<f64> {
    sigma.iter_mut().for_each(|s| *s = times_power_of_two(*s, x.exponent()));
    sigma
}

fn fix_signs(basis: &mut Mat) {
    for j in 0..basis.cols() {
        let largest = (0..basis.rows())
            .fold(0.0f64, |best, i| if basis.at(i, j).abs() > best.abs() { basis.at(i, j) } else { best });
        if largest < 0.0 {
            (0..basis.rows()).for_each(|i| basis.row_mut(i)[j] *= -1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Läuchli's matrix [1ᵀ; μI]: σ = √(n + μ²), μ, …, μ. Its Gram matrix rounds μ = 3e-9 away.
    fn lauchli(n: usize, mu: f64) -> Mat {
        Mat::from_fn(n + 1, n, |i, j| {
            if i == 0 {
                1.0
            } else if i == j + 1 {
                mu
            } else {
                0.0
            }
        })
    }

    #[test]
    fn tiny_values_survive_on_both_sides() {
        for mu in [1e-7, 3e-9, 1e-12] {
            let tall = lauchli(12, mu);
            for x in [&tall, &tall.transposed()] {
                let sigma = singular_values(x, Exec::default()).unwrap();
                assert!((sigma[0] - (12.0 + mu * mu).sqrt()).abs() < 1e-14);
                assert!(sigma[1..].iter().all(|s| (s - mu).abs() < 1e-3 * mu), "{mu}: {sigma:?}");
            }
        }
    }

    #[test]
    fn directions_are_orthonormal_and_singular_on_both_sides() {
        let wide = Mat::from_fn(9, 30, |i, j| ((i * j) as f64 * 0.11).sin() + if i == j { 2.0 } else { 0.0 });
        for x in [&wide, &wide.transposed()] {
            let whole = decompose(x, Exec::default()).unwrap();
            let u = whole.basis(5, Exec::default()).unwrap();
            // XᵀX u = σ² u and uᵀu = 1, entry by entry.
            for c in 0..5 {
                let xu: Vec<f64> =
                    (0..x.rows()).map(|i| (0..x.cols()).map(|j| x.at(i, j) * u.at(j, c)).sum()).collect();
                for j in 0..x.cols() {
                    let back: f64 = (0..x.rows()).map(|i| x.at(i, j) * xu[i]).sum();
                    let want = whole.sigma[c].powi(2) * u.at(j, c);
                    assert!((back - want).abs() < 300.0 * f64::EPSILON * whole.sigma[0].powi(2));
                }
                for d in 0..5 {
                    let dot: f64 = (0..x.cols()).map(|j| u.at(j, c) * u.at(j, d)).sum();
                    assert!((dot - if c == d { 1.0 } else { 0.0 }).abs() < 100.0 * f64::EPSILON);
                }
                let largest =
                    (0..x.cols()).map(|j| u.at(j, c)).fold(0.0f64, |b, v| if v.abs() > b.abs() { v } else { b });
                assert!(largest > 0.0);
            }
        }
    }

    #[test]
    fn directions_stay_orthonormal_down_to_tiny_values() {
        // A wide matrix with σ from 1 to 1e-10, whose directions come through Xᵀ V Σ⁻¹.
        let rotation = |n: usize, shift: f64| {
            orthonormalise(&Mat::from_fn(n, 20, |i, j| ((i * j) as f64 + shift * i as f64).sin()))
        };
        let (left, right) = (rotation(20, 0.3), rotation(60, 0.7));
        let sigma = |j: usize| 10f64.powf(-10.0 * j as f64 / 19.0);
        let x = Mat::from_fn(20, 60, |i, j| (0..20).map(|r| left.at(i, r) * sigma(r) * right.at(j, r)).sum());
        let u = decompose(&x, Exec::default()).unwrap().basis(20, Exec::default()).unwrap();
        for c in 0..20 {
            for d in 0..20 {
                let dot: f64 = (0..60).map(|j| u.at(j, c) * u.at(j, d)).sum();
                assert!((dot - if c == d { 1.0 } else { 0.0 }).abs() < 100.0 * f64::EPSILON, "{c}, {d}: {dot:e}");
            }
            // The direction of σ is known to eps·σ₁/gap, and neighbours are a factor of 3.4 apart.
            let along: f64 = (0..60).map(|j| u.at(j, c) * right.at(j, c)).sum();
            assert!((along.abs() - 1.0).abs() < 1e3 * f64::EPSILON / sigma(c), "{c}: {along}");
        }
    }
}
