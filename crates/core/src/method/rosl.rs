//! Robust orthonormal subspace learning: RPCA with the low-rank part kept as factors, so that no singular value is computed.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | X (m × n) | `data` = Xᵀ (n × m) | samples in rows, prepared |
//! | B (m × K) | `basis` = Bᵀ (K × m) | orthonormal directions, one a row |
//! | α (K × n) | `alpha` | coefficients, one row a direction |
//! | E | `sparse` | errors |
//! | T | `target` | X − E + Y/μ, transposed too |
//!
//! ```text
//!     min  Σᵢ ‖αᵢ‖₂ + λ‖E‖₁    s.t.  X = Bα + E,  BᵀB = I
//! ```
//! The rows of [`Alternation`], with one Gauss–Seidel sweep for the low-rank part. For i = 1 … K, with R = T − Σ_{j≠i} bⱼαⱼ:
//! ```text
//!     bᵢ ← R αᵢᵀ,   at right angles to b₁ … bᵢ₋₁,   of length one
//!     αᵢ ← bᵢᵀ R,   shortened by 1/μ
//! ```
//! Directions whose αᵢ is zero are dropped for good, so that the rank only falls.
//!
//! R is never formed. αᵢ is that of the sweep before, so all products Tαᵀ are known before the sweep begins; bᵢ is such a
//! product less multiples of other directions, and so its own product Tᵀbᵢ follows from products that are known too. A sweep
//! is three matrix products, and (n + m)K² besides, instead of 2K passes over R.
//!
//! Shu, Porikli, Ahuja (2014) — `shu2014` in `docs/references.bib`. **Where we differ:** a direction of which
//! nothing is left at right angles to the others is dropped, where the authors' code divides by rounding errors; the
//! right angles are made twice; the multipliers are kept when μ has reached its end; and μ grows by a twentieth a round, not
//! by half. One sweep is only a step towards the best factors for a μ: of 80 planted splits none was recovered at 1.5, with two
//! or three times the true rank, 73 at 1.1 and 78 at 1.05, in three times the rounds. Errors far larger than the samples make
//! the first 1/μ so large that nothing is left: then μ begins at three times as much, unless A = 0 is the better answer.

use eigenspan_linalg::dense::{multiply, product};
use eigenspan_linalg::{Exec, Mat, MatRef};

use crate::data::generate::Normal;
use crate::data::{Labels, Samples};
use crate::method::parts::alternation::Alternation;
use crate::method::parts::low_rank::{LowRank, column_norms};
use crate::model::decomposed::{Decomposed, Input, Projection, Split, check, lambda, largest};
use crate::model::fitted::{Fit, Outcome};
use crate::model::linear::Linear;
use crate::model::trace::Trace;
use crate::prepare::norm;
use crate::warning::Warning;
use crate::{Dim, Error, Normalize};

/// The bound on the rank, where none is given and the samples allow more.
const BOUND: usize = 500;
/// μ begins at this times λ/‖X‖_max.
const PENALTY: f64 = 10.0;
/// Where every direction is dropped at once, μ begins anew at this times as much,
const LARGER: f64 = 3.0;
/// so often.
const AGAIN: usize = 4;
/// A direction that loses more than this factor is multiplied anew: what follows from known products lost as much.
const LOSS: f64 = 1e3;
/// A direction of which less than this is left is rounding.
const NOTHING: f64 = 1e-12;

/// What is asked of ROSL.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct RoslParams {
    /// λ, the price of an error; 1/√max(n, m) unless given.
    pub lambda: Option<f64>,
    /// K, the largest rank; min(n, m, 500) unless given.
    pub rank: Option<usize>,
    /// ρ: by how much the penalty grows in a round. The authors' 1.5 ends before the rank has fallen to the true one.
    pub growth: f64,
    /// The iteration ends where ‖X − A − E‖_F / ‖X‖_F is below this.
    #[serde(alias = "tolerance")]
    pub tol: f64,
    /// Rounds, at most.
    #[serde(alias = "rounds")]
    pub max_iter: usize,
    /// The first coefficients are drawn from this.
    pub seed: u64,
    /// How many principal directions of the low-rank part to keep; [`Dim::Auto`] keeps as many as it has.
    pub dim: Dim,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// Whether the mean of the low-rank part is subtracted where directions are learned.
    pub center: bool,
    /// Whether that mean stays in the samples that are projected, as in the paper's Eigenfaces.
    pub keep_mean: bool,
    /// Whether features are scaled to length one.
    pub unit_features: bool,
}

