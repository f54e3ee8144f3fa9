//! How the time of PCE grows with samples and features, beside what section III-C of the paper says.
//!
//! ```text
//!     seconds ≈ c · n^a        a = the slope of log seconds over log n, by least squares
//! ```

use eigenspan_core::data::generate::Normal;
use eigenspan_core::{Exec, Lambda, Mat, PceParams};

use crate::StudyError;
use crate::clock::Clock;
use crate::report::Table;

/// The sides of a matrix that does not grow.
const FIXED: usize = 500;
/// Those that the other side takes.
const GROWING: [usize; 4] = [4000, 8000, 16_000, 32_000];
/// The dimension that is planted.
const PLANTED: usize = 20;
/// The least of so many runs counts.
const RUNS: usize = 3;

/// The exponent of the time in samples at fixed features, and in features at fixed samples.
pub fn table(clock: &dyn Clock, exec: Exec<'_>) -> Result<Table, StudyError> {
    let mut rows = vec![];
    for (what, says, shape) in [
        (
            "samples n, 500 features",
            "1 in n for the fast SVD, mn² in all",
            (|side| (side, FIXED)) as fn(usize) -> (usize, usize),
        ),
        ("features m, 500 samples", "1", |side| (FIXED, side)),
    ] {
        let mut seconds = vec![];
        for side in GROWING {
            seconds.push(least_seconds(shape(side), clock, exec)?);
        }
        let points: Vec<(f64, f64)> = GROWING.iter().map(|side| *side as f64).zip(seconds.iter().copied()).collect();
        let times: Vec<String> =
            points.iter().map(|(side, s)| format!("{side}: {}", crate::table::seconds(*s))).collect();
        rows.push(vec![what.into(), format!("{:.2}", slope(&points)), says.into(), times.join(", ")]);
    }
    let heads = ["growing", "exponent", "the paper's", "seconds"].map(String::from).to_vec();
    Ok(Table { heads, rows })
}

fn least_seconds((n, m): (usize, usize), clock: &dyn Clock, exec: Exec<'_>) -> Result<f64, StudyError> {
    let samples = planted(n, m);
    let params = PceParams { lambda: Lambda::Fixed(10.0 / n as f64), ..PceParams::default() };
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let started = clock.seconds();
        let doing = || format!("PCE of {n} × {m}");
        params.fit_with(&samples, exec.silent()).map_err(|source| StudyError::Method { doing: doing(), source })?;
        least = least.min(clock.seconds() - started);
    }
    Ok(least)
}

/// Samples of a subspace with a little noise.
fn planted(n: usize, m: usize) -> Mat {
    let mut normal = Normal::new((n * 31 + m) as u64);
    let basis = Mat::from_fn(PLANTED, m, |_, _| normal.draw());
    let mut samples = Mat::from_fn(n, m, |_, _| 0.1 * normal.draw());
    for i in 0..n {
        for j in 0..PLANTED {
            let amount = normal.draw();
            samples.row_mut(i).iter_mut().zip(basis.row(j)).for_each(|(x, b)| *x += amount * b);
        }
    }
    samples
}

/// The slope of log y over log x, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.max(1e-9).ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let (over, under) = logs.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - x) * (p.1 - y), b + (p.0 - x).powi(2)));
    over / under
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 5.0, 9.0].map(|x: f64| (x, 3.0 * x.powf(1.7))).to_vec();
        assert!((slope(&points) - 1.7).abs() < 1e-12);
    }
}
