//! What the sparse-representation classifier promises.

use std::num::NonZero;

use crate::common::{fixture, gap, halves, real};
use eigenspan_core::classify::accuracy;
use eigenspan_core::classify::sparse_representation::{Src, SrcParams};
use eigenspan_core::data::generate::{Normal, Subspaces};
use eigenspan_core::data::{Labels, Samples};
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::{Arrays, Record};
use eigenspan_core::{Error, Exec, Mat, Normalize, PceParams, Quiet, Warning};

/// Training and test samples from the same subspaces, one a class.
fn subspaces(seed: u64) -> ((Mat, Labels), (Mat, Labels)) {
    let data = Subspaces { samples: 120, features: 30, subspaces: 4, dim: 3, noise: 0.05 }.generate(seed).unwrap();
    let part = |rows: Vec<usize>| {
        let part = data.select_rows(&rows).unwrap();
        (part.samples.into_f64(), part.labels.unwrap())
    };
    (part((0..80).collect()), part((80..120).collect()))
}

#[test]
fn codes_residuals_and_classes_are_those_of_the_published_program() {
    let (train, test) = (fixture("src.npz", "tr").transposed(), fixture("src.npz", "tt").transposed());
    let of = |array: &str| fixture("src.npz", array).into_vec().iter().map(|c| *c as i64).collect::<Vec<_>>();
    let labels = Labels::from_numbers(&of("la"));
    let model = SrcParams::as_published().fit(&train, &labels).unwrap();
    let codes = model.transform_with(Samples::from(&test), Exec::default()).unwrap().into_f64();
    // The same path.
    assert!(gap(&codes, &fixture("src.npz", "CO").transposed()) < 1e-9);
    let found = model.predict(&test).unwrap();
    let squares = Mat::from_fn(20, 4, |i, c| found.residuals.at(i, c).powi(2));
    assert!(gap(&squares, &fixture("src.npz", "RES").transposed()) < 1e-9);
    let names: Vec<i64> = found.classes.iter().map(|c| labels.names[*c].parse().unwrap()).collect();
    assert_eq!(names, of("pr"));
    assert_eq!(found.unfinished, 0);
}

