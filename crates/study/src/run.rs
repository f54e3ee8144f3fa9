//! A plan carried out: the order of cells, progress, and what is known already.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eigenspan_core::Exec;
use eigenspan_core::data::{Corruption, Dataset, Labels};
use eigenspan_io::fingerprint;
use serde::{Deserialize, Serialize};

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
) -> Result<(Dataset, Vec<usize>), eigenspan_core::Error> {
    let found = corruption.apply(&data.samples, data.image, share, seed, 0)?;
    Ok((Dataset { samples: found.samples.into(), ..data.clone() }, found.rows))
}

/// A hash of classes.
fn hash_of(labels: &Labels) -> String {
    use sha2::{Digest as _, Sha256};
    let json = serde_json::to_string(&(&labels.names, &labels.of)).expect("labels are plain data");
    let bytes = Sha256::digest(json);
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Fits side by side, at most: each of them holds its samples several times over.
const ABREAST: usize = 8;

/// Carries out plans.
pub struct Runner<'a> {
    /// What is known already.
    pub cache: Cache,
    /// The time, and who is looking.
    pub clock: &'a dyn Clock,
    /// Threads, and a way to be stopped.
    pub exec: Exec<'a>,
}

/// How fits share the threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workers {
    /// So many fits side by side.
    pub fits: usize,
    /// So many threads for each.
    pub threads: usize,
}

/// What came out of a plan.
#[derive(Debug)]
pub struct Done<'a> {
    plan: &'a Plan,
    repeats: Range<u64>,
    measured: HashMap<(usize, u64), Measured>,
}

/// A number that was requested, of one partition.
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

impl std::fmt::Display for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { fits, threads } = self;
        let plural = |count: &usize| if *count == 1 { "" } else { "s" };
        match fits {
            1 => write!(f, "seconds of {threads} thread{}", plural(threads)),
            _ => write!(f, "seconds of {fits} fits side by side, {threads} thread{} each", plural(threads)),
        }
    }
}

impl Workers {
    /// The same threads where there are only so many fits.
    fn at_most(self, fits: usize) -> Self {
        let (all, fits) = (self.fits * self.threads, self.fits.min(fits.max(1)));
        Self { fits, threads: all / fits }
    }
}

impl Runner<'_> {
    /// Fits side by side, as far as there are threads: no fit keeps all of them busy all the time, and fits are many.
    /// Where it is their time that is requested, one after the other.
    pub fn workers(&self, timed: bool) -> Workers {
        let threads = self.exec.threads();
        let fits = if timed { 1 } else { threads.min(ABREAST) };
        Workers { fits, threads: threads / fits }
    }

    /// Does every cell of the partitions `repeats`, all methods of one before those of the next: whoever stops it has
    /// them all on the same partitions. Where they are `timed` they run one after the other, and again where they were
    /// not.
    pub fn run<'p>(
        &mut self,
        plan: &'p Plan,
        subjects: &[Subject],
        repeats: Range<u64>,
        timed: bool,
    ) -> Result<Done<'p>, StudyError> {
        let todo: Vec<(usize, u64)> =
            repeats.clone().flat_map(|repeat| (0..plan.groups.len()).map(move |group| (group, repeat))).collect();
        let (workers, exec) = (self.workers(timed).at_most(todo.len()), self.exec.silent());
        let work = Work {
            plan,
            subjects,
            todo: &todo,
            timed,
            fits: workers.fits,
            clock: self.clock,
            exec: exec.with_threads(workers.threads),
            shared: Mutex::new(Shared { cache: &mut self.cache, pace: Pace::default(), done: 0, failed: usize::MAX }),
        };
        let found = exec.with_threads(workers.fits).map("study", todo.len(), |at| work.cell(at));
        let found = found.map_err(|source| StudyError::Method { doing: "study".into(), source: source.into() })?;
        self.clock.cell(todo.len(), todo.len(), "", None);
        let found: Vec<Option<Measured>> = found.into_iter().collect::<Result<_, StudyError>>()?;
        let found = found.into_iter().map(|one| one.expect("nothing is left out where nothing failed"));
        Ok(Done { plan, repeats, measured: todo.into_iter().zip(found).collect() })
    }
}

/// The cells of a plan, for several threads.
struct Work<'a> {
    plan: &'a Plan,
    subjects: &'a [Subject],
    /// Group and partition of every cell.
    todo: &'a [(usize, u64)],
    timed: bool,
    fits: usize,
    clock: &'a dyn Clock,
    exec: Exec<'a>,
    shared: Mutex<Shared<'a>>,
}

/// What fits that run side by side share.
struct Shared<'a> {
    cache: &'a mut Cache,
    pace: Pace,
    done: usize,
    /// The first cell that failed. Those after it are not begun; those before it are, so that the fault that is reported
    /// does not depend on threads.
    failed: usize,
}

impl<'a> Work<'a> {
    /// Cell `at`, known or measured; `None` where one before it failed.
    fn cell(&self, at: usize) -> Result<Option<Measured>, StudyError> {
        let (group, repeat) = self.todo[at];
        let cell = self.plan.cell(group, repeat);
        let subject = &self.subjects[self.plan.cases[self.plan.groups[group].case].subject];
        let key = key(&subject.hash, &cell, self.timed);
        let what = format!("{}, partition {repeat} of {}", method_name(&cell.method), subject.name);
        match self.begin(at, &what, &key) {
            Begun::Known(measured) => return Ok(Some(measured)),
            Begun::InVain => return Ok(None),
            Begun::New => (),
        }
        let started = self.clock.seconds();
        let found = cell.measure(&subject.data, self.clock, self.exec);
        let seconds = self.clock.seconds() - started;
        let mut shared = self.lock();
        let kept = found.map_err(|source| StudyError::Method { doing: what.clone(), source }).and_then(|found| {
            shared.cache.put(key, what, found.clone())?;
            Ok(Some(found))
        });
        shared.done += 1;
        match kept {
            Ok(_) => shared.pace.took(group, seconds),
            Err(_) => shared.failed = shared.failed.min(at),
        }
        kept
    }

    /// Says that cell `at` begins, and looks whether it is known.
    fn begin(&self, at: usize, what: &str, key: &str) -> Begun {
        let mut shared = self.lock();
        if shared.failed < at {
            return Begun::InVain;
        }
        let left = shared.pace.left(&self.todo[shared.done..]).map(|left| left / self.fits as f64);
        self.clock.cell(shared.done, self.todo.len(), what, left);
        let Some(known) = shared.cache.get(key).cloned() else { return Begun::New };
        shared.done += 1;
        Begun::Known(known)
    }

    fn lock(&self) -> MutexGuard<'_, Shared<'a>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a cell begins.
enum Begun {
    /// It is in the cache.
    Known(Measured),
    /// It is to be measured.
    New,
    /// One before it failed.
    InVain,
}

/// The name of a method, with its settings where a person would want them.
fn method_name(method: &eigenspan_core::registry::Method) -> String {
    method.name().to_string()
}

impl Done<'_> {
    /// What was requested, one a partition.
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
            for (group, found) in self.plan.groups.iter().enumerate() {
                for warning in &self.measured[&(group, repeat)].warnings {
                    let line = format!("{}: {warning}", method_name(&found.method));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_fits_have_all_the_threads() {
        let workers = |fits, threads| Workers { fits, threads };
        assert_eq!(workers(8, 1).at_most(100), workers(8, 1));
        assert_eq!(workers(8, 2).at_most(3), workers(3, 5));
        assert_eq!(workers(2, 1).at_most(1), workers(1, 2));
        assert_eq!(workers(2, 1).at_most(0), workers(1, 2));
    }
}
