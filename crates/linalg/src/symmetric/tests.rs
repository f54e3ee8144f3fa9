//! Laws that every result satisfies, on matrices that are hard in known ways.

use std::f64::consts::PI;
use std::num::NonZero;

use super::*;
use crate::exec::Quiet;
use crate::scale::times_power_of_two;
use crate::testing::CancelAfter;

const EPS: f64 = f64::EPSILON;

fn one() -> Exec<'static> {
    Exec::new(NonZero::new(1), &Quiet)
}

/// Deterministic pseudo-random numbers in ±1.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// H diag(d) H with a random reflection H.
fn reflected(d: &[f64], seed: u64) -> Mat {
    let mut next = noise(seed);
    let p = d.len();
    let v: Vec<f64> = (0..p).map(|_| next()).collect();
    let scale = 2.0 / v.iter().map(|v| v * v).sum::<f64>();
    let h = |i: usize, j: usize| f64::from(u8::from(i == j)) - scale * v[i] * v[j];
    let lower = |i: usize, j: usize| (0..p).map(|l| h(i, l) * d[l] * h(l, j)).sum::<f64>();
    let g = Mat::from_fn(p, p, |i, j| if j <= i { lower(i, j) } else { 0.0 });
    Mat::from_fn(p, p, |i, j| g.at(i.max(j), i.min(j)))
}

/// Gram matrix of noise whose columns decay like 1 / j.
fn gram(p: usize) -> Mat {
    let mut next = noise(p as u64);
    let a = Mat::from_fn(p + 20, p, |_, j| next() / (j + 1) as f64);
    let mixed = reflected(&vec![1.0; p], 3);
    let b = Mat::from_fn(p + 20, p, |i, j| (0..p).map(|l| a.at(i, l) * mixed.at(l, j)).sum::<f64>());
    Mat::from_fn(p, p, |i, j| (0..p + 20).map(|r| b.at(r, i) * b.at(r, j)).sum())
}

fn tridiagonal(d: &[f64], off: impl Fn(usize) -> f64) -> Mat {
    Mat::from_fn(d.len(), d.len(), |i, j| match i.abs_diff(j) {
        0 => d[i],
        1 => off(i.min(j)),
        _ => 0.0,
    })
}

fn second_difference(p: usize) -> Mat {
    tridiagonal(&vec![2.0; p], |_| -1.0)
}

fn wilkinson(p: usize) -> Mat {
    let d: Vec<f64> = (0..p).map(|i| (i as f64 - (p / 2) as f64).abs()).collect();
    tridiagonal(&d, |_| 1.0)
}

fn two_blocks(block: &Mat) -> Mat {
    let n = block.rows();
    Mat::from_fn(2 * n, 2 * n, |i, j| if i / n == j / n { block.at(i % n, j % n) } else { 0.0 })
}

