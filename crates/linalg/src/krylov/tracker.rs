//! Counts the eigenvalues of the band T near a cut without decomposing T.
//!
//! ```text
//!     T − cut = L D Lᵀ      D₁ = A₁ − cut      Dⱼ = Aⱼ − cut − Bⱼ₋₁ Dⱼ₋₁⁻¹ Bⱼ₋₁ᵀ
//! ```
//! By Sylvester's law of inertia as many eigenvalues of T lie above the cut as the blocks Dⱼ have positive ones, and a
//! new block of T adds one Dⱼ and changes none. The same factors solve with T − cut, so a few steps of inverse
//! iteration give the Ritz pairs nearest to the cut: the last to converge. They indicate when a full decomposition of
//! T, which costs as much as several blocks, is worthwhile.

use faer::Mat as Block;
use faer::prelude::Reborrow;

use super::band::{BlockTridiagonal, projected};
use crate::Error;
use crate::random::Random;

/// Number of tracked Ritz pairs.
const TRACKED: usize = 4;
/// Steps of inverse iteration per update, which starts from the result of the last one.
const ITERATIONS: usize = 2;

/// Tracks a band as it grows.
pub(super) struct Tracker {
    cut: f64,
    /// Dⱼ⁻¹.
    inverses: Vec<Block<f64>>,
    count: usize,
    steady: usize,
    /// Approximate eigenvectors of T nearest to the cut, d × TRACKED.
    near: Block<f64>,
    random: Random,
}

impl Tracker {
    /// A tracker at `cut`.
    pub fn new(cut: f64) -> Self {
        let near = Block::zeros(0, TRACKED);
        Self { cut, inverses: Vec::new(), count: 0, steady: 0, near, random: Random::new(1) }
    }

    /// The cut.
    pub fn cut(&self) -> f64 {
        self.cut
    }

    /// Eigenvalues of T above the cut.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Blocks since the count last changed.
    pub fn steady(&self) -> usize {
        self.steady
    }

    /// Adds the new blocks of `band`.
    pub fn follow(&mut self, band: &BlockTridiagonal) -> Result<(), Error> {
        (self.inverses.len()..band.steps.len()).try_for_each(|j| self.add_block(band, j))
    }

    fn add_block(&mut self, band: &BlockTridiagonal, j: usize) -> Result<(), Error> {
        let mut d = band.steps[j].diagonal.to_owned();
        (0..d.nrows()).for_each(|i| d[(i, i)] -= self.cut);
        if let Some(before) = self.inverses.last() {
            let b = &band.steps[j - 1].below;
            d -= b * before * b.transpose();
        }
        let (values, vectors) = projected(d.as_ref())?;
        let positive = values.iter().filter(|v| **v > 0.0).count();
        // A zero pivot is a cut that is an eigenvalue of a leading block of T: any tiny number serves.
        let least = f64::EPSILON * values.iter().fold(self.cut.abs(), |m, v| m.max(v.abs())).max(1e-100);
        let mut scaled = vectors.to_owned();
        for (l, value) in values.iter().enumerate() {
            let pivot = if value.abs() < least { least } else { *value };
            scaled.col_mut(l).iter_mut().for_each(|x| *x /= pivot);
        }
        self.inverses.push(scaled * vectors.transpose());
        self.steady = if positive == 0 { self.steady + 1 } else { 0 };
        self.count += positive;
        Ok(())
    }

    /// The Ritz pairs nearest to the cut, as (value, residual). A pair that has not converged in inverse iteration
    /// shows a residual that is too large, never one that is too small to matter.
    pub fn nearest(&mut self, band: &BlockTridiagonal) -> Result<Vec<(f64, f64)>, Error> {
        let (d, known) = (band.order(), self.near.nrows());
        let mut x = Block::zeros(d, TRACKED.min(d));
        for j in 0..x.ncols() {
            for i in 0..d {
                x[(i, j)] = if i < known {
                    self.near[(i, j)]
                } else if known == 0 {
                    self.random.uniform()
                } else {
                    0.0
                };
            }
        }
        for _ in 0..ITERATIONS {
            self.solve(band, &mut x);
            orthonormalize(&mut x);
        }
        let (values, turn) = projected((x.transpose() * band.multiply(&x)).as_ref())?;
        self.near = &x * &turn;
        let residuals = band.residuals(self.near.as_ref());
        Ok(values.into_iter().zip(residuals).collect())
    }

    /// X ← (T − cut)⁻¹ X.
    fn solve(&self, band: &BlockTridiagonal, x: &mut Block<f64>) {
        let starts = band.starts();
        let width = x.ncols();
        for j in 1..starts.len() {
            let (above, below) = x.as_mut().split_at_row_mut(starts[j]);
            let before = above.rb().subrows(starts[j - 1], starts[j] - starts[j - 1]);
            let step = &self.inverses[j - 1] * before;
            let mut own = below.subrows_mut(0, self.inverses[j].nrows());
            own -= &band.steps[j - 1].below * step;
        }
        for j in (0..starts.len()).rev() {
            let height = self.inverses[j].nrows();
            let (above, below) = x.as_mut().split_at_row_mut(starts[j] + height);
            let mut own = above.subrows_mut(starts[j], height);
            if j + 1 < starts.len() {
                let next = &band.steps[j].below;
                own -= next.transpose() * below.rb().subrows(0, next.nrows());
            }
            let solved = &self.inverses[j] * own.rb();
            debug_assert_eq!(solved.ncols(), width);
            own.copy_from(solved);
        }
    }
}

/// Gram–Schmidt, column by column: the columns are few and short.
fn orthonormalize(x: &mut Block<f64>) {
    for j in 0..x.ncols() {
        for _ in 0..2 {
            for i in 0..j {
                let along: f64 = x.col(i).transpose() * x.col(j);
                for l in 0..x.nrows() {
                    x[(l, j)] -= along * x[(l, i)];
                }
            }
        }
        let length = x.col(j).norm_l2();
        if length > 0.0 {
            x.col_mut(j).iter_mut().for_each(|v| *v /= length);
        }
    }
}
