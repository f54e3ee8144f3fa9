//! Files in and out of eigenspan. This is the only crate that opens a file.
//!
//! | format | read | written | found by |
//! |---|---|---|---|
//! | NPY | samples in rows, or a stack of grey images; streamed block by block | yes | its first bytes |
//! | NPZ | arrays `X`, `y`, `shape` | no | its first bytes |
//! | CSV, TSV | header, labels and ids optional | yes | being text |
//! | `.espan` | models, see [`ModelFile`] | yes | its contents |
//! | ONNX | no | models, see [`onnx`] | |
//!
//! Formats are told apart by content, never by name. Bytes are hostile until checked: what a header claims is
//! compared with what is there before memory is taken, NaN and infinities are refused by row and column, and
//! nothing in a file is ever run. Files are written to a temporary sibling and renamed: all at once, or not at all.
//!
//! ```
//! use eigenspan_io::{ReadOptions, read_bytes};
//!
//! let data = read_bytes("plants.csv", b"width,height,label\n1,2,oak\n3,4,elm\n", &ReadOptions::default())?;
//! assert_eq!((data.samples.rows(), data.samples.cols()), (2, 2));
//! assert_eq!(data.labels.unwrap().names, ["elm", "oak"]);
//!
//! let error = read_bytes("plants.csv", b"width,height\n1,two\n", &ReadOptions::default()).unwrap_err();
//! assert_eq!(error.to_string(), "plants.csv: line 2, column 2 (`height`): expected a number, found `two`");
//! # Ok::<(), eigenspan_io::ReadError>(())
//! ```
#![expect(clippy::disallowed_methods, reason = "this crate is where files are opened")]

mod atomic;
mod csv;
pub mod embedded;
mod error;
mod model;
mod npy;
mod npz;
pub mod onnx;
mod stream;

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use eigenspan::data::{Dataset, Sink, Source};

pub use crate::atomic::write_atomically;
pub use crate::csv::{Column, CsvFault};
pub use crate::error::{ReadError, WriteError};
pub use crate::model::{
    FORMAT, ModelError, ModelFile, Provenance, fingerprint, orthogonality, orthogonality_tolerance,
};
pub use crate::npy::{BadValue, NpyFault};
pub use crate::npz::NpzFault;
pub use crate::stream::InMemory;

use crate::npy::Length;

/// How data are to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The CSV column that holds the classes, by name or by number counted from 1.
    pub label: Option<String>,
}

/// Reads samples from a file of any format; `-` is standard input.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Dataset, ReadError> {
    read_opened(Opened::new(path)?, options)
}

/// Reads samples from bytes of any format; `name` is what messages call them.
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Dataset, ReadError> {
    match Format::of(bytes) {
        Some(Format::Npy) => {
            no_label_column(name, "NPY", options)?;
            npy_samples(name, bytes, bytes.len() as u64)
        }
        Some(Format::Npz) => {
            no_label_column(name, "NPZ", options)?;
            npz::read(name, Cursor::new(bytes))
        }
        None if bytes.is_empty() => Err(ReadError::Empty { file: name.to_string() }),
        None => csv::read(name, as_text(name, bytes)?, options.label.as_deref()),
    }
}

/// Reads row numbers, counted from 0, from an NPY file: integers, or a mask with a bool for every row.
pub fn read_row_numbers(path: &Path) -> Result<Vec<usize>, ReadError> {
    let (file, rows) = match Opened::new(path)? {
        Opened::Bytes(name, bytes) => {
            let length = Length::Counted(bytes.len() as u64);
            (name, npy::row_numbers(&mut &bytes[..], length))
        }
        Opened::Npy(name, file, bytes) | Opened::Npz(name, file, bytes) => {
            (name, npy::row_numbers(&mut BufReader::new(file), Length::Counted(bytes)))
        }
    };
    rows.map_err(|fault| ReadError::Npy { file, array: None, fault })
}

/// Opens samples to be read in blocks. NPY files in C order are read block by block, and never as a whole; the
/// rest is read at once and handed out in blocks.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Source>, ReadError> {
    let data = match Opened::new(path)? {
        Opened::Npy(name, file, bytes) => {
            no_label_column(&name, "NPY", options)?;
            let rows = npy::NpyRows::new(&name, file, bytes);
            match rows.map_err(|fault| ReadError::Npy { file: name, array: None, fault })? {
                Some(rows) => return Ok(Box::new(rows)),
                None => read(path, options)?,
            }
        }
        opened => read_opened(opened, options)?,
    };
    Ok(Box::new(InMemory::new(data.samples)))
}

