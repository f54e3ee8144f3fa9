//! The singular values above a cut from products with X alone, for a G too large to form.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A | [`Twice`] | XᵀX (n ≥ m) or XXᵀ (n < m), p × p, never formed: y = Xᵀ(Xv) |
//! | V, θ | `vectors`, `values` | c computed eigenvectors of A and their eigenvalues |
//! | ρ | `margin` | ≥ ‖AV − VΘ‖, rounding included |
//! | t | `below` | the cut as an eigenvalue, less the possible change by scaling and centering |
//! | B | `Deflated` | (I − VVᵀ) A (I − VVᵀ): the restriction of A to the complement of V |
//! | P | `chance` | probability that an eigenvalue of B above t stays undetected |
//!
//! **None invented** is proved by residuals ([`certificate`](crate::certificate)). **None missed** cannot be proved
//! without all of A, but a missed value is detected with high probability. Split A along V and its complement: A and
//! diag(VᵀAV, B) differ by the coupling, of norm ρ at most, so by Weyl no more eigenvalues of A lie above t than of
//! VᵀAV and of B above t − ρ. Those of VᵀAV are counted. Those of B are searched for with new Gaussian vectors,
//! independent of everything that found V (`direct/unseen.rs`).
//!
//! A value that is detected is added to V and the search continues. Values down to `NEAR` below the cut are computed
//! too: computed values need no random search, and the remaining ones are then at a distance from t.

mod unseen;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::Error;
use crate::blocks::{Blocks, Native};
use crate::certificate::lower_bounds;
use crate::exec::Exec;
use crate::gram::{Side, gamma};
use crate::krylov::{self, Operator, Until};
use crate::mat::{Mat, MatMut as Destination};
use crate::scale::times_power_of_two;
use crate::sparse::Sparse;
use crate::spectrum::{GramSpectrum, Leading, Select, over_samples};
use unseen::unseen;

/// Eigenvalues are computed down to this share of the cut.
const NEAR: f64 = 0.95;
/// Maximum number of rounds that add missed values.
const ROUNDS: usize = 4;
/// Values of X in a stripe.
const STRIPE: usize = 1 << 20;
/// Maximum number of groups in which stripes of X are summed.
const GROUPS: usize = 16;

/// The singular values of `x` selected by `cut`, without a Gram matrix. Where the search space for so many values would
/// be as large as G, G is formed after all.
pub fn direct<'a>(x: &'a dyn Blocks, cut: Select, exec: Exec<'_>) -> Result<Leading<'a>, Error> {
    Direct::of(x, exec)?.leading(cut, exec)
}

/// X applied twice: A = XᵀX on the smaller side.
pub struct Twice<'a> {
    x: &'a dyn Blocks,
    side: Side,
    /// The factor that is applied first and the second one, where X is sparse.
    sparse: Option<[Sparse; 2]>,
}

impl<'a> Twice<'a> {
    /// The operator of `x`.
    pub fn new(x: &'a dyn Blocks) -> Self {
        let side = Side::of(x);
        let sparse = match x.native() {
            Native::Sparse(rows) => {
                let columns = rows.transposed();
                Some(if side == Side::Features { [rows, columns] } else { [columns, rows] })
            }
            _ => None,
        };
        Self { x, side, sparse }
    }

    /// max(n, m).
    fn long(&self) -> usize {
        self.x.rows().max(self.x.cols())
    }

    /// tr A = ‖X‖²_F.
    fn energy(&self, exec: Exec<'_>) -> Result<f64, Error> {
        if let Some([first, _]) = &self.sparse {
            return Ok(first.energy());
        }
        let parts = self.by_stripes(
            "measure",
            exec,
            || 0.0,
            |sum, stripe, _| {
                *sum += stripe.iter().map(|x| x * x).sum::<f64>();
            },
        )?;
        Ok(parts.into_iter().sum())
    }

    /// A bound on the rounding of Av for a unit v: γ of the lengths of both sums times ‖|X|ᵀ|X|‖.
    fn rounding(&self, energy: f64) -> f64 {
        match &self.sparse {
            Some([first, _]) => first.rounding(),
            None => gamma(self.order() + self.long() + GROUPS) * energy,
        }
    }

