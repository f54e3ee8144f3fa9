//! The reduction of some rows, and the sum of two reductions: the ⊕ of [`summary`](super).
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | Y | | the rows that were squared: samples minus the computed mean of their block, and a row w for each ⊕ |
//! | Ŝ, R | `square` | YᵀY up to rounding, or a triangle of Y |
//! | e | `error` | ‖Ŝ − YᵀY‖₂ ≤ e (zero for R, whose rounding is counted at the end) |
//! | h | `perturbation` | ‖Y − Y*‖_F ≤ h, Y* the same rows without rounding, (Y*)ᵀY* = CᵀC |
//! | δ | `drift` | ‖μ̂ − μ‖₂ ≤ δ |
//!
//! By Weyl's inequality σ(Y) is within h of σ(C), and e refers to Y, as [`certificate`](crate::certificate) requires.
//!
//! **A block** of b rows. Let ẑ = (x − high) − low, Z their matrix. Both subtractions round by u = eps/2 of their
//! result, and |x − high| ≤ |ẑ| + |low|. The mean is the sum of b such differences divided by b, so its error is
//! ```text
//!     ‖μ̂ − μ‖ ≤ γ_{b+8}·(‖Z‖_F + √b·‖low‖) / √b        (the 8 covers subtractions, division and one sum)
//! ```
//! and Y* − Y, the rows 1(μ̂ − μ)ᵀ and the rounding of ẑ, has a norm of at most 2γ_{b+8}·(‖Z‖_F + √b·‖low‖).
//!
//! **⊕**, with d = μ₂ − μ₁ and w = √(n₁n₂/n)·d. The error of d̂ is δ₁ + δ₂ and the rounding of three differences, of
//! which |high₂ − high₁| ≤ |d̂| + |low₁| + |low₂|; the weight and the product round four times more. Thus, with s =
//! 8u·(‖d̂‖ + ‖low₁‖ + ‖low₂‖),
//! ```text
//!     h² = h₁² + h₂² + (n₁n₂/n)·(δ₁ + δ₂ + s)²        δ = (n₁δ₁ + n₂δ₂)/n + s
//! ```
//! An entry of S = S₁ + S₂ + wwᵀ rounds three times, and |S| ≤ ttᵀ for the vector t of roots of its diagonal, hence
//! e = e₁ + e₂ + γ₄·tr S.

use super::mean::Mean;
use super::{Form, Kind};
use crate::Error;
use crate::exec::Exec;
use crate::gram::{Gram, UNIT, gamma};
use crate::mat::Mat;
use crate::triangle::{merge, triangle};

/// Rows of S that one thread adds together.
const STRIPE: usize = 64;

/// The reduction of some rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reduction {
    pub(super) form: Form,
    pub(super) rows: usize,
    /// Where samples are centered.
    pub(super) mean: Option<Mean>,
    pub(super) square: Mat,
    pub(super) error: f64,
    pub(super) perturbation: f64,
    pub(super) drift: f64,
}

impl Reduction {
    pub(super) fn empty(kind: Kind) -> Self {
        let m = kind.features;
        let mean = kind.centered.then(|| Mean::zero(m));
        Self { form: kind.form, rows: 0, mean, square: Mat::zeros(m, m), error: 0.0, perturbation: 0.0, drift: 0.0 }
    }

    /// The reduction of a block.
    pub(super) fn of(mut rows: Mat, kind: Kind, exec: Exec<'_>) -> Result<Self, Error> {
        let b = rows.rows();
        let mean = kind.centered.then(|| Mean::of(&rows));
        if let Some(mean) = &mean {
            (0..b).for_each(|i| mean.subtract_from(rows.row_mut(i)));
        }
        let (square, size, error) = match kind.form {
            Form::Gram => {
                let gram = Gram::of(&no_wider_than_high(rows), exec)?;
                let size = gram.trace().sqrt();
                (gram.matrix, size, gram.error)
            }
            Form::Triangle => {
                let r = triangle(&rows, exec)?;
                let size = norm(r.as_slice());
                (r, size, 0.0)
            }
        };
        let (mut perturbation, mut drift) = (0.0, 0.0);
        if let Some(mean) = &mean {
            let root = (b as f64).sqrt();
            let off = gamma(b + 8) * (size + root * norm(&mean.low));
            (perturbation, drift) = (2.0 * off, off / root);
        }
        Ok(Self { form: kind.form, rows: b, mean, square, error, perturbation, drift })
    }

    /// Self ⊕ `next`. After an error `self` must be discarded.
    pub(super) fn absorb(&mut self, next: &Self, exec: Exec<'_>) -> Result<(), Error> {
        if next.rows == 0 {
            return Ok(());
        }
        if self.rows == 0 {
            self.clone_from(next);
            return Ok(());
        }
        let link = self.link(next);
        self.rows += next.rows;
        self.perturbation = self.perturbation.hypot(next.perturbation).hypot(link.off);
        match self.form {
            Form::Gram => {
                self.add(&next.square, &link.row, exec)?;
                let trace: f64 = (0..self.square.rows()).map(|i| self.square.at(i, i)).sum();
                self.error += next.error + gamma(4) * trace;
            }
            Form::Triangle => {
                let mut below = next.square.clone().into_vec();
                below.extend(&link.row);
                let (height, m) = (below.len() / self.square.cols(), self.square.cols());
                let below = Mat::from_vec(height, m, below).expect("the rows below R are whole");
                self.square = merge(&self.square, &below, exec)?;
            }
        }
        Ok(())
    }

    /// The row w, empty where samples are not centered; updates the mean.
    fn link(&mut self, next: &Self) -> Link {
        let (Some(mean), Some(other)) = (&mut self.mean, &next.mean) else { return Link { row: vec![], off: 0.0 } };
        let (n1, n2) = (self.rows as f64, next.rows as f64);
        let share = n2 / (n1 + n2);
        let weight = (n1 * share).sqrt();
        let gap = mean.gap(other);
        let slip = 8.0 * UNIT * (norm(&gap) + norm(&mean.low) + norm(&other.low));
        let off = weight * (self.drift + next.drift + slip);
        self.drift = (1.0 - share) * self.drift + share * next.drift + slip;
        mean.add(&gap, share);
        Link { row: gap.iter().map(|d| weight * d).collect(), off }
    }

    /// S ← S + S₂ + wwᵀ, symmetric to the last bit.
    fn add(&mut self, square: &Mat, w: &[f64], exec: Exec<'_>) -> Result<(), Error> {
        let m = square.cols();
        exec.each_chunk("merge", self.square.as_mut_slice(), STRIPE * m, |stripe, rows| {
            for (i, row) in (stripe * STRIPE..).zip(rows.chunks_exact_mut(m)) {
                row.iter_mut().zip(square.row(i)).for_each(|(s, t)| *s += t);
                if let Some(wi) = w.get(i) {
                    row.iter_mut().zip(w).for_each(|(s, wj)| *s += wi * wj);
                }
            }
        })
    }
}

/// w, and a bound on its error.
struct Link {
    row: Vec<f64>,
    off: f64,
}

/// The rows, padded with zero rows until a short block is square, so that its Gram matrix is on the feature side.
fn no_wider_than_high(rows: Mat) -> Mat {
    let (n, m) = (rows.rows().max(rows.cols()), rows.cols());
    let mut values = rows.into_vec();
    values.resize(n * m, 0.0);
    Mat::from_vec(n, m, values).expect("whole rows were added")
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}
