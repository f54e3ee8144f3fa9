//! From the space to an answer: Ritz values, how many of them are above the cut, and the certificate of that count.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | ξ | `values` | the eigenvalues of T |
//! | t | `t` | the cut as an eigenvalue, less all possible rounding errors |
//! | k | `known` | #{ξ ≥ t} |
//! | R | | the coupling of Ritz vectors to the complement of the space (`space.rs`) |
//!
//! **None missed, by energy.** Let B be A on the complement of the first k Ritz vectors; λ_{k+1}(A) ≤ λ₁(B)
//! (Courant–Fischer). In the basis of the other Ritz vectors and of the complement of the space B = [Ξ, Cᵀ; C, B′] with
//! tr B′ = E − tr T, so tI − B is positive definite (Schur) where ξ_{k+1} < t and
//! ```text
//!     E − tr T + ‖C (tI − Ξ)^{−1/2}‖²  <  t
//! ```
//! Otherwise E ≥ Σλ allows (E − Σ_{i≤k} ξᵢ)/t further values of t and above.
//!
//! **A share of the energy.** Σ_{i≤k} λᵢ ≥ Σξᵢ, so this number of values certainly carries the share. Where no more
//! than k values are above a t below ξ_k, Σ_{i≤k} λᵢ ≤ Σξᵢ + k‖C_k‖²/(ξ_k − t) (Li, Li 2005 — `li2005` in
//! `docs/references.bib`), C_k the residuals of the first k: fewer values than this bound allows do not carry it.

use super::Sketch;
use super::chance::{CHANCE, KrylovShape, chance};
use crate::Error;
use crate::dense::product;
use crate::exec::Exec;
use crate::gram::gamma;
use crate::mat::Mat;
use crate::rows::energy;
use crate::spectrum::{Leading, Select};
use crate::symmetric::{Tridiagonal, tridiagonalize};

/// A direction is accepted where its residual ‖Au − ξu‖ is below this share of ξ: the relative error of σ is then a few
/// 10⁻⁵.
const ACCURATE: f64 = 0.01;

/// The singular values selected by a cut, as far as the passes determine them.
#[derive(Debug)]
pub struct Answer {
    /// The values and their directions.
    pub leading: Leading<'static>,
    /// Whether the count is certified and the directions are accurate, so that no further pass is needed.
    pub settled: bool,
    /// Whether the space is too small for the selected values: more columns are needed rather than more passes.
    pub short: bool,
    /// The largest ‖Au − ξu‖/ξ of the directions above the cut.
    pub residual: f64,
}

/// Bounds on a count, which fail with probability `chance`.
struct CountBounds {
    low: usize,
    high: usize,
    chance: f64,
}

impl Sketch {
    /// The singular values that `cut` selects. Not before the end of the first pass.
    pub fn leading(&self, cut: Select, exec: Exec<'_>) -> Result<Answer, Error> {
        let n = self.rows.filter(|_| self.passes() > 0).ok_or(Error::NoRows)?;
        let reduced = tridiagonalize(self.space.projected().clone(), exec.silent())?;
        let values = reduced.values(exec.silent())?;
        let d = values.len();
        let (count, tau) = cut.place(&values, self.energy);
        let error_bound = (n as f64).sqrt() * self.row_rounding;
        let slack = self.slack(values[0]);
        let mut bounds = self.count(&reduced, &values, (tau, error_bound), slack, exec)?;
        let needed = (count + 1).min(d);
        let vectors = reduced.with_values(values[..needed].to_vec(), exec.silent())?.vectors;
        let residuals = self.residuals(&vectors, exec)?;
        let share = |(r, v): (&f64, &f64)| r / v.max(f64::MIN_POSITIVE);
        let residual = residuals.iter().zip(&values).take(count).map(share).fold(0.0, f64::max);
        let mut short = count >= self.columns.min(d) && !self.is_closed();
        if let Select::Energy(part) = cut {
            let found: f64 = values.iter().sum();
            short = found + d as f64 * slack < part * self.energy && !self.is_closed();
            let gap = values[..count].last().map_or(0.0, |v| v - tau * tau);
            let excess = residuals.iter().take(count).map(|r| r * r).sum::<f64>() / gap;
            let enough = part * self.energy - count as f64 * (excess + slack);
            let certified = bounds.high <= count && gap > 0.0;
            bounds.low = if certified { fewest(&values, enough).min(count) } else { count.min(1) };
            bounds.high = count;
        }
        let p = n.min(self.features);
        let (low, high) = (bounds.low.min(count), bounds.high.max(count).min(p));
        let leading = Leading {
            sigma: values[..needed].iter().map(|v| if *v <= self.error { 0.0 } else { v.sqrt() }).collect(),
            count,
            interval: (low, high.max(low)),
            chance: bounds.chance,
            margin: (slack + 2.0 * tau * error_bound + error_bound * error_bound)
                / (2.0 * tau * tau).max(f64::MIN_POSITIVE),
            norm: self.energy.sqrt(),
            solver: "sketch",
            vectors: self.space.over_features(&vectors, exec)?,
            samples: None,
        };
        let settled = (low == high && residual <= ACCURATE && !short) || self.is_closed();
        Ok(Answer { leading, settled, short, residual })
    }

