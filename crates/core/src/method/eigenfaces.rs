//! Eigenfaces, as the paper compares with them: principal components of centred pixels, images projected as they are.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | X (m × n) | `samples` = Xᵀ | images in rows, raw pixels |
//! | μ | | their mean |
//! | B (m × m′) | `theta` | leading left singular vectors of X − μ1ᵀ |
//! | λ | `values` | σ²/(n − 1), the variance along each of them |
//!
//! ```text
//!     z = Bᵀx / ‖Bᵀx‖        for training and new images alike: μ shapes B and is not subtracted from x
//! ```
//! That is what the authors' released code does, and what gives the accuracies of its tables. It is principal component
//! analysis ([`super::pca`]) only in its basis: features keep the part of μ that lies in the span of B, and have length one.
//! A sample whose projection is zero stays zero.
//!
//! Turk, Pentland (1991) — `turk1991` in `docs/references.bib`. **Where we differ:** [`EigenfacesParams::keep_mean`] and
//! [`EigenfacesParams::unit_features`] give the textbook's features; more dimensions than the centred images have are not
//! invented from rounding but left out, with a warning.

use eigenspan_linalg::Exec;

use crate::Error;
use crate::data::{Labels, Samples};
use crate::method::pce::{Dim, Pce, PceParams, Weights};
use crate::model::fitted::{About, Fit, Outcome};
use crate::model::linear::Linear;
use crate::prepare::{Normalize, Preparation};
use crate::rule::Lambda;
use crate::text::short_number;
use crate::warning::Warning;

/// What is asked of Eigenfaces. The default is the published pipeline with the dimension chosen by the data.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct EigenfacesParams {
    /// m′; [`Dim::Auto`] is what PCE finds in the centred samples.
    pub dim: Dim,
    /// How samples are scaled before everything.
    pub normalize: Normalize,
    /// Whether μ stays in the samples that are projected (but for z-scores).
    pub keep_mean: bool,
    /// Whether features are scaled to length one.
    pub unit_features: bool,
}

impl Default for EigenfacesParams {
    fn default() -> Self {
        Self { dim: Dim::Auto, normalize: Normalize::None, keep_mean: true, unit_features: true }
    }
}

impl Fit for EigenfacesParams {
    type Model = Linear<Self>;

    fn published() -> Option<Self> {
        Some(Self::as_published(300))
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

impl EigenfacesParams {
    /// The published pipeline with m′ features; the paper keeps 300 unless it tunes them.
    pub fn as_published(dim: usize) -> Self {
        Self { dim: Dim::Fixed(dim), ..Self::default() }
    }

    /// Learns the basis from samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Linear<Self>, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Learns the basis, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Linear<Self>, Error> {
        let samples = samples.into();
        let (model, mut warnings) = self.basis(samples, exec)?;
        let parts = model.parts();
        let k = model.columns();
        let spread = (parts.n as f64 - 1.0).max(1.0);
        let values: Vec<f64> = parts.sigma[..k].iter().map(|s| s * s / spread).collect();
        let share = short_number(100.0 * model.energy());
        let found = if self.dim == Dim::Auto { format!("; {}", parts.why) } else { String::new() };
        let why = format!("{k} directions carry {share} % of the variance of the centred samples{found}");
        let mean = parts.preparation.mean.clone();
        let mean = mean.filter(|_| !self.keep_mean || self.normalize == Normalize::ZScore);
        let mut about = About::new(self, samples, why);
        about.warnings.extend(parts.warnings.iter().cloned());
        about.warnings.append(&mut warnings);
        let preparation = Preparation { mean, ..parts.preparation.clone() };
        Linear { about, preparation, unit_features: self.unit_features, theta: parts.basis.clone(), values }.checked()
    }

    /// B, with no more columns than the centred samples have dimensions.
    fn basis(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<(Pce, Vec<Warning>), Error> {
        let of = |dim: Dim| {
            let weights = Weights::Scores;
            let params = PceParams {
                lambda: Lambda::Auto,
                dim,
                normalize: self.normalize,
                center: true,
                weights,
                ..Default::default()
            };
            params.fit_with(samples, exec)
        };
        let Dim::Fixed(asked) = self.dim else { return Ok((of(self.dim)?, vec![])) };
        // Centring takes one of n samples; ties and copies may take more.
        let possible = samples.cols().min(samples.rows().saturating_sub(1)).max(1);
        let first = of(Dim::Fixed(asked.min(possible)));
        let model = match first {
            Err(Error::DimTooLarge { most, .. }) if most > 0 => of(Dim::Fixed(most))?,
            other => other?,
        };
        let most = model.columns();
        Ok((model, if asked > most { vec![Warning::RankCapped { asked, most }] } else { vec![] }))
    }
}
