//! A matrix of low rank as two thin factors, and its principal directions.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | L (n × r), R (r × m) | `left`, `right` | A = L R |
//! | L₀ | | L less the mean of its rows: L₀R is A less the mean of its rows |
//! | Q (m × r) | | an orthonormal basis of the rows of R |
//! | W, σ | | right singular vectors and values of L₀ (R Q) |
//!
//! ```text
//!     A − 1μᵀ = L₀ R = L₀ (R Q) Qᵀ        principal directions  U = Q W
//! ```
//! A itself is never decomposed: (n + m) r² instead of n m min(n, m), and right to a few eps·σ₁.

use eigenspan_linalg::dense::product;
use eigenspan_linalg::polish::polish;
use eigenspan_linalg::rows::energy;
use eigenspan_linalg::spectrum::{fix_signs, resolution};
use eigenspan_linalg::svd;
use eigenspan_linalg::triangle::triangle;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;

/// A = L R.
#[derive(Debug, Clone, PartialEq)]
pub struct LowRank {
    left: Mat,
    right: Mat,
}

/// The principal directions of a matrix of low rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    /// The mean of the rows, where it was subtracted.
    pub mean: Option<Vec<f64>>,
    /// U (m × k). The largest entry of each column is positive.
    pub basis: Mat,
    /// Singular values, largest first; those at or below rounding are left out.
    pub sigma: Vec<f64>,
}

impl Principal {
    /// The first direction alone, where there is one.
    pub fn first(mut self) -> Self {
        self.sigma.truncate(1);
        self.basis = self.basis.leading_columns(self.sigma.len());
        self
    }
}

impl LowRank {
    /// The product of `left` and `right`.
    pub fn new(left: Mat, right: Mat) -> Self {
        assert_eq!(left.cols(), right.rows(), "the factors fit");
        Self { left, right }
    }

    /// A itself as one of the factors, of whatever rank it is.
    pub fn whole(a: &Mat) -> Self {
        let identity = |p: usize| Mat::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
        if a.rows() < a.cols() {
            Self::new(identity(a.rows()), a.clone())
        } else {
            Self::new(a.clone(), identity(a.cols()))
        }
    }

    /// r, the columns of L.
    pub fn rank(&self) -> usize {
        self.left.cols()
    }

    /// L.
    pub fn left(&self) -> &Mat {
        &self.left
    }

    /// R.
    pub fn right(&self) -> &Mat {
        &self.right
    }

    /// A, n × m.
    pub fn matrix(&self, exec: Exec<'_>) -> Result<Mat, Error> {
        Ok(product(self.left.view(), self.right.view(), exec)?)
    }

    /// The directions in which the rows vary, around their mean or around zero.
    pub fn principal(&self, centred: bool, exec: Exec<'_>) -> Result<Principal, Error> {
        let (n, m, r) = (self.left.rows(), self.right.cols(), self.rank());
        let mut left = self.left.clone();
        let mean = centred.then(|| self.take_mean(&mut left));
        if r == 0 {
            return Ok(Principal { mean, basis: Mat::zeros(m, 0), sigma: vec![] });
        }
        // More rows than columns in R would leave no room for Q: then every direction is in its span.
        let (q, small) = if r < m {
            let q = polish(self.right.transposed(), exec.silent())?;
            let inner = product(self.right.view(), q.view(), exec)?;
            (Some(q), product(left.view(), inner.view(), exec)?)
        } else {
            (None, product(left.view(), self.right.view(), exec)?)
        };
        let r = triangle(&small, exec.silent())?;
        let svd::RightSvd { mut sigma, v } = exec.aside_if(r.cols() > 256, "decompose", move || svd::right(&r))??;
        // Beside A and not beside A less its mean: that is where the rounding comes from.
        let floor = resolution(&[self.size()], n, m);
        let kept = sigma.iter().take_while(|s| **s > floor).count();
        sigma.truncate(kept);
        let v = v.leading_columns(kept);
        let mut basis = match q {
            Some(q) => product(q.view(), v.view(), exec)?,
            None => v,
        };
        fix_signs(&mut basis);
        Ok(Principal { mean, basis, sigma })
    }

