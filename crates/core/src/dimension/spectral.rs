//! Dimensions read off the singular values: what PCA and PCE do when nobody tells them k.
//!
//! | name | code | what it does |
//! |---|---|---|
//! | `minka` | [`minka`] | the most evident number of principal components (`rule/minka.rs`) |
//! | `gavish-donoho` | [`gavish_donoho`] | components above the optimal hard threshold for white noise (`rule/threshold.rs`) |
//! | `screenot` | [`screenot`] | the same for noise of any shape |
//! | `pce` | [`pce`] | the k of PCE as it is without any setting (`method/pce.rs`) |
//!
//! The first three look at centred samples; PCE at samples of unit length, without centring. All count straight directions: of
//! a curved surface they count those that it bends into, and are above the dimension that neighbours tell.
//!
//! Minka (2000) — `minka2000`, Gavish, Donoho (2014) — `gavish2014`, Donoho, Gavish, Romanov (2023) — `donoho2023`,
//! Peng et al. (2017) — `peng2017` in `docs/references.bib`.

use eigenspan_linalg::Exec;

use super::{Estimate, Estimator};
use crate::Error;
use crate::data::Samples;
use crate::method::pca::{Components, PcaParams};
use crate::method::pce::{Pce, PceParams};
use crate::prepare::Normalize;
use crate::rule::Lambda;

/// The most evident number of components; for as many samples as features or more.
pub fn minka(samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    let model = PcaParams { components: Components::Mle, ..PcaParams::default() }.fit_with(samples, exec)?;
    Ok(told(&model, Estimator::Minka))
}

/// Components above the optimal hard threshold.
pub fn gavish_donoho(samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    let model = PcaParams { components: Components::Auto, ..PcaParams::default() }.fit_with(samples, exec)?;
    Ok(told(&model, Estimator::GavishDonoho))
}

/// Components above the threshold for noise of any shape.
pub fn screenot(samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    let centred = PceParams { normalize: Normalize::None, center: true, ..PceParams::default() };
    let model = PceParams { lambda: Lambda::ScreeNot, ..centred }.fit_with(samples, exec)?;
    Ok(told(&model, Estimator::ScreeNot))
}

/// The k of PCE.
pub fn pce(params: PceParams, samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    Ok(told(&params.fit_with(samples, exec)?, Estimator::Pce(params)))
}

fn told(model: &Pce, settings: Estimator) -> Estimate {
    let parts = model.parts();
    Estimate {
        dimension: parts.k as f64,
        error: None,
        per_point: None,
        settings,
        why: parts.why.clone(),
        warnings: parts.warnings.clone(),
    }
}
