//! Cuts of rules that look for noise: from a cut of σ′, where the noise is seen, to one of σ.

use eigenspan_linalg::Exec;
use eigenspan_linalg::spectrum::Select;

use super::cut::{Cut, Decision, above_rounding, around, between};
use crate::Error;
use crate::spectrum::{Noise, NoiseView, Spectrum};

/// The spectrum as the noise sees it, beside the one that is cut.
pub(super) struct NoiseCut<'a, 'e> {
    pub spectrum: &'a dyn Spectrum,
    /// σ′.
    pub view: NoiseView,
    rule: &'static str,
    exec: Exec<'e>,
}

impl<'a, 'e> NoiseCut<'a, 'e> {
    /// Looks at the noise, for the rule of that name.
    pub fn of(
        spectrum: &'a dyn Spectrum,
        noise: &Noise<'_>,
        rule: &'static str,
        exec: Exec<'e>,
    ) -> Result<Self, Error> {
        let view = spectrum.noise(noise, exec)?.map_err(|_| Error::WholeSpectrum { rule })?;
        Ok(Self { spectrum, view, rule, exec })
    }

    /// Refuses a value that a Gram summary does not know.
    pub fn known_at(&self, value: f64) -> Result<(), Error> {
        if value >= self.view.reach { Ok(()) } else { Err(Error::GramTooCoarse) }
    }

    /// A single value cannot be told from noise, and there is nothing else to keep.
    pub fn all_there_is(&self) -> Result<Decision<'a>, Error> {
        let found = self.spectrum.leading(Select::Top(1), self.exec)?.after(self.view.doubt);
        let reason = "one direction is all there is".into();
        Ok(Decision { cut: Cut::at_rank(1, self.spectrum, &found.leading, self.rule, reason), found })
    }

    /// Half of the values and more are rounding: what stands above it is all there is.
    pub fn noise_free(&self) -> Result<Decision<'a>, Error> {
        self.above_rounding("the data carry no noise")
    }

    /// Every direction above rounding.
    pub fn above_rounding(&self, fact: &str) -> Result<Decision<'a>, Error> {
        let Decision { cut, found } = above_rounding(self.spectrum, self.rule, fact, self.exec)?;
        Ok(Decision { cut, found: found.after(self.view.doubt) })
    }

    /// Transfers a cut of σ′ to σ.
    pub fn transfer(&self, tau: f64, reason: String) -> Result<Decision<'a>, Error> {
        let (spectrum, view) = (self.spectrum, &self.view);
        let Some(how) = view.how else {
            let found = spectrum.leading(Select::Above(tau), self.exec)?.after(view.doubt);
            let (k, interval) = (found.leading.count, found.leading.interval);
            return Ok(Decision { cut: Cut::at(tau, k, interval, self.rule, reason), found });
        };
        let decided = view.sigma.iter().take_while(|s| **s > tau).count();
        let interval = view.interval.unwrap_or_else(|| around(&view.sigma, tau, view.resolution(), decided));
        let found = spectrum.leading(Select::Top(decided.max(1)), self.exec)?.after(view.doubt);
        let sigma = &found.leading.sigma;
        let resolution = spectrum.resolution(sigma);
        let mut k = decided.min(spectrum.numerical_rank(&found.leading));
        while k > 0 && k < sigma.len() && sigma[k - 1] - sigma[k] <= resolution {
            k -= 1; // nothing fits between equal values: a tie keeps the smaller rank
        }
        let tau = between(k, spectrum, &found.leading, tau / view.sigma[0]);
        let reason = format!("{reason}, decided {how}");
        let interval = (interval.0.min(k), interval.1.max(k));
        Ok(Decision { cut: Cut::at(tau, k, interval, self.rule, reason), found })
    }
}
