//! The ratio of the nearest distance to the farthest of k + 1, its distribution, and the dimension that fits it best.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | r_i = T₁/T_{k+1} | [`Ratios`] | of each point, 0 < r ≤ 1 |
//! | g(r; k, d) = k d r^{d−1} (1 − r^d)^{k−1} | | its density where points are uniform in a ball of d dimensions |
//! | d | [`Ratios::dimension`] | maximizes the likelihood |
//!
//! ```text
//!     ∂ log L / ∂d = n/d + Σ ( log r_i − (k − 1) r_i^d log r_i / (1 − r_i^d) )
//!     d ∂ log L / ∂d = n − Σ a_i + (k − 1) Σ a_i / (e^{a_i} − 1),        a_i = −d log r_i
//! ```
//! The second form decreases with d, has no 0/0 where r = 1, and has one root: bisection finds it.
//!
//! Two distributions with d₁ and d₂ differ by the Kullback–Leibler divergence ([`divergence`]). With u = r^{d₁}, which
//! is Beta(1, k) under the first one, and ρ = d₂/d₁:
//! ```text
//!     KL = ρ H_k − H_{k−1} − 1 − log ρ − (k − 1) E log(1 − u^ρ)
//! ```
//! The expectation is computed by double exponential quadrature: its closed form is an alternating sum that has no
//! correct digit at k = 50.
//!
//! Rozza, Lombardi, Ceruti, Casiraghi, Campadelli (2012) — `rozza2012` in `docs/references.bib`.

use std::f64::consts::PI;

use super::near::Near;

/// Bisection steps: more than `f64` has digits.
const HALVINGS: usize = 200;
/// Step and range of the quadrature: all digits for k up to a thousand and ρ from 1/100 to 100, which a test shows.
const STEP: f64 = 1.0 / 32.0;
const REACH: i32 = 144;

/// The ratios of all points, as −log r ≥ 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratios {
    k: usize,
    logs: Vec<f64>,
}

impl Ratios {
    /// The ratios of the first k + 1 neighbors.
    pub fn of(near: &Near, k: usize) -> Self {
        let log = |i: usize| {
            let distances = near.distances(i);
            (distances[k] / distances[0]).ln()
        };
        Self { k, logs: (0..near.points().rows()).map(log).collect() }
    }

