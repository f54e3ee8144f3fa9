//! The nearest neighbor classifier: a sample has the class of the training sample that is nearest, or of most of the k
//! nearest.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | b₁ … b_n | `samples` | training samples, prepared |
//! | k | [`NearestNeighbourParams::neighbours`] | neighbors that vote |
//! | ‖a − b‖ | `distance` | how far a sample is from a training sample, or 1 − cos |
//!
//! ```text
//!     the k nearest b of a, each a vote for its class:
//!     most votes;  of equally many, the class whose nearest member is nearer;  of equally near ones, the first in the samples
//! ```
//! With k = 1 the first minimum wins. Neighbors are exact ([`crate::method::parts::neighbours`]), so that a class never
//! depends on threads, blocks, or the samples of the same call.
//!
//! A classifier has no features. What [`Fitted::transform_with`](crate::model::fitted::Fitted::transform_with) gives is how far a sample is from each class: from its
//! nearest member, one column a class in the order of the names, infinite for a class without training samples. The
//! smallest of a row is where k = 1 decides, but that of two equal ones the first sample counts and not the first
//! class.
//!
//! Cover, Hart (1967) — `cover1967` in `docs/references.bib`.

use eigenspan_linalg::{Exec, Mat};

use super::exemplars::{ByExemplars, Exemplars, Kept};
use crate::Error;
use crate::data::{Labels, Samples};
use crate::method::parts::neighbours::{Metric, Neighbours, nearest_lengths};
use crate::model::fitted::{About, Classes, Fit, Fitted as _, Needs};
use crate::prepare::Normalize;

/// Parameters of the nearest neighbor. The default is one neighbor, Euclidean, of samples as they are: the paper's NN.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NearestNeighbourParams {
    /// k.
    pub neighbours: usize,
    /// How far two samples are from each other.
    pub metric: Metric,
    /// How samples are scaled.
    pub normalize: Normalize,
}

impl Default for NearestNeighbourParams {
    fn default() -> Self {
        Self { neighbours: 1, metric: Metric::Euclidean, normalize: Normalize::None }
    }
}

impl Fit for NearestNeighbourParams {
    type Model = NearestNeighbour;
    type Output = NearestNeighbour;
    const NEEDS: Needs = Needs::LABELS;

    fn learn(&self, samples: Samples<'_>, labels: Option<&Labels>, exec: Exec<'_>) -> Result<Self::Output, Error> {
        let labels = labels.ok_or(Error::NoLabels)?;
        let n = samples.rows();
        self.check(n)?;
        let (known, zero) = Exemplars::keep(samples, labels, self.normalize, exec)?;
        let why =
            format!("{n} samples of {} classes are kept; the nearest {} vote", labels.names.len(), self.neighbours);
        let mut about = About::new(self, samples, why);
        about.warnings.extend(zero);
        NearestNeighbour { about, known }.checked()
    }
}

impl NearestNeighbourParams {
    /// The paper's NN: one neighbor, Euclidean, features as they are.
    pub fn as_published() -> Self {
        Self::default()
    }

    fn check(&self, n: usize) -> Result<(), Error> {
        match self.neighbours {
            0 => Err(Error::Parameter { name: "neighbours", expected: "at least 1", got: 0.0 }),
            needed if n > 0 && needed > n => {
                Err(Error::TooFewSamples { needed, why: "for as many neighbours", got: n })
            }
            _ => Ok(()),
        }
    }
}

/// Training samples and their classes.
pub type NearestNeighbour = Kept<NearestNeighbourParams>;

impl NearestNeighbour {
    /// The classes of the training samples, and their names.
    pub fn labels(&self) -> &Labels {
        &self.known.labels
    }

    /// The class of each sample, as an index into the names of the training labels, on all cores.
    pub fn predict<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Vec<usize>, Error> {
        self.predict_with(samples, Exec::default())
    }

    /// The class of each sample, with the given threads and monitor. The result does not depend on them.
    pub fn predict_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Vec<usize>, Error> {
        let samples = samples.into();
        let found = self.neighbours_with(samples, self.about.params.neighbours, exec)?;
        let mut votes = vec![0; self.known.labels.names.len()];
        Ok((0..samples.rows()).map(|i| self.elect(&found.index[i * found.k..][..found.k], &mut votes)).collect())
    }

    /// The class with most votes; of equal ones that of the first neighbor. `votes` is all zero before and after.
    fn elect(&self, neighbours: &[usize], votes: &mut [usize]) -> usize {
        let class = |neighbour: &usize| self.known.labels.of[*neighbour];
        neighbours.iter().for_each(|j| votes[class(j)] += 1);
        let most = neighbours.iter().map(|j| votes[class(j)]).max();
        let first = neighbours.iter().find(|j| Some(votes[class(j)]) == most).map(class);
        neighbours.iter().for_each(|j| votes[class(j)] = 0);
        first.expect("there is a training sample")
    }

    /// The `k` training samples nearest to each sample, nearest first, and how far they are: ‖a − b‖, or 1 − cos. All
    /// of them where there are fewer.
    pub fn neighbours_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        k: usize,
        exec: Exec<'_>,
    ) -> Result<Neighbours, Error> {
        let queries = self.known.prepared(samples.into(), exec)?;
        nearest_lengths(&self.known.samples, &queries, k, self.about.params.metric, exec)
    }
}

impl ByExemplars for NearestNeighbourParams {
    type Facts = Facts;

    fn scaling(&self) -> Normalize {
        self.normalize
    }

    fn validate(&self, n: usize) -> Result<(), Error> {
        self.check(n).map_err(|_| Error::Model("the number of neighbours is out of range".into()))
    }

    fn columns(known: &Exemplars) -> usize {
        known.labels.names.len()
    }

    /// The distance to the nearest training sample of each class.
    fn transform(model: &NearestNeighbour, samples: Samples<'_>, exec: Exec<'_>) -> Result<Mat, Error> {
        let (known, columns) = (&model.known, model.columns());
        let queries = known.prepared(samples, exec)?;
        let mut members = vec![vec![]; columns];
        known.labels.of.iter().enumerate().for_each(|(i, &class)| members[class].push(i));
        let mut out = Mat::from_fn(queries.rows(), columns, |_, _| f64::INFINITY);
        for (class, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            let points = known.samples.select_rows(members);
            let found = nearest_lengths(&points, &queries, 1, model.about.params.metric, exec.silent())?;
            found.distance.iter().enumerate().for_each(|(i, distance)| out.row_mut(i)[class] = *distance);
            exec.report("transform", class + 1, columns)?;
        }
        Ok(out)
    }

    fn classify(model: &NearestNeighbour, samples: Samples<'_>, exec: Exec<'_>) -> Result<Classes, Error> {
        model.predict_with(samples, exec).map(Into::into)
    }
}

/// What a [`NearestNeighbour`] is besides its arrays.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    about: About<NearestNeighbourParams>,
    classes: Vec<String>,
}

impl From<(About<NearestNeighbourParams>, Vec<String>)> for Facts {
    fn from((about, classes): (About<NearestNeighbourParams>, Vec<String>)) -> Self {
        Self { about, classes }
    }
}

impl From<Facts> for (About<NearestNeighbourParams>, Vec<String>) {
    fn from(facts: Facts) -> Self {
        (facts.about, facts.classes)
    }
}
