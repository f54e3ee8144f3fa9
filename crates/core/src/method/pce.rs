//! Principal Coefficients Embedding: how many dimensions the samples have, and the projection onto them.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | D (m × n) | `x` = Dᵀ (n × m) | samples, prepared: unit length, then perhaps centred |
//! | U, Σ | `basis` (m × k), `sigma` | left singular vectors and singular values of D = UΣVᵀ |
//! | λ | `lambda`, `tau` = 1/√λ | weight of the error; directions with σ ≤ τ are error |
//! | k = m′ | `k` | #{σᵢ² > 1/λ}, the dimension |
//! | C | [`Pce::coefficients`] | V_k V_kᵀ, how each sample is written in terms of the others |
//! | D₀, E | [`Pce::recover`] | clean samples U_k Σ_k V_kᵀ and the error D − D₀ |
//! | Θ (m × k) | [`Pce::theta`] | U_k Σ_k⁻¹, the projection: z = Θᵀy |
//!
//! **Step 1, robustness** (the paper's eq3.1b and Theorem 1). Clean samples D₀ that express themselves, with as
//! little error E as pays:
//! ```text
//!     min  ½‖C‖²_F + ½λ‖E‖²_F    s.t.  D = D₀ + E,  D₀ = D₀C
//! ```
//! For a D₀ of rank r the best C is V_r V_rᵀ (Lemma 1), with ‖C‖²_F = r, and the best D₀ is the truncated SVD, with
//! ‖E‖²_F = Σ_{i>r} σᵢ². So the objective is ½(r + λ Σ_{i>r} σᵢ²): one more direction costs 1 and saves λσᵢ², and
//! ```text
//!     k = #{ i : σᵢ² > 1/λ },     C = V_k V_kᵀ,     D₀ = U_k Σ_k V_kᵀ
//! ```
//!
//! **Step 2, embedding** (eq3.3, thm3:equ2–4). With A = C, find Θ with ΘᵀDDᵀΘ = I that minimises ‖ΘᵀD − ΘᵀDA‖_F,
//! that is the leading solutions of D(A + Aᵀ − AAᵀ)Dᵀθ = s DDᵀθ. *Claim:* Θ = U_k Σ_k⁻¹ solves this exactly.
//! *Proof.* A is a symmetric projector, so A + Aᵀ − AAᵀ = A. In the basis θ = U Σ⁻¹ q (D of full rank on its range)
//! ```text
//!     Dᵀθ = V Σ Uᵀ U Σ⁻¹ q = V q
//!     D A Dᵀθ = U Σ Vᵀ V_k V_kᵀ V q = U Σ (q₁ … q_k, 0 … 0)ᵀ,        DDᵀθ = U Σ q
//! ```
//! so the problem reads diag(1, …, 1, 0, …, 0) q = s q: the eigenvalue 1 with multiplicity exactly k, spanned by the
//! first k unit vectors q, and 0 otherwise. Hence Θ = U_k Σ_k⁻¹ Q for any rotation Q; with Q = I, ΘᵀDDᵀΘ = I, and the
//! objective is ‖V_kᵀ − V_kᵀV_kV_kᵀ‖ = 0. ∎ No eigenproblem is ever solved.
//!
//! Peng, Lu, Yi, Yan (2017) — `peng2017` in `docs/references.bib`. **Where we differ:** λ is chosen by the data
//! unless given ([`Lambda`]); the authors' released code takes one direction more than Theorem 1
//! ([`RankRule::Released`]) and returns Θ up to an arbitrary rotation with columns scaled to length one.
//!
//! **Beyond the paper, PCE-auto** ([`PceParams::auto`]). Σ_k⁻¹ gives a direction just above the cut the largest weight of all and
//! one just below none. Soft weights ([`Weights::Soft`], [`super::parts::soft_weights`]) fall off smoothly instead and take
//! directions down to τ/2; the features of each sample then have length one. Where classes are known, τ and the form γ of the
//! weights are chosen by leaving one out ([`Weights::Auto`], [`super::parts::leave_one_out`]); k is still #{σ > τ}.