    /// ‖A‖_F where the columns of L or the rows of R are orthogonal; about that otherwise.
    fn size(&self) -> f64 {
        let lengths = column_norms(&self.left);
        lengths.iter().enumerate().map(|(j, length)| length * length * energy(self.right.row(j))).sum::<f64>().sqrt()
    }

    /// Takes the mean of its rows from L, and returns that of A.
    fn take_mean(&self, left: &mut Mat) -> Vec<f64> {
        let (n, r) = (left.rows(), left.cols());
        let mut middle = vec![0.0; r];
        (0..n).for_each(|i| middle.iter_mut().zip(left.row(i)).for_each(|(s, v)| *s += v));
        middle.iter_mut().for_each(|s| *s /= n as f64);
        (0..n).for_each(|i| left.row_mut(i).iter_mut().zip(&middle).for_each(|(v, s)| *v -= s));
        let mut mean = vec![0.0; self.right.cols()];
        for (j, weight) in middle.iter().enumerate() {
            mean.iter_mut().zip(self.right.row(j)).for_each(|(mean, v)| *mean += weight * v);
        }
        mean
    }
}

/// The ℓ2 norm of each column.
pub(crate) fn column_norms(x: &Mat) -> Vec<f64> {
    let mut squares = vec![0.0; x.cols()];
    (0..x.rows()).for_each(|i| squares.iter_mut().zip(x.row(i)).for_each(|(s, x)| *s += x * x));
    squares.into_iter().map(f64::sqrt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use crate::method::pca::{Components, PcaParams};

    #[test]
    fn the_directions_are_those_of_a_principal_component_analysis_of_the_product() {
        let mut random = Normal::new(8);
        for (n, m, r) in [(50, 20, 4), (20, 50, 4), (9, 6, 6), (30, 4, 7), (6, 9, 8)] {
            let mut draw = |rows, cols| Mat::from_fn(rows, cols, |_, j| random.draw() * (j + 1) as f64 + 1.0);
            let a = LowRank::new(draw(n, r), draw(r, m));
            let found = a.principal(true, Exec::default()).unwrap();
            let product = a.matrix(Exec::default()).unwrap();
            let rank = r.min(m).min(n - 1);
            let want = PcaParams { components: Components::Count(rank), ..PcaParams::default() }.fit(&product).unwrap();
            assert_eq!(found.sigma.len(), rank, "{n} × {m}, {r}");
            let parts = want.parts();
            let mean = parts.preparation.mean.as_ref().unwrap();
            assert!(found.mean.unwrap().iter().zip(mean).all(|(a, b)| (a - b).abs() < 1e-12));
            for j in 0..rank {
                assert!((found.sigma[j] - parts.sigma[j]).abs() < 1e-12 * parts.sigma[0]);
                for i in 0..m {
                    assert!((found.basis.at(i, j) - parts.basis.at(i, j)).abs() < 1e-8, "{n} × {m}, {r}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn without_centring_the_mean_is_a_direction_and_nothing_has_none() {
        let a = LowRank::new(Mat::from_fn(5, 1, |_, _| 2.0), Mat::from_fn(1, 3, |_, j| f64::from(u8::from(j == 1))));
        let kept = a.principal(false, Exec::default()).unwrap();
        assert_eq!((kept.mean, kept.sigma.len()), (None, 1));
        assert!((kept.basis.at(1, 0) - 1.0).abs() < 1e-15);
        let gone = a.principal(true, Exec::default()).unwrap();
        assert_eq!((gone.mean.unwrap(), gone.sigma.len()), (vec![0.0, 2.0, 0.0], 0));
        let none = LowRank::new(Mat::zeros(5, 0), Mat::zeros(0, 3)).principal(true, Exec::default()).unwrap();
        assert_eq!((none.sigma.len(), none.basis.rows()), (0, 3));
    }
}
