//! A model and new samples in, the model of all of them out.
//!
//! The old samples are not read again: the update starts from the directions of the model, see
//! [`eigenspan_core::method::pce::online`].

use std::path::Path;

use eigenspan_core::{Error, Exec, Model, OnlineParams, OnlinePce, Pce, PceParams};
use eigenspan_io::{Fingerprint, ModelFile, PartOfData, Provenance};

use crate::budget::Way;
use crate::error::{FeedError, at_row};
use crate::files::{Files, file_name};
use crate::pass::{Pass, Work};

/// An update of a model by files.
#[derive(Debug, Clone)]
pub struct Update {
    /// The new samples.
    pub files: Files,
    /// Another cut than that of the model.
    pub params: Option<PceParams>,
    /// Directions kept during the update; as before, or the default.
    pub rank: Option<usize>,
    /// The forgetting factor; as before, or 1.
    pub forget: Option<f64>,
    /// Maximum bytes of the process, about. The model does not depend on it.
    pub max_memory: Option<u64>,
}

/// A file whose samples were added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedFile {
    /// The file.
    pub part: PartOfData,
    /// Samples before it.
    pub after: usize,
}

/// The model of old and new samples.
#[derive(Debug)]
pub struct Updated {
    /// The model, as it is saved.
    pub file: ModelFile,
    /// The files in their order.
    pub added: Vec<AddedFile>,
}

impl Update {
    /// An update by these files with the default parameters.
    pub fn new(files: Files) -> Self {
        Self { files, params: None, rank: None, forget: None, max_memory: None }
    }

    /// The model of all samples, with the given threads and monitor.
    pub fn run(&self, model: &Pce, provenance: &Provenance, exec: Exec<'_>) -> Result<Updated, FeedError> {
        let (defaults, before) = (OnlineParams::of(model), model.parts().params);
        let params = OnlineParams {
            rank: self.rank.unwrap_or(defaults.rank),
            forget: self.forget.unwrap_or(defaults.forget),
            block: if self.rank.is_some() { None } else { defaults.block },
        };
        self.files.first()?;
        let mut online = OnlinePce::resume(model, self.params.unwrap_or(before), params)?;
        let work = Work::new(exec, self.files.bytes());
        let (mut added, mut provenance) = (vec![], provenance.clone());
        for path in self.files.paths() {
            let after = online.rows();
            let part = self.add(path, &mut online, &work)?;
            provenance = Provenance::after(&provenance, &part);
            added.push(AddedFile { part, after });
        }
        let model = Model::Pce(online.finish(exec)?);
        Ok(Updated { file: ModelFile { model, provenance }, added })
    }

    /// Adds the samples of a file.
    fn add(&self, path: &Path, online: &mut OnlinePce, work: &Work<'_>) -> Result<PartOfData, FeedError> {
        let rows = self.files.open(path, self.max_memory)?;
        let (expected, got) = (online.features(), rows.source.cols());
        if expected != got {
            return Err(Error::FeatureMismatch { expected, got }.into());
        }
        let OnlineParams { rank, block, .. } = online.online();
        let way = Way::Online { features: got, rank, block: block.unwrap_or(rank) };
        let height = way.chunk_rows(self.max_memory, rows.held)?;
        let (mut count, mut fingerprint) = (0, Fingerprint::default());
        Pass::new(work, rows, height, 0, fingerprint.clone()).each(|chunk| {
            online.update(chunk.block.view(), work.exec()).map_err(|error| at_row(error, chunk.before))?;
            (count, fingerprint) = (chunk.end(), chunk.fingerprint);
            Ok(())
        })?;
        Ok(PartOfData { data: file_name(path), rows: count, sha256: fingerprint.digits() })
    }
}
