//! What can go wrong with files. `Display` is the fact, `hint` the next step.

use std::io;

use eigenspan::data::NumberType;

use crate::csv::CsvFault;
use crate::npy::NpyFault;
use crate::npz::NpzFault;

/// Why data could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error("cannot {doing} {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was attempted: `open`, `read`.
        doing: &'static str,
        /// The system's words.
        source: io::Error,
    },
    /// No bytes at all.
    #[error("{file} is empty: expected NPY, NPZ or CSV, found 0 bytes")]
    Empty {
        /// The file.
        file: String,
    },
    /// None of the formats that are read.
    #[error("{file} is none of NPY, NPZ and CSV: it starts with the bytes {start}, and byte {at} is not text in UTF-8")]
    UnknownFormat {
        /// The file.
        file: String,
        /// The first bytes, in hexadecimal.
        start: String,
        /// Offset of the first byte that is no text.
        at: usize,
    },
    /// A label column was asked for in a file without columns that have names or numbers of their own.
    #[error("{file}: the label column `{label}` was asked for, but {format} files have no label columns")]
    LabelColumn {
        /// The file.
        file: String,
        /// The column asked for.
        label: String,
        /// The format found.
        format: &'static str,
    },
    /// An NPY array is malformed or holds what cannot be taken.
    #[error("{file}{}: {fault}", array.as_ref().map_or(String::new(), |name| format!(", array `{name}`")))]
    Npy {
        /// The file.
        file: String,
        /// The array in it, where the file is NPZ.
        array: Option<String>,
        /// What is wrong.
        fault: NpyFault,
    },
    /// An NPZ archive is malformed, or its arrays do not fit together.
    #[error("{file}: {fault}")]
    Npz {
        /// The file.
        file: String,
        /// What is wrong.
        fault: NpzFault,
    },
    /// A CSV table is malformed or holds what cannot be taken.
    #[error("{file}: {fault}")]
    Csv {
        /// The file.
        file: String,
        /// What is wrong.
        fault: CsvFault,
    },
}

impl ReadError {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } => io_hint(source),
            Self::Empty { .. } => {
                Some("check the program that wrote it: it ended before it wrote anything".to_string())
            }
            Self::UnknownFormat { start, at, .. } => {
                // The byte order marks of UTF-16, or much text before the first foreign letter.
                let is_text = start.starts_with("ff fe") || start.starts_with("fe ff") || *at >= 16;
                Some(
                    if is_text { "save the text as UTF-8" } else { "save the data with `np.save`, or as CSV" }
                        .to_string(),
                )
            }
            Self::LabelColumn { format: "NPZ", .. } => {
                Some("leave the label column out: the classes of an NPZ file are its array `y`".to_string())
            }
            Self::LabelColumn { .. } => {
                Some("leave it out, or save samples and classes with `np.savez(X=…, y=…)`".to_string())
            }
            Self::Npy { fault, .. } => fault.hint(),
            Self::Npz { fault, .. } => fault.hint(),
            Self::Csv { fault, .. } => fault.hint(),
        }
    }
}

/// Why a file could not be written. What stood under its name before stands there still.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refused.
    #[error("cannot {doing} {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was attempted: `create`, `write`, `replace`.
        doing: &'static str,
        /// The system's words.
        source: io::Error,
    },
    /// The name belongs to a folder, a device or a pipe, which cannot be replaced by a file.
    #[error("cannot write {file}: expected a file or a new name, found a folder, device or pipe")]
    NotAFile {
        /// The name.
        file: String,
    },
    /// The name does not tell the format.
    #[error("cannot tell the format of {file}: expected a name that ends in .npy, .csv or .tsv")]
    Extension {
        /// The file.
        file: String,
    },
    /// There is not one name for every column.
    #[error("cannot write {file}: {cols} columns need {cols} names, found {found}")]
    Names {
        /// The file.
        file: String,
        /// Number of columns.
        cols: usize,
        /// Number of names.
        found: usize,
    },
    /// A block has another number of columns than the file.
    #[error("cannot write {file}: expected rows of {expected} columns, found a block of {found}")]
    Columns {
        /// The file.
        file: String,
        /// Columns of the file.
        expected: usize,
        /// Columns of the block.
        found: usize,
    },
    /// A block comes in other numbers than the first one.
    #[error("cannot write {file}: expected numbers of type {expected:?} as in the first block, found {found:?}")]
    NumberType {
        /// The file.
        file: String,
        /// The type of the first block.
        expected: NumberType,
        /// The type of this block.
        found: NumberType,
    },
}

impl WriteError {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } => io_hint(source),
            Self::NotAFile { .. } => Some("give the name of a file, or `-` for CSV on standard output".to_string()),
            Self::Extension { .. } => {
                Some("use .npy for binary, .csv or .tsv for text, `-` for CSV on standard output".to_string())
            }
            // What the caller handed over does not fit together: nothing the reader of the message can mend.
            Self::Names { .. } | Self::Columns { .. } | Self::NumberType { .. } => None,
        }
    }
}

fn io_hint(error: &io::Error) -> Option<String> {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the name and the folder",
        io::ErrorKind::PermissionDenied => "check who may read and write there",
        io::ErrorKind::StorageFull => "make room on the disk, or write elsewhere",
        io::ErrorKind::IsADirectory => "give the name of a file, not of a folder",
        _ => return None,
    };
    Some(hint.to_string())
}

/// The first bytes of something that is not what it should be.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    match bytes {
        [] => "nothing".to_string(),
        _ => bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    }
}
