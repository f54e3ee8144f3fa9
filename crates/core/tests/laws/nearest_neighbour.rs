//! What the nearest neighbour classifier promises.

use std::num::NonZero;

use crate::common::real;
use eigenspan_core::classify::accuracy;
use eigenspan_core::classify::nearest_neighbour::{NearestNeighbour, NearestNeighbourParams};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Csr, Labels, Matrix};
use eigenspan_core::method::parts::neighbours::Metric;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::{Arrays, Record};
use eigenspan_core::split::{Split, Train};
use eigenspan_core::{Error, Exec, Mat, Normalize, Quiet, Warning};

fn normal(n: usize, m: usize, seed: u64) -> Mat {
    let mut random = Normal::new(seed);
    Mat::from_fn(n, m, |_, _| random.draw())
}

/// Classes c0, c1, …; there may be more names than classes in use.
fn labels(of: Vec<usize>, classes: usize) -> Labels {
    Labels { names: (0..classes).map(|c| format!("c{c}")).collect(), of }
}

fn line(values: &[f64]) -> Mat {
    Mat::from_vec(values.len(), 1, values.to_vec()).unwrap()
}

fn fit(samples: &Mat, of: &[usize], neighbours: usize) -> NearestNeighbour {
    let classes = of.iter().max().map_or(0, |c| c + 1);
    NearestNeighbourParams { neighbours, ..Default::default() }.fit(samples, &labels(of.to_vec(), classes)).unwrap()
}

#[test]
fn one_neighbour_is_the_first_of_the_nearest() {
    let model = fit(&line(&[0.0, 2.0, 2.0, 5.0]), &[0, 1, 2, 3], 1);
    assert_eq!(model.predict(&line(&[-1.0, 1.0, 1.5, 2.0, 3.5, 9.0])).unwrap(), [0, 0, 1, 1, 1, 3]);
}

#[test]
fn votes_count_then_nearness_then_order() {
    // Three of class 1 outvote the nearer one of class 0.
    assert_eq!(fit(&line(&[0.0, 2.0, 3.0, 4.0]), &[0, 1, 1, 1], 4).predict(&line(&[0.1])).unwrap(), [1]);
    // Two against two: the class of the nearest, wherever it stands.
    assert_eq!(fit(&line(&[2.0, 9.0, 3.0, 1.0]), &[0, 0, 1, 1], 4).predict(&line(&[0.0])).unwrap(), [1]);
    // Two against two at equal distances: the class of the first sample, not the first class.
    assert_eq!(fit(&line(&[-1.0, 1.0, -1.0, 1.0]), &[2, 1, 2, 1], 4).predict(&line(&[0.0])).unwrap(), [2]);
}

