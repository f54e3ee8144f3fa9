//! How many dimensions a method keeps that has no rule of its own.

use eigenspan_linalg::Exec;

use crate::data::Samples;
use crate::prepare::Prepared;
use crate::rule::Lambda;
use crate::spectrum::memory::{InMemory, MemorySpectrum, Reading};
use crate::spectrum::{Solver, Spectrum};
use crate::{Dim, Error, Normalize};

/// What was requested, or the k that PCE finds in the same samples, prepared in the same way; at least 1.
pub(crate) fn dimension(
    dim: Dim,
    samples: Samples<'_>,
    normalize: Normalize,
    center: bool,
    exec: Exec<'_>,
) -> Result<usize, Error> {
    match dim {
        Dim::Fixed(0) => Err(Error::Parameter { name: "dim", expected: "at least 1", got: 0.0 }),
        Dim::Fixed(dim) => Ok(dim),
        Dim::Auto => {
            let reading = Reading { normalize, center, solver: Solver::Auto, again: true };
            let (scan, rough) = reading.first(samples, exec)?;
            let preparation = reading.prepare(samples, &scan, exec)?;
            let view = Prepared::new(samples, &preparation, &scan);
            let rows = InMemory { samples, scan: &scan, preparation: &preparation };
            let spectrum = MemorySpectrum::of(rows, &view, rough.and_then(|rough| rough.of(&view)), exec)?;
            if spectrum.norm() == 0.0 {
                return Err(Error::AllZero {
                    n: samples.rows(),
                    m: samples.cols(),
                    centred: preparation.mean.is_some(),
                });
            }
            Ok(Lambda::Auto.rule().cut(&spectrum, exec)?.cut.k.max(1))
        }
    }
}
