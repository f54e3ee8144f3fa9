//! The named matrices of the literature, in their original form.

use super::built::{Random, ULP, diagonal};
use eigenspan_linalg::Mat;
use std::f64::consts::PI;

fn square(n: usize, f: impl FnMut(usize, usize) -> f64) -> Mat {
    Mat::from_fn(n, n, f)
}

pub fn times(a: &Mat, b: &Mat) -> Mat {
    let mut c = Mat::zeros(a.rows(), b.cols());
    for i in 0..a.rows() {
        for l in 0..a.cols() {
            let factor = a.at(i, l);
            c.row_mut(i).iter_mut().zip(b.row(l)).for_each(|(c, b)| *c += factor * b);
        }
    }
    c
}

pub fn hadamard(n: usize) -> Mat {
    square(n, |i, j| if (i & j).count_ones() % 2 == 0 { 1.0 } else { -1.0 })
}

pub fn hilbert(n: usize) -> Mat {
    square(n, |i, j| 1.0 / (i + j + 1) as f64)
}

pub fn lotkin(n: usize) -> Mat {
    square(n, |i, j| if i == 0 { 1.0 } else { 1.0 / (i + j + 1) as f64 })
}

/// diag(sⁱ)(I − c·strict upper ones).
pub fn kahan(n: usize, theta: f64) -> Mat {
    let (s, c) = theta.sin_cos();
    square(n, |i, j| {
        s.powi(i as i32)
            * if i == j {
                1.0
            } else if j > i {
                -c
            } else {
                0.0
            }
    })
}

pub fn wilkinson() -> Mat {
    square(21, |i, j| {
        if i == j {
            i.abs_diff(10) as f64
        } else if i.abs_diff(j) == 1 {
            1.0
        } else {
            0.0
        }
    })
}

/// Demmel and Kahan: d_i = βⁱ, e_i = d_i.
pub fn graded_bidiagonal(n: usize, beta: f64) -> Mat {
    square(n, |i, j| if j == i || j == i + 1 { beta.powi(i as i32) } else { 0.0 })
}

/// e^x with x uniform in ±2 ln ulp on the diagonal and the superdiagonal.
pub fn log_bidiagonal(n: usize) -> Mat {
    let mut random = Random(77);
    square(n, |i, j| if j == i || j == i + 1 { (2.0 * ULP.ln() * random.even()).exp() } else { 0.0 })
}

/// The companion matrix of the Taylor polynomial of exp.
pub fn companion(n: usize) -> Mat {
    let factorial = |k: usize| (1..=k).map(|i| i as f64).product::<f64>();
    square(n, |i, j| {
        if i == 0 {
            -factorial(n) / factorial(n - j)
        } else if i == j + 1 {
            1.0
        } else {
            0.0
        }
    })
}

pub fn vandermonde(n: usize) -> Mat {
    square(n, |i, j| ((i + 1) as f64 / n as f64).powi(j as i32))
}

pub fn pascal(n: usize) -> Mat {
    let mut x = Mat::from_fn(n, n, |_, _| 1.0);
    for i in 1..n {
        for j in 1..n {
            let sum = x.at(i - 1, j) + x.at(i, j - 1);
            x.row_mut(i)[j] = sum;
        }
    }
    x
}

pub fn minimum(n: usize) -> (Mat, Vec<f64>) {
    let value = |i: usize| 1.0 / (4.0 * ((2 * i + 1) as f64 * PI / (4 * n + 2) as f64).sin().powi(2));
    (square(n, |i, j| (i.min(j) + 1) as f64), (0..n).map(value).collect())
}

pub fn second_difference(n: usize) -> (Mat, Vec<f64>) {
    let value = |i: usize| 4.0 * ((n - i) as f64 * PI / (2 * n + 2) as f64).sin().powi(2);
    let entry = |i: usize, j: usize| {
        if i == j {
            2.0
        } else if i.abs_diff(j) == 1 {
            -1.0
        } else {
            0.0
        }
    };
    (square(n, entry), (0..n).map(value).collect())
}

/// Clement's matrix made symmetric: the eigenvalues are ±(n − 1), ±(n − 3), ….
pub fn clement(n: usize) -> (Mat, Vec<f64>) {
    let entry = |i: usize, j: usize| {
        if i.abs_diff(j) == 1 { ((i.max(j) * (n - i.max(j))) as f64).sqrt() } else { 0.0 }
    };
    (square(n, entry), (0..n).map(|i| (n - 1 - 2 * (i / 2)) as f64).collect())
}

pub fn rosser() -> (Mat, Vec<f64>) {
    let rows = [
        [611, 196, -192, 407, -8, -52, -49, 29],
        [196, 899, 113, -192, -71, -43, -8, -44],
        [-192, 113, 899, 196, 61, 49, 8, 52],
        [407, -192, 196, 611, 8, 44, 59, -23],
        [-8, -71, 61, 8, 411, -599, 208, 208],
        [-52, -43, 49, 44, -599, 411, 208, 208],
        [-49, -8, 8, 59, 208, 208, 99, -911],
        [29, -44, 52, -23, 208, 208, -911, 99],
    ];
    let (ten, hundred) = (10.0 * 10405f64.sqrt(), 100.0 * 26f64.sqrt());
    // 510 − 100√26 by its inverse, which does not cancel: (510 − 100√26)(510 + 100√26) = 100.
    let sigma = vec![ten, ten, 1020.0, 510.0 + hundred, 1000.0, 1000.0, 100.0 / (510.0 + hundred), 0.0];
    (square(8, |i, j| f64::from(rows[i][j])), sigma)
}

