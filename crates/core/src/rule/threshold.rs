//! Where noise ends: cuts for singular values that need no tuning.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | β | `beta` | short side ÷ long side of the matrix, 0 < β ≤ 1 |
//! | λ*(β) | [`known_noise`] | best hard threshold in units of √(long side)·(noise deviation) |
//! | μ_β | [`median`] | median of the Marchenko–Pastur law |
//! | ω(β) | [`unknown_noise`] | the same threshold in units of the median singular value |
//!
//! ```text
//!     λ*(β) = √( 2(β+1) + 8β / (β+1+√(β²+14β+1)) )        ω(β) = λ*(β) / √μ_β
//! ```
//! Gavish, Donoho (2014) — `gavish2014`; ScreeNot: Donoho, Gavish, Romanov (2023) — `donoho2023` in
//! `docs/references.bib`.

use std::f64::consts::PI;

pub use crate::median::median_of;

/// λ*(β): noise of deviation s is cut at λ*(β)·√(long side)·s.
pub fn known_noise(beta: f64) -> f64 {
    let root = (beta * beta + 14.0 * beta + 1.0).sqrt();
    (2.0 * (beta + 1.0) + 8.0 * beta / (beta + 1.0 + root)).sqrt()
}

/// ω(β): noise of unknown deviation is cut at ω(β)·(median singular value).
pub fn unknown_noise(beta: f64) -> f64 {
    known_noise(beta) / median(beta).sqrt()
}

/// μ_β, the median of the Marchenko–Pastur law with aspect β.
pub fn median(beta: f64) -> f64 {
    if beta < 1e-5 { 1.0 - beta / 3.0 } else { quantile(beta, 0.5) }
}

/// The value that a share `above` of the Marchenko–Pastur law exceeds.
pub fn quantile(beta: f64, above: f64) -> f64 {
    let (mut low, mut high) = (0.0, PI);
    for _ in 0..100 {
        let angle = 0.5 * (low + high);
        if share_beyond(beta, angle) < above { low = angle } else { high = angle }
    }
    1.0 + beta + 2.0 * beta.sqrt() * (0.5 * (low + high)).cos()
}

/// The share of the Marchenko–Pastur law above `x`.
pub fn share_above(beta: f64, x: f64) -> f64 {
    let cosine = (x - 1.0 - beta) / (2.0 * beta.sqrt());
    share_beyond(beta, cosine.clamp(-1.0, 1.0).acos())
}

/// The share above x = 1 + β + 2√β cos θ. The density is √((x₊−x)(x−x₋)) / (2πβx), so with a = (1+β)/(2√β)
/// ```text
///     ∫₀^θ sin²t / (a + cos t) dt  =  aθ − sin θ − 2√(a²−1) atan( √((a−1)/(a+1)) tan(θ/2) )
/// ```
fn share_beyond(beta: f64, angle: f64) -> f64 {
    let a = (1.0 + beta) / (2.0 * beta.sqrt());
    let half = if angle < PI { (((a - 1.0) / (a + 1.0)).sqrt() * (0.5 * angle).tan()).atan() } else { PI / 2.0 };
    let root = (1.0 - beta) / (2.0 * beta.sqrt()); // √(a² − 1) without cancellation
    (a * angle - angle.sin() - 2.0 * root * half) / (PI * beta.sqrt())
}

/// How far the values `bulk` (largest first) of a matrix with aspect `beta` are from pure white noise: the largest
/// difference between their distribution and the Marchenko–Pastur law of the same median, 0 to 1.
pub fn distance_from_noise(bulk: &[f64], beta: f64) -> f64 {
    let count = bulk.len() as f64;
    let middle = median_of(bulk);
    if bulk.is_empty() || middle <= 0.0 {
        return 0.0;
    }
    let unit = median(beta) / (middle * middle);
    let distance = |(i, s): (usize, &f64)| ((i as f64 + 0.5) / count - share_above(beta, s * s * unit)).abs();
    bulk.iter().enumerate().map(distance).fold(0.0, f64::max)
}

/// The distance from noise below which `count` values of white noise stay. The chance part of the distance falls like
/// 1/count; 5/count covers it, which a test checks on seeds that it was not chosen on. The floor of 0.1 is our choice of
/// what still passes for noise in a large matrix.
pub fn noise_keeps_below(count: usize) -> f64 {
    (5.0 / count.max(1) as f64).max(0.1)
}

