//! The steps that RPCA and ROSL share: D = A + E by the inexact augmented Lagrange method.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | D (n × m) | `data` | the samples |
//! | A | a [`LowRank`] | the low-rank part, from outside |
//! | E | `sparse` | the sparse part |
//! | Y, μ | | multipliers and penalty |
//! | T | `target` | D − E + Y/μ: what A is to be near |
//!
//! ```text
//!     E ← soft(D − A + Y/μ, λ/μ)
//!     A ← the low-rank matrix near T = D − E + Y/μ        by the method
//!     Y ← Y + μ (D − A − E) = μ (T − A)
//!     μ ← ρμ, up to μ_max
//! ```
//! Y is not stored: it is T − A, known once A is. So the last two steps and the first of the next round are one pass
//! over D, E and T, in stripes of rows in which A is multiplied out on the way.
//!
//! Lin, Chen, Ma (2010) — `lin2010` in `docs/references.bib`.

use eigenspan_linalg::dense::multiply;
use eigenspan_linalg::rows::energy;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::low_rank::LowRank;

/// The penalty stops growing after this factor in all.
const MOST: f64 = 1e7;
/// Values in a stripe: one piece of work, at most.
const STRIPE: usize = 1 << 16;
/// Rows of a stripe that make up for reading the factors of A.
const TALL: usize = 96;

/// x moved towards zero by t, and zero where it is nearer than that.
#[inline(always)]
pub fn soft(x: f64, t: f64) -> f64 {
    x - x.max(-t).min(t)
}

/// Rows of a stripe of an n × m matrix: what fits, or some more where the factors of A are large, which every stripe
/// reads.
pub(crate) fn stripe(n: usize, m: usize) -> usize {
    (STRIPE / m.max(1)).max((n / 16).min(TALL)).max(1)
}

/// The rows of A that belong to stripe `part`, multiplied out.
pub(crate) fn some_rows(a: &LowRank, part: usize, height: usize, out: &mut [f64]) {
    let count = out.len() / a.right().cols();
    let first = part * height;
    multiply(a.left().view().some_rows(first..first + count), a.right().view(), out);
}

/// Where the iteration stands.
pub struct Alternation<'a> {
    data: &'a Mat,
    lambda: f64,
    mu: f64,
    growth: f64,
    most: f64,
    /// T of this round.
    pub target: Mat,
    /// E of the round that was ended last.
    sparse: Mat,
    /// E of this round.
    next: Mat,
    norm: f64,
}

impl<'a> Alternation<'a> {
    /// The first round with the first penalty `mu`, from a first A and Y that are multiples of D: A = `low`·D,
    /// Y/μ = `dual`·D. The penalty grows by `growth` a round.
    pub fn start(data: &'a Mat, lambda: f64, [mu, growth]: [f64; 2], [low, dual]: [f64; 2]) -> Self {
        let threshold = lambda / mu;
        let (n, m) = (data.rows(), data.cols());
        let next = Mat::from_fn(n, m, |i, j| soft((1.0 - low + dual) * data.at(i, j), threshold));
        let target = Mat::from_fn(n, m, |i, j| (1.0 + dual) * data.at(i, j) - next.at(i, j));
        let sparse = Mat::zeros(n, m);
        let norm = energy(data.as_slice()).sqrt();
        Self { data, lambda, mu, growth, most: MOST * mu, target, sparse, next, norm }
    }

    /// 1/μ: what A costs beside its distance from the target.
    pub fn threshold(&self) -> f64 {
        1.0 / self.mu
    }

    /// Ends the round whose low-rank part is `low_rank`: ‖D − A − E‖_F / ‖D‖_F. The target is then that of the next
    /// round; [`finish`](Alternation::finish) still gives the sparse part of this one.
    pub fn advance(&mut self, low_rank: &LowRank, exec: Exec<'_>) -> Result<f64, Error> {
        std::mem::swap(&mut self.sparse, &mut self.next);
        let grown = (self.mu * self.growth).min(self.most);
        let (ratio, threshold) = (self.mu / grown, self.lambda / grown);
        self.mu = grown;
        let m = self.data.cols();
        let height = stripe(self.data.rows(), m);
        let size = height * m;
        let mut squares = vec![0.0; self.data.as_slice().len().div_ceil(size)];
        let pieces = self.target.as_mut_slice().chunks_mut(size).zip(self.next.as_mut_slice().chunks_mut(size));
        let (data, sparse) = (self.data.as_slice(), self.sparse.as_slice());
        exec.silent().each("separate", pieces.zip(squares.iter_mut()), |part, ((target, next), square)| {
            let here = part * size..part * size + target.len();
            let (data, sparse) = (&data[here.clone()], &sparse[here]);
            let mut a = vec![0.0; target.len()];
            some_rows(low_rank, part, height, &mut a);
            let parts = a.iter_mut().zip(data).zip(sparse).zip(next).zip(target);
            for ((((a, data), sparse), next), target) in parts {
                let left = data - *a;
                let dual = ratio * (*target - *a);
                *a = left - sparse;
                *next = soft(left + dual, threshold);
                *target = data - *next + dual;
            }
            *square = energy(&a);
        })?;
        Ok(squares.iter().sum::<f64>().sqrt() / self.norm)
    }

    /// E of the last round.
    pub fn finish(self) -> Mat {
        self.sparse
    }
}