impl Default for RoslParams {
    fn default() -> Self {
        Self {
            lambda: None,
            rank: None,
            growth: 1.05,
            tol: 1e-7,
            max_iter: 1000,
            seed: 0,
            dim: Dim::Auto,
            normalize: Normalize::None,
            center: true,
            keep_mean: false,
            unit_features: false,
        }
    }
}

impl Fit for RoslParams {
    type Model = Linear<Self>;

    fn published() -> Option<Self> {
        Some(Self::as_published(300, 0.35))
    }

    fn cap(&mut self, max: usize) {
        self.dim.cap(max);
    }

    fn learn(
        &self,
        samples: Samples<'_>,
        _labels: Option<&Labels>,
        exec: Exec<'_>,
    ) -> Result<Outcome<Linear<Self>>, Error> {
        Ok(self.fit_with(samples, exec)?.into())
    }
}

impl RoslParams {
    /// ROSL + PCA as the paper ran it: samples of length one, the settings of the authors' demonstration, then Eigenfaces of
    /// the low-rank part with `dim` directions. The paper tunes λ over 0.03, 0.07, …, 0.47 and does not say K: here it is
    /// `dim`, or 300 where that is more.
    pub fn as_published(dim: usize, lambda: f64) -> Self {
        Self {
            lambda: Some(lambda),
            rank: Some(dim.max(300)),
            growth: 1.5,
            tol: 1e-5,
            max_iter: 100,
            dim: Dim::Fixed(dim),
            normalize: Normalize::Unit,
            center: true,
            keep_mean: true,
            unit_features: true,
            ..Self::default()
        }
    }

    /// Splits samples in rows and learns the projection, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Decomposed<Self>, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Splits samples in rows and learns the projection, on as many threads as `exec` says and under its eyes. The result does
    /// not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Decomposed<Self>, Error> {
        let samples = samples.into();
        let (n, m) = (samples.rows(), samples.cols());
        if self.rank == Some(0) {
            return Err(Error::Parameter { name: "rank", expected: "at least 1", got: 0.0 });
        }
        let bound = self.rank.unwrap_or(BOUND).min(n).min(m);
        let mut random = Normal::new(self.seed);
        self.fit_from(samples, &Mat::from_fn(bound, n, |_, _| random.uniform()), exec)
    }

    /// The same from first coefficients α (K × n) that are given; then K is their number of rows.
    pub fn fit_from<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        alpha: &Mat,
        exec: Exec<'_>,
    ) -> Result<Decomposed<Self>, Error> {
        let samples = samples.into();
        let (n, m, bound) = (samples.rows(), samples.cols(), alpha.rows());
        check(self.growth, self.tol, self.max_iter, self.dim)?;
        if alpha.cols() != n || (bound == 0 && n > 0 && m > 0) || alpha.as_slice().iter().any(|v| !v.is_finite()) {
            let expected = "finite first coefficients, one for every sample";
            return Err(Error::Parameter { name: "alpha", expected, got: alpha.cols() as f64 });
        }
        let lambda = lambda(self.lambda, n, m)?;
        let input = Input::of(samples, self.normalize, exec)?;
        let split = self.split(&input.data, lambda, alpha, exec)?;
        let rank = split.low_rank.rank();
        let projection = Projection {
            dim: self.dim,
            center: self.center,
            keep_mean: self.keep_mean,
            unit_features: self.unit_features,
        };
        let mut fitted = input.finish(self, projection, split, exec)?;
        if rank == bound && bound < n.min(m) {
            fitted.model.about.warnings.push(Warning::RankAtBound { bound });
        }
        Ok(fitted)
    }

    /// The split; begun again with a larger penalty where every direction is dropped, as long as that is not the better answer.
    fn split(&self, data: &Mat, lambda: f64, alpha: &Mat, exec: Exec<'_>) -> Result<Split, Error> {
        let mut mu = PENALTY * lambda / largest(data);
        let mut split = self.split_from(data, lambda, mu, alpha, exec)?;
        for _ in 0..AGAIN {
            if split.low_rank.rank() > 0 {
                break;
            }
            mu *= LARGER;
            let other = self.split_from(data, lambda, mu, alpha, exec)?;
            // With A = 0 and E = X the objective is λ‖X‖₁.
            if objective(&other, lambda) < lambda * absolute(data) {
                split = other;
            }
        }
        Ok(split)
    }

    fn split_from(&self, data: &Mat, lambda: f64, mu: f64, alpha: &Mat, exec: Exec<'_>) -> Result<Split, Error> {
        let mut state = Alternation::start(data, lambda, [mu, self.growth], [1.0, 0.0]);
        let mut factors = Factors { basis: Mat::zeros(alpha.rows(), data.cols()), alpha: alpha.clone() };
        let mut trace = Trace::of("residual");
        loop {
            factors = factors.sweep(&state.target, state.threshold(), exec)?;
            let low_rank = LowRank::new(factors.alpha.transposed(), factors.basis.clone());
            let residual = state.advance(&low_rank, exec)?;
            exec.report("separate", trace.rounds + 1, self.max_iter)?;
            let last = trace.ended(residual, residual < self.tol, self.max_iter);
            if last || low_rank.rank() == 0 {
                return Ok(Split { low_rank, sparse: state.finish(), trace });
            }
        }
    }
}

