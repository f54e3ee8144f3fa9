//! Neighbourhood preserving embedding: every sample stays the combination of its neighbours that it was.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X (n × m) | `samples` | samples in rows; the paper's X is the transpose |
//! | R (n × n) | [`Reconstruction`] | row i holds the weights of sample i; the toolbox's W is Rᵀ |
//! | M (n × n) | | (I − R)ᵀ(I − R) |
//! | ε | `ridge` | regularisation of the weights |
//! | Θ (m × k), s | `theta`, `values` of [`Linear`] | projection; s = 1 − the paper's λ |
//!
//! ```text
//!     min  Σᵢ ‖Θᵀxᵢ − Σⱼ rᵢⱼ Θᵀxⱼ‖²   s.t.  ΘᵀXᵀXΘ = I        that is        Xᵀ(I − M)Xθ = s XᵀXθ,   largest s first
//!
//!     1.  R  from the k nearest of every sample:  (G + ε tr G · I) w = 1,  w / Σw
//!     2.  X ← X − 1μᵀ
//!     3.  graph embedding of X and I − M = R + Rᵀ − RᵀR, by products with R and Rᵀ
//! ```
//! **The trivial solution** Xθ = 1 (M1 = 0, s = 1) is orthogonal to all others in the plain product, the one of the
//! constraint: the plain mean takes it away, and nothing else.
//!
//! He, Cai, Yan, Zhang (2005) — `he2005` in `docs/references.bib`. **Where we differ:** from the paper, by centring and by
//! the ridge 1e-3 of LLE, which keeps weights small where neighbours lie nearly in one plane. [`NpeParams::as_published`]
//! is what the comparisons of the PCE paper ran: unit rows, ε = 1e-12 (1e-3 where k > m), the mean left in new
//! samples, eigenvalues below 1e-10 dropped, columns of length one.

use eigenspan_linalg::Exec;

use crate::data::{Labels, Samples};
use crate::method::parts::dimension::dimension;
use crate::method::parts::graph_embedding::Columns;
use crate::method::parts::graph_samples::{EmbeddingOptions, GraphSamples, check};
use crate::method::parts::neighbours::{Metric, nearest_others};
use crate::method::parts::reconstruction::Reconstruction;
use crate::model::fitted::{Fit, Outcome};
use crate::model::linear::Linear;
use crate::prepare::Normalize;
use crate::{Dim, Error};

/// What is asked of NPE.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NpeParams {
    /// How many nearest samples each is made of.
    pub neighbours: usize,
    /// ε, relative to the trace; `None`: 1e-3 where there are more neighbours than features, 1e-12 otherwise.
    pub ridge: Option<f64>,
    /// How many dimensions to keep; [`Dim::Auto`] is PCE's k.
    pub dim: Dim,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// Whether the mean is subtracted.
    pub center: bool,
    /// Whether the mean is subtracted for learning only, and stays in new samples (but for z-scores).
    pub keep_mean: bool,
    /// Directions of the samples with a singular value at or below this share of the largest are left out; `None`: those
    /// that are not above rounding.
    pub floor: Option<f64>,
    /// Columns with an eigenvalue below this are left out; `None`: none.
    pub least: Option<f64>,
    /// How long the columns of Θ are.
    pub columns: Columns,
}

impl Default for NpeParams {
    fn default() -> Self {
        Self {
            neighbours: 5,
            ridge: Some(1e-3),
            dim: Dim::Auto,
            normalize: Normalize::None,
            center: true,
            keep_mean: false,
            floor: None,
            least: None,
            columns: Columns::Constraint,
        }
    }
}

impl Fit for NpeParams {
    type Model = Linear<Self>;

    fn published() -> Option<Self> {
        Some(Self::as_published(300, 49))
    }

    fn cap(&mut self, max: usize) {
        self.dim.cap(max);
    }

    fn learn(
        &self,
        samples: Samples<'_>,
        _labels: Option<&Labels>,
        exec: Exec<'_>,
    ) -> Result<Outcome<Linear<Self>>, Error> {
        Ok(self.fit_with(samples, exec)?.into())
    }
}

impl NpeParams {
    /// As the comparisons of the paper ran it.
    pub fn as_published(dim: usize, neighbours: usize) -> Self {
        Self {
            neighbours,
            ridge: None,
            dim: Dim::Fixed(dim),
            normalize: Normalize::Unit,
            keep_mean: true,
            floor: Some(1e-5),
            least: Some(1e-10),
            columns: Columns::Unit,
            ..Self::default()
        }
    }

    /// Learns the projection from samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Linear<Self>, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Learns the projection, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Linear<Self>, Error> {
        let samples = samples.into();
        let Self { neighbours, normalize, center, floor, least, columns, keep_mean, .. } = *self;
        check(neighbours, floor, least)?;
        check_ridge(self.ridge)?;
        let mut learning = GraphSamples::of(samples, normalize, center, exec)?;
        let dim = dimension(self.dim, samples, normalize, center, exec)?;
        let found = nearest_others(&learning.x, neighbours, Metric::Euclidean, exec)?;
        let ridge = self.ridge.unwrap_or(if found.k > samples.cols() { 1e-3 } else { 1e-12 });
        let graph = Reconstruction::of(&learning.x, &found, ridge, exec)?;
        learning.subtract_mean();
        let graph_is = format!("the graph in which every sample is made of its {} nearest", found.k);
        EmbeddingOptions { dim, floor, least, columns, keep_mean }
            .solve(self, samples, learning, &graph, &graph_is, exec)
    }
}

/// Refuses a ridge that is none.
pub(super) fn check_ridge(ridge: Option<f64>) -> Result<(), Error> {
    match ridge {
        Some(ridge) if !(ridge >= 0.0 && ridge.is_finite()) => {
            Err(Error::Parameter { name: "ridge", expected: "zero or more", got: ridge })
        }
        _ => Ok(()),
    }
}
