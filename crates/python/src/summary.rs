//! Samples that arrive in portions.

use std::sync::{Mutex, PoisonError};

use eigenspan::data::NumberType;
use eigenspan::reduce::stream::Seen;
use eigenspan::{PceSummary, linalg};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::Held;
use crate::door::{enter, refused};
use crate::model::Model;
use crate::settings::{keywords, number_type, params};

/// Shortest, longest, samples of length zero, the first of them.
type Lengths = (f64, f64, usize, Vec<usize>);
/// Numbers, first sample, which features vary.
type Features = (String, Vec<f64>, Vec<bool>);
type State<'py> = (Bound<'py, PyDict>, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>, Lengths, Features);

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
        Ok(Model::new(eigenspan::Model::Pce(model)))
    }

    /// Everything there is, as what Python can pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, State<'py>)> {
        let summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        let (params, prepared, unscaled, seen) = summary.state();
        let bytes = |summary: &linalg::Summary| PyBytes::new(py, &summary.to_bytes());
        let Seen { number_type, shortest, longest, zeros, zero_rows, first, varies } = seen.clone();
        let lengths = (shortest, longest, zeros, zero_rows);
        let numbers = match number_type {
            NumberType::F64 => "float64",
            NumberType::F32 => "float32",
            NumberType::U8 => "uint8",
        };
        let features = (numbers.into(), first, varies);
        let state = (keywords(py, params)?, bytes(prepared), unscaled.map(bytes), lengths, features);
        Ok((py.get_type::<Self>().getattr("from_state")?, state))
    }

    /// From what a pickle holds.
    #[staticmethod]
    fn from_state(
        keywords: &Bound<'_, PyDict>,
        prepared: &[u8],
        unscaled: Option<&[u8]>,
        lengths: Lengths,
        features: Features,
    ) -> PyResult<Self> {
        let summary = |bytes: &[u8]| linalg::Summary::from_bytes(bytes).map_err(|error| refused(error.into()));
        let (shortest, longest, zeros, zero_rows) = lengths;
        let (numbers, first, varies) = features;
        let number_type = number_type(&numbers)?;
        let seen = Seen { number_type, shortest, longest, zeros, zero_rows, first, varies };
        let unscaled = unscaled.map(summary).transpose()?;
        let whole = PceSummary::from_state(params(keywords)?, summary(prepared)?, unscaled, seen);
        Ok(Self { summary: Mutex::new(whole.map_err(refused)?) })
    }

    /// Samples seen.
    #[getter]
    fn n(&self) -> usize {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner).rows()
    }
}
