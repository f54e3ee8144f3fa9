//! Samples that arrive in portions: the same model, whatever the portions.

use std::sync::atomic::{AtomicUsize, Ordering};

use eigenspan::data::generate::Subspaces;
use eigenspan::{Error, Exec, Lambda, Mat, Monitor, Normalize, Pce, PceParams, PceSummary};

fn samples(n: usize, m: usize) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 3, dim: 2, noise: 0.2 }.generate(5).unwrap();
    data.samples.into_f64()
}

fn fed(params: PceParams, x: &Mat, portions: &[usize]) -> PceSummary {
    let mut summary = PceSummary::empty(params, x.cols()).unwrap();
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
