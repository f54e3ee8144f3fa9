//! From a rule to a cut: λ, τ = 1/√λ, and how many singular values lie above.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ | `sigma` | singular values of the prepared samples, largest first |
//! | σ′ | `noise.sigma` | singular values of the samples as the noise sees them |
//! | τ | `tau` | the cut; λ = 1/τ² |
//! | k | `k` | #{σ > τ} |
//!
//! **Two spectra.** The rules that look for noise assume that it is equally strong everywhere. Scaling samples to
//! unit length destroys that: faint samples get loud noise. So k is decided on σ′, the spectrum of the rows before
//! unit scaling, without dead and repeated rows and columns; τ is then put between σ_k and σ_{k+1}.

use eigenspan_linalg::{Exec, singular_values};

use super::threshold::{distance_from_noise, known_noise, median_of, screenot, unknown_noise};
use crate::Error;
use crate::data::Samples;
use crate::distinct::Distinct;
use crate::prepare::{Normalize, Preparation, Prepared, Scan};
use crate::text::short_number;

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

/// Something the user should know about a result.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Warning {
    /// Samples of length zero were left at zero.
    #[error("{count} samples have length zero and stay zero (rows {})", list(.rows, *.count))]
    ZeroSamples {
        /// How many.
        count: usize,
        /// The first of them.
        rows: Vec<usize>,
    },
    /// k = 0, and the leading direction was kept all the same.
    #[error(
        "no singular value is above the cut (k = 0): the leading direction is kept, but nothing says it is more than noise"
    )]
    NothingAboveCut,
    /// What lies below the cut does not look like white noise.
    #[error(
        "what lies below the cut does not look like noise (distance {distance:.2} from the Marchenko–Pastur law, \
         noise stays below {NOISE_LIKE}): k = {k} is a sensible cut, not a count of true dimensions"
    )]
    BulkNotNoise {
        /// Kolmogorov distance of the bulk from the Marchenko–Pastur law.
        distance: f64,
        /// The k that was chosen.
        k: usize,
    },
    /// ScreeNot's answer depends on its own setting.
    #[error(
        "the spectrum has no clear edge: ScreeNot finds k = {low} to {high} as its bound on the rank goes from p/8 to p/2.5"
    )]
    NoEdge {
        /// Smallest k.
        low: usize,
        /// Largest k.
        high: usize,
    },
    /// The released rule asked for directions beyond the numerical rank.
    #[error("the released rule asks for {asked} dimensions, the data carry {most}: {most} are kept")]
    RankCapped {
        /// Dimensions by the rule.
        asked: usize,
        /// The numerical rank.
        most: usize,
    },
}

fn list(rows: &[usize], count: usize) -> String {
    let shown: Vec<String> = rows.iter().map(usize::to_string).collect();
    if rows.len() < count { format!("{}, …", shown.join(", ")) } else { shown.join(", ") }
}

/// White noise of twenty values and more keeps this distance from its law in all but freak cases.
const NOISE_LIKE: f64 = 0.1;

/// A cut and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// τ.
    pub tau: f64,
    /// λ = 1/τ²; infinite where that overflows.
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
    let decomposition = n.max(m) as f64 * f64::EPSILON * sigma.first().copied().unwrap_or(0.0);
    // Values of size `typical`, each rounded by its own eps, are off by a matrix of about this norm.
    let top = sigma.first().copied().unwrap_or(0.0);
    let energy = if top > 0.0 { sigma.iter().map(|s| (s / top).powi(2)).sum::<f64>() } else { 0.0 };
    let typical = top * (energy / (n as f64 * m as f64)).sqrt();
    decomposition.max(epsilon * ((n as f64).sqrt() + (m as f64).sqrt()) * typical)
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
            Self::Auto => spectrum.noise(exec)?.auto(),
            Self::Noise(deviation) => spectrum.noise(exec)?.known(deviation),
            Self::ScreeNot => spectrum.noise(exec)?.screenot(),
        }
    }
}

