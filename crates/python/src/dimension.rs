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

/// The samples that differ, and their nearest neighbours: searched once for several estimators.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Neighbourhood {
    near: Near,
}

#[pymethods]
impl Neighbourhood {
    /// Looks for as many neighbours as the estimator that looks at most of them needs.
    #[new]
    #[pyo3(signature = (x, settings, threads))]
    fn new(py: Python<'_>, x: &Bound<'_, PyAny>, settings: Vec<String>, threads: Option<usize>) -> PyResult<Self> {
        let estimators = settings.iter().map(|one| estimator(one)).collect::<PyResult<Vec<_>>>()?;
        let most = estimators.iter().map(Estimator::neighbours).max().unwrap_or(0);
        let held = Held::of(x)?;
        let samples = held.samples();
        Ok(Self { near: enter(py, threads, |exec| Near::of(samples, most, exec))? })
    }

    /// What the estimator that the JSON text `settings` asks for finds in `x`, the samples that this was made of.
    #[pyo3(signature = (x, settings, known, threads))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        settings: &str,
        known: &Calibration,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (estimator, held) = (estimator(settings)?, Held::of(x)?);
        let samples = held.samples();
        let found = enter(py, threads, |exec| estimator.estimate(samples, &self.near, &mut known.open(), exec))?;
        let Estimate { dimension, error, per_point, settings, why, warnings } = found;
        let told = PyDict::new(py);
        told.set_item("dimension", dimension)?;
        told.set_item("standard_error", error)?;
        told.set_item("per_sample", per_point.map(|all| -> Bound<'_, PyArray1<f64>> { vector(py, all) }))?;
        told.set_item("settings", serde_json::to_string(&settings).expect("settings are plain data"))?;
        told.set_item("why", why)?;
        told.set_item("warnings", warnings.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        Ok(told)
    }
}

fn estimator(settings: &str) -> PyResult<Estimator> {
    serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("no estimator takes these settings: {error}")))
}

/// What was computed of balls of known dimension.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Calibration {
    known: Mutex<dimension::Calibration>,
}

impl Calibration {
    fn open(&self) -> MutexGuard<'_, dimension::Calibration> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Calibration {
    /// What the file knows; nothing where there is none.
    #[new]
    #[pyo3(signature = (path))]
    fn new(path: Option<PathBuf>) -> PyResult<Self> {
        let known = path.map(|path| load_calibration(&path)).transpose().map_err(|error| {
            let source = if let CalibrationError::Io { source, .. } = &error { Some(source) } else { None };
            no_file(&error, error.hint(), source)
        })?;
        Ok(Self { known: Mutex::new(known.unwrap_or_default()) })
    }

    /// Writes all that is known.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let saved = save_calibration(&path, &self.open());
        saved.map_err(|error| no_file(&error, error.hint(), system(&error)))
    }

    /// How many balls and fits are known.
    fn __len__(&self) -> usize {
        self.open().len()
    }
}

/// Every estimator: its name, what it looks at, and its default settings as JSON.
#[pyfunction]
pub fn estimators() -> Vec<(&'static str, &'static str, String)> {
    let settings = |name: &str| {
        let estimator = Estimator::named(name).expect("every name is known");
        serde_json::to_string(&estimator).expect("settings are plain data")
    };
    dimension::ESTIMATORS.iter().map(|(name, line)| (*name, *line, settings(name))).collect()
}

/// How many of some estimates are near each other, in words.
#[pyfunction]
pub fn agreement(estimates: Vec<f64>) -> Option<String> {
    dimension::agreement(&estimates).map(|agreement| agreement.to_string())
}
