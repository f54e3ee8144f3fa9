//! Samples that arrive one by one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eigenspan_core::data::ImageShape;
use eigenspan_core::linalg::online::{Discarded, OnlineState};
use eigenspan_core::method::pce::online::OnlineParts;
use eigenspan_core::{Mat, Model as AnyModel, OnlineParams, OnlinePce};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{Held, Numbers, array, vector};
use crate::door::{enter, refused};
use crate::model::Model;
use crate::settings::{number_name, number_type, params, settings_of};

/// The decomposition of the samples so far.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Online {
    inner: Mutex<OnlinePce>,
}

impl Online {
    fn lock(&self) -> MutexGuard<'_, OnlinePce> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The given parameters, and defaults for the others.
fn given_or(defaults: OnlineParams, rank: Option<usize>, forget: Option<f64>) -> OnlineParams {
    let block = if rank.is_some() { None } else { defaults.block };
    OnlineParams { rank: rank.unwrap_or(defaults.rank), forget: forget.unwrap_or(defaults.forget), block }
}

#[pymethods]
impl Online {
    /// Without samples.
    #[new]
    #[pyo3(signature = (settings, features, rank, forget))]
    fn new(settings: &str, features: usize, rank: Option<usize>, forget: Option<f64>) -> PyResult<Self> {
        let online = given_or(OnlineParams::default(), rank, forget);
        let inner = OnlinePce::new(params(settings)?, online, features).map_err(refused)?;
        Ok(Self { inner: Mutex::new(inner) })
    }

    /// Updates a model: the decomposition starts from it.
    #[staticmethod]
    #[pyo3(signature = (model, settings, rank, forget))]
    fn resume(model: &Model, settings: &str, rank: Option<usize>, forget: Option<f64>) -> PyResult<Self> {
        let online = given_or(OnlineParams::of(model.pce()), rank, forget);
        let inner = OnlinePce::resume(model.pce(), params(settings)?, online).map_err(refused)?;
        Ok(Self { inner: Mutex::new(inner) })
    }

    /// Adds samples.
    #[pyo3(signature = (x, threads))]
    fn update(&self, py: Python<'_>, x: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<()> {
        let held = Held::of(x)?;
        let samples = held.samples();
        enter(py, threads, |exec| self.lock().update(samples, exec))
    }

    /// The model of all samples.
    #[pyo3(signature = (threads))]
    fn finish(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Model> {
        let model = enter(py, threads, |exec| self.lock().finish(exec))?;
        Ok(Model::new(AnyModel::from(model)))
    }

    /// The whole state in numbers and arrays, for a pickle.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let OnlineParts { params, online, number_type, zeros, zero_rows, image, proved, state } = self.lock().parts();
        let all = PyDict::new(py);
        all.set_item("settings", settings_of(&params))?;
        all.set_item("kind", (online.rank, online.forget, online.block))?;
        all.set_item("numbers", number_name(number_type))?;
        all.set_item("zeros", (zeros, zero_rows))?;
        all.set_item("image", image.map(|shape| (shape.height, shape.width)))?;
        all.set_item("proved", proved)?;
        all.set_item("counts", (state.rows, state.updates))?;
        all.set_item("weights", (state.weight, state.discarded.energy, state.discarded.top))?;
        all.set_item("mean", state.mean.map(|[high, low]| (vector(py, high), vector(py, low))))?;
        all.set_item("basis", array(py, state.basis.into(), Numbers::AsGiven))?;
        all.set_item("sigma", vector(py, state.sigma))?;
        all.set_item("waiting", vector(py, state.waiting))?;
        Ok(all)
    }

    /// From the result of `state`.
    #[staticmethod]
    fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let get = |name: &str| state.as_any().get_item(name);
        let numbers = |of: Bound<'_, PyAny>| -> PyResult<Vec<f64>> {
            Ok(of.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
        };
        let (rank, forget, block): (usize, f64, Option<usize>) = get("kind")?.extract()?;
        let (zeros, zero_rows): (usize, Vec<usize>) = get("zeros")?.extract()?;
        let image: Option<(usize, usize)> = get("image")?.extract()?;
        let (rows, updates): (usize, usize) = get("counts")?.extract()?;
        let (weight, energy, top): (f64, f64, f64) = get("weights")?.extract()?;
        let mean = match get("mean")? {
            none if none.is_none() => None,
            pair => Some([numbers(pair.get_item(0)?)?, numbers(pair.get_item(1)?)?]),
        };
        let basis = get("basis")?.extract::<PyReadonlyArray2<'_, f64>>()?;
        let basis = basis.as_array();
        let basis = Mat::from_fn(basis.nrows(), basis.ncols(), |i, j| basis[(i, j)]);
        let (sigma, waiting) = (numbers(get("sigma")?)?, numbers(get("waiting")?)?);
        let inner = OnlinePce::from_parts(OnlineParts {
            params: params(&get("settings")?.extract::<String>()?)?,
            online: OnlineParams { rank, forget, block },
            number_type: number_type(&get("numbers")?.extract::<String>()?)?,
            zeros,
            zero_rows,
            image: image.map(|(height, width)| ImageShape { height, width }),
            proved: get("proved")?.extract()?,
            state: OnlineState {
                rows,
                updates,
                weight,
                mean,
                basis,
                sigma,
                discarded: Discarded { energy, top },
                waiting,
            },
        });
        Ok(Self { inner: Mutex::new(inner.map_err(refused)?) })
    }

    /// Pickled as numbers and arrays: pickles do not depend on the memory layout.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((py.get_type::<Self>().getattr("from_state")?, PyTuple::new(py, [self.state(py)?])?))
    }

    /// Maximum number of directions kept.
    #[getter]
    fn rank(&self) -> usize {
        self.lock().online().rank
    }

    /// The forgetting factor.
    #[getter]
    fn forget(&self) -> f64 {
        self.lock().online().forget
    }

    /// The number of samples.
    #[getter]
    fn n(&self) -> usize {
        self.lock().rows()
    }
}