#[test]
fn codes_meet_the_conditions_of_the_optimum_and_residuals_are_what_they_are_called() {
    let ((train, labels), (test, _)) = subspaces(1);
    for nonnegative in [false, true] {
        let model = SrcParams { nonnegative, lambda: 1e-2, ..SrcParams::default() }.fit(&train, &labels).unwrap();
        let (codes, found) = (
            model.transform_with(Samples::from(&test), Exec::default()).unwrap().into_f64(),
            model.predict(&test).unwrap(),
        );
        let atoms = &model.known().samples;
        for i in 0..test.rows() {
            let length = test.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
            let y: Vec<f64> = test.row(i).iter().map(|v| v / length).collect();
            let rest = |of: &dyn Fn(usize) -> bool| -> Vec<f64> {
                let part = |j: usize| (0..80).filter(|&l| of(l)).map(|l| codes.at(i, l) * atoms.at(l, j)).sum::<f64>();
                (0..30).map(|j| y[j] - part(j)).collect()
            };
            let all = rest(&|_| true);
            for l in 0..80 {
                let c: f64 = atoms.row(l).iter().zip(&all).map(|(a, r)| a * r).sum();
                let x = codes.at(i, l);
                let met = if x == 0.0 {
                    c <= 1e-2 + 1e-10 && (nonnegative || c >= -1e-2 - 1e-10)
                } else {
                    (c - 1e-2 * x.signum()).abs() < 1e-10
                };
                assert!(met && (x >= 0.0 || !nonnegative), "sample {i}, atom {l}: {x}, {c}");
            }
            for class in 0..4 {
                let want = rest(&|l| labels.of[l] == class).iter().map(|r| r * r).sum::<f64>().sqrt();
                assert!((want - found.residuals.at(i, class)).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn samples_of_a_union_of_subspaces_are_told_apart() {
    let ((train, labels), (test, truth)) = subspaces(2);
    for params in [SrcParams::default(), SrcParams::as_published()] {
        let found = params.fit(&train, &labels).unwrap().predict(&test).unwrap();
        assert_eq!(accuracy(&found.classes, &truth.of).unwrap(), 100.0);
        assert_eq!(found.unfinished, 0);
    }
}

#[test]
fn paths_that_use_up_their_steps_are_counted() {
    let ((train, labels), (test, _)) = subspaces(3);
    let found = SrcParams { max_iter: 2, ..SrcParams::default() }.fit(&train, &labels).unwrap().predict(&test).unwrap();
    assert_eq!(found.unfinished, 40);
}

#[test]
fn a_class_without_training_samples_is_never_the_answer() {
    let ((train, mut labels), (mut test, _)) = subspaces(4);
    labels.names.insert(0, "nobody".into());
    labels.of.iter_mut().for_each(|class| *class += 1);
    test.row_mut(0).fill(0.0); // equally far from all
    let found = SrcParams::default().fit(&train, &labels).unwrap().predict(&test).unwrap();
    assert!(found.classes.iter().all(|class| *class > 0) && found.classes[0] == 1);
    assert!((1..40).all(|i| (found.residuals.at(i, 0) - 1.0).abs() < 1e-14), "‖y‖ where nothing explains y");
}

#[test]
fn bits_depend_neither_on_threads_nor_on_company() {
    let ((train, labels), (test, _)) = subspaces(5);
    let model = SrcParams::default().fit(&train, &labels).unwrap();
    let run = |threads: usize| {
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        (model.predict_with(&test, exec).unwrap(), model.transform_with(Samples::from(&test), exec).unwrap())
    };
    let one = run(1);
    assert!(run(2) == one && run(3) == one);
    let alone = model.predict(&test.select_rows(&[33])).unwrap();
    assert_eq!(alone.residuals.row(0), one.0.residuals.row(33));
}

#[test]
fn what_makes_no_sense_is_refused_and_odd_samples_are_not() {
    let ((x, labels), _) = subspaces(6);
    let good = SrcParams::default();
    for params in [
        SrcParams { lambda: 0.0, ..good },
        SrcParams { lambda: f64::NAN, ..good },
        SrcParams { max_iter: 0, ..good },
        SrcParams { tol: Some(-1.0), ..good },
    ] {
        assert!(matches!(params.fit(&x, &labels), Err(Error::Parameter { .. })), "{params:?}");
    }
    let short = Labels::from_numbers(&[1, 2]);
    assert_eq!(good.fit(&x, &short).unwrap_err(), Error::LabelMismatch { samples: 80, got: 2 });
    assert!(matches!(good.fit(&Mat::<f64>::zeros(2, 3), &short), Err(Error::AllZero { .. })));
    let model = good.fit(&x, &labels).unwrap();
    assert_eq!(model.predict(&Mat::<f64>::zeros(2, 4)), Err(Error::FeatureMismatch { expected: 30, got: 4 }));
    let nan = Mat::from_fn(1, 30, |_, j| if j == 7 { f64::NAN } else { 1.0 });
    assert!(matches!(model.predict(&nan), Err(Error::NotFinite { row: 0, column: 7, .. })));
    let odd = [
        Mat::from_fn(4, 3, |_, _| 1.0),
        Mat::from_fn(1, 3, |_, j| j as f64 - 1.0),
        Mat::from_fn(9, 2, |i, j| (i % 3 * 2 + j) as f64),
        Mat::from_fn(6, 1, |i, _| i as f64),
    ];
    for x in odd {
        let labels = Labels::from_numbers(&(0..x.rows()).map(|i| (i % 2) as i64).collect::<Vec<_>>());
        for params in [good, SrcParams::as_published(), SrcParams { nonnegative: true, ..good }] {
            let model = params.fit(&x, &labels).unwrap();
            let found = model.predict(&x).unwrap();
            assert!(found.residuals.as_slice().iter().all(|r| r.is_finite()));
        }
    }
    let zero = Mat::from_fn(3, 3, |i, j| if i == 1 { 0.0 } else { j as f64 + 1.0 });
    let model = good.fit(&zero, &Labels::from_numbers(&[1, 2, 3])).unwrap();
    assert_eq!(model.about().warnings, [Warning::ZeroSamples { count: 1, rows: vec![1] }]);
}

#[test]
fn a_model_survives_being_taken_apart_and_refuses_wrong_parts() {
    let ((x, labels), _) = subspaces(7);
    for normalize in [Normalize::Unit, Normalize::ZScore] {
        let model = SrcParams { normalize, ..SrcParams::default() }.fit(&x, &labels).unwrap();
        let (facts, arrays) = model.take_apart();
        assert_eq!(Src::put_together(facts, arrays).unwrap(), model);
    }
    let (facts, arrays) = SrcParams::default().fit(&x, &labels).unwrap().take_apart();
    let refuse = |arrays: Arrays| assert!(matches!(Src::put_together(facts.clone(), arrays), Err(Error::Model(_))));
    refuse(Arrays::default());
    refuse(arrays.clone().with_vector("classes", &[0.0; 79]));
    refuse(arrays.clone().with_vector("classes", &[4.0; 80]));
    refuse(arrays.clone().with("samples", Mat::zeros(79, 30)));
    refuse(arrays.clone().with_vector("deviation", &[1.0; 30]));
    refuse(arrays.with_vector("other", &[1.0]));
}

#[test]
fn faces_are_recognised() {
    let Some(data) = real("exyaleb_54x48_first58.npz") else { return };
    let (train, test) = halves(&data);
    let model = PceParams::default().fit(&train.samples).unwrap();
    let (a, b) = (model.transform(&train.samples).unwrap(), model.transform(&test.samples).unwrap());
    let mut random = Normal::new(1);
    let rows: Vec<usize> = (0..b.rows()).filter(|_| random.uniform() < 0.3).collect();
    for params in [SrcParams::default(), SrcParams::as_published()] {
        let src = params.fit(&a, train.labels.as_ref().unwrap()).unwrap();
        let found = src.predict(&b.select_rows(&rows)).unwrap();
        let truth: Vec<usize> = rows.iter().map(|&i| test.labels.as_ref().unwrap().of[i]).collect();
        let right = accuracy(&found.classes, &truth).unwrap();
        assert!(right > 90.0 && found.unfinished == 0, "{right} percent, {} unfinished", found.unfinished);
    }
}
