//! Which soft weights serve the nearest neighbor best, by the training samples alone.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | S (r × c) | `scores` | uᵀy of some training samples along the leading directions |
//! | τ₀ | `tau` | the cut of the rule that the user requested |
//! | τ, γ | [`Trial`] | a cut and a form of the weights ([`super::soft_weights`]) |
//!
//! ```text
//!     for τ in {½, 1, 2, 4, 8} τ₀, for γ in {0, ¼, ½, ¾, 1}:
//!         Z ← rows of S, weighted
//!         a sample is known where the sample most like it by the cosine, itself left out, is of its class
//!     the (τ, γ) with most samples known;  of equal ones the larger τ, then the larger γ
//! ```
//! One decomposition serves all pairs: they differ in the weights and in how many columns count. What is left out is
//! the sample, not its part in the directions: those are found without labels, so that no class is seen before it is
//! guessed. Neighbors are exact ([`super::neighbours`]). Of more than [`MOST`] samples a random choice is tried, the
//! same for a seed.
//!
//! Labels that cannot tell pairs apart (one class, or no class with two samples) choose nothing.

use eigenspan_linalg::dense::multiply;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::data::{Labels, Samples};
use crate::method::parts::neighbours::{Metric, nearest_others};
use crate::method::parts::project::SLAB;
use crate::method::parts::soft_weights::{columns, divisors, weigh};
use crate::prepare::Preparation;
use crate::split::{Split, Train};

/// Samples that are tried, at most.
pub const MOST: usize = 5000;
/// Seed of the choice where there are more.
pub const SEED: u64 = 0;
/// τ/τ₀ of the pairs.
pub const FACTORS: [f64; 5] = [0.5, 1.0, 2.0, 4.0, 8.0];
/// γ of the pairs.
pub const GAMMAS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// One pair, and how well it served.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// τ/τ₀.
    pub factor: f64,
    /// γ.
    pub gamma: f64,
    /// Directions that count.
    pub columns: usize,
    /// Samples whose nearest other sample is of their class.
    pub known: usize,
}

/// Training samples with their classes.
pub(crate) struct Labelled<'a> {
    samples: Samples<'a>,
    classes: &'a [usize],
    /// The samples that are tried.
    rows: Vec<usize>,
}

impl<'a> Labelled<'a> {
    /// Samples and labels, one each; `None` where the labels cannot tell weights apart.
    pub fn new(samples: Samples<'a>, labels: &'a Labels) -> Result<Option<Self>, Error> {
        let n = samples.rows();
        if labels.of.len() != n {
            return Err(Error::LabelMismatch { samples: n, got: labels.of.len() });
        }
        let rows = if n > MOST { Split::plain(n, Train::Count(MOST), SEED, 0)?.train } else { (0..n).collect() };
        let mut classes: Vec<usize> = rows.iter().map(|&i| labels.of[i]).collect();
        classes.sort_unstable();
        let pairs = classes.windows(2).any(|pair| pair[0] == pair[1]);
        let differ = classes.windows(2).any(|pair| pair[0] != pair[1]);
        Ok((pairs && differ).then_some(Self { samples, classes: &labels.of, rows }))
    }

    /// How many samples are tried.
    pub fn tried(&self) -> usize {
        self.rows.len()
    }

    /// S: the samples that are tried, along the directions.
    pub fn scores(&self, preparation: &Preparation, basis: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
        let (r, m, c) = (self.rows.len(), basis.rows(), basis.cols());
        let mut scores = Mat::zeros(r, c);
        exec.each_chunk("scores", scores.as_mut_slice(), SLAB * c, |part, out| {
            let mut y = Mat::zeros(out.len() / c, m);
            for (to, &row) in self.rows[part * SLAB..].iter().take(y.rows()).enumerate() {
                self.samples.read_row(row, 0..m, y.row_mut(to));
                preparation.prepare(y.row_mut(to));
            }
            multiply(y.view(), basis.view(), out);
        })?;
        Ok(scores)
    }

    /// Tries every pair of a factor of τ₀ and a γ on scores along directions with these singular values.
    pub fn try_all(
        &self,
        scores: &Mat,
        sigma: &[f64],
        tau: f64,
        factors: &[f64],
        exec: Exec<'_>,
    ) -> Result<Vec<Trial>, Error> {
        let pairs = factors.iter().flat_map(|factor| GAMMAS.map(|gamma| (*factor, gamma)));
        let mut trials = Vec::with_capacity(factors.len() * GAMMAS.len());
        for (factor, gamma) in pairs {
            let columns = columns(sigma, factor * tau, scores.cols());
            let known = self.known(scores, &divisors(&sigma[..columns], factor * tau, gamma), exec.silent())?;
            trials.push(Trial { factor, gamma, columns, known });
            exec.report("choose weights", trials.len(), factors.len() * GAMMAS.len())?;
        }
        Ok(trials)
    }

    /// How many samples are known by the sample most like them.
    fn known(&self, scores: &Mat, divisors: &[f64], exec: Exec<'_>) -> Result<usize, Error> {
        let mut z = scores.leading_columns(divisors.len());
        (0..z.rows()).for_each(|i| weigh(z.row_mut(i), divisors, true));
        let found = nearest_others(&z, 1, Metric::Cosine, exec)?;
        let class = |i: usize| self.classes[self.rows[i]];
        Ok((0..z.rows()).filter(|&i| class(i) == class(found.index[i])).count())
    }
}

