//! A protocol carried out: parameters as printed or tuned on the extra partition, then mean ± standard deviation over
//! the others.
//!
//! ```text
//!     partition 0           every point of the grid  ─▶  the best one for each method and classifier (the first of equal ones)
//!     partitions 1 … 10     that point               ─▶  mean ± sd
//! ```
//! No partition that is reported is ever tuned on.

use eigenspan_core::Dim;
use eigenspan_core::classify::Classifier;
use eigenspan_core::registry::Method;
use serde_json::{Map, Value};

use crate::StudyError;
use crate::cell::{Take, is_classifier};
use crate::paper::{Number, classifier_label, of_table};
use crate::plan::{Case, Plan};
use crate::protocol::{Along, CaseText, MethodText, Protocol};
use crate::report::{Best, Line};
use crate::results::{Row, Spread};
use crate::run::{Done, Runner, Subject};
use crate::settings;

/// Settings that are tried, and how a person writes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The method.
    pub method: Method,
    /// What was set, in words.
    pub parameter: String,
}

/// A row of the result in the making.
struct Request<'a> {
    case: usize,
    name: &'a CaseText,
    x: Option<f64>,
    method: &'a MethodText,
    classifier: (String, Classifier),
    number: Option<Number>,
    candidates: Vec<(Point, Take)>,
    /// The numbers of columns are candidates.
    widths: bool,
}

/// Options of a run, besides the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Partitions, where they are not as many as the protocol says.
    pub repeats: Option<u64>,
    /// Parameters are tuned on the extra partition instead of being those that the paper prints.
    pub tune: bool,
}

/// Every row of a protocol; `subjects` has one entry a case, in their order.
pub fn run(
    protocol: &Protocol,
    subjects: &[Subject],
    options: Options,
    runner: &mut Runner<'_>,
) -> Result<(Vec<Line>, Vec<String>), StudyError> {
    let (cases, mut requests) = rows(protocol, options.tune)?;
    choose(&cases, &mut requests, subjects, runner)?;
    let mut plan = Plan { cases, ..Plan::default() };
    let wants: Vec<Vec<usize>> = requests
        .iter()
        .map(|row| {
            // All widths are one sweep, so that what the paper did, which is to tune on the test samples, can be shown
            // too.
            let count = if row.widths { row.candidates.len() } else { 1 };
            row.candidates[..count]
                .iter()
                .map(|(point, take)| plan.want(row.case, &point.method, *take, &row.classifier.1))
                .collect()
        })
        .collect();
    let repeats = 1..options.repeats.unwrap_or(protocol.repeats) + 1;
    let done = runner.run(&plan, subjects, repeats, protocol.show.is_timed())?;
    let lines = requests.iter().zip(&wants).map(|(row, wants)| row.line(wants, &done)).collect();
    Ok((lines, done.warnings()))
}

/// The cases, and the rows with everything that may be tried for each.
fn rows<'a>(protocol: &'a Protocol, tune: bool) -> Result<(Vec<Case>, Vec<Request<'a>>), StudyError> {
    let mut cases = vec![];
    let mut requests = vec![];
    let training = protocol.axis.as_ref().filter(|axis| matches!(axis.of, Along::Train | Along::Each));
    for (subject, name) in protocol.cases.iter().enumerate() {
        let places: Vec<Option<usize>> =
            training.map_or_else(|| vec![None], |axis| axis.values().into_iter().map(Some).collect());
        for place in places {
            let train = protocol.train_of(name, place);
            cases.push(Case { subject, rule: protocol.split, train, seed: protocol.seed });
            for method in &protocol.methods {
                let classifiers = method.classifiers.as_ref().unwrap_or(&protocol.classifiers);
                for classifier in classifiers {
                    let case = (cases.len() - 1, name, place.map(|x| x as f64));
                    requests.extend(of_method(protocol, case, method, classifier, tune)?);
                    if method.classifiers.is_none() && is_classifier(&settings::method(&method.method, true)?) {
                        break;
                    }
                }
            }
        }
    }
    Ok((cases, requests))
}

