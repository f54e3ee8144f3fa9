//! CESR: a sample belongs to the class whose training samples explain it best, features that fit badly left aside.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (m × n) | [`Exemplars::samples`] = Aᵀ | training samples, prepared, in our rows |
//! | y | `y` | a new sample, prepared |
//! | x | the rows of `transform` | its code over the training samples |
//! | w | `Code::weights` | how much each feature of y counts |
//! | c | `classes` | a class; A_c, x_c its samples and their part of the code |
//!
//! ```text
//!     x, w:   max Σⱼ exp(−(y − Ax)ⱼ² / 2σ²)  over x ≥ 0                        parts/correntropy.rs
//!     class:  argmin_c  Σⱼ wⱼ (y − A_c x_c)ⱼ²                                   Residual::Weighted
//!             argmin_c  ‖y − A_c x_c‖²                                          Residual::Plain
//! ```
//! Of equal classes the first wins; a class without training samples is never the answer.
//!
//! He, Zheng & Hu (2011) — `he2011` in `docs/references.bib`. **Where we differ:** the public program's driver classifies by
//! the plain residual, in which a corrupted feature counts in full; the default is the paper's weighted one. The step that
//! keeps the code from turning negative moves every entry by its own number (the public program's numbers shift once an entry
//! was taken out). A singular system gets a small ridge in place of a pseudo-inverse. The signed form is ours: see
//! [`CesrParams::ridge`].

use eigenspan_linalg::{Exec, Mat};

use crate::classify::correntropy::{Code, Dictionary, Rule};
pub use crate::classify::exemplars::Prediction;
use crate::classify::exemplars::{Exemplars, Facts};
use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::method::parts::project::{check_features, in_numbers_of, read_prepared};
use crate::model::fitted::{About, Classes, Fit, Fitted, ModelInfo, Needs, Outcome};
use crate::model::record::{Arrays, Record};
use crate::{Error, Normalize};

/// Samples coded as one piece of work.
const GROUP: usize = 16;

/// In which sense a class is close to a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Residual {
    /// Features count as much as they did in the code.
    #[default]
    Weighted,
    /// All features count the same.
    Plain,
}

/// What is asked of CESR.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CesrParams {
    /// Whether training samples may only be added up.
    pub nonnegative: bool,
    /// In which sense a class is close to a sample.
    pub residual: Residual,
    /// Rounds for one sample at most.
    #[serde(alias = "rounds")]
    pub max_iter: usize,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// 2σ² in units of the mean squared residual: the smaller, the sooner a feature is left aside.
    pub width: f64,
    /// Without the sign, more training samples than features explain anything. This share of their mean squared length is
    /// the price of ‖x‖² then; with the sign it plays no part.
    pub ridge: f64,
}

impl Default for CesrParams {
    fn default() -> Self {
        Self {
            nonnegative: true,
            residual: Residual::Weighted,
            max_iter: 200,
            normalize: Normalize::Unit,
            width: 1.0,
            ridge: 1e-3,
        }
    }
}

impl Fit for CesrParams {
    type Model = Cesr;
    const NEEDS: Needs = Needs::LABELS;

    fn published() -> Option<Self> {
        Some(Self::as_published())
    }

    fn cap(&mut self, _max: usize) {}

    fn learn(&self, samples: Samples<'_>, labels: Option<&Labels>, exec: Exec<'_>) -> Result<Outcome<Cesr>, Error> {
        Ok(self.fit_with(samples, labels.ok_or(Error::NoLabels)?, exec)?.into())
    }
}

impl CesrParams {
    /// As the public program does it: the plain residual.
    pub fn as_published() -> Self {
        Self { residual: Residual::Plain, ..Self::default() }
    }

    /// Keeps the samples and their classes, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>, labels: &Labels) -> Result<Cesr, Error> {
        self.fit_with(samples, labels, Exec::default())
    }

    /// Keeps the samples and their classes, prepared on as many threads as `exec` says.
    pub fn fit_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        labels: &Labels,
        exec: Exec<'_>,
    ) -> Result<Cesr, Error> {
        let samples = samples.into();
        self.check()?;
        let (known, _) = Exemplars::keep(samples, labels, self.normalize, exec)?;
        let classes = labels.counts().iter().filter(|count| **count > 0).count();
        let why = format!("{} training samples of {classes} classes are kept to explain new ones", samples.rows());
        Cesr { about: About::new(self, samples, why), known: known.not_all_zero()? }.checked()
    }

    fn check(&self) -> Result<(), Error> {
        if self.max_iter == 0 {
            return Err(Error::Parameter { name: "max_iter", expected: "at least 1", got: 0.0 });
        }
        for (name, value) in [("width", self.width), ("ridge", self.ridge)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Parameter { name, expected: "positive", got: value });
            }
        }
        Ok(())
    }
}

