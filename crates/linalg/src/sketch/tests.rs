use std::num::NonZero;

use super::chance::{KrylovShape, single_test};
use super::*;
use crate::certificate::Certificate;
use crate::dense::product;
use crate::exec::Quiet;
use crate::spectrum::{Select, singular_values};
use crate::triangle::orthonormalize;

fn gaussian(rows: usize, cols: usize, seed: u64) -> Mat {
    Mat::from_vec(rows, cols, Random::new(seed).normals(rows * cols)).unwrap()
}

/// A matrix with these singular values and random directions.
fn with_values(n: usize, m: usize, sigma: &[f64], seed: u64) -> Mat {
    let r = sigma.len();
    let [left, right] = [(n, 1), (m, 2)].map(|(side, salt)| orthonormalize(&gaussian(side, r, 10 * seed + salt)));
    let left = Mat::from_fn(n, r, |i, j| left.at(i, j) * sigma[j]);
    product(left.view(), right.view().transposed(), Exec::default()).unwrap()
}

fn read(sketch: &mut Sketch, x: &Mat, chunk: usize, exec: Exec<'_>) {
    for first in (0..x.rows()).step_by(chunk) {
        let rows: Vec<usize> = (first..(first + chunk).min(x.rows())).collect();
        sketch.update(&x.select_rows(&rows), exec).unwrap();
    }
    sketch.end_pass(exec).unwrap();
}

fn sketched(x: &Mat, columns: usize, passes: usize, seed: u64, centered: bool) -> Sketch {
    let mut sketch = Sketch::new(x.cols(), columns, seed, centered);
    (0..passes).for_each(|_| read(&mut sketch, x, x.rows(), Exec::default()));
    sketch
}

fn true_count(sigma: &[f64], tau: f64) -> usize {
    sigma.iter().filter(|s| **s > tau).count()
}

#[test]
fn two_passes_are_exact_and_proved_where_the_sketch_holds_the_rank() {
    let sigma = [9.0, 7.0, 5.5, 3.0, 1.0, 0.4, 0.1];
    let x = with_values(90, 400, &sigma, 3);
    let sketch = sketched(&x, 12, 2, 5, false);
    assert!(sketch.is_closed());
    let again = sketched(&x, 12, 4, 5, false);
    assert!(again.passes() == 4 && again.space.dimension() == sketch.space.dimension());
    for (tau, k) in [(8.0, 1), (4.0, 3), (0.5, 5), (0.05, 7)] {
        let Answer { leading, settled, .. } = sketch.leading(Select::Above(tau), Exec::default()).unwrap();
        assert_eq!((leading.count, leading.certificate(), settled), (k, Certificate::Proved, true), "{tau}");
        for (found, s) in leading.sigma.iter().zip(sigma) {
            // Through XᵀX the relative error of a value is eps·(σ₁/σ)².
            assert!((found / s - 1.0).abs() < 1e3 * f64::EPSILON * (9.0 / s).powi(2), "{found} {s}");
        }
        let u = leading.basis(k, Exec::default()).unwrap();
        let along = product(x.view(), u.view(), Exec::default()).unwrap();
        for j in 0..k {
            let length = (0..90).map(|i| along.at(i, j).powi(2)).sum::<f64>().sqrt();
            assert!((length / sigma[j] - 1.0).abs() < 1e-9, "{j}: {length}");
        }
    }
    let energy: f64 = sigma.iter().map(|s| s * s).sum();
    for share in [0.3, 0.9, 0.999] {
        let expected = (1..=7).find(|k| sigma[..*k].iter().map(|s| s * s).sum::<f64>() >= share * energy).unwrap();
        let answer = sketch.leading(Select::Energy(share), Exec::default()).unwrap();
        assert_eq!((answer.leading.count, answer.settled, answer.short), (expected, true, false));
    }
}

