//! What happens to samples before the decomposition, in this order: scaling, then centring.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | y | `row` | one sample, m features |
//! | ‖y‖ | `length` | its ℓ2 norm; 1 where rows are not scaled |
//! | μ | `mean` | mean of the scaled training samples; absent without centring |
//! | s | `deviation` | standard deviation of each feature (z-score only) |
//!
//! ```text
//!     y  ↦  (y / ‖y‖ − μ) / s
//! ```
//! The mean is subtracted from each sample before anything is squared, never as Σxxᵀ − nμμᵀ: that subtracts two
//! large near-equal numbers and loses the variance when the mean is large compared with the spread.

use std::borrow::Cow;
use std::ops::Range;

use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Blocks, Exec, MatMut};

use crate::Error;
use crate::data::Samples;

/// Rows read at once; a piece of work on two cores and on sixty-four.
pub(crate) const STRETCH: usize = 512;

/// How samples are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalize {
    /// Every sample to unit ℓ2 norm, as in the paper. A zero sample stays zero.
    #[default]
    Unit,
    /// As they are.
    None,
    /// Every feature to mean 0 and standard deviation 1 over the training samples. A constant feature becomes 0.
    ZScore,
}

/// What was learnt from the training samples about scaling and centring, and is done to every sample after.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// How samples are scaled.
    pub normalize: Normalize,
    /// μ, where samples are centred.
    pub mean: Option<Vec<f64>>,
    /// s, where features are scaled.
    pub deviation: Option<Vec<f64>>,
}

impl Preparation {
    /// Learns scaling and centring from `samples`, or from some of their `rows`.
    pub fn learn(
        samples: Samples<'_>,
        scan: &Scan,
        normalize: Normalize,
        center: bool,
        rows: Option<&[usize]>,
        exec: Exec<'_>,
    ) -> Result<Self, Error> {
        let mut learnt = Self { normalize, mean: None, deviation: None };
        let z_score = normalize == Normalize::ZScore;
        if center || z_score {
            let view = Prepared { rows, ..Prepared::new(samples, &learnt, scan) };
            let mean = means(&view, scan, exec)?;
            learnt.mean = Some(mean);
        }
        if z_score {
            let view = Prepared { rows, ..Prepared::new(samples, &learnt, scan) };
            let deviation = deviations(&view, exec)?;
            learnt.deviation = Some(deviation);
        }
        Ok(learnt)
    }

    /// ‖y‖ where samples are scaled to unit length, 1 otherwise.
    pub fn length(&self, row: &[f64]) -> f64 {
        if self.normalize == Normalize::Unit { norm(row) } else { 1.0 }
    }

    /// y ↦ (y / ‖y‖ − μ) / s on the features from `first` on.
    fn apply(&self, row: &mut [f64], length: f64, first: usize) {
        if length != 1.0 && length > 0.0 {
            row.iter_mut().for_each(|y| *y /= length);
        }
        if let Some(mean) = &self.mean {
            row.iter_mut().zip(&mean[first..]).for_each(|(y, mu)| *y -= mu);
        }
        if let Some(deviation) = &self.deviation {
            row.iter_mut().zip(&deviation[first..]).for_each(|(y, s)| *y /= s);
        }
    }

    /// Prepares a whole sample in place and returns its length.
    pub fn prepare(&self, row: &mut [f64]) -> f64 {
        let length = self.length(row);
        self.apply(row, length, 0);
        length
    }

    /// The way back to the sample's own units: x ↦ (x s + μ) ‖y‖.
    pub fn undo(&self, row: &mut [f64], length: f64) {
        if let Some(deviation) = &self.deviation {
            row.iter_mut().zip(deviation).for_each(|(y, s)| *y *= s);
        }
        if let Some(mean) = &self.mean {
            row.iter_mut().zip(mean).for_each(|(y, mu)| *y += mu);
        }
        if length != 1.0 {
            row.iter_mut().for_each(|y| *y *= length);
        }
    }
}

