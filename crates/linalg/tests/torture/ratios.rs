//! The rows of the specification: each error divided by its unit of rounding.

use super::built::ULP;
use super::cases::Case;
use super::classics;
use super::double::Double;
use eigenspan_linalg::Mat;

/// xᵀy, summed in twice the precision.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (mut high, mut low) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let product = Double::product(*x, *y);
        let sum = Double::sum(high, product.high);
        (high, low) = (sum.high, low + sum.low + product.low);
    }
    high + low
}

/// Number of multiplications up to which a product is summed in twice the precision. Beyond, plain sums suffice: their
/// error is about √q·eps/2, a small part of the unit max(n, m)·eps.
const FEW: usize = 200_000;

/// A B.
pub fn times(a: &Mat, b: &Mat) -> Mat {
    if a.rows() * a.cols() * b.cols() > FEW {
        return classics::times(a, b);
    }
    let columns = b.transposed();
    Mat::from_fn(a.rows(), b.cols(), |i, j| dot(a.row(i), columns.row(j)))
}

/// The largest column sum of |A|.
fn norm(a: &Mat) -> f64 {
    let mut sums = vec![0.0; a.cols()];
    for i in 0..a.rows() {
        sums.iter_mut().zip(a.row(i)).for_each(|(s, x)| *s += x.abs());
    }
    sums.into_iter().fold(0.0, f64::max)
}

fn frobenius_squared(a: &Mat) -> f64 {
    dot(a.as_slice(), a.as_slice())
}

fn minus(a: &Mat, b: &Mat) -> Mat {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    Mat::from_fn(a.rows(), a.cols(), |i, j| a.at(i, j) - b.at(i, j))
}

/// error ÷ unit; 0 ÷ 0 is 0.
fn ratio(error: f64, unit: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error / unit }
}

/// R1k: the larger of ‖AV − UΣ‖ and ‖AᵀU − VΣ‖, for U and V up to the sign of a column, in the 1-norm per ‖A‖₁, and
/// (R1g) in the Frobenius norm per σ₁.
pub fn residual(case: &Case, u: &Mat, v: &Mat, sigma: &[f64]) -> (f64, f64) {
    let a = &case.a;
    let av = times(a, v);
    let atu = times(&a.transposed(), u);
    let sign = |j: usize| (0..u.rows()).map(|i| u.at(i, j) * av.at(i, j)).sum::<f64>().signum();
    let signed: Vec<f64> = (0..v.cols()).map(|j| sign(j) * sigma[j]).collect();
    let scaled = |x: &Mat| Mat::from_fn(x.rows(), x.cols(), |i, j| x.at(i, j) * signed[j]);
    let (left, right) = (minus(&av, &scaled(u)), minus(&atu, &scaled(v)));
    let unit = case.most() * ULP;
    let length = frobenius_squared(&left).max(frobenius_squared(&right)).sqrt();
    (ratio(norm(&left).max(norm(&right)), unit * norm(a)), ratio(length, unit * case.sigma[0]))
}

/// R2, R3: ‖VᵀV − I‖.
pub fn orthonormality(v: &Mat) -> f64 {
    let mut product = times(&v.transposed(), v);
    (0..product.rows()).for_each(|i| product.row_mut(i)[i] -= 1.0);
    ratio(norm(&product), v.rows() as f64 * ULP)
}

/// The largest difference of two lists of values, up to the length of the shorter, per `unit`·eps·`first`.
pub fn difference(a: &[f64], b: &[f64], unit: f64, first: f64) -> f64 {
    let most = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    ratio(most, unit * ULP * first)
}

/// R9: ‖A − AVVᵀ‖²_F against the sum of squares of the remaining values.
pub fn eckart_young(case: &Case, v: &Mat) -> f64 {
    let projected = times(&times(&case.a, v), &v.transposed());
    let left: f64 = case.sigma[v.cols()..].iter().map(|s| s * s).sum();
    let error = (frobenius_squared(&minus(&case.a, &projected)) - left).abs();
    ratio(error, case.most() * ULP * frobenius_squared(&case.a))
}

/// The sine of the largest angle between `v` and the first columns of `right`, and the gap below their values; `None`
/// where the gap is below 100 max(n, m)·`eps`·σ₁.
fn angle(case: &Case, v: &Mat, eps: f64) -> Option<(f64, f64)> {
    let k = v.cols();
    let gap = case.sigma[k - 1] - case.sigma.get(k).copied().unwrap_or(0.0);
    if gap <= 100.0 * case.most() * eps * case.sigma[0] {
        return None;
    }
    let reference = case.right.leading_columns(k);
    let inside = times(&reference, &times(&reference.transposed(), v));
    Some((frobenius_squared(&minus(v, &inside)).sqrt(), gap))
}

/// R10, and R11 for directions: the angle per max(n, m)·`eps`·σ₁/gap.
pub fn subspace(case: &Case, v: &Mat, eps: f64) -> Option<f64> {
    angle(case, v, eps).map(|(sine, gap)| ratio(sine * gap, case.most() * eps * case.sigma[0]))
}
