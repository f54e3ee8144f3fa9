//! Random projection: as many Gaussian directions as keep all distances, whatever the samples are.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | ε | [`RandomProjectionParams::eps`] | the share by which a squared distance may change |
//! | δ | [`RandomProjectionParams::failure`] | the probability that one of them changes by more |
//! | Θ (m × k) | `theta` | entries independent, normal, with mean 0 and variance 1/k |
//!
//! ```text
//!     (1 − ε)‖x − y‖²  ≤  ‖Θᵀx − Θᵀy‖²  ≤  (1 + ε)‖x − y‖²        for all pairs of n samples, with probability 1 − δ, where
//!
//!     k  ≥  ln(n(n − 1)/δ) / (ε²/4 − ε³/6)
//! ```
//! *Proof.* For a vector d that does not depend on Θ, k‖Θᵀd‖²/‖d‖² is χ² with k degrees of freedom. By its moments it leaves
//! k(1 ± ε) on either side with probability at most exp(−k(ε²/4 − ε³/6)), twice that for both; there are n(n − 1)/2 pairs. ∎
//! (Johnson, Lindenstrauss; the constant is that of Dasgupta and Gupta, who take δ = 1 − 1/n.)
//!
//! Dasgupta, Gupta (2003) — `dasgupta2003` in `docs/references.bib`. **Where we differ:** columns are sorted by their length,
//! which changes no distance; more columns than features are of no use, so that k is at most m, with a warning that the bound
//! asks for more.

use eigenspan_linalg::{Exec, Mat};

use crate::data::generate::Normal;
use crate::data::{Labels, Samples};
use crate::model::fitted::{About, Fit, Outcome};
use crate::model::linear::Linear;
use crate::prepare::{Normalize, Preparation, Scan, norm};
use crate::{Dim, Error, Warning};

/// Parameters of random projection.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomProjectionParams {
    /// k; [`Dim::Auto`] is the least k for which ε and δ are kept.
    pub dim: Dim,
    /// ε, between 0 and 1.
    pub eps: f64,
    /// δ, between 0 and 1.
    pub failure: f64,
    /// The seed of Θ.
    pub seed: u64,
    /// How samples are scaled.
    pub normalize: Normalize,
}

impl Default for RandomProjectionParams {
    fn default() -> Self {
        Self { dim: Dim::Auto, eps: 0.2, failure: 0.01, seed: 0, normalize: Normalize::None }
    }
}

impl Fit for RandomProjectionParams {
    type Model = Linear<Self>;

    fn cap(&mut self, max: usize) {
        self.dim.cap(max);
    }

    fn learn(
        &self,
        samples: Samples<'_>,
        _labels: Option<&Labels>,
        exec: Exec<'_>,
    ) -> Result<Outcome<Linear<Self>>, Error> {
        Ok(self.fit_with(samples, exec)?.into())
    }
}

impl RandomProjectionParams {
    /// Draws the projection for samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Linear<Self>, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Draws the projection, with the given threads and monitor. The result does not depend on them.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Linear<Self>, Error> {
        let samples = samples.into();
        let (n, m) = (samples.rows(), samples.cols());
        self.check()?;
        let scan = Scan::of(samples, exec)?;
        let preparation = Preparation::learn(samples, &scan, self.normalize, false, None, exec)?;
        let asked = match self.dim {
            Dim::Fixed(dim) => dim,
            Dim::Auto => columns_for(n, self.eps, self.failure),
        };
        let k = asked.min(m);
        let (theta, values) = self.draw(m, k);
        let mut about = About::new(self, samples, self.why(k, n));
        if asked > m {
            about.warnings.push(Warning::RankCapped { asked, most: m });
        }
        Linear { about, preparation, unit_features: false, theta, values }.checked()
    }

    fn check(&self) -> Result<(), Error> {
        for (name, got) in [("eps", self.eps), ("failure", self.failure)] {
            if !(got > 0.0 && got < 1.0) {
                return Err(Error::Parameter { name, expected: "between 0 and 1", got });
            }
        }
        match self.dim {
            Dim::Fixed(0) => Err(Error::Parameter { name: "dim", expected: "at least 1", got: 0.0 }),
            _ => Ok(()),
        }
    }

    /// Θ, its longest column first, and how long the columns are.
    fn draw(&self, m: usize, k: usize) -> (Mat, Vec<f64>) {
        let (mut normal, deviation) = (Normal::new(self.seed), 1.0 / (k as f64).sqrt());
        let mut columns: Vec<Vec<f64>> = (0..k).map(|_| (0..m).map(|_| deviation * normal.draw()).collect()).collect();
        columns.sort_by(|a, b| norm(b).total_cmp(&norm(a)));
        (Mat::from_fn(m, k, |i, j| columns[j][i]), columns.iter().map(|column| norm(column)).collect())
    }

    /// What k columns keep, in one sentence.
    fn why(&self, k: usize, n: usize) -> String {
        let (sure, percent) = (1.0 - self.failure, |eps: f64| (1000.0 * eps).ceil() / 10.0);
        match eps_of(n, k, self.failure) {
            Some(eps) => {
                let most = percent(eps);
                format!("k = {k}: squared distances of {n} samples change by at most {most} %, with probability {sure}")
            }
            None => format!("k = {k}: too few for a bound on how distances of {n} samples change"),
        }
    }
}

/// ε²/4 − ε³/6: how fast the probability falls with k.
fn rate(eps: f64) -> f64 {
    eps * eps * (0.25 - eps / 6.0)
}

/// ln(n(n − 1)/δ).
fn log_pairs(n: usize, failure: f64) -> f64 {
    let n = n.max(2) as f64;
    (n * (n - 1.0) / failure).ln()
}

