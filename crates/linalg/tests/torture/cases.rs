//! Every torture matrix of the specification's section 5, with its reference values.

use super::built::{Built, Random, ULP, diagonal, lapack, power_law, reflected, stairs, with_gap};
use super::classics::*;
use super::double::decompose;
use super::scaled::Scaled;
use eigenspan_linalg::Mat;
use eigenspan_linalg::scale::times_power_of_two;

/// The origin of the reference values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Origin {
    /// A closed form.
    Exact,
    /// The numbers the matrix was built from.
    Constructed,
    /// Jacobi in twice the precision.
    Computed,
}

/// A matrix and its reference values. Every field but `read.x` refers to the values read: entries below one.
pub struct Case {
    pub name: String,
    pub read: Scaled,
    /// The values read.
    pub a: Mat,
    pub sigma: Vec<f64>,
    /// Right singular vectors, one column per value.
    pub right: Mat,
    pub known: Origin,
}

impl Case {
    /// A matrix whose values are computed here.
    pub fn of(name: impl Into<String>, x: Mat) -> Self {
        let read = Scaled::new(x);
        let a = read.near_one();
        let reference = decompose(&a);
        Self { name: name.into(), read, a, sigma: reference.sigma, right: reference.right, known: Origin::Computed }
    }

    /// A matrix whose values are `sigma` to the last bits.
    pub fn exact(name: impl Into<String>, (x, sigma): (Mat, Vec<f64>)) -> Self {
        let case = Self::of(name, x);
        let sigma: Vec<f64> = sigma.iter().map(|s| times_power_of_two(*s, -case.read.exponent)).collect();
        // The closed form and the reference are computed independently: each checks the other.
        for (s, t) in sigma.iter().zip(&case.sigma) {
            assert!((s - t).abs() <= 8.0 * ULP * sigma[0], "{}: {s:e} or {t:e}?", case.name);
        }
        Self { sigma, known: Origin::Exact, ..case }
    }

    /// A large matrix whose values are those it was built from.
    pub fn built(name: impl Into<String>, Built { x, sigma, right }: Built) -> Self {
        let read = Scaled::new(x);
        let a = read.near_one();
        let sigma = sigma.iter().map(|s| times_power_of_two(*s, -read.exponent)).collect();
        Self { name: name.into(), read, a, sigma, right, known: Origin::Constructed }
    }

    pub fn most(&self) -> f64 {
        self.a.rows().max(self.a.cols()) as f64
    }

    /// The rounding error of a reference value.
    pub fn reference_error(&self, sigma: f64) -> f64 {
        match self.known {
            Origin::Exact => 8.0 * ULP * self.sigma[0],
            Origin::Constructed => self.most() * ULP * self.sigma[0],
            Origin::Computed => ULP * sigma,
        }
    }

    /// Lower and upper bound on the number of values above `cut`, in the units of the values read.
    pub fn above(&self, cut: f64) -> (usize, usize) {
        let count = |sign: f64| self.sigma.iter().filter(|s| **s + sign * self.reference_error(**s) > cut).count();
        (count(-1.0), count(1.0))
    }
}

/// Small matrices: all methods through R, those through G within their reach.
pub fn small() -> Vec<Case> {
    [trivial(), spectra(), scales(), triangular(), classical(), ranks(), extremes()].into_iter().flatten().collect()
}

fn trivial() -> Vec<Case> {
    let shape = |n: usize, m: usize, value: f64| Mat::from_fn(n, m, |_, _| value);
    let all = |n: usize, s: f64| vec![s; n];
    vec![
        Case::exact("zero", (shape(5, 3, 0.0), all(3, 0.0))),
        Case::exact("one_1x1", (shape(1, 1, -3.0), all(1, 3.0))),
        Case::exact("row", (shape(1, 7, 2.0), all(1, 28f64.sqrt()))),
        Case::exact("col", (shape(7, 1, 2.0), all(1, 28f64.sqrt()))),
        Case::exact("ones", (shape(6, 9, 1.0), [54f64.sqrt()].into_iter().chain([0.0; 5]).collect())),
        Case::exact("identity", (diagonal((10, 10), &[1.0; 10]), all(10, 1.0))),
        Case::exact("signed permutation", (signed_permutation(9), all(9, 1.0))),
        Case::exact("hadamard_32", (hadamard(32), all(32, 32f64.sqrt()))),
    ]
}

const SPECTRA: [&str; 4] = ["even", "geometric", "cluster at 1", "cluster at ulp"];

