//! The singular values and directions of samples that arrive one by one, in the memory of a few directions.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | x₁ … x_n | | the samples, rows of m values; x_n is the newest |
//! | f | `forget` | the forgetting factor: row i of Y is fⁿ⁻ⁱ·xᵢ |
//! | W | `weight` | Σ f²⁽ⁿ⁻ⁱ⁾, the effective number of samples |
//! | U, σ | `basis` (m × q), `sigma` | stored directions and singular values, q ≤ `rank` |
//! | B | `block` (b rows) | the samples of one update |
//! | D | `discarded` | what was discarded in all updates: YᵀY = U Σ² Uᵀ + D |
//!
//! Brand's update (Brand 2006 — `brand2006` in `docs/references.bib`), for the matrix with the columns U Σ fᵇ and Bᵀ:
//! ```text
//!     M = UᵀBᵀ,   P = Bᵀ − U M,   twice;     P = J R
//!     K = [ fᵇΣ  M ]  =  W S Zᵀ                U ← [U J] W,  σ ← S,  cut to `rank` columns
//!         [  0   R ]
//! ```
//! Z is not needed: V, which has one row per sample, is never formed. Where samples are centered, the mean of B is
//! subtracted from B, and one row √(W₁W₂/W)·(μ₂ − μ₁) is appended (Ross, Lim, Lin, Yang 2008 — `ross2008`; `chan1983`):
//! then UΣ²Uᵀ + D is the scatter about the mean of all samples.
//!
//! **What is discarded.** Truncating [U J] W S at `rank` removes a matrix E that is orthogonal to the remaining part on
//! both sides, so that exactly EᵀE is missing, and D is a sum of such terms: it has no negative eigenvalue. By Weyl's
//! inequality
//! ```text
//!     σ̂ᵢ²  ≤  σᵢ²  ≤  σ̂ᵢ² + ‖D‖₂        Σ(σᵢ² − σ̂ᵢ²) = tr D
//! ```
//! for every i (σ̂ᵢ = 0 past the last stored one). tr D is stored exactly, and ‖D‖₂ is at most the sum of the largest
//! σ² discarded in each update. So the values are lower bounds, and the number of values above a cut lies in a computed
//! interval (`answer.rs`).
//!
//! **Blocks.** Samples are buffered until there are b of them: one update of O(m(q + b)²) for b samples is O(mq) per
//! sample where b ≈ q, and truncation happens b times less often. Blocks are counted from the first sample, so that the
//! bits do not depend on the chunks. b = 1 is Brand's rank-one update; it costs O(mq²) per sample, and discards more.
//!
//! **Where we differ.** Directions are reorthonormalized after every update ([`polish`](mod@crate::polish)), at a
//! fraction of its cost, so that they stay orthonormal to rounding after any number of updates. As in
//! [`summary`](crate::summary) values are expected near one, and values above [`LARGEST`](crate::summary::LARGEST) are
//! refused.

mod answer;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::blocks::Blocks;
use crate::dense::product;
use crate::exec::Exec;
use crate::mat::Mat;
use crate::polish::polish;
use crate::scale::{exponent_of, times_power_of_two};
use crate::summary::mean::Mean;
use crate::summary::usable;
use crate::svd::{RightSvd, right};
use crate::triangle::{orthonormalized, triangle};

/// The parameters of an online decomposition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineKind {
    /// m.
    pub features: usize,
    /// The maximum number of directions stored from one update to the next.
    pub rank: usize,
    /// b.
    pub block: usize,
    /// f.
    pub forget: f64,
    /// Whether the mean is subtracted.
    pub centered: bool,
}

impl OnlineKind {
    /// Parameters for samples of `features` values: no more directions than features, and blocks of a suitable size for
    /// that rank.
    pub fn new(features: usize, rank: usize, forget: f64, centered: bool) -> Self {
        let rank = rank.min(features);
        Self { features, rank, block: rank.max(16).min(features), forget, centered }
    }

