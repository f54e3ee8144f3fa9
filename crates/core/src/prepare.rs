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

mod sparse;

use std::ops::Range;

use eigenspan_linalg::blocks::{Native, Rows};
use eigenspan_linalg::mat::energy;
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Blocks, Exec};

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
            let known = scan.mean.as_ref().filter(|(of, _)| *of == normalize.into() && rows.is_none());
            learnt.mean = Some(match known {
                Some((_, mean)) => mean.clone(),
                None => means(&Prepared { rows, ..Prepared::new(samples, &learnt, scan) }, exec)?,
            });
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
    let square = energy(row);
    if square > 1e-240 && square < 1e240 {
        return square.sqrt();
    }
    let exponent = exponent_of(row.iter().fold(0.0, |m: f64, y| m.max(y.abs())));
    let scaled: Vec<f64> = row.iter().map(|y| times_power_of_two(*y, -exponent)).collect();
    times_power_of_two(energy(&scaled).sqrt(), exponent)
}

/// Whether every value is one of 0, 1, …, 255. Adding and taking away 2⁵² leaves whole numbers as they are.
fn are_bytes(row: &[f64]) -> bool {
    const LANES: usize = 8;
    const ROUND: f64 = (1u64 << 52) as f64;
    let off = |y: f64| ((y + ROUND) - ROUND - y).abs() + (y.abs() - y) + (y - y.min(255.0));
    let (body, tail) = row.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in body {
        sums.iter_mut().zip(chunk).for_each(|(s, y)| *s += off(*y));
    }
    sums.iter().all(|s| *s == 0.0) && tail.iter().all(|y| off(*y) == 0.0)
}

/// What one look at the samples tells.
pub struct Scan {
    /// ‖y‖ of every sample.
    pub lengths: Vec<f64>,
    /// The exponent of the largest length.
    exponent: i32,
    /// Whether every value is one of 0, 1, …, 255.
    bytes: bool,
    /// The mean of the samples, after scaling to unit length or as they are; absent where it was not asked for.
    mean: Option<(Scaling, Vec<f64>)>,
}

/// What is done to a sample before the mean is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scaling {
    Unit,
    None,
}

impl From<Normalize> for Scaling {
    fn from(normalize: Normalize) -> Self {
        if normalize == Normalize::Unit { Self::Unit } else { Self::None }
    }
}

impl Scan {
    /// Looks at every value once; NaN and infinity are refused by name.
    pub fn of(samples: Samples<'_>, exec: Exec<'_>) -> Result<Self, Error> {
        Self::look(samples, None, exec)
    }

    /// The same, and the mean of the samples scaled by `normalize`, in the same look.
    pub fn with_mean(samples: Samples<'_>, normalize: Normalize, exec: Exec<'_>) -> Result<Self, Error> {
        Self::look(samples, Some(normalize.into()), exec)
    }

    fn look(samples: Samples<'_>, scaling: Option<Scaling>, exec: Exec<'_>) -> Result<Self, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        if n == 0 || m == 0 {
            return Err(Error::Empty { n, m });
        }
        if let Samples::Csr(x) = samples {
            exec.begin("scan")?;
            let Part { lengths, exponent, bytes, .. } = Part::of_csr(x)?;
            return Ok(Self { lengths, exponent, bytes, mean: None });
        }
        let mut first = vec![0.0; m];
        samples.read_row(0, 0..m, &mut first);
        let parts = exec.map("scan", n.div_ceil(STRETCH), |i| {
            let rows = i * STRETCH..((i + 1) * STRETCH).min(n);
            Part::of(samples, rows, &first, scaling)
        })?;
        let mut whole = Part::new(m, n, scaling.is_some());
        for part in parts {
            whole.append(part?);
        }
        // Beyond this the sums might have overflowed; the mean is then taken of what a power of two brings near one.
        let sums = whole.sums.filter(|_| whole.exponent < 900);
        let mean = scaling.zip(sums).map(|(scaling, sums)| {
            let shift = shift(&first, scaling);
            (scaling, sums.iter().zip(&shift).map(|(s, f)| f + s / n as f64).collect())
        });
        let Part { lengths, exponent, bytes, .. } = whole;
        Ok(Self { lengths, exponent, bytes, mean })
    }

    /// The samples of length zero.
    pub fn zero_samples(&self) -> Vec<usize> {
        (0..self.lengths.len()).filter(|&i| self.lengths[i] == 0.0).collect()
    }
}

/// What a look at some samples tells.
struct Part {
    lengths: Vec<f64>,
    exponent: i32,
    bytes: bool,
    /// Σ(y − f) over the scaled samples, f the first of all: a shift that takes a large offset away before it is summed.
    sums: Option<Vec<f64>>,
}

/// The first sample, scaled.
fn shift(first: &[f64], scaling: Scaling) -> Vec<f64> {
    let gain = gain(norm(first), scaling);
    first.iter().map(|f| f * gain).collect()
}

