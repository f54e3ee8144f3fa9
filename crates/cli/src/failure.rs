//! How a run that does not succeed ends: a fact, a hint, an exit code.

use std::io::Write as _;
use std::process::ExitCode;

use eigenspan_feed::FeedError;

/// Why the command did not do what was asked.
pub enum Failure {
    /// The data, the model or a value was refused: exit code 1.
    Refused { fact: String, hint: Option<String> },
    /// The machine failed (a file that cannot be read or written, memory): exit code 2, as for a mistyped command.
    Failed { fact: String, hint: Option<String> },
    /// Whoever read our output has gone: nothing to say.
    BrokenPipe,
}

impl Failure {
    /// Input that cannot be used.
    pub fn refused(fact: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { fact: fact.into(), hint: Some(hint.into()) }
    }

    /// Says what happened on stderr.
    pub fn report(&self) {
        let (Self::Refused { fact, hint } | Self::Failed { fact, hint }) = self else { return };
        let mut err = std::io::stderr().lock();
        // Nowhere is left to complain about a closed stderr.
        let _ = writeln!(err, "error: {fact}");
        if let Some(hint) = hint {
            let _ = writeln!(err, "\nhint: {hint}");
        }
    }

    /// 1: refused by the input. 2: failed.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Refused { .. } => ExitCode::from(1),
            Self::Failed { .. } => ExitCode::from(2),
            Self::BrokenPipe => ExitCode::SUCCESS,
        }
    }
}

/// What the libraries refuse is refused; what the machine could not do has failed.
macro_rules! from_error {
    ($($error:ty { fails on $io:pat }),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let (fact, hint) = (error.to_string(), error.hint());
                match error {
                    $io => Self::Failed { fact, hint },
                    _ => Self::Refused { fact, hint },
                }
            }
        }
    )*};
}
from_error! {
    eigenspan_core::Error { fails on eigenspan_core::Error::Linalg(_) },
    eigenspan_io::ReadError { fails on eigenspan_io::ReadError::Io { .. } },
    eigenspan_io::CalibrationError { fails on eigenspan_io::CalibrationError::Io { .. } },
    eigenspan_io::ModelError { fails on eigenspan_io::ModelError::Io { .. } },
    eigenspan_io::SummaryError { fails on eigenspan_io::SummaryError::Io { .. } },
    eigenspan_render::SheetError { fails on eigenspan_render::SheetError::NotFinite { .. } },
}

impl From<eigenspan_study::StudyError> for Failure {
    fn from(error: eigenspan_study::StudyError) -> Self {
        let (fact, hint) = (error.to_string(), error.hint());
        if error.is_machine() { Self::Failed { fact, hint } } else { Self::Refused { fact, hint } }
    }
}

impl From<eigenspan_io::WriteError> for Failure {
    fn from(error: eigenspan_io::WriteError) -> Self {
        Self::Failed { fact: error.to_string(), hint: error.hint() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Failed { fact: format!("cannot write the result: {error}"), hint: None },
        }
    }
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Core(error) => error.into(),
            FeedError::Read(error) => error.into(),
            FeedError::Write(error) => error.into(),
            FeedError::Stream(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::Failed { fact: error.to_string(), hint: None },
            },
            error => {
                let (fact, hint) = (in_flags(&error.to_string()), error.hint().map(|hint| in_flags(&hint)));
                if error.is_machine() { Self::Failed { fact, hint } } else { Self::Refused { fact, hint } }
            }
        }
    }
}

impl From<eigenspan_core::data::StreamError> for Failure {
    fn from(error: eigenspan_core::data::StreamError) -> Self {
        FeedError::from(error).into()
    }
}

/// Settings of the library by the names of their flags.
fn in_flags(text: &str) -> String {
    const FLAGS: [(&str, &str); 8] = [
        ("`max_memory`", "`--max-memory`"),
        ("`checkpoint`", "`--checkpoint`"),
        ("`passes`", "`--passes`"),
        ("`sketch_columns`", "`--sketch-columns`"),
        ("`sketch_seed`", "`--sketch-seed`"),
        ("`rank`", "`--rank`"),
        ("the form `sketch`", "`--form sketch`"),
        ("the form `gram`", "`--form gram`"),
    ];
    FLAGS.iter().fold(text.to_string(), |text, (name, flag)| text.replace(name, flag))
}
