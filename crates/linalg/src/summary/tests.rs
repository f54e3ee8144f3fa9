//! The laws of a summary, each tested once for every form, centered or not.

use std::num::NonZero;

use super::*;
use crate::certificate::Certificate;
use crate::exec::Quiet;
use crate::spectrum::{SMALL, Select, spectrum};
use crate::svd;
use crate::testing::rows_of;

/// m of most tests; blocks of 2048 rows then.
const FEATURES: usize = 6;

fn kinds() -> impl Iterator<Item = (Form, bool)> {
    [Form::Gram, Form::Triangle].into_iter().flat_map(|form| [false, true].map(|centered| (form, centered)))
}

struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ (self.0 >> 29)
    }
    fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// Rows of unit length around a mean, spread by 1, 1/2, …, 1/m along the axes.
fn samples(n: usize, m: usize, seed: u64) -> Mat {
    let mut random = Random(seed);
    let mut x = Mat::from_fn(n, m, |_, j| 0.7 + random.normal() / (j + 1) as f64);
    for i in 0..n {
        let length = x.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
        x.row_mut(i).iter_mut().for_each(|v| *v /= length);
    }
    x
}

/// The summary of `x` in chunks of `step` rows.
fn summary(x: &Mat, form: Form, centered: bool, step: usize) -> Summary {
    let mut ours = Summary::empty(x.cols(), form, centered);
    for first in (0..x.rows()).step_by(step) {
        ours.update(&rows_of(x, first..(first + step).min(x.rows())), Exec::default()).unwrap();
    }
    ours
}

fn merged(mut ours: Summary, theirs: &Summary) -> Summary {
    ours.merge(theirs, Exec::default()).unwrap();
    ours
}

/// x minus its mean, the mean in two passes.
fn centered_copy(x: &Mat) -> Mat {
    let mut y = x.clone();
    for _ in 0..2 {
        let mean: Vec<f64> =
            (0..x.cols()).map(|j| (0..x.rows()).map(|i| y.at(i, j)).sum::<f64>() / x.rows() as f64).collect();
        (0..x.rows()).for_each(|i| y.row_mut(i).iter_mut().zip(&mean).for_each(|(v, mu)| *v -= mu));
    }
    y
}

/// R13 of the numerical criteria: the error of σ in units of max(n, m)·eps·σ₁·log₂(chunks).
fn ratio(found: &[f64], reference: &[f64], longest: usize, chunks: usize) -> f64 {
    let unit = longest as f64 * f64::EPSILON * reference[0] * (chunks as f64).log2().max(1.0);
    assert!(!found.is_empty());
    found.iter().zip(reference).map(|(a, b)| (a - b).abs() / unit).fold(0.0, f64::max)
}

#[test]
fn the_empty_summary_is_neutral_on_both_sides() {
    let x = samples(5000, FEATURES, 1);
    for (form, centered) in kinds() {
        for n in [0, 3, 5000] {
            let ours = summary(&rows_of(&x, 0..n), form, centered, 5000);
            let none = Summary::empty(FEATURES, form, centered);
            assert_eq!(merged(none.clone(), &ours).to_bytes(), ours.to_bytes());
            assert_eq!(merged(ours.clone(), &none).to_bytes(), ours.to_bytes());
        }
    }
}

