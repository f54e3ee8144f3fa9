//! The dimension for every λ, of files that are read in chunks.

use eigenspan_core::method::pce::PathStep;
use eigenspan_core::{Exec, Pce, PceParams};

use crate::error::FeedError;
use crate::files::Files;
use crate::fit::Form;
use crate::summarize::Summarize;

/// A path of files.
#[derive(Debug, Clone)]
pub struct Path {
    /// The samples.
    pub files: Files,
    /// The settings of the model.
    pub params: PceParams,
    /// The most bytes that the process may take, about.
    pub max_memory: Option<u64>,
}

impl Path {
    /// The model, and the dimension for every λ, with the given threads and monitor. The triangle is kept, which knows every
    /// singular value.
    pub fn run(&self, exec: Exec<'_>) -> Result<(Pce, Vec<PathStep>), FeedError> {
        let summarize = Summarize {
            files: self.files.clone(),
            params: self.params,
            form: Form::Triangle,
            max_memory: self.max_memory,
            checkpoints: None,
        };
        let summary = summarize.run(exec)?.summary;
        let model = summary.finish(exec)?;
        let steps = model.path_over(&summary.values(exec)?);
        Ok((model, steps))
    }
}
