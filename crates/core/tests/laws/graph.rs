//! What holds for LPP, NPE and LLE, against the toolbox of the paper's baselines, scikit-learn, and their equations.

use std::num::NonZero;

use crate::common::{fixture, gap, real};
use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Csr, Samples};
use eigenspan_core::linalg::dense::product;
use eigenspan_core::linalg::symmetric::tridiagonalize;
use eigenspan_core::method::lpp::Center;
use eigenspan_core::method::parts::graph_embedding::{Columns, Graph};
use eigenspan_core::method::parts::neighbour_graph::{EdgeWeights, NeighbourGraph};
use eigenspan_core::method::parts::neighbours::{Metric, nearest_others};
use eigenspan_core::method::parts::reconstruction::Reconstruction;
use eigenspan_core::method::parts::sparse_graph::SparseGraph;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::linear::Linear;
use eigenspan_core::model::record::{Arrays, Record};
use eigenspan_core::{Dim, Error, Exec, Lle, LleParams, LppParams, Mat, Normalize, NpeParams, Quiet, Warning};

/// Linear algebra of another program.
const OTHER: f64 = 1e-8;

fn exec() -> Exec<'static> {
    Exec::default()
}

fn dense(graph: &SparseGraph) -> Mat {
    let mut out = Mat::zeros(graph.order(), graph.order());
    (0..graph.order()).for_each(|i| graph.row(i).for_each(|(j, w)| out.row_mut(i)[j] = w));
    out
}

fn times(a: &Mat, b: &Mat) -> Mat {
    product(a.view(), b.view(), exec()).unwrap()
}

fn largest(x: &Mat) -> f64 {
    x.as_slice().iter().fold(0.0, |most, v| most.max(v.abs()))
}

fn random(n: usize, m: usize, seed: u64) -> Mat {
    let mut random = Normal::new(seed);
    Mat::from_fn(n, m, |_, j| random.draw() / (1.0 + j as f64 / 4.0))
}

fn centred(x: &Mat) -> Mat {
    let mean: Vec<f64> =
        (0..x.cols()).map(|j| (0..x.rows()).map(|i| x.at(i, j)).sum::<f64>() / x.rows() as f64).collect();
    Mat::from_fn(x.rows(), x.cols(), |i, j| x.at(i, j) - mean[j])
}

/// Columns of `theta` and of the reference, up to their signs.
fn gap_up_to_sign(theta: &Mat, reference: &Mat) -> f64 {
    let column = |j: usize| {
        let sign = (0..theta.rows()).map(|i| theta.at(i, j) * reference.at(i, j)).sum::<f64>().signum();
        (0..theta.rows()).map(|i| (theta.at(i, j) - sign * reference.at(i, j)).abs()).fold(0.0, f64::max)
    };
    assert_eq!((theta.rows(), theta.cols()), (reference.rows(), reference.cols()));
    (0..theta.cols()).map(column).fold(0.0, f64::max)
}

fn values(file: &str, array: &str) -> Vec<f64> {
    fixture(file, array).into_vec()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < OTHER)
}

#[test]
fn the_graph_of_neighbours_is_the_toolbox_s_with_all_weights() {
    let x = fixture("lpp_npe_tall.npz", "X");
    let modes = [
        (EdgeWeights::Binary, "Wb"),
        (EdgeWeights::Heat { t: Some(1.0) }, "Wh"),
        (EdgeWeights::Heat { t: None }, "Whd"),
        (EdgeWeights::Cosine, "Wc"),
    ];
    for (weights, array) in modes {
        let graph = NeighbourGraph::of(&x, 5, weights, exec()).unwrap();
        assert!(gap(&dense(&graph.weights), &fixture("lpp_npe_tall.npz", array)) < OTHER, "{array}");
    }
    let graph = NeighbourGraph::of(&x, 5, EdgeWeights::default(), exec()).unwrap();
    assert!((graph.t.unwrap() - fixture("lpp_npe_tall.npz", "tdef").at(0, 0)).abs() < OTHER);
    let x = fixture("lpp_npe_wide.npz", "X");
    let graph = NeighbourGraph::of(&x, 4, EdgeWeights::Heat { t: Some(1.0) }, exec()).unwrap();
    assert!(gap(&dense(&graph.weights), &fixture("lpp_npe_wide.npz", "Wh")) < OTHER);
}

