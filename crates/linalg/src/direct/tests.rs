use super::unseen::{CHANCE, PROBES, chance_of};
use super::*;
use crate::certificate::Certificate;
use crate::exec::Quiet;
use crate::sparse::Lines;
use crate::sparse::tests::{Both, prepared, scattered};
use crate::testing::CancelAfter;
use crate::triangle::orthonormalize;
use std::num::NonZero;

/// A matrix with the given singular values, and zero beyond them.
fn with_values(n: usize, m: usize, sigma: &[f64]) -> Mat {
    let rotation = |n: usize, s: f64| {
        orthonormalize(&Mat::from_fn(n, sigma.len(), |i, j| {
            ((i * j) as f64 * 0.37 + s * i as f64 + (i * i) as f64).sin()
        }))
    };
    let (left, right) = (rotation(n, 0.3), rotation(m, 0.7));
    Mat::from_fn(n, m, |i, j| (0..sigma.len()).map(|r| left.at(i, r) * sigma[r] * right.at(j, r)).sum())
}

/// The largest entry of UUᵀ − WWᵀ on a few rows.
fn subspace_distance(u: &Mat, w: &Mat) -> f64 {
    let entry = |a: &Mat, i: usize, j: usize| a.row(i).iter().zip(a.row(j)).map(|(x, y)| x * y).sum::<f64>();
    let some = || (0..u.rows()).step_by(1 + u.rows() / 40);
    some()
        .flat_map(|i| some().map(move |j| (i, j)))
        .map(|(i, j)| (entry(u, i, j) - entry(w, i, j)).abs())
        .fold(0.0, f64::max)
}

fn agrees(x: &dyn Blocks, dense: &Mat, cut: Select) {
    let exact = GramSpectrum::of(dense, Exec::default()).unwrap().by_triangle(cut, Exec::default()).unwrap();
    let found = direct(x, cut, Exec::default()).unwrap();
    assert_eq!(found.solver, "krylov");
    assert_eq!((found.count, found.interval), (exact.count, (exact.count, exact.count)), "{cut:?}");
    assert!(matches!(found.certificate(), Certificate::Probable(p) if p <= CHANCE), "{:?}", found.certificate());
    assert!((found.norm / exact.norm - 1.0).abs() < 1e-12);
    for (a, b) in found.sigma.iter().zip(&exact.sigma).take(found.count) {
        assert!((a - b).abs() <= 1e-11 * exact.sigma[0], "{a} ≠ {b}");
    }
    let of = |l: &Leading<'_>| l.basis(found.count, Exec::default()).unwrap();
    let distance = subspace_distance(&of(&found), &of(&exact));
    assert!(distance < 1e-6, "subspaces distance by {distance:e}");
}

#[test]
fn dense_matrices_agree_with_the_full_decomposition_on_both_sides() {
    let sigma: Vec<f64> = (0..200).map(|j| 10.0 / (1.0 + f64::from(j)).powf(0.8)).collect();
    for (n, m) in [(800, 600), (600, 800)] {
        let x = with_values(n, m, &sigma);
        agrees(&x, &x, Select::Above(0.5 * (sigma[11] + sigma[12])));
        agrees(&x, &x, Select::Top(5));
        agrees(&x, &x, Select::Energy(0.7));
    }
}

#[test]
fn sparse_matrices_agree_with_the_dense_one_and_are_never_read_row_by_row() {
    for (n, m) in [(700, 600), (600, 700)] {
        let low = with_values(n, m, &[40.0, 30.0, 25.0, 20.0]);
        let holes = scattered(n, m, 0.05);
        let x =
            Mat::from_fn(n, m, |i, j| if holes.at(i, j) == 0.0 { 0.0 } else { 20.0 * low.at(i, j) + holes.at(i, j) });
        for both in prepared(&x) {
            let all = crate::singular_values(&both.dense, Exec::default()).unwrap();
            agrees(&both, &both.dense, Select::Above(0.5 * (all[0] + all[1])));
        }
    }
}

