//! Summary files, `.essum`: what is kept of samples, to be merged with others and finished to a model.
//!
//! ```text
//!     tensors   prepared (u8) · unscaled (u8)? · first (m)? · varies (u8, m) · lengths (shortest, longest)
//!     metadata  one key, `eigenspan-summary`: JSON with format version, checksum, settings, what was seen, parts of the data
//! ```
//! `prepared` and `unscaled` are the bytes of [`Summary`]. The outside is that of a model file, and
//! as there nothing is taken over that could not have been written.

use std::io::Write;
use std::path::Path;

use eigenspan_core::data::{ImageShape, NumberType};
use eigenspan_core::linalg::Summary;
use eigenspan_core::method::pce::summary::SampleStats;
use eigenspan_core::{Error, Exec, Model, PceParams, PceSummary};
use sha2::{Digest, Sha256};

use crate::error::WriteError;
use crate::model::{ModelFile, Provenance};
use crate::seal::{self, Array, BLANK, Broken, Opened, SUMMARY, Sealed, Stamp, Streamed, hex, in_settings};
use crate::write_atomically;

/// The latest format version of summaries: 2 has parameters as a person writes them.
pub const SUMMARY_FORMAT: u32 = 2;
const STAMP: Stamp = Stamp { key: SUMMARY, latest: SUMMARY_FORMAT };

/// One file, or another piece of data, that went into a summary.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartOfData {
    /// The name of the data, without its folder.
    pub data: String,
    /// Its samples.
    pub rows: usize,
    /// SHA-256 of its samples, in the order of its rows.
    pub sha256: String,
}

/// A summary, and the data it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryFile {
    /// The summary.
    pub summary: PceSummary,
    /// The data in their order; none where samples were arrays in memory.
    pub parts: Vec<PartOfData>,
    /// Height and width of the image that each sample is.
    pub image: Option<ImageShape>,
}

/// Why a summary file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// Not a safetensors file, or cut short.
    #[error("{file} is not an .essum summary file, or it is cut short: {detail}")]
    NotASummary {
        /// The file.
        file: String,
        /// What the parser said.
        detail: String,
    },
    /// A model or a checkpoint, which can be neither merged nor finished.
    #[error("{file} is {kind}, not a summary of samples")]
    OtherKind {
        /// The file.
        file: String,
        /// What it is.
        kind: &'static str,
    },
    /// A later format.
    #[error("{file} has format version {found}; this program reads summaries of versions 1 to {SUMMARY_FORMAT}")]
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
    #[error("{file} is not a valid summary: {fault}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong.
        fault: String,
    },
}

impl SummaryError {
    fn of(broken: Broken, file: &str) -> Self {
        let file = file.to_string();
        match broken {
            Broken::NotSealed(detail) => Self::NotASummary { file, detail },
            Broken::OtherKind(kind) => Self::OtherKind { file, kind },
            Broken::Version(found) => Self::Version { file, found },
            Broken::Damaged => Self::Damaged { file },
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { .. } => return None,
            Self::NotASummary { .. } => "summary files are written by `eigenspan summarize DATA -o PART.essum`".into(),
            Self::OtherKind { .. } => "summarise the samples, then merge the summaries and finish them".into(),
            Self::Version { .. } => "update eigenspan, or summarise the samples again".into(),
            Self::Damaged { .. } | Self::Invalid { .. } => {
                "fetch the file again from where it was written, or summarise the samples again".into()
            }
        })
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    checksum: String,
    params: PceParams,
    number_type: NumberType,
    zeros: usize,
    zero_rows: Vec<usize>,
    image: Option<ImageShape>,
    parts: Vec<PartOfData>,
}

impl From<PceSummary> for SummaryFile {
    fn from(summary: PceSummary) -> Self {
        Self { summary, parts: vec![], image: None }
    }
}

impl SummaryFile {
    /// The bytes of the file. The same summary gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let file = sealed(&self.summary, &self.parts, self.image);
        let mut bytes = Vec::with_capacity(file.byte_count());
        file.write_to(&mut bytes).expect("memory takes every byte");
        bytes
    }

    /// Reads and checks the bytes of a file; `name` is for messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, SummaryError> {
        let file = seal::open(bytes, STAMP).map_err(|broken| SummaryError::of(broken, name))?;
        read(&file).map_err(|fault| SummaryError::Invalid { file: name.into(), fault })
    }

    /// Writes the file: to a sibling, synced, then renamed, so that a crash leaves the old file or the new one.
    pub fn save(&self, path: &Path) -> Result<(), WriteError> {
        let file = sealed(&self.summary, &self.parts, self.image);
        write_atomically(path, |out| file.write_to(out))
    }

    /// Reads and checks a file.
    #[expect(clippy::disallowed_methods, reason = "bytes enter here")]
    pub fn load(path: &Path) -> Result<Self, SummaryError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| SummaryError::Io { file: name.clone(), source })?;
        Self::from_bytes(&name, &bytes)
    }

    /// Takes the samples of another summary, after ours. After an error nothing has changed.
    pub fn merge(&mut self, next: &Self, exec: Exec<'_>) -> Result<(), Error> {
        let empty = self.summary.rows() == 0;
        self.summary.merge(&next.summary, exec)?;
        if next.summary.rows() > 0 {
            self.image = if empty || self.image == next.image { next.image } else { None };
        }
        self.parts.extend(next.parts.iter().cloned());
        Ok(())
    }

    /// The model of all samples, by the settings of the summary where none are given.
    pub fn finish(&self, params: Option<PceParams>, exec: Exec<'_>) -> Result<ModelFile, Error> {
        let model = Model::from(match params {
            Some(params) => self.summary.finish_as(params, exec)?,
            None => self.summary.finish(exec)?,
        });
        let model = match self.image {
            Some(shape) => model.with_image(shape).expect("the shape was checked against the features"),
            None => model,
        };
        Ok(ModelFile { model, provenance: self.provenance() })
    }

    /// Of one part its name and fingerprint; of several the first and the last name, and a hash of all names and
    /// fingerprints.
    pub fn provenance(&self) -> Provenance {
        provenance_of(&self.parts)
    }
}

