//! Samples in files, summarised portion by portion: what `fit`, where it streams, and `summarize` have in common.
//!
//! ```text
//!     for every file    portion ─ portion ─ … ─▶ its summary ─▶ done ⊕ summary
//!                            └ now and then: checkpoint
//! ```
//! Every file is a partition of its own, so that the result is the same to the last bit as that of summaries made file by
//! file, anywhere, and merged in the same order. Portions are as large as memory allows, and change nothing.

use std::path::{Path, PathBuf};

use eigenspan::linalg::summary::block_rows;
use eigenspan::method::pce::sketch::WIDE;
use eigenspan::registry::Method;
use eigenspan::{Error, PceParams, PceSummary};
use eigenspan_io::{Ahead, Checkpoint, Fingerprint, PartOfData, Probe, Rows, STREAMED, SummaryFile};

use super::transform::at_row;
use super::{Session, file_name};
use crate::args::{Data, Fitting, Streaming};
use crate::choice::Choice;
use crate::failure::Failure;

/// Bytes of a portion where memory is not limited.
pub const PORTION: usize = 64 << 20;
/// Bytes that the program takes before it has read anything.
pub const PROGRAM: u128 = 16 << 20;

/// What is to be summarised, and how.
pub struct Job<'a> {
    /// The first file, and how all are read.
    pub data: &'a Data,
    /// The files after it.
    pub more: &'a [PathBuf],
    /// What the model will be asked.
    pub params: PceParams,
    /// Memory and checkpoints.
    pub streaming: &'a Streaming,
}

/// What was done before, and where it goes on.
struct Begun {
    done: Option<SummaryFile>,
    current: Option<PceSummary>,
    at: usize,
    rows: usize,
    seen: Fingerprint,
    probes: Vec<Probe>,
}

impl Job<'_> {
    fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&*self.data.data).chain(self.more.iter().map(|path| &**path))
    }

    /// The summary of all samples.
    pub fn run(&self, session: &Session<'_>) -> Result<SummaryFile, Failure> {
        no_rows(self.data)?;
        if let Some(flag) = self.streaming.of_sketch() {
            let fact = format!("`{flag}` says nothing to a summary, which reads its samples once");
            return Err(Failure::refused(fact, "leave it out, or add `--form sketch`"));
        }
        let mut begun = self.begun()?;
        for (at, path) in self.files().enumerate().skip(begun.at) {
            let (rows, blank) = self.open(path, begun.done.as_ref())?;
            let part = self.part(at, path, rows, &blank, &mut begun, session)?;
            let mut done = begun.done.take().unwrap_or_else(|| blank.into());
            done.merge(&part, session.exec)?;
            begun.done = Some(done);
        }
        session.progress.clear();
        Ok(begun.done.expect("there is a first file"))
    }

    /// What is left to do when the result is written: the checkpoint has served.
    pub fn done(&self) -> Result<(), Failure> {
        Ok(self.streaming.checkpoint.as_deref().map_or(Ok(()), Checkpoint::remove)?)
    }

    /// What a checkpoint tells, or a beginning.
    fn begun(&self) -> Result<Begun, Failure> {
        let nothing = Begun { done: None, current: None, at: 0, rows: 0, seen: Fingerprint::default(), probes: vec![] };
        let Some(path) = &self.streaming.checkpoint else { return Ok(nothing) };
        if self.files().any(|path| path == Path::new("-")) {
            let hint = "write the samples to a file first";
            return Err(Failure::refused("standard input cannot be read a second time after a checkpoint", hint));
        }
        let probes = self.files().map(Probe::of).collect::<Result<Vec<_>, _>>()?;
        let Some(found) = Checkpoint::load(path)? else { return Ok(Begun { probes, ..nothing }) };
        let refuse = |fact: String| {
            let hint = "give the same data and settings as before, or delete the checkpoint to begin anew";
            Failure::refused(format!("{}: {fact}", path.display()), hint)
        };
        if found.data.len() != probes.len() {
            return Err(refuse(format!("it was written with {} files, these are {}", found.data.len(), probes.len())));
        }
        if let Some((now, before)) = probes.iter().zip(&found.data).find(|(now, before)| now != before) {
            let fact = if now.data == before.data {
                format!("{} is not what it was when the checkpoint was written", now.data)
            } else {
                format!("{} was in the place of {}", before.data, now.data)
            };
            return Err(refuse(fact));
        }
        let wanted = PceSummary::keeping(self.streaming.keep(), self.params, found.done.summary.features())?;
        if let Some((setting, now, before)) = wanted.difference(&found.current.summary) {
            return Err(refuse(format!("it was written with another `{setting}`: {before}, now {now}")));
        }
        let Checkpoint { at, rows, seen, done, current, .. } = found;
        Ok(Begun { done: Some(done), current: Some(current.summary), at, rows, seen, probes })
    }

    /// Opens a file, and makes a summary of no samples that fits it.
    fn open(&self, path: &Path, done: Option<&SummaryFile>) -> Result<(Rows, PceSummary), Failure> {
        let rows = self.data.open_other(path, self.streaming.max_memory)?;
        let m = rows.source.cols();
        fits(&rows, path, done.map(|done| done.summary.features()), self.streaming)?;
        Ok((rows, PceSummary::keeping(self.streaming.keep(), self.params, m)?))
    }

    /// The summary of one file.
    fn part(
        &self,
        at: usize,
        path: &Path,
        mut rows: Rows,
        blank: &PceSummary,
        begun: &mut Begun,
        session: &Session<'_>,
    ) -> Result<SummaryFile, Failure> {
        let (mut count, mut seen) = (std::mem::take(&mut begun.rows), std::mem::take(&mut begun.seen));
        let mut current = begun.current.take().unwrap_or_else(|| blank.clone());
        if rows.source.skip(count)? < count {
            let fact = format!("{} has fewer samples than the checkpoint has read of it", path.display());
            return Err(Failure::refused(fact, "delete the checkpoint to begin anew"));
        }
        let (portion, total, mut unsaved) = (self.portion(blank, rows.held)?, rows.source.rows(), 0);
        for portion in Ahead::new(rows.source, portion, seen.clone()) {
            let (block, fingerprint) = portion?;
            current.update(block.view(), session.exec).map_err(|e| at_row(e, count))?;
            (count, seen) = (count + block.rows(), fingerprint);
            session.progress.told(&file_name(path), count, total);
            unsaved += block.rows() * block.cols() * 8;
            if let Some(to) = self.streaming.checkpoint.as_deref().filter(|_| unsaved >= self.streaming.every()) {
                unsaved = 0;
                let (data, done) = (begun.probes.clone(), begun.done.clone().unwrap_or_else(|| blank.clone().into()));
                let current = current.clone().into();
                Checkpoint { data, at, rows: count, seen: seen.clone(), done, current }.save(to)?;
            }
        }
        let part = PartOfData { data: file_name(path), rows: count, sha256: seen.digits() };
        Ok(SummaryFile { summary: current, parts: vec![part], image: rows.image })
    }

    /// Rows of a portion: whole blocks, as many as memory allows beside what the reader holds.
    fn portion(&self, blank: &PceSummary, held: u128) -> Result<usize, Failure> {
        let m = blank.features();
        let height = block_rows(m);
        let usual = (PORTION / (8 * m * height)).clamp(1, 64);
        let Some(limit) = self.streaming.max_memory else { return Ok(usual * height) };
        let saved = if self.streaming.checkpoint.is_some() { blank.working_bytes(0, 0) } else { 0 };
        let needed = |blocks| PROGRAM + held + saved + blank.working_bytes(blocks, 8);
        let fitting = (1..=usual).rev().find(|blocks| needed(*blocks) <= u128::from(limit.0));
        fitting.map(|blocks| blocks * height).ok_or_else(|| {
            let mib = |bytes: u128| bytes.div_ceil(1 << 20);
            let (least, too_much) = (mib(needed(1)), "more than `--max-memory` allows");
            if held > needed(1) / 2 {
                let (held, rest) = (mib(held), mib(needed(1) - held));
                let fact = format!("a row group takes {held} MiB and a summary of {m} features {rest} MiB, {too_much}");
                return Failure::refused(fact, format!("allow {least}MiB, or write the file with smaller row groups"));
            }
            let fact = format!("a summary of {m} features takes {least} MiB, {too_much}");
            let mut hint = format!(
                "allow {least}MiB, or keep one summary instead of two with a given λ; fewer features need less, at the rate of m²"
            );
            if m > WIDE {
                hint += "; `--form sketch` needs far less, with a λ, a noise level, a share of the energy or a dimension";
            }
            Failure::refused(fact, hint)
        })
    }
}

