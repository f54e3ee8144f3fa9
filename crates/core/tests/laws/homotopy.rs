//! What sparse codes promise, on numbers of other programs, on random dictionaries and on real ones.

use crate::common::{fixture, gap, real};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::exec::Quiet;
use eigenspan_core::method::parts::homotopy::{Code, Dictionary, Ended, Homotopy, PathStop};
use eigenspan_core::prepare::Preparation;
use eigenspan_core::{Exec, Mat, Normalize};

/// A problem: atoms in rows, and the sample.
struct Problem {
    atoms: Mat,
    sample: Vec<f64>,
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn exact(lambda: f64) -> Homotopy {
    Homotopy { lambda, stop: PathStop::Exact, max_iter: 10_000, nonnegative: false }
}

fn published(lambda: f64, tolerance: f64, max_iter: usize) -> Homotopy {
    Homotopy { stop: PathStop::Published { tolerance }, max_iter, ..exact(lambda) }
}

impl Problem {
    /// Atoms and sample in columns of a fixture.
    fn of(file: &str, atoms: &str, samples: &str, column: usize) -> Self {
        let (atoms, samples) = (fixture(file, atoms).transposed(), fixture(file, samples).transposed());
        Self { atoms, sample: samples.row(column).to_vec() }
    }

    /// Atoms that are anything but independent: duplicates, opposites, sums, multiples, a zero, and a sample among them.
    fn degenerate(seed: u64, m: usize, n: usize) -> Self {
        let mut random = Normal::new(seed);
        let mut atoms = Mat::from_fn(n, m, |_, _| (random.draw() * 2.0).round());
        for j in (6..n).step_by(3) {
            let (a, b) = (atoms.row(j % 5).to_vec(), atoms.row(j % 4).to_vec());
            let make = |t: usize| match j % 5 {
                0 => a[t],
                1 => -a[t],
                2 => a[t] + b[t],
                3 => 2.0 * a[t],
                _ => 0.0,
            };
            (0..m).for_each(|t| atoms.row_mut(j)[t] = make(t));
        }
        let sample = (0..m).map(|t| atoms.at(0, t) - atoms.at(1, t) + (random.draw() * 2.0).round()).collect();
        Self { atoms, sample }
    }

    fn solve(&self, asked: &Homotopy, without: Option<usize>) -> Code {
        let dictionary = Dictionary::of(&self.atoms, Exec::default()).unwrap();
        let correlations: Vec<f64> = (0..self.atoms.rows()).map(|j| product(self.atoms.row(j), &self.sample)).collect();
        asked.solve(&dictionary, &correlations, product(&self.sample, &self.sample), without)
    }

    fn rest(&self, code: &Code) -> Vec<f64> {
        let mut rest = self.sample.clone();
        for (j, x) in &code.entries {
            rest.iter_mut().zip(self.atoms.row(*j)).for_each(|(r, a)| *r -= x * a);
        }
        rest
    }

    fn objective(&self, code: &Code, lambda: f64) -> f64 {
        let rest = self.rest(code);
        lambda * code.entries.iter().map(|(_, x)| x.abs()).sum::<f64>() + product(&rest, &rest) / 2.0
    }

