//! The robust code of a sample over a dictionary: features that fit badly count for less.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (m × n) | `dictionary` = Aᵀ | training samples, in our rows |
//! | y | `y` | the sample, m features |
//! | x | `x` | its code, n entries |
//! | r | `rest` | Ax − y |
//! | w | `weights` | exp(−rⱼ² / (c · mean r²)), one for each feature; c is `width` |
//! | F | `inside` | the entries of x that are free; the others are zero |
//!
//! ```text
//!     max_x≥0 Σⱼ exp(−rⱼ²/2σ²),   2σ² = c · mean r²,   by half-quadratic steps:
//!
//!     F = ∅, w = 1.   repeat   g = Aᵀ(w ∘ r);   stop where no gᵢ outside F is negative;   F takes in the most negative
//!                              w from r, but for the first round
//!                              x_F towards  A_Fᵀ diag(w) A_F x_F = A_Fᵀ diag(w) y,   leaving out what would turn negative
//! ```
//! One refreshment of w for one entry of x: the weights settle while the code grows.
//!
//! Without the sign there is no F to grow: all n entries are free at once, more than there are features, and every
//! sample is fitted without a residual. So that form has a ridge, and is iterated until x stands still:
//!
//! ```text
//!     w = 1.   repeat   x = argmin Σⱼ wⱼrⱼ² + ρ‖x‖²;   w from r                  ρ = `ridge` · mean ‖aᵢ‖²
//! ```
//! in the smaller of its two forms, n × n or m × m. Weights that vanish do no harm in either.
//!
//! Samples are coded a few at a time, so that the dictionary is read once for four of them; a code does not depend on
//! the company.

use eigenspan_linalg::dense::{Cholesky, multiply, product};
use eigenspan_linalg::product::Columns;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::factorisation::{dot, squares};

/// Slopes up to this share of ‖aᵢ‖‖y‖ are rounding.
const SLACK: f64 = 1e-12;
/// A code that moves by less than this share of itself stands still.
const STILL: f64 = 1e-6;
/// Shares of the mean diagonal that are added to a singular system, one after the other.
const RIDGES: [f64; 4] = [0.0, 1e-13, 1e-10, 1e-7];

/// Parameters of a code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub nonnegative: bool,
    pub rounds: usize,
    pub width: f64,
    pub ridge: f64,
}

/// A dictionary, ready for samples.
pub(crate) struct Dictionary<'a> {
    samples: &'a Mat,
    rule: Rule,
    /// ‖aᵢ‖.
    lengths: Vec<f64>,
    columns: Columns,
    /// AAᵀ (m × m), where the signed form needs it.
    between_features: Option<Mat>,
}

/// The code of one sample.
pub(crate) struct Code {
    pub x: Vec<f64>,
    /// Of the last residual.
    pub weights: Vec<f64>,
    /// Whether the rounds sufficed.
    pub finished: bool,
}

/// A non-negative code that grows.
struct Growing<'y> {
    y: &'y [f64],
    x: Vec<f64>,
    inside: Vec<usize>,
    weights: Vec<f64>,
    rest: Vec<f64>,
    finished: bool,
}

impl<'a> Dictionary<'a> {
    /// Of samples in rows.
    pub fn new(samples: &'a Mat, rule: Rule, exec: Exec<'_>) -> Result<Self, Error> {
        let lengths = (0..samples.rows()).map(|i| squares(samples.row(i)).sqrt()).collect();
        let wide = !rule.nonnegative && samples.rows() > samples.cols();
        let between = wide.then(|| product(samples.view().transposed(), samples.view(), exec)).transpose()?;
        Ok(Self { samples, rule, lengths, columns: Columns::new(&samples.transposed()), between_features: between })
    }

    /// The codes of samples that lie row after row.
    pub fn codes(&self, samples: &[f64]) -> Vec<Code> {
        let each = samples.chunks_exact(self.samples.cols().max(1));
        if self.rule.nonnegative { self.grow(each) } else { each.map(|y| self.signed(y)).collect() }
    }

