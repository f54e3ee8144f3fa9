//! From a rule to a cut: λ, τ = 1/√λ, and how many singular values lie above.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ | `sigma` | singular values of the prepared samples, largest first |
//! | τ | `tau` | the cut; λ = 1/τ² |
//! | k | `k` | #{σ > τ} |

use eigenspan_linalg::Exec;

use super::noise_cut::Noise;
use crate::Error;
use crate::data::Samples;
use crate::prepare::{Preparation, Scan};
use crate::text::short_number;
use crate::warning::Warning;

/// How λ is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase", tag = "rule", content = "value")]
pub enum Lambda {
    /// Optimal hard threshold for white noise of unknown strength (Gavish, Donoho 2014). Nothing to choose.
    #[default]
    Auto,
    /// This λ.
    Fixed(f64),
    /// Optimal hard threshold for white noise of this standard deviation, in the units of the data.
    Noise(f64),
    /// Optimal hard threshold for noise of any shape, from the bulk of the spectrum (ScreeNot).
    ScreeNot,
    /// As many directions as carry this share of the energy Σσ².
    Energy(f64),
}

/// A cut and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// τ.
    pub tau: f64,
    /// λ = 1/τ²; infinite or zero where that leaves the range of numbers.
    pub lambda: f64,
    /// k = #{σ > τ}.
    pub k: usize,
    /// The smallest and largest k within rounding of the cut.
    pub interval: (usize, usize),
    /// The name of the rule.
    pub rule: &'static str,
    /// The rule in words.
    pub reason: String,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// #{σ : λσ² > 1}: adding a direction costs 1 and saves λσ², and a tie keeps the smaller rank.
pub fn principal_rank(sigma: &[f64], lambda: f64) -> usize {
    sigma.iter().take_while(|s| exceeds(lambda, **s)).count()
}

/// λσ² > 1, decided right for every λ and σ: no overflow, no underflow, and ties to the last bit.
fn exceeds(lambda: f64, sigma: f64) -> bool {
    use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
    // λ = 4^e·l with ¼ ≤ l < 1, so that λσ² = l·s² with s = 2^e·σ.
    let e = (exponent_of(lambda) + 1).div_euclid(2);
    let (l, s) = (times_power_of_two(lambda, -2 * e), times_power_of_two(sigma, e));
    if !(0.5..4.0).contains(&s) {
        return s >= 4.0;
    }
    let square = s * s;
    let lost = s.mul_add(s, -square); // s² = square + lost, exactly
    l.mul_add(square, -1.0) + l * lost > 0.0
}

/// What is told apart from rounding: the error of the decomposition, or that of the numbers the data came in.
pub fn rounding_level(sigma: &[f64], n: usize, m: usize, epsilon: f64) -> f64 {
    let top = sigma.first().copied().unwrap_or(0.0);
    if top == 0.0 {
        return 0.0;
    }
    let (n, m) = (n as f64, m as f64);
    let decomposition = n.max(m) * f64::EPSILON * top;
    // Values of size `typical`, each rounded by its own eps, are off by a matrix of about this norm.
    let energy: f64 = sigma.iter().map(|s| (s / top).powi(2)).sum();
    let typical = top * (energy / (n * m)).sqrt();
    decomposition.max(epsilon * (n.sqrt() + m.sqrt()) * typical)
}

/// The prepared samples, as far as choosing a cut goes.
pub struct Spectrum<'a> {
    /// The raw samples.
    pub samples: Samples<'a>,
    /// What one look at them told.
    pub scan: &'a Scan,
    /// How they were prepared.
    pub preparation: &'a Preparation,
    /// Singular values of the prepared samples, largest first.
    pub sigma: &'a [f64],
}

impl Lambda {
    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |name, expected, got| Err(Error::Parameter { name, expected, got });
        match *self {
            Self::Fixed(lambda) if !(lambda > 0.0 && lambda.is_finite()) => {
                refuse("lambda", "a positive number", lambda)
            }
            Self::Noise(s) if !(s >= 0.0 && s.is_finite()) => refuse("noise", "a standard deviation of 0 or more", s),
            Self::Energy(share) if !(share > 0.0 && share <= 1.0) => refuse("energy", "a share between 0 and 1", share),
            _ => Ok(()),
        }
    }

    /// Applies the rule.
    pub fn cut(&self, spectrum: &Spectrum<'_>, exec: Exec<'_>) -> Result<Cut, Error> {
        match *self {
            Self::Fixed(lambda) => Ok(spectrum.fixed(lambda)),
            Self::Energy(share) => Ok(spectrum.energy(share)),
            Self::Auto => Ok(spectrum.noise(Noise::Even, exec)?.auto()),
            Self::Noise(deviation) => Ok(spectrum.noise(Noise::Known, exec)?.known(deviation)),
            Self::ScreeNot => Ok(spectrum.noise(Noise::OfAnyShape, exec)?.screenot()),
        }
    }
}

