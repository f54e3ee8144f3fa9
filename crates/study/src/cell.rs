//! One fit on one partition, and everything that is read off it.
//!
//! ```text
//!     partition ─▶ fit ─▶ features of both parts ─▶ the first columns of them ─▶ each classifier ─▶ percent right
//! ```
//! A fit is the expensive part, so a cell is one fit with all its [`Reading`]s: PCE at the largest λ gives every
//! smaller λ (with weights 1/σ, the features at λ are the first k(λ) columns), and a fit with many columns gives every
//! smaller number.

use eigenspan_core::classify::nearest_neighbour::NearestNeighbourParams;
use eigenspan_core::classify::{Classifier, accuracy};
use eigenspan_core::data::{Dataset, Labels, Matrix, Samples};
use eigenspan_core::method::parts::neighbours::Metric;
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::prepare::norm;
use eigenspan_core::registry::{Method, Outcome, Task};
use eigenspan_core::split::{Split, Train};
use eigenspan_core::{Error, Exec, Mat, Model, Normalize};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::prefixes::nearest;

/// So many widths of the same features are worth a sweep.
const SWEEP: usize = 8;

/// How samples are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitRule {
    /// Any samples, whatever their class: what the authors' program does.
    #[default]
    Random,
    /// The same share of every class.
    Stratified,
}

/// How many samples to train on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrainSize {
    /// So many of all.
    Total(usize),
    /// This share of all.
    Share(f64),
    /// So many of every class; the split is stratified.
    Each(usize),
}

/// One of the random ways to part samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// How samples are split.
    pub rule: SplitRule,
    /// How many are to train on.
    pub train: TrainSize,
    /// The seed.
    pub seed: u64,
    /// Which of the partitions of this seed. The first, 0, is the one to tune on.
    pub repeat: u64,
}

impl Partition {
    /// The samples of both parts.
    pub fn split(&self, labels: &Labels) -> Result<Split, Error> {
        let Self { rule, train, seed, repeat } = *self;
        let n = labels.of.len();
        match (rule, train) {
            (_, TrainSize::Each(count)) => Split::stratified(labels, Train::Count(count), seed, repeat),
            (SplitRule::Random, TrainSize::Total(count)) => Split::plain(n, Train::Count(count), seed, repeat),
            (SplitRule::Random, TrainSize::Share(share)) => Split::plain(n, Train::Share(share), seed, repeat),
            (SplitRule::Stratified, TrainSize::Share(share)) => {
                Split::stratified(labels, Train::Share(share), seed, repeat)
            }
            (SplitRule::Stratified, TrainSize::Total(count)) => {
                Split::stratified(labels, Train::Share(count as f64 / n.max(1) as f64), seed, repeat)
            }
        }
    }
}

/// What is taken of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// All columns of its features.
    All,
    /// The first so many, or all where there are fewer.
    First(usize),
    /// Those that PCE keeps at this λ.
    Lambda(f64),
    /// The low-rank part of the training samples, with test samples as they are: robust PCA without reduction.
    LowRank,
}

/// What is read off a fit, and by which classifiers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The columns.
    pub take: Take,
    /// The classifiers; none where the method is a classifier.
    pub classifiers: Vec<Classifier>,
}

/// One fit on one partition, and what is read off it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The partition.
    pub partition: Partition,
    /// What is fitted.
    pub method: Method,
    /// What is read off.
    pub readings: Vec<Reading>,
}

/// What came out of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Training samples.
    pub train: usize,
    /// Test samples.
    pub test: usize,
    /// Seconds of the fit.
    pub fit_seconds: f64,
    /// Seconds to the features of both parts.
    pub transform_seconds: f64,
    /// What was read off, in the order asked.
    pub readings: Vec<Read>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What was read off a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// The dimension: that of PCE, the columns of other methods.
    pub k: usize,
    /// Columns of the features.
    pub columns: usize,
    /// Percent right and seconds of each classifier, in the order asked; of the method itself where it is one.
    pub scores: Vec<Score>,
}

/// How often a classifier was right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// In percent of the test samples.
    pub accuracy: f64,
    /// Seconds to learn and to predict.
    pub seconds: f64,
}

/// Features of both parts with their classes.
struct Features<'a> {
    train: Mat,
    test: Mat,
    labels: &'a Labels,
    truth: &'a [usize],
    /// Whether features have length one, also after a cut.
    unit: bool,
}

