//! L1-graph: a projection under which every sample stays the same sparse combination of the others.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | D (m × n) | `x` = Dᵀ (n × m) | samples, prepared: unit length, then perhaps centred |
//! | C (n × n) | [`Codes`] | column i is the sparse code of sample i over the others: D ≈ DC, Cᵢᵢ = 0 |
//! | λ | [`L1GraphParams::lambda`] | weight of the code's length |
//! | A | [`Order`] | C + Cᵀ − CCᵀ, the graph, known by sparse products ([`Reconstruction`] with R = Cᵀ) |
//! | Θ (m × k) | `theta` | the projection: z = Θᵀy |
//!
//! ```text
//!     1.  cᵢ = argmin  λ‖c‖₁ + ½‖dᵢ − Dc‖²   s.t.  cᵢᵢ = 0          for every sample, by homotopy
//!     2.  min  ‖ΘᵀD − ΘᵀDC‖²_F              s.t.  ΘᵀDDᵀΘ = I
//! ```
//! **The order of the product.** The objective of step 2 is tr ΘᵀD(I − C)(I − C)ᵀDᵀΘ, and under the constraint
//! ```text
//!     k − tr ΘᵀD(I − C)(I − C)ᵀDᵀΘ  =  tr ΘᵀD(C + Cᵀ − CCᵀ)DᵀΘ
//! ```
//! so what is maximised is DADᵀ against DDᵀ with A = C + Cᵀ − CCᵀ, for codes in columns. (In NPE the weights are rows:
//! W = Cᵀ and M = (I − W)ᵀ(I − W), the same matrix.) This order, [`Order::Reconstruction`], is the one that follows from the
//! objective, the one the paper's numbers were made with, and the default. C + Cᵀ − CᵀC belongs to (I − C)ᵀ(I − C): each
//! sample against the samples that *use* it, weighted as they use it. No reconstruction is behind it, yet nearest neighbours
//! classify better with it on faces (on AR with sunglasses 74.8 % instead of 50 %). It is there as [`Order::Exchanged`], to be
//! asked for.
//!
//! Cheng et al. (2010); Qiao, Chen, Tan (2010) — `cheng2010`, `qiao2010` in `docs/references.bib`. **Where we differ:** codes
//! are exact for λ unless the published early stop is asked for; k is that of PCE unless given; Θ obeys the constraint
//! ([`Columns::Constraint`]) where the published columns have length one. Qiao et al. also ask the coefficients of a code to
//! sum to one; the paper does not.

use eigenspan_linalg::Exec;

use crate::classify::dictionary::Dictionary;
use crate::data::{Labels, Samples};
use crate::method::parts::dimension::dimension;
use crate::method::parts::graph_embedding::{Columns, GraphEmbedding};
use crate::method::parts::homotopy::{Code, Homotopy};
use crate::method::parts::reconstruction::Reconstruction;
use crate::method::parts::sparse_graph::SparseGraph;
use crate::method::pce::Dim;
use crate::model::fitted::{About, Fit, Outcome};
use crate::model::linear::Linear;
use crate::model::trace::{Stop, Trace};
use crate::prepare::{Normalize, Preparation, Scan};
use crate::text::short_number;
use crate::{Error, Warning};

/// Directions of the samples with σ at or below this share of σ₁ are left out, as in the toolbox of the published pipeline.
const FLOOR: f64 = 1e-5;

/// Which of the two products of C with itself the graph has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// C + Cᵀ − CCᵀ: what keeps every sample the combination that its code says.
    #[default]
    Reconstruction,
    /// C + Cᵀ − CᵀC: the same with C and Cᵀ exchanged.
    Exchanged,
}

/// What is asked of the L1-graph.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1GraphParams {
    /// λ: for samples of length one a number below one; the smaller, the longer and the more exact the codes. The default is
    /// 0.01: on images of unit length it leaves codes of some twenty samples and an error of a few percent.
    pub lambda: f64,
    /// The share by which a step must lower the objective, or the code is done, as in the published program; `None`: codes are
    /// exact for λ.
    #[serde(alias = "stop", alias = "tolerance", deserialize_with = "crate::settings::path_end")]
    pub tol: Option<f64>,
    /// Steps of one code, at most.
    #[serde(alias = "most_steps", alias = "rounds")]
    pub max_iter: usize,
    /// k.
    pub dim: Dim,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// Whether their mean is taken away.
    pub center: bool,
    /// The order of the product in the graph.
    pub order: Order,
    /// How long the columns of Θ are.
    pub columns: Columns,
}