/// Spectra of various decay: (name, values).
fn spectra() -> Vec<(&'static str, Vec<f64>)> {
    let of = |f: &dyn Fn(f64) -> f64| (1..=120).map(|i| f(f64::from(i))).collect::<Vec<f64>>();
    vec![
        ("a step", of(&|i| if i <= 6.0 { 10.0 - i } else { 1.0 })),
        ("a small step", of(&|i| if i <= 6.0 { 1.6 } else { 1.0 })),
        ("1/i", of(&|i| 10.0 / i)),
        ("1/√i", of(&|i| 4.0 / i.sqrt())),
        ("a line", of(&|i| 2.0 - i / 70.0)),
        ("flat", of(&|_| 1.0)),
        ("a geometric row", of(&|i| 8.0 * 0.8f64.powf(i))),
    ]
}

#[test]
fn the_count_is_in_its_interval_and_ritz_values_never_exceed_the_truth() {
    let (mut settled, mut open) = (0, 0);
    for (name, sigma) in spectra() {
        let x = with_values(130, 260, &sigma, 7);
        for seed in 1..=4 {
            let mut sketch = Sketch::new(260, 24, seed, false);
            let mut before: Vec<f64> = vec![];
            for pass in 1..=5 {
                read(&mut sketch, &x, 130, Exec::default());
                for tau in [5.2, 1.3, 1.01, 0.7, 0.35] {
                    let Answer { leading, .. } = sketch.leading(Select::Above(tau), Exec::default()).unwrap();
                    let (k, (low, high)) = (true_count(&sigma, tau), leading.interval);
                    assert!(low <= k && k <= high, "{name}, τ = {tau}, {pass} passes: {k} in {low}..{high}");
                    assert!(leading.sigma.iter().zip(&sigma).all(|(a, b)| *a <= b * (1.0 + 1e-12)), "{name}");
                    *(if low == high { &mut settled } else { &mut open }) += 1;
                    if tau == 0.35 {
                        let grown = before.iter().zip(&leading.sigma).all(|(a, b)| *b >= a * (1.0 - 1e-12));
                        assert!(grown, "{name}: a pass makes no value smaller");
                        before = leading.sigma;
                    }
                }
            }
        }
    }
    // The interval is informative: a quarter of the counts is settled, with 24 columns and from the first pass on; cuts
    // within a cluster of values are not.
    assert!(settled > 150 && open > 20, "{settled} settled, {open} open");
}

#[test]
fn noise_with_planted_directions_is_settled_in_a_few_passes() {
    let (n, m) = (300, 700);
    let noise = gaussian(n, m, 9);
    let edge = (n as f64).sqrt() + (m as f64).sqrt();
    let planted: Vec<f64> = (0..5).map(|i| edge * (2.5 - 0.2 * f64::from(i))).collect();
    let signal = with_values(n, m, &planted, 4);
    let x = Mat::from_fn(n, m, |i, j| signal.at(i, j) + noise.at(i, j));
    let truth = singular_values(&x, Exec::default()).unwrap();
    let tau = 1.3 * edge;
    let mut sketch = Sketch::new(m, 60, 1, false);
    let answer = (1..=8).find_map(|_| {
        read(&mut sketch, &x, 77, Exec::default());
        let answer = sketch.leading(Select::Above(tau), Exec::default()).unwrap();
        answer.settled.then_some(answer)
    });
    let answer = answer.expect("settled");
    assert_eq!(answer.leading.count, true_count(&truth, tau));
    assert!(matches!(answer.leading.certificate(), Certificate::Probable(p) if p <= 1e-9));
    for (found, s) in answer.leading.sigma.iter().zip(&truth).take(5) {
        assert!(found <= s && *found > s * (1.0 - 1e-3), "{found} {s}");
    }
    let top = sketch.leading(Select::Top(5), Exec::default()).unwrap();
    assert!(top.settled && top.leading.count == 5);
}

#[test]
fn neither_chunks_nor_threads_change_a_bit() {
    let x = with_values(700, 90, &(1..=60).map(|i| 3.0 / f64::from(i)).collect::<Vec<_>>(), 2);
    for centered in [false, true] {
        let answers: Vec<_> = [(700, 1), (1, 2), (64, 4), (513, 2), (333, 1)]
            .into_iter()
            .map(|(chunk, threads)| {
                let exec = Exec::new(NonZero::new(threads), &Quiet);
                let mut sketch = Sketch::new(90, 20, 3, centered);
                (0..3).for_each(|_| read(&mut sketch, &x, chunk, exec));
                let found = sketch.leading(Select::Above(0.5), exec).unwrap().leading;
                let basis = found.basis(found.count, exec).unwrap();
                (found.sigma, found.interval, found.norm, basis, sketch.mean())
            })
            .collect();
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{centered}");
    }
}

