//! Estimators of the dimension by their name: settings in as JSON, an estimate out.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eigenspan_core::dimension::{self, Estimate, Estimator, Near};
use eigenspan_io::{CalibrationError, load_calibration, save_calibration};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Held, vector};
use crate::door::{enter, no_file};
use crate::model::system;

/// The distinct samples and their nearest neighbors, searched once for several estimators.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Neighbourhood {
    near: Near,
}

#[pymethods]
impl Neighbourhood {
    /// Searches as many neighbors as the estimators need at most.
    #[new]
    #[pyo3(signature = (x, settings, threads))]
    fn new(py: Python<'_>, x: &Bound<'_, PyAny>, settings: Vec<String>, threads: Option<usize>) -> PyResult<Self> {
        let estimators = settings.iter().map(|one| estimator(one)).collect::<PyResult<Vec<_>>>()?;
        let neighbors = estimators.iter().map(Estimator::neighbours).max().unwrap_or(0);
        let held = Held::of(x)?;
        let samples = held.samples();
        Ok(Self { near: enter(py, threads, |exec| Near::of(samples, neighbors, exec))? })
    }

    /// The estimate for `x`, the samples given to `new`, by the estimator with the settings in JSON.
    #[pyo3(signature = (x, settings, calibration, threads))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        settings: &str,
        calibration: &Calibration,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (estimator, held) = (estimator(settings)?, Held::of(x)?);
        let samples = held.samples();
        let found = enter(py, threads, |exec| estimator.estimate(samples, &self.near, &mut calibration.open(), exec))?;
        let Estimate { dimension, error, per_point, settings, why, warnings } = found;
        let result = PyDict::new(py);
        result.set_item("dimension", dimension)?;
        result.set_item("standard_error", error)?;
        result.set_item("per_sample", per_point.map(|all| -> Bound<'_, PyArray1<f64>> { vector(py, all) }))?;
        result.set_item("settings", serde_json::to_string(&settings).expect("settings are plain data"))?;
        result.set_item("why", why)?;
        result.set_item("warnings", warnings.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        Ok(result)
    }
}

fn estimator(settings: &str) -> PyResult<Estimator> {
    serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("the settings fit no estimator: {error}")))
}

/// Results on balls of known dimension.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Calibration {
    inner: Mutex<dimension::Calibration>,
}

impl Calibration {
    fn open(&self) -> MutexGuard<'_, dimension::Calibration> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Calibration {
    /// The calibration in the file; an empty one without a file.
    #[new]
    #[pyo3(signature = (path))]
    fn new(path: Option<PathBuf>) -> PyResult<Self> {
        let found = path.map(|path| load_calibration(&path)).transpose().map_err(|error| {
            let source = if let CalibrationError::Io { source, .. } = &error { Some(source) } else { None };
            no_file(&error, error.hint(), source)
        })?;
        Ok(Self { inner: Mutex::new(found.unwrap_or_default()) })
    }

    /// Writes the calibration to a file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let saved = save_calibration(&path, &self.open());
        saved.map_err(|error| no_file(&error, error.hint(), system(&error)))
    }

    /// The number of balls and fits.
    fn __len__(&self) -> usize {
        self.open().len()
    }
}

/// Every estimator: its name, a line on its method, and its default settings as JSON.
#[pyfunction]
pub fn estimators() -> Vec<(&'static str, &'static str, String)> {
    let settings = |name: &str| {
        let estimator = Estimator::named(name).expect("a listed name");
        serde_json::to_string(&estimator).expect("settings are plain data")
    };
    dimension::ESTIMATORS.iter().map(|(name, line)| (*name, *line, settings(name))).collect()
}

/// The agreement of several estimates, in words.
#[pyfunction]
pub fn agreement(estimates: Vec<f64>) -> Option<String> {
    dimension::agreement(&estimates).map(|agreement| agreement.to_string())
}
