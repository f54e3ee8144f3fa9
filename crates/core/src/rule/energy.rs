//! The fewest directions that carry a share of the energy Σσ².

use eigenspan_linalg::Exec;
use eigenspan_linalg::spectrum::Select;

use super::cut::{Cut, Decision};
use super::{Needs, Rule};
use crate::Error;
use crate::spectrum::Spectrum;
use crate::text::short_number;

/// This share.
pub struct Energy(pub f64);

impl Rule for Energy {
    fn name(&self) -> &'static str {
        "energy"
    }

    fn check(&self) -> Result<(), Error> {
        let Self(share) = *self;
        if share > 0.0 && share <= 1.0 {
            return Ok(());
        }
        Err(Error::Parameter { name: "energy", expected: "a share between 0 and 1", got: share })
    }

    fn needs(&self) -> Needs {
        Needs::LEADING
    }

    fn is_given(&self) -> bool {
        true
    }

    fn cut<'a>(&self, spectrum: &'a dyn Spectrum, exec: Exec<'_>) -> Result<Decision<'a>, Error> {
        let Self(share) = *self;
        let found = spectrum.leading(Select::Energy(share), exec)?;
        let reason = format!("the fewest directions that carry {} of the energy", short_number(share));
        let mut cut = Cut::at_rank(found.leading.count, spectrum, &found.leading, self.name(), reason);
        if spectrum.is_partial() {
            cut.interval = found.leading.interval; // how the energy is spread is known within bounds
        }
        Ok(Decision { cut, found })
    }
}
