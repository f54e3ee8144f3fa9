//! The middle of sorted values.

/// The middle of sorted values, or the mean of the two in the middle; 0 of none.
pub fn median_of(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        p if p % 2 == 1 => sorted[p / 2],
        p => 0.5 * (sorted[p / 2 - 1] + sorted[p / 2]),
    }
}
