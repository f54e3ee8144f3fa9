//! Errors between files and models. `Display` is the fact, `hint` the next step.
//!
//! Messages name settings in backticks by their names in this crate; a front end translates them to its own names.

use eigenspan_core::Error;
use eigenspan_core::data::StreamError;
use eigenspan_io::{CheckpointError, ModelError, ReadError, STREAMED, WriteError};

/// Why work on files failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// The library refused the samples or the settings, or the work was cancelled.
    #[error(transparent)]
    Core(#[from] Error),
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A checkpoint could not be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A model could not be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A source or sink failed with any other error.
    #[error("{0}")]
    Stream(StreamError),
    /// The budget does not suffice.
    #[error("{what} takes {minimum} MiB, more than `max_memory` allows")]
    Memory {
        /// The part of the work that takes it.
        what: String,
        /// The minimum that suffices, in MiB.
        minimum: u128,
        /// The next step.
        hint: String,
    },
    /// A budget for a file that can only be read as a whole.
    #[error("{file} has a format that is read as a whole, which `max_memory` does not allow")]
    ReadWhole {
        /// The file.
        file: String,
    },
    /// Files of different kinds.
    #[error("{file} has {found} features, the files before it have {expected}")]
    OtherFeatures {
        /// The file.
        file: String,
        /// Its features.
        found: usize,
        /// Those of the files before it.
        expected: usize,
    },
    /// Standard input, where files are read more than once.
    #[error("standard input cannot be read a second time{why}")]
    StandardInput {
        /// The reason for reading again, as the end of the sentence.
        why: &'static str,
    },
    /// Settings that exclude each other.
    #[error("{fact}")]
    Setting {
        /// The settings in conflict.
        fact: String,
        /// The next step.
        hint: &'static str,
    },
    /// A checkpoint of other data or settings.
    #[error("{file}: {fact}")]
    OtherCheckpoint {
        /// The checkpoint.
        file: String,
        /// What differs.
        fact: String,
    },
    /// Samples that changed between two passes.
    #[error("the samples have changed since the previous pass")]
    Changed,
    /// A file with fewer samples than at the checkpoint.
    #[error("{file} has fewer samples than the checkpoint has read of it")]
    Shorter {
        /// The file.
        file: String,
    },
}

impl FeedError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Core(error) => return error.hint(),
            Self::Read(error) => return error.hint(),
            Self::Write(error) => return error.hint(),
            Self::Checkpoint(error) => return error.hint(),
            Self::Model(error) => return error.hint(),
            Self::Stream(_) => return None,
            Self::Memory { hint, .. } => hint,
            Self::ReadWhole { .. } => return Some(format!("write it as {STREAMED}, or leave the limit out")),
            Self::OtherFeatures { .. } => "all files must hold samples of one kind",
            Self::StandardInput { .. } => "write the samples to a file first",
            Self::Setting { hint, .. } => hint,
            Self::OtherCheckpoint { .. } => {
                "give the same data and settings as before, or delete the checkpoint to start again"
            }
            Self::Changed => "make sure that no other program writes to the files",
            Self::Shorter { .. } => "delete the checkpoint to start again",
        };
        Some(text.to_string())
    }

    /// Whether the machine failed rather than refused: a file that cannot be read or written, memory, cancellation.
    pub fn is_machine(&self) -> bool {
        matches!(
            self,
            Self::Core(Error::Linalg(_))
                | Self::Read(ReadError::Io { .. })
                | Self::Write(_)
                | Self::Checkpoint(CheckpointError::Io { .. })
                | Self::Model(ModelError::Io { .. })
                | Self::Stream(_)
        )
    }

    /// Whether the monitor ended the work.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Core(error) if error.is_cancelled())
    }
}

impl From<eigenspan_core::linalg::Error> for FeedError {
    fn from(error: eigenspan_core::linalg::Error) -> Self {
        Self::Core(error.into())
    }
}

impl From<StreamError> for FeedError {
    fn from(error: StreamError) -> Self {
        let error = match error.downcast::<ReadError>() {
            Ok(error) => return Self::Read(*error),
            Err(error) => error,
        };
        match error.downcast::<WriteError>() {
            Ok(error) => Self::Write(*error),
            Err(error) => Self::Stream(error),
        }
    }
}

/// The same error with its row counted from the beginning of the data, not of the chunk.
pub(crate) fn at_row(error: Error, before: usize) -> Error {
    match error {
        Error::NotFinite { row, column, value } => Error::NotFinite { row: row + before, column, value },
        other => other,
    }
}
