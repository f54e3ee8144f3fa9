//! What every fitted model can tell and do, whatever its method.

use eigenspan_linalg::{Exec, Mat};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::data::{ImageShape, Labels, Matrix, NumberType, Samples};
use crate::method::pce::Pce;
use crate::model::record::Record;
use crate::model::trace::{Stop, Trace};
use crate::prepare::Normalize;
use crate::warning::Warning;

/// Parameters of a method, which have a name in the [registry](crate::registry).
pub trait Settings: Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync {
    /// The method's name, on the command line and in files.
    const METHOD: &'static str;
}

/// What a method needs of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Whether it needs the classes of the samples.
    pub labels: Labelling,
    /// How it reads the samples.
    pub samples: Access,
}

/// Whether a method needs the classes of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labelling {
    /// Labels have no effect.
    Unused,
    /// Labels are used where there are some.
    Optional,
    /// There is no fit without labels.
    Required,
}

/// How a method reads its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The whole matrix is held in memory.
    Whole,
    /// A few passes in chunks will do; one, where a summary answers the settings.
    Passes,
}

impl Needs {
    /// The whole matrix, and no labels.
    pub const MATRIX: Self = Self { labels: Labelling::Unused, samples: Access::Whole };
    /// The whole matrix and its labels.
    pub const LABELS: Self = Self { labels: Labelling::Required, samples: Access::Whole };
}

/// A method: what parameters must be able to do to stand in the [registry](crate::registry).
pub trait Fit: Settings + Default {
    /// What is learned.
    type Model: Fitted + Record<Params = Self>;

    /// What a fit needs.
    const NEEDS: Needs = Needs::MATRIX;

    /// The parameters for which the name alone stands.
    fn named() -> Self {
        Self::default()
    }

    /// The parameters of the paper's experiments, where it ran the method: 300 features, and the parameter that served the
    /// nearest neighbor best on Extended Yale B (its Table 3).
    fn published() -> Option<Self> {
        None
    }

    /// Lowers the number of features to `max`, where a larger one is given. Empty for methods without such a number.
    fn cap(&mut self, max: usize);

    /// Learns from samples in rows, with the given threads and monitor. `labels` are there where [`NEEDS`](Self::NEEDS)
    /// requires them.
    fn learn(
        &self,
        samples: Samples<'_>,
        labels: Option<&Labels>,
        exec: Exec<'_>,
    ) -> Result<Outcome<Self::Model>, Error>;
}

/// What a fit gives: a model, and the parts of the training samples that some methods find on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<M> {
    /// The model.
    pub model: M,
    /// The low-rank part of the samples as they were prepared (robust PCA, ROSL).
    pub low_rank: Option<Mat>,
    /// Their sparse part.
    pub sparse: Option<Mat>,
}

impl<M> Outcome<M> {
    /// The same with another model.
    pub fn map<N>(self, model: impl FnOnce(M) -> N) -> Outcome<N> {
        Outcome { model: model(self.model), low_rank: self.low_rank, sparse: self.sparse }
    }
}

impl<M> From<M> for Outcome<M> {
    fn from(model: M) -> Self {
        Self { model, low_rank: None, sparse: None }
    }
}

/// What is known of a fit besides what it learnt.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About<P> {
    /// What was asked.
    pub params: P,
    /// Training samples.
    pub n: usize,
    /// The numbers the training samples came in.
    pub number_type: NumberType,
    /// The shape of the image that each sample is, where known.
    pub image: Option<ImageShape>,
    /// What was found, in one sentence.
    pub why: String,
    /// How the iteration went.
    pub trace: Trace,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

impl<P: Clone> About<P> {
    /// Of a fit of `samples` in closed form.
    pub fn new(params: &P, samples: Samples<'_>, why: String) -> Self {
        let (n, number_type) = (samples.rows(), samples.number_type());
        Self { params: params.clone(), n, number_type, image: None, why, trace: Trace::default(), warnings: vec![] }
    }

    /// The same with an iteration; one that used up its rounds is also a warning.
    pub fn with_trace(mut self, trace: Trace) -> Self {
        if !trace.converged() {
            self.warnings.push(Warning::NotConverged { rounds: trace.rounds });
        }
        Self { trace, ..self }
    }

    /// Refuses what no fit of samples with `m` features says.
    pub fn check(&self, m: usize) -> Result<(), Error> {
        let fits = self.image.is_none_or(|image| image.height.checked_mul(image.width) == Some(m));
        match (self.n > 0 && m > 0, fits) {
            (false, _) => Err(Error::Model("no samples or no features".into())),
            (_, false) => Err(Error::Model("the image shape does not fit the features".into())),
            _ => Ok(()),
        }
    }
}

/// What a model of any method tells of itself.
#[derive(Debug, Clone, Copy)]
pub struct ModelInfo<'a> {
    /// The method's name.
    pub method: &'static str,
    /// Training samples.
    pub n: usize,
    /// The numbers the training samples came in.
    pub number_type: NumberType,
    /// The shape of the image that each sample is, where known.
    pub image: Option<ImageShape>,
    /// What was found, in one sentence.
    pub why: &'a str,
    /// How the iteration went, where there was one.
    pub trace: Option<&'a Trace>,
    /// What the user should know.
    pub warnings: &'a [Warning],
}

/// A fitted model of any method.
pub trait Fitted {
    /// What the model tells of itself.
    fn info(&self) -> ModelInfo<'_>;
    /// m, the features of a sample.
    fn features(&self) -> usize;
    /// Columns of the transformed samples.
    fn columns(&self) -> usize;
    /// How samples are scaled before anything else.
    fn scaling(&self) -> Normalize;
    /// Whether the features of every sample are scaled to length one.
    fn unit_features(&self) -> bool;
    /// Tells the model the shape of its samples as images; the caller has checked that it is their size.
    fn set_image(&mut self, shape: ImageShape);
    /// The features of each sample. `f32` in, `f32` out; anything else gives `f64`. A sample's features do not depend on the
    /// samples beside it, nor on the number of threads.
    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error>;
    /// The same as a model of PCE, where it is one, or one of PCA.
    fn as_pce(&self) -> Option<&Pce> {
        None
    }
    /// The names of the classes that a classifier tells apart.
    fn class_names(&self) -> Option<&[String]> {
        None
    }
    /// The class of each sample, by its number among the names; refused by models that are no classifiers.
    fn classify(&self, _samples: Samples<'_>, _exec: Exec<'_>) -> Result<Classes, Error> {
        Err(Error::NoClasses { method: self.info().method })
    }
}

/// What a classifier says of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The class of each sample, by its number among the names.
    pub of: Vec<usize>,
    /// How many samples used up the iterations that were allowed.
    pub unfinished: usize,
}

impl From<Vec<usize>> for Classes {
    fn from(of: Vec<usize>) -> Self {
        Self { of, unfinished: 0 }
    }
}

impl<P: Settings> About<P> {
    /// The same, of a model whose settings are of any type.
    pub fn info(&self) -> ModelInfo<'_> {
        let Self { n, number_type, image, why, trace, warnings, .. } = self;
        let trace = (trace.stop != Stop::Direct).then_some(trace);
        ModelInfo { method: P::METHOD, n: *n, number_type: *number_type, image: *image, why, trace, warnings }
    }
}
