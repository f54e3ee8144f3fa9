//! The chance that a value above the cut hides from a space that began with Gaussian vectors.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A, m | | positive semidefinite, eigenvalues λ₁ ≥ λ₂ ≥ …, of order m |
//! | G, l | `columns` | the Gaussian m × l matrix that the space K = {G, AG, …, Aˢ⁻¹G} began with |
//! | ξ₁ ≥ ξ₂ ≥ … | | the Ritz values of A over K |
//! | j, ξ | `known`, `next` | so many values are known, and the first Ritz value past them, ξ_{j+1} |
//! | t | `cut` | the cut, as an eigenvalue, above ξ |
//!
//! *Theorem.* If λ_{j+1} ≥ t > ξ_{j+1} = ξ and j < l, then ‖Ω₂Ω₁⁺‖ ≥ 1/η for η² = ξ / ((t − ξ) T²ₛ₋₁(2t/ξ − 1)), T the
//! Chebyshev polynomial, where Ω₁ ((j + 1) × l) and Ω₂ are the parts of G along the first j + 1 eigenvectors of A and along the others.
//! *Proof.* Let φ be a polynomial of degree s − 1, positive from t on. For z ∈ ℝʲ⁺¹ the vector x = φ(A)GΩ₁⁺z lies in K; it has
//! the parts φ(λᵢ)zᵢ along the first j + 1 eigenvectors and φ(λᵢ)cᵢ along the others, c = Ω₂Ω₁⁺z. These x are a
//! space of dimension j + 1, so the least Rayleigh quotient among them is at most ξ_{j+1} (Courant–Fischer). For that x
//! ```text
//!     Σ_{i ≤ j+1} zᵢ² φ(λᵢ)² (λᵢ − ξ)  ≤  Σ_{i > j+1} cᵢ² φ(λᵢ)² (ξ − λᵢ)  ≤  ξ ‖c‖² max φ² over [0, ξ]
//! ```
//! With φ(x) = Tₛ₋₁(2x/ξ − 1), at most 1 on [0, ξ] and growing beyond, the left side is at least ‖z‖² T²ₛ₋₁(2t/ξ − 1)(t − ξ). ∎
//!
//! Ω₁ and Ω₂ are independent Gaussian matrices, and Ω₂Ω₁⁺ meets Ω₂ in j + 1 directions that Ω₁ chose. So (Davidson, Szarek
//! 2001 — `davidson2001` in `docs/references.bib`) ‖Ω₂Ω₁⁺‖ ≤ (√m + √(j+1) + u)·‖Ω₁⁺‖ but for e^{−u²/2}, and with p = l − j (Chen, Dongarra 2005 — `chen2005` —, as in Halko,
//! Martinsson, Tropp 2011 — `halko2011` —, Proposition A.3)
//! ```text
//!     P(‖Ω₁⁺‖ ≥ x)  ≤  (2πp)^{−1/2} (e√l / (p x))ᵖ
//! ```
//! The power p makes it sharp: with l = 200 vectors and k = 20 values, being off by a tenth costs a factor of 10⁷.
//!
//! The search ends where the chance is small, after any reading and at any number of values, so the bound is multiplied by the number
//! of looks it could have ended at. The chance is over the draw of G; that comes from a seed, so that the same data
//! give the same answer. Rounding has no part in the theorem, so no chance below eps is claimed.

use super::MOST_READINGS;

/// A count is probable where it is wrong with no more than this chance.
pub(super) const CHANCE: f64 = 1e-9;
/// ‖Ω₂‖ exceeds its mean by this with a chance of e^{−u²/2} = 3e-18.
const BEYOND: f64 = 9.0;

/// What a space was made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    pub order: usize,
    pub columns: usize,
    pub readings: usize,
}

/// The chance that more than `known` values reach the cut `t`, where ξ_{known+1} is `next` or less.
pub(super) fn chance(made: Made, known: usize, next: f64, t: f64) -> f64 {
    let looks = (MOST_READINGS * made.columns) as f64;
    (looks * at_one_look(made, known, next, t)).clamp(f64::EPSILON, 1.0)
}

/// The same for one who looks only once.
pub(super) fn at_one_look(Made { order, columns, readings }: Made, known: usize, next: f64, t: f64) -> f64 {
    if known >= columns || next >= t {
        return 1.0;
    }
    if next <= 0.0 {
        return 0.0;
    }
    let growth = (readings - 1) as f64 * (2.0 * t / next - 1.0).acosh();
    let chebyshev = growth + (0.5 * (1.0 + (-2.0 * growth).exp())).ln(); // ln cosh
    let inverse_eta = 0.5 * ((t - next) / next).ln() + chebyshev;
    let (l, p) = (columns as f64, (columns - known) as f64);
    let x = inverse_eta - ((order as f64).sqrt() + (known as f64 + 1.0).sqrt() + BEYOND).ln();
    let narrow = p * (1.0 + 0.5 * l.ln() - p.ln() - x) - 0.5 * (std::f64::consts::TAU * p).ln();
    (narrow.exp() + (-0.5 * BEYOND * BEYOND).exp()).min(1.0)
}
