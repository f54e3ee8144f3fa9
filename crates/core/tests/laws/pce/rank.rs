//! How many directions are kept, by every rule, with noise and without.

use eigenspan_core::data::generate::Normal;
use eigenspan_core::{Dim, Error, Lambda, Mat, Normalize, PceParams, RankRule, Warning};

use super::{EPS, planted, raw};

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
        let lengths: Vec<f64> = (0..n).map(|i| eigenspan_core::prepare::norm(x.row(i))).collect();
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
fn centring_costs_one_degree_of_freedom() {
    // Four samples whose centred values are 1.3, 1, 0.5 and, by centring, 0. The median is 1, not 0.75, and
    // ω(3/100) = 1.48 times 1 is above 1.3, where ω(4/100) times 0.75 would be 1.12.
    let mut normal = Normal::new(71);
    let v = eigenspan_linalg::triangle::orthonormalize(&Mat::from_fn(100, 3, |_, _| normal.draw()));
    let u = [[0.5, 0.5, 0.5], [0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]];
    let sigma = [1.3, 1.0, 0.5];
    let x =
        Mat::from_fn(4, 100, |i, j| 3.0 * v.at(j, 0) + (0..3).map(|r| sigma[r] * u[i][r] * v.at(j, r)).sum::<f64>());
    let model = PceParams { center: true, ..raw(Lambda::Auto) }.fit(&x).unwrap();
    assert!((model.parts().sigma[0] - 1.3).abs() < 1e-12 && model.parts().sigma[3] < 1e-12);
    assert_eq!(model.k(), 0, "{}", model.why());
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
        let length = eigenspan_core::prepare::norm(signal.row(i));
        let y: Vec<f64> = signal.row(i).iter().map(|s| 40.0 * s / length + 0.3 * normal.draw()).collect();
        let length = eigenspan_core::prepare::norm(&y);
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
