//! Cuts for rules that look for noise, and the spectrum they look at.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ′ | `sigma` | singular values of the samples as the noise sees them, zeros included |
//! | β | `beta()` | short side ÷ long side that noise can fill |
//!
//! **Two spectra.** The rules that look for noise assume that it is equally strong everywhere. Scaling samples to
//! unit length destroys that: faint samples get loud noise. So k is decided on σ′, the spectrum of the rows before
//! unit scaling, without dead and repeated rows and columns; τ is then put between σ_k and σ_{k+1}. Rows that arrive
//! with one and the same length were scaled by someone before us, and lengths that differ a millionfold leave the
//! short rows below rounding: there, `Auto` evens the noise of the unit rows (`row_whitening`).

use eigenspan_linalg::gram::Side;
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::{GramSpectrum, Leading, Select, direct, resolution};
use eigenspan_linalg::{Blocks, Exec, singular_values};

use crate::Error;
use crate::distinct::Distinct;
use crate::prepare::{Normalize, Preparation, Prepared};
use crate::rule::lambda::{
    Cut, Problem, Raw, RawSamples, RawSketch, RawSummary, Source, around, norm_of, rounding_level,
};
use crate::rule::threshold::{distance_from_noise, known_noise, median_of, noise_keeps_below, screenot, unknown_noise};
use crate::spectrum::row_whitening::whitened_values;
use crate::text::short_number;
use crate::warning::Warning;

/// What a rule needs to know of the noise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// Equally strong everywhere, however strong: it is evened where scaling cannot be taken back.
    Even,
    /// Nothing.
    OfAnyShape,
    /// Its strength, in the units of the data: only the data before any scaling will do.
    Known,
}

impl<'a> Problem<'a> {
    /// The spectrum as the noise sees it; a second decomposition where it differs from the first.
    pub(crate) fn noise(&self, noise: Noise, rule: &'static str) -> Result<NoiseSpectrum<'a, '_>, Error> {
        let ((mut sigma, (short, long), how), reach) = match self.raw {
            Raw::Samples(raw) => (raw.noise(noise, self.prepared.squeezed(rule)?, self.exec)?, 0.0),
            Raw::Summary(raw) => raw.noise(noise, self.prepared, self.exec)?,
            Raw::Gone | Raw::Sketch(_) => return Err(Error::WholeSpectrum { rule }),
        };
        sigma.resize(short, 0.0);
        let top = sigma.first().copied().unwrap_or(0.0);
        let level = rounding_level(top, norm_of(&sigma), short, long, self.epsilon);
        Ok(NoiseSpectrum { problem: self, sigma, long, level, reach, told: None, how })
    }

    /// The part of that spectrum above the cut that noise of this strength gives: all that is asked of it, and no Gram
    /// matrix is formed.
    pub(crate) fn noise_above(&self, deviation: f64) -> Result<NoiseSpectrum<'a, '_>, Error> {
        if deviation == 0.0 {
            return Err(Error::WholeSpectrum { rule: "noise" });
        }
        let raw = match self.raw {
            Raw::Samples(raw) => raw,
            Raw::Sketch(raw) => return self.sketched_above(raw, deviation),
            Raw::Summary(_) | Raw::Gone => unreachable!("asked only of samples and sketches"),
        };
        let distinct = Distinct::of(raw.samples, raw.scan, raw.centred(), self.exec)?;
        let (short, long) = live(distinct.rows.len(), distinct.columns.len(), raw.centred());
        let before = matches!(raw.look(Noise::Known), Look::BeforeScaling);
        let preparation = match before {
            true => raw.unscaled(&distinct, self.exec)?,
            false => raw.preparation.clone(),
        };
        let view = Prepared::new(raw.samples, &preparation, raw.scan).restricted(&distinct.rows, &distinct.columns);
        let tau = known_noise(short as f64 / long as f64) * (long as f64).sqrt() * deviation;
        let above = direct(&view, Select::Above(tau), self.exec)?;
        let level = rounding_level(above.sigma[0], above.norm, short, long, self.epsilon);
        let mut sigma = above.sigma;
        sigma.resize(short, 0.0);
        let how = if before { Some(BEFORE) } else { distinct.repeats.then_some(WITHOUT) };
        Ok(NoiseSpectrum { problem: self, sigma, long, level, reach: 0.0, told: None, how })
    }

