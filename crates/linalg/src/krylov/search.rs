//! When to look at T, and what it says: the part of the search that decides.

use std::ops::Range;

use super::Until;
use super::band::{Band, Projected};
use super::basis::Step;
use super::watch::Watch;
use crate::Error;
use crate::exec::Exec;

/// A wanted pair may keep this residual, relative to the cut: relative to the largest value it would miscount.
const WANTED: f64 = 5e-12;
/// The first pair past the cut may keep this one.
const PAST: f64 = 1e-5;
/// d ≈ 2k + TAIL · width, measured on power laws.
const TAIL: usize = 11;
/// Blocks after which the number of wanted values is estimated.
const GLANCE: usize = 6;
/// Blocks without a new value above the cut after which T is decomposed whatever the watch says.
const LONGEST: usize = 20;
/// Values closer than this, relatively, may be one value several times.
const SAME: f64 = 1e-3;

/// What a decomposition of T says.
pub(super) enum Verdict {
    /// So many pairs are to be returned.
    Done(usize),
    /// As many equal values as random vectors were drawn: there may be more of them than the space can hold, and
    /// so many more vectors should be drawn.
    Crowded(usize),
    /// Go on.
    NotYet,
}

/// Where a search stands.
pub(super) struct Search {
    until: Until,
    floor: f64,
    p: usize,
    width: usize,
    /// T so far.
    pub band: Band,
    watch: Option<Watch>,
    /// Random vectors that were drawn, and after how many steps.
    draws: Vec<(usize, usize)>,
    /// Eigenvalues wanted, as far as can be said.
    expected: usize,
    /// How many draws there were when T was last searched for a crowd.
    inspected: usize,
    /// No decomposition of T before so many steps.
    patience: usize,
    /// Whether a dense decomposition could do the work instead.
    pub has_rival: bool,
}

impl Search {
    /// Nothing is known yet.
    pub fn new(until: Until, floor: f64, p: usize, width: usize) -> Self {
        let (watch, expected, patience) = match until {
            Until::Above(cut) => (Some(Watch::new(cut)), 0, 0),
            Until::Count(count) => (None, count, count.saturating_mul(2) / width + 4),
            Until::Share(..) => (None, 0, GLANCE),
        };
        let (band, draws) = (Band::default(), vec![(0, width)]);
        Self { until, floor, p, width, band, watch, draws, expected, inspected: 0, patience, has_rival: true }
    }

    /// The order that T should need.
    pub fn expected(&self) -> usize {
        self.expected.saturating_mul(2).saturating_add(TAIL * self.width).max(self.band.order() + 1)
    }

    /// Takes in a step of the recurrence.
    pub fn take(&mut self, step: Step, exec: Exec<'_>) -> Result<(), Error> {
        let fresh = step.fresh;
        self.band.push(step);
        if fresh > 0 {
            self.draws.push((self.band.steps.len(), fresh));
        }
        if let Some(watch) = &mut self.watch {
            watch.follow(&self.band)?;
            self.expected = self.expected.max(watch.count());
        }
        if let (Until::Above(cut), GLANCE) = (self.until, self.band.steps.len()) {
            let above = |values: &[f64]| values.iter().take_while(|v| **v > cut).count();
            let found = self.band.decompose(above, exec)?;
            let above = above(&found.values);
            let count = estimated_count(&found, 0..above, self.p, self.width);
            self.expected = self.expected.max((0.75 * count) as usize);
        }
        Ok(())
    }

    /// True where a dense decomposition is cheaper than to go on, whatever was spent so far. Seconds on one core,
    /// measured.
    pub fn hopeless(&self) -> bool {
        let (p, d, k) = (self.p as f64, self.expected() as f64, self.expected as f64);
        let grow = |d: f64| 67e-12 * p * p * d + 0.13e-9 * p * d * d;
        let krylov = grow(d) - grow(self.band.order() as f64) + 0.1e-9 * d * d * d;
        let dense = 72e-12 * p * p * p + 0.1e-9 * p * p * k;
        (self.has_rival && krylov > dense) || d + (2 * self.width) as f64 > p
    }

    /// True where T is worth decomposing.
    pub fn due(&mut self) -> Result<bool, Error> {
        if self.band.steps.len() < self.patience {
            return Ok(false);
        }
        let Some(watch) = &mut self.watch else { return Ok(true) };
        if watch.steady() == 0 {
            return Ok(false);
        }
        let (cut, overdue, count) = (watch.cut(), watch.steady() >= LONGEST, watch.count());
        let near = watch.nearest(&self.band)?;
        // Largest first: the first one past the cut is the one that is returned.
        let above = near.iter().take_while(|(value, _)| *value > cut).count();
        let settled = |(i, (_, residual)): (usize, &(f64, f64))| *residual <= self.tolerance(cut, i < above);
        let all = near.iter().take(above + 1).enumerate().all(settled);
        // Equal values next to the cut: the earlier a crowd is seen, the less is spent on an answer with gaps.
        let twins = above >= 2 && near[above - 2].0 - near[above - 1].0 <= SAME * cut;
        let crowded = twins && count >= self.explored() && self.inspected < self.draws.len();
        Ok(all || overdue || crowded)
    }

