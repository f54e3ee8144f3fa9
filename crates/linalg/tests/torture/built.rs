//! Matrices built from singular values: X = U D Vᵀ with U and V products of reflections.

use eigenspan_linalg::Mat;

pub const ULP: f64 = f64::EPSILON;
/// Reflections on each side.
const REFLECTIONS: usize = 3;

/// SplitMix64: the same numbers on every machine.
pub struct Random(pub u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Uniform in (−1, 1).
    pub fn even(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// N(0, 1).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// An integer from −most to most.
    pub fn whole(&mut self, most: u64) -> f64 {
        (self.bits() % (2 * most + 1)) as f64 - most as f64
    }

    pub fn sign(&mut self) -> f64 {
        if self.bits() & 1 == 0 { 1.0 } else { -1.0 }
    }
}

/// A matrix with its singular values and right singular vectors, to a few eps·σ₁.
pub struct Built {
    pub x: Mat,
    pub sigma: Vec<f64>,
    pub right: Mat,
}

/// `rows` × `cols` with the singular values `sigma`, in descending order.
pub fn reflected((rows, cols): (usize, usize), sigma: &[f64], seed: u64) -> Built {
    let mut random = Random(seed);
    let mut x = diagonal((rows, cols), sigma);
    let mut right = diagonal((cols, sigma.len()), &vec![1.0; sigma.len()]);
    for _ in 0..REFLECTIONS {
        let u: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
        reflect(&mut x, &u);
        let v: Vec<f64> = (0..cols).map(|_| random.normal()).collect();
        let mut transposed = x.transposed();
        reflect(&mut transposed, &v);
        x = transposed.transposed();
        reflect(&mut right, &v);
    }
    Built { x, sigma: sigma.to_vec(), right }
}

/// A ← (I − 2uuᵀ/uᵀu) A.
pub fn reflect(a: &mut Mat, u: &[f64]) {
    let square: f64 = u.iter().map(|u| u * u).sum();
    let mut along = vec![0.0; a.cols()];
    for (i, u) in u.iter().enumerate() {
        along.iter_mut().zip(a.row(i)).for_each(|(s, x)| *s += u * x);
    }
    for (i, u) in u.iter().enumerate() {
        let factor = 2.0 * u / square;
        a.row_mut(i).iter_mut().zip(&along).for_each(|(x, s)| *x -= factor * s);
    }
}

pub fn diagonal((rows, cols): (usize, usize), values: &[f64]) -> Mat {
    Mat::from_fn(rows, cols, |i, j| if i == j { values.get(i).copied().unwrap_or(0.0) } else { 0.0 })
}

/// LAPACK's spectra: uniform, geometric, all but one at 1, all but one at ulp.
pub fn lapack(name: &str, n: usize) -> Vec<f64> {
    let part = |i: usize| i as f64 / (n - 1) as f64;
    let value = |i: usize| match name {
        "even" => 1.0 - part(i) * (1.0 - ULP),
        "geometric" => ULP.powf(part(i)),
        "cluster at 1" => {
            if i + 1 < n {
                1.0
            } else {
                ULP
            }
        }
        "cluster at ulp" => {
            if i == 0 {
                1.0
            } else {
                ULP
            }
        }
        other => unreachable!("{other}"),
    };
    (0..n).map(value).collect()
}

/// Flat steps of `width` values each, a factor of `ratio` apart.
pub fn stairs(steps: usize, width: usize, ratio: f64) -> Vec<f64> {
    (0..steps * width).map(|i| ratio.powi(-((i / width) as i32))).collect()
}

/// A few values, then a gap, then the rest.
pub fn with_gap(above: usize, all: usize, rest: f64) -> Vec<f64> {
    let first = (0..above).map(|i| 2.0 - i as f64 / above as f64);
    first.chain((above..all).map(|i| rest * (1.0 - 0.3 * i as f64 / all as f64))).collect()
}

/// σ_i = (i + 1)^−power.
pub fn power_law(n: usize, power: f64) -> Vec<f64> {
    (0..n).map(|i| (i as f64 + 1.0).powf(-power)).collect()
}

/// Orthogonal by construction and free of rounding: D with integer values, reflected on both sides by I − 2vvᵀ/2ʲ with
/// v = ±1 in 2ʲ places and zero elsewhere. Every entry is a multiple of 2^(2 − 2j) and needs fewer than 53 bits, so the
/// singular values are exactly `values`.
pub fn exact((rows, cols): (usize, usize), values: &[f64], seed: u64) -> Mat {
    let mut random = Random(seed);
    let mut x = diagonal((rows, cols), values);
    let signs = |n: usize, random: &mut Random| -> Vec<f64> {
        let width = 1 << n.ilog2();
        (0..n).map(|i| if i < width { random.sign() } else { 0.0 }).collect()
    };
    let u = signs(rows, &mut random);
    reflect(&mut x, &u);
    let mut transposed = x.transposed();
    reflect(&mut transposed, &signs(cols, &mut random));
    transposed.transposed()
}