fn spectra() -> Vec<Case> {
    let mut cases = Vec::new();
    for (seed, name) in SPECTRA.into_iter().enumerate() {
        for (n, m) in [(20, 20), (30, 12), (12, 30)] {
            let sigma = lapack(name, n.min(m));
            let mut random = Random(seed as u64);
            let signed: Vec<f64> = sigma.iter().map(|s| s * random.sign()).collect();
            cases.push(Case::exact(format!("diag {name} {n}x{m}"), (diagonal((n, m), &signed), sigma.clone())));
            cases.push(Case::of(format!("UDV {name} {n}x{m}"), reflected((n, m), &sigma, seed as u64).x));
        }
    }
    cases.push(Case::of("devil's stairs 64", reflected((64, 64), &stairs(8, 8, 10f64.powf(0.6)), 1).x));
    cases.push(Case::of("steep 80x50", reflected((80, 50), &stairs(5, 10, 100.0), 2).x));
    cases
}

fn scales() -> Vec<Case> {
    let (over, under) = (f64::MAX, f64::MIN_POSITIVE);
    let mut cases = Vec::new();
    for scale in [over.sqrt(), under.sqrt(), 1e300, 1e-300, over * ULP, under / ULP] {
        let times = |x: &Mat| Mat::from_fn(x.rows(), x.cols(), |i, j| x.at(i, j) * scale);
        cases
            .push(Case::of(format!("UDV even times {scale:.0e}"), times(&reflected((12, 9), &lapack("even", 9), 3).x)));
        let sigma: Vec<f64> = lapack("geometric", 9).iter().map(|s| s * scale).collect();
        cases.push(Case::exact(format!("diag geometric times {scale:.0e}"), (diagonal((9, 12), &sigma), sigma)));
    }
    cases
}

fn triangular() -> Vec<Case> {
    vec![
        Case::of("log-spread bidiagonal", log_bidiagonal(16)),
        Case::of("kahan_30", kahan(30, 1.2)),
        Case::of("kahan_90", kahan(90, 1.2)),
        Case::of("kahan_48", kahan(48, 0.4)),
        Case::of("graded bidiagonal down", graded_bidiagonal(16, 0.1)),
        Case::of("graded bidiagonal up", graded_bidiagonal(16, 10.0)),
        Case::of("golub_20", golub(20, true)),
        Case::of("golub_lu_20", golub(20, false)),
    ]
}

fn classical() -> Vec<Case> {
    let mut cases = vec![
        Case::of("hilbert_8", hilbert(8)),
        Case::of("hilbert_12", hilbert(12)),
        Case::of("hilbert_20", hilbert(20)),
        Case::of("lotkin_16", lotkin(16)),
        Case::of("wilkinson_21", wilkinson()),
        Case::of("vandermonde_20", vandermonde(20)),
        Case::of("pascal_14", pascal(14)),
        Case::of("prolate_24", prolate(24, 0.25)),
        Case::of("gravity_24", gravity(24)),
        Case::exact("min(i,j)", minimum(40)),
        Case::exact("second difference", second_difference(40)),
        Case::exact("clement_32", clement(32)),
        Case::exact("rosser", rosser()),
        Case::exact("circulant_24", circulant(24)),
    ];
    cases.extend([14, 18, 25, 40].map(|n| Case::of(format!("companion_{n}"), companion(n))));
    for mu in [1e-7, 3e-9, 1e-12] {
        let (x, sigma) = lauchli(12, mu);
        cases.push(Case::exact(format!("lauchli {mu:e} wide"), (x.transposed(), sigma.clone())));
        cases.push(Case::exact(format!("lauchli {mu:e}"), (x, sigma)));
    }
    cases.extend(decisions().into_iter().map(|(name, x, sigma)| Case::exact(name, (x, sigma))));
    cases
}

