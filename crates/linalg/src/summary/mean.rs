//! Means in more than twice the working precision.
//!
//! With an offset of 1e9 a mean is rounded by 1e-7, and the small difference of the means of two blocks would have no
//! correct digit past the seventh decimal. So a mean is stored as the sum of two numbers, the second about eps times
//! the first (Dekker 1971 — `dekker1971` in `docs/references.bib`):
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | μ | `high` + `low` | the sum is never rounded |
//!
//! A row minus the mean is (x − high) − low. The first difference is exact where x is near the mean (within a factor of
//! two: Sterbenz), and accurate to eps of itself anywhere.

use crate::mat::Mat;

/// μ = `high` + `low`, feature by feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mean {
    pub(crate) high: Vec<f64>,
    pub(crate) low: Vec<f64>,
}

impl Mean {
    pub(crate) fn zero(features: usize) -> Self {
        Self { high: vec![0.0; features], low: vec![0.0; features] }
    }

    /// The mean of some rows: first of their distance from the first row, which removes an offset and is exactly zero
    /// for constant rows; then of the remainder, which removes the rounding of the first mean.
    pub(crate) fn of(rows: &Mat) -> Self {
        let m = rows.cols();
        let mut mean = Self { high: rows.row(0).to_vec(), low: vec![0.0; m] };
        for _ in 0..2 {
            let mut sums = vec![0.0; m];
            let mut row = vec![0.0; m];
            for i in 0..rows.rows() {
                row.copy_from_slice(rows.row(i));
                mean.subtract_from(&mut row);
                sums.iter_mut().zip(&row).for_each(|(s, x)| *s += x);
            }
            mean.add(&sums, 1.0 / rows.rows() as f64);
        }
        mean
    }

    /// The weighted mean of rows, in the same two steps. The weights must not all be zero.
    pub(crate) fn weighted(rows: &Mat, weights: &[f64]) -> Self {
        let (m, total) = (rows.cols(), weights.iter().sum::<f64>());
        let mut mean = Self { high: rows.row(rows.rows() - 1).to_vec(), low: vec![0.0; m] };
        for _ in 0..2 {
            let mut sums = vec![0.0; m];
            let mut row = vec![0.0; m];
            for (i, weight) in weights.iter().enumerate() {
                row.copy_from_slice(rows.row(i));
                mean.subtract_from(&mut row);
                sums.iter_mut().zip(&row).for_each(|(s, x)| *s += weight * x);
            }
            mean.add(&sums, 1.0 / total);
        }
        mean
    }

    /// x ↦ x − μ.
    pub(crate) fn subtract_from(&self, row: &mut [f64]) {
        for (x, (high, low)) in row.iter_mut().zip(self.high.iter().zip(&self.low)) {
            *x = (*x - high) - low;
        }
    }

    /// μ ↦ μ + `share` · `step`.
    pub(crate) fn add(&mut self, step: &[f64], share: f64) {
        for ((high, low), step) in self.high.iter_mut().zip(&mut self.low).zip(step) {
            let (sum, rest) = two_sum(*high, share * step);
            (*high, *low) = two_sum(sum, rest + *low);
        }
    }

    /// μ₂ − μ₁.
    pub(crate) fn gap(&self, other: &Self) -> Vec<f64> {
        let ours = self.high.iter().zip(&self.low);
        let theirs = other.high.iter().zip(&other.low);
        ours.zip(theirs).map(|((h1, l1), (h2, l2))| (h2 - h1) + (l2 - l1)).collect()
    }

    /// μ, rounded.
    pub(crate) fn rounded(&self) -> Vec<f64> {
        self.high.clone()
    }
}

/// a + b = s + e exactly, s the rounded sum (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}
