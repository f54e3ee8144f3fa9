//! Dimensions from the singular values: the choice of k by PCA and PCE.
//!
//! | name | code | what it does |
//! |---|---|---|
//! | `minka` | [`minka`] | Minka's number of principal components (`rule/minka.rs`) |
//! | `gavish-donoho` | [`gavish_donoho`] | components above the optimal hard threshold (`rule/threshold.rs`) |
//! | `screenot` | [`screenot`] | the same for noise of any shape |
//! | `pce` | [`pce`] | the k of PCE with default parameters (`method/pce.rs`) |
//!
//! The first three use centered samples; PCE uses samples of unit length, without centering. All count linear
//! directions: on a curved surface they include those of its curvature, and exceed the dimension found by neighbors.
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

/// Minka's number of components; for at least as many samples as features.
pub fn minka(samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    let model = PcaParams { components: Components::Mle, ..PcaParams::default() }.fit_with(samples, exec)?;
    Ok(estimate_of(&model, Estimator::Minka))
}

/// Components above the optimal hard threshold.
pub fn gavish_donoho(samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    let model = PcaParams { components: Components::Auto, ..PcaParams::default() }.fit_with(samples, exec)?;
    Ok(estimate_of(&model, Estimator::GavishDonoho))
}

/// Components above the threshold for noise of any shape.
pub fn screenot(samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    let centred = PceParams { normalize: Normalize::None, center: true, ..PceParams::default() };
    let model = PceParams { lambda: Lambda::ScreeNot, ..centred }.fit_with(samples, exec)?;
    Ok(estimate_of(&model, Estimator::ScreeNot))
}

/// The k of PCE.
pub fn pce(params: PceParams, samples: Samples<'_>, exec: Exec<'_>) -> Result<Estimate, Error> {
    Ok(estimate_of(&params.fit_with(samples, exec)?, Estimator::Pce(params)))
}

fn estimate_of(model: &Pce, settings: Estimator) -> Estimate {
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
