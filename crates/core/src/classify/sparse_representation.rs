//! SRC: a sample is written as a sparse combination of all training samples, and belongs to the class whose part of the
//! combination comes closest to it.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (m × n) | [`Exemplars::samples`] = Aᵀ | training samples, prepared, in our rows |
//! | y | | a new sample, prepared |
//! | x | the rows of `transform` | its code over the training samples |
//! | λ | [`SrcParams::lambda`] | the price of ‖x‖₁ |
//! | c | | a class; A_c, x_c its samples and their part of the code |
//!
//! ```text
//!     x:      min λ‖x‖₁ + ½‖y − Ax‖²                               method/parts/homotopy.rs
//!     class:  argmin_c ‖y − A_c x_c‖                               the first of equal ones
//! ```
//! A class without training samples is never the answer. The products of all training samples are computed once for a call
//! and those of a sample with all of them at once, so that many samples in one call cost less than in many.
//!
//! Wright et al. (2009) — `wright2009` in `docs/references.bib`. **Where we differ:** codes are exact solutions for λ, each
//! checked against the conditions of the optimum; the published program ends its path where a step lowers the objective by
//! less than a thousandth ([`SrcParams::as_published`]). Samples are scaled to unit length, as in that paper; the program behind
//! the numbers of PCE leaves features as they are, which the preset does too.

use eigenspan_linalg::product::Columns;
use eigenspan_linalg::rows::{add_scaled, energy};
use eigenspan_linalg::{Exec, Mat};

use super::exemplars::{Exemplars, Facts, Prediction};
use crate::Error;
use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::method::parts::homotopy::{Code, Dictionary, Homotopy};
use crate::method::parts::project::in_numbers_of;
use crate::model::fitted::{About, Classes, Fit, Fitted, ModelInfo, Needs, Outcome};
use crate::model::record::{Arrays, Record};
use crate::prepare::Normalize;

/// Samples multiplied with all training samples as one piece of work.
const STRIPE: usize = 64;

/// What is asked of SRC.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SrcParams {
    /// λ.
    pub lambda: f64,
    /// The share by which a step must lower the objective, or the path ends, as in the published program; `None`: it ends at λ.
    #[serde(alias = "stop", alias = "tolerance", deserialize_with = "crate::settings::path_end")]
    pub tol: Option<f64>,
    /// Steps of a path, at most.
    #[serde(alias = "most_steps", alias = "rounds")]
    pub max_iter: usize,
    /// Whether training samples may only be added up.
    pub nonnegative: bool,
    /// How samples are scaled.
    pub normalize: Normalize,
}

impl Default for SrcParams {
    fn default() -> Self {
        Self { lambda: 1e-3, tol: None, max_iter: 10_000, nonnegative: false, normalize: Normalize::Unit }
    }
}

impl Fit for SrcParams {
    type Model = Src;
    const NEEDS: Needs = Needs::LABELS;

    fn published() -> Option<Self> {
        Some(Self::as_published())
    }

    fn cap(&mut self, _max: usize) {}

    fn learn(&self, samples: Samples<'_>, labels: Option<&Labels>, exec: Exec<'_>) -> Result<Outcome<Src>, Error> {
        Ok(self.fit_with(samples, labels.ok_or(Error::NoLabels)?, exec)?.into())
    }
}

impl SrcParams {
    /// The paper's SRC: λ and tolerance 1e-3, a thousand steps, features as they are.
    pub fn as_published() -> Self {
        Self { tol: Some(1e-3), max_iter: 1000, normalize: Normalize::None, ..Self::default() }
    }

    /// Keeps samples in rows and their classes, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>, labels: &Labels) -> Result<Src, Error> {
        self.fit_with(samples, labels, Exec::default())
    }

    /// Keeps samples and classes, prepared on as many threads as `exec` says.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, labels: &Labels, exec: Exec<'_>) -> Result<Src, Error> {
        let samples = samples.into();
        self.homotopy().check()?;
        let (known, zero) = Exemplars::keep(samples, labels, self.normalize, exec)?;
        let classes = labels.counts().iter().filter(|count| **count > 0).count();
        let why = format!("{} training samples of {classes} classes are kept to explain new ones", samples.rows());
        let mut about = About::new(self, samples, why);
        about.warnings.extend(zero);
        Src { about, known: known.not_all_zero()? }.checked()
    }

    fn homotopy(&self) -> Homotopy {
        let Self { lambda, tol, max_iter, nonnegative, .. } = *self;
        Homotopy { lambda, stop: tol.into(), max_iter, nonnegative }
    }
}