    /// The same of samples that are sketched: copies count as samples.
    fn sketched_above(&self, raw: &RawSketch<'_>, deviation: f64) -> Result<NoiseSpectrum<'a, '_>, Error> {
        let (short, long) = live(raw.live_samples, raw.live_features, raw.centred);
        let tau = known_noise(short as f64 / long as f64) * (long as f64).sqrt() * deviation;
        let (above, how) = match &raw.unscaled {
            Some(unscaled) => (unscaled.leading(Select::Above(tau), self.exec)?, Some(BEFORE)),
            None => (self.leading(Select::Above(tau))?, None),
        };
        let level = rounding_level(above.sigma[0], above.norm, short, long, self.epsilon);
        let (told, mut sigma) = (Some(above.interval), above.sigma);
        sigma.resize(short, 0.0);
        Ok(NoiseSpectrum { problem: self, sigma, long, level, reach: 0.0, told, how })
    }
}

/// Singular values, the sides that noise can fill, and how they came about where they are another spectrum than σ.
type AsNoiseSees = (Vec<f64>, (usize, usize), Option<&'static str>);

impl RawSamples<'_> {
    fn noise(&self, noise: Noise, prepared: &GramSpectrum<'_>, exec: Exec<'_>) -> Result<AsNoiseSees, Error> {
        let distinct = Distinct::of(self.samples, self.scan, self.centred(), exec)?;
        let sides = live(distinct.rows.len(), distinct.columns.len(), self.centred());
        let view = Prepared::new(self.samples, self.preparation, self.scan);
        let view = view.restricted(&distinct.rows, &distinct.columns);
        let (sigma, how) = match self.look(noise) {
            Look::BeforeScaling => (self.before_scaling(prepared, &distinct, exec)?, Some(BEFORE)),
            Look::Evened => {
                let first = self.are_distinct(prepared, &distinct).then(|| prepared.gram().clone());
                let epsilon = self.samples.number_type().epsilon();
                (whitened_values(&view, first, sides, epsilon, exec)?, Some("with the noise of the samples evened"))
            }
            Look::AsPrepared if distinct.repeats => (singular_values(&view, exec)?, Some(WITHOUT)),
            Look::AsPrepared => (prepared.values(exec)?, None),
        };
        Ok((sigma, sides, how))
    }

    fn centred(&self) -> bool {
        self.preparation.mean.is_some()
    }

    /// Where to look for noise.
    fn look(&self, noise: Noise) -> Look {
        match (self.preparation.normalize, noise, Lengths::of(&self.scan.lengths)) {
            (Normalize::Unit | Normalize::ZScore, Noise::Known, _) => Look::BeforeScaling,
            (Normalize::Unit, _, Lengths::Differ) => Look::BeforeScaling,
            (Normalize::Unit, Noise::Even, _) | (Normalize::None, Noise::Even, Lengths::Equal) => Look::Evened,
            _ => Look::AsPrepared,
        }
    }

    /// How distinct samples are prepared without scaling.
    fn unscaled(&self, distinct: &Distinct, exec: Exec<'_>) -> Result<Preparation, Error> {
        let some = (distinct.rows.len() < self.samples.rows()).then_some(&distinct.rows[..]);
        Preparation::learn(self.samples, self.scan, Normalize::None, self.centred(), some, exec)
    }

    /// Singular values of the distinct rows and columns before scaling.
    fn before_scaling(
        &self,
        prepared: &GramSpectrum<'_>,
        distinct: &Distinct,
        exec: Exec<'_>,
    ) -> Result<Vec<f64>, Error> {
        let unscaled = self.unscaled(distinct, exec)?;
        let view = Prepared::new(self.samples, &unscaled, self.scan).restricted(&distinct.rows, &distinct.columns);
        let unit = self.preparation.normalize == Normalize::Unit;
        if unit && !self.centred() && self.are_distinct(prepared, distinct) {
            // Rows ‖y‖ times as long: the Gram matrix is at hand.
            let near_one = |length: &f64| times_power_of_two(*length, -view.exponent());
            let lengths: Vec<f64> = self.scan.lengths.iter().map(near_one).collect();
            return Ok(GramSpectrum::with_gram(&view, prepared.gram().weighted(&lengths)).into_values(exec)?);
        }
        Ok(singular_values(&view, exec)?)
    }

    /// Whether the Gram matrix of the prepared samples is that of the distinct ones: one entry a sample, and features
    /// that were left out are zero.
    fn are_distinct(&self, prepared: &GramSpectrum<'_>, distinct: &Distinct) -> bool {
        let all = distinct.rows.len() == self.samples.rows() && !distinct.repeats;
        all && prepared.gram().side == Side::Samples && distinct.columns.len() >= distinct.rows.len()
    }
}

