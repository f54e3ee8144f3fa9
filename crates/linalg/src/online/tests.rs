use std::num::NonZero;

use super::*;
use crate::exec::Quiet;
use crate::random::Random;
use crate::spectrum::Select;
use crate::svd::values;
use crate::testing::{CancelAfter, orthonormality_error, rows_of};

/// Samples whose singular values decay like 1/j, about an offset.
fn samples(n: usize, m: usize, offset: f64, seed: u64) -> Mat {
    let mut random = Random::new(seed);
    Mat::from_fn(n, m, |_, j| offset + random.normal_pair()[0] / (1 + j) as f64)
}

fn kind(m: usize, rank: usize, block: usize, forget: f64, centered: bool) -> OnlineKind {
    OnlineKind { block, ..OnlineKind::new(m, rank, forget, centered) }
}

fn fed(kind: OnlineKind, x: &Mat, chunk: usize) -> Online {
    let mut online = Online::new(kind).unwrap();
    for from in (0..x.rows()).step_by(chunk) {
        online.update(&rows_of(x, from..(from + chunk).min(x.rows())), Exec::default()).unwrap();
    }
    assert_eq!(online.rows(), x.rows());
    online
}

/// Y: row i is fⁿ⁻ⁱ·(xᵢ − μ), μ by the squares of these weights.
fn weighted(x: &Mat, forget: f64, centered: bool) -> (Mat, Vec<f64>) {
    let (n, m) = (x.rows(), x.cols());
    let factor = |i: usize| forget.powi((n - 1 - i) as i32);
    let total: f64 = (0..n).map(|i| factor(i).powi(2)).sum();
    let mean =
        |j: usize| (0..n).map(|i| factor(i).powi(2) * (x.at(i, j) - x.at(0, j))).sum::<f64>() / total + x.at(0, j);
    let mean: Vec<f64> = (0..m).map(|j| if centered { mean(j) } else { 0.0 }).collect();
    (Mat::from_fn(n, m, |i, j| factor(i) * (x.at(i, j) - mean[j])), mean)
}

/// With capacity for every direction nothing is discarded, and any blocks give the decomposition of the weighted rows.
#[test]
fn with_full_rank_it_is_the_svd_of_the_weighted_rows() {
    for (n, m) in [(150, 12), (9, 30), (40, 1), (1, 5)] {
        let x = samples(n, m, 0.5, 3);
        for (forget, centered) in [(1.0, false), (1.0, true), (0.95, false), (0.95, true)] {
            let (y, mean) = weighted(&x, forget, centered);
            let exact = values(&y).unwrap();
            for (block, chunk) in [(1, 1), (3, 2), (12, 5), (m, n)] {
                let what = format!("{n} × {m}, f = {forget}, centered {centered}, blocks of {block}");
                let found = fed(kind(m, m, block, forget, centered), &x, chunk).closed(Exec::default()).unwrap();
                // Rounding of the decomposition, once per update.
                let tolerance = 4.0 * (n + m) as f64 * f64::EPSILON * exact[0].max(f64::EPSILON);
                for (i, s) in exact.iter().enumerate() {
                    let got = found.sigma.get(i).copied().unwrap_or(0.0);
                    assert!((s - got).abs() <= tolerance, "{what}: σ_{i} {s} and {got}");
                }
                assert!(
                    found.discarded.energy <= (n as f64) * tolerance * tolerance,
                    "{what}: discarded {:e}",
                    found.discarded.energy
                );
                assert!(orthonormality_error(&found.basis) <= 100.0 * f64::EPSILON, "{what}");
                let total: f64 = (0..n).map(|age| forget.powi(2 * age as i32)).sum();
                assert!((found.weight / total - 1.0).abs() < 1e-13, "{what}: weight {}", found.weight);
                for (a, b) in found.mean.iter().flat_map(|[high, _]| high).zip(&mean) {
                    assert!((a - b).abs() < 1e-14, "{what}: mean {a} and {b}");
                }
            }
        }
    }
}