/// Refuses a choice among rows: only samples in memory have one.
pub fn no_rows(data: &Data) -> Result<(), Failure> {
    if data.rows.is_none() {
        return Ok(());
    }
    let fact = "`--rows` needs all samples in memory, and these are read in their order";
    Err(Failure::refused(fact, "write the rows to a file of their own, or fit in memory"))
}

/// Refuses a file that cannot be read portion by portion, where it must be, or has other features than those before it.
pub fn fits(rows: &Rows, path: &Path, expected: Option<usize>, streaming: &Streaming) -> Result<(), Failure> {
    if streaming.max_memory.is_some() && !rows.streams {
        let fact = format!("{} is of a format that is read as a whole, which `--max-memory` forbids", path.display());
        return Err(Failure::refused(fact, format!("write it as {STREAMED}, or leave the limit out")));
    }
    let m = rows.source.cols();
    match expected {
        Some(expected) if expected != m => {
            let fact = format!("{} has {m} features, the files before it have {expected}", path.display());
            Err(Failure::refused(fact, "all files must hold samples of one kind"))
        }
        _ => Ok(()),
    }
}

/// What PCE is asked, where the method can be fitted from a summary.
pub fn params_of(choice: &Choice, fitting: &Fitting) -> Result<PceParams, Failure> {
    match &choice.method(fitting)? {
        Method::Pce(params) => Ok(*params),
        Method::Pca(params) => params.streamed().ok_or_else(|| {
            let fact = "the number of components by `mle` needs all samples in memory";
            Failure::refused(fact, "choose it by `auto`, a share or a number")
        }),
        _ => {
            let fact = format!("the method `{}` needs all samples in memory", choice.name());
            let hint = "use `pce` or `pca`, or fit one file without `--max-memory`, `--checkpoint` and `--form`";
            Err(Failure::refused(fact, hint))
        }
    }
}

/// The same error, in the words of one who merges files.
pub fn in_file(error: Error, path: &Path) -> Failure {
    let (fact, hint) = (format!("{}: {error}", path.display()), error.hint());
    Failure::Refused { fact, hint }
}
