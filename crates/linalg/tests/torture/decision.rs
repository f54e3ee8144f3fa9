//! The number of values above the cut, by every method: P1 to P4, P16, P20.
//!
//! k(λ) = #{λσ² > 1} = #{σ > τ} with τ = 1/√λ.

use super::built::{Random, exact, reflected, with_gap};
use super::methods::{METHODS, Method, compress};
use super::scaled::Scaled;
use eigenspan_linalg::Mat;
use eigenspan_linalg::certificate::Certificate;
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::{GramSpectrum, Leading, Select};

/// argmin_r r + λΣ_{i>r}σᵢ² for integer σ and λ = 1/τ², times τ², in integers; the smallest r on ties.
fn least_cost(sigma: &[u64], tau: u64) -> usize {
    let square = |s: u64| u128::from(s) * u128::from(s);
    let cost = |r: usize| r as u128 * square(tau) + sigma[r..].iter().map(|s| square(*s)).sum::<u128>();
    (0..=sigma.len()).min_by_key(|r| cost(*r)).unwrap()
}

/// Diagonals of integers, in descending order, with ties.
fn diagonals() -> Vec<Vec<u64>> {
    vec![
        vec![16, 8, 4, 4, 4, 2, 1, 0],
        vec![40, 30, 20, 10, 10, 5, 2, 1, 0],
        vec![7; 6],
        vec![1 << 26, (1 << 26) - 1, 1 << 25, 3, 1],
    ]
}

/// The values times 2^`exponent`, in a scrambled order.
fn diagonal(sigma: &[u64], exponent: i32) -> Scaled {
    let n = sigma.len();
    assert!(!(n + 2).is_multiple_of(3), "3j + 1 names every row once");
    Scaled::new(Mat::from_fn(n + 2, n, |i, j| {
        if (3 * j + 1) % (n + 2) == i { times_power_of_two(sigma[j] as f64, exponent) } else { 0.0 }
    }))
}

#[test]
fn p1_p2_p4_k_has_the_least_cost_at_every_scale() {
    for sigma in &diagonals() {
        let taus = sigma.iter().flat_map(|s| [s.saturating_sub(1), *s, s + 1]).filter(|t| *t > 0);
        for tau in taus {
            let best = least_cost(sigma, tau);
            let tied = sigma.contains(&tau);
            for exponent in [-1040, -997, -60, 0, 60, 970, 997] {
                let x = diagonal(sigma, exponent);
                let cut = Select::Above(times_power_of_two(tau as f64, exponent));
                for method in [Method::Leading, Method::Dense, Method::Triangle] {
                    let Some(answer) = method.run(&compress(&x), cut) else { continue };
                    let what =
                        format!("{method:?} {sigma:?} 2^{exponent} at {tau}: {}, {:?}", answer.count, answer.interval);
                    let (low, high) = answer.interval;
                    assert!((low..=high).contains(&best), "{what}, not {best}");
                    assert_eq!(answer.count, best, "{what}");
                    assert_eq!(tied, answer.certificate() != Certificate::Proved, "{what}");
                }
            }
        }
    }
}

#[test]
fn p3_k_grows_with_lambda() {
    let sigma: Vec<f64> = (0..40).map(|i| 10f64.powf(1.0 - 0.4 * f64::from(i))).collect();
    let x = Scaled::new(reflected((70, 40), &sigma, 3).x);
    let compressed = compress(&x);
    let lambdas = (0..50).map(|i| f64::from(2 * i + 1)).chain((-30..=30).map(|e| 10f64.powi(e)));
    for method in [Method::Leading, Method::Dense] {
        let mut lambdas: Vec<f64> = lambdas.clone().collect();
        lambdas.sort_by(f64::total_cmp);
        let answers = lambdas.iter().filter_map(|l| method.run(&compressed, Select::Above(1.0 / l.sqrt())));
        let counts: Vec<usize> = answers.map(|a| a.count).collect();
        assert!(counts.len() > 20 && counts.is_sorted(), "{method:?}: {counts:?}");
        assert!(counts[0] == 0 && counts[counts.len() - 1] > 2);
    }
}

#[test]
fn p16_every_cut_in_the_gap_finds_the_planted_rank() {
    for (seeds, (n, m), methods) in [
        (10, (60, 40), &[Method::Leading, Method::Dense][..]),
        (10, (40, 70), &[Method::Triangle, Method::Dense]),
        (2, (430, 400), &[Method::Krylov, Method::Dense]),
    ] {
        for seed in 0..seeds {
            let mut random = Random(seed);
            let mut x = reflected((n, m), &with_gap(4, 4, 0.0), seed).x;
            let noise = 0.2 / ((n as f64).sqrt() + (m as f64).sqrt());
            x.as_mut_slice().iter_mut().for_each(|v| *v += noise * random.normal());
            let compressed = compress(&x);
            let sigma = compressed.by_triangle(Select::Top(5), super::methods::exec()).unwrap().sigma;
            assert!(sigma[3] > 1.0 && sigma[4] < 0.3);
            for part in [0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999] {
                let cut = Select::Above(sigma[4] + part * (sigma[3] - sigma[4]));
                for method in methods {
                    let answer = method.run(&compressed, cut).unwrap_or_else(|| panic!("{method:?} declines"));
                    assert_eq!(
                        (answer.count, answer.certificate()),
                        (4, Certificate::Proved),
                        "{method:?}, seed {seed}"
                    );
                }
            }
        }
    }
}

