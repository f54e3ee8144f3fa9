//! A fitted model.

use std::path::PathBuf;

use eigenspan_core::method::pca::explained_variance;
use eigenspan_core::model::fitted::{Classes, Fitted as _};
use eigenspan_core::{Model as AnyModel, Pce, Warning};
use eigenspan_io::onnx::to_onnx;
use eigenspan_io::{ModelError, ModelFile, Provenance, WriteError};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{Held, Numbers, array, vector};
use crate::door::{enter, no_file};
use crate::settings::{number_type, params, settings_of};

/// All singular values of the prepared samples, largest first, whatever the cut.
#[pyfunction]
#[pyo3(signature = (x, settings, threads))]
pub fn singular_values<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    settings: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (params, held) = (params(settings)?, Held::of(x)?);
    let samples = held.samples();
    Ok(vector(py, enter(py, threads, |exec| params.values(samples, exec))?))
}

/// Writes bytes to a file, all at once or not at all.
#[pyfunction]
pub fn write(path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    let written = eigenspan_io::write_atomically(&path, |out| out.write_all(bytes));
    written.map_err(|error| no_file(&error, error.hint(), system(&error)))
}

/// Clean parts, errors and scores.
type Recovered<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

/// τ/τ₀, γ, columns, samples known.
type Trial = (f64, f64, usize, usize);

/// A fitted model: what it is, and what it does with samples.
#[pyclass(frozen, module = "eigenspan._eigenspan")]
pub struct Model {
    file: ModelFile,
}

impl Model {
    /// Of a model that was fitted now.
    pub fn new(model: AnyModel) -> Self {
        Self::of(ModelFile { model, provenance: Provenance::of_array("an array") })
    }

    /// Of a model that knows where it came from.
    pub fn of(file: ModelFile) -> Self {
        Self { file }
    }

    /// The model, of whatever method.
    pub fn any(&self) -> &AnyModel {
        &self.file.model
    }

    /// Where it came from.
    pub fn provenance(&self) -> &Provenance {
        &self.file.provenance
    }

    /// The model of PCE or PCA: the classes that ask for it hold no other.
    pub fn pce(&self) -> &Pce {
        self.file.model.as_pce().expect("the classes that ask for it hold models of PCE and PCA")
    }
}

