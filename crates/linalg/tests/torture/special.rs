//! The rows about one matrix each: R8, R14 to R17.

use super::built::{Random, ULP, lapack, reflected};
use super::cases::Case;
use super::classics::{graded, lauchli, pascal};
use super::double::{Double, decompose};
use super::methods::{METHODS, Method, compress, exec};
use super::scaled::Scaled;
use eigenspan_linalg::certificate::Certificate;
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::Select;
use eigenspan_linalg::{Mat, singular_values};

/// Correct digits of `found`.
fn digits(found: f64, truth: f64) -> f64 {
    -((found - truth).abs() / truth).max(1e-17).log10()
}

fn times_two(x: &Mat, p: i32) -> Mat {
    Mat::from_fn(x.rows(), x.cols(), |i, j| times_power_of_two(x.at(i, j), p))
}

#[test]
fn r8_a_power_of_two_moves_no_bit() {
    for (shape, method) in [
        ((60, 40), Method::Dense),
        ((40, 60), Method::Triangle),
        ((60, 40), Method::Leading),
        ((430, 400), Method::Krylov),
    ] {
        let sigma: Vec<f64> = (0..shape.0.min(shape.1)).map(|i| 1.0 / (1.0 + i as f64)).collect();
        let x = reflected(shape, &sigma, 8).x;
        let run = |p: i32, cut: Select| {
            let scaled = Scaled::new(times_two(&x, p));
            let compressed = compress(&scaled);
            let answer = method.run(&compressed, cut).unwrap();
            (
                answer.sigma.clone(),
                answer.count,
                answer.interval,
                answer.margin,
                answer.norm,
                answer.basis(3, exec()).unwrap(),
            )
        };
        let still = run(0, Select::Above(0.15));
        assert_eq!(still.1, 6, "{method:?}");
        for p in [-1000, -200, -53, -1, 1, 7, 200, 1000] {
            let moved = run(p, Select::Above(times_power_of_two(0.15, p)));
            let back: Vec<f64> = moved.0.iter().map(|s| times_power_of_two(*s, -p)).collect();
            assert_eq!(back, still.0, "{method:?}, 2^{p}");
            assert_eq!(
                (moved.1, moved.2, moved.3, &moved.5),
                (still.1, still.2, still.3, &still.5),
                "{method:?}, 2^{p}"
            );
            assert_eq!(times_power_of_two(moved.4, -p), still.4, "{method:?}, 2^{p}");
        }
    }
}

#[test]
fn r8_squares_within_range_need_no_exponent() {
    let x = reflected((50, 30), &lapack("even", 30)[..25], 9).x;
    for method in [Method::Dense, Method::Triangle] {
        let run = |p: i32| {
            let scaled = times_two(&x, p);
            let sigma = method.run(&compress(&scaled), Select::Top(12)).unwrap().sigma;
            sigma.iter().map(|s| times_power_of_two(*s, -p)).collect::<Vec<_>>()
        };
        let still = run(0);
        for p in [-200, -40, 40, 200] {
            assert_eq!(run(p), still, "{method:?}, 2^{p}");
        }
    }
}

/// x − mean, the mean in twice the precision, rounded once.
fn centered(x: &Mat) -> Mat {
    let n = x.rows();
    let mean = |j: usize| {
        let sum = (0..n).fold(Double::default(), |sum, i| sum + Double::new(x.at(i, j)));
        sum / Double::new(n as f64)
    };
    let means: Vec<Double> = (0..x.cols()).map(mean).collect();
    Mat::from_fn(n, x.cols(), |i, j| (Double::new(x.at(i, j)) - means[j]).high)
}

#[test]
fn r14_every_value_of_centered_data_has_twelve_digits() {
    let mut random = Random(14);
    let offset = Mat::from_fn(200, 5, |_, j| random.normal() + [1e8, -1e8, 3e7, 1e9, 0.0][j]);
    // NIST's NumAcc2, 3 and 4: a base and ±0.1 in turn.
    let accuracy = |base: f64| {
        Mat::from_fn(1001, 1, move |i, _| match i {
            0 => base + 0.2,
            i if i % 2 == 1 => base + 0.1,
            _ => base + 0.3,
        })
    };
    for x in [offset, accuracy(1.0), accuracy(1e6), accuracy(1e7)] {
        let y = Scaled::new(centered(&x));
        let truth = decompose(&y.near_one()).sigma;
        for method in [Method::Leading, Method::Dense, Method::Triangle] {
            let compressed = compress(&y);
            let answer = method.run(&compressed, Select::Top(truth.len())).unwrap();
            assert_eq!(answer.count, truth.len());
            for (found, truth) in answer.sigma.iter().zip(&truth) {
                let found = times_power_of_two(*found, -y.exponent);
                assert!(digits(found, *truth) >= 12.0, "{method:?}: {found} for {truth}");
            }
        }
    }
}

