//! The theorems of the paper and the laws of `PCE`, on matrices of every shape, scale and number type.
//!
//! Tolerances are constant × eps × size (× condition where a law has one), for the reason given at each.

use eigenspan::data::generate::{Normal, Subspaces};
use eigenspan::data::{Csr, Matrix, Samples};
use eigenspan::reduce::parts::lambda::principal_rank;
use eigenspan::{Dim, Error, Exec, Lambda, Mat, Normalize, Pce, PceParams, Quiet, RankRule, Warning};
use std::num::NonZero;

const EPS: f64 = f64::EPSILON;

/// Raw samples: rank-`rank` signal with a falling spectrum plus noise.
fn planted(n: usize, m: usize, rank: usize, noise: f64, seed: u64) -> Mat {
    let mut normal = Normal::new(seed);
    let left = Mat::from_fn(n, rank, |_, j| normal.draw() / (1.0 + j as f64 * 0.2));
    let right = Mat::from_fn(rank, m, |_, _| normal.draw());
    Mat::from_fn(n, m, |i, j| (0..rank).map(|r| left.at(i, r) * right.at(r, j)).sum::<f64>() + noise * normal.draw())
}

fn raw(lambda: Lambda) -> PceParams {
    PceParams { lambda, normalize: Normalize::None, ..PceParams::default() }
}

fn times(a: &Mat, b: &Mat) -> Mat {
    let mut c = Mat::zeros(a.rows(), b.cols());
    for i in 0..a.rows() {
        for l in 0..a.cols() {
            let factor = a.at(i, l);
            c.row_mut(i).iter_mut().zip(b.row(l)).for_each(|(c, b)| *c += factor * b);
        }
    }
    c
}

fn largest(a: impl IntoIterator<Item = f64>) -> f64 {
    a.into_iter().fold(0.0, |best: f64, v| best.max(v.abs()))
}

fn difference(a: &Mat, b: &Mat) -> f64 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    largest(a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a - b))
}

fn identity(k: usize) -> Mat {
    Mat::from_fn(k, k, |i, j| f64::from(u8::from(i == j)))
}

fn features(model: &Pce, x: &Mat) -> Mat {
    model.transform(x).unwrap().into_f64()
}

/// Raw cases over shapes: n < m, n > m, n = m.
fn cases() -> Vec<Mat> {
    [(40, 90), (90, 40), (60, 60), (1, 7), (7, 1), (300, 12)]
        .iter()
        .map(|&(n, m)| planted(n, m, 5.min(n).min(m), 0.1, (n * 1000 + m) as u64))
        .collect()
}

#[test]
fn the_projection_solves_the_papers_generalised_eigenproblem() {
    for x in cases() {
        let model = raw(Lambda::Fixed(0.05)).fit(&x).unwrap();
        let sigma = &model.parts().sigma;
        let (k, size) = (model.columns(), x.rows().max(x.cols()) as f64);
        let condition = sigma[0] / sigma[k - 1];
        // ΘᵀDDᵀΘ = ZᵀZ = I.
        let z = features(&model, &x);
        let constraint = difference(&times(&z.transposed(), &z), &identity(k));
        assert!(constraint <= 10.0 * EPS * size * condition, "constraint off by {constraint:e}");
        // DADᵀΘ = DDᵀΘ with A = C = ZZᵀ and Z = XΘ: the eigenvalue is 1, k times.
        let d_a_d_theta = times(&x.transposed(), &times(&z, &times(&z.transposed(), &z)));
        let d_d_theta = times(&x.transposed(), &z);
        let residual = difference(&d_a_d_theta, &d_d_theta);
        assert!(residual <= 10.0 * EPS * size * condition * sigma[0], "residual {residual:e}");
    }
}

#[test]
fn every_other_direction_has_the_generalised_eigenvalue_zero() {
    let x = planted(90, 40, 5, 0.1, 1);
    let all = PceParams { dim: Dim::Fixed(40), ..raw(Lambda::Auto) }.fit(&x).unwrap();
    let k = 5;
    let z = features(&all, &x);
    let a = times(&z.leading_columns(k), &z.leading_columns(k).transposed());
    let d_a_d_theta = times(&x.transposed(), &times(&a, &z));
    let sigma = &all.parts().sigma;
    for j in k..40 {
        let size = largest((0..40).map(|i| d_a_d_theta.at(i, j)));
        assert!(size <= 90.0 * EPS * sigma[0] * sigma[0] / sigma[39], "direction {j}: {size:e}");
    }
}