#[test]
fn any_split_gives_the_same_bytes() {
    let x = samples(4500, FEATURES, 2);
    for (form, centered) in kinds() {
        let whole = summary(&x, form, centered, 4500).to_bytes();
        for step in [1, 7, 2047, 2048, 2049, 4499] {
            assert_eq!(summary(&x, form, centered, step).to_bytes(), whole, "{form:?}, centered {centered}, {step}");
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    // Blocks side by side, and stripes inside one block.
    for (n, m) in [(9000, FEATURES), (1300, 1030)] {
        let x = samples(n, m, 3);
        for (form, centered) in kinds().filter(|(form, _)| m < 1000 || *form == Form::Gram) {
            let with = |threads| {
                let exec = Exec::new(NonZero::new(threads), &Quiet);
                let (mut ours, mut theirs) = (Summary::empty(m, form, centered), Summary::empty(m, form, centered));
                ours.update(&rows_of(&x, 0..n / 3), exec).unwrap();
                theirs.update(&rows_of(&x, n / 3..n), exec).unwrap();
                ours.merge(&theirs, exec).unwrap();
                ours.to_bytes()
            };
            assert_eq!(with(1), with(2));
            assert_eq!(with(1), with(4));
        }
    }
}

#[test]
fn the_order_of_merges_changes_rounding_and_nothing_else() {
    let x = samples(7303, FEATURES, 4);
    let ends = [0, 700, 3200, 3203, 7303];
    for (form, centered) in kinds() {
        let part = |i: usize| summary(&rows_of(&x, ends[i]..ends[i + 1]), form, centered, 999);
        let in_order = || (1..4).fold(part(0), |all, i| merged(all, &part(i)));
        let first = in_order();
        assert_eq!(first.to_bytes(), in_order().to_bytes());
        let backwards = (0..3).rev().fold(part(3), |all, i| merged(all, &part(i)));
        let bracketed = merged(merged(part(0), &part(1)), &merged(part(2), &part(3)));
        let reference = first.finish(Select::Top(FEATURES), Exec::default()).unwrap();
        for other in [backwards, bracketed, summary(&x, form, centered, 7303)] {
            let all = other.finish(Select::Top(FEATURES), Exec::default()).unwrap();
            let worst = ratio(&all.sigma, &reference.sigma, 7303, 6);
            assert!(worst <= 10.0, "{form:?}, centered {centered}: {worst}");
            for tau in [40.0, 20.0, 10.0] {
                let k = |s: &Summary| s.finish(Select::Above(tau), Exec::default()).unwrap().count;
                assert_eq!(k(&other), k(&first));
            }
            for (a, b) in all.mean.iter().flatten().zip(reference.mean.iter().flatten()) {
                assert!((a - b).abs() <= 2.0 * f64::EPSILON, "{a} ≠ {b}");
            }
        }
    }
}

/// N(0, 1) plus offsets up to 1e9, and the same minus the offsets, exactly: the values are near the offset.
fn offset(n: usize) -> (Mat, Mat) {
    const AT: [f64; 5] = [1e8, -1e8, 3e7, 1e9, 0.0];
    let mut random = Random(5);
    let x = Mat::from_fn(n, 5, |_, j| random.normal() + AT[j]);
    let exact = Mat::from_fn(n, 5, |i, j| x.at(i, j) - AT[j]);
    (x, exact)
}

#[test]
fn a_large_offset_costs_no_digit() {
    for n in [200, 7000] {
        let (x, exact) = offset(n);
        let reference = singular_values_of(&centered_copy(&exact));
        for form in [Form::Gram, Form::Triangle] {
            let cuts = [vec![], vec![n / 2], vec![n / 3, n / 3 + 1, n - 2], (1..n / 50).map(|i| 50 * i).collect()];
            for cuts in cuts {
                let mut all = Summary::empty(5, form, true);
                let mut first = 0;
                for end in cuts.iter().copied().chain([n]) {
                    all = merged(all, &summary(&rows_of(&x, first..end), form, true, 777));
                    first = end;
                }
                let found = all.finish(Select::Above(reference[4] / 2.0), Exec::default()).unwrap();
                assert_eq!((found.count, found.certificate()), (5, Certificate::Proved));
                for (s, expected) in found.sigma.iter().zip(&reference) {
                    let digits = -((s - expected).abs() / expected).log10();
                    assert!(digits >= 12.0, "{n}, {form:?}, {} partitions: {s} for {expected}", cuts.len() + 1);
                }
            }
        }
    }
}

fn singular_values_of(x: &Mat) -> Vec<f64> {
    svd::values(&crate::triangle::triangle(x, Exec::default()).unwrap()).unwrap()
}

#[test]
fn the_bounds_hold_and_are_informative() {
    // S in twice the precision: exact products by fused multiplication, sums with their rounding errors.
    let (x, exact) = offset(7000);
    let y = centered_copy(&exact);
    let all = merged(
        summary(&rows_of(&x, 0..2500), Form::Gram, true, 100),
        &summary(&rows_of(&x, 2500..7000), Form::Gram, true, 100),
    );
    let part = all.closed(Exec::default()).unwrap();
    let trace: f64 = (0..5).map(|i| part.square.at(i, i)).sum();
    let bound = part.error + 2.0 * trace.sqrt() * part.perturbation + part.perturbation.powi(2);
    let mut worst = 0.0f64;
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        let (mut high, mut low) = (0.0f64, 0.0f64);
        for l in 0..7000 {
            let (a, b) = (y.at(l, i), y.at(l, j));
            let product = a * b;
            let sum = high + product;
            let carried = sum - high;
            low += (high - (sum - carried)) + (product - carried) + a.mul_add(b, -product);
            high = sum;
        }
        worst = worst.max((part.square.at(i, j) - high - low).abs());
    }
    assert!(5.0 * worst <= bound, "{worst:e} against {bound:e}");
    assert!(bound < 1e-10 * trace, "{bound:e} is useless for {trace:e}");
    // Rounding of the input widens the interval: a cut right at a value is no longer decided.
    let sigma = all.finish(Select::Top(5), Exec::default()).unwrap().leading.sigma;
    let near = Select::Above(sigma[2] * (1.0 - 1e-8));
    assert_eq!(all.finish(near, Exec::default()).unwrap().certificate(), Certificate::Proved);
    let interval = all.with_row_rounding(1e-7).finish(near, Exec::default()).unwrap();
    assert!(matches!(interval.certificate(), Certificate::Interval(_, 3..)), "{:?}", interval.certificate());
}

#[test]
fn a_finished_summary_agrees_with_the_whole_in_memory() {
    // Several blocks and a tail; one short block; few values of many, by Krylov; fewer samples than features.
    for (n, m, tau) in [(5000, 20, 4.0), (300, 20, 1.0), (3000, 600, 1.0), (9, 14, 0.5)] {
        let x = samples(n, m, 6);
        for (form, centered) in kinds() {
            let whole = if centered { centered_copy(&x) } else { x.clone() };
            let reference = spectrum(&whole, Select::Above(tau), Exec::default()).unwrap();
            let k = reference.count;
            let cut = if n < m { Select::Above(reference.sigma[0] / 8.0) } else { Select::Above(tau) };
            let found = summary(&x, form, centered, 64).finish(cut, Exec::default()).unwrap();
            let worst = ratio(&found.sigma[..found.count], &reference.sigma, n.max(m), 1 + n / 2048);
            assert!(worst <= 10.0, "{n} × {m}, {form:?}, centered {centered}: {worst}");
            assert!((found.norm / reference.norm - 1.0).abs() < 1e-12 && found.sigma.len() <= n.min(m));
            if n < m {
                continue;
            }
            assert!(k > 0 && k < m);
            assert_eq!((found.rows, found.count, found.certificate()), (n, k, Certificate::Proved));
            assert_eq!(found.solver == "gram-krylov", m > SMALL, "{}", found.solver);
            // ‖U − VVᵀU‖_F, against R10.
            let [u, v] = [&found.leading, &reference].map(|l| l.basis(k, Exec::default()).unwrap());
            let mut square = 0.0;
            for c in 0..k {
                let along: Vec<f64> = (0..k).map(|d| (0..m).map(|j| u.at(j, c) * v.at(j, d)).sum()).collect();
                square += (0..m)
                    .map(|j| (u.at(j, c) - (0..k).map(|d| v.at(j, d) * along[d]).sum::<f64>()).powi(2))
                    .sum::<f64>();
            }
            let unit = n as f64 * f64::EPSILON * reference.sigma[0] / (reference.sigma[k - 1] - reference.sigma[k]);
            assert!(square.sqrt() <= 10.0 * unit, "{:e} against {unit:e}", square.sqrt());
        }
    }
}

#[test]
fn tiny_values_survive_in_the_triangle_and_are_refused_by_the_gram_matrix() {
    for mu in [1e-7, 3e-9, 1e-12] {
        // Läuchli's matrix: σ = √(12 + μ²), μ, …, μ.
        let x = Mat::from_fn(13, 12, |i, j| match i {
            0 => 1.0,
            _ if i == j + 1 => mu,
            _ => 0.0,
        });
        let split =
            |form| merged(summary(&rows_of(&x, 0..5), form, false, 2), &summary(&rows_of(&x, 5..13), form, false, 3));
        let found = split(Form::Triangle).finish(Select::Above(mu / 2.0), Exec::default()).unwrap();
        assert_eq!(found.count, 12);
        assert!(found.sigma[1..].iter().all(|s| (s - mu).abs() < 1e-3 * mu), "{mu}: {:?}", found.sigma);
        let gram = split(Form::Gram);
        assert_eq!(gram.finish(Select::Above(mu / 2.0), Exec::default()).unwrap_err(), Error::CutTooLow);
        assert_eq!(gram.finish(Select::Above(1.0), Exec::default()).unwrap().count, 1);
    }
}

#[test]
fn a_cluster_at_the_cut_is_an_interval_and_no_refusal() {
    let sigma = |j: usize| if j == 0 { 4.0 } else { [2.0, 1.0][usize::from(j > 6)] };
    let x = Mat::from_fn(40, 12, |i, j| if i == j { sigma(j) } else { 0.0 });
    for form in [Form::Gram, Form::Triangle] {
        let found = summary(&x, form, false, 7).finish(Select::Above(2.0), Exec::default()).unwrap();
        assert_eq!((found.count, found.certificate()), (1, Certificate::Interval(1, 7)), "{form:?}");
    }
}

#[test]
fn bytes_come_back_and_damaged_ones_are_refused() {
    let x = samples(2100, 3, 7);
    let mut random = Random(8);
    for (form, centered) in kinds() {
        for n in [0, 5, 2100] {
            let ours = summary(&rows_of(&x, 0..n), form, centered, 500).with_row_rounding(1e-15);
            let bytes = ours.to_bytes();
            let back = Summary::from_bytes(&bytes).unwrap();
            assert_eq!(back, ours);
            assert_eq!(back.to_bytes(), bytes);
            assert!((0..bytes.len()).all(|end| Summary::from_bytes(&bytes[..end]).is_err()));
            for _ in 0..2000 {
                let mut damaged = bytes.clone();
                let at = random.word() as usize % bytes.len();
                damaged[at] ^= 1 << (random.word() % 8);
                assert!(Summary::from_bytes(&damaged).is_err(), "a bit of byte {at}");
                // With a matching checksum, what is accepted can at least be finished.
                let body = damaged.len() - 8;
                let sum = bytes::checksum(&damaged[..body]).to_le_bytes();
                damaged[body..].copy_from_slice(&sum);
                if let Ok(odd) = Summary::from_bytes(&damaged) {
                    let _ = odd.finish(Select::Above(1.0), Exec::default());
                }
            }
        }
    }
    let mut huge = Summary::empty(1, Form::Gram, true).to_bytes();
    huge[16..24].copy_from_slice(&(1u64 << 40).to_le_bytes());
    assert!(Summary::from_bytes(&huge).is_err());
}

#[test]
fn an_unusable_value_is_located_and_changes_nothing() {
    let mut x = samples(5000, FEATURES, 9);
    for (value, row) in [(f64::NAN, 4990), (f64::INFINITY, 3000), (1e200, 0)] {
        let good = x.at(row, 2);
        x.row_mut(row)[2] = value;
        for (form, centered) in kinds() {
            let mut ours = summary(&samples(100, FEATURES, 10), form, centered, 100);
            let before = ours.to_bytes();
            let error = ours.update(&x, Exec::default()).unwrap_err();
            assert_eq!(error, Error::OutOfRange { row: 100 + row, column: 2 });
            assert_eq!(ours.to_bytes(), before);
            // The same in a chunk that fills no block.
            let error = ours.update(&rows_of(&x, row..row + 9), Exec::default()).unwrap_err();
            assert_eq!(error, Error::OutOfRange { row: 100, column: 2 });
            assert_eq!(ours.to_bytes(), before);
        }
        x.row_mut(row)[2] = good;
    }
}

#[test]
fn mismatched_summaries_are_refused() {
    let mut ours = Summary::empty(3, Form::Gram, true);
    let error = ours.merge(&Summary::empty(4, Form::Triangle, false), Exec::default()).unwrap_err();
    let text =
        "a triangular summary of 4 uncentered features cannot be merged into a Gram summary of 3 centered features";
    assert_eq!(error.to_string(), text);
    assert!(ours.update(&Mat::zeros(2, 5), Exec::default()).is_err());
    assert_eq!(ours.finish(Select::Top(1), Exec::default()).unwrap_err(), Error::NoRows);
}

#[test]
fn a_constant_feature_leaves_nothing() {
    let x = Mat::from_fn(5000, 2, |i, j| if j == 0 { 0.1 } else { (i as f64).sin() });
    for form in [Form::Gram, Form::Triangle] {
        let all = merged(
            summary(&rows_of(&x, 0..2900), form, true, 100),
            &summary(&rows_of(&x, 2900..5000), form, true, 100),
        );
        let found = all.finish(Select::Above(1.0), Exec::default()).unwrap();
        assert_eq!((found.count, found.mean.as_ref().map(|mean| mean[0])), (1, Some(0.1)));
        assert!(found.sigma[1..].iter().all(|s| *s == 0.0), "{:?}", found.sigma);
    }
}

#[test]
fn features_divided_by_their_deviations_have_deviation_one() {
    let scales = [1.0, 1e-6, 1e5, 0.0];
    let x = Mat::from_fn(3000, 4, |i, j| 1e3 + scales[j] * ((i * (j + 2)) as f64 * 0.618).sin());
    let mut seen = Summary::empty(4, Form::Triangle, true);
    seen.update(&x, Exec::default()).unwrap();
    let (standard, deviations) = seen.close(Exec::default()).unwrap().standardised().unwrap();
    let mut z = Mat::zeros(3000, 4);
    for j in 0..4 {
        let mean = (0..3000).map(|i| x.at(i, j) - x.at(0, j)).sum::<f64>() / 3000.0;
        let off = |i: usize| (x.at(i, j) - x.at(0, j)) - mean;
        let deviation = ((0..3000).map(|i| off(i) * off(i)).sum::<f64>() / 3000.0).sqrt();
        let deviation = if deviation > 0.0 { deviation } else { 1.0 };
        assert!((deviations[j] / deviation - 1.0).abs() < 1e-9, "{j}: {} for {deviation}", deviations[j]);
        (0..3000).for_each(|i| z.row_mut(i)[j] = off(i) / deviation);
    }
    let cut = Select::Top(3);
    let got = standard.spectrum(Exec::default()).unwrap().leading(cut, Exec::default()).unwrap();
    let want = spectrum(&z, cut, Exec::default()).unwrap();
    for (a, b) in got.sigma.iter().zip(&want.sigma).take(3) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} for {b}");
    }
    assert!((got.norm * got.norm - 9000.0).abs() < 1e-8);
}
