//! Points that may be among the k nearest of one query.

use super::Found;

/// A point whose distance is known roughly: between `low` and `high`.
struct Rumour {
    low: f64,
    high: f64,
    index: usize,
}

/// The points that may be among the k nearest.
pub(super) struct Candidates {
    k: usize,
    /// No point whose distance is surely above is a candidate.
    pub(super) limit: f64,
    rumours: Vec<Rumour>,
    /// The nearest of those that were measured, at most k, in order.
    measured: Vec<Found>,
}

impl Candidates {
    pub(super) fn new(k: usize) -> Self {
        Self { k, limit: f64::INFINITY, rumours: vec![], measured: vec![] }
    }

    /// Takes a point in, if it may be among the nearest.
    pub(super) fn offer(&mut self, low: f64, high: f64, index: usize, measure: impl FnMut(usize) -> Found) {
        if low <= self.limit {
            self.rumours.push(Rumour { low, high, index });
            let capacity = 4 * self.k + 60;
            if self.rumours.len() >= capacity {
                self.tighten();
                // What is known roughly does not tell them apart.
                if self.rumours.len() > capacity / 2 {
                    self.settle(measure);
                }
            }
        }
    }

    /// Lets go of points that are surely further than k others.
    fn tighten(&mut self) {
        if self.rumours.len() >= self.k {
            let (_, kth, _) = self.rumours.select_nth_unstable_by(self.k - 1, |a, b| a.high.total_cmp(&b.high));
            self.limit = self.limit.min(kth.high);
        }
        self.rumours.retain(|rumour| rumour.low <= self.limit);
    }

    /// Measures what is known roughly.
    fn settle(&mut self, mut measure: impl FnMut(usize) -> Found) {
        self.measured.extend(self.rumours.drain(..).map(|rumour| measure(rumour.index)));
        self.measured.sort_unstable_by(Found::order);
        self.measured.truncate(self.k);
        if let Some(kth) = self.measured.get(self.k - 1) {
            self.limit = self.limit.min(kth.bound);
        }
    }

    /// The k nearest by their true distance; of equal ones the first points.
    pub(super) fn finish(mut self, measure: impl FnMut(usize) -> Found) -> Vec<Found> {
        self.tighten();
        self.settle(measure);
        self.measured
    }
}
