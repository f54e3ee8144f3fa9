//! What RPCA and ROSL give: samples split into a low-rank and a sparse part, and a projection learnt from the first.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | D (n × m) | | samples, prepared |
//! | A, E | `low_rank`, `sparse` | D ≈ A + E |
//! | Θ (m × k) | `model.theta` | the leading principal directions of A |
//!
//! ```text
//!     z = Θᵀ (y − μ_A)        y prepared, not cleaned: A and E of a new sample are not known
//! ```

use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Exec, Mat};

use crate::data::Samples;
use crate::method::parts::low_rank::{LowRank, Principal};
use crate::model::fitted::{About, Outcome, Settings};
use crate::model::linear::Linear;
use crate::model::trace::Trace;
use crate::prepare::{Normalize, Preparation, Scan};
use crate::text::short_number;
use crate::warning::Warning;
use crate::{Dim, Error};

/// A fitted model, and the two parts of the samples that it was fitted on.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposed<P> {
    /// The projection; this is what files keep.
    pub model: Linear<P>,
    /// A (n × m), in the units of the prepared samples.
    pub low_rank: Mat,
    /// E (n × m), in the same units.
    pub sparse: Mat,
    /// The rank of A.
    pub rank: usize,
}

impl<P> From<Decomposed<P>> for Outcome<Linear<P>> {
    fn from(found: Decomposed<P>) -> Self {
        Self { model: found.model, low_rank: Some(found.low_rank), sparse: Some(found.sparse) }
    }
}

/// How the projection is learnt from the low-rank part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Projection {
    pub dim: Dim,
    /// Whether the mean of the low-rank part is subtracted where directions are learned,
    pub center: bool,
    /// and not from samples that are projected.
    pub keep_mean: bool,
    pub unit_features: bool,
}

/// Samples ready to be split.
pub(crate) struct Input<'a> {
    samples: Samples<'a>,
    preparation: Preparation,
    warnings: Vec<Warning>,
    /// D times 2^−`exponent`: its largest entry is near one.
    pub data: Mat,
    exponent: i32,
}

/// D = A + E in the units of [`Input::data`], and how it was found.
pub(crate) struct Split {
    pub low_rank: LowRank,
    pub sparse: Mat,
    pub trace: Trace,
}

impl<'a> Input<'a> {
    /// Looks at the samples and prepares them.
    pub fn of(samples: Samples<'a>, normalize: Normalize, exec: Exec<'_>) -> Result<Self, Error> {
        let scan = Scan::of(samples, exec)?;
        let warnings = scan.zero_sample_warning(normalize).into_iter().collect();
        let preparation = Preparation::learn(samples, &scan, normalize, false, None, exec)?;
        let mut data = preparation.matrix(samples, exec)?;
        let largest = largest(&data);
        if largest == 0.0 {
            let (n, m) = (data.rows(), data.cols());
            return Err(Error::AllZero { n, m, centred: preparation.mean.is_some() });
        }
        let exponent = exponent_of(largest);
        scale(&mut data, -exponent);
        Ok(Self { samples, preparation, warnings, data, exponent })
    }

