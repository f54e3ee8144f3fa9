//! `eigenspan update`: a model and new samples in, the model of all of them out.
//!
//! The old samples are not read again: the update starts from the directions of the model, see
//! [`eigenspan_core::method::pce::online`].

use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_feed::{AddedFile, Update as Job};
use eigenspan_io::ModelFile;

use super::{Session, pce_of, print, warn};
use crate::args::Update;
use crate::failure::Failure;
use crate::report;

/// Reads a model and samples, updates the model, writes it.
pub fn run(args: &Update, session: &Session<'_>) -> Result<(), Failure> {
    let ModelFile { model, provenance } = ModelFile::load(&args.model)?;
    let model = pce_of(model, "update")?;
    let job = Job {
        files: args.data.files(&args.more)?,
        params: args.cut.params(&model.parts().params),
        rank: args.rank,
        forget: args.forget,
        max_memory: args.memory.bytes(),
    };
    let started = session.progress.seconds();
    let updated = job.run(&model, &provenance, session.exec)?;
    session.progress.clear();
    let seconds = session.progress.seconds() - started;
    let mut words = String::new();
    for AddedFile { part, after } in &updated.added {
        words += &format!("{}: {} samples added after {after}\n", part.data, part.rows);
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
