//! The number of eigenvalues of a Gram matrix above a cut: a proof, not an estimate.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | G, Ĝ | `gram` | the exact Gram matrix of the values read, and the computed one |
//! | e | `gram.error` | ‖Ĝ − G‖₂ ≤ e |
//! | t = τ² | `square` | the cut for eigenvalues |
//! | V, Θ | `vectors`, `values` | c computed eigenvectors and eigenvalues θ₁ ≥ … ≥ θ_c |
//! | k⁻, k⁺ | `low`, `high` | lower and upper bound on the number of eigenvalues of G above t |
//!
//! **None missed.** Let M = s·I − Ĝ + VΘVᵀ for *any* V of c columns, M̂ the matrix formed from it, ‖M̂ − M‖₂ ≤ f, and
//! let the Cholesky factorization of M̂ complete, so that the eigenvalues of M̂ are above −d
//! ([`definite`](crate::definite)). For every unit x orthogonal to V, a space of dimension p − c or more,
//! ```text
//!     xᵀGx ≤ xᵀĜx + e = s − xᵀMx + e < s + d + f + e
//! ```
//! so by Courant–Fischer λ_{c+1}(G) < s + d + f + e. With s = t − (d + f + e): at most c eigenvalues reach t. ∎
//! An entry of M̂ is a sum of c + 2 terms, so f ≤ γ_{c+4}(‖Θ‖₁ + ‖Ĝ‖_F + s), because ‖|V|Θ|V|ᵀ‖₂ ≤ Σθ‖v‖² (V is
//! orthonormal to far better than the slack in γ). d = γ_{p+1}/(1 − γ_{p+1})·tr M̂ with tr M̂ ≤ p·t.
//!
//! **None invented.** Let R = ĜV − VΘ for the first i columns, ρ ≥ ‖R‖_F, δ ≥ ‖VᵀV − I‖_F < 1. On the range of V the
//! form of Ĝ is VᵀĜV = ½(VᵀVΘ + ΘVᵀV) + ½(VᵀR + RᵀV), and, scaled by Θ^½ from both sides, the first part is
//! I + ½(Θ^½ΔΘ^−½ + Θ^−½ΔΘ^½) with Δ = VᵀV − I, whose entries grow by √(θ₁/θᵢ) at most. So by Courant–Fischer
//! ```text
//!     λᵢ(G) ≥ [ θᵢ(1 − δ√(θ₁/θᵢ)) − √(1+δ)·ρ ] / (1 + δ) − e
//! ```
//! and every i for which the right side is above t counts. ∎ The rounding of R̂ adds γ_{p+2}(‖Ĝ‖_F + θ₁)√i to ρ, that
//! of VᵀV adds γ_p·i to δ.
//!
//! **Scaling and centering.** Both bounds are about X_read. With ‖X_read − X‖_F ≤ h, Weyl's inequality bounds the
//! change of a singular value by h, so t is replaced by (τ ± h)².

use crate::Error;
use crate::definite::definite;
use crate::exec::Exec;
use crate::gram::{Gram, gamma};
use crate::krylov::{Dense, Operator};
use crate::mat::Mat;
use crate::matmul;
use crate::rows::energy;

/// The status of a count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Certificate {
    /// The count is proved, rounding included.
    Proved,
    /// The count is correct except with this probability.
    Probable(f64),
    /// Values lie too near the cut to decide: lower and upper bound on the count.
    Interval(usize, usize),
}

impl Certificate {
    /// The certificate of an interval of counts that fails with probability `chance`.
    pub(crate) fn of((low, high): (usize, usize), chance: f64) -> Self {
        match chance {
            _ if low < high => Self::Interval(low, high),
            chance if chance > 0.0 => Self::Probable(chance),
            _ => Self::Proved,
        }
    }
}

/// Bounds on the number of eigenvalues above a cut, and the width of the undecided zone around the cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// k⁻.
    pub low: usize,
    /// k⁺.
    pub high: usize,
    /// Eigenvalues outside t ± this margin are classified.
    pub margin: f64,
}

/// The number of leading eigenvalues of `values` whose vectors [`count_above`] needs, `least` or more: eigenvalues that
/// cannot be separated from the cut τ, given to within `error_bound`, are shifted like those above it.
pub fn vectors_needed(gram: &Gram, (tau, error_bound): (f64, f64), values: &[f64], least: usize) -> usize {
    let size = frobenius(&gram.matrix);
    let mut count = least.min(values.len());
    loop {
        // Each vector that is shifted widens the margin a little, and may require another one.
        let (s, upper) = shift(gram, size, (tau, error_bound), &values[..count]);
        let near = values.iter().take_while(|v| **v >= s - upper).count();
        if s <= 0.0 || near <= count {
            return count;
        }
        count = near;
    }
}