/// Σᵢ ‖αᵢ‖₂ + λ‖E‖₁.
fn objective(split: &Split, lambda: f64) -> f64 {
    column_norms(split.low_rank.left()).iter().sum::<f64>() + lambda * absolute(&split.sparse)
}

fn absolute(x: &Mat) -> f64 {
    x.as_slice().iter().map(|v| v.abs()).sum()
}

/// Bα, both with one row a direction.
struct Factors {
    /// Bᵀ, K × m.
    basis: Mat,
    /// α, K × n.
    alpha: Mat,
}

impl Factors {
    /// One Gauss–Seidel sweep over the directions.
    fn sweep(self, target: &Mat, threshold: f64, exec: Exec<'_>) -> Result<Self, Error> {
        let (count, n, m) = (self.alpha.rows(), target.rows(), target.cols());
        let Self { mut basis, mut alpha } = self;
        let transposed = target.view().transposed();
        let mut first = product(alpha.view(), target.view(), exec)?;
        let mut first_seen = product(first.view(), transposed, exec)?;
        let mut seen = product(basis.view(), transposed, exec)?;
        let mut kept = vec![];
        for i in 0..count {
            exec.check()?;
            basis.row_mut(i).fill(0.0);
            seen.row_mut(i).fill(0.0);
            let (b, image) = (first.row_mut(i), first_seen.row_mut(i));
            let before = norm(b);
            // R αᵢᵀ: αᵢ itself is in the product, but with bᵢ = 0.
            let shared = times(&alpha, 0..count, alpha.row(i));
            take(&basis, &shared, b);
            take(&seen, &shared, image);
            for _ in 0..2 {
                let along = times(&basis, 0..i, b);
                take(&basis, &along, b);
                take(&seen, &along, image);
            }
            let length = norm(b);
            if length <= NOTHING * before {
                alpha.row_mut(i).fill(0.0);
                continue;
            }
            b.iter_mut().for_each(|v| *v /= length);
            image.iter_mut().for_each(|v| *v /= length);
            if length * LOSS < before {
                multiply(target.view(), column(b), image);
            }
            let mut coefficients = image.to_vec();
            let along = times(&basis, 0..count, b);
            take(&alpha, &along, &mut coefficients);
            let size = norm(&coefficients);
            let factor = if size > threshold { 1.0 - threshold / size } else { 0.0 };
            alpha.row_mut(i).iter_mut().zip(&coefficients).for_each(|(to, from)| *to = factor * from);
            basis.row_mut(i).copy_from_slice(b);
            seen.row_mut(i).copy_from_slice(image);
            if factor > 0.0 {
                kept.push(i);
            }
        }
        debug_assert!(n == alpha.cols() && m == basis.cols());
        Ok(Self { basis: basis.select_rows(&kept), alpha: alpha.select_rows(&kept) })
    }
}