impl Cell {
    /// Does the work. `data` has labels.
    pub fn measure(&self, data: &Dataset, clock: &dyn Clock, exec: Exec<'_>) -> Result<Measured, Error> {
        let labels = data.labels.as_ref().ok_or(Error::NoLabels)?;
        let split = self.partition.split(labels)?;
        if split.test.is_empty() {
            return Err(Error::TooFewSamples { needed: 1, why: "to test on", got: 0 });
        }
        let part = |index: &[usize]| data.select_rows(index).expect("a split names samples that are there");
        let (train, test) = (part(&split.train), part(&split.test));
        let truth = &test.labels.as_ref().expect("parts have the labels of the whole").of;
        let most = train.samples.rows().saturating_sub(1).min(train.samples.cols());
        let method = self.method.clone().capped(most);
        let started = clock.seconds();
        let outcome = method.fit_with(train.samples.view(), train.labels.as_ref(), exec)?;
        let fitted = clock.seconds();
        let warnings = outcome.model.info().warnings.iter().map(ToString::to_string).collect();
        let (train_rows, test_rows) = (split.train.len(), split.test.len());
        if let Some(read) = own_rule(&outcome.model, &test, truth, clock, exec)? {
            let readings = vec![read; self.readings.len()];
            let fit_seconds = fitted - started;
            let (train, test) = (train_rows, test_rows);
            return Ok(Measured { train, test, fit_seconds, transform_seconds: 0.0, readings, warnings });
        }
        let labels = train.labels.as_ref().expect("parts have the labels of the whole");
        let features = |model: &Model, samples: Samples<'_>| model.transform_with(samples, exec).map(Matrix::into_f64);
        let needed = self.readings.iter().any(|reading| reading.take != Take::LowRank);
        let (z, y) = match needed {
            true => (features(&outcome.model, train.samples.view())?, features(&outcome.model, test.samples.view())?),
            false => (Mat::zeros(0, 0), Mat::zeros(0, 0)),
        };
        let transform_seconds = clock.seconds() - fitted;
        let features = Features { train: z, test: y, labels, truth, unit: outcome.model.unit_features() };
        let readings = self.read(&outcome, &features, &test, clock, exec)?;
        let (train, test) = (train_rows, test_rows);
        Ok(Measured { train, test, fit_seconds: fitted - started, transform_seconds, readings, warnings })
    }

    fn read(
        &self,
        outcome: &Outcome,
        features: &Features<'_>,
        test: &Dataset,
        clock: &dyn Clock,
        exec: Exec<'_>,
    ) -> Result<Vec<Read>, Error> {
        if let Some(read) = self.sweep(features, clock, exec)? {
            return Ok(read);
        }
        let one = |reading: &Reading| {
            let cut = match reading.take {
                Take::LowRank => features.low_rank(outcome, test)?,
                take => features.first(columns(take, &outcome.model)?),
            };
            let score = |classifier: &Classifier| cut.score(classifier, clock, exec);
            let scores = reading.classifiers.iter().map(score).collect::<Result<_, Error>>()?;
            let k = match (outcome.model.as_pce(), reading.take) {
                (Some(model), Take::All) => model.k(),
                (Some(model), Take::Lambda(lambda)) => model.dimension_at(lambda).unwrap_or(0),
                _ => cut.train.cols(),
            };
            Ok(Read { k, columns: cut.train.cols(), scores })
        };
        self.readings.iter().map(one).collect()
    }

