//! From a summary to singular values, by the solvers for a matrix in memory.
//!
//! S is passed to the Gram path as the Gram matrix of a matrix whose rows are not available: on the feature side
//! nothing reads them. R is a small matrix of its own, with the singular values of the samples, and is decomposed as
//! one. Rounding bounds are passed along: e as the error of the Gram matrix, h (and the rounding of R) as that of the
//! matrix.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use super::mean::Mean;
use super::reduction::Reduction;
use super::{Form, Summary};
use crate::Error;
use crate::blocks::{Blocks, Rows};
use crate::exec::Exec;
use crate::gram::{Gram, Side, UNIT};
use crate::mat::Mat;
use crate::spectrum::{GramSpectrum, Leading, SMALL, Select};

impl Summary {
    /// The samples so far, ready for several questions.
    pub fn close(&self, exec: Exec<'_>) -> Result<Closed, Error> {
        Closed::of(self.closed(exec)?, self.kind.features, self.row_rounding)
    }

    /// The singular values of all samples (less their mean, where they are centered) that `cut` asks for, and their
    /// directions.
    pub fn finish(&self, cut: Select, exec: Exec<'_>) -> Result<Finished, Error> {
        let closed = self.close(exec)?;
        let leading = closed.spectrum(exec)?.leading(cut, exec)?;
        Ok(Finished { rows: closed.rows, mean: closed.mean, leading })
    }
}

/// A summary that takes no more samples and is asked for singular values, any number of times.
#[derive(Debug, Clone)]
pub struct Closed {
    rows: usize,
    mean: Option<Vec<f64>>,
    /// ‖Y − Y*‖_F, the rounding of every row on its way in included.
    perturbation: f64,
    norm: f64,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Gram { shape_only: ShapeOnly, gram: Gram },
    Triangle(Factor),
}

impl Closed {
    fn of(whole: Reduction, features: usize, row_rounding: f64) -> Result<Self, Error> {
        let rows = whole.rows;
        if rows == 0 {
            return Err(Error::NoRows);
        }
        let perturbation = whole.perturbation.hypot((rows as f64).sqrt() * row_rounding);
        let mean = whole.mean.as_ref().map(Mean::rounded);
        Ok(match whole.form {
            Form::Gram => {
                let shape_only = ShapeOnly { rows, cols: features, rounding: perturbation };
                let gram = Gram { matrix: whole.square, side: Side::Features, error: whole.error, chance: 0.0 };
                Self { rows, mean, perturbation, norm: gram.trace().sqrt(), body: Body::Gram { shape_only, gram } }
            }
            Form::Triangle => Self::of_triangle(whole.square, rows, mean, perturbation),
        })
    }

    fn of_triangle(r: Mat, rows: usize, mean: Option<Vec<f64>>, perturbation: f64) -> Self {
        // As `resolution`, with the rows that R came from.
        let own = 4.0 * rows as f64 * f64::EPSILON * largest_value(&r);
        let norm = r.as_slice().iter().map(|r| r * r).sum::<f64>().sqrt();
        Self { rows, mean, perturbation, norm, body: Body::Triangle(Factor { r, rounding: perturbation + own }) }
    }

    /// The samples with every feature divided by its standard deviation, and the deviations; a constant feature is divided
    /// by one. For centered samples in triangular form, `None` otherwise: the triangle of C·diag(s)⁻¹ is R·diag(s)⁻¹.
    ///
    /// With s_j = ‖R e_j‖/√n off by m/2 + 3 roundings of R and the quotient by one, n rows of about √m are off by
    /// (m/2 + 4)·u·√(nm), beside what was off before and is divided by the least s.
    pub fn standardised(&self) -> Option<(Self, Vec<f64>)> {
        let (Body::Triangle(Factor { r, .. }), Some(_)) = (&self.body, &self.mean) else { return None };
        let (n, m, mut r) = (self.rows as f64, r.cols(), r.clone());
        let mut squares = vec![0.0; m];
        for i in 0..m {
            squares.iter_mut().zip(r.row(i)).for_each(|(s, r)| *s += r * r);
        }
        let deviations: Vec<f64> = squares.iter().map(|s| if *s > 0.0 { (s / n).sqrt() } else { 1.0 }).collect();
        for i in 0..m {
            r.row_mut(i).iter_mut().zip(&deviations).for_each(|(r, s)| *r /= s);
        }
        let least = deviations.iter().copied().fold(f64::INFINITY, f64::min);
        let perturbation = self.perturbation / least + (0.5 * m as f64 + 4.0) * UNIT * (n * m as f64).sqrt();
        Some((Self::of_triangle(r, self.rows, self.mean.clone(), perturbation), deviations))
    }

