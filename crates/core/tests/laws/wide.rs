//! Samples too wide for a summary, read a few times: the model of a fit in memory, or an honest interval.

use std::num::NonZero;

use crate::common::real;
use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::linalg::dense::product;
use eigenspan_core::{
    Dim, Error, Exec, Lambda, Mat, Normalize, Pce, PceParams, PceSketch, Quiet, RankRule, SketchParams, Warning,
    Weights,
};

fn samples(n: usize, m: usize) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 3, dim: 3, noise: 0.05 }.generate(5).unwrap();
    data.samples.into_f64()
}

/// The model, and how often the samples were read for it.
fn fitted(params: PceParams, options: SketchParams, x: &Mat, portion: usize, exec: Exec<'_>) -> Result<Pce, Error> {
    let mut sketch = PceSketch::new(params, options, x.cols())?;
    loop {
        for first in (0..x.rows()).step_by(portion) {
            let rows: Vec<usize> = (first..(first + portion).min(x.rows())).collect();
            sketch.update(&x.select_rows(&rows), exec)?;
        }
        if let Some(model) = sketch.end_of_reading(exec)? {
            assert!(sketch.readings() <= options.readings);
            return Ok(model);
        }
    }
}

fn settings() -> Vec<PceParams> {
    let mut all = vec![];
    for center in [false, true] {
        let plain = PceParams { center, ..PceParams::default() };
        let given = PceParams { lambda: Lambda::Fixed(0.2), ..plain };
        all.push(given);
        all.push(PceParams { normalize: Normalize::None, lambda: Lambda::Fixed(0.02), ..plain });
        all.push(PceParams { dim: Dim::Fixed(9), ..plain });
        all.push(PceParams { lambda: Lambda::Energy(0.6), ..plain });
        all.push(PceParams { lambda: Lambda::Noise(0.05), ..plain });
        all.push(PceParams { lambda: Lambda::Noise(0.05), normalize: Normalize::None, ..plain });
        all.push(PceParams { rank_rule: RankRule::Released, ..given });
        all.push(PceParams { weights: Weights::Soft { gamma: 1.0 }, ..given });
    }
    all
}

#[test]
fn it_is_the_model_of_a_fit_in_memory() {
    let x = samples(400, 900);
    let options = SketchParams { columns: Some(60), readings: 12, seed: 3 };
    for params in settings() {
        let (seen, whole) = (fitted(params, options, &x, 170, Exec::default()).unwrap(), params.fit(&x).unwrap());
        let (p, q) = (seen.parts(), whole.parts());
        assert_eq!((p.k, p.n, &p.solver[..]), (q.k, 400, "sketch"), "{params:?}: {} {:?}", p.why, p.warnings);
        let kept = seen.columns().min(whole.columns()).min(q.k);
        for (s, t) in p.sigma.iter().zip(&q.sigma).take(kept) {
            // Ritz values are never above, and residuals of a hundredth leave a ten-thousandth.
            assert!(*s <= t * (1.0 + 1e-9) && *s > t * (1.0 - 1e-3), "{params:?}: {s} {t}");
        }
        assert!((p.norm / q.norm - 1.0).abs() < 1e-10);
        // The two spaces are one: cosines of all angles between them.
        let cosines = product(p.basis.view().transposed(), q.basis.view(), Exec::default()).unwrap();
        let along: f64 = (0..kept).map(|i| (0..kept).map(|j| cosines.at(i, j).powi(2)).sum::<f64>()).sum();
        assert!(params.rank_rule == RankRule::Released || along > kept as f64 - 0.02, "{params:?}: {along} of {kept}");
        assert!(p.k_interval.0 <= q.k && q.k <= p.k_interval.1);
    }
}

#[test]
fn neither_portions_nor_threads_change_the_model() {
    let x = samples(300, 500);
    let options = SketchParams { columns: Some(40), ..SketchParams::default() };
    for params in [settings()[0], settings()[4], settings()[8]] {
        let with =
            |portion, threads| fitted(params, options, &x, portion, Exec::new(NonZero::new(threads), &Quiet)).unwrap();
        let first = with(300, 1);
        assert_eq!(with(1, 2), first);
        assert_eq!(with(77, 4), first);
        assert_ne!(
            fitted(params, SketchParams { seed: 9, ..options }, &x, 300, Exec::default()).unwrap().parts().sigma,
            first.parts().sigma
        );
    }
}