    /// The model and the parts, in the units of the prepared samples.
    pub fn finish<P: Settings>(
        self,
        params: &P,
        projection: Projection,
        split: Split,
        exec: Exec<'_>,
    ) -> Result<Decomposed<P>, Error> {
        let Split { low_rank, sparse, trace } = split;
        let (n, m, rank) = (sparse.rows(), sparse.cols(), low_rank.rank());
        let centred = projection.center;
        let mut warnings = self.warnings;
        let mut principal = low_rank.principal(centred, exec)?;
        if principal.sigma.is_empty() {
            principal = LowRank::whole(&self.data).principal(centred, exec)?.first();
            warnings.push(Warning::NoLowRank { constant: rank > 0 });
        }
        let most = principal.sigma.len();
        if most == 0 {
            return Err(Error::AllZero { n, m, centred: true });
        }
        let k = match projection.dim {
            Dim::Auto => most,
            Dim::Fixed(dim) => dim.min(most),
        };
        let why = why(rank, &sparse, k);
        let mut about = About::new(params, self.samples, why).with_trace(trace);
        about.warnings.extend(warnings);
        if let Dim::Fixed(asked) = projection.dim
            && asked > most
        {
            about.warnings.push(Warning::RankCapped { asked, most });
        }
        let Principal { mean, basis, sigma } = principal;
        let mean = mean.filter(|_| !projection.keep_mean);
        let mean = mean.map(|mean| mean.into_iter().map(|v| times_power_of_two(v, self.exponent)).collect());
        let model = Linear {
            about,
            preparation: less_mean(self.preparation, mean),
            unit_features: projection.unit_features,
            theta: basis.leading_columns(k),
            values: sigma[..k].iter().map(|s| times_power_of_two(*s, self.exponent)).collect(),
        };
        let (mut low_rank, mut sparse) = (low_rank.matrix(exec)?, sparse);
        scale(&mut low_rank, self.exponent);
        scale(&mut sparse, self.exponent);
        Ok(Decomposed { model: model.checked()?, low_rank, sparse, rank })
    }
}

/// y ↦ (y / ‖y‖ − μ) / s − μ_A, written as one preparation.
fn less_mean(mut preparation: Preparation, mean: Option<Vec<f64>>) -> Preparation {
    let Some(mut mean) = mean else { return preparation };
    if let Some(deviation) = &preparation.deviation {
        mean.iter_mut().zip(deviation).for_each(|(mean, s)| *mean *= s);
    }
    if let Some(before) = &preparation.mean {
        mean.iter_mut().zip(before).for_each(|(mean, before)| *mean += before);
    }
    preparation.mean = Some(mean);
    preparation
}

fn why(rank: usize, sparse: &Mat, k: usize) -> String {
    let (n, m) = (sparse.rows(), sparse.cols());
    let count = sparse.as_slice().iter().filter(|v| **v != 0.0).count();
    let share = 100.0 * count as f64 / (n * m) as f64;
    format!("a low-rank part of rank {rank} of {} and {} % errors; k = {k}", n.min(m), short_number(share))
}

pub(crate) fn largest(x: &Mat) -> f64 {
    x.as_slice().iter().fold(0.0, |most, v| most.max(v.abs()))
}

fn scale(x: &mut Mat, exponent: i32) {
    if exponent != 0 {
        x.as_mut_slice().iter_mut().for_each(|v| *v = times_power_of_two(*v, exponent));
    }
}

/// λ as asked for, or 1/√max(n, m), which recovers most matrices without knowing anything about them.
pub(crate) fn lambda(asked: Option<f64>, n: usize, m: usize) -> Result<f64, Error> {
    match asked {
        None => Ok(1.0 / (n.max(m) as f64).sqrt()),
        Some(lambda) if lambda.is_finite() && lambda > 0.0 => Ok(lambda),
        Some(got) => Err(Error::Parameter { name: "lambda", expected: "positive and finite", got }),
    }
}

/// Refuses settings of the iteration that it cannot go by.
pub(crate) fn check(growth: f64, tol: f64, max_iter: usize, dim: Dim) -> Result<(), Error> {
    if !(growth > 1.0 && growth <= 10.0) {
        return Err(Error::Parameter { name: "growth", expected: "more than 1 and at most 10", got: growth });
    }
    if !(tol.is_finite() && tol > 0.0) {
        return Err(Error::Parameter { name: "tol", expected: "positive and finite", got: tol });
    }
    if max_iter == 0 {
        return Err(Error::Parameter { name: "max_iter", expected: "at least 1", got: 0.0 });
    }
    match dim {
        Dim::Fixed(0) => Err(Error::Parameter { name: "dim", expected: "at least 1", got: 0.0 }),
        _ => Ok(()),
    }
}
