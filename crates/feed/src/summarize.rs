//! Samples in files, summarized chunk by chunk.
//!
//! ```text
//!     for every file    chunk ─ chunk ─ … ─▶ its summary ─▶ done ⊕ summary
//!                           └ now and then: checkpoint
//! ```
//! Every file is a partition of its own, so that the result is the same to the last bit as that of summaries made file by
//! file, anywhere, and merged in the same order. Chunks are as large as memory allows, and change nothing.

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
    /// What is kept of the samples; a sketch is refused.
    pub form: Form,
    /// The most bytes that the process may take, about. The summary does not depend on it.
    pub max_memory: Option<u64>,
    /// Where to resume, and to write down how far the reading has come.
    pub checkpoints: Option<Checkpoints>,
}

/// How far the reading had come.
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
            let fact = "a sketch reads its samples several times, which a summary of one file cannot ask for";
            let hint = "fit all files at once with the form `sketch`, or choose another form";
            return Err(FeedError::Setting { fact: fact.into(), hint });
        }
        self.from_first(None, exec)
    }

    /// Removes the checkpoint, where there is one: once the summary is saved it has served.
    pub fn discard_checkpoint(&self) -> Result<(), FeedError> {
        Ok(self.checkpoints.as_ref().map_or(Ok(()), |checkpoints| Checkpoint::remove(&checkpoints.file))?)
    }

    /// The same with the first file, where it is open already.
    pub(crate) fn from_first(&self, mut first: Option<Rows>, exec: Exec<'_>) -> Result<SummaryFile, FeedError> {
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
            begun.done.as_mut().expect("it was just put there").merge(&part, exec)?;
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

    /// Writes a checkpoint, where one is asked for, straight from what is held.
    fn save(&self, begun: &Begun, position: &Position, current: &PceSummary) -> Result<(), FeedError> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let done = begun.done.as_ref().expect("it is there before the first chunk");
        Ok(Checkpoint::write(&checkpoints.file, &begun.probes, position, done, current)?)
    }

    /// What a checkpoint tells, or a beginning.
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
                format!("{} is not what it was when the checkpoint was written", now.data)
            } else {
                format!("{} was in the place of {}", before.data, now.data)
            }));
        }
        let wanted = PceSummary::keeping(self.form.keep(), self.params, found.done.summary.features())?;
        if let Some((setting, now, before)) = wanted.difference(&found.current.summary) {
            return Err(refuse(format!("it was written with another `{setting}`: {before}, now {now}")));
        }
        let Checkpoint { position, done, current, .. } = found;
        Ok(Begun { done: Some(done), current: Some(current.summary), position, probes })
    }
}

/// Refuses a file that has other features than those before it.
pub(crate) fn same_features(found: usize, path: &Path, expected: Option<usize>) -> Result<(), FeedError> {
    match expected {
        Some(expected) if expected != found => {
            Err(FeedError::OtherFeatures { file: path.display().to_string(), found, expected })
        }
        _ => Ok(()),
    }
}
