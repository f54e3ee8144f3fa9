//! What can go wrong with files. `Display` is the fact, `hint` the next step.

use std::io;

use eigenspan_core::data::NumberType;

#[cfg(feature = "columnar")]
use crate::columnar::ColumnarFault;
use crate::csv::CsvFault;
use crate::idx::IdxFault;
use crate::images::ImagesFault;
use crate::input::Format;
use crate::libsvm::LibsvmFault;
use crate::mat::MatFault;
use crate::model::word_of;
use crate::npy::NpyFault;
use crate::npz::NpzFault;

/// What a file of samples may be, for messages.
const FORMATS: &str = "NPY, NPZ, IDX, MATLAB, Parquet, Arrow, CSV and LIBSVM";

/// What to do about a format that was left out.
const BUILD: &str = "build with `cargo build --release --features columnar`";

/// How the name of a file to be written may end, for messages.
#[cfg(feature = "columnar")]
const EXTENSIONS: &str = ".npy, .parquet, .csv or .tsv";
#[cfg(not(feature = "columnar"))]
const EXTENSIONS: &str = ".npy, .csv or .tsv";

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
    #[error("{file} is empty{}: expected one of {FORMATS}, found 0 bytes", if *packed { " once unpacked" } else { "" })]
    Empty {
        /// The file.
        file: String,
        /// Whether something was there, packed by gzip.
        packed: bool,
    },
    /// None of the formats that are read.
    #[error("{file} is none of {FORMATS}: it starts with the bytes {start}, and byte {at} is not text in UTF-8")]
    UnknownFormat {
        /// The file.
        file: String,
        /// The first bytes, in hexadecimal.
        start: String,
        /// Offset of the first byte that is no text.
        at: usize,
    },
    /// A format that is known, but holds no samples or is not read.
    #[error("{file} is {what}, expected one of {FORMATS}")]
    NotSamples {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// A format that takes a library which was left out.
    #[error("{file} is {format}, which this build does not read")]
    NotBuilt {
        /// The file.
        file: String,
        /// Its format.
        format: String,
    },
    /// What cannot be unpacked.
    #[error("{file} is packed by gzip, and cannot be unpacked: {source}")]
    Gzip {
        /// The file.
        file: String,
        /// The decompressor's words.
        source: io::Error,
    },
    /// A format that is not read while packed.
    #[error("{file} holds {format} packed by gzip, expected NPY, IDX, MATLAB or text where gzip is the wrapping")]
    Packed {
        /// The file.
        file: String,
        /// What is inside.
        format: String,
    },
    /// Something was requested that files of this format do not have.
    #[error("{file}: {requested} was requested, but {format} have no {lacking}")]
    Option {
        /// The file.
        file: String,
        /// What was requested.
        requested: String,
        /// The format found, in the plural.
        format: String,
        /// What it has none of.
        lacking: &'static str,
    },
    /// The image shape requested does not fit.
    #[error("{file}: images of {height} × {width} were requested, which does not fit samples of {features}")]
    Image {
        /// The file.
        file: String,
        /// The height requested.
        height: usize,
        /// The width requested.
        width: usize,
        /// The features of the samples: their number, or height and width where the file has these.
        features: String,
    },
    /// The contents are malformed, or hold what cannot be taken.
    #[error("{file}{}: {fault}", array.as_ref().map_or(String::new(), |name| format!(", array `{name}`")))]
    Content {
        /// The file.
        file: String,
        /// The array in it, where it may hold several.
        array: Option<String>,
        /// What is wrong.
        fault: Box<Fault>,
    },
}

