//! The largest ratio of every row and method, and violations that are wrong at any size.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Row, method, largest ratio, matrix.
#[derive(Default)]
pub struct Ledger {
    maxima: BTreeMap<(&'static str, &'static str), (f64, String)>,
    /// Violations that are wrong at any size.
    pub faults: Vec<String>,
}

impl Ledger {
    /// Records a ratio; NaN is the largest of all.
    pub fn note(&mut self, row: &'static str, method: &'static str, ratio: f64, case: &str) {
        let ratio = if ratio.is_nan() { f64::INFINITY } else { ratio };
        let entry = self.maxima.entry((row, method)).or_insert((0.0, String::new()));
        if ratio >= entry.0 {
            *entry = (ratio, case.to_owned());
        }
    }

    /// Records a fault unless `right`.
    pub fn check(&mut self, right: bool, fault: impl FnOnce() -> String) {
        if !right {
            self.faults.push(fault());
        }
    }

    pub fn maxima(&self) -> impl Iterator<Item = (&'static str, &'static str, f64, &str)> {
        self.maxima.iter().map(|((row, method), (ratio, case))| (*row, *method, *ratio, case.as_str()))
    }

    /// One line per maximum: row, method, ratio, matrix.
    pub fn table(&self) -> String {
        self.maxima().fold(String::new(), |mut text, (row, method, ratio, case)| {
            writeln!(text, "{row:<6} {method:<8} {ratio:>10.3}  {case}").expect("a string takes everything");
            text
        })
    }
}

/// The maxima of a table as [`Ledger::table`] writes it.
pub fn read(table: &str) -> BTreeMap<(String, String), f64> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let mut next = || words.next().expect("a row, a method and a ratio").to_owned();
        ((next(), next()), next().parse().expect("a ratio"))
    };
    table.lines().map(line).collect()
}
