//! Samples that arrive one by one: the exact fit where there is room for all directions, bounds on it where there is not.

use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::data::{NumberType, Samples};
use eigenspan_core::method::pca::explained_variance;
use eigenspan_core::{
    Dim, Error, Exec, Lambda, Mat, Normalize, OnlineParams, OnlinePce, Pce, PceParams, RankRule, Warning, Weights,
};

use crate::common::{gap, real};

fn samples(n: usize, m: usize) -> Mat {
    noisy(n, m, 0.2)
}

fn noisy(n: usize, m: usize, noise: f64) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 3, dim: 2, noise }.generate(5).unwrap();
    data.samples.into_f64()
}

fn some(x: &Mat, rows: std::ops::Range<usize>) -> Mat {
    x.select_rows(&rows.collect::<Vec<_>>())
}

fn fed(params: PceParams, online: OnlineParams, x: &Mat, portion: usize) -> OnlinePce {
    let mut seen = OnlinePce::new(params, online, x.cols()).unwrap();
    for from in (0..x.rows()).step_by(portion) {
        seen.update(&some(x, from..(from + portion).min(x.rows())), Exec::default()).unwrap();
    }
    assert_eq!(seen.rows(), x.rows());
    seen
}

fn finished(params: PceParams, online: OnlineParams, x: &Mat) -> Pce {
    fed(params, online, x, x.rows()).finish(Exec::default()).unwrap()
}

fn rank(rank: usize) -> OnlineParams {
    OnlineParams { rank, ..OnlineParams::default() }
}

fn given(lambda: f64) -> PceParams {
    PceParams { lambda: Lambda::Fixed(lambda), ..PceParams::default() }
}

fn settings() -> Vec<PceParams> {
    let mut all = vec![];
    for normalize in [Normalize::Unit, Normalize::None] {
        for center in [false, true] {
            let base = PceParams { normalize, center, ..PceParams::default() };
            for lambda in [Lambda::Fixed(0.05), Lambda::Fixed(0.2), Lambda::Energy(0.7)] {
                all.push(PceParams { lambda, ..base });
                all.push(PceParams { lambda, weights: Weights::Soft { gamma: 0.5 }, unit_features: true, ..base });
                all.push(PceParams { lambda, rank_rule: RankRule::Released, ..base });
            }
            all.push(PceParams { dim: Dim::Fixed(3), ..base });
            all.push(PceParams { dim: Dim::Fixed(3), weights: Weights::Whitened, ..base });
        }
    }
    all
}

/// Rounding of a decomposition, with room for that of the updates.
fn close(a: &Pce, b: &Pce, of: &dyn std::fmt::Debug) {
    assert_eq!((a.k(), a.columns()), (b.k(), b.columns()), "{of:?}");
    for (s, t) in a.parts().sigma.iter().zip(&b.parts().sigma) {
        assert!((s - t).abs() <= 1e-12 * b.parts().sigma[0], "{of:?}: σ {s} and {t}");
    }
    assert!((a.parts().norm / b.parts().norm - 1.0).abs() < 1e-12, "{of:?}");
    let (a, b) = (a.theta(), b.theta());
    assert!(
        gap(&a, &b) <= 1e-9 * b.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs())),
        "{of:?}: Θ by {}",
        gap(&a, &b)
    );
}

#[test]
fn with_room_for_every_direction_it_is_the_exact_fit() {
    for (n, m) in [(300, 12), (8, 12)] {
        let x = samples(n, m);
        for params in settings() {
            let exact = params.fit(&x).unwrap();
            for block in [Some(1), Some(5), None] {
                let model = finished(params, OnlineParams { block, ..rank(m) }, &x);
                close(&model, &exact, &(n, block, params));
                assert_eq!(model.parts().solver, "online");
                assert!(model.drift() <= 1e-12 * exact.parts().norm);
            }
        }
    }
}

