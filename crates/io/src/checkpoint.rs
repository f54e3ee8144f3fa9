//! Checkpoints: where a fit from files was when it was last written down, to go on from there to the same bytes.
//!
//! ```text
//!     tensors   done (u8), current (u8): the bytes of summary files
//!     metadata  one key, `eigenspan-checkpoint`: JSON with format version, checksum, the data, and the place in them
//! ```
//! `done` is the summary of all files before the current one, `current` that of the first samples of this. The data are known
//! again by name, length and a hash of their first and last bytes ([`Probe`]): a file that is changed in its middle alone, and
//! keeps its length, is not noticed. To see that, too, all of it would have to be read again.

use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{ReadError, WriteError};
use crate::fingerprint::Fingerprint;
use crate::seal::{self, BLANK, Broken, CHECKPOINT, Stamp, Tensor, hex, in_settings, seal_tensors};
use crate::summary::{SummaryError, SummaryFile};
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

/// Where a fit from files was.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The data, in their order.
    pub data: Vec<Probe>,
    /// The current file: its place among the data, counted from 0.
    pub at: usize,
    /// Samples of it that were read.
    pub rows: usize,
    /// Their fingerprint.
    pub seen: Fingerprint,
    /// The summary of the files before it.
    pub done: SummaryFile,
    /// The summary of those samples.
    pub current: SummaryFile,
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

impl Checkpoint {
    /// Writes the file: to a sibling, synced, then renamed, so that a crash leaves the old file or the new one.
    pub fn save(&self, path: &Path) -> Result<(), WriteError> {
        let header = Header {
            format: FORMAT,
            checksum: BLANK.into(),
            data: self.data.clone(),
            at: self.at,
            rows: self.rows,
            seen: self.seen.digits(),
        };
        let tensors = [Tensor::bytes("current", self.current.to_bytes()), Tensor::bytes("done", self.done.to_bytes())];
        write_atomically(path, |out| out.write_all(&seal_tensors(CHECKPOINT, &header, &tensors)))
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
    pub fn load(path: &Path) -> Result<Option<Self>, SummaryError> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::from_bytes(&name, &bytes).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(SummaryError::Io { file: name, source }),
        }
    }

    fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, SummaryError> {
        let file = name.to_string();
        let invalid = |fault: String| SummaryError::Invalid { file: name.to_string(), fault };
        let opened = seal::open(bytes, STAMP).map_err(|broken| match broken {
            Broken::NotSealed(detail) => SummaryError::NotASummary { file, detail },
            Broken::OtherKind(kind) => SummaryError::OtherKind { file, kind },
            Broken::Version(found) => SummaryError::Version { file, found },
            Broken::Damaged => SummaryError::Damaged { file },
        })?;
        let Header { data, at, rows, seen, .. } =
            serde_json::from_str(&opened.json).map_err(|e| invalid(in_settings(&e)))?;
        let summary = |part: &'static str| {
            let bytes = opened.bytes(part).map_err(invalid)?.ok_or_else(|| invalid(format!("no tensor `{part}`")))?;
            SummaryFile::from_bytes(&format!("{name}, tensor `{part}`"), bytes)
        };
        let (done, current) = (summary("done")?, summary("current")?);
        let seen = Fingerprint::from_digits(&seen).ok_or_else(|| invalid("its fingerprint is not one".into()))?;
        if done.summary.features() != current.summary.features() || current.summary.rows() != rows || at >= data.len() {
            return Err(invalid("its place does not fit its summaries".into()));
        }
        Ok(Self { data, at, rows, seen, done, current })
    }
}

#[cfg(test)]
mod tests {
    use eigenspan::data::Matrix;
    use eigenspan::{Exec, Mat, PceParams, PceSummary};

    use super::*;

    #[test]
    fn a_checkpoint_comes_back_and_a_damaged_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (data, path) = (folder.path().join("a.bin"), folder.path().join("a.check"));
        std::fs::write(&data, vec![7; 200_000]).unwrap();
        let x: Matrix = Mat::from_fn(2500, 3, |i, j| ((i * (j + 2)) as f64).sin()).into();
        let mut current = PceSummary::empty(PceParams::default(), 3).unwrap();
        current.update(x.view(), Exec::default()).unwrap();
        let mut seen = Fingerprint::default();
        seen.add(&x);
        let done = PceSummary::empty(PceParams::default(), 3).unwrap().into();
        let data = vec![Probe::of(&data).unwrap()];
        let check = Checkpoint { data, at: 0, rows: 2500, seen, done, current: current.into() };
        assert_eq!(Checkpoint::load(&path).unwrap(), None);
        check.save(&path).unwrap();
        assert_eq!(Checkpoint::load(&path).unwrap(), Some(check.clone()));
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 4;
        let error = Checkpoint::from_bytes("c", &bytes).unwrap_err().to_string();
        assert_eq!(error, "c is damaged: its checksum does not fit its contents");
        Checkpoint { rows: 9, ..check }.save(&path).unwrap();
        assert!(Checkpoint::load(&path).unwrap_err().to_string().ends_with("its place does not fit its summaries"));
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
