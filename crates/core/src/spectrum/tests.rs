//! Every way of having the samples answers, or refuses by name.

use super::direct::DirectSpectrum;
use super::memory::{InMemory, MemorySpectrum};
use super::noise::{Lengths, Live};
use super::online::OnlineSpectrum;
use super::sketch::SketchSpectrum;
use super::summary::{Gone, SummarySpectrum};
use super::*;
use crate::data::Samples;
use crate::data::generate::Normal;
use crate::prepare::{Normalize, Preparation, Prepared, Scan};
use eigenspan_linalg::online::{Online, OnlineKind};
use eigenspan_linalg::summary::{Form, Summary};
use eigenspan_linalg::{Blocks, Mat, Sketch, singular_values};

fn samples(n: usize, m: usize) -> Mat {
    let mut normal = Normal::new(11);
    Mat::from_fn(n, m, |i, j| 300.0 * ((1 + i % 3) as f64 * ((i * j) as f64).cos() + normal.draw()))
}

/// The same samples had in every way: in memory, directly, by a summary in both forms, one by one, sketched.
fn each_way(x: &Mat, look: &mut dyn FnMut(&dyn Spectrum)) {
    let (samples, exec) = (Samples::from(x), Exec::default());
    let scan = Scan::of(samples, exec).unwrap();
    let preparation = Preparation::scaling(Normalize::None);
    let view = Prepared::new(samples, &preparation, &scan);
    assert_ne!(view.exponent(), 0, "what is read is not in the units of the samples");
    let rows = InMemory { samples, scan: &scan, preparation: &preparation };
    look(&MemorySpectrum::of(rows, &view, None, exec).unwrap());
    look(&DirectSpectrum::of(rows, &view, exec).unwrap());
    let live = Live { samples: x.rows(), features: x.cols(), centered: false };
    for form in [Form::Gram, Form::Triangle] {
        let mut summary = Summary::empty(x.cols(), form, false);
        summary.update(x, exec).unwrap();
        let closed = summary.close(exec).unwrap();
        let (normalize, lengths) = (Normalize::None, Lengths::of(&scan.lengths));
        let gone = Gone { normalize, unscaled: None, lengths, live, epsilon: f64::EPSILON };
        look(&SummarySpectrum::of(&closed, gone, exec).unwrap());
    }
    let mut online = Online::new(OnlineKind::new(x.cols(), 5, 1.0, false)).unwrap();
    online.update(x, exec).unwrap();
    let (state, block) = (online.closed(exec).unwrap(), online.kind().block);
    look(&OnlineSpectrum { state: &state, block, rank: 5, epsilon: f64::EPSILON });
    let mut sketch = Sketch::new(x.cols(), 20, 1, false);
    for _ in 0..3 {
        sketch.update(x, exec).unwrap();
        sketch.end_pass(exec).unwrap();
    }
    look(&SketchSpectrum { prepared: &sketch, unscaled: None, mean: None, live, epsilon: f64::EPSILON });
}

fn close(got: &[f64], want: &[f64], slack: f64) -> bool {
    got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() <= slack * b.abs())
}

#[test]
fn every_way_finds_the_leading_values_and_those_that_know_all_give_all() {
    let (x, exec) = (samples(90, 30), Exec::default());
    let all = singular_values(&x, exec).unwrap();
    let norm = crate::prepare::norm(&all);
    each_way(&x, &mut |spectrum| {
        let way = spectrum.way();
        assert_eq!(spectrum.shape(), (90, 30), "{way}");
        assert!((spectrum.norm() / norm - 1.0).abs() < 1e-9, "{way}: {} {norm}", spectrum.norm());
        let found = spectrum.leading(Select::Top(1), exec).unwrap();
        // One by one, values are known from below only.
        let slack = if spectrum.is_partial() { 0.05 } else { 1e-9 };
        assert!(close(&found.leading.sigma[..1], &all[..1], slack), "{way}: {:?}", found.leading);
        match spectrum.values(exec).unwrap() {
            Ok(values) => assert!(spectrum.whole().is_ok() && close(&values.sigma, &all, 1e-9), "{way}"),
            Err(refusal) => assert_eq!(spectrum.whole(), Err(refusal), "{way}"),
        }
    });
}

/// The diagonal of (XXᵀ + η²I)⁻¹, by elimination.
fn inverse_diagonal(x: &Mat, eta: f64) -> Vec<f64> {
    let n = x.rows();
    let inner = |i: usize, j: usize| x.row(i).iter().zip(x.row(j)).map(|(a, b)| a * b).sum::<f64>();
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let mut a =
        Mat::from_fn(n, 2 * n, |i, j| if j < n { inner(i, j) + eta * eta * unit(i, j) } else { unit(i, j - n) });
    for pivot in 0..n {
        let row: Vec<f64> = a.row(pivot).iter().map(|v| v / a.at(pivot, pivot)).collect();
        for i in 0..n {
            let factor = if i == pivot { 0.0 } else { a.at(i, pivot) };
            a.row_mut(i).iter_mut().zip(&row).for_each(|(v, p)| *v -= factor * p);
        }
        a.row_mut(pivot).copy_from_slice(&row);
    }
    (0..n).map(|i| a.at(i, n + i)).collect()
}