#[test]
fn more_equal_values_than_a_block_holds_are_all_found() {
    // 40 equal values above the cut, four near it, the rest below. The dense matrix is never read.
    let value = |j: usize| {
        if j < 40 {
            3.0
        } else if j < 44 {
            2.0
        } else {
            0.9 / (1.0 + j as f64 / 100.0)
        }
    };
    let mut diagonal = Lines::new(3000);
    (0..3100).for_each(|i| diagonal.push((i < 3000).then(|| (i, value(i)))));
    let both = Both { sparse: diagonal.into(), dense: Mat::zeros(3100, 3000), readable: false };
    let found = direct(&both, Select::Above(1.5), Exec::default()).unwrap();
    assert_eq!((found.count, found.interval, found.solver), (44, (44, 44), "krylov"));
    assert!(matches!(found.certificate(), Certificate::Probable(_)));
    assert!(found.sigma[..40].iter().all(|s| (s - 3.0).abs() < 1e-12));
}

#[test]
fn a_missed_value_is_detected_and_added() {
    let sigma: Vec<f64> = (0..200).map(|j| if j < 6 { 5.0 - 0.1 * f64::from(j) } else { 2.0 / f64::from(j) }).collect();
    let x = with_values(700, 600, &sigma);
    let search = Direct::of(&x, Exec::default()).unwrap();
    let whole = krylov::leading(&search.a, Until::Above(9.0), search.rounding, Exec::default()).unwrap().unwrap();
    let vectors = whole.vectors.transposed().into_vec();
    for missed in 0..6 {
        let mut pairs = Pairs { values: whole.values[..6].to_vec(), vectors: vectors[..6 * 600].to_vec() };
        assert!(search.count_above(3.0, &pairs, Exec::default()).unwrap().is_some());
        pairs.values.remove(missed);
        pairs.vectors.drain(missed * 600..(missed + 1) * 600);
        assert!(search.count_above(3.0, &pairs, Exec::default()).unwrap().is_none(), "value {missed} is not missed");
        assert!(search.add_missed(3.0, &mut pairs, Exec::default()).unwrap());
        let bounds = search.count_above(3.0, &pairs, Exec::default()).unwrap().unwrap();
        assert_eq!((bounds.low, bounds.high), (6, 6));
        assert!(pairs.values.windows(2).all(|w| w[0] >= w[1]));
    }
}

#[test]
fn a_value_at_the_cut_gives_an_interval() {
    let sigma: Vec<f64> = (0..160).map(|j| 8.0 / (1.0 + f64::from(j))).collect();
    let x = with_values(700, 600, &sigma);
    let found = direct(&x, Select::Above(sigma[4]), Exec::default()).unwrap();
    assert_eq!((found.certificate(), found.solver), (Certificate::Interval(4, 5), "krylov"));
}

#[test]
fn the_chance_falls_with_every_block_and_rises_towards_the_cut() {
    let chance = |ratio: f64, s| chance_of(ratio, 1.0, s, 1000);
    assert_eq!(chance(0.9, 1), 1.0);
    assert!((10..20).all(|s| chance(0.9, s + 1) < 0.1 * chance(0.9, s)));
    assert!(chance(0.5, 12) < chance(0.8, 12) && chance(0.8, 12) < chance(0.9, 12));
    // By hand, T₁(x) = x: η² = ½ / (½·3²) for ξ = ½ and two blocks; 64 blocks in 4 rounds are 256 tests.
    let one = (1.0f64 / 9.0).sqrt() * (2.0 * 2.0 / std::f64::consts::PI).sqrt();
    assert!((chance_of(0.5, 1.0, 2, 2) / (256.0 * one.powi(PROBES as i32)) - 1.0).abs() < 1e-12);
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let [_, both, ..] = prepared(&scattered(900, 700, 0.05));
    let cut = Select::Top(4);
    let with = |x: &dyn Blocks, threads| {
        let found = direct(x, cut, Exec::new(NonZero::new(threads), &Quiet)).unwrap();
        (found.sigma, found.vectors, found.chance)
    };
    for x in [&both as &dyn Blocks, &both.dense] {
        assert_eq!(with(x, 1), with(x, 2));
        assert_eq!(with(x, 1), with(x, 4));
    }
}

#[test]
fn a_cancelled_search_ends_early() {
    let x = scattered(900, 700, 0.05);
    let monitor = CancelAfter::reports(3);
    let stopped = direct(&x, Select::Top(4), Exec::new(NonZero::new(1), &monitor));
    assert_eq!(stopped.err(), Some(Error::Cancelled));
    assert!(monitor.reported() < 10);
}
