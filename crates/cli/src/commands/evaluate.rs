//! `eigenspan evaluate`: methods and classifiers on labeled data.

use eigenspan_study::cache::Cache;
use eigenspan_study::evaluate::Request;
use eigenspan_study::run::{Runner, Subject};
use eigenspan_study::table;

use super::{Session, print, print_json, warn};
use crate::args::Evaluate;
use crate::failure::Failure;

/// Runs every method with every classifier and shows the table.
pub fn run(args: &Evaluate, session: &Session<'_>) -> Result<(), Failure> {
    let request = request(args);
    let evaluation = request.evaluation()?;
    args.data.whole(&args.memory, "`evaluate`")?;
    let subject = Subject::new(args.data.name(), request.corrupted(args.data.read()?)?)?;
    let cache = args.cache.as_deref().map_or_else(|| Ok(Cache::in_memory()), Cache::open)?;
    let mut runner = Runner { cache, clock: session.progress, exec: session.exec };
    let (rows, warnings) = evaluation.run(&subject, &mut runner)?;
    session.progress.clear();
    warn(&warnings);
    if args.json {
        return print_json(&rows);
    }
    print(&table::of_rows(&rows))
}

fn request(args: &Evaluate) -> Request {
    Request {
        methods: args.methods.clone(),
        classifiers: args.classifiers.clone(),
        split: args.split.into(),
        train: args.train,
        repeats: args.repeats.get().into(),
        seed: args.seed,
        as_published: args.as_published,
        corrupt: args.corrupt,
        corrupt_share: args.corrupt_share,
        image: None,
    }
}