#[test]
fn lpp_as_published_has_the_toolbox_s_eigenvalues_and_columns() {
    let runs = [
        ("lpp_npe_tall.npz", 5, EdgeWeights::Binary, "lb"),
        ("lpp_npe_tall.npz", 5, EdgeWeights::Heat { t: Some(1.0) }, "lh"),
        ("lpp_npe_wide.npz", 4, EdgeWeights::Heat { t: Some(1.0) }, "lh"),
    ];
    for (file, neighbours, weights, name) in runs {
        let reference = fixture(file, &format!("E{name}"));
        let params = LppParams { weights, ..LppParams::as_published(reference.cols(), neighbours) };
        let model = params.fit(&fixture(file, "X")).unwrap();
        assert!(close(&model.values, &values(file, &format!("ev{name}"))), "{file} {name}: {:?}", model.values);
        assert!(gap_up_to_sign(&model.theta, &reference) < OTHER, "{file} {name}");
        assert_eq!(model.preparation.mean, None);
    }
}

#[test]
fn npe_as_published_has_the_toolbox_s_eigenvalues_and_columns() {
    for (file, neighbours) in [("lpp_npe_tall.npz", 5), ("lpp_npe_wide.npz", 4)] {
        let reference = fixture(file, "Enp");
        let model = NpeParams::as_published(reference.cols(), neighbours).fit(&fixture(file, "X")).unwrap();
        assert!(close(&model.values, &values(file, "evnp")), "{file}: {:?}", model.values);
        assert!(gap_up_to_sign(&model.theta, &reference) < OTHER, "{file}");
        assert_eq!(model.preparation.mean, None);
    }
}

#[test]
fn the_graph_is_symmetric_without_a_diagonal_and_joins_each_sample_to_its_nearest() {
    let x = random(120, 6, 3);
    let graph = NeighbourGraph::of(&x, 7, EdgeWeights::default(), exec()).unwrap().weights;
    assert_eq!(graph, graph.transposed());
    let near = nearest_others(&x, 7, Metric::Euclidean, exec()).unwrap();
    for i in 0..120 {
        let joined: Vec<usize> = graph.row(i).map(|(j, _)| j).collect();
        assert!(!joined.contains(&i));
        assert!(near.of(i).all(|(j, _)| joined.contains(&j)));
    }
}

/// ‖XᵀWXθ − s XᵀDXθ‖ and ‖ΘᵀXᵀDXΘ − I‖, both relative, with the centre of the model.
fn lpp_residuals(model: &Linear<LppParams>, x: &Mat, weights: &SparseGraph) -> (f64, f64) {
    let mean = model.preparation.mean.clone().unwrap_or_else(|| vec![0.0; x.cols()]);
    let x = Mat::from_fn(x.rows(), x.cols(), |i, j| x.at(i, j) - mean[j]);
    let (degree, z) = (weights.row_sums(), times(&x, &model.theta));
    let dz = Mat::from_fn(z.rows(), z.cols(), |i, j| degree[i] * z.at(i, j));
    let (left, right) = (times(&x.transposed(), &weights.multiply(&z, exec()).unwrap()), times(&x.transposed(), &dz));
    let off = Mat::from_fn(left.rows(), left.cols(), |i, j| left.at(i, j) - model.values[j] * right.at(i, j));
    (largest(&off) / largest(&right), identity_gap(&times(&z.transposed(), &dz)))
}

fn identity_gap(x: &Mat) -> f64 {
    gap(x, &Mat::from_fn(x.rows(), x.cols(), |i, j| f64::from(u8::from(i == j))))
}

