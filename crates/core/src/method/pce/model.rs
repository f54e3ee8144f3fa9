//! A fitted model and what it does with samples; the symbols are those of [`super`].
//!
//! ```text
//!     features   z = W Uᵀ y        back   y = U W⁻¹ z        clean   U Uᵀ y        y prepared as the training samples were
//! ```
//! W = Σ⁻¹ as in the paper, or what else was asked for ([`Weights`]); z is scaled to length one where that was asked. With soft
//! weights U has more than k columns: features use all of them, and the clean part is U_k U_kᵀy as without.

use std::ops::Range;

use eigenspan_linalg::product::Columns;
use eigenspan_linalg::{Exec, Float, Mat};

use super::online::Trail;
use super::{Chosen, Dim, Lambda, PceParams, RankRule, Weights, released_rank};
use crate::Error;
use crate::data::{ImageShape, Matrix, NumberType, Samples};
use crate::method::parts::project::{STRETCH, in_numbers_of, project};
use crate::method::parts::soft_weights;
use crate::model::fitted::{Fitted, ModelInfo};
use crate::prepare::{Normalize, Preparation, norm};
use crate::rule::fixed::principal_rank;
use crate::spectrum::rounding_level;
use crate::warning::Warning;

/// Everything a model is, as plain data. [`Pce::new`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct PceParts {
    /// What was asked.
    pub params: PceParams,
    /// Training samples.
    pub n: usize,
    /// The numbers the training samples came in.
    pub number_type: NumberType,
    /// The shape of the image that each sample is, where known.
    pub image: Option<ImageShape>,
    /// τ.
    pub tau: f64,
    /// λ = 1/τ²; infinite or zero where that leaves the range of numbers.
    pub lambda: f64,
    /// The name of the rule that chose λ.
    pub lambda_rule: String,
    /// The dimension.
    pub k: usize,
    /// The smallest and largest k within rounding of the cut.
    pub k_interval: (usize, usize),
    /// How the spectrum was computed.
    pub solver: String,
    /// Whether k is proved, not only probable.
    pub certified: bool,
    /// Why this k, in one sentence.
    pub why: String,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// The weights that the data chose, where that was asked ([`Weights::Auto`]).
    pub chosen: Option<Chosen>,
    /// Scaling and centring.
    pub preparation: Preparation,
    /// The leading singular values of the prepared training samples, largest first: those kept, one more where there is
    /// one, and as many as were found on the way.
    pub sigma: Vec<f64>,
    /// √Σσ² over all of them.
    pub norm: f64,
    /// U: m × columns, orthonormal columns.
    pub basis: Mat,
    /// What samples to come go on from, where samples arrived one by one.
    pub online: Option<Box<Trail>>,
}

/// A fitted model: k, Θ, and what is needed to prepare new samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Pce {
    parts: PceParts,
}

/// Samples split into what the model explains and the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovery {
    /// D₀, in the samples' own units.
    pub clean: Matrix,
    /// E = D − D₀, in the samples' own units.
    pub error: Matrix,
    /// Length of each sample's error after preparation, where a sample has length one by default: how little the
    /// sample looks like the training samples.
    pub score: Vec<f64>,
}

impl Fitted for Pce {
    fn info(&self) -> ModelInfo<'_> {
        let PceParts { n, number_type, image, why, warnings, .. } = &self.parts;
        // PCE-auto is PCE with settings of its own.
        let PceParams { weights, unit_features, .. } = self.parts.params;
        let method = if weights == Weights::Auto && unit_features { "pce-auto" } else { "pce" };
        ModelInfo { method, n: *n, number_type: *number_type, image: *image, why, trace: None, warnings }
    }

    fn features(&self) -> usize {
        self.features()
    }

    fn columns(&self) -> usize {
        self.columns()
    }

    fn scaling(&self) -> Normalize {
        self.parts.params.normalize
    }

    fn unit_features(&self) -> bool {
        self.parts.params.unit_features
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.parts.image = Some(shape);
    }

    fn as_pce(&self) -> Option<&Pce> {
        Some(self)
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        self.transform_with(samples, exec)
    }
}

