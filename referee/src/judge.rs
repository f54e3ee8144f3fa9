//! The verdict on a fit, and tables of verdicts.

use std::collections::BTreeMap;

use eigenspan_core::{Dim, Lambda, Pce};

use crate::cases::{Case, Kind};
use crate::truth::{Count, Threshold, Truth};
use crate::ways::{Outcome, Way};

/// What a fit turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Certified, and k is the true count.
    Certified,
    /// Certified, and k is not the true count.
    CertifiedWrong,
    /// Not certified, and the interval holds the true count.
    Inside,
    /// Not certified, and the interval does not hold it.
    Outside,
    /// No model but an error.
    Refused,
    /// No model but a panic.
    Panicked,
}

/// A verdict, and what speaks for it.
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the true count is known within bounds only.
    pub ambiguous: bool,
    /// Model and truth in one line, or the error.
    pub detail: String,
}

/// A case with its truth.
pub struct Judge<'a> {
    case: &'a Case,
    truth: Truth,
}

impl<'a> Judge<'a> {
    /// Prepares the truth of a case.
    pub fn of(case: &'a Case) -> Self {
        Self { case, truth: Truth::of(case.samples(), case.params.normalize, case.params.center) }
    }

    /// Fits and judges.
    pub fn try_way(&self, way: Way) -> Judgement {
        let simple = |verdict, detail| Judgement { verdict, ambiguous: false, detail };
        match way.fit(self.case) {
            Outcome::Panicked => simple(Verdict::Panicked, "a panic".into()),
            Outcome::Refused(error) => simple(Verdict::Refused, error),
            Outcome::Fitted(model) => self.judge(&model),
        }
    }

    /// k and the interval of a model against the count above its τ, and above the λ that was given.
    fn judge(&self, model: &Pce) -> Judgement {
        let parts = model.parts();
        let mut counts: Vec<Count> = vec![];
        if parts.tau > 0.0 && parts.tau.is_finite() {
            counts.push(self.truth.count(&Threshold::tau(parts.tau)));
        }
        if let (Lambda::Fixed(lambda), Dim::Auto) = (self.case.params.lambda, self.case.params.dim) {
            counts.push(self.truth.count(&Threshold::lambda(lambda)));
        }
        let (low, high) = parts.k_interval;
        let holds = |count: &Count| low <= count.high && count.low <= high;
        let verdict = match parts.certified {
            true if counts.iter().all(|count| count.allows(parts.k)) => Verdict::Certified,
            true => Verdict::CertifiedWrong,
            false if counts.iter().all(holds) => Verdict::Inside,
            false => Verdict::Outside,
        };
        let sigma: Vec<String> = parts.sigma.iter().take(parts.k + 2).map(|s| format!("{s:.4e}")).collect();
        let truth: Vec<String> = counts
            .iter()
            .map(|c| if c.low == c.high { c.low.to_string() } else { format!("{}–{}", c.low, c.high) })
            .collect();
        let detail = format!(
            "k = {} in {low}–{high}, true {}; τ = {:e}, σ = {}, rule {}, solver {}",
            parts.k,
            truth.join(" and "),
            parts.tau,
            sigma.join(" "),
            parts.lambda_rule,
            parts.solver
        );
        Judgement { verdict, ambiguous: counts.iter().any(|c| c.low < c.high), detail }
    }
}

/// Verdicts counted.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    verdicts: BTreeMap<Verdict, usize>,
    /// Fits whose true count is known within bounds only.
    pub ambiguous: usize,
}

impl Tally {
    /// Takes note of one.
    pub fn add(&mut self, judgement: &Judgement) {
        *self.verdicts.entry(judgement.verdict).or_default() += 1;
        self.ambiguous += usize::from(judgement.ambiguous);
    }

    /// How many of that verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }

    /// How many in all.
    pub fn fits(&self) -> usize {
        self.verdicts.values().sum()
    }

    /// The line of a table.
    fn line(&self, name: &str) -> String {
        use Verdict::{Certified, CertifiedWrong, Inside, Outside, Panicked, Refused};
        let certified = self.count(Certified) + self.count(CertifiedWrong);
        let wrong = self.count(CertifiedWrong);
        let [inside, outside, refused, panics] = [Inside, Outside, Refused, Panicked].map(|v| self.count(v));
        let (fits, ambiguous) = (self.fits(), self.ambiguous);
        format!(
            "{name:<18}{fits:>8}{certified:>11}{wrong:>10}{inside:>12}{outside:>9}{refused:>9}{panics:>8}{ambiguous:>11}\n"
        )
    }
}

/// Verdicts by way, by rule, by kind of samples and in all, and what was said where a fit was refused.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    ways: BTreeMap<Way, Tally>,
    rules: BTreeMap<&'static str, Tally>,
    kinds: BTreeMap<Kind, Tally>,
    /// All.
    pub all: Tally,
    refusals: BTreeMap<String, usize>,
}

impl Tables {
    /// Takes note of a fit.
    pub fn add(&mut self, way: Way, case: &Case, judgement: &Judgement) {
        self.ways.entry(way).or_default().add(judgement);
        self.rules.entry(case.rule()).or_default().add(judgement);
        self.kinds.entry(case.kind).or_default().add(judgement);
        self.all.add(judgement);
        if judgement.verdict == Verdict::Refused {
            let words = judgement.detail.split(' ').filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
            *self.refusals.entry(words.collect::<Vec<_>>().join(" ")).or_default() += 1;
        }
    }
}

impl std::fmt::Display for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let head = |name: &str| {
            format!("{name:<18}    fits  certified    wrong   uncertain  outside  refused  panics  ambiguous\n")
        };
        f.write_str(&head("way"))?;
        self.ways.iter().try_for_each(|(way, tally)| f.write_str(&tally.line(way.name())))?;
        f.write_str(&format!("\n{}", head("rule")))?;
        self.rules.iter().try_for_each(|(rule, tally)| f.write_str(&tally.line(rule)))?;
        f.write_str(&format!("\n{}", head("samples")))?;
        self.kinds.iter().try_for_each(|(kind, tally)| f.write_str(&tally.line(kind.name())))?;
        f.write_str(&format!("\n{}\nrefused\n", self.all.line("all")))?;
        let mut refusals: Vec<_> = self.refusals.iter().collect();
        refusals.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        refusals.iter().try_for_each(|(words, count)| f.write_str(&format!("{count:>8}  {words}\n")))
    }
}
