//! MiND-KL: the dimension of the ball whose distances are distributed most similarly to those of the samples.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | r_i = T₁/T_{k+1} | `data` | of each point, sorted |
//! | r̂_j | `drawn` | the same of as many points, uniform in a ball of d dimensions |
//! | ν_j | | distance of r̂_j to the nearest other r̂ |
//! | ρ_j | | distance of r̂_j to the nearest r |
//!
//! ```text
//!     d = argmin | 1/n Σ log(ρ_j / ν_j) + log( n / (n − 1) ) |          n points in the ball, n in the samples
//! ```
//! The argument is the nearest-neighbor estimate of the divergence of two distributions from samples of each (Wang,
//! Kulkarni, Verdú). Balls have as many points as the samples, so that both have the same finite-sample bias.
//!
//! Rozza et al. (2012) — `rozza2012`, Wang, Kulkarni, Verdú (2006) — `wang2006` in `docs/references.bib`. **Where we
//! differ**: copies are dropped; not all dimensions up to the number of features are evaluated (`parts/search.rs`). The
//! search ends where the distributions fitted to the two differ by more than the smallest estimate, ten times its
//! deviation 1/√n and five standard errors of the fit.

use eigenspan_linalg::Exec;

use super::parts::calibration::{Ball, Calibration};
use super::parts::near::Near;
use super::parts::ratios::{Ratios, divergence};
use super::parts::search::{Evaluation, least, search_outwards};
use super::{Estimate, Estimator, at_bound, check_neighbours, check_range};
use crate::Error;

/// Parameters of MiND-KL.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MindKlParams {
    /// k: r is the first of k + 1 distances in units of the last.
    pub neighbours: usize,
    /// Maximum dimension; the number of features where `None`.
    pub max_dim: Option<usize>,
    /// The seed of the balls.
    pub seed: u64,
}

impl Default for MindKlParams {
    fn default() -> Self {
        Self { neighbours: 10, max_dim: None, seed: 0 }
    }
}

impl MindKlParams {
    /// Estimates the dimension.
    pub fn estimate(&self, near: &Near, known: &mut Calibration, exec: Exec<'_>) -> Result<Estimate, Error> {
        let k = check_neighbours(self.neighbours)?;
        near.check(k + 1)?;
        let (n, most) = (near.points().rows(), check_range(self.max_dim, near)?);
        let ratios = Ratios::of(near, k);
        let own = ratios.dimension();
        if !own.is_finite() {
            return Err(Error::EqualDistances { neighbours: k + 1 });
        }
        let mut data: Vec<f64> = ratios.values().collect();
        data.sort_by(f64::total_cmp);
        let slack = 10.0 / (n as f64).sqrt();
        let evaluated = search_outwards(own.round() as usize, 1, most, |d| {
            let ball = known.ball(n, k, d, self.seed, exec)?;
            exec.report("balls", d, most)?;
            let [above, below] = beyond(ball, own).map(|least| least - slack);
            Ok::<_, Error>(Evaluation { divergence: divergence_of_samples(&ball.ratios, &data), above, below })
        })?;
        let best = least(&evaluated);
        let mut warnings = near.warnings();
        warnings.extend(at_bound(self.max_dim, near, best.d as f64));
        Ok(Estimate {
            dimension: best.d as f64,
            error: None,
            per_point: None,
            settings: Estimator::MindKl(*self),
            why: format!(
                "of balls of {} to {} dimensions, that of {} has distances most like these (divergence {:.3})",
                evaluated[0].d,
                evaluated[evaluated.len() - 1].d,
                best.d,
                best.divergence
            ),
            warnings,
        })
    }
}

/// Lower bounds on the divergence of the fitted distributions in this ball and all of more dimensions, and in this ball
/// and all of fewer: that of its own distribution moved by five standard errors towards `own`, where it does not reach
/// `own`.
pub(super) fn beyond(ball: &Ball, own: f64) -> [f64; 2] {
    let (fitted, doubt) = (ball.statistics.dimension, 5.0 * ball.statistics.error);
    let (low, high) = (fitted - doubt, fitted + doubt);
    let above = if low > own { divergence(ball.k, own, low) } else { 0.0 };
    let below = if high < own { divergence(ball.k, own, high) } else { 0.0 };
    [above, below]
}

/// |KL| of the distribution of `drawn` from that of `data`, both sorted.
fn divergence_of_samples(drawn: &[f64], data: &[f64]) -> f64 {
    let count = drawn.len();
    let to_other = |j: usize| {
        let left = if j > 0 { drawn[j] - drawn[j - 1] } else { f64::INFINITY };
        let right = if j + 1 < count { drawn[j + 1] - drawn[j] } else { f64::INFINITY };
        left.min(right)
    };
    let to_data = |r: f64| {
        let at = data.partition_point(|value| *value < r);
        let left = if at > 0 { r - data[at - 1] } else { f64::INFINITY };
        let right = if at < data.len() { data[at] - r } else { f64::INFINITY };
        left.min(right)
    };
    let log = |j: usize| ((to_data(drawn[j]) + f64::EPSILON) / (to_other(j) + f64::EPSILON)).ln();
    let mean = (0..count).map(log).sum::<f64>() / count as f64;
    (mean + (data.len() as f64 / (count as f64 - 1.0)).ln()).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;

    #[test]
    fn samples_of_two_distributions_differ_by_their_divergence() {
        let draws = |seed: u64, power: f64| {
            let mut random = Normal::new(seed);
            let mut values: Vec<f64> = (0..4000).map(|_| random.uniform().powf(power)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        assert!(divergence_of_samples(&draws(1, 1.0), &draws(2, 1.0)) < 0.05);
        // Uniform against u^(1/3), density 3x²: KL = E[−log 3 − 2 log x] = 2 − log 3.
        let apart = divergence_of_samples(&draws(1, 1.0), &draws(2, 1.0 / 3.0));
        assert!((apart - (2.0 - 3f64.ln())).abs() < 0.08, "{apart}");
    }

    #[test]
    fn evaluating_fewer_balls_finds_the_same_dimension() {
        for d in [2, 7, 18] {
            let x = crate::dimension::even_ball(150, d, 9);
            let wide = eigenspan_linalg::Mat::from_fn(150, 24, |i, j| if j < d { x.at(i, j) } else { 0.0 });
            let near = Near::of(&wide, 11, Exec::default()).unwrap();
            let mut data: Vec<f64> = Ratios::of(&near, 10).values().collect();
            data.sort_by(f64::total_cmp);
            let mut all = Calibration::default();
            let mut apart =
                |d: usize| divergence_of_samples(&all.ball(150, 10, d, 0, Exec::default()).unwrap().ratios, &data);
            let apart: Vec<f64> = (1..=24).map(&mut apart).collect();
            let want = 1 + (0..24).min_by(|a, b| apart[*a].total_cmp(&apart[*b])).unwrap();
            let mut some = Calibration::default();
            let found = MindKlParams::default().estimate(&near, &mut some, Exec::default()).unwrap();
            assert_eq!(found.dimension, want as f64);
            assert!(d > 2 || some.len() < 24, "far balls are not drawn");
        }
    }
}