/// The rows of a method and a classifier in a case: one, or one for each place on an axis of the method.
fn of_method<'a>(
    protocol: &'a Protocol,
    (case, name, x): (usize, &'a CaseText, Option<f64>),
    method: &'a MethodText,
    classifier: &str,
    tune: bool,
) -> Result<Vec<Request<'a>>, StudyError> {
    let own = is_classifier(&settings::method(&method.method, true)?);
    let classifier_name = if own { "own" } else { classifier };
    let number = number(name, method, classifier_name);
    let points = points(method, classifier, number.as_ref(), tune)?;
    // Our methods are judged by the paper's classifiers too: what differs is the features.
    let plain = settings::classifier(classifier, true)?;
    let judge = if method.unit_features { settings::with_unit_samples(plain) } else { plain };
    let judge = (classifier_name.to_string(), judge);
    let take = if method.low_rank { Take::LowRank } else { Take::All };
    let row = |x, candidates, widths| {
        let (classifier, number) = (judge.clone(), number.clone());
        Request { case, name, x, method, classifier, number, candidates, widths }
    };
    let along = protocol.axis.as_ref().map(|axis| (axis.of, axis.values()));
    Ok(match (along, name.tune_columns) {
        (Some((Along::Lambda, values)), _) => {
            let at = |value: usize| {
                let changes = Map::from_iter([("lambda".to_string(), Value::from(value))]);
                let method = settings::laid_over(&method.method, points[0].method.clone(), &changes)?;
                let point = Point { method, parameter: words(&changes) };
                Ok(row(Some(value as f64), vec![(point, Take::All)], false))
            };
            values.into_iter().map(at).collect::<Result<_, StudyError>>()?
        }
        (Some((Along::Columns, values)), _) => {
            let widest = with_columns(method, &points[0], *values.last().unwrap_or(&1))?;
            let at = |value: usize| row(Some(value as f64), vec![(widest.clone(), Take::First(value))], false);
            values.into_iter().map(at).collect()
        }
        // As many widths as columns: only the nearest neighbor answers all of them in one sweep.
        (_, Some(most)) if matches!(judge.1, Classifier::Nn(_)) && !own && has_fixed_dim(&points[0].method) => {
            let widest = with_columns(method, &points[0], most)?;
            vec![row(x, (1..=most).map(|width| (widest.clone(), Take::First(width))).collect(), true)]
        }
        _ => vec![row(x, points.into_iter().map(|point| (point, take)).collect(), false)],
    })
}

/// What the paper prints in the row of a method.
pub(crate) fn number(case: &CaseText, method: &MethodText, classifier: &str) -> Option<Number> {
    let (table, name) = (case.paper.as_ref().filter(|_| !method.ours)?, method.row.as_ref().unwrap_or(&method.name));
    let of = |number: &Number| number.algorithm == *name && number.classifier == classifier_label(classifier);
    of_table(table, case.paper_data.as_deref()).into_iter().find(of)
}

/// The same method with so many columns.
fn with_columns(text: &MethodText, point: &Point, columns: usize) -> Result<Point, StudyError> {
    let changes = Map::from_iter([("dim".to_string(), Value::from(columns))]);
    let method = settings::laid_over(&text.method, point.method.clone(), &changes)?;
    Ok(Point { method, parameter: point.parameter.clone() })
}

fn has_fixed_dim(method: &Method) -> bool {
    !matches!(method, Method::Pce(params) if params.dim == Dim::Auto)
}

/// The settings that are tried for a method with a classifier: those of the protocol, or else those that the paper
/// prints; all of the grid where parameters are tuned.
pub(crate) fn points(
    text: &MethodText,
    classifier: &str,
    number: Option<&Number>,
    tune: bool,
) -> Result<Vec<Point>, StudyError> {
    let base = settings::laid_over(&text.method, settings::method(&text.method, !text.ours)?, &text.set)?;
    let point = |changes: Map<String, Value>| {
        let method = settings::laid_over(&text.method, base.clone(), &changes)?;
        Ok(Point { method, parameter: words(&changes) })
    };
    if tune && !text.grid.is_empty() {
        return cross(&text.grid).into_iter().map(point).collect();
    }
    let mut changes = said(text, classifier);
    if changes.is_empty() {
        changes = number.map(|number| number.settings(&text.parameter)).unwrap_or_default();
    }
    Ok(vec![point(changes)?])
}

