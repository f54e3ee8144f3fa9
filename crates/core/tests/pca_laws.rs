//! What a principal component analysis promises.

use eigenspan::data::generate::Subspaces;
use eigenspan::reduce::pca::{Components, explained_variance};
use eigenspan::{Mat, PcaParams, Pce};

fn samples(n: usize, m: usize) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 2, dim: 3, noise: 0.2 }.generate(3).unwrap();
    let x = data.samples.into_f64();
    Mat::from_fn(n, m, |i, j| x.at(i, j) * 10.0 + j as f64)
}

fn fit(x: &Mat, components: Components, whiten: bool) -> Pce {
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
