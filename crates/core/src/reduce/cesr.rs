//! CESR: a sample belongs to the class whose training samples explain it best, features that fit badly left aside.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (m × n) | [`Cesr::samples`] = Aᵀ | training samples, prepared, in our rows |
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

use super::fitted::{About, Fitted, Settings, Told};
use super::parts::correntropy::{Code, Dictionary, Rule};
use super::parts::project::{check_features, in_numbers_of, read_prepared};
use super::record::{Arrays, Record};
use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::prepare::{Preparation, Scan};
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
    pub rounds: usize,
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
            rounds: 200,
            normalize: Normalize::Unit,
            width: 1.0,
            ridge: 1e-3,
        }
    }
}

impl Settings for CesrParams {
    const METHOD: &'static str = "cesr";
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
        let (n, m) = (samples.rows(), samples.cols());
        let scan = Scan::of(samples, exec)?;
        if labels.of.len() != n {
            return Err(Error::LabelMismatch { samples: n, got: labels.of.len() });
        }
        if let Some(bad) = labels.of.iter().find(|class| **class >= labels.names.len()) {
            return Err(Error::Parameter { name: "labels", expected: "below the number of classes", got: *bad as f64 });
        }
        let preparation = Preparation::learn(samples, &scan, self.normalize, false, None, exec)?;
        let prepared = preparation.matrix(samples, exec)?;
        if prepared.as_slice().iter().all(|v| *v == 0.0) {
            return Err(Error::AllZero { n, m, centred: self.normalize == Normalize::ZScore });
        }
        let classes = labels.counts().iter().filter(|count| **count > 0).count();
        let why = format!("{n} training samples of {classes} classes are kept to explain new ones");
        let about = About::new(self, samples, why);
        Cesr { about, preparation, samples: prepared, labels: labels.clone() }.checked()
    }

    fn check(&self) -> Result<(), Error> {
        if self.rounds == 0 {
            return Err(Error::Parameter { name: "rounds", expected: "at least 1", got: 0.0 });
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
    /// What happens to a sample first.
    pub preparation: Preparation,
    /// The training samples after that (n × m).
    pub samples: Mat,
    /// Their classes.
    pub labels: Labels,
}

/// What CESR says of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The class of each sample.
    pub classes: Vec<usize>,
    /// How far each sample (row) is from each class (column).
    pub residuals: Mat,
    /// Samples whose code used up its rounds.
    pub unfinished: usize,
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
        let taught = self.labels.counts();
        let mut found = Prediction { classes: vec![], residuals: Mat::zeros(each.len(), taught.len()), unfinished: 0 };
        for (i, (residuals, finished)) in each.into_iter().enumerate() {
            let known = (0..taught.len()).filter(|&c| taught[c] > 0);
            let closest = known.min_by(|a, b| residuals[*a].total_cmp(&residuals[*b]));
            found.classes.push(closest.expect("every training sample has a class"));
            found.residuals.row_mut(i).copy_from_slice(&residuals);
            found.unfinished += usize::from(!finished);
        }
        Ok(found)
    }

    /// How far a sample is from each class.
    fn residuals(&self, y: &[f64], code: &Code) -> Vec<f64> {
        let mut explained = Mat::zeros(self.labels.names.len(), y.len());
        for (i, x) in code.x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let of_class = explained.row_mut(self.labels.of[i]);
            of_class.iter_mut().zip(self.samples.row(i)).for_each(|(e, a)| *e += x * a);
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
        let (n, m) = (samples.rows(), self.samples.cols());
        check_features(samples, m)?;
        let CesrParams { nonnegative, rounds, width, ridge, .. } = self.about.params;
        let dictionary = Dictionary::new(&self.samples, Rule { nonnegative, rounds, width, ridge }, exec.silent())?;
        let groups = exec.map("code", n.div_ceil(GROUP), |group| {
            let rows = group * GROUP..((group + 1) * GROUP).min(n);
            let (_, y) = read_prepared(samples, &self.preparation, rows)?;
            let codes = dictionary.codes(y.as_slice());
            Ok::<_, Error>(codes.into_iter().enumerate().map(|(i, code)| finish(y.row(i), code)).collect::<Vec<_>>())
        })?;
        Ok(groups.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The model, if its parts belong together.
    pub fn checked(self) -> Result<Self, Error> {
        let (n, m) = (self.samples.rows(), self.samples.cols());
        let say = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(Error::Model(fault.into())) };
        self.about.check(m)?;
        self.about.params.check()?;
        self.preparation.check(m)?;
        say(self.preparation.normalize == self.about.params.normalize, "two ways to scale samples")?;
        say(self.about.n == n && self.labels.of.len() == n, "samples and classes are not equally many")?;
        say(self.samples.as_slice().iter().all(|v| v.is_finite()), "a training sample is not finite")?;
        say(self.labels.of.iter().all(|class| *class < self.labels.names.len()), "a class has no name")?;
        Ok(self)
    }
}

impl Fitted for Cesr {
    fn told(&self) -> Told<'_> {
        self.about.told()
    }

    fn features(&self) -> usize {
        self.samples.cols()
    }

    fn columns(&self) -> usize {
        self.samples.rows()
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.about.image = Some(shape);
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        let codes = self.each_code(samples, |_, code| code.x, exec)?.concat();
        let codes = Mat::from_vec(samples.rows(), self.columns(), codes).expect("one entry a training sample");
        Ok(in_numbers_of(samples, codes))
    }
}

/// What a [`Cesr`] model is besides its arrays.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    about: About<CesrParams>,
    class_names: Vec<String>,
}

impl Record for Cesr {
    type Facts = Facts;

    fn take_apart(&self) -> (Facts, Arrays) {
        let classes: Vec<f64> = self.labels.of.iter().map(|class| *class as f64).collect();
        let arrays = Arrays::default()
            .with("samples", self.samples.clone())
            .with_vector("classes", &classes)
            .with_some("mean", self.preparation.mean.as_ref())
            .with_some("deviation", self.preparation.deviation.as_ref());
        (Facts { about: self.about.clone(), class_names: self.labels.names.clone() }, arrays)
    }

    fn put_together(facts: Facts, mut arrays: Arrays) -> Result<Self, Error> {
        let Facts { about, class_names } = facts;
        let samples = arrays.take("samples")?;
        let (n, m) = (samples.rows(), samples.cols());
        let classes = arrays.take_vector("classes", n)?.ok_or_else(|| Error::Model("no array `classes`".into()))?;
        let (mean, deviation) = (arrays.take_vector("mean", m)?, arrays.take_vector("deviation", m)?);
        arrays.finish()?;
        if classes.iter().any(|c| !(*c >= 0.0 && *c < class_names.len() as f64 && c.fract() == 0.0)) {
            return Err(Error::Model("a class is not the number of a name".into()));
        }
        let labels = Labels { names: class_names, of: classes.iter().map(|c| *c as usize).collect() };
        let preparation = Preparation { normalize: about.params.normalize, mean, deviation };
        Self { about, preparation, samples, labels }.checked()
    }
}
