//! Calibrations of estimators of the dimension: what was computed once, as JSON.

use std::path::Path;

use eigenspan_core::dimension::Calibration;

use crate::error::WriteError;
use crate::json_fault::in_words;
use crate::write_atomically;

/// The format version that is written.
const VERSION: u32 = 1;

/// Why a calibration file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// Not a calibration, or one that no program of ours wrote.
    #[error("{file} is not a calibration file: {detail}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong.
        detail: String,
    },
}

impl CalibrationError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        matches!(self, Self::Invalid { .. }).then(|| "name another file: a new one is computed and written".into())
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File<T> {
    eigenspan_calibration: u32,
    known: T,
}

/// Reads a calibration; one that knows nothing where there is no such file.
#[expect(clippy::disallowed_methods, reason = "bytes enter here")]
pub fn load_calibration(path: &Path) -> Result<Calibration, CalibrationError> {
    let file = path.display().to_string();
    match std::fs::read(path) {
        Ok(text) => calibration_of_bytes(&file, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Calibration::default()),
        Err(source) => Err(CalibrationError::Io { file, source }),
    }
}

/// The calibration in the contents of a file, which errors call by its name.
pub fn calibration_of_bytes(file: &str, text: &[u8]) -> Result<Calibration, CalibrationError> {
    let invalid = |detail: String| CalibrationError::Invalid { file: file.into(), detail };
    let place = |error: serde_json::Error| {
        invalid(format!("line {}, byte {}: {}", error.line(), error.column(), in_words(&error)))
    };
    let read: File<Calibration> = serde_json::from_slice(text).map_err(place)?;
    if read.eigenspan_calibration != VERSION {
        return Err(invalid(format!("format version {}, not {VERSION}", read.eigenspan_calibration)));
    }
    read.known.checked().map_err(|error| match error {
        eigenspan_core::Error::Calibration(fault) => invalid(fault.into()),
        other => invalid(other.to_string()),
    })
}

/// Writes a calibration, all at once or not at all.
pub fn save_calibration(path: &Path, known: &Calibration) -> Result<(), WriteError> {
    write_atomically(path, |out| Ok(serde_json::to_writer(out, &File { eigenspan_calibration: VERSION, known })?))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests damage their files")]
mod tests {
    use super::*;
    use eigenspan_core::Exec;

    #[test]
    fn what_was_written_comes_back_to_the_bit_and_damage_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("balls.json");
        assert!(load_calibration(&path).unwrap().is_empty());
        let mut known = Calibration::default();
        known.ball(60, 5, 3, 1, Exec::default()).unwrap();
        save_calibration(&path, &known).unwrap();
        assert_eq!(load_calibration(&path).unwrap(), known);
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in [("\"n\":60", "\"n\":61"), ("{", "["), (":1,", ":2,"), ("\"k\":5", "\"q\":5")] {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            assert!(matches!(load_calibration(&path), Err(CalibrationError::Invalid { .. })), "{from}");
        }
        assert!(matches!(load_calibration(folder.path()), Err(CalibrationError::Io { .. })));
    }

    #[test]
    fn malformed_files_get_the_message_in_their_table() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks");
        let table = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let mut seen = 0;
        for row in table.lines().filter(|row| row.starts_with("| `calibration/")) {
            let file = row.split('`').nth(1).unwrap();
            let message = row.split(" | ").nth(2).unwrap().trim_end_matches(" |");
            let error =
                calibration_of_bytes("FILE", &std::fs::read(folder.join("files").join(file)).unwrap()).unwrap_err();
            assert_eq!(error.to_string(), message, "{file}");
            assert!(error.hint().is_some());
            seen += 1;
        }
        assert!(seen > 30, "{seen} rows");
    }
}
