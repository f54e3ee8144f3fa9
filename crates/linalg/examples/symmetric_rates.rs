//! Time of the symmetric eigensolver on one thread, step by step.
//!
//! ```text
//!     cargo run --release -p eigenspan-linalg --example symmetric_rates [order …]
//! ```
//! G = H₁H₂H₃ diag(λ) H₃H₂H₁ with λ_i = (½ + u_i) / i², u uniform in [0, 1), and three random reflections. Times are
//! CPU times of the process in milliseconds, the best of several batches.

use std::num::NonZero;

use eigenspan_linalg::symmetric::{eigenvalues, tridiagonalize};
use eigenspan_linalg::{Exec, Mat, Quiet};

/// Milliseconds of a batch of runs.
const BATCH: f64 = 400.0;
/// Batches, of which the fastest counts.
const BATCHES: usize = 4;

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() {
    let orders: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let orders = if orders.is_empty() { vec![256, 784, 1520, 2592] } else { orders };
    let exec = Exec::new(NonZero::new(1), &Quiet);
    let head = ["reduce", "values", "together", "k = p/13", "p/4", "p/2", "p"].map(|name| format!("{name:>10}"));
    println!("{:>6} {}", "p", head.join(" "));
    for p in orders {
        let g = power_law(p);
        let reduced = tridiagonalize(g.clone(), exec).expect("the matrix is finite");
        let reduce = best(|| drop(tridiagonalize(g.clone(), exec)));
        let values = best(|| drop(reduced.values(exec)));
        let together = best(|| drop(eigenvalues(g.clone(), exec)));
        print!("{p:>6} {reduce:>10.2} {values:>10.2} {together:>10.2}");
        for k in [p / 13, p / 4, p / 2, p] {
            print!(" {:>10.2}", best(|| drop(reduced.leading(k, exec))));
        }
        println!();
    }
}

/// Milliseconds of one run, the best of several batches. The kernel counts time in ticks of ten milliseconds: a batch
/// is long enough that the ticks do not matter much.
fn best(mut work: impl FnMut()) -> f64 {
    let mut batch = || {
        let start = cpu_time();
        let mut runs = 0;
        while runs == 0 || cpu_time() - start < BATCH {
            work();
            runs += 1;
        }
        (cpu_time() - start) / f64::from(runs)
    };
    (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// CPU time of this process in milliseconds, independent of other processes; long steps run on a thread of their own.
#[expect(clippy::disallowed_methods, reason = "a stopwatch reads a clock")]
fn cpu_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("this example runs on Linux");
    let after_name = text.rsplit(')').next().expect("the name of the program is in brackets");
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok());
    10.0 * ticks.sum::<f64>()
}

fn power_law(p: usize) -> Mat {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut g = Mat::from_fn(p, p, |i, j| if i == j { (0.5 + uniform()) / ((i + 1) * (i + 1)) as f64 } else { 0.0 });
    for _ in 0..3 {
        let v: Vec<f64> = (0..p).map(|_| uniform() - 0.5).collect();
        reflect(&mut g, &v);
    }
    g
}

/// G ← H G H with H = I − 2 v vᵀ / vᵀv.
fn reflect(g: &mut Mat, v: &[f64]) {
    let p = v.len();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scale = 2.0 / dot(v, v);
    let mut w: Vec<f64> = (0..p).map(|i| scale * dot(g.row(i), v)).collect();
    let half = 0.5 * scale * dot(&w, v);
    w.iter_mut().zip(v).for_each(|(w, v)| *w -= half * v);
    for i in 0..p {
        let (vi, wi) = (v[i], w[i]);
        g.row_mut(i).iter_mut().zip(v.iter().zip(&w)).for_each(|(g, (v, w))| *g -= vi * w + wi * v);
    }
}