impl RawSummary<'_> {
    /// Samples that are gone can be neither compared nor evened: copies count as samples, and rows of one length are taken
    /// as they are.
    /// Beside the values, the one down to which they are known.
    fn noise(&self, noise: Noise, prepared: &Source<'_>, exec: Exec<'_>) -> Result<(AsNoiseSees, f64), Error> {
        let sides = live(self.live_samples, self.live_features, self.centred);
        let before = match (self.normalize, noise) {
            (Normalize::Unit | Normalize::ZScore, Noise::Known) => true,
            (Normalize::Unit, _) => self.lengths == Lengths::Differ,
            _ => false,
        };
        let Source::Summary(prepared) = prepared else { unreachable!("what is known of a summary goes with it") };
        let (seen, how) = match self.unscaled.filter(|_| before) {
            Some(unscaled) => (unscaled, Some(BEFORE)),
            None => (*prepared, None),
        };
        let (sigma, reach) = seen.values(sides.0, exec)?;
        Ok(((sigma, sides, how), reach))
    }
}

/// How σ′ came about, in words.
const BEFORE: &str = "on the data before scaling";
const WITHOUT: &str = "without repeated samples and features";

/// The short and the long side that noise can fill; centring spends one sample.
fn live(samples: usize, features: usize, centred: bool) -> (usize, usize) {
    let (samples, features) = (samples.saturating_sub(usize::from(centred)).max(1), features.max(1));
    (samples.min(features), samples.max(features))
}

/// The matrix whose spectrum tells about noise.
enum Look {
    BeforeScaling,
    Evened,
    AsPrepared,
}

/// Lengths that differ by no more than the rounding of a scaling in single precision are one length.
const EVEN: f64 = 1.0 + 1e-5;
/// Lengths that differ by this much drown the short samples in the rounding of the long ones.
const WILD: f64 = 1e6;

/// How the lengths of samples compare, those of length zero left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// All the same.
    Equal,
    /// Not all the same.
    Differ,
    /// So different that the short ones drown in the rounding of the long ones.
    Wild,
}

impl Lengths {
    fn of(lengths: &[f64]) -> Self {
        let live = || lengths.iter().copied().filter(|l| *l > 0.0);
        Self::between(live().fold(f64::INFINITY, f64::min), live().fold(0.0, f64::max))
    }

    /// Of samples with these as the shortest and the longest.
    pub fn between(shortest: f64, longest: f64) -> Self {
        match longest / shortest {
            spread if spread >= WILD => Self::Wild,
            spread if spread > EVEN => Self::Differ,
            _ => Self::Equal,
        }
    }
}

/// The spectrum on which noise is looked for.
pub(crate) struct NoiseSpectrum<'a, 'p> {
    problem: &'p Problem<'a>,
    /// σ′: all values that could carry noise, zeros included.
    sigma: Vec<f64>,
    long: usize,
    level: f64,
    /// σ′ is known down to here: zero but for a Gram summary, whose samples cannot be read again.
    reach: f64,
    /// The smallest and the largest number of values above the cut, where those past it are not known.
    told: Option<(usize, usize)>,
    /// How σ′ came about, where it is another spectrum than σ.
    how: Option<&'static str>,
}

