//! What a rule decides: λ, τ = 1/√λ, and how many singular values lie above.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ | `sigma` | singular values of the prepared samples, largest first |
//! | τ | `tau` | the cut; λ = 1/τ² |
//! | k | `k` | #{σ > τ} |

use eigenspan_linalg::Exec;
use eigenspan_linalg::spectrum::{Leading, Select};

use crate::Error;
use crate::spectrum::{Found, Spectrum};
use crate::warning::Warning;

/// A cut and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// τ.
    pub tau: f64,
    /// λ = 1/τ²; infinite or zero where that leaves the range of numbers.
    pub lambda: f64,
    /// k = #{σ > τ}.
    pub k: usize,
    /// The smallest and largest k within rounding of the cut.
    pub interval: (usize, usize),
    /// Whether k counts dimensions.
    pub count: Count,
    /// The name of the rule.
    pub rule: &'static str,
    /// The rule in words.
    pub reason: String,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// Whether the k of a cut counts dimensions, or only says what to keep.
#[derive(Debug, Clone, PartialEq)]
pub enum Count {
    /// The rule does not count: it keeps what the user wants.
    NotAsked,
    /// k dimensions are real.
    Counted,
    /// At least k dimensions are real.
    AtLeast,
    /// The data do not tell how many are real, and why not.
    NotCountable(Warning),
}

/// A cut, and the values that were found on the way to it.
#[derive(Debug, Clone)]
pub struct Decision<'a> {
    /// The cut.
    pub cut: Cut,
    /// The values above it, and at least one more where there is one.
    pub found: Found<'a>,
}

impl Cut {
    /// The cut at τ, above which `k` values lie.
    pub fn at(tau: f64, k: usize, interval: (usize, usize), rule: &'static str, reason: String) -> Self {
        let lambda = 1.0 / (tau * tau);
        Self { tau, lambda, k, interval, count: Count::NotAsked, rule, reason, warnings: vec![] }
    }

    /// The cut that keeps exactly `k` values: between σ_k and σ_{k+1}.
    pub fn at_rank(
        k: usize,
        spectrum: &dyn Spectrum,
        leading: &Leading<'_>,
        rule: &'static str,
        reason: String,
    ) -> Self {
        Self::at(between(k, spectrum, leading, 1.0), k, (k, k), rule, reason)
    }
}

/// A number between σ_k and σ_{k+1}; above σ₁ by `beyond` for k = 0.
pub(crate) fn between(k: usize, spectrum: &dyn Spectrum, leading: &Leading<'_>, beyond: f64) -> f64 {
    let sigma = &leading.sigma;
    if k == 0 {
        return sigma[0] * beyond.max(1.0);
    }
    let above = sigma[k - 1];
    let below = sigma.get(k).copied().unwrap_or(0.0).max(spectrum.rounding(leading));
    above.min((above.sqrt() * below.sqrt()).max(f64::MIN_POSITIVE))
}

/// The smallest and largest count above a cut that is known to within `resolution`.
pub(crate) fn around(sigma: &[f64], tau: f64, resolution: f64, k: usize) -> (usize, usize) {
    let low = sigma.iter().take_while(|s| **s > tau + resolution).count();
    let high = sigma.iter().take_while(|s| **s >= tau - resolution).count();
    (low.min(k), high.max(k))
}

/// Every direction above rounding.
pub(crate) fn above_rounding<'a>(
    spectrum: &'a dyn Spectrum,
    rule: &'static str,
    fact: &str,
    exec: Exec<'_>,
) -> Result<Decision<'a>, Error> {
    spectrum.whole().map_err(|_| Error::WholeSpectrum { rule })?;
    let (n, m) = spectrum.shape();
    let found = spectrum.leading(Select::Top(n.min(m)), exec)?;
    let reason = format!("{fact}: every direction above rounding is kept");
    let k = spectrum.numerical_rank(&found.leading);
    Ok(Decision { cut: Cut::at_rank(k, spectrum, &found.leading, rule, reason), found })
}
