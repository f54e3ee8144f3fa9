//! A dimension as it is given; λ plays no part.

use eigenspan_linalg::Exec;
use eigenspan_linalg::spectrum::Select;

use super::cut::{Cut, Decision};
use super::{Needs, Rule};
use crate::Error;
use crate::spectrum::Spectrum;

/// So many directions.
pub struct Dimension(pub usize);

impl Rule for Dimension {
    fn name(&self) -> &'static str {
        "dim"
    }

    fn check(&self) -> Result<(), Error> {
        if self.0 > 0 {
            return Ok(());
        }
        Err(Error::Parameter { name: "dim", expected: "at least 1", got: 0.0 })
    }

    fn needs(&self) -> Needs {
        Needs::LEADING
    }

    fn is_given(&self) -> bool {
        true
    }

    fn cut<'a>(&self, spectrum: &'a dyn Spectrum, exec: Exec<'_>) -> Result<Decision<'a>, Error> {
        self.check()?;
        let (asked, (n, m)) = (self.0, spectrum.shape());
        let found = spectrum.leading(Select::Top(asked.min(n.min(m))), exec)?;
        let most = spectrum.numerical_rank(&found.leading);
        if asked > most {
            return Err(Error::DimTooLarge { asked, most, n, m });
        }
        let reason = "the dimension that was given".into();
        Ok(Decision { cut: Cut::at_rank(asked, spectrum, &found.leading, self.name(), reason), found })
    }
}
