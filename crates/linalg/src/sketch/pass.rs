//! One pass over the samples: W = Σ x(xᵀQ) block by block, Σ‖x‖², and in the first pass the mean.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | c | `shift` | what is subtracted from every row: the mean of the first block in the first pass, μ later |
//! | δ | `gap` | μ − c |
//! | e | `error` | ‖Ŵ − AQ‖ ≤ e√l |
//!
//! **Rounding.** An entry of xᵀQ is a sum of m terms, an entry of W a sum of b in a block and of one term per block;
//! |Q| has unit columns and ‖|X|ᵀ|X|‖ ≤ E. So the error of a column of Ŵ is at most γ_{m+b+blocks}·E, with E that of
//! the rows as they were multiplied. A row minus c is rounded by 3u(‖z‖ + ‖low‖), all rows by a matrix of norm h, which
//! changes A by 2√E·h + h². The error of the mean is a drift d ([`Mean`]): rows minus the mean add n·d² to A, and the δ
//! of the first pass changes n·δδᵀ by n(2‖δ‖d + d²).

use super::block_rows;
use crate::Error;
use crate::dense::product;
use crate::exec::Exec;
use crate::gram::{UNIT, gamma};
use crate::mat::Mat;
use crate::rows::energy;
use crate::summary::Mean;

/// A pass in progress.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// Rows in full blocks.
    rows: usize,
    blocks: usize,
    /// The rows since the last full block.
    tail: Vec<f64>,
    image: Mat,
    energy: f64,
    shift: Option<Mean>,
    /// A bound on its distance from μ, where it stands for μ.
    drift: f64,
    /// μ so far and its drift, in the first pass over samples that are centered.
    computed_mean: Option<(Mean, f64)>,
}

/// The result of a pass.
pub(super) struct PassResult {
    pub image: Mat,
    pub energy: f64,
    pub error: f64,
    /// μ and its drift, where this pass computed them.
    pub mean: Option<(Mean, f64)>,
}

impl Pass {
    /// An empty pass, for products with `columns` columns; `mean` where an earlier pass computed it.
    pub(super) fn new(features: usize, columns: usize, centered: bool, mean: Option<(Mean, f64)>) -> Self {
        let computed_mean = (centered && mean.is_none()).then(|| (Mean::zero(features), 0.0));
        let image = Mat::zeros(features, columns);
        let drift = mean.as_ref().map_or(0.0, |(_, drift)| *drift);
        let shift = mean.map(|(mean, _)| mean);
        Self { rows: 0, blocks: 0, tail: vec![], image, energy: 0.0, shift, drift, computed_mean }
    }

    /// Rows so far.
    pub(super) fn rows(&self) -> usize {
        self.rows + self.tail.len() / self.image.rows()
    }

    pub(super) fn take_tail(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.tail)
    }

    pub(super) fn set_tail(&mut self, tail: Vec<f64>) {
        self.tail = tail;
    }

    /// Adds a block.
    pub(super) fn add(&mut self, mut block: Mat, q: &Mat, exec: Exec<'_>) -> Result<(), Error> {
        exec.check()?;
        if let Some((mean, drift)) = &mut self.computed_mean {
            let next = Mean::of(&block);
            *drift = joined(mean, *drift, self.rows, &next, &block);
            self.shift.get_or_insert(next);
        }
        if let Some(shift) = &self.shift {
            (0..block.rows()).for_each(|i| shift.subtract_from(block.row_mut(i)));
        }
        self.rows += block.rows();
        self.blocks += 1;
        self.energy += (0..block.rows()).map(|i| energy(block.row(i))).sum::<f64>();
        if q.cols() > 0 {
            let once = product(block.view(), q.view(), exec.silent())?;
            let twice = product(block.view().transposed(), once.view(), exec.silent())?;
            add(&mut self.image, &twice, 1.0);
        }
        Ok(())
    }

    /// The result of all blocks.
    pub(super) fn end(mut self, q: &Mat, exec: Exec<'_>) -> Result<PassResult, Error> {
        let (n, m) = (self.rows as f64, self.image.rows());
        let terms = m + block_rows(m) + self.blocks + 16;
        let mut error = gamma(terms) * self.energy;
        if let Some(shift) = &self.shift {
            let low = energy(&shift.low).sqrt();
            let h = 3.0 * UNIT * (self.energy.sqrt() + n.sqrt() * low);
            error += 2.0 * self.energy.sqrt() * h + h * h + n * self.drift * self.drift;
        }
        let Some((mean, drift)) = self.computed_mean else {
            return Ok(PassResult { image: self.image, energy: self.energy, error, mean: None });
        };
        let gap = self.shift.as_ref().expect("there was a block").gap(&mean);
        let length = energy(&gap);
        let row = Mat::from_vec(1, m, gap.clone()).expect("one number a feature");
        let along = product(row.view(), q.view(), exec.silent())?;
        for (i, d) in gap.iter().enumerate() {
            self.image.row_mut(i).iter_mut().zip(along.row(0)).for_each(|(w, a)| *w -= n * d * a);
        }
        error += gamma(terms) * n * length + n * drift * (2.0 * length.sqrt() + drift);
        Ok(PassResult {
            image: self.image,
            energy: (self.energy - n * length).max(0.0),
            error,
            mean: Some((mean, drift)),
        })
    }
}

/// Merges the mean of a block into that of all before it, and returns the drift of both (the proof is in
/// `summary/reduction.rs`).
fn joined(mean: &mut Mean, drift: f64, before: usize, next: &Mean, block: &Mat) -> f64 {
    let b = block.rows() as f64;
    let spread = (0..block.rows()).map(|i| {
        let mut row = block.row(i).to_vec();
        next.subtract_from(&mut row);
        energy(&row)
    });
    let low = energy(&next.low).sqrt();
    let of_block = gamma(block.rows() + 8) * (spread.sum::<f64>().sqrt() / b.sqrt() + low);
    if before == 0 {
        *mean = next.clone();
        return of_block;
    }
    let (n, gap) = (before as f64 + b, mean.gap(next));
    let step = 8.0 * UNIT * (energy(&gap).sqrt() + energy(&mean.low).sqrt() + low);
    mean.add(&gap, b / n);
    (before as f64 * drift + b * of_block) / n + step
}

/// A ← A + f·B.
pub(super) fn add(a: &mut Mat, b: &Mat, factor: f64) {
    a.as_mut_slice().iter_mut().zip(b.as_slice()).for_each(|(a, b)| *a += factor * b);
}