    /// Many widths of the same features, distinguished by the nearest neighbor, in one sweep; `None` where that is not
    /// what is asked.
    fn sweep(&self, features: &Features<'_>, clock: &dyn Clock, exec: Exec<'_>) -> Result<Option<Vec<Read>>, Error> {
        let Some(Reading { classifiers, .. }) = self.readings.first() else { return Ok(None) };
        let width = |reading: &Reading| match reading.take {
            Take::First(width) if reading.classifiers == *classifiers => Some(width),
            _ => None,
        };
        let Some(widths) = self.readings.iter().map(width).collect::<Option<Vec<_>>>() else { return Ok(None) };
        if widths.len() < SWEEP || !widths.is_sorted() {
            return Ok(None);
        }
        let units = classifiers.iter().map(|classifier| Some(features.unit | nearest_of_unit(classifier)?));
        let Some(units) = units.collect::<Option<Vec<bool>>>() else { return Ok(None) };
        let columns = |width: &usize| (*width).min(features.train.cols());
        let read = |width: &usize| Read { k: columns(width), columns: columns(width), scores: vec![] };
        let mut reads: Vec<Read> = widths.iter().map(read).collect();
        for unit in units {
            let started = clock.seconds();
            let found = nearest(&features.train, &features.test, &widths, unit, exec)?;
            let seconds = (clock.seconds() - started) / widths.len() as f64;
            for (read, nearest) in reads.iter_mut().zip(found) {
                let predicted: Vec<usize> = nearest.iter().map(|&i| features.labels.of[i]).collect();
                read.scores.push(Score { accuracy: accuracy(&predicted, features.truth)?, seconds });
            }
        }
        Ok(Some(reads))
    }
}

impl Features<'_> {
    /// The first columns, scaled again where features have length one.
    fn first(&self, columns: usize) -> Self {
        let cut = |z: &Mat| {
            let columns = columns.min(z.cols());
            let mut cut = z.leading_columns(columns);
            if self.unit && columns < z.cols() {
                to_unit(&mut cut);
            }
            cut
        };
        Self { train: cut(&self.train), test: cut(&self.test), ..*self }
    }

    /// The low-rank part of the training samples, and test samples as the method prepares them.
    fn low_rank(&self, outcome: &Outcome, test: &Dataset) -> Result<Self, Error> {
        let Some(train) = outcome.low_rank.clone() else {
            return Err(Error::Model("the method finds no low-rank part".into()));
        };
        let mut test = test.samples.view().to_f64();
        if outcome.model.scaling() == Normalize::Unit {
            to_unit(&mut test);
        }
        Ok(Self { train, test, ..*self })
    }

    fn score(&self, classifier: &Classifier, clock: &dyn Clock, exec: Exec<'_>) -> Result<Score, Error> {
        let started = clock.seconds();
        let predicted = classifier.predict((&self.train).into(), self.labels, (&self.test).into(), exec)?;
        Ok(Score { accuracy: accuracy(&predicted, self.truth)?, seconds: clock.seconds() - started })
    }
}

/// What a method that is a classifier says itself.
fn own_rule(
    model: &Model,
    test: &Dataset,
    truth: &[usize],
    clock: &dyn Clock,
    exec: Exec<'_>,
) -> Result<Option<Read>, Error> {
    let started = clock.seconds();
    if model.class_names().is_none() {
        return Ok(None);
    }
    let predicted = model.classify(test.samples.view(), exec)?.of;
    let score = Score { accuracy: accuracy(&predicted, truth)?, seconds: clock.seconds() - started };
    let m = model.features();
    Ok(Some(Read { k: m, columns: m, scores: vec![score] }))
}

/// Whether the method is a classifier itself.
pub fn is_classifier(method: &Method) -> bool {
    method.info().task == Task::Classifier
}

/// Columns that are taken of a model's features.
fn columns(take: Take, model: &Model) -> Result<usize, Error> {
    match (take, model.as_pce()) {
        (Take::First(columns), _) => Ok(columns.max(1)),
        (Take::Lambda(lambda), Some(pce)) => {
            let k = pce.dimension_at(lambda).ok_or_else(|| Error::Model("λ is larger than that of the fit".into()))?;
            Ok(k.max(1))
        }
        (Take::Lambda(_), _) => Err(Error::Model("only PCE is read at a λ".into())),
        (Take::All | Take::LowRank, _) => Ok(usize::MAX),
    }
}

/// Whether samples are scaled to length one for a plain nearest neighbor; `None` for any other classifier.
fn nearest_of_unit(classifier: &Classifier) -> Option<bool> {
    match classifier {
        Classifier::Nn(NearestNeighbourParams { neighbours: 1, metric: Metric::Euclidean, normalize }) => {
            match normalize {
                Normalize::None => Some(false),
                Normalize::Unit => Some(true),
                _ => None,
            }
        }
        _ => None,
    }
}

fn to_unit(rows: &mut Mat) {
    for i in 0..rows.rows() {
        let length = norm(rows.row(i));
        if length > 0.0 {
            rows.row_mut(i).iter_mut().for_each(|z| *z /= length);
        }
    }
}
