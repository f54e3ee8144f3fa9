//! What CESR promises.

use std::num::NonZero;

use crate::common::{fixture, real};
use eigenspan_core::classify::cesr::{Cesr, CesrParams, Residual};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Labels, Samples};
use eigenspan_core::linalg::dense::Cholesky;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::{Arrays, Record};
use eigenspan_core::model::trace::Stop;
use eigenspan_core::{Error, Exec, Mat, Normalize, Quiet};

/// `each` samples of every class: non-negative mixtures of three patterns that are the class's own.
fn classes(count: usize, each: usize, m: usize, seed: u64) -> (Mat, Labels) {
    let mut random = Normal::new(7);
    let patterns = Mat::from_fn(count * 3, m, |_, _| random.uniform().powi(2));
    let mut random = Normal::new(seed);
    let mut x = Mat::zeros(count * each, m);
    for i in 0..x.rows() {
        for p in 0..3 {
            let amount = random.uniform();
            let pattern = patterns.row(i / each * 3 + p);
            x.row_mut(i).iter_mut().zip(pattern).for_each(|(x, p)| *x += amount * p);
        }
    }
    let labels = Labels::from_numbers(&(0..count * each).map(|i| (i / each) as i64).collect::<Vec<_>>());
    (x, labels)
}

/// A fifth of the entries of every sample replaced by large ones.
fn corrupt(x: &Mat) -> Mat {
    let mut random = Normal::new(99);
    let mut bad = x.clone();
    for v in bad.as_mut_slice() {
        if random.uniform() < 0.2 {
            *v = 6.0 * random.uniform();
        }
    }
    bad
}

fn right(found: &[usize], labels: &Labels) -> usize {
    found.iter().zip(&labels.of).filter(|(a, b)| a == b).count()
}

fn none() -> CesrParams {
    CesrParams { normalize: Normalize::None, ..CesrParams::default() }
}

#[test]
fn the_code_is_that_of_the_public_program_and_finds_the_true_support() {
    let (a, b) = (fixture("cesr.npz", "A").transposed(), fixture("cesr.npz", "b").transposed());
    let labels = Labels::from_numbers(&[1; 30]);
    let model = none().fit(&a, &labels).unwrap();
    let code = model.transform(&b).unwrap().into_f64();
    // No entry is taken out again on the way, so the program's mistake in numbering does not show.
    let want = fixture("cesr.npz", "x").into_vec();
    assert!(code.row(0).iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-9), "{code:?}");
    let mut order: Vec<usize> = (0..30).collect();
    order.sort_by(|a, b| code.at(0, *b).total_cmp(&code.at(0, *a)));
    // Samples 2, 15 and 9, counted from one.
    assert_eq!(order[..3], [1, 14, 8]);
    assert_eq!(model.predict(&b).unwrap().unfinished, 0);
    assert_eq!(model.about.trace.stop, Stop::Direct);
}

#[test]
fn a_fifth_of_gross_errors_is_survived_where_least_squares_fails() {
    let ((train, labels), (test, truth)) = (classes(6, 8, 80, 1), classes(6, 10, 80, 2));
    let bad = corrupt(&test);
    let model = CesrParams::default().fit(&train, &labels).unwrap();
    assert_eq!(right(&model.predict(&test).unwrap().classes, &truth), 60);
    let robust = right(&model.predict(&bad).unwrap().classes, &truth);
    let least = right(&least_squares(&train, &labels, &bad), &truth);
    assert!(robust >= 57 && least <= 45, "{robust} of 60, least squares {least}");
    // The signed form is robust too.
    let signed = CesrParams { nonnegative: false, ..CesrParams::default() }.fit(&train, &labels).unwrap();
    let signed = right(&signed.predict(&bad).unwrap().classes, &truth);
    assert!(signed > least, "{signed} of 60, least squares {least}");
}

/// The class whose part of the least-squares code is closest.
fn least_squares(train: &Mat, labels: &Labels, test: &Mat) -> Vec<usize> {
    let n = train.rows();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let gram = Mat::from_fn(n, n, |i, j| dot(train.row(i), train.row(j)) + if i == j { 1e-9 } else { 0.0 });
    let factor = Cholesky::of(gram).unwrap();
    let class = |y: &[f64]| {
        let mut x: Vec<f64> = (0..n).map(|i| dot(train.row(i), y)).collect();
        factor.solve(&mut x);
        let rest = |c: usize| {
            let part = |j: usize| (0..n).filter(|&i| labels.of[i] == c).map(|i| x[i] * train.at(i, j)).sum::<f64>();
            (0..y.len()).map(|j| (y[j] - part(j)).powi(2)).sum::<f64>()
        };
        (0..labels.names.len()).min_by(|a, b| rest(*a).total_cmp(&rest(*b))).unwrap()
    };
    (0..test.rows()).map(|i| class(test.row(i))).collect()
}

