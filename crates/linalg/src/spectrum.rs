//! The leading singular values of a large matrix X (n × m, samples in rows), and their feature directions.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | `x` | n × m, read block by block |
//! | p | `p` | min(n, m): the small side |
//! | G | `gram` | XᵀX (n ≥ m) or XXᵀ (n < m), p × p; its eigenvalues are σ² |
//! | R | | p × p triangle with RᵀR = G, computed without G |
//! | σ | `sigma` | singular values, in descending order |
//! | U | `basis` | m × k, orthonormal columns: the paper's U for D = Xᵀ |
//!
//! ```text
//!     G  ─ Krylov ──▶ σ, V ─▶ certificate ─▶ proved      few of many, p large
//!     │    (or)                   │ one missed
//!     └─── dense ───▶ σ, V ─▶ certificate ─▶ proved      p small, many selected, or all values
//!                                 │ the cut is too low for G
//!     R  ─ SVD ─────▶ all σ, V                           error of a few eps·σ₁, however small σ is
//! ```
//! Through G a singular value has the relative error eps·(σ₁/σ)², so G is used while σ₁/σ stays below [`REACH`] and
//! below max(n, m): there the error is within a few max(n, m)·eps·σ₁, as good as a full decomposition guarantees.
//! Below, R is used, at five to ten times the cost.
//!
//! n < m: the eigenvectors of G are on the sample side, and U = XᵀVΣ⁻¹ takes another pass over X.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::Error;
use crate::blocks::{Blocks, Native, Transposed};
use crate::certificate::{Certificate, count_above, vectors_needed};
use crate::dense::{PackedMatrix, Slab};
use crate::exec::Exec;
use crate::gram::{Gram, Side};
use crate::krylov::{self, Dense, Until};
use crate::mat::{Mat, MatMut};
use crate::polish::polish;
use crate::rows::energy;
use crate::scale::times_power_of_two;
use crate::svd::{self, RightSvd};
use crate::symmetric::{Tridiagonal, eigenvalues, tridiagonalize};
use crate::triangle::triangle;

pub use crate::direct::{Direct, direct};

/// Maximum number of features whose rows of U are computed together when X has fewer samples than features.
const STRIPE: usize = 11 * Slab::CUT;
/// Maximum number of multiplications of such a block: a few hundredths of a second.
const WORK: usize = 1 << 28;
/// Through G, no value below σ₁ ÷ this is returned.
pub const REACH: f64 = 1e4;
/// An eigenvalue of G is returned where the error of G is below this share of it.
const MAX_RELATIVE_ERROR: f64 = 0.01;
/// Up to this order the dense path is the faster one for any number of values.
pub(crate) const SMALL: usize = 256;
/// Up to this number of products in G, the whole decomposition is computed: it takes milliseconds.
const TINY: f64 = 16e6;

/// Selection of singular values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Select {
    /// All above τ.
    Above(f64),
    /// This number of the largest ones.
    Top(usize),
    /// The minimum number that carries this share of Σσ².
    Energy(f64),
}

impl Select {
    /// The number of leading σ², given by `squares`, above the cut, and the τ of the cut. `energy` is Σσ².
    pub(crate) fn place(self, squares: &[f64], energy: f64) -> (usize, f64) {
        let count = match self {
            Self::Above(tau) => return (squares.iter().take_while(|v| **v > tau * tau).count(), tau),
            Self::Top(count) => count.min(squares.len()),
            Self::Energy(share) => fewest(squares, share * energy),
        };
        (count, between(squares, count))
    }

    /// The cut in units of 2^`exponent`.
    pub(crate) fn scaled(self, exponent: i32) -> Self {
        match self {
            Self::Above(tau) => Self::Above(times_power_of_two(tau, -exponent)),
            other => other,
        }
    }
}

/// The singular values above a cut, and at least one more where there is one.
#[derive(Clone)]
pub struct Leading<'a> {
    /// The leading singular values, in descending order: those above the cut, at least one past it, and all computed
    /// ones.
    pub sigma: Vec<f64>,
    /// The number above the cut.
    pub count: usize,
    /// Lower and upper bound on the number above the cut, rounding included.
    pub interval: (usize, usize),
    /// The probability that `interval` is wrong; zero where it is proved.
    pub chance: f64,
    /// σ is separated from τ where they differ by more than this share of τ.
    pub margin: f64,
    /// ‖X‖_F.
    pub norm: f64,
    /// The name of the method.
    pub solver: &'static str,
    /// Eigenvectors on the small side, p × (count + 1 or more).
    pub(crate) vectors: Mat,
    /// X, where the vectors are on the sample side: directions take another pass over it.
    pub(crate) samples: Option<&'a dyn Blocks>,
}

