//! The numbers that the paper prints (`paper/numbers.csv`), under the labels of its source.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A number of one of the paper's tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The table, by its label in the source.
    pub table: String,
    /// The data.
    pub data: String,
    /// The classifier: `SRC`, `SVM`, `NN`, or `own rule`.
    pub classifier: String,
    /// The method, as the paper calls it.
    pub algorithm: String,
    /// In percent.
    pub accuracy: f64,
    /// Its standard deviation, where the paper says it.
    pub accuracy_sd: Option<f64>,
    /// Seconds.
    pub time_s: Option<f64>,
    /// Their standard deviation.
    pub time_sd: Option<f64>,
    /// The parameters, as printed.
    pub param: String,
}

/// All of them.
pub fn numbers() -> Vec<Number> {
    let mut reader = csv::Reader::from_reader(include_str!("../paper/numbers.csv").as_bytes());
    reader.deserialize().map(|row| row.expect("the embedded file is whole")).collect()
}

/// Those of a table, and of one of its data where it has several.
pub fn of_table(table: &str, data: Option<&str>) -> Vec<Number> {
    let fits = |number: &Number| number.table == table && data.is_none_or(|data| number.data == data);
    numbers().into_iter().filter(fits).collect()
}

/// The classifier as the paper calls it.
pub fn classifier_label(name: &str) -> String {
    if ["own", "cesr"].contains(&name) { "own rule".into() } else { name.to_uppercase() }
}

impl Number {
    /// The parameters as settings of these names. What follows in brackets, and m′, is what came out and not what was
    /// set.
    pub fn settings(&self, names: &[String]) -> Map<String, Value> {
        let set = self.param.split('(').next().unwrap_or_default();
        let values = set.split(',').map_while(|value| value.trim().parse::<f64>().ok());
        let value = |value: f64| match value.fract() == 0.0 {
            true => Value::from(value as u64),
            false => Value::from(value),
        };
        names.iter().cloned().zip(values.map(value)).collect()
    }

    /// How far a mean is from the paper's, in its standard deviations.
    pub fn distance(&self, accuracy: f64) -> Option<f64> {
        self.accuracy_sd.filter(|sd| *sd > 0.0).map(|sd| (accuracy - self.accuracy) / sd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(table: &str, classifier: &str, algorithm: &str) -> Number {
        let found = of_table(table, None).into_iter().find(|n| n.classifier == classifier && n.algorithm == algorithm);
        found.unwrap()
    }

    #[test]
    fn every_table_is_there() {
        assert_eq!(numbers().len(), 280);
        for (table, count) in [("3", 30), ("4", 27), ("8", 27), ("9", 36), ("11", 27), ("3b tuned m'", 10), ("12", 5)] {
            assert_eq!(of_table(table, None).len(), count, "{table}");
        }
        assert_eq!(of_table("9", Some("ExYaleB RPC 30%")).len(), 9);
    }

    #[test]
    fn parameters_are_settings() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let text = |number: Number, of: &[&str]| serde_json::to_string(&number.settings(&names(of))).unwrap();
        assert_eq!(text(number("3", "SVM", "PCE"), &["lambda"]), r#"{"lambda":50}"#);
        assert_eq!(
            text(number("3", "SRC", "L1-graph"), &["lambda", "tolerance"]),
            r#"{"lambda":0.01,"tolerance":0.1}"#
        );
        assert_eq!(text(number("3b tuned m'", "NN", "NPE"), &["neighbours"]), r#"{"neighbours":65}"#);
        assert_eq!(text(number("3b tuned m'", "NN", "NMF"), &["lambda"]), "{}");
        assert_eq!(text(number("3", "NN", "Eigenfaces"), &["lambda"]), "{}");
    }

    #[test]
    fn distances_are_in_the_papers_deviations() {
        assert!((number("3", "NN", "PCE").distance(96.46).unwrap() + 1.0).abs() < 1e-9);
        assert_eq!(number("3b tuned m'", "NN", "PCE").distance(90.0), None);
    }
}