/// All matrices on which the laws below are tested.
fn zoo() -> Vec<(&'static str, Mat)> {
    let ulps = |i: usize| 1.0 + ((i % 5) as f64 - 2.0) * EPS;
    let clustered: Vec<f64> = (0..70).map(|i| if i < 30 { ulps(i) } else { 1.0 / i as f64 }).collect();
    let two_places: Vec<f64> =
        (0..130usize).map(|i| if i.is_multiple_of(2) { ulps(i) } else { 2.0 * ulps(i) }).collect();
    let rank_one: Vec<f64> = (0..50).map(|i| ((i * i) as f64).sin()).collect();
    let clement = |i: usize| (((i + 1) * (40 - i)) as f64).sqrt() / 40.0;
    let tiny = |i: usize| if i.is_multiple_of(3) { 5e-324 } else { 1e-160 };
    let mut next = noise(8);
    let mut signs = Mat::from_fn(90, 90, |_, _| next());
    signs = Mat::from_fn(90, 90, |i, j| signs.at(i.max(j), i.min(j)));
    vec![
        ("gram 97", gram(97)),
        ("gram 260", gram(260)),
        ("indefinite", signs),
        ("identity", Mat::from_fn(60, 60, |i, j| f64::from(u8::from(i == j)))),
        ("identity, large", Mat::from_fn(130, 130, |i, j| f64::from(u8::from(i == j)))),
        ("zero", Mat::zeros(40, 40)),
        ("rank one", Mat::from_fn(50, 50, |i, j| rank_one[i] * rank_one[j])),
        ("diagonal with ulps", tridiagonal(&clustered, |_| 0.0)),
        ("reflected with ulps", reflected(&clustered, 5)),
        ("two clusters", reflected(&two_places, 6)),
        ("wilkinson 21", wilkinson(21)),
        ("wilkinson 201", wilkinson(201)),
        ("clement", tridiagonal(&[0.0; 41], clement)),
        ("second difference", second_difference(120)),
        ("min", Mat::from_fn(80, 80, |i, j| (i.min(j) + 1) as f64)),
        ("equal blocks", two_blocks(&gram(35))),
        ("denormal off-diagonals", tridiagonal(&[1.0; 30], tiny)),
        ("tiny beside one", tridiagonal(&[1.0, 1e-200, 1e-160, 1e-150, 3e-160], |_| 1e-155)),
        ("one", Mat::from_fn(1, 1, |_, _| -3.0)),
        ("two", tridiagonal(&[1.0, 1.0], |_| 1e-9)),
        ("three", tridiagonal(&[1.0, 2.0, 3.0], |_| 0.5)),
        ("none", Mat::zeros(0, 0)),
    ]
}

