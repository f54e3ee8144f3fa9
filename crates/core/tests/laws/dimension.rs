//! Laws of the estimators of the dimension, beside numbers of another program and manifolds of known dimension.

use std::num::NonZero;

use crate::common::{fixture, real};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::dimension::correlation::CorrelationParams;
use eigenspan_core::dimension::danco::{BallStatistics, DancoParams, FastDancoParams};
use eigenspan_core::dimension::mind_kl::MindKlParams;
use eigenspan_core::dimension::mind_ml::MindMlParams;
use eigenspan_core::dimension::mle::{Mean, MleParams};
use eigenspan_core::dimension::two_nn::TwoNnParams;
use eigenspan_core::dimension::{Calibration, ESTIMATORS, Estimate, Estimator, Near, even_ball};
use eigenspan_core::{Error, Exec, Mat, Quiet, Warning};

fn estimate(estimator: Estimator, x: &Mat) -> Result<Estimate, Error> {
    let near = Near::of(x, estimator.neighbours(), Exec::default())?;
    estimator.estimate(x, &near, &mut Calibration::default(), Exec::default())
}

fn dimension(name: &str, x: &Mat) -> f64 {
    estimate(Estimator::named(name).unwrap(), x).unwrap_or_else(|error| panic!("{name}: {error}")).dimension
}

/// All but FastDANCo, whose curves take a while.
fn quick() -> impl Iterator<Item = Estimator> {
    ESTIMATORS.iter().filter(|(name, _)| *name != "fast-danco").map(|(name, _)| Estimator::named(name).unwrap())
}

fn normal(n: usize, m: usize, seed: u64) -> Mat {
    let mut random = Normal::new(seed);
    Mat::from_fn(n, m, |_, _| random.draw())
}

fn even(n: usize, m: usize, seed: u64) -> Mat {
    let mut random = Normal::new(seed);
    Mat::from_fn(n, m, |_, _| random.uniform())
}

/// The rows in a space of `m` dimensions, turned at random: times a matrix with orthonormal rows, and moved.
fn turned_into(x: &Mat, m: usize, seed: u64) -> Mat {
    let d = x.cols();
    let mut basis = normal(d, m, seed);
    for i in 0..d {
        for j in 0..i {
            let dot: f64 = (0..m).map(|c| basis.at(i, c) * basis.at(j, c)).sum();
            let other = basis.row(j).to_vec();
            basis.row_mut(i).iter_mut().zip(other).for_each(|(y, b)| *y -= dot * b);
        }
        let length = basis.row(i).iter().map(|y| y * y).sum::<f64>().sqrt();
        basis.row_mut(i).iter_mut().for_each(|y| *y /= length);
    }
    Mat::from_fn(x.rows(), m, |i, c| 0.5 + (0..d).map(|j| x.at(i, j) * basis.at(j, c)).sum::<f64>())
}

fn sphere(n: usize, d: usize, seed: u64) -> Mat {
    let mut x = normal(n, d + 1, seed);
    for i in 0..n {
        let length = x.row(i).iter().map(|y| y * y).sum::<f64>().sqrt();
        x.row_mut(i).iter_mut().for_each(|y| *y /= length);
    }
    x
}

fn swiss_roll(n: usize, seed: u64) -> Mat {
    let flat = even(n, 2, seed);
    Mat::from_fn(n, 3, |i, j| {
        let angle = 4.7 * (1.0 + 2.0 * flat.at(i, 0));
        [angle * angle.cos(), 21.0 * flat.at(i, 1), angle * angle.sin()][j]
    })
}