/// λ at which k changes.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct PathStep {
    /// Just above this λ the dimension is `k`; infinite where 1/σ² overflows.
    pub lambda: f64,
    /// The dimension.
    pub k: usize,
}

impl Pce {
    /// Checks that the parts belong together; the one way to make a model, for `fit` and for files alike.
    pub fn new(parts: PceParts) -> Result<Self, Error> {
        check(&parts).map_err(Error::Model)?;
        parts.preparation.check(parts.basis.rows())?;
        Ok(Self { parts })
    }

    /// The parts.
    pub fn parts(&self) -> &PceParts {
        &self.parts
    }

    /// The same model with the shape of its samples as images; `None` where that is not their size.
    pub fn with_image(mut self, shape: ImageShape) -> Option<Self> {
        self.parts.image = Some(shape);
        (shape.height.checked_mul(shape.width) == Some(self.features())).then_some(self)
    }

    /// k, the dimension that was found.
    pub fn k(&self) -> usize {
        self.parts.k
    }

    /// Columns of the features: k, or 1 where k = 0; with soft weights as many as lie above τ/2.
    pub fn columns(&self) -> usize {
        self.parts.basis.cols()
    }

    /// Directions that explain samples: k, or 1 where k = 0.
    fn kept(&self) -> usize {
        self.parts.k.max(1)
    }

    /// γ, where weights are soft.
    pub fn gamma(&self) -> Option<f64> {
        match self.parts.params.weights {
            Weights::Soft { gamma } => Some(gamma),
            Weights::Auto => self.parts.chosen.as_ref().map(|chosen| chosen.gamma),
            Weights::Hard | Weights::Scores | Weights::Whitened => None,
        }
    }

    /// m, the number of features of a sample.
    pub fn features(&self) -> usize {
        self.parts.basis.rows()
    }

    /// How many samples there are in effect: n, or less where early ones were forgotten.
    pub fn weight(&self) -> f64 {
        self.parts.online.as_ref().map_or(self.parts.n as f64, |trail| trail.weight)
    }

    /// δ: every singular value of the training samples lies between that of the model and √(σ² + δ²). Zero where samples did
    /// not arrive one by one.
    pub fn drift(&self) -> f64 {
        self.parts.online.as_ref().map_or(0.0, |trail| trail.drift())
    }

    /// Why this k, in one sentence.
    pub fn why(&self) -> &str {
        &self.parts.why
    }

    /// Share of the energy Σσ² in each of the columns kept.
    pub fn energies(&self) -> Vec<f64> {
        self.parts.sigma[..self.columns()].iter().map(|s| (s / self.parts.norm).powi(2)).collect()
    }

    /// Share of the energy Σσ² in the k directions that explain samples.
    pub fn energy(&self) -> f64 {
        (norm(&self.parts.sigma[..self.kept()]) / self.parts.norm).powi(2).min(1.0)
    }

    /// σ_k/σ_{k+1}; infinite where nothing is left below.
    pub fn gap(&self) -> f64 {
        let kept = self.kept();
        self.parts.sigma.get(kept).map_or(f64::INFINITY, |next| self.parts.sigma[kept - 1] / next)
    }

    /// Θ = U_k Σ_k⁻¹ (m × columns); U W where other weights were asked for. Features of length one are scaled after it.
    pub fn theta(&self) -> Mat {
        let divisors = self.divisors();
        Mat::from_fn(self.features(), self.columns(), |i, j| self.parts.basis.at(i, j) / divisors[j])
    }

    /// 1/w of each column: σ for the weights of the paper. Features are divided by it, not multiplied by w: that would
    /// overflow where σ is tiny.
    pub fn divisors(&self) -> Vec<f64> {
        let sigma = &self.parts.sigma[..self.columns()];
        match self.parts.params.weights {
            Weights::Hard => sigma.to_vec(),
            Weights::Scores => vec![1.0; sigma.len()],
            Weights::Whitened => {
                let root = (self.weight() - 1.0).max(1.0).sqrt();
                sigma.iter().map(|s| s / root).collect()
            }
            Weights::Soft { .. } | Weights::Auto => {
                let gamma = self.gamma().expect("weights that were to be chosen were chosen");
                soft_weights::divisors(sigma, self.parts.tau, gamma)
            }
        }
    }

