//! What the linear support vector machine promises.

use std::num::NonZero;

use crate::common::{fixture, gap, halves, real};
use eigenspan_core::classify::accuracy;
use eigenspan_core::classify::linear_svm::{LinearSvm, LinearSvmParams, SvmSolver};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Labels, Samples};
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::{Arrays, Record};
use eigenspan_core::{Error, Exec, Mat, Normalize, PceParams, Quiet, Warning};

/// Clouds around `classes` random centres, which overlap.
fn clouds(n: usize, m: usize, classes: usize, seed: u64) -> (Mat, Labels) {
    let mut random = Normal::new(5);
    let centres = Mat::from_fn(classes, m, |_, _| 1.5 * random.draw() / (m as f64).sqrt());
    let mut random = Normal::new(seed);
    let x = Mat::from_fn(n, m, |i, j| centres.at(i % classes, j) + random.draw() / (m as f64).sqrt());
    (x, Labels::from_numbers(&(0..n).map(|i| (i % classes) as i64).collect::<Vec<_>>()))
}

fn numbers(file: &str, array: &str) -> Vec<f64> {
    fixture(file, array).into_vec()
}

fn classes_of(values: &[f64]) -> Labels {
    Labels::from_numbers(&values.iter().map(|v| *v as i64).collect::<Vec<_>>())
}

/// The same samples with features that are zero: more features than samples, and the same problem.
fn padded(x: &Mat, m: usize) -> Mat {
    Mat::from_fn(x.rows(), m, |i, j| if j < x.cols() { x.at(i, j) } else { 0.0 })
}

#[test]
fn weights_values_and_classes_are_the_exact_optimum_by_features_and_by_products() {
    let (x, t) = (fixture("svm_l2loss.npz", "Xs"), fixture("svm_l2loss.npz", "Xt"));
    let labels = classes_of(&numbers("svm_l2loss.npz", "ys"));
    let want = fixture("svm_l2loss.npz", "W");
    for m in [6, 100] {
        let model = LinearSvmParams::default().fit(&padded(&x, m), &labels).unwrap();
        assert!(gap(&model.weights().leading_columns(6), &want) < 1e-11, "{m} features");
        assert!(model.about().trace.converged() && model.about().trace.values[0] < 1e-10, "{:?}", model.about().trace);
        let decision = model.decision_with(&padded(&t, m), Exec::default()).unwrap();
        assert!(gap(&decision, &fixture("svm_l2loss.npz", "dec")) < 1e-10);
        let predicted: Vec<f64> =
            model.predict(&padded(&t, m)).unwrap().iter().map(|c| labels.names[*c].parse().unwrap()).collect();
        assert_eq!(predicted, numbers("svm_l2loss.npz", "pred"));
    }
}