impl std::fmt::Debug for Leading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { sigma, count, interval, chance, solver, .. } = self;
        write!(f, "{count} of {sigma:?}, in {interval:?} but for {chance:e}, by {solver}")
    }
}

/// X, where vectors on `side` are sample-side vectors.
pub(crate) fn over_samples(x: &dyn Blocks, side: Side) -> Option<&dyn Blocks> {
    (side == Side::Samples).then_some(x)
}

/// The singular values of `x` that `cut` selects.
pub fn spectrum<'a>(x: &'a dyn Blocks, cut: Select, exec: Exec<'_>) -> Result<Leading<'a>, Error> {
    GramSpectrum::of(x, exec)?.leading(cut, exec)
}

/// All singular values of `x`, in descending order.
pub fn singular_values(x: &dyn Blocks, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    GramSpectrum::of(x, exec)?.into_values(exec)
}

/// The Gram matrix of X, with its spectrum cached for several selections.
pub struct GramSpectrum<'a> {
    x: &'a dyn Blocks,
    gram: Cow<'a, Gram>,
    dense: OnceCell<Tridiagonal>,
}

impl<'a> GramSpectrum<'a> {
    /// Reads `x` once.
    pub fn of(x: &'a dyn Blocks, exec: Exec<'_>) -> Result<Self, Error> {
        Ok(Self::with_gram(x, Gram::of(x, exec)?))
    }

    /// `x` with a Gram matrix that is already computed.
    pub fn with_gram(x: &'a dyn Blocks, gram: Gram) -> Self {
        Self::sharing_gram(x, Cow::Owned(gram))
    }

    /// `x` with a Gram matrix that others may use too.
    pub fn sharing_gram(x: &'a dyn Blocks, gram: Cow<'a, Gram>) -> Self {
        let order = if gram.side == Side::Features { x.cols() } else { x.rows() };
        assert_eq!(gram.order(), order, "the Gram matrix belongs to the matrix");
        Self { x, gram, dense: OnceCell::new() }
    }

    /// The Gram matrix.
    pub fn gram(&self) -> &Gram {
        &self.gram
    }

    /// All singular values, in descending order. Where the larger half of them is within reach of G, G is used, and
    /// values that G cannot separate from zero are zero.
    pub fn values(&self, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let squares = if self.is_tiny() { vec![] } else { self.dense(exec)?.values(exec)? };
        self.roots(&squares, exec)
    }

    /// The same where no further selection follows: nothing is cached, and the call is faster.
    pub fn into_values(mut self, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let squares = match self.dense.take() {
            _ if self.is_tiny() => vec![],
            Some(known) => known.values(exec)?,
            None => eigenvalues(std::mem::replace(&mut self.gram.to_mut().matrix, Mat::zeros(0, 0)), exec)?,
        };
        self.roots(&squares, exec)
    }

    /// All singular values, given all eigenvalues of G, or none where those were not computed.
    fn roots(&self, squares: &[f64], exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let root = |i: usize| squares.get(i).map_or(0.0, |v| v.max(0.0).sqrt());
        if !squares.is_empty() && self.reaches(root(0), root(squares.len() / 2)) {
            return Ok(squares.iter().map(|v| self.singular(*v)).collect());
        }
        let r = small_side_triangle(self.x, exec)?;
        let sigma = exec.aside("decompose", move || svd::values(&r))??;
        Ok(sigma.into_iter().map(|s| self.unscaled(s)).collect())
    }

    /// All singular values by G alone, in descending order, and the value down to which they are accurate.
    pub(crate) fn values_within_reach(&self, exec: Exec<'_>) -> Result<(Vec<f64>, f64), Error> {
        let squares = self.dense(exec)?.values(exec)?;
        let first = squares.first().map_or(0.0, |v| v.max(0.0).sqrt());
        Ok((squares.iter().map(|v| self.singular(*v)).collect(), self.unscaled(self.reach(first))))
    }