#[test]
fn the_model_does_not_depend_on_the_portions() {
    let x = samples(200, 30);
    for params in settings() {
        let online = OnlineParams { forget: 0.99, ..rank(8) };
        let Ok(whole) = fed(params, online, &x, 200).finish(Exec::default()) else { continue };
        for portion in [1, 7, 64] {
            assert_eq!(fed(params, online, &x, portion).finish(Exec::default()).unwrap(), whole, "{params:?}");
        }
    }
}

/// f weights row i by fⁿ⁻ⁱ after it was scaled.
#[test]
fn forgetting_is_the_fit_of_weighted_samples() {
    let x = samples(150, 10);
    for forget in [0.9f64, 0.99, 1.0] {
        let length = |i: usize| x.row(i).iter().map(|y| y * y).sum::<f64>().sqrt();
        let weighted = Mat::from_fn(150, 10, |i, j| x.at(i, j) / length(i) * forget.powi(149 - i as i32));
        let params = given(1.0);
        let exact = PceParams { normalize: Normalize::None, ..params }.fit(&weighted).unwrap();
        let model = finished(params, OnlineParams { forget, ..rank(10) }, &x);
        close(&model, &exact, &forget);
        let total: f64 = (0..150).map(|age| forget.powi(2 * age)).sum();
        assert!((model.weight() / total - 1.0).abs() < 1e-12 && model.parts().n == 150);
        let variance = explained_variance(&model);
        assert!((variance[0] * (total - 1.0) / exact.parts().sigma[0].powi(2) - 1.0).abs() < 1e-9);
    }
}

/// The k of the exact fit lies in the interval, and the values within their bounds.
fn bounded(model: &Pce, exact: &Pce, of: &dyn std::fmt::Debug) {
    let (low, high) = model.parts().k_interval;
    assert!(low <= exact.k() && exact.k() <= high, "{of:?}: {} is not in {low}..={high}", exact.k());
    assert_eq!(model.parts().certified, low == high, "{of:?}");
    let rounding = 1e-11 * exact.parts().sigma[0];
    for (found, s) in model.parts().sigma.iter().zip(&exact.parts().sigma) {
        assert!(*found <= s + rounding && *s <= found.hypot(model.drift()) + rounding, "{of:?}: {found} for {s}");
    }
    let told = model.parts().warnings.iter().any(|w| matches!(w, Warning::Dropped { .. }));
    assert_eq!(told, low < high, "{of:?}");
}

#[test]
fn what_was_dropped_is_told() {
    let mut wide = 0;
    for noise in [0.2, 0.02] {
        let x = noisy(400, 40, noise);
        for lambda in [0.02, 0.1, 0.3, 1.0] {
            let exact = given(lambda).fit(&x).unwrap();
            for (r, block) in [2, 6, 10, 25].into_iter().flat_map(|r| [(r, Some(1)), (r, None)]) {
                let model = finished(given(lambda), OnlineParams { block, ..rank(r) }, &x);
                bounded(&model, &exact, &(lambda, r));
                assert!(model.k() <= r);
                wide += usize::from(!model.parts().certified);
                // Six directions, and what is dropped is little beside the cut: proved.
                let proved = noise == 0.02 && lambda == 0.1 && r >= 10;
                assert!(!proved || (model.parts().certified && model.k() == 6), "{r}: {:?}", model.parts().k_interval);
            }
        }
    }
    assert!((10..60).contains(&wide), "{wide} of 64 are not proved");
}

#[test]
fn real_digits_stay_within_the_bounds() {
    let Some(data) = real("usps_11000.npz") else { return };
    let x = data.select_rows(&(0..1500).map(|i| i * 7 % 11000).collect::<Vec<_>>()).unwrap().samples;
    for lambda in [0.05, 0.5] {
        let exact = given(lambda).fit(&x).unwrap();
        for r in [20, 60, 120] {
            let mut seen = OnlinePce::new(given(lambda), rank(r), 256).unwrap();
            seen.update(&x, Exec::default()).unwrap();
            bounded(&seen.finish(Exec::default()).unwrap(), &exact, &(lambda, r));
        }
    }
}

