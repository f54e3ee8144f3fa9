//! The singular values and directions of samples that arrive one by one, in the memory of a few directions.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | x₁ … x_n | | the samples, rows of m values; x_n came last |
//! | f | `forget` | everything seen is multiplied by f when a sample arrives: row i of Y is fⁿ⁻ⁱ·xᵢ |
//! | W | `weight` | Σ f²⁽ⁿ⁻ⁱ⁾, how many samples there are in effect |
//! | U, σ | `basis` (m × q), `sigma` | directions and singular values kept, q ≤ `rank` |
//! | B | `block` (b rows) | samples taken in together |
//! | D | `lost` | what was dropped on the way: YᵀY = U Σ² Uᵀ + D |
//!
//! Brand's update (Brand 2006 — `brand2006` in `docs/references.bib`), for the matrix with the columns U Σ fᵇ and Bᵀ:
//! ```text
//!     M = UᵀBᵀ,   P = Bᵀ − U M,   twice;     P = J R
//!     K = [ fᵇΣ  M ]  =  W S Zᵀ                U ← [U J] W,  σ ← S,  cut to `rank` columns
//!         [  0   R ]
//! ```
//! Z is not needed: V, which has a row a sample, is never formed. Where samples are centred, B is less its own mean, and one
//! row √(W₁W₂/W)·(μ₂ − μ₁) goes with it (Ross, Lim, Lin, Yang 2008 — `ross2008`; `chan1983`): then UΣ²Uᵀ + D is the
//! scatter about the mean of all.
//!
//! **What is lost, and how much.** Cutting [U J] W S at `rank` takes away a matrix E at right angles to what stays, on both sides,
//! so that nothing but EᵀE is missing, and D is a sum of such: it has no negative eigenvalue. By Weyl's inequality
//! ```text
//!     σ̂ᵢ²  ≤  σᵢ²  ≤  σ̂ᵢ² + ‖D‖₂        Σ(σᵢ² − σ̂ᵢ²) = tr D
//! ```
//! for every i (σ̂ᵢ = 0 past the last one kept). tr D is kept exactly, and ‖D‖₂ is at most the sum of the largest σ² dropped
//! each time. So the values are lower bounds, and how many there are above a cut is known to lie in an interval (`answer.rs`).
//!
//! **Blocks.** Samples wait until there are b of them: one update of O(m(q + b)²) for b samples is O(mq) for each where b ≈ q, and
//! what is cut away is cut away b times less often. Blocks are counted from the first sample, so that bits do not depend on
//! portions. b = 1 is Brand's rank-one update; it costs O(mq²) a sample, and loses more.
//!
//! **Where we differ.** Directions are made orthonormal again after every update ([`polish`](mod@crate::polish)), at a fraction of its
//! cost, so that they stay so to rounding after any number of them. As in [`summary`](crate::summary) values are expected near
//! one, and values above [`LARGEST`](crate::summary::LARGEST) are refused.

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
use crate::triangle::{orthonormalised, triangle};

/// How a decomposition goes on with samples that arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineKind {
    /// m.
    pub features: usize,
    /// The most directions that are kept from one update to the next.
    pub rank: usize,
    /// b.
    pub block: usize,
    /// f.
    pub forget: f64,
    /// Whether the mean is taken away.
    pub centred: bool,
}

impl OnlineKind {
    /// What fits samples of `features` values: no more directions than features, and blocks that serve so many directions.
    pub fn new(features: usize, rank: usize, forget: f64, centred: bool) -> Self {
        let rank = rank.min(features);
        Self { features, rank, block: rank.max(16).min(features), forget, centred }
    }

    fn check(&self) -> Result<(), Error> {
        let say = |ok: bool, fault: &'static str| if ok { Ok(()) } else { Err(Error::NoStart(fault)) };
        say(
            self.features > 0 && self.rank > 0 && self.block > 0,
            "no features, no directions or no samples in a block",
        )?;
        say(self.forget > 0.0 && self.forget <= 1.0, "the forgetting factor is not above 0 and at most 1")
    }
}

