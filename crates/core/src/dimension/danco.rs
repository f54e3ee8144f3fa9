//! DANCo: the dimension of the ball whose distances and angles are most similar to those of the samples.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | d̂ | `statistics.dimension` | the dimension of the distances by MiND-MLk (`parts/ratios.rs`) |
//! | μ, τ | `statistics.direction`, `.concentration` | von Mises distribution of the angles between neighbors |
//! | d̂_B, μ_B, τ_B | `ball.statistics` | the same of as many points, uniform in a ball of d dimensions |
//!
//! ```text
//!     d = argmin  KL( g(d̂) ‖ g(d̂_B) ) + KL( VM(μ, τ) ‖ VM(μ_B, τ_B) )
//! ```
//! Distances alone underestimate the dimension where points are few, the more so the higher it is. In a ball of as many
//! points the same bias occurs, so that the comparison removes it; angles discriminate high dimensions where distances
//! do not.
//!
//! FastDANCo draws no ball for the samples: d̂_B, μ_B and τ_B are smooth functions of d and of the number of points,
//! fitted once to balls of many d and sizes (`parts/reference_fit.rs`) and valid for all samples with the same k.
//!
//! Ceruti, Bassis, Rozza, Lombardi, Casiraghi, Campadelli (2014) — `ceruti2014` in `docs/references.bib`. **Where we
//! differ**: copies are dropped. Not all dimensions up to the number of features are evaluated (`parts/search.rs`):
//! where the divergence of the distances alone, reduced by five standard errors, exceeds the smallest divergence found,
//! balls beyond have larger ones. Below [`DancoParams::direct_below`] the answer is d̂ rounded, as in the authors'
//! program: low dimensions need no correction. FastDANCo's curves are splines through means of ten draws, not smoothing
//! splines of a hundred.

use eigenspan_linalg::Exec;

use super::mind_kl::beyond;
pub use super::parts::ball::BallStatistics;
use super::parts::calibration::Calibration;
use super::parts::near::Near;
use super::parts::ratios::divergence;
use super::parts::search::{Evaluated, Evaluation, least, search_outwards};
use super::{Estimate, Estimator, at_bound, check_neighbours, check_range};
use crate::Error;

/// Parameters of DANCo.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DancoParams {
    /// k: angles are between k neighbors, distances to k + 1.
    pub neighbours: usize,
    /// Maximum dimension; the number of features where `None`.
    pub max_dim: Option<usize>,
    /// Below this d̂ the answer is d̂ rounded; 0 to compare with balls always.
    pub direct_below: f64,
    /// The seed of the balls.
    pub seed: u64,
}

impl Default for DancoParams {
    fn default() -> Self {
        Self { neighbours: 10, max_dim: None, direct_below: 5.0, seed: 0 }
    }
}

impl DancoParams {
    /// Estimates the dimension.
    pub fn estimate(&self, near: &Near, known: &mut Calibration, exec: Exec<'_>) -> Result<Estimate, Error> {
        let own = Own::of(near, self.neighbours, exec)?;
        let most = check_range(self.max_dim, near)?;
        let settings = Estimator::Danco(*self);
        if own.statistics.dimension < self.direct_below {
            return Ok(own.rounded(most, self.max_dim, settings));
        }
        let evaluated = search_outwards(own.statistics.dimension.round() as usize, 1, most, |d| {
            let ball = known.ball(own.near.points().rows(), own.k, d, self.seed, exec)?;
            exec.report("balls", d, most)?;
            let [above, below] = beyond(ball, own.statistics.dimension);
            Ok::<_, Error>(Evaluation { divergence: own.statistics.divergence(own.k, &ball.statistics), above, below })
        })?;
        Ok(own.nearest(&evaluated, self.max_dim, settings))
    }
}

/// Parameters of FastDANCo.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FastDancoParams {
    /// k: angles are between k neighbors, distances to k + 1.
    pub neighbours: usize,
    /// Maximum dimension; the number of features, or 100, where `None`.
    pub max_dim: Option<usize>,
    /// Below this d̂ the answer is d̂ rounded; 0 to compare with balls always.
    pub direct_below: f64,
    /// Number of balls of each kind whose means define the curves.
    pub draws: usize,
    /// The seed of the balls.
    pub seed: u64,
}

impl Default for FastDancoParams {
    fn default() -> Self {
        Self { neighbours: 10, max_dim: None, direct_below: 5.0, draws: 10, seed: 0 }
    }
}

impl FastDancoParams {
    /// Estimates the dimension.
    pub fn estimate(&self, near: &Near, known: &mut Calibration, exec: Exec<'_>) -> Result<Estimate, Error> {
        if self.draws == 0 {
            return Err(Error::Parameter { name: "draws", expected: "at least 1", got: 0.0 });
        }
        let own = Own::of(near, self.neighbours, exec)?;
        let most = check_range(self.max_dim, near)?.min(self.max_dim.unwrap_or(100)).max(2);
        let settings = Estimator::FastDanco(*self);
        if own.statistics.dimension < self.direct_below {
            return Ok(own.rounded(most, self.max_dim, settings));
        }
        let curves = known.fit(own.k, most, self.draws, self.seed, exec)?.at_size(near.points().rows());
        let evaluate = |d: usize| {
            let (dimension, angles) = curves.of(d);
            let apart =
                divergence(own.k, own.statistics.dimension, dimension) + own.statistics.angles().divergence(&angles);
            Evaluated { d, divergence: apart }
        };
        Ok(own.nearest(&(2..=most).map(evaluate).collect::<Vec<_>>(), self.max_dim, settings))
    }
}

/// The samples and their statistics.
struct Own<'a> {
    near: &'a Near,
    k: usize,
    statistics: BallStatistics,
}

impl<'a> Own<'a> {
    fn of(near: &'a Near, neighbours: usize, exec: Exec<'_>) -> Result<Self, Error> {
        let k = check_neighbours(neighbours)?;
        if k < 2 {
            return Err(Error::Parameter { name: "neighbours", expected: "at least 2 for an angle", got: 1.0 });
        }
        near.check(k + 1)?;
        let statistics = BallStatistics::of(near, k, exec)?;
        if !statistics.dimension.is_finite() {
            return Err(Error::EqualDistances { neighbours: k + 1 });
        }
        Ok(Self { near, k, statistics })
    }

    /// d̂ rounded, for a low dimension.
    fn rounded(&self, most: usize, bound: Option<usize>, settings: Estimator) -> Estimate {
        let real = self.statistics.dimension;
        let dimension = real.round().clamp(1.0, most as f64);
        let why = format!("the distances say {real:.2}, so few that they need no comparison with balls");
        self.estimate(dimension, bound, settings, why)
    }

    /// The ball of the smallest divergence.
    fn nearest(&self, evaluated: &[Evaluated], bound: Option<usize>, settings: Estimator) -> Estimate {
        let best = least(evaluated);
        let why = format!(
            "of balls of {} to {} dimensions, that of {} has distances and angles most like these (divergence {:.3})",
            evaluated[0].d,
            evaluated[evaluated.len() - 1].d,
            best.d,
            best.divergence
        );
        self.estimate(best.d as f64, bound, settings, why)
    }

    fn estimate(&self, dimension: f64, bound: Option<usize>, settings: Estimator, why: String) -> Estimate {
        let mut warnings = self.near.warnings();
        warnings.extend(at_bound(bound, self.near, dimension));
        Estimate { dimension, error: None, per_point: None, settings, why, warnings }
    }
}