/// YᵀY − UΣ²Uᵀ = D: no negative eigenvalue, and its trace and norm are as stored.
#[test]
fn the_discarded_part_is_exact_to_rounding() {
    for (forget, centered, block) in [(1.0, false, 1), (1.0, true, 4), (0.98, false, 7), (0.98, true, 1)] {
        let x = samples(200, 12, 0.3, 5);
        let (y, _) = weighted(&x, forget, centered);
        let found = fed(kind(12, 4, block, forget, centered), &x, 17).closed(Exec::default()).unwrap();
        let u = &found.basis;
        let retained = |i, j| (0..4).map(|l| u.at(i, l) * found.sigma[l].powi(2) * u.at(j, l)).sum::<f64>();
        let entry = |i, j| (0..200).map(|r| y.at(r, i) * y.at(r, j)).sum::<f64>() - retained(i, j);
        let d = Mat::from_fn(12, 12, entry);
        let (trace, size) = ((0..12).map(|i| d.at(i, i)).sum::<f64>(), values(&d).unwrap()[0]);
        let rounding = 1e-12 * found.energy();
        assert!((trace - found.discarded.energy).abs() < rounding, "{trace} and {}", found.discarded.energy);
        assert!(
            size <= found.discarded.top + rounding && size > 0.01 * found.discarded.top,
            "{size} and {}",
            found.discarded.top
        );
        let shifted = Mat::from_fn(12, 12, |i, j| d.at(i, j) + if i == j { 2.0 * size } else { 0.0 });
        let least = values(&shifted).unwrap()[11] - 2.0 * size;
        assert!(least > -rounding, "the least eigenvalue of the discarded part is {least}");
    }
}

/// σ̂² ≤ σ² ≤ σ̂² + δ², and the interval holds the true count at every cut.
#[test]
fn the_bounds_hold_and_are_informative() {
    let (mut wide, mut tight) = (0, 0);
    for (rank, block, forget) in [(3, 1, 1.0), (6, 6, 1.0), (6, 1, 0.99), (10, 10, 1.0)] {
        for centered in [false, true] {
            let x = samples(300, 14, 0.2, 9);
            let exact = values(&weighted(&x, forget, centered).0).unwrap();
            let found = fed(kind(14, rank, block, forget, centered), &x, 300).closed(Exec::default()).unwrap();
            let top = found.discarded.top.min(found.discarded.energy);
            for (i, s) in exact.iter().enumerate() {
                let known = found.sigma.get(i).map_or(0.0, |s| s * s);
                let rounding = 1e-12 * exact[0] * exact[0];
                assert!(known <= s * s + rounding && s * s <= known + top + rounding, "σ_{i} = {s}: {known} + {top}");
            }
            for step in 0..60 {
                let tau = exact[0] * 0.93f64.powi(step);
                let (low, high) = found.leading(Select::Above(tau), block).interval;
                let count = exact.iter().filter(|s| **s > tau).count();
                assert!(low <= count && count <= high, "{count} above {tau}: {low} to {high}");
                if low < high { wide += 1 } else { tight += 1 }
            }
            let energy: f64 = exact.iter().map(|s| s * s).sum();
            for share in [0.3, 0.5, 0.6, 0.7] {
                let enough = |k: &usize| exact[..*k].iter().map(|s| s * s).sum::<f64>() >= share * energy;
                let fewest = (0..=14).find(enough).unwrap();
                let (low, high) = found.leading(Select::Energy(share), block).interval;
                let carried = found.sigma.iter().map(|s| s * s).sum::<f64>() / energy;
                assert!(
                    low <= fewest && (fewest <= high || carried < share),
                    "{fewest} carry {share}: {low} to {high}"
                );
            }
        }
    }
    // Cuts go down to a hundredth of σ₁, far below the discarded values, so that most intervals are wide; above, they
    // are narrow.
    assert!(wide > 20 && tight > 50, "{wide} wide, {tight} tight");
}

#[test]
fn bits_depend_neither_on_chunks_nor_on_threads() {
    let x = samples(100, 20, 0.1, 2);
    for centered in [false, true] {
        let kind = kind(20, 5, 8, 0.99, centered);
        let expected = fed(kind, &x, 100);
        for chunk in [1, 3, 8, 50] {
            assert_eq!(fed(kind, &x, chunk), expected, "chunks of {chunk}");
        }
        for threads in [1, 3] {
            let (mut online, exec) = (Online::new(kind).unwrap(), Exec::new(NonZero::new(threads), &Quiet));
            online.update(&x, exec).unwrap();
            assert_eq!(online, expected);
            assert_eq!(online.closed(exec).unwrap(), expected.closed(Exec::default()).unwrap());
        }
        let mut again = Online::resume(kind, fed(kind, &rows_of(&x, 0..43), 43).state().clone()).unwrap();
        again.update(&rows_of(&x, 43..100), Exec::default()).unwrap();
        assert_eq!(again, expected, "a resumed state continues exactly");
    }
}