/// All that is known of the samples seen, as plain data. [`Online::resume`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineState {
    /// n.
    pub rows: usize,
    /// Updates so far, each with its rounding.
    pub updates: usize,
    /// W.
    pub weight: f64,
    /// The mean, as the sum of two numbers for each feature, where samples are centred.
    pub mean: Option<[Vec<f64>; 2]>,
    /// U (m × q), orthonormal columns.
    pub basis: Mat,
    /// σ̂, largest first.
    pub sigma: Vec<f64>,
    /// What was dropped.
    pub discarded: Discarded,
    /// Samples that wait for more, one after the other; they do not count in any of the above.
    pub waiting: Vec<f64>,
}

/// What was dropped on the way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Discarded {
    /// tr D.
    pub energy: f64,
    /// At least ‖D‖₂.
    pub top: f64,
}

/// The decomposition of the samples seen. See the head of this file.
///
/// ```
/// use eigenspan_linalg::online::{Online, OnlineKind};
/// use eigenspan_linalg::spectrum::Select;
/// use eigenspan_linalg::{Exec, Mat};
///
/// let mut seen = Online::new(OnlineKind::new(3, 2, 1.0, false))?;
/// for i in 0..50 {
///     let sample = Mat::from_fn(1, 3, |_, j| ((i + 1) * j) as f64);
///     seen.update(&sample, Exec::default())?;
/// }
/// let found = seen.leading(Select::Above(1.0), Exec::default())?;
/// assert_eq!((seen.rows(), found.count), (50, 1));
/// # Ok::<(), eigenspan_linalg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Online {
    kind: OnlineKind,
    state: OnlineState,
}

impl Online {
    /// Of no samples.
    pub fn new(kind: OnlineKind) -> Result<Self, Error> {
        let m = kind.features;
        let state = OnlineState {
            rows: 0,
            updates: 0,
            weight: 0.0,
            mean: kind.centred.then(|| [vec![0.0; m], vec![0.0; m]]),
            basis: Mat::zeros(m, 0),
            sigma: vec![],
            discarded: Discarded::default(),
            waiting: vec![],
        };
        Self::resume(kind, state)
    }

    /// Goes on from what is known.
    pub fn resume(kind: OnlineKind, state: OnlineState) -> Result<Self, Error> {
        kind.check()?;
        let (m, q) = (kind.features, state.sigma.len());
        let say = |ok: bool, fault: &'static str| if ok { Ok(()) } else { Err(Error::NoStart(fault)) };
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        let shape = state.basis.rows() == m && state.basis.cols() == q && q <= m;
        say(shape && finite(state.basis.as_slice()), "directions and singular values do not belong together")?;
        let sorted = state.sigma.windows(2).all(|w| w[0] >= w[1]) && state.sigma.iter().all(|s| *s > 0.0);
        say(finite(&state.sigma) && sorted, "the singular values are not sorted, or not positive")?;
        let means = state.mean.iter().flatten().all(|half| half.len() == m && finite(half));
        say(means && state.mean.is_some() == kind.centred, "the mean is not one number for every feature")?;
        let Discarded { energy, top } = state.discarded;
        say(energy >= 0.0 && top >= 0.0 && energy.is_finite() && top.is_finite(), "what was lost is not told")?;
        say(state.weight >= 0.0 && state.weight.is_finite(), "the weight of the samples is not told")?;
        say(q == 0 || state.weight > 0.0, "there are directions and no samples")?;
        let whole = state.waiting.len().is_multiple_of(m) && state.waiting.len() < kind.block * m;
        say(whole && state.waiting.iter().all(|x| usable(*x)), "samples that wait are not samples")?;
        Ok(Self { kind, state })
    }

    /// How it goes on.
    pub fn kind(&self) -> OnlineKind {
        self.kind
    }

    /// What is known, samples that wait aside.
    pub fn state(&self) -> &OnlineState {
        &self.state
    }

    /// n, samples that wait included.
    pub fn rows(&self) -> usize {
        self.state.rows + self.state.waiting.len() / self.kind.features
    }