/// Training samples and their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Src {
    about: About<SrcParams>,
    known: Exemplars,
}

impl Src {
    /// What is known of the fit.
    pub fn about(&self) -> &About<SrcParams> {
        &self.about
    }

    /// The training samples and their classes.
    pub fn known(&self) -> &Exemplars {
        &self.known
    }

    /// The class of each sample, on all cores.
    pub fn predict<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Prediction, Error> {
        self.predict_with(samples, Exec::default())
    }

    /// The class of each sample and how far it is from every class, on as many threads as `exec` says and under its eyes. The
    /// result does not depend on it, nor on the samples asked about at the same time.
    pub fn predict_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Prediction, Error> {
        let queries = self.known.prepared(samples.into(), exec)?;
        let codes = self.codes(&queries, exec)?;
        let mut residuals = Mat::zeros(queries.rows(), self.known.labels.names.len());
        for (i, code) in codes.iter().enumerate() {
            self.distances(queries.row(i), code, residuals.row_mut(i));
        }
        let unfinished = codes.iter().filter(|code| !code.converged()).count();
        Ok(self.known.closest(residuals, unfinished))
    }

    /// The code of each sample over the training samples, and how its path ended.
    pub fn codes_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Vec<Code>, Error> {
        self.codes(&self.known.prepared(samples.into(), exec)?, exec)
    }

    fn codes(&self, queries: &Mat, exec: Exec<'_>) -> Result<Vec<Code>, Error> {
        let atoms = &self.known.samples;
        let (n, m) = (atoms.rows(), atoms.cols());
        let dictionary = Dictionary::of(atoms, exec.silent())?;
        let columns = Columns::new(&atoms.transposed());
        let mut correlations = Mat::zeros(queries.rows(), n);
        exec.silent().each_chunk("products", correlations.as_mut_slice(), STRIPE * n, |stripe, out| {
            columns.multiply(&queries.as_slice()[stripe * STRIPE * m..][..out.len() / n * m], out);
        })?;
        let squares: Vec<f64> = (0..queries.rows()).map(|i| energy(queries.row(i))).collect();
        self.about.params.homotopy().of_queries(&dictionary, &correlations, &squares, exec)
    }

    /// ‖y − A_c x_c‖ for each class; ‖y‖ for one that has no part in the code.
    fn distances(&self, y: &[f64], code: &Code, out: &mut [f64]) {
        let class = |atom: usize| self.known.labels.of[atom];
        out.fill(energy(y).sqrt());
        let mut parts = code.entries.clone();
        parts.sort_by_key(|(atom, _)| class(*atom));
        for part in parts.chunk_by(|a, b| class(a.0) == class(b.0)) {
            let mut rest = y.to_vec();
            part.iter().for_each(|(atom, x)| add_scaled(&mut rest, -x, self.known.samples.row(*atom)));
            out[class(part[0].0)] = energy(&rest).sqrt();
        }
    }

    /// The model, if its parts belong together.
    fn checked(self) -> Result<Self, Error> {
        self.known.check(&self.about, self.about.params.normalize)?;
        self.about.params.homotopy().check()?;
        Ok(self)
    }
}

impl Fitted for Src {
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
        let codes = self.codes_with(samples, exec)?;
        let mut rows = Mat::zeros(codes.len(), self.columns());
        for (i, code) in codes.iter().enumerate() {
            code.entries.iter().for_each(|(atom, x)| rows.row_mut(i)[*atom] = *x);
        }
        Ok(in_numbers_of(samples, rows))
    }

    fn class_names(&self) -> Option<&[String]> {
        Some(&self.known.labels.names)
    }

    fn classify(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Classes, Error> {
        self.predict_with(samples, exec).map(Into::into)
    }
}

impl Record for Src {
    type Params = SrcParams;
    type Facts = Facts<SrcParams>;

    fn params(&self) -> &SrcParams {
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