/// The settings that a protocol gives for a classifier.
fn said(text: &MethodText, classifier: &str) -> Map<String, Value> {
    let said = ["all", classifier].into_iter().filter_map(|name| text.at.get(name)).filter_map(Value::as_object);
    said.flat_map(Clone::clone).collect()
}

/// The same as a person writes them.
pub(crate) fn set_words(text: &MethodText, classifier: &str) -> String {
    words(&said(text, classifier))
}

/// Every choice of one value for each name.
fn cross(grid: &Map<String, Value>) -> Vec<Map<String, Value>> {
    grid.iter().fold(vec![Map::new()], |points, (name, values)| {
        let values = values.as_array().cloned().unwrap_or_else(|| vec![values.clone()]);
        let with = |point: &Map<String, Value>, value: &Value| {
            let mut point = point.clone();
            point.insert(name.clone(), value.clone());
            point
        };
        points.iter().flat_map(|point| values.iter().map(|value| with(point, value)).collect::<Vec<_>>()).collect()
    })
}

/// Settings as a person writes them.
fn words(changes: &Map<String, Value>) -> String {
    let one = |(name, value): (&String, &Value)| match name.as_str() {
        "lambda" => format!("λ = {value}"),
        "dim" => format!("m′ = {value}"),
        name => format!("{name} {value}"),
    };
    changes.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Leaves one candidate for every row: the best on the extra partition, the first of equal ones. Where numbers of
/// columns are the candidates all stay, the best in front.
fn choose(
    cases: &[Case],
    requests: &mut [Request<'_>],
    subjects: &[Subject],
    runner: &mut Runner<'_>,
) -> Result<(), StudyError> {
    let mut plan = Plan { cases: cases.to_vec(), ..Plan::default() };
    let mut wants = vec![];
    for row in requests.iter().filter(|row| row.candidates.len() > 1) {
        let want = |(point, take): &(Point, Take)| plan.want(row.case, &point.method, *take, &row.classifier.1);
        wants.push(row.candidates.iter().map(want).collect::<Vec<usize>>());
    }
    let done = runner.run(&plan, subjects, 0..1, false)?;
    for (row, wants) in requests.iter_mut().filter(|row| row.candidates.len() > 1).zip(wants) {
        let accuracies: Vec<f64> = wants.iter().map(|want| done.of(*want)[0].accuracy).collect();
        let best = first_largest(&accuracies);
        match row.widths {
            true => row.candidates.swap(0, best),
            false => row.candidates = vec![row.candidates[best].clone()],
        }
    }
    Ok(())
}

fn first_largest(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

impl Request<'_> {
    fn line(&self, wants: &[usize], done: &Done<'_>) -> Line {
        let found = done.of(wants[0]);
        let row = Row::new(&self.method.name, &self.classifier.0, &found);
        let best_on_test = self.widths.then(|| {
            let mean = |want: &usize| Spread::of(&done.of(*want).iter().map(|f| f.accuracy).collect::<Vec<_>>()).mean;
            let means: Vec<f64> = wants.iter().map(mean).collect();
            let best = first_largest(&means);
            let Take::First(columns) = self.candidates[best].1 else { unreachable!("widths are first columns") };
            Best { columns, accuracy: means[best] }
        });
        let mut parameter = self.candidates[0].0.parameter.clone();
        if let (true, Take::First(columns)) = (self.widths, self.candidates[0].1) {
            parameter = [parameter, format!("m′ = {columns}")]
                .into_iter()
                .filter(|p| !p.is_empty())
                .collect::<Vec<_>>()
                .join(", ");
        }
        let distance = self.number.as_ref().and_then(|number| number.distance(row.accuracy_mean));
        let (case, x, paper) = (self.name.name.clone(), self.x, self.number.clone());
        Line { case, x, parameter, ours: self.method.ours, row, paper, distance, best_on_test }
    }
}