/// Counts the eigenvalues of `gram` above τ² for a cut τ given to within `error_bound`; `None` where `vectors` (p × c,
/// `values` in descending order) miss one.
pub fn count_above(
    gram: &Gram,
    (tau, error_bound): (f64, f64),
    values: &[f64],
    vectors: &Mat,
    exec: Exec<'_>,
) -> Result<Option<Bounds>, Error> {
    let size = frobenius(&gram.matrix);
    let (s, upper) = shift(gram, size, (tau, error_bound), values);
    let above = (tau + error_bound).powi(2);
    if s <= 0.0 {
        return Ok(Some(Bounds { low: 0, high: gram.order(), margin: 2.0 * upper }));
    }
    // Eigenvalues within the margin below the cut are shifted too: they cannot be separated from it.
    let high = values.iter().take_while(|v| **v >= s - upper).count();
    exec.report("certify", 0, 2)?;
    if !definite(&gram.matrix, s, &values[..high], &vectors.leading_columns(high), exec.silent())? {
        return Ok(None);
    }
    exec.report("certify", 1, 2)?;
    let candidates = values.iter().take_while(|v| **v > above).count();
    let columns = vectors.leading_columns(candidates).transposed().into_vec();
    exec.check()?;
    let rounding = gamma(gram.order() + 2) * (size + values.first().copied().unwrap_or(0.0));
    let operator = Dense(&gram.matrix);
    let bounds = lower_bounds(&operator, (rounding, gram.error), &values[..candidates], &columns, exec)?;
    let low = bounds.iter().take_while(|b| **b > above).count();
    let lower = values[..candidates].iter().zip(&bounds).map(|(v, b)| v - b).fold(0.0, f64::max);
    // A value counts as below the cut only where it is below s − upper = t − 2 upper.
    let margin = (2.0 * upper).max(lower) + 2.0 * tau * error_bound + error_bound * error_bound;
    Ok(Some(Bounds { low, high, margin }))
}

/// s and d + f + e of the first proof.
fn shift(gram: &Gram, size: f64, (tau, error_bound): (f64, f64), values: &[f64]) -> (f64, f64) {
    let upper = gram.error + rounding_of_proof(gram.order(), size, values, tau * tau);
    ((tau - error_bound).max(0.0).powi(2) - upper, upper)
}

/// d + f of the first proof.
fn rounding_of_proof(p: usize, size: f64, values: &[f64], square: f64) -> f64 {
    let formed = gamma(values.len() + 4) * (values.iter().sum::<f64>() + size + square);
    let cholesky = gamma(p + 1) / (1.0 - gamma(p + 1)) * p as f64 * square;
    1.1 * (formed + cholesky)
}

/// Lower bounds on λᵢ(G), where `a` is within `error` of G and rounds the image of a unit vector by no more than
/// `rounding`. The vectors `v` are stored column after column.
pub(crate) fn lower_bounds(
    a: &dyn Operator,
    (rounding, error): (f64, f64),
    values: &[f64],
    v: &[f64],
    exec: Exec<'_>,
) -> Result<Vec<f64>, Error> {
    let (p, c) = (a.order(), values.len());
    if c == 0 {
        return Ok(vec![]);
    }
    let mut gv = vec![0.0; p * c];
    a.multiply(v, &mut gv, exec)?;
    exec.check()?;
    let residual = |j: usize| -> f64 {
        gv[j * p..][..p].iter().zip(&v[j * p..][..p]).map(|(g, v)| (g - values[j] * v).powi(2)).sum()
    };
    let off = orthogonality(v, p, c, exec)?;
    let mut square_of_residuals = 0.0;
    let bound = |j: usize| {
        square_of_residuals += residual(j);
        let root = ((j + 1) as f64).sqrt();
        let rho = square_of_residuals.sqrt() + rounding * root;
        let delta = off + gamma(p) * (j + 1) as f64;
        let scaled = values[j] * (1.0 - delta * (values[0] / values[j]).sqrt()) - (1.0 + delta).sqrt() * rho;
        scaled / (1.0 + delta) - error
    };
    Ok((0..c).map(bound).collect())
}

/// ‖VᵀV − I‖_F.
fn orthogonality(v: &[f64], p: usize, c: usize, exec: Exec<'_>) -> Result<f64, Error> {
    let view = faer::MatRef::from_column_major_slice(v, p, c);
    let mut square = vec![0.0; c * c];
    let out = faer::MatMut::from_column_major_slice_mut(&mut square, c, c);
    matmul::product(out, faer::Accum::Replace, view.transpose(), view, 1.0, exec.silent())?;
    (0..c).for_each(|i| square[i * c + i] -= 1.0);
    Ok(energy(&square).sqrt())
}

fn frobenius(g: &Mat) -> f64 {
    energy(g.as_slice()).sqrt()
}