    /// Reads X in stripes of its long side, in groups that follow from the shape; the value of a group is passed from
    /// stripe to stripe. In a stripe of height h, values are ordered by the short side within the long one for
    /// features, the other way round for samples: as in memory.
    fn by_stripes<T: Send>(
        &self,
        stage: &'static str,
        exec: Exec<'_>,
        start: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, &[f64], usize) + Sync,
    ) -> Result<Vec<T>, Error> {
        let (p, q) = (self.order(), self.long());
        let height = (STRIPE / p.max(1)).clamp(16, 512);
        let stripes = q.div_ceil(height);
        let each = stripes.div_ceil(GROUPS).max(1);
        let groups = exec.map(stage, stripes.div_ceil(each), |group| {
            let mut value = start();
            let mut stripe = vec![0.0; height * p];
            for s in group * each..((group + 1) * each).min(stripes) {
                exec.check()?;
                let some = s * height..((s + 1) * height).min(q);
                let tall = some.len();
                let stripe = &mut stripe[..tall * p];
                match self.side {
                    Side::Features => self.x.read(some, 0..p, &mut Destination::row_major(stripe, p)),
                    Side::Samples => self.x.read(0..p, some, &mut Destination::row_major(stripe, tall)),
                }
                work(&mut value, stripe, tall);
            }
            Ok(value)
        })?;
        groups.into_iter().collect()
    }

    fn multiply_dense(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        let p = self.order();
        let width = v.len() / p.max(1);
        let v = MatRef::from_column_major_slice(v, p, width);
        let sums = self.by_stripes(
            "multiply",
            exec,
            || vec![0.0; p * width],
            |sum, stripe, tall| {
                // The stripe as a tall × p matrix, in memory order.
                let stripe = match self.side {
                    Side::Features => MatRef::from_row_major_slice(stripe, tall, p),
                    Side::Samples => MatRef::from_row_major_slice(stripe, p, tall).transpose(),
                };
                let mut once = vec![0.0; tall * width];
                let mut once = MatMut::from_column_major_slice_mut(&mut once, tall, width);
                matmul(once.as_mut(), Accum::Replace, stripe, v, 1.0, Par::Seq);
                let sum = MatMut::from_column_major_slice_mut(sum, p, width);
                matmul(sum, Accum::Add, stripe.transpose(), once.as_ref(), 1.0, Par::Seq);
            },
        )?;
        out.fill(0.0);
        sums.iter().for_each(|sum| out.iter_mut().zip(sum).for_each(|(out, sum)| *out += sum));
        Ok(())
    }
}

impl Operator for Twice<'_> {
    fn order(&self) -> usize {
        self.x.rows().min(self.x.cols())
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        let Some([first, second]) = &self.sparse else { return self.multiply_dense(v, out, exec) };
        let p = self.order();
        let width = v.len() / p.max(1);
        let mut rows = vec![0.0; v.len()];
        MatMut::from_row_major_slice_mut(&mut rows, p, width).copy_from(MatRef::from_column_major_slice(v, p, width));
        let once = first.times(&rows, width, exec)?;
        let twice = second.times(&once, width, exec)?;
        MatMut::from_column_major_slice_mut(out, p, width).copy_from(MatRef::from_row_major_slice(&twice, p, width));
        Ok(())
    }
}

/// B = (I − VVᵀ) A (I − VVᵀ).
struct Deflated<'a> {
    a: &'a dyn Operator,
    /// V, column after column.
    v: &'a [f64],
}

impl Operator for Deflated<'_> {
    fn order(&self) -> usize {
        self.a.order()
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        let p = self.order();
        let mut complement = v.to_vec();
        remove(&mut complement, self.v, p);
        self.a.multiply(&complement, out, exec)?;
        remove(out, self.v, p);
        Ok(())
    }
}

/// W ← W − V (VᵀW), twice, for orthonormal V: columns of p values, one after the other.
fn remove(w: &mut [f64], v: &[f64], p: usize) {
    let (c, width) = (v.len() / p.max(1), w.len() / p.max(1));
    let v = MatRef::from_column_major_slice(v, p, c);
    let mut w = MatMut::from_column_major_slice_mut(w, p, width);
    for _ in 0..2 {
        let along = v.transpose() * w.as_ref();
        matmul(w.as_mut(), Accum::Add, v, along.as_ref(), -1.0, Par::Seq);
    }
}

/// X prepared for several searches, without its Gram matrix.
pub struct Direct<'a> {
    a: Twice<'a>,
    energy: f64,
    rounding: f64,
}

/// Computed eigenpairs.
struct Pairs {
    values: Vec<f64>,
    /// Column after column.
    vectors: Vec<f64>,
}

/// Bounds on the number of values above a cut.
struct CountBounds {
    low: usize,
    high: usize,
    chance: f64,
    margin: f64,
}

impl<'a> Direct<'a> {
    /// Reads `x` once.
    pub fn of(x: &'a dyn Blocks, exec: Exec<'_>) -> Result<Self, Error> {
        let a = Twice::new(x);
        let energy = a.energy(exec)?;
        Ok(Self { rounding: a.rounding(energy), a, energy })
    }

