//! What a principal component analysis promises.

use std::num::NonZero;

use crate::common::{fixture, real};
use eigenspan_core::data::generate::{Normal, Subspaces};
use eigenspan_core::method::pca::{Components, Pca, explained_variance};
use eigenspan_core::rule::minka::log_evidence;
use eigenspan_core::{Error, Exec, Mat, PcaParams, PceParams, Quiet};

fn samples(n: usize, m: usize) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 2, dim: 3, noise: 0.2 }.generate(3).unwrap();
    let x = data.samples.into_f64();
    Mat::from_fn(n, m, |i, j| x.at(i, j) * 10.0 + j as f64)
}

fn fit(x: &Mat, components: Components, whiten: bool) -> Pca {
    PcaParams { components, whiten, ..PcaParams::default() }.fit(x).unwrap()
}

/// Mean and covariance of columns.
fn moments(z: &Mat) -> (Vec<f64>, Mat) {
    let (n, k) = (z.rows(), z.cols());
    let mean: Vec<f64> = (0..k).map(|j| (0..n).map(|i| z.at(i, j)).sum::<f64>() / n as f64).collect();
    let term = |i: usize, a: usize, b: usize| (z.at(i, a) - mean[a]) * (z.at(i, b) - mean[b]);
    let covariance = Mat::from_fn(k, k, |a, b| (0..n).map(|i| term(i, a, b)).sum::<f64>() / (n as f64 - 1.0));
    (mean, covariance)
}

#[test]
fn scores_are_centred_and_uncorrelated_with_the_variances_that_were_promised() {
    for (n, m) in [(80, 20), (30, 50)] {
        let x = samples(n, m);
        for whiten in [false, true] {
            let model = fit(&x, Components::Count(6), whiten);
            let (mean, covariance) = moments(&model.transform(&x).unwrap().into_f64());
            for a in 0..6 {
                assert!(mean[a].abs() < 1e-12);
                for b in 0..6 {
                    let variance = if whiten { 1.0 } else { explained_variance(&model)[a] };
                    let want = if a == b { variance } else { 0.0 };
                    let size = if whiten { 1.0 } else { explained_variance(&model)[0] };
                    assert!((covariance.at(a, b) - want).abs() < 1e-12 * size, "{n} × {m}, {a}, {b}");
                }
            }
        }
    }
}

