//! Samples in memory whose rows and columns are multiplied with weights: a second pass.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | `x` | the samples as they were decomposed the first time |
//! | a, b | `rows`, `columns` | weights of samples and features |
//! | u | | a/‖a‖: what a column of ones becomes |
//! | Y | | diag(a) X diag(b), or Y − uuᵀY where the mean is subtracted |
//!
//! No copy is made: Y is read row by row, as X is. Weights count as exact.

use std::borrow::Cow;
use std::ops::Range;

use eigenspan_linalg::blocks::{Native, Rows};
use eigenspan_linalg::gram::{Gram, Side};
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::{GramSpectrum, Select};
use eigenspan_linalg::{Blocks, Exec};

use super::memory::leverages;
use super::noise::{Live, Noise, NoiseView};
use super::{Answer, Found, Leverages, Refusal, RowColumnWeights, Spectrum, Values};
use crate::Error;
use crate::prepare::{BLOCK_ROWS, norm};

const WAY: &str = "a weighted pass";

/// Y.
pub(super) struct Weighted<'a> {
    x: &'a dyn Blocks,
    rows: Option<Cow<'a, [f64]>>,
    columns: Option<Cow<'a, [f64]>>,
    /// u and uᵀY, where the mean is subtracted.
    mean: Option<[Vec<f64>; 2]>,
}

impl<'a> Weighted<'a> {
    /// Rows are multiplied with weights.
    pub(super) fn rows(x: &'a dyn Blocks, weights: &'a [f64]) -> Self {
        Self { x, rows: Some(Cow::Borrowed(weights)), columns: None, mean: None }
    }

    fn of(x: &'a dyn Blocks, weights: RowColumnWeights<'_>, exec: Exec<'_>) -> Result<Self, Error> {
        let RowColumnWeights { rows, columns, center } = weights;
        let (n, m) = (x.rows(), x.cols());
        let fits = |w: Option<&[f64]>, count| w.is_none_or(|w| w.len() == count && w.iter().all(|w| w.is_finite()));
        assert!(fits(rows, n) && fits(columns, m), "there is a finite weight for every row and column");
        let own = |w: Option<&[f64]>| w.map(|w| Cow::Owned(w.to_vec()));
        let plain = Self { x, rows: own(rows), columns: own(columns), mean: None };
        if !center {
            return Ok(plain);
        }
        let ones = vec![1.0; n];
        let a = rows.unwrap_or(&ones);
        let length = norm(a);
        let u: Vec<f64> = a.iter().map(|a| if length > 0.0 { a / length } else { 0.0 }).collect();
        let parts = exec.map("center", n.div_ceil(BLOCK_ROWS), |part| {
            let (mut sum, mut row) = (vec![0.0; m], vec![0.0; m]);
            for i in part * BLOCK_ROWS..((part + 1) * BLOCK_ROWS).min(n) {
                plain.read_row(i, 0..m, &mut row);
                sum.iter_mut().zip(&row).for_each(|(s, y)| *s += u[i] * y);
            }
            sum
        })?;
        let mut along = vec![0.0; m];
        parts.iter().for_each(|part| along.iter_mut().zip(part).for_each(|(s, y)| *s += y));
        Ok(Self { mean: Some([u, along]), ..plain })
    }
}

impl Weighted<'_> {
    /// Samples and features whose weight is zero are left out.
    fn live(&self) -> Live {
        let some = |weights: &Option<Cow<'_, [f64]>>, all: usize| {
            weights.as_ref().map_or(all, |weights| weights.iter().filter(|w| **w != 0.0).count())
        };
        let (samples, features) = (some(&self.rows, self.x.rows()), some(&self.columns, self.x.cols()));
        Live { samples, features, centered: self.mean.is_some() }
    }
}

impl Rows<f64> for Weighted<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        self.x.read_row(i, cols.clone(), out);
        if let Some(rows) = &self.rows {
            out.iter_mut().for_each(|y| *y *= rows[i]);
        }
        if let Some(columns) = &self.columns {
            out.iter_mut().zip(&columns[cols.clone()]).for_each(|(y, b)| *y *= b);
        }
        if let Some([u, along]) = &self.mean {
            out.iter_mut().zip(&along[cols]).for_each(|(y, s)| *y -= u[i] * s);
        }
    }
}