#[pymethods]
impl Model {
    /// Features of samples.
    #[pyo3(signature = (x, threads))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = Held::of(x)?;
        let samples = held.samples();
        let features = enter(py, threads, |exec| self.file.model.transform_with(samples, exec))?;
        Ok(array(py, features, held.numbers()))
    }

    /// The samples that features stand for.
    #[pyo3(signature = (z, lengths, threads))]
    fn inverse_transform<'py>(
        &self,
        py: Python<'py>,
        z: &Bound<'py, PyAny>,
        lengths: Option<PyReadonlyArray1<'py, f64>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = Held::of(z)?;
        let features = held.samples();
        let lengths = lengths.map(|lengths| lengths.as_array().to_vec());
        let samples = enter(py, threads, |exec| self.pce().inverse_transform_with(features, lengths.as_deref(), exec))?;
        Ok(array(py, samples, Numbers::AsGiven))
    }

    /// What the model explains of samples, the rest, and the length of the rest.
    #[pyo3(signature = (x, threads))]
    fn recover<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>, threads: Option<usize>) -> PyResult<Recovered<'py>> {
        let held = Held::of(x)?;
        let samples = held.samples();
        let parts = enter(py, threads, |exec| self.pce().recover_with(samples, exec))?;
        let numbers = held.numbers();
        Ok((array(py, parts.clean, numbers), array(py, parts.error, numbers), vector(py, parts.score)))
    }

    /// Every λ at which k changes over the given values, and k from there on.
    fn path_over<'py>(
        &self,
        py: Python<'py>,
        sigma: PyReadonlyArray1<'py, f64>,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>) {
        let steps = self.pce().path_over(&sigma.as_array().to_vec());
        let (lambdas, ks) = steps.iter().map(|step| (step.lambda, step.k as i64)).unzip();
        (vector(py, lambdas), vector(py, ks))
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.file.to_bytes())
    }

    /// A model from the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let file = ModelFile::from_bytes("the model", bytes).map_err(|error| unreadable(&error))?;
        Ok(Self { file })
    }

    /// Pickled as the bytes of a model file: no pickle depends on how a model lies in memory.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    /// Writes a model file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.file.save(&path).map_err(|error| no_file(&error, error.hint(), system(&error)))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Ok(Self { file: ModelFile::load(&path).map_err(|error| unreadable(&error))? })
    }

    /// The bytes of an ONNX graph that takes samples of these numbers; those of the training samples by default.
    #[pyo3(signature = (numbers))]
    fn to_onnx<'py>(&self, py: Python<'py>, numbers: Option<&str>) -> PyResult<Bound<'py, PyBytes>> {
        let numbers = numbers.map_or(Ok(self.pce().parts().number_type), number_type)?;
        Ok(PyBytes::new(py, &to_onnx(self.pce(), numbers)))
    }

    /// U (m × columns).
    fn basis<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        array(py, self.pce().parts().basis.clone().into(), Numbers::AsGiven)
    }

    /// Θ (m × columns).
    fn theta<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        array(py, self.pce().theta().into(), Numbers::AsGiven)
    }

    /// The leading singular values that are known.
    fn sigma<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.pce().parts().sigma.clone())
    }

    /// σ²/(n − 1) of each column.
    fn explained_variance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, explained_variance(self.pce()))
    }

    /// σ²/Σσ² of each column.
    fn explained_variance_ratio<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.pce().energies())
    }

    /// μ, where samples are centred.
    fn mean<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.pce().parts().preparation.mean.clone().map(|mean| vector(py, mean))
    }

    /// The arrays of a model, by name; a vector is a matrix of one row.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arrays = PyDict::new(py);
        for (name, values) in self.file.model.arrays().iter() {
            arrays.set_item(name, array(py, values.clone().into(), Numbers::AsGiven))?;
        }
        Ok(arrays)
    }

    /// The class of each sample, by its number, and how many of them are not settled.
    #[pyo3(signature = (x, threads))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, usize)> {
        let held = Held::of(x)?;
        let samples = held.samples();
        let Classes { of, unfinished } = enter(py, threads, |exec| self.file.model.classify(samples, exec))?;
        Ok((vector(py, of.into_iter().map(|class| class as i64).collect()), unfinished))
    }

    /// The nearest training samples of each sample: distances and numbers.
    #[pyo3(signature = (x, k, threads))]
    fn neighbours<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        k: usize,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let AnyModel::Nn(model) = &self.file.model else {
            unreachable!("{} has no neighbours", self.file.model.info().method)
        };
        let held = Held::of(x)?;
        let samples = held.samples();
        let found = enter(py, threads, |exec| model.neighbours_with(samples, k, exec))?;
        let index = found.index.iter().map(|i| *i as i64).collect();
        let (n, k) = (samples.rows(), found.k);
        let index = vector(py, index).reshape((n, k))?.into_any();
        let distance = vector(py, found.distance).reshape((n, k))?.into_any();
        Ok((distance, index))
    }

    /// The names of the classes that a classifier tells apart.
    fn classes(&self) -> Vec<String> {
        self.file.model.class_names().unwrap_or_default().to_vec()
    }

    /// What was asked, as JSON.
    fn settings(&self) -> String {
        serde_json::to_string(&self.file.model.settings()).expect("settings are plain data")
    }

    /// How the iteration went: what was measured, its values, the rounds, and why there were no more.
    fn trace(&self) -> Option<(String, Vec<f64>, usize, bool)> {
        let trace = self.file.model.info().trace?;
        Some((trace.measure.clone(), trace.values.clone(), trace.rounds, trace.converged()))
    }

    /// What the user should know.
    fn warnings(&self) -> Vec<String> {
        self.file.model.info().warnings.iter().map(Warning::to_string).collect()
    }

    /// Every pair of weights that was tried, (τ/τ₀, γ, columns, samples known), and how many samples were tried; None where
    /// weights were not for the data to choose.
    fn trials(&self) -> Option<(Vec<Trial>, usize)> {
        let chosen = self.pce().parts().chosen.as_ref()?;
        let trials = chosen.trials.iter().map(|t| (t.factor, t.gamma, t.columns, t.known)).collect();
        Some((trials, chosen.tried))
    }

    /// The parameters of PCE, as JSON, also where they are those for which PCA asks it.
    fn settings_of_pce(&self) -> String {
        settings_of(&self.pce().parts().params)
    }

    #[getter]
    fn k(&self) -> usize {
        self.pce().k()
    }

    #[getter]
    fn columns(&self) -> usize {
        self.file.model.columns()
    }

    #[getter]
    fn features(&self) -> usize {
        self.file.model.features()
    }

    #[getter]
    fn n(&self) -> usize {
        self.file.model.info().n
    }

    #[getter(lambda_)]
    fn lambda(&self) -> f64 {
        self.pce().parts().lambda
    }

    #[getter]
    fn tau(&self) -> f64 {
        self.pce().parts().tau
    }

    #[getter]
    fn gamma(&self) -> Option<f64> {
        self.pce().gamma()
    }

    #[getter]
    fn k_interval(&self) -> (usize, usize) {
        self.pce().parts().k_interval
    }

    /// δ: every singular value of the samples lies between σ and √(σ² + δ²).
    #[getter]
    fn drift(&self) -> f64 {
        self.pce().drift()
    }

    /// Directions kept on the way and the forgetting factor, where samples arrived one by one.
    #[getter]
    fn online(&self) -> Option<(usize, f64)> {
        self.pce().parts().online.as_ref().map(|trail| (trail.rank, trail.forget))
    }

    #[getter]
    fn solver(&self) -> &str {
        &self.pce().parts().solver
    }

    #[getter]
    fn certified(&self) -> bool {
        self.pce().parts().certified
    }

    #[getter]
    fn why(&self) -> &str {
        self.file.model.info().why
    }
}

fn unreadable(error: &ModelError) -> PyErr {
    let source = if let ModelError::Io { source, .. } = error { Some(source) } else { None };
    no_file(error, error.hint(), source)
}

pub(crate) fn system(error: &WriteError) -> Option<&std::io::Error> {
    if let WriteError::Io { source, .. } = error { Some(source) } else { None }
}
