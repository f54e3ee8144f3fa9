//! How many dimensions a method keeps that has no rule of its own.

use eigenspan_linalg::Exec;

use crate::data::Samples;
use crate::{Dim, Error, Normalize, PceParams};

/// What was asked for, or the k that PCE finds in the same samples, prepared in the same way.
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
            let params = PceParams { normalize, center, ..PceParams::default() };
            Ok(params.fit_with(samples, exec)?.columns())
        }
    }
}
