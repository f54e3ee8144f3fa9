//! Files that may be larger than memory: fits, updates, summaries and features of them, by [`eigenspan_feed`].

use std::path::PathBuf;

use eigenspan_core::Exec;
use eigenspan_core::data::ImageShape;
use eigenspan_feed::{
    Checkpoints, FeedError, Files, Fit, Form, Recover, SketchOptions, Summarize, Transform, Update, parse_size,
};
use eigenspan_io::{CheckpointError, ModelError, ReadError, ReadOptions, WriteError};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::door::{enter, no_file, refused};
use crate::model::Model;
use crate::settings::params;
use crate::summary::Summary;

/// The model of all samples of the files; `how` holds the options of reading.
#[pyfunction]
pub fn fit_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    settings: &str,
    how: How<'_>,
    threads: Option<usize>,
) -> PyResult<Model> {
    let Summarize { files, params, form, max_memory, checkpoints } = how.summarize(paths, settings)?;
    let fit = Fit { files, params, form, sketch: how.sketch()?, max_memory, checkpoints };
    let fitted = feed(py, threads, |exec| fit.run(exec))?;
    fitted.discard_checkpoint().map_err(not_fed)?;
    Ok(Model::of(fitted.file))
}

/// The summary of all samples of the files.
#[pyfunction]
pub fn summarize_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    settings: &str,
    how: How<'_>,
    threads: Option<usize>,
) -> PyResult<Summary> {
    let summarize = how.summarize(paths, settings)?;
    let file = feed(py, threads, |exec| summarize.run(exec))?;
    summarize.discard_checkpoint().map_err(not_fed)?;
    Ok(Summary::of(file))
}

/// The model updated with all samples of the files.
#[pyfunction]
pub fn update_files(
    py: Python<'_>,
    model: &Model,
    paths: Vec<PathBuf>,
    settings: &str,
    how: How<'_>,
    threads: Option<usize>,
) -> PyResult<Model> {
    let (files, max_memory) = how.files(paths)?;
    let params = Some(params(settings)?);
    let update = Update { files, params, rank: how.get("rank")?, forget: how.get("forget")?, max_memory };
    let (before, provenance) = (model.pce(), model.provenance());
    let updated = feed(py, threads, |exec| update.run(before, provenance, exec))?;
    Ok(Model::of(updated.file))
}

/// Writes the features of all samples of the files; returns their number.
#[pyfunction]
pub fn transform_files(
    py: Python<'_>,
    model: &Model,
    paths: Vec<PathBuf>,
    output: PathBuf,
    how: How<'_>,
    threads: Option<usize>,
) -> PyResult<usize> {
    let (files, max_memory) = how.files(paths)?;
    let transform = Transform { model: model.any(), max_memory };
    feed(py, threads, |exec| transform.files(&files, &output, exec))
}

/// Writes clean samples and scores of a file; returns the number of samples.
#[pyfunction]
pub fn recover_file(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    output: Option<PathBuf>,
    scores: Option<PathBuf>,
    how: How<'_>,
    threads: Option<usize>,
) -> PyResult<usize> {
    let (files, max_memory) = how.files(vec![path.clone()])?;
    let recover = Recover { model: model.pce(), output: output.as_deref(), scores: scores.as_deref(), max_memory };
    let rows = files.open_named(&path, max_memory).map_err(not_fed)?;
    feed(py, threads, |exec| recover.rows(rows, exec, |_, _, _| ()))
}

/// Runs work on files without the interpreter's lock.
fn feed<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(Exec<'_>) -> Result<T, FeedError> + Send,
) -> PyResult<T> {
    enter(py, threads, |exec| Ok(work(exec)))?.map_err(not_fed)
}

/// Options of reading files, by name: keywords of Python, all of them optional.
#[derive(FromPyObject)]
#[pyo3(transparent)]
pub struct How<'py> {
    options: Bound<'py, PyDict>,
}

impl<'py> How<'py> {
    fn option(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.options.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.option(name)? else { return Ok(None) };
        let found = value.extract::<T>().map_err(Into::<PyErr>::into);
        found.map(Some).map_err(|error| PyTypeError::new_err(format!("`{name}`: {}", error.value(value.py()))))
    }

    /// A number of bytes, or text such as `2GB`.
    fn size(&self, name: &str) -> PyResult<Option<u64>> {
        let Some(value) = self.option(name)? else { return Ok(None) };
        let text = match value.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => value.extract::<u64>().map_or_else(|_| "none".into(), |bytes| bytes.to_string()),
        };
        let wrong = || PyValueError::new_err(format!("`{name}` must be a number of bytes or a size such as '2GB'"));
        parse_size(&text).map(Some).ok_or_else(wrong)
    }

    fn form(&self) -> PyResult<Form> {
        let name = self.get::<String>("form")?.unwrap_or_else(|| "auto".into());
        let wrong = || format!("`form` must be 'auto' or 'gram' or 'triangle' or 'sketch', got '{name}'");
        Form::named(&name).ok_or_else(|| PyValueError::new_err(wrong()))
    }

    fn checkpoints(&self) -> PyResult<Option<Checkpoints>> {
        let every = self.size("checkpoint_every")?;
        let Some(defaults) = self.get::<PathBuf>("checkpoint")?.map(Checkpoints::to) else { return Ok(None) };
        Ok(Some(Checkpoints { every: every.unwrap_or(defaults.every), ..defaults }))
    }

    fn sketch(&self) -> PyResult<SketchOptions> {
        let (passes, columns) = (self.get("passes")?, self.get("sketch_columns")?);
        Ok(SketchOptions { passes, columns, seed: self.get("sketch_seed")? })
    }

    fn summarize(&self, paths: Vec<PathBuf>, settings: &str) -> PyResult<Summarize> {
        let (files, max_memory) = self.files(paths)?;
        let (params, form) = (params(settings)?, self.form()?);
        Ok(Summarize { files, params, form, max_memory, checkpoints: self.checkpoints()? })
    }

    /// The files, and the maximum memory in bytes.
    fn files(&self, paths: Vec<PathBuf>) -> PyResult<(Files, Option<u64>)> {
        let shape = |name: &str| -> PyResult<Option<ImageShape>> {
            Ok(self.get::<(usize, usize)>(name)?.map(|(height, width)| ImageShape { height, width }))
        };
        let files = Files::new(paths).read_by(ReadOptions {
            label: self.get("label")?,
            array: self.get("array")?,
            image: shape("image")?,
            resize: shape("resize")?,
            grey: self.get("grey")?.unwrap_or(false),
            memory: None,
        });
        Ok((files, self.size("max_memory")?))
    }
}

/// An error of work on files as a Python exception.
fn not_fed(error: FeedError) -> PyErr {
    let hint = error.hint();
    let source = match &error {
        FeedError::Core(_) => None,
        FeedError::Read(ReadError::Io { source, .. })
        | FeedError::Write(WriteError::Io { source, .. })
        | FeedError::Checkpoint(CheckpointError::Io { source, .. })
        | FeedError::Model(ModelError::Io { source, .. }) => Some(source),
        FeedError::Stream(_) => return PyRuntimeError::new_err(error.to_string()),
        _ => None,
    };
    if let FeedError::Core(error) = error {
        return refused(error);
    }
    no_file(&error, hint, source)
}
