//! Methods whose number of columns an estimator of the dimension gives: what PCE's own k is compared with.
//!
//! ```text
//!     training samples as they are ─▶ estimator ─▶ d ─▶ the method with ⌈d⌉ columns ─▶ classifier ─▶ percent right
//! ```
//! The time of a fit is that of the estimator, with its neighbors and the balls it draws, and that of the method.
//! Nothing is kept from one partition to the next.

use eigenspan_core::Dim;
use eigenspan_core::data::Dataset;
use eigenspan_core::dimension::{Calibration, Estimator, Near};
use eigenspan_core::registry::Method;

use crate::StudyError;
use crate::cell::{Cell, Partition, Reading, Take};
use crate::protocol::{CaseText, EstimatorText, MethodText, Protocol};
use crate::report::Line;
use crate::reproduce::{self, Options};
use crate::results::{Row, Spread};
use crate::run::{Found, Runner, Subject};
use crate::settings;

/// Every row of a protocol, and what the user should know; `subjects` has one entry a case, in their order.
pub fn run(
    protocol: &Protocol,
    subjects: &[Subject],
    options: Options,
    runner: &mut Runner<'_>,
) -> Result<(Vec<Line>, Vec<String>), StudyError> {
    let repeats = options.repeats.unwrap_or(protocol.repeats);
    let total = protocol.cases.len() * protocol.methods.len() * protocol.classifiers.len() * repeats as usize;
    let (mut lines, mut warnings, mut done) = (vec![], vec![], 0);
    for (case, subject) in protocol.cases.iter().zip(subjects) {
        for text in &protocol.methods {
            for classifier in &protocol.classifiers {
                let request = Request { protocol, case, subject, text, classifier };
                let mut found = vec![];
                for repeat in 1..=repeats {
                    let what = format!("{}, partition {repeat} of {}", text.name, subject.name);
                    runner.clock.cell(done, total, &what, None);
                    found.push(request.measure(repeat, &what, runner, &mut warnings)?);
                    done += 1;
                }
                lines.push(request.line(&found));
            }
        }
    }
    runner.clock.cell(total, total, "", None);
    Ok((lines, warnings))
}

/// A row in the making.
struct Request<'a> {
    protocol: &'a Protocol,
    case: &'a CaseText,
    subject: &'a Subject,
    text: &'a MethodText,
    classifier: &'a str,
}

/// What one partition gave, and what the estimator said.
type Measured = (Found, Option<f64>);

impl Request<'_> {
    fn measure(
        &self,
        repeat: u64,
        what: &str,
        runner: &Runner<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Measured, StudyError> {
        let method = reproduce::points(self.text, self.classifier, None, false)?.remove(0).method;
        let estimator = self.text.estimator.as_ref().map(EstimatorText::estimator).transpose()?;
        let classifiers = vec![settings::classifier(self.classifier, true)?];
        let train = self.protocol.train_of(self.case, None);
        let partition = Partition { rule: self.protocol.split, train, seed: self.protocol.seed, repeat };
        let cell = Cell { partition, method, readings: vec![Reading { take: Take::All, classifiers }] };
        let (found, estimate, said) = estimate_and_measure(cell, estimator, &self.subject.data, runner)
            .map_err(|source| StudyError::Method { doing: what.into(), source })?;
        for line in said.iter().map(|text| format!("{}: {text}", self.text.name)) {
            if !warnings.contains(&line) {
                warnings.push(line);
            }
        }
        Ok((found, estimate))
    }

    fn line(&self, found: &[Measured]) -> Line {
        let row =
            Row::new(&self.text.name, self.classifier, &found.iter().map(|(found, _)| *found).collect::<Vec<_>>());
        let paper = reproduce::number(self.case, self.text, self.classifier);
        let estimates: Vec<f64> = found.iter().filter_map(|(_, estimate)| *estimate).collect();
        let parameter = match &self.text.estimator {
            Some(text) => format!("neighbours {}, d = {:.2}", text.neighbours, Spread::of(&estimates).mean),
            None => reproduce::set_words(self.text, self.classifier),
        };
        let distance = paper.as_ref().and_then(|number| number.distance(row.accuracy_mean));
        let case = if self.subject.name == self.case.data_of(self.protocol) {
            self.case.name.clone()
        } else {
            self.subject.name.clone()
        };
        Line { case, x: None, parameter, ours: self.text.ours, row, paper, distance, best_on_test: None }
    }
}

/// The cell with as many columns as the estimator says of its training samples, and its warnings.
fn estimate_and_measure(
    mut cell: Cell,
    estimator: Option<Estimator>,
    data: &Dataset,
    runner: &Runner<'_>,
) -> Result<(Found, Option<f64>, Vec<String>), eigenspan_core::Error> {
    let (clock, exec) = (runner.clock, runner.exec.silent());
    let (mut estimate, mut seconds, mut warnings) = (None, 0.0, vec![]);
    if let Some(estimator) = estimator {
        let labels = data.labels.as_ref().ok_or(eigenspan_core::Error::NoLabels)?;
        let split = cell.partition.split(labels)?;
        let train = data.select_rows(&split.train).expect("a split names samples that are there");
        let started = clock.seconds();
        let near = Near::of(train.samples.view(), estimator.neighbours(), exec)?;
        let said = estimator.estimate(train.samples.view(), &near, &mut Calibration::default(), exec)?;
        seconds = clock.seconds() - started;
        estimate = Some(said.dimension);
        warnings.extend(said.warnings.iter().map(ToString::to_string));
        cell.method = with_dim(cell.method, said.dimension.ceil().max(1.0) as usize);
    }
    let measured = cell.measure(data, clock, exec)?;
    warnings.extend(measured.warnings);
    let (read, score) = (&measured.readings[0], measured.readings[0].scores[0]);
    let found = Found {
        accuracy: score.accuracy,
        k: read.k,
        columns: read.columns,
        fit: seconds + measured.fit_seconds,
        transform: measured.transform_seconds,
        classify: score.seconds,
        train: measured.train,
        test: measured.test,
    };
    Ok((found, estimate, warnings))
}

/// The method with so many columns; protocols name one that has a number of them.
fn with_dim(method: Method, dim: usize) -> Method {
    match method {
        Method::Eigenfaces(mut params) => {
            params.dim = Dim::Fixed(dim);
            Method::Eigenfaces(params)
        }
        other => other,
    }
}
