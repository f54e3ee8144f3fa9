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
use crate::data::Samples;
use crate::method::pce::{Dim, Pce, PceParams, PceParts, Weights};
use crate::prepare::Normalize;
use crate::rule::{Lambda, minka};
use crate::spectrum::Solver;

/// How many directions to keep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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

/// What is asked of PCA.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PcaParams {
    /// How many directions to keep.
    pub components: Components,
    /// Whether every feature gets variance one.
    pub whiten: bool,
    /// How the singular values are computed.
    pub solver: Solver,
}

impl PcaParams {
    /// Learns the directions from samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Pce, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Learns the directions, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Pce, Error> {
        let samples = samples.into();
        if self.components == Components::Mle {
            let k = self.minka_rank(samples, exec)?;
            let model = self.asks_for(k).fit_with(samples, exec)?;
            let why = format!("k = {k}: of all numbers of directions, so many have the largest evidence (Minka)");
            return Pce::new(PceParts { why, ..model.parts().clone() });
        }
        self.asks_for(0).fit_with(samples, exec)
    }

    /// The same, asked of PCE, for samples that are not kept; `None` for Minka's rule, which needs them all.
    pub fn streamed(&self) -> Option<PceParams> {
        (self.components != Components::Mle).then(|| self.asks_for(0))
    }

    /// The k of Minka's rule.
    fn minka_rank(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<usize, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        if n < m {
            return Err(Error::FewerSamplesThanFeatures { rule: "mle", n, m });
        }
        let sigma = self.asks_for(1).values(samples, exec)?;
        if sigma.first().is_none_or(|largest| *largest == 0.0) {
            return Err(Error::AllZero { n, m, centred: true });
        }
        // Only ratios matter.
        let variances: Vec<f64> = sigma.iter().map(|s| (s / sigma[0]).powi(2)).collect();
        Ok(minka::dimension(&variances, n))
    }

    /// The same, asked of PCE; `evident` is the k of Minka's rule, where that is asked for.
    fn asks_for(&self, evident: usize) -> PceParams {
        let PcaParams { components, whiten, solver } = *self;
        let (lambda, dim) = match components {
            // Without noise, every direction above rounding is signal.
            Components::All => (Lambda::Noise(0.0), Dim::Auto),
            Components::Count(count) => (Lambda::Auto, Dim::Fixed(count)),
            Components::Share(share) => (Lambda::Energy(share), Dim::Auto),
            Components::Auto => (Lambda::Auto, Dim::Auto),
            Components::Mle => (Lambda::Auto, Dim::Fixed(evident)),
        };
        let weights = if whiten { Weights::Whitened } else { Weights::Scores };
        PceParams { lambda, dim, normalize: Normalize::None, center: true, weights, solver, ..PceParams::default() }
    }
}

/// σ²/(n − 1): the variance of the training samples along each direction kept.
pub fn explained_variance(model: &Pce) -> Vec<f64> {
    let parts = model.parts();
    let n = (model.weight() - 1.0).max(1.0);
    parts.sigma[..model.columns()].iter().map(|s| s * s / n).collect()
}