/// `fixtures/dimest.npz`: an 8-ball in 20 dimensions by the authors' programs.
#[test]
fn numbers_are_those_of_the_authors_programs() {
    let x = fixture("dimest.npz", "Xd").transposed();
    let read = |array| fixture("dimest.npz", array);
    let [ks, mle, mli, mlk, st] = ["ks", "mle", "mli", "mlk", "st"].map(read);
    for i in 0..3 {
        let k = ks.at(0, i) as usize;
        let near = Near::of(&x, k + 1, Exec::default()).unwrap();
        let found = MleParams { neighbours: k, mean: Mean::Harmonic }.estimate(&near, Exec::default()).unwrap();
        assert!((found.dimension - mle.at(0, i)).abs() < 1e-6, "{} ≠ {}", found.dimension, mle.at(0, i));
        let mind = |whole| MindMlParams { neighbours: k, whole, max_dim: None }.estimate(&near, Exec::default());
        assert_eq!(mind(true).unwrap().dimension, mli.at(0, i));
        // Their simplex search stops at 1e-3.
        assert!((mind(false).unwrap().dimension - mlk.at(0, i)).abs() < 2e-3);
        let statistics = BallStatistics::of(&near, k, Exec::default()).unwrap();
        assert!((statistics.direction - st.at(i, 1)).abs() < 1e-6, "{} ≠ {}", statistics.direction, st.at(i, 1));
        assert!(
            (statistics.concentration - st.at(i, 2)).abs() < 1e-6,
            "{} ≠ {}",
            statistics.concentration,
            st.at(i, 2)
        );
    }
    let (given, want) = (read("klin"), read("klout"));
    for i in 0..3 {
        let statistics = |at: usize| {
            let [dimension, direction, concentration] = [0, 1, 2].map(|j| given.at(i, at + j));
            BallStatistics { dimension, error: 0.1, direction, concentration }
        };
        let got = statistics(1).divergence(given.at(i, 0) as usize, &statistics(4));
        // Euler's constant is mistyped in theirs: good to 2e-6.
        assert!((got - want.at(0, i)).abs() < 2e-6, "{got} ≠ {}", want.at(0, i));
    }
    // Balls are drawn: theirs and ours are of other seeds.
    let (danco, kl) = (dimension("danco", &x), dimension("mind-kl", &x));
    assert_eq!(danco, read("dd").at(0, 0));
    assert!((kl - read("dk").at(0, 0)).abs() <= 1.0, "{kl}");
}

#[test]
fn manifolds_of_known_dimension_are_told_within_the_reach_of_each_estimator() {
    // Names, manifold, its dimension, and how far off an estimator that is not calibrated may be: distances alone see less.
    let cases: [(&str, Mat, f64, f64); 8] = [
        ("line", turned_into(&even(500, 1, 1), 30, 1), 1.0, 0.15),
        ("swiss roll", swiss_roll(1000, 2), 2.0, 0.2),
        ("2-sphere", turned_into(&sphere(600, 2, 3), 100, 2), 2.0, 0.25),
        ("4-ball", turned_into(&even_ball(800, 4, 3), 50, 3), 4.0, 0.5),
        ("5-cube", turned_into(&even(800, 5, 4), 40, 4), 5.0, 0.9),
        ("8-sphere", turned_into(&sphere(800, 8, 5), 60, 5), 8.0, 1.7),
        ("affine 10", turned_into(&normal(800, 10, 6), 80, 6), 10.0, 2.6),
        ("15-ball", turned_into(&even_ball(800, 15, 7), 60, 7), 15.0, 6.0),
    ];
    for (name, x, d, off) in cases {
        for estimator in ["mle", "mind-ml", "two-nn", "correlation"] {
            let got = dimension(estimator, &x);
            assert!((got - d).abs() <= off, "{estimator} on the {name}: {got}");
        }
        // Compared with balls: one dimension off up to ten, two above. MiND-KL compares two samples of 800 numbers, and its
        // answer scatters by 13 % of the dimension (the same in a NumPy version of ten lines, on twelve seeds).
        let danco = dimension("danco", &x);
        assert!((danco - d).abs() <= if d > 10.0 { 2.0 } else { 1.0 }, "danco on the {name}: {danco}");
        let kl = dimension("mind-kl", &x);
        assert!((kl - d).abs() <= (0.3 * d).max(1.0), "mind-kl on the {name}: {kl}");
    }
}

