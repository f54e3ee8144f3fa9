//! Samples in memory, by the Gram matrix of their smaller side.
//!
//! The noise sees one of three matrices ([`noise`](super::noise)): the samples before scaling, the samples as prepared with their
//! rows whitened, or the samples as prepared; always without dead and repeated samples and features.

use eigenspan_linalg::gram::{Gram, Side};
use eigenspan_linalg::leverage::Resolvent;
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::{GramSpectrum, Select};
use eigenspan_linalg::{Blocks, Exec, singular_values};

use super::noise::{BEFORE, Lengths, Live, Noise, NoiseKind, NoiseView, WHITENED, WITHOUT};
use super::row_whitening::whitened_values;
use super::weighted::WeightedSpectrum;
use super::{Answer, Found, Leverages, Refusal, RowColumnWeights, Solver, Spectrum, Values};
use crate::Error;
use crate::data::Samples;
use crate::distinct::Distinct;
use crate::prepare::{FirstPass, Normalize, Preparation, Prepared, ProvisionalGram, Scan};

/// Samples in memory, and how they were prepared.
#[derive(Clone, Copy)]
pub struct InMemory<'a> {
    /// The samples.
    pub samples: Samples<'a>,
    /// What one pass over them told.
    pub scan: &'a Scan,
    /// How they were prepared.
    pub preparation: &'a Preparation,
}

/// How samples in memory are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub normalize: Normalize,
    pub center: bool,
    pub solver: Solver,
    /// Whether a rule will read the samples once more, as they are.
    pub again: bool,
}

impl Reading {
    /// The first pass over the samples, and what it tells of their Gram matrix where they are read only once.
    pub fn first(self, samples: Samples<'_>, exec: Exec<'_>) -> Result<(Scan, Option<ProvisionalGram>), Error> {
        if self.solver == Solver::Auto
            && let Some(first) = FirstPass::of(samples, self.normalize, self.center, self.again)?
        {
            return first.read(exec);
        }
        Ok((self.scan(samples, exec)?, None))
    }

    /// The first pass alone; the mean comes along where it will be needed.
    pub fn scan(self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Scan, Error> {
        if self.center || self.normalize == Normalize::ZScore {
            Scan::with_mean(samples, self.normalize, exec)
        } else {
            Scan::of(samples, exec)
        }
    }

    /// How the samples are prepared after that pass.
    pub fn prepare(self, samples: Samples<'_>, scan: &Scan, exec: Exec<'_>) -> Result<Preparation, Error> {
        Preparation::learn(samples, scan, self.normalize, self.center, None, exec)
    }
}

/// The matrix whose spectrum tells about noise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NoiseMatrix {
    BeforeScaling,
    Whitened,
    AsPrepared,
}

impl<'a> InMemory<'a> {
    pub(super) fn epsilon(&self) -> f64 {
        self.samples.number_type().epsilon()
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        (self.samples.rows(), self.samples.cols())
    }

    pub(super) fn row_norms(&self) -> Option<&'a [f64]> {
        (self.scan.lengths.len() == self.samples.rows()).then_some(&self.scan.lengths)
    }

    fn is_centered(&self) -> bool {
        self.preparation.mean.is_some()
    }

    /// Samples and features that are neither dead nor copies.
    pub(super) fn distinct(&self, exec: Exec<'_>) -> Result<Distinct, Error> {
        Distinct::of(self.samples, self.scan, self.is_centered(), exec)
    }

    /// How many of them there are.
    pub(super) fn live(&self, distinct: &Distinct) -> Live {
        let (samples, features) = (distinct.rows.len(), distinct.columns.len());
        Live { samples, features, centered: self.is_centered() }
    }

    /// Where to look for noise.
    pub(super) fn noise_matrix(&self, kind: NoiseKind) -> NoiseMatrix {
        match (self.preparation.normalize, kind, Lengths::of(&self.scan.lengths)) {
            (Normalize::Unit | Normalize::ZScore, NoiseKind::Known, _) => NoiseMatrix::BeforeScaling,
            (Normalize::Unit, _, Lengths::Differ) => NoiseMatrix::BeforeScaling,
            (Normalize::Unit, NoiseKind::Even, _) | (Normalize::None, NoiseKind::Even, Lengths::Equal) => {
                NoiseMatrix::Whitened
            }
            _ => NoiseMatrix::AsPrepared,
        }
    }

    /// How distinct samples are prepared without scaling.
    pub(super) fn unscaled(&self, distinct: &Distinct, exec: Exec<'_>) -> Result<Preparation, Error> {
        let some = (distinct.rows.len() < self.samples.rows()).then_some(&distinct.rows[..]);
        Preparation::learn(self.samples, self.scan, Normalize::None, self.is_centered(), some, exec)
    }

    /// Distinct samples, prepared in this way.
    pub(super) fn view<'v>(&self, preparation: &'v Preparation, distinct: &'v Distinct) -> Prepared<'v>
    where
        'a: 'v,
    {
        Prepared::new(self.samples, preparation, self.scan).restricted(&distinct.rows, &distinct.columns)
    }
}

/// The singular values of samples in memory.
pub struct MemorySpectrum<'a> {
    rows: InMemory<'a>,
    view: &'a dyn Blocks,
    whole: GramSpectrum<'a>,
}

