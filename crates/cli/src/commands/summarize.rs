//! `eigenspan summarize`, `merge` and `finish`: the fit in three steps, for machines that share nothing but files.

use std::path::Path;

use eigenspan_core::linalg::summary::Form as Kept;
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::registry::Method;
use eigenspan_core::{Error, PceParams};
use eigenspan_feed::{Form, Summarize as Job};
use eigenspan_io::{PartOfData, SummaryFile};

use super::{Session, print, warn};
use crate::args::{Finish, Fitting, Merge, Size, Summarize};
use crate::choice::Choice;
use crate::failure::Failure;
use crate::report;

/// Samples in, a summary out.
pub fn run(args: &Summarize, session: &Session<'_>) -> Result<(), Failure> {
    let params = params_of(&args.choice, &args.fitting)?;
    let job = Job {
        files: args.data.files(&args.more)?,
        params,
        form: args.streaming.form(),
        max_memory: args.streaming.max_memory.map(|Size(bytes)| bytes),
        checkpoints: args.streaming.checkpoints(),
    };
    let sketch = (job.form != Form::Sketch).then(|| args.streaming.of_sketch()).flatten();
    if let Some(flag) = sketch {
        let fact = format!("`{flag}` has no effect with a summary, which reads its samples once");
        return Err(Failure::refused(fact, "leave it out, or use `eigenspan fit --form sketch`"));
    }
    let file = job.run(session.exec)?;
    session.progress.clear();
    file.save(&args.output)?;
    job.discard_checkpoint()?;
    print(&format!("{}wrote {}\n", of_file(&file), args.output.display()))
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
    print(&format!("{}wrote {}\n", of_file(&all), args.output.display()))
}

/// A summary in, a model out.
pub fn finish(args: &Finish, session: &Session<'_>) -> Result<(), Failure> {
    let file = SummaryFile::load(&args.summary)?;
    let params = args.cut.params(file.summary.state().0);
    let model = file.finish(params, session.exec)?;
    session.progress.clear();
    warn(model.model.info().warnings);
    let report = report::Report::new(&model.model, None, None);
    let mut words = of_file(&file) + &report::found(&model.model);
    let json = args.json.then(|| serde_json::to_string(&report).expect("reports are plain data"));
    if let Some(path) = &args.output {
        model.save(path)?;
        words += &format!("wrote {}\n", path.display());
    }
    print(&json.map_or(words, |json| format!("{json}\n")))
}

/// What is in a summary, in words.
fn of_file(file: &SummaryFile) -> String {
    let form = match file.summary.form() {
        Kept::Gram => Form::Gram,
        Kept::Triangle => Form::Triangle,
    };
    told(&file.parts, file.summary.rows(), file.summary.features(), form)
}

/// What was read and what was kept of it, in words.
pub fn told(parts: &[PartOfData], rows: usize, features: usize, form: Form) -> String {
    let name = match parts {
        [] => "arrays".to_string(),
        [part] => part.data.clone(),
        parts => format!("{} files", parts.len()),
    };
    let how = match form {
        Form::Sketch => "sketched",
        Form::Triangle => "summarised (triangle)",
        Form::Gram | Form::Auto => "summarised (gram)",
    };
    format!("{name}: {rows} samples of {features} features, {how}\n")
}

/// The settings of PCE, where the method can be fitted from a summary.
pub fn params_of(choice: &Choice, fitting: &Fitting) -> Result<PceParams, Failure> {
    match &choice.method(fitting)? {
        Method::Pce(params) => Ok(*params),
        Method::Pca(params) => params.streamed().ok_or_else(|| {
            let fact = "the number of components by `mle` needs all samples in memory";
            Failure::refused(fact, "choose it by `auto`, a share or a number")
        }),
        _ => {
            let fact = format!("the method `{}` needs all samples in memory", choice.name());
            let hint = "use `pce` or `pca`, or fit one file without `--max-memory`, `--checkpoint` and `--form`";
            Err(Failure::refused(fact, hint))
        }
    }
}

/// The same error, with the file that was merged.
fn in_file(error: Error, path: &Path) -> Failure {
    let (fact, hint) = (format!("{}: {error}", path.display()), error.hint());
    Failure::Refused { fact, hint }
}