fn gain(length: f64, scaling: Scaling) -> f64 {
    if scaling == Scaling::Unit && length > 0.0 { 1.0 / length } else { 1.0 }
}

impl Part {
    fn new(m: usize, n: usize, with_sums: bool) -> Self {
        let sums = with_sums.then(|| vec![0.0; m]);
        Self { lengths: Vec::with_capacity(n), exponent: i32::MIN, bytes: true, sums }
    }

    fn of(samples: Samples<'_>, rows: Range<usize>, first: &[f64], scaling: Option<Scaling>) -> Result<Self, Error> {
        let mut part = Self::new(first.len(), rows.len(), scaling.is_some());
        let shift = scaling.map(|scaling| shift(first, scaling)).unwrap_or_default();
        let mut buffer = vec![0.0; first.len()];
        for i in rows {
            let row = samples.row(i, &mut buffer);
            let length = norm(row);
            if !length.is_finite()
                && let Some(column) = row.iter().position(|y| !y.is_finite())
            {
                return Err(Error::NotFinite { row: i, column, value: row[column] });
            }
            if length > 0.0 {
                part.exponent = part.exponent.max(exponent_of(length));
            }
            part.lengths.push(length);
            part.bytes = part.bytes && are_bytes(row);
            if let (Some(sums), Some(scaling)) = (&mut part.sums, scaling) {
                let gain = gain(length, scaling);
                sums.iter_mut().zip(row.iter().zip(&shift)).for_each(|(s, (y, f))| *s += y * gain - f);
            }
        }
        Ok(part)
    }

    fn append(&mut self, part: Self) {
        self.lengths.extend(part.lengths);
        self.exponent = self.exponent.max(part.exponent);
        self.bytes &= part.bytes;
        if let (Some(all), Some(here)) = (&mut self.sums, part.sums) {
            all.iter_mut().zip(here).for_each(|(a, h)| *a += h);
        }
    }
}

/// Samples as the decomposition sees them: scaled and centred on the way, some rows and columns left out.
pub struct Prepared<'a> {
    samples: Samples<'a>,
    preparation: &'a Preparation,
    scan: &'a Scan,
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
        Self { samples, preparation, scan, exponent, rows: None, columns: None }
    }

    /// Only these samples and features.
    pub fn restricted(mut self, rows: &'a [usize], columns: &'a [usize]) -> Self {
        self.rows = (rows.len() < self.samples.rows()).then_some(rows);
        self.columns = (columns.len() < self.samples.cols()).then_some(columns);
        self
    }

    /// ‖y‖ of sample i where samples are scaled to unit length, 1 otherwise.
    fn length(&self, i: usize) -> f64 {
        if self.preparation.normalize == Normalize::Unit { self.scan.lengths[i] } else { 1.0 }
    }

    /// Whether the samples are only scaled to unit length, or not touched at all.
    fn is_plain(&self) -> bool {
        self.preparation.mean.is_none() && self.preparation.deviation.is_none()
    }
}

impl Rows<f64> for Prepared<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        let i = self.rows.map_or(i, |rows| rows[i]);
        let length = self.length(i);
        match self.columns.map(|columns| &columns[cols.clone()]) {
            Some(&[]) => return,
            Some(kept) => {
                // With features left out, the stretch of the original that holds the wanted ones is read.
                let first = kept[0];
                let mut whole = vec![0.0; kept[kept.len() - 1] + 1 - first];
                self.samples.read_row(i, first..first + whole.len(), &mut whole);
                self.preparation.apply(&mut whole, length, first);
                out.iter_mut().zip(kept).for_each(|(to, j)| *to = whole[j - first]);
            }
            None => {
                let first = cols.start;
                self.samples.read_row(i, cols, out);
                self.preparation.apply(out, length, first);
            }
        }
        if self.exponent != 0 {
            let unit = times_power_of_two(1.0, -self.exponent);
            match unit.is_normal() {
                true => out.iter_mut().for_each(|y| *y *= unit),
                false => out.iter_mut().for_each(|y| *y = times_power_of_two(*y, -self.exponent)),
            }
        }
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<&[f64]> {
        match self.samples {
            Samples::F64(x) if self.rows.is_none() && self.columns.is_none() => x.stretch(rows, cols),
            _ => None,
        }
    }
}

impl Rows<f32> for Prepared<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f32]) {
        let here = self.rows.map_or(i, |rows| rows[i]);
        let plain = self.columns.is_none() && self.preparation.deviation.is_none();
        let row = match self.samples {
            Samples::F32(x) if plain => x.row_slice(here, cols.clone()),
            _ => None,
        };
        let Some(row) = row else {
            let mut row = vec![0.0; cols.len()];
            Rows::<f64>::read_row(self, i, cols, &mut row);
            out.iter_mut().zip(&row).for_each(|(to, y)| *to = *y as f32);
            return;
        };
        // The common case in one go: no step leaves the registers.
        let length = if self.preparation.normalize == Normalize::Unit { self.scan.lengths[here] } else { 1.0 };
        let divisor = if length > 0.0 { times_power_of_two(length, self.exponent) } else { 1.0 };
        let unit = times_power_of_two(1.0, -self.exponent);
        match &self.preparation.mean {
            Some(mean) => out.iter_mut().zip(row.iter().zip(&mean[cols])).for_each(|(to, (y, mu))| {
                *to = (f64::from(*y) / divisor - mu * unit) as f32;
            }),
            None => out.iter_mut().zip(row).for_each(|(to, y)| *to = (f64::from(*y) / divisor) as f32),
        }
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<&[f32]> {
        match self.samples {
            Samples::F32(x) if self.rows.is_none() && self.columns.is_none() => x.stretch(rows, cols),
            _ => None,
        }
    }
}