/// ‖∇‖∞ and the value of ½‖w‖² + C Σ max(0, 1 − y w·x)², written down once more.
fn slope(x: &Mat, labels: &Labels, class: usize, w: &[f64], cost: f64) -> (f64, f64) {
    let mut gradient = w.to_vec();
    let mut value = w.iter().map(|w| w * w).sum::<f64>() / 2.0;
    for i in 0..x.rows() {
        let side = if labels.of[i] == class { 1.0 } else { -1.0 };
        let short = 1.0 - side * x.row(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        if short > 0.0 {
            value += cost * short * short;
            gradient.iter_mut().zip(x.row(i)).for_each(|(g, x)| *g -= 2.0 * cost * short * side * x);
        }
    }
    (gradient.iter().fold(0.0, |most, g| g.abs().max(most)), value)
}

#[test]
fn the_gradient_vanishes_for_any_cost_and_shape_with_and_without_bias() {
    for (n, m, classes) in [(90, 7, 3), (30, 80, 3), (200, 20, 4), (12, 3, 2)] {
        let (x, labels) = clouds(n, m, classes, 1);
        for (cost, bias) in [(1.0, None), (1e-3, None), (1e3, None), (1.0, Some(1.0)), (10.0, Some(2.0))] {
            let model = LinearSvmParams { cost, bias, ..Default::default() }.fit(&x, &labels).unwrap();
            assert!(model.about().trace.converged());
            let wide = Mat::from_fn(n, m + 1, |i, j| if j < m { x.at(i, j) } else { bias.unwrap_or(0.0) });
            for (row, &class) in model.classes().iter().enumerate() {
                let mut w = model.weights().row(row).to_vec();
                w.push(model.offsets().map_or(0.0, |offsets| offsets[row] / bias.unwrap()));
                let (gradient, value) = slope(&wide, &labels, class, &w, cost);
                // Sums of n terms of up to 2C.
                let rounding = 1e-13 * (1.0 + cost) * n as f64;
                assert!(gradient < rounding, "{n} × {m}, C = {cost}, {bias:?}: {gradient:e}");
                assert!((value - model.objectives()[row]).abs() <= 1e-12 * value);
            }
        }
    }
}

#[test]
fn the_descent_as_published_ends_near_the_optimum_and_a_tight_one_at_it() {
    for (n, m) in [(120, 9), (40, 90)] {
        let (x, labels) = clouds(n, m, 3, 2);
        let exact = LinearSvmParams::default().fit(&x, &labels).unwrap();
        let published = LinearSvmParams::as_published().fit(&x, &labels).unwrap();
        let tight = LinearSvmParams { tol: 1e-9, max_iter: 20_000, ..LinearSvmParams::as_published() };
        let tight = tight.fit(&x, &labels).unwrap();
        assert!(published.about().trace.converged() && tight.about().trace.converged());
        assert!(published.about().trace.values[0] <= 0.1 && tight.about().trace.values[0] <= 1e-9);
        for class in 0..3 {
            let (least, near) = (exact.objectives()[class], published.objectives()[class]);
            assert!(near >= least * (1.0 - 1e-12) && near < 1.02 * least, "{near} is near {least}");
            assert!((tight.objectives()[class] - least).abs() < 1e-12 * least);
        }
        assert!(gap(exact.weights(), tight.weights()) < 1e-7);
    }
}

#[test]
fn rounds_that_are_used_up_are_said_to_be() {
    let (x, labels) = clouds(200, 5, 2, 3);
    let params = LinearSvmParams { cost: 1e4, tol: 1e-8, max_iter: 2, ..LinearSvmParams::as_published() };
    let model = params.fit(&x, &labels).unwrap();
    assert!(!model.about().trace.converged());
    assert_eq!(model.about().warnings, [Warning::NotConverged { rounds: 2 }]);
}

#[test]
fn samples_twice_as_long_at_a_quarter_of_the_cost_have_half_the_weights() {
    let (x, labels) = clouds(80, 6, 3, 4);
    let long = Mat::from_fn(80, 6, |i, j| 2.0 * x.at(i, j));
    let model = LinearSvmParams::default().fit(&x, &labels).unwrap();
    let half = LinearSvmParams { cost: 0.25, ..Default::default() }.fit(&long, &labels).unwrap();
    let doubled = Mat::from_fn(3, 6, |i, j| 2.0 * half.weights().at(i, j));
    assert!(gap(&doubled, model.weights()) < 1e-12);
}

#[test]
fn pixels_of_any_scale_are_solved_to_the_end() {
    // Descent alone needs many thousand rounds for these.
    let (x, labels) = clouds(60, 150, 3, 5);
    let pixels = Mat::from_fn(60, 150, |i, j| (128.0 + 60.0 * x.at(i, j)).clamp(0.0, 255.0));
    for x in [pixels.clone(), padded(&pixels, 150).leading_columns(40)] {
        let model = LinearSvmParams::default().fit(&x, &labels).unwrap();
        assert!(model.about().trace.converged(), "{:?}", model.about().trace);
        assert_eq!(accuracy(&model.predict(&x).unwrap(), &labels.of).unwrap(), 100.0);
    }
}

#[test]
fn two_classes_are_one_problem_and_three_are_three() {
    let (x, labels) = clouds(50, 4, 2, 6);
    let model = LinearSvmParams::default().fit(&x, &labels).unwrap();
    let negative = Mat::from_fn(1, 4, |_, j| -model.weights().at(0, j));
    assert_eq!(negative.row(0), model.weights().row(1));
    let (_, value) = slope(&x, &labels, model.classes()[1], model.weights().row(1), 1.0);
    assert!((value - model.objectives()[1]).abs() < 1e-12 * value);
}

#[test]
fn equal_values_go_to_the_class_seen_first_and_absent_classes_are_never_the_answer() {
    let (x, mut labels) = clouds(30, 5, 3, 7);
    labels.names.insert(0, "nobody".into());
    labels.of.iter_mut().for_each(|class| *class = [3, 1, 2][*class]);
    let model = LinearSvmParams::default().fit(&x, &labels).unwrap();
    assert_eq!(model.classes(), [3, 1, 2]);
    assert_eq!(model.predict(&Mat::<f64>::zeros(1, 5)).unwrap(), [3], "zero is equally far from all");
    let decision = model.decision_with(&x, Exec::default()).unwrap();
    assert!(
        (0..30).all(|i| decision.at(i, 0) == f64::NEG_INFINITY && decision.row(i)[1..].iter().all(|v| v.is_finite()))
    );
    assert!(model.predict(&x).unwrap().iter().all(|class| *class > 0));
    // One class alone is always the answer.
    let one = Labels { names: vec!["a".into(), "b".into()], of: vec![1; 30] };
    let model = LinearSvmParams::default().fit(&x, &one).unwrap();
    assert_eq!(model.predict(&x).unwrap(), [1; 30]);
}

#[test]
fn bits_depend_neither_on_threads_nor_on_company_and_the_optimum_not_on_the_seed() {
    let (x, labels) = clouds(150, 12, 5, 8);
    for params in [LinearSvmParams::default(), LinearSvmParams::as_published()] {
        let run = |threads: usize| {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            let model = params.fit_with(&x, &labels, exec).unwrap();
            (model.transform_with(Samples::from(&x), exec).unwrap(), model)
        };
        let one = run(1);
        assert!(run(2) == one && run(3) == one);
        let alone = one.1.decision_with(&x.select_rows(&[77]), Exec::default()).unwrap();
        assert_eq!(alone.row(0), one.0.into_f64().row(77));
        let other = LinearSvmParams { seed: 1, ..params }.fit(&x, &labels).unwrap();
        let away = gap(other.weights(), one.1.weights());
        assert!(if params.solver == SvmSolver::Auto { away < 1e-12 } else { away > 0.0 && away < 0.1 }, "{away:e}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_odd_samples_are_not() {
    let (x, labels) = clouds(6, 3, 2, 1);
    let refused = |params: LinearSvmParams| params.fit(&x, &labels).unwrap_err();
    let good = LinearSvmParams::default();
    for params in [
        LinearSvmParams { cost: 0.0, ..good },
        LinearSvmParams { cost: f64::NAN, ..good },
        LinearSvmParams { bias: Some(0.0), ..good },
        LinearSvmParams { tol: -1.0, ..good },
        LinearSvmParams { max_iter: 0, ..good },
    ] {
        assert!(matches!(refused(params), Error::Parameter { .. }), "{params:?}");
    }
    let short = Labels::from_numbers(&[1, 2]);
    assert_eq!(good.fit(&x, &short).unwrap_err(), Error::LabelMismatch { samples: 6, got: 2 });
    let unnamed = Labels { names: vec![], of: vec![0; 6] };
    assert!(matches!(good.fit(&x, &unnamed), Err(Error::Parameter { name: "labels", .. })));
    let bad = Mat::from_fn(6, 3, |i, j| if (i, j) == (4, 1) { f64::NAN } else { 1.0 });
    assert!(matches!(good.fit(&bad, &labels), Err(Error::NotFinite { row: 4, column: 1, .. })));
    let huge = Mat::from_fn(6, 3, |i, j| if (i, j) == (4, 1) { 1e200 } else { 1.0 });
    assert!(matches!(good.fit(&huge, &labels), Err(Error::OutOfRange { row: 4, column: 1 })));
    assert!(good.fit(&Mat::<f64>::zeros(0, 3), &Labels { names: vec![], of: vec![] }).is_err());
    let odd = [
        Mat::from_fn(4, 3, |_, _| 1.0),
        Mat::zeros(4, 3),
        Mat::from_fn(1, 3, |_, j| j as f64 - 1.0),
        Mat::from_fn(9, 2, |i, j| (i % 3 * 2 + j) as f64),
        Mat::from_fn(6, 1, |i, _| i as f64),
        Mat::from_fn(6, 9, |i, j| if i == 2 { 0.0 } else { (i * j) as f64 * 1e9 }),
    ];
    for x in odd {
        let labels = Labels::from_numbers(&(0..x.rows()).map(|i| (i % 2) as i64).collect::<Vec<_>>());
        for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
            let model = LinearSvmParams { normalize, ..good }.fit(&x, &labels).unwrap();
            assert!(model.weights().as_slice().iter().all(|w| w.is_finite()));
            assert_eq!(model.predict(&x).unwrap().len(), x.rows());
        }
    }
    let model = good.fit(&x, &labels).unwrap();
    assert_eq!(model.predict(&Mat::<f64>::zeros(2, 4)), Err(Error::FeatureMismatch { expected: 3, got: 4 }));
}

#[test]
fn a_model_survives_being_taken_apart_and_refuses_wrong_parts() {
    let (x, labels) = clouds(20, 4, 3, 9);
    for (normalize, bias) in [(Normalize::Unit, None), (Normalize::ZScore, Some(1.0))] {
        let model = LinearSvmParams { normalize, bias, ..Default::default() }.fit(&x, &labels).unwrap();
        let (facts, arrays) = model.take_apart();
        assert_eq!(LinearSvm::put_together(facts, arrays).unwrap(), model);
    }
    let (facts, arrays) = LinearSvmParams::default().fit(&x, &labels).unwrap().take_apart();
    let refuse = |arrays: Arrays| {
        assert!(matches!(LinearSvm::put_together(facts.clone(), arrays), Err(Error::Model(_))));
    };
    refuse(Arrays::default());
    refuse(arrays.clone().with("weights", Mat::zeros(2, 4)));
    refuse(arrays.clone().with("weights", Mat::from_fn(3, 4, |_, _| f64::NAN)));
    for bad in [[0.0, 1.0, 3.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.5], [0.0, 1.0, -1.0]] {
        refuse(arrays.clone().with_vector("classes", &bad));
    }
    refuse(arrays.clone().with_vector("objectives", &[1.0; 2]));
    refuse(arrays.clone().with_vector("offsets", &[1.0; 3]));
    refuse(arrays.clone().with_vector("deviation", &[1.0; 4]));
    refuse(arrays.with_vector("other", &[1.0]));
}

#[test]
fn faces_are_recognised_and_the_published_stop_costs_little() {
    let Some(data) = real("exyaleb_54x48_first58.npz") else { return };
    let (train, test) = halves(&data);
    let model = PceParams::default().fit(&train.samples).unwrap();
    let (a, b) = (model.transform(&train.samples).unwrap(), model.transform(&test.samples).unwrap());
    let right = |params: LinearSvmParams| {
        let svm = params.fit(&a, train.labels.as_ref().unwrap()).unwrap();
        accuracy(&svm.predict(&b).unwrap(), &test.labels.as_ref().unwrap().of).unwrap()
    };
    let (exact, published) = (right(LinearSvmParams::default()), right(LinearSvmParams::as_published()));
    assert!(exact > 93.0 && (exact - published).abs() < 1.5, "{exact} and {published} percent");
}
