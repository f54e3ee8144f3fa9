//! Model files, `.espan`: safetensors with JSON metadata.
//!
//! ```text
//!     tensors   what was learnt, all f64
//!     metadata  one key, `eigenspan`: JSON with format version, checksum, method, settings, results, provenance
//! ```
//! | format | holds | file |
//! |---|---|---|
//! | 1, 2 | PCE and PCA | `pce.rs` |
//! | 3 | every other method | `record.rs` |
//! | 4 | PCE with soft weights or features of length one | `pce.rs` |
//! | 5 | PCE of samples that arrived one by one, with what the next goes on from | `pce.rs` |
//! | 6 | every method, with parameters as a person writes them | `record.rs` |
//!
//! Format 6 is what is written. In the formats before it PCA is PCE with parameters of its own.
//!
//! A model file is hostile until checked: the checksum (`../seal.rs`), sizes against the file, numbers against each
//! other, and the directions of PCE against orthogonality, before anything is computed with them.

mod pce;
mod provenance;
mod record;

use std::path::Path;

use eigenspan_core::Model;

pub use pce::{orthogonality, orthogonality_tolerance};
pub(crate) use provenance::word_of;
pub use provenance::{Provenance, fingerprint};

use crate::error::WriteError;
use crate::seal::{self, Broken, MODEL, Stamp};
use crate::write_atomically;

/// The latest format version. Every version that was ever written is read.
pub const FORMAT: u32 = record::READABLE;
const STAMP: Stamp = Stamp { key: MODEL, latest: FORMAT };

/// A model and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// Where it came from.
    pub provenance: Provenance,
}

/// Why a model file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// Not a safetensors file, or cut short.
    #[error("{file} is not an .espan model file, or it is cut short: {detail}")]
    NotAModel {
        /// The file.
        file: String,
        /// What the parser said.
        detail: String,
    },
    /// A summary or a checkpoint, which is no model yet.
    #[error("{file} is {kind}, not a model")]
    OtherKind {
        /// The file.
        file: String,
        /// What it is.
        kind: &'static str,
    },
    /// A later format.
    #[error("{file} has format version {found}; this program reads versions 1 to {FORMAT}")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        found: u64,
    },
    /// Some bit is not what it was when the file was written.
    #[error("{file} is damaged: its checksum does not fit its contents")]
    Damaged {
        /// The file.
        file: String,
    },
    /// The checksum fits, the contents contradict themselves.
    #[error("{file} is not a valid model: {fault}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong.
        fault: String,
    },
}

impl ModelError {
    fn of(broken: Broken, file: &str) -> Self {
        let file = file.to_string();
        match broken {
            Broken::NotSealed(detail) => Self::NotAModel { file, detail },
            Broken::OtherKind(kind) => Self::OtherKind { file, kind },
            Broken::Version(found) => Self::Version { file, found },
            Broken::Damaged => Self::Damaged { file },
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { .. } => None,
            Self::NotAModel { .. } => Some("model files are written by `eigenspan fit DATA -o MODEL.espan`".into()),
            Self::OtherKind { .. } => Some("make a model of it with `eigenspan finish SUMMARY -o MODEL.espan`".into()),
            Self::Version { .. } => Some("update eigenspan, or fit the model again".into()),
            Self::Damaged { .. } | Self::Invalid { .. } => {
                Some("fetch the file again from where it was written, or fit again".into())
            }
        }
    }
}

impl ModelFile {
    /// The bytes of the file. The same model gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        record::to_bytes(&self.model, &self.provenance)
    }

    /// Reads and checks the bytes of a file; `name` is for messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        let file = seal::open(bytes, STAMP).map_err(|broken| ModelError::of(broken, name))?;
        let read = match file.format {
            1 | 2 | pce::SOFT | pce::ONLINE => pce::read(&file),
            _ => record::read(&file),
        };
        let checked = read.and_then(|file| pce::check_orthogonality(&file.model).map(|()| file));
        checked.map_err(|fault| ModelError::Invalid { file: name.into(), fault })
    }

    /// Writes the file: to a sibling, synced, then renamed, so that a crash leaves the old file or the new one.
    pub fn save(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| out.write_all(&self.to_bytes()))
    }

    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| ModelError::Io { file: name.clone(), source })?;
        Self::from_bytes(&name, &bytes)
    }
}

#[cfg(test)]
mod tests;
