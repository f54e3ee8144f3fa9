//! What the L1-graph promises.

use std::num::NonZero;

use crate::common::{gap, real};
use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::data::{Csr, Samples};
use eigenspan_core::exec::Quiet;
use eigenspan_core::linalg::dense::product;
use eigenspan_core::method::l1_graph::{Codes, L1GraphParams, Order};
use eigenspan_core::method::parts::graph_embedding::Columns;
use eigenspan_core::method::parts::homotopy::Ended;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::Record;
use eigenspan_core::model::trace::Stop;
use eigenspan_core::{Dim, Error, Exec, Mat, Normalize, Warning};

/// Samples in two subspaces, with noise.
fn samples(n: usize, m: usize) -> Mat {
    let subspaces = Subspaces { samples: n, features: m, subspaces: 2, dim: 3, noise: 0.1 };
    subspaces.generate(5).unwrap().samples.into_f64()
}

fn unit(x: &Mat) -> Mat {
    let length = |i: usize| x.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
    Mat::from_fn(x.rows(), x.cols(), |i, j| x.at(i, j) / length(i))
}

fn times(a: &Mat, b: &Mat) -> Mat {
    product(a.view(), b.view(), Exec::default()).unwrap()
}

/// C: column i is the code of sample i.
fn matrix(codes: &Codes) -> Mat {
    let mut c = Mat::zeros(codes.columns.len(), codes.columns.len());
    for (i, code) in codes.columns.iter().enumerate() {
        code.entries.iter().for_each(|(j, value)| c.row_mut(*j)[i] = *value);
    }
    c
}

fn square(x: &Mat) -> f64 {
    x.as_slice().iter().map(|x| x * x).sum()
}

fn params(dim: usize) -> L1GraphParams {
    L1GraphParams { dim: Dim::Fixed(dim), ..L1GraphParams::default() }
}

#[test]
fn the_projection_solves_the_equation_of_its_graph_under_the_constraint() {
    for (n, m) in [(50, 12), (30, 45)] {
        let x = samples(n, m);
        for order in [Order::Reconstruction, Order::Exchanged] {
            let asked = L1GraphParams { order, ..params(4) };
            let (model, codes) = asked.fit_with_codes(&x, Exec::default()).unwrap();
            let c = matrix(&codes);
            let both = match order {
                Order::Reconstruction => times(&c, &c.transposed()),
                Order::Exchanged => times(&c.transposed(), &c),
            };
            let a = Mat::from_fn(n, n, |i, j| c.at(i, j) + c.at(j, i) - both.at(i, j));
            let y = unit(&x);
            let z = times(&y, &model.theta);
            let (left, right) = (times(&y.transposed(), &times(&a, &z)), times(&y.transposed(), &z));
            let right = Mat::from_fn(m, 4, |i, j| model.values[j] * right.at(i, j));
            assert!(gap(&left, &right) < 1e-11, "{n} × {m}, {order:?}: {:e}", gap(&left, &right));
            let identity = Mat::from_fn(4, 4, |i, j| f64::from(u8::from(i == j)));
            assert!(gap(&times(&z.transposed(), &z), &identity) < 1e-11, "{n} × {m}, {order:?}");
        }
    }
}

/// ‖ΘᵀD − ΘᵀDC‖² of the features z = DᵀΘ of the training samples.
fn reconstruction(z: &Mat, c: &Mat) -> f64 {
    let again = times(&c.transposed(), z);
    square(&Mat::from_fn(z.rows(), z.cols(), |i, j| z.at(i, j) - again.at(i, j)))
}

#[test]
fn the_default_order_is_the_one_that_reconstructs_best_and_its_values_say_how_well() {
    let x = samples(40, 15);
    let (model, codes) = params(4).fit_with_codes(&x, Exec::default()).unwrap();
    let (exchanged, same) =
        L1GraphParams { order: Order::Exchanged, ..params(4) }.fit_with_codes(&x, Exec::default()).unwrap();
    assert_eq!(codes, same);
    let c = matrix(&codes);
    let error = |theta: &Mat| reconstruction(&times(&unit(&x), theta), &c);
    let want: f64 = model.values.iter().map(|s| 1.0 - s).sum();
    assert!((error(&model.theta) - want).abs() < 1e-11);
    assert!(error(&model.theta) < error(&exchanged.theta));
}