/// c(j − i), and |Σ c e^(−2πikl/n)|.
pub fn circulant(n: usize) -> (Mat, Vec<f64>) {
    let mut random = Random(5);
    let c: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let value = |k: usize| {
        let angle = |l: usize| 2.0 * PI * ((k * l) % n) as f64 / n as f64;
        let (re, im) = (0..n).fold((0.0, 0.0), |(re, im), l| (re + c[l] * angle(l).cos(), im + c[l] * angle(l).sin()));
        f64::hypot(re, im)
    };
    let mut sigma: Vec<f64> = (0..n).map(value).collect();
    sigma.sort_by(|a, b| b.total_cmp(a));
    (square(n, |i, j| c[(j + n - i) % n]), sigma)
}

/// Golub: a product of unit triangles of small integers; its factors are well conditioned, the product is not.
pub fn golub(n: usize, both: bool) -> Mat {
    let mut random = Random(9);
    let mut lower = |most| {
        square(n, |i, j| {
            if i == j {
                1.0
            } else if j < i {
                random.whole(most)
            } else {
                0.0
            }
        })
    };
    let l = lower(if both { 10 } else { 2 });
    if both { times(&l, &lower(10).transposed()) } else { l }
}

pub fn prolate(n: usize, w: f64) -> Mat {
    let entry = |d: f64| if d == 0.0 { 2.0 * w } else { (2.0 * PI * w * d).sin() / (PI * d) };
    square(n, |i, j| entry(i as f64 - j as f64))
}

pub fn gravity(n: usize) -> Mat {
    let d = 0.25;
    square(n, |i, j| d / n as f64 * (d * d + ((i as f64 - j as f64) / n as f64).powi(2)).powf(-1.5))
}

/// The magic square of an order divisible by four: rank three.
pub fn magic(n: usize) -> Mat {
    square(n, |i, j| {
        let value = (i * n + j + 1) as f64;
        if (i % 4 == j % 4) || (i % 4 + j % 4 == 3) { (n * n + 1) as f64 - value } else { value }
    })
}

/// [1ᵀ; μI].
pub fn lauchli(n: usize, mu: f64) -> (Mat, Vec<f64>) {
    let x = Mat::from_fn(n + 1, n, |i, j| {
        if i == 0 {
            1.0
        } else if i == j + 1 {
            mu
        } else {
            0.0
        }
    });
    let first = (n as f64 + mu * mu).sqrt();
    (x, (0..n).map(|i| if i == 0 { first } else { mu }).collect())
}

/// Normal numbers, row i times `row(i)`, column j times `column(j)`.
pub fn graded((n, m): (usize, usize), row: impl Fn(usize) -> f64, column: impl Fn(usize) -> f64) -> Mat {
    let mut random = Random(31);
    Mat::from_fn(n, m, |i, j| random.normal() * row(i) * column(j))
}

/// Three independent subspaces of dimension 4, 15 samples each, plus noise.
pub fn union_of_subspaces(features: usize, noise: f64) -> Mat {
    let mut random = Random(13);
    let mut x = Mat::zeros(45, features);
    for part in 0..3 {
        let left = Mat::from_fn(15, 4, |_, _| random.normal());
        let right = Mat::from_fn(4, features, |_, _| random.normal());
        let samples = times(&left, &right);
        (0..15).for_each(|i| x.row_mut(15 * part + i).copy_from_slice(samples.row(i)));
    }
    x.as_mut_slice().iter_mut().for_each(|v| *v += noise * random.normal());
    x
}

/// A diagonal in a scrambled order, signs mixed.
pub fn signed_permutation(n: usize) -> Mat {
    square(n, |i, j| if (5 * i + 2) % n == j { if i % 2 == 0 { 1.0 } else { -1.0 } } else { 0.0 })
}

/// The spectra of the decision tests: exact ties, steps, near ties.
pub fn decisions() -> Vec<(&'static str, Mat, Vec<f64>)> {
    let tie = vec![4.0, 2.0, 1.0, 1.0, 1.0, 0.5, 0.25, 0.0];
    let steps = vec![4.0, 3.0, 2.0, 1.0, 1.0, 0.5, 0.25, 0.1, 0.0];
    let near = vec![2.0, 1.0 + 4.0 * ULP, 1.0 + 2.0 * ULP, 1.0, 1.0 - ULP, 1.0 - 2.0 * ULP, 0.5];
    let scaled = |s: f64| steps.iter().map(|v| v * s).collect::<Vec<_>>();
    let all = [
        ("pce_tie_exact", tie),
        ("pce_near_tie", near),
        ("pce_scale 1e160", scaled(1e160)),
        ("pce_scale 1e-160", scaled(1e-160)),
        ("pce_steps", steps),
    ];
    all.into_iter().map(|(name, d)| (name, diagonal((d.len() + 3, d.len()), &d), d)).collect()
}
