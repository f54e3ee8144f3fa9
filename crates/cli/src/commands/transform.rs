//! `eigenspan transform`: samples in, features out, block by block.

use eigenspan::model::fitted::Fitted;
use eigenspan::{Error, Model};
use eigenspan_io::{ModelFile, Names, Rows, STREAMED};

use super::Session;
use crate::args::{Data, Size, Transform};
use crate::failure::Failure;

/// Samples held at once, where memory is not limited.
const BLOCK: usize = 4096;
/// Bytes that the program takes before it has read anything.
const PROGRAM: u64 = 16 << 20;

/// Samples held at once: as many as memory allows. `copies` numbers are held for every feature, the model four times,
/// the names of the samples three times, and by reader and writer what they say.
pub fn block(model: &impl Fitted, limit: Option<Size>, copies: usize, rows: &Rows) -> Result<usize, Failure> {
    let Some(Size(limit)) = limit else { return Ok(BLOCK) };
    if !rows.streams {
        let fact = "the samples are of a format that is read as a whole, which `--max-memory` forbids";
        return Err(Failure::refused(fact, format!("write them as {STREAMED}, or leave the limit out")));
    }
    let (m, k) = (model.features() as u64, model.columns() as u64);
    let held = u64::try_from(rows.held).unwrap_or(u64::MAX / 2);
    let names: u64 = rows.ids.iter().flatten().map(|id| (size_of::<String>() + id.len()) as u64).sum();
    let (fixed, row) = (PROGRAM + held + 3 * names + 32 * m * k, 8 * (copies as u64 * m + 3 * k));
    match limit.saturating_sub(fixed) / row {
        0 => {
            let least = (fixed + row).div_ceil(1 << 20);
            let fact = format!("one sample at a time takes {least} MiB, more than `--max-memory` allows");
            Err(Failure::refused(fact, format!("allow {least}MiB")))
        }
        rows => Ok(usize::try_from(rows).unwrap_or(BLOCK).min(BLOCK)),
    }
}

/// Streams samples through the model.
pub fn run(args: &Transform, session: &Session<'_>) -> Result<(), Failure> {
    let ModelFile { model, .. } = ModelFile::load(&args.model)?;
    if let Model::Lle(_) = model {
        return Err(Error::NoMap { method: "LLE" }.into()); // before anything is written
    }
    let mut rows = open(&args.data, &model, args.max_memory)?;
    rows.held += eigenspan_io::held_by_sink(&args.output, model.columns());
    let block = block(&model, args.max_memory, 3, &rows)?;
    let Rows { mut source, ids, .. } = rows;
    let columns = column_names(&model);
    let mut sink = eigenspan_io::create(&args.output, model.columns(), Names { columns: Some(&columns), ids })?;
    let mut done = 0;
    while let Some(block) = source.next_block(block)? {
        let features = model.transform_with(block.view(), session.exec).map_err(|e| at_row(e, done))?;
        sink.write_block(&features)?;
        done += block.rows();
    }
    Ok(sink.finish()?)
}

/// The names of the columns of features: `pce0`, `pce1`, …
pub fn column_names(model: &impl Fitted) -> Vec<String> {
    let method = model.info().method.replace('-', "");
    (0..model.columns()).map(|j| format!("{method}{j}")).collect()
}

/// Opens samples for a model; refuses what does not fit it before any result is written.
pub fn open(data: &Data, model: &impl Fitted, memory: Option<Size>) -> Result<Rows, Failure> {
    let rows = data.open(memory)?;
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