    fn check(&self) -> Result<(), Error> {
        let ensure = |ok: bool, fault: &'static str| if ok { Ok(()) } else { Err(Error::NoStart(fault)) };
        ensure(
            self.features > 0 && self.rank > 0 && self.block > 0,
            "no features, no directions or no samples in a block",
        )?;
        ensure(self.forget > 0.0 && self.forget <= 1.0, "the forgetting factor is not above 0 and at most 1")
    }
}

/// The state of an online decomposition, as plain data. [`Online::resume`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineState {
    /// n.
    pub rows: usize,
    /// Number of updates so far, each with its rounding.
    pub updates: usize,
    /// W.
    pub weight: f64,
    /// The mean, as the sum of two numbers for each feature, where samples are centered.
    pub mean: Option<[Vec<f64>; 2]>,
    /// U (m × q), orthonormal columns.
    pub basis: Mat,
    /// σ̂, in descending order.
    pub sigma: Vec<f64>,
    /// What was discarded.
    pub discarded: Discarded,
    /// Buffered samples, one after the other; they do not count in any of the fields above.
    pub waiting: Vec<f64>,
}

/// The discarded part D.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Discarded {
    /// tr D.
    pub energy: f64,
    /// An upper bound on ‖D‖₂.
    pub top: f64,
}

/// The decomposition of the samples so far. See the module documentation.
///
/// ```
/// use eigenspan_linalg::online::{Online, OnlineKind};
/// use eigenspan_linalg::spectrum::Select;
/// use eigenspan_linalg::{Exec, Mat};
///
/// let mut online = Online::new(OnlineKind::new(3, 2, 1.0, false))?;
/// for i in 0..50 {
///     let sample = Mat::from_fn(1, 3, |_, j| ((i + 1) * j) as f64);
///     online.update(&sample, Exec::default())?;
/// }
/// let found = online.leading(Select::Above(1.0), Exec::default())?;
/// assert_eq!((online.rows(), found.count), (50, 1));
/// # Ok::<(), eigenspan_linalg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Online {
    kind: OnlineKind,
    state: OnlineState,
}

impl Online {
    /// A decomposition of no samples.
    pub fn new(kind: OnlineKind) -> Result<Self, Error> {
        let m = kind.features;
        let state = OnlineState {
            rows: 0,
            updates: 0,
            weight: 0.0,
            mean: kind.centered.then(|| [vec![0.0; m], vec![0.0; m]]),
            basis: Mat::zeros(m, 0),
            sigma: vec![],
            discarded: Discarded::default(),
            waiting: vec![],
        };
        Self::resume(kind, state)
    }

    /// Resumes from a state.
    pub fn resume(kind: OnlineKind, state: OnlineState) -> Result<Self, Error> {
        kind.check()?;
        let (m, q) = (kind.features, state.sigma.len());
        let ensure = |ok: bool, fault: &'static str| if ok { Ok(()) } else { Err(Error::NoStart(fault)) };
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        let shape = state.basis.rows() == m && state.basis.cols() == q && q <= m;
        ensure(shape && finite(state.basis.as_slice()), "directions and singular values do not belong together")?;
        let sorted = state.sigma.windows(2).all(|w| w[0] >= w[1]) && state.sigma.iter().all(|s| *s > 0.0);
        ensure(finite(&state.sigma) && sorted, "the singular values are not sorted, or not positive")?;
        let means = state.mean.iter().flatten().all(|half| half.len() == m && finite(half));
        ensure(means && state.mean.is_some() == kind.centered, "the mean is not one number for every feature")?;
        let Discarded { energy, top } = state.discarded;
        ensure(energy >= 0.0 && top >= 0.0 && energy.is_finite() && top.is_finite(), "the discarded part is invalid")?;
        ensure(state.weight >= 0.0 && state.weight.is_finite(), "the weight of the samples is invalid")?;
        ensure(q == 0 || state.weight > 0.0, "there are directions and no samples")?;
        let whole = state.waiting.len().is_multiple_of(m) && state.waiting.len() < kind.block * m;
        ensure(whole && state.waiting.iter().all(|x| usable(*x)), "a buffered sample is invalid")?;
        Ok(Self { kind, state })
    }

