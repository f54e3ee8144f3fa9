//! From a summary to singular values, by the solvers that serve a matrix in memory.
//!
//! S is handed to the Gram path as the Gram matrix of a matrix whose rows are gone: on the feature side nothing reads them.
//! R is a small matrix of its own, with the singular values of the samples, and is decomposed as one. What is known about
//! rounding goes along: e as the error of the Gram matrix, h (and the rounding of R) as that of the matrix.

use std::ops::Range;

use super::mean::Mean;
use super::{Form, Summary};
use crate::Error;
use crate::blocks::{Blocks, Rows};
use crate::certificate::Certificate;
use crate::exec::Exec;
use crate::gram::{Gram, Side};
use crate::mat::Mat;
use crate::spectrum::{Compressed, Cut, Leading, SMALL, spectrum};

impl Summary {
    /// The singular values of all samples (less their mean, where they are centred) that `cut` asks for, and their
    /// directions.
    pub fn finish(&self, cut: Cut, exec: Exec<'_>) -> Result<Finished, Error> {
        let whole = self.closed(exec)?;
        if whole.rows == 0 {
            return Err(Error::NoRows);
        }
        let n = whole.rows as f64;
        let blur = whole.blur.hypot(n.sqrt() * self.row_rounding);
        let mean = whole.mean.as_ref().map(Mean::rounded);
        match self.kind.form {
            Form::Gram => {
                let gone = Gone { rows: whole.rows, cols: self.kind.features, rounding: blur };
                let gram = Gram { matrix: whole.square, side: Side::Features, error: whole.error, chance: 0.0 };
                let compressed = Compressed::with_gram(&gone, gram);
                let few = if self.kind.features > SMALL { compressed.by_krylov(cut, exec)? } else { None };
                let found = match few {
                    Some(found) => found,
                    None => compressed.by_dense(cut, exec)?.ok_or(Error::CutTooLow)?,
                };
                Finished::new(&found, whole.rows, mean, exec)
            }
            Form::Triangle => {
                // As `resolution`, with the rows that R came from.
                let own = 4.0 * n * f64::EPSILON * largest_value(&whole.square);
                let factor = Factor { r: &whole.square, rounding: blur + own };
                Finished::new(&spectrum(&factor, cut, exec)?, whole.rows, mean, exec)
            }
        }
    }
}

/// σ₁ is at most this: ‖R‖_F, or √(‖R‖₁‖R‖_∞) where that is less.
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
struct Gone {
    rows: usize,
    cols: usize,
    rounding: f64,
}

impl Rows<f64> for Gone {
    fn read_row(&self, _: usize, _: Range<usize>, _: &mut [f64]) {
        unreachable!("the feature side of a Gram matrix answers without the rows");
    }
}

impl Blocks for Gone {
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

/// The singular values above a cut, as in [`Leading`], with all that a model needs and nothing to read again.
#[derive(Debug, Clone)]
pub struct Finished {
    /// n.
    pub rows: usize,
    /// μ, where samples are centred.
    pub mean: Option<Vec<f64>>,
    /// The leading singular values, largest first: those above the cut, at least one past it, and all that are known.
    pub sigma: Vec<f64>,
    /// How many are above the cut.
    pub count: usize,
    /// The smallest and the largest number that may be above, rounding considered.
    pub interval: (usize, usize),
    /// The chance that `interval` is wrong; zero where it is proved.
    pub chance: f64,
    /// σ is told from τ where they differ by more than this share of τ.
    pub margin: f64,
    /// ‖C‖_F.
    pub norm: f64,
    /// How it was computed.
    pub solver: &'static str,
    /// U (m × (count + 1), or m × count where there are no more): directions, the largest entry of each positive.
    pub basis: Mat,
}

impl Finished {
    fn new(found: &Leading<'_>, rows: usize, mean: Option<Vec<f64>>, exec: Exec<'_>) -> Result<Self, Error> {
        let m = found.small_side(0).rows();
        let p = rows.min(m);
        let count = found.count.min(p);
        Ok(Self {
            rows,
            mean,
            sigma: found.sigma.iter().copied().take(p).collect(),
            count,
            interval: (found.interval.0.min(p), found.interval.1.min(p)),
            chance: found.chance,
            margin: found.margin,
            norm: found.norm,
            solver: found.solver,
            basis: found.basis((count + 1).min(p), exec)?,
        })
    }

    /// How sure `count` is.
    pub fn certificate(&self) -> Certificate {
        Certificate::of(self.interval, self.chance)
    }
}
