//! How far samples that arrive one by one drift from the exact fit: the tables of `docs/studies/online.md`.
//!
//! `cargo run --release -p eigenspan --example online_drift -- ../shared/data`

use std::path::Path;

use eigenspan_core::data::Samples;
use eigenspan_core::data::generate::Normal;
use eigenspan_core::linalg::dense::product;
use eigenspan_core::linalg::svd;
use eigenspan_core::{Exec, Lambda, Mat, Normalize, OnlineParams, OnlinePce, Pce, PceParams};
use eigenspan_io::{ReadOptions, read};

/// A data set, how many of its samples, λ, and ranks to try.
struct Case {
    file: &'static str,
    name: &'static str,
    samples: usize,
    lambda: f64,
    ranks: [usize; 3],
}

const CASES: [Case; 2] = [
    Case { file: "usps_11000.npz", name: "USPS", samples: 3000, lambda: 0.05, ranks: [40, 80, 120] },
    Case {
        file: "exyaleb_54x48_first58.npz",
        name: "Extended Yale B",
        samples: 1000,
        lambda: 5.0,
        ranks: [75, 150, 300],
    },
];

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "../shared/data".into());
    for case in CASES {
        let path = Path::new(&folder).join(case.file);
        if !path.exists() {
            println!("skipped: no data ({})", case.file);
            continue;
        }
        let data = read(&path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        // In the files one class follows the other; here samples come as they come.
        let order = shuffled(data.samples.rows());
        let x = unit(data.samples.select_rows(&order[..case.samples]).view());
        study(&case, &x, 1.0);
        study(&case, &x, 0.999);
    }
}

/// Row numbers in an order of no meaning, always the same (Fisher and Yates).
fn shuffled(n: usize) -> Vec<usize> {
    let (mut order, mut random) = ((0..n).collect::<Vec<_>>(), Normal::new(1));
    for i in (1..n).rev() {
        order.swap(i, ((random.uniform() * (i + 1) as f64) as usize).min(i));
    }
    order
}

/// The samples with length one.
fn unit(samples: Samples<'_>) -> Mat {
    let mut x = samples.to_f64();
    for i in 0..x.rows() {
        let length = eigenspan_core::prepare::norm(x.row(i));
        x.row_mut(i).iter_mut().for_each(|y| *y /= length);
    }
    x
}

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn study(case: &Case, x: &Mat, forget: f64) {
    let (n, m) = (x.rows(), x.cols());
    let params = PceParams { lambda: Lambda::Fixed(case.lambda), normalize: Normalize::None, ..PceParams::default() };
    let weighted = Mat::from_fn(n, m, |i, j| x.at(i, j) * forget.powf((n - 1 - i) as f64));
    let exact = params.fit(&weighted).unwrap_or_else(|error| panic!("{error}"));
    println!(
        "**{}, f = {forget}.** {n} samples of {m} features, λ = {}: exact k = {}.\n",
        case.name,
        case.lambda,
        exact.k()
    );
    println!(
        "| rank | block | k | k lies in | σ too small by, most | bound | angle of the first k/2 | angle of all | energy dropped |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for rank in case.ranks {
        for block in [Some(1), Some(10), Some(100), None] {
            // One by one costs rank² for each sample: the smaller ranks tell enough.
            if block == Some(1) && rank > case.ranks[if m > 1000 { 0 } else { 1 }] {
                continue;
            }
            let online = OnlineParams { rank, forget, block };
            let mut seen = OnlinePce::new(params, online, m).unwrap_or_else(|error| panic!("{error}"));
            seen.update(x, Exec::default()).unwrap_or_else(|error| panic!("{error}"));
            let model = seen.finish(Exec::default()).unwrap_or_else(|error| panic!("{error}"));
            row(rank, block, &model, &exact);
        }
    }
    println!();
}

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn row(rank: usize, block: Option<usize>, model: &Pce, exact: &Pce) {
    let (found, want) = (&model.parts().sigma, &exact.parts().sigma);
    let k = model.k().min(exact.k());
    let short = (0..k).map(|i| 1.0 - found[i] / want[i]).fold(0.0, f64::max);
    // σ ≤ √(σ̂² + δ²).
    let bound = (0..k).map(|i| 1.0 - found[i] / found[i].hypot(model.drift())).fold(0.0, f64::max);
    let (low, high) = model.parts().k_interval;
    let trail = model.parts().online.as_ref().expect("it was fitted online");
    let discarded = 100.0 * trail.discarded.energy / model.parts().norm.powi(2);
    let name = block.map_or_else(|| format!("{} (usual)", trail.block), |block| block.to_string());
    println!(
        "| {rank} | {name} | {} | {low} … {high} | {:.2} % | {:.1} % | {:.1}° | {:.1}° | {discarded:.2} % |",
        model.k(),
        100.0 * short,
        100.0 * bound,
        angle(model, exact, k.div_ceil(2)),
        angle(model, exact, k),
    );
}

/// The largest angle between the spans of the first k directions, in degrees.
fn angle(a: &Pce, b: &Pce, k: usize) -> f64 {
    let (a, b) = (a.parts().basis.leading_columns(k), b.parts().basis.leading_columns(k));
    let cosines = product(a.view().transposed(), b.view(), Exec::default()).expect("nobody cancels");
    let least = svd::values(&cosines).expect("a small matrix").last().copied().unwrap_or(1.0);
    least.min(1.0).acos().to_degrees()
}
