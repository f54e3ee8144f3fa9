//! The optimal hard threshold for white noise of unknown strength: ω(β) times the median singular value (Gavish, Donoho 2014).
//!
//! What is left below the cut is compared with the Marchenko–Pastur law. Where it is no such noise, k is a sensible cut and not a
//! count of dimensions.

use eigenspan_linalg::Exec;

use super::cut::{Count, Decision};
use super::noise_cut::NoiseCut;
use super::threshold::{distance_from_noise, known_noise, median_of, noise_keeps_below, unknown_noise};
use super::{Needs, Rule};
use crate::Error;
use crate::spectrum::{Noise, NoiseKind, NoiseView, Spectrum};
use crate::text::short_number;
use crate::warning::Warning;

/// Nothing to choose.
pub struct Auto;

/// The cut of a spectrum with white noise; nothing where there is no noise.
fn even_noise(view: &NoiseView) -> Option<f64> {
    let median = median_of(&view.sigma);
    (median > view.level).then(|| unknown_noise(view.sides.beta()) * median)
}

impl Rule for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn needs(&self) -> Needs {
        Needs::bulk(NoiseKind::Even)
    }

    fn cut<'a>(&self, spectrum: &'a dyn Spectrum, exec: Exec<'_>) -> Result<Decision<'a>, Error> {
        let seen = NoiseCut::of(spectrum, &Noise::Even(&even_noise), self.name(), exec)?;
        let (sigma, sides) = (&seen.view.sigma, seen.view.sides);
        if sigma.len() < 2 {
            return seen.all_there_is();
        }
        seen.known_at(median_of(sigma))?;
        let Some(tau) = even_noise(&seen.view) else { return seen.noise_free() };
        let noise = tau / known_noise(sides.beta()) / (sides.long as f64).sqrt();
        let reason = format!("optimal hard threshold; noise of deviation {} read off the median", short_number(noise));
        let mut decision = seen.transfer(tau, reason)?;
        decision.cut.count = count(&seen.view, decision.cut.k);
        Ok(decision)
    }
}

/// Whether what lies below k values is noise, so that k counts.
fn count(view: &NoiseView, k: usize) -> Count {
    let bulk = &view.sigma[k.min(view.sigma.len())..];
    let beta = bulk.len() as f64 / (view.sides.long - k.min(view.sides.long - 1)) as f64;
    let distance = distance_from_noise(bulk, beta.min(1.0));
    let limit = noise_keeps_below(bulk.len());
    if distance > limit { Count::NotCountable(Warning::BulkNotNoise { distance, limit, k }) } else { Count::Counted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use crate::spectrum::noise::Sides;
    use crate::spectrum::row_whitening::whitened_values;
    use eigenspan_linalg::Mat;

    /// Rank-6 signal plus white noise, rows multiplied with anything from 1/3 to 3.
    fn scaled_rows(seed: u64) -> Mat {
        let mut normal = Normal::new(seed);
        let (left, right) = (Mat::from_fn(120, 6, |_, _| normal.draw()), Mat::from_fn(6, 200, |_, _| normal.draw()));
        let gains: Vec<f64> = (0..120).map(|_| 3f64.powf(2.0 * normal.uniform() - 1.0)).collect();
        Mat::from_fn(120, 200, |i, j| {
            gains[i] * ((0..6).map(|r| left.at(i, r) * right.at(r, j)).sum::<f64>() + normal.draw())
        })
    }

    #[test]
    fn uneven_noise_is_counted_right_once_it_is_evened() {
        for seed in 0..10 {
            let x = scaled_rows(seed);
            let count = |sigma: &[f64]| {
                let tau = unknown_noise(0.6) * median_of(sigma);
                sigma.iter().filter(|s| **s > tau).count()
            };
            let plain = eigenspan_linalg::singular_values(&x, Exec::default()).unwrap();
            let evened = whitened_values(
                &x,
                None,
                Sides { short: 120, long: 200 },
                (f64::EPSILON, &even_noise),
                Exec::default(),
            )
            .unwrap();
            assert_eq!(count(&evened), 6, "seed {seed}");
            assert!(count(&plain) > 6, "seed {seed}: the case is too easy to tell");
        }
    }
}
