//! What goes in: storage, number types, scales, threads, and what is refused.

use std::num::NonZero;

use eigenspan_core::data::{Csr, Matrix, Samples};
use eigenspan_core::{Dim, Error, Exec, Lambda, Mat, Normalize, PceParams, Quiet, Warning};

use super::{cases, difference, features, identity, largest, planted, raw, times};

#[test]
fn single_precision_at_small_and_large_scales() {
    let x = planted(60, 35, 4, 0.2, 5);
    for c in [1e-15, 1.0, 1e15] {
        let single = Mat::from_fn(60, 35, |i, j| (c * x.at(i, j)) as f32);
        for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
            let params = PceParams { normalize, ..PceParams::default() };
            let (one, two) = (params.fit(&single).unwrap(), params.fit(&x).unwrap());
            assert_eq!(one.k(), two.k());
            let unit = if normalize == Normalize::None { c } else { 1.0 };
            let off = largest(one.parts().sigma.iter().zip(&two.parts().sigma).map(|(a, b)| a / unit - b));
            assert!(off <= 60.0 * f64::from(f32::EPSILON) * two.parts().sigma[0]);
            assert!(matches!(one.transform(&single).unwrap(), Matrix::F32(_)));
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_again() {
    for x in [planted(5000, 9, 3, 0.2, 1), planted(30, 700, 3, 0.2, 2)] {
        let with = |threads: usize| {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            let model = PceParams { center: true, ..PceParams::default() }.fit_with(&x, exec).unwrap();
            let z = model.transform_with(&x, exec).unwrap();
            let clean = model.recover_with(&x, exec).unwrap();
            (model, z, clean)
        };
        let one = with(1);
        assert!(one == with(1) && one == with(2) && one == with(4));
    }
}

#[test]
fn a_sample_has_the_same_features_alone_and_in_company() {
    let x = planted(37, 50, 4, 0.2, 6);
    let model = PceParams::default().fit(&x).unwrap();
    let together = features(&model, &x);
    for i in 0..37 {
        let alone = Mat::from_vec(1, 50, x.row(i).to_vec()).unwrap();
        assert_eq!(features(&model, &alone).as_slice(), together.row(i));
    }
}

#[test]
fn every_kind_of_storage_gives_the_same_model() {
    let bytes = Mat::from_fn(40, 30, |i, j| ((i * 31 + j * 17 + i * j) % 251) as u8);
    let doubles = Mat::from_fn(40, 30, |i, j| f64::from(bytes.at(i, j)));
    let singles = Mat::from_fn(40, 30, |i, j| f32::from(bytes.at(i, j)));
    let starts = (0..=40).map(|i| i * 30).collect();
    let sparse = Csr::new(30, starts, (0..1200).map(|c| c % 30).collect(), doubles.as_slice().to_vec()).unwrap();
    let fit = |x: Samples<'_>| PceParams { lambda: Lambda::Fixed(1.0), ..PceParams::default() }.fit(x).unwrap();
    let reference = fit(Samples::from(&doubles));
    for x in [Samples::from(&bytes), Samples::from(&singles), Samples::from(&sparse)] {
        let model = fit(x);
        assert_eq!(model.parts().basis, reference.parts().basis);
        assert_eq!(model.parts().sigma, reference.parts().sigma);
    }
}

#[test]
fn centred_bytes_have_one_spectrum_in_any_type_and_under_any_offset() {
    // Large enough to go through the Gram matrix, of features and of samples.
    for (n, m) in [(900, 160), (160, 900)] {
        let bytes = Mat::from_fn(n, m, |i, j| 200 + ((i * 31 + j * 17 + i * j) % 51) as u8);
        let double = Mat::from_fn(n, m, |i, j| f64::from(bytes.at(i, j)));
        let single = Mat::from_fn(n, m, |i, j| f32::from(bytes.at(i, j)));
        let params = PceParams { center: true, ..raw(Lambda::Fixed(1e-6)) };
        let models = [params.fit(&bytes), params.fit(&double), params.fit(&single)].map(Result::unwrap);
        for model in &models {
            assert!(model.k() > 0 && model.parts().certified);
            assert_eq!(model.parts().sigma, models[0].parts().sigma);
        }
        // No bytes any more: the mean is taken away from each sample, in double precision.
        let shifted = Mat::from_fn(n, m, |i, j| double.at(i, j) + 0.5);
        let (here, there) =
            (params.values(&bytes, Exec::default()).unwrap(), params.values(&shifted, Exec::default()).unwrap());
        let apart = largest(here.iter().zip(&there).map(|(a, b)| a - b));
        assert!(apart <= 1e-13 * here[0], "{n} × {m}: apart by {apart:e} of {:e}", here[0]);
    }
}

#[test]
fn zero_samples_and_pure_noise_are_said_loudly_and_refused_when_strict() {
    let mut x = planted(30, 10, 2, 0.01, 9);
    x.row_mut(4).fill(0.0);
    x.row_mut(17).fill(0.0);
    let model = PceParams::default().fit(&x).unwrap();
    assert_eq!(model.parts().warnings[0], Warning::ZeroSamples { count: 2, rows: vec![4, 17] });
    assert!(features(&model, &x).row(4).iter().all(|z| *z == 0.0));
    let strict = PceParams { strict: true, ..PceParams::default() };
    assert_eq!(strict.fit(&x).unwrap_err(), Error::ZeroSamples { count: 2, first: 4 });

    let noise = planted(200, 100, 0, 1.0, 10);
    let model = raw(Lambda::Auto).fit(&noise).unwrap();
    assert_eq!((model.k(), model.columns()), (0, 1));
    assert!(model.parts().warnings.contains(&Warning::NothingAboveCut));
    assert!(matches!(PceParams { strict: true, ..raw(Lambda::Auto) }.fit(&noise), Err(Error::NothingAboveCut { .. })));
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let x = planted(10, 5, 2, 0.1, 1);
    let message = |params: PceParams| params.fit(&x).unwrap_err().to_string();
    assert_eq!(message(raw(Lambda::Fixed(-1.0))), "`lambda` must be a positive number, got -1");
    assert_eq!(message(raw(Lambda::Fixed(f64::NAN))), "`lambda` must be a positive number, got NaN");
    assert_eq!(message(raw(Lambda::Noise(-2.0))), "`noise` must be a standard deviation of 0 or more, got -2");
    let percent = raw(Lambda::Energy(95.0)).fit(&x).unwrap_err();
    assert_eq!(percent.to_string(), "`energy` must be a share between 0 and 1, got 95");
    assert_eq!(percent.hint().unwrap(), "for 95 percent write 0.95");
    assert_eq!(message(PceParams { dim: Dim::Fixed(0), ..raw(Lambda::Auto) }), "`dim` must be at least 1, got 0");
    assert_eq!(
        PceParams::default().fit(&Mat::<f64>::zeros(3, 4)).unwrap_err().to_string(),
        "the 3 sample(s) of 4 feature(s) are all zero"
    );
    let one = Mat::from_vec(1, 2, vec![1.0, 2.0]).unwrap();
    let centred = PceParams { center: true, ..PceParams::default() }.fit(&one).unwrap_err();
    assert_eq!(centred.to_string(), "the 1 sample(s) of 2 feature(s) are all zero once their mean is subtracted");
    let model = PceParams::default().fit(&x).unwrap();
    assert_eq!(model.transform(&one).unwrap_err(), Error::FeatureMismatch { expected: 5, got: 2 });
    let mut bad = x.clone();
    bad.row_mut(3)[1] = f64::INFINITY;
    assert!(matches!(model.transform(&bad), Err(Error::NotFinite { row: 3, column: 1, .. })));
}

#[test]
fn the_laws_hold_in_single_precision() {
    let eps = f64::from(f32::EPSILON);
    for x in cases() {
        let single = Mat::from_fn(x.rows(), x.cols(), |i, j| x.at(i, j) as f32);
        let model = raw(Lambda::Fixed(0.05)).fit(&single).unwrap();
        let sigma = &model.parts().sigma;
        let tolerance = 10.0 * eps * x.rows().max(x.cols()) as f64 * sigma[0] / sigma[model.columns() - 1];
        let z = model.transform(&single).unwrap().into_f64();
        assert!(difference(&times(&z.transposed(), &z), &identity(model.columns())) <= tolerance);
        let c = times(&z, &z.transposed());
        assert!(difference(&times(&c, &c), &c) <= tolerance);
        let recovery = model.recover(&single).unwrap();
        let (clean, error) = (recovery.clean.into_f64(), recovery.error.into_f64());
        let sum = Mat::from_fn(x.rows(), x.cols(), |i, j| clean.at(i, j) + error.at(i, j));
        assert!(difference(&sum, &x) <= 4.0 * eps * largest(x.as_slice().iter().copied()));
    }
}

#[test]
fn a_fit_that_is_cancelled_says_so() {
    struct Stop;
    impl eigenspan_core::Monitor for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let x = planted(60, 30, 3, 0.1, 81);
    let refused = PceParams::default().fit_with(&x, Exec::new(None, &Stop)).unwrap_err();
    assert!(refused.is_cancelled());
}

#[test]
fn extreme_lengths_and_scales_do_not_break_the_rule() {
    let x = planted(60, 40, 4, 0.1, 91);
    for c in [1e-310, 1e-300, 1e300] {
        let scaled = Mat::from_fn(60, 40, |i, j| c * x.at(i, j));
        for normalize in [Normalize::Unit, Normalize::None] {
            let model = PceParams { normalize, ..PceParams::default() }.fit(&scaled).unwrap();
            assert_eq!(model.k(), 4, "{c:e}, {normalize:?}");
            let z = features(&model, &scaled);
            assert!(difference(&times(&z.transposed(), &z), &identity(4)) < 1e-10, "{c:e}, {normalize:?}");
        }
    }
    // One sample in kilometres, one in nanometres: their lengths tell nothing about the noise.
    let mixed = Mat::from_fn(60, 40, |i, j| x.at(i, j) * [1e200, 1e-200].get(i).unwrap_or(&1.0));
    assert_eq!(PceParams::default().fit(&mixed).unwrap().k(), 4);
}
