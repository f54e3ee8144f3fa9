//! What a study sees of the world outside: the time, and who is watching.

/// Tells the time. The library has no clock of its own.
pub trait Clock: Sync {
    /// Seconds since any moment.
    fn seconds(&self) -> f64;
    /// Says that `done` of `total` cells are finished, what the next is, and about how many seconds are left.
    fn cell(&self, _done: usize, _total: usize, _next: &str, _left: Option<f64>) {}
}

/// Time stands still: for results without times.
#[derive(Debug, Clone, Copy)]
pub struct Still;

impl Clock for Still {
    fn seconds(&self) -> f64 {
        0.0
    }
}