    /// By how much the conditions for a solution at `mu` are missed, from the atoms themselves.
    fn missed(&self, code: &Code, mu: f64, nonnegative: bool, without: Option<usize>) -> f64 {
        let rest = self.rest(code);
        let mut missed: f64 = 0.0;
        for j in (0..self.atoms.rows()).filter(|j| Some(*j) != without) {
            let c = product(self.atoms.row(j), &rest);
            let x = code.entries.iter().find(|(i, _)| *i == j).map_or(0.0, |(_, x)| *x);
            missed = missed.max(match x {
                0.0 if nonnegative => c - mu,
                0.0 => c.abs() - mu,
                x if nonnegative && x < 0.0 => f64::INFINITY,
                x => (c - mu * x.signum()).abs(),
            });
        }
        missed
    }
}

fn dense(code: &Code, n: usize) -> Vec<f64> {
    let mut x = vec![0.0; n];
    code.entries.iter().for_each(|(j, value)| x[*j] = *value);
    x
}

#[test]
fn the_published_rule_gives_the_reference_codes_in_as_many_steps() {
    let problem = Problem::of("homotopy.npz", "A", "target", 0);
    let (settings, solutions, steps) =
        (fixture("homotopy.npz", "cfg"), fixture("homotopy.npz", "XH"), fixture("homotopy.npz", "IT"));
    for case in 0..7 {
        let (lambda, tolerance) = (settings.at(case, 0), settings.at(case, 1));
        let code = problem.solve(&published(lambda, tolerance, 1000), None);
        assert_eq!(code.steps, steps.at(0, case) as usize, "λ = {lambda}, tolerance {tolerance}");
        let off = dense(&code, 50).into_iter().enumerate().map(|(j, x)| (x - solutions.at(j, case)).abs());
        assert!(off.fold(0.0, f64::max) < 1e-9, "λ = {lambda}, tolerance {tolerance}"); // the same path
        assert!(problem.missed(&code, code.reached, false, None) < 1e-12, "a point of the path solves for its own μ");
        assert!(code.reached >= lambda && (code.objective - problem.objective(&code, lambda)).abs() < 1e-13);
    }
}

#[test]
fn the_published_rule_gives_the_codes_of_the_reference_classifier() {
    let (atoms, samples) = (fixture("src.npz", "tr").transposed(), fixture("src.npz", "tt").transposed());
    let want = fixture("src.npz", "CO");
    let dictionary = Dictionary::of(&atoms, Exec::default()).unwrap();
    let correlations = Mat::from_fn(samples.rows(), 24, |i, j| product(samples.row(i), atoms.row(j)));
    let squares: Vec<f64> = (0..samples.rows()).map(|i| product(samples.row(i), samples.row(i))).collect();
    let codes = published(1e-3, 1e-3, 1000).of_queries(&dictionary, &correlations, &squares, Exec::default()).unwrap();
    let found: Vec<Vec<f64>> = codes.iter().map(|code| dense(code, 24)).collect();
    let found = Mat::from_fn(24, samples.rows(), |j, i| found[i][j]);
    assert!(gap(&found, &want) < 1e-9, "{:e}", gap(&found, &want)); // the same path
}

#[test]
fn exact_codes_have_the_objective_of_scikit_learn_also_with_duplicates_and_signs_asked_for() {
    let lambdas = fixture("lasso.npz", "lambdas");
    for name in ["tall", "wide", "twins"] {
        let problem = Problem::of("lasso.npz", &format!("{name}_A"), &format!("{name}_y"), 0);
        for (nonnegative, array) in [(false, "f"), (true, "fpos")] {
            let want = fixture("lasso.npz", &format!("{name}_{array}"));
            for (case, lambda) in lambdas.as_slice().iter().enumerate() {
                let code = problem.solve(&Homotopy { nonnegative, ..exact(*lambda) }, None);
                let case = (want.at(0, case), name, lambda, nonnegative);
                assert!((code.objective - case.0).abs() < 1e-10 * case.0.max(1.0), "{case:?}: {}", code.objective);
                assert!((code.objective - problem.objective(&code, *lambda)).abs() < 1e-12, "{case:?}");
                // Products of numbers up to 30; rounding of c is 1e-14.
                assert!(problem.missed(&code, *lambda, nonnegative, None) < 1e-12, "{case:?}");
                assert_eq!((code.ended, code.reached), (Ended::Target, *lambda), "{case:?}");
            }
        }
        if name != "twins" {
            let want = fixture("lasso.npz", &format!("{name}_X"));
            for (case, lambda) in lambdas.as_slice().iter().enumerate() {
                let x = dense(&problem.solve(&exact(*lambda), None), want.cols());
                assert!(x.iter().zip(want.row(case)).all(|(a, b)| (a - b).abs() < 1e-10), "{name}, λ = {lambda}");
            }
        }
    }
}

#[test]
fn the_conditions_hold_on_dictionaries_full_of_ties_duplicates_and_collinear_atoms() {
    for seed in 0..60 {
        let (m, n) = (4 + seed as usize % 9, 5 + seed as usize % 31);
        let problem = Problem::degenerate(seed, m, n);
        for lambda in [8.0, 1.0, 0.1, 1e-3] {
            for nonnegative in [false, true] {
                for without in [None, Some(0)] {
                    let code = problem.solve(&Homotopy { nonnegative, ..exact(lambda) }, without);
                    let case = (seed, lambda, nonnegative, without, code.ended, code.steps);
                    assert!(code.converged(), "{case:?}");
                    // Whole numbers up to 10 in up to 12 features: correlations up to 300, rounding 1e-13 of them.
                    let missed = problem.missed(&code, lambda, nonnegative, without);
                    assert!(missed < 1e-10, "{case:?}: {missed:e}");
                    assert!(without.is_none_or(|j| code.entries.iter().all(|(i, _)| *i != j)), "{case:?}");
                }
            }
        }
    }
}

#[test]
fn the_published_rule_ends_on_the_same_dictionaries_whatever_the_tolerance() {
    for seed in 0..60 {
        let problem = Problem::degenerate(seed, 4 + seed as usize % 9, 5 + seed as usize % 31);
        for (lambda, tolerance) in [(0.1, 0.0), (1e-3, 1e-3), (1e-6, 1e-12)] {
            for nonnegative in [false, true] {
                let asked = Homotopy { nonnegative, ..published(lambda, tolerance, 1000) };
                let code = problem.solve(&asked, None);
                assert!(code.steps < 1000 && code.entries.iter().all(|(_, x)| x.is_finite()), "{seed} {lambda}");
            }
        }
    }
}

#[test]
fn the_non_negative_code_of_the_fixture_meets_its_conditions() {
    let problem = Problem::of("homotopy.npz", "A", "target", 0);
    for lambda in [0.1, 1e-2, 1e-3, 1e-4] {
        let code = problem.solve(&Homotopy { nonnegative: true, ..exact(lambda) }, None);
        assert!(code.converged() && !code.entries.is_empty());
        assert!(problem.missed(&code, lambda, true, None) < 1e-13, "λ = {lambda}");
    }
}

#[test]
fn a_path_cut_short_solves_for_the_penalty_it_reached_and_says_so() {
    let problem = Problem::of("homotopy.npz", "A", "target", 0);
    for max_iter in [1, 5, 20] {
        let code = problem.solve(&Homotopy { max_iter, ..exact(1e-3) }, None);
        assert_eq!((code.ended, code.steps, code.converged()), (Ended::StepsUsedUp, max_iter, false));
        assert!(code.reached > 1e-3 && problem.missed(&code, code.reached, false, None) < 1e-13);
    }
}

#[test]
fn a_penalty_above_every_correlation_and_a_zero_sample_give_the_zero_code() {
    let mut problem = Problem::degenerate(1, 6, 9);
    for asked in [exact(1e9), published(1e9, 1e-3, 10)] {
        assert!(problem.solve(&asked, None).entries.is_empty());
    }
    problem.sample.fill(0.0);
    for asked in [exact(0.1), published(0.1, 0.0, 10)] {
        let code = problem.solve(&asked, None);
        assert_eq!((code.entries.len(), code.steps, code.objective, code.converged()), (0, 0, 0.0, true));
    }
    let alone = Problem { atoms: Mat::from_fn(1, 3, |_, _| 1.0), sample: vec![1.0; 3] };
    assert!(alone.solve(&exact(0.1), Some(0)).entries.is_empty());
    assert!((alone.solve(&exact(0.3), None).entries[0].1 - 0.9).abs() < 1e-15);
}

#[test]
fn out_of_range_settings_are_refused() {
    let wrong = [
        exact(0.0),
        exact(f64::NAN),
        exact(f64::INFINITY),
        Homotopy { max_iter: 0, ..exact(1.0) },
        published(1.0, -1.0, 9),
        published(1.0, f64::NAN, 9),
    ];
    let dictionary = Dictionary::of(&Mat::from_fn(2, 2, |i, j| (i + j) as f64), Exec::default()).unwrap();
    for asked in wrong {
        assert!(asked.of_each_other(&dictionary, Exec::default()).is_err(), "{asked:?}");
    }
    assert!(exact(1.0).of_each_other(&dictionary, Exec::default()).is_ok());
}

#[test]
fn the_conditions_hold_for_every_face_over_the_others_with_the_same_bits_on_any_number_of_threads() {
    let Some(faces) = real("exyaleb_54x48_first58.npz") else { return };
    let some: Vec<usize> = (0..120).map(|i| i * 18).collect();
    let faces = faces.select_rows(&some).unwrap();
    let mut atoms = Preparation::scaling(Normalize::Unit).matrix(faces.samples.view(), Exec::default()).unwrap();
    // A photo that is there twice, and one that is the mean of two others.
    let (first, second) = (atoms.row(0).to_vec(), atoms.row(1).to_vec());
    atoms.row_mut(50).copy_from_slice(&first);
    atoms.row_mut(70).iter_mut().zip(first.iter().zip(&second)).for_each(|(to, (a, b))| *to = (a + b) / 2.0);
    let dictionary = Dictionary::of(&atoms, Exec::default()).unwrap();
    for lambda in [1e-2, 1e-4] {
        let codes = exact(lambda).of_each_other(&dictionary, Exec::default()).unwrap();
        for i in (0..120).step_by(10) {
            let problem = Problem { atoms: atoms.clone(), sample: atoms.row(i).to_vec() };
            let missed = problem.missed(&codes[i], lambda, false, Some(i));
            assert!(codes[i].converged() && missed < 1e-12, "λ = {lambda}, face {i}: {missed:e}");
        }
        assert!(codes.iter().all(Code::converged), "λ = {lambda}");
        for threads in 1..=3 {
            let exec = Exec::new(std::num::NonZero::new(threads), &Quiet);
            assert!(codes == exact(lambda).of_each_other(&dictionary, exec).unwrap(), "{threads} threads");
        }
    }
}

#[test]
fn atoms_that_are_almost_the_same_are_told_apart_as_far_as_their_products_can() {
    for power in 2..12 {
        let apart = 10.0_f64.powi(-power);
        for seed in 0..10 {
            let mut random = Normal::new(seed);
            let mut atoms = Mat::from_fn(30, 12, |_, _| random.draw());
            for j in (1..30).step_by(2) {
                let twin: Vec<f64> = atoms.row(j - 1).iter().map(|a| a + apart * random.draw()).collect();
                atoms.row_mut(j).copy_from_slice(&twin);
            }
            let problem = Problem { atoms, sample: (0..12).map(|_| random.draw()).collect() };
            for lambda in [1.0, 0.1, 0.01] {
                let code = problem.solve(&exact(lambda), None);
                let missed = problem.missed(&code, lambda, false, None);
                // Twins further apart than 1e-7 of their length are two atoms, nearer ones are one; near 1e-6 the support
                // has a condition of 1e12, squared in G.
                let allowed = if apart > 5e-6 { 1e-12 } else { 1e-6_f64.min(10.0 * apart).max(1e-10) };
                assert!(code.converged() && missed < allowed, "{apart:e}, seed {seed}, λ = {lambda}: {missed:e}");
            }
        }
    }
}