impl Spectrum<'_> {
    /// How far apart two values must be to be told apart.
    pub(super) fn resolution(&self) -> f64 {
        resolution(self.sigma, self.samples.rows(), self.samples.cols())
    }

    /// How many values stand above rounding.
    pub fn numerical_rank(&self) -> usize {
        let level = self.rounding();
        self.sigma.iter().take_while(|s| **s > level).count()
    }

    fn rounding(&self) -> f64 {
        let epsilon = self.samples.number_type().epsilon();
        rounding_level(self.sigma, self.samples.rows(), self.samples.cols(), epsilon)
    }

    fn fixed(&self, lambda: f64) -> Cut {
        let tau = 1.0 / lambda.sqrt();
        // Below the error of the decomposition there is no direction to be had, whatever λ asks for.
        let error = rounding_level(self.sigma, self.samples.rows(), self.samples.cols(), 0.0);
        let most = self.sigma.iter().take_while(|s| **s > error).count();
        let asked = principal_rank(self.sigma, lambda);
        let k = asked.min(most);
        let interval = around(self.sigma, tau, self.resolution(), k);
        let warnings = if asked > most { vec![Warning::RankCapped { asked, most }] } else { vec![] };
        Cut { tau, lambda, k, interval, rule: "fixed", reason: "1/√λ for the λ that was given".into(), warnings }
    }

    fn energy(&self, share: f64) -> Cut {
        let top = self.sigma[0];
        let squares = || self.sigma.iter().map(|s| (s / top).powi(2));
        let enough = share * squares().sum::<f64>() * (1.0 - self.sigma.len() as f64 * f64::EPSILON);
        let mut sum = 0.0;
        let k = squares()
            .take_while(|s| {
                let short = sum < enough;
                sum += s;
                short
            })
            .count();
        self.at_rank(k, "energy", format!("the fewest directions that carry {} of the energy", short_number(share)))
    }

    /// The cut that keeps exactly `k` values: between σ_k and σ_{k+1}.
    pub fn at_rank(&self, k: usize, rule: &'static str, reason: String) -> Cut {
        let tau = self.between(k, 1.0);
        Cut { tau, lambda: 1.0 / (tau * tau), k, interval: (k, k), rule, reason, warnings: vec![] }
    }

    /// A number between σ_k and σ_{k+1}; above σ₁ by `beyond` for k = 0.
    pub(super) fn between(&self, k: usize, beyond: f64) -> f64 {
        if k == 0 {
            return self.sigma[0] * beyond.max(1.0);
        }
        let above = self.sigma[k - 1];
        let below = self.sigma.get(k).copied().unwrap_or(0.0).max(self.rounding());
        above.min((above.sqrt() * below.sqrt()).max(f64::MIN_POSITIVE))
    }
}

/// The error bound of a singular value from the full decomposition, four times over.
pub(super) fn resolution(sigma: &[f64], n: usize, m: usize) -> f64 {
    4.0 * n.max(m) as f64 * f64::EPSILON * sigma.first().copied().unwrap_or(0.0)
}

/// The smallest and largest count above a cut that is known to within `resolution`.
pub(super) fn around(sigma: &[f64], tau: f64, resolution: f64, k: usize) -> (usize, usize) {
    let low = sigma.iter().take_while(|s| **s > tau + resolution).count();
    let high = sigma.iter().take_while(|s| **s >= tau - resolution).count();
    (low.min(k), high.max(k))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [f64; 9] = [4.0, 3.0, 2.0, 1.0, 1.0, 0.5, 0.25, 0.1, 0.0];

    #[test]
    fn the_rank_agrees_with_trying_every_rank() {
        for step in -300..300 {
            let lambda = 1.07f64.powi(step);
            let cost = |r: usize| r as f64 + lambda * STEPS[r..].iter().map(|s| s * s).sum::<f64>();
            let best = (0..=STEPS.len()).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap();
            assert_eq!(principal_rank(&STEPS, lambda), best, "λ = {lambda}");
        }
    }

    #[test]
    fn a_tie_keeps_the_smaller_rank() {
        for (lambda, k) in [(1.0, 3), (0.25, 2), (1.0 / 16.0, 0), (4.0, 5), (16.0, 6)] {
            assert_eq!(principal_rank(&STEPS, lambda), k, "λ = {lambda}");
        }
        let up = |x: f64| f64::from_bits(x.to_bits() + 1);
        assert_eq!(principal_rank(&STEPS, up(1.0)), 5);
        assert_eq!(principal_rank(&[up(1.0), 1.0], 1.0), 1);
    }

    #[test]
    fn scaling_the_data_is_scaling_lambda() {
        for e in [-500, -170, -3, 0, 1, 80, 500] {
            let c = 2f64.powi(e);
            let scaled: Vec<f64> = STEPS.iter().map(|s| c * s).collect();
            for lambda in [0.3, 1.0, 4.0, 17.0] {
                assert_eq!(principal_rank(&scaled, lambda / c / c), principal_rank(&STEPS, lambda));
            }
        }
        assert_eq!(principal_rank(&[1e300, 1e-300], 1e-300), 1);
        assert_eq!(principal_rank(&[1e-300], f64::MAX), 0);
    }

    /// λσ² > 1 in exact integers, for σ = a·2⁻⁵² in [1, 2) and λ = b·2⁻⁵⁴: a²b > 2¹⁵⁸.
    fn exceeds_exactly(lambda: f64, sigma: f64) -> bool {
        let a = (sigma * 2f64.powi(52)) as u128;
        let b = (lambda * 2f64.powi(54)) as u128;
        let low = ((a * a) & u128::from(u64::MAX)) * b;
        let high = ((a * a) >> 64) * b + (low >> 64);
        high > 1 << 94 || (high == 1 << 94 && low as u64 > 0)
    }

    #[test]
    fn the_decision_is_exact_next_to_a_tie() {
        let mut bits = 88_172_645_463_325_252u64;
        for _ in 0..2000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let sigma = f64::from_bits((bits >> 12) | (1023 << 52));
            let near = 1.0 / (sigma * sigma);
            for ulps in -2..=2i64 {
                let lambda = f64::from_bits(near.to_bits().wrapping_add_signed(ulps));
                assert_eq!(exceeds(lambda, sigma), exceeds_exactly(lambda, sigma), "λ = {lambda:e}, σ = {sigma:e}");
            }
        }
    }
}
