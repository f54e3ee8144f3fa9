//! Coordinate descent in α: one sample after the other, each to the least of its own parabola.
//!
//! ```text
//!     gᵢ = yᵢ w·xᵢ − 1 + αᵢ/(2C)                                    the slope in αᵢ
//!     pᵢ = gᵢ,  but 0 where αᵢ = 0 and gᵢ > 0                       what of it can be followed
//!     αᵢ ← max(αᵢ − gᵢ/(‖xᵢ‖² + 1/(2C)), 0),   w = Σ αᵢ yᵢ xᵢ       in random order, again and again
//! ```
//! A sample with αᵢ = 0 and gᵢ above the largest p of the round before is left out of the rounds that follow. The rounds end when
//! max p − min p ≤ tolerance in a round of all samples; where some were left out, they come back first.

use eigenspan_linalg::random::Random;
use eigenspan_linalg::{Error, Exec};

use super::margins::{Margins, Problem};

/// Slopes that are not worth a step.
const FLAT: f64 = 1e-12;

/// When the descent ends.
pub(super) struct Descent {
    /// max p − min p at which it is done.
    pub tolerance: f64,
    /// Rounds at most.
    pub max_iter: usize,
}

/// Where an iteration ended.
pub(super) struct Reached<M> {
    /// w.
    pub margins: M,
    /// Rounds done.
    pub rounds: usize,
    /// max p − min p.
    pub violation: f64,
    /// Whether that is what was asked for.
    pub converged: bool,
}

impl Descent {
    /// Descends from w = 0. Between rounds `exec` may stop it.
    pub fn run<M: Margins>(
        &self,
        problem: &Problem<'_>,
        zero: M,
        seed: u64,
        exec: Exec<'_>,
    ) -> Result<Reached<M>, Error> {
        let n = problem.sides.len();
        let mut random = Random::new(seed);
        let mut alpha = vec![0.0; n];
        let mut order: Vec<usize> = (0..n).collect();
        let (mut active, mut limit) = (n, f64::INFINITY);
        let mut reached = Reached { margins: zero, rounds: 0, violation: f64::INFINITY, converged: false };
        while reached.rounds < self.max_iter {
            exec.check()?;
            for i in (1..active).rev() {
                // The high bits of a product: below i + 1.
                let other = (u128::from(random.bits()) * (i as u128 + 1)) >> 64;
                order.swap(i, other as usize);
            }
            let (lowest, highest) = round(problem, &mut reached.margins, &mut alpha, &mut order, &mut active, limit);
            reached.rounds += 1;
            reached.violation = (highest - lowest).max(0.0);
            if highest - lowest > self.tolerance {
                limit = if highest > 0.0 { highest } else { f64::INFINITY };
            } else if active == n {
                reached.converged = true;
                break;
            } else {
                (active, limit) = (n, f64::INFINITY);
            }
        }
        Ok(reached)
    }
}

/// One round through the first `active` of `order`. Those that are left out move behind them. The least and the largest p.
fn round<M: Margins>(
    problem: &Problem<'_>,
    w: &mut M,
    alpha: &mut [f64],
    order: &mut [usize],
    active: &mut usize,
    limit: f64,
) -> (f64, f64) {
    let ridge = 0.5 / problem.cost;
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut place = 0;
    while place < *active {
        let i = order[place];
        let side = problem.sides[i];
        let slope = side * w.at(i) - 1.0 + alpha[i] * ridge;
        if alpha[i] == 0.0 && slope > limit {
            *active -= 1;
            order.swap(place, *active);
            continue;
        }
        place += 1;
        let followed = if alpha[i] == 0.0 { slope.min(0.0) } else { slope };
        (lowest, highest) = (lowest.min(followed), highest.max(followed));
        if followed.abs() > FLAT {
            let next = (alpha[i] - slope / (problem.squares[i] + ridge)).max(0.0);
            w.add(i, (next - alpha[i]) * side);
            alpha[i] = next;
        }
    }
    (lowest, highest)
}