    /// The residual that a pair may keep, where the last wanted value is about `cut`.
    fn tolerance(&self, cut: f64, wanted: bool) -> f64 {
        (if wanted { WANTED * cut } else { PAST * cut }).max(self.floor)
    }

    /// How many of `values` are wanted; `None` where more are than there are.
    fn wanted(&self, values: &[f64]) -> Option<usize> {
        match self.until {
            Until::Above(cut) => Some(values.iter().take_while(|v| **v > cut).count()),
            Until::Count(count) => Some(count),
            Until::Share(share, trace) => {
                let sums = values.iter().scan(0.0, |sum, v| {
                    *sum += v;
                    Some(*sum)
                });
                if share * trace <= 0.0 {
                    return Some(0);
                }
                sums.enumerate().find(|(_, sum)| *sum >= share * trace).map(|(i, _)| i + 1)
            }
        }
        .filter(|k| *k < values.len())
    }

    /// Random vectors that had time to show what they hold: as many steps as were made before they came.
    fn explored(&self) -> usize {
        let steps = self.band.steps.len();
        self.draws.iter().filter(|(drawn, _)| 2 * drawn <= steps).map(|(_, count)| count).sum()
    }

    /// How many more random vectors to draw: a space grown from b vectors holds at most b copies of an eigenvalue,
    /// so b equal values may be more in truth. Where there are more than b, they are not quite equal, and then it is
    /// the quadrature that says whether some are still hidden.
    fn hidden(&self, found: &Projected, k: usize) -> Option<usize> {
        let crowd = crowd(&found.values[..k], self.floor);
        let (copies, explored) = (crowd.len(), self.explored());
        let weight = estimated_count(found, crowd, self.p, self.width);
        let error = 4.0 * (2.0 * weight / self.width as f64).sqrt() + 1.0;
        let suspect = copies == explored || copies > explored && weight > copies as f64 + error;
        suspect.then(|| ((weight + error) as usize).saturating_sub(explored).max(self.width))
    }

    /// The eigenpairs of T that the search asks for.
    pub fn decompose(&self, exec: Exec<'_>) -> Result<Projected, Error> {
        self.band.decompose(|values| self.wanted(values).map_or(0, |k| k + 1), exec)
    }

    /// What the eigenpairs of T mean for the search.
    pub fn judge(&mut self, found: &Projected) -> Verdict {
        let (steps, values) = (self.band.steps.len(), &found.values);
        let Some(k) = self.wanted(values) else {
            self.patience = steps + steps / 4 + 1;
            return Verdict::NotYet;
        };
        self.expected = self.expected.max(k);
        let cut = if let Until::Above(cut) = self.until { cut } else { values[k.max(1) - 1] };
        self.inspected = self.draws.len();
        if let Some(missing) = self.hidden(found, k) {
            // Vectors that took the place of vanished ones may be under way already.
            let pending = self.draws.iter().map(|(drawn, _)| 2 * drawn).find(|explored| *explored > steps);
            self.patience = pending.unwrap_or(2 * (steps + 1));
            return if pending.is_some() { Verdict::NotYet } else { Verdict::Crowded(missing) };
        }
        let excess = |i: usize| found.residuals[i] / self.tolerance(cut, i < k);
        // NaN is 0 / 0 here: a residual of zero that was asked to be zero.
        let worst = (0..=k).map(excess).fold(0.0, f64::max);
        if worst > 1.0 {
            // Near the end a block takes a residual down by a factor of about ten.
            self.patience = steps + worst.log10().ceil().min(8.0) as usize;
            if !matches!(self.until, Until::Above(_)) {
                self.watch = Some(Watch::new(0.5 * (cut + values[k])));
            }
            return Verdict::NotYet;
        }
        Verdict::Done(k + 1)
    }
}

/// How many eigenvalues of A the Ritz values `range` stand for: the first rows of the eigenvectors of T are the
/// weights of a Gauss quadrature for the density of the spectrum, seen by `width` random vectors.
fn estimated_count(found: &Projected, range: Range<usize>, p: usize, width: usize) -> f64 {
    let weight = |j| found.vectors.col(j).subrows(0, width).squared_norm_l2();
    range.map(weight).sum::<f64>() * p as f64 / width as f64
}

/// The longest run of values that are all but equal and not all but zero.
fn crowd(values: &[f64], floor: f64) -> Range<usize> {
    let mut longest = 0..0;
    let mut start = 0;
    for i in 0..values.iter().take_while(|v| **v > floor).count() {
        while values[start] - values[i] > SAME * values[start] {
            start += 1;
        }
        if i + 1 - start > longest.len() {
            longest = start..i + 1;
        }
    }
    longest
}
