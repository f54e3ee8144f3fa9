//! NeNMF: non-negative matrix factorisation by Nesterov's accelerated gradient.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | V (m × n) | `task.x` = Vᵀ | samples, in our rows |
//! | W (m × r) | `now.w` | the parts |
//! | H (r × n) | `now.h` | how much of each part is in each sample |
//! | F, G, B | `half`, `gram`, `block.b` | Hᵀ, WᵀW and WᵀV in the half that solves for H; W, HHᵀ and HVᵀ in the other |
//! | L | `steepness` | ‖G‖₂, the Lipschitz constant of the gradient |
//! | Y | `Tile::y` | the point that momentum leads to; it may be negative |
//! | α | `alpha` | Nesterov's sequence |
//! | Δ | `delta` | length of the projected gradient: entries where it is negative or the factor is positive |
//!
//! ```text
//!     min ½‖V − WH‖²   with   W, H ≥ 0
//!
//!     repeat    H ← argmin_H≥0,   W ← argmin_W≥0          until Δ ≤ tolerance · Δ₀
//!
//!     each argmin_F≥0, from the last F:     Y = F
//!         repeat   F⁺ = max(Y − (YG − B)/L, 0)
//!                  α⁺ = (1 + √(1 + 4α²))/2
//!                  Y  = F⁺ + (α − 1)/α⁺ (F⁺ − F)          until Δ at Y ≤ tolerance of this half, 10 to 1000 steps
//! ```
//! The tolerance of a half begins at max(tolerance, 10⁻³) Δ₀ and is divided by ten whenever a solve needs no more than ten
//! steps. No solve makes the objective larger: f(F) + L/2 ‖F − F⁻‖² never rises along such steps.
//!
//! Guan, Tao, Luo & Yuan (2012) — `guan2012` in `docs/references.bib`. **Where we differ:** Δ is taken at W itself, not at its
//! Y. Random factors begin so large that WH has the mean of V: Δ₀ is then of the size of the task, where a start between 0
//! and 1 makes it so large that faces are finished after ten rounds. Parts have length one in the end.
//! [`NenmfParams::as_published`] leaves both as they were.

use std::ops::Range;

use eigenspan_linalg::dense::{PackedMatrix, descend};
use eigenspan_linalg::descent::{BATCH, BatchRow, Iterates, Workspace};
use eigenspan_linalg::steps::projected_squares;
use eigenspan_linalg::symmetric::tridiagonalize;
use eigenspan_linalg::{Exec, Mat};

use crate::data::{Labels, Samples};
use crate::method::parts::factorisation::{Pair, Task};
use crate::method::parts::halves::{Block, Half, Halves};
use crate::model::factors::{Asked, Factors, Features, PartSettings, Start};
use crate::model::fitted::{Fit, Outcome};
use crate::model::trace::{Stop, Trace};
use crate::{Dim, Error, Normalize};

/// Rounds at least.
const ROUNDS: usize = 10;
/// Steps of one solve, at least and at most.
const STEPS: [usize; 2] = [10, 1000];
/// The first tolerance of a half is no smaller than this share of Δ₀.
const COARSE: f64 = 1e-3;

/// What is asked of NeNMF.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NenmfParams {
    /// How many parts; `Auto` takes as many as PCE finds dimensions.
    pub dim: Dim,
    /// Of the random factors to begin with.
    pub seed: u64,
    /// How large these are.
    pub start: Start,
    /// Rounds at most; ten are done in any case.
    #[serde(alias = "rounds")]
    pub max_iter: usize,
    /// Stops when the projected gradient is down to this share of the first.
    #[serde(alias = "tolerance")]
    pub tol: f64,
    /// How samples are scaled. z-scores have either sign and are refused.
    pub normalize: Normalize,
    /// Whether parts are scaled to length one.
    pub unit_parts: bool,
    /// What the features of a sample are.
    pub features: Features,
}

impl Default for NenmfParams {
    fn default() -> Self {
        Self {
            dim: Dim::Auto,
            seed: 0,
            start: Start::Scaled,
            max_iter: 1000,
            tol: 1e-4,
            normalize: Normalize::None,
            unit_parts: true,
            features: Features::Nonnegative,
        }
    }
}

impl Fit for NenmfParams {
    type Model = Factors<Self>;

    fn published() -> Option<Self> {
        Some(Self::as_published())
    }

    fn cap(&mut self, max: usize) {
        self.dim.cap(max);
    }

    fn learn(
        &self,
        samples: Samples<'_>,
        _labels: Option<&Labels>,
        exec: Exec<'_>,
    ) -> Result<Outcome<Factors<Self>>, Error> {
        Ok(self.fit_with(samples, exec)?.into())
    }
}

