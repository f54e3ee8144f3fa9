//! λ as it is given: k = #{σ : λσ² > 1}.
//!
//! Adding a direction costs 1 and saves λσ², and a tie keeps the smaller rank. The decision is exact for every λ and σ.

use eigenspan_linalg::Exec;
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::spectrum::Select;

use super::cut::{Count, Cut, Decision};
use super::{Needs, Rule};
use crate::Error;
use crate::spectrum::{Spectrum, rounding_level};
use crate::warning::Warning;

/// This λ.
pub struct Fixed(pub f64);

impl Rule for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn check(&self) -> Result<(), Error> {
        let Self(lambda) = *self;
        if lambda > 0.0 && lambda.is_finite() {
            return Ok(());
        }
        Err(Error::Parameter { name: "lambda", expected: "a positive number", got: lambda })
    }

    fn needs(&self) -> Needs {
        Needs::LEADING
    }

    fn is_given(&self) -> bool {
        true
    }

    fn cut<'a>(&self, spectrum: &'a dyn Spectrum, exec: Exec<'_>) -> Result<Decision<'a>, Error> {
        let Self(lambda) = *self;
        let tau = 1.0 / lambda.sqrt();
        let found = spectrum.leading(Select::Above(tau), exec)?;
        let leading = &found.leading;
        // Below the error of the decomposition there is no direction to be had, whatever λ asks for.
        let (n, m) = spectrum.shape();
        let error = rounding_level(leading.sigma[0], leading.norm, n, m, 0.0);
        let most = leading.sigma.iter().take_while(|s| **s > error).count();
        let asked = principal_rank(&leading.sigma, lambda);
        let k = asked.min(most);
        let interval = (leading.interval.0.min(k), leading.interval.1.max(k));
        let warnings = if asked > most { vec![Warning::RankCapped { asked, most }] } else { vec![] };
        let reason = "1/√λ for the λ that was given".into();
        let cut = Cut { tau, lambda, k, interval, count: Count::NotAsked, rule: self.name(), reason, warnings };
        Ok(Decision { cut, found })
    }
}

/// #{σ : λσ² > 1}: adding a direction costs 1 and saves λσ², and a tie keeps the smaller rank.
pub fn principal_rank(sigma: &[f64], lambda: f64) -> usize {
    sigma.iter().take_while(|s| exceeds(lambda, **s)).count()
}

/// λσ² > 1, decided right for every λ and σ: no overflow, no underflow, and ties to the last bit.
fn exceeds(lambda: f64, sigma: f64) -> bool {
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
