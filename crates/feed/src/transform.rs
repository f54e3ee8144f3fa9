//! Samples in, a file of features out, chunk by chunk.

use std::path::Path;

use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::{Error, Exec, Model};
use eigenspan_io::{Fingerprint, Names, Rows};

use crate::budget::Way;
use crate::error::{FeedError, at_row};
use crate::files::Files;
use crate::pass::{Pass, Work};

/// Samples to features.
#[derive(Debug)]
pub struct Transform<'a> {
    /// The model, of any method that maps samples.
    pub model: &'a Model,
    /// The most bytes that the process may take, about. The features do not depend on it.
    pub max_memory: Option<u64>,
}

impl Transform<'_> {
    /// Writes the features of all samples of `files`, one row a sample. Rows keep their names where there is one file.
    pub fn files(&self, files: &Files, output: &Path, exec: Exec<'_>) -> Result<usize, FeedError> {
        let first = files.first()?;
        let only = files.paths().len() == 1;
        let rows = if only { files.open_named(first, self.max_memory) } else { files.open(first, self.max_memory) }?;
        self.all(rows, files, output, &Work::new(exec, files.bytes()))
    }

    /// Refuses a model that maps no samples.
    pub fn check(&self) -> Result<(), FeedError> {
        match self.model {
            Model::Lle(_) => Err(Error::NoMap { method: "LLE" }.into()),
            _ => Ok(()),
        }
    }

    /// The same of samples that are open.
    pub fn rows(&self, rows: Rows, output: &Path, exec: Exec<'_>) -> Result<usize, FeedError> {
        let work = Work::new(exec, rows.bytes);
        self.all(rows, &Files::new([""; 0]), output, &work)
    }

    /// Samples that are open, and those of the files after the first.
    fn all(&self, mut rows: Rows, files: &Files, output: &Path, work: &Work<'_>) -> Result<usize, FeedError> {
        self.check()?;
        fits(self.model, &rows)?;
        let columns = column_names(self.model);
        let names = Names { columns: Some(&columns), ids: rows.ids.clone() };
        let held = eigenspan_io::held_by_sink(output, self.model.columns());
        let mut sink = eigenspan_io::create(output, self.model.columns(), names)?;
        let mut done = 0;
        let mut left = files.paths().iter().skip(1);
        loop {
            let height = map_rows(self.model, self.max_memory, 4, &rows, held)?;
            Pass::new(work, rows, height, done, Fingerprint::none()).each(|chunk| {
                let features = self.model.transform_with(chunk.block.view(), work.exec());
                sink.write_block(&features.map_err(|e| at_row(e, chunk.before))?)?;
                done = chunk.end();
                Ok(())
            })?;
            let Some(path) = left.next() else { break };
            rows = files.open(path, self.max_memory)?;
            fits(self.model, &rows)?;
        }
        sink.finish()?;
        Ok(done)
    }
}

/// Rows of a chunk that a model maps, where `copies` numbers are held for every feature and `sinks` bytes by what is written.
pub(crate) fn map_rows(
    model: &impl Fitted,
    limit: Option<u64>,
    copies: usize,
    rows: &Rows,
    sinks: u128,
) -> Result<usize, FeedError> {
    if limit.is_some() && !rows.streams {
        return Err(FeedError::ReadWhole { file: "the file".into() });
    }
    // Names are held by the reader, by the sink, and on the way.
    let names: u128 = rows.ids.iter().flatten().map(|id| (size_of::<String>() + id.len()) as u128).sum();
    let way = Way::Map { features: model.features(), columns: model.columns(), copies, names: 3 * names };
    way.chunk_rows(limit, rows.held + sinks)
}

/// Refuses samples that do not fit the model.
pub(crate) fn fits(model: &impl Fitted, rows: &Rows) -> Result<(), FeedError> {
    match (model.features(), rows.source.cols()) {
        (expected, got) if expected != got => Err(Error::FeatureMismatch { expected, got }.into()),
        _ => Ok(()),
    }
}

/// The names of the columns of features: `pce0`, `pce1`, …
pub fn column_names(model: &impl Fitted) -> Vec<String> {
    let method = model.info().method.replace('-', "");
    (0..model.columns()).map(|j| format!("{method}{j}")).collect()
}
