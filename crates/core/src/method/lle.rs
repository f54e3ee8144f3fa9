//! Locally linear embedding: places for the training samples in which each is made of its neighbours as before.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X (n × m) | `samples` | samples in rows |
//! | W (n × n) | [`Reconstruction`] | row i holds the weights of sample i |
//! | M (n × n) | | (I − W)ᵀ(I − W) |
//! | Y (n × k), λ | [`Lle::embedding`], [`Lle::values`] | embedding; λ are the errors of its columns |
//!
//! ```text
//!     min  Σᵢ ‖yᵢ − Σⱼ wᵢⱼ yⱼ‖²   s.t.  YᵀY = I,  1ᵀY = 0
//!
//!     1.  W  from the k nearest of every sample:  (G + ε tr G · I) w = 1,  w / Σw
//!     2.  the k smallest eigenpairs of M beside that of the constant vector
//! ```
//! Roweis, Saul (2000) — `roweis2000` in `docs/references.bib`. Scaled as in scikit-learn: columns of length one (the
//! paper's have variance one: √n times as long). **Where we differ:** from scikit-learn, the constant vector is left out by
//! name and not as the first one found, which matters where the graph falls into pieces; signs are fixed, the largest
//! entry of each column is positive; equal results for equal input, without a seed.
//!
//! There is no map: [`Fitted::transform_with`] refuses. [`NPE`](crate::method::npe) is the linear relative that has one.

use eigenspan_linalg::{Exec, Mat};

use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::method::npe::check_ridge;
use crate::method::parts::bottom_eigenpairs::bottom_eigenpairs;
use crate::method::parts::dimension::dimension;
use crate::method::parts::graph_samples::{GraphSamples, check};
use crate::method::parts::neighbours::{Metric, nearest_others};
use crate::method::parts::reconstruction::Reconstruction;
use crate::model::fitted::{About, Fit, Fitted, ModelInfo, Outcome};
use crate::model::record::{Arrays, Record};
use crate::prepare::Normalize;
use crate::text::short_number;
use crate::{Dim, Error};

/// What is asked of LLE.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LleParams {
    /// How many nearest samples each is made of.
    pub neighbours: usize,
    /// ε, relative to the trace.
    pub ridge: f64,
    /// How many dimensions to embed in; [`Dim::Auto`] is PCE's k.
    pub dim: Dim,
    /// How samples are scaled.
    pub normalize: Normalize,
}

impl Default for LleParams {
    fn default() -> Self {
        Self { neighbours: 5, ridge: 1e-3, dim: Dim::Fixed(2), normalize: Normalize::None }
    }
}

impl Fit for LleParams {
    type Model = Lle;

    fn cap(&mut self, max: usize) {
        self.dim.cap(max);
    }

    fn learn(&self, samples: Samples<'_>, _labels: Option<&Labels>, exec: Exec<'_>) -> Result<Outcome<Lle>, Error> {
        Ok(self.fit_with(samples, exec)?.into())
    }
}

impl LleParams {
    /// Embeds samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Lle, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Embeds samples, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Lle, Error> {
        let samples = samples.into();
        check(self.neighbours, None, None)?;
        check_ridge(Some(self.ridge))?;
        let GraphSamples { x, warnings, .. } = GraphSamples::of(samples, self.normalize, false, exec)?;
        let (n, m) = (x.rows(), x.cols());
        if (1..n).all(|i| x.row(i) == x.row(0)) {
            return Err(Error::AllZero { n, m, centred: true });
        }
        let dim = dimension(self.dim, samples, self.normalize, true, exec)?;
        if dim > n - 1 {
            return Err(Error::DimTooLarge { asked: dim, most: n - 1, n, m });
        }
        let found = nearest_others(&x, self.neighbours, Metric::Euclidean, exec)?;
        let graph = Reconstruction::of(&x, &found, self.ridge, exec)?;
        let (values, embedding) = bottom_eigenpairs(&graph, dim, exec)?;
        let error = short_number(values.iter().sum());
        let why =
            format!("{dim} dimensions, in which samples are made of their {} nearest with error {error}", found.k);
        let mut about = About::new(self, samples, why);
        about.warnings = warnings;
        Ok(Lle { about, features: m, embedding, values })
    }
}

/// An embedding of the training samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Lle {
    about: About<LleParams>,
    features: usize,
    embedding: Mat,
    values: Vec<f64>,
}

impl Lle {
    /// Y (n × k): the places of the training samples. Columns have length one and no mean; the largest entry is positive.
    pub fn embedding(&self) -> &Mat {
        &self.embedding
    }

    /// λ: the error of each column, smallest first.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// What is known besides the arrays.
    pub fn about(&self) -> &About<LleParams> {
        &self.about
    }
}

impl Fitted for Lle {
    fn info(&self) -> ModelInfo<'_> {
        self.about.info()
    }

    fn features(&self) -> usize {
        self.features
    }

    fn columns(&self) -> usize {
        self.embedding.cols()
    }

    fn scaling(&self) -> Normalize {
        self.about.params.normalize
    }

    fn unit_features(&self) -> bool {
        false
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.about.image = Some(shape);
    }

    fn transform_with(&self, _: Samples<'_>, _: Exec<'_>) -> Result<Matrix, Error> {
        Err(Error::NoMap { method: "LLE" })
    }
}

/// What an [`Lle`] is besides its arrays.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    about: About<LleParams>,
    features: usize,
}

impl Record for Lle {
    type Params = LleParams;
    type Facts = Facts;

    fn params(&self) -> &LleParams {
        &self.about.params
    }

    fn take_apart(&self) -> (Facts, Arrays) {
        let arrays = Arrays::default().with("embedding", self.embedding.clone()).with_vector("values", &self.values);
        (Facts { about: self.about.clone(), features: self.features }, arrays)
    }

    fn put_together(Facts { about, features }: Facts, mut arrays: Arrays) -> Result<Self, Error> {
        let embedding = arrays.take("embedding")?;
        let (n, k) = (embedding.rows(), embedding.cols());
        let values = arrays.take_vector("values", k)?.ok_or_else(|| Error::Model("no array `values`".into()))?;
        arrays.finish()?;
        about.check(features)?;
        if k == 0 || n != about.n {
            let expected = about.n;
            return Err(Error::Model(format!("expected an embedding of {expected} samples, found {n} × {k}")));
        }
        Ok(Self { about, features, embedding, values })
    }
}
