//! Estimators of the intrinsic dimension.
//!
//! They give a number and no projection, for comparison with PCE's k. One estimator, one file; shared steps are in
//! `parts`.
//!
//! | name | file | uses |
//! |---|---|---|
//! | `mle` | [`mle`] | distances to the nearest neighbors |
//! | `mind-ml` | [`mind_ml`] | the nearest distance in units of the farthest |
//! | `mind-kl` | [`mind_kl`] | the same, compared with balls of known dimension |
//! | `danco`, `fast-danco` | [`danco`] | distances and angles, compared with balls of known dimension |
//! | `two-nn` | [`two_nn`] | the two nearest neighbors |
//! | `correlation` | [`correlation`] | the number of pairs within a distance |
//! | `minka`, `gavish-donoho`, `screenot`, `pce` | [`spectral`] | singular values |
//! | `parallel-analysis` | [`parallel_analysis`] | singular values, compared with those of shuffled features |
//!
//! ```
//! use eigenspan_core::data::generate::Subspaces;
//! use eigenspan_core::dimension::{Calibration, Estimator, Near};
//! use eigenspan_core::Exec;
//!
//! let data = Subspaces { samples: 300, features: 20, subspaces: 1, dim: 3, noise: 0.0 }.generate(7)?;
//! let estimator = Estimator::named("danco").unwrap();
//! let near = Near::of(&data.samples, estimator.neighbours(), Exec::default())?;     // once for all estimators
//! let found = estimator.estimate(&data.samples, &near, &mut Calibration::default(), Exec::default())?;
//! assert_eq!(found.dimension, 3.0);
//! # Ok::<(), eigenspan_core::Error>(())
//! ```

mod agreement;
pub mod correlation;
pub mod danco;
pub mod mind_kl;
pub mod mind_ml;
pub mod mle;
pub mod parallel_analysis;
mod parts;
pub mod spectral;
pub mod two_nn;

use eigenspan_linalg::Exec;

pub use agreement::{Agreement, agreement};
pub use parts::ball::points as even_ball;
pub use parts::calibration::{Ball, Calibration};
pub use parts::near::Near;

use crate::Error;
use crate::data::Samples;
use crate::method::pce::PceParams;
use crate::warning::Warning;
use correlation::CorrelationParams;
use danco::{DancoParams, FastDancoParams};
use mind_kl::MindKlParams;
use mind_ml::MindMlParams;
use mle::MleParams;
use parallel_analysis::ParallelAnalysisParams;
use two_nn::TwoNnParams;

/// Every estimator: its name, and what it uses.
pub const ESTIMATORS: [(&str, &str); 12] = [
    ("mle", "distances to the nearest neighbors, maximum likelihood (Levina, Bickel)"),
    ("mind-ml", "the nearest distance in units of the farthest, maximum likelihood"),
    ("mind-kl", "the same, compared with balls of known dimension"),
    ("danco", "distances and angles, compared with balls of known dimension"),
    ("fast-danco", "the same, compared with curves fitted to balls once"),
    ("two-nn", "the two nearest neighbors"),
    ("correlation", "the number of pairs within a distance (Grassberger, Procaccia)"),
    ("minka", "Minka's number of principal components"),
    ("gavish-donoho", "principal components above the optimal hard threshold"),
    ("screenot", "the same for noise of any shape"),
    ("parallel-analysis", "principal components compared with those of shuffled features (Horn)"),
    ("pce", "the k of Principal Coefficients Embedding"),
];

/// The parameters of any estimator.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Estimator {
    /// Levina and Bickel's.
    Mle(MleParams),
    /// MiND-ML.
    MindMl(MindMlParams),
    /// MiND-KL.
    MindKl(MindKlParams),
    /// DANCo.
    Danco(DancoParams),
    /// FastDANCo.
    FastDanco(FastDancoParams),
    /// TwoNN.
    TwoNn(TwoNnParams),
    /// The correlation dimension.
    Correlation(CorrelationParams),
    /// Minka's rule.
    Minka,
    /// The optimal hard threshold.
    GavishDonoho,
    /// ScreeNot.
    #[serde(rename = "screenot")]
    ScreeNot,
    /// Parallel analysis.
    ParallelAnalysis(ParallelAnalysisParams),
    /// PCE.
    Pce(PceParams),
}