#[test]
fn a_model_goes_on_from_what_it_keeps() {
    let x = samples(600, 30);
    for center in [false, true] {
        let params = PceParams { center, ..given(0.1) };
        let half = params.fit(&some(&x, 0..300)).unwrap();
        let exact = params.fit(&x).unwrap();
        let mut seen = OnlinePce::resume(&half, params, OnlineParams::of(&half)).unwrap();
        assert_eq!((seen.rows(), seen.online().rank), (300, 30));
        close(&seen.finish(Exec::default()).unwrap(), &half, &"nothing new");
        seen.update(&some(&x, 300..600), Exec::default()).unwrap();
        let model = seen.finish(Exec::default()).unwrap();
        bounded(&model, &exact, &center);
        assert_eq!(model.parts().n, 600);
        // Below the cut of the first half lies what a model does not keep.
        let below: f64 = half.parts().norm.powi(2) - half.parts().sigma[..half.k()].iter().map(|s| s * s).sum::<f64>();
        let lost = model.parts().online.as_ref().unwrap().discarded.energy;
        assert!((lost / below - 1.0).abs() < 1e-9, "{lost} and {below}");
    }
}

/// A model made here carries its spare directions: going on from it is going on.
#[test]
fn a_model_that_was_updated_goes_on_without_a_loss() {
    let x = samples(600, 30);
    let (params, online) = (PceParams { center: true, ..given(0.1) }, OnlineParams { forget: 0.995, ..rank(30) });
    let whole = finished(params, online, &x);
    let mut model = finished(params, online, &some(&x, 0..100));
    for from in (100..600).step_by(100) {
        let mut seen = OnlinePce::resume(&model, params, OnlineParams::of(&model)).unwrap();
        seen.update(&some(&x, from..from + 100), Exec::default()).unwrap();
        model = seen.finish(Exec::default()).unwrap();
    }
    close(&model, &whole, &"five times");
    assert!(model.columns() < 30 && model.parts().online.as_ref().unwrap().spare.cols() + model.columns() == 30);
    assert!((model.weight() / whole.weight() - 1.0).abs() < 1e-12);
}

#[test]
fn what_a_state_tells_makes_it_again() {
    let x = samples(50, 12);
    let seen = fed(PceParams { center: true, ..given(0.1) }, rank(5), &x, 50);
    let mut twin = OnlinePce::from_parts(seen.parts()).unwrap();
    assert_eq!(twin, seen);
    twin.update(&x, Exec::default()).unwrap();
    let mut parts = twin.parts();
    parts.state.sigma[0] = f64::NAN;
    assert!(OnlinePce::from_parts(parts).is_err());
}

#[test]
fn weights_that_classes_chose_stay() {
    let data = Subspaces { samples: 200, features: 20, subspaces: 3, dim: 2, noise: 0.2 }.generate(5).unwrap();
    let params = PceParams { lambda: Lambda::Fixed(0.1), ..PceParams::auto() };
    let model = params.fit_labelled(&data.samples, data.labels.as_ref().unwrap()).unwrap();
    let mut seen = OnlinePce::resume(&model, params, rank(20)).unwrap();
    seen.update(&data.samples, Exec::default()).unwrap();
    assert_eq!(seen.finish(Exec::default()).unwrap().gamma(), model.gamma());
}