fn ranks() -> Vec<Case> {
    let mut random = Random(41);
    let base = Mat::from_fn(20, 12, |_, _| random.normal());
    let with = |f: &dyn Fn(usize, usize) -> f64| Mat::from_fn(20, 12, f);
    let gap = |rest: f64| reflected((20, 20), &with_gap(8, 20, rest), 6).x;
    let mut cases = vec![
        Case::of("rank 1", with(&|i, j| base.at(i, 0) * base.at(j, 1))),
        Case::of("magic_16", magic(16)),
        Case::of("duplicated columns", with(&|i, j| base.at(i, j / 2))),
        Case::of("duplicated rows", with(&|i, j| base.at(i / 2, j))),
        Case::of("constant column", with(&|i, j| if j == 4 { 1.0 } else { base.at(i, j) })),
        Case::of("zero column", with(&|i, j| if j == 4 { 0.0 } else { base.at(i, j) })),
        Case::of(
            "column times 1 + ulp",
            with(&|i, j| if j == 4 { base.at(i, 0) * (1.0 + ULP) } else { base.at(i, j) }),
        ),
        Case::of("rank gap 1", gap(1.0)),
        Case::of("rank gap 1e-12", gap(1e-12)),
        Case::of("rank gap 0", gap(0.0)),
        Case::of("pce_union", union_of_subspaces(20, 0.0)),
        Case::of("pce_union with noise", union_of_subspaces(20, 0.05)),
        Case::of("identical samples", with(&|_, j| base.at(0, j))),
    ];
    cases.extend(
        [("tall", 5000, 3), ("wide", 3, 5000)].map(|(name, n, m)| Case::of(name, graded((n, m), |_| 1.0, |_| 1.0))),
    );
    cases
}

fn extremes() -> Vec<Case> {
    let mut random = Random(42);
    let base = graded((16, 10), |_| 1.0, |_| 1.0);
    let with = |f: &mut dyn FnMut(usize, usize) -> f64| Mat::from_fn(16, 10, f);
    let spread = |n: usize| move |i: usize| 10f64.powf(-150.0 + 300.0 * i as f64 / (n - 1) as f64);
    vec![
        Case::of("uniform", Mat::from_fn(25, 18, |_, _| random.even())),
        Case::of("graded both", graded((20, 15), |i| 10f64.powf(-(i as f64) / 3.0), |j| 10f64.powf(-(j as f64) / 3.0))),
        Case::of("graded rows", graded((20, 12), spread(20), |_| 1.0)),
        Case::of("graded columns", graded((20, 12), |_| 1.0, spread(12))),
        Case::of("one 1e300", with(&mut |i, j| if (i, j) == (3, 4) { 1e300 } else { base.at(i, j) })),
        Case::of("columns 1e-300, 1e300", with(&mut |i, j| base.at(i, j) * [1e-300, 1.0, 1e300][j % 3])),
        Case::of(
            "sprinkled denormals",
            with(&mut |i, j| if (i + j) % 3 == 0 { base.at(i, j) * 1e-310 } else { base.at(i, j) }),
        ),
        Case::of("integers to 2^53", Mat::from_fn(16, 10, |_, _| random.whole(1 << 53))),
    ]
}

/// Medium matrices: the dense path through G.
pub fn middling() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, m) in [(300, 120), (120, 300)] {
        let named = |name: &str| format!("{name} {n}x{m}");
        cases.push(Case::built(named("UDV power law"), reflected((n, m), &power_law(120, 0.7), 11)));
        cases.push(Case::built(named("UDV clusters"), reflected((n, m), &stairs(6, 20, 2.0), 12)));
        cases.push(Case::built(named("UDV rank gap"), reflected((n, m), &with_gap(10, 120, 0.02), 13)));
        cases.push(Case::built(named("UDV even"), reflected((n, m), &lapack("even", 120), 14)));
    }
    cases
}

/// Large matrices: Krylov's path through G.
pub fn large() -> Vec<Case> {
    let clusters: Vec<f64> = stairs(3, 5, 1.5).into_iter().chain((15..400).map(|i| 0.1 + 1.0 / i as f64)).collect();
    vec![
        Case::built("UDV power law 520x400", reflected((520, 400), &power_law(400, 0.8), 21)),
        Case::built("UDV power law 400x520", reflected((400, 520), &power_law(400, 0.8), 22)),
        Case::built("UDV clusters 400x400", reflected((400, 400), &clusters, 23)),
        Case::built("UDV rank gap 520x400", reflected((520, 400), &with_gap(10, 400, 0.05), 24)),
        Case::built("UDV rank 10 400x400", reflected((400, 400), &with_gap(10, 400, 0.0), 26)),
        Case::built("UDV cluster at ulp 300x300", reflected((300, 300), &lapack("cluster at ulp", 300), 27)),
        Case::built(
            "UDV steep 400x520",
            reflected((400, 520), &(0..400).map(|i| 0.8f64.powi(i)).collect::<Vec<_>>(), 25),
        ),
    ]
}