    /// The parameters.
    pub fn kind(&self) -> OnlineKind {
        self.kind
    }

    /// The state, without the buffered samples.
    pub fn state(&self) -> &OnlineState {
        &self.state
    }

    /// n, buffered samples included.
    pub fn rows(&self) -> usize {
        self.state.rows + self.state.waiting.len() / self.kind.features
    }

    /// Adds any number of samples. After an error the decomposition is unchanged.
    pub fn update(&mut self, rows: &dyn Blocks, exec: Exec<'_>) -> Result<(), Error> {
        let (m, rows_before, exponent) = (self.kind.features, self.rows(), rows.exponent());
        assert_eq!(rows.cols(), m, "a sample has as many values as the samples before it");
        let held = self.state.waiting.len();
        let mut waiting = std::mem::take(&mut self.state.waiting);
        // Samples that are only buffered change nothing else: no copy is needed for a rollback.
        let mut next = (held + rows.rows() * m >= self.kind.block * m).then(|| (self.state.clone(), waiting.clone()));
        let mut row = vec![0.0; m];
        let outcome = (0..rows.rows()).try_for_each(|i| {
            rows.read_row(i, 0..m, &mut row);
            row.iter_mut().for_each(|x| *x = times_power_of_two(*x, exponent));
            if let Some(column) = row.iter().position(|x| !usable(*x)) {
                return Err(Error::OutOfRange { row: rows_before + i, column });
            }
            let Some((state, waiting)) = &mut next else {
                waiting.extend_from_slice(&row);
                return Ok(());
            };
            waiting.extend_from_slice(&row);
            if waiting.len() == self.kind.block * m {
                let block = Mat::from_vec(self.kind.block, m, std::mem::take(waiting)).expect("whole samples");
                state.add_block(block, &self.kind, exec)?;
            }
            Ok(())
        });
        match (outcome, next) {
            (Ok(()), Some((state, waiting))) => self.state = OnlineState { waiting, ..state },
            (Ok(()), None) => self.state.waiting = waiting,
            (Err(error), _) => {
                waiting.truncate(held);
                self.state.waiting = waiting;
                return Err(error);
            }
        }
        Ok(())
    }

    /// The state with all samples, the buffered ones as a short block.
    pub fn closed(&self, exec: Exec<'_>) -> Result<OnlineState, Error> {
        let (mut state, m) = (self.state.clone(), self.kind.features);
        let waiting = std::mem::take(&mut state.waiting);
        if !waiting.is_empty() {
            state.add_block(Mat::from_vec(waiting.len() / m, m, waiting).expect("whole samples"), &self.kind, exec)?;
        }
        Ok(state)
    }
}

impl OnlineState {
    /// Adds a block.
    fn add_block(&mut self, rows: Mat, kind: &OnlineKind, exec: Exec<'_>) -> Result<(), Error> {
        exec.check()?;
        let b = rows.rows();
        let fade = power(kind.forget, b);
        let (block, mean, weight) = self.centered(rows, kind, fade);
        let block = if block.rows() > kind.features { triangle(&block, exec.silent())? } else { block };
        let (mut basis, mut sigma) = self.appended(&block, fade, exec.silent())?;
        // Below the rounding of the core there is no meaningful direction.
        let level = (sigma.len() as f64) * f64::EPSILON * sigma.first().copied().unwrap_or(0.0);
        let above = sigma.iter().take_while(|s| **s > level).count();
        let retained = above.min(kind.rank);
        let dropped = &sigma[retained..];
        let top = dropped.first().map_or(0.0, |s| s * s);
        self.discarded.energy = fade * fade * self.discarded.energy + dropped.iter().map(|s| s * s).sum::<f64>();
        self.discarded.top = fade * fade * self.discarded.top + top;
        basis = polish(basis.leading_columns(retained), exec.silent())?;
        sigma.truncate(retained);
        self.rows += b;
        self.updates += 1;
        (self.basis, self.sigma, self.weight, self.mean) = (basis, sigma, weight, mean);
        Ok(())
    }