fn column(v: &[f64]) -> MatRef<'_> {
    MatRef::row_major(v, v.len(), 1).expect("one value a row")
}

/// The products of some rows with `v`.
fn times(rows: &Mat, which: std::ops::Range<usize>, v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; which.len()];
    multiply(rows.view().some_rows(which), column(v), &mut out);
    out
}

/// Takes Σ `weights[j]` · row j from `v`; rows past the weights are left out.
fn take(rows: &Mat, weights: &[f64], v: &mut [f64]) {
    let mut sum = vec![0.0; v.len()];
    let weights = MatRef::row_major(weights, 1, weights.len()).expect("one row");
    multiply(weights, rows.view().some_rows(0..weights.cols()), &mut sum);
    v.iter_mut().zip(sum).for_each(|(v, sum)| *v -= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sweep as it is written, with the residual at hand.
    fn by_definition(target: &Mat, factors: &Factors, threshold: f64) -> Mat {
        let (n, m, count) = (target.rows(), target.cols(), factors.alpha.rows());
        let (mut basis, mut alpha) = (factors.basis.clone(), factors.alpha.clone());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for i in 0..count {
            basis.row_mut(i).fill(0.0);
            let low = product(alpha.view().transposed(), basis.view(), Exec::default()).unwrap();
            let r = Mat::from_fn(n, m, |s, f| target.at(s, f) - low.at(s, f));
            let mut b: Vec<f64> = (0..m).map(|f| (0..n).map(|s| r.at(s, f) * alpha.at(i, s)).sum()).collect();
            for j in 0..i {
                let along = dot(&b, basis.row(j));
                b.iter_mut().zip(basis.row(j)).for_each(|(b, other)| *b -= along * other);
            }
            let length = norm(&b);
            b.iter_mut().for_each(|b| *b /= length);
            basis.row_mut(i).copy_from_slice(&b);
            let a: Vec<f64> = (0..n).map(|s| dot(r.row(s), &b)).collect();
            let factor = (1.0 - threshold / norm(&a)).max(0.0);
            alpha.row_mut(i).iter_mut().zip(&a).for_each(|(to, a)| *to = factor * a);
        }
        product(alpha.view().transposed(), basis.view(), Exec::default()).unwrap()
    }

    #[test]
    fn a_sweep_is_what_its_definition_says_and_its_directions_are_orthonormal() {
        let mut random = Normal::new(2);
        for (n, m, count) in [(30, 20, 6), (20, 30, 6), (12, 9, 9)] {
            let target = Mat::from_fn(n, m, |i, j| random.draw() + ((i * j) % 5) as f64);
            let alpha = Mat::from_fn(count, n, |_, _| random.uniform());
            let mut factors = Factors { basis: Mat::zeros(count, m), alpha };
            for sweep in 0..4 {
                let threshold = 4.0 / f64::from(1 << sweep);
                let want = by_definition(&target, &factors, threshold);
                let before = factors.alpha.rows();
                factors = factors.sweep(&target, threshold, Exec::default()).unwrap();
                let low = product(factors.alpha.view().transposed(), factors.basis.view(), Exec::default()).unwrap();
                let off = low.as_slice().iter().zip(want.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-10, "{n} × {m}, {sweep}: {off:e}");
                assert!(factors.basis.rows() <= before && factors.basis.rows() > 0);
                let gram = product(factors.basis.view(), factors.basis.view().transposed(), Exec::default()).unwrap();
                for i in 0..gram.rows() {
                    for j in 0..gram.rows() {
                        assert!((gram.at(i, j) - f64::from(u8::from(i == j))).abs() < 1e-14, "{i}, {j}");
                    }
                }
            }
        }
    }
}
