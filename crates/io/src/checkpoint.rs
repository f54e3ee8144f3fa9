//! Checkpoints: where a fit from files was when it was last written down, to go on from there to the same bytes.
//!
//! ```text
//!     tensors   done (u8), current (u8): the bytes of summary files
//!     metadata  one key, `eigenspan-checkpoint`: JSON with format version, checksum, the data, and the position in them
//! ```
//! `done` is the summary of all files before the current one, `current` that of the first samples of this. Both are
//! written straight from where they lie, row after row: a checkpoint takes no memory besides them.
//!
//! The data are known again by name, length and a hash of their first and last bytes ([`Probe`]): a file that is
//! changed in its middle alone, and keeps its length, is not noticed. To see that, too, all of it would have to be read
//! again.

use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::Path;

use eigenspan_core::PceSummary;
use sha2::{Digest, Sha256};

use crate::error::{ReadError, WriteError};
use crate::fingerprint::Fingerprint;
use crate::seal::{self, BLANK, Broken, CHECKPOINT, Sealed, Stamp, Streamed, hex, in_settings};
use crate::summary::{self, SummaryError, SummaryFile};
use crate::{images, write_atomically};

const FORMAT: u32 = 1;
const STAMP: Stamp = Stamp { key: CHECKPOINT, latest: FORMAT };
/// Bytes at either end of a file that are looked at.
const ENDS: u64 = 64 << 10;

/// By what a file or folder is known again.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The path as it was given.
    pub data: String,
    /// Its length, or that of all files in it.
    pub bytes: u64,
    /// SHA-256 of its first and last 64 KiB, or of the names and lengths of the files in it.
    pub sha256: String,
}

impl Probe {
    /// Looks at a file or folder.
    pub fn of(path: &Path) -> Result<Self, ReadError> {
        let data = path.display().to_string();
        let failed = |source| ReadError::Io { file: path.display().to_string(), doing: "read", source };
        let mut hash = Sha256::new();
        if path.is_dir() {
            let mut bytes = 0;
            for (id, length) in images::listed(path)? {
                hash.update(format!("{length} {id}\n"));
                bytes += length;
            }
            return Ok(Self { data, bytes, sha256: hex(&hash.finalize()) });
        }
        let mut file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        for start in [0, bytes.saturating_sub(ENDS)] {
            let mut part = vec![];
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
            file.by_ref().take(ENDS).read_to_end(&mut part).map_err(failed)?;
            hash.update(&part);
        }
        Ok(Self { data, bytes, sha256: hex(&hash.finalize()) })
    }
}

/// How far a fit from files had come.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Position {
    /// The current file: its place among the data, counted from 0.
    pub at: usize,
    /// Samples of it that were read.
    pub rows: usize,
    /// Their fingerprint.
    pub seen: Fingerprint,
}

/// What a checkpoint holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The data, in their order.
    pub data: Vec<Probe>,
    /// How far the reading had come.
    pub position: Position,
    /// The summary of the files before the current one.
    pub done: SummaryFile,
    /// The summary of the samples of this one.
    pub current: SummaryFile,
}

/// Why a checkpoint was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file could not be read.
    #[error("cannot read the checkpoint {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// Another file, or one that is cut short.
    #[error("{file} is not a checkpoint, or it is cut short: {detail}")]
    NotACheckpoint {
        /// The file.
        file: String,
        /// What the parser said.
        detail: String,
    },
    /// A model or a summary.
    #[error("{file} is {kind}, not a checkpoint of a fit")]
    OtherKind {
        /// The file.
        file: String,
        /// What it is.
        kind: &'static str,
    },
    /// Another format.
    #[error("the checkpoint {file} has format version {found}; this program resumes from version {FORMAT}")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        found: u64,
    },
    /// Some bit is not what it was when the file was written.
    #[error("the checkpoint {file} is damaged: its checksum does not fit its contents")]
    Damaged {
        /// The file.
        file: String,
    },
    /// The checksum fits, the contents contradict themselves.
    #[error("{file} is not a valid checkpoint: {fault}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong.
        fault: String,
    },
}

