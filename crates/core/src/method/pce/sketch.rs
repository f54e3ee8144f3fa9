//! PCE of samples too wide for a summary of m² numbers, read a few times.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | y ↦ y/‖y‖ | `prepared` | a sketch of the samples as they are decomposed |
//! | y | `unscaled` | a sketch of the samples as they came, where a known noise is compared with them |
//! | l, s | `columns`, `readings` | Gaussian vectors of a sketch, readings of the samples |
//!
//! ```text
//!     for s = 1, 2, …    every sample once ─▶ end_of_reading ─▶ nothing yet, or the model
//! ```
//! A sketch keeps l·m numbers a reading ([`eigenspan_linalg::sketch`], with the proofs). The model comes as soon as
//! every question of the rule for λ is settled: k is proved, or probable but for 10⁻⁹, and the directions are found.
//! After the last reading that was allowed it comes all the same, with the interval that k is known to lie in, and a
//! warning.
//!
//! **Where it differs from a fit in memory.** Rules that look at all singular values ([`Lambda::Auto`](crate::Lambda::Auto),
//!   [`Lambda::ScreeNot`](crate::Lambda::ScreeNot)) are refused, and so are z-scores. Copies count as samples, as in every fit of samples that
//!   are not kept. Singular values are Ritz values: never above the true ones.

use eigenspan_linalg::sketch::{MAX_PASSES, Sketch};
use eigenspan_linalg::{Blocks, Exec};

use super::summary::SampleStats;
use super::{Dim, Pce, PceParams, Solved};
use crate::Error;
use crate::data::Samples;
use crate::prepare::{Normalize, Preparation, Prepared, Scan};
use crate::rule::Depth;
use crate::spectrum::NoiseKind;
use crate::spectrum::noise::Live;
use crate::spectrum::sketch::SketchSpectrum;

/// With more features than this a summary is too large to be the default.
pub const WIDE: usize = 5000;
/// Gaussian vectors where nobody says how many.
const COLUMNS: usize = 200;

/// How samples are sketched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SketchParams {
    /// l; 200 where it is not given, and more where more directions are requested.
    pub columns: Option<usize>,
    /// How often the samples may be read, at most.
    pub readings: usize,
    /// The seed of the Gaussian vectors.
    pub seed: u64,
}

impl Default for SketchParams {
    fn default() -> Self {
        Self { columns: None, readings: 8, seed: 1 }
    }
}

impl SketchParams {
    /// l for these settings and so many features.
    pub fn columns(&self, params: &PceParams, features: usize) -> usize {
        let usual = match params.dim {
            Dim::Fixed(dim) => COLUMNS.max(dim.saturating_add(dim / 2 + 32)),
            Dim::Auto => COLUMNS,
        };
        self.columns.unwrap_or(usual).min(features)
    }

    /// How many sketches these settings need side by side.
    pub fn sketches(params: &PceParams) -> usize {
        1 + usize::from(compares_before_scaling(params))
    }
}

/// Whether a noise level is compared with samples before they were scaled.
fn compares_before_scaling(params: &PceParams) -> bool {
    params.rule().needs().noise == Some(NoiseKind::Known) && params.normalize == Normalize::Unit
}

/// Refuses settings that a sketch cannot serve.
pub fn can_be_sketched(params: &PceParams) -> Result<(), Error> {
    let rule = params.rule();
    if rule.needs().depth != Depth::Leading {
        return Err(Error::WholeSpectrum { rule: rule.name() });
    }
    if params.normalize == Normalize::ZScore {
        let why = "the deviations of features are not known in the first reading";
        return Err(Error::NotSketched { setting: "normalize", why });
    }
    Ok(())
}

/// A fit of samples that are read a few times. See the head of this file.
#[derive(Debug, Clone)]
pub struct PceSketch {
    params: PceParams,
    options: SketchParams,
    prepared: Sketch,
    unscaled: Option<Sketch>,
    stats: SampleStats,
}

