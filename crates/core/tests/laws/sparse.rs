//! Sparse samples give the model of the same samples stored densely, and the direct solver that of the proving one.

use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Csr, Samples};
use eigenspan_core::{Dim, Error, Exec, Lambda, Mat, Normalize, Pce, PceParams, Quiet, RankRule, Solver};
use std::num::NonZero;

/// Rank-`rank` signal and a little noise, where a coin that comes up with chance `share` keeps a value.
fn sparse(n: usize, m: usize, share: f64, rank: usize, seed: u64) -> Csr {
    let mut normal = Normal::new(seed);
    let left = Mat::from_fn(n, rank, |_, _| 1.0 + normal.draw().abs());
    let right = Mat::from_fn(rank, m, |r, j| if j % rank == r { 3.0 + normal.draw().abs() } else { 0.0 });
    let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in 0..n {
        for j in 0..m {
            if normal.uniform() < share && i % 50 != 7 {
                columns.push(j);
                values.push((0..rank).map(|r| left.at(i, r) * right.at(r, j)).sum::<f64>() + 0.1 * normal.draw());
            }
        }
        starts.push(values.len());
    }
    Csr::new(m, starts, columns, values).unwrap()
}

fn projector(model: &Pce, i: usize, j: usize) -> f64 {
    let basis = &model.parts().basis;
    basis.row(i).iter().zip(basis.row(j)).map(|(a, b)| a * b).sum()
}

/// Same k, σ within a few rounding errors of σ₁ (through G: eps·(σ₁/σ)² of σ), same subspace.
fn same_model(a: &Pce, b: &Pce, what: &str) {
    assert_eq!((a.k(), a.columns()), (b.k(), b.columns()), "{what}: {} and {}", a.why(), b.why());
    let (sigma, others) = (&a.parts().sigma, &b.parts().sigma);
    for (s, other) in sigma.iter().zip(others).take(a.columns()) {
        assert!((s - other).abs() <= 1e-9 * s, "{what}: σ {s} ≠ {other}");
    }
    let some = || (0..a.features()).step_by(1 + a.features() / 30);
    let apart = some().flat_map(|i| some().map(move |j| (i, j))).map(|(i, j)| projector(a, i, j) - projector(b, i, j));
    let apart = apart.fold(0.0f64, |most, d| most.max(d.abs()));
    assert!(apart < 1e-6, "{what}: subspaces apart by {apart:e}");
}

#[test]
fn sparse_samples_give_the_model_of_the_dense_ones() {
    // Large enough that the Gram matrix answers, and few enough values that it is formed without the zeros.
    for (n, m) in [(500, 260), (260, 500)] {
        let x = sparse(n, m, 0.06, 4, 1);
        let dense = Samples::from(&x).to_f64();
        for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
            for center in [false, true] {
                for lambda in [Lambda::Auto, Lambda::Energy(0.3), Lambda::ScreeNot] {
                    let params = PceParams { lambda, normalize, center, ..PceParams::default() };
                    let what = format!("{n} × {m}, {normalize:?}, centred {center}, {lambda:?}");
                    same_model(&params.fit(&x).unwrap(), &params.fit(&dense).unwrap(), &what);
                }
            }
        }
    }
}

#[test]
fn the_direct_solver_gives_the_proved_model_and_does_not_call_it_proved() {
    let x = sparse(900, 700, 0.05, 3, 2);
    let dense = Samples::from(&x).to_f64();
    for center in [false, true] {
        let plain = PceParams { dim: Dim::Fixed(3), center, ..PceParams::default() };
        let proved = plain.fit(&x).unwrap();
        let lambda = Lambda::Fixed(proved.parts().lambda);
        let released = PceParams { lambda, rank_rule: RankRule::Released, center, ..PceParams::default() };
        let noise = PceParams { lambda: Lambda::Noise(3.0), center, ..PceParams::default() };
        for params in [plain, PceParams { lambda, center, ..PceParams::default() }, released, noise] {
            let proved = params.fit(&x).unwrap();
            for samples in [Samples::from(&x), Samples::from(&dense)] {
                let direct = PceParams { solver: Solver::Direct, ..params }.fit(samples).unwrap();
                same_model(&direct, &proved, &format!("{params:?}"));
                assert_eq!((&direct.parts().solver[..], direct.parts().certified), ("krylov", false));
                assert_eq!(direct.parts().lambda_rule, proved.parts().lambda_rule);
            }
        }
    }
}

#[test]
fn rules_that_need_the_whole_spectrum_refuse_the_direct_solver_and_say_what_to_do() {
    let x = sparse(200, 150, 0.05, 2, 3);
    for (lambda, rule) in [(Lambda::Auto, "auto"), (Lambda::ScreeNot, "screenot"), (Lambda::Noise(0.0), "noise")] {
        let refused = PceParams { lambda, solver: Solver::Direct, ..PceParams::default() }.fit(&x).unwrap_err();
        assert_eq!(refused, Error::WholeSpectrum { rule });
        assert!(refused.hint().unwrap().contains("give λ"));
    }
    let zero = Csr::new(4, vec![0, 0, 0], vec![], vec![]).unwrap();
    for solver in [Solver::Auto, Solver::Direct] {
        let refused = PceParams { lambda: Lambda::Fixed(1.0), solver, ..PceParams::default() }.fit(&zero).unwrap_err();
        assert!(matches!(refused, Error::AllZero { n: 2, .. }));
    }
}

#[test]
fn the_model_of_sparse_samples_does_not_depend_on_the_number_of_threads() {
    let x = sparse(700, 600, 0.04, 3, 4);
    for solver in [Solver::Auto, Solver::Direct] {
        let params = PceParams { lambda: Lambda::Energy(0.2), center: true, solver, ..PceParams::default() };
        let with = |threads| params.fit_with(&x, Exec::new(NonZero::new(threads), &Quiet)).unwrap();
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(4));
    }
}

#[test]
fn a_row_of_a_million_features_costs_what_is_stored() {
    // 2000 × 10⁶ values would be 16 GB; what is stored is 1 MB.
    let (n, m) = (2000usize, 1_000_000usize);
    let columns: Vec<usize> = (0..n).flat_map(|i| (0..40).map(move |s| s * 25_000 + (i * 31 + s * s) % 600)).collect();
    let values = (0..n).flat_map(|i| (0..40).map(move |s| 1.0 + ((i * s) as f64).sin())).collect();
    let x = Csr::new(m, (0..=n).map(|i| i * 40).collect(), columns, values).unwrap();
    let model = PceParams { dim: Dim::Fixed(2), center: true, ..PceParams::default() }.fit(&x).unwrap();
    let direct = PceParams { dim: Dim::Fixed(2), center: true, solver: Solver::Direct, ..PceParams::default() };
    same_model(&model, &direct.fit(&x).unwrap(), "a million features");
}
