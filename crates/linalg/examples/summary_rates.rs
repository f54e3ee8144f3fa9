//! Cost of a summary, compared with the Gram matrix of the same samples in memory, on one thread.
//!
//! ```text
//!     cargo run --release -p eigenspan-linalg --example summary_rates [n m]
//! ```
//! Samples of unit length, in chunks of 1000 rows. Times are wall-clock milliseconds, the best of several runs.

use std::num::NonZero;
use std::time::Instant;

use eigenspan_linalg::gram::Gram;
use eigenspan_linalg::summary::{Form, Summary};
use eigenspan_linalg::triangle::triangle;
use eigenspan_linalg::{Exec, Mat, Quiet};

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let shapes = match given[..] {
        [n, m] => vec![(n, m)],
        _ => vec![(200_000, 16), (50_000, 100), (20_000, 300), (16_000, 784)],
    };
    let exec = Exec::new(NonZero::new(1), &Quiet);
    println!("{:>8} {:>6} {:>9} {:>9} | summary: gram centered triangle centered", "n", "m", "gram", "triangle");
    for (n, m) in shapes {
        let x = unit_rows(n, m);
        let chunks: Vec<Mat> = (0..n)
            .step_by(1000)
            .map(|first| x.select_rows(&(first..(first + 1000).min(n)).collect::<Vec<_>>()))
            .collect();
        print!("{n:>8} {m:>6} {:>9.1}", best(5, || drop(Gram::of(&x, exec))));
        print!(" {:>9.1} |", best(2, || drop(triangle(&x, exec))));
        for (form, centered) in
            [(Form::Gram, false), (Form::Gram, true), (Form::Triangle, false), (Form::Triangle, true)]
        {
            let runs = if form == Form::Gram { 5 } else { 2 };
            let time = best(runs, || {
                let mut summary = Summary::empty(m, form, centered);
                for rows in &chunks {
                    summary.update(rows, exec).expect("the samples are finite");
                }
            });
            print!(" {time:>9.1}");
        }
        println!();
    }
}

/// The shortest of `runs` runs.
#[expect(clippy::disallowed_methods, reason = "a stopwatch reads a clock")]
fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let timed = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..runs).map(timed).fold(f64::INFINITY, f64::min)
}

fn unit_rows(n: usize, m: usize) -> Mat {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut x = Mat::from_fn(n, m, |_, _| uniform());
    for i in 0..n {
        let length = x.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
        x.row_mut(i).iter_mut().for_each(|v| *v /= length);
    }
    x
}
