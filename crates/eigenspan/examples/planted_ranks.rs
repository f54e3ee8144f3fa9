//! How often is k right? Planted ranks over shapes, strengths and row lengths, 100 seeds each, for every λ rule.
//!
//! `cargo run --release -p eigenspan --example planted_ranks` prints the table of `docs/studies/planted-rank.md`.

use eigenspan_core::data::generate::Normal;
use eigenspan_core::rule::threshold::{known_noise, median_of, unknown_noise};
use eigenspan_core::{Error, Lambda, Mat, PceParams};

const SEEDS: u64 = 100;
const SHAPES: [(usize, usize); 3] = [(120, 300), (300, 120), (180, 180)];
const RANKS: [usize; 3] = [3, 8, 15];
/// The planted singular values go from this many times the optimal cut to twice that.
const STRENGTHS: [f64; 2] = [3.0, 1.3];

/// What the rows look like when they reach us.
#[derive(Clone, Copy)]
enum Rows {
    /// Signal of varying length plus white noise, as a sensor gives it.
    Raw,
    /// The same, already scaled to unit length by someone before us.
    Unit,
}

/// Rank-`d` signal whose rows vary in length by exp(½N(0, 1)), plus white noise of deviation 1.
fn planted((n, m): (usize, usize), d: usize, strength: f64, seed: u64) -> Mat {
    let mut normal = Normal::new(seed);
    let (short, long) = (n.min(m) as f64, n.max(m) as f64);
    let cut = known_noise(short / long) * long.sqrt();
    let gains: Vec<f64> = (0..n).map(|_| (0.5 * normal.draw()).exp()).collect();
    let mean_square = gains.iter().map(|g| g * g).sum::<f64>() / n as f64;
    let left = Mat::from_fn(n, d, |i, _| normal.draw() * gains[i] / (n as f64 * mean_square).sqrt());
    let right = Mat::from_fn(d, m, |_, _| normal.draw() / (m as f64).sqrt());
    let sigma = |j: usize| strength * cut * (1.0 + j as f64 / d as f64);
    Mat::from_fn(n, m, |i, l| (0..d).map(|j| left.at(i, j) * sigma(j) * right.at(j, l)).sum::<f64>() + normal.draw())
}

fn unit(mut x: Mat) -> Mat {
    for i in 0..x.rows() {
        let length = eigenspan_core::prepare::norm(x.row(i));
        x.row_mut(i).iter_mut().for_each(|y| *y /= length);
    }
    x
}

/// k by one of our rules.
fn rule(lambda: Lambda) -> impl Fn(&Mat) -> Result<usize, Error> {
    move |x| Ok(PceParams { lambda, ..PceParams::default() }.fit(x)?.k())
}

/// The optimal hard threshold straight on the spectrum of the unit rows, for comparison.
fn plain(x: &Mat) -> Result<usize, Error> {
    let model = PceParams { lambda: Lambda::Energy(0.5), ..PceParams::default() }.fit(x)?;
    let sigma = &model.parts().sigma;
    let beta = sigma.len() as f64 / x.rows().max(x.cols()) as f64;
    let tau = unknown_noise(beta) * median_of(sigma);
    Ok(sigma.iter().filter(|s| **s > tau).count())
}

/// `97 (8.0)`: how often k = d in percent, and the mean k.
fn score(find: impl Fn(&Mat) -> Result<usize, Error>, data: &[Mat], d: usize) -> Result<String, Error> {
    let ks: Vec<usize> = data.iter().map(find).collect::<Result<_, _>>()?;
    let right = ks.iter().filter(|k| **k == d).count() as f64 / ks.len() as f64;
    Ok(format!("{:.0} ({:.1})", 100.0 * right, ks.iter().sum::<usize>() as f64 / ks.len() as f64))
}

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() -> Result<(), Error> {
    println!("Percent of {SEEDS} seeds with k = d (mean k in brackets).\n");
    println!("| rows | n × m | d | strength | auto | plain rule on unit rows | noise known | screenot | energy 0.9 |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for rows in [Rows::Raw, Rows::Unit] {
        for shape in SHAPES {
            for d in RANKS {
                for strength in STRENGTHS {
                    let raw = (0..SEEDS).map(|seed| planted(shape, d, strength, seed));
                    let (name, data): (_, Vec<Mat>) = match rows {
                        Rows::Raw => ("raw", raw.collect()),
                        Rows::Unit => ("unit", raw.map(unit).collect()),
                    };
                    let known = match rows {
                        Rows::Raw => score(rule(Lambda::Noise(1.0)), &data, d)?,
                        Rows::Unit => "–".into(), // nobody knows the noise of rows that were scaled
                    };
                    println!(
                        "| {name} | {} × {} | {d} | {strength}–{} | {} | {} | {known} | {} | {} |",
                        shape.0,
                        shape.1,
                        2.0 * strength,
                        score(rule(Lambda::Auto), &data, d)?,
                        score(plain, &data, d)?,
                        score(rule(Lambda::ScreeNot), &data, d)?,
                        score(rule(Lambda::Energy(0.9)), &data, d)?,
                    );
                }
            }
        }
    }
    Ok(())
}