    /// n.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// μ, where samples are centered.
    pub fn mean(&self) -> Option<&[f64]> {
        self.mean.as_deref()
    }

    /// √Σσ².
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// What singular values are read off.
    pub fn spectrum(&self, exec: Exec<'_>) -> Result<ClosedSpectrum<'_>, Error> {
        let whole = match &self.body {
            Body::Gram { shape_only, gram } => GramSpectrum::sharing_gram(shape_only, Cow::Borrowed(gram)),
            Body::Triangle(factor) => GramSpectrum::of(factor, exec)?,
        };
        Ok(ClosedSpectrum { closed: self, whole })
    }
}

/// The singular values of a summary.
pub struct ClosedSpectrum<'a> {
    closed: &'a Closed,
    whole: GramSpectrum<'a>,
}

impl ClosedSpectrum<'_> {
    /// The singular values of all samples (less their mean, where they are centered) that `cut` asks for, and their
    /// directions.
    pub fn leading(&self, cut: Select, exec: Exec<'_>) -> Result<Leading<'static>, Error> {
        let found = match &self.closed.body {
            Body::Gram { shape_only, .. } => {
                let few = if shape_only.cols > SMALL { self.whole.by_krylov(cut, exec)? } else { None };
                match few {
                    Some(found) => found,
                    None => self.whole.by_dense(cut, exec)?.ok_or(Error::CutTooLow)?,
                }
            }
            // A question does not depend on those before it: what they decomposed is not used again.
            Body::Triangle(factor) => {
                GramSpectrum::sharing_gram(factor, Cow::Borrowed(self.whole.gram())).leading(cut, exec)?
            }
        };
        Ok(without_samples(found, self.closed.rows))
    }

    /// The first `count` singular values, in descending order, and the value down to which they are accurate: zero for
    /// R. What S cannot separate from zero may be anything up to there.
    pub fn values(&self, count: usize, exec: Exec<'_>) -> Result<(Vec<f64>, f64), Error> {
        match &self.closed.body {
            Body::Gram { .. } => {
                let (mut sigma, reach) = self.whole.values_within_reach(exec)?;
                sigma.truncate(count.min(self.closed.rows));
                Ok((sigma, reach))
            }
            Body::Triangle(_) => Ok((self.leading(Select::Top(count), exec)?.sigma, 0.0)),
        }
    }

    /// The Gram matrix of the features.
    pub fn gram(&self) -> &Gram {
        self.whole.gram()
    }
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

/// A matrix of which only shape and rounding are left.
#[derive(Debug, Clone)]
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

/// R, and how far it is from the triangle of what was meant.
#[derive(Debug, Clone)]
struct Factor {
    r: Mat,
    rounding: f64,
}

impl Rows<f64> for Factor {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        self.r.read_row(i, cols, out);
    }
}

impl Blocks for Factor {
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

/// The answer of a matrix in memory where nothing is left to read again.
fn without_samples(found: Leading<'_>, rows: usize) -> Leading<'static> {
    assert!(found.samples.is_none(), "a summary is on the feature side");
    // Of fewer samples than features, the values past the number of samples are rounding.
    let p = rows.min(found.vectors.rows());
    let count = found.count.min(p);
    Leading {
        sigma: found.sigma.into_iter().take(p).collect(),
        count,
        interval: (found.interval.0.min(p), found.interval.1.min(p)),
        vectors: found.vectors.leading_columns((count + 1).min(p)),
        samples: None,
        ..found
    }
}

impl Deref for Finished {
    type Target = Leading<'static>;

    fn deref(&self) -> &Self::Target {
        &self.leading
    }
}
