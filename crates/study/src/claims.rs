//! The paper's sentences with numbers: what the sentence says, what the paper's own table says, and what we measure.

use serde::Deserialize;

use crate::paper::{Number, of_table};
use crate::report::{Line, Report, Table};

/// A sentence with a number in it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The sentence in short.
    pub says: String,
    /// The number in it.
    pub number: f64,
    /// The table or figure it is about.
    pub of: String,
    /// What the number is.
    pub measure: Measure,
    /// The classifier, where there are several.
    pub classifier: Option<String>,
    /// The data, as the paper's numbers call them, where there are several.
    pub case: Option<String>,
    /// The method that PCE is compared with, or that is spoken of.
    pub method: Option<String>,
    /// Places on the axis of a figure, from and to.
    pub at: Option<[f64; 2]>,
    /// What is wrong with it.
    pub note: Option<String>,
}

/// What a number in a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// How much PCE is above the best of the others.
    Gain,
    /// How much SRC is above NN, for one method.
    SrcOverNn,
    /// How many times longer than PCE a method takes.
    Speed,
    /// The least accuracy of a method between two places of a figure.
    Least,
    /// The largest.
    Most,
    /// The seconds of a fit at a place of a figure.
    Seconds,
}

/// One accuracy with what it is of, from the paper or from us.
struct Entry<'a> {
    method: &'a str,
    classifier: String,
    x: Option<f64>,
    accuracy: f64,
    seconds: Option<f64>,
    fit: Option<f64>,
}

impl<'a> Entry<'a> {
    fn ours(line: &'a Line) -> Self {
        Self {
            method: &line.row.method,
            classifier: line.row.classifier.clone(),
            x: line.x,
            accuracy: line.row.accuracy_mean,
            seconds: Some(line.row.seconds),
            fit: Some(line.row.seconds_of[0]),
        }
    }

    fn papers(number: &'a Number) -> Self {
        let classifier = number.classifier.to_lowercase();
        let Number { algorithm, accuracy, time_s, .. } = number;
        Self { method: algorithm, classifier, x: None, accuracy: *accuracy, seconds: *time_s, fit: None }
    }
}

impl Claim {
    /// What the entries say.
    fn value(&self, entries: &[Entry<'_>]) -> Option<f64> {
        let method = self.method.as_deref().unwrap_or("PCE");
        let judged = |entry: &&Entry<'_>| self.classifier.as_ref().is_none_or(|name| *name == entry.classifier);
        let placed =
            |entry: &&Entry<'_>| self.at.is_none_or(|[from, to]| entry.x.is_some_and(|x| (from..=to).contains(&x)));
        let of =
            |name: &str| entries.iter().filter(judged).filter(placed).filter(|e| e.method == name).collect::<Vec<_>>();
        let accuracies = |name: &str| of(name).iter().map(|e| e.accuracy).collect::<Vec<_>>();
        let largest = |values: Vec<f64>| values.into_iter().max_by(f64::total_cmp);
        match self.measure {
            Measure::Gain => {
                let others = entries.iter().filter(judged).filter(placed).filter(|e| !e.method.starts_with("PCE"));
                Some(*accuracies("PCE").first()? - largest(others.map(|e| e.accuracy).collect())?)
            }
            Measure::SrcOverNn => {
                let by = |name: &str| {
                    entries.iter().find(|e| e.method == method && e.classifier == name).map(|e| e.accuracy)
                };
                Some(by("src")? - by("nn")?)
            }
            Measure::Speed => {
                let seconds = |name: &str| of(name).first().and_then(|e| e.seconds);
                Some(seconds(method)? / seconds("PCE")?)
            }
            Measure::Least => accuracies(method).into_iter().min_by(f64::total_cmp),
            Measure::Most => largest(accuracies(method)),
            Measure::Seconds => of(method).first().and_then(|e| e.fit),
        }
    }
}

/// Every claim, with what the paper's tables say and what the reports say that there are.
pub fn table(claims: &[Claim], reports: &[Report]) -> Table {
    let row = |claim: &Claim| {
        let of_case = |line: &Line, case: &str| line.paper.as_ref().is_some_and(|paper| paper.data == case);
        // Sentences are about the paper's rows, not about what we set beside them.
        let of_paper = |line: &Line| line.paper.as_ref().is_none_or(|paper| paper.algorithm == line.row.method);
        let here =
            |line: &&Line| claim.case.as_ref().is_none_or(|case| of_case(line, case)) && !line.ours && of_paper(line);
        let report = reports.iter().find(|report| report.name == claim.of);
        let lines: Vec<&Line> = report.iter().flat_map(|report| &report.lines).filter(here).collect();
        let ours = claim.value(&lines.iter().map(|line| Entry::ours(line)).collect::<Vec<_>>());
        let numbers = of_table(claim.of.trim_start_matches("table"), claim.case.as_deref());
        let papers = claim.value(&numbers.iter().map(Entry::papers).collect::<Vec<_>>());
        let cell = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| format!("{value:.2}"));
        vec![
            claim.says.clone(),
            claim.of.clone(),
            cell(Some(claim.number)),
            cell(papers),
            cell(ours),
            claim.note.clone().unwrap_or_default(),
        ]
    };
    let heads = ["the paper says", "of", "its sentence", "its table", "we measure", "note"].map(String::from).to_vec();
    Table { heads, rows: claims.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;

    #[test]
    fn the_papers_tables_say_what_its_sentences_say_but_for_the_known_faults() {
        let protocol = Protocol::named("claims").unwrap();
        for claim in protocol.claims.iter().filter(|claim| claim.of.starts_with("table")) {
            let numbers = of_table(claim.of.trim_start_matches("table"), claim.case.as_deref());
            let value = claim.value(&numbers.iter().map(Entry::papers).collect::<Vec<_>>()).unwrap();
            // Sentences are rounded to two digits, speeds are printed to two.
            let agrees = (value - claim.number).abs() < 0.011;
            assert_eq!(agrees, claim.note.is_none(), "{}: {value}", claim.says);
        }
    }
}