/// Creates a file of `cols` columns that takes rows in blocks: NPY, CSV or TSV by the end of its name; `-` is CSV on
/// standard output.
///
/// NPY keeps the number type of the first block. CSV begins with the `header`, where there is one. The file appears
/// under its name when the sink is finished, and not before.
pub fn create(path: &Path, cols: usize, header: Option<&[String]>) -> Result<Box<dyn Sink>, WriteError> {
    if path == Path::new("-") {
        return Ok(Box::new(csv::CsvSink::stdout(cols, header)?));
    }
    let extension = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("npy") => Ok(Box::new(npy::NpySink::create(path, cols)?)),
        Some("csv") => Ok(Box::new(csv::CsvSink::create(path, b',', cols, header)?)),
        Some("tsv") => Ok(Box::new(csv::CsvSink::create(path, b'\t', cols, header)?)),
        _ => Err(WriteError::Extension { file: path.display().to_string() }),
    }
}

/// The formats that begin with bytes of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Npz,
}

impl Format {
    fn of(start: &[u8]) -> Option<Self> {
        match start {
            _ if start.starts_with(npy::MAGIC) => Some(Self::Npy),
            // The second is an archive without entries.
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Npz),
            _ => None,
        }
    }
}

/// A file at its first byte, with the name that messages call it.
enum Opened {
    /// An NPY file and its length in bytes.
    Npy(String, File, u64),
    /// An NPZ file and its length in bytes.
    Npz(String, File, u64),
    /// Text, or what cannot be read twice: all of it.
    Bytes(String, Vec<u8>),
}

impl Opened {
    fn new(path: &Path) -> Result<Self, ReadError> {
        let mut bytes = vec![];
        if path == Path::new("-") {
            let file = "standard input".to_string();
            return match std::io::stdin().read_to_end(&mut bytes) {
                Ok(_) => Ok(Self::Bytes(file, bytes)),
                Err(source) => Err(ReadError::Io { file, doing: "read", source }),
            };
        }
        let name = path.display().to_string();
        let io = |doing| move |source| ReadError::Io { file: path.display().to_string(), doing, source };
        let mut file = File::open(path).map_err(io("open"))?;
        let about = file.metadata().map_err(io("read"))?;
        file.by_ref().take(npy::MAGIC.len() as u64).read_to_end(&mut bytes).map_err(io("read"))?;
        match Format::of(&bytes) {
            // A pipe has neither a length nor a way back.
            Some(format) if about.is_file() => {
                file.rewind().map_err(io("read"))?;
                Ok(match format {
                    Format::Npy => Self::Npy(name, file, about.len()),
                    Format::Npz => Self::Npz(name, file, about.len()),
                })
            }
            _ => {
                file.read_to_end(&mut bytes).map_err(io("read"))?;
                Ok(Self::Bytes(name, bytes))
            }
        }
    }
}

/// The bytes as text. A zero byte is valid UTF-8, but no text: it tells of a binary format.
fn as_text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, ReadError> {
    let (text, end) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, bytes.len()),
        Err(error) => ("", error.valid_up_to()),
    };
    match bytes[..end].iter().position(|&byte| byte == 0).unwrap_or(end) {
        at if at < bytes.len() => {
            Err(ReadError::UnknownFormat { file: name.to_string(), start: error::hexadecimal(bytes), at })
        }
        _ => Ok(text),
    }
}

fn read_opened(opened: Opened, options: &ReadOptions) -> Result<Dataset, ReadError> {
    match opened {
        Opened::Bytes(name, bytes) => read_bytes(&name, &bytes, options),
        Opened::Npy(name, file, bytes) => {
            no_label_column(&name, "NPY", options)?;
            npy_samples(&name, BufReader::new(file), bytes)
        }
        Opened::Npz(name, file, _) => {
            no_label_column(&name, "NPZ", options)?;
            npz::read(&name, BufReader::new(file))
        }
    }
}

fn npy_samples(name: &str, mut source: impl Read, bytes: u64) -> Result<Dataset, ReadError> {
    let samples = npy::samples(&mut source, Length::Counted(bytes));
    let (samples, image) = samples.map_err(|fault| ReadError::Npy { file: name.to_string(), array: None, fault })?;
    Ok(Dataset { image, ..Dataset::new(samples) })
}

/// Only tables have a label column to ask for.
fn no_label_column(name: &str, format: &'static str, options: &ReadOptions) -> Result<(), ReadError> {
    match &options.label {
        Some(label) => Err(ReadError::LabelColumn { file: name.to_string(), label: label.clone(), format }),
        None => Ok(()),
    }
}
