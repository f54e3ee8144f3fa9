//! Newton's method for w: the function is made of quadratic pieces, one for each set of samples short of their margin.
//!
//! ```text
//!     S = { i : yᵢ w·xᵢ < 1 }
//!     v = argmin ½‖v‖² + C Σ_S (1 − yᵢ v·xᵢ)²                       one linear system
//!     the set of v is S:   v is the lowest point of all
//!     otherwise            w ← w + t (v − w),  t the least along that line
//! ```
//! Every step goes downhill and there are finitely many sets, so that it ends; in practice after a few steps.

use eigenspan_linalg::{Error, Exec};

use super::descent::Reached;
use super::margins::{Margins, Problem};

/// Steps at most: a handful is the rule.
const MOST_STEPS: usize = 100;

/// From w to the lowest point. Between steps `exec` may stop it.
pub(super) fn finish<M: Margins>(
    problem: &Problem<'_>,
    mut w: M,
    tolerance: f64,
    exec: Exec<'_>,
) -> Result<Reached<M>, Error> {
    let (mut steps, mut settled, mut known) = (0, false, None);
    let mut margins = w.all();
    let mut support = problem.support(&margins);
    while steps < MOST_STEPS && !settled {
        exec.check()?;
        let Some(v) = w.least_squares(&support, problem, &mut known) else { break };
        steps += 1;
        let there = v.all();
        let its_support = problem.support(&there);
        settled = its_support == support;
        if settled {
            w = v;
            break;
        }
        let step = along(problem, &w, &v, &margins, &there);
        // Nothing lower on the way but what rounding makes of it.
        if step.is_nan() || step <= f64::EPSILON {
            break;
        }
        w.toward(&v, step);
        margins = w.all();
        support = problem.support(&margins);
    }
    let violation = violation(problem, &w);
    Ok(Reached { margins: w, rounds: steps, violation, converged: settled || violation <= tolerance })
}

/// t ≥ 0 at which w + t (v − w) is lowest: the slope along the line is made of straight pieces and grows.
fn along<M: Margins>(problem: &Problem<'_>, w: &M, v: &M, from: &[f64], to: &[f64]) -> f64 {
    let (ww, wv, vv) = (w.dot(w), w.dot(v), v.dot(v));
    // The slope at t is a + b·t.
    let (mut a, mut b) = (wv - ww, ww - 2.0 * wv + vv);
    let mut turns = vec![];
    for (i, side) in problem.sides.iter().enumerate() {
        let (short, gain) = (1.0 - side * from[i], side * (to[i] - from[i]));
        let (of_a, of_b) = (-2.0 * problem.cost * short * gain, 2.0 * problem.cost * gain * gain);
        let counts = short > 0.0 || (short == 0.0 && gain < 0.0);
        if counts {
            (a, b) = (a + of_a, b + of_b);
        }
        if counts == (gain > 0.0) && gain != 0.0 {
            let sign = if counts { -1.0 } else { 1.0 };
            turns.push((short / gain, sign * of_a, sign * of_b));
        }
    }
    turns.sort_by(|x, y| x.0.total_cmp(&y.0));
    for (turn, of_a, of_b) in turns {
        if a + b * turn >= 0.0 {
            break;
        }
        (a, b) = (a + of_a, b + of_b);
    }
    -a / b
}

/// max p − min p with the α = 2C max(0, 1 − y w·x) that belongs to w, as [`super::descent`] counts it.
fn violation<M: Margins>(problem: &Problem<'_>, w: &M) -> f64 {
    let margins = w.all();
    let held = problem.support(&margins);
    let alpha = |i: usize| 2.0 * problem.cost * (1.0 - problem.sides[i] * margins[i]).max(0.0);
    let weights: Vec<f64> = held.iter().map(|&i| alpha(i) * problem.sides[i]).collect();
    let again = w.of(&held, &weights).all();
    let (mut lowest, mut highest) = (0.0_f64, 0.0_f64);
    for (i, side) in problem.sides.iter().enumerate() {
        let slope = side * again[i] - 1.0 + alpha(i) / (2.0 * problem.cost);
        let followed = if alpha(i) == 0.0 { slope.min(0.0) } else { slope };
        (lowest, highest) = (lowest.min(followed), highest.max(followed));
    }
    highest - lowest
}
