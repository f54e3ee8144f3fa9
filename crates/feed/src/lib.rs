//! Samples in files that may be larger than memory: files and a budget in, a model, features or a summary out.
//!
//! ```text
//!     files ─▶ pass: chunk ─ chunk ─ … ─▶ summary │ sketch │ online │ model ─▶ result
//!                │                           └ now and then: checkpoint
//!                └ one thread reads the next chunk while this one is worked on
//! ```
//! A *pass* is a whole reading of the data, a *chunk* what is read at once. Chunks are as large as the budget allows
//! ([`budget`]) and change no bit of the result. The bytes that were read are reported to the
//! [`Monitor`](eigenspan_core::Monitor) as the stage [`READING`]; a monitor that cancels leaves a checkpoint to resume from.
//!
//! | work | in | out |
//! |---|---|---|
//! | [`Fit`] | files | a model of PCE or PCA |
//! | [`Summarize`] | files | a summary, to be merged with others |
//! | [`Update`] | a model, files | the model of old and new samples |
//! | [`Transform`] | a model, samples | a file of features |
//! | [`Recover`] | a model, samples | files of clean samples and scores |
//! | [`Describe`] | a file | its shape, range and lengths |
//! | [`Path`] | files | the dimension for every λ |
//!
//! ```
//! use eigenspan_core::model::fitted::Fitted as _;
//! use eigenspan_core::{Exec, PceParams};
//! use eigenspan_feed::{Files, Fit};
//! # let folder = tempfile::tempdir()?;
//! # let january = folder.path().join("january.csv");
//! # let february = folder.path().join("february.csv");
//! # let table = |from: usize| (from..from + 90).map(|i| {
//! #     let wave = |d: usize| ((i + 1) as f64 * (d + 2) as f64 * 0.37).sin();
//! #     format!("{},{},{},{}\n", wave(0), wave(1), wave(0) - wave(1), 0.01 * wave(5))
//! # }).collect::<String>();
//! # eigenspan_io::write_atomically(&january, |out| out.write_all(table(0).as_bytes()))?;
//! # eigenspan_io::write_atomically(&february, |out| out.write_all(table(90).as_bytes()))?;
//!
//! let files = Files::new([january, february]);
//! let fit = Fit { max_memory: Some(64 << 20), ..Fit::new(files, PceParams::default()) };
//! let fitted = fit.run(Exec::default())?;
//! assert_eq!((fitted.rows, fitted.file.model.features()), (180, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate prints nothing and reads no clock and no environment.

pub mod budget;
mod describe;
mod error;
mod files;
mod fit;
mod pass;
mod path;
mod recover;
mod sketch;
mod summarize;
mod transform;
mod update;

pub use budget::{check_whole, parse_size};
pub use describe::{Describe, Description};
pub use error::FeedError;
pub use files::Files;
pub use fit::{Checkpoints, Fit, Fitted, Form, SketchOptions};
pub use pass::READING;
pub use path::Path;
pub use recover::Recover;
pub use summarize::Summarize;
pub use transform::{Transform, column_names};
pub use update::{Taken, Update, Updated};
