//! Certified answers that were wrong, and their kin: each as small as it was found, with its cause.
//! A test that is still red says so where it is ignored.

use eigenspan_core::data::Matrix;
use eigenspan_core::linalg::random::Random;
use eigenspan_core::{Dim, Lambda, Mat, Normalize, PceParams};
use eigenspan_referee::cases::{Case, Kind};
use eigenspan_referee::judge::{Judge, Verdict};
use eigenspan_referee::ways::{Outcome, Way};

fn case(matrix: Matrix, params: PceParams) -> Case {
    let n = matrix.rows();
    Case { index: 0, kind: Kind::Normal, matrix, scale: 0, params, cuts: vec![n], rank: n, block: 7, seed: 1 }
}

fn rows<const M: usize>(rows: &[[f64; M]]) -> Matrix {
    Matrix::F64(Mat::from_fn(rows.len(), M, |i, j| rows[i][j]))
}

fn params(lambda: Lambda, normalize: Normalize, center: bool) -> PceParams {
    PceParams { lambda, normalize, center, ..PceParams::default() }
}

/// Fits in every way that serves, and wants no certified wrong answer, no interval without the true count and no panic.
fn sound(case: &Case) {
    let judge = Judge::of(case);
    for way in Way::ALL.into_iter().filter(|way| way.serves(&case.params)) {
        let judgement = judge.try_way(way);
        let bad = matches!(judgement.verdict, Verdict::CertifiedWrong | Verdict::Outside | Verdict::Panicked);
        assert!(!bad, "{}: {:?}: {}", way.name(), judgement.verdict, judgement.detail);
    }
}

/// ±1 in a pattern of bits.
fn signs(patterns: &[u32], width: usize) -> Mat {
    Mat::from_fn(patterns.len(), width, |i, j| if patterns[i] >> j & 1 == 1 { 1.0 } else { -1.0 })
}

#[test]
#[ignore = "red: squares of squares of values below 1e-60 vanish, and with them the norms that the proof of a summary stands on"]
fn summaries_of_tiny_samples_are_right_or_refused() {
    let mut random = Random::new(5);
    let mut normal = move || random.normal_pair()[0];
    let (left, right) = (Mat::from_fn(300, 5, |_, _| normal()), Mat::from_fn(5, 20, |_, _| 1.0));
    let mut random = Random::new(6);
    let mut normal = move || random.normal_pair()[0];
    let right = Mat::from_fn(5, 20, |i, j| right.at(i, j) * normal());
    let samples =
        Mat::from_fn(300, 20, |i, j| (0..5).map(|r| left.at(i, r) * right.at(r, j)).sum::<f64>() + 0.1 * normal());
    for exponent in [-60, -70, -75, -80, -85, -100, -120, -150, -160, -170] {
        let factor = 10f64.powi(exponent);
        let scaled = Matrix::F64(Mat::from_fn(300, 20, |i, j| factor * samples.at(i, j)));
        let case = case(scaled, params(Lambda::Auto, Normalize::None, false));
        let Outcome::Fitted(truth) = Way::Memory.fit(&case) else { panic!("memory scales") };
        assert_eq!((truth.k(), truth.parts().certified), (5, true));
        for way in [Way::Gram, Way::Triangle, Way::MergedGram, Way::MergedTriangle] {
            let Outcome::Fitted(model) = way.fit(&case) else { continue };
            assert_eq!(model.k(), 5, "{} at 1e{exponent}", way.name());
            let off = (model.parts().sigma[0] / truth.parts().sigma[0] - 1.0).abs();
            assert!(off < 1e-12, "{} at 1e{exponent}: σ₁ is off by {off:e}", way.name());
        }
        sound(&case);
    }
}

#[test]
#[ignore = "red: the same in a summary of signs near 1e-157: k = 4 of 2"]
fn a_summary_of_tiny_signs_is_right_or_refused() {
    let patterns = [9, 3, 5, 0, 9, 0, 15, 5, 3, 10, 5, 1];
    let tiny = signs(&patterns, 4).as_slice().iter().map(|x| x * 7.283535870312702e-158).collect();
    let matrix = Matrix::F64(Mat::from_vec(12, 4, tiny).unwrap());
    sound(&case(matrix, params(Lambda::Noise(3.49019147503611e-158), Normalize::None, false)));
}

