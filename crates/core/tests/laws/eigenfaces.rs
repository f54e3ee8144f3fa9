//! What Eigenfaces, as published, promise.

use std::num::NonZero;

use crate::common::{fixture, gap};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Csr, Samples};
use eigenspan_core::method::eigenfaces::EigenfacesParams;
use eigenspan_core::method::pca::Components;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::linear::Linear;
use eigenspan_core::model::record::Record;
use eigenspan_core::{Dim, Error, Exec, Mat, Normalize, PcaParams, Quiet, Warning};

type Model = Linear<EigenfacesParams>;

fn samples(n: usize, m: usize, rank: usize) -> Mat {
    let mut random = Normal::new(9);
    let (left, right) = (Mat::from_fn(n, rank, |_, _| random.draw()), Mat::from_fn(rank, m, |_, _| random.draw()));
    let low = |i: usize, j: usize| (0..rank).map(|r| left.at(i, r) * right.at(r, j)).sum::<f64>();
    Mat::from_fn(n, m, |i, j| 20.0 + j as f64 + low(i, j) + 0.01 * random.draw())
}

/// `found` with every column turned to the side of the same column of `wanted`.
fn turned(found: &Mat, wanted: &Mat) -> Mat {
    let dot = |j: usize| (0..found.rows()).map(|i| found.at(i, j) * wanted.at(i, j)).sum::<f64>();
    let signs: Vec<f64> = (0..found.cols()).map(|j| dot(j).signum()).collect();
    Mat::from_fn(found.rows(), found.cols(), |i, j| signs[j] * found.at(i, j))
}

#[test]
fn they_are_those_of_the_authors_code() {
    let of = |array| fixture("eigenfaces.npz", array);
    let (x, y) = (of("X").transposed(), of("Y").transposed());
    let model = EigenfacesParams::as_published(6).fit(&x).unwrap();
    let basis = of("Bs");
    // Linear algebra of another program, on eigenvalues that are well apart.
    assert!(gap(&turned(&model.theta, &basis), &basis) < 1e-10);
    let values = of("val");
    assert!(model.values.iter().zip(values.as_slice()).all(|(a, b)| (a / b - 1.0).abs() < 1e-10));
    for (samples, wanted) in [(&x, of("F").transposed()), (&y, of("G").transposed())] {
        let features = model.transform(samples).unwrap().into_f64();
        assert!(gap(&turned(&features, &wanted), &wanted) < 1e-10);
    }
}

#[test]
fn the_basis_is_that_of_pca_and_only_the_projection_differs() {
    let x = samples(40, 12, 3);
    let pca = PcaParams { components: Components::Count(3), ..Default::default() }.fit(&x).unwrap();
    let published = EigenfacesParams::as_published(3);
    let model = published.fit(&x).unwrap();
    assert_eq!(gap(&model.theta, &pca.theta()), 0.0);
    let textbook = EigenfacesParams { keep_mean: false, unit_features: false, ..published }.fit(&x).unwrap();
    let scores = pca.transform(&x).unwrap().into_f64();
    assert!(gap(&textbook.transform(&x).unwrap().into_f64(), &scores) < 1e-12);
    let z = model.transform(&x).unwrap().into_f64();
    assert!((0..40).all(|i| (z.row(i).iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-14), "length one");
    // Bᵀx = Bᵀ(x − μ) + Bᵀμ, up to length.
    let raw = EigenfacesParams { unit_features: false, ..published }.fit(&x).unwrap().transform(&x).unwrap().into_f64();
    let offset: Vec<f64> = (0..3).map(|j| raw.at(0, j) - scores.at(0, j)).collect();
    assert!(offset.iter().any(|c| c.abs() > 1.0), "the mean is not subtracted");
    assert!((0..40).all(|i| (0..3).all(|j| (raw.at(i, j) - scores.at(i, j) - offset[j]).abs() < 1e-11)));
}

#[test]
fn more_than_the_rank_is_capped_and_said() {
    let x = samples(10, 30, 2);
    let copies = Mat::from_fn(12, 30, |i, j| x.at(i % 4, j));
    for (x, most) in [(x, 9), (copies, 3)] {
        let model = EigenfacesParams::as_published(300).fit(&x).unwrap();
        assert_eq!(model.columns(), most);
        assert!(model.info().warnings.contains(&Warning::RankCapped { asked: 300, most }));
        assert!(model.values.iter().all(|v| *v > 0.0));
    }
    let x = samples(40, 12, 3);
    assert!(EigenfacesParams::as_published(12).fit(&x).unwrap().info().warnings.is_empty());
}

#[test]
fn the_dimension_is_found_where_it_is_not_given() {
    let model = EigenfacesParams::default().fit(&samples(100, 20, 3)).unwrap();
    assert_eq!(model.columns(), 3, "{}", model.info().why);
}

#[test]
fn threads_and_kinds_of_numbers_change_nothing() {
    let whole = Mat::from_fn(70, 25, |i, j| ((i * i * 7 + 3 * j * i + 11 * j) % 251) as u8);
    let f64s = Mat::from_fn(70, 25, |i, j| f64::from(whole.at(i, j)));
    let on = |samples: Samples<'_>, threads| {
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        let model = EigenfacesParams::as_published(5).fit_with(samples, exec).unwrap();
        let features = model.transform_with(samples, exec).unwrap();
        (model, features)
    };
    let one = on((&f64s).into(), 1);
    assert!([2, 3].into_iter().all(|threads| on((&f64s).into(), threads) == one));
    let starts = (0..=70).map(|i| i * 25).collect();
    let sparse = Csr::new(25, starts, (0..1750).map(|c| c % 25).collect(), f64s.as_slice().to_vec()).unwrap();
    let f32s = Mat::from_fn(70, 25, |i, j| f32::from(whole.at(i, j)));
    for (samples, close) in [((&whole).into(), 1e-11), ((&sparse).into(), 1e-11), ((&f32s).into(), 1e-6)] {
        let (model, features) = on(samples, 2);
        assert!(gap(&turned(&model.theta, &one.0.theta), &one.0.theta) < 1e-11);
        let want = one.1.clone().into_f64();
        assert!(gap(&turned(&features.into_f64(), &want), &want) < close);
    }
}

#[test]
fn what_has_no_directions_is_refused() {
    let published = EigenfacesParams::as_published(3);
    let x = samples(10, 4, 2);
    assert!(matches!(EigenfacesParams::as_published(0).fit(&x), Err(Error::Parameter { name: "dim", .. })));
    for constant in [x.select_rows(&[0]), x.select_rows(&[3, 3, 3]), Mat::zeros(5, 2)] {
        assert!(matches!(published.fit(&constant), Err(Error::AllZero { centred: true, .. })));
    }
    assert!(matches!(published.fit(&Mat::<f64>::zeros(0, 3)), Err(Error::Empty { .. })));
    let zero = published.fit(&x).unwrap().transform(&Mat::<f64>::zeros(1, 4)).unwrap().into_f64();
    assert_eq!(zero.as_slice(), [0.0; 3], "a zero sample has no length to scale");
}

#[test]
fn a_model_taken_apart_is_put_together_again() {
    let x = samples(30, 8, 2);
    for normalize in [Normalize::None, Normalize::Unit, Normalize::ZScore] {
        for keep_mean in [false, true] {
            let params = EigenfacesParams { dim: Dim::Fixed(2), normalize, keep_mean, unit_features: true };
            let model = params.fit(&x).unwrap();
            let (facts, arrays) = model.take_apart();
            assert_eq!(Model::put_together(facts, arrays).unwrap(), model);
        }
    }
}
