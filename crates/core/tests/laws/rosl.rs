//! What robust orthonormal subspace learning promises.

use std::num::NonZero;

use crate::common::{fixture, gap, odd_samples, real};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::method::robust_pca::RobustPcaParams;
use eigenspan_core::method::rosl::RoslParams;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::Record;
use eigenspan_core::model::trace::Stop;
use eigenspan_core::{Dim, Error, Exec, Mat, Normalize, Quiet, Warning};

fn size(x: &Mat) -> f64 {
    x.as_slice().iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn sum(a: &Mat, b: &Mat, factor: f64) -> Mat {
    Mat::from_fn(a.rows(), a.cols(), |i, j| a.at(i, j) + factor * b.at(i, j))
}

/// A matrix of rank `rank`, and gross errors in a share of its entries.
fn planted(n: usize, m: usize, rank: usize, share: f64) -> (Mat, Mat) {
    let mut random = Normal::new((n * m) as u64);
    let mut draw = |rows, cols| Mat::from_fn(rows, cols, |_, _| random.draw());
    let (a, b) = (draw(n, rank), draw(rank, m));
    let low = Mat::from_fn(n, m, |i, j| (0..rank).map(|l| a.at(i, l) * b.at(l, j)).sum());
    let errors =
        Mat::from_fn(n, m, |_, _| if random.uniform() < share { 20.0 * (random.uniform() - 0.5) } else { 0.0 });
    (low, errors)
}

#[test]
fn five_rounds_and_all_of_them_are_those_of_the_reference() {
    let rows = |name: &str| fixture("rosl.npz", name).transposed();
    let start = fixture("rosl.npz", "alpha0");
    let params = RoslParams { lambda: Some(0.15), growth: 1.5, tol: 1e-6, ..RoslParams::default() };
    // Rounding alone differs. It grows from round to round, since directions are turned against each other.
    for (rounds, low, sparse, close) in [(5, "Ar5", "Er5", 1e-8), (1000, "Ar", "Er", 1e-7)] {
        let fit = RoslParams { max_iter: rounds, ..params }.fit_from(&rows("D"), &start, Exec::default()).unwrap();
        let off = gap(&fit.low_rank, &rows(low)).max(gap(&fit.sparse, &rows(sparse)));
        assert!(off < close, "{rounds}: {off:e}");
        assert_eq!(fit.rank, 4);
        let stop = if rounds == 5 { Stop::RoundsUsedUp } else { Stop::Converged };
        assert_eq!(fit.model.about.trace.stop, stop);
    }
}

#[test]
fn planted_parts_are_recovered_whatever_the_shape() {
    for (n, m, rank) in [(60, 60, 3), (120, 40, 2), (40, 120, 2), (300, 270, 8)] {
        let (low, errors) = planted(n, m, rank, 0.05);
        let d = sum(&low, &errors, 1.0);
        let fit = RoslParams::default().fit(&d).unwrap();
        let off = size(&sum(&sum(&d, &fit.low_rank, -1.0), &fit.sparse, -1.0)) / size(&d);
        assert!(off < 1e-7, "{n} × {m}: {off:e}");
        let off = size(&sum(&fit.low_rank, &low, -1.0)) / size(&low);
        assert!(off < 1e-5, "{n} × {m}: {off:e}, rank {}", fit.rank);
        assert_eq!(fit.rank, rank, "{n} × {m}");
    }
}

#[test]
fn errors_far_larger_than_the_samples_do_not_drown_them() {
    // Errors of up to 500 beside entries of about 5: the first threshold is above every direction of the samples.
    let (low, errors) = planted(100, 100, 5, 0.05);
    let d = sum(&low, &errors, 50.0);
    let fit = RoslParams::default().fit(&d).unwrap();
    let off = size(&sum(&fit.low_rank, &low, -1.0)) / size(&low);
    assert!(off < 1e-4, "{off:e}, rank {}", fit.rank);
}

#[test]
fn it_agrees_with_robust_pca_where_both_recover() {
    let (low, errors) = planted(70, 50, 3, 0.04);
    let d = sum(&low, &errors, 1.0);
    let a = RoslParams::default().fit(&d).unwrap();
    let b = RobustPcaParams::default().fit(&d).unwrap();
    assert!(gap(&a.low_rank, &b.low_rank) < 1e-4, "{:e}", gap(&a.low_rank, &b.low_rank));
}

#[test]
fn the_rank_never_rises_and_its_bound_is_told() {
    let (low, errors) = planted(50, 40, 6, 0.05);
    let d = sum(&low, &errors, 1.0);
    let ranks: Vec<usize> = (1..=90)
        .map(|rounds| RoslParams { max_iter: rounds, ..RoslParams::default() }.fit(&d).map_or(0, |fit| fit.rank))
        .collect();
    assert!(ranks.windows(2).all(|w| w[1] <= w[0]), "{ranks:?}");
    assert_eq!(ranks[89], 6, "{ranks:?}");
    let bound = RoslParams { rank: Some(2), ..RoslParams::default() }.fit(&d).unwrap();
    assert_eq!(bound.rank, 2);
    assert!(bound.model.about.warnings.contains(&Warning::RankAtBound { bound: 2 }));
}

#[test]
fn dear_errors_leave_the_samples_as_they_are() {
    let (low, errors) = planted(30, 20, 3, 0.1);
    let d = sum(&low, &errors, 1.0);
    let fit = RoslParams { lambda: Some(5.0), ..RoslParams::default() }.fit(&d).unwrap();
    assert!(fit.sparse.as_slice().iter().all(|v| *v == 0.0));
    assert!(size(&sum(&fit.low_rank, &d, -1.0)) < 1e-7 * size(&d));
}

#[test]
fn equal_first_coefficients_are_dropped_and_not_divided_by_rounding() {
    let (low, _) = planted(20, 15, 4, 0.0);
    let same = Mat::from_fn(6, 20, |_, j| (j + 1) as f64);
    let fit = RoslParams::default().fit_from(&low, &same, Exec::default()).unwrap();
    assert!(fit.low_rank.as_slice().iter().all(|v| v.is_finite()));
    assert!(fit.rank <= 4, "{}", fit.rank);
}

#[test]
fn the_seed_decides_and_the_number_of_threads_does_not() {
    let (low, errors) = planted(300, 280, 6, 0.05);
    let d = sum(&low, &errors, 1.0);
    let params = RoslParams { max_iter: 12, rank: Some(60), ..RoslParams::default() };
    let fits = [1, 2, 3].map(|threads| params.fit_with(&d, Exec::new(NonZero::new(threads), &Quiet)).unwrap());
    assert!(fits[0] == fits[1] && fits[1] == fits[2]);
    let other = RoslParams { seed: 1, ..params }.fit(&d).unwrap();
    assert_ne!(other.low_rank, fits[0].low_rank);
}

#[test]
fn units_do_not_matter() {
    let (low, errors) = planted(30, 40, 2, 0.05);
    let d = sum(&low, &errors, 1.0);
    let fit = RoslParams::default().fit(&d).unwrap();
    for exponent in [-900, 900] {
        let power = 2f64.powi(exponent);
        let other = RoslParams::default().fit(&Mat::from_fn(30, 40, |i, j| d.at(i, j) * power)).unwrap();
        assert_eq!(Mat::from_fn(30, 40, |i, j| other.low_rank.at(i, j) / power), fit.low_rank, "{exponent}");
    }
}

#[test]
fn numbers_of_every_type_give_what_their_values_give() {
    let d = Mat::from_fn(20, 15, |i, j| if (7 * i + 3 * j) % 11 == 0 { 200u8 } else { (i % 4 * (j % 5)) as u8 });
    let wide = Mat::from_fn(20, 15, |i, j| f64::from(d.at(i, j)));
    let single = Mat::from_fn(20, 15, |i, j| f32::from(d.at(i, j)));
    let fit = RoslParams::default().fit(&wide).unwrap();
    assert_eq!(RoslParams::default().fit(&d).unwrap().low_rank, fit.low_rank);
    assert_eq!(RoslParams::default().fit(&single).unwrap().low_rank, fit.low_rank);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let x = Mat::from_fn(5, 4, |i, j| (i * j) as f64 + 1.0);
    let params = RoslParams::default();
    let name = |result: Result<_, Error>| match result {
        Err(Error::Parameter { name, .. }) => name,
        Err(other) => panic!("{other:?}"),
        Ok(()) => panic!("was not refused"),
    };
    let fit = |params: RoslParams| params.fit(&x).map(|_| ());
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(fit(RoslParams { lambda: Some(lambda), ..params })), "lambda");
    }
    assert_eq!(name(fit(RoslParams { tol: 0.0, ..params })), "tol");
    assert_eq!(name(fit(RoslParams { growth: 1.0, ..params })), "growth");
    assert_eq!(name(fit(RoslParams { max_iter: 0, ..params })), "max_iter");
    assert_eq!(name(fit(RoslParams { rank: Some(0), ..params })), "rank");
    assert_eq!(name(fit(RoslParams { dim: Dim::Fixed(0), ..params })), "dim");
    assert_eq!(name(params.fit_from(&x, &Mat::zeros(2, 4), Exec::default()).map(|_| ())), "alpha");
    assert!(matches!(params.fit(&Mat::<f64>::zeros(3, 2)), Err(Error::AllZero { n: 3, m: 2, centred: false })));
    assert!(matches!(params.fit(&Mat::<f64>::zeros(0, 2)), Err(Error::Empty { .. })));
    assert!(matches!(params.fit(&Mat::<f64>::zeros(2, 0)), Err(Error::Empty { .. })));
    let broken = Mat::from_fn(3, 2, |i, _| if i == 2 { f64::NAN } else { 1.0 });
    assert!(matches!(params.fit(&broken), Err(Error::NotFinite { row: 2, column: 0, .. })));
    let cheap = RoslParams { lambda: Some(1e-6), ..params };
    let warnings = cheap.fit(&x).unwrap().model.about.warnings;
    assert!(warnings.iter().any(|warning| matches!(warning, Warning::NoLowRank { .. })), "{warnings:?}");
}

