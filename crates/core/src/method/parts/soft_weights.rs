//! Soft spectral weights: how much each direction counts in the features, without a step at the cut.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ | `sigma` | singular value of a direction |
//! | τ | `tau` | where signal and noise are equally strong |
//! | γ | `gamma` | 0: features keep the spread of the samples; 1: every direction gets the same |
//! | w | | weight of a direction, z = w uᵀy |
//!
//! ```text
//!     w(σ) = (σ/(σ² + τ²))^γ · (σ²/(σ² + τ²))^(1−γ)  =  σ^(2−γ) / (σ² + τ²)
//! ```
//! γ = 1 is the ridge form of PCE's whitening: Θ = U diag(σ/(σ² + τ²)) is what min ‖ΘᵀD − Vᵀ‖² + τ²‖Θ‖² gives, and
//! tends to U Σ⁻¹ for σ ≫ τ. γ = 0 is principal component analysis with each score shrunk by σ²/(σ² + τ²), Wiener's
//! factor for a signal of energy σ² in noise of energy τ². Directions below τ are not thrown away at once: their weight
//! falls, and directions count down to σ = τ/2, where that factor is ⅕.
//!
//! Hoerl, Kennard (1970) — `hoerl1970` in `docs/references.bib` — is the ridge.

use crate::Error;

/// Directions count down to this share of τ.
pub const DEPTH: f64 = 0.5;

/// 1/w of each of the values, which are positive: features are divided by it.
pub fn divisors(sigma: &[f64], tau: f64, gamma: f64) -> Vec<f64> {
    // σ^γ (1 + τ²/σ²), within range whatever the units of the data.
    let divisor = |s: &f64| (s.powf(gamma) * (1.0 + (tau / s).powi(2))).min(f64::MAX);
    sigma.iter().map(divisor).collect()
}

/// How many of the values count, largest first: those above τ/2, at most `most`, and at least one.
pub fn columns(sigma: &[f64], tau: f64, most: usize) -> usize {
    sigma.iter().take_while(|s| **s > DEPTH * tau).count().min(most).max(1)
}

/// Divides scores by their divisors; then to length one, where that is requested. A row of zeros stays one.
pub fn weigh(row: &mut [f64], divisors: &[f64], unit: bool) {
    row.iter_mut().zip(divisors).for_each(|(z, d)| *z /= d);
    let length = if unit { crate::prepare::norm(row) } else { 1.0 };
    if length > 0.0 && length != 1.0 {
        row.iter_mut().for_each(|z| *z /= length);
    }
}

/// Refuses a γ that is not between 0 and 1.
pub fn check(gamma: f64) -> Result<(), Error> {
    if (0.0..=1.0).contains(&gamma) {
        return Ok(());
    }
    Err(Error::Parameter { name: "gamma", expected: "a number from 0 (PCA) to 1 (whitening)", got: gamma })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_product_of_their_two_forms() {
        for gamma in [0.0, 0.25, 0.5, 0.75, 1.0f64] {
            for (s, tau) in [(3.0, 0.5), (0.5, 0.5), (0.3, 0.5), (1e-3, 1e-3), (70.0, 1e-9f64)] {
                let below: f64 = s * s + tau * tau;
                let want = (s / below).powf(gamma) * (s * s / below).powf(1.0 - gamma);
                let got = 1.0 / divisors(&[s], tau, gamma)[0];
                // Two powers and a few roundings on either side.
                assert!((got - want).abs() <= 16.0 * f64::EPSILON * want, "γ {gamma}, σ {s}, τ {tau}: {got} {want}");
            }
        }
    }

    #[test]
    fn far_above_the_cut_gamma_one_whitens_and_gamma_zero_leaves_scores() {
        assert_eq!(divisors(&[8.0, 4.0], 1e-12, 1.0), [8.0, 4.0]);
        assert_eq!(divisors(&[8.0, 4.0], 1e-12, 0.0), [1.0, 1.0]);
    }

    #[test]
    fn scaling_data_and_cut_scales_all_weights_alike() {
        let (sigma, tau) = ([5.0, 2.0, 0.7, 0.4], 0.6);
        for gamma in [0.0, 0.5, 1.0] {
            let plain = divisors(&sigma, tau, gamma);
            for e in [-900, -60, 60, 900] {
                let c = 2f64.powi(e);
                let scaled = divisors(&sigma.map(|s| c * s), c * tau, gamma);
                let ratio = scaled[0] / plain[0];
                // powf of numbers far from one is right to a few units in the last place.
                assert!(scaled.iter().zip(&plain).all(|(a, b)| (a / b / ratio - 1.0).abs() < 1e-13), "{e} {gamma}");
            }
        }
        assert_eq!(divisors(&[1e-200], 1e200, 1.0), [f64::MAX], "no infinity, which times zero is no number");
    }

    #[test]
    fn directions_count_down_to_half_the_cut() {
        let sigma = [4.0, 2.0, 1.0, 0.6, 0.5, 0.4];
        assert_eq!([1.0, 2.0, 100.0].map(|tau| columns(&sigma, tau, 6)), [4, 2, 1]);
        assert_eq!(columns(&sigma, 0.1, 3), 3);
    }

    #[test]
    fn unit_features_have_length_one_and_zeros_stay() {
        let mut row = [3.0e-170, 8.0e-170];
        weigh(&mut row, &[1.0, 2.0], true);
        assert!((row[0] - 0.6).abs() < 1e-15 && (row[1] - 0.8).abs() < 1e-15, "{row:?}");
        let mut zeros = [0.0, 0.0];
        weigh(&mut zeros, &[1.0, 2.0], true);
        assert_eq!(zeros, [0.0, 0.0]);
        let mut as_they_are = [3.0, 8.0];
        weigh(&mut as_they_are, &[1.0, 2.0], false);
        assert_eq!(as_they_are, [3.0, 4.0]);
    }
}