/// The ℓ2 norm, safe from overflow and underflow: squares are taken near one.
pub fn norm(row: &[f64]) -> f64 {
    let exponent = exponent_of(row.iter().fold(0.0, |m: f64, y| m.max(y.abs())));
    if exponent.abs() < 400 {
        return row.iter().map(|y| y * y).sum::<f64>().sqrt();
    }
    let scaled = row.iter().map(|y| times_power_of_two(*y, -exponent).powi(2));
    times_power_of_two(scaled.sum::<f64>().sqrt(), exponent)
}

/// What one look at the samples tells.
pub struct Scan {
    /// ‖y‖ of every sample.
    pub lengths: Vec<f64>,
    /// The exponent of the largest absolute value.
    exponent: i32,
    /// Whether each feature has one and the same value in all samples.
    pub(crate) constant: Vec<bool>,
}

impl Scan {
    /// Looks at every value once; NaN and infinity are refused by name.
    pub fn of(samples: Samples<'_>, exec: Exec<'_>) -> Result<Self, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        if n == 0 || m == 0 {
            return Err(Error::Empty { n, m });
        }
        let mut first = vec![0.0; m];
        samples.read_row(0, 0..m, &mut first);
        let parts = exec.map("scan", n.div_ceil(STRETCH), |i| {
            let rows = i * STRETCH..((i + 1) * STRETCH).min(n);
            scan_rows(samples, rows, &first)
        })?;
        let mut whole = Self { lengths: Vec::with_capacity(n), exponent: i32::MIN, constant: vec![true; m] };
        for part in parts {
            let part = part?;
            whole.lengths.extend(part.lengths);
            whole.exponent = whole.exponent.max(part.exponent);
            whole.constant.iter_mut().zip(part.constant).for_each(|(all, here)| *all &= here);
        }
        Ok(whole)
    }

    /// The samples of length zero.
    pub fn zero_samples(&self) -> Vec<usize> {
        (0..self.lengths.len()).filter(|&i| self.lengths[i] == 0.0).collect()
    }
}

fn scan_rows(samples: Samples<'_>, rows: Range<usize>, first: &[f64]) -> Result<Scan, Error> {
    let m = first.len();
    let mut row = vec![0.0; m];
    let mut scan = Scan { lengths: Vec::with_capacity(rows.len()), exponent: i32::MIN, constant: vec![true; m] };
    for i in rows {
        samples.read_row(i, 0..m, &mut row);
        if let Some(column) = row.iter().position(|y| !y.is_finite()) {
            return Err(Error::NotFinite { row: i, column, value: row[column] });
        }
        let largest = row.iter().fold(0.0, |best: f64, y| best.max(y.abs()));
        if largest > 0.0 {
            scan.exponent = scan.exponent.max(exponent_of(largest));
        }
        scan.lengths.push(norm(&row));
        scan.constant.iter_mut().zip(row.iter().zip(first)).for_each(|(same, (y, f))| *same &= y == f);
    }
    Ok(scan)
}

/// Samples as the decomposition sees them: scaled and centred on the way, some rows and columns left out.
pub struct Prepared<'a> {
    samples: Samples<'a>,
    preparation: &'a Preparation,
    lengths: &'a [f64],
    exponent: i32,
    rows: Option<&'a [usize]>,
    columns: Option<&'a [usize]>,
}

impl<'a> Prepared<'a> {
    /// All samples, with all their features.
    pub fn new(samples: Samples<'a>, preparation: &'a Preparation, scan: &'a Scan) -> Self {
        // Scaled samples have values near one already; the others are brought there by a power of two.
        let near_one = preparation.normalize == Normalize::Unit || preparation.deviation.is_some();
        let exponent = if near_one || scan.exponent == i32::MIN { 0 } else { scan.exponent };
        Self { samples, preparation, lengths: &scan.lengths, exponent, rows: None, columns: None }
    }

