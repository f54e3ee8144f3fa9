//! The dimension for every λ, of files that are read in chunks.

use eigenspan::method::pce::PathStep;
use eigenspan::{Exec, Model, Normalize, Pce, PceParams, PceSummary};

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
        let file = summarize.run(exec)?;
        let Model::Pce(model) = file.finish(None, exec)?.model else { unreachable!("a summary is finished to PCE") };
        let steps = model.path_over(&values(&file.summary, exec)?);
        Ok((model, steps))
    }
}

/// All singular values of the prepared samples.
fn values(summary: &PceSummary, exec: Exec<'_>) -> Result<Vec<f64>, FeedError> {
    let (params, prepared, ..) = summary.state();
    let closed = prepared.close(exec)?;
    let standard = if params.normalize == Normalize::ZScore { closed.standardised() } else { None };
    let closed = standard.map_or(closed, |(standard, _)| standard);
    Ok(closed.spectrum(exec)?.values(summary.features().min(summary.rows()), exec)?.0)
}