#[test]
fn zero_samples_numbers_and_empty_directions_are_told() {
    let mut x = samples(60, 12);
    for row in [3, 44] {
        x.row_mut(row).fill(0.0);
    }
    let model = finished(given(0.1), rank(12), &x);
    assert_eq!(model.parts().warnings, given(0.1).fit(&x).unwrap().parts().warnings);
    let bytes = Mat::<u8>::from_fn(40, 12, |i, j| (1 + (5 * i + j * j) % 97) as u8);
    let mut seen = OnlinePce::new(given(0.1), rank(12), 12).unwrap();
    seen.update(&bytes, Exec::default()).unwrap();
    let first = seen.finish(Exec::default()).unwrap();
    assert_eq!(first.parts().number_type, NumberType::U8);
    let mut more = OnlinePce::resume(&model, given(0.1), rank(12)).unwrap();
    more.update(Samples::from(&bytes), Exec::default()).unwrap();
    let last = more.finish(Exec::default()).unwrap();
    assert_eq!(last.parts().number_type, NumberType::F64, "the least precise of both");
    assert_eq!(last.parts().warnings, model.parts().warnings);
    let none = finished(given(1e-6), rank(12), &x);
    assert!(none.k() == 0 && none.columns() == 1 && none.parts().warnings.contains(&Warning::NothingAboveCut));
    let strict = fed(PceParams { strict: true, ..given(1e-6) }, rank(12), &some(&x, 5..40), 35);
    assert!(matches!(strict.finish(Exec::default()), Err(Error::NothingAboveCut { .. })));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let new = |params, online| OnlinePce::new(params, online, 12).map(|_| ()).unwrap_err();
    let said = |error: Error| (error.to_string(), error.hint().is_some());
    for lambda in [Lambda::Auto, Lambda::ScreeNot, Lambda::Noise(0.1)] {
        let error = new(PceParams { lambda, ..PceParams::default() }, rank(5));
        assert!(matches!(error, Error::NotOnline { setting: "lambda", .. }) && error.hint().is_some(), "{error}");
    }
    let zscore = PceParams { normalize: Normalize::ZScore, ..given(1.0) };
    assert!(matches!(new(zscore, rank(5)), Error::NotOnline { setting: "normalize", .. }));
    assert_eq!(said(new(given(1.0), rank(0))).0, "`rank` must be at least 1, got 0");
    for forget in [0.0, -0.5, 1.01, f64::NAN] {
        let text = said(new(given(1.0), OnlineParams { forget, ..rank(5) })).0;
        assert_eq!(text, format!("`forget` must be above 0 and at most 1, got {forget}"));
    }
    let wide = PceParams { dim: Dim::Fixed(9), ..PceParams::default() };
    assert_eq!(said(new(wide, rank(5))).0, "`rank` must be at least the dimension asked for, got 5");
    let mut seen = OnlinePce::new(given(1.0), rank(5), 12).unwrap();
    assert!(matches!(seen.finish(Exec::default()), Err(Error::Empty { n: 0, m: 12 })));
    let x = samples(30, 12);
    seen.update(&x, Exec::default()).unwrap();
    let before = seen.clone();
    let mut bad = x.clone();
    bad.row_mut(9)[1] = f64::NAN;
    assert!(matches!(seen.update(&bad, Exec::default()), Err(Error::NotFinite { row: 9, column: 1, .. })));
    let error = seen.update(&Mat::<f64>::zeros(2, 3), Exec::default());
    assert!(matches!(error, Err(Error::FeatureMismatch { expected: 12, got: 3 })));
    assert_eq!(seen, before);
    let zeros = fed(given(1.0), rank(5), &Mat::zeros(4, 3), 4).finish(Exec::default());
    assert!(matches!(zeros, Err(Error::AllZero { n: 4, m: 3, centred: false })));
    let share = fed(PceParams { lambda: Lambda::Energy(0.99), ..PceParams::default() }, rank(2), &x, 30);
    let refused = share.finish(Exec::default()).unwrap_err();
    assert!(matches!(refused, Error::RankTooLow { rank: 2, .. }) && refused.hint().is_some(), "{refused}");
    let model = given(1.0).fit(&x).unwrap();
    let centred = OnlinePce::resume(&model, PceParams { center: true, ..given(1.0) }, rank(5));
    assert!(matches!(centred, Err(Error::NotOnline { .. })));
}
