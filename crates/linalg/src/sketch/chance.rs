//! The probability that a value above the cut is missed by a space that started from Gaussian vectors.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A, m | | positive semidefinite, eigenvalues λ₁ ≥ λ₂ ≥ …, of order m |
//! | G, l | `columns` | the Gaussian m × l matrix that starts the space K = {G, AG, …, Aˢ⁻¹G} |
//! | ξ₁ ≥ ξ₂ ≥ … | | the Ritz values of A over K |
//! | j, ξ | `known`, `next` | number of computed values, and the first Ritz value past them, ξ_{j+1} |
//! | t | `cut` | the cut as an eigenvalue, above ξ |
//!
//! *Theorem.* If λ_{j+1} ≥ t > ξ_{j+1} = ξ and j < l, then ‖Ω₂Ω₁⁺‖ ≥ 1/η for η² = ξ / ((t − ξ) T²ₛ₋₁(2t/ξ − 1)), T the
//! Chebyshev polynomial, where Ω₁ ((j + 1) × l) and Ω₂ are the components of G along the first j + 1 eigenvectors of A
//! and along the others.
//! *Proof.* Let φ be a polynomial of degree s − 1, positive from t on. For z ∈ ℝʲ⁺¹ the vector x = φ(A)GΩ₁⁺z lies in K;
//! it has the components φ(λᵢ)zᵢ along the first j + 1 eigenvectors and φ(λᵢ)cᵢ along the others, c = Ω₂Ω₁⁺z. These x
//! are a space of dimension j + 1, so the smallest Rayleigh quotient among them is at most ξ_{j+1} (Courant–Fischer).
//! For that x
//! ```text
//!     Σ_{i ≤ j+1} zᵢ² φ(λᵢ)² (λᵢ − ξ)  ≤  Σ_{i > j+1} cᵢ² φ(λᵢ)² (ξ − λᵢ)  ≤  ξ ‖c‖² max φ² over [0, ξ]
//! ```
//! With φ(x) = Tₛ₋₁(2x/ξ − 1), at most 1 on [0, ξ] and growing beyond, the left side is at least ‖z‖² T²ₛ₋₁(2t/ξ − 1)(t
//! − ξ). ∎
//!
//! Ω₁ and Ω₂ are independent Gaussian matrices, and Ω₂Ω₁⁺ multiplies Ω₂ with j + 1 directions that depend on Ω₁ alone.
//! So (Davidson, Szarek 2001 — `davidson2001` in `docs/references.bib`) ‖Ω₂Ω₁⁺‖ ≤ (√m + √(j+1) + u)·‖Ω₁⁺‖ except with
//! probability e^{−u²/2}, and with p = l − j (Chen, Dongarra 2005 — `chen2005` —, as in Halko, Martinsson, Tropp 2011 —
//! `halko2011` —, Proposition A.3)
//! ```text
//!     P(‖Ω₁⁺‖ ≥ x)  ≤  (2πp)^{−1/2} (e√l / (p x))ᵖ
//! ```
//! The power p makes the bound sharp: with l = 200 vectors and k = 20 values, a deviation of a tenth costs a factor of
//! 10⁷.
//!
//! The search ends where the probability is small, after any pass and at any number of values, so the bound is
//! multiplied by the number of tests at which it could have ended. The probability is over the draw of G, which comes
//! from a seed, so that the same data give the same answer. Rounding is outside the theorem, so no probability below
//! eps is claimed.

use super::MAX_PASSES;

/// A count is probable where it is wrong with at most this probability.
pub(super) const CHANCE: f64 = 1e-9;
/// ‖Ω₂‖ exceeds its mean by this with probability e^{−u²/2} = 3e-18.
const DEVIATION: f64 = 9.0;

/// The shape of a Krylov space.
#[derive(Debug, Clone, Copy)]
pub(super) struct KrylovShape {
    pub order: usize,
    pub columns: usize,
    pub passes: usize,
}

/// The probability that more than `known` values reach the cut `t`, where ξ_{known+1} is `next` or less.
pub(super) fn chance(shape: KrylovShape, known: usize, next: f64, t: f64) -> f64 {
    let tests = (MAX_PASSES * shape.columns) as f64;
    (tests * single_test(shape, known, next, t)).clamp(f64::EPSILON, 1.0)
}

/// The same for a single test.
pub(super) fn single_test(KrylovShape { order, columns, passes }: KrylovShape, known: usize, next: f64, t: f64) -> f64 {
    if known >= columns || next >= t {
        return 1.0;
    }
    if next <= 0.0 {
        return 0.0;
    }
    let growth = (passes - 1) as f64 * (2.0 * t / next - 1.0).acosh();
    let chebyshev = growth + (0.5 * (1.0 + (-2.0 * growth).exp())).ln(); // ln cosh
    let inverse_eta = 0.5 * ((t - next) / next).ln() + chebyshev;
    let (l, p) = (columns as f64, (columns - known) as f64);
    let x = inverse_eta - ((order as f64).sqrt() + (known as f64 + 1.0).sqrt() + DEVIATION).ln();
    let narrow = p * (1.0 + 0.5 * l.ln() - p.ln() - x) - 0.5 * (std::f64::consts::TAU * p).ln();
    (narrow.exp() + (-0.5 * DEVIATION * DEVIATION).exp()).min(1.0)
}
