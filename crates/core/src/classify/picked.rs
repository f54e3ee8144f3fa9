//! The classifier that serves the samples best, picked by cross-validation on the training part.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | f | [`PickedParams::folds`] | parts that take turns at being left out |
//! | | [`PickedParams::candidates`] | classifiers to pick from, the simpler first |
//!
//! ```text
//!     deal the samples out to f folds, every class evenly
//!     for each candidate:  learn from all folds but one, count what it gets right there;  every fold in turn
//!     the candidate with most right, of equal ones the simpler, learns from all samples
//! ```
//! Test samples have no effect. Samples that cannot be cut so that every fold leaves two classes behind pick the
//! simplest candidate: there is nothing to compare by.
//!
//! Stone (1974) — `stone1974` in `docs/references.bib`. **Where we differ:** features that were themselves chosen by
//! the labels ([`Weights::Auto`](crate::Weights::Auto)) are not chosen again in every fold; that choice is one of 25,
//! by leaving out one sample at a time.

use eigenspan_linalg::{Exec, Mat};

use super::Classifier;
use crate::Error;
use crate::data::{Labels, Samples};
use crate::split::folds;

/// Parameters of the pick.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PickedParams {
    /// f.
    pub folds: usize,
    /// The seed of the folds.
    pub seed: u64,
    /// The classifiers to pick from, the simpler first.
    pub candidates: Vec<Classifier>,
}

impl Default for PickedParams {
    /// Five folds; the nearest neighbor by the angle, and the support vector machine.
    fn default() -> Self {
        let candidates = ["nn-cosine", "svm"].into_iter().filter_map(Classifier::named).collect();
        Self { folds: 5, seed: 0, candidates }
    }
}

/// What was picked, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// Which of the candidates.
    pub place: usize,
    /// Training samples that each candidate gets right; nothing where there was nothing to compare by.
    pub right: Vec<usize>,
}

impl PickedParams {
    /// Picks a candidate by the training samples alone.
    pub fn pick(&self, train: Samples<'_>, labels: &Labels, exec: Exec<'_>) -> Result<Pick, Error> {
        let n = train.rows();
        if labels.of.len() != n {
            return Err(Error::LabelMismatch { samples: n, got: labels.of.len() });
        }
        if self.folds < 2 {
            return Err(Error::Parameter { name: "folds", expected: "at least 2", got: self.folds as f64 });
        }
        if self.candidates.is_empty() {
            return Err(Error::Parameter { name: "candidates", expected: "one at least", got: 0.0 });
        }
        let right = self.right(&train.to_f64(), labels, exec)?;
        let most = right.iter().max();
        Ok(Pick { place: right.iter().position(|right| Some(right) == most).unwrap_or(0), right })
    }

    /// The class of each row of `test` by the candidate that is picked, learned from all training samples.
    pub fn predict(
        &self,
        train: Samples<'_>,
        labels: &Labels,
        test: Samples<'_>,
        exec: Exec<'_>,
    ) -> Result<Vec<usize>, Error> {
        let picked = self.pick(train, labels, exec)?;
        self.candidates[picked.place].predict(train, labels, test, exec)
    }

