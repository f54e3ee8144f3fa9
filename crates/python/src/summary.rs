//! Samples that arrive in portions.

use std::sync::{Mutex, PoisonError};

use eigenspan::PceSummary;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::Held;
use crate::door::{enter, refused};
use crate::model::Model;
use crate::settings::params;

/// What is kept of the samples seen.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Summary {
    summary: Mutex<PceSummary>,
}

#[pymethods]
impl Summary {
    /// Of no samples.
    #[new]
    fn new(keywords: &Bound<'_, PyDict>, features: usize) -> PyResult<Self> {
        let summary = PceSummary::empty(params(keywords)?, features).map_err(refused)?;
        Ok(Self { summary: Mutex::new(summary) })
    }

    /// Takes more samples.
    #[pyo3(signature = (x, threads))]
    fn update(&self, py: Python<'_>, x: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<()> {
        let held = Held::of(x)?;
        let samples = held.samples();
        enter(py, threads, |exec| self.summary.lock().unwrap_or_else(PoisonError::into_inner).update(samples, exec))
    }

    /// The model of all samples seen.
    #[pyo3(signature = (threads))]
    fn finish(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Model> {
        let model =
            enter(py, threads, |exec| self.summary.lock().unwrap_or_else(PoisonError::into_inner).finish(exec))?;
        Ok(Model::new(model))
    }

    /// Samples seen.
    #[getter]
    fn n(&self) -> usize {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner).rows()
    }
}