#[test]
fn leverages_are_the_diagonals_of_the_inverses_or_refused_by_name() {
    let exec = Exec::default();
    for (n, m) in [(90, 30), (30, 90)] {
        let x = samples(n, m);
        let eta = crate::median::median_of(&singular_values(&x, exec).unwrap());
        let [of_samples, of_features] = [&x, &x.transposed()].map(|x| inverse_diagonal(x, eta));
        let (mut given, mut refused) = (vec![], vec![]);
        each_way(&x, &mut |spectrum| match spectrum.leverages(eta, exec).unwrap() {
            Ok(leverages) => {
                let way = spectrum.way();
                assert!(close(&leverages.features, &of_features, 1e-9), "{way}");
                assert!(leverages.samples.is_none_or(|own| close(&own, &of_samples, 1e-9)), "{way}");
                given.push(way);
            }
            Err(refusal) => {
                assert!(refusal.to_string().starts_with(spectrum.way()), "{refusal}");
                refused.push(spectrum.way());
            }
        });
        assert_eq!(given, ["a Gram matrix in memory", "a summary", "a summary"]);
        assert_eq!(
            refused,
            ["the direct solver", "a decomposition of samples that arrive one by one", "a sketch"],
            "{n} × {m}"
        );
    }
}

#[test]
fn a_weighted_pass_is_the_decomposition_of_the_weighted_samples() {
    let exec = Exec::default();
    for (n, m) in [(90, 30), (30, 90)] {
        let x = samples(n, m);
        let a: Vec<f64> = (0..n).map(|i| 0.3 + ((i * i) as f64).sin().abs()).collect();
        let b: Vec<f64> = (0..m).map(|j| 2.0 + (j as f64).cos()).collect();
        let (rows, columns) = (Some(&a[..]), Some(&b[..]));
        for (rows, columns, center) in
            [(rows, columns, true), (rows, columns, false), (rows, None, false), (None, columns, false)]
        {
            let factor = |w: Option<&[f64]>, i: usize| w.map_or(1.0, |w| w[i]);
            let y = Mat::from_fn(n, m, |i, j| factor(rows, i) * x.at(i, j) * factor(columns, j));
            let square: f64 = a.iter().map(|a| a * a).sum();
            let along = |j: usize| (0..n).map(|i| a[i] * y.at(i, j)).sum::<f64>() / square;
            let want = if center { Mat::from_fn(n, m, |i, j| y.at(i, j) - a[i] * along(j)) } else { y };
            let want = singular_values(&want, exec).unwrap();
            let mut answers = 0;
            each_way(&x, &mut |spectrum| match spectrum.weighted(RowColumnWeights { rows, columns, center }, exec) {
                Ok(Ok(weighted)) => {
                    let values = weighted.values(exec).unwrap().unwrap().sigma;
                    // Centering leaves a value of zero where there are fewer samples than features.
                    assert!(values.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-9 * want[0]), "{n} × {m}");
                    let found = weighted.leading(Select::Top(2), exec).unwrap();
                    assert!(close(&found.leading.sigma[..2], &want[..2], 1e-9));
                    assert_eq!(found.leading.basis(2, exec).unwrap().rows(), m);
                    assert!((weighted.norm() / crate::prepare::norm(&want) - 1.0).abs() < 1e-9);
                    answers += 1;
                }
                Ok(Err(refusal)) => assert!(refusal.to_string().starts_with(spectrum.way()), "{refusal}"),
                Err(error) => panic!("{error}"),
            });
            assert_eq!(answers, 1, "in memory alone");
        }
    }
}

#[test]
fn weights_that_undo_weights_leave_the_samples() {
    let (x, exec) = (samples(40, 25), Exec::default());
    let a: Vec<f64> = (0..40).map(|i| 1.0 + i as f64).collect();
    let back: Vec<f64> = a.iter().map(|a| 1.0 / a).collect();
    let rows = |rows| RowColumnWeights { rows: Some(rows), ..RowColumnWeights::default() };
    let all = singular_values(&x, exec).unwrap();
    each_way(&x, &mut |spectrum| {
        let Ok(there) = spectrum.weighted(rows(&a), exec).unwrap() else { return };
        let back = there.weighted(rows(&back), exec).unwrap().unwrap();
        assert!(close(&back.values(exec).unwrap().unwrap().sigma, &all, 1e-9));
    });
}

#[test]
fn noise_that_cannot_be_seen_is_refused_and_not_a_panic() {
    let (x, exec) = (samples(60, 30), Exec::default());
    let deep = |_: noise::Sides| 0.0;
    let even = |_: &NoiseView| None;
    let mut refusals = 0;
    each_way(&x, &mut |spectrum| {
        for noise in [Noise::Even(&even), Noise::AnyShape, Noise::Known(&deep)] {
            let answer = spectrum.noise(&noise, exec).unwrap();
            assert_eq!(answer.is_ok(), spectrum.whole().is_ok(), "{}", spectrum.way());
            refusals += usize::from(answer.is_err_and(|refusal| refusal.way == spectrum.way()));
        }
    });
    assert_eq!(refusals, 9);
}
