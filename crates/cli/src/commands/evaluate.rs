//! `eigenspan evaluate`: methods and classifiers on labelled data.

use eigenspan_study::cache::Cache;
use eigenspan_study::evaluate::Evaluation;
use eigenspan_study::run::{Runner, Subject, corrupted};
use eigenspan_study::{settings, table};

use super::{Session, print, print_json, warn};
use crate::args::Evaluate;
use crate::failure::Failure;

/// Runs every method with every classifier and shows the table.
pub fn run(args: &Evaluate, session: &Session<'_>) -> Result<(), Failure> {
    let evaluation = asked(args)?;
    let mut data = args.data.read()?;
    if let Some(corruption) = args.corrupt {
        data = corrupted(&data, corruption, args.corrupt_share, args.seed)?.0;
    }
    let subject = Subject::new(args.data.name(), data)?;
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

fn asked(args: &Evaluate) -> Result<Evaluation, Failure> {
    let method = |text: &String| Ok((text.clone(), settings::method_of_text(text, args.as_published)?));
    let classifier = |name: &String| Ok((name.clone(), settings::classifier(name, args.as_published)?));
    Ok(Evaluation {
        methods: args.methods.iter().map(method).collect::<Result<_, Failure>>()?,
        classifiers: args.classifiers.iter().map(classifier).collect::<Result<_, Failure>>()?,
        rule: args.split.into(),
        train: args.train,
        repeats: args.repeats.get().into(),
        seed: args.seed,
    })
}