/// The ∞-norm of the matrix, at least tiny.
fn size(g: &Mat) -> f64 {
    (0..g.rows()).map(|i| g.row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(1e-300, f64::max)
}

fn assert_pairs(name: &str, g: &Mat, found: &Eigen) {
    let (p, k) = (g.rows(), found.values.len());
    let limit = 10.0 * p as f64 * EPS;
    let v = found.vectors.transposed();
    assert_eq!((v.rows(), v.cols()), (k, p));
    assert!(found.values.windows(2).all(|w| w[0] >= w[1]), "{name}: not sorted");
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for j in 0..k {
        let residual = |i: usize| dot(g.row(i), v.row(j)) - found.values[j] * v.row(j)[i];
        let length = (0..p).map(|i| residual(i).powi(2)).sum::<f64>().sqrt();
        assert!(length <= limit * size(g), "{name}, pair {j} of {k}: residual {length:e}");
        for i in 0..=j {
            let expected = f64::from(u8::from(i == j));
            let off = (dot(v.row(i), v.row(j)) - expected).abs();
            assert!(off <= limit, "{name}, k = {k}: vectors {i} and {j} off by {off:e}");
        }
    }
}

#[test]
fn leading_pairs_are_pairs_with_orthonormal_vectors() {
    for (name, g) in zoo() {
        let p = g.rows();
        let t = tridiagonalize(g.clone(), one()).unwrap();
        for k in [0, 1.min(p), p / 13, p / 4, p / 2, p] {
            assert_pairs(name, &g, &t.leading(k, one()).unwrap());
        }
    }
}

#[test]
fn inverse_iteration_and_divide_and_conquer_agree() {
    for (name, g) in zoo() {
        let (p, size) = (g.rows(), size(&g));
        let t = tridiagonalize(g.clone(), one()).unwrap();
        if p < 4 {
            continue;
        }
        let values = t.divide_and_conquer(p / 2, one()).unwrap().values;
        let found = t.largest(p / 2, one()).unwrap();
        if t.inverse_iteration(&found, one()).unwrap().is_none() {
            assert!(
                name.contains("identity") || name.contains("cluster") || name.contains("zero"),
                "{name} was not done by iteration"
            );
            continue;
        }
        for (a, b) in values.iter().zip(&found) {
            assert!((a - b).abs() <= 4.0 * p as f64 * EPS * size, "{name}: {a} ≠ {b}");
        }
    }
}

#[test]
fn all_values_are_those_of_the_leading_pairs_and_sum_to_the_trace() {
    for (name, g) in zoo() {
        let (p, size) = (g.rows(), size(&g));
        let t = tridiagonalize(g.clone(), one()).unwrap();
        let values = t.values(one()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(values.len(), p);
        assert!(values.windows(2).all(|w| w[0] >= w[1]));
        let trace: f64 = (0..p).map(|i| g.at(i, i)).sum();
        assert!((values.iter().sum::<f64>() - trace).abs() <= 10.0 * p as f64 * EPS * size, "{name}: trace");
        let banded = values_by_band(g, one()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(banded.len(), p);
        assert!(banded.windows(2).all(|w| w[0] >= w[1]));
        for ((a, b), c) in values.iter().zip(&t.leading(p, one()).unwrap().values).zip(&banded) {
            assert!((a - b).abs() <= 4.0 * p as f64 * EPS * size, "{name}: {a} ≠ {b}");
            assert!((a - c).abs() <= 4.0 * p as f64 * EPS * size, "{name}: {a} ≠ {c} by way of a band");
        }
    }
}

#[test]
fn a_band_of_any_length_becomes_tridiagonal() {
    // Panels of 24 columns, blocks of four, and every possible remainder.
    for p in (0..60).chain([71, 72, 73]) {
        let mut next = noise(p as u64);
        let torn = Mat::from_fn(p, p, |i, j| if j <= i { next() } else { f64::NAN });
        let expected = tridiagonalize(torn.clone(), one()).unwrap().values(one()).unwrap();
        let found = values_by_band(torn, one()).unwrap();
        assert_eq!(found.len(), p);
        for (a, b) in expected.iter().zip(&found) {
            assert!((a - b).abs() <= 10.0 * p as f64 * EPS, "{p}: {a} ≠ {b}");
        }
    }
}

#[test]
fn known_values_are_found_to_a_few_eps() {
    for p in [1, 2, 3, 47, 300] {
        let values = tridiagonalize(second_difference(p), one()).unwrap().values(one()).unwrap();
        let banded = values_by_band(second_difference(p), one()).unwrap();
        for (i, value) in values.iter().enumerate().chain(banded.iter().enumerate()) {
            let expected = 4.0 * ((p - i) as f64 * PI / (2 * p + 2) as f64).sin().powi(2);
            assert!((value - expected).abs() <= 40.0 * EPS, "{p}, {i}: {value} ≠ {expected}");
        }
    }
    // A full matrix: min(i, j) has the eigenvalues 1 / (4 sin²((2i − 1)π / (4p + 2))).
    let p = 150;
    let t = tridiagonalize(Mat::from_fn(p, p, |i, j| (i.min(j) + 1) as f64), one()).unwrap();
    let (all, leading) = (t.values(one()).unwrap(), t.leading(p / 3, one()).unwrap().values);
    for i in 0..p {
        let expected = 1.0 / (4.0 * ((2 * i + 1) as f64 * PI / (4 * p + 2) as f64).sin().powi(2));
        for value in std::iter::once(&all[i]).chain(leading.get(i)) {
            assert!((value - expected).abs() <= 2.0 * p as f64 * EPS * all[0], "{i}: {value} ≠ {expected}");
        }
    }
}

#[test]
fn counts_agree_with_the_values_and_never_rise() {
    for (name, g) in zoo() {
        let t = tridiagonalize(g.clone(), one()).unwrap();
        let values = t.values(one()).unwrap();
        let reach = 1.5 * size(&g);
        let mut last = g.rows();
        for step in -100..=100 {
            let x = reach * f64::from(step) / 100.0;
            let count = t.count_above(x);
            assert!(count <= last, "{name}: the count rises at {x}");
            last = count;
            let near = 4.0 * g.rows() as f64 * EPS * size(&g);
            let surely = |x: f64| values.iter().filter(|v| **v > x).count();
            let (most, least) = (surely(x - near), surely(x + near));
            assert!(least <= count && count <= most, "{name}: {count} above {x}, not {least} to {most}");
        }
        assert_eq!((t.count_above(-reach), t.count_above(reach)), (g.rows(), 0), "{name}");
    }
}

#[test]
fn a_value_is_not_above_itself() {
    let t = tridiagonalize(tridiagonal(&[3.0, 1.0, 1.0, 0.0], |_| 0.0), one()).unwrap();
    assert_eq!([3.0, 2.0, 1.0, 0.5, 0.0, -1.0].map(|x| t.count_above(x)), [0, 1, 1, 3, 3, 4]);
}

#[test]
fn only_the_lower_triangle_is_read() {
    let g = gram(70);
    let torn = Mat::from_fn(70, 70, |i, j| if j <= i { g.at(i, j) } else { f64::NAN });
    let (whole, half) = (tridiagonalize(g, one()).unwrap(), tridiagonalize(torn, one()).unwrap());
    assert_eq!(whole.leading(9, one()), half.leading(9, one()));
}

#[test]
fn the_same_bits_come_out_of_any_number_of_threads() {
    // Large enough that the trailing matrix is updated by threads.
    let p = 1100;
    let mut next = noise(4);
    let mut g = Mat::from_fn(p, p, |_, _| next());
    (0..p).for_each(|i| g.row_mut(i)[i] += 30.0 / (i + 1) as f64);
    let with = |threads| {
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        let t = tridiagonalize(g.clone(), exec).unwrap();
        (t.values(one()).unwrap(), t.leading(150, exec).unwrap(), eigenvalues(g.clone(), exec).unwrap())
    };
    let alone = with(1);
    assert!(alone == with(2) && alone == with(4));
}

#[test]
fn the_scale_does_not_matter() {
    let p = 300;
    let g = gram(p);
    for exponent in [-60, 21, 60] {
        let mut scaled = g.clone();
        scaled.as_mut_slice().iter_mut().for_each(|x| *x = times_power_of_two(*x, exponent));
        for k in [p / 4, p] {
            let of = |g: &Mat| tridiagonalize(g.clone(), one()).unwrap().leading(k, one()).unwrap();
            let (plain, reflected) = (of(&g), of(&scaled));
            let values: Vec<f64> = plain.values.iter().map(|x| times_power_of_two(*x, exponent)).collect();
            assert!(values == reflected.values && plain.vectors == reflected.vectors, "2^{exponent}, {k} of {p}");
        }
    }
}

#[test]
fn cancelling_stops_every_step() {
    let g = gram(100);
    let t = tridiagonalize(g.clone(), one()).unwrap();
    for polls in [0, 2] {
        let monitor = CancelAfter::polls(polls);
        let exec = Exec::new(NonZero::new(1), &monitor);
        assert_eq!(tridiagonalize(g.clone(), exec).err(), Some(Error::Cancelled));
        let monitor = CancelAfter::polls(polls);
        let exec = Exec::new(NonZero::new(1), &monitor);
        assert_eq!(values_by_band(g.clone(), exec), Err(Error::Cancelled));
        let monitor = CancelAfter::polls(polls);
        let exec = Exec::new(NonZero::new(1), &monitor);
        assert_eq!(t.leading(20, exec), Err(Error::Cancelled));
    }
}

#[test]
fn what_is_not_finite_is_refused() {
    let mut g = gram(40);
    g.row_mut(30)[7] = f64::NAN;
    assert_eq!(tridiagonalize(g.clone(), one()).err(), Some(Error::NoConvergence { rows: 40, cols: 40 }));
    assert_eq!(values_by_band(g, one()), Err(Error::NoConvergence { rows: 40, cols: 40 }));
}
