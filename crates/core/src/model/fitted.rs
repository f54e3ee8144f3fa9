//! What every fitted model can tell and do, whatever its method.

use eigenspan_linalg::Exec;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::data::{ImageShape, Matrix, NumberType, Samples};
use crate::model::trace::{Stop, Trace};
use crate::warning::Warning;

/// What is asked of a method.
pub trait Settings: Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync {
    /// The method's name, on the command line and in files.
    const METHOD: &'static str;
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
    /// Tells the model the shape of its samples as images; the caller has checked that it is their size.
    fn set_image(&mut self, shape: ImageShape);
    /// The features of each sample. `f32` in, `f32` out; anything else gives `f64`. A sample's features do not depend on the
    /// samples beside it, nor on the number of threads.
    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error>;
}

impl<P: Settings> About<P> {
    /// The same, of a model whose settings are of any type.
    pub fn info(&self) -> ModelInfo<'_> {
        let Self { n, number_type, image, why, trace, warnings, .. } = self;
        let trace = (trace.stop != Stop::Direct).then_some(trace);
        ModelInfo { method: P::METHOD, n: *n, number_type: *number_type, image: *image, why, trace, warnings }
    }
}
