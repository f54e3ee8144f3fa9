//! Samples that are read a few times and sketched: Ritz values, and what they leave open.

use eigenspan_linalg::Exec;
use eigenspan_linalg::certificate::Certificate;
use eigenspan_linalg::sketch::Sketch;
use eigenspan_linalg::spectrum::Select;

use super::noise::{BEFORE, Live, Noise, NoiseView};
use super::{Answer, Doubt, Found, Refusal, Spectrum, Values};
use crate::Error;
use crate::warning::Warning;

const WAY: &str = "a sketch";

/// The leading singular values of samples that are sketched.
pub struct SketchSpectrum<'a> {
    /// A sketch of the samples as they are decomposed.
    pub prepared: &'a Sketch,
    /// A sketch of the samples before they were scaled, where they were and that matters.
    pub unscaled: Option<&'a Sketch>,
    /// μ, where samples are centered.
    pub mean: Option<&'a [f64]>,
    /// How many are alive.
    pub live: Live,
    /// The relative rounding error of the numbers that the samples came in.
    pub epsilon: f64,
}

impl SketchSpectrum<'_> {
    /// What all singular values would be needed for.
    fn leading_only<T>(what: &'static str) -> Answer<T> {
        Err(Refusal { way: WAY, what, why: "it finds the leading values only" })
    }
}

/// The singular values that `select` asks for, and what could not be told of them.
fn leading(sketch: &Sketch, select: Select, exec: Exec<'_>) -> Result<Found<'static>, Error> {
    let answer = sketch.leading(select, exec)?;
    let doubt = Doubt {
        settled: answer.settled,
        proved: answer.leading.certificate() == Certificate::Proved,
        too_small: answer.short && matches!(select, Select::Energy(_)),
        short: answer.short,
        residual: answer.residual.max(0.0),
    };
    Ok(Found { leading: answer.leading, doubt })
}

impl Spectrum for SketchSpectrum<'_> {
    fn way(&self) -> &'static str {
        WAY
    }

    fn shape(&self) -> (usize, usize) {
        (self.prepared.rows(), self.prepared.features())
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn norm(&self) -> f64 {
        self.prepared.energy().sqrt()
    }

    fn mean(&self) -> Option<&[f64]> {
        self.mean
    }

    fn leading(&self, select: Select, exec: Exec<'_>) -> Result<Found<'_>, Error> {
        leading(self.prepared, select, exec)
    }

    fn whole(&self) -> Answer<()> {
        Self::leading_only("all singular values")
    }

    fn values(&self, _: Exec<'_>) -> Result<Answer<Values>, Error> {
        Ok(Self::leading_only("all singular values"))
    }

    fn is_partial(&self) -> bool {
        true
    }

    /// The part above the cut that noise of a known strength gives. Copies count as samples.
    fn noise(&self, noise: &Noise<'_>, exec: Exec<'_>) -> Result<Answer<NoiseView>, Error> {
        let Noise::Known(cut) = noise else { return Ok(Self::leading_only("the bulk of the noise")) };
        let sides = self.live.sides();
        let tau = cut(sides);
        if tau == 0.0 {
            return Ok(Self::leading_only("every direction above rounding"));
        }
        let (sketch, how) = match self.unscaled {
            Some(unscaled) => (unscaled, Some(BEFORE)),
            None => (self.prepared, None),
        };
        let Found { leading, doubt } = leading(sketch, Select::Above(tau), exec)?;
        let interval = Some(leading.interval);
        Ok(Ok(NoiseView { interval, how, doubt, ..NoiseView::above(&leading, sides, self.epsilon) }))
    }

    fn description(&self, found: &Found<'_>) -> String {
        let (readings, columns, seed) = (self.prepared.passes(), self.prepared.columns(), self.prepared.seed());
        let sure = match found.leading.certificate() {
            Certificate::Proved if found.doubt.proved => "proved".to_string(),
            Certificate::Proved | Certificate::Probable(_) => "probable".to_string(),
            Certificate::Interval(low, high) => format!("between {low} and {high}"),
        };
        let residual = 100.0 * found.doubt.residual;
        let times = if readings == 1 { "reading" } else { "readings" };
        format!(
            "; {sure} by {readings} {times} and {columns} Gaussian columns (seed {seed}), residuals up to {residual:.1e} % of σ²"
        )
    }

    fn unsettled(&self, doubt: &Doubt, (low, high): (usize, usize)) -> Option<Warning> {
        let (readings, columns) = (self.prepared.passes(), self.prepared.columns());
        let open = !doubt.settled && (low < high || doubt.short || doubt.residual > 0.0);
        open.then_some(Warning::Unsettled { low, high, readings, columns, short: doubt.short })
    }
}