/// What is wrong inside a file, by format.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum Fault {
    /// In an NPY array.
    Npy(#[from] NpyFault),
    /// In an NPZ archive.
    Npz(#[from] NpzFault),
    /// In an IDX file.
    Idx(#[from] IdxFault),
    /// In a MATLAB file.
    Mat(#[from] MatFault),
    /// In a CSV table.
    Csv(#[from] CsvFault),
    /// In LIBSVM text.
    Libsvm(#[from] LibsvmFault),
    /// In a folder of images.
    Images(#[from] ImagesFault),
    /// In a Parquet or Arrow file.
    #[cfg(feature = "columnar")]
    Columnar(#[from] ColumnarFault),
}

impl Fault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Npy(fault) => fault.hint(),
            Self::Npz(fault) => fault.hint(),
            Self::Idx(fault) => fault.hint(),
            Self::Mat(fault) => fault.hint(),
            Self::Csv(fault) => fault.hint(),
            Self::Libsvm(fault) => fault.hint(),
            Self::Images(fault) => fault.hint(),
            #[cfg(feature = "columnar")]
            Self::Columnar(fault) => fault.hint(),
        }
    }
}

impl ReadError {
    /// A fault in the contents of `file`.
    pub(crate) fn content(file: &str, fault: impl Into<Fault>) -> Self {
        Self::Content { file: file.to_string(), array: None, fault: Box::new(fault.into()) }
    }

    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } => io_hint(source),
            Self::Empty { .. } => {
                Some("check the program that wrote it: it ended before it wrote anything".to_string())
            }
            Self::UnknownFormat { start, at, .. } => Some(unknown_hint(start, *at).to_string()),
            Self::NotSamples { hint, .. } => Some(hint.to_string()),
            Self::NotBuilt { .. } => Some(BUILD.to_string()),
            Self::Gzip { .. } => Some("the file is cut or damaged: copy or pack it again".to_string()),
            Self::Packed { .. } => Some("unpack it first: `gunzip FILE`".to_string()),
            Self::Option { lacking: "label columns", format, .. } if *format == Format::Folder.plural() => {
                Some("leave it out: each sub-folder is a class".to_string())
            }
            Self::Option { lacking: "label columns", .. } => {
                Some("leave it out, or save samples and classes with `np.savez(X=…, y=…)`".to_string())
            }
            Self::Option { .. } => Some("leave it out".to_string()),
            Self::Image { .. } => Some("height times width must be the number of features".to_string()),
            Self::Content { fault, .. } => fault.hint(),
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
        /// What was attempted: `create`, `write`, `replace`, `remove`.
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
    /// The name does not determine the format.
    #[error("cannot determine the format of {file}: expected a name that ends in {EXTENSIONS}")]
    Extension {
        /// The file.
        file: String,
    },
    /// The format takes a library that was left out.
    #[error("cannot write {file}: this build does not write Parquet, expected a name that ends in {EXTENSIONS}")]
    NotBuilt {
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
    #[error(
        "cannot write {file}: expected numbers of type {} as in the first block, found {}",
        word_of(*expected),
        word_of(*found)
    )]
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
                let binary = if cfg!(feature = "columnar") { ".npy or .parquet" } else { ".npy" };
                Some(format!("use {binary} for binary, .csv or .tsv for text, `-` for CSV on standard output"))
            }
            Self::NotBuilt { .. } => Some(BUILD.to_string()),
            // What the caller handed over does not fit together: nothing the reader of the message can mend.
            Self::Names { .. } | Self::Columns { .. } | Self::NumberType { .. } => None,
        }
    }
}

/// What to do about a file whose first bytes are `start`, of which the one at `at` is no text.
fn unknown_hint(start: &str, at: usize) -> &'static str {
    // The byte order marks of UTF-16, or much text before the first foreign letter.
    if start.starts_with("ff fe") || start.starts_with("fe ff") || at >= 16 {
        return "save the text as UTF-8";
    }
    // Below 20 are no letters, but tab and the ends of lines.
    let is_letter = |byte: &str| byte >= "20" || ["09", "0a", "0d"].contains(&byte);
    match start.split(' ').all(is_letter) {
        true => "if it is a table, save it as UTF-8; if not, save the data with `np.save`",
        false => "save the data with `np.save`, or as CSV in UTF-8",
    }
}

fn io_hint(error: &io::Error) -> Option<String> {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the name and the folder",
        io::ErrorKind::PermissionDenied => "check who may read and write there",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space on the disk, or write elsewhere",
        io::ErrorKind::FileTooLarge => "lift the limit on the size of files (`ulimit -f`), or write elsewhere",
        io::ErrorKind::ReadOnlyFilesystem => "write elsewhere: nothing can be written there",
        io::ErrorKind::IsADirectory => "give the name of a file, not of a folder",
        _ => return None,
    };
    Some(hint.to_string())
}

/// Names in a message: ten of them, and how many more there are.
pub(crate) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(10).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 10 { format!(" and {} more", names.len() - 10) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The first bytes of something that is not what it should be.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    match bytes {
        [] => "nothing".to_string(),
        _ => bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    }
}
