//! Non-negative matrix factorisation by multiplicative updates.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | V (m × n) | `task.x` = Vᵀ | samples, in our rows |
//! | W (m × r) | `now.w` | the parts |
//! | H (r × n) | `now.h` | how much of each part is in each sample |
//! | F, G, B | `half`, `gram`, `block.b` | Hᵀ, WᵀW and WᵀV in the first update; W, HHᵀ and HVᵀ in the second |
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

use eigenspan_linalg::dense::PackedMatrix;
use eigenspan_linalg::steps::multiplicative;
use eigenspan_linalg::{Exec, Mat};

use crate::data::{Labels, Samples};
use crate::method::parts::factorisation::{Pair, Task};
use crate::method::parts::halves::{Half, Halves};
use crate::model::factors::{Asked, Factors, Features, PartSettings, Start};
use crate::model::fitted::{Fit, Outcome};
use crate::model::trace::{Stop, Trace};
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
    #[serde(alias = "rounds")]
    pub max_iter: usize,
    /// Stops when the error falls within ten rounds by no more than this share of the first error.
    #[serde(alias = "tolerance")]
    pub tol: f64,
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
            max_iter: 1000,
            tol: 1e-4,
            normalize: Normalize::None,
            unit_parts: true,
            features: Features::Nonnegative,
        }
    }
}

impl Fit for NmfParams {
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

impl PartSettings for NmfParams {
    fn asked(&self) -> Asked {
        let Self { dim, seed, start, max_iter, tol, normalize, unit_parts, features } = *self;
        Asked { dim, seed, start, max_iter, tol, normalize, unit_parts, features }
    }
}

impl NmfParams {
    /// As in the comparisons of the PCE paper: 300 parts of samples of length one, 100 rounds whatever happens, z = Qᵀx. The
    /// paper says neither what the features are nor how many rounds it did: these come nearest to its nearest neighbour and
    /// SVM on Extended Yale B, Wᵀx to its SRC (`docs/studies/methods.md`).
    pub fn as_published() -> Self {
        Self {
            dim: Dim::Fixed(300),
            start: Start::Uniform,
            max_iter: 100,
            tol: 0.0,
            normalize: Normalize::Unit,
            unit_parts: false,
            features: Features::Orthonormal,
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
    let mut trace = Trace::of("objective ½‖V − WH‖²");
    let (mut of_w, mut of_h) = (now.w.gram(exec)?, now.h.gram(exec)?);
    exec.silent().each("start", now.w.blocks.iter_mut(), |_, block| block.look(&now.h))?;
    let first = task.objective(&now, [&of_w, &of_h], exec)?;
    trace.values.push(task.in_units(first));
    trace.stop = Stop::RoundsUsedUp;
    let mut before = first;
    for round in 1..=asked.max_iter {
        update(&mut now.h, &now.w, &of_w, exec)?;
        of_h = now.h.gram(exec)?;
        update(&mut now.w, &now.h, &of_h, exec)?;
        of_w = now.w.gram(exec)?;
        let objective = task.objective(&now, [&of_w, &of_h], exec)?;
        trace.values.push(task.in_units(objective));
        trace.rounds = round;
        exec.report("factor", round, asked.max_iter)?;
        if round % LOOK == 0 {
            if before.sqrt() - objective.sqrt() <= asked.tol * first.sqrt() {
                trace.stop = Stop::Converged;
                break;
            }
            before = objective;
        }
    }
    Ok((now.pair(), trace))
}

/// F ← F ∘ B / (F G), block after block.
fn update(half: &mut Half<'_>, other: &Half<'_>, gram: &Mat, exec: Exec<'_>) -> Result<(), Error> {
    let gram = PackedMatrix::of(gram.view());
    exec.silent().each("update", half.blocks.iter_mut(), |_, block| {
        block.look(other);
        block.multiply(&gram);
        multiplicative(&mut block.f, &block.b, &block.spare);
        block.lay_out();
    })?;
    Ok(())
}
