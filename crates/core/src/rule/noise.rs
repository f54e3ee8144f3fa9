//! The optimal hard threshold for white noise of a given deviation, in the units of the data (Gavish, Donoho 2014).

use eigenspan_linalg::Exec;

use super::cut::Decision;
use super::noise_cut::NoiseCut;
use super::threshold::known_noise;
use super::{Depth, Needs, Rule};
use crate::Error;
use crate::spectrum::noise::Sides;
use crate::spectrum::{Noise as View, NoiseKind, Spectrum};
use crate::text::short_number;

/// Noise of this standard deviation.
pub struct Noise(pub f64);

impl Rule for Noise {
    fn name(&self) -> &'static str {
        "noise"
    }

    fn check(&self) -> Result<(), Error> {
        let Self(deviation) = *self;
        if deviation >= 0.0 && deviation.is_finite() {
            return Ok(());
        }
        Err(Error::Parameter { name: "noise", expected: "a standard deviation of 0 or more", got: deviation })
    }

    fn needs(&self) -> Needs {
        let depth = if self.0 == 0.0 { Depth::Rounding } else { Depth::Leading };
        Needs { noise: Some(NoiseKind::Known), depth }
    }

    fn cut<'a>(&self, spectrum: &'a dyn Spectrum, exec: Exec<'_>) -> Result<Decision<'a>, Error> {
        let Self(deviation) = *self;
        let cut = |sides: Sides| known_noise(sides.beta()) * (sides.long as f64).sqrt() * deviation;
        let seen = NoiseCut::of(spectrum, &View::Known(&cut), self.name(), exec)?;
        if deviation == 0.0 {
            return seen.noise_free();
        }
        let tau = cut(seen.view.sides);
        if tau <= seen.view.level {
            return seen.above_rounding("the noise given is below rounding");
        }
        seen.known_at(tau)?;
        seen.transfer(tau, format!("optimal hard threshold for noise of deviation {}", short_number(deviation)))
    }
}