#[test]
fn codes_leave_the_sample_itself_out_and_their_objectives_are_the_trace() {
    let (model, codes) = params(3).fit_with_codes(&samples(40, 10), Exec::default()).unwrap();
    for (i, code) in codes.columns.iter().enumerate() {
        assert!(code.ended == Ended::Target && code.entries.iter().all(|(j, x)| *j != i && *x != 0.0));
    }
    let trace = &model.about.trace;
    assert_eq!((trace.stop, trace.measure.as_str()), (Stop::Converged, "objective of each sample"));
    assert_eq!(trace.values, codes.columns.iter().map(|code| code.objective).collect::<Vec<_>>());
    assert!(model.about.warnings.is_empty(), "{:?}", model.about.warnings);
    assert!(model.about.why.starts_with("k = 3: a code has "), "{}", model.about.why);
}

#[test]
fn codes_that_use_up_their_steps_are_counted_and_warned_of() {
    let asked = L1GraphParams { max_iter: 2, ..params(3) };
    let model = asked.fit(&samples(40, 10)).unwrap();
    assert_eq!((model.about.trace.stop, model.about.trace.rounds), (Stop::RoundsUsedUp, 2));
    assert_eq!(model.about.warnings, [Warning::NotConverged { rounds: 2 }]);
    assert!(model.about.why.ends_with("of the 40 codes were not finished"), "{}", model.about.why);
}

