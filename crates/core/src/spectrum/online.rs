//! Samples that arrived one by one, of which a few directions are left.

use eigenspan_linalg::Exec;
use eigenspan_linalg::online::OnlineState;
use eigenspan_linalg::spectrum::Select;

use super::noise::{Noise, NoiseView};
use super::{Answer, Found, Refusal, Spectrum, Values};
use crate::Error;

const WAY: &str = "a decomposition of samples that arrive one by one";

/// The leading singular values of samples that arrived one by one.
pub struct OnlineSpectrum<'a> {
    /// What is known.
    pub state: &'a OnlineState,
    /// Samples of a block.
    pub block: usize,
    /// The most directions that were kept.
    pub rank: usize,
    /// The relative rounding error of the numbers that the samples came in.
    pub epsilon: f64,
}

impl OnlineSpectrum<'_> {
    /// What values that were dropped would be needed for.
    fn dropped<T>(what: &'static str) -> Answer<T> {
        Err(Refusal { way: WAY, what, why: "it keeps the leading directions only" })
    }

    /// Refuses a share of the energy that the directions kept do not carry.
    fn check(&self, select: Select) -> Result<(), Error> {
        let Select::Energy(asked) = select else { return Ok(()) };
        let (all, lost) = (self.state.energy(), self.state.discarded.energy);
        let carried = if all > 0.0 { 1.0 - lost / all } else { 1.0 };
        // What is lost to rounding alone is not missed.
        if carried + 1e-12 < asked {
            return Err(Error::RankTooLow { rank: self.rank, carried, asked });
        }
        Ok(())
    }
}

impl Spectrum for OnlineSpectrum<'_> {
    fn way(&self) -> &'static str {
        WAY
    }

    fn shape(&self) -> (usize, usize) {
        (self.state.rows, self.state.basis.rows())
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn norm(&self) -> f64 {
        // Squares of tiny values vanish, the values do not.
        self.state.sigma.first().map_or(0.0, |top| self.state.energy().sqrt().max(*top))
    }

    fn mean(&self) -> Option<&[f64]> {
        self.state.mean.as_ref().map(|[high, _]| &high[..])
    }

    fn leading(&self, select: Select, _: Exec<'_>) -> Result<Found<'_>, Error> {
        self.check(select)?;
        Ok(Found::sure(self.state.leading(select, self.block)))
    }

    fn whole(&self) -> Answer<()> {
        Self::dropped("all singular values")
    }

    fn values(&self, _: Exec<'_>) -> Result<Answer<Values>, Error> {
        Ok(Self::dropped("all singular values"))
    }

    fn is_partial(&self) -> bool {
        true
    }

    fn noise(&self, _: &Noise<'_>, _: Exec<'_>) -> Result<Answer<NoiseView>, Error> {
        Ok(Self::dropped("the noise"))
    }
}