impl<'a> MemorySpectrum<'a> {
    /// Of samples whose `view` is prepared, with its Gram matrix where that is known already.
    pub fn of(rows: InMemory<'a>, view: &'a dyn Blocks, gram: Option<Gram>, exec: Exec<'_>) -> Result<Self, Error> {
        let whole = match gram {
            Some(gram) => GramSpectrum::with_gram(view, gram),
            None => GramSpectrum::of(view, exec)?,
        };
        Ok(Self { rows, view, whole })
    }

    /// σ of the distinct samples before scaling.
    fn before_scaling(&self, distinct: &Distinct, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let unscaled = self.rows.unscaled(distinct, exec)?;
        let view = self.rows.view(&unscaled, distinct);
        let unit = self.rows.preparation.normalize == Normalize::Unit;
        if unit && !self.rows.is_centered() && self.are_distinct(distinct) {
            // Rows ‖y‖ times as long: the Gram matrix is at hand.
            let near_one = |length: &f64| times_power_of_two(*length, -view.exponent());
            let lengths: Vec<f64> = self.rows.scan.lengths.iter().map(near_one).collect();
            return Ok(GramSpectrum::with_gram(&view, self.whole.gram().weighted(&lengths)).into_values(exec)?);
        }
        Ok(singular_values(&view, exec)?)
    }

    /// Whether the Gram matrix of the prepared samples is that of the distinct ones: one entry a sample, and features
    /// that were left out are zero.
    fn are_distinct(&self, distinct: &Distinct) -> bool {
        let all = distinct.rows.len() == self.rows.samples.rows() && !distinct.repeats;
        all && self.whole.gram().side == Side::Samples && distinct.columns.len() >= distinct.rows.len()
    }
}

impl Spectrum for MemorySpectrum<'_> {
    fn way(&self) -> &'static str {
        "a Gram matrix in memory"
    }

    fn shape(&self) -> (usize, usize) {
        self.rows.shape()
    }

    fn epsilon(&self) -> f64 {
        self.rows.epsilon()
    }

    fn norm(&self) -> f64 {
        times_power_of_two(self.whole.gram().trace().sqrt(), self.view.exponent())
    }

    fn mean(&self) -> Option<&[f64]> {
        self.rows.preparation.mean.as_deref()
    }

    fn row_norms(&self) -> Option<&[f64]> {
        self.rows.row_norms()
    }

    fn leading(&self, select: Select, exec: Exec<'_>) -> Result<Found<'_>, Error> {
        Ok(Found::sure(self.whole.leading(select, exec)?))
    }

    fn values(&self, exec: Exec<'_>) -> Result<Answer<Values>, Error> {
        Ok(Ok(Values { sigma: self.whole.values(exec)?, reach: 0.0 }))
    }

    fn noise(&self, noise: &Noise<'_>, exec: Exec<'_>) -> Result<Answer<NoiseView>, Error> {
        let distinct = self.rows.distinct(exec)?;
        let sides = self.rows.live(&distinct).sides();
        let view = self.rows.view(self.rows.preparation, &distinct);
        let whole = |sigma, how| NoiseView { how, ..NoiseView::whole(sigma, sides, self.epsilon()) };
        Ok(Ok(match (self.rows.noise_matrix(noise.kind()), noise) {
            (NoiseMatrix::BeforeScaling, _) => whole(self.before_scaling(&distinct, exec)?, Some(BEFORE)),
            (NoiseMatrix::Whitened, Noise::Even(cut)) => {
                let first = self.are_distinct(&distinct).then(|| self.whole.gram().clone());
                whole(whitened_values(&view, first, sides, (self.epsilon(), *cut), exec)?, Some(WHITENED))
            }
            _ if distinct.repeats => whole(singular_values(&view, exec)?, Some(WITHOUT)),
            _ => whole(self.whole.values(exec)?, None),
        }))
    }

    fn leverages(&self, eta: f64, exec: Exec<'_>) -> Result<Answer<Leverages>, Error> {
        leverages(self.way(), self.view, self.whole.gram(), eta, exec)
    }

    fn weighted(&self, weights: RowColumnWeights<'_>, exec: Exec<'_>) -> Result<Answer<Box<dyn Spectrum + '_>>, Error> {
        let known = Some(self.whole.gram());
        Ok(Ok(Box::new(WeightedSpectrum::of(self.view, known, weights, self.epsilon(), exec)?)))
    }
}

/// What the others cannot predict, of every sample and feature of `x`, whose Gram matrix is given.
pub(super) fn leverages(
    way: &'static str,
    x: &dyn Blocks,
    gram: &Gram,
    eta: f64,
    exec: Exec<'_>,
) -> Result<Answer<Leverages>, Error> {
    let Some(resolvent) = Resolvent::of(gram, x.exponent(), eta, exec)? else {
        return Ok(Err(Refusal { way, what: "leverages", why: "the ridge is below the rounding of the Gram matrix" }));
    };
    let (own, other) = (resolvent.own(exec)?, resolvent.counterpart(x, exec)?);
    let (samples, features) = if gram.side == Side::Samples { (own, other) } else { (other, own) };
    Ok(Ok(Leverages { samples: Some(samples), features }))
}