impl<'a> NoiseSpectrum<'a, '_> {
    fn beta(&self) -> f64 {
        self.sigma.len() as f64 / self.long as f64
    }

    /// Refuses a value that a Gram summary does not know.
    fn known_at(&self, value: f64) -> Result<(), Error> {
        if value >= self.reach { Ok(()) } else { Err(Error::GramTooCoarse) }
    }

    pub(crate) fn auto(&self) -> Result<(Cut, Leading<'a>), Error> {
        let median = median_of(&self.sigma);
        if self.sigma.len() < 2 {
            return self.all_there_is("auto");
        }
        self.known_at(median)?;
        if median <= self.level {
            return self.noise_free("auto");
        }
        let tau = unknown_noise(self.beta()) * median;
        let noise = tau / known_noise(self.beta()) / (self.long as f64).sqrt();
        let reason = format!("optimal hard threshold; noise of deviation {} read off the median", short_number(noise));
        let (mut cut, leading) = self.transfer(tau, "auto", reason)?;
        let bulk = &self.sigma[cut.k.min(self.sigma.len())..];
        let beta = bulk.len() as f64 / (self.long - cut.k.min(self.long - 1)) as f64;
        let distance = distance_from_noise(bulk, beta.min(1.0));
        let limit = noise_keeps_below(bulk.len());
        if distance > limit {
            cut.warnings.push(Warning::BulkNotNoise { distance, limit, k: cut.k });
        }
        Ok((cut, leading))
    }

    pub(crate) fn known(&self, deviation: f64) -> Result<(Cut, Leading<'a>), Error> {
        let tau = known_noise(self.beta()) * (self.long as f64).sqrt() * deviation;
        if deviation == 0.0 {
            return self.noise_free("noise");
        }
        if tau <= self.level {
            return self.problem.above_rounding("noise", "the noise given is below rounding");
        }
        self.known_at(tau)?;
        let reason = format!("optimal hard threshold for noise of deviation {}", short_number(deviation));
        self.transfer(tau, "noise", reason)
    }

    pub(crate) fn screenot(&self) -> Result<(Cut, Leading<'a>), Error> {
        let p = self.sigma.len();
        if p < 2 {
            return self.all_there_is("screenot");
        }
        self.known_at(median_of(&self.sigma))?;
        let at = |bound: usize| screenot(&self.sigma, self.beta(), bound.min((p - 2) / 2));
        let Some(tau) = at(p / 4).filter(|tau| *tau > self.level) else {
            return self.noise_free("screenot");
        };
        self.known_at(tau)?;
        let reason = format!("ScreeNot, at most {} of {p} values taken for signal", p / 4);
        let (mut cut, leading) = self.transfer(tau, "screenot", reason)?;
        let count = |bound| at(bound).map_or(cut.k, |tau| self.sigma.iter().filter(|s| **s > tau).count());
        let (low, high) = (count(p / 8), count(2 * p / 5));
        if (high as f64) > 1.2 * low as f64 + 2.0 {
            cut.warnings.push(Warning::NoEdge { low, high });
        }
        Ok((cut, leading))
    }

    /// A single value cannot be told from noise, and there is nothing else to keep.
    fn all_there_is(&self, rule: &'static str) -> Result<(Cut, Leading<'a>), Error> {
        let leading = self.problem.leading(Select::Top(1))?;
        Ok((self.problem.at_rank(1, &leading, rule, "one direction is all there is".into()), leading))
    }

    /// Half of the values and more are rounding: what stands above it is all there is.
    fn noise_free(&self, rule: &'static str) -> Result<(Cut, Leading<'a>), Error> {
        self.problem.above_rounding(rule, "the data carry no noise")
    }

    /// Takes a cut of σ′ over to σ.
    fn transfer(&self, tau: f64, rule: &'static str, reason: String) -> Result<(Cut, Leading<'a>), Error> {
        let Some(how) = self.how else {
            let leading = self.problem.leading(Select::Above(tau))?;
            let (k, interval) = (leading.count, leading.interval);
            return Ok((Cut { tau, lambda: 1.0 / (tau * tau), k, interval, rule, reason, warnings: vec![] }, leading));
        };
        let decided = self.sigma.iter().take_while(|s| **s > tau).count();
        let resolution = resolution(&self.sigma, self.sigma.len(), self.long);
        let interval = self.told.unwrap_or_else(|| around(&self.sigma, tau, resolution, decided));
        let leading = self.problem.leading(Select::Top(decided.max(1)))?;
        let (sigma, resolution) = (&leading.sigma, self.problem.resolution(&leading.sigma));
        let mut k = decided.min(self.problem.numerical_rank(&leading));
        while k > 0 && k < sigma.len() && sigma[k - 1] - sigma[k] <= resolution {
            k -= 1; // nothing fits between equal values: a tie keeps the smaller rank
        }
        let tau = self.problem.between(k, &leading, tau / self.sigma[0]);
        let reason = format!("{reason}, decided {how}");
        let interval = (interval.0.min(k), interval.1.max(k));
        Ok((Cut { tau, lambda: 1.0 / (tau * tau), k, interval, rule, reason, warnings: vec![] }, leading))
    }
}
