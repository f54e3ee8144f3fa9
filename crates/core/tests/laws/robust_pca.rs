//! What robust principal component analysis promises.

use std::num::NonZero;

use crate::common::{fixture, gap, odd_samples, real};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Matrix, Samples};
use eigenspan_core::method::pca::{Components, PcaParams};
use eigenspan_core::method::robust_pca::{RobustPcaParams, RobustSolver};
use eigenspan_core::model::decomposed::Decomposed;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::Record;
use eigenspan_core::model::trace::Stop;
use eigenspan_core::{Dim, Error, Exec, Mat, Normalize, Quiet, Warning};

type Fit = Decomposed<RobustPcaParams>;

const SOLVERS: [RobustSolver; 2] = [RobustSolver::Ialm, RobustSolver::Apg];

fn with(solver: RobustSolver) -> RobustPcaParams {
    RobustPcaParams { solver, ..RobustPcaParams::default() }
}

fn size(x: &Mat) -> f64 {
    x.as_slice().iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn sum(a: &Mat, b: &Mat, factor: f64) -> Mat {
    Mat::from_fn(a.rows(), a.cols(), |i, j| a.at(i, j) + factor * b.at(i, j))
}

/// ‖D − A − E‖ / ‖D‖.
fn residual(d: &Mat, fit: &Fit) -> f64 {
    size(&sum(&sum(d, &fit.low_rank, -1.0), &fit.sparse, -1.0)) / size(d)
}

/// A matrix of rank `rank`, and gross errors in a share of its entries.
fn planted(n: usize, m: usize, rank: usize, share: f64) -> (Mat, Mat) {
    planted_by(n, m, rank, share, (n * m) as u64)
}

fn planted_by(n: usize, m: usize, rank: usize, share: f64, seed: u64) -> (Mat, Mat) {
    let mut random = Normal::new(seed);
    let mut draw = |rows, cols| Mat::from_fn(rows, cols, |_, _| random.draw());
    let (a, b) = (draw(n, rank), draw(rank, m));
    let low = Mat::from_fn(n, m, |i, j| (0..rank).map(|l| a.at(i, l) * b.at(l, j)).sum());
    let errors =
        Mat::from_fn(n, m, |_, _| if random.uniform() < share { 20.0 * (random.uniform() - 0.5) } else { 0.0 });
    (low, errors)
}

#[test]
fn both_solvers_go_the_way_of_the_reference_round_by_round() {
    let rows = |name: &str| fixture("rpca.npz", name).transposed();
    let lambda = Some(fixture("rpca.npz", "lam").at(0, 0));
    for (solver, low, sparse, rounds) in [(RobustSolver::Apg, "A", "E", "ni"), (RobustSolver::Ialm, "A2", "E2", "ni2")]
    {
        let fit = RobustPcaParams { lambda, growth: 1.5, ..with(solver) }.fit(&rows("D")).unwrap();
        let trace = &fit.model.about.trace;
        assert_eq!(trace.rounds as f64, fixture("rpca.npz", rounds).at(0, 0), "{solver:?}");
        assert_eq!((trace.stop, trace.values.len()), (Stop::Converged, trace.rounds));
        // The same steps with the same rule to stop: only rounding differs, and a round hardly enlarges it.
        let off = gap(&fit.low_rank, &rows(low)).max(gap(&fit.sparse, &rows(sparse)));
        assert!(off < 1e-8, "{solver:?}: {off:e}");
        assert_eq!(fit.rank, 3);
    }
}

#[test]
fn planted_parts_are_recovered_whatever_the_shape() {
    for (n, m, rank) in [(60, 60, 3), (120, 40, 2), (40, 120, 2), (300, 270, 8)] {
        let (low, errors) = planted(n, m, rank, 0.05);
        let d = sum(&low, &errors, 1.0);
        for solver in SOLVERS {
            if solver == RobustSolver::Apg && n > 200 {
                continue; // the same code at four times the rounds
            }
            let fit = with(solver).fit(&d).unwrap();
            assert!(fit.model.about.warnings.is_empty(), "{:?}", fit.model.about.warnings);
            assert_eq!((fit.rank, fit.model.columns()), (rank, rank), "{n} × {m}, {solver:?}");
            // The tolerance is a measure of ‖D − A − E‖ for one solver; a hundredth of it for the other.
            let (close, near) = if solver == RobustSolver::Ialm { (1e-7, 1e-5) } else { (1e-4, 1e-4) };
            assert!(residual(&d, &fit) < close, "{n} × {m}, {solver:?}: {:e}", residual(&d, &fit));
            let off = size(&sum(&fit.low_rank, &low, -1.0)) / size(&low);
            assert!(off < near, "{n} × {m}, {solver:?}: {off:e}");
        }
    }
}

#[test]
fn the_default_pace_recovers_what_a_faster_one_misses() {
    let recovered = |growth: f64| {
        let parts = (0..10).filter(|seed| {
            let (low, errors) = planted_by(40, 120, 2, 0.05, *seed);
            let fit = RobustPcaParams { growth, ..RobustPcaParams::default() }.fit(&sum(&low, &errors, 1.0)).unwrap();
            size(&sum(&fit.low_rank, &low, -1.0)) < 1e-5 * size(&low)
        });
        parts.count()
    };
    assert_eq!(recovered(RobustPcaParams::default().growth), 10);
    assert!(recovered(1.5) < 10);
}

#[test]
fn both_solvers_find_the_same_parts() {
    // The proximal gradient lets its weight fall without waiting: it comes to rest near the solution, and the nearer the
    // sparser the errors. A smaller tolerance takes it no further.
    for (share, close) in [(0.04, 1e-3), (0.08, 1e-2)] {
        let (low, errors) = planted(50, 70, 3, share);
        let d = sum(&low, &errors, 1.0);
        let [a, b] = SOLVERS.map(|solver| with(solver).fit(&d).unwrap());
        let off = gap(&a.low_rank, &b.low_rank).max(gap(&a.sparse, &b.sparse));
        assert!(off < close, "{share}: {off:e}");
    }
}

#[test]
fn dear_errors_leave_the_samples_as_they_are() {
    let (low, errors) = planted(30, 20, 3, 0.1);
    let d = sum(&low, &errors, 1.0);
    // λ‖E‖₁ ≥ ‖E‖_* for every E once λ ≥ 1: E = 0 is the answer.
    for solver in SOLVERS {
        let fit = RobustPcaParams { lambda: Some(1.5), ..with(solver) }.fit(&d).unwrap();
        assert!(fit.sparse.as_slice().iter().all(|v| *v == 0.0), "{solver:?}");
        assert!(gap(&fit.low_rank, &d) < 1e-3 * size(&d), "{solver:?}: {:e}", gap(&fit.low_rank, &d));
    }
}

#[test]
fn cheap_errors_leave_nothing_but_the_leading_direction_and_a_warning() {
    let (low, _) = planted(30, 20, 3, 0.0);
    for solver in SOLVERS {
        let cheap = RobustPcaParams { lambda: Some(1e-6), ..with(solver) };
        let fit = cheap.fit(&low).unwrap();
        assert_eq!((fit.rank, fit.model.theta.cols()), (0, 1), "{solver:?}");
        assert!(fit.model.about.warnings.contains(&Warning::NoLowRank { constant: false }), "{solver:?}");
        let pca = PcaParams { components: Components::Count(1), ..PcaParams::default() }.fit(&low).unwrap();
        assert!(gap(&fit.model.theta, &pca.theta()) < 1e-12, "{solver:?}");
    }
    let same = Mat::from_fn(6, 4, |_, j| j as f64 + 1.0);
    assert!(matches!(with(RobustSolver::Ialm).fit(&same), Err(Error::AllZero { centred: true, .. })));
    let kept = RobustPcaParams { center: false, ..RobustPcaParams::default() }.fit(&same).unwrap();
    assert_eq!(kept.rank, 1);
}

#[test]
fn units_do_not_matter() {
    let (low, errors) = planted(30, 40, 2, 0.05);
    let d = sum(&low, &errors, 1.0);
    for solver in SOLVERS {
        let fit = with(solver).fit(&d).unwrap();
        for exponent in [-900, 900] {
            let power = 2f64.powi(exponent);
            let scaled = Mat::from_fn(30, 40, |i, j| d.at(i, j) * power);
            let other = with(solver).fit(&scaled).unwrap();
            let back = Mat::from_fn(30, 40, |i, j| other.low_rank.at(i, j) / power);
            assert_eq!(back, fit.low_rank, "{solver:?}, {exponent}");
            assert_eq!(other.model.theta, fit.model.theta);
        }
    }
}

#[test]
fn the_projection_is_a_principal_component_analysis_of_the_low_rank_part() {
    let (low, errors) = planted(60, 40, 3, 0.05);
    let d = sum(&low, &errors, 1.0);
    let fit = with(RobustSolver::Ialm).fit(&d).unwrap();
    let z = fit.model.transform(&fit.low_rank).unwrap().into_f64();
    for a in 0..3 {
        let mean = (0..60).map(|i| z.at(i, a)).sum::<f64>() / 60.0;
        assert!(mean.abs() < 1e-11, "{mean:e}");
        for b in 0..3 {
            let dot: f64 = (0..60).map(|i| z.at(i, a) * z.at(i, b)).sum();
            let want = if a == b { fit.model.values[a].powi(2) } else { 0.0 };
            assert!((dot - want).abs() < 1e-10 * fit.model.values[0].powi(2), "{a}, {b}: {dot}");
        }
    }
}

#[test]
fn every_scaling_of_the_samples_is_undone_by_none_of_the_projections() {
    // z-scores: the features of the training samples must be those of the parts that they were split in.
    let (low, errors) = planted(40, 12, 2, 0.05);
    let d = Mat::from_fn(40, 12, |i, j| (low.at(i, j) + errors.at(i, j)) * (j + 1) as f64 + 100.0);
    for normalize in [Normalize::None, Normalize::Unit, Normalize::ZScore] {
        let params = RobustPcaParams { normalize, ..RobustPcaParams::default() };
        let fit = params.fit(&d).unwrap();
        let z = fit.model.transform(&d).unwrap().into_f64();
        let prepared = sum(&fit.low_rank, &fit.sparse, 1.0);
        let mean: Vec<f64> = (0..12).map(|j| (0..40).map(|i| fit.low_rank.at(i, j)).sum::<f64>() / 40.0).collect();
        let theta = &fit.model.theta;
        let want = Mat::from_fn(40, theta.cols(), |i, c| {
            (0..12).map(|j| (prepared.at(i, j) - mean[j]) * theta.at(j, c)).sum::<f64>()
        });
        // ‖D − A − E‖ is 1e-7 ‖D‖.
        assert!(gap(&z, &want) < 1e-6 * size(&prepared), "{normalize:?}: {:e}", gap(&z, &want));
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let (low, errors) = planted(300, 280, 6, 0.05);
    let d = sum(&low, &errors, 1.0);
    for solver in SOLVERS {
        let rounds = if solver == RobustSolver::Apg { 30 } else { 1000 };
        let fits = [1, 2, 3].map(|threads| {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            RobustPcaParams { max_iter: rounds, ..with(solver) }.fit_with(&d, exec).unwrap()
        });
        assert!(fits[0] == fits[1] && fits[1] == fits[2], "{solver:?}");
    }
}

#[test]
fn rounds_that_do_not_suffice_are_a_warning_and_a_result() {
    let (low, errors) = planted(30, 20, 2, 0.05);
    let d = sum(&low, &errors, 1.0);
    for solver in SOLVERS {
        let fit = RobustPcaParams { max_iter: 12, ..with(solver) }.fit(&d).unwrap();
        let about = &fit.model.about;
        assert_eq!(about.warnings, [Warning::NotConverged { rounds: 12 }]);
        assert_eq!((about.trace.stop, about.trace.values.len()), (Stop::RoundsUsedUp, 12));
        assert!(about.trace.values.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn numbers_of_every_type_and_sparse_rows_give_what_their_values_give() {
    let d = Mat::from_fn(20, 15, |i, j| if (7 * i + 3 * j) % 11 == 0 { 200u8 } else { (i % 4 * (j % 5)) as u8 });
    let wide = Mat::from_fn(20, 15, |i, j| f64::from(d.at(i, j)));
    let single = Mat::from_fn(20, 15, |i, j| f32::from(d.at(i, j)));
    let params = RobustPcaParams::default();
    let fit = params.fit(&wide).unwrap();
    assert_eq!(params.fit(&d).unwrap().low_rank, fit.low_rank);
    let narrow = params.fit(&single).unwrap();
    assert_eq!(narrow.low_rank, fit.low_rank);
    assert!(matches!(narrow.model.transform(&single).unwrap(), Matrix::F32(_)));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let x = Mat::from_fn(5, 4, |i, j| (i * j) as f64 + 1.0);
    let params = RobustPcaParams::default();
    let name = |params: RobustPcaParams| match params.fit(&x) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(RobustPcaParams { lambda: Some(lambda), ..params }), "lambda");
    }
    assert_eq!(name(RobustPcaParams { tol: 0.0, ..params }), "tol");
    assert_eq!(name(RobustPcaParams { growth: f64::NAN, ..params }), "growth");
    assert_eq!(name(RobustPcaParams { max_iter: 0, ..params }), "max_iter");
    assert_eq!(name(RobustPcaParams { dim: Dim::Fixed(0), ..params }), "dim");
    assert!(matches!(params.fit(&Mat::<f64>::zeros(3, 2)), Err(Error::AllZero { n: 3, m: 2, centred: false })));
    assert!(matches!(params.fit(&Mat::<f64>::zeros(0, 2)), Err(Error::Empty { .. })));
    let broken = Mat::from_fn(3, 2, |i, _| if i == 2 { f64::NAN } else { 1.0 });
    assert!(matches!(params.fit(&broken), Err(Error::NotFinite { row: 2, column: 0, .. })));
}

#[test]
fn odd_samples_give_a_result_or_a_clear_error() {
    for x in &odd_samples() {
        for solver in SOLVERS {
            for (center, keep_mean) in [(true, false), (true, true), (false, false)] {
                for normalize in [Normalize::None, Normalize::Unit, Normalize::ZScore] {
                    let params = RobustPcaParams { center, keep_mean, normalize, dim: Dim::Fixed(9), ..with(solver) };
                    match params.fit(x) {
                        Ok(fit) => {
                            let z = fit.model.transform(x).unwrap().into_f64();
                            assert!(z.as_slice().iter().all(|v| v.is_finite()));
                            let capped =
                                |w: &Warning| matches!(w, Warning::RankCapped { asked: 9, most } if *most == z.cols());
                            assert!(fit.model.about.warnings.iter().any(capped));
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
}

#[test]
fn a_model_survives_its_file() {
    let (low, errors) = planted(30, 20, 2, 0.05);
    let fit = with(RobustSolver::Ialm).fit(&sum(&low, &errors, 1.0)).unwrap();
    let (facts, arrays) = fit.model.take_apart();
    assert_eq!(Record::put_together(facts, arrays), Ok(fit.model.clone()));
    assert_eq!(fit.model.info().method, "robust-pca");
}

#[test]
fn the_published_pipeline_gives_faces_features_of_length_one() {
    let Some(faces) = real("exyaleb_54x48_first58.npz") else { return };
    // Every 11th face, every 16th pixel: 200 faces of 162 pixels.
    let all = faces.samples.into_f64();
    let some = Mat::from_fn(200, all.cols() / 16, |i, j| all.at(11 * i, 16 * j));
    let params = RobustPcaParams { max_iter: 150, ..RobustPcaParams::as_published(40, 0.1) };
    let fit = params.fit(&some).unwrap();
    let z = fit.model.transform_with(Samples::from(&some), Exec::default()).unwrap().into_f64();
    assert_eq!((z.rows(), z.cols()), (200, 40));
    assert!((0..200).all(|i| (z.row(i).iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12));
    assert!(fit.model.preparation.mean.is_none());
    // λ of the paper's size is far above 1/√200: hardly anything is taken for an error.
    assert!(size(&fit.sparse) < 0.2 * size(&fit.low_rank), "{}", size(&fit.sparse) / size(&fit.low_rank));
}
