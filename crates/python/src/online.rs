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

/// The decomposition of the samples seen.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Online {
    seen: Mutex<OnlinePce>,
}

impl Online {
    fn lock(&self) -> MutexGuard<'_, OnlinePce> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was asked, and otherwise as usual.
fn asked(usual: OnlineParams, rank: Option<usize>, forget: Option<f64>) -> OnlineParams {
    let block = if rank.is_some() { None } else { usual.block };
    OnlineParams { rank: rank.unwrap_or(usual.rank), forget: forget.unwrap_or(usual.forget), block }
}

#[pymethods]
impl Online {
    /// Of no samples.
    #[new]
    #[pyo3(signature = (settings, features, rank, forget))]
    fn new(settings: &str, features: usize, rank: Option<usize>, forget: Option<f64>) -> PyResult<Self> {
        let online = asked(OnlineParams::default(), rank, forget);
        let seen = OnlinePce::new(params(settings)?, online, features).map_err(refused)?;
        Ok(Self { seen: Mutex::new(seen) })
    }

    /// Goes on from a model.
    #[staticmethod]
    #[pyo3(signature = (model, settings, rank, forget))]
    fn resume(model: &Model, settings: &str, rank: Option<usize>, forget: Option<f64>) -> PyResult<Self> {
        let online = asked(OnlineParams::of(model.pce()), rank, forget);
        let seen = OnlinePce::resume(model.pce(), params(settings)?, online).map_err(refused)?;
        Ok(Self { seen: Mutex::new(seen) })
    }

    /// Takes more samples.
    #[pyo3(signature = (x, threads))]
    fn update(&self, py: Python<'_>, x: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<()> {
        let held = Held::of(x)?;
        let samples = held.samples();
        enter(py, threads, |exec| self.lock().update(samples, exec))
    }

    /// The model of all samples seen.
    #[pyo3(signature = (threads))]
    fn finish(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Model> {
        let model = enter(py, threads, |exec| self.lock().finish(exec))?;
        Ok(Model::new(AnyModel::from(model)))
    }

    /// Everything there is, in numbers and arrays: what a pickle holds.
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

    /// From what `state` gave.
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
        let seen = OnlinePce::from_parts(OnlineParts {
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
        Ok(Self { seen: Mutex::new(seen.map_err(refused)?) })
    }

    /// Pickled as numbers and arrays: no pickle depends on how it lies in memory.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((py.get_type::<Self>().getattr("from_state")?, PyTuple::new(py, [self.state(py)?])?))
    }

    /// Directions kept on the way, at most.
    #[getter]
    fn rank(&self) -> usize {
        self.lock().online().rank
    }

    /// The forgetting factor.
    #[getter]
    fn forget(&self) -> f64 {
        self.lock().online().forget
    }

    /// Samples seen.
    #[getter]
    fn n(&self) -> usize {
        self.lock().rows()
    }
}
