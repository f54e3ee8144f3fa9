//! What of a row or a column the rest of a matrix cannot predict: the diagonals of two resolvents.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | `x` | n × m |
//! | G | `gram` | XXᵀ or XᵀX, p × p, whichever is smaller |
//! | η | `eta` | the ridge, positive |
//! | L | | LLᵀ = G + η²I |
//! | g | [`Resolvent::own`] | [(G + η²I)⁻¹]_ii |
//! | g′ | [`Resolvent::counterpart`] | the same of the other side |
//!
//! One Cholesky factor gives both. With Z the rows or columns of X along the long side, so that G = ZᵀZ and z_j is the j-th row of Z,
//! ```text
//!     [(G + η²I)⁻¹]_ii = ‖L⁻¹e_i‖²        [(ZZᵀ + η²I)⁻¹]_jj = (1 − z_jᵀ(G + η²I)⁻¹z_j) / η² = (1 − ‖L⁻¹z_j‖²) / η²
//! ```
//! The second is Woodbury's identity. η²g lies between 0 and 1: 1 where a row is nothing but what η² adds, 0 where the others tell
//! it exactly.

use std::ops::Range;

use crate::Error;
use crate::blocks::Blocks;
use crate::dense::Cholesky;
use crate::exec::Exec;
use crate::gram::{Gram, Side};
use crate::mat::MatMut;
use crate::scale::times_power_of_two;

/// Right-hand sides that are solved for at once.
const AT_ONCE: usize = 64;

/// L, the Cholesky factor of G + η²I.
pub struct Resolvent {
    factor: Cholesky,
    order: usize,
    /// 2^e: what is read of X is X divided by it.
    exponent: i32,
    /// η² in the units of what is read.
    square: f64,
}

impl Resolvent {
    /// Of a Gram matrix whose rows are read divided by 2^`exponent`. `None` where G + η²I is not positive definite in floating
    /// point: η is below the rounding of G.
    pub fn of(gram: &Gram, exponent: i32, eta: f64, exec: Exec<'_>) -> Result<Option<Self>, Error> {
        let order = gram.order();
        let square = times_power_of_two(eta, -exponent).powi(2);
        let mut shifted = gram.matrix.clone();
        (0..order).for_each(|i| shifted.row_mut(i)[i] += square);
        let factor = exec.aside("factor", move || Cholesky::of(shifted))?;
        Ok(factor.map(|factor| Self { factor, order, exponent, square }))
    }

    /// g: the diagonal of (G + η²I)⁻¹.
    pub fn own(&self, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let identity = |some: Range<usize>, out: &mut [f64]| {
            some.clone().enumerate().for_each(|(j, i)| out[i * some.len() + j] = 1.0);
        };
        let squares = self.squares(self.order, identity, exec)?;
        Ok(squares.into_iter().map(|square| self.unscaled(square)).collect())
    }

    /// g′: the same on the other side of `x`, whose Gram matrix G is.
    pub fn counterpart(&self, x: &dyn Blocks, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let (p, side) = (self.order, Side::of(x));
        let long_side = |some: Range<usize>, out: &mut [f64]| match side {
            Side::Features => x.read(some.clone(), 0..p, &mut MatMut::row_major(out, some.len()).transposed()),
            Side::Samples => x.read(0..p, some.clone(), &mut MatMut::row_major(out, some.len())),
        };
        let squares = self.squares(x.rows().max(x.cols()), long_side, exec)?;
        Ok(squares.into_iter().map(|h| self.unscaled((1.0 - h).max(0.0) / self.square)).collect())
    }

    /// ‖L⁻¹b‖² for each of `count` right-hand sides b. `fill` writes some of them to zeros, row i of what it writes holding entry i of
    /// each.
    fn squares(
        &self,
        count: usize,
        fill: impl Fn(Range<usize>, &mut [f64]) + Sync,
        exec: Exec<'_>,
    ) -> Result<Vec<f64>, Error> {
        let mut squares = vec![0.0; count];
        exec.each_chunk("leverages", &mut squares, AT_ONCE, |chunk, out| {
            let some = chunk * AT_ONCE..chunk * AT_ONCE + out.len();
            let mut b = vec![0.0; self.order * out.len()];
            fill(some, &mut b);
            self.factor.solve_lower(&mut b, out.len());
            for row in b.chunks_exact(out.len()) {
                out.iter_mut().zip(row).for_each(|(sum, y)| *sum += y * y);
            }
        })?;
        Ok(squares)
    }

    fn unscaled(&self, of_square: f64) -> f64 {
        times_power_of_two(of_square, -2 * self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mat::Mat;

    #[test]
    fn diagonals_of_both_sides_are_those_of_the_dense_inverses() {
        for (n, m) in [(1, 1), (5, 3), (3, 5), (150, 70), (70, 150), (64, 64)] {
            let x = Mat::from_fn(n, m, |i, j| ((3 * i + 7 * j + i * j) as f64).sin());
            let gram = Gram::of(&x, Exec::default()).unwrap();
            for eta in [0.3, 2.0] {
                let resolvent = Resolvent::of(&gram, 0, eta, Exec::default()).unwrap().unwrap();
                let own = resolvent.own(Exec::default()).unwrap();
                let other = resolvent.counterpart(&x, Exec::default()).unwrap();
                let (samples, features) = if n < m { (own, other) } else { (other, own) };
                let close = |got: &[f64], want: &[f64]| {
                    // A condition of at most ‖X‖²/η² ≤ nm/η² times the rounding of p sums.
                    let slack = 1e2 * (n * m) as f64 * (n + m) as f64 * f64::EPSILON / eta.powi(4);
                    got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() <= slack)
                };
                assert!(close(&samples, &inverse_diagonal(&x, eta)), "{n} × {m}, η = {eta}");
                assert!(close(&features, &inverse_diagonal(&x.transposed(), eta)), "{n} × {m}, η = {eta}");
            }
        }
    }

    /// The diagonal of (XXᵀ + η²I)⁻¹ by Gauss–Jordan elimination of the whole matrix.
    fn inverse_diagonal(x: &Mat, eta: f64) -> Vec<f64> {
        let n = x.rows();
        let inner = |i: usize, j: usize| x.row(i).iter().zip(x.row(j)).map(|(a, b)| a * b).sum::<f64>();
        let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
        let mut a =
            Mat::from_fn(n, 2 * n, |i, j| if j < n { inner(i, j) + eta * eta * unit(i, j) } else { unit(i, j - n) });
        for pivot in 0..n {
            let row: Vec<f64> = a.row(pivot).iter().map(|v| v / a.at(pivot, pivot)).collect();
            for i in 0..n {
                let factor = a.at(i, pivot);
                let other = a.row_mut(i);
                if i == pivot {
                    other.copy_from_slice(&row);
                } else {
                    other.iter_mut().zip(&row).for_each(|(v, p)| *v -= factor * p);
                }
            }
        }
        (0..n).map(|i| a.at(i, n + i)).collect()
    }

    #[test]
    fn a_ridge_below_rounding_is_refused() {
        let x = Mat::from_fn(6, 3, |i, _| i as f64 + 1.0);
        let gram = Gram::of(&x, Exec::default()).unwrap();
        assert!(Resolvent::of(&gram, 0, 0.0, Exec::default()).unwrap().is_none());
        assert!(Resolvent::of(&gram, 0, 1.0, Exec::default()).unwrap().is_some());
    }
}
