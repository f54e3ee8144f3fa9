//! Samples that are gone, but for a summary: it is closed once and asked any number of times.
//!
//! Samples that are gone can be neither compared nor whitened: copies count as samples, and rows of one length are taken as they
//! are. Of the two resolvents only that of the features can be had.

use eigenspan_linalg::Exec;
use eigenspan_linalg::leverage::Resolvent;
use eigenspan_linalg::spectrum::Select;
use eigenspan_linalg::summary::{Closed, ClosedSpectrum};

use super::noise::{BEFORE, Lengths, Live, Noise, NoiseKind, NoiseView};
use super::{Answer, Found, Leverages, Refusal, Spectrum, Values};
use crate::Error;
use crate::prepare::Normalize;

/// What is known of the samples beside their summary.
#[derive(Clone, Copy)]
pub struct Gone<'a> {
    /// How they were scaled.
    pub normalize: Normalize,
    /// A summary of the samples before they were scaled, where they were and that matters.
    pub unscaled: Option<&'a Closed>,
    /// How their lengths compare.
    pub lengths: Lengths,
    /// How many are alive.
    pub live: Live,
    /// The relative rounding error of their numbers.
    pub epsilon: f64,
}

/// The singular values of a summary.
pub struct SummarySpectrum<'a> {
    gone: Gone<'a>,
    closed: &'a Closed,
    features: usize,
    whole: ClosedSpectrum<'a>,
}

impl<'a> SummarySpectrum<'a> {
    /// Of samples that were prepared on their way into the summary.
    pub fn of(closed: &'a Closed, gone: Gone<'a>, exec: Exec<'_>) -> Result<Self, Error> {
        let whole = closed.spectrum(exec)?;
        Ok(Self { gone, closed, features: whole.gram().order(), whole })
    }
}

/// A cut that a Gram matrix cannot reach, as an error of this crate.
fn too_coarse(error: eigenspan_linalg::Error) -> Error {
    if error == eigenspan_linalg::Error::CutTooLow { Error::GramTooCoarse } else { error.into() }
}

impl Spectrum for SummarySpectrum<'_> {
    fn way(&self) -> &'static str {
        "a summary"
    }

    fn shape(&self) -> (usize, usize) {
        (self.closed.rows(), self.features)
    }

    fn epsilon(&self) -> f64 {
        self.gone.epsilon
    }

    fn norm(&self) -> f64 {
        self.closed.norm()
    }

    fn mean(&self) -> Option<&[f64]> {
        self.closed.mean()
    }

    fn leading(&self, select: Select, exec: Exec<'_>) -> Result<Found<'_>, Error> {
        Ok(Found::sure(self.whole.leading(select, exec).map_err(too_coarse)?))
    }

    fn values(&self, exec: Exec<'_>) -> Result<Answer<Values>, Error> {
        let (sigma, reach) = self.whole.values(self.features, exec).map_err(too_coarse)?;
        Ok(Ok(Values { sigma, reach }))
    }

    fn noise(&self, noise: &Noise<'_>, exec: Exec<'_>) -> Result<Answer<NoiseView>, Error> {
        let Gone { normalize, unscaled, lengths, live, epsilon } = self.gone;
        let sides = live.sides();
        let before = match (normalize, noise.kind()) {
            (Normalize::Unit | Normalize::ZScore, NoiseKind::Known) => true,
            (Normalize::Unit, _) => lengths == Lengths::Differ,
            _ => false,
        };
        let (answer, how) = match unscaled.filter(|_| before) {
            Some(unscaled) => (unscaled.spectrum(exec)?.values(sides.short, exec), Some(BEFORE)),
            None => (self.whole.values(sides.short, exec), None),
        };
        let (sigma, reach) = answer.map_err(too_coarse)?;
        Ok(Ok(NoiseView { reach, how, ..NoiseView::whole(sigma, sides, epsilon) }))
    }

    fn leverages(&self, eta: f64, exec: Exec<'_>) -> Result<Answer<Leverages>, Error> {
        let Some(resolvent) = Resolvent::of(self.whole.gram(), 0, eta, exec)? else {
            let why = "the ridge is below the rounding of the Gram matrix";
            return Ok(Err(Refusal { way: self.way(), what: "leverages", why }));
        };
        Ok(Ok(Leverages { samples: None, features: resolvent.own(exec)? }))
    }
}
