//! MiND-ML: maximum likelihood of the nearest distance in units of the farthest.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | r_i = T₁/T_{k+1} | `Ratios` | of each point |
//! | d | `dimension` | maximizes their likelihood, real (MLk) or integer (MLi) |
//!
//! ```text
//!     g(r; k, d) = k d r^{d−1} (1 − r^d)^{k−1}        d = argmax Σ log g(r_i; k, d)
//! ```
//! The density, the root of the derivative and the proof that it exists are in `parts/ratios.rs`.
//!
//! Rozza, Lombardi, Ceruti, Casiraghi, Campadelli (2012) — `rozza2012` in `docs/references.bib`. **Where we differ**:
//! the root is found by bisection, not by a simplex search from the integer; copies are dropped; r = 1 is treated by
//! its limit.

use eigenspan_linalg::Exec;

use super::parts::near::Near;
use super::parts::ratios::Ratios;
use super::{Estimate, Estimator, at_bound, check_neighbours, check_range, uncalibrated};
use crate::Error;

/// Parameters of MiND-ML.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MindMlParams {
    /// k: r is the first of k + 1 distances in units of the last.
    pub neighbours: usize,
    /// An integer dimension (MLi) instead of a real one (MLk).
    pub whole: bool,
    /// Maximum dimension; the number of features where `None`. Has no effect with a real dimension.
    pub max_dim: Option<usize>,
}

impl Default for MindMlParams {
    fn default() -> Self {
        Self { neighbours: 10, whole: false, max_dim: None }
    }
}

impl MindMlParams {
    /// Estimates the dimension.
    pub fn estimate(&self, near: &Near, exec: Exec<'_>) -> Result<Estimate, Error> {
        let k = check_neighbours(self.neighbours)?;
        near.check(k + 1)?;
        exec.check()?;
        let most = check_range(self.max_dim, near)?;
        let ratios = Ratios::of(near, k);
        let real = ratios.dimension();
        if !self.whole && !real.is_finite() {
            return Err(Error::EqualDistances { neighbours: k + 1 });
        }
        let dimension = if self.whole { ratios.whole_dimension(most) as f64 } else { real };
        let mut warnings = near.warnings();
        warnings.extend(uncalibrated(near, dimension));
        if self.whole {
            warnings.extend(at_bound(self.max_dim, near, dimension));
        }
        Ok(Estimate {
            dimension,
            error: real.is_finite().then(|| ratios.error(real)),
            per_point: None,
            settings: Estimator::MindMl(*self),
            why: format!("the likelihood of the nearest of {} distances is largest at {real:.2}", k + 1),
            warnings,
        })
    }
}