#[test]
fn moving_turning_and_scaling_change_nothing() {
    let x = even_ball(300, 6, 8);
    let moved = turned_into(&x, 6, 9);
    for estimator in quick().filter(|estimator| estimator.neighbours() > 0) {
        let want = estimate(estimator, &x).unwrap();
        let got = estimate(estimator, &moved).unwrap();
        // Distances of turned points differ by a few roundings.
        assert!((got.dimension - want.dimension).abs() < 1e-9, "{}", estimator.name());
        for exponent in [-900, 300, 900] {
            let scaled = Mat::from_fn(300, 6, |i, j| x.at(i, j) * 2f64.powi(exponent));
            assert_eq!(estimate(estimator, &scaled).unwrap().dimension, want.dimension, "{}", estimator.name());
        }
    }
}

#[test]
fn threads_and_what_is_known_change_nothing() {
    let x = turned_into(&even_ball(400, 7, 10), 12, 1);
    let most = quick().map(|estimator| estimator.neighbours()).max().unwrap();
    let all = |threads: usize, known: &mut Calibration| -> Vec<Estimate> {
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        let near = Near::of(&x, most, exec).unwrap();
        quick().map(|estimator| estimator.estimate(&x, &near, known, exec).unwrap()).collect()
    };
    let mut known = Calibration::default();
    let one = all(1, &mut known);
    assert!(!known.is_empty());
    for threads in [2, 3] {
        assert_eq!(all(threads, &mut Calibration::default()), one);
    }
    let before = known.clone();
    assert_eq!(all(2, &mut known), one);
    assert_eq!(known, before, "balls that are known are not drawn again");
}

#[test]
fn copies_are_left_out_and_ties_do_no_harm() {
    let x = even_ball(200, 3, 11);
    let twice = Mat::from_fn(400, 3, |i, j| x.at(i % 200, j));
    let grid = Mat::from_fn(400, 2, |i, j| if j == 0 { (i % 20) as f64 } else { (i / 20) as f64 });
    // The three nearest of a point inside are equally far, and those of a corner are not.
    let arithmetic = Estimator::Mle(MleParams { neighbours: 2, mean: Mean::Arithmetic });
    assert!(estimate(arithmetic, &grid).unwrap().dimension.is_finite());
    for estimator in quick().filter(|estimator| estimator.neighbours() > 0) {
        let (once, twice) = (estimate(estimator, &x).unwrap(), estimate(estimator, &twice).unwrap());
        assert_eq!(once.dimension, twice.dimension, "{}", estimator.name());
        assert!(twice.warnings.contains(&Warning::Copies { count: 200 }));
        if let (Some(once), Some(twice)) = (&once.per_point, &twice.per_point) {
            assert_eq!([once.as_slice(), once.as_slice()].concat(), *twice);
        }
        match estimate(estimator, &grid) {
            Ok(found) => assert!(found.dimension.is_finite() && found.dimension > 0.0, "{}", estimator.name()),
            // The two nearest points of a grid are equally far.
            Err(error) => assert!(matches!(error, Error::EqualDistances { .. }) && estimator.name() == "two-nn"),
        }
    }
}

#[test]
fn what_tells_no_dimension_is_refused_with_a_reason() {
    let simplex = Mat::from_fn(30, 30, |i, j| f64::from(u8::from(i == j)));
    let mut broken = normal(50, 3, 1);
    broken.row_mut(7)[2] = f64::NAN;
    for estimator in quick() {
        let name = estimator.name();
        let refused = |x: &Mat| estimate(estimator, x).expect_err(name);
        assert!(matches!(refused(&broken), Error::NotFinite { row: 7, column: 2, .. }), "{name}");
        assert!(matches!(refused(&Mat::zeros(0, 3)), Error::Empty { .. }), "{name}");
        if estimator.neighbours() > 0 {
            for x in [Mat::from_fn(40, 3, |_, j| j as f64), normal(1, 3, 1), normal(2, 3, 1)] {
                assert!(matches!(refused(&x), Error::TooFewSamples { .. }), "{name}: {}", refused(&x));
            }
            assert!(matches!(refused(&simplex), Error::EqualDistances { .. }), "{name}");
        }
    }
    let x = normal(40, 3, 1);
    let wrong = [
        Estimator::Mle(MleParams { neighbours: 0, ..MleParams::default() }),
        Estimator::Danco(DancoParams { neighbours: 1, ..DancoParams::default() }),
        Estimator::Danco(DancoParams { max_dim: Some(0), ..DancoParams::default() }),
        Estimator::FastDanco(FastDancoParams { draws: 0, ..FastDancoParams::default() }),
        Estimator::TwoNn(TwoNnParams { discard: 1.0 }),
        Estimator::TwoNn(TwoNnParams { discard: f64::NAN }),
        Estimator::Correlation(CorrelationParams { near: 5, far: 5 }),
    ];
    for estimator in wrong {
        assert!(matches!(estimate(estimator, &x), Err(Error::Parameter { .. })), "{estimator:?}");
    }
    assert!(matches!(
        estimate(Estimator::named("mle").unwrap().with_neighbours(40).unwrap(), &x),
        Err(Error::TooFewSamples { needed: 42, .. })
    ));
}