#[test]
fn the_mean_is_subtracted_exactly_for_any_offset() {
    // Rows in the order of a drift, so that the first block misestimates the mean.
    let spread = with_values(900, 80, &[30.0, 20.0, 8.0, 5.0], 6);
    let x = Mat::from_fn(900, 80, |i, j| spread.at(i, j) + 1e5 + (j as f64) + i as f64 * 0.001 * (j % 3) as f64);
    let n = 900.0;
    let mean: Vec<f64> = (0..80).map(|j| 1e5 + (0..900).map(|i| x.at(i, j) - 1e5).sum::<f64>() / n).collect();
    let centered = Mat::from_fn(900, 80, |i, j| x.at(i, j) - mean[j]);
    let truth = singular_values(&centered, Exec::default()).unwrap();
    let sketch = sketched(&x, 10, 3, 1, true);
    let found = sketch.leading(Select::Above(6.5), Exec::default()).unwrap().leading;
    assert_eq!(found.count, true_count(&truth, 6.5));
    assert!(found.sigma.iter().zip(&truth).all(|(a, b)| (a / b - 1.0).abs() < 1e-7), "{found:?} {truth:?}");
    let off = sketch.mean().unwrap().iter().zip(&mean).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-9, "{off}");
}

#[test]
fn a_probability_is_no_smaller_than_the_observed_frequency() {
    // One value at the cut among 39 smaller ones, few columns: it is often resolved badly.
    let m = 40;
    let values: Vec<f64> = (0..m).map(|i| if i == 0 { 1.0 } else { 0.5 / (1.0 + 0.05 * i as f64) }).collect();
    let x = Mat::from_fn(m, m, |i, j| if i == j { values[i].sqrt() } else { 0.0 });
    for (columns, passes) in [(1, 2), (2, 2), (3, 1), (2, 3)] {
        let mut bounds: Vec<f64> = (0..400)
            .map(|seed| {
                let found = sketched(&x, columns, passes, seed, false);
                let first = found.leading(Select::Top(1), Exec::default()).unwrap().leading.sigma[0].powi(2);
                let shape = KrylovShape { order: m, columns, passes };
                single_test(shape, 0, first.min(1.0 - 1e-12), 1.0)
            })
            .collect();
        bounds.sort_by(f64::total_cmp);
        for (i, p) in bounds.iter().enumerate() {
            // i + 1 of 400 draws had p or less: three deviations are allowed.
            let observed = (i + 1) as f64 / 400.0;
            assert!(observed <= p + 3.0 * (observed / 400.0).sqrt() + 1e-12, "{columns} {passes}: {observed} {p}");
        }
    }
}

#[test]
fn other_samples_and_unusable_values_are_refused() {
    let x = with_values(40, 30, &[2.0, 1.0], 1);
    let exec = Exec::default();
    let mut sketch = Sketch::new(30, 4, 1, false);
    assert_eq!(sketch.end_pass(exec), Err(Error::NoRows));
    read(&mut sketch, &x, 40, exec);
    sketch.update(&x.select_rows(&[0, 1]), exec).unwrap();
    assert_eq!(sketch.end_pass(exec), Err(Error::OtherRows { before: 40, now: 2 }));
    let mut sketch = Sketch::new(30, 4, 1, false);
    assert!(matches!(sketch.update(&Mat::zeros(2, 9), exec), Err(Error::NotAlike { .. })));
    let bad = Mat::from_fn(3, 30, |i, j| if (i, j) == (2, 7) { f64::NAN } else { 1.0 });
    assert_eq!(sketch.update(&bad, exec), Err(Error::OutOfRange { row: 2, column: 7 }));
    assert!(matches!(Sketch::new(30, 4, 1, false).leading(Select::Top(1), exec), Err(Error::NoRows)));
}