    /// Every λ at which k changes, over the values that are known and above rounding, smallest λ first.
    pub fn path(&self) -> Vec<PathStep> {
        self.path_over(&self.parts.sigma)
    }

    /// The same over all values of the training samples, [`PceParams::values`].
    pub fn path_over(&self, sigma: &[f64]) -> Vec<PathStep> {
        let PceParts { norm, n, number_type, .. } = &self.parts;
        let top = sigma.first().copied().unwrap_or(0.0);
        let level = rounding_level(top, *norm, *n, self.features(), number_type.epsilon());
        let above = sigma.iter().take_while(|s| **s > level).count();
        let last_of_equals = |i: &usize| sigma.get(i + 1) != Some(&sigma[*i]);
        let step = |i: usize| PathStep { lambda: 1.0 / (sigma[i] * sigma[i]), k: i + 1 };
        (0..above).filter(last_of_equals).map(step).collect()
    }

    /// The dimension that the same rule gives the same training samples at a smaller λ: with the weights of the paper, its
    /// features are the first so many columns of these. `None` where the model was not fitted at a given λ, or at a smaller
    /// one, or with weights that depend on it.
    pub fn dimension_at(&self, lambda: f64) -> Option<usize> {
        let PceParts { params, sigma, n, .. } = &self.parts;
        let fitted = matches!(params.lambda, Lambda::Fixed(largest) if lambda <= largest && lambda > 0.0);
        if !fitted || params.dim != Dim::Auto || params.weights != Weights::Hard {
            return None;
        }
        let k = principal_rank(sigma, lambda);
        Some(match params.rank_rule {
            RankRule::Theorem => k,
            RankRule::Released => released_rank(k, (*n).min(self.features())).min(self.k()),
        })
    }

    /// Z: the features of each sample, z = Θᵀy. `f32` in, `f32` out; anything else gives `f64`.
    pub fn transform<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Matrix, Error> {
        self.transform_with(samples, Exec::default())
    }

    /// [`transform`](Pce::transform) on as many threads as `exec` says. A sample's features do not depend on them,
    /// nor on the samples beside it.
    pub fn transform_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Matrix, Error> {
        let samples = samples.into();
        let (divisors, unit) = (self.divisors(), self.parts.params.unit_features);
        let weigh = |z: &mut [f64]| soft_weights::weigh(z, &divisors, unit);
        let (_, rows) = project(samples, &self.parts.preparation, &self.parts.basis, weigh, exec)?;
        Ok(in_numbers_of(samples, rows))
    }

    /// U_kᵀy for every sample, each column divided by its divisor, and the samples' lengths.
    fn project(&self, samples: Samples<'_>, divisors: &[f64], exec: Exec<'_>) -> Result<(Vec<f64>, Mat), Error> {
        let divide = |z: &mut [f64]| soft_weights::weigh(z, divisors, false);
        project(samples, &self.parts.preparation, &self.explaining(), divide, exec)
    }

    /// U_k.
    fn explaining(&self) -> Mat {
        self.parts.basis.leading_columns(self.kept())
    }