#[test]
fn the_coefficients_are_an_orthogonal_projector_of_rank_k() {
    for x in cases() {
        let model = raw(Lambda::Fixed(0.05)).fit(&x).unwrap();
        let c = model.coefficients(&x, &x).unwrap();
        let sigma = &model.parts().sigma;
        let tolerance = 10.0 * EPS * x.rows().max(x.cols()) as f64 * sigma[0] / sigma[model.columns() - 1];
        assert!(difference(&c, &c.transposed()) <= tolerance);
        assert!(difference(&times(&c, &c), &c) <= tolerance);
        let trace: f64 = (0..c.rows()).map(|i| c.at(i, i)).sum();
        assert!((trace - model.columns() as f64).abs() <= tolerance * c.rows() as f64); // trace of a projector = its rank
        // A block is a block of the whole.
        let part = Mat::from_fn(1, x.cols(), |_, j| x.at(0, j));
        assert_eq!(model.coefficients(&part, &x).unwrap().as_slice(), c.row(0));
    }
}

#[test]
fn k_minimises_the_objective_over_every_rank_and_the_path_agrees() {
    let x = planted(50, 30, 6, 0.2, 11);
    let model = raw(Lambda::Auto).fit(&x).unwrap();
    let (sigma, path) = (&model.parts().sigma, model.path());
    for step in 0..400 {
        let lambda = 1e-6 * 1.07f64.powi(step);
        let cost = |r: usize| r as f64 + lambda * sigma[r..].iter().map(|s| s * s).sum::<f64>();
        let best = (0..=sigma.len()).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap();
        assert_eq!(principal_rank(sigma, lambda), best);
        let on_path = path.iter().take_while(|s| s.lambda < lambda).last().map_or(0, |s| s.k);
        assert_eq!(on_path, best, "λ = {lambda}");
        if step % 40 == 0 {
            assert_eq!(raw(Lambda::Fixed(lambda)).fit(&x).unwrap().k(), best);
        }
    }
}

#[test]
fn scaling_the_data_is_scaling_lambda() {
    let x = planted(40, 25, 4, 0.3, 3);
    for c in [1e-150, 1e-15, 0.3, 1e15, 1e150] {
        let scaled = Mat::from_fn(40, 25, |i, j| c * x.at(i, j));
        for lambda in [1e-4, 1e-2, 0.1, 1.0] {
            let k = |x: &Mat, lambda| raw(Lambda::Fixed(lambda)).fit(x).unwrap().k();
            assert_eq!(k(&scaled, lambda), k(&x, lambda * c * c), "c = {c}");
        }
        for rule in [Lambda::Auto, Lambda::ScreeNot, Lambda::Energy(0.9)] {
            assert_eq!(raw(rule).fit(&scaled).unwrap().k(), raw(rule).fit(&x).unwrap().k(), "c = {c}, {rule:?}");
        }
    }
    // A power of two moves no bit of the spectrum.
    let doubled = Mat::from_fn(40, 25, |i, j| 2f64.powi(200) * x.at(i, j));
    let sigma = |x: &Mat| raw(Lambda::Auto).fit(x).unwrap().parts().sigma.clone();
    assert!(sigma(&x).iter().zip(sigma(&doubled)).all(|(a, b)| a * 2f64.powi(200) == b));
}

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
fn the_clean_part_is_the_best_approximation_and_the_rest_is_orthogonal() {
    for x in cases() {
        for normalize in [Normalize::None, Normalize::Unit] {
            let params = PceParams { normalize, ..raw(Lambda::Fixed(0.5)) };
            let model = params.fit(&x).unwrap();
            let recovery = model.recover(&x).unwrap();
            let (clean, error) = (recovery.clean.into_f64(), recovery.error.into_f64());
            let whole = largest(x.as_slice().iter().copied());
            let sum = Mat::from_fn(x.rows(), x.cols(), |i, j| clean.at(i, j) + error.at(i, j));
            assert!(difference(&sum, &x) <= 4.0 * EPS * whole, "D = D₀ + E");
            // Eckart–Young: Σ‖eᵢ‖² = Σ_{i>k} σᵢ² in prepared units.
            let tail: f64 = model.parts().sigma[model.columns()..].iter().map(|s| s * s).sum();
            let total: f64 = model.parts().sigma.iter().map(|s| s * s).sum();
            let found: f64 = recovery.score.iter().map(|s| s * s).sum();
            assert!((found - tail).abs() <= 10.0 * EPS * x.rows().max(x.cols()) as f64 * total);
            if normalize == Normalize::None {
                let inner: f64 = clean.as_slice().iter().zip(error.as_slice()).map(|(c, e)| c * e).sum();
                assert!(inner.abs() <= 10.0 * EPS * x.rows().max(x.cols()) as f64 * total, "⟨D₀, E⟩ = {inner:e}");
            }
        }
    }
}

