//! `eigenspan update`: a model and new samples in, the model of all of them out.
//!
//! The samples of the model are not read again: it goes on from its directions, as [`eigenspan_core::method::pce::online`] says.

use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_feed::{Taken, Update as Job};
use eigenspan_io::ModelFile;

use super::{Session, pce_of, print, warn};
use crate::args::{Size, Update};
use crate::failure::Failure;
use crate::report;

/// Reads a model and samples, takes these in one by one, writes the model.
pub fn run(args: &Update, session: &Session<'_>) -> Result<(), Failure> {
    let ModelFile { model, provenance } = ModelFile::load(&args.model)?;
    let model = pce_of(model, "update")?;
    let job = Job {
        files: args.data.files(&args.more)?,
        params: args.cut.params(&model.parts().params),
        rank: args.rank,
        forget: args.forget,
        max_memory: args.max_memory.map(|Size(bytes)| bytes),
    };
    let started = session.progress.seconds();
    let updated = job.run(&model, &provenance, session.exec)?;
    session.progress.clear();
    let seconds = session.progress.seconds() - started;
    let mut words = String::new();
    for Taken { part, after } in &updated.taken {
        words += &format!("{}: {} samples taken in after {after}\n", part.data, part.rows);
    }
    let file = updated.file;
    warn(file.model.info().warnings);
    let report = report::Report::new(&file.model, Some(seconds), None);
    words += &report::found(&file.model);
    let json = args.json.then(|| serde_json::to_string(&report).expect("reports are plain data"));
    file.save(&args.output)?;
    words += &format!("wrote {}\n", args.output.display());
    print(&json.map_or(words, |json| format!("{json}\n")))
}