    /// The weighted rows of B, with their mean subtracted and the correcting row appended where samples are centered;
    /// then the mean and the weight of all samples.
    fn centered(&self, mut rows: Mat, kind: &OnlineKind, fade: f64) -> (Mat, Option<[Vec<f64>; 2]>, f64) {
        let (b, m) = (rows.rows(), rows.cols());
        let factors: Vec<f64> = (0..b).map(|i| power(kind.forget, b - 1 - i)).collect();
        let squares: Vec<f64> = factors.iter().map(|f| f * f).collect();
        let (before, own) = (fade * fade * self.weight, squares.iter().sum::<f64>());
        let (mut extra, mut mean) = (vec![], None);
        if let Some([high, low]) = &self.mean {
            let next = Mean::weighted(&rows, &squares);
            (0..b).for_each(|i| next.subtract_from(rows.row_mut(i)));
            let mut all = Mean { high: high.clone(), low: low.clone() };
            let gap = all.gap(&next);
            if self.weight > 0.0 {
                let root = (before * (own / (before + own))).sqrt();
                extra = gap.iter().map(|d| root * d).collect();
                all.add(&gap, own / (before + own));
            } else {
                all = next;
            }
            mean = Some([all.high, all.low]);
        }
        for (i, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 1.0) {
            rows.row_mut(i).iter_mut().for_each(|x| *x *= factor);
        }
        let height = b + usize::from(!extra.is_empty());
        let mut values = rows.into_vec();
        values.extend(extra);
        (Mat::from_vec(height, m, values).expect("whole rows"), mean, before + own)
    }

    /// [U J] W and S, without truncation: Brand's update. W is computed from Kᵀ, as its right singular vectors.
    fn appended(&self, block: &Mat, fade: f64, exec: Exec<'_>) -> Result<(Mat, Vec<f64>), Error> {
        let (u, q, b, m) = (&self.basis, self.sigma.len(), block.rows(), block.cols());
        let (mut rest, mut along) = (block.clone(), Mat::zeros(b, q));
        if q > 0 {
            // One pass leaves eps·‖B‖ along U, which is large relative to a small P; two passes suffice.
            for _ in 0..2 {
                let step = product(rest.view(), u.view(), exec)?;
                let back = product(step.view(), u.view().transposed(), exec)?;
                rest.as_mut_slice().iter_mut().zip(back.as_slice()).for_each(|(p, x)| *p -= x);
                along.as_mut_slice().iter_mut().zip(step.as_slice()).for_each(|(m, x)| *m += x);
            }
        }
        let new = orthonormalized(&rest.transposed(), exec)?;
        let height = product(rest.view(), new.view(), exec)?;
        let mut core = Mat::zeros(q + b, q + b);
        (0..q).for_each(|i| core.row_mut(i)[i] = fade * self.sigma[i]);
        for i in 0..b {
            core.row_mut(q + i)[..q].copy_from_slice(along.row(i));
            core.row_mut(q + i)[q..].copy_from_slice(height.row(i));
        }
        let largest = core.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
        if largest == 0.0 {
            return Ok((Mat::zeros(m, 0), vec![]));
        }
        let exponent = exponent_of(largest);
        core.as_mut_slice().iter_mut().for_each(|x| *x = times_power_of_two(*x, -exponent));
        let RightSvd { sigma, v } = right(&core)?;
        let wide = Mat::from_fn(m, q + b, |i, j| if j < q { u.at(i, j) } else { new.at(i, j - q) });
        let rotated = product(wide.view(), v.view(), exec)?;
        Ok((rotated, sigma.into_iter().map(|s| times_power_of_two(s, exponent)).collect()))
    }
}

/// fᵉ, for any number of samples e.
fn power(f: f64, e: usize) -> f64 {
    if f == 1.0 { 1.0 } else { f.powf(e as f64) }
}
