//! Files in and out of eigenspan. This is the only crate that opens a file.
//!
//! | format | read | written | found by |
//! |---|---|---|---|
//! | NPY | samples in rows, or a stack of grey images; streamed block by block | yes | its first bytes |
//! | NPZ | arrays `X`, `y`, `shape` | no | its first bytes |
//! | IDX | as MNIST comes; classes from the labels file beside it; streamed | no | its first bytes |
//! | MATLAB 5 to 7 | `X`, `fea`, `DAT`, `data`, or the only matrix; classes `y`, `gnd`, `labels` | no | its header |
//! | CSV, TSV | header, labels and ids optional; streamed | yes, with ids | being text |
//! | Parquet | columns of numbers, lists, classes and ids; streamed by row groups; feature `columnar` | yes, with ids | its first bytes |
//! | Arrow, Feather | the same, as file or stream; feature `columnar` | no | its first bytes |
//! | LIBSVM | sparse, classes in front | no | being text with `index:value` |
//! | PNG, JPEG, PNM, BMP | a folder of them: each image is a sample, each sub-folder a class | no | their first bytes |
//! | `.espan` | models, see [`ModelFile`] | yes | its contents |
//! | `.essum` | summaries of samples, see [`SummaryFile`] | yes | its contents |
//! | ONNX | no | models, see [`onnx`] | |
//! | JSON | calibrations, see [`load_calibration`] | yes | its contents |
//!
//! Formats are distinguished by content, never by name; NPY, IDX, MATLAB and text may be packed by gzip. Bytes are hostile
//! until checked: what a header claims is compared with what is there before memory is taken, NaN and infinities are
//! refused by row and column, and nothing in a file is ever run. Files are written to a temporary sibling and renamed:
//! all at once, or not at all.
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

#[expect(clippy::disallowed_methods, reason = "reading ahead needs a thread that outlives the call")]
mod ahead;
mod array;
mod atomic;
mod calibration;
#[expect(clippy::disallowed_methods, reason = "checkpoints are read and written here")]
mod checkpoint;
#[cfg(feature = "columnar")]
mod columnar;
mod contain;
mod csv;
pub mod embedded;
mod error;
mod fingerprint;
mod idx;
mod images;
mod input;
#[expect(clippy::disallowed_methods, reason = "journals are opened here")]
mod journal;
mod json_fault;
mod libsvm;
mod mat;
#[expect(clippy::disallowed_methods, reason = "model files enter here")]
mod model;
mod npy;
mod npz;
pub mod onnx;
mod read;
mod seal;
mod stream;
mod summary;
mod table;
mod write;

pub use crate::ahead::{Ahead, Portion};
pub use crate::array::{ArrayFault, BadValue};
pub use crate::atomic::write_atomically;
pub use crate::calibration::{CalibrationError, calibration_of_bytes, load_calibration, save_calibration};
pub use crate::checkpoint::{Checkpoint, CheckpointError, Position, Probe};
#[cfg(feature = "columnar")]
pub use crate::columnar::ColumnarFault;
pub use crate::contain::panic_is_contained;
pub use crate::csv::{Column, CsvFault};
pub use crate::error::{Fault, ReadError, WriteError};
pub use crate::fingerprint::Fingerprint;
pub use crate::idx::IdxFault;
pub use crate::images::ImagesFault;
pub use crate::input::BytesRead;
pub use crate::journal::Journal;
pub use crate::libsvm::LibsvmFault;
pub use crate::mat::{MatFault, Place};
pub use crate::model::{
    FORMAT, ModelError, ModelFile, Provenance, fingerprint, orthogonality, orthogonality_tolerance,
};
pub use crate::npy::NpyFault;
pub use crate::npz::NpzFault;
pub use crate::read::{
    ClassCounts, ReadOptions, Rows, STREAMED, bytes_of, open, open_counted, open_samples, read, read_bytes,
    read_row_numbers,
};
pub use crate::stream::InMemory;
pub use crate::summary::{PartOfData, SUMMARY_FORMAT, SummaryError, SummaryFile, provenance_of};
pub use crate::table::LabelFault;
pub use crate::write::{Names, create, held_by_sink};