#[test]
fn looking_at_fewer_balls_finds_what_looking_at_all_finds() {
    let data =
        [turned_into(&even_ball(250, 9, 12), 24, 1), turned_into(&sphere(250, 6, 13), 24, 2), normal(250, 24, 14)];
    for x in data {
        let near = Near::of(&x, 11, Exec::default()).unwrap();
        let mut known = Calibration::default();
        let statistics = BallStatistics::of(&near, 10, Exec::default()).unwrap();
        let all: Vec<f64> = (1..=24)
            .map(|d| statistics.divergence(10, &known.ball(250, 10, d, 0, Exec::default()).unwrap().statistics))
            .collect();
        let want = 1 + (0..24).min_by(|a, b| all[*a].total_cmp(&all[*b])).unwrap();
        let params = DancoParams { direct_below: 0.0, ..DancoParams::default() };
        let mut fresh = Calibration::default();
        assert_eq!(params.estimate(&near, &mut fresh, Exec::default()).unwrap().dimension, want as f64);
        assert!(fresh.len() <= 24);
    }
}

#[test]
fn curves_through_balls_find_what_the_balls_find() {
    let mut known = Calibration::default();
    let fast = FastDancoParams { draws: 2, max_dim: Some(12), ..FastDancoParams::default() };
    for (d, n) in [(6, 300), (9, 700)] {
        let x = turned_into(&even_ball(n, d, 20), 30, 1);
        let near = Near::of(&x, 11, Exec::default()).unwrap();
        let found = fast.estimate(&near, &mut known, Exec::default()).unwrap().dimension;
        // Two draws are few: one off.
        assert!((found - d as f64).abs() <= 1.0, "{d}: {found}");
    }
    assert_eq!(known.len(), 1, "curves are fitted once for all samples");
}

