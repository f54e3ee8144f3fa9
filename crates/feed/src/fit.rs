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

/// What is kept of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// The Gram matrix, or the triangle where the settings are known to need it; above 5000 features a sketch, where the
    /// settings and the files allow it and no checkpoint is asked for.
    #[default]
    Auto,
    /// The Gram matrix: fast, for cuts not too far below σ₁.
    Gram,
    /// The triangle: for every cut.
    Triangle,
    /// A sketch, for which the samples are read several times.
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
            // A sketch is no summary: whoever asks has looked for that before.
            Self::Auto | Self::Sketch => Keep::Auto,
            Self::Gram => Keep::Gram,
            Self::Triangle => Keep::Triangle,
        }
    }
}

/// What only a sketch can be told; the usual where nothing is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SketchOptions {
    /// How often the samples may be read.
    pub passes: Option<usize>,
    /// Gaussian columns.
    pub columns: Option<usize>,
    /// The seed of the columns.
    pub seed: Option<u64>,
}

impl SketchOptions {
    fn params(self) -> SketchParams {
        let usual = SketchParams::default();
        SketchParams {
            columns: self.columns,
            readings: self.passes.unwrap_or(usual.readings),
            seed: self.seed.unwrap_or(usual.seed),
        }
    }

    /// The name of an option that was given.
    pub(crate) fn given(self) -> Option<&'static str> {
        let Self { passes, columns, seed } = self;
        let given =
            [("passes", passes.is_some()), ("sketch_columns", columns.is_some()), ("sketch_seed", seed.is_some())];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// Where and how often to write down how far the reading has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// The file.
    pub file: PathBuf,
    /// Bytes of samples, as doubles, from one checkpoint to the next.
    pub every: u64,
}

impl Checkpoints {
    /// Once every gigabyte.
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
    /// What is kept of the samples.
    pub form: Form,
    /// Options of a sketch.
    pub sketch: SketchOptions,
    /// The most bytes that the process may take, about. The model does not depend on it.
    pub max_memory: Option<u64>,
    /// Where to resume, and to write down how far the reading has come.
    pub checkpoints: Option<Checkpoints>,
}

/// A model, and what was read for it.
#[derive(Debug)]
pub struct Fitted {
    /// The model, as it is saved.
    pub file: ModelFile,
    /// The files in their order.
    pub parts: Vec<PartOfData>,
    /// Samples in all.
    pub rows: usize,
    /// What was kept of them.
    pub form: Form,
    checkpoint: Option<PathBuf>,
}

impl Fitted {
    pub(crate) fn new(file: ModelFile, parts: Vec<PartOfData>, form: Form, checkpoint: Option<PathBuf>) -> Self {
        let rows = file.model.info().n;
        Self { file, parts, rows, form, checkpoint }
    }

    /// Removes the checkpoint, where there was one: once the model is saved it has served.
    pub fn discard_checkpoint(&self) -> Result<(), FeedError> {
        Ok(self.checkpoint.as_deref().map_or(Ok(()), Checkpoint::remove)?)
    }
}

impl Fit {
    /// The usual fit of these files.
    pub fn new(files: Files, params: PceParams) -> Self {
        let (form, sketch) = (Form::Auto, SketchOptions::default());
        Self { files, params, form, sketch, max_memory: None, checkpoints: None }
    }

    /// The model of all samples, with the given threads and monitor.
    ///
    /// After a cancellation, or an error on the way, the checkpoint tells how far the reading had come; the same fit run
    /// again resumes there and gives the same bytes.
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
        let summary = summarize.from_first(first, exec)?;
        let form = match summary.summary.form() {
            eigenspan_core::linalg::summary::Form::Gram => Form::Gram,
            eigenspan_core::linalg::summary::Form::Triangle => Form::Triangle,
        };
        let file = summary.finish(None, exec)?;
        let checkpoint = self.checkpoints.as_ref().map(|checkpoints| checkpoints.file.clone());
        Ok(Fitted::new(file, summary.parts, form, checkpoint))
    }

    /// Whether a sketch serves these settings and files: refused where it was asked for and does not.
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
