//! Samples that arrive in portions: the same model, whatever the portions.

use std::sync::atomic::{AtomicUsize, Ordering};

use eigenspan_core::data::NumberType;
use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::linalg::summary::Form;
use eigenspan_core::{Dim, Error, Exec, Keep, Lambda, Mat, Monitor, Normalize, Pce, PceParams, PceSummary};

fn samples(n: usize, m: usize) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 3, dim: 2, noise: 0.2 }.generate(5).unwrap();
    data.samples.into_f64()
}

fn fed(params: PceParams, x: &Mat, portions: &[usize]) -> PceSummary {
    fed_keeping(Keep::Triangle, params, x, portions)
}

fn fed_keeping(keep: Keep, params: PceParams, x: &Mat, portions: &[usize]) -> PceSummary {
    let mut summary = PceSummary::keeping(keep, params, x.cols()).unwrap();
    let mut from = 0;
    for size in portions {
        let rows: Vec<usize> = (from..from + size).collect();
        summary.update(&x.select_rows(&rows), Exec::default()).unwrap();
        from += size;
    }
    assert_eq!((from, summary.rows()), (x.rows(), x.rows()));
    summary
}

fn settings() -> Vec<PceParams> {
    let mut all = vec![];
    for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
        for center in [false, true] {
            for lambda in [Lambda::Auto, Lambda::Fixed(0.2), Lambda::Energy(0.7), Lambda::Noise(0.02), Lambda::ScreeNot]
            {
                all.push(PceParams { normalize, center, lambda, ..PceParams::default() });
            }
        }
    }
    all
}

#[test]
fn the_model_does_not_depend_on_the_portions() {
    let x = samples(5000, 12);
    for params in settings() {
        let whole = fed(params, &x, &[5000]).finish(Exec::default()).unwrap();
        for portions in [vec![1, 1, 1, 4997], vec![2500, 0, 2500], vec![2048, 2952], vec![100; 50]] {
            assert_eq!(fed(params, &x, &portions).finish(Exec::default()).unwrap(), whole, "{params:?} {portions:?}");
        }
    }
}

/// The same but for rounding, and for the name of the way.
fn close(a: &Pce, b: &Pce, of: &dyn std::fmt::Debug) {
    assert_eq!((a.k(), a.columns()), (b.k(), b.columns()), "{of:?}");
    let (p, q) = (a.parts(), b.parts());
    for (s, t) in p.sigma.iter().zip(&q.sigma) {
        assert!((s - t).abs() <= 1e-10 * p.sigma[0], "{of:?}: σ {s} and {t}");
    }
    assert!((p.tau / q.tau - 1.0).abs() < 1e-9, "{of:?}: τ {} and {}", p.tau, q.tau);
    assert_eq!(p.preparation.mean.is_some(), q.preparation.mean.is_some());
    let means = p.preparation.mean.iter().flatten().zip(q.preparation.mean.iter().flatten());
    let deviations = p.preparation.deviation.iter().flatten().zip(q.preparation.deviation.iter().flatten());
    means.chain(deviations).for_each(|(s, t)| assert!((s - t).abs() < 1e-12, "{of:?}"));
}

#[test]
fn it_is_the_model_of_a_fit_in_memory() {
    for (n, m) in [(3000, 12), (50, 12), (8, 12)] {
        let x = samples(n, m);
        for params in settings() {
            // Eight samples in twelve features leave no noise to look for.
            if n < m && !matches!(params.lambda, Lambda::Fixed(_) | Lambda::Energy(_)) {
                continue;
            }
            let (fitted, seen) =
                (params.fit(&x).unwrap(), fed(params, &x, &[3, n - 3]).finish(Exec::default()).unwrap());
            close(&seen, &fitted, &(n, params));
        }
    }
}

#[test]
fn dead_samples_and_features_are_seen() {
    let mut x = samples(400, 12);
    (0..400).for_each(|i| x.row_mut(i)[5] = 0.0);
    x.row_mut(77).fill(0.0);
    let params = PceParams::default();
    let seen = fed(params, &x, &[200, 200]).finish(Exec::default()).unwrap();
    close(&seen, &params.fit(&x).unwrap(), &"dead");
    assert_eq!(seen.parts().warnings, params.fit(&x).unwrap().parts().warnings);
}

/// Stops at the given question.
struct After(AtomicUsize, usize);
impl Monitor for After {
    fn cancelled(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) >= self.1
    }
}

