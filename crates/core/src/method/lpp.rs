//! Locality preserving projections: neighbours stay neighbours.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X (n × m) | `samples` | samples in rows; the paper's X is the transpose |
//! | W (n × n) | [`NeighbourGraph`] | how strongly two samples are joined; zero but for neighbours |
//! | D, d | `degree` | the sums of W's rows, on a diagonal |
//! | L | | D − W, the Laplacian |
//! | Θ (m × k), s | `theta`, `values` of [`Linear`] | projection; s = 1 − the paper's λ |
//!
//! ```text
//!     min  Σ wᵢⱼ ‖Θᵀxᵢ − Θᵀxⱼ‖²   s.t.  ΘᵀXᵀDXΘ = I        that is        XᵀWXθ = s XᵀDXθ,   largest s first
//!
//!     1.  W  from the k nearest of every sample, symmetric;    d = W1
//!     2.  X ← X − 1μᵀ
//!     3.  Y = D^½ X,   A = D^−½ W D^−½                        then YᵀAYθ = s YᵀYθ
//!     4.  graph embedding of Y and A
//! ```
//! **The trivial solution.** The constant vector, Xθ = 1, costs nothing (s = 1) and says nothing. Centred samples cannot
//! reach it: 1ᵀXθ = 0 with the plain mean, 1ᵀDXθ = 0 with the mean weighted by degree. But the other solutions of the
//! graph are orthogonal to it in D, not plainly: with the plain mean a part of it is left in the leading ones
//! (by interlacing, sᵢ lies between the graph's own values i and i + 1), with the weighted mean none. So [`Center::Degree`]
//! is the default; where n ≤ m its eigenvalues are those of the graph without the first. A graph of c separate
//! pieces has c solutions with s = 1, of which centring takes one; the others tell the pieces apart and are kept.
//!
//! A sample without an edge (weights that vanish: a heat kernel that is too narrow, right angles) has degree zero. It costs
//! nothing and counts for nothing in the constraint: the projection is that of the other samples.
//!
//! He, Niyogi (2003) — `he2003` in `docs/references.bib`. **Where we differ:** from the paper, by centring, and by the
//! weights' default width. [`LppParams::as_published`] is what the comparisons of the PCE paper ran: unit rows, plain
//! mean, the mean left in new samples, eigenvalues below 1e-3 dropped, columns of length one. Which weights
//! it used is not said; binary, heat and cosine differ by less than a point there, and we take its toolbox's default.

use eigenspan_linalg::Exec;

use crate::data::{Labels, Samples};
use crate::linalg::scale::times_power_of_two;
use crate::method::parts::dimension::dimension;
use crate::method::parts::graph_embedding::Columns;
use crate::method::parts::graph_samples::{EmbeddingOptions, GraphSamples, check};
use crate::method::parts::neighbour_graph::{EdgeWeights, NeighbourGraph};
use crate::model::fitted::{Fit, Outcome};
use crate::model::linear::Linear;
use crate::prepare::Normalize;
use crate::text::short_number;
use crate::warning::Warning;
use crate::{Dim, Error};

/// Which mean is subtracted from the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Center {
    /// The mean weighted by degree: nothing of the trivial solution is left.
    #[default]
    Degree,
    /// The plain mean.
    Plain,
    /// None.
    None,
}

/// What is asked of LPP.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LppParams {
    /// How many nearest samples each is joined to.
    pub neighbours: usize,
    /// How strongly.
    pub weights: EdgeWeights,
    /// How many dimensions to keep; [`Dim::Auto`] is PCE's k.
    pub dim: Dim,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// Which mean is subtracted.
    pub center: Center,
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

impl Default for LppParams {
    fn default() -> Self {
        Self {
            neighbours: 5,
            weights: EdgeWeights::default(),
            dim: Dim::Auto,
            normalize: Normalize::None,
            center: Center::Degree,
            keep_mean: false,
            floor: None,
            least: None,
            columns: Columns::Constraint,
        }
    }
}

impl Fit for LppParams {
    type Model = Linear<Self>;

    fn published() -> Option<Self> {
        Some(Self::as_published(300, 3))
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

impl LppParams {
    /// As the comparisons of the paper ran it.
    pub fn as_published(dim: usize, neighbours: usize) -> Self {
        Self {
            neighbours,
            dim: Dim::Fixed(dim),
            normalize: Normalize::Unit,
            center: Center::Plain,
            keep_mean: true,
            floor: Some(1e-5),
            least: Some(1e-3),
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
        self.weights.check()?;
        let mut learning = GraphSamples::of(samples, normalize, center != Center::None, exec)?;
        let dim = dimension(self.dim, samples, normalize, center != Center::None, exec)?;
        let (graph, degree) = self.graph(&mut learning, exec)?;
        match center {
            Center::Degree => learning.subtract_mean_weighted_by(&degree),
            Center::Plain => learning.subtract_mean(),
            Center::None => {}
        }
        for (i, d) in degree.iter().enumerate() {
            learning.x.row_mut(i).iter_mut().for_each(|x| *x *= d.sqrt());
        }
        let graph_is = self.description(&graph, learning.exponent);
        let inverse: Vec<f64> = degree.iter().map(|d| if *d > 0.0 { d.sqrt().recip() } else { 0.0 }).collect();
        let scaled = graph.weights.scaled(&inverse);
        EmbeddingOptions { dim, floor, least, columns, keep_mean }
            .solve(self, samples, learning, &scaled, &graph_is, exec)
    }

    /// W and d.
    fn graph(&self, learning: &mut GraphSamples, exec: Exec<'_>) -> Result<(NeighbourGraph, Vec<f64>), Error> {
        let weights = match self.weights {
            EdgeWeights::Heat { t: Some(t) } => {
                EdgeWeights::Heat { t: Some(times_power_of_two(t, -learning.exponent)) }
            }
            other => other,
        };
        let graph = NeighbourGraph::of(&learning.x, self.neighbours, weights, exec)?;
        let degree = graph.weights.row_sums();
        match degree.iter().filter(|d| **d == 0.0).count() {
            0 => {}
            count if count == degree.len() => return Err(Error::NoEdges),
            count => learning.warnings.push(Warning::Isolated { count }),
        }
        Ok((graph, degree))
    }

    fn description(&self, graph: &NeighbourGraph, exponent: i32) -> String {
        let k = graph.k;
        match (self.weights, graph.t) {
            (EdgeWeights::Heat { .. }, Some(t)) => {
                let t = short_number(times_power_of_two(t, exponent));
                format!("the graph of {k} nearest samples, heat kernel of width t = {t}")
            }
            (EdgeWeights::Cosine, _) => format!("the graph of {k} nearest samples, weighted by their cosine"),
            _ => format!("the graph of {k} nearest samples, all weights one"),
        }
    }
}
