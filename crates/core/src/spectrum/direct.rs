//! Samples in memory, by products with them: no Gram matrix is formed, and only leading values can be had.

use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::{Direct, Select, direct};
use eigenspan_linalg::{Blocks, Exec};

use super::memory::{InMemory, NoiseMatrix};
use super::noise::{BEFORE, Noise, NoiseView, WITHOUT};
use super::{Answer, Found, Refusal, Spectrum, Values};
use crate::Error;

const WAY: &str = "the direct solver";

/// The leading singular values of samples in memory.
pub struct DirectSpectrum<'a> {
    rows: InMemory<'a>,
    exponent: i32,
    direct: Direct<'a>,
}

impl<'a> DirectSpectrum<'a> {
    /// Of samples whose `view` is prepared.
    pub fn of(rows: InMemory<'a>, view: &'a dyn Blocks, exec: Exec<'_>) -> Result<Self, Error> {
        Ok(Self { rows, exponent: view.exponent(), direct: Direct::of(view, exec)? })
    }

    /// What all singular values would be needed for.
    fn leading_only<T>(what: &'static str) -> Answer<T> {
        Err(Refusal { way: WAY, what, why: "it finds the leading values only" })
    }
}

impl Spectrum for DirectSpectrum<'_> {
    fn way(&self) -> &'static str {
        WAY
    }

    fn shape(&self) -> (usize, usize) {
        self.rows.shape()
    }

    fn epsilon(&self) -> f64 {
        self.rows.epsilon()
    }

    fn norm(&self) -> f64 {
        times_power_of_two(self.direct.energy().sqrt(), self.exponent)
    }

    fn mean(&self) -> Option<&[f64]> {
        self.rows.preparation.mean.as_deref()
    }

    fn row_norms(&self) -> Option<&[f64]> {
        self.rows.row_norms()
    }

    fn leading(&self, select: Select, exec: Exec<'_>) -> Result<Found<'_>, Error> {
        Ok(Found::sure(self.direct.leading(select, exec)?))
    }

    fn whole(&self) -> Answer<()> {
        Self::leading_only("all singular values")
    }

    fn values(&self, _: Exec<'_>) -> Result<Answer<Values>, Error> {
        Ok(Self::leading_only("all singular values"))
    }

    /// The part above the cut that noise of a known strength gives: all that is needed of it.
    fn noise(&self, noise: &Noise<'_>, exec: Exec<'_>) -> Result<Answer<NoiseView>, Error> {
        let Noise::Known(cut) = noise else { return Ok(Self::leading_only("the bulk of the noise")) };
        let distinct = self.rows.distinct(exec)?;
        let sides = self.rows.live(&distinct).sides();
        let tau = cut(sides);
        if tau == 0.0 {
            return Ok(Self::leading_only("every direction above rounding"));
        }
        let before = self.rows.noise_matrix(noise.kind()) == NoiseMatrix::BeforeScaling;
        let preparation = match before {
            true => self.rows.unscaled(&distinct, exec)?,
            false => self.rows.preparation.clone(),
        };
        let view = self.rows.view(&preparation, &distinct);
        let found = direct(&view, Select::Above(tau), exec)?;
        let how = if before { Some(BEFORE) } else { distinct.repeats.then_some(WITHOUT) };
        Ok(Ok(NoiseView { how, ..NoiseView::above(&found, sides, self.epsilon()) }))
    }
}
