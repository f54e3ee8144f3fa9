//! What a support vector machine knows and says.

use eigenspan_linalg::{Exec, Mat};

use super::LinearSvmParams;
use crate::Error;
use crate::classify::exemplars::{Facts, whole_numbers};
use crate::data::{ImageShape, Matrix, Samples};
use crate::method::parts::project::{in_numbers_of, project};
use crate::model::fitted::{About, Classes, Fitted, ModelInfo};
use crate::model::record::{Arrays, Record};
use crate::prepare::{Normalize, Preparation};

/// A weight vector for every class that had training samples.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSvm {
    pub(super) about: About<LinearSvmParams>,
    pub(super) preparation: Preparation,
    pub(super) weights: Mat,
    pub(super) offsets: Option<Vec<f64>>,
    pub(super) objectives: Vec<f64>,
    pub(super) classes: Vec<usize>,
    pub(super) names: Vec<String>,
}

impl LinearSvm {
    /// What is known of the fit.
    pub fn about(&self) -> &About<LinearSvmParams> {
        &self.about
    }

    /// The names of the classes, those without training samples among them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The classes of the rows of [`weights`](Self::weights): those with training samples, in the order of the first of each.
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// w of each class, in the order of [`classes`](Self::classes).
    pub fn weights(&self) -> &Mat {
        &self.weights
    }

    /// What the bias adds to w·x for each class, where there is one.
    pub fn offsets(&self) -> Option<&[f64]> {
        self.offsets.as_deref()
    }

    /// ½‖w‖² + C Σ max(0, 1 − y w·x)² of each class.
    pub fn objectives(&self) -> &[f64] {
        &self.objectives
    }

    /// The class of each sample, as an index into the names of the training labels, on all cores.
    pub fn predict<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Vec<usize>, Error> {
        self.predict_with(samples, Exec::default())
    }

    /// The class of each sample, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn predict_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Vec<usize>, Error> {
        let values = self.values(samples.into(), exec)?;
        let best = |row: &[f64]| (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best });
        Ok((0..values.rows()).map(|i| self.classes[best(values.row(i))]).collect())
    }

    /// w·x for each sample (row) and each class (column, in the order of the names); −∞ for a class without training samples.
    pub fn decision_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Mat, Error> {
        let values = self.values(samples.into(), exec)?;
        let mut decision = Mat::from_fn(values.rows(), self.names.len(), |_, _| f64::NEG_INFINITY);
        for i in 0..values.rows() {
            let row = decision.row_mut(i);
            self.classes.iter().zip(values.row(i)).for_each(|(class, value)| row[*class] = *value);
        }
        Ok(decision)
    }

    /// The same with a column for each row of the weights.
    fn values(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Mat, Error> {
        let add = |row: &mut [f64]| {
            let offsets = self.offsets.iter().flatten();
            row.iter_mut().zip(offsets).for_each(|(value, offset)| *value += offset);
        };
        Ok(project(samples, &self.preparation, &self.weights.transposed(), add, exec)?.1)
    }

    /// The model, if its parts belong together.
    pub(super) fn checked(self) -> Result<Self, Error> {
        let Self { about, preparation, weights, offsets, objectives, classes, names } = &self;
        let say = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(Error::Model(fault.into())) };
        about.check(weights.cols())?;
        about.params.check()?;
        preparation.check(weights.cols())?;
        say(preparation.normalize == about.params.normalize, "samples are not scaled as was asked")?;
        let count = classes.len();
        let each = weights.rows() == count && objectives.len() == count;
        say(count > 0 && count <= about.n && each, "not one row of weights for every class")?;
        say(offsets.is_some() == about.params.bias.is_some(), "offsets without a bias, or a bias without")?;
        say(offsets.as_ref().is_none_or(|offsets| offsets.len() == count), "not one offset for every class")?;
        let mut seen = vec![false; names.len()];
        let once = classes.iter().all(|class| *class < names.len() && !std::mem::replace(&mut seen[*class], true));
        say(once, "a class has two rows of weights, or no name")?;
        let numbers = weights.as_slice().iter().chain(objectives).chain(offsets.iter().flatten());
        say(numbers.into_iter().all(|value| value.is_finite()), "a weight is not finite")?;
        Ok(self)
    }
}

impl Fitted for LinearSvm {
    fn info(&self) -> ModelInfo<'_> {
        self.about.info()
    }

    fn features(&self) -> usize {
        self.weights.cols()
    }

    fn columns(&self) -> usize {
        self.names.len()
    }

    fn scaling(&self) -> Normalize {
        self.preparation.normalize
    }

    fn unit_features(&self) -> bool {
        false
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.about.image = Some(shape);
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        Ok(in_numbers_of(samples, self.decision_with(samples, exec)?))
    }

    fn class_names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn classify(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Classes, Error> {
        self.predict_with(samples, exec).map(Into::into)
    }
}

impl Record for LinearSvm {
    type Params = LinearSvmParams;
    type Facts = Facts<LinearSvmParams>;

    fn params(&self) -> &LinearSvmParams {
        &self.about.params
    }

    fn take_apart(&self) -> (Self::Facts, Arrays) {
        let classes: Vec<f64> = self.classes.iter().map(|class| *class as f64).collect();
        let arrays = Arrays::default()
            .with("weights", self.weights.clone())
            .with_vector("classes", &classes)
            .with_vector("objectives", &self.objectives)
            .with_some("offsets", self.offsets.as_ref())
            .with_some("mean", self.preparation.mean.as_ref())
            .with_some("deviation", self.preparation.deviation.as_ref());
        (Facts { about: self.about.clone(), class_names: self.names.clone() }, arrays)
    }

    fn put_together(Facts { about, class_names: names }: Self::Facts, mut arrays: Arrays) -> Result<Self, Error> {
        let weights = arrays.take("weights")?;
        let (count, m) = (weights.rows(), weights.cols());
        let missing = |name: &str| Error::Model(format!("no array `{name}`"));
        let classes = arrays.take_vector("classes", count)?.ok_or_else(|| missing("classes"))?;
        let objectives = arrays.take_vector("objectives", count)?.ok_or_else(|| missing("objectives"))?;
        let offsets = arrays.take_vector("offsets", count)?;
        let (mean, deviation) = (arrays.take_vector("mean", m)?, arrays.take_vector("deviation", m)?);
        arrays.finish()?;
        let classes = whole_numbers(&classes, names.len())?;
        let preparation = Preparation { normalize: about.params.normalize, mean, deviation };
        Self { about, preparation, weights, offsets, objectives, classes, names }.checked()
    }
}
