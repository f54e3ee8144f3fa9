//! Models of PCE and PCA as plain data.
//!
//! ```text
//!     basis (m × columns) · sigma · cut (τ, λ, √Σσ²) · mean (m)? · deviation (m)?
//!     trail (f, Σ f^(2·age), energy dropped, most of it in one direction)?  spare (m × other directions)?
//! ```
//! The last two belong to samples that arrived one by one: what the next sample goes on from.

use eigenspan_linalg::online::Discarded;
use eigenspan_linalg::{Exec, Mat};

use crate::data::{ImageShape, Labels, NumberType, Samples};
use crate::method::pca::{Pca, PcaParams};
use crate::method::pce::online::Trail;
use crate::method::pce::{Chosen, Pce, PceParams, PceParts, Weights};
use crate::model::fitted::{Access, Fit, Labelling, Needs, Outcome};
use crate::model::record::{Arrays, Record};
use crate::prepare::Preparation;
use crate::warning::Warning;
use crate::{Error, Model};

impl Fit for PceParams {
    type Model = Pce;
    const NEEDS: Needs = Needs { labels: Labelling::Optional, samples: Access::Passes };

    fn cap(&mut self, max: usize) {
        self.dim.cap(max);
    }

    fn learn(&self, samples: Samples<'_>, labels: Option<&Labels>, exec: Exec<'_>) -> Result<Outcome<Pce>, Error> {
        Ok(match labels.filter(|_| self.weights == Weights::Auto) {
            Some(labels) => self.fit_labelled_with(samples, labels, exec)?.into(),
            None => self.fit_with(samples, exec)?.into(),
        })
    }
}

/// What a model is besides its arrays; `P` are the parameters of the method.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts<P> {
    params: P,
    n: usize,
    number_type: NumberType,
    image: Option<ImageShape>,
    lambda_rule: String,
    k: usize,
    k_interval: (usize, usize),
    solver: String,
    certified: bool,
    why: String,
    warnings: Vec<Warning>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<Chosen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    online: Option<OnlineFacts>,
}

/// What a [`Trail`] is besides its arrays.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OnlineFacts {
    rank: usize,
    block: usize,
    updates: usize,
    proved: bool,
}

impl<P> Facts<P> {
    fn of(params: P, p: &PceParts) -> Self {
        Self {
            params,
            n: p.n,
            number_type: p.number_type,
            image: p.image,
            lambda_rule: p.lambda_rule.clone(),
            k: p.k,
            k_interval: p.k_interval,
            solver: p.solver.clone(),
            certified: p.certified,
            why: p.why.clone(),
            warnings: p.warnings.clone(),
            chosen: p.chosen.clone(),
            online: p.online.as_ref().map(|trail| {
                let Trail { rank, block, updates, proved, .. } = **trail;
                OnlineFacts { rank, block, updates, proved }
            }),
        }
    }

    /// The parameters, and the model that asked PCE for `params`.
    fn assemble(self, params: impl FnOnce(&P, usize) -> PceParams, mut arrays: Arrays) -> Result<(P, Pce), Error> {
        let basis = arrays.take("basis")?;
        let m = basis.rows();
        let Some(&[tau, lambda, norm]) = arrays.take_vector("cut", 3)?.as_deref() else {
            return Err(Error::Model("no array `cut`".into()));
        };
        let sigma = arrays.take("sigma")?;
        if sigma.rows() != 1 {
            return Err(Error::Model(format!("array `sigma` is expected to have 1 row, found {}", sigma.rows())));
        }
        let params_of_pce = params(&self.params, self.k);
        let (mean, deviation) = (arrays.take_vector("mean", m)?, arrays.take_vector("deviation", m)?);
        let preparation = Preparation { normalize: params_of_pce.normalize, mean, deviation };
        let online = self.online.map(|online| online.trail(m, &mut arrays)).transpose()?.map(Box::new);
        arrays.finish()?;
        let pce = Pce::new(PceParts {
            params: params_of_pce,
            n: self.n,
            number_type: self.number_type,
            image: self.image,
            tau,
            lambda,
            lambda_rule: self.lambda_rule,
            k: self.k,
            k_interval: self.k_interval,
            solver: self.solver,
            certified: self.certified,
            why: self.why,
            warnings: self.warnings,
            chosen: self.chosen,
            preparation,
            sigma: sigma.into_vec(),
            norm,
            basis,
            online,
        })?;
        Ok((self.params, pce))
    }
}

impl OnlineFacts {
    fn trail(self, m: usize, arrays: &mut Arrays) -> Result<Trail, Error> {
        let Self { rank, block, updates, proved } = self;
        let Some(&[forget, weight, energy, top]) = arrays.take_vector("trail", 4)?.as_deref() else {
            return Err(Error::Model("no array `trail`".into()));
        };
        let spare = arrays.take_some("spare").unwrap_or_else(|| Mat::zeros(m, 0));
        Ok(Trail { rank, block, forget, weight, updates, discarded: Discarded { energy, top }, proved, spare })
    }
}

fn arrays(p: &PceParts) -> Arrays {
    let arrays = Arrays::default()
        .with("basis", p.basis.clone())
        .with_vector("sigma", &p.sigma)
        .with_vector("cut", &[p.tau, p.lambda, p.norm])
        .with_some("mean", p.preparation.mean.as_ref())
        .with_some("deviation", p.preparation.deviation.as_ref());
    let Some(trail) = &p.online else { return arrays };
    let Trail { forget, weight, discarded, spare, .. } = &**trail;
    let arrays = arrays.with_vector("trail", &[*forget, *weight, discarded.energy, discarded.top]);
    if spare.cols() > 0 { arrays.with("spare", spare.clone()) } else { arrays }
}

impl Record for Pce {
    type Params = PceParams;
    type Facts = Facts<PceParams>;

    fn params(&self) -> &PceParams {
        &self.parts().params
    }

    fn take_apart(&self) -> (Facts<PceParams>, Arrays) {
        (Facts::of(self.parts().params, self.parts()), arrays(self.parts()))
    }

    fn put_together(facts: Facts<PceParams>, arrays: Arrays) -> Result<Self, Error> {
        Ok(facts.assemble(|params, _| *params, arrays)?.1)
    }
}

impl Record for Pca {
    type Params = PcaParams;
    type Facts = Facts<PcaParams>;

    fn params(&self) -> &PcaParams {
        self.params()
    }

    fn take_apart(&self) -> (Facts<PcaParams>, Arrays) {
        (Facts::of(*self.params(), self.parts()), arrays(self.parts()))
    }

    fn put_together(facts: Facts<PcaParams>, arrays: Arrays) -> Result<Self, Error> {
        let (params, pce) = facts.assemble(PcaParams::of_pce, arrays)?;
        Ok(Self::new(params, pce))
    }
}

/// A model of samples that were not kept, or of a file that calls both methods PCE, is one of PCA where its parameters are
/// exactly those that PCA asks PCE for.
impl From<Pce> for Model {
    fn from(pce: Pce) -> Self {
        match PcaParams::asked_by(&pce.parts().params) {
            Some(params) => Self::Pca(Pca::new(params, pce)),
            None => Self::Pce(pce),
        }
    }
}

impl Model {
    /// The model of PCE that this is, or that a model of PCA holds.
    pub fn into_pce(self) -> Result<Pce, Self> {
        match self {
            Self::Pce(pce) => Ok(pce),
            Self::Pca(pca) => Ok(pca.into()),
            other => Err(other),
        }
    }
}