#[test]
#[ignore = "red: the eigenvalues of T near 1e-140 are certified to 1e-16, and are off by 3e-4"]
fn a_sketch_of_tiny_samples_is_right_or_refused() {
    let matrix = rows(&[[-3.934204488592635e-71, 0.0, -1.2079433690741402e-70]]);
    sound(&case(matrix, params(Lambda::Fixed(6.196144534991845e139), Normalize::None, false)));
}

#[test]
#[ignore = "red: squares of a feature near 1e-166 vanish before its deviation is taken"]
fn deviations_of_tiny_features_are_right_or_refused() {
    let mut random = Random::new(9);
    let matrix = Matrix::F64(Mat::from_fn(30, 3, |_, j| random.normal_pair()[0] * [1e-166, 1e-3, 1.0][j]));
    let mut case = case(matrix, params(Lambda::Fixed(1.0), Normalize::ZScore, false));
    let sigma = case.params.values(&case.matrix, eigenspan_core::Exec::default()).unwrap();
    for (s, off) in sigma.iter().flat_map(|s| [(s, -1e-6), (s, 1e-6), (s, -1e-9), (s, 1e-9)]) {
        case.params.lambda = Lambda::Fixed((s * (1.0 + off)).powi(-2));
        sound(&case);
    }
}

#[test]
#[ignore = "red: the rounding of scaling and of means far from zero is left out of the bound of online updates"]
fn online_updates_count_the_rounding_of_scaling() {
    let far = rows(&[
        [-14353928.585968701, -151328657.78538316],
        [-14353926.464729471, -151328656.48753494],
        [-14353927.876978744, -151328656.83556077],
        [-14353927.62097382, -151328657.84195396],
        [-14353927.452662854, -151328657.39257714],
    ]);
    sound(&case(far, params(Lambda::Fixed(1.0937590424023234e16), Normalize::Unit, true)));
    let graded = rows(&[
        [-2.3493946872761785e188, -5.2180646420335704e188, 2.132701029912025e187],
        [-2.340766744772383e188, -5.1997971863081335e188, 2.1138132475504733e187],
        [-3.143253408358057e188, -6.982593501917943e188, 2.8366804879611768e187],
    ]);
    let case = case(graded, params(Lambda::Fixed(30172282.153779823), Normalize::Unit, true));
    sound(&Case { cuts: vec![2, 3], ..case });
}

#[test]
#[ignore = "red: a model that is resumed knows its mean to eps only, and that is left out of the bound"]
fn a_resumed_model_counts_the_rounding_of_its_mean() {
    let matrix = rows(&[
        [
            -254725.14409330467,
            -913607.1067937324,
            -122566.05572794222,
            -1823214.6944556944,
            -263259.9551767786,
            33174.836793019924,
        ],
        [
            -254726.1079554586,
            -913607.7754483457,
            -122564.3056505239,
            -1823217.090579863,
            -263258.1383331231,
            33177.17640811792,
        ],
        [
            -254726.94391981373,
            -913608.1799793224,
            -122564.32615449047,
            -1823215.8651100658,
            -263257.85066024977,
            33177.03946885223,
        ],
        [
            -254727.1819408957,
            -913609.3168335884,
            -122566.06127914086,
            -1823215.970202005,
            -263257.6042929544,
            33173.15240824049,
        ],
    ]);
    let case = case(matrix, params(Lambda::Fixed(0.9383666734224883), Normalize::None, true));
    sound(&Case { cuts: vec![2, 4], block: 3, ..case });
}

