//! Agreement between estimators.

/// The largest group of estimates that are close to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Agreement {
    /// Estimates in the group.
    pub count: usize,
    /// All estimates.
    pub of: usize,
    /// The smallest of the group, rounded.
    pub low: usize,
    /// The largest.
    pub high: usize,
}

/// The largest group of rounded estimates in which the largest is at most 1.4 times the smallest, or one more; of
/// groups of equal size the narrowest, then the smallest. `None` for no estimates.
pub fn agreement(estimates: &[f64]) -> Option<Agreement> {
    let mut rounded: Vec<usize> = estimates.iter().map(|d| d.round() as usize).collect();
    rounded.sort_unstable();
    let of = rounded.len();
    let group = |first: usize| {
        let low = rounded[first];
        let limit = (low + 1).max((1.4 * low as f64) as usize);
        let count = rounded[first..].iter().take_while(|d| **d <= limit).count();
        Agreement { count, of, low, high: rounded[first + count - 1] }
    };
    let better = |best: Agreement, one: Agreement| {
        let width = |a: &Agreement| a.high - a.low;
        if (one.count, width(&best)) > (best.count, width(&one)) { one } else { best }
    };
    (0..of).map(group).reduce(better)
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { count, of, low, high } = self;
        let verb = if *count == 1 { "says" } else { "say" };
        match low == high {
            true => write!(f, "{count} of {of} {verb} {low}"),
            false => write!(f, "{count} of {of} {verb} {low}–{high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_group_wins_then_the_narrowest() {
        let said = |estimates: &[f64]| agreement(estimates).unwrap().to_string();
        assert_eq!(said(&[8.2, 9.0, 11.4, 10.0, 8.0, 40.0, 2.0, 3.9, 17.0]), "5 of 9 say 8–11");
        assert_eq!(said(&[3.0, 3.1, 2.9]), "3 of 3 say 3");
        assert_eq!(said(&[1.0, 2.0, 50.0, 50.0]), "2 of 4 say 50");
        assert_eq!(said(&[5.0]), "1 of 1 says 5");
        assert_eq!(agreement(&[]), None);
    }
}