#[test]
fn lpp_solves_its_equation_under_its_constraint_with_more_samples_and_with_more_features() {
    for (n, m) in [(90, 12), (30, 70)] {
        let x = random(n, m, 5);
        for center in [Center::Degree, Center::Plain, Center::None] {
            let params = LppParams { dim: Dim::Fixed(6), center, ..LppParams::default() };
            let model = params.fit(&x).unwrap();
            let weights = NeighbourGraph::of(&x, 5, params.weights, exec()).unwrap().weights;
            let (equation, constraint) = lpp_residuals(&model, &x, &weights);
            assert!(equation < 1e-11 && constraint < 1e-11, "{n} × {m} {center:?}: {equation:e} {constraint:e}");
            assert!(model.values.iter().all(|s| *s <= 1.0 + 1e-12 && *s > -1.0));
        }
    }
}

#[test]
fn lpp_centred_by_degree_has_the_eigenvalues_of_the_graph_but_for_the_trivial_one() {
    let x = random(30, 50, 6);
    let weights = NeighbourGraph::of(&x, 5, EdgeWeights::default(), exec()).unwrap().weights;
    let inverse: Vec<f64> = weights.row_sums().iter().map(|d| d.sqrt().recip()).collect();
    let own = tridiagonalize(dense(&weights.scaled(&inverse)), exec()).unwrap().values(exec()).unwrap();
    assert!((own[0] - 1.0).abs() < 1e-14);
    let fit = |center| LppParams { dim: Dim::Fixed(29), center, ..LppParams::default() }.fit(&x).unwrap().values;
    let by_degree = fit(Center::Degree);
    assert_eq!(by_degree.len(), 29);
    assert!(by_degree.iter().zip(&own[1..]).all(|(a, b)| (a - b).abs() < 1e-10), "{by_degree:?} {own:?}");
    // With the plain mean they lie between.
    assert!(fit(Center::Plain).iter().enumerate().all(|(i, s)| *s < own[i] + 1e-10 && *s > own[i + 1] - 1e-10));
}

#[test]
fn two_separate_cliques_give_lpp_two_eigenvalues_of_one_or_one_once_centred() {
    // Two features tell the cliques apart, so that their indicators are within reach of a linear map.
    let x = random(12, 5, 8);
    let cliques = Mat::from_fn(12, 7, |i, j| match j {
        0 => f64::from(u8::from(i < 6)) * 30.0,
        1 => f64::from(u8::from(i >= 6)) * 30.0,
        _ => x.at(i, j - 2),
    });
    for (center, ones) in [(Center::None, 2), (Center::Degree, 1), (Center::Plain, 1)] {
        let params = LppParams { dim: Dim::Fixed(4), weights: EdgeWeights::Binary, center, ..LppParams::default() };
        let values = params.fit(&cliques).unwrap().values;
        assert_eq!(values.iter().filter(|s| **s > 1.0 - 1e-12).count(), ones, "{center:?} {values:?}");
    }
}

#[test]
fn npe_solves_its_equation_under_its_constraint_with_more_samples_and_with_more_features() {
    for (n, m) in [(90, 12), (30, 70)] {
        let x = random(n, m, 5);
        let params = NpeParams { dim: Dim::Fixed(6), ..NpeParams::default() };
        let model = params.fit(&x).unwrap();
        let near = nearest_others(&x, 5, Metric::Euclidean, exec()).unwrap();
        let graph = Reconstruction::of(&x, &near, 1e-3, exec()).unwrap();
        let x = centred(&x);
        let z = times(&x, &model.theta);
        let (left, right) = (times(&x.transposed(), &graph.times(&z, exec()).unwrap()), times(&x.transposed(), &z));
        let off = Mat::from_fn(m, 6, |i, j| left.at(i, j) - model.values[j] * right.at(i, j));
        assert!(largest(&off) < 1e-11 * largest(&right), "{n} × {m}: {:e}", largest(&off));
        assert!(identity_gap(&times(&z.transposed(), &z)) < 1e-11, "{n} × {m}");
        assert!(model.values.iter().all(|s| *s <= 1.0 + 1e-12));
    }
}

