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
//! With k = 1 the first minimum wins. Neighbours are exact ([`super::super::reduce::parts::neighbours`]), so that a class never
//! depends on threads, blocks, or the samples asked about at the same time.
//!
//! A classifier has no features. What [`Fitted::transform_with`] gives is how far a sample is from each class: from its nearest
//! member, one column a class in the order of the names, infinite for a class without training samples. The smallest of a row
//! is where k = 1 decides, but that of two equal ones the first sample counts and not the first class.
//!
//! Cover, Hart (1967) — `cover1967` in `docs/references.bib`.

use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::prepare::{Normalize, Preparation, STRETCH, Scan};
use crate::reduce::fitted::{About, Fitted, Settings, Told};
use crate::reduce::parts::neighbours::{Metric, Neighbours, nearest_lengths};
use crate::reduce::parts::project::{check_features, in_numbers_of, read_prepared};
use crate::reduce::record::{Arrays, Record};
use crate::warning::Warning;

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

impl Settings for NearestNeighbourParams {
    const METHOD: &'static str = "nn";
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
        if labels.of.len() != n {
            return Err(Error::LabelMismatch { samples: n, got: labels.of.len() });
        }
        let scan = Scan::of(samples, exec)?;
        let preparation = Preparation::learn(samples, &scan, self.normalize, false, None, exec)?;
        let zero = if self.normalize == Normalize::Unit { scan.zero_samples() } else { vec![] };
        let why =
            format!("{n} samples of {} classes are kept; the nearest {} vote", labels.names.len(), self.neighbours);
        let mut about = About::new(self, samples, why);
        if !zero.is_empty() {
            about.warnings.push(Warning::ZeroSamples { count: zero.len(), rows: zero.into_iter().take(10).collect() });
        }
        let samples = preparation.matrix(samples, exec)?;
        NearestNeighbour { about, preparation, samples, labels: labels.clone() }.checked()
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
    preparation: Preparation,
    samples: Mat,
    labels: Labels,
}

impl NearestNeighbour {
    /// What is known of the fit.
    pub fn about(&self) -> &About<NearestNeighbourParams> {
        &self.about
    }

    /// The classes of the training samples, and their names.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The class of each sample, as an index into the names of the training labels, on all cores.
    pub fn predict<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Vec<usize>, Error> {
        self.predict_with(samples, Exec::default())
    }

    /// The class of each sample, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn predict_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Vec<usize>, Error> {
        let samples = samples.into();
        let found = self.neighbours_with(samples, self.about.params.neighbours, exec)?;
        let mut votes = vec![0; self.labels.names.len()];
        Ok((0..samples.rows()).map(|i| self.elect(&found.index[i * found.k..][..found.k], &mut votes)).collect())
    }

    /// The class with most votes; of equal ones that of the first neighbour. `votes` is all zero before and after.
    fn elect(&self, neighbours: &[usize], votes: &mut [usize]) -> usize {
        let class = |neighbour: &usize| self.labels.of[*neighbour];
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
        let queries = self.prepared(samples.into(), exec)?;
        nearest_lengths(&self.samples, &queries, k, self.about.params.metric, exec)
    }

    fn prepared(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Mat, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        check_features(samples, self.samples.cols())?;
        let parts = exec.silent().map("prepare", n.div_ceil(STRETCH), |part| {
            read_prepared(samples, &self.preparation, part * STRETCH..((part + 1) * STRETCH).min(n))
        })?;
        let mut values = Vec::with_capacity(n * m);
        for part in parts {
            values.extend(part?.1.into_vec());
        }
        Ok(Mat::from_vec(n, m, values).expect("one row a sample"))
    }

    /// The model, if its parts belong together.
    fn checked(self) -> Result<Self, Error> {
        let Self { about, preparation, samples, labels } = &self;
        let say = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(Error::Model(fault.into())) };
        about.check(samples.cols())?;
        preparation.check(samples.cols())?;
        say(about.params.check(samples.rows()).is_ok(), "the number of neighbours is out of range")?;
        say(preparation.normalize == about.params.normalize, "samples are not scaled as was asked")?;
        say(about.n == samples.rows() && labels.of.len() == about.n, "not one class for every training sample")?;
        say(labels.of.iter().all(|class| *class < labels.names.len()), "a class has no name")?;
        Ok(self)
    }
}

impl Fitted for NearestNeighbour {
    fn told(&self) -> Told<'_> {
        self.about.told()
    }

    fn features(&self) -> usize {
        self.samples.cols()
    }

    fn columns(&self) -> usize {
        self.labels.names.len()
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.about.image = Some(shape);
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        let queries = self.prepared(samples, exec)?;
        let mut members = vec![vec![]; self.columns()];
        self.labels.of.iter().enumerate().for_each(|(i, &class)| members[class].push(i));
        let mut out = Mat::from_fn(queries.rows(), self.columns(), |_, _| f64::INFINITY);
        for (class, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            let points = self.samples.select_rows(members);
            let found = nearest_lengths(&points, &queries, 1, self.about.params.metric, exec.silent())?;
            found.distance.iter().enumerate().for_each(|(i, distance)| out.row_mut(i)[class] = *distance);
            exec.report("transform", class + 1, self.columns())?;
        }
        Ok(in_numbers_of(samples, out))
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
    type Facts = Facts;

    fn take_apart(&self) -> (Facts, Arrays) {
        let classes: Vec<f64> = self.labels.of.iter().map(|&class| class as f64).collect();
        let arrays = Arrays::default()
            .with("samples", self.samples.clone())
            .with_vector("classes", &classes)
            .with_some("mean", self.preparation.mean.as_ref())
            .with_some("deviation", self.preparation.deviation.as_ref());
        (Facts { about: self.about.clone(), classes: self.labels.names.clone() }, arrays)
    }

    fn put_together(facts: Facts, mut arrays: Arrays) -> Result<Self, Error> {
        let Facts { about, classes: names } = facts;
        let samples = arrays.take("samples")?;
        let (n, m) = (samples.rows(), samples.cols());
        let classes = arrays.take_vector("classes", n)?.ok_or_else(|| Error::Model("no array `classes`".into()))?;
        let (mean, deviation) = (arrays.take_vector("mean", m)?, arrays.take_vector("deviation", m)?);
        arrays.finish()?;
        let whole = |class: f64| class >= 0.0 && class < names.len() as f64 && class.fract() == 0.0;
        if !classes.iter().all(|class| whole(*class)) {
            return Err(Error::Model("a class is not the number of a name".into()));
        }
        let of = classes.iter().map(|class| *class as usize).collect();
        let preparation = Preparation { normalize: about.params.normalize, mean, deviation };
        Self { about, preparation, samples, labels: Labels { names, of } }.checked()
    }
}
