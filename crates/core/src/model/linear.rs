//! The model of every linear method but PCE: z = Θᵀy.
//!
//! ```text
//!     z = Θᵀ y        y prepared as the method asks;   z / ‖z‖ where features of length one are asked for
//! ```

use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::data::{ImageShape, Matrix, Samples};
use crate::method::parts::project::{in_numbers_of, project};
use crate::model::fitted::{About, Fitted, ModelInfo, Settings};
use crate::model::record::{Arrays, Record};
use crate::prepare::{Normalize, Preparation, norm};

/// A projection learnt by the method whose settings are `P`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear<P> {
    /// What is known besides the arrays.
    pub about: About<P>,
    /// What happens to a sample before it is projected.
    pub preparation: Preparation,
    /// Whether features are scaled to length one.
    pub unit_features: bool,
    /// Θ (m × k).
    pub theta: Mat,
    /// One number a column, by which they are sorted: eigenvalues, singular values.
    pub values: Vec<f64>,
}

impl<P: Settings> Linear<P> {
    /// The features of each sample, on all cores.
    pub fn transform<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Matrix, Error> {
        self.transform_with(samples.into(), Exec::default())
    }

    /// The model, if its parts belong together.
    pub fn checked(self) -> Result<Self, Error> {
        let (m, k) = (self.theta.rows(), self.theta.cols());
        self.about.check(m)?;
        self.preparation.check(m)?;
        if k == 0 || k != self.values.len() {
            let found = self.values.len();
            return Err(Error::Model(format!(
                "expected one value for each of {k} columns, and a column, found {found}"
            )));
        }
        Ok(self)
    }
}

impl<P: Settings> Fitted for Linear<P> {
    fn info(&self) -> ModelInfo<'_> {
        self.about.info()
    }

    fn features(&self) -> usize {
        self.theta.rows()
    }

    fn columns(&self) -> usize {
        self.theta.cols()
    }

    fn scaling(&self) -> Normalize {
        self.preparation.normalize
    }

    fn unit_features(&self) -> bool {
        self.unit_features
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.about.image = Some(shape);
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        let finish = |z: &mut [f64]| {
            let length = if self.unit_features { norm(z) } else { 0.0 };
            if length > 0.0 {
                z.iter_mut().for_each(|z| *z /= length);
            }
        };
        let (_, rows) = project(samples, &self.preparation, &self.theta, finish, exec)?;
        Ok(in_numbers_of(samples, rows))
    }
}

/// What a [`Linear`] model is besides its arrays.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts<P> {
    about: About<P>,
    normalize: Normalize,
    /// Whether there is a mean to subtract.
    centred: bool,
    unit_features: bool,
}

impl<P: Settings> Record for Linear<P> {
    type Params = P;
    type Facts = Facts<P>;

    fn params(&self) -> &P {
        &self.about.params
    }

    fn take_apart(&self) -> (Facts<P>, Arrays) {
        let Preparation { normalize, mean, deviation } = &self.preparation;
        let arrays = Arrays::default()
            .with("theta", self.theta.clone())
            .with_vector("values", &self.values)
            .with_some("mean", mean.as_ref())
            .with_some("deviation", deviation.as_ref());
        let (about, centred) = (self.about.clone(), mean.is_some());
        (Facts { about, normalize: *normalize, centred, unit_features: self.unit_features }, arrays)
    }

    fn put_together(facts: Facts<P>, mut arrays: Arrays) -> Result<Self, Error> {
        let Facts { about, normalize, centred, unit_features } = facts;
        let theta = arrays.take("theta")?;
        let (m, k) = (theta.rows(), theta.cols());
        let values = arrays.take_vector("values", k)?.ok_or_else(|| Error::Model("no array `values`".into()))?;
        let (mean, deviation) = (arrays.take_vector("mean", m)?, arrays.take_vector("deviation", m)?);
        arrays.finish()?;
        if mean.is_some() != centred {
            return Err(Error::Model("there is a mean where none is subtracted, or none where one is".into()));
        }
        let preparation = Preparation { normalize, mean, deviation };
        Self { about, preparation, unit_features, theta, values }.checked()
    }
}
