//! Non-negative matrix factorisation by multiplicative updates.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | V (m × n) | `task.x` = Vᵀ | samples, in our rows |
//! | W (m × r) | `pair.w` | the parts |
//! | H (r × n) | `pair.h` = Hᵀ | how much of each part is in each sample |
//!
//! ```text
//!     min ½‖V − WH‖²   with   W, H ≥ 0
//!
//!     repeat    H ← H ∘ (WᵀV) / (WᵀW H)
//!               W ← W ∘ (VHᵀ) / (W HHᵀ)
//! ```
//! No update makes the objective larger. WH is never formed: the large products are WᵀV and VHᵀ, once a round each.
//!
//! Lee & Seung (2001) — `lee2001` in `docs/references.bib`. The iteration stops as scikit-learn's does: when ‖V − WH‖ has
//! become smaller within ten rounds by no more than `tolerance` of what it was in the beginning.
//!
//! **Where we differ:** nothing is added to the denominators. They are zero only where the entry is zero or its part is, and
//! the entry is then zero; an added constant would make the result depend on the units of V. Random factors begin so large
//! that WH has the mean of V. (A start from singular vectors is not taken: it holds zeros, which these updates never leave,
//! and is not there for every r.) Parts have length one in the end, so that the features are in the samples' units;
//! [`NmfParams::as_published`] leaves both as the literature has them.

use eigenspan_linalg::dense::{multiply, product_into};
use eigenspan_linalg::{Exec, Mat, MatRef};

use super::factors::{Asked, Factors, Features, PartSettings, Start};
use super::fitted::Settings;
use super::parts::factorisation::{Pair, Task, gram, stripe};
use super::trace::{Stop, Trace};
use crate::data::Samples;
use crate::{Dim, Error, Normalize};

/// Rounds between two looks at the tolerance.
const LOOK: usize = 10;

/// What is asked of NMF.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NmfParams {
    /// How many parts; `Auto` takes as many as PCE finds dimensions.
    pub dim: Dim,
    /// Of the random factors to begin with.
    pub seed: u64,
    /// How large these are.
    pub start: Start,
    /// Rounds at most.
    pub rounds: usize,
    /// Stops when the error falls within ten rounds by no more than this share of the first error.
    pub tolerance: f64,
    /// How samples are scaled. z-scores have either sign and are refused.
    pub normalize: Normalize,
    /// Whether parts are scaled to length one.
    pub unit_parts: bool,
    /// What the features of a sample are.
    pub features: Features,
}

impl Default for NmfParams {
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

impl Settings for NmfParams {
    const METHOD: &'static str = "nmf";
}

impl PartSettings for NmfParams {
    fn asked(&self) -> Asked {
        let Self { dim, seed, start, rounds, tolerance, normalize, unit_parts, features } = *self;
        Asked { dim, seed, start, rounds, tolerance, normalize, unit_parts, features }
    }
}

impl NmfParams {
    /// As in the comparisons of the PCE paper: 300 parts of samples of length one, 200 rounds whatever happens, z = Wᵀx.
    /// How many rounds the paper did is not known: 100 to 200 give its accuracies on AR, and none gives those on Extended
    /// Yale B (`docs/studies/methods.md`).
    pub fn as_published() -> Self {
        Self {
            dim: Dim::Fixed(300),
            start: Start::Uniform,
            rounds: 200,
            tolerance: 0.0,
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
    let mut products = Products::of(task);
    let mut trace = Trace::of("objective ½‖V − WH‖²");
    let (mut of_w, mut of_h) = (gram(&pair.w, exec.silent())?, gram(&pair.h, exec.silent())?);
    let vh = products.vh(task, &pair, exec)?;
    let first = task.objective(&pair, vh, [&of_w, &of_h], exec)?;
    trace.values.push(task.in_units(first));
    trace.stop = Stop::RoundsUsedUp;
    let mut before = first;
    for round in 1..=asked.rounds {
        let wv = products.wv(task, &pair, exec)?;
        update(&mut pair.h, wv, of_w.view(), exec)?;
        of_h = gram(&pair.h, exec.silent())?;
        let vh = products.vh(task, &pair, exec)?;
        update(&mut pair.w, vh, of_h.view(), exec)?;
        of_w = gram(&pair.w, exec.silent())?;
        let now = task.objective(&pair, products.last_vh(), [&of_w, &of_h], exec)?;
        trace.values.push(task.in_units(now));
        trace.rounds = round;
        exec.report("factor", round, asked.rounds)?;
        if round % LOOK == 0 {
            if before.sqrt() - now.sqrt() <= asked.tolerance * first.sqrt() {
                trace.stop = Stop::Converged;
                break;
            }
            before = now;
        }
    }
    Ok((pair, trace))
}

/// F ← F ∘ P / (F G), rows in stripes.
fn update(factor: &mut Mat, p: &Mat, g: MatRef<'_>, exec: Exec<'_>) -> Result<(), Error> {
    let r = factor.cols();
    let height = stripe(r);
    exec.silent().each_chunk("update", factor.as_mut_slice(), height * r, |part, factor| {
        let mut below = vec![0.0; factor.len()];
        multiply(MatRef::row_major(factor, factor.len() / r, r).expect("r values a row"), g, &mut below);
        let above = &p.as_slice()[part * height * r..];
        for ((f, p), below) in factor.iter_mut().zip(above).zip(below) {
            *f = *f * p / below.max(f64::MIN_POSITIVE);
        }
    })?;
    Ok(())
}

/// Memory for the large products.
pub(super) struct Products {
    wv: Mat,
    vh: Mat,
}

impl Products {
    pub fn of(task: &Task) -> Self {
        let (n, m, r) = (task.x.rows(), task.x.cols(), task.parts);
        Self { wv: Mat::zeros(n, r), vh: Mat::zeros(m, r) }
    }

    /// (WᵀV)ᵀ = X W (n × r).
    pub fn wv(&mut self, task: &Task, pair: &Pair, exec: Exec<'_>) -> Result<&Mat, Error> {
        product_into(task.x.view(), pair.w.view(), &mut self.wv, exec)?;
        Ok(&self.wv)
    }

    /// VHᵀ = Xᵀ Hᵀ (m × r).
    pub fn vh(&mut self, task: &Task, pair: &Pair, exec: Exec<'_>) -> Result<&Mat, Error> {
        product_into(task.x.view().transposed(), pair.h.view(), &mut self.vh, exec)?;
        Ok(&self.vh)
    }

    /// The last X W.
    pub fn last_wv(&self) -> &Mat {
        &self.wv
    }

    /// The last VHᵀ.
    pub fn last_vh(&self) -> &Mat {
        &self.vh
    }
}
