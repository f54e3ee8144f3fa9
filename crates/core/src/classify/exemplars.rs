//! Training samples that are kept: what classifiers know that compare a new sample with those seen before.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | b₁ … b_n | [`Exemplars::samples`] | training samples after their preparation, in rows |
//! | c | [`Exemplars::labels`] | their classes |
//!
//! In a file they are the arrays `samples` and `classes`, and `mean` and `deviation` where features are scaled; the names of
//! the classes stand among the facts.

use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::data::{Labels, Samples};
use crate::method::parts::project::{check_features, read_prepared};
use crate::model::fitted::{About, Classes};
use crate::model::record::Arrays;
use crate::prepare::{BLOCK_ROWS, Normalize, Preparation, Scan};
use crate::warning::Warning;

/// Training samples and their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Exemplars {
    /// What happens to a sample first.
    pub preparation: Preparation,
    /// The training samples after that (n × m).
    pub samples: Mat,
    /// Their classes.
    pub labels: Labels,
}

/// What a classifier is besides its arrays.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts<P> {
    pub(crate) about: About<P>,
    pub(crate) class_names: Vec<String>,
}

/// What a classifier says of samples that compares each with every class.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The class of each sample.
    pub classes: Vec<usize>,
    /// How far each sample (row) is from each class (column).
    pub residuals: Mat,
    /// Samples whose iteration used up its rounds.
    pub unfinished: usize,
}

impl From<Prediction> for Classes {
    fn from(found: Prediction) -> Self {
        Self { of: found.classes, unfinished: found.unfinished }
    }
}

impl Exemplars {
    /// Keeps samples and classes, and says which of the samples are zero where that leaves them without a direction.
    pub(crate) fn keep(
        samples: Samples<'_>,
        labels: &Labels,
        normalize: Normalize,
        exec: Exec<'_>,
    ) -> Result<(Self, Option<Warning>), Error> {
        check_labels(samples, labels)?;
        let scan = Scan::of(samples, exec)?;
        let preparation = Preparation::learn(samples, &scan, normalize, false, None, exec)?;
        let warning = scan.zero_sample_warning(normalize);
        let samples = preparation.matrix(samples, exec)?;
        Ok((Self { preparation, samples, labels: labels.clone() }, warning))
    }

    /// The same where zero samples explain nothing: an error where all of them are.
    pub(crate) fn not_all_zero(self) -> Result<Self, Error> {
        if self.samples.as_slice().iter().all(|v| *v == 0.0) {
            let centred = self.preparation.normalize == Normalize::ZScore;
            return Err(Error::AllZero { n: self.samples.rows(), m: self.samples.cols(), centred });
        }
        Ok(self)
    }

    /// New samples, prepared as the training samples were.
    pub(crate) fn prepared(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Mat, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        check_features(samples, self.samples.cols())?;
        let parts = exec.silent().map("prepare", n.div_ceil(BLOCK_ROWS), |part| {
            read_prepared(samples, &self.preparation, part * BLOCK_ROWS..((part + 1) * BLOCK_ROWS).min(n))
        })?;
        let mut values = Vec::with_capacity(n * m);
        for part in parts {
            values.extend(part?.1.into_vec());
        }
        Ok(Mat::from_vec(n, m, values).expect("one row a sample"))
    }

    /// The class of least residual for each sample, the first of equal ones; never one without training samples.
    pub(crate) fn closest(&self, residuals: Mat, unfinished: usize) -> Prediction {
        let taught = self.labels.counts();
        let closest = |i: usize| {
            let known = (0..taught.len()).filter(|&c| taught[c] > 0);
            known.min_by(|a, b| residuals.at(i, *a).total_cmp(&residuals.at(i, *b))).expect("every sample has a class")
        };
        Prediction { classes: (0..residuals.rows()).map(closest).collect(), residuals, unfinished }
    }

    /// Refuses parts that do not belong together, or to what is known of the fit.
    pub(crate) fn check<P: Clone>(&self, about: &About<P>, normalize: Normalize) -> Result<(), Error> {
        let Self { preparation, samples, labels } = self;
        let say = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(Error::Model(fault.into())) };
        about.check(samples.cols())?;
        preparation.check(samples.cols())?;
        say(preparation.normalize == normalize, "samples are not scaled as was asked")?;
        say(about.n == samples.rows() && labels.of.len() == about.n, "not one class for every training sample")?;
        say(samples.as_slice().iter().all(|v| v.is_finite()), "a training sample is not finite")?;
        say(labels.of.iter().all(|class| *class < labels.names.len()), "a class has no name")
    }

    /// The arrays of a file.
    pub(crate) fn arrays(&self) -> Arrays {
        let classes: Vec<f64> = self.labels.of.iter().map(|&class| class as f64).collect();
        Arrays::default()
            .with("samples", self.samples.clone())
            .with_vector("classes", &classes)
            .with_some("mean", self.preparation.mean.as_ref())
            .with_some("deviation", self.preparation.deviation.as_ref())
    }

    /// What the arrays of a file hold, all of them; [`check`](Self::check) follows.
    pub(crate) fn of_arrays(mut arrays: Arrays, names: Vec<String>, normalize: Normalize) -> Result<Self, Error> {
        let samples = arrays.take("samples")?;
        let (n, m) = (samples.rows(), samples.cols());
        let classes = arrays.take_vector("classes", n)?.ok_or_else(|| Error::Model("no array `classes`".into()))?;
        let (mean, deviation) = (arrays.take_vector("mean", m)?, arrays.take_vector("deviation", m)?);
        arrays.finish()?;
        let labels = Labels { of: whole_numbers(&classes, names.len())?, names };
        Ok(Self { preparation: Preparation { normalize, mean, deviation }, samples, labels })
    }
}

/// Refuses labels that do not go with the samples.
pub(crate) fn check_labels(samples: Samples<'_>, labels: &Labels) -> Result<(), Error> {
    if labels.of.len() != samples.rows() {
        return Err(Error::LabelMismatch { samples: samples.rows(), got: labels.of.len() });
    }
    match labels.of.iter().find(|class| **class >= labels.names.len()) {
        Some(bad) => {
            Err(Error::Parameter { name: "labels", expected: "below the number of classes", got: *bad as f64 })
        }
        None => Ok(()),
    }
}

/// Numbers of classes as they stand in a file, each below `count`.
pub(crate) fn whole_numbers(classes: &[f64], count: usize) -> Result<Vec<usize>, Error> {
    if classes.iter().any(|class| !(*class >= 0.0 && *class < count as f64 && class.fract() == 0.0)) {
        return Err(Error::Model("a class is not the number of a name".into()));
    }
    Ok(classes.iter().map(|class| *class as usize).collect())
}