impl PceSketch {
    /// Of no samples, with so many features.
    pub fn new(params: PceParams, options: SketchParams, features: usize) -> Result<Self, Error> {
        params.check()?;
        can_be_sketched(&params)?;
        if features == 0 {
            return Err(Error::Empty { n: 0, m: 0 });
        }
        let refuse = |name, expected, got: usize| Err(Error::Parameter { name, expected, got: got as f64 });
        if !(2..=MAX_PASSES).contains(&options.readings) {
            return refuse("passes", "between 2 and 64", options.readings);
        }
        if options.columns == Some(0) {
            return refuse("columns", "at least 1", 0);
        }
        let columns = options.columns(&params, features);
        let sketch = || Sketch::new(features, columns, options.seed, params.center);
        // A length is off by m/2 + 2 roundings, its reciprocal and a product by one each.
        let unit = params.normalize == Normalize::Unit;
        let rounding = if unit { (0.5 * features as f64 + 4.0) * f64::EPSILON / 2.0 } else { 0.0 };
        let unscaled = compares_before_scaling(&params).then(sketch);
        let prepared = sketch().with_row_rounding(rounding);
        Ok(Self { params, options, prepared, unscaled, stats: SampleStats::nothing(features) })
    }

    /// Samples of a whole reading; of the first one so far, before its end.
    pub fn rows(&self) -> usize {
        self.prepared.rows()
    }

    /// Features of a sample.
    pub fn features(&self) -> usize {
        self.prepared.features()
    }

    /// Gaussian vectors.
    pub fn columns(&self) -> usize {
        self.prepared.columns()
    }

    /// Readings that are done.
    pub fn readings(&self) -> usize {
        self.prepared.passes()
    }

    /// Takes samples of this reading, any number of them. After an error the sketch is of no use.
    pub fn update<'a>(&mut self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<(), Error> {
        let samples = samples.into();
        if samples.cols() != self.features() {
            return Err(Error::FeatureMismatch { expected: self.features(), got: samples.cols() });
        }
        if samples.rows() == 0 {
            return Ok(());
        }
        let scan = Scan::of(samples, exec.silent())?;
        let earlier = self.prepared.rows_of_pass();
        let plain = Preparation::scaling(Normalize::None);
        if let Some(unscaled) = &mut self.unscaled {
            unscaled.update(&Prepared::new(samples, &plain, &scan) as &dyn Blocks, exec)?;
        }
        let scaling = Preparation::scaling(self.params.normalize);
        self.prepared.update(&Prepared::new(samples, &scaling, &scan), exec)?;
        if self.readings() == 0 {
            self.stats.note(samples, &scan, earlier);
        }
        Ok(())
    }

    /// Ends a reading in which every sample was given once, always the same ones in the same order. Gives the model, or
    /// nothing where the samples are to be read once more.
    pub fn end_of_reading(&mut self, exec: Exec<'_>) -> Result<Option<Pce>, Error> {
        if self.prepared.rows_of_pass() == 0 {
            return Err(Error::Empty { n: 0, m: self.features() });
        }
        self.prepared.end_pass(exec)?;
        if let Some(unscaled) = &mut self.unscaled {
            unscaled.end_pass(exec)?;
        }
        let open = [Some(&self.prepared), self.unscaled.as_ref()].into_iter().flatten().any(|s| !s.is_closed());
        let last = self.readings() >= self.options.readings || !open;
        match self.model(exec) {
            Err(error) if error.is_cancelled() || last => Err(error),
            // A space that is still small may refuse what a larger one has.
            Err(_) => Ok(None),
            Ok(Solved { doubt, .. }) if last && doubt.too_small => {
                Err(Error::SketchTooSmall { columns: self.columns() })
            }
            Ok(Solved { model, doubt }) if last || doubt.settled => Ok(Some(model)),
            Ok(_) => Ok(None),
        }
    }

    fn model(&self, exec: Exec<'_>) -> Result<Solved, Error> {
        let (params, stats) = (&self.params, &self.stats);
        let normalize = params.normalize;
        let zero_rows = if normalize == Normalize::Unit { stats.zero_rows.clone() } else { vec![] };
        let warnings = params.zero_samples(stats.zeros, zero_rows)?;
        let preparation = Preparation { normalize, mean: self.prepared.mean(), deviation: None };
        let (samples, features) = (self.rows() - stats.zeros, stats.live_features(params.center));
        let spectrum = SketchSpectrum {
            prepared: &self.prepared,
            unscaled: self.unscaled.as_ref(),
            mean: preparation.mean.as_deref(),
            live: Live { samples, features, centered: params.center },
            epsilon: stats.number_type.epsilon(),
        };
        params.solve(&spectrum, &preparation, stats.number_type, None, warnings, exec)
    }
}
