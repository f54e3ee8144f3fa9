//! Parallel analysis: the directions whose variance exceeds that of independent features.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ_j | `own` | singular values of the samples, features to mean 0 and deviation 1 |
//! | σ*_j | `shuffled` | the same after each feature was shuffled independently |
//! | q | [`ParallelAnalysisParams::quantile`] | the quantile of σ*_j that σ_j must exceed |
//!
//! ```text
//!     k = largest number such that σ_j > q-quantile of σ*_j for every j ≤ k
//! ```
//! Shuffling keeps the distribution of each feature and removes the dependence between features.
//!
//! Horn (1965) — `horn1965`; shuffled and not drawn from the normal law: Buja, Eyuboglu (1992) — `buja1992` in
//! `docs/references.bib`.

use eigenspan_linalg::{Exec, Mat};

use super::parts::ball::mixed;
use super::{Estimate, Estimator};
use crate::Error;
use crate::data::Samples;
use crate::data::generate::Normal;
use crate::method::pce::PceParams;
use crate::prepare::Normalize;
use crate::prepare::{Preparation, Scan};

/// Parameters of parallel analysis.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ParallelAnalysisParams {
    /// Number of shuffles.
    pub draws: usize,
    /// The share of shuffles that a direction must exceed.
    pub quantile: f64,
    /// The seed of the shuffles.
    pub seed: u64,
}

impl Default for ParallelAnalysisParams {
    fn default() -> Self {
        Self { draws: 20, quantile: 0.95, seed: 0 }
    }
}

impl ParallelAnalysisParams {
    /// Estimates the dimension.
    pub fn estimate(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
        self.check()?;
        let (n, m) = (samples.rows(), samples.cols());
        let scan = Scan::of(samples, exec)?;
        if n < 3 {
            return Err(Error::TooFewSamples { needed: 3, why: "to shuffle", got: n });
        }
        let scaled = Preparation::learn(samples, &scan, Normalize::ZScore, false, None, exec)?;
        let mut rows = scaled.matrix(samples, exec)?;
        let plain = PceParams { normalize: Normalize::None, ..PceParams::default() };
        let own = plain.values(&rows, exec.silent())?;
        if own.first().is_none_or(|largest| *largest == 0.0) {
            return Err(Error::AllZero { n, m, centred: true });
        }
        let mut shuffled = vec![Vec::with_capacity(self.draws); own.len()];
        for draw in 0..self.draws {
            shuffle(&mut rows, mixed(self.seed, draw as u64, 0));
            let values = plain.values(&rows, exec.silent())?;
            shuffled.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
            exec.report("shuffles", draw + 1, self.draws)?;
        }
        let chance: Vec<f64> = shuffled.into_iter().map(|all| self.reached(all)).collect();
        let k = own.iter().zip(&chance).take_while(|(own, chance)| own > chance).count();
        Ok(Estimate {
            dimension: k as f64,
            error: None,
            per_point: None,
            settings: Estimator::ParallelAnalysis(*self),
            why: format!("{k} directions vary more than in {:.0} % of {} shuffles", 100.0 * self.quantile, self.draws),
            warnings: vec![],
        })
    }

    fn check(&self) -> Result<(), Error> {
        if self.draws == 0 {
            return Err(Error::Parameter { name: "draws", expected: "at least 1", got: 0.0 });
        }
        if !(self.quantile > 0.0 && self.quantile <= 1.0) {
            return Err(Error::Parameter {
                name: "quantile",
                expected: "a share above 0, up to 1",
                got: self.quantile,
            });
        }
        Ok(())
    }

    /// The quantile of all values, interpolated linearly.
    fn reached(&self, mut all: Vec<f64>) -> f64 {
        all.sort_by(f64::total_cmp);
        let place = self.quantile * (all.len() - 1) as f64;
        let (low, share) = (place as usize, place.fract());
        let high = (low + 1).min(all.len() - 1);
        all[low] + share * (all[high] - all[low])
    }
}

/// Shuffles every column independently (Fisher, Yates).
fn shuffle(rows: &mut Mat, seed: u64) {
    let (n, m) = (rows.rows(), rows.cols());
    let mut random = Normal::new(seed);
    let values = rows.as_mut_slice();
    for column in 0..m {
        for i in (1..n).rev() {
            let j = ((random.uniform() * (i + 1) as f64) as usize).min(i);
            values.swap(i * m + column, j * m + column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy_and_shuffles_keep_every_feature() {
        let quantile = |quantile| ParallelAnalysisParams { quantile, ..ParallelAnalysisParams::default() };
        assert!((quantile(0.95).reached(vec![3.0, 1.0, 2.0, 4.0]) - 3.85).abs() < 1e-14);
        assert_eq!(quantile(1.0).reached(vec![3.0, 1.0]), 3.0);
        let mut rows = Mat::from_fn(50, 3, |i, j| (i * 3 + j) as f64);
        shuffle(&mut rows, 1);
        for j in 0..3 {
            let mut column: Vec<f64> = (0..50).map(|i| rows.at(i, j)).collect();
            assert_ne!(column[..5], [j as f64, 3.0 + j as f64, 6.0 + j as f64, 9.0 + j as f64, 12.0 + j as f64]);
            column.sort_by(f64::total_cmp);
            assert_eq!(column, (0..50).map(|i| (i * 3 + j) as f64).collect::<Vec<_>>());
        }
    }
}