impl PartSettings for NenmfParams {
    fn asked(&self) -> Asked {
        let Self { dim, seed, start, max_iter, tol, normalize, unit_parts, features } = *self;
        Asked { dim, seed, start, max_iter, tol, normalize, unit_parts, features }
    }
}

impl NenmfParams {
    /// As in the comparisons of the PCE paper: 300 parts of samples of length one, the settings of the authors' program,
    /// z = Wᵀx.
    pub fn as_published() -> Self {
        Self {
            dim: Dim::Fixed(300),
            start: Start::Uniform,
            tol: 1e-5,
            normalize: Normalize::Unit,
            unit_parts: false,
            features: Features::Projected,
            ..Self::default()
        }
    }

    /// Learns the parts from samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Factors<Self>, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Learns the parts, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Factors<Self>, Error> {
        Ok(self.fit_transform_with(samples, exec)?.0)
    }

    /// The model, and Hᵀ (n × r): how much of each part is in each training sample, as the iteration left it.
    pub fn fit_transform_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        exec: Exec<'_>,
    ) -> Result<(Factors<Self>, Mat), Error> {
        self.fit_from(samples, None, exec)
    }

    /// The same, from factors to begin with; `dim`, `seed` and `start` then play no part.
    pub fn fit_from<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        given: Option<Pair>,
        exec: Exec<'_>,
    ) -> Result<(Factors<Self>, Mat), Error> {
        let (samples, asked) = (samples.into(), self.asked());
        let task = Task::open(samples, &asked, given.as_ref(), exec)?;
        let pair = task.start(&asked, given)?;
        let (pair, trace) = iterate(&task, pair, &asked, exec)?;
        Factors::of(self, samples, &task, pair, trace)
    }
}

fn iterate(task: &Task, pair: Pair, asked: &Asked, exec: Exec<'_>) -> Result<(Pair, Trace), Error> {
    let mut now = Halves::of(&task.x, &pair, exec)?;
    let (mut h_tiles, mut w_tiles) = (tiles(&now.h, task.parts), tiles(&now.w, task.parts));
    let mut trace = Trace::of("objective ½‖V − WH‖²");
    let (mut of_w, mut of_h) = (now.w.gram(exec)?, now.h.gram(exec)?);
    look(&mut now.w, &now.h, exec)?;
    look(&mut now.h, &now.w, exec)?;
    trace.values.push(task.in_units(task.objective(&now, [&of_w, &of_h], exec)?));
    let first = delta(&mut now, [&of_w, &of_h], exec)?;
    let mut tolerances = [COARSE.max(asked.tol) * first; 2];
    trace.stop = Stop::RoundsUsedUp;
    for round in 1..=asked.max_iter {
        let steps = solve(&mut now.h, &mut h_tiles, &of_w, tolerances[0], exec)?;
        tolerances[0] /= if steps <= STEPS[0] { 10.0 } else { 1.0 };
        of_h = now.h.gram(exec)?;
        look(&mut now.w, &now.h, exec)?;
        let steps = solve(&mut now.w, &mut w_tiles, &of_h, tolerances[1], exec)?;
        tolerances[1] /= if steps <= STEPS[0] { 10.0 } else { 1.0 };
        of_w = now.w.gram(exec)?;
        trace.values.push(task.in_units(task.objective(&now, [&of_w, &of_h], exec)?));
        trace.rounds = round;
        exec.report("factor", round, asked.max_iter)?;
        // WᵀV serves the gradient here and the next solve for H.
        look(&mut now.h, &now.w, exec)?;
        if round >= ROUNDS && delta(&mut now, [&of_w, &of_h], exec)? <= asked.tol * first {
            trace.stop = Stop::Converged;
            break;
        }
    }
    Ok((now.pair(), trace))
}

/// B of one half.
fn look(half: &mut Half<'_>, other: &Half<'_>, exec: Exec<'_>) -> Result<(), Error> {
    Ok(exec.silent().each("look", half.blocks.iter_mut(), |_, block| block.look(other))?)
}

/// Δ over both factors; both halves have looked at each other.
fn delta(now: &mut Halves<'_>, grams: [&Mat; 2], exec: Exec<'_>) -> Result<f64, Error> {
    let mut sum = 0.0;
    for (half, gram) in [&mut now.h, &mut now.w].into_iter().zip(grams) {
        let gram = PackedMatrix::of(gram.view());
        exec.silent().each("slope", half.blocks.iter_mut(), |_, block| block.multiply(&gram))?;
        sum += half.blocks.iter().map(|block| projected_squares(&block.f, &block.b, &block.spare)).sum::<f64>();
    }
    Ok(sum.sqrt())
}

/// Unknowns whose steps stay in a second-level cache, r values each.
fn together(r: usize) -> usize {
    (6000 / r).clamp(48, 240).next_multiple_of(BATCH)
}

