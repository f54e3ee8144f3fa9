//! A model of PCE or PCA from files that are read in chunks.

use std::path::PathBuf;

use eigenspan_core::method::pce::sketch::{WIDE, can_be_sketched};
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::{Exec, Keep, PceParams, SketchParams};
use eigenspan_io::{Checkpoint, ModelFile, PartOfData};

use crate::error::FeedError;
use crate::files::Files;
use crate::sketch;
use crate::summarize::Summarize;

/// The form in which samples are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// The Gram matrix, or the triangle where the settings need it; above 5000 features a sketch, where the settings
    /// and the files allow it and no checkpoint is requested.
    #[default]
    Auto,
    /// The Gram matrix: fast, for cuts not too far below σ₁.
    Gram,
    /// The triangle: for every cut.
    Triangle,
    /// A sketch, which needs several passes over the samples.
    Sketch,
}

impl Form {
    /// The form by its name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto,
            "gram" => Self::Gram,
            "triangle" => Self::Triangle,
            "sketch" => Self::Sketch,
            _ => return None,
        })
    }

    pub(crate) fn keep(self) -> Keep {
        match self {
            // A sketch is not a summary: callers exclude it.
            Self::Auto | Self::Sketch => Keep::Auto,
            Self::Gram => Keep::Gram,
            Self::Triangle => Keep::Triangle,
        }
    }
}

/// Parameters of a sketch; `None` is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SketchOptions {
    /// Maximum number of passes.
    pub passes: Option<usize>,
    /// Gaussian columns.
    pub columns: Option<usize>,
    /// The seed of the columns.
    pub seed: Option<u64>,
}

impl SketchOptions {
    fn params(self) -> SketchParams {
        let defaults = SketchParams::default();
        SketchParams {
            columns: self.columns,
            readings: self.passes.unwrap_or(defaults.readings),
            seed: self.seed.unwrap_or(defaults.seed),
        }
    }

    /// The name of the first given option.
    pub(crate) fn given(self) -> Option<&'static str> {
        let Self { passes, columns, seed } = self;
        let given =
            [("passes", passes.is_some()), ("sketch_columns", columns.is_some()), ("sketch_seed", seed.is_some())];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// The file and the interval of checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// The file.
    pub file: PathBuf,
    /// Bytes of samples, counted as doubles, between checkpoints.
    pub every: u64,
}

impl Checkpoints {
    /// A checkpoint every gigabyte.
    pub fn to(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), every: 1_000_000_000 }
    }
}

/// A fit of files.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The samples.
    pub files: Files,
    /// The settings of the model.
    pub params: PceParams,
    /// The form in which samples are kept.
    pub form: Form,
    /// Options of a sketch.
    pub sketch: SketchOptions,
    /// Maximum bytes of the process, about. The model does not depend on it.
    pub max_memory: Option<u64>,
    /// The checkpoint to resume from and to write.
    pub checkpoints: Option<Checkpoints>,
}

/// A model, and the data it was fitted on.
#[derive(Debug)]
pub struct Fitted {
    /// The model, as it is saved.
    pub file: ModelFile,
    /// The files in their order.
    pub parts: Vec<PartOfData>,
    /// Samples in all.
    pub rows: usize,
    /// The form in which they were kept.
    pub form: Form,
    checkpoint: Option<PathBuf>,
}

impl Fitted {
    pub(crate) fn new(file: ModelFile, parts: Vec<PartOfData>, form: Form, checkpoint: Option<PathBuf>) -> Self {
        let rows = file.model.info().n;
        Self { file, parts, rows, form, checkpoint }
    }

    /// Removes the checkpoint, if any: to be called once the model is saved.
    pub fn discard_checkpoint(&self) -> Result<(), FeedError> {
        Ok(self.checkpoint.as_deref().map_or(Ok(()), Checkpoint::remove)?)
    }
}

impl Fit {
    /// A fit of these files with the default parameters of reading.
    pub fn new(files: Files, params: PceParams) -> Self {
        let (form, sketch) = (Form::Auto, SketchOptions::default());
        Self { files, params, form, sketch, max_memory: None, checkpoints: None }
    }

    /// The model of all samples, with the given threads and monitor.
    ///
    /// After a cancellation or an error, the same fit resumes from the checkpoint and gives the same bytes.
    pub fn run(&self, exec: Exec<'_>) -> Result<Fitted, FeedError> {
        let first = if self.may_be_sketched()? {
            let rows = self.files.open(self.files.first()?, self.max_memory)?;
            if self.form == Form::Sketch || rows.source.cols() > WIDE {
                return sketch::run(self, self.sketch.params(), rows, exec);
            }
            Some(rows)
        } else {
            None
        };
        let summarize = Summarize {
            files: self.files.clone(),
            params: self.params,
            form: self.form,
            max_memory: self.max_memory,
            checkpoints: self.checkpoints.clone(),
        };
        if let Some(option) = self.sketch.given() {
            let fact = format!("`{option}` has no effect with a summary, which reads its samples once");
            return Err(FeedError::Setting { fact, hint: "leave it out, or choose the form `sketch`" });
        }
        let summary = summarize.run_after(first, exec)?;
        let form = match summary.summary.form() {
            eigenspan_core::linalg::summary::Form::Gram => Form::Gram,
            eigenspan_core::linalg::summary::Form::Triangle => Form::Triangle,
        };
        let file = summary.finish(None, exec)?;
        let checkpoint = self.checkpoints.as_ref().map(|checkpoints| checkpoints.file.clone());
        Ok(Fitted::new(file, summary.parts, form, checkpoint))
    }

    /// Whether a sketch can serve these settings and files; an error where it was requested and cannot.
    fn may_be_sketched(&self) -> Result<bool, FeedError> {
        match self.form {
            Form::Gram | Form::Triangle => return Ok(false),
            Form::Auto => {
                return Ok(!self.files.is_piped()
                    && self.checkpoints.is_none()
                    && can_be_sketched(&self.params).is_ok());
            }
            Form::Sketch => {}
        }
        can_be_sketched(&self.params)?;
        self.files.read_again(", as a sketch must")?;
        if self.checkpoints.is_some() {
            let fact = "a sketch writes no checkpoint: `checkpoint` has no effect with it".to_string();
            return Err(FeedError::Setting { fact, hint: "leave it out, or keep a summary (the form `gram`)" });
        }
        Ok(true)
    }
}
