//! Reference values: numbers of 106 bits, and one-sided Jacobi with them.
//!
//! A column pair (x, y) is rotated by the angle that makes xᵀy = 0, until every pair is orthogonal; then the columns
//! are UΣ. A rotation loses about 2⁻¹⁰⁰, relative to its own column, so that small singular values are accurate too.

use eigenspan_linalg::Mat;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Sweeps after which the columns must be orthogonal; about ten are usual.
const SWEEPS: usize = 40;
/// Columns whose cosine is below this are orthogonal.
const ORTHOGONAL: f64 = 1e-29;

/// high + low, with |low| at most half a unit in the last place of high.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Double {
    pub high: f64,
    pub low: f64,
}

impl Double {
    pub const fn new(high: f64) -> Self {
        Self { high, low: 0.0 }
    }

    /// a + b exactly.
    pub fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// a·b exactly.
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }

    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::default();
        }
        let first = self.high.sqrt();
        let rest = self - Self::product(first, first);
        Self::sum(first, rest.high / (2.0 * first))
    }

    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (a, b) = (Self::sum(self.high, other.high), Self::sum(self.low, other.low));
        let a = Self::sum(a.high, a.low + b.high);
        Self::sum(a.high, a.low + b.low)
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let p = Self::product(self.high, other.high);
        Self::sum(p.high, p.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Double {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::new(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::new(second);
        Self::sum(first, second) + Self::new(rest.high / other.high)
    }
}

/// xᵀy.
pub fn dot(x: &[Double], y: &[Double]) -> Double {
    x.iter().zip(y).fold(Double::default(), |sum, (a, b)| sum + *a * *b)
}

/// Singular values and right singular vectors to 30 digits, rounded at the end.
pub struct Reference {
    /// In descending order.
    pub sigma: Vec<f64>,
    /// One column per value; the column of a zero value is undefined.
    pub right: Mat,
}

/// The decomposition of `x`, whose largest entry should be near one. Entries below 1e-100 are treated as zero: their
/// squares would leave the range of numbers, and they change no value by more than themselves.
pub fn decompose(x: &Mat) -> Reference {
    let tall = x.rows() >= x.cols();
    let (long, short) = if tall { (x.clone(), x.transposed()) } else { (x.transposed(), x.clone()) };
    let number = |v: f64| Double::new(if v.abs() < 1e-100 { 0.0 } else { v });
    let mut columns: Vec<Vec<Double>> =
        (0..long.cols()).map(|j| short.row(j).iter().map(|v| number(*v)).collect()).collect();
    let p = columns.len();
    let mut turns: Vec<Vec<Double>> =
        (0..p).map(|j| (0..p).map(|i| Double::new(f64::from(u8::from(i == j)))).collect()).collect();
    orthogonalize(&mut columns, &mut turns);
    let lengths: Vec<Double> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by(|a, b| lengths[*b].high.total_cmp(&lengths[*a].high));
    let sigma = order.iter().map(|&j| lengths[j].high).collect();
    let entry = |i: usize, j: usize| match (tall, lengths[order[j]].high > 0.0) {
        (true, _) => turns[order[j]][i].high,
        (false, true) => (columns[order[j]][i] / lengths[order[j]]).high,
        (false, false) => 0.0,
    };
    Reference { sigma, right: Mat::from_fn(x.cols(), p, entry) }
}

fn orthogonalize(columns: &mut [Vec<Double>], turns: &mut [Vec<Double>]) {
    let p = columns.len();
    for _ in 0..SWEEPS {
        let mut reflected = false;
        for i in 0..p {
            for j in i + 1..p {
                let (a, b) = (dot(&columns[i], &columns[i]), dot(&columns[j], &columns[j]));
                let c = dot(&columns[i], &columns[j]);
                if c.high.abs() <= ORTHOGONAL * (a.high.sqrt() * b.high.sqrt()) || c.high.abs() < 1e-250 {
                    continue;
                }
                reflected = true;
                let (cosine, sine) = rotation(a, b, c);
                turn(columns, (i, j), cosine, sine);
                turn(turns, (i, j), cosine, sine);
            }
        }
        if !reflected {
            return;
        }
    }
    panic!("Jacobi did not end in {SWEEPS} sweeps");
}

/// The rotation that makes columns with squares a, b and product c orthogonal.
fn rotation(a: Double, b: Double, c: Double) -> (Double, Double) {
    let one = Double::new(1.0);
    let zeta = (b - a) / (c + c);
    let size = if zeta.high.abs() > 1e100 { zeta.abs() } else { (one + zeta * zeta).sqrt() };
    let tangent = one / (zeta.abs() + size);
    let tangent = if zeta.high < 0.0 { -tangent } else { tangent };
    let cosine = one / (one + tangent * tangent).sqrt();
    (cosine, cosine * tangent)
}

fn turn(columns: &mut [Vec<Double>], (i, j): (usize, usize), cosine: Double, sine: Double) {
    let (head, tail) = columns.split_at_mut(j);
    for (x, y) in head[i].iter_mut().zip(&mut tail[0]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

#[test]
fn the_reference_is_right_to_the_last_bit_of_a_closed_form() {
    // [1 1; 0 1] has the golden ratio and its inverse; (a², b²) of Läuchli's matrix are 3 + μ² and μ².
    let golden = decompose(&Mat::from_vec(2, 2, vec![1.0, 1.0, 0.0, 1.0]).unwrap()).sigma;
    assert!((golden[0] - (1.0 + 5f64.sqrt()) / 2.0).abs() <= f64::EPSILON);
    assert!((golden[0] * golden[1] - 1.0).abs() <= f64::EPSILON);
    let mu = 1e-12;
    let x = Mat::from_fn(4, 3, |i, j| {
        if i == 0 {
            1.0
        } else if i == j + 1 {
            mu
        } else {
            0.0
        }
    });
    for x in [x.transposed(), x] {
        let sigma = decompose(&x).sigma;
        assert_eq!(sigma[0], 3f64.sqrt());
        assert!(sigma[1..].iter().all(|s| (s - mu).abs() <= 1e-16 * mu), "{sigma:?}");
    }
}
