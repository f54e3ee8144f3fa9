use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::exec::{Monitor, Quiet};

/// A matrix with the eigenvalues `lambda`: diag(λ) between a few random reflections.
fn with_spectrum(lambda: &[f64]) -> Mat {
    let p = lambda.len();
    let mut g = Mat::from_fn(p, p, |i, j| if i == j { lambda[i] } else { 0.0 });
    let mut random = crate::random::Random::new(7);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..4 {
        // (I − 2vvᵀ) G (I − 2vvᵀ) = G − vwᵀ − wvᵀ with w = 2Gv − 2(vᵀGv)v, for v of length one
        let mut v: Vec<f64> = (0..p).map(|_| random.uniform()).collect();
        let length = dot(&v, &v).sqrt();
        v.iter_mut().for_each(|x| *x /= length);
        let gv: Vec<f64> = (0..p).map(|i| dot(g.row(i), &v)).collect();
        let along = dot(&v, &gv);
        let w: Vec<f64> = gv.iter().zip(&v).map(|(a, b)| 2.0 * (a - along * b)).collect();
        for i in 0..p {
            let (vi, wi) = (v[i], w[i]);
            g.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x -= vi * w[j] + wi * v[j]);
        }
    }
    g
}

fn power_law(p: usize) -> Vec<f64> {
    (1..=p).map(|i| (i as f64).powf(-1.8) * if i == 1 { 16.0 } else { 1.0 }).collect()
}

fn one_thread() -> Exec<'static> {
    Exec::new(NonZero::new(1), &Quiet)
}

fn floor(lambda: &[f64]) -> f64 {
    8.0 * f64::EPSILON * lambda.iter().sum::<f64>()
}

/// Checks all guarantees of a result directly: the correct number of values, each correct, one more past the last,
/// orthonormal vectors, small residuals.
fn check(lambda: &[f64], g: &Mat, found: &Ritz, k: usize, cut: f64) {
    let (p, n) = (lambda.len(), found.values.len());
    assert_eq!(n, k + 1, "{k} selected values and one past them");
    for (value, expected) in found.values.iter().zip(lambda) {
        assert!((value - expected).abs() <= 1e-6 * cut + floor(lambda), "{value} ≠ {expected}");
    }
    for i in 0..n {
        let v: Vec<f64> = (0..p).map(|r| found.vectors.at(r, i)).collect();
        let av: Vec<f64> = (0..p).map(|r| g.row(r).iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
        let residual = av.iter().zip(&v).map(|(a, x)| (a - found.values[i] * x).powi(2)).sum::<f64>().sqrt();
        let most = if i < k { 1e-7 * cut } else { 1e-4 * cut };
        assert!(residual <= most + floor(lambda), "pair {i} of {n}: residual {residual:e} at a cut of {cut:e}");
        for j in 0..=i {
            let dot: f64 = (0..p).map(|r| v[r] * found.vectors.at(r, j)).sum();
            let expected = if i == j { 1.0 } else { 0.0 };
            assert!((dot - expected).abs() <= 100.0 * p as f64 * f64::EPSILON, "({i}, {j}): {dot}");
        }
    }
}

/// A matrix whose `is_matrix` is false: a dense decomposition is no alternative.
struct Products<'a>(Dense<'a>);

impl Operator for Products<'_> {
    fn order(&self) -> usize {
        self.0.order()
    }
    fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        self.0.multiply(v, out, exec)
    }
}

/// Finds the values above `cut` and checks them.
fn all_above(lambda: &[f64], cut: f64) -> Ritz {
    let g = with_spectrum(lambda);
    let found =
        leading(&Products(Dense(&g)), Until::Above(cut), floor(lambda), one_thread()).unwrap().expect("few are above");
    check(lambda, &g, &found, lambda.iter().filter(|v| **v > cut).count(), cut);
    found
}

#[test]
fn all_values_of_a_power_law_above_the_cut_are_found_and_no_other() {
    let lambda = power_law(700);
    for k in [1, 7, 40, 80] {
        let found = all_above(&lambda, 0.5 * (lambda[k - 1] + lambda[k]));
        assert!(found.dimension < 350);
    }
}

