//! Sparse samples: their scan, their sums and their products, without operations on zeros that are not stored.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | y | `value` | a stored value |
//! | z | `zero` | the prepared value of a zero of feature j: −μⱼ / sⱼ |
//! | c | `stored` | number of stored values of feature j; the other n − c are zeros |
//!
//! ```text
//!     Σᵢ f(yᵢⱼ)  =  Σ f(y) over stored values  +  (n − c)·f(z)
//! ```
//! Lengths are summed in the order of a dense row, so that the bits, and the model, are the same for the same samples.

use eigenspan_linalg::rows::{LANES, are_bytes, total};
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::sparse::{Lines, Sparse};

use super::Prepared;
use super::scan::PartialScan;
use crate::Error;
use crate::data::{Csr, Samples};

/// Above this share of stored values a matrix counts as dense.
const SPARSE: f64 = 0.25;

impl PartialScan {
    /// The scan of all samples. The mean is computed later: two passes over stored values cost little.
    pub(super) fn of_csr(x: &Csr) -> Result<Self, Error> {
        let (n, m) = (x.rows(), x.cols());
        let mut part = Self::empty();
        for i in 0..n {
            let (columns, values) = x.row(i);
            if let Some(at) = values.iter().position(|y| !y.is_finite()) {
                return Err(Error::NotFinite { row: i, column: columns[at], value: values[at] });
            }
            let most = values.iter().fold(0.0f64, |most, y| most.max(y.abs()));
            let length = length(columns, values, m, most);
            part.push(length);
            part.bytes = part.bytes && are_bytes(values);
        }
        Ok(part)
    }
}

/// The ℓ2 norm of a sparse row, to the bit that of the dense one.
fn length(columns: &[usize], values: &[f64], m: usize, most: f64) -> f64 {
    let square = sum_of_squares(columns, values, m, 0);
    if square > 1e-240 && square < 1e240 {
        return square.sqrt();
    }
    let exponent = exponent_of(most);
    times_power_of_two(sum_of_squares(columns, values, m, exponent).sqrt(), exponent)
}

fn sum_of_squares(columns: &[usize], values: &[f64], m: usize, exponent: i32) -> f64 {
    let mut sums = [0.0; LANES];
    let (body, mut tail) = (m - m % LANES, 0.0);
    for (&j, y) in columns.iter().zip(values) {
        let y = if exponent == 0 { *y } else { times_power_of_two(*y, -exponent) };
        *if j < body { &mut sums[j % LANES] } else { &mut tail } += y * y;
    }
    total(&sums) + tail
}

/// Σᵢ f(j, yᵢⱼ) for every feature j of sparse samples, with all features.
pub(super) fn column_sums(x: &Prepared<'_>, csr: &Csr, f: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    assert!(x.columns.is_none(), "sums are taken over all features");
    let (n, m) = (x.rows.map_or(csr.rows(), <[usize]>::len), csr.cols());
    let prepared = |j: usize, value: f64, length: f64| {
        let mut one = [value];
        x.preparation.apply(&mut one, length, j);
        times_power_of_two(one[0], -x.exponent)
    };
    let (mut sums, mut stored) = (vec![0.0; m], vec![0usize; m]);
    for i in (0..n).map(|i| x.rows.map_or(i, |rows| rows[i])) {
        let (columns, values) = csr.row(i);
        for (&j, value) in columns.iter().zip(values) {
            sums[j] += f(j, prepared(j, *value, x.length(i)));
            stored[j] += 1;
        }
    }
    for j in (0..m).filter(|&j| stored[j] < n) {
        sums[j] += (n - stored[j]) as f64 * f(j, prepared(j, 0.0, 1.0));
    }
    sums
}

