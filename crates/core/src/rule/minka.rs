//! How many principal components the samples have, by the evidence of every number.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | N, d | `n`, `m` | samples, features |
//! | λ₁ ≥ … ≥ λ_d | `variances` | eigenvalues of the covariance |
//! | k | `k` | how many are signal |
//! | v̂ | `noise` | mean of λ_{k+1} … λ_d |
//! | λ̂ⱼ | | λⱼ up to k, v̂ after |
//!
//! ```text
//!     p(D|k) ≈ p(U) (Π_{j≤k} λⱼ)^(−N/2) v̂^(−N(d−k)/2) (2π)^((M+k)/2) |A|^(−1/2) N^(−k/2),        M = dk − k(k+1)/2
//!     p(U) = 2^(−k) Π_{i≤k} Γ((d−i+1)/2) π^(−(d−i+1)/2)
//!     |A| = Π_{i≤k} Π_{j>i} (λ̂ⱼ⁻¹ − λ̂ᵢ⁻¹)(λᵢ − λⱼ) N
//! ```
//! This is Laplace's approximation of the evidence of k signal directions in even noise. It holds for many samples and
//! a given number of features, so that fewer samples than features are refused: there λ is zero from N on, for any true
//! k. Sums over pairs do not depend on k or grow with it, so that all k take O(d²) steps together.
//!
//! Minka (2000) — `minka2000` in `docs/references.bib`. **Where we differ** from the usual code: variances are measured
//! in λ₁, so that the unit of the samples does not matter; a factor of |A| that is rounding (two equal variances) is
//! left out, where its logarithm would be −∞ and the evidence infinite.

/// Variances below this share of the largest are zero.
const NOTHING: f64 = 1e-15;

/// log p(D|k) for k = 1, …, d − 1, up to one constant. `variances` are sorted, largest first; the first is positive.
pub fn log_evidence(variances: &[f64], n: usize) -> Vec<f64> {
    let (d, samples) = (variances.len(), n as f64);
    let lambda: Vec<f64> = variances.iter().map(|v| v / variances[0]).collect();
    let gamma = half_log_gamma(d);
    // ln of a factor with its N, or nothing where the factor is rounding.
    let rounding = d as f64 * f64::EPSILON;
    let gap = |i: usize, j: usize| {
        let gap = lambda[i] - lambda[j];
        if gap > rounding * lambda[i] { (gap * samples).ln() } else { 0.0 }
    };
    let inverse_gap = |i: usize, variance: f64| {
        let gap = 1.0 / variance - 1.0 / lambda[i];
        if gap > rounding / lambda[i] { gap.ln() } else { 0.0 }
    };
    let (mut prior, mut signal, mut gaps, mut inverse_gaps) = (0.0, 0.0, 0.0, 0.0);
    let mut evidence = Vec::with_capacity(d.saturating_sub(1));
    for k in 1..d {
        let last = lambda[k - 1];
        if last < NOTHING {
            evidence.push(f64::NEG_INFINITY);
            continue;
        }
        let rest = d - k;
        let half = (rest + 1) as f64 / 2.0;
        prior += gamma[rest + 1] - half * std::f64::consts::PI.ln() - std::f64::consts::LN_2;
        signal += last.ln();
        gaps += (k..d).map(|j| gap(k - 1, j)).sum::<f64>();
        inverse_gaps += (0..k - 1).map(|i| inverse_gap(i, last)).sum::<f64>();
        let noise = (lambda[k..].iter().sum::<f64>() / rest as f64).max(NOTHING);
        let to_noise = rest as f64 * (0..k).map(|i| inverse_gap(i, noise)).sum::<f64>();
        let free = (d * k - k * (k + 1) / 2 + k) as f64;
        let fit = -samples / 2.0 * (signal + rest as f64 * noise.ln());
        let volume = free / 2.0 * std::f64::consts::TAU.ln() - k as f64 / 2.0 * samples.ln();
        evidence.push(prior + fit + volume - (gaps + inverse_gaps + to_noise) / 2.0);
    }
    evidence
}

/// The k of the largest evidence, the smallest of equal ones; 1 where there is no choice.
pub fn dimension(variances: &[f64], n: usize) -> usize {
    let evidence = log_evidence(variances, n);
    let better = |best: usize, k: usize| if evidence[k] > evidence[best] { k } else { best };
    1 + (0..evidence.len()).fold(0, better)
}

/// ln Γ(h/2) for h = 0, …, `most`; nothing is said of h = 0.
fn half_log_gamma(most: usize) -> Vec<f64> {
    let mut values = vec![0.0, std::f64::consts::PI.ln() / 2.0, 0.0];
    for h in 3..=most {
        values.push(values[h - 2] + ((h - 2) as f64 / 2.0).ln());
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_halves_is_that_of_factorials_and_double_factorials() {
        let values = half_log_gamma(11);
        assert!((values[10] - 24f64.ln()).abs() < 1e-14, "Γ(5) = 4!");
        assert!((values[11] - (945.0 / 32.0 * std::f64::consts::PI.sqrt()).ln()).abs() < 1e-14, "Γ(11/2) = 945√π/32");
    }

    #[test]
    fn the_unit_of_the_samples_changes_nothing() {
        let variances = [9.0, 5.0, 1.1, 1.0, 0.9, 0.8];
        let scaled = variances.map(|v| v * 1e-40);
        assert_eq!(dimension(&variances, 50), 2);
        for (a, b) in log_evidence(&variances, 50).iter().zip(log_evidence(&scaled, 50)) {
            assert!((a - b).abs() < 1e-10);
        }
    }

    #[test]
    fn equal_variances_give_finite_evidence() {
        for variances in [vec![4.0, 4.0, 1.0, 1.0, 1.0], vec![2.0; 5]] {
            assert!(log_evidence(&variances, 100).iter().all(|e| e.is_finite()));
        }
        assert_eq!(dimension(&[4.0, 4.0, 1.0, 1.0, 1.0], 1000), 2);
    }

    #[test]
    fn without_noise_the_rank_is_found_and_one_feature_leaves_no_choice() {
        assert_eq!(dimension(&[3.0, 2.0, 1.0, 0.0, 0.0], 20), 3);
        assert_eq!(dimension(&[3.0], 20), 1);
    }
}