/// ScreeNot: the cut for noise that need not be white, from the bulk of the observed values themselves.
///
/// `sigma` are all singular values, largest first; at most `rank_bound` of them are signal. These are replaced by
/// a continuation of the noise's edge, and the cut is where the estimated loss of keeping a direction turns:
/// ```text
///     Ψ(y) = y ( φ'/φ + φ̃'/φ̃ ) = −4,     φ(y) = mean y/(y² − zᵢ²),     φ̃ = βφ + (1−β)/y
/// ```
/// `None` where the bulk is zero or fewer than 2·`rank_bound` + 2 values are given.
pub fn screenot(sigma: &[f64], beta: f64, rank_bound: usize) -> Option<f64> {
    let p = sigma.len();
    if 2 * rank_bound + 1 >= p {
        return None;
    }
    let bulk = pseudo_noise(sigma, rank_bound);
    let edge = bulk[0];
    if edge <= 0.0 {
        return None;
    }
    let bulk: Vec<f64> = bulk.iter().map(|z| z / edge).collect();
    let turned = |y: f64| psi(&bulk, beta, y) >= -4.0;
    let (mut low, mut high) = (1.0, 2.0);
    while !turned(high) {
        high *= 2.0; // Ψ rises to −2: this ends
    }
    for _ in 0..100 {
        let y = 0.5 * (low + high);
        if turned(y) { high = y } else { low = y }
    }
    Some(high * edge)
}

/// The values with the top `r` replaced by the square-root edge of the bulk below them, continued.
fn pseudo_noise(sigma: &[f64], r: usize) -> Vec<f64> {
    let (edge, inner) = (sigma[r], sigma[2 * r]);
    let step = |l: usize| (1.0 - (l as f64 / r as f64).powf(2.0 / 3.0)) / (2f64.powf(2.0 / 3.0) - 1.0);
    let top = (0..r).map(|l| edge + step(l) * (edge - inner));
    top.chain(sigma[r..].iter().copied()).collect()
}

fn psi(bulk: &[f64], beta: f64, y: f64) -> f64 {
    let count = bulk.len() as f64;
    let (mut phi, mut slope) = (0.0, 0.0);
    for z in bulk {
        let gap = (y - z) * (y + z);
        phi += y / gap;
        slope -= (y * y + z * z) / (gap * gap);
    }
    let (phi, slope) = (phi / count, slope / count);
    let (other, other_slope) = (beta * phi + (1.0 - beta) / y, beta * slope - (1.0 - beta) / (y * y));
    y * (slope / phi + other_slope / other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `fixtures/gavish_donoho.csv`: β, λ*, median, ω by quadrature; see `fixtures/README.md`.
    #[test]
    fn agrees_with_the_table_of_the_optimal_hard_threshold() {
        let table = include_str!("../../../../fixtures/gavish_donoho.csv");
        let mut rows = 0;
        for line in table.lines().filter(|l| !l.starts_with('#')) {
            let v: Vec<f64> = line.split(',').map(|f| f.parse().unwrap()).collect();
            assert!((known_noise(v[0]) - v[1]).abs() < 1e-10 * v[1]);
            assert!((median(v[0]) - v[2]).abs() < 1e-10, "β = {}: {} ≠ {}", v[0], median(v[0]), v[2]);
            assert!((unknown_noise(v[0]) - v[3]).abs() < 1e-10 * v[3]);
            rows += 1;
        }
        assert_eq!(rows, 16);
    }

    #[test]
    fn the_law_has_total_mass_one_and_mean_one() {
        for beta in [1e-4, 0.01, 0.3, 0.999, 1.0] {
            assert!((share_beyond(beta, PI) - 1.0).abs() < 1e-10);
            let steps = 20_000;
            let mean: f64 =
                (0..steps).map(|i| quantile(beta, (i as f64 + 0.5) / steps as f64)).sum::<f64>() / steps as f64;
            assert!((mean - 1.0).abs() < 1e-4, "β = {beta}: mean {mean}");
        }
    }

    #[test]
    fn the_median_is_smooth_where_the_formula_changes() {
        assert!((quantile(1e-5, 0.5) - (1.0 - 1e-5 / 3.0)).abs() < 1e-9);
        assert!((median(1e-12) - 1.0).abs() < 1e-12);
    }

    fn noise_values(p: usize, beta: f64) -> Vec<f64> {
        (0..p).map(|i| quantile(beta, (i as f64 + 0.5) / p as f64).sqrt()).collect()
    }

    #[test]
    fn screenot_finds_the_known_cut_on_pure_noise() {
        for beta in [0.2, 0.5, 1.0] {
            let tau = screenot(&noise_values(1000, beta), beta, 100).unwrap();
            assert!((tau / known_noise(beta) - 1.0).abs() < 0.01, "β = {beta}: {tau} against {}", known_noise(beta));
        }
        assert_eq!(screenot(&[1.0, 0.0, 0.0, 0.0, 0.0], 0.5, 1), None);
        assert_eq!(screenot(&[1.0; 4], 0.5, 2), None);
    }

    #[test]
    fn noise_is_at_no_distance_from_noise_and_a_power_law_is_far() {
        assert!(distance_from_noise(&noise_values(300, 0.4), 0.4) < 0.01);
        let law: Vec<f64> = (1..300).map(|i| (i as f64).powf(-0.9)).collect();
        assert!(distance_from_noise(&law, 0.4) > 0.2);
    }
}