    /// Only these samples and features.
    pub fn restricted(mut self, rows: &'a [usize], columns: &'a [usize]) -> Self {
        self.rows = (rows.len() < self.samples.rows()).then_some(rows);
        self.columns = (columns.len() < self.samples.cols()).then_some(columns);
        self
    }

    fn read_row(&self, i: usize, columns: Range<usize>, row: &mut [f64]) {
        let i = self.rows.map_or(i, |rows| rows[i]);
        let first = columns.start;
        self.samples.read_row(i, columns, row);
        let length = if self.preparation.normalize == Normalize::Unit { self.lengths[i] } else { 1.0 };
        self.preparation.apply(row, length, first);
        if self.exponent != 0 {
            row.iter_mut().for_each(|y| *y = times_power_of_two(*y, -self.exponent));
        }
    }
}

impl Blocks for Prepared<'_> {
    fn rows(&self) -> usize {
        self.rows.map_or(self.samples.rows(), <[usize]>::len)
    }

    fn cols(&self) -> usize {
        self.columns.map_or(self.samples.cols(), <[usize]>::len)
    }

    fn read(&self, rows: Range<usize>, cols: Range<usize>, out: &mut MatMut<'_>) {
        // With features left out, the stretch of the original that holds the wanted ones is read.
        let wanted = self.columns.map(|columns| &columns[cols.clone()]);
        let span = match wanted {
            Some(&[]) => return,
            Some(kept) => kept[0]..kept[kept.len() - 1] + 1,
            None => cols,
        };
        let mut row = vec![0.0; span.len()];
        for (to, i) in rows.enumerate() {
            self.read_row(i, span.clone(), &mut row);
            let values: Cow<'_, [f64]> = match wanted {
                Some(kept) => kept.iter().map(|j| row[j - span.start]).collect::<Vec<_>>().into(),
                None => (&row[..]).into(),
            };
            out.set_row(to, values.iter().copied());
        }
    }

    fn exponent(&self) -> i32 {
        self.exponent
    }
}

/// μ in two passes: a first mean, then the mean of what is left, which takes its rounding error away.
fn means(x: &Prepared<'_>, scan: &Scan, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let n = x.rows() as f64;
    let first: Vec<f64> = column_sums(x, exec, |_, y| y)?.iter().map(|s| s / n).collect();
    let rest = column_sums(x, exec, |j, y| y - first[j])?;
    let mut mean: Vec<f64> = first.iter().zip(rest).map(|(mu, r)| times_power_of_two(mu + r / n, x.exponent)).collect();
    // A constant feature has exactly its value as mean, so that nothing of it is left.
    if x.preparation.normalize != Normalize::Unit {
        let mut value = vec![0.0; x.samples.cols()];
        x.samples.read_row(0, 0..value.len(), &mut value);
        (0..mean.len()).filter(|&j| scan.constant[j]).for_each(|j| mean[j] = value[j]);
    }
    Ok(mean)
}

/// s of features whose mean is already taken away; 1 for a constant feature.
fn deviations(x: &Prepared<'_>, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let squares = column_sums(x, exec, |_, y| y * y)?;
    let n = x.rows() as f64;
    let deviation = squares.iter().map(|s| times_power_of_two((s / n).sqrt(), x.exponent));
    Ok(deviation.map(|s| if s > 0.0 { s } else { 1.0 }).collect())
}