/// [`SummaryFile::provenance`] of parts that were not summarized.
pub fn provenance_of(parts: &[PartOfData]) -> Provenance {
    match parts {
        [] => Provenance::of_array("an array"),
        [part] => Provenance { data_sha256: Some(part.sha256.clone()), ..Provenance::of_array(&part.data) },
        [first, .., last] => {
            let mut hash = Sha256::new();
            for part in parts {
                hash.update(format!("{} {} {}\n", part.sha256, part.rows, part.data));
            }
            let name = format!("{} … {} ({} parts)", first.data, last.data, parts.len());
            Provenance { data_sha256: Some(hex(&hash.finalize())), ..Provenance::of_array(&name) }
        }
    }
}

/// The file of a summary, to be written straight from where that lies.
pub(crate) fn sealed<'a>(summary: &'a PceSummary, parts: &[PartOfData], image: Option<ImageShape>) -> Sealed<'a> {
    let (params, prepared, unscaled, seen) = summary.state();
    let header = Header {
        format: SUMMARY_FORMAT,
        checksum: BLANK.into(),
        params: *params,
        number_type: seen.number_type,
        zeros: seen.zeros,
        zero_rows: seen.zero_rows.clone(),
        image,
        parts: parts.to_vec(),
    };
    let of = |name, summary: &'a Summary| Streamed::bytes(name, summary.byte_count(), |out| summary.write_to(out));
    let varies = |out: &mut dyn Write| seen.varies.iter().try_for_each(|v| out.write_all(&[u8::from(*v)]));
    let mut tensors = vec![
        Streamed::numbers("lengths", [seen.shortest, seen.longest]),
        of("prepared", prepared),
        Streamed::bytes("varies", seen.varies.len(), varies),
    ];
    tensors.extend((!seen.first.is_empty()).then(|| Streamed::numbers("first", &seen.first)));
    tensors.extend(unscaled.map(|unscaled| of("unscaled", unscaled)));
    Sealed::new(SUMMARY, &header, tensors)
}

/// The summary in a file whose outside is whole.
fn read(file: &Opened<'_>) -> Result<SummaryFile, String> {
    let header: Header = serde_json::from_str(&file.json).map_err(|e| in_settings(&e))?;
    let known = ["first", "lengths", "prepared", "unscaled", "varies"];
    if let Some(name) = file.tensors.names().into_iter().find(|name| !known.contains(name)) {
        return Err(format!("unknown tensor `{name}`"));
    }
    let vector = |name: &str| match file.array(name)? {
        Some(Array { shape, values, .. }) if shape.len() == 1 => Ok(Some(values)),
        Some(_) => Err(format!("tensor `{name}` is not a vector")),
        None => Ok(None),
    };
    let summary = |name: &str| match file.bytes(name)? {
        Some(bytes) => Summary::from_bytes(bytes).map(Some).map_err(|error| format!("tensor `{name}`: {error}")),
        None => Ok(None),
    };
    let Some(&[shortest, longest]) = vector("lengths")?.as_deref() else {
        return Err("tensor `lengths` does not hold the shortest and the longest".into());
    };
    let varies = file.bytes("varies")?.ok_or("no tensor `varies`")?;
    if varies.iter().any(|v| *v > 1) {
        return Err("tensor `varies` holds more than 0 and 1".into());
    }
    let seen = SampleStats {
        number_type: header.number_type,
        shortest,
        longest,
        zeros: header.zeros,
        zero_rows: header.zero_rows,
        first: vector("first")?.unwrap_or_default(),
        varies: varies.iter().map(|v| *v == 1).collect(),
    };
    let prepared = summary("prepared")?.ok_or("no tensor `prepared`")?;
    let summary = PceSummary::from_state(header.params, prepared, summary("unscaled")?, seen).map_err(|e| match e {
        Error::Model(fault) => fault,
        other => other.to_string(),
    })?;
    let rows = header.parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.rows));
    if rows.is_none_or(|rows| rows > summary.rows()) {
        return Err("its parts have more samples than it has".into());
    }
    let digits = |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if header.parts.iter().any(|part| !digits(&part.sha256)) {
        return Err("a fingerprint of its parts is not one".into());
    }
    if header.image.is_some_and(|image| image.height.checked_mul(image.width) != Some(summary.features())) {
        return Err("the image shape does not fit the features".into());
    }
    Ok(SummaryFile { summary, parts: header.parts, image: header.image })
}

#[cfg(test)]
mod tests;
