//! Verification: are two samples of the same class, which need not be known?
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | s | `scores` | how alike the samples of a pair are, the larger the more |
//! | t | [`RocPoint::threshold`] | pairs with s ≥ t are said to be the same |
//! | TPR | [`RocPoint::true_accepts`] | the share of the pairs that are the same of which it is said |
//! | FPR | [`RocPoint::false_accepts`] | the share of the pairs that differ of which it is said |
//!
//! ```text
//!     cosine      s = a·b / (‖a‖ ‖b‖)                               0 where a sample is zero
//!     ROC         (FPR, TPR) for t at every score, from (0, 0) to (1, 1)
//!     AUC         the area below: the chance that a same pair has the larger score than a different one, equal ones half
//!     EER         FPR where FPR = 1 − TPR, on the line between the two points around it
//!     accuracy    of each fold, with the t that is right most often on the others, the highest of equally good ones
//! ```
//! A distance is a score with its sign turned. What was learned before the features were made must not have seen the
//! people of the pairs; that is up to the caller.
//!
//! Huang et al. (2007), the folds; Fawcett (2006), the curve — `huang2007`, `fawcett2006` in `docs/references.bib`.

use std::collections::BTreeSet;

use eigenspan_linalg::rows::dot;

use crate::Error;
use crate::data::generate::Normal;
use crate::data::{Labels, Samples};
use crate::prepare::norm;
use crate::split::{below, shuffle};

/// Two samples by their numbers, and whether they are of the same class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// One sample.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// Whether they are of the same class.
    pub same: bool,
}

/// All pairs of samples of the same class, then as many that differ, chosen at random: all of those where they are
/// fewer.
pub fn pairs(labels: &Labels, seed: u64) -> Vec<Pair> {
    let n = labels.of.len();
    let all = |same: bool| {
        let kind = move |i: usize, j: usize| (labels.of[i] == labels.of[j]) == same;
        (0..n).flat_map(move |i| (i + 1..n).filter(move |&j| kind(i, j)).map(move |j| (i, j)))
    };
    let mut chosen: Vec<(usize, usize)> = all(true).collect();
    let same = chosen.len();
    let different = n * n.saturating_sub(1) / 2 - same;
    if different <= 2 * same {
        let mut others: Vec<(usize, usize)> = all(false).collect();
        let mut order: Vec<usize> = (0..different).collect();
        shuffle(&mut order, same.min(different), Normal::new(seed).bits());
        order.truncate(same);
        order.sort_unstable();
        chosen.extend(order.into_iter().map(|at| std::mem::take(&mut others[at])));
    } else {
        let (mut random, mut others) = (Normal::new(seed), BTreeSet::new());
        while others.len() < same {
            let mut draw = || below(n as u64, random.bits()) as usize;
            let (i, j) = (draw(), draw());
            if labels.of[i] != labels.of[j] {
                others.insert((i.min(j), i.max(j)));
            }
        }
        chosen.extend(others);
    }
    chosen.into_iter().enumerate().map(|(at, (first, second))| Pair { first, second, same: at < same }).collect()
}

/// The cosine of each pair of rows, row i of the one with row i of the other.
pub fn cosines<'a>(first: impl Into<Samples<'a>>, second: impl Into<Samples<'a>>) -> Result<Vec<f64>, Error> {
    let (first, second) = (first.into(), second.into());
    if first.cols() != second.cols() {
        return Err(Error::FeatureMismatch { expected: first.cols(), got: second.cols() });
    }
    if first.rows() != second.rows() {
        let (expected, got) = ("as many rows as the first", second.rows() as f64);
        return Err(Error::Parameter { name: "second", expected, got });
    }
    (0..first.rows()).map(|i| Ok(cosine(&read(first, i)?, &read(second, i)?))).collect()
}

