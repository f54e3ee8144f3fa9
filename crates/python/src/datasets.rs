//! Built-in and synthetic data.

use eigenspan::data::Dataset;
use eigenspan::data::generate::Subspaces;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::arrays::{Numbers, array, vector};
use crate::door::enter;

type Labelled<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

fn labelled(py: Python<'_>, data: Dataset) -> Labelled<'_> {
    let labels = data.labels.map_or_else(Vec::new, |labels| labels.of.iter().map(|l| *l as i64).collect());
    (array(py, data.samples, Numbers::AsGiven), vector(py, labels))
}

/// 1797 handwritten digits of 8 × 8 pixels, and the digit that each is.
#[pyfunction]
pub fn digits(py: Python<'_>) -> PyResult<Labelled<'_>> {
    let data = enter(py, Some(1), |_| Ok(eigenspan_io::embedded::digits()))?;
    Ok(labelled(py, data))
}

/// Samples from several random subspaces with noise, and the subspace that each is from.
#[pyfunction]
pub fn subspaces(
    py: Python<'_>,
    samples: usize,
    features: usize,
    subspaces: usize,
    dim: usize,
    noise: f64,
    seed: u64,
) -> PyResult<Labelled<'_>> {
    let wanted = Subspaces { samples, features, subspaces, dim, noise };
    let data = enter(py, Some(1), |_| wanted.generate(seed))?;
    Ok(labelled(py, data))
}