/// The result of an estimator.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The estimated dimension.
    pub dimension: f64,
    /// The standard error, where the method has one.
    pub error: Option<f64>,
    /// The dimension around each sample, where the method has one; infinite where all neighbors are equally far.
    pub per_point: Option<Vec<f64>>,
    /// The parameters.
    pub settings: Estimator,
    /// The result in one sentence.
    pub why: String,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl Estimator {
    /// The estimator of this name with its defaults.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "mle" => Self::Mle(MleParams::default()),
            "mind-ml" => Self::MindMl(MindMlParams::default()),
            "mind-kl" => Self::MindKl(MindKlParams::default()),
            "danco" => Self::Danco(DancoParams::default()),
            "fast-danco" => Self::FastDanco(FastDancoParams::default()),
            "two-nn" => Self::TwoNn(TwoNnParams::default()),
            "correlation" => Self::Correlation(CorrelationParams::default()),
            "minka" => Self::Minka,
            "gavish-donoho" => Self::GavishDonoho,
            "screenot" => Self::ScreeNot,
            "parallel-analysis" => Self::ParallelAnalysis(ParallelAnalysisParams::default()),
            "pce" => Self::Pce(PceParams::default()),
            _ => return None,
        })
    }

    /// The estimator of this name as the PCE paper ran it for its Table 12, where it did.
    pub fn as_published(name: &str) -> Option<Self> {
        Some(match name {
            "mle" => Self::Mle(MleParams::default()),
            "mind-ml" => Self::MindMl(MindMlParams { whole: true, ..MindMlParams::default() }),
            "mind-kl" => Self::MindKl(MindKlParams { neighbours: 22, ..MindKlParams::default() }),
            "danco" => Self::Danco(DancoParams { neighbours: 22, ..DancoParams::default() }),
            _ => return None,
        })
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mle(_) => "mle",
            Self::MindMl(_) => "mind-ml",
            Self::MindKl(_) => "mind-kl",
            Self::Danco(_) => "danco",
            Self::FastDanco(_) => "fast-danco",
            Self::TwoNn(_) => "two-nn",
            Self::Correlation(_) => "correlation",
            Self::Minka => "minka",
            Self::GavishDonoho => "gavish-donoho",
            Self::ScreeNot => "screenot",
            Self::ParallelAnalysis(_) => "parallel-analysis",
            Self::Pce(_) => "pce",
        }
    }

    /// The number of neighbors of each sample that the estimator uses; 0 where it uses singular values.
    pub fn neighbours(&self) -> usize {
        match self {
            Self::Mle(MleParams { neighbours, .. })
            | Self::MindMl(MindMlParams { neighbours, .. })
            | Self::MindKl(MindKlParams { neighbours, .. })
            | Self::Danco(DancoParams { neighbours, .. })
            | Self::FastDanco(FastDancoParams { neighbours, .. }) => neighbours.saturating_add(1),
            Self::TwoNn(_) => 2,
            Self::Correlation(CorrelationParams { far, .. }) => *far,
            Self::Minka | Self::GavishDonoho | Self::ScreeNot | Self::ParallelAnalysis(_) | Self::Pce(_) => 0,
        }
    }

    /// k, where the number of neighbors is a parameter; the nearer of two for the correlation dimension.
    pub fn k(&self) -> Option<usize> {
        match self {
            Self::Correlation(CorrelationParams { near, .. }) => Some(*near),
            Self::TwoNn(_) => None,
            other => other.neighbours().checked_sub(1),
        }
    }

    /// The same with k neighbors, where their number is a parameter: k and 2k for the correlation dimension.
    pub fn with_neighbours(mut self, k: usize) -> Option<Self> {
        match &mut self {
            Self::Mle(MleParams { neighbours, .. })
            | Self::MindMl(MindMlParams { neighbours, .. })
            | Self::MindKl(MindKlParams { neighbours, .. })
            | Self::Danco(DancoParams { neighbours, .. })
            | Self::FastDanco(FastDancoParams { neighbours, .. }) => *neighbours = k,
            Self::Correlation(params) => *params = CorrelationParams { near: k, far: k.saturating_mul(2) },
            _ => return None,
        }
        Some(self)
    }

    /// The same with another seed, where there is one.
    pub fn with_seed(mut self, value: u64) -> Self {
        match &mut self {
            Self::MindKl(MindKlParams { seed, .. })
            | Self::Danco(DancoParams { seed, .. })
            | Self::FastDanco(FastDancoParams { seed, .. })
            | Self::ParallelAnalysis(ParallelAnalysisParams { seed, .. }) => *seed = value,
            _ => {}
        }
        self
    }

    /// The same with at most `most` dimensions, where that is a parameter.
    pub fn with_max_dim(mut self, most: usize) -> Self {
        match &mut self {
            Self::MindMl(MindMlParams { max_dim, .. })
            | Self::MindKl(MindKlParams { max_dim, .. })
            | Self::Danco(DancoParams { max_dim, .. })
            | Self::FastDanco(FastDancoParams { max_dim, .. }) => *max_dim = Some(most),
            _ => {}
        }
        self
    }

    /// Estimates the dimension of samples in rows. `near` are the same samples with at least
    /// [`neighbours`](Self::neighbours) neighbors; balls that are drawn are added to `known`. The result depends
    /// neither on the content of `known` nor on the number of threads.
    pub fn estimate<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        near: &Near,
        known: &mut Calibration,
        exec: Exec<'_>,
    ) -> Result<Estimate, Error> {
        let samples = samples.into();
        match self {
            Self::Mle(params) => params.estimate(near, exec),
            Self::MindMl(params) => params.estimate(near, exec),
            Self::MindKl(params) => params.estimate(near, known, exec),
            Self::Danco(params) => params.estimate(near, known, exec),
            Self::FastDanco(params) => params.estimate(near, known, exec),
            Self::TwoNn(params) => params.estimate(near, exec),
            Self::Correlation(params) => params.estimate(near, exec),
            Self::Minka => spectral::minka(samples, exec),
            Self::GavishDonoho => spectral::gavish_donoho(samples, exec),
            Self::ScreeNot => spectral::screenot(samples, exec),
            Self::ParallelAnalysis(params) => params.estimate(samples, exec),
            Self::Pce(params) => spectral::pce(*params, samples, exec),
        }
    }
}