#[test]
fn the_training_samples_have_their_own_classes() {
    let x = normal(300, 12, 1);
    let of: Vec<usize> = (0..300).map(|i| i * 7 % 5).collect();
    let model = fit(&x, &of, 1);
    let predicted = model.predict(&x).unwrap();
    assert_eq!(accuracy(&predicted, &of).unwrap(), 100.0);
    let found = model.neighbours_with(&x, 3, Exec::default()).unwrap();
    assert!((0..300).all(|i| found.of(i).next() == Some((i, 0.0))));
    let gap = |a: usize, b: usize| x.row(a).iter().zip(x.row(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    assert!((0..300).all(|i| found.of(i).all(|(j, d)| (d - gap(i, j)).abs() < 1e-14)), "distances, not squares");
}

#[test]
fn distances_to_the_classes_are_those_to_the_nearest_member_and_infinite_without_one() {
    let (x, y) = (normal(60, 4, 2), normal(9, 4, 3));
    let of: Vec<usize> = (0..60).map(|i| [0, 1, 3][i % 3]).collect();
    let model = NearestNeighbourParams::default().fit(&x, &labels(of.clone(), 5)).unwrap();
    assert_eq!((model.features(), model.columns()), (4, 5));
    let away = model.transform_with((&y).into(), Exec::default()).unwrap().into_f64();
    let predicted = model.predict(&y).unwrap();
    for i in 0..9 {
        for class in 0..5 {
            let members = (0..60).filter(|&j| of[j] == class);
            let square = |j: usize| y.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let want = members.map(square).fold(f64::INFINITY, f64::min).sqrt();
            assert!(away.at(i, class) == want || (away.at(i, class) - want).abs() < 1e-14);
        }
        let nearest = (0..5).min_by(|a, b| away.at(i, *a).total_cmp(&away.at(i, *b)));
        assert_eq!(nearest, Some(predicted[i]));
    }
}

#[test]
fn classes_without_samples_are_survived() {
    let model = NearestNeighbourParams { neighbours: 2, ..Default::default() };
    let model = model.fit(&line(&[0.0, 1.0, 9.0]), &labels(vec![4, 4, 1], 7)).unwrap();
    assert_eq!(model.predict(&line(&[8.0, 0.0])).unwrap(), [1, 4]);
}

#[test]
fn threads_kinds_of_numbers_and_company_change_nothing() {
    let whole = Mat::from_fn(400, 30, |i, j| ((i * i + 3 * j * i + j) % 200) as u8);
    let of: Vec<usize> = (0..400).map(|i| i % 7).collect();
    let labels = labels(of, 7);
    let f64s = Mat::from_fn(400, 30, |i, j| f64::from(whole.at(i, j)));
    let starts = (0..=400).map(|i| i * 30).collect();
    let sparse = Csr::new(30, starts, (0..12_000).map(|c| c % 30).collect(), f64s.as_slice().to_vec()).unwrap();
    let f32s = Mat::from_fn(400, 30, |i, j| f32::from(whole.at(i, j)));
    let kinds: [Matrix; 4] = [f64s.clone().into(), whole.into(), f32s.into(), sparse.into()];
    for metric in [Metric::Euclidean, Metric::Cosine] {
        for normalize in [Normalize::None, Normalize::Unit, Normalize::ZScore] {
            let params = NearestNeighbourParams { neighbours: 3, metric, normalize };
            let one = params.fit(&f64s, &labels).unwrap();
            let want = one.predict(&f64s).unwrap();
            for kind in &kinds {
                for threads in [1, 2, 3] {
                    let exec = Exec::new(NonZero::new(threads), &Quiet);
                    let model = params.fit_with(kind, &labels, exec).unwrap();
                    assert_eq!(model.predict_with(kind, exec).unwrap(), want);
                }
            }
            let alone: Vec<usize> = [17, 300].map(|i| one.predict(&f64s.select_rows(&[i])).unwrap()[0]).to_vec();
            assert_eq!(alone, [want[17], want[300]]);
        }
    }
}

#[test]
fn tiny_and_huge_samples_have_the_classes_of_the_same_samples_near_one() {
    let (x, y) = (normal(200, 6, 5), normal(50, 6, 6));
    let of: Vec<usize> = (0..200).map(|i| i % 4).collect();
    let want = fit(&x, &of, 3).predict(&y).unwrap();
    for scale in [2f64.powi(-665), 2f64.powi(600)] {
        let times = |x: &Mat| Mat::from_fn(x.rows(), 6, |i, j| x.at(i, j) * scale);
        assert_eq!(fit(&times(&x), &of, 3).predict(&times(&y)).unwrap(), want, "1e-200 and 1e180");
    }
}

#[test]
fn what_cannot_be_fitted_or_predicted_is_refused() {
    let x = normal(5, 2, 1);
    let of = || labels(vec![0, 1, 0, 1, 0], 2);
    let with = |neighbours| NearestNeighbourParams { neighbours, ..Default::default() };
    assert!(matches!(with(0).fit(&x, &of()), Err(Error::Parameter { name: "neighbours", .. })));
    assert!(matches!(with(6).fit(&x, &of()), Err(Error::TooFewSamples { needed: 6, got: 5, .. })));
    assert_eq!(with(1).fit(&x, &labels(vec![0; 4], 1)), Err(Error::LabelMismatch { samples: 5, got: 4 }));
    let unnamed = with(1).fit(&x, &labels(vec![0, 1, 2, 0, 1], 2));
    assert!(matches!(unnamed, Err(Error::Parameter { name: "labels", .. })), "a class without a name");
    assert!(matches!(with(1).fit(&Mat::<f64>::zeros(0, 2), &labels(vec![], 0)), Err(Error::Empty { .. })));
    let bad = Mat::from_fn(5, 2, |i, j| if (i, j) == (3, 1) { f64::NAN } else { 0.0 });
    assert!(matches!(with(1).fit(&bad, &of()), Err(Error::NotFinite { row: 3, column: 1, .. })));
    let model = with(5).fit(&x, &of()).unwrap();
    assert!(matches!(model.predict(&bad), Err(Error::NotFinite { row: 3, column: 1, .. })));
    assert_eq!(model.predict(&normal(3, 4, 1)), Err(Error::FeatureMismatch { expected: 2, got: 4 }));
    assert_eq!(model.predict(&Mat::<f64>::zeros(0, 2)), Ok(vec![]));
    assert_eq!(model.neighbours_with(&x, 99, Exec::default()).unwrap().k, 5);
    let unit = NearestNeighbourParams { normalize: Normalize::Unit, ..Default::default() };
    let zeros = unit.fit(&Mat::<f64>::zeros(5, 2), &of()).unwrap();
    assert!(matches!(zeros.info().warnings, [Warning::ZeroSamples { count: 5, .. }]));
    assert_eq!(zeros.predict(&x).unwrap(), [0; 5], "all are equally far: the first wins");
    assert_eq!(fit(&x.select_rows(&[0]), &[0], 1).predict(&x).unwrap(), [0; 5]);
}

#[test]
fn a_model_taken_apart_is_put_together_again_and_a_forged_one_is_refused() {
    let x = normal(20, 3, 8);
    for normalize in [Normalize::None, Normalize::ZScore] {
        let params = NearestNeighbourParams { neighbours: 2, normalize, metric: Metric::Cosine };
        let model = params.fit(&x, &labels((0..20).map(|i| i % 3).collect(), 4)).unwrap();
        let (facts, arrays) = model.take_apart();
        assert_eq!(NearestNeighbour::put_together(facts.clone(), arrays.clone()).unwrap(), model);
        let forged = [
            arrays.clone().with_vector("classes", &[1.5; 20]),
            arrays.clone().with_vector("classes", &[-1.0; 20]),
            arrays.clone().with_vector("classes", &[4.0; 20]),
            arrays.clone().with_vector("classes", &[0.0; 19]),
            arrays.clone().with("samples", Mat::zeros(1, 3)).with_vector("classes", &[0.0]),
            arrays.clone().with("samples", Mat::zeros(20, 0)),
            arrays.clone().with_vector("other", &[0.0]),
            Arrays::default(),
        ];
        for arrays in forged {
            assert!(matches!(NearestNeighbour::put_together(facts.clone(), arrays), Err(Error::Model(_))));
        }
    }
}

#[test]
fn on_usps_it_is_right_as_often_as_a_plain_double_loop() {
    let Some(data) = real("usps_11000.npz") else { return };
    let labels = data.labels.clone().unwrap();
    let split = Split::stratified(&labels, Train::Count(330), 11, 0).unwrap();
    let test: Vec<usize> = split.test.iter().copied().step_by(25).collect();
    let (train, some) = (data.select_rows(&split.train).unwrap(), data.select_rows(&test).unwrap());
    let model = NearestNeighbourParams::default().fit(&train.samples, train.labels.as_ref().unwrap()).unwrap();
    let predicted = model.predict(&some.samples).unwrap();
    let (Matrix::U8(points), Matrix::U8(queries)) = (&train.samples, &some.samples) else { panic!("bytes") };
    let gap = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| (i32::from(*a) - i32::from(*b)).pow(2)).sum::<i32>();
    let plain = |i: usize| (0..points.rows()).min_by_key(|&j| gap(queries.row(i), points.row(j))).unwrap();
    let of = &train.labels.as_ref().unwrap().of;
    let plain: Vec<usize> = (0..test.len()).map(|i| of[plain(i)]).collect();
    assert_eq!(predicted, plain);
    let right = accuracy(&predicted, &some.labels.unwrap().of).unwrap();
    assert!(right > 85.0, "{right} %");
}