    /// Takes more samples, any number of them. After an error nothing has changed.
    pub fn update(&mut self, rows: &dyn Blocks, exec: Exec<'_>) -> Result<(), Error> {
        let (m, seen, exponent) = (self.kind.features, self.rows(), rows.exponent());
        assert_eq!(rows.cols(), m, "a sample has as many values as the samples before it");
        let held = self.state.waiting.len();
        let mut waiting = std::mem::take(&mut self.state.waiting);
        // Samples that only wait for more change nothing else: no copy is needed to go back to.
        let mut next = (held + rows.rows() * m >= self.kind.block * m).then(|| (self.state.clone(), waiting.clone()));
        let mut row = vec![0.0; m];
        let outcome = (0..rows.rows()).try_for_each(|i| {
            rows.read_row(i, 0..m, &mut row);
            row.iter_mut().for_each(|x| *x = times_power_of_two(*x, exponent));
            if let Some(column) = row.iter().position(|x| !usable(*x)) {
                return Err(Error::OutOfRange { row: seen + i, column });
            }
            let Some((state, waiting)) = &mut next else {
                waiting.extend_from_slice(&row);
                return Ok(());
            };
            waiting.extend_from_slice(&row);
            if waiting.len() == self.kind.block * m {
                let block = Mat::from_vec(self.kind.block, m, std::mem::take(waiting)).expect("whole samples");
                state.take(block, &self.kind, exec)?;
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

    /// All samples taken in, those that wait as a short block.
    pub fn closed(&self, exec: Exec<'_>) -> Result<OnlineState, Error> {
        let (mut state, m) = (self.state.clone(), self.kind.features);
        let waiting = std::mem::take(&mut state.waiting);
        if !waiting.is_empty() {
            state.take(Mat::from_vec(waiting.len() / m, m, waiting).expect("whole samples"), &self.kind, exec)?;
        }
        Ok(state)
    }
}

impl OnlineState {
    /// Takes in a block.
    fn take(&mut self, rows: Mat, kind: &OnlineKind, exec: Exec<'_>) -> Result<(), Error> {
        exec.check()?;
        let b = rows.rows();
        let fade = power(kind.forget, b);
        let (block, mean, weight) = self.centred(rows, kind, fade);
        let block = if block.rows() > kind.features { triangle(&block, exec.silent())? } else { block };
        let (mut basis, mut sigma) = self.appended(&block, fade, exec.silent())?;
        // Below the rounding of the core there is no direction to be had.
        let level = (sigma.len() as f64) * f64::EPSILON * sigma.first().copied().unwrap_or(0.0);
        let above = sigma.iter().take_while(|s| **s > level).count();
        let kept = above.min(kind.rank);
        let dropped = &sigma[kept..];
        let top = dropped.first().map_or(0.0, |s| s * s);
        self.discarded.energy = fade * fade * self.discarded.energy + dropped.iter().map(|s| s * s).sum::<f64>();
        self.discarded.top = fade * fade * self.discarded.top + top;
        basis = polish(basis.leading_columns(kept), exec.silent())?;
        sigma.truncate(kept);
        self.rows += b;
        self.updates += 1;
        (self.basis, self.sigma, self.weight, self.mean) = (basis, sigma, weight, mean);
        Ok(())
    }

    /// The rows of B by their weights, less their mean and with the row that makes up for it where samples are centred; then the
    /// mean and the weight of all.
    fn centred(&self, mut rows: Mat, kind: &OnlineKind, fade: f64) -> (Mat, Option<[Vec<f64>; 2]>, f64) {
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

    /// [U J] W and S, all of them: Brand's update. W comes out of Kᵀ, whose right vectors it holds.
    fn appended(&self, block: &Mat, fade: f64, exec: Exec<'_>) -> Result<(Mat, Vec<f64>), Error> {
        let (u, q, b, m) = (&self.basis, self.sigma.len(), block.rows(), block.cols());
        let (mut rest, mut along) = (block.clone(), Mat::zeros(b, q));
        if q > 0 {
            // Once leaves eps·‖B‖ along U, which is much beside a small P; twice is enough.
            for _ in 0..2 {
                let step = product(rest.view(), u.view(), exec)?;
                let back = product(step.view(), u.view().transposed(), exec)?;
                rest.as_mut_slice().iter_mut().zip(back.as_slice()).for_each(|(p, x)| *p -= x);
                along.as_mut_slice().iter_mut().zip(step.as_slice()).for_each(|(m, x)| *m += x);
            }
        }
        let new = orthonormalised(&rest.transposed(), exec)?;
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
        let turned = product(wide.view(), v.view(), exec)?;
        Ok((turned, sigma.into_iter().map(|s| times_power_of_two(s, exponent)).collect()))
    }
}

/// fᵉ; e may be any number of samples.
fn power(f: f64, e: usize) -> f64 {
    if f == 1.0 { 1.0 } else { f.powf(e as f64) }
}
