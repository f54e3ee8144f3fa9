//! From a summary to singular values, by the solvers for a matrix in memory.
//!
//! S is passed to the Gram path as the Gram matrix of a matrix whose rows are not available: on the feature side
//! nothing reads them. R is a small matrix of its own, with the singular values of the samples, and is decomposed as
//! one. Rounding bounds are passed along: e as the error of the Gram matrix, h (and the rounding of R) as that of the
//! matrix.

use std::ops::{Deref, Range};

use super::mean::Mean;
use super::reduction::Reduction;
use super::{Form, Summary};
use crate::Error;
use crate::blocks::{Blocks, Rows};
use crate::exec::Exec;
use crate::gram::{Gram, Side};
use crate::mat::Mat;
use crate::spectrum::{GramSpectrum, Leading, SMALL, Select, spectrum};

impl Summary {
    /// The singular values of all samples (less their mean, where they are centered) that `cut` selects, and their
    /// directions.
    pub fn finish(&self, cut: Select, exec: Exec<'_>) -> Result<Finished, Error> {
        let whole = self.closed(exec)?;
        if whole.rows == 0 {
            return Err(Error::NoRows);
        }
        let n = whole.rows as f64;
        let perturbation = self.perturbation(&whole);
        let mean = whole.mean.as_ref().map(Mean::rounded);
        match self.kind.form {
            Form::Gram => {
                let shape_only = ShapeOnly { rows: whole.rows, cols: self.kind.features, rounding: perturbation };
                let compressed = GramSpectrum::with_gram(&shape_only, gram_of(whole.square, whole.error));
                let few = if self.kind.features > SMALL { compressed.by_krylov(cut, exec)? } else { None };
                let found = match few {
                    Some(found) => found,
                    None => compressed.by_dense(cut, exec)?.ok_or(Error::CutTooLow)?,
                };
                Ok(Finished::new(found, shape_only.rows, mean))
            }
            Form::Triangle => {
                // As `resolution`, with the number of rows that R came from.
                let own = 4.0 * n * f64::EPSILON * largest_value(&whole.square);
                let factor = Factor { r: &whole.square, rounding: perturbation + own };
                Ok(Finished::new(spectrum(&factor, cut, exec)?, whole.rows, mean))
            }
        }
    }

    /// The first `count` singular values, in descending order, and the value down to which they are accurate: zero for
    /// R. What S cannot separate from zero may be anything up to there.
    pub fn values(&self, count: usize, exec: Exec<'_>) -> Result<(Vec<f64>, f64), Error> {
        if self.kind.form == Form::Triangle {
            return Ok((self.finish(Select::Top(count), exec)?.leading.sigma, 0.0));
        }
        let whole = self.closed(exec)?;
        if whole.rows == 0 {
            return Err(Error::NoRows);
        }
        let shape_only = ShapeOnly { rows: whole.rows, cols: self.kind.features, rounding: self.perturbation(&whole) };
        let compressed = GramSpectrum::with_gram(&shape_only, gram_of(whole.square, whole.error));
        let (mut sigma, reach) = compressed.values_within_reach(exec)?;
        sigma.truncate(count.min(whole.rows));
        Ok((sigma, reach))
    }

    /// The mean of all samples, where they are centered and there are some.
    pub fn mean(&self, exec: Exec<'_>) -> Result<Option<Vec<f64>>, Error> {
        Ok(if self.kind.centered { self.closed(exec)?.mean.as_ref().map(Mean::rounded) } else { None })
    }

    /// √Σσ²; zero for no samples.
    pub fn norm(&self, exec: Exec<'_>) -> Result<f64, Error> {
        let square = self.closed(exec)?.square;
        Ok(match self.kind.form {
            Form::Gram => (0..square.rows()).map(|i| square.at(i, i)).sum::<f64>().sqrt(),
            Form::Triangle => square.as_slice().iter().map(|r| r * r).sum::<f64>().sqrt(),
        })
    }

    /// ‖Y − Y*‖_F, including the rounding of every row when it was read.
    fn perturbation(&self, whole: &Reduction) -> f64 {
        whole.perturbation.hypot((whole.rows as f64).sqrt() * self.row_rounding)
    }
}

fn gram_of(matrix: Mat, error: f64) -> Gram {
    Gram { matrix, side: Side::Features, error, chance: 0.0 }
}

/// An upper bound on σ₁: ‖R‖_F, or √(‖R‖₁‖R‖_∞) where that is less.
fn largest_value(r: &Mat) -> f64 {
    let (mut columns, mut row, mut square) = (vec![0.0; r.cols()], 0.0f64, 0.0);
    for i in 0..r.rows() {
        row = row.max(r.row(i).iter().map(|x| x.abs()).sum());
        square += r.row(i).iter().map(|x| x * x).sum::<f64>();
        columns.iter_mut().zip(r.row(i)).for_each(|(sum, x)| *sum += x.abs());
    }
    let column = columns.into_iter().fold(0.0, f64::max);
    square.sqrt().min((row * column).sqrt())
}

/// A matrix of which only shape and rounding are available.
struct ShapeOnly {
    rows: usize,
    cols: usize,
    rounding: f64,
}

impl Rows<f64> for ShapeOnly {
    fn read_row(&self, _: usize, _: Range<usize>, _: &mut [f64]) {
        unreachable!("the feature side of a Gram matrix answers without the rows");
    }
}

impl Blocks for ShapeOnly {
    fn rows(&self) -> usize {
        self.rows
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn rounding(&self) -> f64 {
        self.rounding
    }
}

/// R, and a bound on its distance from the exact triangle.
struct Factor<'a> {
    r: &'a Mat,
    rounding: f64,
}

impl Rows<f64> for Factor<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        self.r.read_row(i, cols, out);
    }
}

impl Blocks for Factor<'_> {
    fn rows(&self) -> usize {
        self.r.rows()
    }
    fn cols(&self) -> usize {
        self.r.cols()
    }
    fn rounding(&self) -> f64 {
        self.rounding
    }
}

/// A finished summary: the same answer as for a matrix in memory, without a reference to samples.
#[derive(Debug, Clone)]
pub struct Finished {
    /// n.
    pub rows: usize,
    /// μ, where samples are centered.
    pub mean: Option<Vec<f64>>,
    /// The singular values of C above the cut, and their directions.
    pub leading: Leading<'static>,
}

impl Finished {
    fn new(found: Leading<'_>, rows: usize, mean: Option<Vec<f64>>) -> Self {
        assert!(found.samples.is_none(), "a summary is on the feature side");
        // Of fewer samples than features, the values past the number of samples are rounding.
        let p = rows.min(found.vectors.rows());
        let count = found.count.min(p);
        let leading = Leading {
            sigma: found.sigma.into_iter().take(p).collect(),
            count,
            interval: (found.interval.0.min(p), found.interval.1.min(p)),
            vectors: found.vectors.leading_columns((count + 1).min(p)),
            samples: None,
            ..found
        };
        Self { rows, mean, leading }
    }
}

impl Deref for Finished {
    type Target = Leading<'static>;

    fn deref(&self) -> &Self::Target {
        &self.leading
    }
}