/// The pair with most samples known; of equal ones that with the larger τ, then that with the larger γ.
pub fn best(trials: &[Trial]) -> Option<&Trial> {
    let better = |a: &&Trial, b: &&Trial| {
        let by_cut = a.factor.total_cmp(&b.factor).then(a.gamma.total_cmp(&b.gamma));
        a.known.cmp(&b.known).then(by_cut)
    };
    trials.iter().max_by(better)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use eigenspan_linalg::Quiet;
    use std::num::NonZero;

    fn case(n: usize, c: usize) -> (Mat, Labels, Vec<f64>) {
        let mut random = Normal::new(3);
        let of: Vec<i64> = (0..n as i64).map(|i| i % 4).collect();
        let sigma: Vec<f64> = (0..c).map(|j| 6.0 / (1.0 + j as f64)).collect();
        let scores = Mat::from_fn(n, c, |i, j| sigma[j] * (random.draw() + 2.0 * ((i % 4 + j) as f64).sin()));
        (scores, Labels::from_numbers(&of), sigma)
    }

    /// The same by the formula of the weights and a plain double loop.
    fn plainly(scores: &Mat, of: &[usize], sigma: &[f64], tau: f64, gamma: f64) -> usize {
        let c = sigma.iter().filter(|s| **s > tau / 2.0).count();
        let weight = |s: f64| (s / (s * s + tau * tau)).powf(gamma) * (s * s / (s * s + tau * tau)).powf(1.0 - gamma);
        let z = Mat::from_fn(scores.rows(), c, |i, j| scores.at(i, j) * weight(sigma[j]));
        let dot = |i: usize, l: usize| z.row(i).iter().zip(z.row(l)).map(|(a, b)| a * b).sum::<f64>();
        let cosine = |i: usize, l: usize| dot(i, l) / (dot(i, i) * dot(l, l)).sqrt();
        let nearest = |i: usize| {
            let others = (0..z.rows()).filter(|&l| l != i);
            others.max_by(|&a, &b| cosine(i, a).total_cmp(&cosine(i, b))).unwrap()
        };
        (0..z.rows()).filter(|&i| of[i] == of[nearest(i)]).count()
    }

    #[test]
    fn samples_known_are_those_of_a_plain_double_loop() {
        let (scores, labels, sigma) = case(90, 12);
        let x: Mat = Mat::zeros(90, 1);
        let labelled = Labelled::new(Samples::from(&x), &labels).unwrap().unwrap();
        let trials = labelled.try_all(&scores, &sigma, 0.9, &FACTORS, Exec::default()).unwrap();
        assert_eq!(trials.len(), 25);
        // Along one direction every cosine is 1 or −1, and which of equal ones is first is for rounding to say.
        for t in trials.iter().filter(|t| t.columns > 1) {
            assert_eq!(t.known, plainly(&scores, &labels.of, &sigma, 0.9 * t.factor, t.gamma), "{t:?}");
        }
        let counts: std::collections::BTreeSet<usize> = trials.iter().map(|t| t.known).collect();
        assert!(counts.len() > 3, "pairs differ, or the test says nothing: {counts:?}");
        for threads in 1..=3 {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            assert_eq!(labelled.try_all(&scores, &sigma, 0.9, &FACTORS, exec).unwrap(), trials);
        }
    }

    #[test]
    fn ties_go_to_the_larger_cut_then_to_the_larger_gamma() {
        let trial = |factor, gamma, known| Trial { factor, gamma, columns: 1, known };
        let trials = [trial(1.0, 0.5, 7), trial(2.0, 0.0, 7), trial(2.0, 0.5, 7), trial(4.0, 1.0, 6)];
        assert_eq!(best(&trials), Some(&trials[2]));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn labels_that_tell_nothing_apart_choose_nothing_and_too_few_are_refused() {
        let x: Mat = Mat::zeros(4, 2);
        let labelled = |of: &[i64]| Labelled::new(Samples::from(&x), &Labels::from_numbers(of)).map(|l| l.is_some());
        assert_eq!(labelled(&[1, 1, 1, 1]), Ok(false));
        assert_eq!(labelled(&[1, 2, 3, 4]), Ok(false));
        assert_eq!(labelled(&[1, 2, 3, 1]), Ok(true));
        assert_eq!(labelled(&[1, 2, 3]), Err(Error::LabelMismatch { samples: 4, got: 3 }));
    }

    #[test]
    fn of_many_samples_a_fixed_choice_is_tried() {
        let x: Mat = Mat::zeros(MOST + 10, 1);
        let labels = Labels::from_numbers(&(0..MOST as i64 + 10).map(|i| i % 3).collect::<Vec<_>>());
        let rows = || Labelled::new(Samples::from(&x), &labels).unwrap().unwrap().rows;
        assert_eq!(rows().len(), MOST);
        assert_eq!(rows(), rows());
        assert!(rows().is_sorted() && rows() != (0..MOST).collect::<Vec<_>>());
    }
}
