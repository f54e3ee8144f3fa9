//! The probability that an eigenvalue above t remains beside the computed ones.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | B | `b` | the operator on the complement of V, positive semidefinite, eigenvalues λ₁ ≥ λ₂ ≥ … |
//! | s, b | `block`, [`PROBES`] | blocks of the Krylov space, Gaussian vectors that start it |
//! | ξ | `largest` | the largest Ritz value of B over that space |
//! | P | `chance` | probability that λ₁ ≥ t although ξ is as small as it is |
//!
//! *Theorem.* If λ₁(B) ≥ t > ξ, then P ≤ (η√(2p/π))ᵇ with η² = ξ / ((t − ξ) T²ₛ₋₁(2t/ξ − 1)), T the Chebyshev
//! polynomial. *Proof.* Let w be one of the b vectors, c₁ its component along the first eigenvector of B, c the others.
//! For any polynomial φ of degree s − 1, φ(B)w lies in the space of the s blocks, so its Rayleigh quotient is at most
//! ξ:
//! ```text
//!     c₁² φ(λ₁)² (λ₁ − ξ)  ≤  Σ cᵢ² φ(λᵢ)² (ξ − λᵢ) over λᵢ < ξ  ≤  ξ ‖c‖² max φ² over [0, ξ]
//! ```
//! With φ(x) = Tₛ₋₁(2x/ξ − 1), at most 1 on [0, ξ] and growing beyond, c₁² ≤ η²‖c‖². But c₁ is standard normal and
//! independent of c: its density is at most 1/√(2π), so this event has probability E[2η‖c‖]/√(2π) ≤ η√(2p/π). The b
//! vectors are independent, and for the value to stay undetected the event must happen for all of them. ∎ (The idea is
//! that of Kuczyński, Woźniakowski 1992 — `kuczynski1992` in `docs/references.bib`; deflation, blocks and Gaussian
//! vectors make it short.)
//!
//! The search ends when the probability is small enough, after any block of any round, so the bound is multiplied by
//! the number of tests at which it could have ended. The probability is over the draw of the vectors; they come from a
//! fixed seed, so that the same data give the same answer. Rounding is outside the theorem, so no probability below eps
//! is claimed.

use faer::MatRef;

use super::{Deflated, ROUNDS, remove};
use crate::Error;
use crate::exec::Exec;
use crate::krylov::Operator;
use crate::mat::Mat;
use crate::symmetric::tridiagonalize;

/// The search for a missed value ends at this probability.
pub(super) const CHANCE: f64 = 1e-9;
/// Gaussian vectors: b.
pub(super) const PROBES: usize = 8;
/// Maximum number of blocks: s.
const BLOCKS: usize = 64;
/// Number of tests after which the search may end.
const TESTS: f64 = (BLOCKS * ROUNDS) as f64;

/// The probability that an eigenvalue of `b` of `t` or more is not detected by Gaussian vectors; `None` where one is.
pub(super) fn unseen(b: &Deflated<'_>, t: f64, exec: Exec<'_>) -> Result<Option<f64>, Error> {
    let p = b.order();
    let mut random = Gaussian(p as u64 ^ 0x5eed_da7a);
    let mut w: Vec<f64> = (0..p * PROBES).map(|_| random.draw()).collect();
    remove(&mut w, b.v, p);
    let mut q: Vec<f64> = vec![];
    let mut projected: Vec<Vec<f64>> = vec![];
    let mut chance = 1.0;
    for block in 1..=BLOCKS {
        exec.report("verify", block - 1, BLOCKS)?;
        let first = q.len() / p;
        append_orthonormal(&mut q, &mut w, p);
        let width = q.len() / p - first;
        if width == 0 {
            return Ok(Some(f64::EPSILON)); // the space is closed: nothing of the vectors lies outside it
        }
        w.resize(p * width, 0.0);
        b.multiply(&q[first * p..], &mut w, exec.silent())?;
        let along = columns(&q, p).transpose() * columns(&w, p);
        projected.extend((0..width).map(|j| along.col(j).iter().copied().collect::<Vec<f64>>()));
        let largest = largest_eigenvalue(&projected, exec.silent())?;
        if largest >= t {
            return Ok(None);
        }
        chance = chance_of(largest, t, block, p);
        if chance <= CHANCE {
            break;
        }
    }
    Ok(Some(chance.max(f64::EPSILON)))
}

fn columns(values: &[f64], p: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, p, values.len() / p.max(1))
}

/// P of the theorem for s blocks, times the number of tests.
pub(super) fn chance_of(largest: f64, t: f64, s: usize, p: usize) -> f64 {
    if largest <= 0.0 {
        return f64::EPSILON;
    }
    let growth = (s - 1) as f64 * (2.0 * t / largest - 1.0).acosh();
    let chebyshev = growth + (0.5 * (1.0 + (-2.0 * growth).exp())).ln(); // ln cosh
    let eta = 0.5 * (largest / (t - largest)).ln() - chebyshev;
    let one = eta + 0.5 * (2.0 * p as f64 / std::f64::consts::PI).ln();
    (TESTS * (PROBES as f64 * one.min(0.0)).exp()).min(1.0)
}

/// The largest eigenvalue of the symmetric matrix whose columns are stored down to their own block at least.
fn largest_eigenvalue(columns: &[Vec<f64>], exec: Exec<'_>) -> Result<f64, Error> {
    let d = columns.len();
    let symmetric = Mat::from_fn(d, d, |i, j| columns[i.max(j)][i.min(j)]);
    Ok(tridiagonalize(symmetric, exec)?.values(exec)?[0])
}

/// Appends the columns of `w` to `q`, orthonormalized; columns that depend on those of `q` are dropped.
fn append_orthonormal(q: &mut Vec<f64>, w: &mut [f64], p: usize) {
    let norm = |w: &[f64]| w.iter().map(|x| x * x).sum::<f64>().sqrt();
    let longest = w.chunks_exact(p).map(norm).fold(0.0, f64::max);
    remove(w, q, p);
    for column in w.chunks_exact_mut(p) {
        remove(column, q, p);
        let length = norm(column);
        if length > 1e-12 * longest {
            q.extend(column.iter().map(|x| x / length));
        }
    }
}

/// Deterministic standard normal numbers.
struct Gaussian(u64);

impl Gaussian {
    /// Uniform in (0, 1] (SplitMix64).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// By Box and Muller.
    fn draw(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}
