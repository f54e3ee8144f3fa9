//! Samples in, clean samples and scores out, chunk by chunk.

use std::path::Path;

use eigenspan_core::data::{Matrix, Sink};
use eigenspan_core::method::pce::Recovery;
use eigenspan_core::{Exec, Mat, Pce};
use eigenspan_io::{Fingerprint, Names, Rows};

use crate::error::{FeedError, at_row};
use crate::pass::{Pass, Work};
use crate::transform::{fits, map_rows};

/// Samples to their clean parts.
#[derive(Debug)]
pub struct Recover<'a> {
    /// The model.
    pub model: &'a Pce,
    /// Where the clean samples are written.
    pub output: Option<&'a Path>,
    /// Where their scores are written.
    pub scores: Option<&'a Path>,
    /// The most bytes that the process may take, about. What is written does not depend on it.
    pub max_memory: Option<u64>,
}

impl Recover<'_> {
    /// Writes what was asked for; `look` is shown every chunk, the number of samples before it, and what became of it.
    pub fn rows(
        &self,
        rows: Rows,
        exec: Exec<'_>,
        mut look: impl FnMut(usize, &Matrix, &Recovery),
    ) -> Result<usize, FeedError> {
        fits(self.model, &rows)?;
        let held = |path: Option<&Path>, columns| path.map_or(0, |path| eigenspan_io::held_by_sink(path, columns));
        let sinks = held(self.output, self.model.features()) + held(self.scores, 1);
        let height = map_rows(self.model, self.max_memory, 7, &rows, sinks)?;
        let (score, ids, features) = (["score".to_string()], rows.ids.clone(), rows.feature_names.clone());
        let create = |path: Option<&Path>, cols, columns| {
            path.map(|path| eigenspan_io::create(path, cols, Names { columns, ids: ids.clone() })).transpose()
        };
        let mut clean = create(self.output, self.model.features(), features.as_deref())?;
        let mut scores = create(self.scores, 1, Some(&score[..]))?;
        let mut done = 0;
        let work = Work::new(exec, rows.bytes);
        Pass::new(&work, rows, height, 0, Fingerprint::none()).each(|chunk| {
            let recovery = self.model.recover_with(&chunk.block, work.exec()).map_err(|e| at_row(e, chunk.before))?;
            look(chunk.before, &chunk.block, &recovery);
            write(&mut clean, &recovery.clean)?;
            let column = Mat::from_vec(recovery.score.len(), 1, recovery.score).expect("one column");
            write(&mut scores, &column.into())?;
            done = chunk.end();
            Ok(())
        })?;
        [clean, scores].into_iter().flatten().try_for_each(|sink| sink.finish())?;
        Ok(done)
    }
}

fn write(sink: &mut Option<Box<dyn Sink>>, rows: &Matrix) -> Result<(), FeedError> {
    Ok(sink.as_mut().map_or(Ok(()), |sink| sink.write_block(rows))?)
}