mod model;
pub mod online;
pub mod sketch;
mod soft;
pub mod summary;

use eigenspan_linalg::Exec;
use eigenspan_linalg::certificate::Certificate;
use eigenspan_linalg::spectrum::Select;

use crate::Error;
use crate::data::{Labels, NumberType, Samples};
use crate::method::parts::leave_one_out::Labelled;
use crate::method::parts::soft_weights;
use crate::prepare::{Normalize, Preparation, Prepared};
use crate::rule::dimension::Dimension;
use crate::rule::{Count, Cut, Decision, Lambda, Rule};
use crate::spectrum::direct::DirectSpectrum;
use crate::spectrum::memory::{InMemory, MemorySpectrum, Reading};
use crate::spectrum::{Doubt, Found, Solver, Spectrum};
use crate::text::short_number;
use crate::warning::Warning;
pub use model::{PathStep, Pce, PceParts, Recovery};
pub use soft::Chosen;
use soft::Kept;

/// How many dimensions to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "crate::settings::DimForm", into = "crate::settings::DimForm")]
pub enum Dim {
    /// The k of Theorem 1.
    #[default]
    Auto,
    /// This many (the paper's PCE2); λ plays no part.
    Fixed(usize),
}

impl Dim {
    /// Lowers a larger number to `max`, and never below one.
    pub(crate) fn cap(&mut self, max: usize) {
        if let Self::Fixed(dim) = self {
            *dim = (*dim).min(max.max(1));
        }
    }
}

/// How k follows from λ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RankRule {
    /// Theorem 1: k = #{σᵢ² > 1/λ}.
    #[default]
    Theorem,
    /// The authors' released code: one more, and at least 2.
    Released,
}

/// How directions are weighted in the features.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "crate::settings::WeightsForm", into = "crate::settings::WeightsForm")]
pub enum Weights {
    /// 1/σ for every direction kept, as in the paper.
    #[default]
    Hard,
    /// 1: the scores of principal component analysis.
    Scores,
    /// √(n − 1)/σ: scores of variance one.
    Whitened,
    /// σ^(2−γ)/(σ² + τ²), of directions down to τ/2.
    Soft {
        /// γ: 0 for denoised scores, 1 for the ridge form of the paper's weights.
        gamma: f64,
    },
    /// The same with τ and γ that serve the nearest neighbour best on the training samples, where their classes are given;
    /// otherwise with the τ of the rule and γ = 1. A λ, a share of energy or a dimension that is given stays, and only γ is
    /// chosen.
    Auto,
}

impl Weights {
    /// Whether directions count down to τ/2, and not to τ.
    pub fn is_soft(&self) -> bool {
        matches!(self, Self::Soft { .. } | Self::Auto)
    }
}

/// What is asked of PCE. The default asks for nothing: everything is chosen by the data.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct PceParams {
    /// How λ is chosen.
    pub lambda: Lambda,
    /// How many dimensions to keep.
    pub dim: Dim,
    /// How k follows from λ.
    pub rank_rule: RankRule,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// Whether the mean of the scaled samples is subtracted; the paper does not.
    pub center: bool,
    /// How directions are weighted.
    pub weights: Weights,
    /// Refuse zero samples and k = 0 instead of warning.
    pub strict: bool,
    /// How the singular values are computed.
    #[serde(default)]
    pub solver: Solver,
    /// Whether the features of every sample are scaled to length one; features that are all zero stay so.
    #[serde(default)]
    pub unit_features: bool,
}

impl PceParams {
    /// PCE-auto: soft weights chosen by the data, and features of length one.
    pub fn auto() -> Self {
        Self { weights: Weights::Auto, unit_features: true, ..Self::default() }
    }

