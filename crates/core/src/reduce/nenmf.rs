//! NeNMF: non-negative matrix factorisation by Nesterov's accelerated gradient.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | V (m × n) | `task.x` = Vᵀ | samples, in our rows |
//! | W (m × r) | `pair.w` | the parts |
//! | H (r × n) | `pair.h` = Hᵀ | how much of each part is in each sample |
//! | G, B | `g`, `b` | WᵀW and (WᵀV)ᵀ in the half that solves for H; HHᵀ and VHᵀ in the other |
//! | L | `steepness` | ‖G‖₂, the Lipschitz constant of the gradient |
//! | Y | `Stripe::y` | the point that momentum leads to; it may be negative |
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

use eigenspan_linalg::dense::{Packed, product};
use eigenspan_linalg::symmetric::tridiagonalise;
use eigenspan_linalg::{Exec, Mat, MatRef};

use super::factors::{Asked, Factors, Features, PartSettings, Start};
use super::fitted::Settings;
use super::nmf::Products;
use super::parts::factorisation::{Pair, Task, gram, stripe};
use super::trace::{Stop, Trace};
use crate::data::Samples;
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
    pub rounds: usize,
    /// Stops when the projected gradient is down to this share of the first.
    pub tolerance: f64,
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
            rounds: 1000,
            tolerance: 1e-4,
            normalize: Normalize::None,
            unit_parts: true,
            features: Features::Nonnegative,
        }
    }
}

impl Settings for NenmfParams {
    const METHOD: &'static str = "nenmf";
}

impl PartSettings for NenmfParams {
    fn asked(&self) -> Asked {
        let Self { dim, seed, start, rounds, tolerance, normalize, unit_parts, features } = *self;
        Asked { dim, seed, start, rounds, tolerance, normalize, unit_parts, features }
    }
}