impl CheckpointError {
    fn of(broken: Broken, file: &str) -> Self {
        let file = file.to_string();
        match broken {
            Broken::NotSealed(detail) => Self::NotACheckpoint { file, detail },
            Broken::OtherKind(kind) => Self::OtherKind { file, kind },
            Broken::Version(found) => Self::Version { file, found },
            Broken::Damaged => Self::Damaged { file },
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Io { .. } => return None,
            Self::NotACheckpoint { .. } | Self::OtherKind { .. } => {
                "name another file for the checkpoint, or delete this one if it is of no use"
            }
            Self::Version { .. } => "finish with the version that wrote it, or delete it to begin anew",
            Self::Damaged { .. } | Self::Invalid { .. } => "delete it to begin anew",
        };
        Some(text.into())
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    checksum: String,
    data: Vec<Probe>,
    at: usize,
    rows: usize,
    seen: String,
}

/// What is wrong with a summary inside a checkpoint.
fn fault(error: SummaryError) -> String {
    match error {
        SummaryError::Invalid { fault, .. } => fault,
        SummaryError::Damaged { .. } => "its checksum does not fit its contents".into(),
        SummaryError::NotASummary { detail, .. } => detail,
        other => other.to_string(),
    }
}

impl Checkpoint {
    /// Writes a file of what is borrowed: to a sibling, synced, then renamed, so that a crash leaves the old file or
    /// the new one.
    pub fn write(
        path: &Path,
        data: &[Probe],
        position: &Position,
        done: &SummaryFile,
        current: &PceSummary,
    ) -> Result<(), WriteError> {
        let header = Header {
            format: FORMAT,
            checksum: BLANK.into(),
            data: data.to_vec(),
            at: position.at,
            rows: position.rows,
            seen: position.seen.digits(),
        };
        let (done, current) =
            (summary::sealed(&done.summary, &done.parts, done.image), summary::sealed(current, &[], None));
        let tensors = [("current", &current), ("done", &done)];
        let tensors = tensors.map(|(name, file)| Streamed::bytes(name, file.byte_count(), |out| file.write_to(out)));
        let file = Sealed::new(CHECKPOINT, &header, tensors.into());
        write_atomically(path, |out| file.write_to(out))
    }

    /// Takes the file away, where there is one.
    pub fn remove(path: &Path) -> Result<(), WriteError> {
        match std::fs::remove_file(path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(WriteError::Io { file: path.display().to_string(), doing: "remove", source })
            }
            _ => Ok(()),
        }
    }

    /// Reads and checks a file; `None` where there is none.
    pub fn load(path: &Path) -> Result<Option<Self>, CheckpointError> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::from_bytes(&name, &bytes).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(CheckpointError::Io { file: name, source }),
        }
    }

    fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let invalid = |fault: String| CheckpointError::Invalid { file: name.to_string(), fault };
        let opened = seal::open(bytes, STAMP).map_err(|broken| CheckpointError::of(broken, name))?;
        let Header { data, at, rows, seen, .. } =
            serde_json::from_str(&opened.json).map_err(|e| invalid(in_settings(&e)))?;
        let summary = |part: &'static str| {
            let bytes = opened.bytes(part).map_err(invalid)?.ok_or_else(|| invalid(format!("no tensor `{part}`")))?;
            SummaryFile::from_bytes(part, bytes).map_err(|error| invalid(format!("tensor `{part}`: {}", fault(error))))
        };
        let (done, current) = (summary("done")?, summary("current")?);
        let seen = Fingerprint::from_digits(&seen).ok_or_else(|| invalid("its fingerprint is not one".into()))?;
        if done.summary.features() != current.summary.features() || current.summary.rows() != rows || at >= data.len() {
            return Err(invalid("its position does not fit its summaries".into()));
        }
        Ok(Self { data, position: Position { at, rows, seen }, done, current })
    }
}

#[cfg(test)]
mod tests {
    use eigenspan_core::data::Matrix;
    use eigenspan_core::{Exec, Mat, PceParams, PceSummary};

    use super::*;

