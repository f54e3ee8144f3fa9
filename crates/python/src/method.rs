//! Fits of every method by its name: settings in as JSON, a model out.

use eigenspan_core::data::Labels;
use eigenspan_core::registry::{METHODS, Method, Outcome};
use eigenspan_core::rule::Lambda;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Held, Numbers, array};
use crate::door::enter;
use crate::model::Model;
use crate::settings::method;

/// Fits the method of the JSON text `settings`. Returns the model, and the arrays that it does not keep.
///
/// `y` is the number of each sample's class, and the names of the classes.
#[pyfunction]
#[pyo3(signature = (x, y, settings, threads))]
pub fn fit_method<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: Option<(PyReadonlyArray1<'py, i64>, Vec<String>)>,
    settings: &str,
    threads: Option<usize>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let method = method(settings)?;
    let labels = y.map(|(of, names)| labels(&of.as_array().to_vec(), names)).transpose()?;
    let held = Held::of(x)?;
    let samples = held.samples();
    let Outcome { model, low_rank, sparse } =
        enter(py, threads, |exec| method.fit_with(samples, labels.as_ref(), exec))?;
    let beside = PyDict::new(py);
    for (name, part) in [("low_rank", low_rank), ("sparse", sparse)] {
        if let Some(part) = part {
            beside.set_item(name, array(py, part.into(), Numbers::AsGiven))?;
        }
    }
    Ok((Model::new(model), beside))
}

/// Every method: its name, and what it is.
#[pyfunction]
pub fn methods() -> Vec<(&'static str, &'static str)> {
    METHODS.iter().filter(|method| method.preset_of.is_none()).map(|method| (method.name, method.line)).collect()
}

/// The rules for λ that take no value, by their names.
#[pyfunction]
pub fn rules() -> Vec<&'static str> {
    Lambda::names().collect()
}

/// The settings of a method as the paper ran it, as JSON; None where it did not.
#[pyfunction]
pub fn published(method: &str) -> Option<String> {
    let settings = Method::as_published(method)?;
    Some(serde_json::to_string(&settings).expect("settings are plain data"))
}

/// Classes by their numbers.
pub fn labels(of: &[i64], names: Vec<String>) -> PyResult<Labels> {
    let inside = |of: &i64| usize::try_from(*of).ok().filter(|class| *class < names.len());
    let of: Option<Vec<usize>> = of.iter().map(inside).collect();
    let of = of.ok_or_else(|| PyValueError::new_err("a label is not the number of a class"))?;
    Ok(Labels { names, of })
}