#[test]
fn i_less_the_products_of_the_weights_is_m_which_is_positive_semidefinite_and_kills_the_constant_vector() {
    let x = random(50, 4, 9);
    let near = nearest_others(&x, 7, Metric::Euclidean, exec()).unwrap();
    let graph = Reconstruction::of(&x, &near, 1e-3, exec()).unwrap();
    let unit = Mat::from_fn(50, 50, |i, j| f64::from(u8::from(i == j)));
    let r = dense(&graph.weights);
    let left = Mat::from_fn(50, 50, |i, j| unit.at(i, j) - r.at(i, j));
    let m = times(&left.transposed(), &left);
    let kept = graph.times(&unit, exec()).unwrap();
    let rest = Mat::from_fn(50, 50, |i, j| unit.at(i, j) - m.at(i, j));
    assert!(gap(&kept, &rest) < 1e-13 * largest(&m));
    assert!((0..50).all(|i| m.row(i).iter().sum::<f64>().abs() < 1e-12 * largest(&m)));
    let lowest = tridiagonalize(m.clone(), exec()).unwrap().values(exec()).unwrap()[49];
    assert!(lowest.abs() < 1e-13 * largest(&m), "{lowest:e}");
}

/// A fit of each method, or its error, in one shape.
fn both(x: Samples<'_>, dim: Dim) -> [Result<(Mat, Vec<Warning>), Error>; 2] {
    let lpp = LppParams { dim, ..LppParams::default() }.fit(x).map(|m| (m.theta, m.about.warnings));
    let npe = NpeParams { dim, ..NpeParams::default() }.fit(x).map(|m| (m.theta, m.about.warnings));
    [lpp, npe]
}

#[test]
fn the_same_bits_come_from_one_two_and_three_threads() {
    let x = random(700, 20, 11);
    let fit = |threads| {
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        (LppParams::default().fit_with(&x, exec).unwrap(), NpeParams::default().fit_with(&x, exec).unwrap())
    };
    assert!(fit(2) == fit(1) && fit(3) == fit(1));
}

#[test]
fn samples_of_one_kind_of_number_or_another_give_the_same_projection() {
    let bytes = Mat::from_fn(60, 8, |i, j| ((i * 37 + j * 101 + i * i * j) % 251) as u8);
    let doubles = Mat::from_fn(60, 8, |i, j| f64::from(bytes.at(i, j)));
    let singles = Mat::from_fn(60, 8, |i, j| f32::from(bytes.at(i, j)));
    let of = |x: Samples<'_>| both(x, Dim::Fixed(3)).map(|found| found.unwrap().0);
    assert_eq!(of((&bytes).into()), of((&doubles).into()));
    assert_eq!(of((&singles).into()), of((&doubles).into()));
    let starts = (0..=60).map(|i| 8 * i).collect();
    let sparse = Csr::new(8, starts, (0..480).map(|at| at % 8).collect(), doubles.as_slice().to_vec()).unwrap();
    for (a, b) in of((&sparse).into()).iter().zip(of((&doubles).into())) {
        assert!(gap(a, &b) < 1e-10 * largest(&b)); // its mean is added up in another order
    }
}

#[test]
fn a_model_taken_apart_and_put_together_is_the_same_and_transforms_the_same() {
    let x = random(40, 6, 12);
    let lpp = LppParams::default().fit(&x).unwrap();
    let (facts, arrays) = lpp.take_apart();
    let again = Linear::<LppParams>::put_together(facts, arrays).unwrap();
    assert_eq!(again, lpp);
    assert_eq!(again.transform(&x).unwrap(), lpp.transform(&x).unwrap());
    assert_eq!((lpp.info().method, lpp.features()), ("lpp", 6));
}

#[test]
fn the_default_transform_of_the_training_samples_has_no_mean_and_the_published_one_keeps_it() {
    let x = Mat::from_fn(40, 6, |i, j| 5.0 + random(40, 6, 13).at(i, j));
    let mean = |z: Mat| (0..z.rows()).map(|i| z.at(i, 0)).sum::<f64>() / z.rows() as f64;
    let npe = NpeParams { dim: Dim::Fixed(2), ..NpeParams::default() };
    assert!(mean(npe.fit(&x).unwrap().transform(&x).unwrap().into_f64()).abs() < 1e-12);
    let kept = NpeParams { keep_mean: true, ..npe }.fit(&x).unwrap();
    assert!(mean(kept.transform(&x).unwrap().into_f64()).abs() > 1e-3);
}