    /// The samples that features stand for, U_k W⁻¹ z, in the samples' own units.
    ///
    /// Features do not carry the length of a sample that was scaled to unit length: give the `lengths`
    /// ([`prepare::norm`](crate::prepare::norm) of each), or the samples come back with length one.
    pub fn inverse_transform<'a>(
        &self,
        features: impl Into<Samples<'a>>,
        lengths: Option<&[f64]>,
    ) -> Result<Matrix, Error> {
        self.inverse_transform_with(features, lengths, Exec::default())
    }

    /// [`inverse_transform`](Pce::inverse_transform) on as many threads as `exec` says.
    pub fn inverse_transform_with<'a>(
        &self,
        features: impl Into<Samples<'a>>,
        lengths: Option<&[f64]>,
        exec: Exec<'_>,
    ) -> Result<Matrix, Error> {
        let features = features.into();
        let (n, k) = (features.rows(), self.columns());
        if self.parts.params.unit_features {
            return Err(Error::NoWayBack);
        }
        if features.cols() != k {
            return Err(Error::ColumnMismatch { expected: k, got: features.cols() });
        }
        if let Some(lengths) = lengths.filter(|l| l.len() != n) {
            return Err(Error::LengthMismatch { rows: n, got: lengths.len() });
        }
        let ones = vec![1.0; n];
        let (mut z, divisors) = (features.to_f64(), self.divisors());
        (0..n).for_each(|i| z.row_mut(i).iter_mut().zip(&divisors).for_each(|(z, d)| *z *= d));
        let (m, directions) = (self.features(), Columns::new(&self.parts.basis.transposed()));
        let mut rows = Mat::zeros(n, m);
        exec.each_chunk("recover", rows.as_mut_slice(), STRETCH * m, |part, out| {
            let some = part * STRETCH..part * STRETCH + out.len() / m;
            self.back(&directions, &z, some, lengths.unwrap_or(&ones), out);
        })?;
        Ok(in_numbers_of(features, rows))
    }

    /// U_k s in the samples' own units, for some rows s = Uᵀy.
    fn back(&self, directions: &Columns, scores: &Mat, some: Range<usize>, lengths: &[f64], out: &mut [f64]) {
        let k = scores.cols();
        directions.multiply(&scores.as_slice()[some.start * k..some.end * k], out);
        for (row, length) in out.chunks_exact_mut(self.features()).zip(&lengths[some]) {
            self.parts.preparation.undo(row, *length);
        }
    }

    /// D₀ and E: what the model explains of each sample, and the rest.
    pub fn recover<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Recovery, Error> {
        self.recover_with(samples, Exec::default())
    }

    /// [`recover`](Pce::recover) on as many threads as `exec` says.
    pub fn recover_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Recovery, Error> {
        let samples = samples.into();
        match samples.number_type() {
            NumberType::F32 => self.recover_in::<f32>(samples, exec),
            NumberType::F64 | NumberType::U8 => self.recover_in::<f64>(samples, exec),
        }
    }

    fn recover_in<T: Float>(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Recovery, Error>
    where
        Matrix: From<Mat<T>>,
    {
        let (n, m) = (samples.rows(), self.features());
        let (lengths, scores) = self.project(samples, &vec![1.0; self.kept()], exec)?;
        let directions = Columns::new(&self.explaining().transposed());
        let (mut clean, mut error, mut score) = (Mat::<T>::zeros(n, m), Mat::<T>::zeros(n, m), vec![0.0; n]);
        let chunks = clean.as_mut_slice().chunks_mut(STRETCH * m).zip(error.as_mut_slice().chunks_mut(STRETCH * m));
        exec.each("recover", chunks.zip(score.chunks_mut(STRETCH)), |part, ((clean, error), score)| {
            let some = part * STRETCH..part * STRETCH + score.len();
            let mut explained = vec![0.0; clean.len()];
            self.back(&directions, &scores, some.clone(), &lengths, &mut explained);
            let mut row = vec![0.0; m];
            for (to, i) in some.enumerate() {
                let here = to * m..(to + 1) * m;
                samples.read_row(i, 0..m, &mut row);
                row.iter_mut().zip(&explained[here.clone()]).for_each(|(y, c)| *y -= c);
                score[to] = self.prepared_length(&row, lengths[i]);
                clean[here.clone()].iter_mut().zip(&explained[here.clone()]).for_each(|(to, c)| *to = T::nearest(*c));
                error[here].iter_mut().zip(&row).for_each(|(to, e)| *to = T::nearest(*e));
            }
        })?;
        Ok(Recovery { clean: clean.into(), error: error.into(), score })
    }

    /// The length of an error after preparation: the mean does not touch a difference, scaling does.
    fn prepared_length(&self, error: &[f64], length: f64) -> f64 {
        let scaled = match &self.parts.preparation.deviation {
            Some(deviation) => norm(&error.iter().zip(deviation).map(|(e, s)| e / s).collect::<Vec<_>>()),
            None => norm(error),
        };
        if length > 0.0 { scaled / length } else { scaled }
    }

    /// C between some samples: entry (i, j) is how much sample j of `others` takes part in sample i of `samples`.
    ///
    /// Over the training samples this is C = V_k V_kᵀ. The n × n whole is never needed: ask for a few rows at a time.
    pub fn coefficients<'a, 'b>(
        &self,
        samples: impl Into<Samples<'a>>,
        others: impl Into<Samples<'b>>,
    ) -> Result<Mat, Error> {
        let sigma = &self.parts.sigma[..self.kept()];
        let (_, a) = self.project(samples.into(), sigma, Exec::default())?;
        let (_, b) = self.project(others.into(), sigma, Exec::default())?;
        let mut c = Mat::zeros(a.rows(), b.rows());
        Columns::new(&b.transposed()).multiply(a.as_slice(), c.as_mut_slice());
        Ok(c)
    }
}