#[test]
fn the_published_preset_stops_early_and_has_columns_of_length_one() {
    let x = samples(60, 30);
    let asked = L1GraphParams::as_published(5, 1e-3, 1e-2);
    assert_eq!((asked.max_iter, asked.columns, asked.order), (100, Columns::Unit, Order::Reconstruction));
    let (model, codes) = asked.fit_with_codes(&x, Exec::default()).unwrap();
    assert!(codes.columns.iter().any(|code| code.ended == Ended::Tolerance && code.reached > 1e-3));
    assert_eq!((model.columns(), model.about.trace.stop), (5, Stop::Converged));
    for j in 0..5 {
        let length: f64 = (0..30).map(|i| model.theta.at(i, j).powi(2)).sum();
        assert!((length - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_same_bits_come_out_of_any_number_of_threads() {
    let x = samples(70, 20);
    let fit = |threads| params(4).fit_with(&x, Exec::new(NonZero::new(threads), &Quiet)).unwrap();
    let one = fit(1);
    assert!(one == fit(2) && one == fit(3));
}

#[test]
fn single_precision_bytes_and_sparse_samples_are_taken() {
    let bytes = Mat::from_fn(30, 8, |i, j| (((i * 31 + j * 17 + i * j) % 5) * 40) as u8);
    let doubles = Mat::from_fn(30, 8, |i, j| f64::from(bytes.at(i, j)));
    let singles = Mat::from_fn(30, 8, |i, j| f32::from(bytes.at(i, j)));
    let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in 0..30 {
        for j in (0..8).filter(|j| doubles.at(i, *j) != 0.0) {
            columns.push(j);
            values.push(doubles.at(i, j));
        }
        starts.push(columns.len());
    }
    let sparse = Csr::new(8, starts, columns, values).unwrap();
    let want = params(3).fit(&doubles).unwrap().theta;
    for samples in [Samples::from(&bytes), Samples::from(&singles), Samples::from(&sparse)] {
        let found = params(3).fit(samples).unwrap();
        assert!(gap(&found.theta, &want) < 1e-10, "{:?}", samples.number_type());
        assert_eq!(found.transform(samples).unwrap().cols(), 3);
    }
}

#[test]
fn the_dimension_is_that_of_pce_unless_given_and_no_more_than_there_are() {
    let x = samples(80, 30);
    assert_eq!(L1GraphParams::default().fit(&x).unwrap().columns(), 6); // two subspaces of three dimensions
    let model = params(50).fit(&x).unwrap();
    assert_eq!(model.columns(), 30);
    assert!(model.about.warnings.contains(&Warning::RankCapped { asked: 50, most: 30 }));
}

#[test]
fn odd_samples_give_a_model_or_a_clear_error() {
    let one = Mat::from_fn(1, 4, |_, j| j as f64);
    assert_eq!(params(2).fit(&one).unwrap().columns(), 1);
    let same = Mat::from_fn(6, 4, |_, j| j as f64);
    assert_eq!(params(2).fit(&same).unwrap().columns(), 1);
    let zeros = Mat::<f64>::zeros(5, 4);
    assert!(matches!(params(2).fit(&zeros), Err(Error::AllZero { centred: false, .. })));
    let centred = L1GraphParams { center: true, normalize: Normalize::None, ..params(2) };
    assert!(matches!(centred.fit(&same), Err(Error::AllZero { centred: true, .. })));
    let some_zero = Mat::from_fn(8, 4, |i, j| if i % 3 == 0 { 0.0 } else { ((i * 4 + j) as f64).sin() });
    assert_eq!(params(2).fit(&some_zero).unwrap().columns(), 2);
    let constant = Mat::from_fn(9, 4, |i, j| if j == 0 { 1.0 } else { ((i * 4 + j) as f64).sin() });
    assert_eq!(L1GraphParams { normalize: Normalize::ZScore, ..params(2) }.fit(&constant).unwrap().columns(), 2);
    let huge = Mat::from_fn(4, 3, |i, j| if i == j { 1e200 } else { 1.0 });
    assert!(L1GraphParams { normalize: Normalize::None, ..params(2) }.fit(&huge).is_err());
    assert!(params(2).fit(&huge).is_ok());
    let holes = Mat::from_fn(4, 3, |i, _| if i == 2 { f64::NAN } else { 1.0 });
    assert!(matches!(params(2).fit(&holes), Err(Error::NotFinite { row: 2, .. })));
    assert!(matches!(params(2).fit(&Mat::<f64>::zeros(0, 3)), Err(Error::Empty { .. })));
}

#[test]
fn out_of_range_parameters_are_refused() {
    let x = samples(20, 6);
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = L1GraphParams { lambda, ..params(2) }.fit(&x).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "lambda", .. }), "{lambda}");
    }
    let error = L1GraphParams { max_iter: 0, ..params(2) }.fit(&x).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "max_iter", .. }));
    assert!(matches!(params(0).fit(&x), Err(Error::Parameter { name: "dim", .. })));
    let error = L1GraphParams::as_published(2, 0.1, -1.0).fit(&x).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "tol", .. }));
}

#[test]
fn a_model_taken_apart_and_put_together_is_the_same() {
    let model = L1GraphParams::as_published(3, 1e-2, 1e-3).fit(&samples(30, 9)).unwrap();
    let (facts, arrays) = model.take_apart();
    let again = eigenspan_core::model::linear::Linear::put_together(facts, arrays).unwrap();
    assert!(model == again);
}

#[test]
fn faces_of_the_same_person_are_found_by_the_codes() {
    let Some(faces) = real("exyaleb_54x48_first58.npz") else { return };
    let some: Vec<usize> = (0..232).collect(); // four people
    let faces = faces.select_rows(&some).unwrap();
    let (model, codes) = params(20).fit_with_codes(faces.samples.view(), Exec::default()).unwrap();
    assert!(model.about.warnings.is_empty());
    let (mut own, mut all) = (0.0, 0.0);
    for (i, code) in codes.columns.iter().enumerate() {
        for (j, value) in &code.entries {
            all += value.abs();
            own += if i / 58 == j / 58 { value.abs() } else { 0.0 };
        }
    }
    assert!(own > 0.8 * all, "{own} of {all}"); // by chance it would be a quarter
}