    /// Learns k and Θ from samples in rows, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Pce, Error> {
        self.fit_with(samples, Exec::default())
    }

    /// Learns k and Θ, on as many threads as `exec` says and under its eyes. The result does not depend on it.
    pub fn fit_with<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Pce, Error> {
        self.fit_by(samples.into(), None, exec)
    }

    /// Learns from samples whose classes are known, on all cores: they choose the weights, where these are
    /// [`Weights::Auto`].
    pub fn fit_labelled<'a>(&self, samples: impl Into<Samples<'a>>, labels: &Labels) -> Result<Pce, Error> {
        self.fit_labelled_with(samples, labels, Exec::default())
    }

    /// [`fit_labelled`](Self::fit_labelled) on as many threads as `exec` says and under its eyes. The result does not
    /// depend on it.
    pub fn fit_labelled_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        labels: &Labels,
        exec: Exec<'_>,
    ) -> Result<Pce, Error> {
        let samples = samples.into();
        let labelled = Labelled::new(samples, labels)?;
        self.fit_by(samples, labelled.filter(|_| self.weights == Weights::Auto).as_ref(), exec)
    }

    fn fit_by(&self, samples: Samples<'_>, labelled: Option<&Labelled<'_>>, exec: Exec<'_>) -> Result<Pce, Error> {
        self.check()?;
        let reading = self.reading();
        let (scan, rough) = reading.first(samples, exec)?;
        let zero = if self.normalize == Normalize::Unit { scan.zero_samples() } else { vec![] };
        let zero = self.zero_samples(zero.len(), zero)?;
        let preparation = reading.prepare(samples, &scan, exec)?;
        let view = Prepared::new(samples, &preparation, &scan);
        let rows = InMemory { samples, scan: &scan, preparation: &preparation };
        let spectrum: Box<dyn Spectrum> = match self.solver {
            Solver::Auto => Box::new(MemorySpectrum::of(rows, &view, rough.and_then(|rough| rough.of(&view)), exec)?),
            Solver::Direct => Box::new(DirectSpectrum::of(rows, &view, exec)?),
        };
        Ok(self.solve(&*spectrum, &preparation, samples.number_type(), labelled, zero, exec)?.model)
    }

    /// The rule for the cut: a dimension that is given, or λ.
    pub(crate) fn rule(&self) -> Box<dyn Rule> {
        match self.dim {
            Dim::Fixed(dim) => Box::new(Dimension(dim)),
            Dim::Auto => self.lambda.rule(),
        }
    }

    /// Refuses settings that make no sense.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.lambda.check()?;
        if let Weights::Soft { gamma } = self.weights { soft_weights::check(gamma) } else { Ok(()) }
    }

    /// The model of samples that are prepared.
    pub(crate) fn solve(
        &self,
        spectrum: &dyn Spectrum,
        preparation: &Preparation,
        number_type: NumberType,
        labelled: Option<&Labelled<'_>>,
        mut warnings: Vec<Warning>,
        exec: Exec<'_>,
    ) -> Result<Solved, Error> {
        let (n, m) = spectrum.shape();
        if spectrum.norm() == 0.0 {
            return Err(Error::AllZero { n, m, centred: preparation.mean.is_some() });
        }
        let Decision { cut, found } = self.rule().cut(spectrum, exec)?;
        let Kept { cut, found, basis, k, interval: [low, high], chosen } = if self.weights.is_soft() {
            let labelled = labelled.map(|labelled| (labelled, preparation));
            self.keep_softly(Decision { cut, found }, spectrum, labelled, &mut warnings, exec)?
        } else {
            let (k, interval, found) = self.rank(&cut, found, spectrum, &mut warnings, exec)?;
            let basis = found.leading.basis(k.max(1), exec)?;
            Kept { cut, found, basis, k, interval, chosen: None }
        };
        warnings.extend(cut.warnings.iter().cloned());
        if let Count::NotCountable(why) = &cut.count {
            warnings.push(why.clone());
        }
        let mut why = why(k, n.min(m), &found.leading.sigma, &cut, self.rank_rule);
        why += &self.how_weighted(basis.cols(), chosen.as_ref());
        why += &spectrum.description(&found);
        let Found { leading, doubt } = found;
        warnings.extend(spectrum.unsettled(&doubt, (low, high)));
        let model = Pce::new(PceParts {
            params: *self,
            n,
            number_type,
            image: None,
            tau: cut.tau,
            lambda: cut.lambda,
            lambda_rule: cut.rule.into(),
            k,
            k_interval: (low, high),
            solver: leading.solver.into(),
            certified: low == high && leading.certificate() == Certificate::Proved && doubt.proved,
            why,
            warnings,
            chosen,
            preparation: preparation.clone(),
            online: None,
            norm: leading.norm,
            sigma: leading.sigma,
            basis,
        })?;
        Ok(Solved { model, doubt })
    }

    /// All singular values of the prepared samples, largest first, whatever the cut.
    pub fn values<'a>(&self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let samples = samples.into();
        let reading = self.reading();
        let scan = reading.scan(samples, exec)?;
        let preparation = reading.prepare(samples, &scan, exec)?;
        Ok(eigenspan_linalg::singular_values(&Prepared::new(samples, &preparation, &scan), exec)?)
    }

    fn reading(&self) -> Reading {
        let Self { normalize, center, solver, .. } = *self;
        Reading { normalize, center, solver, again: self.rule().needs().noise.is_some() }
    }

    /// What is said of samples of length zero that were to be scaled: how many, and the first of them.
    pub(crate) fn zero_samples(&self, count: usize, rows: Vec<usize>) -> Result<Vec<Warning>, Error> {
        match rows.first() {
            Some(&first) if self.strict => Err(Error::ZeroSamples { count, first }),
            _ => Ok(Warning::zero_samples(count, &rows).into_iter().collect()),
        }
    }

    /// k and the ends of its interval by the rank rule, and the values that go with it; k = 0 and too large a k are said
    /// or refused.
    fn rank<'a>(
        &self,
        cut: &Cut,
        found: Found<'a>,
        spectrum: &'a dyn Spectrum,
        warnings: &mut Vec<Warning>,
        exec: Exec<'_>,
    ) -> Result<(usize, [usize; 2], Found<'a>), Error> {
        let ends = [cut.interval.0, cut.interval.1];
        if self.rank_rule == RankRule::Released && self.dim == Dim::Auto {
            let asked = released(cut.k, spectrum);
            let found = spectrum.leading(Select::Top(asked), exec)?.after(found.doubt);
            let most = spectrum.numerical_rank(&found.leading);
            if asked > most {
                warnings.push(Warning::RankCapped { asked, most });
            }
            // Of samples that arrived one by one, or are sketched, there may be more above the cut than are known.
            let known = if spectrum.is_partial() { usize::MAX } else { most };
            return Ok((asked.min(most), ends.map(|end| released(end, spectrum).min(known)), found));
        }
        self.nothing_above(cut, &found, warnings)?;
        Ok((cut.k, ends, found))
    }

    /// Says or refuses that k = 0.
    fn nothing_above(&self, cut: &Cut, found: &Found<'_>, warnings: &mut Vec<Warning>) -> Result<(), Error> {
        if cut.k == 0 {
            if self.strict {
                return Err(Error::NothingAboveCut { sigma: found.leading.sigma[0], tau: cut.tau });
            }
            warnings.push(Warning::NothingAboveCut);
        }
        Ok(())
    }
}

/// A model, and what could not be told of it.
pub(crate) struct Solved {
    pub model: Pce,
    pub doubt: Doubt,
}

/// The k of the authors' released code where Theorem 1 says `k`.
fn released(k: usize, spectrum: &dyn Spectrum) -> usize {
    let (n, m) = spectrum.shape();
    released_rank(k, n.min(m))
}

/// The same, where there are `most` singular values.
fn released_rank(k: usize, most: usize) -> usize {
    (k + 1).max(2).min(most)
}

/// Why this k, in one sentence.
fn why(k: usize, p: usize, sigma: &[f64], cut: &Cut, rule: RankRule) -> String {
    let tau = short_number(cut.tau);
    let next = match sigma.get(k) {
        Some(s) if k > 0 => format!("; σ_{k} = {} and σ_{} = {}", short_number(sigma[k - 1]), k + 1, short_number(*s)),
        _ => String::new(),
    };
    let more = if rule == RankRule::Released { ", then one more by the released rule" } else { "" };
    format!("k = {k}: {} of {p} singular values are above τ = {tau} ({}){more}{next}", cut.k, cut.reason)
}
