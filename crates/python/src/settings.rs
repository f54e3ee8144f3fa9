//! Settings from Python and back, as JSON: the language of the command line, of protocols and of model files.

use eigenspan_core::PceParams;
use eigenspan_core::data::NumberType;
use eigenspan_core::registry::Method;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// The method of the JSON text; settings that it does not give are those for which the name stands.
pub fn method(settings: &str) -> PyResult<Method> {
    let refused =
        |error: &dyn std::fmt::Display| PyValueError::new_err(format!("no method takes these settings: {error}"));
    let mut all: Map<String, Value> = serde_json::from_str(settings).map_err(|error| refused(&error))?;
    let name = all.remove("method");
    let base = name.as_ref().and_then(Value::as_str).and_then(Method::named);
    let base = base.ok_or_else(|| refused(&"there is no such method"))?;
    all.iter().try_fold(base, |method, (name, value)| method.with(name, value)).map_err(|error| refused(&error))
}

/// The parameters of PCE, or those for which PCA asks PCE.
pub fn params(settings: &str) -> PyResult<PceParams> {
    match method(settings)? {
        Method::Pce(params) => Ok(params),
        Method::Pca(params) => params.streamed().ok_or_else(|| {
            PyValueError::new_err("the number of components by 'mle' needs all samples at once: use `fit`")
        }),
        other => Err(PyValueError::new_err(format!("{} needs all samples at once", other.name()))),
    }
}

/// Parameters of PCE as JSON.
pub fn settings_of(params: &PceParams) -> String {
    serde_json::to_string(&Method::Pce(*params)).expect("settings are plain data")
}

/// The numbers of that NumPy name.
pub fn number_type(name: &str) -> PyResult<NumberType> {
    match name {
        "float64" => Ok(NumberType::F64),
        "float32" => Ok(NumberType::F32),
        "uint8" => Ok(NumberType::U8),
        _ => Err(PyValueError::new_err(format!("`dtype` must be float64, float32 or uint8, got {name}"))),
    }
}

/// The NumPy name of numbers.
pub fn number_name(numbers: NumberType) -> &'static str {
    match numbers {
        NumberType::F64 => "float64",
        NumberType::F32 => "float32",
        NumberType::U8 => "uint8",
    }
}