    /// The singular values that `cut` selects, each with its direction, by the fastest method that can prove them.
    pub fn leading(&self, cut: Select, exec: Exec<'_>) -> Result<Leading<'a>, Error> {
        if self.gram.chance > 0.0 {
            let decided = |found: &Leading<'_>| found.interval.0 == found.interval.1;
            return match self.by_gram(cut, exec)?.filter(decided) {
                Some(found) => Ok(found),
                None => self.in_double(cut, exec),
            };
        }
        match self.by_gram(cut, exec)? {
            Some(proved) => Ok(proved),
            None => self.by_triangle(cut, exec),
        }
    }

    /// Through G, by block Lanczos or the tridiagonal form; `None` where G cannot answer, or is not needed.
    fn by_gram(&self, cut: Select, exec: Exec<'_>) -> Result<Option<Leading<'a>>, Error> {
        if self.is_tiny() || !self.may_answer(cut) {
            return Ok(None);
        }
        if self.gram.order() > SMALL
            && self.dense.get().is_none()
            && let Some(proved) = self.by_krylov(cut, exec)?
        {
            return Ok(Some(proved));
        }
        self.by_dense(cut, exec)
    }

    /// The same from a Gram matrix in double precision, where this one is in single precision and that does not
    /// suffice.
    fn in_double(&self, cut: Select, exec: Exec<'_>) -> Result<Leading<'a>, Error> {
        Self::with_gram(self.x, Gram::in_double(self.x, exec)?).leading(cut, exec)
    }

    /// Through G and block Lanczos; `None` where that would take too many steps, missed a value, or is out of reach.
    pub fn by_krylov(&self, cut: Select, exec: Exec<'_>) -> Result<Option<Leading<'a>>, Error> {
        let cut = cut.scaled(self.x.exponent());
        let operator = Dense(&self.gram.matrix);
        let rounding = 4.0 * f64::EPSILON * self.gram.trace();
        match krylov::leading(&operator, self.until(cut), rounding, exec)? {
            Some(found) => self.certified(cut, found.values, found.vectors, "gram-krylov", exec),
            None => Ok(None),
        }
    }

    /// Through G and its tridiagonal form; `None` where that is out of reach.
    pub fn by_dense(&self, cut: Select, exec: Exec<'_>) -> Result<Option<Leading<'a>>, Error> {
        let cut = cut.scaled(self.x.exponent());
        let all = self.dense(exec)?.values(exec)?;
        if !self.answers(cut, &all) {
            return Ok(None);
        }
        let (count, tau) = cut.place(&all, self.gram.trace());
        let vectors_needed = vectors_needed(&self.gram, (tau, self.x.rounding()), &all, count + 1);
        let vectors = self.dense(exec)?.with_values(all[..vectors_needed].to_vec(), exec)?.vectors;
        self.certified(cut, all, vectors, "gram-dense", exec)
    }

    /// Whether the whole decomposition costs next to nothing.
    fn is_tiny(&self) -> bool {
        let (p, q) = (self.gram.order() as f64, self.x.rows().max(self.x.cols()) as f64);
        p * p * q <= TINY
    }

    /// Whether G may reach down to the cut, judged by ‖G‖_F: σ₁² ≥ Σσ⁴ / Σσ².
    fn may_answer(&self, cut: Select) -> bool {
        let first = (energy(self.gram.matrix.as_slice()) / self.gram.trace()).sqrt();
        match cut.scaled(self.x.exponent()) {
            Select::Above(tau) => self.reaches(first, tau),
            Select::Top(_) | Select::Energy(_) => true,
        }
    }

    fn dense(&self, exec: Exec<'_>) -> Result<&Tridiagonal, Error> {
        if let Some(known) = self.dense.get() {
            return Ok(known);
        }
        let reduced = tridiagonalize(self.gram.matrix.clone(), exec)?;
        Ok(self.dense.get_or_init(|| reduced))
    }

    /// Whether G resolves a value that far below the first.
    fn reaches(&self, first: f64, value: f64) -> bool {
        first <= value * self.far() && self.gram.error <= MAX_RELATIVE_ERROR * value * value
    }

    /// The smallest value that G resolves beside the first.
    fn reach(&self, first: f64) -> f64 {
        (first / self.far()).max((self.gram.error / MAX_RELATIVE_ERROR).sqrt())
    }

    fn far(&self) -> f64 {
        REACH.min(self.x.rows().max(self.x.cols()) as f64)
    }

    /// Whether G can answer `cut`, given its eigenvalues.
    fn answers(&self, cut: Select, squares: &[f64]) -> bool {
        let root = |i: usize| squares.get(i).map_or(0.0, |v| v.max(0.0).sqrt());
        match (cut, cut.place(squares, self.gram.trace()).0) {
            (Select::Above(tau), _) => self.reaches(root(0), tau),
            (_, 0) => true,
            (_, count) => self.reaches(root(0), root(count - 1)),
        }
    }

    fn until(&self, cut: Select) -> Until {
        match cut {
            Select::Above(tau) => Until::Above(tau * tau),
            Select::Top(count) => Until::Count(count),
            Select::Energy(share) => Until::Share(share, self.gram.trace()),
        }
    }

    /// The answer with its proof; `None` where a value above the cut is missing or out of reach.
    fn certified(
        &self,
        cut: Select,
        squares: Vec<f64>,
        vectors: Mat,
        solver: &'static str,
        exec: Exec<'_>,
    ) -> Result<Option<Leading<'a>>, Error> {
        if !self.answers(cut, &squares) {
            return Ok(None);
        }
        let (count, tau) = cut.place(&squares, self.gram.trace());
        let paired = &squares[..vectors.cols()];
        let Some(bounds) = count_above(&self.gram, (tau, self.x.rounding()), paired, &vectors, exec)? else {
            return Ok(None);
        };
        let first = squares[0].max(0.0).sqrt();
        let known = squares.iter().take_while(|v| self.reaches(first, v.max(0.0).sqrt())).count();
        let known = known.max((count + 1).min(squares.len()));
        Ok(Some(Leading {
            sigma: squares[..known].iter().map(|v| self.singular(*v)).collect(),
            count,
            interval: (bounds.low.min(count), bounds.high.max(count)),
            chance: self.gram.chance,
            margin: share(bounds.margin, 2.0 * tau * tau),
            norm: self.unscaled(self.gram.trace().sqrt()),
            solver,
            vectors,
            samples: over_samples(self.x, self.gram.side),
        }))
    }

    /// Through R: all values, to a few eps·σ₁.
    pub fn by_triangle(&self, cut: Select, exec: Exec<'_>) -> Result<Leading<'a>, Error> {
        let cut = cut.scaled(self.x.exponent());
        let r = small_side_triangle(self.x, exec)?;
        let RightSvd { sigma, v } = exec.aside("decompose", move || svd::right(&r))??;
        let squares: Vec<f64> = sigma.iter().map(|s| s * s).collect();
        let energy: f64 = squares.iter().sum();
        let (count, tau) = match cut {
            Select::Above(tau) => (sigma.iter().take_while(|s| **s > tau).count(), tau),
            _ => cut.place(&squares, energy),
        };
        let error_bound = resolution(&sigma, self.x.rows(), self.x.cols()) + self.x.rounding();
        let low = sigma.iter().take_while(|s| **s > tau + error_bound).count();
        let high = sigma.iter().take_while(|s| **s >= tau - error_bound).count();
        Ok(Leading {
            sigma: sigma.into_iter().map(|s| self.unscaled(s)).collect(),
            count,
            interval: (low.min(count), high.max(count)),
            chance: 0.0,
            margin: share(error_bound, tau),
            norm: self.unscaled(energy.sqrt()),
            solver: "qr-svd",
            vectors: v,
            samples: over_samples(self.x, Side::of(self.x)),
        })
    }

    /// The singular value of an eigenvalue; zero where G cannot separate it from zero.
    fn singular(&self, square: f64) -> f64 {
        if square <= self.gram.error { 0.0 } else { self.unscaled(square.sqrt()) }
    }

    fn unscaled(&self, s: f64) -> f64 {
        times_power_of_two(s, self.x.exponent())
    }
}

/// `part` of `whole`; zero for a cut at zero.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::INFINITY }
}

/// The minimum number of leading `squares` that sum to `enough`, up to rounding.
fn fewest(squares: &[f64], enough: f64) -> usize {
    let enough = enough * (1.0 - squares.len() as f64 * f64::EPSILON);
    let mut sum = 0.0;
    let short = |v: &&f64| {
        let short = sum < enough;
        sum += v.max(0.0);
        short
    };
    squares.iter().take_while(short).count()
}

/// A cut between the first `count` singular values and the rest, whose squares are given.
fn between(squares: &[f64], count: usize) -> f64 {
    let at = |i: usize| squares.get(i).map_or(0.0, |v| v.max(0.0).sqrt());
    match count {
        0 => at(0),
        _ => at(count - 1).sqrt() * at(count).max(at(count - 1) / 4.0).sqrt(),
    }
}

/// The error bound of a singular value from the full decomposition, times four.
pub fn resolution(sigma: &[f64], n: usize, m: usize) -> f64 {
    4.0 * n.max(m) as f64 * f64::EPSILON * sigma.first().copied().unwrap_or(0.0)
}

impl Leading<'_> {
    /// The certificate of `count`.
    pub fn certificate(&self) -> Certificate {
        Certificate::of(self.interval, self.chance)
    }

    /// The first `k` feature directions U_k (m × k). The largest entry of each column is positive, the first one where
    /// several are equally large; σ_k must be above rounding, and `k` at most one more than `count`.
    pub fn basis(&self, k: usize, exec: Exec<'_>) -> Result<Mat, Error> {
        let leading = self.vectors.leading_columns(k);
        let mut basis = match self.samples {
            None => leading,
            Some(x) => self.through_features(x, &leading, exec)?,
        };
        fix_signs(&mut basis);
        Ok(basis)
    }

    /// The first `k` eigenvectors on the small side, p × k.
    pub fn small_side(&self, k: usize) -> Mat {
        self.vectors.leading_columns(k)
    }

    /// U_k = Xᵀ V_k Σ_k⁻¹. Its columns are orthogonal only to the error of V times σ₁/σ_k; reorthonormalization reduces
    /// that to eps and changes no column by more than that error.
    fn through_features(&self, x: &dyn Blocks, v: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
        let (n, m, k) = (x.rows(), x.cols(), v.cols());
        let sigma: Vec<f64> = self.sigma[..k].iter().map(|s| times_power_of_two(*s, -x.exponent())).collect();
        let over_sigma = |rows: &mut [f64]| {
            rows.chunks_exact_mut(k.max(1)).for_each(|u| u.iter_mut().zip(&sigma).for_each(|(u, s)| *u /= s));
        };
        if let Native::Sparse(rows) = x.native() {
            let mut basis = rows.transposed().times(v.as_slice(), k, exec)?;
            over_sigma(&mut basis);
            return polish(Mat::from_vec(m, k, basis).expect("k values a feature"), exec);
        }
        let directions = PackedMatrix::of(v.view());
        let mut basis = Mat::zeros(m, k);
        let stripe = (WORK / (n * k).max(1) / Slab::CUT * Slab::CUT).clamp(Slab::CUT, STRIPE);
        exec.each_chunk("project", basis.as_mut_slice(), (stripe * k).max(1), |i, out| {
            let features = i * stripe..((i + 1) * stripe).min(m);
            let mut slab = Slab::new(features.len());
            let mut values = vec![0.0; Slab::DEPTH.min(n) * features.len()];
            for (s, first) in (0..n).step_by(Slab::DEPTH).enumerate() {
                let samples = first..(first + Slab::DEPTH).min(n);
                let values = &mut values[..samples.len() * features.len()];
                x.read(samples, features.clone(), &mut MatMut::row_major(values, features.len()));
                slab.set_rows(values);
                directions.add_product(s, &slab, out);
            }
            over_sigma(out);
        })?;
        polish(basis, exec)
    }
}

fn small_side_triangle(x: &dyn Blocks, exec: Exec<'_>) -> Result<Mat, Error> {
    match Side::of(x) {
        Side::Features => triangle(x, exec),
        Side::Samples => triangle(&Transposed(x), exec),
    }
}

/// Makes the largest entry of each column positive: the first of them where several are largest.
pub fn fix_signs(basis: &mut Mat) {
    let mut largest = vec![0.0f64; basis.cols()];
    for i in 0..basis.rows() {
        for (best, entry) in largest.iter_mut().zip(basis.row(i)) {
            *best = if entry.abs() > best.abs() { *entry } else { *best };
        }
    }
    let signs: Vec<f64> = largest.iter().map(|l| if *l < 0.0 { -1.0 } else { 1.0 }).collect();
    for i in 0..basis.rows() {
        basis.row_mut(i).iter_mut().zip(&signs).for_each(|(entry, sign)| *entry *= sign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triangle::orthonormalize;

    /// Läuchli's matrix [1ᵀ; μI]: σ = √(n + μ²), μ, …, μ. Its Gram matrix rounds μ = 3e-9 away.
    fn lauchli(n: usize, mu: f64) -> Mat {
        Mat::from_fn(n + 1, n, |i, j| {
            if i == 0 {
                1.0
            } else if i == j + 1 {
                mu
            } else {
                0.0
            }
        })
    }

    #[test]
    fn tiny_values_survive_on_both_sides() {
        for mu in [1e-7, 3e-9, 1e-12] {
            let tall = lauchli(12, mu);
            for x in [&tall, &tall.transposed()] {
                let sigma = singular_values(x, Exec::default()).unwrap();
                assert!((sigma[0] - (12.0 + mu * mu).sqrt()).abs() < 1e-14);
                assert!(sigma[1..].iter().all(|s| (s - mu).abs() < 1e-3 * mu), "{mu}: {sigma:?}");
            }
        }
    }

    #[test]
    fn directions_are_orthonormal_and_singular_on_both_sides() {
        let wide = Mat::from_fn(9, 30, |i, j| ((i * j) as f64 * 0.11).sin() + if i == j { 2.0 } else { 0.0 });
        for x in [&wide, &wide.transposed()] {
            let whole = spectrum(x, Select::Top(5), Exec::default()).unwrap();
            let u = whole.basis(5, Exec::default()).unwrap();
            // XᵀX u = σ² u and uᵀu = 1, entry by entry.
            for c in 0..5 {
                let xu: Vec<f64> =
                    (0..x.rows()).map(|i| (0..x.cols()).map(|j| x.at(i, j) * u.at(j, c)).sum()).collect();
                for j in 0..x.cols() {
                    let back: f64 = (0..x.rows()).map(|i| x.at(i, j) * xu[i]).sum();
                    let expected = whole.sigma[c].powi(2) * u.at(j, c);
                    assert!((back - expected).abs() < 300.0 * f64::EPSILON * whole.sigma[0].powi(2));
                }
                for d in 0..5 {
                    let dot: f64 = (0..x.cols()).map(|j| u.at(j, c) * u.at(j, d)).sum();
                    assert!((dot - if c == d { 1.0 } else { 0.0 }).abs() < 100.0 * f64::EPSILON);
                }
                let largest =
                    (0..x.cols()).map(|j| u.at(j, c)).fold(0.0f64, |b, v| if v.abs() > b.abs() { v } else { b });
                assert!(largest > 0.0);
            }
        }
    }

    #[test]
    fn directions_stay_orthonormal_down_to_tiny_values() {
        // A wide matrix with σ from 1 to 1e-10, whose directions come through Xᵀ V Σ⁻¹.
        let rotation = |n: usize, shift: f64| {
            orthonormalize(&Mat::from_fn(n, 20, |i, j| ((i * j) as f64 + shift * i as f64).sin()))
        };
        let (left, right) = (rotation(20, 0.3), rotation(60, 0.7));
        let sigma = |j: usize| 10f64.powf(-10.0 * j as f64 / 19.0);
        let x = Mat::from_fn(20, 60, |i, j| (0..20).map(|r| left.at(i, r) * sigma(r) * right.at(j, r)).sum());
        let u = spectrum(&x, Select::Top(20), Exec::default()).unwrap().basis(20, Exec::default()).unwrap();
        for c in 0..20 {
            for d in 0..20 {
                let dot: f64 = (0..60).map(|j| u.at(j, c) * u.at(j, d)).sum();
                assert!((dot - if c == d { 1.0 } else { 0.0 }).abs() < 100.0 * f64::EPSILON, "{c}, {d}: {dot:e}");
            }
            // The error of a direction of σ is eps·σ₁/gap, and neighboring values are a factor of 3.4 apart.
            let along: f64 = (0..60).map(|j| u.at(j, c) * right.at(j, c)).sum();
            assert!((along.abs() - 1.0).abs() < 1e3 * f64::EPSILON / sigma(c), "{c}: {along}");
        }
    }
}
