//! Summaries of files, chunk by chunk.
//!
//! ```text
//!     for every file    chunk ─ chunk ─ … ─▶ its summary ─▶ done ⊕ summary
//!                           └ at intervals: checkpoint
//! ```
//! Every file is a partition of its own: the result has the same bits as summaries made file by file, on any machine,
//! and merged in the same order. Chunks are as large as memory allows, and change nothing.

use std::path::Path;

use eigenspan_core::{Exec, PceParams, PceSummary};
use eigenspan_io::{Checkpoint, PartOfData, Position, Probe, Rows, SummaryFile};

use crate::budget::Way;
use crate::error::{FeedError, at_row};
use crate::files::{Files, file_name};
use crate::fit::{Checkpoints, Form};
use crate::pass::{Pass, Work};

/// A summary of files.
#[derive(Debug, Clone)]
pub struct Summarize {
    /// The samples.
    pub files: Files,
    /// The settings of the model that the summary is for.
    pub params: PceParams,
    /// The form of the summary; a sketch is refused.
    pub form: Form,
    /// Maximum bytes of the process, about. The summary does not depend on it.
    pub max_memory: Option<u64>,
    /// The checkpoint to resume from and to write.
    pub checkpoints: Option<Checkpoints>,
}

/// The state of a summary that has been started.
struct Begun {
    done: Option<SummaryFile>,
    current: Option<PceSummary>,
    position: Position,
    probes: Vec<Probe>,
}

impl Summarize {
    /// The summary of all samples, with the given threads and monitor. A cancellation leaves a checkpoint.
    pub fn run(&self, exec: Exec<'_>) -> Result<SummaryFile, FeedError> {
        if self.form == Form::Sketch {
            let fact = "a sketch needs several passes over all files, which a summary does not have";
            let hint = "fit all files at once with the form `sketch`, or choose another form";
            return Err(FeedError::Setting { fact: fact.into(), hint });
        }
        self.run_after(None, exec)
    }

    /// Removes the checkpoint, if any: to be called once the summary is saved.
    pub fn discard_checkpoint(&self) -> Result<(), FeedError> {
        Ok(self.checkpoints.as_ref().map_or(Ok(()), |checkpoints| Checkpoint::remove(&checkpoints.file))?)
    }

    /// The same, where the first file may be open already.
    pub(crate) fn run_after(&self, mut first: Option<Rows>, exec: Exec<'_>) -> Result<SummaryFile, FeedError> {
        self.files.first()?;
        let mut begun = self.begun()?;
        let work = Work::new(exec, self.files.bytes());
        for (at, path) in self.files.paths().iter().enumerate() {
            if at < begun.position.at {
                work.done(eigenspan_io::bytes_of(path));
                continue;
            }
            let rows = match first.take().filter(|_| at == 0) {
                Some(rows) => rows,
                None => self.files.open(path, self.max_memory)?,
            };
            let m = rows.source.cols();
            same_features(m, path, begun.done.as_ref().map(|done| done.summary.features()))?;
            let blank = PceSummary::keeping(self.form.keep(), self.params, m)?;
            begun.done.get_or_insert_with(|| blank.clone().into());
            let part = self.part(path, rows, blank, &mut begun, &work)?;
            begun.done.as_mut().expect("just inserted").merge(&part, exec)?;
            begun.position = Position { at: at + 1, ..Position::default() };
        }
        Ok(begun.done.expect("there is a first file"))
    }

    /// The summary of one file.
    fn part(
        &self,
        path: &Path,
        mut rows: Rows,
        blank: PceSummary,
        begun: &mut Begun,
        work: &Work<'_>,
    ) -> Result<SummaryFile, FeedError> {
        let mut current = begun.current.take().unwrap_or(blank);
        let (begun, mut position) = (&*begun, begun.position.clone());
        let skipped = position.rows;
        if rows.source.skip(skipped)? < skipped {
            return Err(FeedError::Shorter { file: path.display().to_string() });
        }
        let height = Way::Summary(&current).chunk_rows(self.max_memory, rows.held)?;
        let (image, mut unsaved) = (rows.image, 0);
        let outcome = Pass::new(work, rows, height, skipped, position.seen.clone()).each(|chunk| {
            current.update(chunk.block.view(), work.exec()).map_err(|e| at_row(e, chunk.before))?;
            unsaved += (chunk.block.rows() * chunk.block.cols() * 8) as u64;
            position = Position { rows: chunk.end(), seen: chunk.fingerprint, ..position };
            if self.checkpoints.as_ref().is_some_and(|checkpoints| unsaved >= checkpoints.every) {
                unsaved = 0;
                self.save(begun, &position, &current)?;
            }
            Ok(())
        });
        let begun_at_all = position.at > 0 || position.rows > 0;
        if outcome.as_ref().is_err_and(FeedError::is_cancelled) && begun_at_all {
            self.save(begun, &position, &current)?;
        }
        outcome?;
        let part = PartOfData { data: file_name(path), rows: position.rows, sha256: position.seen.digits() };
        Ok(SummaryFile { summary: current, parts: vec![part], image })
    }

    /// Writes a checkpoint, where one is requested, without copying the summary.
    fn save(&self, begun: &Begun, position: &Position, current: &PceSummary) -> Result<(), FeedError> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let done = begun.done.as_ref().expect("set before the first chunk");
        Ok(Checkpoint::write(&checkpoints.file, &begun.probes, position, done, current)?)
    }

    /// The state in the checkpoint, or an empty one.
    fn begun(&self) -> Result<Begun, FeedError> {
        let nothing = Begun { done: None, current: None, position: Position::default(), probes: vec![] };
        let Some(Checkpoints { file, .. }) = &self.checkpoints else { return Ok(nothing) };
        self.files.read_again(" after a checkpoint")?;
        let probes = self.files.probes()?;
        let Some(found) = Checkpoint::load(file)? else { return Ok(Begun { probes, ..nothing }) };
        let refuse = |fact: String| FeedError::OtherCheckpoint { file: file.display().to_string(), fact };
        if found.data.len() != probes.len() {
            return Err(refuse(format!("it was written with {} files, these are {}", found.data.len(), probes.len())));
        }
        if let Some((now, before)) = probes.iter().zip(&found.data).find(|(now, before)| now != before) {
            return Err(refuse(if now.data == before.data {
                format!("{} has changed since the checkpoint was written", now.data)
            } else {
                format!("it was written with {} in place of {}", before.data, now.data)
            }));
        }
        let requested = PceSummary::keeping(self.form.keep(), self.params, found.done.summary.features())?;
        if let Some((setting, now, before)) = requested.difference(&found.current.summary) {
            return Err(refuse(format!("it was written with another `{setting}`: {before}, now {now}")));
        }
        let Checkpoint { position, done, current, .. } = found;
        Ok(Begun { done: Some(done), current: Some(current.summary), position, probes })
    }
}

/// Refuses a file whose number of features differs from those before it.
pub(crate) fn same_features(found: usize, path: &Path, expected: Option<usize>) -> Result<(), FeedError> {
    match expected {
        Some(expected) if expected != found => {
            Err(FeedError::OtherFeatures { file: path.display().to_string(), found, expected })
        }
        _ => Ok(()),
    }
}
