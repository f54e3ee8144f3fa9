//! Ways of having the samples, one file each, and what rules may ask of any of them: the trait [`Spectrum`].
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | | the samples as they are decomposed: scaled, centered, n × m |
//! | σ | `sigma` | singular values of X, largest first |
//! | σ′ | [`NoiseView`] | singular values of the samples as the noise sees them |
//!
//! | way | file |
//! |---|---|
//! | in memory, by the Gram matrix | [`memory`] |
//! | in memory, by products with the samples | [`direct`] |
//! | in memory, rows and columns multiplied with weights | [`weighted`] |
//! | gone, but for a summary | [`summary`] |
//! | gone, but for a few directions | [`online`] |
//! | read a few times | [`sketch`] |
//!
//! An answer carries what could not be told ([`Doubt`]); a way that cannot answer at all says so with a [`Refusal`], which is a value.
//! Nothing here knows rules or methods.

pub mod direct;
pub mod memory;
pub mod noise;
pub mod online;
pub(crate) mod row_whitening;
pub mod sketch;
pub mod summary;
pub mod weighted;

use eigenspan_linalg::Exec;
use eigenspan_linalg::spectrum::{Leading, Select, resolution};

use crate::Error;
use crate::warning::Warning;
pub use noise::{Noise, NoiseKind, NoiseView};

/// How the singular values are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solver {
    /// By the fastest way that proves the dimension. It forms a matrix of min(n, m) × min(n, m).
    #[default]
    Auto,
    /// From products with the samples alone, for min(n, m) too large for that matrix. The dimension is probable, not
    /// proved, and only rules that need leading values will do: a λ, a noise level, a share of energy, a dimension.
    Direct,
}

/// Why a way of having the samples has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{way} cannot give {what}: {why}")]
pub struct Refusal {
    /// The way.
    pub way: &'static str,
    /// What was asked for.
    pub what: &'static str,
    /// What is missing.
    pub why: &'static str,
}

/// An answer, or the reason why there is none.
pub type Answer<T> = Result<T, Refusal>;

/// What an answer could not tell. The default leaves no doubt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    /// Whether every question was settled.
    pub settled: bool,
    /// Whether every answer was proved.
    pub proved: bool,
    /// Whether a share of energy is more than what is known holds.
    pub too_small: bool,
    /// Whether so many values are above the cut that only more columns would tell how many.
    pub short: bool,
    /// The largest ‖Au − σ²u‖/σ² of a direction above a cut.
    pub residual: f64,
}

impl Default for Doubt {
    fn default() -> Self {
        Self { settled: true, proved: true, too_small: false, short: false, residual: 0.0 }
    }
}

impl Doubt {
    /// What two answers together could not tell.
    pub fn and(self, other: Self) -> Self {
        Self {
            settled: self.settled && other.settled,
            proved: self.proved && other.proved,
            too_small: self.too_small || other.too_small,
            short: self.short || other.short,
            residual: self.residual.max(other.residual),
        }
    }
}

/// Leading singular values, each with its direction, and what could not be told of them.
#[derive(Debug, Clone)]
pub struct Found<'a> {
    /// The values: those above the cut with their proof or interval, and at least one more where there is one.
    pub leading: Leading<'a>,
    /// What this answer and those that led to it could not tell.
    pub doubt: Doubt,
}

impl<'a> Found<'a> {
    /// An answer that leaves no doubt beside its interval and its chance.
    pub fn sure(leading: Leading<'a>) -> Self {
        Self { leading, doubt: Doubt::default() }
    }

    /// The same answer, after others that left a doubt.
    pub fn after(self, earlier: Doubt) -> Self {
        Self { doubt: earlier.and(self.doubt), ..self }
    }
}

/// All singular values.
#[derive(Debug, Clone)]
pub struct Values {
    /// σ, largest first.
    pub sigma: Vec<f64>,
    /// σ is known down to here; what is below may be anything up to there.
    pub reach: f64,
}

/// What of samples and features the others cannot predict: the diagonals of two resolvents.
#[derive(Debug, Clone)]
pub struct Leverages {
    /// [(XXᵀ + η²I)⁻¹]_ii for every sample, where samples can be asked.
    pub samples: Option<Vec<f64>>,
    /// [(XᵀX + η²I)⁻¹]_jj for every feature.
    pub features: Vec<f64>,
}

