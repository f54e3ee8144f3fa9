//! Every case, every method, every row.

use super::cases::{self, Case};
use super::ledger::{Ledger, read};
use super::methods::{Method, compress, cuts, exec, selections, try_answer, try_cut, values};
use super::ratios;
use super::scaled::Scaled;
use eigenspan_linalg::Mat;
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::Select;
use std::sync::OnceLock;

/// The maxima of the last reviewed version.
const STORED: &str = include_str!("maxima.txt");

/// The largest ratio that passes.
fn limit(row: &str) -> f64 {
    match row {
        "R6x" => 2.0,
        // In parentheses: measured, not guaranteed.
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
            try_methods(&case, &[(Method::Leading, 5), (Method::Dense, 20), (Method::Triangle, 20)], &mut ledger);
            single_precision(&case, &mut ledger);
        }
        for case in cases::middling() {
            try_methods(&case, &[(Method::Leading, 5), (Method::Dense, 20), (Method::Triangle, 20)], &mut ledger);
            single_precision(&case, &mut ledger);
        }
        for case in cases::large() {
            try_methods(
                &case,
                &[(Method::Leading, 20), (Method::Krylov, 20), (Method::Dense, 20), (Method::Triangle, 4)],
                &mut ledger,
            );
        }
        ledger
    })
}

/// One case, some methods: all rows, and a number of cuts.
fn try_methods(case: &Case, methods: &[(Method, usize)], ledger: &mut Ledger) {
    let near_one = |s: f64| times_power_of_two(s, -case.read.exponent);
    let all: Vec<f64> = compress(&case.read).values(exec()).unwrap().into_iter().map(near_one).collect();
    let transposed = Scaled::new(case.read.x.transposed());
    let first = case.sigma[0];
    for &(method, many) in methods {
        let (x, other) = (compress(&case.read), compress(&transposed));
        for cut in selections(case, method) {
            let Some(answer) = method.run(&x, cut) else { continue };
            try_answer(case, method, &answer, ledger);
            let sigma = values(case, &answer);
            let known = &sigma[..answer.count];
            let off = ratios::difference(known, &all, case.sigma.len() as f64, first);
            ledger.note("R5", method.name(), off, &case.name);
            if let Some(answer) = method.run(&other, cut) {
                let off = ratios::difference(known, &values(case, &answer), case.most(), first);
                ledger.note("R7", method.name(), off, &case.name);
            }
        }
        cuts(case, many).into_iter().for_each(|cut| try_cut(case, method, &x, cut, ledger));
    }
}

/// R11: the same data in single precision, read exactly, against the data in double precision.
fn single_precision(case: &Case, ledger: &mut Ledger) {
    let rounded = Mat::from_fn(case.a.rows(), case.a.cols(), |i, j| f64::from(case.a.at(i, j) as f32));
    let single = compress(&rounded);
    let eps = f64::from(f32::EPSILON);
    for method in [Method::Dense, Method::Triangle] {
        for cut in selections(case, method) {
            let cut = match cut {
                Select::Above(tau) => Select::Above(times_power_of_two(tau, -case.read.exponent)),
                other => other,
            };
            let Some(answer) = method.run(&single, cut) else { continue };
            let off = ratios::difference(&answer.sigma[..answer.count], &case.sigma, case.most(), case.sigma[0]);
            ledger.note("R11", method.name(), off * f64::EPSILON / eps, &case.name);
            let above = answer.sigma[..answer.count].iter().filter(|s| **s > 100.0 * case.most() * eps * case.sigma[0]);
            let k = above.count();
            if k > 0 && k == answer.count {
                let v = answer.basis(k, exec()).unwrap();
                if let Some(ratio) = ratios::subspace(case, &v, eps) {
                    ledger.note("R11", method.name(), ratio, &case.name);
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
fn no_answer_makes_a_false_claim() {
    let faults = &survey().faults;
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn no_ratio_has_grown() {
    let stored = read(STORED);
    for (row, method, ratio, case) in survey().maxima() {
        let known = stored.get(&(row.to_owned(), method.to_owned()));
        let known = known.unwrap_or_else(|| panic!("{row} {method} is not in maxima.txt: run the ignored test"));
        assert!(ratio <= (2.0 * known).max(1.0), "{row} {method}: {ratio:.2} on {case}, {known} before");
    }
}

/// Run this test when an improvement, or a reviewed change, has moved the maxima.
#[test]
#[ignore = "writes maxima.txt"]
#[expect(clippy::disallowed_methods, reason = "a test's own file")]
fn store_the_maxima() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torture/maxima.txt");
    std::fs::write(path, survey().table()).unwrap();
}
