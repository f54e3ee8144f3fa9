//! When T is decomposed, and what follows from it: the decisions of the search.

use std::ops::Range;

use super::Until;
use super::band::{BlockTridiagonal, Projected};
use super::basis::Step;
use super::tracker::Tracker;
use crate::Error;
use crate::exec::Exec;

/// Residual tolerance of a selected pair, relative to the cut: relative to the largest value it would miscount.
const SELECTED_TOLERANCE: f64 = 5e-12;
/// Residual tolerance of the first pair past the cut.
const NEXT_TOLERANCE: f64 = 1e-5;
/// d ≈ 2k + TAIL · width, measured on power laws.
const TAIL: usize = 11;
/// Blocks after which the number of selected values is estimated.
const ESTIMATE_AFTER: usize = 6;
/// Blocks without a new value above the cut after which T is decomposed whatever the inertia counter says.
const MAX_STEADY: usize = 20;
/// Values closer than this, relatively, may be one multiple value.
const CLUSTER_WIDTH: f64 = 1e-3;

/// The result of a decomposition of T.
pub(super) enum Verdict {
    /// This number of pairs is to be returned.
    Done(usize),
    /// As many equal values as random vectors were drawn: the multiplicity may exceed what the space can hold, and this
    /// many more vectors should be drawn.
    Crowded(usize),
    /// Continue.
    NotYet,
}

/// The state of a search.
pub(super) struct Search {
    until: Until,
    floor: f64,
    p: usize,
    width: usize,
    /// T so far.
    pub band: BlockTridiagonal,
    tracker: Option<Tracker>,
    /// Random vectors that were drawn, and after how many steps.
    draws: Vec<(usize, usize)>,
    /// Estimated number of selected eigenvalues.
    expected: usize,
    /// Number of draws when T was last searched for a cluster.
    inspected: usize,
    /// T is not decomposed before this number of steps.
    first_decomposition: usize,
    /// Whether a dense decomposition is an alternative.
    pub has_dense_alternative: bool,
}

impl Search {
    /// The initial state.
    pub fn new(until: Until, floor: f64, p: usize, width: usize) -> Self {
        let (tracker, expected, first_decomposition) = match until {
            Until::Above(cut) => (Some(Tracker::new(cut)), 0, 0),
            Until::Count(count) => (None, count, count.saturating_mul(2) / width + 4),
            Until::Share(..) => (None, 0, ESTIMATE_AFTER),
        };
        let (band, draws) = (BlockTridiagonal::default(), vec![(0, width)]);
        Self {
            until,
            floor,
            p,
            width,
            band,
            tracker,
            draws,
            expected,
            inspected: 0,
            first_decomposition,
            has_dense_alternative: true,
        }
    }

    /// The estimated final order of T.
    pub fn expected(&self) -> usize {
        self.expected.saturating_mul(2).saturating_add(TAIL * self.width).max(self.band.order() + 1)
    }

    /// Adds a step of the recurrence.
    pub fn add_step(&mut self, step: Step, exec: Exec<'_>) -> Result<(), Error> {
        let fresh = step.fresh;
        self.band.push(step);
        if fresh > 0 {
            self.draws.push((self.band.steps.len(), fresh));
        }
        if let Some(tracker) = &mut self.tracker {
            tracker.follow(&self.band)?;
            self.expected = self.expected.max(tracker.count());
        }
        if let (Until::Above(cut), ESTIMATE_AFTER) = (self.until, self.band.steps.len()) {
            let above = |values: &[f64]| values.iter().take_while(|v| **v > cut).count();
            let found = self.band.decompose(above, exec)?;
            let above = above(&found.values);
            let count = estimated_count(&found, 0..above, self.p, self.width);
            self.expected = self.expected.max((0.75 * count) as usize);
        }
        Ok(())
    }

    /// True where a dense decomposition is cheaper than continuing, whatever was spent so far. Seconds on one core,
    /// measured.
    pub fn dense_is_cheaper(&self) -> bool {
        let (p, d, k) = (self.p as f64, self.expected() as f64, self.expected as f64);
        let grow = |d: f64| 67e-12 * p * p * d + 0.13e-9 * p * d * d;
        let krylov = grow(d) - grow(self.band.order() as f64) + 0.1e-9 * d * d * d;
        let dense = 72e-12 * p * p * p + 0.1e-9 * p * p * k;
        (self.has_dense_alternative && krylov > dense) || d + (2 * self.width) as f64 > p
    }