/// What samples are multiplied with: X ↦ diag(a) X diag(b).
#[derive(Debug, Clone, Copy, Default)]
pub struct RowColumnWeights<'a> {
    /// a, one for every sample; all ones where absent.
    pub rows: Option<&'a [f64]>,
    /// b, one for every feature; all ones where absent.
    pub columns: Option<&'a [f64]>,
    /// Whether the mean is subtracted afterwards: Y ↦ Y − uuᵀY with u = a/‖a‖.
    pub center: bool,
}

/// One way of having the samples, and all that is asked of it.
pub trait Spectrum {
    /// The way in words, as the subject of a sentence: who refuses.
    fn way(&self) -> &'static str;

    /// n and m.
    fn shape(&self) -> (usize, usize);

    /// The relative rounding error of the numbers that the samples came in.
    fn epsilon(&self) -> f64;

    /// √Σσ²; zero where there is nothing but zeros.
    fn norm(&self) -> f64;

    /// μ, where samples are centered.
    fn mean(&self) -> Option<&[f64]>;

    /// ‖y‖ of every sample before it was prepared, where these are known.
    fn row_norms(&self) -> Option<&[f64]> {
        None
    }

    /// The singular values that `select` asks for, with their proof or interval.
    fn leading(&self, select: Select, exec: Exec<'_>) -> Result<Found<'_>, Error>;

    /// Whether every singular value can be had.
    fn whole(&self) -> Answer<()> {
        Ok(())
    }

    /// All singular values, largest first.
    fn values(&self, exec: Exec<'_>) -> Result<Answer<Values>, Error>;

    /// Whether there may be values above a cut beside those that are found.
    fn is_partial(&self) -> bool {
        false
    }

    /// The spectrum as the noise sees it; a second decomposition where it differs from that of X.
    fn noise(&self, noise: &Noise<'_>, exec: Exec<'_>) -> Result<Answer<NoiseView>, Error>;

    /// What of every sample and feature the others cannot predict, with a ridge of `eta`.
    fn leverages(&self, eta: f64, exec: Exec<'_>) -> Result<Answer<Leverages>, Error> {
        let _ = (eta, exec);
        Ok(Err(Refusal { way: self.way(), what: "leverages", why: "no Gram matrix is formed" }))
    }

    /// The spectrum of diag(a) X diag(b), by one more pass over the samples.
    fn weighted(&self, weights: RowColumnWeights<'_>, exec: Exec<'_>) -> Result<Answer<Box<dyn Spectrum + '_>>, Error> {
        let _ = (weights, exec);
        Ok(Err(Refusal { way: self.way(), what: "a weighted pass", why: "the samples are not there to be read again" }))
    }

    /// How `found` was found, for the end of the sentence that says why this k; nothing where its proof says it all.
    fn description(&self, found: &Found<'_>) -> String {
        let _ = found;
        String::new()
    }

    /// What could not be told of k, which lies in `interval`.
    fn unsettled(&self, doubt: &Doubt, interval: (usize, usize)) -> Option<Warning> {
        let _ = (doubt, interval);
        None
    }

    /// How far apart two values must be to be told apart.
    fn resolution(&self, sigma: &[f64]) -> f64 {
        let (n, m) = self.shape();
        resolution(sigma, n, m)
    }

    /// What of the values found is told apart from rounding, that of the numbers the samples came in included.
    fn rounding(&self, leading: &Leading<'_>) -> f64 {
        let (n, m) = self.shape();
        rounding_level(leading.sigma[0], leading.norm, n, m, self.epsilon())
    }

    /// How many of the values found stand above rounding: all there are, where all are known.
    fn numerical_rank(&self, leading: &Leading<'_>) -> usize {
        let level = self.rounding(leading);
        leading.sigma.iter().take_while(|s| **s > level).count()
    }
}

/// What is told apart from rounding: the error of the decomposition, or that of the numbers the data came in. `top` is
/// the largest singular value, `norm` the root of the sum of all their squares.
pub fn rounding_level(top: f64, norm: f64, n: usize, m: usize, epsilon: f64) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let decomposition = n.max(m) * f64::EPSILON * top;
    // Values of size `typical`, each rounded by its own eps, are off by a matrix of about this norm.
    let typical = norm / (n * m).sqrt();
    decomposition.max(epsilon * (n.sqrt() + m.sqrt()) * typical)
}

#[cfg(test)]
mod tests;
