//! RPCA by the accelerated proximal gradient method with continuation, as the paper ran it.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A, A⁻ | `low`, `low_before` | the low-rank part of this round and the one before |
//! | E, E⁻ | `sparse`, `sparse_before` | the sparse part, likewise |
//! | B, F | | where both are taken by their momentum |
//! | t, μ | `t`, `mu` | Nesterov's sequence, and the weight of both norms |
//!
//! ```text
//!     min  μ‖A‖_* + μλ‖E‖₁ + ½‖D − A − E‖²_F        μ from ‖D‖₂ down to 1e-9‖D‖₂, a tenth less a round
//!
//!     B = A + (t⁻ − 1)/t (A − A⁻),   F = E + (t⁻ − 1)/t (E − E⁻)
//!     A ← S_{μ/2}(B − (B + F − D)/2),   E ← soft(F − (B + F − D)/2, λμ/2)
//!     end        ‖S‖_F / (2‖(A, E)‖_F) below the tolerance, after more than ten rounds
//!                S = 2(B − A) + (A + E − B − F)  and  2(F − E) + (A + E − B − F)
//! ```
//! The end of a round and the beginning of the next are one pass over the seven matrices.

use eigenspan_linalg::rows::energy;
use eigenspan_linalg::{Exec, Mat};

use super::Task;
use crate::Error;
use crate::method::parts::alternation::{soft, some_rows, stripe};
use crate::method::parts::low_rank::LowRank;
use crate::method::parts::singular_threshold::SingularThreshold;
use crate::model::decomposed::Split;
use crate::model::trace::Trace;

/// μ is multiplied by this after every round.
const FALL: f64 = 0.9;
/// μ stays above this share of ‖D‖₂.
const LEAST: f64 = 1e-9;
/// No end before so many rounds.
const ROUNDS: usize = 10;

struct State<'a> {
    data: &'a Mat,
    lambda: f64,
    low: Mat,
    low_before: Mat,
    sparse: Mat,
    sparse_before: Mat,
    /// E of the round under way.
    next: Mat,
    /// What the singular values are taken from.
    target: Mat,
    t: [f64; 2],
    mu: f64,
}

/// Some rows of every matrix that a round changes.
struct Stripe<'a> {
    low: &'a mut [f64],
    low_before: &'a mut [f64],
    sparse: &'a mut [f64],
    sparse_before: &'a mut [f64],
    next: &'a mut [f64],
    target: &'a mut [f64],
    /// ‖S‖² and ‖(A, E)‖².
    squares: &'a mut [f64; 2],
}

pub(super) fn solve(task: &Task<'_>, exec: Exec<'_>) -> Result<Split, Error> {
    let Task { data, lambda, first, tolerance, rounds, .. } = *task;
    let zeros = || Mat::zeros(data.rows(), data.cols());
    let mut target = data.clone();
    target.as_mut_slice().iter_mut().for_each(|v| *v *= 0.5);
    let mut next = target.clone();
    next.as_mut_slice().iter_mut().for_each(|v| *v = soft(*v, 0.5 * lambda * first));
    let mut state = State {
        data,
        lambda,
        low: zeros(),
        low_before: zeros(),
        sparse: zeros(),
        sparse_before: zeros(),
        next,
        target,
        t: [1.0, 1.0],
        mu: first,
    };
    let mut trace = Trace::of("relative subgradient");
    let mut shrink = SingularThreshold::default();
    loop {
        let low_rank = shrink.of(&state.target, 0.5 * state.mu, exec)?;
        let size = state.advance(&low_rank, (FALL * state.mu).max(LEAST * first), exec)?;
        exec.report("separate", trace.rounds + 1, rounds)?;
        let converged = size <= tolerance && trace.rounds >= ROUNDS;
        if trace.ended(size, converged, rounds) {
            return Ok(Split { low_rank, sparse: state.sparse, trace });
        }
    }
}

impl State<'_> {
    /// Ends the round whose low-rank part is `low_rank`, and begins the next one with the weight `mu`: how far it was
    /// from a solution.
    fn advance(&mut self, low_rank: &LowRank, mu: f64, exec: Exec<'_>) -> Result<f64, Error> {
        let momentum = |[before, t]: [f64; 2]| (before - 1.0) / t;
        let pull = momentum(self.t);
        self.t = [self.t[1], 0.5 * (1.0 + (1.0 + 4.0 * self.t[1] * self.t[1]).sqrt())];
        let pulls = [pull, momentum(self.t)];
        self.mu = mu;
        let threshold = 0.5 * self.lambda * mu;
        let (m, data) = (self.data.cols(), self.data.as_slice());
        let height = stripe(self.data.rows(), m);
        let size = height * m;
        let mut squares = vec![[0.0; 2]; data.len().div_ceil(size)];
        let stripes = self.stripes(size, &mut squares);
        exec.silent().each("separate", stripes.into_iter(), |part, stripe| {
            let data = &data[part * size..][..stripe.low.len()];
            let mut a = vec![0.0; data.len()];
            some_rows(low_rank, part, height, &mut a);
            stripe.advance(data, &mut a, pulls, threshold);
        })?;
        let [off, size] = squares.iter().fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
        // A = E = 0 in the first rounds, where the weight is above everything.
        Ok(0.5 * (off / if size > 0.0 { size } else { energy(data) }).sqrt())
    }

    fn stripes<'s>(&'s mut self, size: usize, squares: &'s mut [[f64; 2]]) -> Vec<Stripe<'s>> {
        let mut rest = [
            &mut self.low,
            &mut self.low_before,
            &mut self.sparse,
            &mut self.sparse_before,
            &mut self.next,
            &mut self.target,
        ]
        .map(|matrix| matrix.as_mut_slice().chunks_mut(size));
        let cut = |squares| {
            let [low, low_before, sparse, sparse_before, next, target] =
                rest.each_mut().map(|chunks| chunks.next().expect("one chunk a stripe"));
            Stripe { low, low_before, sparse, sparse_before, next, target, squares }
        };
        squares.iter_mut().map(cut).collect()
    }
}

impl Stripe<'_> {
    /// `a` is A of the round, and is overwritten.
    fn advance(self, data: &[f64], a: &mut [f64], [pull, next_pull]: [f64; 2], threshold: f64) {
        let mut off = vec![0.0; data.len()];
        for i in 0..data.len() {
            let b = self.low[i] + pull * (self.low[i] - self.low_before[i]);
            let f = self.sparse[i] + pull * (self.sparse[i] - self.sparse_before[i]);
            let (low, sparse) = (a[i], self.next[i]);
            let both = low + sparse - b - f;
            a[i] = 2.0 * (b - low) + both;
            off[i] = 2.0 * (f - sparse) + both;
            let b = low + next_pull * (low - self.low[i]);
            let f = sparse + next_pull * (sparse - self.sparse[i]);
            let step = 0.5 * (b + f - data[i]);
            (self.low_before[i], self.low[i]) = (self.low[i], low);
            (self.sparse_before[i], self.sparse[i]) = (self.sparse[i], sparse);
            self.target[i] = b - step;
            self.next[i] = soft(f - step, threshold);
        }
        *self.squares = [energy(a) + energy(&off), energy(self.low) + energy(self.sparse)];
    }
}
