//! `eigenspan update`: a model and new samples in, the model of all of them out.
//!
//! The samples of the model are not read again: it goes on from its directions, as [`eigenspan::method::pce::online`] says.

use std::path::Path;

use eigenspan::linalg::summary::block_rows;
use eigenspan::model::fitted::Fitted as _;
use eigenspan::{Error, Model, OnlineParams, OnlinePce, Pce};
use eigenspan_io::{Ahead, Fingerprint, ModelFile, PartOfData, Provenance, Rows};

use super::gather::no_rows;
use super::transform::at_row;
use super::{Session, file_name, pce_of, print, warn};
use crate::args::Update;
use crate::failure::Failure;
use crate::report;

/// Reads a model and samples, takes these in one by one, writes the model.
pub fn run(args: &Update, session: &Session<'_>) -> Result<(), Failure> {
    let ModelFile { model, mut provenance } = ModelFile::load(&args.model)?;
    let model = pce_of(model, "update")?;
    let mut seen = begin(args, &model)?;
    let started = session.progress.seconds();
    let mut words = String::new();
    for path in std::iter::once(&args.data.data).chain(&args.more) {
        let part = take(path, args, &mut seen, session)?;
        words += &format!("{}: {} samples taken in after {}\n", part.data, part.rows, seen.rows() - part.rows);
        provenance = Provenance::after(&provenance, &part);
    }
    let model = Model::from(seen.finish(session.exec)?);
    session.progress.clear();
    let seconds = session.progress.seconds() - started;
    warn(model.info().warnings);
    let report = report::Report::new(&model, Some(seconds), None);
    words += &report::found(&model);
    let json = args.json.then(|| serde_json::to_string(&report).expect("reports are plain data"));
    ModelFile { model, provenance }.save(&args.output)?;
    words += &format!("wrote {}\n", args.output.display());
    print(&json.map_or(words, |json| format!("{json}\n")))
}

/// What the model goes on with: as before, but for what was asked.
fn begin(args: &Update, model: &Pce) -> Result<OnlinePce, Failure> {
    let (usual, before) = (OnlineParams::of(model), model.parts().params);
    let online = OnlineParams {
        rank: args.rank.unwrap_or(usual.rank),
        forget: args.forget.unwrap_or(usual.forget),
        block: if args.rank.is_some() { None } else { usual.block },
    };
    Ok(OnlinePce::resume(model, args.cut.params(&before).unwrap_or(before), online)?)
}

/// Takes in a file, which is read in portions.
fn take(path: &Path, args: &Update, seen: &mut OnlinePce, session: &Session<'_>) -> Result<PartOfData, Failure> {
    no_rows(&args.data)?;
    let Rows { source, .. } = args.data.open_other(path, None)?;
    let (expected, got) = (seen.features(), source.cols());
    if expected != got {
        return Err(Error::FeatureMismatch { expected, got }.into());
    }
    let (name, total, mut count) = (file_name(path), source.rows(), 0);
    let mut fingerprint = Fingerprint::default();
    for portion in Ahead::new(source, block_rows(got), fingerprint.clone()) {
        let (block, so_far) = portion?;
        seen.update(block.view(), session.exec).map_err(|error| at_row(error, count))?;
        (count, fingerprint) = (count + block.rows(), so_far);
        session.progress.told(&name, count, total);
    }
    session.progress.clear();
    Ok(PartOfData { data: name, rows: count, sha256: fingerprint.digits() })
}
