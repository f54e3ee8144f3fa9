//! `eigenspan transform`: samples in, features out, block by block.

use eigenspan::reduce::fitted::Fitted;
use eigenspan::{Error, Model};
use eigenspan_io::{ModelFile, Names, Rows};

use super::Session;
use crate::args::{Data, Transform};
use crate::failure::Failure;

/// Samples held at once.
pub const BLOCK: usize = 4096;

/// Streams samples through the model.
pub fn run(args: &Transform, session: &Session<'_>) -> Result<(), Failure> {
    let ModelFile { model, .. } = ModelFile::load(&args.model)?;
    if let Model::Lle(_) = model {
        return Err(Error::NoMap { method: "LLE" }.into()); // before anything is written
    }
    let Rows { mut source, ids, .. } = open(&args.data, &model)?;
    let columns = column_names(&model);
    let mut sink = eigenspan_io::create(&args.output, model.columns(), Names { columns: Some(&columns), ids })?;
    let mut done = 0;
    while let Some(block) = source.next_block(BLOCK)? {
        let features = model.transform_with(block.view(), session.exec).map_err(|e| at_row(e, done))?;
        sink.write_block(&features)?;
        done += block.rows();
    }
    Ok(sink.finish()?)
}

/// The names of the columns of features: `pce0`, `pce1`, …
pub fn column_names(model: &impl Fitted) -> Vec<String> {
    let method = model.told().method.replace('-', "");
    (0..model.columns()).map(|j| format!("{method}{j}")).collect()
}

/// Opens samples for a model; refuses what does not fit it before any result is written.
pub fn open(data: &Data, model: &impl Fitted) -> Result<Rows, Failure> {
    let rows = data.open()?;
    match (model.features(), rows.source.cols()) {
        (expected, got) if expected != got => Err(Error::FeatureMismatch { expected, got }.into()),
        _ => Ok(rows),
    }
}

/// The same error with its row counted from the beginning of the data, not of the block.
pub fn at_row(error: Error, before: usize) -> Error {
    match error {
        Error::NotFinite { row, column, value } => Error::NotFinite { row: row + before, column, value },
        other => other,
    }
}