#[test]
#[ignore = "red: the numerical rank knows the rounding of what is left after centering, not that of the samples before"]
fn rounding_dust_is_no_signal() {
    for width in [1, 2, 5] {
        // Rows that are multiples of one: of unit length they are equal, and centered they are zero.
        let mut random = Random::new(4);
        let direction: Vec<f64> = (0..width).map(|_| random.normal_pair()[0]).collect();
        for tall in [7, 53] {
            let multiples = Mat::from_fn(tall, width, |i, j| direction[j] * 2f64.powi(i as i32 % 9) * 1.1);
            let whole = Mat::from_fn(tall, width, |i, j| ((i * i + 3) * (j + 2)) as f64);
            for matrix in [multiples, whole] {
                for lambda in [Lambda::Auto, Lambda::Noise(0.0), Lambda::ScreeNot] {
                    sound(&case(Matrix::F64(matrix.clone()), params(lambda, Normalize::Unit, true)));
                }
            }
        }
    }
}

#[test]
#[ignore = "red: the same where the Gram matrix is that of the samples"]
fn rounding_dust_is_no_signal_of_wide_samples() {
    let offset = Random::new(8).normals(40);
    let mut random = Random::new(7);
    let matrix = Mat::from_fn(6, 40, |_, j| 1e7 * offset[j] + random.normal_pair()[0]);
    for lambda in [Lambda::Noise(0.0), Lambda::Auto] {
        sound(&case(Matrix::F64(matrix.clone()), params(lambda, Normalize::Unit, true)));
    }
}

#[test]
#[ignore = "red: one sample, centered, is all rounding: 'a kept singular value is zero' or a panic"]
fn one_centered_sample_is_refused() {
    let matrix = rows(&[[0.021407669040620914, -0.016233452773442503, 0.0031463882083369588]]);
    sound(&case(matrix, params(Lambda::Auto, Normalize::Unit, true)));
}

#[test]
#[ignore = "red: a cut between equal values: the number above the τ that is reported is not the k that is said"]
fn a_dimension_among_equal_values_is_an_interval() {
    for dim in 1..4 {
        let square = signs(&[0b0000, 0b0101, 0b0011, 0b0110], 4);
        for params in [
            PceParams { dim: Dim::Fixed(dim), ..params(Lambda::Auto, Normalize::None, false) },
            params(Lambda::Energy(0.25 * dim as f64 - 0.01), Normalize::None, false),
        ] {
            sound(&case(Matrix::F64(square.clone()), params));
        }
    }
}

#[test]
#[ignore = "red: τ lies between σ_k and what is known below it, and not between σ_k and what may be there"]
fn a_dimension_of_few_kept_directions_is_an_interval() {
    let mut random = Random::new(3);
    let matrix = Matrix::F64(Mat::from_fn(9, 5, |_, _| random.normal_pair()[0]));
    let params = PceParams { dim: Dim::Fixed(2), ..params(Lambda::Auto, Normalize::None, false) };
    let whole = case(matrix, params);
    sound(&Case { rank: 2, block: 3, cuts: vec![5, 9], ..whole });
}

#[test]
#[ignore = "red: a tie at the cut keeps a direction more than there are vectors: a panic in `leading_columns`"]
fn a_tie_at_the_cut_of_a_summary_is_no_panic() {
    let matrix = Matrix::F64(signs(&[0b111, 0b101, 0b011], 3));
    sound(&case(matrix, params(Lambda::Fixed(0.75), Normalize::Unit, false)));
    let tall = Mat::from_fn(50, 2, |i, j| if j == 0 || i % 2 == 0 { 1.0 } else { -1.0 });
    sound(&case(Matrix::F64(tall), params(Lambda::Fixed(0.04), Normalize::Unit, false)));
}

#[test]
#[ignore = "red: values below the normal numbers are rounded to 5e-324, which is not in the level of rounding"]
fn denormal_values_are_not_told_apart() {
    let matrix = rows(&[
        [-1.5781349756386158e-298, -3.4196706195395313e-299, 5.108486082207453e-299],
        [1.1033886697549157e-307, 2.4333044727443917e-306, -2.7806208510353658e-306],
        [1.25642041540793e-309, 7.14636908036735e-309, 5.500327411325466e-309],
    ]);
    let params = PceParams { dim: Dim::Fixed(3), ..params(Lambda::Auto, Normalize::None, false) };
    sound(&case(matrix, params));
}