#[test]
fn a_cancelled_or_refused_portion_leaves_what_was() {
    let x = samples(6000, 12);
    let before = fed(PceParams::default(), &x.select_rows(&(0..3000).collect::<Vec<_>>()), &[3000]);
    let more = x.select_rows(&(3000..6000).collect::<Vec<_>>());
    let want = fed(PceParams::default(), &x, &[6000]).finish(Exec::default()).unwrap();
    let mut cancelled = 0;
    for questions in 0..200 {
        let mut summary = before.clone();
        let monitor = After(AtomicUsize::new(0), questions);
        if summary.update(&more, Exec::new(std::num::NonZero::new(1), &monitor)).is_err() {
            cancelled += 1;
            assert_eq!(summary.rows(), 3000);
            summary.update(&more, Exec::default()).unwrap();
        }
        assert_eq!(summary.finish(Exec::default()).unwrap(), want, "after {questions} questions");
        if monitor.0.into_inner() <= questions {
            break;
        }
    }
    assert!(cancelled > 3, "{cancelled}");
    let mut summary = before.clone();
    let mut bad = more.clone();
    bad.row_mut(9)[1] = f64::NAN;
    assert!(matches!(summary.update(&bad, Exec::default()), Err(Error::NotFinite { row: 9, column: 1, .. })));
    let narrow: Mat = Mat::zeros(2, 3);
    let error = summary.update(&narrow, Exec::default());
    assert!(matches!(error, Err(Error::FeatureMismatch { expected: 12, got: 3 })));
    summary.update(&more, Exec::default()).unwrap();
    assert_eq!(summary.finish(Exec::default()).unwrap(), want);
}

#[test]
fn nothing_seen_is_refused() {
    let nothing = PceSummary::empty(PceParams::default(), 4).unwrap();
    assert!(matches!(nothing.finish(Exec::default()), Err(Error::Empty { n: 0, m: 4 })));
    assert!(PceSummary::empty(PceParams::default(), 0).is_err());
}

/// Some rows.
fn some(x: &Mat, rows: std::ops::Range<usize>) -> Mat {
    x.select_rows(&rows.collect::<Vec<_>>())
}

#[test]
fn the_gram_form_gives_the_model_of_a_fit_in_memory() {
    for (n, m) in [(3000, 12), (50, 12)] {
        let x = samples(n, m);
        for params in settings() {
            let seen = fed_keeping(Keep::Auto, params, &x, &[3, n - 3]);
            let zscore = params.normalize == Normalize::ZScore;
            assert_eq!(seen.form() == Form::Triangle, zscore);
            close(&seen.finish(Exec::default()).unwrap(), &params.fit(&x).unwrap(), &(n, params));
        }
    }
}

#[test]
fn partitions_merged_in_order_give_one_model_to_the_last_bit() {
    let x = samples(7000, 12);
    let ends = [0, 700, 700, 5200, 5201, 7000];
    for keep in [Keep::Auto, Keep::Triangle] {
        for params in settings() {
            let merged = |step: usize| {
                let mut all = PceSummary::keeping(keep, params, 12).unwrap();
                for w in ends.windows(2) {
                    let (rows, mut part) = (w[1] - w[0], PceSummary::keeping(keep, params, 12).unwrap());
                    for from in (0..rows).step_by(step) {
                        let end = w[0] + (from + step).min(rows);
                        part.update(&some(&x, w[0] + from..end), Exec::default()).unwrap();
                    }
                    all.merge(&part, Exec::default()).unwrap();
                }
                all
            };
            let (a, b) = (merged(7000), merged(611));
            assert_eq!(a, b);
            assert_eq!(a.rows(), 7000);
            close(&a.finish(Exec::default()).unwrap(), &params.fit(&x).unwrap(), &(keep, params));
        }
    }
}