    /// ‖X‖_F².
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// The singular values selected by `cut`, each with its direction.
    pub fn leading(&self, cut: Select, exec: Exec<'_>) -> Result<Leading<'a>, Error> {
        let x = self.a.x;
        let scaled = cut.scaled(x.exponent());
        let until = match scaled {
            Select::Above(tau) => Until::Above(NEAR * tau * tau),
            Select::Top(count) => Until::Count(count),
            Select::Energy(share) => Until::Share(share, self.energy),
        };
        let Some(found) = krylov::leading(&self.a, until, self.rounding, exec)? else {
            return GramSpectrum::of(x, exec)?.leading(cut, exec);
        };
        let mut pairs = Pairs { values: found.values, vectors: found.vectors.transposed().into_vec() };
        for _ in 0..ROUNDS {
            let (count, tau) = scaled.place(&pairs.values, self.energy);
            match self.count_above(tau, &pairs, exec)? {
                Some(bounds_above) => return Ok(self.answer(count, tau, pairs, bounds_above)),
                None if self.add_missed(tau, &mut pairs, exec)? => {}
                None => return GramSpectrum::of(x, exec)?.leading(cut, exec),
            }
        }
        Err(Error::NoConvergence { rows: x.rows(), cols: x.cols() })
    }

    /// The number of values above τ; `None` where one is missing.
    fn count_above(&self, tau: f64, pairs: &Pairs, exec: Exec<'_>) -> Result<Option<CountBounds>, Error> {
        let (p, error_bound) = (self.a.order(), self.a.x.rounding());
        let (below, above) = ((tau - error_bound).max(0.0).powi(2), (tau + error_bound).powi(2));
        let c = pairs.values.iter().take_while(|v| **v > NEAR * below).count();
        let (values, v) = (&pairs.values[..c], &pairs.vectors[..c * p]);
        let rounding = self.rounding + gamma(4) * pairs.values[0];
        let bounds = lower_bounds(&self.a, (rounding, 0.0), values, v, exec)?;
        let slack = values.iter().zip(&bounds).map(|(v, b)| v - b).fold(self.rounding, f64::max);
        // VᵀAV differs from Θ by at most the norm of the coupling, and by V's departure from orthonormality.
        let margin = 2.0 * slack + gamma(p) * c as f64 * pairs.values[0];
        let low = bounds.iter().take_while(|b| **b > above).count();
        let t = below - margin;
        let whole = margin + 2.0 * tau * error_bound + error_bound * error_bound;
        if t <= 0.0 {
            return Ok(Some(CountBounds { low, high: p, chance: f64::EPSILON, margin: whole }));
        }
        let high = values.iter().take_while(|v| **v >= t).count();
        let complement = Deflated { a: &self.a, v };
        let chance = unseen(&complement, t, exec)?;
        Ok(chance.map(|chance| CountBounds { low, high, chance, margin: whole }))
    }

    /// Adds the missed eigenpairs; false where there are too many.
    fn add_missed(&self, tau: f64, pairs: &mut Pairs, exec: Exec<'_>) -> Result<bool, Error> {
        let p = self.a.order();
        let c = pairs.values.iter().take_while(|v| **v > NEAR * tau * tau).count();
        pairs.values.truncate(c);
        pairs.vectors.truncate(c * p);
        let complement = Deflated { a: &self.a, v: &pairs.vectors };
        let Some(more) = krylov::leading(&complement, Until::Above(NEAR * tau * tau), self.rounding, exec)? else {
            return Ok(false);
        };
        let mut vectors = std::mem::take(&mut pairs.vectors);
        vectors.extend(more.vectors.transposed().into_vec());
        pairs.values.extend(more.values);
        let mut order: Vec<usize> = (0..pairs.values.len()).collect();
        order.sort_by(|&i, &j| pairs.values[j].total_cmp(&pairs.values[i]));
        pairs.vectors = order.iter().flat_map(|i| vectors[i * p..(i + 1) * p].iter().copied()).collect();
        pairs.values = order.iter().map(|i| pairs.values[*i]).collect();
        Ok(true)
    }

    fn answer(&self, count: usize, tau: f64, pairs: Pairs, bounds_above: CountBounds) -> Leading<'a> {
        let (x, p) = (self.a.x, self.a.order());
        let unscaled = |s: f64| times_power_of_two(s, x.exponent());
        let singular = |v: &f64| if *v <= self.rounding { 0.0 } else { unscaled(v.sqrt()) };
        Leading {
            sigma: pairs.values.iter().map(singular).collect(),
            count,
            interval: (bounds_above.low.min(count), bounds_above.high.max(count)),
            chance: bounds_above.chance,
            margin: bounds_above.margin / (2.0 * tau * tau),
            norm: unscaled(self.energy.sqrt()),
            solver: "krylov",
            vectors: Mat::from_fn(p, pairs.values.len(), |i, j| pairs.vectors[j * p + i]),
            samples: over_samples(x, self.a.side),
        }
    }
}

#[cfg(test)]
mod tests;
