//! `eigenspan dimension`: the estimators of the dimension, side by side.

use eigenspan_core::data::Samples;
use eigenspan_core::dimension::{Calibration, ESTIMATORS, Estimate, Estimator, Near, agreement};
use eigenspan_core::{Error, short_number};
use eigenspan_io::{load_calibration, save_calibration};
use serde::Serialize;

use super::{Session, print, print_json, warn};
use crate::args::Dimension;
use crate::failure::Failure;
use crate::report;

/// What one estimator said. Scripts depend on these names.
#[derive(Serialize)]
struct Row {
    method: &'static str,
    /// `null` where the estimator refused the samples.
    dimension: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    seconds: f64,
    settings: Estimator,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    warnings: Vec<String>,
}

/// Reads, estimates, says what was found.
pub fn run(args: &Dimension, session: &Session<'_>) -> Result<(), Failure> {
    let estimators = args.estimators()?;
    let mut names: Vec<&str> = estimators.iter().map(Estimator::name).collect();
    names.dedup();
    args.data.whole(args.max_memory, &format!("`dimension` by {}", names.join(", ")))?;
    let data = args.data.read()?;
    let samples = data.samples.view();
    let mut known = args.calibration.as_deref().map(load_calibration).transpose()?.unwrap_or_default();
    let before = known.len();
    let most = estimators.iter().map(Estimator::neighbours).max().unwrap_or(0);
    let started = session.progress.seconds();
    let near = Near::of(samples, most, session.exec)?;
    let seconds = session.progress.seconds() - started;
    let mut rows = vec![];
    for estimator in &estimators {
        match ask(*estimator, samples, &near, &mut known, session)? {
            (_, Some(error)) if estimators.len() == 1 => return Err(error.into()),
            (row, _) => rows.push(row),
        }
    }
    session.progress.clear();
    if let Some(path) = args.calibration.as_deref().filter(|_| known.len() > before) {
        save_calibration(path, &known)?;
    }
    warn(&warnings(&rows));
    if args.json {
        return print_json(&rows);
    }
    print(&format!("{}: {}\n{}", args.data.name(), report::shape(samples), table(&rows, most, seconds)))
}

/// Asks one estimator. Samples that it refuses are no failure of the others; Ctrl-C is.
fn ask(
    estimator: Estimator,
    samples: Samples<'_>,
    near: &Near,
    known: &mut Calibration,
    session: &Session<'_>,
) -> Result<(Row, Option<Error>), Failure> {
    let started = session.progress.seconds();
    let found = estimator.estimate(samples, near, known, session.exec);
    let seconds = session.progress.seconds() - started;
    let row = Row {
        method: estimator.name(),
        dimension: None,
        standard_error: None,
        seconds,
        settings: estimator,
        why: None,
        refused: None,
        warnings: vec![],
    };
    match found {
        Ok(Estimate { dimension, error, why, warnings, .. }) => {
            let warnings = warnings.iter().map(ToString::to_string).collect();
            let (dimension, why) = (Some(dimension), Some(why));
            Ok((Row { dimension, standard_error: error, why, warnings, ..row }, None))
        }
        Err(error @ Error::Linalg(_)) => Err(error.into()),
        Err(error) => Ok((Row { refused: Some(error.to_string()), ..row }, Some(error))),
    }
}

impl Dimension {
    /// The estimators that are asked for, one for each number of neighbours.
    fn estimators(&self) -> Result<Vec<Estimator>, Failure> {
        let all: Vec<&str> = match self.method.is_empty() {
            true => ESTIMATORS.iter().map(|(name, _)| *name).filter(|name| *name != "fast-danco").collect(),
            false => self.method.iter().map(String::as_str).collect(),
        };
        let mut estimators = vec![];
        for name in all {
            let published = if self.as_published { Estimator::as_published(name) } else { None };
            let mut estimator = published.or_else(|| Estimator::named(name)).expect("the parser knows the names");
            estimator = self.seed.map_or(estimator, |seed| estimator.with_seed(seed));
            estimator = self.max_dim.map_or(estimator, |most| estimator.with_max_dim(most));
            let Some(sweep) = &self.neighbours else {
                estimators.push(estimator);
                continue;
            };
            let swept: Option<Vec<Estimator>> = sweep.0.iter().map(|k| estimator.with_neighbours(*k)).collect();
            match swept {
                Some(swept) => estimators.extend(swept),
                None if self.method.is_empty() => estimators.push(estimator),
                None => {
                    let fact = format!("`--neighbours` is no setting of `{name}`");
                    return Err(Failure::refused(fact, "leave it out, or name another estimator"));
                }
            }
        }
        Ok(estimators)
    }
}

/// What the user should know, once for all estimators that say it.
fn warnings(rows: &[Row]) -> Vec<String> {
    let mut said: Vec<(&str, Vec<&str>)> = vec![];
    for row in rows {
        for text in &row.warnings {
            match said.iter_mut().find(|(known, _)| known == text) {
                Some((_, names)) if names.contains(&row.method) => {}
                Some((_, names)) => names.push(row.method),
                None => said.push((text, vec![row.method])),
            }
        }
    }
    said.into_iter().map(|(text, names)| format!("{}: {text}", names.join(", "))).collect()
}

/// One line an estimator, and how far they agree.
fn table(rows: &[Row], neighbours: usize, seconds: f64) -> String {
    let width = rows.iter().map(|row| row.method.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}  {:>4}  {:>15}  {:>8}\n", "method", "k", "dimension", "seconds");
    for row in rows {
        let k = row.settings.k().map_or("–".into(), |k| k.to_string());
        let found = match (row.dimension, row.standard_error) {
            (Some(d), Some(error)) => format!("{d:.2} ± {}", short_number((100.0 * error).round() / 100.0)),
            (Some(d), None) if d.fract() == 0.0 => format!("{d:.0}"),
            (Some(d), None) => format!("{d:.2}"),
            (None, _) => "–".into(),
        };
        text += &format!("{:width$}  {k:>4}  {found:>15}  {:>8.2}", row.method, row.seconds);
        text += &row.refused.as_ref().map(|why| format!("  {why}\n")).unwrap_or_else(|| "\n".into());
    }
    if neighbours > 0 {
        text += &format!("{neighbours} neighbours of every sample were searched once, in {seconds:.2} s\n");
    }
    let found: Vec<f64> = rows.iter().filter_map(|row| row.dimension).collect();
    if let Some(agreement) = agreement(&found).filter(|_| found.len() > 1) {
        text += &format!("{agreement}\n");
    }
    text
}