#[test]
fn r15_small_values_have_three_digits_or_the_gram_matrix_declines() {
    for (n, mu) in [(12, 1e-7), (12, 3e-9), (12, 1e-12), (280, 1e-7), (280, 3e-9), (280, 1e-12)] {
        let (tall, truth) = lauchli(n, mu);
        let x = if n == 12 { vec![tall.transposed(), tall] } else { vec![tall] };
        for x in x {
            let all = singular_values(&x, exec()).unwrap();
            let compressed = compress(&x);
            let top = Method::Triangle.run(&compressed, Select::Top(n)).unwrap().sigma;
            let above = Method::Leading.run(&compressed, Select::Above(mu / 2.0)).unwrap();
            assert_eq!(above.count, n, "μ = {mu:e}, {}: {:?}", above.solver, above.sigma);
            for sigma in [&all, &top, &above.sigma] {
                assert!(sigma.iter().zip(&truth).all(|(s, t)| digits(*s, *t) >= 3.0), "n = {n}, μ = {mu:e}: {sigma:?}");
            }
            for cut in [Select::Top(n), Select::Top(2), Select::Above(mu / 2.0), Select::Above(2.0 * mu)] {
                assert!(Method::Dense.run(&compressed, cut).is_none(), "n = {n}, μ = {mu:e}, {cut:?}");
                assert!(Method::Krylov.run(&compressed, cut).is_none(), "n = {n}, μ = {mu:e}, {cut:?}");
            }
        }
    }
}

#[test]
fn r16_denormal_matrices_keep_their_order_and_their_last_unit() {
    let mut random = Random(16);
    let whole = Mat::from_fn(12, 12, |_, _| random.whole(9));
    let truth = decompose(&whole).sigma;
    let unit = f64::from_bits(1);
    let denormal = Scaled::new(times_two(&whole, -1074));
    assert_eq!(denormal.x.at(0, 0), whole.at(0, 0) * unit);
    for method in [Method::Leading, Method::Triangle] {
        let compressed = compress(&denormal);
        let sigma = method.run(&compressed, Select::Top(12)).unwrap().sigma;
        assert_eq!(sigma.len(), 12);
        assert!(sigma.windows(2).all(|w| w[0] >= w[1]) && sigma.iter().all(|s| *s >= 0.0));
        for (s, t) in sigma.iter().zip(&truth) {
            // In units of the smallest number: the limit is 64·12, and rounding to it costs at most one.
            let found = s / unit;
            assert!((found - t).abs() <= 1.0, "{method:?}: {found} for {t}");
        }
        let between = (truth[4] + truth[5]).round() / 2.0;
        let answer = method.run(&compressed, Select::Above(between.round() * unit)).unwrap();
        assert_eq!(answer.count, truth.iter().filter(|t| **t > between.round()).count());
    }
}

#[test]
fn r17_the_values_of_pascals_matrix_come_in_reciprocal_pairs() {
    let n = 14;
    let sigma = singular_values(&pascal(n), exec()).unwrap();
    let condition = sigma[0] / sigma[n - 1];
    let worst = (0..n).map(|i| (sigma[i] * sigma[n - 1 - i] - 1.0).abs()).fold(0.0, f64::max);
    assert!(worst <= 10.0 * n as f64 * f64::EPSILON * condition, "{worst:e}");
    // Well above rounding the pairs are better than that: the limit is 1 or more at this condition.
    let reference = decompose(&pascal(n)).sigma;
    let pairs = (0..n).map(|i| (reference[i] * reference[n - 1 - i] - 1.0).abs()).fold(0.0, f64::max);
    assert!(pairs <= 4.0 * f64::EPSILON, "{pairs:e}");
}

#[test]
fn the_zero_matrix_has_no_value_above_any_cut() {
    for (n, m) in [(5, 3), (3, 5), (300, 300)] {
        let zero = Mat::zeros(n, m);
        let compressed = compress(&zero);
        for method in METHODS {
            let Some(answer) = method.run(&compressed, Select::Above(1e-100)) else { continue };
            assert_eq!((answer.count, answer.certificate()), (0, Certificate::Proved), "{method:?} {n}x{m}");
            assert!(answer.sigma.iter().all(|s| *s == 0.0));
        }
        let top = Method::Leading.run(&compressed, Select::Top(2)).unwrap();
        assert!(top.sigma.iter().all(|s| *s == 0.0) && !top.margin.is_nan(), "margin {}", top.margin);
    }
}

#[test]
fn the_same_bits_again_and_on_two_threads() {
    let case = Case::of("normal", graded((45, 30), |_| 1.0, |_| 1.0));
    let large = reflected((430, 400), &(0..400).map(|i| 1.0 / (1.0 + f64::from(i))).collect::<Vec<_>>(), 8).x;
    let two = eigenspan_linalg::Exec::new(std::num::NonZero::new(2), &eigenspan_linalg::Quiet);
    for x in [&case.a, &large] {
        let with = |exec| {
            let answer = eigenspan_linalg::spectrum(x, Select::Top(8), exec).unwrap();
            (answer.sigma.clone(), answer.margin, answer.basis(8, exec).unwrap())
        };
        let one = with(exec());
        assert!(one == with(exec()) && one == with(two));
    }
}

#[test]
fn clusters_that_differ_in_the_last_bits_are_answered() {
    for seed in 0..60 {
        let p = 70 + 5 * (seed as usize % 3);
        let ulps = |i: usize| 1.0 + ((i % 5) as f64 - 2.0) * ULP;
        let sigma: Vec<f64> = (0..p).map(|i| if i < 30 { ulps(i) } else { 1.0 / (i as f64).sqrt() }).collect();
        let x = reflected((p + 20, p), &sigma, seed).x;
        let answer = Method::Dense.run(&compress(&x), Select::Above(0.5)).unwrap();
        assert_eq!((answer.count, answer.certificate()), (30, Certificate::Proved), "seed {seed}");
        // Inside the cluster nothing is decidable: no answer, or an uncertified one.
        let inside = Method::Dense.run(&compress(&x), Select::Top(5));
        assert!(inside.is_none_or(|a| a.certificate() != Certificate::Proved), "seed {seed}");
    }
}