/// The least k that keeps the distances of `n` samples within ε, but for the probability δ.
pub fn columns_for(n: usize, eps: f64, failure: f64) -> usize {
    (log_pairs(n, failure) / rate(eps)).ceil().max(1.0) as usize
}

/// The least ε that k columns keep; `None` where that is not below one.
pub fn eps_of(n: usize, k: usize, failure: f64) -> Option<f64> {
    let needed = log_pairs(n, failure) / k as f64;
    let (mut low, mut high) = (0.0, 1.0);
    if needed >= rate(high) {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if rate(middle) < needed { low = middle } else { high = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_linalg::Quiet;
    use std::num::NonZero;

    fn samples(n: usize, m: usize, seed: u64) -> Mat {
        let mut normal = Normal::new(seed);
        Mat::from_fn(n, m, |i, j| if j == i % 7 { 9.0 } else { normal.draw() })
    }

    /// The largest change of a squared distance, as a share of it.
    fn distortion(x: &Mat, z: &Mat) -> f64 {
        let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let pairs = (0..x.rows()).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| (square(z.row(i), z.row(j)) / square(x.row(i), x.row(j)) - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn distances_are_kept_within_eps_and_fewer_columns_would_not_do() {
        let x = samples(12, 400, 1);
        let (eps, failure) = (0.5, 0.05);
        let params = RandomProjectionParams { eps, failure, ..RandomProjectionParams::default() };
        let missed = |params: RandomProjectionParams| {
            let off = |seed| {
                let model = RandomProjectionParams { seed, ..params }.fit(&x).unwrap();
                distortion(&x, &model.transform(&x).unwrap().into_f64())
            };
            (0..100).filter(|seed| off(*seed) > eps).count()
        };
        let k = params.fit(&x).unwrap().theta.cols();
        assert_eq!(k, 190);
        // Five in a hundred are allowed; the bound is not tight.
        assert!(missed(params) <= 5);
        assert!(missed(RandomProjectionParams { dim: Dim::Fixed(k / 5), ..params }) > 50);
    }

    #[test]
    fn lengths_are_those_of_chi_squared() {
        // An independent statement: k‖Θᵀd‖²/‖d‖² has mean k and variance 2k.
        let (d, k, seeds) = (samples(1, 50, 3), 8, 2000);
        let ratios = (0..seeds).map(|seed| {
            let params = RandomProjectionParams { dim: Dim::Fixed(k), seed, ..RandomProjectionParams::default() };
            let z = params.fit(&d).unwrap().transform(&d).unwrap().into_f64();
            k as f64 * (norm(z.row(0)) / norm(d.row(0))).powi(2)
        });
        let ratios: Vec<f64> = ratios.collect();
        let (count, k) = (seeds as f64, k as f64);
        let mean = ratios.iter().sum::<f64>() / count;
        let variance = ratios.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / (count - 1.0);
        // Five standard errors; the fourth central moment of χ² is 12k² + 48k.
        assert!((mean - k).abs() < 5.0 * (2.0 * k / count).sqrt(), "{mean}");
        assert!((variance - 2.0 * k).abs() < 5.0 * ((8.0 * k * k + 48.0 * k) / count).sqrt(), "{variance}");
    }

    #[test]
    fn a_seed_is_a_projection_whatever_the_samples_and_threads() {
        let params = RandomProjectionParams { dim: Dim::Fixed(5), ..RandomProjectionParams::default() };
        let one = params.fit(&samples(30, 20, 1)).unwrap();
        let two = params.fit_with(&samples(9, 20, 2), Exec::new(NonZero::new(3), &Quiet)).unwrap();
        assert_eq!(one.theta, two.theta);
        assert!(one.values.is_sorted_by(|a, b| a >= b));
        let other = RandomProjectionParams { seed: 1, ..params }.fit(&samples(30, 20, 1)).unwrap();
        assert_ne!(one.theta, other.theta);
    }

    #[test]
    fn the_number_of_columns_and_eps_are_each_other_s_inverse() {
        for (n, eps, failure) in [(2, 0.9, 0.5), (60, 0.5, 0.01), (1797, 0.1, 0.001), (1_000_000, 0.05, 0.01)] {
            let k = columns_for(n, eps, failure);
            assert!(eps_of(n, k, failure).unwrap() <= eps && eps_of(n, k - 1, failure).is_none_or(|more| more > eps));
        }
        // What scikit-learn's `johnson_lindenstrauss_min_dim` gives for 1797 samples and ε = 0.1, rounded up and not down.
        let n = 1797.0;
        assert_eq!(columns_for(1797, 0.1, (n - 1.0) / n), 6424);
    }

    #[test]
    fn more_columns_than_features_are_not_drawn_and_nonsense_is_refused() {
        let x = samples(10, 6, 1);
        let all = RandomProjectionParams::default().fit(&x).unwrap();
        assert_eq!(all.theta.cols(), 6);
        assert!(matches!(all.about.warnings[..], [Warning::RankCapped { most: 6, .. }]));
        let refused = |params: RandomProjectionParams| matches!(params.fit(&x), Err(Error::Parameter { .. }));
        let params = RandomProjectionParams::default();
        for (eps, failure, dim) in
            [(0.0, 0.1, 1), (1.0, 0.1, 1), (f64::NAN, 0.1, 1), (0.1, 0.0, 1), (0.1, 1.0, 1), (0.1, 0.1, 0)]
        {
            assert!(refused(RandomProjectionParams { eps, failure, dim: Dim::Fixed(dim), ..params }));
        }
        let bad = Mat::from_fn(3, 3, |i, j| if (i, j) == (2, 1) { f64::NAN } else { 1.0 });
        assert!(matches!(params.fit(&bad), Err(Error::NotFinite { .. })));
    }
}