#[test]
fn features_map_back_to_the_clean_part() {
    let x = planted(30, 20, 3, 0.1, 8);
    for (normalize, center) in
        [(Normalize::Unit, false), (Normalize::Unit, true), (Normalize::None, true), (Normalize::ZScore, false)]
    {
        let model = PceParams { normalize, center, ..PceParams::default() }.fit(&x).unwrap();
        let lengths: Vec<f64> = (0..30).map(|i| model.parts().preparation.length(x.row(i))).collect();
        let back = model.inverse_transform(&model.transform(&x).unwrap(), Some(&lengths)).unwrap().into_f64();
        let clean = model.recover(&x).unwrap().clean.into_f64();
        assert!(difference(&back, &clean) <= 100.0 * EPS * largest(x.as_slice().iter().copied()));
        if normalize == Normalize::Unit && !center {
            let unit = model.inverse_transform(&model.transform(&x).unwrap(), None).unwrap().into_f64();
            let scaled = Mat::from_fn(30, 20, |i, j| unit.at(i, j) * lengths[i]);
            assert!(difference(&scaled, &clean) <= 100.0 * EPS * largest(x.as_slice().iter().copied()));
        }
    }
}

#[test]
fn rank_deficient_data_without_noise_has_its_rank() {
    for (n, m, rank) in [(40, 90, 3), (90, 40, 7), (50, 50, 1)] {
        let x = planted(n, m, rank, 0.0, 21);
        for normalize in [Normalize::None, Normalize::Unit] {
            for lambda in [Lambda::Auto, Lambda::ScreeNot, Lambda::Noise(0.0)] {
                let model = PceParams { lambda, normalize, ..PceParams::default() }.fit(&x).unwrap();
                assert_eq!(model.k(), rank, "{lambda:?} {normalize:?}");
                assert!(model.why().contains("no noise"), "{}", model.why());
            }
        }
        // However large λ, directions that are rounding are not kept; that more may be there is said.
        let most = raw(Lambda::Fixed(1e40)).fit(&x).unwrap();
        assert_eq!((most.k(), most.parts().k_interval), (rank, (rank, n.min(m))));
        assert!(!most.parts().certified);
        let refused = PceParams { dim: Dim::Fixed(rank + 1), ..raw(Lambda::Auto) }.fit(&x).unwrap_err();
        assert_eq!(refused, Error::DimTooLarge { asked: rank + 1, most: rank, n, m });
        assert_eq!(refused.hint().unwrap(), format!("use a dimension of {rank} or less, or `auto`"));
        // Scaled to unit length by someone before us, it is still without noise.
        let lengths: Vec<f64> = (0..n).map(|i| eigenspan::prepare::norm(x.row(i))).collect();
        let before = Mat::from_fn(n, m, |i, j| x.at(i, j) / lengths[i]);
        assert_eq!(PceParams::default().fit(&before).unwrap().k(), rank);
        let before = Mat::from_fn(n, m, |i, j| (x.at(i, j) / lengths[i]) as f32);
        assert_eq!(PceParams::default().fit(&before).unwrap().k(), rank);
        // Rounded to single precision, the rounding is not taken for noise.
        let single = Mat::from_fn(n, m, |i, j| x.at(i, j) as f32);
        assert_eq!(raw(Lambda::Auto).fit(&single).unwrap().k(), rank);
    }
}

#[test]
fn copies_and_dead_features_do_not_move_k() {
    let x = planted(120, 60, 4, 0.3, 31);
    // 40 samples twice, 30 features twice, 50 features that are zero, 5 samples that are zero.
    let padded = Mat::from_fn(165, 140, |i, j| {
        let (i, j) = (if i >= 120 { i - 120 } else { i }, if (60..90).contains(&j) { j - 60 } else { j });
        if j >= 90 || i >= 120 { 0.0 } else { x.at(i, j) }
    });
    for center in [false, true] {
        for normalize in [Normalize::None, Normalize::Unit] {
            let params = PceParams { center, normalize, ..PceParams::default() };
            assert_eq!(params.fit(&x).unwrap().k(), 4);
            assert_eq!(params.fit(&padded).unwrap().k(), 4, "center {center}, {normalize:?}");
        }
    }
}

