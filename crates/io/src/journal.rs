//! A file of lines that only grows: what was said stays said, whenever the program ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::error::WriteError;

/// A file of lines that is open to be added to.
///
/// A line is written whole, in one call, and handed to the disk before the next. A program that is killed on the way
/// leaves at most one line without its end, which is cut off when the file is opened again.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("said.jsonl");
/// let (mut journal, before) = eigenspan_io::Journal::open(&path)?;
/// assert!(before.is_empty());
/// journal.append("one")?;
/// let (_, before) = eigenspan_io::Journal::open(&path)?;
/// assert_eq!(before, ["one"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    file: File,
    name: String,
}

impl Journal {
    /// Opens the file, or makes it, and reads its whole lines. Bytes that are no text are read as U+FFFD: such a line
    /// is not what was written, which is for the caller to see.
    pub fn open(path: &Path) -> Result<(Self, Vec<String>), WriteError> {
        let name = path.display().to_string();
        let io = |doing| {
            let file = name.clone();
            move |source| WriteError::Io { file, doing, source }
        };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io("open"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io("read"))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(io("mend"))?;
        }
        file.seek(SeekFrom::Start(whole as u64)).map_err(io("read"))?;
        let lines = String::from_utf8_lossy(&bytes[..whole]).lines().map(String::from).collect();
        Ok((Self { file, name }, lines))
    }

    /// Adds one line; line ends inside it become spaces.
    pub fn append(&mut self, line: &str) -> Result<(), WriteError> {
        let mut line = line.replace(['\n', '\r'], " ");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|source: io::Error| WriteError::Io { file: self.name.clone(), doing: "write", source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_short_is_dropped_wherever_it_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let whole = b"first\nsecond\n\xc3\xa9t\xc3\xa9\n";
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, before) = Journal::open(&path).unwrap();
            let ends = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(before, ["first", "second", "été"][..ends]);
            journal.append("and\nthis").unwrap();
            let (_, after) = Journal::open(&path).unwrap();
            assert_eq!(after.len(), ends + 1);
            assert_eq!(after[ends], "and this");
        }
    }

    #[test]
    fn a_folder_is_no_journal() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Journal::open(folder.path()).is_err());
    }
}
