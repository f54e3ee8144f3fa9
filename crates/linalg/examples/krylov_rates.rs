//! CPU time of the leading eigenpairs of a Gram matrix on one thread, step by step.
//!
//! `cargo run --release -p eigenspan-linalg --example krylov_rates [-- p k]`

use std::num::NonZero;
use std::sync::Mutex;

use eigenspan_linalg::krylov::{Dense, Operator, Until, leading};
use eigenspan_linalg::{Error, Exec, Mat, Monitor};

/// Repetitions, of which the fastest counts: the machine is shared.
const TIMES: usize = 7;

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let sizes =
        if let [p, k] = given[..] { vec![(p, k)] } else { vec![(1520, 118), (1520, 329), (2200, 260), (5000, 300)] };
    println!("    p    k     d   multiply  orthogonalize  decide  combine    total   (ms of CPU)");
    for (p, k) in sizes {
        let lambda = power_law(p, k);
        let cut = 0.5 * (lambda[k - 1] + lambda[k]);
        let g = reflected(&lambda);
        let times = if p > 3000 { 3 } else { TIMES };
        let best = (0..times).map(|_| run(&g, cut, k)).min_by(|a, b| a.total().total_cmp(&b.total())).expect("one run");
        let Timing { d, multiply, orthogonalize, decide, combine } = best;
        let total = best.total();
        println!("{p:5} {k:4} {d:5} {multiply:10.1} {orthogonalize:14.1} {decide:7.1} {combine:8.1} {total:8.1}");
    }
}

/// Milliseconds.
#[derive(Default, Clone, Copy)]
struct Timing {
    d: usize,
    multiply: f64,
    orthogonalize: f64,
    decide: f64,
    combine: f64,
}

impl Timing {
    fn total(&self) -> f64 {
        self.multiply + self.orthogonalize + self.decide + self.combine
    }
}

/// Attributes time to a step by the calls it receives: those of the operator, and the report after each step.
struct Stopwatch<'a> {
    operator: Dense<'a>,
    state: Mutex<(f64, Timing)>,
}

impl Stopwatch<'_> {
    fn lap(&self, book: impl Fn(&mut Timing, f64)) {
        let mut state = self.state.lock().expect("one thread");
        let now = cpu();
        let past = now - state.0;
        book(&mut state.1, past);
        state.0 = now;
    }
}

impl Operator for Stopwatch<'_> {
    fn order(&self) -> usize {
        self.operator.order()
    }
    fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        self.lap(|split, t| split.decide += t);
        let result = self.operator.multiply(v, out, exec);
        self.lap(|split, t| split.multiply += t);
        result
    }
}

impl Monitor for Stopwatch<'_> {
    fn progress(&self, stage: &'static str, _: usize, _: usize) {
        match stage {
            "converge" => self.lap(|split, t| split.orthogonalize += t),
            _ => self.lap(|split, t| split.decide += t),
        }
    }
}

fn run(g: &Mat, cut: f64, k: usize) -> Timing {
    let watch = Stopwatch { operator: Dense(g), state: Mutex::new((cpu(), Timing::default())) };
    let exec = Exec::new(NonZero::new(1), &watch);
    let found = leading(&watch, Until::Above(cut), 1e-16, exec).expect("nobody cancels").expect("few are above");
    watch.lap(|split, t| split.combine += t);
    assert_eq!(found.values.iter().filter(|v| **v > cut).count(), k);
    let mut split = watch.state.into_inner().expect("one thread").1;
    split.d = found.dimension;
    split
}

/// CPU time of this thread in milliseconds.
#[expect(clippy::disallowed_methods, reason = "a stopwatch reads a clock")]
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|t| t.parse::<f64>().ok()).expect("nanoseconds") * 1e-6
}

/// σ ∝ i^−0.9, the first one four times larger, above a noise floor at a quarter of the cut.
fn power_law(p: usize, k: usize) -> Vec<f64> {
    let floor = 0.25 * (k as f64).powf(-1.8);
    let law = |i: usize| (i as f64).powf(-1.8) * if i == 1 { 16.0 } else { 1.0 };
    (1..=p).map(|i| law(i) + floor * (1.0 - i as f64 / p as f64).powi(2)).collect()
}

/// H … H diag(λ) H … H for a few random reflections H = I − 2vvᵀ/vᵀv.
fn reflected(lambda: &[f64]) -> Mat {
    let p = lambda.len();
    let mut g = Mat::from_fn(p, p, |i, j| if i == j { lambda[i] } else { 0.0 });
    let mut seed = 12345u64;
    let mut uniform = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    for _ in 0..6 {
        // HGH = G − vwᵀ − wvᵀ with w = (2/vᵀv) (Gv − (vᵀGv/vᵀv) v)
        let v: Vec<f64> = (0..p).map(|_| uniform()).collect();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
        let (vv, gv): (f64, Vec<f64>) = (dot(&v, &v), (0..p).map(|i| dot(g.row(i), &v)).collect());
        let along = dot(&v, &gv) / vv;
        let w: Vec<f64> = gv.iter().zip(&v).map(|(a, b)| 2.0 / vv * (a - along * b)).collect();
        for i in 0..p {
            let (vi, wi) = (v[i], w[i]);
            g.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x -= vi * w[j] + wi * v[j]);
        }
    }
    g
}