    #[test]
    fn a_checkpoint_comes_back_and_a_damaged_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (data, path) = (folder.path().join("a.bin"), folder.path().join("a.check"));
        std::fs::write(&data, vec![7; 200_000]).unwrap();
        let x: Matrix = Mat::from_fn(2500, 3, |i, j| ((i * (j + 2)) as f64).sin()).into();
        let mut current = PceSummary::empty(PceParams::default(), 3).unwrap();
        current.update(x.view(), Exec::default()).unwrap();
        let seen = Fingerprint::of(x.view());
        let done = SummaryFile::from(PceSummary::empty(PceParams::default(), 3).unwrap());
        let data = vec![Probe::of(&data).unwrap()];
        let position = Position { at: 0, rows: 2500, seen };
        assert_eq!(Checkpoint::load(&path).unwrap(), None);
        Checkpoint::write(&path, &data, &position, &done, &current).unwrap();
        let check = Checkpoint { data, position, done, current: current.into() };
        assert_eq!(Checkpoint::load(&path).unwrap(), Some(check.clone()));
        let bytes = std::fs::read(&path).unwrap();
        let error = |bytes: &[u8]| Checkpoint::from_bytes("c", bytes).unwrap_err().to_string();
        for at in [300, bytes.len() / 2, bytes.len() - 3] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 4;
            let said = error(&bytes);
            assert!(said.contains("checkpoint") && !said.contains("essum"), "{said}");
        }
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 4;
        assert_eq!(error(&damaged), "the checkpoint c is damaged: its checksum does not fit its contents");
        assert!(error(&bytes[..bytes.len() - 1]).starts_with("c is not a checkpoint, or it is cut short: "));
        assert_eq!(error(&check.done.to_bytes()), "c is a summary of samples, not a checkpoint of a fit");
        let position = Position { rows: 9, ..check.position };
        Checkpoint::write(&path, &check.data, &position, &check.done, &check.current.summary).unwrap();
        assert!(Checkpoint::load(&path).unwrap_err().to_string().ends_with("its position does not fit its summaries"));
    }

    /// The bytes that were written when both summaries were packed in memory first.
    #[test]
    fn what_is_written_from_where_it_lies_has_the_bytes_of_what_is_packed_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.check");
        let x: Matrix = Mat::from_fn(2500, 3, |i, j| ((i * (j + 2)) as f64).sin()).into();
        let mut current = PceSummary::keeping(eigenspan_core::Keep::Gram, PceParams::default(), 3).unwrap();
        current.update(x.view(), Exec::default()).unwrap();
        let position = Position { at: 0, rows: 2500, seen: Fingerprint::of(x.view()) };
        let done = SummaryFile::from(PceSummary::keeping(eigenspan_core::Keep::Gram, PceParams::default(), 3).unwrap());
        Checkpoint::write(&path, &[], &position, &done, &current).unwrap();
        let header =
            Header { format: 1, checksum: BLANK.into(), data: vec![], at: 0, rows: 2500, seen: position.seen.digits() };
        let packed = [("current", SummaryFile::from(current).to_bytes()), ("done", done.to_bytes())];
        let tensors = packed.map(|(name, bytes)| seal::Tensor::bytes(name, bytes));
        assert_eq!(std::fs::read(&path).unwrap(), seal::seal_tensors(CHECKPOINT, &header, &tensors));
    }

    #[test]
    fn a_checkpoint_of_another_format_is_refused_by_its_version() {
        let header = Header { format: 2, checksum: BLANK.into(), data: vec![], at: 0, rows: 0, seen: BLANK.into() };
        let error = Checkpoint::from_bytes("c", &seal::seal_tensors(CHECKPOINT, &header, &[])).unwrap_err();
        assert_eq!(error.to_string(), "the checkpoint c has format version 2; this program resumes from version 1");
        assert!(error.hint().is_some());
    }

    #[test]
    fn a_probe_sees_length_and_both_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let of = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = vec![1; 300_000];
            change(&mut bytes);
            std::fs::write(&path, bytes).unwrap();
            Probe::of(&path).unwrap()
        };
        let before = of(&|_| {});
        assert_eq!(of(&|_| {}), before);
        assert_ne!(of(&|bytes| bytes[5] = 0), before);
        assert_ne!(of(&|bytes| bytes[299_999] = 0), before);
        assert_ne!(of(&|bytes| bytes.push(1)), before);
    }
}
