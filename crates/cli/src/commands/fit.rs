//! `eigenspan fit`: data in, dimension and model out.

use std::path::Path;

use eigenspan_core::data::{Dataset, Matrix};
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::registry::{Method, Outcome};
use eigenspan_core::{Model, Pce};
use eigenspan_feed::{Fit as Job, column_names};
use eigenspan_io::{ModelFile, Names, Provenance};

use super::summarize::{params_of, told};
use super::{Session, print, warn};
use crate::args::{Fit, Fitting, Size};
use crate::failure::Failure;
use crate::report;

/// Reads, fits, writes the model and what else was asked for, says what was found.
pub fn run(args: &Fit, session: &Session<'_>) -> Result<(), Failure> {
    if args.streaming.is_asked() || !args.more.is_empty() {
        return run_streaming(args, session);
    }
    let method = args.choice.method(&args.fitting)?;
    let data = args.data.read()?;
    let started = session.progress.seconds();
    let Outcome { model, low_rank, sparse } = fit_any(&method, &data, session)?;
    let seconds = session.progress.seconds() - started;
    warn(model.info().warnings);
    let mut written = vec![];
    let mut parts = vec![("--low-rank", &args.low_rank, low_rank), ("--sparse", &args.sparse, sparse)];
    for (flag, path, part) in &mut parts {
        let Some(path) = path else { continue };
        let Some(part) = part.take() else {
            let fact = format!("`{flag}` asks for a part that the method `{}` does not find", model.info().method);
            return Err(Failure::refused(fact, "use `--method robust-pca` or `rosl`"));
        };
        written.push(write(path, &part.into(), data.feature_names.as_deref(), &data)?);
    }
    if let Some(path) = &args.features {
        let features = match &model {
            Model::Lle(lle) => lle.embedding().clone().into(),
            other => other.transform_with(data.samples.view(), session.exec)?,
        };
        session.progress.clear();
        written.push(write(path, &features, Some(&column_names(&model)), &data)?);
    }
    let report = report::Report::new(&model, Some(seconds), None);
    let words = format!("{}: {}\n{}", args.data.name(), report::shape(data.samples.view()), report::found(&model));
    let json = args.json.then(|| serde_json::to_string(&report).expect("reports are plain data"));
    if let Some(path) = &args.output {
        let provenance = Provenance::of(&args.data.name(), data.samples.view());
        ModelFile { model, provenance }.save(path)?;
        written.push(format!("wrote {}\n", path.display()));
    }
    match json {
        Some(json) => print(&format!("{json}\n")),
        None => print(&(words + &written.concat())),
    }
}

/// The same from samples that are read once, or a few times, and not kept.
fn run_streaming(args: &Fit, session: &Session<'_>) -> Result<(), Failure> {
    let params = params_of(&args.choice, &args.fitting)?;
    let asked = [("--features", &args.features), ("--low-rank", &args.low_rank), ("--sparse", &args.sparse)];
    if let Some((flag, _)) = asked.iter().find(|(_, path)| path.is_some()) {
        let fact = format!("`{flag}` needs the samples, which are not kept here");
        return Err(Failure::refused(fact, "write the model, then run `eigenspan transform MODEL DATA -o FILE`"));
    }
    let started = session.progress.seconds();
    let job = Job {
        files: args.data.files(&args.more)?,
        params,
        form: args.streaming.form(),
        sketch: args.streaming.sketch(),
        max_memory: args.streaming.max_memory.map(|Size(bytes)| bytes),
        checkpoints: args.streaming.checkpoints(),
    };
    let fitted = job.run(session.exec)?;
    let file = &fitted.file;
    session.progress.clear();
    let seconds = session.progress.seconds() - started;
    warn(file.model.info().warnings);
    let report = report::Report::new(&file.model, Some(seconds), None);
    let mut words = told(&fitted.parts, fitted.rows, file.model.features(), fitted.form);
    words += &report::found(&file.model);
    let json = args.json.then(|| serde_json::to_string(&report).expect("reports are plain data"));
    if let Some(path) = &args.output {
        file.save(path)?;
        words += &format!("wrote {}\n", path.display());
    }
    fitted.discard_checkpoint()?;
    print(&json.map_or(words, |json| format!("{json}\n")))
}

/// Writes one row a sample, and says so.
fn write(path: &Path, rows: &Matrix, columns: Option<&[String]>, data: &Dataset) -> Result<String, Failure> {
    let mut sink = eigenspan_io::create(path, rows.cols(), Names { columns, ids: data.ids.clone() })?;
    sink.write_block(rows)?;
    sink.finish()?;
    Ok(format!("wrote {}\n", path.display()))
}

/// The model of a data set, with the shape of its images.
fn fit_any(method: &Method, data: &Dataset, session: &Session<'_>) -> Result<Outcome, Failure> {
    let mut outcome = method.fit_with(data.samples.view(), data.labels.as_ref(), session.exec)?;
    session.progress.clear();
    if let Some(shape) = data.image {
        outcome.model = outcome.model.with_image(shape).expect("a data set's image shape fits its samples");
    }
    Ok(outcome)
}

/// The model of PCE of a data set, with the shape of its images.
pub fn fit(data: &Dataset, fitting: &Fitting, session: &Session<'_>) -> Result<Pce, Failure> {
    let outcome = fit_any(&Method::Pce(fitting.params()?), data, session)?;
    super::pce_of(outcome.model, "path")
}