fn check(parts: &PceParts) -> Result<(), String> {
    let (m, columns, p) = (parts.basis.rows(), parts.basis.cols(), parts.sigma.len());
    let say = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(fault.to_string()) };
    say(m > 0 && parts.n > 0, "no samples or no features")?;
    say(p <= parts.n.min(m), &format!("expected at most min(n, m) = {} singular values, found {p}", parts.n.min(m)))?;
    let (k, least) = (parts.k, parts.k.max(1));
    let soft = parts.params.weights.is_soft();
    let enough = columns == least || (soft && columns > least);
    say(
        enough,
        &format!("expected {least} columns{} for k = {k}, found {columns}", if soft { " or more" } else { "" }),
    )?;
    say(columns <= p, &format!("expected a singular value for each of {columns} columns, found {p}"))?;
    say(parts.k_interval.0 <= parts.k && parts.k <= parts.k_interval.1, "k is outside its interval")?;
    say(parts.sigma.iter().all(|s| s.is_finite() && *s >= 0.0), "a singular value is negative or not finite")?;
    say(parts.sigma.windows(2).all(|w| w[0] >= w[1]), "the singular values are not sorted")?;
    say(parts.sigma[columns - 1] > 0.0, "a kept singular value is zero")?;
    let size = norm(&parts.sigma) * (1.0 - 1e-9);
    say(parts.norm.is_finite() && parts.norm >= size, "the norm is less than that of the singular values")?;
    say(
        parts.tau > 0.0 && parts.tau.is_finite() && parts.lambda >= 0.0,
        "τ is not positive or not finite, or λ is negative or no number",
    )?;
    say(parts.basis.as_slice().iter().all(|u| u.is_finite()), "a direction is not finite")?;
    parts.params.check().map_err(|error| error.to_string())?;
    let asked = parts.params.weights == Weights::Auto;
    say(parts.chosen.is_some() == asked, "weights that were to be chosen were not, or the other way round")?;
    parts.chosen.as_ref().map_or(Ok(()), Chosen::check)?;
    parts.online.as_ref().map_or(Ok(()), |trail| trail.check(m, columns, &parts.sigma))?;
    let Preparation { normalize, mean, deviation } = &parts.preparation;
    let z_score = *normalize == Normalize::ZScore;
    say(
        deviation.is_some() == z_score && mean.is_some() == (z_score || parts.params.center),
        "mean and deviation are not those that the settings ask for",
    )?;
    say(*normalize == parts.params.normalize, "scaling does not fit the settings")?;
    say(
        parts.image.is_none_or(|i| i.height.checked_mul(i.width) == Some(m)),
        "the image shape does not fit the features",
    )
}
