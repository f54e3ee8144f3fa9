//! Why a study could not be done.

use eigenspan_io::{ReadError, WriteError};

/// Why a study could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The computation refused.
    #[error("{doing}: {source}")]
    Method {
        /// What was being computed.
        doing: String,
        /// Why it stopped.
        source: eigenspan_core::Error,
    },
    /// Data could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A result could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// No such name.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// What kind of thing.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A setting that the method does not have, or a value that it does not take.
    #[error("`{method}` {fault}")]
    Setting {
        /// The method.
        method: String,
        /// What is wrong with the setting.
        fault: String,
    },
    /// A protocol that does not say what to do.
    #[error("protocol {name}: {fault}")]
    Protocol {
        /// Its name.
        name: String,
        /// What is wrong, and on which line.
        fault: String,
    },
    /// Samples without classes.
    #[error("{data} has no classes: whether a classifier is right cannot be determined")]
    NoLabels {
        /// The data.
        data: String,
    },
    /// Nothing is left to test on.
    #[error("all {n} samples of {data} are to be trained on: none is left to test on")]
    NoTest {
        /// The data.
        data: String,
        /// Samples.
        n: usize,
    },
    /// Data that the program does not have.
    #[error("the data of {title} are not in {folder}: expected {files}")]
    Missing {
        /// The data set.
        title: String,
        /// Where they were looked for.
        folder: String,
        /// The names they may have.
        files: String,
        /// Where they are obtained.
        obtained: String,
        /// Whether synthetic faces can stand for them.
        faces: bool,
    },
    /// Data that are not what the protocol takes.
    #[error("{file}: expected {expected}, found {found}")]
    Shape {
        /// The file.
        file: String,
        /// What the data set is.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A picture could not be drawn.
    #[error(transparent)]
    Picture(#[from] eigenspan_render::SheetError),
}

impl StudyError {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Method { source, .. } => source.hint(),
            Self::Read(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::Unknown { known, .. } => Some(format!("one of {known}")),
            Self::Setting { .. } => Some("`eigenspan fit --help` says which method has which setting".into()),
            Self::NoLabels { .. } => {
                Some("name the column with `--label`, or put the array `y` beside the samples".into())
            }
            Self::NoTest { .. } => Some("train on fewer".into()),
            Self::Missing { obtained, faces, .. } => {
                let other = if *faces { "; or run the protocol on rendered heads with `--synthetic`" } else { "" };
                Some(format!("{obtained}{other}"))
            }
            Self::Picture(error) => error.hint(),
            Self::Protocol { .. } | Self::Shape { .. } => None,
        }
    }

    /// Whether the machine failed, rather than the input.
    pub fn is_machine(&self) -> bool {
        matches!(
            self,
            Self::Method { source: eigenspan_core::Error::Linalg(_), .. }
                | Self::Read(ReadError::Io { .. })
                | Self::Write(_)
        )
    }
}