impl Spectrum<'_> {
    /// How far apart two values must be to be told apart.
    fn resolution(&self) -> f64 {
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
        let k = principal_rank(self.sigma, lambda);
        let interval = around(self.sigma, tau, self.resolution(), k);
        Cut {
            tau,
            lambda,
            k,
            interval,
            rule: "fixed",
            reason: "1/√λ for the λ that was given".into(),
            warnings: vec![],
        }
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
    fn between(&self, k: usize, beyond: f64) -> f64 {
        if k == 0 {
            return self.sigma[0] * beyond.max(1.0);
        }
        let above = self.sigma[k - 1];
        let below = self.sigma.get(k).copied().unwrap_or(0.0).max(self.rounding());
        above.min((above.sqrt() * below.sqrt()).max(f64::MIN_POSITIVE))
    }

    /// The spectrum as the noise sees it; a second decomposition where it differs from the first.
    fn noise(&self, exec: Exec<'_>) -> Result<NoiseSpectrum<'_>, Error> {
        let centred = self.preparation.mean.is_some();
        let distinct = Distinct::of(self.samples, self.scan, centred, exec)?;
        let rows = distinct.rows.len().saturating_sub(usize::from(centred)).max(1);
        let columns = distinct.columns.len().max(1);
        let (short, long) = (rows.min(columns), rows.max(columns));
        let uneven = self.preparation.normalize == Normalize::Unit && uneven(&self.scan.lengths);
        let own = if uneven || distinct.repeats { Some(self.second_look(&distinct, centred, exec)?) } else { None };
        let mut sigma = own.clone().unwrap_or_else(|| self.sigma.to_vec());
        sigma.resize(short, 0.0);
        let epsilon = self.samples.number_type().epsilon();
        let level = rounding_level(&sigma, rows, columns, epsilon);
        Ok(NoiseSpectrum { prepared: self, sigma, long, level, own: own.is_some(), uneven })
    }

    /// Singular values of the distinct rows and columns before unit scaling.
    fn second_look(&self, distinct: &Distinct, centred: bool, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let normalize = match self.preparation.normalize {
            Normalize::Unit => Normalize::None,
            other => other,
        };
        let preparation = Preparation::learn(self.samples, self.scan, normalize, centred, Some(&distinct.rows), exec)?;
        let view = Prepared::new(self.samples, &preparation, self.scan).restricted(&distinct.rows, &distinct.columns);
        Ok(singular_values(&view, exec)?)
    }
}

/// Whether scaling to unit length changes the samples by more than one common factor.
fn uneven(lengths: &[f64]) -> bool {
    let live = || lengths.iter().copied().filter(|l| *l > 0.0);
    let (low, high) = live().fold((f64::INFINITY, 0.0f64), |(low, high), l| (low.min(l), high.max(l)));
    high > low * (1.0 + 1e-9)
}

/// The spectrum on which noise is looked for.
struct NoiseSpectrum<'a> {
    prepared: &'a Spectrum<'a>,
    /// σ′: all values that could carry noise, zeros included.
    sigma: Vec<f64>,
    long: usize,
    level: f64,
    /// Whether σ′ is another spectrum than σ.
    own: bool,
    uneven: bool,
}