#[test]
fn a_merge_counts_dead_samples_features_and_numbers() {
    let mut x = samples(400, 12);
    (0..400).for_each(|i| x.row_mut(i)[5] = 0.0);
    // Constant in each half, and not in both together.
    (0..400).for_each(|i| x.row_mut(i)[7] = if i < 150 { 1.0 } else { 2.0 });
    for row in [77, 200, 399] {
        x.row_mut(row).fill(0.0);
    }
    let params = PceParams::default();
    let mut all = fed(params, &some(&x, 0..150), &[150]);
    all.merge(&fed(params, &some(&x, 150..400), &[250]), Exec::default()).unwrap();
    let fitted = params.fit(&x).unwrap();
    let seen = all.finish(Exec::default()).unwrap();
    assert_eq!(seen.parts().warnings, fitted.parts().warnings);
    close(&seen, &fitted, &"merged");
    assert_eq!(all.state().3, fed(params, &x, &[400]).state().3);
    let bytes = Mat::<u8>::from_fn(3, 12, |i, j| (1 + 5 * i + j) as u8);
    let mut some_bytes = PceSummary::empty(params, 12).unwrap();
    some_bytes.update(&bytes, Exec::default()).unwrap();
    assert_eq!(some_bytes.state().3.number_type, NumberType::U8);
    some_bytes.merge(&all, Exec::default()).unwrap();
    assert_eq!(some_bytes.state().3.number_type, NumberType::F64, "the least precise of both");
    assert_eq!(some_bytes.state().3.zero_rows, [80, 203, 402]);
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let params = PceParams::default();
    let mut ours = PceSummary::empty(params, 4).unwrap();
    let mut refused = |other: PceSummary| ours.merge(&other, Exec::default()).unwrap_err().to_string();
    let wide = PceSummary::empty(params, 5).unwrap();
    assert_eq!(refused(wide), "the model was fitted on 4 features, the samples have 5");
    let text = "summaries of different settings cannot be merged: ";
    let gram = PceSummary::keeping(Keep::Gram, params, 4).unwrap();
    assert_eq!(refused(gram), format!("{text}`form` is triangle in the one and gram in the other"));
    let fixed = PceSummary::empty(PceParams { lambda: Lambda::Fixed(0.5), ..params }, 4).unwrap();
    assert_eq!(refused(fixed), format!("{text}`lambda` is auto in the one and fixed(0.5) in the other"));
}

#[test]
fn a_refused_portion_after_a_merge_leaves_what_was() {
    let x = samples(3000, 12);
    let params = PceParams::default();
    let mut all = fed(params, &some(&x, 0..1500), &[1500]);
    all.merge(&fed(params, &some(&x, 1500..3000), &[1500]), Exec::default()).unwrap();
    for questions in 0..20 {
        let (mut summary, monitor) = (all.clone(), After(AtomicUsize::new(0), questions));
        if summary.update(&some(&x, 0..700), Exec::new(std::num::NonZero::new(1), &monitor)).is_err() {
            assert_eq!(summary, all);
        }
    }
}

#[test]
fn one_summary_finishes_at_every_lambda() {
    let x = samples(3000, 12);
    for keep in [Keep::Auto, Keep::Triangle] {
        let seen = fed_keeping(keep, PceParams::default(), &x, &[3000]);
        let fixed = |l| PceParams { lambda: Lambda::Fixed(l), ..PceParams::default() };
        let dim = PceParams { dim: Dim::Fixed(3), ..PceParams::default() };
        for params in [fixed(0.01), fixed(0.2), fixed(0.5), dim] {
            let once = fed_keeping(keep, params, &x, &[3000]).finish(Exec::default()).unwrap();
            assert_eq!(seen.finish_as(params, Exec::default()).unwrap(), once);
        }
        let scaled_only = fed_keeping(keep, fixed(0.2), &x, &[3000]);
        let refused = |params| scaled_only.finish_as(params, Exec::default()).unwrap_err();
        assert!(matches!(refused(PceParams::default()), Error::NotKept { setting: "lambda", .. }));
        let centred = PceParams { center: true, ..fixed(0.2) };
        assert!(matches!(refused(centred), Error::NotKept { setting: "center", .. }));
        let raw = PceParams { normalize: Normalize::None, ..fixed(0.2) };
        assert!(matches!(refused(raw), Error::NotKept { setting: "normalize", .. }));
    }
}

#[test]
fn a_gram_summary_says_when_it_cannot_know() {
    // Five directions and nothing else: half of the values are rounding.
    let wave = |i: usize, d: usize| (((i + 1) * (d + 3)) as f64 * 0.618).sin();
    let x = Mat::from_fn(3000, 12, |i, j| (0..5).map(|d| wave(i, d) * wave(7 * j, d)).sum());
    let (auto, all) = (PceParams::default(), PceParams { lambda: Lambda::Noise(0.0), ..PceParams::default() });
    for params in [auto, all, PceParams { lambda: Lambda::Fixed(1e18), ..auto }] {
        let refused = fed_keeping(Keep::Gram, params, &x, &[3000]).finish(Exec::default());
        assert!(matches!(refused, Err(Error::GramTooCoarse)), "{params:?}: {:?}", refused.map(|m| m.k()));
        let whole = fed(params, &x, &[3000]).finish(Exec::default()).unwrap();
        assert_eq!(whole.k(), params.fit(&x).unwrap().k());
    }
    assert_eq!(PceSummary::keeping(Keep::Auto, all, 12).unwrap().form(), Form::Triangle);
    let zscore = PceParams { normalize: Normalize::ZScore, ..auto };
    assert!(matches!(PceSummary::keeping(Keep::Gram, zscore, 12), Err(Error::NotKept { setting: "form", .. })));
}