/// Each update rounds by a few eps; without reorthonormalization the errors add up.
#[test]
fn directions_are_orthonormal_after_a_hundred_thousand_updates() {
    let (mut random, m) = (Random::new(11), 24);
    let exec = Exec::new(NonZero::new(1), &Quiet);
    let mut online = Online::new(kind(m, 6, 1, 0.9999, false)).unwrap();
    for _ in 0..100 {
        let some = Mat::from_fn(1000, m, |_, j| random.normal_pair()[0] * 0.3f64.powi(j as i32 % 7));
        online.update(&some, exec).unwrap();
    }
    let state = online.state();
    assert_eq!((state.updates, state.sigma.len()), (100_000, 6));
    assert!(
        orthonormality_error(&state.basis) <= 20.0 * f64::EPSILON,
        "off by {:e}",
        orthonormality_error(&state.basis)
    );
    // Σ f²ᵃᵍᵉ = (1 − f²ⁿ)/(1 − f²).
    let total = (1.0 - 0.9999f64.powi(200_000)) / (1.0 - 0.9999f64.powi(2));
    assert!((state.weight / total - 1.0).abs() < 1e-9, "{} and {total}", state.weight);
}

#[test]
fn copies_zeros_and_tiny_directions_do_no_harm() {
    let base = samples(3, 10, 0.0, 7);
    let x =
        Mat::from_fn(
            60,
            10,
            |i, j| if i % 4 == 3 { 0.0 } else { base.at(i % 4, j) * 1e-9f64.powi(i32::from(i % 4 == 2)) },
        );
    let exact = values(&x).unwrap();
    for block in [1, 2, 10] {
        let found = fed(kind(10, 10, block, 1.0, false), &x, 60).closed(Exec::default()).unwrap();
        assert_eq!(found.sigma.len(), 3, "{:?}", found.sigma);
        assert!(found.sigma.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-13 * exact[0]));
        assert!(orthonormality_error(&found.basis) < 100.0 * f64::EPSILON);
    }
    let nothing = fed(kind(10, 4, 2, 1.0, false), &Mat::zeros(5, 10), 5).closed(Exec::default()).unwrap();
    assert_eq!((nothing.rows, nothing.sigma.len(), nothing.discarded.energy), (5, 0, 0.0));
}

#[test]
fn a_large_offset_costs_few_digits() {
    let x = samples(120, 6, 1e8, 4);
    let exact = values(&weighted(&x, 1.0, true).0).unwrap();
    let found = fed(kind(6, 6, 5, 1.0, true), &x, 120).closed(Exec::default()).unwrap();
    // The values themselves are rounded by 1e-8, and so is every block's difference from the mean before.
    assert!(found.sigma.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-6), "{:?}, {exact:?}", found.sigma);
}

#[test]
fn a_refused_or_cancelled_chunk_changes_nothing() {
    let x = samples(40, 8, 0.1, 6);
    let before = fed(kind(8, 4, 4, 0.99, true), &rows_of(&x, 0..18), 18);
    let more = rows_of(&x, 18..40);
    let mut expected = before.clone();
    expected.update(&more, Exec::default()).unwrap();
    for (row, value) in [(0, f64::NAN), (21, f64::INFINITY), (1, 1e80)] {
        let (mut bad, mut online) = (more.clone(), before.clone());
        bad.row_mut(row)[3] = value;
        assert_eq!(online.update(&bad, Exec::default()), Err(Error::OutOfRange { row: 18 + row, column: 3 }));
        let one = rows_of(&bad, row..row + 1);
        assert_eq!(online.update(&one, Exec::default()), Err(Error::OutOfRange { row: 18, column: 3 }));
        assert_eq!(online, before);
    }
    let mut cancelled = 0;
    for polls in 0..100 {
        let (mut online, monitor) = (before.clone(), CancelAfter::polls(polls));
        if online.update(&more, Exec::new(NonZero::new(1), &monitor)).is_err() {
            cancelled += 1;
            assert_eq!(online, before);
        } else {
            assert_eq!(online, expected);
        }
    }
    assert!(cancelled > 3);
}

#[test]
fn an_invalid_state_is_refused() {
    let x = samples(30, 6, 0.1, 8);
    let good = fed(kind(6, 3, 3, 0.9, true), &x, 30);
    let refused = |kind: OnlineKind, change: &dyn Fn(&mut OnlineState)| {
        let mut state = good.state().clone();
        change(&mut state);
        matches!(Online::resume(kind, state), Err(Error::NoStart(_)))
    };
    let usual = good.kind();
    assert!(!refused(usual, &|_| ()));
    for forget in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(refused(OnlineKind { forget, ..usual }, &|_| ()), "{forget}");
    }
    assert!(refused(OnlineKind { rank: 0, ..usual }, &|_| ()) && refused(OnlineKind { block: 0, ..usual }, &|_| ()));
    assert!(refused(OnlineKind { centered: false, ..usual }, &|_| ()));
    assert!(refused(usual, &|s| s.sigma.reverse()) && refused(usual, &|s| s.sigma.truncate(2)));
    assert!(refused(usual, &|s| s.basis = Mat::zeros(5, 3)) && refused(usual, &|s| s.weight = f64::NAN));
    assert!(refused(usual, &|s| s.discarded.top = -1.0) && refused(usual, &|s| s.waiting = vec![0.0; 5]));
}
