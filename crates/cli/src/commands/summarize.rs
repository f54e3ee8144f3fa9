//! `eigenspan summarize`, `merge` and `finish`: the fit in three steps, for machines that share nothing but files.

use eigenspan::linalg::summary::Form;
use eigenspan::model::fitted::Fitted as _;
use eigenspan_io::SummaryFile;

use super::gather::{Job, in_file, params_of};
use super::{Session, print, warn};
use crate::args::{Finish, FormArg, Merge, Summarize};
use crate::failure::Failure;
use crate::report;

/// Samples in, a summary out.
pub fn run(args: &Summarize, session: &Session<'_>) -> Result<(), Failure> {
    let params = params_of(&args.choice, &args.fitting)?;
    if args.streaming.form == Some(FormArg::Sketch) {
        let fact = "a sketch reads its samples several times, which a summary of one file cannot ask for";
        return Err(Failure::refused(fact, "use `eigenspan fit --form sketch` with all files, or another form"));
    }
    let job = Job { data: &args.data, more: &args.more, params, streaming: &args.streaming };
    let file = job.run(session)?;
    file.save(&args.output)?;
    job.done()?;
    print(&format!("{}wrote {}\n", told(&file), args.output.display()))
}

/// Summaries in, one summary out, in the order given.
pub fn merge(args: &Merge, session: &Session<'_>) -> Result<(), Failure> {
    let mut all: Option<SummaryFile> = None;
    for path in &args.summaries {
        let next = SummaryFile::load(path)?;
        match &mut all {
            None => all = Some(next),
            Some(all) => all.merge(&next, session.exec).map_err(|error| in_file(error, path))?,
        }
    }
    let all = all.expect("clap asks for one at least");
    all.save(&args.output)?;
    print(&format!("{}wrote {}\n", told(&all), args.output.display()))
}

/// A summary in, a model out.
pub fn finish(args: &Finish, session: &Session<'_>) -> Result<(), Failure> {
    let file = SummaryFile::load(&args.summary)?;
    let params = args.cut.params(file.summary.state().0);
    let model = file.finish(params, session.exec)?;
    session.progress.clear();
    warn(model.model.info().warnings);
    let report = report::Report::new(&model.model, None, None);
    let mut words = told(&file) + &report::found(&model.model);
    let json = args.json.then(|| serde_json::to_string(&report).expect("reports are plain data"));
    if let Some(path) = &args.output {
        model.save(path)?;
        words += &format!("wrote {}\n", path.display());
    }
    print(&json.map_or(words, |json| format!("{json}\n")))
}

/// What is in a summary, in words.
pub fn told(file: &SummaryFile) -> String {
    let (n, m) = (file.summary.rows(), file.summary.features());
    let name = match &file.parts[..] {
        [] => "arrays".to_string(),
        [part] => part.data.clone(),
        parts => format!("{} files", parts.len()),
    };
    let form = match file.summary.form() {
        Form::Gram => "gram",
        Form::Triangle => "triangle",
    };
    format!("{name}: {n} samples of {m} features, summarised ({form})\n")
}