#[test]
fn a_value_that_occurs_more_often_than_a_block_is_wide_is_found_every_time() {
    for copies in [WIDTH - 1, WIDTH, 30, 50] {
        let mut lambda: Vec<f64> = (0..900).map(|i| 0.7 / (1 + i) as f64).collect();
        lambda[..copies].fill(1.001);
        lambda[copies..].sort_by(|a, b| b.total_cmp(a));
        all_above(&lambda, 1.0);
        // The same below larger values, and nearly rather than exactly equal.
        lambda[..copies].iter_mut().enumerate().for_each(|(i, v)| *v -= 1e-9 * i as f64);
        (lambda[0], lambda[1]) = (300.0, 20.0);
        all_above(&lambda, 1.0);
        // Among others, well above the cut.
        all_above(&lambda, 0.5 * (lambda[copies + 5] + lambda[copies + 6]));
    }
}

#[test]
fn a_crowd_that_is_hard_to_tell_from_the_rest_is_found_or_given_up() {
    for copies in [WIDTH, 30] {
        let mut lambda: Vec<f64> = (0..900).map(|i| 0.9 * (-(i as f64) / 300.0).exp()).collect();
        lambda[..copies].fill(1.001);
        let g = with_spectrum(&lambda);
        if let Some(found) = leading(&Dense(&g), Until::Above(1.0), floor(&lambda), one_thread()).unwrap() {
            check(&lambda, &g, &found, copies, 1.0);
        }
    }
}

#[test]
fn matrices_of_low_rank_end_in_an_invariant_space() {
    let p = 500;
    for rank in [0, 1, 5, WIDTH, 20] {
        let mut lambda = vec![0.0; p];
        (0..rank).for_each(|i| lambda[i] = 1.0 / (i + 1) as f64);
        let found = all_above(&lambda, 0.01);
        assert!(found.dimension <= 4 * WIDTH, "{rank}: {}", found.dimension);
    }
}

#[test]
fn all_copies_of_a_value_are_found_where_there_are_but_two_values() {
    for (copies, other) in [(30, 0.0), (40, 0.3), (WIDTH, 0.0)] {
        let lambda: Vec<f64> = (0..700).map(|i| if i < copies { 1.0 } else { other }).collect();
        all_above(&lambda, 0.5);
    }
}

#[test]
fn what_is_not_a_number_is_an_error_and_no_endless_search() {
    let mut g = with_spectrum(&power_law(300));
    g.row_mut(3)[5] = f64::NAN;
    assert!(matches!(leading(&Dense(&g), Until::Count(3), 1e-14, one_thread()), Err(Error::NoConvergence { .. })));
}

#[test]
fn the_identity_has_nothing_above_one_and_everything_below() {
    let g = with_spectrum(&[1.0; 300]);
    let found = leading(&Dense(&g), Until::Above(2.0), 1e-13, one_thread()).unwrap().expect("none is above");
    check(&[1.0; 300], &g, &found, 0, 2.0);
    assert!(leading(&Dense(&g), Until::Above(0.5), 1e-13, one_thread()).unwrap().is_none());
}

#[test]
fn a_gap_of_a_millionth_at_the_cut_is_seen() {
    let mut lambda = power_law(700);
    let k = 40;
    let cut = lambda[k];
    lambda[k - 1] = cut * (1.0 + 1e-6);
    all_above(&lambda, cut * (1.0 + 5e-7));
}

#[test]
fn a_number_of_values_or_a_share_of_the_trace_can_be_asked_for() {
    let lambda = power_law(700);
    let trace: f64 = lambda.iter().sum();
    let g = with_spectrum(&lambda);
    for k in [0, 1, 12, 60] {
        let share = lambda[..k].iter().sum::<f64>() / trace - 1e-9;
        for until in [Until::Count(k), Until::Share(share, trace)] {
            let found = leading(&Dense(&g), until, floor(&lambda), one_thread()).unwrap().expect("few are selected");
            check(&lambda, &g, &found, k, lambda[k.max(1) - 1]);
        }
    }
}