/// The cosine of each pair of rows by their numbers.
pub fn cosines_of_pairs<'a>(samples: impl Into<Samples<'a>>, pairs: &[Pair]) -> Result<Vec<f64>, Error> {
    let samples = samples.into();
    let (n, place) = (samples.rows(), |pair: &Pair| pair.first.max(pair.second));
    if let Some(pair) = pairs.iter().find(|pair| place(pair) >= n) {
        let expected = "numbers of samples";
        return Err(Error::Parameter { name: "pairs", expected, got: place(pair) as f64 });
    }
    pairs.iter().map(|pair| Ok(cosine(&read(samples, pair.first)?, &read(samples, pair.second)?))).collect()
}

fn read(samples: Samples<'_>, row: usize) -> Result<Vec<f64>, Error> {
    let mut values = vec![0.0; samples.cols()];
    samples.read_row(row, 0..samples.cols(), &mut values);
    match values.iter().position(|value| !value.is_finite()) {
        Some(column) => Err(Error::NotFinite { row, column, value: values[column] }),
        None => Ok(values),
    }
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let unit = |row: &[f64]| {
        let length = norm(row);
        row.iter().map(|v| if length > 0.0 { v / length } else { 0.0 }).collect::<Vec<_>>()
    };
    dot(&unit(a), &unit(b)).clamp(-1.0, 1.0)
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// t; infinite at (0, 0).
    pub threshold: f64,
    /// FPR.
    pub false_accepts: f64,
    /// TPR.
    pub true_accepts: f64,
}

/// What can be reached: how many different pairs are taken for the same, for how many same ones that are found.
#[derive(Debug, Clone, PartialEq)]
pub struct Roc {
    /// From (0, 0) to (1, 1), a point for each distinct score, the highest first.
    pub points: Vec<RocPoint>,
}

impl Roc {
    /// The curve of pairs with these scores, the larger the more alike.
    pub fn of(scores: &[f64], same: &[bool]) -> Result<Self, Error> {
        let order = check(scores, same)?;
        let (mut right, mut wrong) = (0, 0);
        let mut points = vec![RocPoint { threshold: f64::INFINITY, false_accepts: 0.0, true_accepts: 0.0 }];
        let positive = same.iter().filter(|same| **same).count();
        for equal in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
            right += equal.iter().filter(|i| same[**i]).count();
            wrong += equal.iter().filter(|i| !same[**i]).count();
            points.push(RocPoint {
                threshold: scores[equal[0]],
                false_accepts: wrong as f64 / (same.len() - positive) as f64,
                true_accepts: right as f64 / positive as f64,
            });
        }
        Ok(Self { points })
    }

    /// AUC.
    pub fn auc(&self) -> f64 {
        let area =
            |a: &RocPoint, b: &RocPoint| (b.false_accepts - a.false_accepts) * (a.true_accepts + b.true_accepts) / 2.0;
        self.points.iter().zip(&self.points[1..]).map(|(a, b)| area(a, b)).sum()
    }

    /// EER.
    pub fn equal_error_rate(&self) -> f64 {
        // FPR − (1 − TPR) goes from −1 to 1 and never falls.
        let over = |point: &RocPoint| point.false_accepts + point.true_accepts - 1.0;
        let at = self.points.iter().position(|point| over(point) >= 0.0).expect("the curve ends at (1, 1)");
        let (a, b) = (&self.points[at - 1], &self.points[at]);
        let t = -over(a) / (over(b) - over(a));
        a.false_accepts + t * (b.false_accepts - a.false_accepts)
    }

    /// TPR where FPR is `false_accepts`, on the line between the two points around it.
    pub fn true_accepts_at(&self, false_accepts: f64) -> f64 {
        let after = self.points.iter().position(|point| point.false_accepts > false_accepts);
        let Some(at) = after.filter(|at| *at > 0) else { return if false_accepts < 0.0 { 0.0 } else { 1.0 } };
        let (a, b) = (&self.points[at - 1], &self.points[at]);
        let t = (false_accepts - a.false_accepts) / (b.false_accepts - a.false_accepts);
        a.true_accepts + t * (b.true_accepts - a.true_accepts)
    }
}

/// The best threshold of the other folds, and how often it is right on this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fold {
    /// t.
    pub threshold: f64,
    /// The share of right answers.
    pub accuracy: f64,
}

