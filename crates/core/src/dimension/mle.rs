//! Maximum likelihood of the distances to the nearest neighbors (Levina, Bickel).
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | T₁ ≤ … ≤ T_{k+1} | `distances` | distances of a point to its nearest neighbors |
//! | d_i | `per_point` | the dimension around point i |
//! | d | `dimension` | the dimension of all points |
//!
//! Where the density is uniform around x, the number of points within t of x is a Poisson process of rate ∝ t^d. Its
//! likelihood is maximal at
//! ```text
//!     d_i = [ 1/k Σ_{j ≤ k} log(T_{k+1}/T_j) ]⁻¹          d = [ mean of 1/d_i ]⁻¹   or   d = mean of d_i
//! ```
//! The harmonic mean maximizes the likelihood of all points together (MacKay, Ghahramani), and is what the PCE paper
//! used; the arithmetic mean is that of the first publication, and larger.
//!
//! Levina, Bickel (2004) — `levina2004`, MacKay, Ghahramani (2005) — `mackay2005` in `docs/references.bib`. **Where we
//! differ**: copies are dropped ([`super::Near`]), and points whose neighbors are all equally far, where d_i is
//! infinite, are excluded from the arithmetic mean; k counts the distances that are compared with the last one, as in
//! the toolbox that the PCE paper used, so that k here is k + 1 in the first publication.

use eigenspan_linalg::Exec;

use super::parts::near::Near;
use super::{Estimate, Estimator, check_neighbours, uncalibrated};
use crate::Error;
use crate::warning::Warning;

/// Above this ratio of the dimension from the nearest half of the neighbors to that from all neighbors, noise is
/// suspected. Uniform balls of 1 to 20 dimensions stay below, which a test checks.
const SUSPECT: f64 = 1.25;

/// How the dimensions of the points are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mean {
    /// 1 / mean(1/d_i): maximizes the likelihood of all points.
    #[default]
    Harmonic,
    /// mean(d_i), as first published.
    Arithmetic,
}

/// Parameters of the maximum likelihood estimator. The default is the PCE paper's: ten neighbors, harmonic.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MleParams {
    /// k: the distances that are compared with that of neighbor k + 1.
    pub neighbours: usize,
    /// How the dimensions of the points are averaged.
    pub mean: Mean,
}

impl Default for MleParams {
    fn default() -> Self {
        Self { neighbours: 10, mean: Mean::Harmonic }
    }
}

impl MleParams {
    /// Estimates the dimension.
    pub fn estimate(&self, near: &Near, exec: Exec<'_>) -> Result<Estimate, Error> {
        let k = check_neighbours(self.neighbours)?;
        near.check(k + 1)?;
        exec.check()?;
        let inverse = inverse_dimensions(near, k);
        let dimension = match self.mean {
            Mean::Harmonic => 1.0 / mean(&inverse),
            Mean::Arithmetic => mean(&inverse.iter().filter(|i| **i > 0.0).map(|i| 1.0 / i).collect::<Vec<_>>()),
        };
        if !dimension.is_finite() {
            return Err(Error::EqualDistances { neighbours: k + 1 });
        }
        let n = inverse.len() as f64;
        let center = mean(&inverse);
        let spread = (inverse.iter().map(|i| (i - center).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        // As if neighborhoods did not overlap.
        let error = match self.mean {
            Mean::Harmonic => Some(dimension * dimension * spread / n.sqrt()),
            Mean::Arithmetic => None,
        };
        let mut warnings = near.warnings();
        warnings.extend(uncalibrated(near, dimension));
        warnings.extend(depends_on_scale(near, k));
        let per_point: Vec<f64> = inverse.iter().map(|i| 1.0 / i).collect();
        Ok(Estimate {
            dimension,
            error,
            per_point: Some(near.of_samples(&per_point)),
            settings: Estimator::Mle(*self),
            why: format!("the likelihood of the distances to the nearest {} is largest at {dimension:.2}", k + 1),
            warnings,
        })
    }
}

/// 1/d_i of every point.
fn inverse_dimensions(near: &Near, k: usize) -> Vec<f64> {
    let of_point = |i: usize| {
        let distances = near.distances(i);
        distances[..k].iter().map(|t| (distances[k] / t).ln()).sum::<f64>() / k as f64
    };
    (0..near.points().rows()).map(of_point).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A warning where the nearest half of the neighbors gives a higher dimension than all of them.
fn depends_on_scale(near: &Near, k: usize) -> Option<Warning> {
    let half = k / 2;
    if half < 3 {
        return None;
    }
    let [close, far] = [half, k].map(|k| 1.0 / mean(&inverse_dimensions(near, k)));
    (close > SUSPECT * far).then_some(Warning::ScaleDependent { near: close, far })
}