#[test]
fn all_directions_give_the_samples_back() {
    for (n, m, rank) in [(80, 20, 20), (30, 50, 29)] {
        let x = samples(n, m);
        for whiten in [false, true] {
            let model = fit(&x, Components::All, whiten);
            assert_eq!(model.columns(), rank, "centring takes one of {n} samples");
            let back = model.inverse_transform(&model.transform(&x).unwrap(), None).unwrap().into_f64();
            let off = back.as_slice().iter().zip(x.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-11, "{off}");
            let total: f64 = explained_variance(&model).iter().sum();
            let trace: f64 = (0..m).map(|j| moments(&x).1.at(j, j)).sum();
            assert!((total / trace - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn moving_the_samples_moves_nothing_but_the_mean() {
    let x = samples(60, 15);
    let moved = Mat::from_fn(60, 15, |i, j| x.at(i, j) + 100.0 * (j as f64 - 4.0));
    let (a, b) = (fit(&x, Components::Count(4), false), fit(&moved, Components::Count(4), false));
    let (za, zb) = (a.transform(&x).unwrap().into_f64(), b.transform(&moved).unwrap().into_f64());
    for (p, q) in za.as_slice().iter().zip(zb.as_slice()) {
        assert!((p - q).abs() < 1e-10, "{p} and {q}");
    }
}

#[test]
fn shares_and_noise_choose_the_number() {
    let x = samples(200, 40);
    assert_eq!(fit(&x, Components::Auto, false).k(), 6);
    let all = fit(&x, Components::All, false);
    for share in [0.3, 0.8, 0.99] {
        let model = fit(&x, Components::Share(share), false);
        let energies = all.energies();
        let least = (1..=40).find(|k| energies[..*k].iter().sum::<f64>() >= share).unwrap();
        assert_eq!(model.columns(), least);
    }
}

#[test]
fn the_dimension_by_evidence_is_that_of_scikit_learn() {
    let wanted = fixture("minka.npz", "k");
    for (case, k) in wanted.as_slice().iter().enumerate() {
        let x = fixture("minka.npz", &format!("X{case}"));
        let model = fit(&x, Components::Mle, false);
        assert_eq!(model.k(), *k as usize, "case {case}: {}", model.why());
        assert!(model.why().contains("evidence"));
        let all = PceParams { center: true, normalize: eigenspan_core::Normalize::None, ..PceParams::default() };
        let sigma = all.values(&x, Exec::default()).unwrap();
        let variances: Vec<f64> = sigma.iter().map(|s| s * s / (x.rows() as f64 - 1.0)).collect();
        let (ours, theirs) = (log_evidence(&variances, x.rows()), fixture("minka.npz", &format!("L{case}")));
        let size = theirs.as_slice().iter().fold(1.0, |most: f64, l| most.max(l.abs()));
        for (at, (ours_k, theirs_k)) in ours.iter().zip(theirs.as_slice()).enumerate() {
            if variances[at + 1] < 1e-15 * variances[0] {
                continue; // no noise is left (n = m): it is 1e-15 there, in the unit of the samples, and of λ₁ here
            }
            let (step, their_step) = (ours_k - ours[0], theirs_k - theirs.at(0, 0));
            assert!((step - their_step).abs() < 1e-9 * size, "case {case}: {step} and {their_step}");
        }
    }
}

#[test]
fn the_dimension_by_evidence_is_the_planted_one_and_does_not_depend_on_threads_or_units() {
    let mut random = Normal::new(4);
    for planted in [1, 4, 9] {
        let (n, m) = (300, 15);
        let (left, right) =
            (Mat::from_fn(n, planted, |_, _| random.draw()), Mat::from_fn(planted, m, |_, _| random.draw()));
        let low = |i: usize, j: usize| (0..planted).map(|r| left.at(i, r) * right.at(r, j)).sum::<f64>();
        let x = Mat::from_fn(n, m, |i, j| 5.0 + low(i, j) + 0.1 * random.draw());
        let params = PcaParams { components: Components::Mle, ..Default::default() };
        let one = params.fit_with(&x, Exec::new(NonZero::new(1), &Quiet)).unwrap();
        assert_eq!(one.k(), planted);
        for threads in [2, 3] {
            assert_eq!(params.fit_with(&x, Exec::new(NonZero::new(threads), &Quiet)).unwrap(), one);
        }
        for scale in [1e-150, 1e150] {
            let scaled = Mat::from_fn(n, m, |i, j| x.at(i, j) * scale);
            assert_eq!(fit(&scaled, Components::Mle, true).k(), planted);
        }
    }
}

#[test]
fn evidence_of_fewer_samples_than_features_or_of_nothing_is_refused() {
    let mle = PcaParams { components: Components::Mle, ..Default::default() };
    let error = mle.fit(&samples(30, 50)).unwrap_err();
    assert_eq!(error, Error::FewerSamplesThanFeatures { rule: "mle", n: 30, m: 50 });
    assert!(error.hint().unwrap().contains("auto"));
    assert!(matches!(mle.fit(&Mat::from_fn(9, 3, |_, j| j as f64)), Err(Error::AllZero { centred: true, .. })));
    assert_eq!(mle.fit(&Mat::from_fn(9, 1, |i, _| i as f64)).unwrap().k(), 1, "one feature leaves no choice");
    assert!(matches!(mle.fit(&Mat::<f64>::zeros(0, 0)), Err(Error::Empty { .. })));
}

#[test]
fn on_usps_the_dimension_by_evidence_is_that_of_scikit_learn() {
    let Some(data) = real("usps_11000.npz") else { return };
    let some = data.samples.select_rows(&(0..11_000).step_by(5).collect::<Vec<_>>());
    let model = PcaParams { components: Components::Mle, ..Default::default() }.fit(&some).unwrap();
    assert_eq!(model.k(), 255);
}