#[test]
fn the_order_of_samples_and_a_rotation_of_features_do_not_matter() {
    let x = planted(50, 20, 4, 0.2, 77);
    let reversed = Mat::from_fn(50, 20, |i, j| x.at(49 - i, j));
    // A Householder reflection H = I − 2vvᵀ.
    let mut normal = Normal::new(5);
    let v: Vec<f64> = (0..20).map(|_| normal.draw()).collect();
    let square: f64 = v.iter().map(|v| v * v).sum();
    let turn = Mat::from_fn(20, 20, |i, j| f64::from(u8::from(i == j)) - 2.0 * v[i] * v[j] / square);
    let turned = times(&x, &turn);
    let fit = |x: &Mat| PceParams::default().fit(x).unwrap();
    let (a, b, c) = (fit(&x), fit(&reversed), fit(&turned));
    assert!(a.k() == b.k() && a.k() == c.k());
    let whole = a.coefficients(&x, &x).unwrap();
    let tolerance = 1e3 * EPS * a.parts().sigma[0] / (a.parts().sigma[3] - a.parts().sigma[4]);
    assert!(difference(&c.coefficients(&turned, &turned).unwrap(), &whole) <= tolerance);
    let back = b.coefficients(&reversed, &reversed).unwrap();
    assert!(difference(&Mat::from_fn(50, 50, |i, j| back.at(49 - i, 49 - j)), &whole) <= tolerance);
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
fn independent_subspaces_without_noise_give_a_block_diagonal_c() {
    let data = Subspaces { samples: 45, features: 40, subspaces: 3, dim: 4, noise: 0.0 }.generate(4).unwrap();
    let model = PceParams::default().fit(&data.samples).unwrap();
    assert_eq!(model.k(), 12);
    let c = model.coefficients(&data.samples, &data.samples).unwrap();
    let sigma = &model.parts().sigma;
    let labels = data.labels.unwrap().of;
    for i in 0..45 {
        for j in (0..45).filter(|&j| labels[j] != labels[i]) {
            assert!(c.at(i, j).abs() <= 10.0 * 45.0 * EPS * sigma[0] / sigma[11]);
        }
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
    assert_eq!(centred.to_string(), "the 1 sample(s) of 2 feature(s) are all zero once their mean is taken away");
    let model = PceParams::default().fit(&x).unwrap();
    assert_eq!(model.transform(&one).unwrap_err(), Error::FeatureMismatch { expected: 5, got: 2 });
    let mut bad = x.clone();
    bad.row_mut(3)[1] = f64::INFINITY;
    assert!(matches!(model.transform(&bad), Err(Error::NotFinite { row: 3, column: 1, .. })));
}

#[test]
fn the_released_rule_takes_one_more_and_at_least_two() {
    let x = planted(40, 30, 5, 0.2, 41);
    let k = |lambda, rank_rule| PceParams { rank_rule, ..raw(Lambda::Fixed(lambda)) }.fit(&x).unwrap().k();
    for lambda in [1e-3, 1e-2, 0.1, 1.0] {
        assert_eq!(k(lambda, RankRule::Released), (k(lambda, RankRule::Theorem) + 1).clamp(2, 30));
    }
    // The rule moves the ends of the interval as it moves k: nothing here is within rounding of the cut.
    let released = PceParams { rank_rule: RankRule::Released, ..raw(Lambda::Fixed(0.1)) }.fit(&x).unwrap();
    assert_eq!((released.parts().k_interval, released.parts().certified), ((released.k(), released.k()), true));
    assert_eq!(k(1e-9, RankRule::Released), 2);
    assert_eq!(k(1e9, RankRule::Released), 30);
}

#[test]
fn energy_keeps_the_fewest_directions_that_are_enough() {
    let x = planted(40, 30, 5, 0.5, 43);
    for share in [0.3, 0.9, 0.99, 1.0] {
        let model = raw(Lambda::Energy(share)).fit(&x).unwrap();
        let energy = |k: usize| {
            let s = &model.parts().sigma;
            s[..k].iter().map(|s| s * s).sum::<f64>() / s.iter().map(|s| s * s).sum::<f64>()
        };
        assert!(energy(model.k()) >= share - 30.0 * EPS && energy(model.k() - 1) < share);
        assert!((model.energy() - energy(model.k())).abs() < 1e-14);
    }
}

#[test]
fn a_cut_within_rounding_of_a_value_is_an_interval() {
    // σ = 3, 2, 1: λ = 1/4 puts the cut on σ₂ to the last bit.
    let x = Mat::from_fn(3, 3, |i, j| if i == j { 3.0 - i as f64 } else { 0.0 });
    let on = raw(Lambda::Fixed(0.25)).fit(&x).unwrap();
    assert_eq!((on.parts().k_interval, on.parts().certified), ((1, 2), false));
    let beside = Mat::from_fn(3, 3, |i, j| x.at(i, j) * if i == 1 { 1.0 - 2.0 * EPS } else { 1.0 });
    let beside = raw(Lambda::Fixed(0.25)).fit(&beside).unwrap();
    assert_eq!((beside.k(), beside.parts().k_interval, beside.parts().certified), (1, (1, 2), false));
    let off = raw(Lambda::Fixed(0.3)).fit(&x).unwrap();
    assert_eq!((off.k(), off.parts().k_interval, off.parts().certified), (2, (2, 2), true));
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
fn constant_features_do_not_move_k_once_the_mean_is_taken_away() {
    let x = planted(150, 40, 3, 0.3, 51);
    let with_constants = Mat::from_fn(150, 70, |i, j| if j < 40 { x.at(i, j) } else { 0.1 * j as f64 });
    let k = |x: &Mat, normalize| PceParams { center: true, normalize, ..PceParams::default() }.fit(x).unwrap().k();
    assert_eq!((k(&x, Normalize::None), k(&with_constants, Normalize::None)), (3, 3));
    assert_eq!(k(&x, Normalize::ZScore), k(&with_constants, Normalize::ZScore));
    // A constant feature that is not taken away is a direction of its own.
    let intercept = Mat::from_fn(150, 41, |i, j| if j < 40 { x.at(i, j) } else { 5.0 });
    assert_eq!(raw(Lambda::Auto).fit(&intercept).unwrap().k(), 4);
}

#[test]
fn no_feasible_pair_beats_the_objective() {
    // ½‖C‖² + ½λ‖D − D₀‖² over random D₀ of every rank with C the projector on its rows (Lemma 1: the best C for it).
    let x = planted(12, 9, 3, 0.5, 61);
    for lambda in [0.01, 0.1, 1.0] {
        let model = raw(Lambda::Fixed(lambda)).fit(&x).unwrap();
        let tail: f64 = model.parts().sigma[model.k()..].iter().map(|s| s * s).sum();
        let best = 0.5 * (model.k() as f64 + lambda * tail);
        let mut normal = Normal::new(62);
        for trial in 0..1000 {
            let rank = trial % 10;
            // Any D₀ of rank r costs ½r + ½λ‖E‖²: project D on random directions, some of them near the right ones.
            let near = model.parts().basis.transposed();
            let directions = Mat::from_fn(rank, 9, |i, j| {
                normal.draw() * 0.1 + if i < near.rows() { near.at(i, j) } else { normal.draw() }
            });
            let q = eigenspan_linalg::triangle::orthonormalise(&directions.transposed());
            let kept = times(&times(&x, &q), &q.transposed());
            let error: f64 = x.as_slice().iter().zip(kept.as_slice()).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(0.5 * (rank as f64 + lambda * error) >= best * (1.0 - 1e-12), "rank {rank}");
        }
    }
}

#[test]
fn equal_values_are_one_step_of_the_path() {
    let model = raw(Lambda::Fixed(2.0)).fit(&identity(5)).unwrap();
    let steps: Vec<(f64, usize)> = model.path().iter().map(|s| (s.lambda, s.k)).collect();
    assert_eq!(steps, [(1.0, 5)]);
}

#[test]
fn centring_costs_one_degree_of_freedom() {
    // Four samples whose centred values are 1.3, 1, 0.5 and, by centring, 0. The median is 1, not 0.75, and
    // ω(3/100) = 1.48 times 1 is above 1.3, where ω(4/100) times 0.75 would be 1.12.
    let mut normal = Normal::new(71);
    let v = eigenspan_linalg::triangle::orthonormalise(&Mat::from_fn(100, 3, |_, _| normal.draw()));
    let u = [[0.5, 0.5, 0.5], [0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]];
    let sigma = [1.3, 1.0, 0.5];
    let x =
        Mat::from_fn(4, 100, |i, j| 3.0 * v.at(j, 0) + (0..3).map(|r| sigma[r] * u[i][r] * v.at(j, r)).sum::<f64>());
    let model = PceParams { center: true, ..raw(Lambda::Auto) }.fit(&x).unwrap();
    assert!((model.parts().sigma[0] - 1.3).abs() < 1e-12 && model.parts().sigma[3] < 1e-12);
    assert_eq!(model.k(), 0, "{}", model.why());
}

#[test]
fn a_fit_that_is_cancelled_says_so() {
    struct Stop;
    impl eigenspan::Monitor for Stop {
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

#[test]
fn a_single_direction_is_kept_without_alarm() {
    for x in [Mat::from_fn(1, 1, |_, _| 2.0), Mat::from_fn(1, 9, |_, j| j as f64), Mat::from_fn(6, 4, |_, _| 1.0)] {
        for lambda in [Lambda::Auto, Lambda::ScreeNot] {
            let model = PceParams { lambda, ..PceParams::default() }.fit(&x).unwrap();
            assert_eq!((model.k(), &model.parts().warnings[..]), (1, &[][..]), "{lambda:?} {}", model.why());
        }
    }
}

#[test]
fn white_noise_never_raises_the_alarm_that_it_is_none() {
    let alarms = |n, m, rank, normalize| {
        let alarm = |seed: u64| {
            let model =
                PceParams { normalize, ..PceParams::default() }.fit(&planted(n, m, rank, 1.0, 1000 + seed)).unwrap();
            model.parts().warnings.iter().any(|w| matches!(w, Warning::BulkNotNoise { .. }))
        };
        (0..100).filter(|seed| alarm(*seed)).count()
    };
    for (n, m) in [(6, 9), (20, 25), (20, 200), (30, 30), (60, 40), (120, 90)] {
        for normalize in [Normalize::None, Normalize::Unit] {
            assert_eq!((alarms(n, m, 0, normalize), alarms(n, m, 2, normalize)), (0, 0), "{n} × {m}, {normalize:?}");
        }
    }
    // A spectrum that falls like a power law raises it.
    let law = Mat::from_fn(80, 80, |i, j| if i == j { (1.0 + i as f64).powf(-1.5) } else { 0.0 });
    let model = raw(Lambda::Auto).fit(&law).unwrap();
    assert!(model.parts().warnings.iter().any(|w| matches!(w, Warning::BulkNotNoise { .. })), "{}", model.why());
}

#[test]
fn a_known_noise_is_in_the_units_of_the_data_however_they_are_scaled() {
    let x = planted(120, 80, 4, 0.3, 95);
    for (c, normalize) in
        [1.0, 50.0].into_iter().flat_map(|c| [Normalize::Unit, Normalize::None, Normalize::ZScore].map(|n| (c, n)))
    {
        let scaled = Mat::from_fn(120, 80, |i, j| c * x.at(i, j));
        let k = |deviation| PceParams { normalize, ..raw(Lambda::Noise(deviation)) }.fit(&scaled).unwrap().k();
        assert_eq!((k(0.3 * c), k(1e3 * c)), (4, 0), "{c}, {normalize:?}");
    }
    // Rows of one length that is not 1: signal of length 40 plus noise, brought to length 50. The factor is nearly the
    // same for all rows, so the noise stays even.
    let signal = planted(120, 80, 4, 0.0, 95);
    let mut normal = Normal::new(97);
    let row = |i: usize, normal: &mut Normal| {
        let length = eigenspan::prepare::norm(signal.row(i));
        let y: Vec<f64> = signal.row(i).iter().map(|s| 40.0 * s / length + 0.3 * normal.draw()).collect();
        let length = eigenspan::prepare::norm(&y);
        y.into_iter().map(move |y| 50.0 * y / length)
    };
    let equal =
        Mat::from_vec(120, 80, (0..120).flat_map(|i| row(i, &mut normal).collect::<Vec<_>>()).collect()).unwrap();
    for normalize in [Normalize::Unit, Normalize::None] {
        let model = PceParams { normalize, ..raw(Lambda::Noise(0.3 * 50.0 / 40.0)) }.fit(&equal).unwrap();
        assert_eq!(model.k(), 4, "{normalize:?}: {}", model.why());
    }
}

#[test]
fn a_known_noise_below_rounding_is_called_that() {
    let x = planted(30, 20, 3, 0.0, 96);
    let model = raw(Lambda::Noise(1e-30)).fit(&x).unwrap();
    assert_eq!(model.k(), 3);
    assert!(model.why().contains("the noise given is below rounding"), "{}", model.why());
}
