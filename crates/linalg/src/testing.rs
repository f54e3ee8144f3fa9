//! Helpers that several unit tests of this crate share.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::exec::Monitor;
use crate::mat::Mat;

/// Cancels after a number of polls, or of progress reports.
pub(crate) struct CancelAfter {
    polls: AtomicUsize,
    reports: AtomicUsize,
    allowed: usize,
    by_reports: bool,
}

impl CancelAfter {
    /// Cancels at the poll that follows `allowed` polls.
    pub(crate) fn polls(allowed: usize) -> Self {
        Self { polls: AtomicUsize::new(0), reports: AtomicUsize::new(0), allowed, by_reports: false }
    }

    /// Cancels once `allowed` reports were made.
    pub(crate) fn reports(allowed: usize) -> Self {
        Self { by_reports: true, ..Self::polls(allowed) }
    }

    /// The number of progress reports so far.
    pub(crate) fn reported(&self) -> usize {
        self.reports.load(Ordering::Relaxed)
    }
}

impl Monitor for CancelAfter {
    fn progress(&self, _: &'static str, _: usize, _: usize) {
        self.reports.fetch_add(1, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        let polls = self.polls.fetch_add(1, Ordering::Relaxed);
        if self.by_reports { self.reported() >= self.allowed } else { polls >= self.allowed }
    }
}

/// The rows `rows` of a matrix.
pub(crate) fn rows_of(x: &Mat, rows: Range<usize>) -> Mat {
    x.select_rows(&rows.collect::<Vec<_>>())
}

/// The largest entry of |UᵀU − I|.
pub(crate) fn orthonormality_error(u: &Mat) -> f64 {
    let entry = |i: usize, j: usize| (0..u.rows()).map(|r| u.at(r, i) * u.at(r, j)).sum::<f64>();
    let pairs = (0..u.cols()).flat_map(|i| (0..u.cols()).map(move |j| (i, j)));
    pairs.map(|(i, j)| (entry(i, j) - f64::from(u8::from(i == j))).abs()).fold(0.0, f64::max)
}