#[test]
fn odd_samples_give_a_result_or_a_clear_error() {
    for x in &odd_samples() {
        for (center, keep_mean) in [(true, false), (true, true), (false, false)] {
            for normalize in [Normalize::None, Normalize::Unit, Normalize::ZScore] {
                match (RoslParams { center, keep_mean, normalize, ..RoslParams::default() }).fit(x) {
                    Ok(fit) => {
                        let z = fit.model.transform(x).unwrap().into_f64();
                        assert!(z.as_slice().iter().all(|v| v.is_finite()));
                    }
                    Err(error) => {
                        let clear = matches!(error, Error::AllZero { .. });
                        assert!(clear, "{x:?}: {error:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_model_survives_its_file() {
    let (low, errors) = planted(30, 20, 2, 0.05);
    let fit = RoslParams::default().fit(&sum(&low, &errors, 1.0)).unwrap();
    let (facts, arrays) = fit.model.take_apart();
    assert_eq!(Record::put_together(facts, arrays), Ok(fit.model.clone()));
    assert_eq!(fit.model.info().method, "rosl");
}

#[test]
fn the_published_pipeline_gives_faces_features_of_length_one() {
    let Some(faces) = real("exyaleb_54x48_first58.npz") else { return };
    // Every 11th face, every 16th pixel: 200 faces of 162 pixels.
    let all = faces.samples.into_f64();
    let some = Mat::from_fn(200, all.cols() / 16, |i, j| all.at(11 * i, 16 * j));
    let fit = RoslParams::as_published(40, 0.11).fit(&some).unwrap();
    let z = fit.model.transform(&some).unwrap().into_f64();
    assert_eq!((z.rows(), z.cols()), (200, 40));
    assert!((0..200).all(|i| (z.row(i).iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12));
}