#[test]
fn errors_are_of_the_size_of_the_scatter() {
    let (mut mle, mut mind): (Vec<Estimate>, Vec<Estimate>) = (vec![], vec![]);
    for seed in 0..30 {
        let x = even_ball(200, 3, 100 + seed);
        mle.push(estimate(Estimator::named("mle").unwrap(), &x).unwrap());
        mind.push(estimate(Estimator::named("mind-ml").unwrap(), &x).unwrap());
    }
    for all in [mle, mind] {
        let count = all.len() as f64;
        let mean = all.iter().map(|e| e.dimension).sum::<f64>() / count;
        let scatter = (all.iter().map(|e| (e.dimension - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let told = all.iter().map(|e| e.error.unwrap()).sum::<f64>() / count;
        // Neighbourhoods overlap, so that the error told is too small by a factor that depends on k.
        assert!(scatter > 0.7 * told && scatter < 4.0 * told, "{scatter} against {told}");
    }
}

#[test]
fn noise_many_dimensions_and_few_samples_are_said() {
    let kind = |x: &Mat, is: fn(&Warning) -> bool| {
        estimate(Estimator::named("mle").unwrap(), x).unwrap().warnings.iter().any(is)
    };
    let noisy = {
        let (flat, noise) = (even(2000, 1, 1), normal(2000, 20, 2));
        Mat::from_fn(2000, 20, |i, j| 0.0006 * noise.at(i, j) + if j == 0 { flat.at(i, 0) } else { 0.0 })
    };
    assert!(kind(&noisy, |w| matches!(w, Warning::ScaleDependent { .. })));
    assert!(kind(&normal(100, 9, 1), |w| matches!(w, Warning::FewSamples { .. })));
    assert!(kind(&normal(3000, 60, 1), |w| matches!(w, Warning::HighDimension { .. })));
    for d in [1, 2, 5, 10, 20] {
        for n in [100, 1000] {
            assert!(!kind(&even_ball(n, d, 3), |w| matches!(w, Warning::ScaleDependent { .. })), "{d} {n}");
        }
    }
    let bounded = MindKlParams { max_dim: Some(3), ..MindKlParams::default() };
    let found = estimate(Estimator::MindKl(bounded), &even_ball(200, 8, 1)).unwrap();
    assert_eq!(found.warnings, [Warning::DimensionAtBound { bound: 3 }]);
    assert_eq!(found.dimension, 3.0);
}

#[test]
fn parallel_analysis_finds_planted_directions_and_none_in_noise() {
    let (low, loading, noise) = (normal(400, 4, 1), normal(4, 30, 2), normal(400, 30, 3));
    let planted =
        Mat::from_fn(400, 30, |i, j| noise.at(i, j) + (0..4).map(|c| low.at(i, c) * loading.at(c, j)).sum::<f64>());
    assert_eq!(dimension("parallel-analysis", &planted), 4.0);
    assert!(dimension("parallel-analysis", &noise) <= 1.0);
    assert_eq!(dimension("gavish-donoho", &planted), 4.0);
    assert_eq!(dimension("screenot", &planted), 4.0);
    assert_eq!(dimension("minka", &planted), 4.0);
    assert!(matches!(estimate(Estimator::Minka, &normal(10, 30, 1)), Err(Error::FewerSamplesThanFeatures { .. })));
}

#[test]
fn faces_have_about_the_dimension_that_the_other_estimators_say() {
    let Some(data) = real("exyaleb_54x48_first58.npz") else { return };
    let x = data.samples.select_rows(&(0..data.samples.rows()).step_by(4).collect::<Vec<_>>());
    let near = Near::of(&x, 23, Exec::default()).unwrap();
    let mut known = Calibration::default();
    for name in ["mle", "mind-ml", "mind-kl", "danco"] {
        let estimator = Estimator::as_published(name).unwrap();
        let found = estimator.estimate(&x, &near, &mut known, Exec::default()).unwrap();
        assert!((3.0..30.0).contains(&found.dimension), "{name}: {}", found.dimension);
    }
}

/// `fixtures/skdim.npz`: scikit-dimension 0.5.0.
#[test]
fn numbers_are_those_of_scikit_dimension() {
    let read = |array: &str| fixture("skdim.npz", array);
    for i in 0..3 {
        let x = read(&format!("X{i}"));
        let found = |estimator| estimate(estimator, &x).unwrap().dimension;
        let near = |got: f64, array: &str, tolerance: f64| {
            let want = read(array).at(0, i);
            assert!((got - want).abs() < tolerance, "{array} of X{i}: {got} ≠ {want}");
        };
        // Closed forms of the same distances.
        near(found(Estimator::named("mle").unwrap()), "mle", 1e-9);
        let arithmetic = MleParams { mean: Mean::Arithmetic, ..MleParams::default() };
        near(found(Estimator::Mle(arithmetic)), "mle_mean", 1e-9);
        near(found(Estimator::named("two-nn").unwrap()), "twonn", 1e-9);
        near(found(Estimator::named("correlation").unwrap()), "corr", 1e-9);
        near(found(Estimator::MindMl(MindMlParams { whole: true, max_dim: Some(40), neighbours: 10 })), "mli", 0.5);
        // Of the swiss roll theirs stays at 2, where its search begins and the derivative is −36; the root is by SciPy's
        // `brentq`.
        let real = found(Estimator::named("mind-ml").unwrap());
        match i {
            1 => assert!((real - 1.902_631_765_657).abs() < 1e-9, "{real}"),
            _ => near(real, "mlk", 1e-3),
        }
    }
}