    /// ‖Au − ξu‖ of the Ritz vectors u, given in coordinates of the space.
    fn residuals(&self, vectors: &Mat, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let coupled_coordinates = self.space.coupled_coordinates(vectors, exec)?;
        let mut squares = vec![0.0; vectors.cols()];
        for i in 0..coupled_coordinates.rows() {
            squares.iter_mut().zip(coupled_coordinates.row(i)).for_each(|(sum, x)| *sum += x * x);
        }
        Ok(squares.into_iter().map(f64::sqrt).collect())
    }

    /// The number of values above τ, which is given to within `error_bound`.
    fn count(
        &self,
        reduced: &Tridiagonal,
        values: &[f64],
        (tau, error_bound): (f64, f64),
        slack: f64,
        exec: Exec<'_>,
    ) -> Result<CountBounds, Error> {
        let (above, t) = ((tau + error_bound).powi(2), (tau - error_bound).max(0.0).powi(2) - slack);
        let low = values.iter().take_while(|v| **v - slack > above).count();
        if t <= 0.0 {
            return Ok(CountBounds { low, high: self.features, chance: 0.0 });
        }
        let known = values.iter().take_while(|v| **v >= t).count();
        let rounding = gamma(self.features + self.rows()) * self.energy + values.len() as f64 * slack;
        let remaining = self.energy - values[..known].iter().sum::<f64>() + rounding;
        let most = known + (remaining / t).max(0.0) as usize;
        let left = self.energy - values.iter().sum::<f64>() + rounding;
        if most == known || (left < t && left + self.coupled(reduced, values, known, t, exec)? < t) {
            return Ok(CountBounds { low, high: known, chance: 0.0 });
        }
        let shape = KrylovShape { order: self.features, columns: self.columns, passes: self.space.steps() };
        let chances = (known..most.min(values.len())).map(|j| (j, chance(shape, j, values[j] + slack, t)));
        Ok(match chances.into_iter().find(|(_, chance)| *chance <= CHANCE) {
            Some((high, chance)) => CountBounds { low, high, chance },
            None => CountBounds { low, high: most, chance: 0.0 },
        })
    }

    /// ‖C (tI − Ξ)^{−1/2}‖² for the Ritz vectors past the first `known`.
    fn coupled(
        &self,
        reduced: &Tridiagonal,
        values: &[f64],
        known: usize,
        t: f64,
        exec: Exec<'_>,
    ) -> Result<f64, Error> {
        let vectors = reduced.with_values(values.to_vec(), exec.silent())?.vectors;
        let coupled_coordinates = self.space.coupled_coordinates(&vectors, exec)?;
        let rows = coupled_coordinates.rows();
        if rows == 0 || known == values.len() {
            return Ok(0.0);
        }
        let scaled = Mat::from_fn(rows, values.len() - known, |i, j| {
            coupled_coordinates.at(i, known + j) / (t - values[known + j]).sqrt()
        });
        let square = product(scaled.view(), scaled.view().transposed(), exec.silent())?;
        let rounding = gamma(2 * values.len()) * energy(scaled.as_slice());
        Ok(tridiagonalize(square, exec.silent())?.values(exec.silent())?[0] * (1.0 + 1e-6) + rounding)
    }
}

/// The minimum number of leading values that sum to `enough`.
fn fewest(values: &[f64], enough: f64) -> usize {
    let mut sum = 0.0;
    values.iter().take_while(|v| (sum < enough, sum += v.max(0.0)).0).count()
}