#[test]
fn both_shapes_of_the_signed_form_solve_their_equations() {
    // More samples than features, and fewer: the fixed point of each is that of the other's formula.
    for (count, each, m) in [(4, 6, 15), (3, 4, 40)] {
        let (train, labels) = classes(count, each, m, 1);
        let (test, _) = classes(count, 1, m, 2);
        let test = corrupt(&test);
        let params = CesrParams { nonnegative: false, ridge: 0.1, max_iter: 1000, width: 4.0, ..none() };
        let model = params.fit(&train, &labels).unwrap();
        assert_eq!(model.predict(&test).unwrap().unfinished, 0);
        let codes = model.transform(&test).unwrap().into_f64();
        let n = train.rows();
        let energy = train.as_slice().iter().map(|a| a * a).sum::<f64>() / n as f64;
        for i in 0..test.rows() {
            let x = codes.row(i);
            let rest: Vec<f64> =
                (0..m).map(|j| (0..n).map(|l| x[l] * train.at(l, j)).sum::<f64>() - test.at(i, j)).collect();
            let mean = rest.iter().map(|r| r * r).sum::<f64>() / m as f64;
            let weighted: Vec<f64> = rest.iter().map(|r| (-r * r / (4.0 * mean)).exp() * r).collect();
            for l in 0..n {
                let slope = train.row(l).iter().zip(&weighted).map(|(a, r)| a * r).sum::<f64>() + 0.1 * energy * x[l];
                // The iteration stands still to 1e-6.
                assert!(slope.abs() < 1e-4 * energy, "{n} × {m}: {slope:e}");
            }
        }
    }
}

#[test]
fn a_class_without_training_samples_is_never_the_answer() {
    let (train, mut labels) = classes(3, 5, 40, 1);
    labels.names.insert(0, "nobody".into());
    labels.of.iter_mut().for_each(|class| *class += 1);
    let model = CesrParams::default().fit(&train, &labels).unwrap();
    let mut test = classes(3, 4, 40, 2).0;
    test.row_mut(0).fill(0.0); // equally far from all
    let found = model.predict(&test).unwrap();
    assert_eq!((found.residuals.rows(), found.residuals.cols()), (12, 4));
    assert!(found.classes.iter().all(|class| *class > 0) && found.classes[0] == 1);
    assert_eq!(found.classes[4..], [2, 2, 2, 2, 3, 3, 3, 3]);
}

#[test]
fn residuals_are_what_they_are_called() {
    let (train, labels) = classes(3, 5, 30, 1);
    let test = corrupt(&classes(3, 2, 30, 2).0);
    let plain = CesrParams::as_published().fit(&train, &labels).unwrap();
    let found = plain.predict(&test).unwrap();
    let codes = plain.transform(&test).unwrap().into_f64();
    for i in 0..test.rows() {
        let length = test.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
        for c in 0..3 {
            let entry = |l: usize, j: usize| codes.at(i, l) * plain.known.samples.at(l, j);
            let part = |j: usize| (0..15).filter(|&l| labels.of[l] == c).map(|l| entry(l, j)).sum::<f64>();
            let rest = (0..30).map(|j| (test.at(i, j) / length - part(j)).powi(2)).sum::<f64>().sqrt();
            assert!((rest - found.residuals.at(i, c)).abs() < 1e-12);
        }
    }
    let weighted = CesrParams { residual: Residual::Weighted, ..plain.about.params }.fit(&train, &labels).unwrap();
    let less = weighted.predict(&test).unwrap().residuals;
    assert!(less.as_slice().iter().zip(found.residuals.as_slice()).all(|(w, p)| w < p));
}

#[test]
fn samples_whose_rounds_are_used_up_are_counted() {
    let (train, labels) = classes(4, 8, 60, 1);
    let test = corrupt(&classes(4, 3, 60, 2).0);
    let short = CesrParams { max_iter: 2, ..CesrParams::default() }.fit(&train, &labels).unwrap();
    assert!(short.predict(&test).unwrap().unfinished > 0);
    let long = CesrParams::default().fit(&train, &labels).unwrap();
    assert_eq!(long.predict(&test).unwrap().unfinished, 0);
    let codes = short.transform(&test).unwrap().into_f64();
    assert!((0..12).all(|i| codes.row(i).iter().filter(|x| **x > 0.0).count() <= 2));
}

