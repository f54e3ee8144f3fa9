//! Finished cells in a file, one line each, so that a run that was stopped goes on where it was.
//!
//! A cell is found again by a hash of all that its numbers depend on: the samples and their classes, the corruption, the
//! partition, the settings, what is read off, the version of the program. Lines that are cut short, or are not ours, are
//! passed over.

use std::collections::HashMap;
use std::path::Path;

use eigenspan::method::pca::{Components, PcaParams};
use eigenspan::registry::Method;
use eigenspan_io::Journal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::StudyError;
use crate::cell::{Cell, Measured};

/// Counts up whenever cells of the same settings may come out differently.
const CELLS: u32 = 1;

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

/// The hash by which a cell is found again; `data` is that of the data. A cell that had the machine for itself, so that its
/// time counts, is another one.
pub fn key(data: &str, cell: &Cell, timed: bool) -> String {
    let Cell { partition, method, readings } = cell;
    let version = env!("CARGO_PKG_VERSION");
    let all = json!([CELLS, version, data, partition, settings(method), readings, timed]);
    Sha256::digest(all.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All settings of a method as JSON, its name under `method`.
pub(crate) fn settings(method: &Method) -> Value {
    match method {
        // Model files keep PCA as the PCE that it is: the registry has no JSON of it.
        Method::Pca(PcaParams { components, whiten, solver }) => {
            let components = match components {
                Components::All => json!("all"),
                Components::Count(count) => json!({ "count": count }),
                Components::Share(share) => json!({ "share": share }),
                Components::Auto => json!("auto"),
                Components::Mle => json!("mle"),
            };
            json!({ "method": "pca", "components": components, "whiten": whiten, "solver": solver })
        }
        other => serde_json::to_value(other).expect("settings are plain data"),
    }
}

/// The name of a method, for messages.
pub(crate) fn method_name(method: &Method) -> String {
    settings(method)["method"].as_str().expect("settings have the name of their method").to_string()
}

#[cfg(test)]
mod tests {
    use eigenspan::registry::METHODS;

    use super::*;
    use crate::cell::{Partition, SplitRule, TrainSize};

    fn cell(method: Method) -> Cell {
        let partition = Partition { rule: SplitRule::Random, train: TrainSize::Total(5), seed: 1, repeat: 0 };
        Cell { partition, method, readings: vec![] }
    }

    #[test]
    fn every_method_has_a_key_of_its_own_that_every_setting_changes() {
        let named = METHODS.map(|(name, _)| Method::named(name).expect("a method of the list"));
        let pca = |params| Method::Pca(params);
        let whiten = pca(PcaParams { whiten: true, ..PcaParams::default() });
        let counts =
            [2, 3].map(|count| pca(PcaParams { components: Components::Count(count), ..PcaParams::default() }));
        let mut keys: Vec<String> =
            named.into_iter().chain([whiten]).chain(counts).map(|method| key("data", &cell(method), false)).collect();
        let (first, all) = (keys[0].clone(), keys.len());
        assert_eq!(all, METHODS.len() + 3);
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all);
        let pce = cell(Method::named("pce").expect("PCE"));
        assert_eq!(key("data", &pce, false), first);
        assert_ne!(key("data", &pce, true), first, "a timed cell is another one");
        assert_ne!(key("other data", &pce, false), first);
        let mut again = pce;
        again.partition.repeat = 1;
        assert_ne!(key("data", &again, false), first);
    }

    #[test]
    fn a_method_has_the_name_of_the_registry() {
        for (name, _) in METHODS.into_iter().filter(|(name, _)| *name != "pce-auto") {
            assert_eq!(method_name(&Method::named(name).expect("a method of the list")), name);
        }
    }
}