/// k, if it is at least 1.
fn check_neighbours(k: usize) -> Result<usize, Error> {
    match k {
        0 => Err(Error::Parameter { name: "neighbours", expected: "at least 1", got: 0.0 }),
        k => Ok(k),
    }
}

/// The maximum dimension: the requested one, at most the number of features.
fn check_range(max_dim: Option<usize>, near: &Near) -> Result<usize, Error> {
    match max_dim {
        Some(0) => Err(Error::Parameter { name: "max_dim", expected: "at least 1", got: 0.0 }),
        asked => Ok(asked.unwrap_or(usize::MAX).min(near.points().cols())),
    }
}

/// A warning where the answer is the requested maximum, and there are more features.
fn at_bound(max_dim: Option<usize>, near: &Near, dimension: f64) -> Option<Warning> {
    let bound = max_dim.filter(|bound| *bound < near.points().cols() && dimension >= *bound as f64)?;
    Some(Warning::DimensionAtBound { bound })
}

/// Warnings of the underestimation by estimators that are not compared with balls. n points within a distance of each
/// other show at most 2 log₁₀ n dimensions (Eckmann, Ruelle 1992 — `eckmann1992` in `docs/references.bib`).
fn uncalibrated(near: &Near, dimension: f64) -> Option<Warning> {
    let n = near.points().rows();
    let most = 2.0 * (n as f64).log10();
    if dimension > 20.0 {
        return Some(Warning::HighDimension { dimension });
    }
    (dimension > most).then_some(Warning::FewSamples { n, most, dimension })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_and_comes_back() {
        for (name, _) in ESTIMATORS {
            assert_eq!(Estimator::named(name).map(|estimator| estimator.name()), Some(name));
        }
        assert_eq!(Estimator::named("none"), None);
    }
}