/// Σᵢ f(j, yᵢⱼ) for every feature j, added up in the order of fixed stretches.
fn column_sums(x: &Prepared<'_>, exec: Exec<'_>, f: impl Fn(usize, f64) -> f64 + Sync) -> Result<Vec<f64>, Error> {
    let (n, m) = (x.rows(), x.cols());
    let parts = exec.map("centre", n.div_ceil(STRETCH), |part| {
        let mut sums = vec![0.0; m];
        let mut row = vec![0.0; m];
        for i in part * STRETCH..((part + 1) * STRETCH).min(n) {
            x.read_row(i, 0..m, &mut row);
            sums.iter_mut().zip(&row).enumerate().for_each(|(j, (s, y))| *s += f(j, *y));
        }
        sums
    })?;
    let mut total = vec![0.0; m];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, s)| *t += s);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_linalg::Mat;

    fn prepared(x: &Mat, normalize: Normalize, center: bool) -> (Preparation, Mat) {
        let samples = Samples::from(x);
        let scan = Scan::of(samples, Exec::default()).unwrap();
        let learnt = Preparation::learn(samples, &scan, normalize, center, None, Exec::default()).unwrap();
        let mut out = Mat::zeros(x.rows(), x.cols());
        let view = Prepared::new(samples, &learnt, &scan);
        let exponent = view.exponent();
        view.read(0..x.rows(), 0..x.cols(), &mut MatMut::row_major(out.as_mut_slice(), x.cols()));
        out.as_mut_slice().iter_mut().for_each(|y| *y = times_power_of_two(*y, exponent));
        (learnt, out)
    }

    #[test]
    fn unit_rows_have_length_one_and_zero_rows_stay_zero() {
        let x = Mat::from_vec(3, 2, vec![3.0, 4.0, 0.0, 0.0, 1e-200, 0.0]).unwrap();
        let (_, y) = prepared(&x, Normalize::Unit, false);
        assert_eq!(y.as_slice(), [0.6, 0.8, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn centring_survives_a_large_offset() {
        let spread = [0.1, 0.2, 0.3, 0.4];
        let x = Mat::from_fn(4, 2, |i, j| if j == 0 { 1e8 + spread[i] } else { spread[i] });
        let (_, y) = prepared(&x, Normalize::None, true);
        for i in 0..4 {
            assert!((y.at(i, 0) - (spread[i] - 0.25)).abs() < 3e-8, "{}", y.at(i, 0)); // 1e8 + 0.1 is itself rounded by 1.5e-8
            assert!((y.at(i, 1) - (spread[i] - 0.25)).abs() < 1e-16);
        }
    }

    #[test]
    fn z_scores_have_mean_zero_and_deviation_one_and_constants_vanish() {
        let x = Mat::from_fn(5, 2, |i, j| if j == 0 { 0.1 } else { i as f64 * 1e150 });
        let (_, y) = prepared(&x, Normalize::ZScore, false);
        let column = |j: usize| (0..5).map(|i| y.at(i, j)).collect::<Vec<_>>();
        assert_eq!(column(0), [0.0; 5]);
        assert!(column(1).iter().sum::<f64>().abs() < 1e-15);
        assert!((column(1).iter().map(|v| v * v).sum::<f64>() / 5.0 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn undo_takes_back_what_prepare_did() {
        let x = Mat::from_fn(7, 4, |i, j| ((i * 4 + j) as f64).sin() * 10.0 + 3.0);
        for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
            for center in [false, true] {
                let (learnt, _) = prepared(&x, normalize, center);
                let mut row = x.row(3).to_vec();
                let length = learnt.prepare(&mut row);
                learnt.undo(&mut row, length);
                assert!(row.iter().zip(x.row(3)).all(|(a, b)| (a - b).abs() < 1e-14 * 13.0));
            }
        }
    }

    #[test]
    fn bad_values_are_named() {
        let mut x = Mat::from_fn(600, 3, |i, j| (i + j) as f64);
        x.row_mut(555)[2] = f64::NAN;
        let error = Scan::of(Samples::from(&x), Exec::default()).err().unwrap();
        assert!(matches!(error, Error::NotFinite { row: 555, column: 2, .. }));
        assert!(matches!(
            Scan::of(Samples::from(&Mat::<f64>::zeros(0, 3)), Exec::default()),
            Err(Error::Empty { n: 0, m: 3 })
        ));
    }
}