/// Some unknowns of a block on their way, [`BATCH`] at a time: r rows of the first, then r rows of the next. What the last
/// have too many of stays zero.
struct Tile {
    block: usize,
    columns: Range<usize>,
    f: Vec<BatchRow>,
    /// F⁺.
    next: Vec<BatchRow>,
    b: Vec<BatchRow>,
    y: Vec<BatchRow>,
    room: Workspace,
    /// Δ² at the Y of the last step.
    delta: f64,
}

/// Memory for all unknowns of a half.
fn tiles(half: &Half<'_>, r: usize) -> Vec<Tile> {
    let places = half.blocks.iter().enumerate().flat_map(|(block, held)| {
        let end = held.width();
        (0..end).step_by(together(r)).map(move |first| (block, first..(first + together(r)).min(end)))
    });
    let tile = |(block, columns): (usize, Range<usize>)| {
        let [f, next, b, y] = std::array::from_fn(|_| vec![[0.0; BATCH]; r * columns.len().div_ceil(BATCH)]);
        Tile { block, columns, f, next, b, y, room: Workspace::new(r), delta: 0.0 }
    };
    places.map(tile).collect()
}

impl Tile {
    /// Takes F and B from the block, and Y = F.
    fn take(&mut self, block: &Block<'_>) {
        let r = block.f.len() / block.width();
        for (to, from) in [(&mut self.f, &block.f), (&mut self.b, &block.b)] {
            for (i, row) in from.chunks_exact(block.width()).enumerate() {
                let some = row[self.columns.clone()].chunks(BATCH);
                some.enumerate().for_each(|(at, some)| to[at * r + i][..some.len()].copy_from_slice(some));
            }
        }
        self.y.copy_from_slice(&self.f);
    }

    /// F⁺ and the next Y, and Δ² at this one.
    fn step(&mut self, gram: &PackedMatrix, length: f64, momentum: f64) {
        let point = Iterates { y: &mut self.y, f: &self.f, next: &mut self.next, b: &self.b };
        self.delta = descend(gram, point, length, momentum, &mut self.room);
    }

    /// F⁺ becomes F.
    fn accept(&mut self) {
        std::mem::swap(&mut self.f, &mut self.next);
    }

    /// Puts F back into the block.
    fn give_back(&self, block: &mut Block<'_>) {
        let width = block.width();
        let r = block.f.len() / width;
        for (i, row) in block.f.chunks_exact_mut(width).enumerate() {
            let some = row[self.columns.clone()].chunks_mut(BATCH);
            some.enumerate().for_each(|(at, some)| some.copy_from_slice(&self.f[at * r + i][..some.len()]));
        }
    }
}

/// min_F≥0 ½⟨GFᵀ, Fᵀ⟩ − ⟨B, Fᵀ⟩ from the F that is there; returns the steps it took.
fn solve(half: &mut Half<'_>, tiles: &mut [Tile], gram: &Mat, tolerance: f64, exec: Exec<'_>) -> Result<usize, Error> {
    let exec = exec.silent();
    let steepness = tridiagonalize(gram.clone(), exec)?.values(exec)?[0];
    if steepness <= f64::MIN_POSITIVE {
        return Ok(STEPS[0]); // The other factor is zero, and so is B.
    }
    let (length, gram) = (1.0 / steepness, PackedMatrix::of(gram.view()));
    let mut alpha = 1.0f64;
    let mut momenta = std::iter::repeat_with(|| {
        let next = 0.5 * (1.0 + (1.0 + 4.0 * alpha * alpha).sqrt());
        let momentum = (alpha - 1.0) / next;
        alpha = next;
        momentum
    });
    // The steps that are done in any case need no look at the whole. Δ at a Y is known when the step from there has been tried.
    let sure: Vec<f64> = momenta.by_ref().take(STEPS[0]).collect();
    let mut next = || momenta.next().expect("there is always a next one");
    let (mut steps, mut momentum) = (STEPS[0], next());
    exec.each("solve", tiles.iter_mut(), |_, tile| {
        tile.take(&half.blocks[tile.block]);
        for momentum in &sure {
            tile.step(&gram, length, *momentum);
            tile.accept();
        }
        tile.step(&gram, length, momentum);
    })?;
    while tiles.iter().map(|tile| tile.delta).sum::<f64>().sqrt() > tolerance && steps < STEPS[1] {
        momentum = next();
        exec.each("solve", tiles.iter_mut(), |_, tile| {
            tile.accept();
            tile.step(&gram, length, momentum);
        })?;
        steps += 1;
    }
    tiles.iter().for_each(|tile| tile.give_back(&mut half.blocks[tile.block]));
    exec.each("lay out", half.blocks.iter_mut(), |_, block| block.lay_out())?;
    Ok(steps)
}
