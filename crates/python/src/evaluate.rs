//! Methods and classifiers on labelled data: what is asked in as JSON, rows out as JSON.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use eigenspan_core::Error;
use eigenspan_core::data::Dataset;
use eigenspan_study::StudyError;
use eigenspan_study::cache::Cache;
use eigenspan_study::clock::Clock;
use eigenspan_study::evaluate::Asked;
use eigenspan_study::run::{Runner, Subject};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::Held;
use crate::door::{enter, no_file, refused};
use crate::method::labels;

/// What Python hands in: its clock, and whom to tell how far it is.
struct Hands {
    clock: Py<PyAny>,
    progress: Option<Py<PyAny>>,
    /// The first that one of them raised.
    raised: Mutex<Option<PyErr>>,
}

impl Hands {
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

impl Clock for Hands {
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

/// Every method with every classifier, as the JSON text `asked` says, on samples with their classes: the rows as a JSON
/// text, and what the user should know.
///
/// `hands` are a clock, and what is called before every fit where someone wants to know how far it is.
#[pyfunction]
#[pyo3(signature = (x, y, asked, cache, hands, threads))]
pub fn evaluate<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: (PyReadonlyArray1<'py, i64>, Vec<String>),
    asked: &str,
    cache: Option<PathBuf>,
    hands: (Py<PyAny>, Option<Py<PyAny>>),
    threads: Option<usize>,
) -> PyResult<(String, Vec<String>)> {
    let asked: Asked = serde_json::from_str(asked)
        .map_err(|error| PyValueError::new_err(format!("no evaluation is asked for like this: {error}")))?;
    let evaluation = asked.evaluation().map_err(unfit)?;
    let mut data = Dataset::new(Held::of(x)?.into_matrix());
    data.labels = Some(labels(&y.0.as_array().to_vec(), y.1)?);
    let cache = cache.as_deref().map_or_else(|| Ok(Cache::in_memory()), Cache::open).map_err(unfit)?;
    let hands = Hands { clock: hands.0, progress: hands.1, raised: Mutex::new(None) };
    let done = enter(py, threads, |exec| {
        let mut runner = Runner { cache, clock: &hands, exec };
        let subject = asked.corrupted(data).and_then(|data| Subject::new("X", data));
        // Ctrl-C is the door's to tell.
        match subject.and_then(|subject| evaluation.run(&subject, &mut runner)) {
            Err(StudyError::Method { source, .. }) if source.is_cancelled() => Err(source),
            other => Ok::<_, Error>(other),
        }
    })?;
    if let Some(error) = hands.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (rows, warnings) = done.map_err(unfit)?;
    Ok((serde_json::to_string(&rows).expect("rows are plain data"), warnings))
}

/// An error of a study as Python's.
fn unfit(error: StudyError) -> PyErr {
    match error {
        StudyError::Method { source, .. } => refused(source),
        other => no_file(&other, other.hint(), None),
    }
}
