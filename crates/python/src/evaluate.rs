//! Methods and classifiers on labeled data: a request in JSON in, rows in JSON out.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use eigenspan_core::Error;
use eigenspan_core::data::Dataset;
use eigenspan_study::StudyError;
use eigenspan_study::cache::Cache;
use eigenspan_study::clock::Clock;
use eigenspan_study::evaluate::Request;
use eigenspan_study::run::{Runner, Subject};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::Held;
use crate::door::{enter, no_file, refused};
use crate::method::labels;

/// The clock and the progress callback of Python.
struct Callbacks {
    clock: Py<PyAny>,
    progress: Option<Py<PyAny>>,
    /// The first exception of a callback.
    raised: Mutex<Option<PyErr>>,
}

impl Callbacks {
    fn keep<T>(&self, outcome: PyResult<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                None
            }
        }
    }
}

impl Clock for Callbacks {
    fn seconds(&self) -> f64 {
        let now = Python::attach(|py| self.clock.call0(py)?.extract(py));
        self.keep(now).unwrap_or(0.0)
    }

    fn cell(&self, done: usize, total: usize, next: &str, left: Option<f64>) {
        if let Some(progress) = &self.progress {
            self.keep(Python::attach(|py| progress.call1(py, (done, total, next, left)).map(|_| ())));
        }
    }
}

/// Every method with every classifier of the JSON text `request`, on samples with their classes: rows as JSON, and
/// warnings.
///
/// `callbacks` are a clock, and optionally a function that is called before every fit with the progress.
#[pyfunction]
#[pyo3(signature = (x, y, request, cache, callbacks, threads))]
pub fn evaluate<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: (PyReadonlyArray1<'py, i64>, Vec<String>),
    request: &str,
    cache: Option<PathBuf>,
    callbacks: (Py<PyAny>, Option<Py<PyAny>>),
    threads: Option<usize>,
) -> PyResult<(String, Vec<String>)> {
    let request: Request = serde_json::from_str(request)
        .map_err(|error| PyValueError::new_err(format!("the request is no evaluation: {error}")))?;
    let evaluation = request.evaluation().map_err(unfit)?;
    let mut data = Dataset::new(Held::of(x)?.into_matrix());
    data.labels = Some(labels(&y.0.as_array().to_vec(), y.1)?);
    let cache = cache.as_deref().map_or_else(|| Ok(Cache::in_memory()), Cache::open).map_err(unfit)?;
    let callbacks = Callbacks { clock: callbacks.0, progress: callbacks.1, raised: Mutex::new(None) };
    let done = enter(py, threads, |exec| {
        let mut runner = Runner { cache, clock: &callbacks, exec };
        let subject = request.corrupted(data).and_then(|data| Subject::new("X", data));
        // `enter` reports Ctrl-C.
        match subject.and_then(|subject| evaluation.run(&subject, &mut runner)) {
            Err(StudyError::Method { source, .. }) if source.is_cancelled() => Err(source),
            other => Ok::<_, Error>(other),
        }
    })?;
    if let Some(error) = callbacks.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (rows, warnings) = done.map_err(unfit)?;
    Ok((serde_json::to_string(&rows).expect("rows are plain data"), warnings))
}

/// An error of a study as a Python exception.
fn unfit(error: StudyError) -> PyErr {
    match error {
        StudyError::Method { source, .. } => refused(source),
        other => no_file(&other, other.hint(), None),
    }
}