impl NoiseSpectrum<'_> {
    fn beta(&self) -> f64 {
        self.sigma.len() as f64 / self.long as f64
    }

    fn auto(&self) -> Result<Cut, Error> {
        let median = median_of(&self.sigma);
        if median <= self.level {
            return Ok(self.noise_free("auto"));
        }
        let tau = unknown_noise(self.beta()) * median;
        let noise = tau / known_noise(self.beta()) / (self.long as f64).sqrt();
        let reason = format!("optimal hard threshold; noise of deviation {} read off the median", short_number(noise));
        let mut cut = self.transfer(tau, "auto", reason);
        let bulk = &self.sigma[cut.k.min(self.sigma.len())..];
        let beta = bulk.len() as f64 / (self.long - cut.k.min(self.long - 1)) as f64;
        let distance = distance_from_noise(bulk, beta.min(1.0));
        if bulk.len() >= 20 && distance > NOISE_LIKE {
            cut.warnings.push(Warning::BulkNotNoise { distance, k: cut.k });
        }
        Ok(cut)
    }

    fn known(&self, deviation: f64) -> Result<Cut, Error> {
        let tau = known_noise(self.beta()) * (self.long as f64).sqrt() * deviation;
        if tau <= self.level {
            return Ok(self.noise_free("noise"));
        }
        Ok(self.transfer(
            tau,
            "noise",
            format!("optimal hard threshold for noise of deviation {}", short_number(deviation)),
        ))
    }

    fn screenot(&self) -> Result<Cut, Error> {
        let p = self.sigma.len();
        if p < 2 {
            let expected = "another rule: ScreeNot needs two singular values or more";
            return Err(Error::Parameter { name: "lambda", expected, got: p as f64 });
        }
        let at = |bound: usize| screenot(&self.sigma, self.beta(), bound.min((p - 2) / 2));
        let Some(tau) = at(p / 4).filter(|tau| *tau > self.level) else {
            return Ok(self.noise_free("screenot"));
        };
        let reason = format!("ScreeNot, at most {} of {p} values taken for signal", p / 4);
        let mut cut = self.transfer(tau, "screenot", reason);
        let count = |bound| at(bound).map_or(cut.k, |tau| self.sigma.iter().filter(|s| **s > tau).count());
        let (low, high) = (count(p / 8), count(2 * p / 5));
        if (high as f64) > 1.2 * low as f64 + 2.0 {
            cut.warnings.push(Warning::NoEdge { low, high });
        }
        Ok(cut)
    }

    /// Half of the values and more are rounding: what stands above it is all there is.
    fn noise_free(&self, rule: &'static str) -> Cut {
        let k = self.prepared.numerical_rank();
        self.prepared.at_rank(k, rule, "the data carry no noise: every direction above rounding is kept".into())
    }

    /// Takes a cut of σ′ over to σ.
    fn transfer(&self, tau: f64, rule: &'static str, reason: String) -> Cut {
        let decided = self.sigma.iter().take_while(|s| **s > tau).count();
        let resolution = resolution(&self.sigma, self.sigma.len(), self.long);
        let interval = around(&self.sigma, tau, resolution, decided);
        if !self.own {
            return Cut { tau, lambda: 1.0 / (tau * tau), k: decided, interval, rule, reason, warnings: vec![] };
        }
        let sigma = self.prepared.sigma;
        let resolution = self.prepared.resolution();
        let mut k = decided.min(self.prepared.numerical_rank());
        while k > 0 && k < sigma.len() && sigma[k - 1] - sigma[k] <= resolution {
            k -= 1; // nothing fits between equal values: a tie keeps the smaller rank
        }
        let tau = self.prepared.between(k, tau / self.sigma[0]);
        let before =
            if self.uneven { "on the samples before unit scaling" } else { "without repeated samples and features" };
        let reason = format!("{reason}, decided {before}");
        let interval = (interval.0.min(k), interval.1.max(k));
        Cut { tau, lambda: 1.0 / (tau * tau), k, interval, rule, reason, warnings: vec![] }
    }
}

/// The error bound of a singular value from the full decomposition, four times over.
fn resolution(sigma: &[f64], n: usize, m: usize) -> f64 {
    4.0 * n.max(m) as f64 * f64::EPSILON * sigma.first().copied().unwrap_or(0.0)
}

/// The smallest and largest count above a cut that is known to within `resolution`.
fn around(sigma: &[f64], tau: f64, resolution: f64, k: usize) -> (usize, usize) {
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
}