    fn grow<'y>(&self, samples: impl Iterator<Item = &'y [f64]>) -> Vec<Code> {
        let n = self.samples.rows();
        let mut codes: Vec<Growing<'_>> = samples.map(|y| Growing::new(y, n)).collect();
        for round in 0..=self.rule.rounds {
            let mut open: Vec<&mut Growing<'_>> = codes.iter_mut().filter(|code| !code.finished).collect();
            if open.is_empty() {
                break;
            }
            let pull = |code: &Growing<'_>| code.weights.iter().zip(&code.rest).map(|(w, r)| w * r).collect::<Vec<_>>();
            let pulls: Vec<f64> = open.iter().flat_map(|code| pull(code)).collect();
            let mut slopes = vec![0.0; open.len() * n];
            self.columns.multiply(&pulls, &mut slopes);
            for (code, slope) in open.iter_mut().zip(slopes.chunks_exact(n)) {
                match self.next(code, slope) {
                    None => code.finished = true,
                    Some(next) if round < self.rule.rounds => self.take_in(code, next, round > 0),
                    Some(_) => {}
                }
            }
        }
        let close = |code: Growing<'_>| {
            let weights = self.weights(&code.rest, code.y);
            Code { x: code.x, weights, finished: code.finished }
        };
        codes.into_iter().map(close).collect()
    }

    /// The sample outside F along which the error falls fastest, if it falls at all.
    fn next(&self, code: &Growing<'_>, slope: &[f64]) -> Option<usize> {
        let slack = SLACK * squares(code.y).sqrt();
        let mut outside = vec![true; slope.len()];
        code.inside.iter().for_each(|&i| outside[i] = false);
        let falls = |&i: &usize| outside[i] && slope[i] < -slack * self.lengths[i];
        (0..slope.len()).filter(falls).min_by(|a, b| slope[*a].total_cmp(&slope[*b]))
    }

    fn take_in(&self, code: &mut Growing<'_>, next: usize, refresh: bool) {
        if refresh {
            code.weights = self.weights(&code.rest, code.y);
        }
        code.inside.push(next);
        let all = code.inside.clone();
        let (gram, right) = self.weighted(&all, &code.weights, code.y);
        let mut kept: Vec<usize> = (0..all.len()).collect();
        loop {
            let target = solve(&gram, &right, &kept);
            // The share of the way on which nothing turns negative, and who stops it.
            let share = |(&k, t): (&usize, &f64)| {
                let here = code.x[all[k]];
                (if here > 0.0 { here / (here - t) } else { 0.0 }, k)
            };
            let ways = kept.iter().zip(&target).filter(|(_, t)| **t <= 0.0).map(share);
            let Some((share, blocking)) = ways.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                kept.iter().zip(&target).for_each(|(&k, t)| code.x[all[k]] = *t);
                break;
            };
            for (&k, t) in kept.iter().zip(&target) {
                let here = &mut code.x[all[k]];
                *here = if k == blocking { 0.0 } else { (*here + share * (t - *here)).max(0.0) };
            }
            kept.retain(|&k| k != blocking);
        }
        code.inside = kept.iter().map(|&k| all[k]).collect();
        code.rest = self.rest(&code.x, &code.inside, code.y);
    }

    /// A_Fᵀ diag(w) A_F and A_Fᵀ diag(w) y.
    fn weighted(&self, inside: &[usize], weights: &[f64], y: &[f64]) -> (Mat, Vec<f64>) {
        let m = y.len();
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let some = Mat::from_fn(inside.len(), m, |k, j| roots[j] * self.samples.at(inside[k], j));
        let mut gram = Mat::zeros(inside.len(), inside.len());
        multiply(some.view(), some.view().transposed(), gram.as_mut_slice());
        let target: Vec<f64> = roots.iter().zip(y).map(|(w, y)| w * y).collect();
        let right = (0..inside.len()).map(|k| dot(some.row(k), &target)).collect();
        (gram, right)
    }

    /// Ax − y.
    fn rest(&self, x: &[f64], inside: &[usize], y: &[f64]) -> Vec<f64> {
        let mut rest: Vec<f64> = y.iter().map(|y| -y).collect();
        for &i in inside {
            rest.iter_mut().zip(self.samples.row(i)).for_each(|(r, a)| *r += x[i] * a);
        }
        rest
    }

    /// w; all one where nothing is left but rounding.
    fn weights(&self, rest: &[f64], y: &[f64]) -> Vec<f64> {
        let (left, mean) = (squares(rest), squares(rest) / rest.len() as f64);
        if left <= 16.0 * f64::EPSILON * f64::EPSILON * squares(y) {
            return vec![1.0; rest.len()];
        }
        rest.iter().map(|r| (-r * r / (self.rule.width * mean)).exp()).collect()
    }

    fn signed(&self, y: &[f64]) -> Code {
        let n = self.samples.rows();
        let all: Vec<usize> = (0..n).collect();
        let ridge = self.rule.ridge * squares(&self.lengths) / n as f64;
        let (mut x, mut weights, mut finished) = (vec![0.0; n], vec![1.0; y.len()], false);
        for _ in 0..self.rule.rounds {
            let new = match &self.between_features {
                Some(between) => self.by_features(between, &weights, y, ridge),
                None => {
                    let (mut gram, right) = self.weighted(&all, &weights, y);
                    (0..n).for_each(|i| gram.row_mut(i)[i] += ridge);
                    solve(&gram, &right, &all)
                }
            };
            let moved: f64 = new.iter().zip(&x).map(|(a, b)| (a - b) * (a - b)).sum();
            finished = moved <= STILL * STILL * squares(&new);
            x = new;
            weights = self.weights(&self.rest(&x, &all, y), y);
            if finished {
                break;
            }
        }
        Code { x, weights, finished }
    }

    /// x = AᵀS (S AAᵀ S + ρI)⁻¹ S y with S = √diag(w).
    fn by_features(&self, between: &Mat, weights: &[f64], y: &[f64], ridge: f64) -> Vec<f64> {
        let m = y.len();
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let at = |i: usize, j: usize| roots[i] * between.at(i, j) * roots[j] + if i == j { ridge } else { 0.0 };
        let target: Vec<f64> = roots.iter().zip(y).map(|(s, y)| s * y).collect();
        let mut dual = solve(&Mat::from_fn(m, m, at), &target, &(0..m).collect::<Vec<_>>());
        dual.iter_mut().zip(&roots).for_each(|(u, s)| *u *= s);
        (0..self.samples.rows()).map(|i| dot(self.samples.row(i), &dual)).collect()
    }
}

impl<'y> Growing<'y> {
    fn new(y: &'y [f64], n: usize) -> Self {
        let rest = y.iter().map(|y| -y).collect();
        Self { y, x: vec![0.0; n], inside: vec![], weights: vec![1.0; y.len()], rest, finished: false }
    }
}

/// The solution of a positive system over some of its unknowns. A singular one gets the smallest ridge that serves;
/// zero where none does.
fn solve(gram: &Mat, right: &[f64], some: &[usize]) -> Vec<f64> {
    let p = some.len();
    let mean = some.iter().map(|&k| gram.at(k, k)).sum::<f64>() / p.max(1) as f64;
    for ridge in RIDGES {
        let at = |a: usize, b: usize| gram.at(some[a], some[b]) + if a == b { ridge * mean } else { 0.0 };
        if let Some(factor) = Cholesky::of(Mat::from_fn(p, p, at)) {
            let mut x: Vec<f64> = some.iter().map(|&k| right[k]).collect();
            factor.solve(&mut x);
            return x;
        }
    }
    vec![0.0; p]
}
