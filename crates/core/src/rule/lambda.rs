//! From a rule to a cut: λ, τ = 1/√λ, and how many singular values lie above.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ | `sigma` | singular values of the prepared samples, largest first |
//! | τ | `tau` | the cut; λ = 1/τ² |
//! | k | `k` | #{σ > τ} |

use eigenspan_linalg::online::OnlineState;
use eigenspan_linalg::spectrum::{Direct, GramSpectrum, Leading, Select, resolution};
use eigenspan_linalg::{Blocks, Exec, Summary};

use crate::Error;
use crate::data::Samples;
use crate::prepare::{Normalize, Preparation, Scan};
use crate::rule::noise_cut::{Lengths, Noise};
use crate::spectrum::sketch::Sketched;
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

/// What is told apart from rounding: the error of the decomposition, or that of the numbers the data came in. `top` is
/// the largest singular value, `norm` the root of the sum of all their squares.
pub fn rounding_level(top: f64, norm: f64, n: usize, m: usize, epsilon: f64) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let decomposition = n.max(m) * f64::EPSILON * top;
    // Values of size `typical`, each rounded by its own eps, are off by a matrix of about this norm.
    let typical = norm / (n * m).sqrt();
    decomposition.max(epsilon * (n.sqrt() + m.sqrt()) * typical)
}

/// √Σσ², safe from overflow.
pub fn norm_of(sigma: &[f64]) -> f64 {
    crate::prepare::norm(sigma)
}

/// How the singular values are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solver {
    /// By the fastest way that proves the dimension. It forms a matrix of min(n, m) × min(n, m).
    #[default]
    Auto,
    /// From products with the samples alone, for min(n, m) too large for that matrix. The dimension is probable, not
    /// proved, and only rules that ask for leading values will do: a λ, a noise level, a share of energy, a dimension.
    Direct,
}