impl Default for L1GraphParams {
    fn default() -> Self {
        Self {
            lambda: 1e-2,
            tol: None,
            max_iter: 100_000,
            dim: Dim::Auto,
            normalize: Normalize::Unit,
            center: false,
            order: Order::Reconstruction,
            columns: Columns::Constraint,
        }
    }
}

impl Fit for L1GraphParams {
    type Model = Linear<Self>;

    fn published() -> Option<Self> {
        Some(Self::as_published(300, 1e-2, 1e-3))
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

/// C, a column for each sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Codes {
    /// The code of each sample over the others.
    pub columns: Vec<Code>,
}

impl L1GraphParams {
    /// The pipeline behind the paper's numbers: codes that stop early, after 100 steps at most, and columns of length one.
    pub fn as_published(dim: usize, lambda: f64, tol: f64) -> Self {
        Self { lambda, tol: Some(tol), max_iter: 100, dim: Dim::Fixed(dim), columns: Columns::Unit, ..Self::default() }
    }

    /// Learns the projection from samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Linear<Self>, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Learns the projection, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Linear<Self>, Error> {
        Ok(self.fit_with_codes(samples, exec)?.0)
    }

    /// The same, with the codes.
    pub fn fit_with_codes<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        exec: Exec<'_>,
    ) -> Result<(Linear<Self>, Codes), Error> {
        let samples = samples.into();
        let homotopy =
            Homotopy { lambda: self.lambda, stop: self.tol.into(), max_iter: self.max_iter, nonnegative: false };
        homotopy.check()?;
        let scan = Scan::of(samples, exec)?;
        let preparation = Preparation::learn(samples, &scan, self.normalize, self.center, None, exec)?;
        let x = preparation.matrix(samples, exec)?;
        if x.as_slice().iter().all(|x| *x == 0.0) {
            return Err(Error::AllZero { n: x.rows(), m: x.cols(), centred: preparation.mean.is_some() });
        }
        let dim = dimension(self.dim, samples, self.normalize, self.center, exec)?;
        let codes = Codes { columns: homotopy.of_each_other(&Dictionary::of(&x, exec)?, exec)? };
        let engine = GraphEmbedding { dim, floor: FLOOR, least: f64::NEG_INFINITY, columns: self.columns };
        let found = engine.solve(&x, &codes.graph(self.order), exec)?;
        let why = codes.summary(found.values.len());
        let mut about = About::new(self, samples, why).with_trace(codes.trace());
        if found.values.len() < dim {
            about.warnings.push(Warning::RankCapped { asked: dim, most: found.values.len() });
        }
        let (theta, values) = (found.theta, found.values);
        Ok((Linear { about, preparation, unit_features: false, theta, values }, codes))
    }
}

impl Codes {
    /// R + Rᵀ − RᵀR, where R = Cᵀ or, exchanged, R = C.
    fn graph(&self, order: Order) -> Reconstruction {
        let transposed = SparseGraph::from_rows(self.columns.iter().map(|code| code.entries.clone()).collect());
        match order {
            Order::Reconstruction => transposed.into(),
            Order::Exchanged => transposed.transposed().into(),
        }
    }

    /// Codes that used up their steps or miss their conditions.
    fn unfinished(&self) -> usize {
        self.columns.iter().filter(|code| !code.converged()).count()
    }

    fn summary(&self, k: usize) -> String {
        let n = self.columns.len();
        let mean = |total: usize| short_number(total as f64 / n as f64);
        let entries = mean(self.columns.iter().map(|code| code.entries.len()).sum());
        let steps = mean(self.columns.iter().map(|code| code.steps).sum());
        let rest = match self.unfinished() {
            0 => String::new(),
            count => format!("; {count} of the {n} codes were not finished"),
        };
        format!("k = {k}: a code has {entries} other samples, found in {steps} steps (means){rest}")
    }

    fn trace(&self) -> Trace {
        Trace {
            measure: "objective of each sample".into(),
            values: self.columns.iter().map(|code| code.objective).collect(),
            rounds: self.columns.iter().map(|code| code.steps).max().unwrap_or(0),
            stop: if self.unfinished() == 0 { Stop::Converged } else { Stop::RoundsUsedUp },
        }
    }
}