/// Matrices whose values are exact integers, and a value near which the cut is placed.
fn planted() -> Vec<(Mat, Vec<f64>, f64, &'static [Method])> {
    let falling = |n: usize| -> Vec<f64> { (0..n).map(|i| (4000 / (i + 1)) as f64).collect() };
    let double = |n: usize| -> Vec<f64> { (0..n).map(|i| (4000 / (i / 2 + 1)) as f64).collect() };
    let dense: &[Method] = &[Method::Dense, Method::Triangle];
    vec![
        (exact((70, 33), &falling(33), 1), falling(33), 800.0, dense),
        (exact((33, 70), &falling(33), 2), falling(33), 4000.0, dense),
        (exact((64, 64), &double(64), 3), double(64), 400.0, dense),
        (exact((300, 130), &falling(130), 4), falling(130), 333.0, dense),
        (exact((430, 400), &falling(400), 5), falling(400), 800.0, &METHODS),
        (exact((400, 430), &double(400), 6), double(400), 1000.0, &METHODS),
    ]
}

#[test]
fn the_planted_values_are_exact() {
    // (XᵀX)e = V D² Vᵀe, so everything is an integer after scaling: the sum of squares shows whether anything was
    // rounded.
    for (x, values, ..) in planted() {
        let found: f64 = x.as_slice().iter().map(|v| v * v).sum();
        let expected: f64 = values.iter().map(|v| v * v).sum();
        assert_eq!(found, expected);
        let step = 2f64.powi(-16);
        assert!(x.as_slice().iter().all(|v| (v / step).fract() == 0.0));
    }
}

#[test]
fn p20_counts_are_proved_exactly_outside_the_margin() {
    for (x, values, value, methods) in planted() {
        let compressed = compress(&x);
        for &method in methods {
            // Beside the value, not at it: Krylov's method may decline a cut inside a pair.
            let Some(at) = method.run(&compressed, Select::Above(value * (1.0 + 1e-6))) else {
                assert_eq!(method, Method::Krylov, "only Krylov may decline");
                continue;
            };
            assert!(at.margin > 0.0 && at.margin < 1e-6, "{method:?}: {:e}", at.margin);
            for side in [-1.0, 1.0] {
                let what = format!("{method:?}, {} x {}, beside {value} on {side}", x.rows(), x.cols());
                for share in [0.0, 0.01, 0.25, 0.5] {
                    let tau = value / (1.0 + side * share * at.margin);
                    makes_no_false_claim(&compressed, method, tau, &values, &what);
                }
                for share in [1.25, 2.0, 20.0, 1e3] {
                    let tau = value / (1.0 + side * share * at.margin);
                    let answer =
                        method.run(&compressed, Select::Above(tau)).unwrap_or_else(|| panic!("{what}: declined"));
                    let result = format!(
                        "{what}, {share} margins of {:e}: {:?}, {:e}",
                        at.margin, answer.interval, answer.margin
                    );
                    // Krylov stops at another step for another cut: its margin is that of the answer.
                    let decided = (value / tau - 1.0).abs() > answer.margin;
                    assert!(decided || share < 1e3 && answer.solver == "gram-krylov", "{result}");
                    let above = values.iter().filter(|v| **v > tau).count();
                    let right = (answer.count, answer.certificate()) == (above, Certificate::Proved);
                    assert!(right || !decided, "{result}, not {above} proved");
                }
            }
        }
    }
}

#[test]
fn p20_a_cluster_at_the_cut_is_an_interval() {
    const VALUE: f64 = 800.0;
    for (shape, method) in [
        ((70, 33), Method::Dense),
        ((33, 70), Method::Dense),
        ((430, 400), Method::Dense),
        ((400, 430), Method::Leading),
    ] {
        // Four above, six at the cut, the rest well below.
        let at = |i: usize| if (4..10).contains(&i) { VALUE } else { (4000 / (i + 1)) as f64 };
        let values: Vec<f64> = (0..shape.0.min(shape.1)).map(at).collect();
        let x = exact(shape, &values, 7);
        let compressed = compress(&x);
        let margin = method.run(&compressed, Select::Above(VALUE * (1.0 + 1e-6))).expect("nothing is near").margin;
        for share in [-0.5, -0.25, 0.0, 0.25, 0.5] {
            let (tau, what) = (VALUE / (1.0 + share * margin), format!("{method:?}, {shape:?}, {share} margins"));
            let answer = method.run(&compressed, Select::Above(tau)).unwrap_or_else(|| panic!("{what}: declined"));
            assert!(answer.solver.starts_with("gram"), "{what}: {}", answer.solver);
            makes_no_false_claim(&compressed, method, tau, &values, &what);
            if share == 0.0 {
                assert_eq!(answer.certificate(), Certificate::Interval(4, 10), "{what}");
            }
        }
        // The same cluster, cut by number: the fifth of six equal values is no better than the sixth.
        let answer = method.run(&compressed, Select::Top(5)).expect("the dense method answers");
        assert_eq!((answer.count, answer.certificate()), (5, Certificate::Interval(4, 10)), "{method:?}, {shape:?}");
    }
}

fn makes_no_false_claim(x: &GramSpectrum<'_>, method: Method, tau: f64, values: &[f64], what: &str) {
    let Some(answer) = method.run(x, Select::Above(tau)) else { return };
    let above = values.iter().filter(|v| **v > tau).count();
    let Leading { count, interval: (low, high), .. } = answer;
    assert!((low..=high).contains(&above), "{what}: {low}..={high}, not {above}");
    let proved = answer.certificate() == Certificate::Proved;
    assert!(!proved || count == above, "{what}: {count} proved, {above} true");
}
