//! The theorems of the paper and the laws of `PCE`, on matrices of every shape. What goes in: `inputs.rs`; how many
//! directions are kept: `rank.rs`.
//!
//! Tolerances are constant × eps × size (× condition where a law has one), for the reason given at each.

use eigenspan_core::data::generate::{Normal, Subspaces};
use eigenspan_core::rule::fixed::principal_rank;
use eigenspan_core::{Dim, Lambda, Mat, Normalize, Pce, PceParams};

mod inputs;
mod rank;

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
            let q = eigenspan_linalg::triangle::orthonormalize(&directions.transposed());
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
