//! A model and new samples in, the model of all of them out.
//!
//! The samples of the model are not read again: it goes on from its directions, as [`eigenspan_core::method::pce::online`] says.

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
    /// Where to cut, where not as the model was made to.
    pub params: Option<PceParams>,
    /// Directions that are kept on the way; as before, or the usual.
    pub rank: Option<usize>,
    /// The forgetting factor; as before, or 1.
    pub forget: Option<f64>,
    /// The most bytes that the process may take, about. The model does not depend on it.
    pub max_memory: Option<u64>,
}

/// A file that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
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
    pub taken: Vec<Taken>,
}

impl Update {
    /// The usual update by these files.
    pub fn new(files: Files) -> Self {
        Self { files, params: None, rank: None, forget: None, max_memory: None }
    }

    /// The model of all samples, with the given threads and monitor.
    pub fn run(&self, model: &Pce, provenance: &Provenance, exec: Exec<'_>) -> Result<Updated, FeedError> {
        let (usual, before) = (OnlineParams::of(model), model.parts().params);
        let online = OnlineParams {
            rank: self.rank.unwrap_or(usual.rank),
            forget: self.forget.unwrap_or(usual.forget),
            block: if self.rank.is_some() { None } else { usual.block },
        };
        self.files.first()?;
        let mut seen = OnlinePce::resume(model, self.params.unwrap_or(before), online)?;
        let work = Work::new(exec, self.files.bytes());
        let (mut taken, mut provenance) = (vec![], provenance.clone());
        for path in self.files.paths() {
            let after = seen.rows();
            let part = self.take(path, &mut seen, &work)?;
            provenance = Provenance::after(&provenance, &part);
            taken.push(Taken { part, after });
        }
        let model = Model::Pce(seen.finish(exec)?);
        Ok(Updated { file: ModelFile { model, provenance }, taken })
    }

    /// Takes in a file.
    fn take(&self, path: &Path, seen: &mut OnlinePce, work: &Work<'_>) -> Result<PartOfData, FeedError> {
        let rows = self.files.open(path, self.max_memory)?;
        let (expected, got) = (seen.features(), rows.source.cols());
        if expected != got {
            return Err(Error::FeatureMismatch { expected, got }.into());
        }
        let OnlineParams { rank, block, .. } = seen.online();
        let way = Way::Online { features: got, rank, block: block.unwrap_or(rank) };
        let height = way.chunk_rows(self.max_memory, rows.held)?;
        let (mut count, mut fingerprint) = (0, Fingerprint::default());
        Pass::new(work, rows, height, 0, fingerprint.clone()).each(|chunk| {
            seen.update(chunk.block.view(), work.exec()).map_err(|error| at_row(error, chunk.before))?;
            (count, fingerprint) = (chunk.end(), chunk.fingerprint);
            Ok(())
        })?;
        Ok(PartOfData { data: file_name(path), rows: count, sha256: fingerprint.digits() })
    }
}