    /// r of every point, in their order.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.logs.iter().map(|log| (-log).exp())
    }

    /// Whether r = 1 everywhere: then the likelihood increases with d without bound.
    pub fn all_equal(&self) -> bool {
        self.logs.iter().all(|log| *log == 0.0)
    }

    /// d ∂ log L / ∂d.
    fn slope(&self, d: f64) -> f64 {
        let power = (self.k - 1) as f64;
        let of_point = |log: &f64| {
            let a = d * log;
            1.0 - a + power * if a > 0.0 { a / a.exp_m1() } else { 1.0 }
        };
        self.logs.iter().map(of_point).sum()
    }

    /// The real d of the largest likelihood (MLk); infinite where all r are 1.
    pub fn dimension(&self) -> f64 {
        if self.all_equal() {
            return f64::INFINITY;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while self.slope(high) > 0.0 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// The d of 1, …, `most` that minimizes the squared derivative of the likelihood (MLi). The derivative decreases,
    /// so it is one of the two integers next to its root.
    pub fn whole_dimension(&self, most: usize) -> usize {
        let tilt = |d: usize| (self.slope(d as f64) / d as f64).abs();
        let low = (self.dimension().min(most as f64) as usize).max(1);
        let high = (low + 1).min(most);
        if tilt(high) < tilt(low) { high } else { low }
    }

    /// The standard error of [`dimension`](Self::dimension) from the curvature of the likelihood, as if neighborhoods
    /// did not overlap: they do, so it is too small rather than too large.
    pub fn error(&self, d: f64) -> f64 {
        let power = (self.k - 1) as f64;
        // −∂²log L/∂d² = n/d² + (k − 1) Σ l² eᵃ/(eᵃ − 1)², with l = −log r and a = d l.
        let of_point = |log: &f64| {
            let a = d * log;
            let bend = if a > 1e-4 { a / (2.0 * (0.5 * a).sinh()) } else { 1.0 };
            1.0 + power * bend * bend
        };
        d / self.logs.iter().map(of_point).sum::<f64>().sqrt()
    }
}

/// KL of the distribution with `first` dimensions from that with `second`, for k + 1 neighbors.
pub fn divergence(k: usize, first: f64, second: f64) -> f64 {
    let rho = second / first;
    let harmonic = |n: usize| (1..=n).map(|i| 1.0 / i as f64).sum::<f64>();
    let known = rho * harmonic(k) - harmonic(k - 1) - 1.0 - rho.ln();
    known - (k - 1) as f64 * mean_log_rest(k, rho)
}

/// E log(1 − u^ρ) for u from Beta(1, k), whose density is k (1 − u)^{k−1}.
fn mean_log_rest(k: usize, rho: f64) -> f64 {
    let mut sum = 0.0;
    for step in -REACH..=REACH {
        // u = 1/(1 + e^{−2s}), 1 − u = 1/(1 + e^{2s}), s = (π/2) sinh t: both ends without cancellation.
        let t = f64::from(step) * STEP;
        let s = 0.5 * PI * t.sinh();
        let (log_u, log_rest) = (-(-2.0 * s).exp().ln_1p(), -(2.0 * s).exp().ln_1p());
        let density = (k as f64).ln() + k as f64 * log_rest + log_u;
        let weight = density.exp() * PI * t.cosh();
        let value = (-(rho * log_u).exp_m1()).ln();
        if weight > 0.0 && value.is_finite() {
            sum += weight * value;
        }
    }
    sum * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(k: usize, values: &[f64]) -> Ratios {
        Ratios { k, logs: values.iter().map(|r| -r.ln()).collect() }
    }

    #[test]
    fn the_likelihood_is_largest_at_the_dimension() {
        let some = ratios(10, &[0.5, 0.7, 0.8, 0.65, 0.9, 1.0]);
        let d = some.dimension();
        let likelihood = |d: f64| -> f64 {
            let of = |r: f64| d.ln() + (d - 1.0) * r.ln() + 9.0 * (1.0 - r.powf(d)).ln();
            some.values().filter(|r| *r < 1.0).map(of).sum::<f64>() + 10.0 * d.ln() // r → 1: log d + 9 log d + constant
        };
        assert!(likelihood(d) > likelihood(d * 1.001) && likelihood(d) > likelihood(d * 0.999));
        // The curvature by differences: the error of second differences is about (h d)², here 1e-6.
        let h = 1e-3 * d;
        let bend = (likelihood(d + h) - 2.0 * likelihood(d) + likelihood(d - h)) / (h * h);
        assert!((some.error(d) * (-bend).sqrt() - 1.0).abs() < 1e-4);
        assert_eq!(some.whole_dimension(40), d.round() as usize);
    }

    #[test]
    fn one_neighbour_gives_the_closed_form() {
        let some = ratios(1, &[0.5, 0.25, 0.9]);
        let want = -3.0 / (0.5f64.ln() + 0.25f64.ln() + 0.9f64.ln());
        assert!((some.dimension() / want - 1.0).abs() < 1e-14);
    }

    #[test]
    fn equal_distances_have_no_largest_likelihood() {
        let same = ratios(4, &[1.0, 1.0]);
        assert!(same.all_equal() && same.dimension() == f64::INFINITY && same.whole_dimension(7) == 7);
    }

    #[test]
    fn the_divergence_is_zero_at_itself_and_that_of_the_definition() {
        for k in [1, 2, 10, 50, 1000] {
            // The sum of terms of size H_k and (k − 1)/k is zero up to their rounding.
            assert!(divergence(k, 7.3, 7.3).abs() < 1e-13 * k as f64, "k = {k}: {}", divergence(k, 7.3, 7.3));
        }
        for (k, first, second) in [(10, 7.3, 6.0), (50, 7.3, 8.0), (22, 3.0, 9.0), (10, 20.0, 1.5)] {
            let log = |r: f64, d: f64| {
                (k as f64 * d).ln() + (d - 1.0) * r.ln() + (k - 1) as f64 * (-(d * r.ln()).exp_m1()).ln()
            };
            let steps = 400_000; // the midpoint rule, good to 1e-8 or so: log r has a pole at zero
            let value = |i: usize| {
                let r = (i as f64 + 0.5) / steps as f64;
                log(r, first).exp() * (log(r, first) - log(r, second))
            };
            let want = (0..steps).map(value).sum::<f64>() / steps as f64;
            let got = divergence(k, first, second);
            assert!((got - want).abs() < 1e-7 * (1.0 + want), "{k} {first} {second}: {got} ≠ {want}");
        }
    }
}
