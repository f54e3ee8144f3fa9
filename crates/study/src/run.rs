//! A plan carried out: the order of cells, progress, and what is known already.

use std::collections::HashMap;
use std::ops::Range;

use eigenspan::Exec;
use eigenspan::data::{Corruption, Dataset, Labels};
use eigenspan_io::fingerprint;

use crate::StudyError;
use crate::cache::{Cache, key};
use crate::cell::Measured;
use crate::clock::Clock;
use crate::plan::Plan;

/// Labelled data with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The name.
    pub name: String,
    /// Samples and classes.
    pub data: Dataset,
    /// A hash of both.
    pub hash: String,
}

impl Subject {
    /// Data with classes; others are refused.
    pub fn new(name: impl Into<String>, data: Dataset) -> Result<Self, StudyError> {
        let name = name.into();
        let Some(labels) = &data.labels else { return Err(StudyError::NoLabels { data: name }) };
        let hash = format!("{} {}", fingerprint(data.samples.view()), hash_of(labels));
        Ok(Self { name, data, hash })
    }
}

/// The same data with a share of the samples corrupted, and the numbers of those.
pub fn corrupted(
    data: &Dataset,
    corruption: Corruption,
    share: f64,
    seed: u64,
) -> Result<(Dataset, Vec<usize>), eigenspan::Error> {
    let found = corruption.apply(&data.samples, data.image, share, seed, 0)?;
    Ok((Dataset { samples: found.samples.into(), ..data.clone() }, found.rows))
}

/// A hash of classes.
fn hash_of(labels: &Labels) -> String {
    use sha2::{Digest as _, Sha256};
    let bytes = Sha256::digest(format!("{:?}\n{:?}", labels.names, labels.of));
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Carries out plans.
pub struct Runner<'a> {
    /// What is known already.
    pub cache: Cache,
    /// The time, and who is looking.
    pub clock: &'a dyn Clock,
    /// Threads, and a way to be stopped.
    pub exec: Exec<'a>,
}

/// What came out of a plan.
#[derive(Debug)]
pub struct Done<'a> {
    plan: &'a Plan,
    repeats: Range<u64>,
    measured: HashMap<(usize, u64), Measured>,
}

/// A number that was wanted, of one partition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// In percent.
    pub accuracy: f64,
    /// The dimension.
    pub k: usize,
    /// Columns of the features.
    pub columns: usize,
    /// Seconds of the fit.
    pub fit: f64,
    /// Seconds to the features.
    pub transform: f64,
    /// Seconds of the classifier.
    pub classify: f64,
    /// Training samples.
    pub train: usize,
    /// Test samples.
    pub test: usize,
}

impl Runner<'_> {
    /// Does every cell of the partitions `repeats`, all methods of one before those of the next: whoever stops it has them
    /// all on the same partitions.
    pub fn run<'p>(
        &mut self,
        plan: &'p Plan,
        subjects: &[Subject],
        repeats: Range<u64>,
    ) -> Result<Done<'p>, StudyError> {
        let todo: Vec<(usize, u64)> =
            repeats.clone().flat_map(|repeat| (0..plan.groups.len()).map(move |group| (group, repeat))).collect();
        let mut measured = HashMap::new();
        let mut pace = Pace::default();
        for (at, &(group, repeat)) in todo.iter().enumerate() {
            let cell = plan.cell(group, repeat);
            let subject = &subjects[plan.cases[plan.groups[group].case].subject];
            let key = key(&subject.hash, &cell);
            let what = format!("{}, partition {repeat} of {}", method_name(&cell.method), subject.name);
            self.clock.cell(at, todo.len(), &what, pace.left(&todo[at..]));
            let known = match self.cache.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let started = self.clock.seconds();
                    let found = cell.measure(&subject.data, self.clock, self.exec.silent());
                    let found = found.map_err(|source| StudyError::Method { doing: what.clone(), source })?;
                    pace.took(group, self.clock.seconds() - started);
                    self.cache.put(key, what, found.clone())?;
                    found
                }
            };
            measured.insert((group, repeat), known);
        }
        self.clock.cell(todo.len(), todo.len(), "", None);
        Ok(Done { plan, repeats, measured })
    }
}

/// The name of a method, with its settings where a person would want them.
fn method_name(method: &eigenspan::method::Method) -> String {
    let text = format!("{method:?}");
    text.split(['(', ' ']).next().unwrap_or_default().to_string()
}

impl Done<'_> {
    /// What was wanted, one a partition.
    pub fn of(&self, want: usize) -> Vec<Found> {
        let place = self.plan.places[want];
        let one = |repeat| {
            let cell = &self.measured[&(place.group, repeat)];
            let read = &cell.readings[place.reading];
            let score = read.scores[place.score];
            Found {
                accuracy: score.accuracy,
                k: read.k,
                columns: read.columns,
                fit: cell.fit_seconds,
                transform: cell.transform_seconds,
                classify: score.seconds,
                train: cell.train,
                test: cell.test,
            }
        };
        self.repeats.clone().map(one).collect()
    }

    /// What the user should know, each said once, in the order of the cells.
    pub fn warnings(&self) -> Vec<String> {
        let mut said: Vec<String> = vec![];
        for repeat in self.repeats.clone() {
            for (group, asked) in self.plan.groups.iter().enumerate() {
                for warning in &self.measured[&(group, repeat)].warnings {
                    let line = format!("{}: {warning}", method_name(&asked.method));
                    if !said.contains(&line) {
                        said.push(line);
                    }
                }
            }
        }
        said
    }
}

/// How long cells take: those of one group alike, of others as long as the mean.
#[derive(Default)]
struct Pace {
    groups: HashMap<usize, (f64, usize)>,
}

impl Pace {
    fn took(&mut self, group: usize, seconds: f64) {
        let (sum, count) = self.groups.entry(group).or_default();
        *sum += seconds;
        *count += 1;
    }

    fn left(&self, todo: &[(usize, u64)]) -> Option<f64> {
        let seen = |of: &(f64, usize)| of.0 / of.1 as f64;
        let mut means: Vec<f64> = self.groups.values().map(seen).collect();
        means.sort_by(f64::total_cmp);
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        (!means.is_empty()).then(|| todo.iter().map(|(group, _)| self.groups.get(group).map_or(mean, seen)).sum())
    }
}