    /// How many samples each candidate gets right when their fold is left out; nothing where folds leave one class
    /// behind.
    fn right(&self, x: &Mat, labels: &Labels, exec: Exec<'_>) -> Result<Vec<usize>, Error> {
        let fold_of = folds(labels, self.folds, self.seed)?;
        let parts: Vec<(Vec<usize>, Vec<usize>)> = (0..self.folds)
            .map(|fold| (0..x.rows()).partition(|&i| fold_of[i] != fold))
            .filter(|(_, left_out): &(Vec<usize>, Vec<usize>)| !left_out.is_empty())
            .collect();
        let one_class = |rows: &[usize]| rows.windows(2).all(|pair| labels.of[pair[0]] == labels.of[pair[1]]);
        if self.candidates.len() < 2 || parts.iter().any(|(train, _)| one_class(train)) {
            return Ok(vec![]);
        }
        let (mut right, turns) = (vec![0; self.candidates.len()], self.candidates.len() * parts.len());
        for (c, candidate) in self.candidates.iter().enumerate() {
            for (f, (train, left_out)) in parts.iter().enumerate() {
                let classes = Labels { names: labels.names.clone(), of: train.iter().map(|&i| labels.of[i]).collect() };
                let (train, test) = (x.select_rows(train), x.select_rows(left_out));
                let found = candidate.predict((&train).into(), &classes, (&test).into(), exec.silent())?;
                right[c] += found.iter().zip(left_out).filter(|(found, i)| **found == labels.of[**i]).count();
                exec.report("pick a classifier", c * parts.len() + f + 1, turns)?;
            }
        }
        Ok(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use eigenspan_linalg::Quiet;
    use std::num::NonZero;

    /// Two classes on either side of a plane through the origin, along which they spread far and thin.
    fn halves(n: usize, m: usize) -> (Mat, Labels) {
        let mut normal = Normal::new(4);
        let x = Mat::from_fn(n, m, |i, j| {
            let side = if i % 2 == 0 { 0.4 } else { -0.4 };
            if j == 0 { side } else { normal.draw() }
        });
        (x, Labels::from_numbers(&(0..n as i64).map(|i| i % 2).collect::<Vec<_>>()))
    }

    /// Each class in two opposite heaps: no plane through the origin parts them.
    fn opposite_heaps(n: usize) -> (Mat, Labels) {
        let mut normal = Normal::new(5);
        let x = Mat::from_fn(n, 2, |i, j| {
            let sign = if i % 4 < 2 { 1.0 } else { -1.0 };
            (if i % 2 == j { sign } else { 0.0 }) + 0.05 * normal.draw()
        });
        (x, Labels::from_numbers(&(0..n as i64).map(|i| i % 2).collect::<Vec<_>>()))
    }

    fn pick(params: &PickedParams, x: &Mat, labels: &Labels) -> Result<Pick, Error> {
        params.pick(x.into(), labels, Exec::default())
    }

    #[test]
    fn the_machine_is_picked_for_planes_and_the_neighbour_for_heaps() {
        let (params, exec) = (PickedParams::default(), Exec::default());
        let (x, labels) = halves(120, 20);
        assert_eq!(pick(&params, &x, &labels).unwrap().place, 1);
        let predict = |classifier: &Classifier| classifier.predict((&x).into(), &labels, (&x).into(), exec).unwrap();
        assert_eq!(params.predict((&x).into(), &labels, (&x).into(), exec).unwrap(), predict(&params.candidates[1]));
        let (x, labels) = opposite_heaps(80);
        let heaps = pick(&params, &x, &labels).unwrap();
        assert_eq!((heaps.place, heaps.right[0]), (0, 80));
        assert_eq!(params.predict((&x).into(), &labels, (&x).into(), exec).unwrap(), labels.of);
    }

    #[test]
    fn what_is_right_is_counted_fold_by_fold() {
        let (x, labels) = halves(60, 10);
        let params = PickedParams { folds: 4, seed: 3, ..PickedParams::default() };
        let picked = pick(&params, &x, &labels).unwrap();
        let fold_of = folds(&labels, 4, 3).unwrap();
        let mut right = 0;
        for i in 0..60 {
            // Its nearest by the angle among samples of other folds.
            let cosine = |l: usize| {
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                dot(x.row(i), x.row(l)) / dot(x.row(l), x.row(l)).sqrt()
            };
            let others = (0..60).filter(|&l| fold_of[l] != fold_of[i]);
            let nearest = others.max_by(|&a, &b| cosine(a).total_cmp(&cosine(b))).unwrap();
            right += usize::from(labels.of[nearest] == labels.of[i]);
        }
        assert_eq!(picked.right[0], right);
    }

    #[test]
    fn equal_candidates_leave_the_simpler_and_threads_change_nothing() {
        let mut normal = Normal::new(6);
        let x = Mat::from_fn(40, 3, |i, j| if i % 3 == j { 9.0 } else { normal.draw() });
        let labels = Labels::from_numbers(&(0..40).map(|i| i % 3).collect::<Vec<_>>());
        let all = ["nn-cosine", "svm", "src"].into_iter().filter_map(Classifier::named).collect();
        let params = PickedParams { candidates: all, ..PickedParams::default() };
        for threads in [1, 2, 3] {
            let picked = params.pick((&x).into(), &labels, Exec::new(NonZero::new(threads), &Quiet)).unwrap();
            assert_eq!(picked, Pick { place: 0, right: vec![40; 3] });
        }
    }

    #[test]
    fn too_little_to_compare_by_picks_the_simplest_and_nonsense_is_refused() {
        let (x, labels) = halves(6, 3);
        let (one, two) = (Labels::from_numbers(&[7; 6]), x.select_rows(&[0, 1]));
        let params = PickedParams::default();
        let nothing = Pick { place: 0, right: vec![] };
        assert_eq!(pick(&params, &x, &one), Ok(nothing.clone()));
        assert_eq!(pick(&params, &two, &Labels::from_numbers(&[1, 2])), Ok(nothing));
        assert_eq!(pick(&params, &two, &labels), Err(Error::LabelMismatch { samples: 2, got: 6 }));
        let refused = |params: PickedParams| matches!(pick(&params, &x, &labels), Err(Error::Parameter { .. }));
        assert!(refused(PickedParams { folds: 1, ..PickedParams::default() }));
        assert!(refused(PickedParams { candidates: vec![], ..PickedParams::default() }));
        let bad = Mat::from_fn(6, 3, |i, j| if (i, j) == (2, 1) { f64::NAN } else { x.at(i, j) });
        assert!(matches!(pick(&params, &bad, &labels), Err(Error::NotFinite { .. })));
    }
}
