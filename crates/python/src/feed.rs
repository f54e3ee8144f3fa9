//! Files that may be larger than memory: fits, updates, summaries and features of them, by [`eigenspan_feed`].

use std::path::PathBuf;

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

/// The model of all samples of the files; `how` says how they are read.
#[pyfunction]
#[pyo3(signature = (paths, settings, how, threads))]
pub fn fit_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    settings: &str,
    how: &Bound<'_, PyDict>,
    threads: Option<usize>,
) -> PyResult<Model> {
    let how = How { words: how };
    let fit = Fit {
        files: how.files(paths)?,
        params: params(settings)?,
        form: how.form()?,
        sketch: SketchOptions {
            passes: how.get("passes")?,
            columns: how.get("sketch_columns")?,
            seed: how.get("sketch_seed")?,
        },
        max_memory: how.size("max_memory")?,
        checkpoints: how.checkpoints()?,
    };
    let fitted = enter(py, threads, |exec| Ok(fit.run(exec)))?.map_err(not_fed)?;
    fitted.discard_checkpoint().map_err(not_fed)?;
    Ok(Model::of(fitted.file))
}

/// The summary of all samples of the files.
#[pyfunction]
#[pyo3(signature = (paths, settings, how, threads))]
pub fn summarize_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    settings: &str,
    how: &Bound<'_, PyDict>,
    threads: Option<usize>,
) -> PyResult<Summary> {
    let how = How { words: how };
    let summarize = Summarize {
        files: how.files(paths)?,
        params: params(settings)?,
        form: how.form()?,
        max_memory: how.size("max_memory")?,
        checkpoints: how.checkpoints()?,
    };
    let file = enter(py, threads, |exec| Ok(summarize.run(exec)))?.map_err(not_fed)?;
    summarize.discard_checkpoint().map_err(not_fed)?;
    Ok(Summary::of(file))
}

/// A model that took in all samples of the files, after those it was fitted on.
#[pyfunction]
#[pyo3(signature = (model, paths, settings, how, threads))]
pub fn update_files(
    py: Python<'_>,
    model: &Model,
    paths: Vec<PathBuf>,
    settings: &str,
    how: &Bound<'_, PyDict>,
    threads: Option<usize>,
) -> PyResult<Model> {
    let how = How { words: how };
    let update = Update {
        files: how.files(paths)?,
        params: Some(params(settings)?),
        rank: how.get("rank")?,
        forget: how.get("forget")?,
        max_memory: how.size("max_memory")?,
    };
    let (before, provenance) = (model.pce(), model.provenance());
    let updated = enter(py, threads, |exec| Ok(update.run(before, provenance, exec)))?.map_err(not_fed)?;
    Ok(Model::of(updated.file))
}

/// Writes the features of all samples of the files; returns how many rows these are.
#[pyfunction]
#[pyo3(signature = (model, paths, output, how, threads))]
pub fn transform_files(
    py: Python<'_>,
    model: &Model,
    paths: Vec<PathBuf>,
    output: PathBuf,
    how: &Bound<'_, PyDict>,
    threads: Option<usize>,
) -> PyResult<usize> {
    let how = How { words: how };
    let (files, max_memory) = (how.files(paths)?, how.size("max_memory")?);
    let transform = Transform { model: model.any(), max_memory };
    enter(py, threads, |exec| Ok(transform.files(&files, &output, exec)))?.map_err(not_fed)
}

/// Writes clean samples and scores of a file; returns how many rows these are.
#[pyfunction]
#[pyo3(signature = (model, path, output, scores, how, threads))]
pub fn recover_file(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    output: Option<PathBuf>,
    scores: Option<PathBuf>,
    how: &Bound<'_, PyDict>,
    threads: Option<usize>,
) -> PyResult<usize> {
    let how = How { words: how };
    let (files, max_memory) = (how.files(vec![path.clone()])?, how.size("max_memory")?);
    let recover = Recover { model: model.pce(), output: output.as_deref(), scores: scores.as_deref(), max_memory };
    let rows = files.open_named(&path, max_memory).map_err(not_fed)?;
    enter(py, threads, |exec| Ok(recover.rows(rows, exec, |_, _, _| ())))?.map_err(not_fed)
}

/// How files are read: words by their names, each of which may be missing.
struct How<'a, 'py> {
    words: &'a Bound<'py, PyDict>,
}

impl<'py> How<'_, 'py> {
    fn word(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.words.get_item(name)?.filter(|word| !word.is_none()))
    }

    fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(word) = self.word(name)? else { return Ok(None) };
        let found = word.extract::<T>().map_err(Into::<PyErr>::into);
        found.map(Some).map_err(|error| PyTypeError::new_err(format!("`{name}`: {}", error.value(word.py()))))
    }

    /// A number of bytes, or text such as `2GB`.
    fn size(&self, name: &str) -> PyResult<Option<u64>> {
        let Some(word) = self.word(name)? else { return Ok(None) };
        let text = match word.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => word.extract::<u64>().map_or_else(|_| "none".into(), |bytes| bytes.to_string()),
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
        let Some(usual) = self.get::<PathBuf>("checkpoint")?.map(Checkpoints::to) else { return Ok(None) };
        Ok(Some(Checkpoints { every: every.unwrap_or(usual.every), ..usual }))
    }

    fn files(&self, paths: Vec<PathBuf>) -> PyResult<Files> {
        let shape = |name: &str| -> PyResult<Option<ImageShape>> {
            Ok(self.get::<(usize, usize)>(name)?.map(|(height, width)| ImageShape { height, width }))
        };
        Ok(Files::new(paths).read_by(ReadOptions {
            label: self.get("label")?,
            array: self.get("array")?,
            image: shape("image")?,
            resize: shape("resize")?,
            grey: self.get("grey")?.unwrap_or(false),
            memory: None,
        }))
    }
}

/// An error on the way from files, as Python's.
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
