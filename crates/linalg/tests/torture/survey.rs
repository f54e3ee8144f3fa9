//! Every case, every way, every row.

use super::cases::{self, Case};
use super::ledger::{Ledger, read};
use super::ratios;
use super::scaled::Scaled;
use super::ways::{Way, compress, cuts, exec, questions, try_answer, try_cut, values};
use eigenspan_linalg::Mat;
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::Select;
use std::sync::OnceLock;

/// The maxima of the last version that was looked at by a person.
const STORED: &str = include_str!("maxima.txt");

/// The largest ratio that passes.
fn limit(row: &str) -> f64 {
    match row {
        "R6x" => 2.0,
        // In brackets: measured, not promised.
        row if row.starts_with('(') => f64::INFINITY,
        _ => 10.0,
    }
}

/// All ratios, computed once for all tests of this file.
fn survey() -> &'static Ledger {
    static LEDGER: OnceLock<Ledger> = OnceLock::new();
    LEDGER.get_or_init(|| {
        let mut ledger = Ledger::default();
        for case in cases::small() {
            try_ways(&case, &[(Way::Leading, 5), (Way::Dense, 20), (Way::Triangle, 20)], &mut ledger);
            single_precision(&case, &mut ledger);
        }
        for case in cases::middling() {
            try_ways(&case, &[(Way::Leading, 5), (Way::Dense, 20), (Way::Triangle, 20)], &mut ledger);
            single_precision(&case, &mut ledger);
        }
        for case in cases::large() {
            try_ways(
                &case,
                &[(Way::Leading, 20), (Way::Krylov, 20), (Way::Dense, 20), (Way::Triangle, 4)],
                &mut ledger,
            );
        }
        ledger
    })
}

/// One case, some ways: all rows, and so many cuts.
fn try_ways(case: &Case, ways: &[(Way, usize)], ledger: &mut Ledger) {
    let near_one = |s: f64| times_power_of_two(s, -case.read.exponent);
    let all: Vec<f64> = compress(&case.read).values(exec()).unwrap().into_iter().map(near_one).collect();
    let transposed = Scaled::new(case.read.x.transposed());
    let first = case.sigma[0];
    for &(way, many) in ways {
        let (x, other) = (compress(&case.read), compress(&transposed));
        for cut in questions(case, way) {
            let Some(answer) = way.ask(&x, cut) else { continue };
            try_answer(case, way, &answer, ledger);
            let sigma = values(case, &answer);
            let known = &sigma[..answer.count];
            let off = ratios::difference(known, &all, case.sigma.len() as f64, first);
            ledger.note("R5", way.name(), off, &case.name);
            if let Some(answer) = way.ask(&other, cut) {
                let off = ratios::difference(known, &values(case, &answer), case.most(), first);
                ledger.note("R7", way.name(), off, &case.name);
            }
        }
        cuts(case, many).into_iter().for_each(|cut| try_cut(case, way, &x, cut, ledger));
    }
}

/// R11: the same data in single precision, read exactly, against the data in double precision.
fn single_precision(case: &Case, ledger: &mut Ledger) {
    let rounded = Mat::from_fn(case.a.rows(), case.a.cols(), |i, j| f64::from(case.a.at(i, j) as f32));
    let single = compress(&rounded);
    let eps = f64::from(f32::EPSILON);
    for way in [Way::Dense, Way::Triangle] {
        for cut in questions(case, way) {
            let cut = match cut {
                Select::Above(tau) => Select::Above(times_power_of_two(tau, -case.read.exponent)),
                other => other,
            };
            let Some(answer) = way.ask(&single, cut) else { continue };
            let off = ratios::difference(&answer.sigma[..answer.count], &case.sigma, case.most(), case.sigma[0]);
            ledger.note("R11", way.name(), off * f64::EPSILON / eps, &case.name);
            let above = answer.sigma[..answer.count].iter().filter(|s| **s > 100.0 * case.most() * eps * case.sigma[0]);
            let k = above.count();
            if k > 0 && k == answer.count {
                let v = answer.basis(k, exec()).unwrap();
                if let Some(ratio) = ratios::subspace(case, &v, eps) {
                    ledger.note("R11", way.name(), ratio, &case.name);
                }
            }
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the table is there to be read")]
fn the_largest_ratios_are_within_their_limits() {
    let ledger = survey();
    println!("{}", ledger.table());
    let over: Vec<_> = ledger.maxima().filter(|(row, _, ratio, _)| *ratio > limit(row)).collect();
    assert!(over.is_empty(), "over the limit: {over:#?}");
}

#[test]
fn no_answer_claims_what_is_not_so() {
    let faults = &survey().faults;
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn no_ratio_has_grown() {
    let stored = read(STORED);
    for (row, way, ratio, case) in survey().maxima() {
        let known = stored.get(&(row.to_owned(), way.to_owned()));
        let known = known.unwrap_or_else(|| panic!("{row} {way} is not in maxima.txt: run the ignored test"));
        assert!(ratio <= (2.0 * known).max(1.0), "{row} {way}: {ratio:.2} on {case}, {known} before");
    }
}

/// Run it when a change for the better, or one that was thought about, has moved the maxima.
#[test]
#[ignore = "writes maxima.txt"]
#[expect(clippy::disallowed_methods, reason = "a test's own file")]
fn store_the_maxima() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torture/maxima.txt");
    std::fs::write(path, survey().table()).unwrap();
}