    /// Whether T should be decomposed now.
    pub fn due(&mut self) -> Result<bool, Error> {
        if self.band.steps.len() < self.first_decomposition {
            return Ok(false);
        }
        let Some(tracker) = &mut self.tracker else { return Ok(true) };
        if tracker.steady() == 0 {
            return Ok(false);
        }
        let (cut, max_steady_reached, count) = (tracker.cut(), tracker.steady() >= MAX_STEADY, tracker.count());
        let near = tracker.nearest(&self.band)?;
        // In descending order: the first one past the cut is the one that is returned.
        let above = near.iter().take_while(|(value, _)| *value > cut).count();
        let settled = |(i, (_, residual)): (usize, &(f64, f64))| *residual <= self.tolerance(cut, i < above);
        let all = near.iter().take(above + 1).enumerate().all(settled);
        // Equal values next to the cut: the earlier a cluster is detected, the less is spent on an incomplete answer.
        let close_pair = above >= 2 && near[above - 2].0 - near[above - 1].0 <= CLUSTER_WIDTH * cut;
        let clustered = close_pair && count >= self.explored() && self.inspected < self.draws.len();
        Ok(all || max_steady_reached || clustered)
    }

    /// The residual tolerance of a pair, where the last selected value is about `cut`.
    fn tolerance(&self, cut: f64, selected: bool) -> f64 {
        (if selected { SELECTED_TOLERANCE * cut } else { NEXT_TOLERANCE * cut }).max(self.floor)
    }

    /// How many of `values` are selected; `None` where more are needed than there are.
    fn selected(&self, values: &[f64]) -> Option<usize> {
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

    /// Random vectors that are fully explored: at least as many steps were made since they were drawn as before.
    fn explored(&self) -> usize {
        let steps = self.band.steps.len();
        self.draws.iter().filter(|(drawn, _)| 2 * drawn <= steps).map(|(_, count)| count).sum()
    }

    /// The number of further random vectors to draw: a space grown from b vectors holds at most b copies of an
    /// eigenvalue, so b equal values may stand for more. Where more than b are found, they are not exactly equal, and
    /// the quadrature decides whether some are still missing.
    fn missing_copies(&self, found: &Projected, k: usize) -> Option<usize> {
        let cluster = cluster(&found.values[..k], self.floor);
        let (copies, explored) = (cluster.len(), self.explored());
        let weight = estimated_count(found, cluster, self.p, self.width);
        let error = 4.0 * (2.0 * weight / self.width as f64).sqrt() + 1.0;
        let suspect = copies == explored || copies > explored && weight > copies as f64 + error;
        suspect.then(|| ((weight + error) as usize).saturating_sub(explored).max(self.width))
    }

    /// The eigenpairs of T that the search needs.
    pub fn decompose(&self, exec: Exec<'_>) -> Result<Projected, Error> {
        self.band.decompose(|values| self.selected(values).map_or(0, |k| k + 1), exec)
    }

    /// The consequence of the eigenpairs of T for the search.
    pub fn judge(&mut self, found: &Projected) -> Verdict {
        let (steps, values) = (self.band.steps.len(), &found.values);
        let Some(k) = self.selected(values) else {
            self.first_decomposition = steps + steps / 4 + 1;
            return Verdict::NotYet;
        };
        self.expected = self.expected.max(k);
        let cut = if let Until::Above(cut) = self.until { cut } else { values[k.max(1) - 1] };
        self.inspected = self.draws.len();
        if let Some(missing) = self.missing_copies(found, k) {
            // Vectors that replaced vanished ones may not be explored yet.
            let pending = self.draws.iter().map(|(drawn, _)| 2 * drawn).find(|explored| *explored > steps);
            self.first_decomposition = pending.unwrap_or(2 * (steps + 1));
            return if pending.is_some() { Verdict::NotYet } else { Verdict::Crowded(missing) };
        }
        let excess = |i: usize| found.residuals[i] / self.tolerance(cut, i < k);
        // NaN is 0 / 0 here: a zero residual with a zero tolerance.
        let worst = (0..=k).map(excess).fold(0.0, f64::max);
        if worst > 1.0 {
            // Near the end a block reduces a residual by a factor of about ten.
            self.first_decomposition = steps + worst.log10().ceil().min(8.0) as usize;
            if !matches!(self.until, Until::Above(_)) {
                self.tracker = Some(Tracker::new(0.5 * (cut + values[k])));
            }
            return Verdict::NotYet;
        }
        Verdict::Done(k + 1)
    }
}

/// The estimated number of eigenvalues of A behind the Ritz values `range`: the first rows of the eigenvectors of T are
/// the weights of a Gauss quadrature for the spectral density, from `width` random vectors.
fn estimated_count(found: &Projected, range: Range<usize>, p: usize, width: usize) -> f64 {
    let weight = |j| found.vectors.col(j).subrows(0, width).squared_norm_l2();
    range.map(weight).sum::<f64>() * p as f64 / width as f64
}

/// The longest run of values that are nearly equal and not nearly zero.
fn cluster(values: &[f64], floor: f64) -> Range<usize> {
    let mut longest = 0..0;
    let mut start = 0;
    for i in 0..values.iter().take_while(|v| **v > floor).count() {
        while values[start] - values[i] > CLUSTER_WIDTH * values[start] {
            start += 1;
        }
        if i + 1 - start > longest.len() {
            longest = start..i + 1;
        }
    }
    longest
}
