//! The nearest neighbour classifier: a sample has the class of the training sample that is nearest, or of most of the k
//! nearest.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | b₁ … b_n | `samples` | training samples, prepared |
//! | k | [`NearestNeighbourParams::neighbours`] | neighbours that vote |
//! | ‖a − b‖ | `distance` | how far a sample is from a training sample, or 1 − cos |
//!
//! ```text
//!     the k nearest b of a, each a vote for its class:
//!     most votes;  of equally many, the class whose nearest member is nearer;  of equally near ones, the first in the samples
//! ```
//! With k = 1 the first minimum wins. Neighbours are exact ([`crate::method::parts::neighbours`]), so that a class never
//! depends on threads, blocks, or the samples asked about at the same time.
//!
//! A classifier has no features. What [`Fitted::transform_with`] gives is how far a sample is from each class: from its nearest
//! member, one column a class in the order of the names, infinite for a class without training samples. The smallest of a row
//! is where k = 1 decides, but that of two equal ones the first sample counts and not the first class.
//!
//! Cover, Hart (1967) — `cover1967` in `docs/references.bib`.

use eigenspan_linalg::{Exec, Mat};

use super::exemplars::Exemplars;
use crate::Error;
use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::method::parts::neighbours::{Metric, Neighbours, nearest_lengths};
use crate::method::parts::project::in_numbers_of;
use crate::model::fitted::{About, Classes, Fit, Fitted, ModelInfo, Needs, Outcome};
use crate::model::record::{Arrays, Record};
use crate::prepare::Normalize;

/// What is asked of the classifier. The default is one neighbour, Euclidean, of samples as they are: the paper's NN.
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
    const NEEDS: Needs = Needs::LABELS;

    fn cap(&mut self, _max: usize) {}

    fn learn(
        &self,
        samples: Samples<'_>,
        labels: Option<&Labels>,
        exec: Exec<'_>,
    ) -> Result<Outcome<NearestNeighbour>, Error> {
        Ok(self.fit_with(samples, labels.ok_or(Error::NoLabels)?, exec)?.into())
    }
}

impl NearestNeighbourParams {
    /// The paper's NN: one neighbour, Euclidean, features as they are.
    pub fn as_published() -> Self {
        Self::default()
    }

    /// Keeps samples in rows and their classes, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>, labels: &Labels) -> Result<NearestNeighbour, Error> {
        self.fit_with(samples, labels, Exec::default())
    }

    /// Keeps samples and classes, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        labels: &Labels,
        exec: Exec<'_>,
    ) -> Result<NearestNeighbour, Error> {
        let samples = samples.into();
        let n = samples.rows();
        self.check(n)?;
        let (known, zero) = Exemplars::keep(samples, labels, self.normalize, exec)?;
        let why =
            format!("{n} samples of {} classes are kept; the nearest {} vote", labels.names.len(), self.neighbours);
        let mut about = About::new(self, samples, why);
        about.warnings.extend(zero);
        NearestNeighbour { about, known }.checked()
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
#[derive(Debug, Clone, PartialEq)]
pub struct NearestNeighbour {
    about: About<NearestNeighbourParams>,
    known: Exemplars,
}

impl NearestNeighbour {
    /// What is known of the fit.
    pub fn about(&self) -> &About<NearestNeighbourParams> {
        &self.about
    }

    /// The classes of the training samples, and their names.
    pub fn labels(&self) -> &Labels {
        &self.known.labels
    }

    /// The class of each sample, as an index into the names of the training labels, on all cores.
    pub fn predict<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Vec<usize>, Error> {
        self.predict_with(samples, Exec::default())
    }

    /// The class of each sample, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn predict_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Vec<usize>, Error> {
        let samples = samples.into();
        let found = self.neighbours_with(samples, self.about.params.neighbours, exec)?;
        let mut votes = vec![0; self.known.labels.names.len()];
        Ok((0..samples.rows()).map(|i| self.elect(&found.index[i * found.k..][..found.k], &mut votes)).collect())
    }

    /// The class with most votes; of equal ones that of the first neighbour. `votes` is all zero before and after.
    fn elect(&self, neighbours: &[usize], votes: &mut [usize]) -> usize {
        let class = |neighbour: &usize| self.known.labels.of[*neighbour];
        neighbours.iter().for_each(|j| votes[class(j)] += 1);
        let most = neighbours.iter().map(|j| votes[class(j)]).max();
        let first = neighbours.iter().find(|j| Some(votes[class(j)]) == most).map(class);
        neighbours.iter().for_each(|j| votes[class(j)] = 0);
        first.expect("there is a training sample")
    }

    /// The `k` training samples nearest to each sample, nearest first, and how far they are: ‖a − b‖, or 1 − cos. All of
    /// them where there are fewer.
    pub fn neighbours_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        k: usize,
        exec: Exec<'_>,
    ) -> Result<Neighbours, Error> {
        let queries = self.known.prepared(samples.into(), exec)?;
        nearest_lengths(&self.known.samples, &queries, k, self.about.params.metric, exec)
    }

    /// The model, if its parts belong together.
    fn checked(self) -> Result<Self, Error> {
        self.known.check(&self.about, self.about.params.normalize)?;
        let asked = self.about.params.check(self.about.n);
        asked.map(|()| self).map_err(|_| Error::Model("the number of neighbours is out of range".into()))
    }
}

impl Fitted for NearestNeighbour {
    fn info(&self) -> ModelInfo<'_> {
        self.about.info()
    }

    fn features(&self) -> usize {
        self.known.samples.cols()
    }

    fn columns(&self) -> usize {
        self.known.labels.names.len()
    }

    fn scaling(&self) -> Normalize {
        self.about.params.normalize
    }

    fn unit_features(&self) -> bool {
        false
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.about.image = Some(shape);
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        let queries = self.known.prepared(samples, exec)?;
        let mut members = vec![vec![]; self.columns()];
        self.known.labels.of.iter().enumerate().for_each(|(i, &class)| members[class].push(i));
        let mut out = Mat::from_fn(queries.rows(), self.columns(), |_, _| f64::INFINITY);
        for (class, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            let points = self.known.samples.select_rows(members);
            let found = nearest_lengths(&points, &queries, 1, self.about.params.metric, exec.silent())?;
            found.distance.iter().enumerate().for_each(|(i, distance)| out.row_mut(i)[class] = *distance);
            exec.report("transform", class + 1, self.columns())?;
        }
        Ok(in_numbers_of(samples, out))
    }

    fn class_names(&self) -> Option<&[String]> {
        Some(&self.known.labels.names)
    }

    fn classify(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Classes, Error> {
        self.predict_with(samples, exec).map(Into::into)
    }
}

/// What a [`NearestNeighbour`] is besides its arrays.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    about: About<NearestNeighbourParams>,
    classes: Vec<String>,
}

impl Record for NearestNeighbour {
    type Params = NearestNeighbourParams;
    type Facts = Facts;

    fn params(&self) -> &NearestNeighbourParams {
        &self.about.params
    }

    fn take_apart(&self) -> (Facts, Arrays) {
        (Facts { about: self.about.clone(), classes: self.known.labels.names.clone() }, self.known.arrays())
    }

    fn put_together(Facts { about, classes }: Facts, arrays: Arrays) -> Result<Self, Error> {
        let known = Exemplars::of_arrays(arrays, classes, about.params.normalize)?;
        Self { about, known }.checked()
    }
}
