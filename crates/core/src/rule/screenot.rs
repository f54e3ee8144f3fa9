//! The optimal hard threshold for noise of any shape, from the bulk of the spectrum: ScreeNot (Donoho, Gavish, Romanov 2023).
//!
//! Where the answer depends on how many values are taken for signal, k is a sensible cut and not a count of dimensions.

use eigenspan_linalg::Exec;

use super::cut::{Count, Decision};
use super::noise_cut::NoiseCut;
use super::threshold::{median_of, screenot};
use super::{Needs, Rule};
use crate::Error;
use crate::spectrum::{Noise, NoiseKind, Spectrum};
use crate::warning::Warning;

/// Nothing to choose.
pub struct ScreeNot;

impl Rule for ScreeNot {
    fn name(&self) -> &'static str {
        "screenot"
    }

    fn needs(&self) -> Needs {
        Needs::bulk(NoiseKind::AnyShape)
    }

    fn cut<'a>(&self, spectrum: &'a dyn Spectrum, exec: Exec<'_>) -> Result<Decision<'a>, Error> {
        let seen = NoiseCut::of(spectrum, &Noise::AnyShape, self.name(), exec)?;
        let (sigma, beta) = (&seen.view.sigma, seen.view.sides.beta());
        let p = sigma.len();
        if p < 2 {
            return seen.all_there_is();
        }
        seen.known_at(median_of(sigma))?;
        let at = |bound: usize| screenot(sigma, beta, bound.min((p - 2) / 2));
        let Some(tau) = at(p / 4).filter(|tau| *tau > seen.view.level) else { return seen.noise_free() };
        seen.known_at(tau)?;
        let reason = format!("ScreeNot, at most {} of {p} values taken for signal", p / 4);
        let mut decision = seen.transfer(tau, reason)?;
        let k = decision.cut.k;
        let count = |bound| at(bound).map_or(k, |tau| sigma.iter().filter(|s| **s > tau).count());
        let (low, high) = (count(p / 8), count(2 * p / 5));
        let has_edge = (high as f64) <= 1.2 * low as f64 + 2.0;
        decision.cut.count = if has_edge { Count::Counted } else { Count::NotCountable(Warning::NoEdge { low, high }) };
        Ok(decision)
    }
}