#[test]
fn bits_depend_neither_on_threads_nor_on_company() {
    let (train, labels) = classes(5, 8, 50, 1);
    let test = corrupt(&classes(5, 9, 50, 2).0);
    for nonnegative in [true, false] {
        let model = CesrParams { nonnegative, ..CesrParams::default() }.fit(&train, &labels).unwrap();
        let run = |threads: usize| {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            (model.predict_with(&test, exec).unwrap(), model.transform_with(Samples::from(&test), exec).unwrap())
        };
        let one = run(1);
        assert!(run(2) == one && run(3) == one);
        let alone = model.transform(&test.select_rows(&[30])).unwrap().into_f64();
        assert_eq!(alone.row(0), one.1.into_f64().row(30));
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_odd_samples_are_not() {
    let (x, labels) = classes(2, 3, 6, 1);
    let short = Labels::from_numbers(&[1, 2]);
    let refused = |params: CesrParams, labels: &Labels| params.fit(&x, labels).unwrap_err();
    assert_eq!(refused(none(), &short), Error::LabelMismatch { samples: 6, got: 2 });
    let unnamed = Labels { names: vec!["a".into()], of: vec![0, 0, 0, 0, 0, 1] };
    assert!(matches!(refused(none(), &unnamed), Error::Parameter { name: "labels", .. }));
    for params in [
        CesrParams { max_iter: 0, ..none() },
        CesrParams { width: 0.0, ..none() },
        CesrParams { width: f64::NAN, ..none() },
        CesrParams { ridge: -1.0, ..none() },
    ] {
        assert!(matches!(refused(params, &labels), Error::Parameter { .. }));
    }
    assert!(matches!(none().fit(&Mat::<f64>::zeros(2, 3), &short), Err(Error::AllZero { .. })));
    let odd = [
        Mat::from_fn(4, 3, |_, _| 1.0),
        Mat::from_fn(1, 3, |_, j| j as f64 - 1.0),
        Mat::from_fn(9, 2, |i, j| (i % 3 * 2 + j) as f64),
        Mat::from_fn(6, 1, |i, _| i as f64),
    ];
    for x in odd {
        let labels = Labels::from_numbers(&(0..x.rows()).map(|i| (i % 2) as i64).collect::<Vec<_>>());
        for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
            for nonnegative in [true, false] {
                let params = CesrParams { normalize, nonnegative, ..CesrParams::default() };
                let Ok(model) = params.fit(&x, &labels) else { continue };
                let found = model.predict(&x).unwrap();
                assert!(found.residuals.as_slice().iter().all(|r| r.is_finite()));
                let far = Mat::from_fn(2, x.cols(), |i, _| if i == 0 { -1e9 } else { 0.0 });
                assert!(model.transform(&far).unwrap().into_f64().as_slice().iter().all(|r| r.is_finite()));
            }
        }
    }
}

#[test]
fn a_model_survives_being_taken_apart_and_refuses_wrong_parts() {
    let (x, labels) = classes(3, 4, 7, 1);
    for normalize in [Normalize::Unit, Normalize::ZScore] {
        let model = CesrParams { normalize, ..CesrParams::default() }.fit(&x, &labels).unwrap();
        let (facts, arrays) = model.take_apart();
        assert_eq!(Cesr::put_together(facts, arrays).unwrap(), model);
    }
    let (facts, arrays) = CesrParams::default().fit(&x, &labels).unwrap().take_apart();
    let refuse = |arrays: Arrays| assert!(matches!(Cesr::put_together(facts.clone(), arrays), Err(Error::Model(_))));
    refuse(Arrays::default());
    refuse(Arrays::default().with("samples", Mat::zeros(12, 7)));
    refuse(arrays.clone().with_vector("classes", &[0.0; 11]));
    for bad in [3.0, -1.0, 0.5, 1e300] {
        refuse(arrays.clone().with_vector("classes", &[bad; 12]));
    }
    refuse(arrays.clone().with("samples", Mat::zeros(11, 7)));
    refuse(arrays.clone().with_vector("deviation", &[1.0; 7]));
    refuse(arrays.with_vector("other", &[1.0]));
}

#[test]
fn faces_under_a_fifth_of_noise_are_recognised() {
    let Some(data) = real("exyaleb_54x48_first58.npz") else { return };
    // Every third pixel of eight people: half of the images train, some of the others test.
    let labels = data.labels.clone().unwrap();
    let of = |every: usize, from: usize| {
        (0..labels.of.len()).filter(|&i| labels.of[i] < 8 && i % every == from).collect::<Vec<_>>()
    };
    let thin = |rows: &[usize]| {
        let x = data.samples.select_rows(rows).into_f64();
        Mat::from_fn(x.rows(), x.cols() / 3, |i, j| x.at(i, 3 * j))
    };
    let (train, test) = (of(2, 0), of(14, 1));
    let known = Labels { names: labels.names.clone(), of: train.iter().map(|&i| labels.of[i]).collect() };
    let mut random = Normal::new(3);
    let mut bad = thin(&test);
    for v in bad.as_mut_slice() {
        if random.uniform() < 0.2 {
            *v = 255.0 * random.uniform();
        }
    }
    let found = CesrParams::default().fit(&thin(&train), &known).unwrap().predict(&bad).unwrap();
    let right = test.iter().zip(&found.classes).filter(|&(&i, class)| labels.of[i] == *class).count();
    assert!(right * 10 >= test.len() * 9, "{right} of {}, {} unfinished", test.len(), found.unfinished);
}
