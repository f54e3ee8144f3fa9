//! What can go wrong between files and models. `Display` is the fact, `hint` the next step.
//!
//! Settings are named in backticks by their names in this crate; a front end that calls them otherwise translates these.

use eigenspan_core::Error;
use eigenspan_core::data::StreamError;
use eigenspan_io::{CheckpointError, ModelError, ReadError, STREAMED, WriteError};

/// Why files were not fed to the end.
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
    /// A source or sink failed on what is none of the above.
    #[error("{0}")]
    Stream(StreamError),
    /// The budget does not suffice.
    #[error("{what} takes {least} MiB, more than `max_memory` allows")]
    Memory {
        /// What takes it.
        what: String,
        /// The least that would do, in MiB.
        least: u128,
        /// What to do about it.
        hint: String,
    },
    /// A budget for a file that can only be read as a whole.
    #[error("{file} is of a format that is read as a whole, which `max_memory` forbids")]
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
        /// What asks for it, with what joins it to the sentence.
        why: &'static str,
    },
    /// A setting that another rules out.
    #[error("{fact}")]
    Setting {
        /// What does not go together.
        fact: String,
        /// What to do about it.
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
    #[error("the samples are not what they were in the pass before")]
    Changed,
    /// A file that lost samples since the checkpoint.
    #[error("{file} has fewer samples than the checkpoint has read of it")]
    Shorter {
        /// The file.
        file: String,
    },
}

impl FeedError {
    /// What to do about it.
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
                "give the same data and settings as before, or delete the checkpoint to begin anew"
            }
            Self::Changed => "give files that nobody writes to meanwhile",
            Self::Shorter { .. } => "delete the checkpoint to begin anew",
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