#[test]
fn too_many_to_be_worth_it_is_said_early() {
    struct Counted<'a>(Dense<'a>, AtomicUsize);
    impl Operator for Counted<'_> {
        fn order(&self) -> usize {
            self.0.order()
        }
        fn is_matrix(&self) -> bool {
            true
        }
        fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
            self.1.fetch_add(v.len() / self.order(), Ordering::Relaxed);
            self.0.multiply(v, out, exec)
        }
    }
    let p = 600;
    let lambda: Vec<f64> = (0..p).map(|i| 2.0 - i as f64 / p as f64).collect();
    let g = with_spectrum(&lambda);
    let above = [1.5, 1.1, -1.0].map(Until::Above);
    // 150 would fit, but the cost decides.
    for until in above.into_iter().chain([150, 300, p + 1].map(Until::Count)) {
        let operator = Counted(Dense(&g), AtomicUsize::new(0));
        assert!(leading(&operator, until, 1e-13, one_thread()).unwrap().is_none(), "{until:?}");
        // Where the number is given, so is the cost, before anything is multiplied.
        let most = if matches!(until, Until::Count(_)) { 0 } else { p / 4 };
        assert!(operator.1.into_inner() <= most, "{until:?}");
    }
    assert!(leading(&Dense(&g), Until::Share(1.0, 901.0), 1e-13, one_thread()).unwrap().is_none());
}

#[test]
fn a_search_is_not_given_up_near_its_end() {
    // A few more than where a dense decomposition would be the better choice, detected when half the work is done.
    let (lambda, k) = (power_law(600), 102);
    let cut = (lambda[k - 1] * lambda[k]).sqrt();
    let g = with_spectrum(&lambda);
    let found = leading(&Dense(&g), Until::Above(cut), floor(&lambda), one_thread()).unwrap().expect("an answer");
    check(&lambda, &g, &found, k, cut);
}

#[test]
fn the_bits_are_the_same_for_any_number_of_threads() {
    let lambda = power_law(1100); // more than one stripe, more than one piece
    let g = with_spectrum(&lambda);
    let with = |threads| {
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        let found = leading(&Dense(&g), Until::Above(lambda[50]), floor(&lambda), exec).unwrap().unwrap();
        (found.values, found.residuals, found.vectors)
    };
    assert!(with(1) == with(2));
    assert!(with(1) == with(4));
}

#[test]
fn a_product_cut_into_pieces_is_the_same_product() {
    let (m, n, k) = (2000, 40, 400);
    assert!(m * n * k > 2 * PIECE);
    let left = faer::Mat::from_fn(m, k, |i, j| ((i * 3 + j * 7) as f64 * 0.11).sin());
    let right = faer::Mat::from_fn(k, n, |i, j| ((i * 5 + j) as f64 * 0.13).cos());
    let whole = &left * &right;
    let with = |threads| {
        let mut out = faer::Mat::zeros(m, n);
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        product(out.as_mut(), Accum::Replace, left.as_ref(), right.as_ref(), 1.0, exec).unwrap();
        out
    };
    assert!(with(1) == with(4));
    assert!((with(1) - whole).norm_max() < 1e3 * f64::EPSILON);
}

#[test]
fn it_stops_when_asked_and_says_how_far_it_is() {
    #[derive(Default)]
    struct After(AtomicUsize);
    impl Monitor for After {
        fn progress(&self, stage: &'static str, done: usize, total: usize) {
            assert!(stage == "converge" && done < total, "{stage}: {done} of {total}");
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= 3
        }
    }
    let lambda = power_law(700);
    let g = with_spectrum(&lambda);
    let monitor = After::default();
    let result = leading(&Dense(&g), Until::Above(lambda[40]), 1e-14, Exec::new(NonZero::new(2), &monitor));
    assert!(matches!(result, Err(Error::Cancelled)));
    assert_eq!(monitor.0.into_inner(), 3);
}