impl Solver {
    /// Whether this is the default: then a model file need not say so.
    pub(crate) fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// Where singular values come from.
pub enum Source<'a> {
    /// A Gram matrix.
    Gram(GramSpectrum<'a>),
    /// Products with the samples.
    Direct(Direct<'a>),
    /// A summary of samples that are gone.
    Summary(&'a Summary),
    /// A few directions of samples that are gone, taken in `block` at a time.
    Online {
        /// What is known.
        state: &'a OnlineState,
        /// Samples of a block.
        block: usize,
    },
    /// A sketch of samples that are read a few times.
    Sketch(Sketched<'a>),
}

impl<'a> Source<'a> {
    /// Reads `x` once.
    pub fn of(x: &'a dyn Blocks, solver: Solver, exec: Exec<'_>) -> Result<Self, Error> {
        Ok(match solver {
            Solver::Auto => Self::Gram(GramSpectrum::of(x, exec)?),
            Solver::Direct => Self::Direct(Direct::of(x, exec)?),
        })
    }

    /// Whether every singular value can be had from here.
    pub fn is_whole(&self) -> bool {
        !matches!(self, Self::Online { .. } | Self::Sketch(_))
    }

    /// Whether there is nothing but zeros.
    pub fn is_zero(&self, exec: Exec<'_>) -> Result<bool, Error> {
        Ok(match self {
            Self::Gram(whole) => whole.gram().trace() == 0.0,
            Self::Direct(direct) => direct.energy() == 0.0,
            Self::Summary(summary) => summary.norm(exec)? == 0.0,
            Self::Online { state, .. } => state.sigma.is_empty(),
            Self::Sketch(sketched) => sketched.sketch.energy() == 0.0,
        })
    }

    /// The Gram matrix and all that follows from it, for the rule of that name.
    pub(crate) fn squeezed(&self, rule: &'static str) -> Result<&GramSpectrum<'a>, Error> {
        match self {
            Self::Gram(whole) => Ok(whole),
            Self::Direct(_) | Self::Sketch(_) => Err(Error::WholeSpectrum { rule }),
            Self::Summary(_) | Self::Online { .. } => unreachable!("there are no samples to look at"),
        }
    }

    pub(crate) fn leading(&self, wanted: Select, exec: Exec<'_>) -> Result<Leading<'a>, Error> {
        Ok(match self {
            Self::Gram(whole) => whole.leading(wanted, exec)?,
            Self::Direct(direct) => direct.leading(wanted, exec)?,
            Self::Summary(summary) => summary.finish(wanted, exec)?.leading,
            Self::Online { state, block } => state.leading(wanted, *block),
            Self::Sketch(sketched) => sketched.leading(wanted, exec)?,
        })
    }

    /// Whether every answer was proved that decided the cut.
    pub(crate) fn is_proved(&self) -> bool {
        if let Self::Sketch(sketched) = self { sketched.doubt.get().proved } else { true }
    }

    /// How the values were found, for the end of the sentence that says why this k; nothing where their proof says it all.
    pub(crate) fn told(&self, leading: &Leading<'_>) -> String {
        if let Self::Sketch(sketched) = self { sketched.told(leading) } else { String::new() }
    }

    /// What could not be told of k.
    pub(crate) fn doubts(&self, (low, high): (usize, usize)) -> Option<Warning> {
        let Self::Sketch(sketched) = self else { return None };
        let doubt = sketched.doubt.get();
        let (readings, columns) = (sketched.sketch.passes(), sketched.sketch.columns());
        let open = !doubt.settled && (low < high || doubt.short || doubt.residual > 0.0);
        open.then_some(Warning::Unsettled { low, high, readings, columns, short: doubt.short })
    }
}

/// The prepared samples, as far as choosing a cut goes.
pub struct Problem<'a> {
    /// n.
    pub samples: usize,
    /// m.
    pub features: usize,
    /// The relative rounding error that the samples came with.
    pub epsilon: f64,
    /// What is known of the samples before they were prepared.
    pub raw: &'a Raw<'a>,
    /// The prepared samples, ready to be asked for singular values.
    pub prepared: &'a Source<'a>,
    /// How the work is run.
    pub exec: Exec<'a>,
}

/// What is known of the samples before they were prepared.
pub enum Raw<'a> {
    /// All.
    Samples(RawSamples<'a>),
    /// What a summary tells.
    Summary(RawSummary<'a>),
    /// Nothing.
    Gone,
    /// What a sketch tells.
    Sketch(RawSketch<'a>),
}

/// Samples in memory.
pub struct RawSamples<'a> {
    /// The samples.
    pub samples: Samples<'a>,
    /// What one look at them told.
    pub scan: &'a Scan,
    /// How they were prepared.
    pub preparation: &'a Preparation,
}

/// Samples that are gone.
pub struct RawSummary<'a> {
    /// How they were scaled.
    pub normalize: Normalize,
    /// A summary of the samples before they were scaled, where they were.
    pub unscaled: Option<&'a Summary>,
    /// How their lengths compare.
    pub lengths: Lengths,
    /// Samples that are not zero.
    pub live_samples: usize,
    /// Features that are not zero throughout, or not constant where samples are centred.
    pub live_features: usize,
    /// Whether the mean is taken away.
    pub centred: bool,
}

/// Samples that are read a few times.
pub struct RawSketch<'a> {
    /// A sketch of the samples before they were scaled, where they were and that matters.
    pub unscaled: Option<Sketched<'a>>,
    /// Samples that are not zero.
    pub live_samples: usize,
    /// Features that are not zero throughout, or not constant where samples are centred.
    pub live_features: usize,
    /// Whether the mean is taken away.
    pub centred: bool,
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
    pub fn cut<'a>(&self, problem: &Problem<'a>) -> Result<(Cut, Leading<'a>), Error> {
        match *self {
            Self::Fixed(lambda) => problem.fixed(lambda),
            Self::Energy(share) => problem.energy(share),
            Self::Auto => problem.noise(Noise::Even, "auto")?.auto(),
            Self::Noise(deviation) => match problem.prepared {
                Source::Direct(_) | Source::Sketch(_) => problem.noise_above(deviation)?.known(deviation),
                Source::Gram(_) | Source::Summary(_) | Source::Online { .. } => {
                    problem.noise(Noise::Known, "noise")?.known(deviation)
                }
            },
            Self::ScreeNot => problem.noise(Noise::OfAnyShape, "screenot")?.screenot(),
        }
    }
}

impl<'a> Problem<'a> {
    /// How far apart two values must be to be told apart.
    pub(crate) fn resolution(&self, sigma: &[f64]) -> f64 {
        resolution(sigma, self.samples, self.features)
    }

    /// The values that `wanted` asks for.
    pub fn leading(&self, wanted: Select) -> Result<Leading<'a>, Error> {
        self.prepared.leading(wanted, self.exec)
    }

    /// How many of the values found stand above rounding: all there are, where all are known.
    pub fn numerical_rank(&self, leading: &Leading<'_>) -> usize {
        let level = self.rounding(leading);
        leading.sigma.iter().take_while(|s| **s > level).count()
    }

    fn rounding(&self, leading: &Leading<'_>) -> f64 {
        self.level(leading, self.epsilon)
    }

    fn level(&self, leading: &Leading<'_>, epsilon: f64) -> f64 {
        rounding_level(leading.sigma[0], leading.norm, self.samples, self.features, epsilon)
    }

    fn fixed(&self, lambda: f64) -> Result<(Cut, Leading<'a>), Error> {
        let tau = 1.0 / lambda.sqrt();
        let leading = self.leading(Select::Above(tau))?;
        // Below the error of the decomposition there is no direction to be had, whatever λ asks for.
        let error = self.level(&leading, 0.0);
        let most = leading.sigma.iter().take_while(|s| **s > error).count();
        let asked = principal_rank(&leading.sigma, lambda);
        let k = asked.min(most);
        let interval = (leading.interval.0.min(k), leading.interval.1.max(k));
        let warnings = if asked > most { vec![Warning::RankCapped { asked, most }] } else { vec![] };
        let reason = "1/√λ for the λ that was given".into();
        Ok((Cut { tau, lambda, k, interval, rule: "fixed", reason, warnings }, leading))
    }

    fn energy(&self, share: f64) -> Result<(Cut, Leading<'a>), Error> {
        let leading = self.leading(Select::Energy(share))?;
        let reason = format!("the fewest directions that carry {} of the energy", short_number(share));
        let mut cut = self.at_rank(leading.count, &leading, "energy", reason);
        if !self.prepared.is_whole() {
            cut.interval = leading.interval; // how the energy is spread is known within bounds
        }
        Ok((cut, leading))
    }

    /// Every direction above rounding.
    pub(crate) fn above_rounding(&self, rule: &'static str, fact: &str) -> Result<(Cut, Leading<'a>), Error> {
        if let Source::Direct(_) | Source::Sketch(_) = self.prepared {
            return Err(Error::WholeSpectrum { rule });
        }
        let leading = self.leading(Select::Top(self.samples.min(self.features)))?;
        let reason = format!("{fact}: every direction above rounding is kept");
        Ok((self.at_rank(self.numerical_rank(&leading), &leading, rule, reason), leading))
    }

    /// The cut that keeps exactly `k` values: between σ_k and σ_{k+1}.
    pub fn at_rank(&self, k: usize, leading: &Leading<'_>, rule: &'static str, reason: String) -> Cut {
        let tau = self.between(k, leading, 1.0);
        Cut { tau, lambda: 1.0 / (tau * tau), k, interval: (k, k), rule, reason, warnings: vec![] }
    }

    /// A number between σ_k and σ_{k+1}; above σ₁ by `beyond` for k = 0.
    pub(crate) fn between(&self, k: usize, leading: &Leading<'_>, beyond: f64) -> f64 {
        let sigma = &leading.sigma;
        if k == 0 {
            return sigma[0] * beyond.max(1.0);
        }
        let above = sigma[k - 1];
        let below = sigma.get(k).copied().unwrap_or(0.0).max(self.rounding(leading));
        above.min((above.sqrt() * below.sqrt()).max(f64::MIN_POSITIVE))
    }
}

/// The smallest and largest count above a cut that is known to within `resolution`.
pub(crate) fn around(sigma: &[f64], tau: f64, resolution: f64, k: usize) -> (usize, usize) {
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