#[test]
fn what_two_readings_cannot_tell_is_said_and_the_interval_holds_the_truth() {
    // A spectrum that falls off slowly: σ ∝ 1/√i.
    let noise = samples(200, 400);
    let x = Mat::from_fn(200, 400, |i, j| noise.at(i, j) / ((j + 1) as f64).sqrt() * if i == j { 40.0 } else { 3.0 });
    let (mut told, mut open) = (0, 0);
    for lambda in [0.02, 0.1, 0.5, 2.0, 9.0] {
        let params = PceParams { lambda: Lambda::Fixed(lambda), ..PceParams::default() };
        let k = params.fit(&x).unwrap().k();
        for readings in [2, 4, 8] {
            let options = SketchParams { columns: Some(40), readings, seed: 1 };
            let model = fitted(params, options, &x, 200, Exec::default()).unwrap();
            let p = model.parts();
            let (low, high) = p.k_interval;
            assert!(low <= k && k <= high, "λ = {lambda}, {readings} readings: {k} not in {low}..{high}");
            let warned = p.warnings.iter().any(|warning| matches!(warning, Warning::Unsettled { .. }));
            assert!(warned || low == high, "{:?}", p.warnings);
            assert!(!p.certified || low == high);
            *(if low == high { &mut told } else { &mut open }) += 1;
        }
    }
    assert!(told >= 2 && open >= 2, "{told} told, {open} open");
}

#[test]
fn faces_get_the_dimension_of_a_fit_in_memory_or_an_interval_around_it() {
    let Some(faces) = real("exyaleb_54x48_first58.npz") else { return };
    let x = faces.samples;
    for (lambda, center) in [(0.02, false), (0.1, false), (0.1, true)] {
        let params = PceParams { lambda: Lambda::Fixed(lambda), center, ..PceParams::default() };
        let whole = params.fit(x.view()).unwrap();
        let mut sketch = PceSketch::new(params, SketchParams::default(), x.cols()).unwrap();
        let model = loop {
            sketch.update(x.view(), Exec::default()).unwrap();
            if let Some(model) = sketch.end_of_reading(Exec::default()).unwrap() {
                break model;
            }
        };
        let (p, q) = (model.parts(), whole.parts());
        eprintln!("{} samples × {} features, λ = {lambda}: {}", p.n, x.cols(), p.why);
        assert!(p.k_interval.0 <= q.k && q.k <= p.k_interval.1, "{:?} {}", p.k_interval, q.k);
        let [mut found, mut all] = [0.0, 0.0];
        for (s, t) in p.sigma.iter().zip(&q.sigma).take(q.k.min(p.k)) {
            assert!(*s <= t * (1.0 + 1e-6), "{s} {t}");
            (found, all) = (found + s * s, all + t * t);
        }
        assert!(found > all * (1.0 - 1e-3), "{found} of {all}");
    }
}

#[test]
fn what_a_sketch_cannot_serve_is_refused_before_anything_is_read() {
    let new = |params, options| PceSketch::new(params, options, 30).map(|_| ()).unwrap_err();
    let usual = SketchParams::default();
    for (lambda, rule) in [(Lambda::Auto, "auto"), (Lambda::ScreeNot, "screenot"), (Lambda::Noise(0.0), "noise")] {
        let refused = new(PceParams { lambda, ..PceParams::default() }, usual);
        assert_eq!(refused, Error::WholeSpectrum { rule });
        assert!(refused.hint().unwrap().contains("give λ"));
    }
    let given = PceParams { lambda: Lambda::Fixed(1.0), ..PceParams::default() };
    let zscore = new(PceParams { normalize: Normalize::ZScore, ..given }, usual);
    assert!(matches!(zscore, Error::NotSketched { setting: "normalize", .. }) && zscore.hint().is_some());
    assert!(matches!(new(given, SketchParams { readings: 1, ..usual }), Error::Parameter { name: "passes", .. }));
    let none = SketchParams { columns: Some(0), ..usual };
    assert!(matches!(new(given, none), Error::Parameter { name: "columns", .. }));
    // A share of energy that more directions carry than there are columns and readings for.
    let x = samples(200, 300);
    let params = PceParams { lambda: Lambda::Energy(0.999), ..PceParams::default() };
    let few = SketchParams { columns: Some(4), readings: 2, seed: 1 };
    let short = fitted(params, few, &x, 200, Exec::default()).unwrap_err();
    assert_eq!(short, Error::SketchTooSmall { columns: 4 });
    assert!(short.hint().unwrap().contains("--sketch-columns"));
    let zero = fitted(given, usual, &Mat::zeros(5, 30), 5, Exec::default()).unwrap_err();
    assert!(matches!(zero, Error::AllZero { n: 5, m: 30, .. }), "{zero}");
}
