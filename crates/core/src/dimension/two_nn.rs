//! TwoNN: the dimension from the two nearest neighbors alone.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | μ = T₂/T₁ | `logs` | of each point, as its logarithm, sorted |
//! | F(μ_i) = i/n | | the share of points with at most this ratio |
//! | d | `dimension` | the slope |
//!
//! ```text
//!     P(μ ≤ x) = 1 − x^{−d},   so that   −log(1 − F(μ)) = d log μ:   a line through the origin, by least squares
//! ```
//! Two neighbors are as near as possible: density and curvature hardly change over them, and noise matters most.
//!
//! Facco, d'Errico, Rodriguez, Laio (2017) — `facco2017` in `docs/references.bib`. **Where we differ**: copies are
//! dropped.

use eigenspan_linalg::Exec;

use super::parts::near::Near;
use super::{Estimate, Estimator, uncalibrated};
use crate::Error;

/// Parameters of TwoNN.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TwoNnParams {
    /// The share of the largest ratios that is excluded from the fit, as in the paper.
    pub discard: f64,
}

impl Default for TwoNnParams {
    fn default() -> Self {
        Self { discard: 0.1 }
    }
}

impl TwoNnParams {
    /// Estimates the dimension.
    pub fn estimate(&self, near: &Near, exec: Exec<'_>) -> Result<Estimate, Error> {
        if !(self.discard >= 0.0 && self.discard < 1.0) {
            let got = self.discard;
            return Err(Error::Parameter { name: "discard", expected: "a share from 0 to below 1", got });
        }
        near.check(2)?;
        exec.check()?;
        let n = near.points().rows();
        // The last point has F = 1, whose logarithm is infinite: it is always excluded.
        let kept = ((n as f64 * (1.0 - self.discard)) as usize).min(n - 1);
        if kept < 2 {
            return Err(Error::TooFewSamples { needed: 3, why: "that differ, for a line through them", got: n });
        }
        let log = |i: usize| (near.distances(i)[1] / near.distances(i)[0]).ln();
        let mut logs: Vec<f64> = (0..n).map(log).collect();
        logs.sort_by(f64::total_cmp);
        let (mut squares, mut products) = (0.0, 0.0);
        for (i, log) in logs[..kept].iter().enumerate() {
            squares += log * log;
            products -= log * (-((i + 1) as f64) / n as f64).ln_1p();
        }
        if squares == 0.0 {
            return Err(Error::EqualDistances { neighbours: 2 });
        }
        let dimension = products / squares;
        let mut warnings = near.warnings();
        warnings.extend(uncalibrated(near, dimension));
        Ok(Estimate {
            dimension,
            error: None,
            per_point: None,
            settings: Estimator::TwoNn(*self),
            why: format!("the ratios of the second distance to the first fall with exponent {dimension:.2}"),
            warnings,
        })
    }
}
