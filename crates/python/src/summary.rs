//! Samples that arrive in portions, or lie in partitions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eigenspan_core::linalg::summary::Form;
use eigenspan_core::{Keep, PceParams, PceSummary};
use eigenspan_io::SummaryFile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::Held;
use crate::door::{enter, no_file, refused};
use crate::model::Model;
use crate::settings::{params, settings_of};

/// What is kept of the samples seen.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Summary {
    file: Mutex<SummaryFile>,
}

impl Summary {
    pub fn of(file: SummaryFile) -> Self {
        Self { file: Mutex::new(file) }
    }

    fn lock(&self) -> MutexGuard<'_, SummaryFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Summary {
    /// Of no samples; `form` is what to keep of them.
    #[new]
    fn new(settings: &str, features: usize, form: &str) -> PyResult<Self> {
        let summary = PceSummary::keeping(keep(form)?, params(settings)?, features).map_err(refused)?;
        Ok(Self::of(summary.into()))
    }

    /// Takes more samples.
    #[pyo3(signature = (x, threads))]
    fn update(&self, py: Python<'_>, x: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<()> {
        let held = Held::of(x)?;
        let samples = held.samples();
        enter(py, threads, |exec| self.lock().summary.update(samples, exec))
    }

    /// Takes the samples of another summary, after ours.
    #[pyo3(signature = (other, threads))]
    fn merge(&self, py: Python<'_>, other: &Self, threads: Option<usize>) -> PyResult<()> {
        // A copy, so that the two locks are never held at once: it may be merged with itself.
        let next = other.lock().clone();
        enter(py, threads, |exec| self.lock().merge(&next, exec))
    }

    /// The model of all samples seen, by other settings where they are given.
    #[pyo3(signature = (settings, threads))]
    fn finish(&self, py: Python<'_>, settings: Option<&str>, threads: Option<usize>) -> PyResult<Model> {
        let asked = settings.map(params).transpose()?;
        let model = enter(py, threads, |exec| {
            let file = self.lock();
            let strict = file.summary.state().0.strict;
            file.finish(asked.map(|asked| PceParams { strict, ..asked }), exec)
        })?;
        Ok(Model::of(model))
    }

    /// The bytes of a summary file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let file = self.lock();
        PyBytes::new(py, &file.to_bytes())
    }

    /// A summary from the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let file = SummaryFile::from_bytes("the summary", bytes);
        Ok(Self::of(file.map_err(|error| no_file(&error, error.hint(), None))?))
    }

    /// Pickled as the bytes of a summary file: no pickle depends on how a summary lies in memory.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    /// The settings, as JSON.
    fn settings(&self) -> String {
        settings_of(self.lock().summary.state().0)
    }

    /// What is kept.
    #[getter]
    fn form(&self) -> &'static str {
        match self.lock().summary.form() {
            Form::Gram => "gram",
            Form::Triangle => "triangle",
        }
    }

    /// Samples seen.
    #[getter]
    fn n(&self) -> usize {
        self.lock().summary.rows()
    }

    /// Features of a sample.
    #[getter]
    fn features(&self) -> usize {
        self.lock().summary.features()
    }
}

fn keep(form: &str) -> PyResult<Keep> {
    match form {
        "auto" => Ok(Keep::Auto),
        "gram" => Ok(Keep::Gram),
        "triangle" => Ok(Keep::Triangle),
        _ => Err(PyValueError::new_err(format!("`form` must be 'auto', 'gram' or 'triangle', got '{form}'"))),
    }
}
