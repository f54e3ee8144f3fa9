//! What is said about a model: for people, and for programs.

use eigenspan_core::data::{NumberType, Samples};
use eigenspan_core::method::pce::PathStep;
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::model::trace::Trace;
use eigenspan_core::registry::Method;
use eigenspan_core::{Chosen, Model, Pce, short_number};
use eigenspan_io::Provenance;
use serde::Serialize;

/// A fitted model in numbers. Scripts depend on these names.
#[derive(Serialize)]
pub struct Fitted<'a> {
    method: &'static str,
    n: usize,
    m: usize,
    k: usize,
    columns: usize,
    k_interval: (usize, usize),
    /// `null` where 1/τ² overflows.
    lambda: f64,
    tau: f64,
    lambda_rule: &'a str,
    /// γ of soft weights; absent where weights are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    /// What chose them; absent where that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<&'a Chosen>,
    energy: f64,
    /// `null` where nothing is left below σ_k.
    gap: f64,
    solver: &'a str,
    certified: bool,
    /// Absent where samples did not arrive one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    online: Option<Online>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    why: &'a str,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<&'a Provenance>,
}

/// How samples that arrived one by one were taken in. Scripts depend on these names.
#[derive(Serialize)]
struct Online {
    rank: usize,
    forget: f64,
    /// How many samples there are in effect.
    weight: f64,
    /// Every singular value of the samples lies between σ and √(σ² + drift²).
    drift: f64,
    /// The share of the energy that was dropped.
    lost: f64,
}

impl Online {
    fn of(model: &Pce) -> Option<Self> {
        let p = model.parts();
        let trail = p.online.as_ref()?;
        let lost = trail.discarded.energy / (p.norm * p.norm);
        Some(Self { rank: trail.rank, forget: trail.forget, weight: trail.weight, drift: trail.drift(), lost })
    }

    fn told(&self) -> String {
        let &Self { rank, forget, weight, drift, lost } = self;
        let forgets = match forget {
            1.0 => String::new(),
            f => format!(" · forgetting factor {}, {} samples in effect", short_number(f), short_number(weight)),
        };
        format!(
            "online: at most {rank} directions kept{forgets} · {} % of the energy dropped, σ may be up to √(σ² + {}²)\n",
            short_number(100.0 * lost),
            short_number(drift),
        )
    }
}

impl<'a> Fitted<'a> {
    /// The numbers of `model`.
    pub fn new(model: &'a Pce, seconds: Option<f64>, provenance: Option<&'a Provenance>) -> Self {
        let p = model.parts();
        Self {
            method: model.info().method,
            n: p.n,
            m: model.features(),
            k: p.k,
            columns: model.columns(),
            k_interval: p.k_interval,
            lambda: p.lambda,
            tau: p.tau,
            lambda_rule: &p.lambda_rule,
            gamma: model.gamma(),
            chosen: p.chosen.as_ref(),
            energy: model.energy(),
            gap: model.gap(),
            solver: &p.solver,
            certified: p.certified,
            online: Online::of(model),
            seconds,
            why: &p.why,
            warnings: p.warnings.iter().map(ToString::to_string).collect(),
            provenance,
        }
    }
}

/// A fitted model of any method in numbers: that of PCE and PCA says more.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Report<'a> {
    Pce(Box<Fitted<'a>>),
    Other(Box<OtherModel<'a>>),
}

/// A fitted model of any method but PCE and PCA. Scripts depend on these names.
#[derive(Serialize)]
pub struct OtherModel<'a> {
    method: &'static str,
    n: usize,
    m: usize,
    columns: usize,
    settings: Method,
    /// Rounds of the iteration, and whether they were enough; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    converged: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    why: &'a str,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<&'a Provenance>,
}

impl<'a> Report<'a> {
    /// The numbers of `model`.
    pub fn new(model: &'a Model, seconds: Option<f64>, provenance: Option<&'a Provenance>) -> Self {
        let told = model.info();
        if let Some(pce) = model.as_pce() {
            let report = Fitted { method: told.method, ..Fitted::new(pce, seconds, provenance) };
            return Self::Pce(Box::new(report));
        }
        Self::Other(Box::new(OtherModel {
            method: told.method,
            n: told.n,
            m: model.features(),
            columns: model.columns(),
            settings: model.settings(),
            rounds: told.trace.map(|trace| trace.rounds),
            converged: told.trace.map(|trace| trace.converged()),
            seconds,
            why: told.why,
            warnings: told.warnings.iter().map(ToString::to_string).collect(),
            provenance,
        }))
    }
}

/// What was found, in words.
pub fn found(model: &Model) -> String {
    match model.as_pce() {
        Some(pce) => verdict(pce),
        None => format!("{}\n", model.info().why),
    }
}

/// How an iteration went, in words.
pub fn rounds(trace: &Trace) -> String {
    let end = if trace.converged() { "until the tolerance was reached" } else { "and the tolerance was not reached" };
    let last = trace.values.last().map(|last| format!(", last {}", short_number(*last))).unwrap_or_default();
    format!("iteration {} rounds {end} ({}{last})\n", trace.rounds, trace.measure)
}

/// The path in numbers.
#[derive(Serialize)]
pub struct Path {
    pub n: usize,
    pub m: usize,
    pub chosen: PathStep,
    pub steps: Vec<PathStep>,
}

/// The verdict in words.
pub fn verdict(model: &Pce) -> String {
    let p = model.parts();
    let most = p.n.min(model.features());
    let mut text = format!(
        "{} of {most} dimensions carry signal · {} % of the energy · λ = {}\n{}\n",
        p.k,
        percent(model.energy()),
        short_number(p.lambda),
        p.why,
    );
    let (low, high) = p.k_interval;
    let online = Online::of(model);
    if low < high {
        let why = match &online {
            Some(_) => "what was dropped on the way is not told from what is above the cut",
            None if p.solver == "sketch" => "the readings of the samples do not tell more",
            None => "the cut is within rounding of a singular value",
        };
        text += &format!("{why}: k lies between {low} and {high}\n");
    }
    text += &online.map(|online| online.told()).unwrap_or_default();
    text
}

/// A share in percent with one digit, and more where that would round up to all of it.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = (1..=6).find(|&digits| share >= 1.0 || format!("{percent:.digits$}") != format!("{:.digits$}", 100.0));
    format!("{percent:.0$}", digits.unwrap_or(6))
}

/// Samples in words: `1797 samples × 64 features (u8)`.
pub fn shape(samples: Samples<'_>) -> String {
    let sparse = matches!(samples, Samples::Csr(_));
    shape_of(samples.rows(), samples.cols(), samples.number_type(), sparse)
}

/// The same from what is known of samples.
pub fn shape_of(rows: usize, features: usize, numbers: NumberType, sparse: bool) -> String {
    let kind = match numbers {
        _ if sparse => "sparse f64",
        NumberType::F64 => "f64",
        NumberType::F32 => "f32",
        NumberType::U8 => "u8",
    };
    format!("{rows} samples × {features} features ({kind})")
}

/// Classes in words, from the samples of each: `10 classes of 174 to 183 samples`.
pub fn classes(counts: &[usize]) -> String {
    let (low, high) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
    let size = if low == high { format!("{low}") } else { format!("{low} to {high}") };
    format!("{} classes of {size} samples", counts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_below_one_never_reads_as_all_of_it() {
        assert_eq!(
            [0.5, 0.9687, 0.99962, 0.999_999_8, 1.0].map(percent),
            ["50.0", "96.9", "99.96", "99.99998", "100.0"]
        );
    }
}