/// The prepared samples without their zeros; `None` where they are not sparse.
pub(super) fn native(x: &Prepared<'_>) -> Option<Sparse> {
    let Samples::Csr(csr) = x.samples else { return None };
    if csr.stored() as f64 > SPARSE * csr.rows() as f64 * csr.cols() as f64 {
        return None;
    }
    let kept: Option<Vec<usize>> = x.columns.map(|columns| {
        let mut to = vec![usize::MAX; csr.cols()];
        columns.iter().enumerate().for_each(|(new, &old)| to[old] = new);
        to
    });
    let mut lines = Lines::new(x.columns.map_or(csr.cols(), <[usize]>::len));
    for i in (0..x.rows.map_or(csr.rows(), <[usize]>::len)).map(|i| x.rows.map_or(i, |rows| rows[i])) {
        let (columns, values) = csr.row(i);
        let length = x.length(i);
        let gain = x.gain(i);
        let divided = |y: f64| times_power_of_two(if length > 0.0 { y / length } else { y }, -x.exponent);
        let value = |y: f64| gain.map_or_else(|| divided(y), |gain| gain * y);
        let place = |j: usize| kept.as_ref().map_or(j, |to| to[j]);
        let entries = columns.iter().zip(values).map(|(&j, &y)| (place(j), value(y)));
        lines.push(entries.filter(|(j, y)| *j != usize::MAX && *y != 0.0));
    }
    let Some(mean) = &x.preparation.mean else { return Some(lines.into()) };
    let of_kept = |all: &[f64]| -> Vec<f64> {
        let scaled = |v: f64| times_power_of_two(v, -x.exponent);
        x.columns.map_or_else(
            || all.iter().map(|v| scaled(*v)).collect(),
            |columns| columns.iter().map(|&j| scaled(all[j])).collect(),
        )
    };
    // With deviations the exponent is zero: they are not scaled twice.
    let deviation = x.preparation.deviation.as_deref().map(of_kept);
    Some(Sparse::centered(lines, &of_kept(mean), deviation.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::{Normalize, Preparation, Scan};
    use eigenspan_linalg::gram::Gram;
    use eigenspan_linalg::{Blocks, Exec, Mat};

    /// Few values, some of them large; empty rows and columns; feature 2 full and far from zero.
    fn both(n: usize, m: usize) -> (Mat, Csr) {
        let value = |i: usize, j: usize| match (i * 31 + j * 17 + i * j) % 23 {
            _ if j == 2 => 500.0 + (i as f64).sin(),
            _ if i % 9 == 4 || j % 8 == 5 => 0.0,
            0 => 1.5 + (i as f64 * 0.7).sin(),
            _ => 0.0,
        };
        let dense = Mat::from_fn(n, m, value);
        let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
        for i in 0..n {
            for j in (0..m).filter(|&j| dense.at(i, j) != 0.0 || (i + j) % 41 == 0) {
                columns.push(j);
                values.push(dense.at(i, j));
            }
            starts.push(values.len());
        }
        let sparse = Csr::new(m, starts, columns, values).unwrap();
        (dense, sparse)
    }

    #[test]
    fn a_scan_of_sparse_samples_equals_that_of_dense_ones() {
        for (n, m) in [(90, 61), (40, 200)] {
            let (dense, sparse) = both(n, m);
            let scans = [Samples::from(&dense), Samples::from(&sparse)].map(|x| Scan::of(x, Exec::default()).unwrap());
            assert_eq!(scans[0].lengths, scans[1].lengths);
            assert_eq!((scans[0].exponent, scans[0].bytes), (scans[1].exponent, scans[1].bytes));
            assert_eq!((scans[0].exponent, scans[0].bytes), (scans[1].exponent, scans[1].bytes));
        }
        let tiny = Csr::new(3, vec![0, 2, 2], vec![0, 2], vec![3e-200, -4e-200]).unwrap();
        assert_eq!(Scan::of(Samples::from(&tiny), Exec::default()).unwrap().lengths, [5e-200, 0.0]);
        let bad = Csr::new(9, vec![0, 1, 3], vec![4, 2, 7], vec![1.0, 2.0, f64::NAN]).unwrap();
        let refused = Scan::of(Samples::from(&bad), Exec::default()).err().unwrap();
        assert!(matches!(refused, Error::NotFinite { row: 1, column: 7, .. }));
    }

    #[test]
    fn preparation_and_gram_matrix_are_those_of_the_dense_samples() {
        for (n, m) in [(120, 80), (80, 120)] {
            let (dense, sparse) = both(n, m);
            let rows: Vec<usize> = (0..n).filter(|i| i % 5 != 1).collect();
            let columns: Vec<usize> = (0..m).filter(|j| j % 7 != 3).collect();
            for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
                for (center, some) in [(false, false), (true, false), (true, true)] {
                    let prepared = |x: Samples<'_>| {
                        let scan = Scan::with_mean(x, normalize, Exec::default()).unwrap();
                        let kept = some.then_some(&rows[..]);
                        let learned = Preparation::learn(x, &scan, normalize, center, kept, Exec::default()).unwrap();
                        let view = Prepared::new(x, &learned, &scan);
                        let view = if some { view.restricted(&rows, &columns) } else { view };
                        let gram = Gram::of(&view, Exec::default()).unwrap();
                        (learned.mean.clone().unwrap_or_default(), gram, view.rounding())
                    };
                    let (mean, dense, rounding) = prepared(Samples::from(&dense));
                    let (other, sparse, _) = prepared(Samples::from(&sparse));
                    let apart = mean.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(apart <= 4.0 * f64::EPSILON * 501.0, "{normalize:?}: means differ by {apart:e}");
                    let pairs = dense.matrix.as_slice().iter().zip(sparse.matrix.as_slice());
                    let apart = pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    // Means that differ in their last bits define two prepared matrices, each within the rounding.
                    let bound = dense.error + sparse.error + 4.0 * rounding * dense.trace().sqrt();
                    assert!(apart <= bound, "{n} × {m}, {normalize:?}, {center}, {some}: {apart:e} > {bound:e}");
                }
            }
        }
    }
}
