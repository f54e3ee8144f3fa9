//! Principal component analysis: the directions in which centred samples vary most.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X (n × m) | `samples` | samples in rows |
//! | μ | `preparation.mean` | their mean |
//! | U, Σ | `basis` (m × k), `sigma` | right singular vectors and singular values of X − 1μᵀ |
//! | σ²/(n − 1) | [`explained_variance`] | the variance along each direction |
//!
//! ```text
//!     z = Uᵀ(x − μ)        scores;        z = √(n − 1) Σ⁻¹ Uᵀ(x − μ)        whitened: variance one in every direction
//! ```
//! The decomposition is that of PCE ([`super::pce`]): samples centred and not scaled, other weights. So are the
//! certificate and the rules that choose k, where nobody gives it. Minka's rule ([`Components::Mle`], [`crate::rule::minka`])
//! asks for n ≥ m and takes all singular values first; the optimal hard threshold ([`Components::Auto`]) does neither.
//!
//! Pearson (1901), Hotelling (1933) — `pearson1901`, `hotelling1933` in `docs/references.bib`. **Where we differ:** no
//! direction below rounding is ever returned, so that [`Components::All`] is the rank of the centred samples, not min(n, m).

use eigenspan_linalg::Exec;

use crate::Error;
use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::method::pce::{Dim, Pce, PceParams, PceParts, Weights};
use crate::model::fitted::{Access, Fit, Fitted, ModelInfo, Needs, Outcome, Settings as _};
use crate::prepare::Normalize;
use crate::rule::{Lambda, minka};
use crate::spectrum::Solver;

/// How many directions to keep.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "crate::settings::ComponentsForm", into = "crate::settings::ComponentsForm")]
pub enum Components {
    /// Every direction above rounding.
    #[default]
    All,
    /// So many.
    Count(usize),
    /// As few as carry this share of the variance.
    Share(f64),
    /// As many as stand out of the noise.
    Auto,
    /// As many as have the largest evidence, by Minka's approximation (2000); for n ≥ m.
    Mle,
}

/// Parameters of PCA.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcaParams {
    /// How many directions to keep.
    #[serde(rename = "dim")]
    pub components: Components,
    /// Whether every feature gets variance one.
    pub whiten: bool,
    /// How the singular values are computed.
    pub solver: Solver,
}

impl Fit for PcaParams {
    type Model = Pca;
    const NEEDS: Needs = Needs { samples: Access::Passes, ..Needs::MATRIX };

    /// By name alone the dimension is what stands out of the noise, as with every other method.
    fn named() -> Self {
        Self { components: Components::Auto, ..Self::default() }
    }

    fn cap(&mut self, max: usize) {
        if let Components::Count(count) = &mut self.components {
            *count = (*count).min(max.max(1));
        }
    }

    fn learn(&self, samples: Samples<'_>, _labels: Option<&Labels>, exec: Exec<'_>) -> Result<Outcome<Pca>, Error> {
        Ok(self.fit_with(samples, exec)?.into())
    }
}

impl PcaParams {
    /// Learns the directions from samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Pca, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Learns the directions, with the given threads and monitor. The result does not depend on them.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Pca, Error> {
        let samples = samples.into();
        if self.components == Components::Mle {
            let k = self.minka_rank(samples, exec)?;
            let model = self.of_pce(k).fit_with(samples, exec)?;
            let why = format!("k = {k}: of all numbers of directions, so many have the largest evidence (Minka)");
            return Ok(Pca::new(*self, Pce::new(PceParts { why, ..model.parts().clone() })?));
        }
        Ok(Pca::new(*self, self.of_pce(0).fit_with(samples, exec)?))
    }

    /// The same, asked of PCE, for samples that are not kept; `None` for Minka's rule, which needs them all.
    pub fn streamed(&self) -> Option<PceParams> {
        (self.components != Components::Mle).then(|| self.of_pce(0))
    }

    /// The k of Minka's rule.
    fn minka_rank(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<usize, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        if n < m {
            return Err(Error::FewerSamplesThanFeatures { rule: "mle", n, m });
        }
        let sigma = self.of_pce(1).values(samples, exec)?;
        if sigma.first().is_none_or(|largest| *largest == 0.0) {
            return Err(Error::AllZero { n, m, centred: true });
        }
        // Only ratios matter.
        let variances: Vec<f64> = sigma.iter().map(|s| (s / sigma[0]).powi(2)).collect();
        Ok(minka::dimension(&variances, n))
    }

    /// The same, asked of PCE; `minka` is the k of Minka's rule, where that is asked for.
    pub(crate) fn of_pce(&self, minka: usize) -> PceParams {
        let PcaParams { components, whiten, solver } = *self;
        let (lambda, dim) = match components {
            // Without noise, every direction above rounding is signal.
            Components::All => (Lambda::Noise(0.0), Dim::Auto),
            Components::Count(count) => (Lambda::Auto, Dim::Fixed(count)),
            Components::Share(share) => (Lambda::Energy(share), Dim::Auto),
            Components::Auto => (Lambda::Auto, Dim::Auto),
            Components::Mle => (Lambda::Auto, Dim::Fixed(minka)),
        };
        let weights = if whiten { Weights::Whitened } else { Weights::Scores };
        PceParams { lambda, dim, normalize: Normalize::None, center: true, weights, solver, ..PceParams::default() }
    }
}

impl PcaParams {
    /// The parameters for which PCA asks PCE for exactly these; `None` where it never does.
    pub fn asked_by(params: &PceParams) -> Option<Self> {
        let components = match (params.lambda, params.dim) {
            (Lambda::Noise(0.0), Dim::Auto) => Components::All,
            (Lambda::Auto, Dim::Fixed(count)) => Components::Count(count),
            (Lambda::Energy(share), Dim::Auto) => Components::Share(share),
            _ => Components::Auto,
        };
        let asked = Self { components, whiten: params.weights == Weights::Whitened, solver: params.solver };
        (asked.of_pce(0) == *params).then_some(asked)
    }
}

/// A fitted model of PCA. It is a model of PCE with other weights, and answers all that one answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Pca {
    params: PcaParams,
    pce: Pce,
}

impl Pca {
    pub(crate) fn new(params: PcaParams, pce: Pce) -> Self {
        Self { params, pce }
    }

    /// The parameters of the fit.
    pub fn params(&self) -> &PcaParams {
        &self.params
    }
}

impl std::ops::Deref for Pca {
    type Target = Pce;

    fn deref(&self) -> &Pce {
        &self.pce
    }
}

impl From<Pca> for Pce {
    fn from(pca: Pca) -> Self {
        pca.pce
    }
}

impl Fitted for Pca {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo { method: PcaParams::METHOD, ..self.pce.info() }
    }

    fn features(&self) -> usize {
        self.pce.features()
    }

    fn columns(&self) -> usize {
        self.pce.columns()
    }

    fn scaling(&self) -> Normalize {
        self.pce.scaling()
    }

    fn unit_features(&self) -> bool {
        self.pce.unit_features()
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.pce.set_image(shape);
    }

    fn as_pce(&self) -> Option<&Pce> {
        Some(&self.pce)
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        self.pce.transform_with(samples, exec)
    }
}

/// σ²/(n − 1): the variance of the training samples along each direction kept.
pub fn explained_variance(model: &Pce) -> Vec<f64> {
    let parts = model.parts();
    let n = (model.weight() - 1.0).max(1.0);
    parts.sigma[..model.columns()].iter().map(|s| s * s / n).collect()
}
