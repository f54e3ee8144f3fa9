//! The spectrum as the noise sees it: what rules that look for noise ask for, and what they get.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | σ′ | `sigma` | singular values of the samples as the noise sees them, zeros included |
//! | p, q | [`Sides`] | the short and the long side that noise can fill |
//! | β | [`Sides::beta`] | p/q |
//!
//! **Two spectra.** The rules that look for noise assume that it is equally strong everywhere. Scaling samples to
//! unit length destroys that: faint samples get loud noise. So k is decided on σ′, the spectrum of the rows before
//! unit scaling, without dead and repeated rows and columns; τ is then put between σ_k and σ_{k+1}. Rows that arrive
//! with one and the same length were scaled by someone before us, and lengths that differ a millionfold leave the
//! short rows below rounding: there, the noise of the unit rows is whitened (`row_whitening`), where the rule wants it even.

use eigenspan_linalg::spectrum::{Leading, resolution};

use super::{Doubt, rounding_level};
use crate::prepare::norm;

/// What a rule knows of the noise, and what it asks for.
#[derive(Clone, Copy)]
pub enum Noise<'a> {
    /// It is equally strong everywhere, however strong: rows are whitened where scaling cannot be undone. The rule gives the cut of a
    /// spectrum with such noise, or nothing where there is no noise.
    Even(&'a dyn Fn(&NoiseView) -> Option<f64>),
    /// Nothing.
    AnyShape,
    /// Its strength, in the units of the data: only the data before any scaling will do. The rule gives the cut for
    /// these sides, above which it needs the values; a cut of zero asks for all.
    Known(&'a dyn Fn(Sides) -> f64),
}

/// The same without what the rule gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseKind {
    /// Equally strong everywhere.
    Even,
    /// Of any shape.
    AnyShape,
    /// Of a strength that is known.
    Known,
}

impl Noise<'_> {
    /// What kind of noise this is.
    pub fn kind(&self) -> NoiseKind {
        match self {
            Self::Even(_) => NoiseKind::Even,
            Self::AnyShape => NoiseKind::AnyShape,
            Self::Known(_) => NoiseKind::Known,
        }
    }
}

/// The sides of a matrix that noise can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sides {
    /// p.
    pub short: usize,
    /// q.
    pub long: usize,
}

impl Sides {
    /// p/q.
    pub fn beta(self) -> f64 {
        self.short as f64 / self.long as f64
    }
}

/// How many samples and features are alive.
#[derive(Debug, Clone, Copy)]
pub struct Live {
    /// Samples that are not zero.
    pub samples: usize,
    /// Features that are not zero throughout, or not constant where samples are centered.
    pub features: usize,
    /// Whether the mean is subtracted.
    pub centered: bool,
}

impl Live {
    /// The sides that noise can fill; centering spends one sample.
    pub fn sides(self) -> Sides {
        let samples = self.samples.saturating_sub(usize::from(self.centered)).max(1);
        let features = self.features.max(1);
        Sides { short: samples.min(features), long: samples.max(features) }
    }
}

/// The spectrum on which noise is looked for.
#[derive(Debug, Clone)]
pub struct NoiseView {
    /// σ′: all values that could carry noise, zeros included.
    pub(crate) sigma: Vec<f64>,
    /// The sides of the matrix that σ′ belongs to.
    pub(crate) sides: Sides,
    /// What of σ′ is told apart from rounding.
    pub(crate) level: f64,
    /// σ′ is known down to here: zero but for a Gram summary, whose samples cannot be read again.
    pub(crate) reach: f64,
    /// The smallest and the largest number of values above the cut, where those past it are not known.
    pub(crate) interval: Option<(usize, usize)>,
    /// How σ′ came about, where it is another spectrum than σ.
    pub(crate) how: Option<&'static str>,
    /// What could not be told.
    pub(crate) doubt: Doubt,
}

impl NoiseView {
    /// All values that noise can fill; those that are missing are zero.
    pub(super) fn whole(mut sigma: Vec<f64>, sides: Sides, epsilon: f64) -> Self {
        sigma.resize(sides.short, 0.0);
        let top = sigma.first().copied().unwrap_or(0.0);
        let level = rounding_level(top, norm(&sigma), sides.short, sides.long, epsilon);
        Self { sigma, sides, level, reach: 0.0, interval: None, how: None, doubt: Doubt::default() }
    }

    /// The values above a cut and zeros: no others are needed.
    pub(super) fn above(found: &Leading<'_>, sides: Sides, epsilon: f64) -> Self {
        let level = rounding_level(found.sigma[0], found.norm, sides.short, sides.long, epsilon);
        let mut sigma = found.sigma.clone();
        sigma.resize(sides.short, 0.0);
        Self { sigma, sides, level, reach: 0.0, interval: None, how: None, doubt: Doubt::default() }
    }

    /// Values of rows of which each counts as it is, copies included; `(n, m)` is their shape.
    pub(super) fn of_rows(sigma: &[f64], sides: Sides, (n, m): (usize, usize), epsilon: f64) -> Self {
        let sigma = sigma[..sides.short.min(sigma.len())].to_vec();
        let level = rounding_level(sigma[0], norm(&sigma), n, m, epsilon);
        Self { sigma, sides, level, reach: 0.0, interval: None, how: None, doubt: Doubt::default() }
    }

    /// How far apart two values of σ′ must be to be told apart.
    pub(crate) fn resolution(&self) -> f64 {
        resolution(&self.sigma, self.sides.short, self.sides.long)
    }
}

/// How σ′ came about: before scaling.
pub(super) const BEFORE: &str = "on the data before scaling";
/// How σ′ came about: without copies.
pub(super) const WITHOUT: &str = "without repeated samples and features";
/// How σ′ came about: whitened. These words are part of a model's `why`.
pub(super) const WHITENED: &str = "with the noise of the samples evened";

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
    /// Of samples with these lengths.
    pub fn of(lengths: &[f64]) -> Self {
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