impl NenmfParams {
    /// As in the comparisons of the PCE paper: 300 parts of samples of length one, the settings of the authors' program,
    /// z = Wᵀx.
    pub fn as_published() -> Self {
        Self {
            dim: Dim::Fixed(300),
            start: Start::Uniform,
            tolerance: 1e-5,
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

fn iterate(task: &Task, mut pair: Pair, asked: &Asked, exec: Exec<'_>) -> Result<(Pair, Trace), Error> {
    let quiet = exec.silent();
    let mut products = Products::of(task);
    let mut trace = Trace::of("objective ½‖V − WH‖²");
    let (mut of_w, mut of_h) = (gram(&pair.w, quiet)?, gram(&pair.h, quiet)?);
    products.vh(task, &pair, exec)?;
    products.wv(task, &pair, exec)?;
    trace.values.push(task.in_units(task.objective(&pair, products.last_vh(), [&of_w, &of_h], exec)?));
    let first = delta([(&pair.h, &of_w, products.last_wv()), (&pair.w, &of_h, products.last_vh())], quiet)?;
    let mut tolerances = [COARSE.max(asked.tolerance) * first; 2];
    trace.stop = Stop::RoundsUsedUp;
    for round in 1..=asked.rounds {
        let steps = solve(&mut pair.h, of_w.view(), products.last_wv(), tolerances[0], quiet)?;
        tolerances[0] /= if steps <= STEPS[0] { 10.0 } else { 1.0 };
        of_h = gram(&pair.h, quiet)?;
        products.vh(task, &pair, exec)?;
        let steps = solve(&mut pair.w, of_h.view(), products.last_vh(), tolerances[1], quiet)?;
        tolerances[1] /= if steps <= STEPS[0] { 10.0 } else { 1.0 };
        of_w = gram(&pair.w, quiet)?;
        trace.values.push(task.in_units(task.objective(&pair, products.last_vh(), [&of_w, &of_h], exec)?));
        trace.rounds = round;
        exec.report("factor", round, asked.rounds)?;
        // X W serves the gradient here and the next solve for H.
        products.wv(task, &pair, exec)?;
        let now = delta([(&pair.h, &of_w, products.last_wv()), (&pair.w, &of_h, products.last_vh())], quiet)?;
        if round >= ROUNDS && now <= asked.tolerance * first {
            trace.stop = Stop::Converged;
            break;
        }
    }
    Ok((pair, trace))
}

/// Δ over both factors, each with its G and B.
fn delta(halves: [(&Mat, &Mat, &Mat); 2], exec: Exec<'_>) -> Result<f64, Error> {
    let mut sum = 0.0;
    for (factor, g, b) in halves {
        let fg = product(factor.view(), g.view(), exec)?;
        sum += squares_of_projected(factor.as_slice(), fg.as_slice(), b.as_slice());
    }
    Ok(sum.sqrt())
}

/// The square of a gradient's entry, where a step against it is possible.
fn projected(at: f64, slope: f64) -> f64 {
    if slope < 0.0 || at > 0.0 { slope * slope } else { 0.0 }
}

/// Some rows of a factor on their way, turned into columns: so YG is a product that takes Y as it lies.
struct Stripe {
    f: Vec<f64>,
    b: Vec<f64>,
    y: Vec<f64>,
    /// YG; the gradient is YG − B.
    yg: Vec<f64>,
}

impl Stripe {
    fn of(f: &[f64], b: &[f64], r: usize) -> Self {
        let (f, b) = (turned(f, r), turned(b, r));
        Self { y: f.clone(), yg: vec![0.0; f.len()], f, b }
    }

    fn look(&mut self, g: &Packed) {
        g.transposed_times(&self.y, &mut self.yg);
    }

    fn step(&mut self, g: &Packed, shift: f64, momentum: f64) {
        for (((f, y), yg), b) in self.f.iter_mut().zip(&mut self.y).zip(&self.yg).zip(&self.b) {
            let new = (*y - (yg - b) * shift).max(0.0);
            *y = new + momentum * (new - *f);
            *f = new;
        }
        self.look(g);
    }

    /// Δ² at Y.
    fn delta(&self) -> f64 {
        squares_of_projected(&self.y, &self.yg, &self.b)
    }
}

/// The transpose of rows of `width` values.
fn turned(rows: &[f64], width: usize) -> Vec<f64> {
    let height = rows.len() / width;
    (0..rows.len()).map(|at| rows[at % height * width + at / height]).collect()
}

/// Δ² at some entries of a factor, given FG and B. Eight sums side by side: one would wait for itself.
fn squares_of_projected(at: &[f64], fg: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let whole = at.len() / LANES * LANES;
    let eights = at.chunks_exact(LANES).zip(fg.chunks_exact(LANES)).zip(b.chunks_exact(LANES));
    for ((at, fg), b) in eights {
        for lane in 0..LANES {
            sums[lane] += projected(at[lane], fg[lane] - b[lane]);
        }
    }
    let rest = (whole..at.len()).map(|i| projected(at[i], fg[i] - b[i])).sum::<f64>();
    sums.iter().sum::<f64>() + rest
}

/// min_F≥0 ½⟨FG, F⟩ − ⟨B, F⟩ from the F that is there; returns the steps it took.
fn solve(factor: &mut Mat, g: MatRef<'_>, b: &Mat, tolerance: f64, exec: Exec<'_>) -> Result<usize, Error> {
    let r = factor.cols();
    let own = Mat::from_fn(r, r, |i, j| g.at(i, j));
    let steepness = tridiagonalise(own, exec)?.values(exec)?[0];
    if steepness <= f64::MIN_POSITIVE {
        return Ok(STEPS[0]); // The other factor is zero, and so is B.
    }
    let (size, packed) = (stripe(r) * r, Packed::of(g));
    let rows = factor.as_slice().chunks(size).zip(b.as_slice().chunks(size));
    let mut stripes: Vec<Stripe> = rows.map(|(f, b)| Stripe::of(f, b, r)).collect();
    let mut alpha = 1.0f64;
    let mut momenta = std::iter::repeat_with(|| {
        let next = 0.5 * (1.0 + (1.0 + 4.0 * alpha * alpha).sqrt());
        let momentum = (alpha - 1.0) / next;
        alpha = next;
        momentum
    });
    // The steps that are done in any case need no look at the whole.
    let sure: Vec<f64> = momenta.by_ref().take(STEPS[0]).collect();
    let mut steps = STEPS[0];
    exec.each("solve", stripes.iter_mut(), |_, stripe| {
        stripe.look(&packed);
        sure.iter().for_each(|momentum| stripe.step(&packed, 1.0 / steepness, *momentum));
    })?;
    while stripes.iter().map(Stripe::delta).sum::<f64>().sqrt() > tolerance && steps < STEPS[1] {
        let momentum = momenta.next().expect("there is always a next one");
        exec.each("solve", stripes.iter_mut(), |_, stripe| stripe.step(&packed, 1.0 / steepness, momentum))?;
        steps += 1;
    }
    for (to, stripe) in factor.as_mut_slice().chunks_mut(size).zip(&stripes) {
        to.copy_from_slice(&turned(&stripe.f, stripe.f.len() / r));
    }
    Ok(steps)
}