impl Rows<u8> for Prepared<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [u8]) {
        let i = self.rows.map_or(i, |rows| rows[i]);
        if let (Samples::U8(x), None) = (self.samples, self.columns)
            && let Some(row) = x.row_slice(i, cols.clone())
        {
            out.copy_from_slice(row);
            return;
        }
        let (first, last) = match self.columns.map(|columns| &columns[cols.clone()]) {
            Some(&[]) => return,
            Some(kept) => (kept[0], kept[kept.len() - 1] + 1),
            None => (cols.start, cols.end),
        };
        let mut row = vec![0.0; last - first];
        self.samples.read_row(i, first..last, &mut row);
        match self.columns {
            Some(columns) => out.iter_mut().zip(&columns[cols]).for_each(|(to, j)| *to = row[j - first] as u8),
            None => out.iter_mut().zip(&row).for_each(|(to, y)| *to = *y as u8),
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

    fn exponent(&self) -> i32 {
        self.exponent
    }

    /// A length is off by m/2 + 2 roundings, a division by one. Of a mean, y₀ + Σ(y − y₀)/n, the roundings are those of
    /// numbers of the size of the samples, and of a stretch of sums and the sum of stretches in the second part.
    fn rounding(&self) -> f64 {
        let (n, m) = (self.samples.rows() as f64, self.samples.cols() as f64);
        let unit = f64::EPSILON / 2.0;
        let norm = |values: &[f64]| times_power_of_two(norm(values), -self.exponent);
        let size = if self.preparation.normalize == Normalize::Unit { n.sqrt() } else { norm(&self.scan.lengths) };
        let single = match self.native() {
            Native::F32(_) => f64::from(f32::EPSILON) / 2.0 * size,
            _ => 0.0,
        };
        let unit_length = self.preparation.normalize == Normalize::Unit;
        let scaling = single + if unit_length { (0.5 * m + 3.0) * unit * size } else { 0.0 };
        let Some(mean) = &self.preparation.mean else { return scaling };
        let centring = 4.0 * unit * (size + n.sqrt() * norm(mean));
        match &self.preparation.deviation {
            Some(deviation) => {
                let least = deviation.iter().copied().fold(f64::INFINITY, f64::min);
                (single + centring) / least + (0.5 * n + 3.0) * unit * (n * m).sqrt()
            }
            None => scaling + centring,
        }
    }

    fn native(&self) -> Native<'_> {
        if let Some(sparse) = sparse::native(self) {
            return Native::Sparse(sparse);
        }
        let unit = self.preparation.normalize == Normalize::Unit;
        let of_samples = Blocks::rows(self) < Blocks::cols(self);
        if self.scan.bytes && self.is_plain() && (!unit || of_samples) && self.rows.is_none() {
            return Native::U8 { values: self, lengths: unit.then_some(&self.scan.lengths[..]) };
        }
        match self.samples {
            Samples::F32(_) => Native::F32(self),
            _ => Native::F64,
        }
    }
}

/// μ in two passes: a first mean, then the mean of what is left, which takes its rounding error away. Sums are of
/// differences from the first sample, so that a constant feature has exactly its value as mean.
fn means(x: &Prepared<'_>, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let (n, mut shift) = (x.rows() as f64, vec![0.0; x.cols()]);
    Rows::<f64>::read_row(x, 0, 0..shift.len(), &mut shift);
    let sums = column_sums(x, exec, |j, y| y - shift[j])?;
    let first: Vec<f64> = sums.iter().zip(&shift).map(|(s, f)| f + s / n).collect();
    let rest = column_sums(x, exec, |j, y| y - first[j])?;
    Ok(first.iter().zip(rest).map(|(mu, r)| times_power_of_two(mu + r / n, x.exponent)).collect())
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
    if let Samples::Csr(csr) = x.samples {
        exec.begin("centre")?;
        return Ok(sparse::column_sums(x, csr, f));
    }
    let (n, m) = (x.rows(), x.cols());
    let parts = exec.map("centre", n.div_ceil(STRETCH), |part| {
        let mut sums = vec![0.0; m];
        let mut row = vec![0.0; m];
        for i in part * STRETCH..((part + 1) * STRETCH).min(n) {
            Rows::<f64>::read_row(x, i, 0..m, &mut row);
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
    use eigenspan_linalg::{Mat, MatMut};

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