/// How often a threshold is right that was chosen on other pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldAccuracy {
    /// Each fold.
    pub folds: Vec<Fold>,
    /// The mean of their accuracies.
    pub mean: f64,
    /// Its standard error: their deviation, with n − 1, over √n.
    pub standard_error: f64,
}

/// For each fold the accuracy of the threshold that is best on the others. `fold_of` numbers the fold of each pair from
/// 0.
pub fn accuracy_by_folds(scores: &[f64], same: &[bool], fold_of: &[usize]) -> Result<FoldAccuracy, Error> {
    let order = check(scores, same)?;
    if fold_of.len() != scores.len() {
        return Err(Error::LabelMismatch { samples: scores.len(), got: fold_of.len() });
    }
    let count = fold_of.iter().max().map_or(0, |most| most + 1);
    let empty = (0..count.min(scores.len() + 1)).any(|fold| !fold_of.contains(&fold));
    if count < 2 || empty {
        let expected = "at least two folds, numbered from 0 without a gap";
        return Err(Error::Parameter { name: "folds", expected, got: count as f64 });
    }
    let folds: Vec<Fold> = (0..count)
        .map(|fold| {
            let others: Vec<usize> = order.iter().copied().filter(|&i| fold_of[i] != fold).collect();
            let threshold = best_threshold(scores, same, &others);
            let own = (0..scores.len()).filter(|&i| fold_of[i] == fold);
            let (right, all) =
                own.fold((0, 0), |(right, all), i| (right + usize::from((scores[i] >= threshold) == same[i]), all + 1));
            Fold { threshold, accuracy: f64::from(right as u32) / f64::from(all as u32) }
        })
        .collect();
    let mean = folds.iter().map(|fold| fold.accuracy).sum::<f64>() / count as f64;
    let square = folds.iter().map(|fold| (fold.accuracy - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    Ok(FoldAccuracy { folds, mean, standard_error: (square / count as f64).sqrt() })
}

/// Pairs dealt out to `count` folds at random, the same ones and the different ones evenly.
pub fn even_folds(same: &[bool], count: usize, seed: u64) -> Result<Vec<usize>, Error> {
    if count < 2 || count > same.len() {
        let expected = "at least 2, and not more than there are pairs";
        return Err(Error::Parameter { name: "folds", expected, got: count as f64 });
    }
    let mut random = Normal::new(seed);
    let (mut fold_of, mut next) = (vec![0; same.len()], 0);
    for kind in [true, false] {
        let mut these: Vec<usize> = (0..same.len()).filter(|&i| same[i] == kind).collect();
        let all = these.len();
        shuffle(&mut these, all, random.bits());
        for i in these {
            fold_of[i] = next % count;
            next += 1;
        }
    }
    Ok(fold_of)
}

/// Of the scores of some pairs, highest first, the one that is right most often, the first of equally good ones.
fn best_threshold(scores: &[f64], same: &[bool], order: &[usize]) -> f64 {
    let mut right = order.iter().filter(|i| !same[**i]).count();
    let (mut best, mut most) = (f64::INFINITY, None);
    for equal in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
        for &i in equal {
            right = if same[i] { right + 1 } else { right - 1 };
        }
        if most.is_none_or(|most| right > most) {
            (best, most) = (scores[equal[0]], Some(right));
        }
    }
    best
}

/// Refuses what has no curve. The pairs by their scores, highest first.
fn check(scores: &[f64], same: &[bool]) -> Result<Vec<usize>, Error> {
    if scores.len() != same.len() {
        return Err(Error::LabelMismatch { samples: scores.len(), got: same.len() });
    }
    if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
        return Err(Error::NotFinite { row, column: 0, value: scores[row] });
    }
    let positive = same.iter().filter(|same| **same).count();
    if positive == 0 || positive == same.len() {
        let expected = "some that are the same and some that differ";
        return Err(Error::Parameter { name: "pairs", expected, got: positive as f64 });
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    Ok(order)
}
