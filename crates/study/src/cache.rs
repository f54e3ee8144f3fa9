//! Finished cells in a file, one line each, so that a run that was stopped resumes where it was.
//!
//! A cell is found again by a hash of all that its numbers depend on: the samples and their classes, the corruption,
//! the partition, the settings, what is read off, the version of the program. Lines that are cut short, or are not
//! ours, are passed over.

use std::collections::HashMap;
use std::path::Path;

use eigenspan_io::Journal;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::StudyError;
use crate::cell::{Cell, Measured};

/// Counts up whenever cells of the same settings may come out differently.
const CELLS: u32 = 2;

/// Finished cells.
#[derive(Debug, Default)]
pub struct Cache {
    journal: Option<Journal>,
    finished: HashMap<String, Measured>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    /// The cell in words, for whoever reads the file.
    cell: String,
    measured: Measured,
}

impl Cache {
    /// Cells that are kept only as long as the program runs.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Cells that are kept in a file.
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        let (journal, lines) = Journal::open(path)?;
        let lines = lines.iter().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        Ok(Self { journal: Some(journal), finished: lines.map(|line| (line.key, line.measured)).collect() })
    }

    /// How many cells are known.
    pub fn len(&self) -> usize {
        self.finished.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty()
    }

    /// A finished cell.
    pub fn get(&self, key: &str) -> Option<&Measured> {
        self.finished.get(key)
    }

    /// Keeps a cell.
    pub fn put(&mut self, key: String, cell: String, measured: Measured) -> Result<(), StudyError> {
        let line = Line { key, cell, measured };
        if let Some(journal) = &mut self.journal {
            journal.append(&serde_json::to_string(&line).expect("cells are plain data"))?;
        }
        self.finished.insert(line.key, line.measured);
        Ok(())
    }
}

/// The hash by which a cell is found again; `data` is that of the data. A cell that had the machine for itself, so that
/// its time counts, is another one.
pub fn key(data: &str, cell: &Cell, timed: bool) -> String {
    let Cell { partition, method, readings } = cell;
    let version = env!("CARGO_PKG_VERSION");
    let timed = if timed { "timed\n" } else { "" };
    let json = serde_json::to_string(&(partition, method, readings)).expect("cells are plain data");
    let all = format!("{CELLS}\n{version}\n{data}\n{json}\n{timed}");
    Sha256::digest(all).iter().map(|byte| format!("{byte:02x}")).collect()
}