#[test]
fn z_scores_are_centred_by_degree_in_the_samples_own_units() {
    let x = Mat::from_fn(50, 4, |i, j| random(50, 4, 14).at(i, j) * 10f64.powi(j as i32) + 100.0);
    let params = LppParams { dim: Dim::Fixed(2), normalize: Normalize::ZScore, ..LppParams::default() };
    let model = params.fit(&x).unwrap();
    let plain = Mat::from_fn(50, 4, |i, j| x.at(i, j) / model.preparation.deviation.as_ref().unwrap()[j]);
    let degree = NeighbourGraph::of(&plain, 5, params.weights, exec()).unwrap().weights.row_sums();
    let z = model.transform(&x).unwrap().into_f64();
    let weighted = |j: usize| (0..50).map(|i| degree[i] * z.at(i, j)).sum::<f64>();
    assert!(weighted(0).abs() < 1e-10 && weighted(1).abs() < 1e-10);
}

#[test]
fn scaling_all_samples_changes_nothing_but_the_scale_of_the_projection() {
    let x = random(40, 6, 15);
    for scale in [1e-150, 1e150] {
        let far = Mat::from_fn(40, 6, |i, j| x.at(i, j) * scale);
        let (near, far) = (both((&x).into(), Dim::Fixed(3)), both((&far).into(), Dim::Fixed(3)));
        for (near, far) in near.into_iter().zip(far) {
            let (near, far) = (near.unwrap().0, far.unwrap().0);
            let back = Mat::from_fn(6, 3, |i, j| far.at(i, j) * scale);
            assert!(gap(&near, &back) < 1e-10 * largest(&near), "{scale:e}");
        }
    }
    let params = LppParams { weights: EdgeWeights::Heat { t: Some(2.0) }, dim: Dim::Fixed(3), ..LppParams::default() };
    let wider = LppParams { weights: EdgeWeights::Heat { t: Some(2e150) }, ..params };
    let far = Mat::from_fn(40, 6, |i, j| x.at(i, j) * 1e150);
    let (near, far) = (params.fit(&x).unwrap().values, wider.fit(&far).unwrap().values);
    assert!(near.iter().zip(far).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn few_samples_have_all_others_as_neighbours_and_one_has_none() {
    for found in both((&random(4, 3, 16)).into(), Dim::Fixed(9)) {
        let (theta, warnings) = found.unwrap();
        assert_eq!(theta.cols(), 3);
        assert_eq!(warnings, [Warning::RankCapped { asked: 9, most: 3 }]);
    }
    for found in both((&random(1, 3, 16)).into(), Dim::Fixed(1)) {
        assert!(matches!(found, Err(Error::TooFewSamples { needed: 2, got: 1, .. })));
    }
    for found in both((&random(2, 3, 16)).into(), Dim::Fixed(1)) {
        assert!(found.unwrap().0.as_slice().iter().all(|v| v.is_finite()));
    }
    // Two samples against each other: the published rule leaves nothing, and says so.
    assert!(matches!(LppParams::as_published(1, 1).fit(&random(2, 3, 16)), Err(Error::NothingKept { .. })));
}

#[test]
fn duplicates_and_constant_features_leave_a_finite_projection_and_equal_samples_none() {
    let base = random(10, 4, 17);
    let x = Mat::from_fn(60, 5, |i, j| if j == 4 { 7.0 } else { base.at(i % 10, j) });
    for found in both((&x).into(), Dim::Fixed(3)) {
        let theta = found.unwrap().0;
        assert!(theta.as_slice().iter().all(|v| v.is_finite()));
        assert!(theta.row(4).iter().all(|v| v.abs() < 1e-12));
    }
    for x in [Mat::zeros(6, 3), Mat::from_fn(6, 3, |_, j| 0.1 + j as f64)] {
        for found in both((&x).into(), Dim::Fixed(1)) {
            assert!(matches!(found, Err(Error::AllZero { n: 6, m: 3, centred: true })), "{found:?}");
        }
    }
}

#[test]
fn samples_without_an_edge_are_left_out_and_a_graph_without_one_is_refused() {
    let mut x = random(30, 4, 18);
    x.row_mut(29).iter_mut().for_each(|v| *v += 1e6);
    let params = LppParams { weights: EdgeWeights::Heat { t: Some(1.0) }, dim: Dim::Fixed(2), ..LppParams::default() };
    let with = params.fit(&x).unwrap();
    assert_eq!(with.about.warnings, [Warning::Isolated { count: 1 }]);
    let without = params.fit(&x.select_rows(&(0..29).collect::<Vec<_>>())).unwrap();
    assert!(gap(&with.theta, &without.theta) < 1e-9 * largest(&without.theta)); // a mean of 1e6/30 was taken away first
    let narrow = LppParams { weights: EdgeWeights::Heat { t: Some(1e-4) }, ..params };
    assert_eq!(narrow.fit(&x).unwrap_err(), Error::NoEdges);
}

#[test]
fn zero_rows_of_unit_samples_are_a_warning() {
    let mut x = random(30, 4, 19);
    x.row_mut(3).fill(0.0);
    let model = NpeParams::as_published(2, 5).fit(&x).unwrap();
    assert_eq!(model.about.warnings, [Warning::ZeroSamples { count: 1, rows: vec![3] }]);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let x = random(20, 4, 20);
    let name = |found: Result<Linear<LppParams>, Error>| match found {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let d = LppParams::default();
    assert_eq!(name(LppParams { neighbours: 0, ..d }.fit(&x)), "neighbours");
    assert_eq!(name(LppParams { dim: Dim::Fixed(0), ..d }.fit(&x)), "dim");
    assert_eq!(name(LppParams { floor: Some(1.0), ..d }.fit(&x)), "floor");
    assert_eq!(name(LppParams { least: Some(f64::NAN), ..d }.fit(&x)), "least");
    assert_eq!(name(LppParams { weights: EdgeWeights::Heat { t: Some(-1.0) }, ..d }.fit(&x)), "t");
    let npe = NpeParams { ridge: Some(-1.0), ..NpeParams::default() }.fit(&x);
    assert!(matches!(npe, Err(Error::Parameter { name: "ridge", .. })));
    let nan = Mat::from_fn(3, 3, |i, _| if i == 1 { f64::NAN } else { 1.0 });
    assert!(matches!(d.fit(&nan), Err(Error::NotFinite { row: 1, column: 0, .. })));
}

#[test]
fn on_digits_the_equation_holds_and_columns_of_length_one_span_the_same_directions() {
    let Some(data) = real("usps_11000.npz") else { return };
    let x = data.samples.into_f64();
    let x = x.select_rows(&(0..900).map(|i| i * 11_000 / 900).collect::<Vec<_>>());
    let params = LppParams { dim: Dim::Fixed(12), ..LppParams::default() };
    let model = params.fit(&x).unwrap();
    let weights = NeighbourGraph::of(&x, 5, params.weights, exec()).unwrap().weights;
    let (equation, constraint) = lpp_residuals(&model, &x, &weights);
    // Singular values of digits fall by a factor of a thousand: three digits less than random numbers keep.
    assert!(equation < 1e-9 && constraint < 1e-9, "{equation:e} {constraint:e}");
    let unit = LppParams { columns: Columns::Unit, ..params }.fit(&x).unwrap();
    for j in 0..12 {
        let column = |m: &Mat| (0..m.rows()).map(|i| m.at(i, j)).collect::<Vec<_>>();
        let (a, b) = (column(&model.theta), column(&unit.theta));
        let length = a.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!(a.iter().zip(&b).all(|(a, b)| (a / length - b).abs() < 1e-12));
    }
}

#[test]
fn lle_has_the_weights_the_embedding_and_the_error_of_scikit_learn() {
    let (x, reference) = (fixture("lle.npz", "X"), fixture("lle.npz", "E"));
    let near = nearest_others(&x, 8, Metric::Euclidean, exec()).unwrap();
    let graph = Reconstruction::of(&x, &near, 1e-3, exec()).unwrap();
    assert!(gap(&dense(&graph.weights), &fixture("lle.npz", "W")) < OTHER);
    let model = LleParams { neighbours: 8, dim: Dim::Fixed(3), ..LleParams::default() }.fit(&x).unwrap();
    assert!(gap_up_to_sign(model.embedding(), &reference) < OTHER);
    assert!((model.values().iter().sum::<f64>() - fixture("lle.npz", "error").at(0, 0)).abs() < 1e-12);
    for j in 0..3 {
        let entries = (0..60).map(|i| model.embedding().at(i, j));
        let (most, least) = (entries.clone().fold(0.0, f64::max), entries.fold(0.0, f64::min));
        assert!(most >= -least, "the largest entry is positive");
    }
}

#[test]
fn lle_has_no_map_and_says_so_and_comes_back_from_its_parts() {
    let x = random(40, 6, 21);
    let model = LleParams::default().fit(&x).unwrap();
    assert_eq!(model.transform_with((&x).into(), exec()).unwrap_err(), Error::NoMap { method: "LLE" });
    assert_eq!((model.info().method, model.features(), model.columns()), ("lle", 6, 2));
    let (facts, arrays) = model.take_apart();
    assert_eq!(Lle::put_together(facts.clone(), arrays.clone()).unwrap(), model);
    let fewer = Arrays::default().with("embedding", Mat::zeros(39, 2)).with_vector("values", &[0.0, 0.0]);
    assert!(Lle::put_together(facts.clone(), fewer).is_err());
    assert!(Lle::put_together(facts.clone(), arrays.with("more", Mat::zeros(1, 1))).is_err());
    assert!(Lle::put_together(facts, Arrays::default()).is_err());
}

#[test]
fn lle_gives_the_same_bits_with_one_two_and_three_threads_by_both_ways() {
    for n in [200, 1200] {
        let x = random(n, 3, 22);
        let fit = |threads| LleParams::default().fit_with(&x, Exec::new(NonZero::new(threads), &Quiet)).unwrap();
        let one = fit(1);
        assert!(fit(2) == one && fit(3) == one, "{n}");
    }
}

#[test]
fn lle_takes_few_samples_duplicates_and_any_scale_and_refuses_what_carries_nothing() {
    let three = LleParams::default().fit(&random(3, 4, 23)).unwrap();
    assert_eq!((three.embedding().rows(), three.columns()), (3, 2));
    let two = LleParams::default().fit(&random(2, 4, 23));
    assert!(matches!(two, Err(Error::DimTooLarge { asked: 2, most: 1, n: 2, m: 4 })));
    let one = LleParams::default().fit(&random(1, 4, 23));
    assert!(matches!(one, Err(Error::TooFewSamples { .. })));
    let equal = LleParams::default().fit(&Mat::from_fn(9, 2, |_, _| 4.0));
    assert!(matches!(equal, Err(Error::AllZero { .. })));
    let base = random(10, 4, 24);
    let copies = Mat::from_fn(60, 4, |i, j| base.at(i % 10, j));
    for x in [copies.clone(), Mat::from_fn(60, 4, |i, j| copies.at(i, j) * 1e200)] {
        let y = LleParams::default().fit(&x).unwrap();
        assert!(y.embedding().as_slice().iter().all(|v| v.is_finite()));
        assert!(identity_gap(&times(&y.embedding().transposed(), y.embedding())) < 1e-10);
    }
    let ridge = LleParams { ridge: f64::NAN, ..LleParams::default() }.fit(&base);
    assert!(matches!(ridge, Err(Error::Parameter { name: "ridge", .. })));
    let none = LleParams { dim: Dim::Fixed(0), ..LleParams::default() }.fit(&base);
    assert!(matches!(none, Err(Error::Parameter { name: "dim", .. })));
}