/// Training samples and their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Cesr {
    /// What is known besides the arrays.
    pub about: About<CesrParams>,
    /// The training samples and their classes.
    pub known: Exemplars,
}

impl Cesr {
    /// The code of each sample over the training samples, on all cores.
    pub fn transform<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Matrix, Error> {
        self.transform_with(samples.into(), Exec::default())
    }

    /// The class of each sample, on all cores.
    pub fn predict<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Prediction, Error> {
        self.predict_with(samples, Exec::default())
    }

    /// The class of each sample, on as many threads as `exec` says.
    pub fn predict_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Prediction, Error> {
        let samples = samples.into();
        let each = self.each_code(samples, |y, code| (self.residuals(y, &code), code.finished), exec)?;
        let unfinished = each.iter().filter(|(_, finished)| !finished).count();
        let (rows, columns) = (each.len(), self.known.labels.names.len());
        let residuals = each.into_iter().flat_map(|(residuals, _)| residuals).collect();
        let residuals = Mat::from_vec(rows, columns, residuals).expect("one residual a class");
        Ok(self.known.closest(residuals, unfinished))
    }

    /// How far a sample is from each class.
    fn residuals(&self, y: &[f64], code: &Code) -> Vec<f64> {
        let mut explained = Mat::zeros(self.known.labels.names.len(), y.len());
        for (i, x) in code.x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let of_class = explained.row_mut(self.known.labels.of[i]);
            of_class.iter_mut().zip(self.known.samples.row(i)).for_each(|(e, a)| *e += x * a);
        }
        let weight = |j: usize| if self.about.params.residual == Residual::Weighted { code.weights[j] } else { 1.0 };
        let square = |j: usize, e: f64| weight(j) * (y[j] - e) * (y[j] - e);
        let residual = |c| explained.row(c).iter().enumerate().map(|(j, e)| square(j, *e)).sum::<f64>().sqrt();
        (0..explained.rows()).map(residual).collect()
    }

    /// What `finish` makes of each sample and its code.
    fn each_code<T: Send>(
        &self,
        samples: Samples<'_>,
        finish: impl Fn(&[f64], Code) -> T + Sync,
        exec: Exec<'_>,
    ) -> Result<Vec<T>, Error> {
        let (n, m) = (samples.rows(), self.known.samples.cols());
        check_features(samples, m)?;
        let CesrParams { nonnegative, max_iter, width, ridge, .. } = self.about.params;
        let dictionary =
            Dictionary::new(&self.known.samples, Rule { nonnegative, rounds: max_iter, width, ridge }, exec.silent())?;
        let groups = exec.map("code", n.div_ceil(GROUP), |group| {
            let rows = group * GROUP..((group + 1) * GROUP).min(n);
            let (_, y) = read_prepared(samples, &self.known.preparation, rows)?;
            let codes = dictionary.codes(y.as_slice());
            Ok::<_, Error>(codes.into_iter().enumerate().map(|(i, code)| finish(y.row(i), code)).collect::<Vec<_>>())
        })?;
        Ok(groups.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The model, if its parts belong together.
    pub fn checked(self) -> Result<Self, Error> {
        self.known.check(&self.about, self.about.params.normalize)?;
        self.about.params.check()?;
        Ok(self)
    }
}

impl Fitted for Cesr {
    fn info(&self) -> ModelInfo<'_> {
        self.about.info()
    }

    fn features(&self) -> usize {
        self.known.samples.cols()
    }

    fn columns(&self) -> usize {
        self.known.samples.rows()
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
        let codes = self.each_code(samples, |_, code| code.x, exec)?.concat();
        let codes = Mat::from_vec(samples.rows(), self.columns(), codes).expect("one entry a training sample");
        Ok(in_numbers_of(samples, codes))
    }

    fn class_names(&self) -> Option<&[String]> {
        Some(&self.known.labels.names)
    }

    fn classify(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Classes, Error> {
        self.predict_with(samples, exec).map(Into::into)
    }
}

impl Record for Cesr {
    type Params = CesrParams;
    type Facts = Facts<CesrParams>;

    fn params(&self) -> &CesrParams {
        &self.about.params
    }

    fn take_apart(&self) -> (Self::Facts, Arrays) {
        (Facts { about: self.about.clone(), class_names: self.known.labels.names.clone() }, self.known.arrays())
    }

    fn put_together(Facts { about, class_names }: Self::Facts, arrays: Arrays) -> Result<Self, Error> {
        let known = Exemplars::of_arrays(arrays, class_names, about.params.normalize)?;
        Self { about, known }.checked()
    }
}