impl Blocks for Weighted<'_> {
    fn rows(&self) -> usize {
        self.x.rows()
    }
    fn cols(&self) -> usize {
        self.x.cols()
    }
    fn exponent(&self) -> i32 {
        self.x.exponent()
    }
    fn native(&self) -> Native<'_> {
        match self.x.native() {
            Native::Sparse(x) if self.mean.is_none() => {
                let x = self.rows.iter().fold(x, |x, rows| x.weighted(rows));
                Native::Sparse(self.columns.iter().fold(x, |x, b| x.transposed().weighted(b).transposed()))
            }
            _ => Native::F64,
        }
    }
}

/// The singular values of Y.
pub struct WeightedSpectrum<'a> {
    view: Weighted<'a>,
    gram: Gram,
    epsilon: f64,
}

impl<'a> WeightedSpectrum<'a> {
    /// Of `x`, whose own Gram matrix may be known: where only samples are weighted, it is weighted in place of another pass.
    pub(super) fn of(
        x: &'a dyn Blocks,
        known: Option<&Gram>,
        weights: RowColumnWeights<'_>,
        epsilon: f64,
        exec: Exec<'_>,
    ) -> Result<Self, Error> {
        let view = Weighted::of(x, weights, exec)?;
        let gram = match (known, weights.rows) {
            (Some(known), Some(rows)) if only_rows(weights) && known.side == Side::Samples => known.weighted(rows),
            _ => Gram::of(&view, exec)?,
        };
        Ok(Self { view, gram, epsilon })
    }

    fn spectrum(&self) -> GramSpectrum<'_> {
        GramSpectrum::sharing_gram(&self.view, Cow::Borrowed(&self.gram))
    }
}

fn only_rows(weights: RowColumnWeights<'_>) -> bool {
    weights.columns.is_none() && !weights.center
}

impl Spectrum for WeightedSpectrum<'_> {
    fn way(&self) -> &'static str {
        WAY
    }

    fn shape(&self) -> (usize, usize) {
        (self.view.rows(), self.view.cols())
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn norm(&self) -> f64 {
        times_power_of_two(self.gram.trace().sqrt(), self.view.exponent())
    }

    /// Not of the samples, but of what they were multiplied to: it is no one's mean.
    fn mean(&self) -> Option<&[f64]> {
        None
    }

    fn leading(&self, select: Select, exec: Exec<'_>) -> Result<Found<'_>, Error> {
        Ok(Found::sure(self.spectrum().leading(select, exec)?))
    }

    fn values(&self, exec: Exec<'_>) -> Result<Answer<Values>, Error> {
        Ok(Ok(Values { sigma: self.spectrum().values(exec)?, reach: 0.0 }))
    }

    fn noise(&self, noise: &Noise<'_>, exec: Exec<'_>) -> Result<Answer<NoiseView>, Error> {
        if let Noise::Known(_) = noise {
            let why = "weights have changed the units of the data";
            return Ok(Err(Refusal { way: WAY, what: "noise of a known strength", why }));
        }
        let sides = self.view.live().sides();
        let sigma = self.spectrum().values(exec)?;
        let how = Some("with samples and features weighted");
        Ok(Ok(NoiseView { how, ..NoiseView::whole(sigma, sides, self.epsilon) }))
    }

    fn leverages(&self, eta: f64, exec: Exec<'_>) -> Result<Answer<Leverages>, Error> {
        leverages(WAY, &self.view, &self.gram, eta, exec)
    }

    fn weighted(&self, weights: RowColumnWeights<'_>, exec: Exec<'_>) -> Result<Answer<Box<dyn Spectrum + '_>>, Error> {
        Ok(Ok(Box::new(WeightedSpectrum::of(&self.view, Some(&self.gram), weights, self.epsilon, exec)?)))
    }
}
