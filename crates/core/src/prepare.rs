//! The preparation of samples before the decomposition, in this order: scaling, then centering.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | y | `row` | one sample, m features |
//! | ‖y‖ | `length` | its ℓ2 norm; 1 where rows are not scaled |
//! | μ | `mean` | mean of the scaled training samples; absent without centering |
//! | s | `deviation` | standard deviation of each feature (z-score only) |
//!
//! ```text
//!     y  ↦  (y / ‖y‖ − μ) / s
//! ```
//! The mean is subtracted from each sample before anything is squared, never as Σxxᵀ − nμμᵀ: that subtracts two large
//! near-equal numbers and loses the variance when the mean is large compared with the spread. Bytes alone are squared
//! first: for integers that difference is exact.

mod first;
mod scan;
mod sparse;
mod view;

use eigenspan_linalg::blocks::Rows;
use eigenspan_linalg::rows::energy;
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Blocks, Exec, Mat, Scalar};

pub(crate) use first::{FirstPass, ProvisionalGram};
pub use scan::Scan;
pub use view::Prepared;

use crate::Error;
use crate::data::Samples;

/// Rows of one piece of work, independent of the number of threads.
pub(crate) const BLOCK_ROWS: usize = 512;

/// How samples are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalize {
    /// Every sample to unit ℓ2 norm, as in the paper. A zero sample stays zero.
    #[default]
    Unit,
    /// Unchanged.
    None,
    /// Every feature to mean 0 and standard deviation 1 over the training samples. A constant feature becomes 0.
    ZScore,
}

/// Scaling and centering learned from the training samples, and applied to every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// How samples are scaled.
    pub normalize: Normalize,
    /// μ, where samples are centered.
    pub mean: Option<Vec<f64>>,
    /// s, where features are scaled.
    pub deviation: Option<Vec<f64>>,
}

impl Preparation {
    /// Learns scaling and centering from `samples`, or from some of their `rows`.
    pub fn learn(
        samples: Samples<'_>,
        scan: &Scan,
        normalize: Normalize,
        center: bool,
        rows: Option<&[usize]>,
        exec: Exec<'_>,
    ) -> Result<Self, Error> {
        let mut learned = Self { normalize, mean: None, deviation: None };
        let z_score = normalize == Normalize::ZScore;
        if center || z_score {
            let known = scan.mean.as_ref().filter(|(of, _)| *of == normalize.into() && rows.is_none());
            learned.mean = Some(match known {
                Some((_, mean)) => mean.clone(),
                None => means(&Prepared::new(samples, &learned, scan).some(rows), exec)?,
            });
        }
        if z_score {
            let view = Prepared::new(samples, &learned, scan).some(rows);
            let deviation = deviations(&view, exec)?;
            learned.deviation = Some(deviation);
        }
        Ok(learned)
    }

    /// A preparation that only scales.
    pub fn scaling(normalize: Normalize) -> Self {
        Self { normalize, mean: None, deviation: None }
    }

    /// All samples, prepared, as a dense matrix in memory: for methods that need them repeatedly.
    pub fn matrix(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Mat, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        let mut rows = Mat::zeros(n, m);
        exec.each_chunk("prepare", rows.as_mut_slice(), (BLOCK_ROWS * m).max(1), |part, out| {
            for (to, row) in out.chunks_exact_mut(m).enumerate() {
                samples.read_row(part * BLOCK_ROWS + to, 0..m, row);
                self.prepare(row);
            }
        })?;
        Ok(rows)
    }

    /// Refuses means and deviations that are not one finite number for each of `m` features.
    pub(crate) fn check(&self, m: usize) -> Result<(), Error> {
        let Self { normalize, mean, deviation } = self;
        let fits = |v: &Option<Vec<f64>>| v.as_ref().is_none_or(|v| v.len() == m && v.iter().all(|x| x.is_finite()));
        let ensure = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(Error::Model(fault.into())) };
        ensure(fits(mean) && fits(deviation), "mean or deviation are not one finite number for every feature")?;
        ensure(deviation.as_ref().is_none_or(|d| d.iter().all(|s| *s > 0.0)), "a deviation is not positive")?;
        let z_score = *normalize == Normalize::ZScore;
        ensure(
            deviation.is_some() == z_score && (mean.is_some() || !z_score),
            "mean or deviation do not fit the scaling",
        )
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

    /// The inverse of [`prepare`](Self::prepare): x ↦ (x s + μ) ‖y‖.
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

/// The ℓ2 norm, safe from overflow and underflow: values are scaled near one before squaring.
pub fn norm(row: &[f64]) -> f64 {
    length_of(row, energy(row))
}

/// The ℓ2 norm of a row whose squares sum to `square`, where that is neither too large nor too small.
pub(crate) fn length_of<T: Scalar>(row: &[T], square: f64) -> f64 {
    if square > 1e-240 && square < 1e240 {
        return square.sqrt();
    }
    let exponent = exponent_of(row.iter().fold(0.0, |m: f64, y| m.max(y.to_f64().abs())));
    let scaled: Vec<f64> = row.iter().map(|y| times_power_of_two(y.to_f64(), -exponent)).collect();
    times_power_of_two(energy(&scaled).sqrt(), exponent)
}

/// μ in two passes: a first mean, then the mean of the remainder, which removes its rounding error. Sums are of
/// differences from the first sample, so that a constant feature has exactly its value as mean.
fn means(x: &Prepared<'_>, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let (n, mut shift) = (x.rows() as f64, vec![0.0; x.cols()]);
    Rows::<f64>::read_row(x, 0, 0..shift.len(), &mut shift);
    let sums = column_sums(x, exec, |j, y| y - shift[j])?;
    let first: Vec<f64> = sums.iter().zip(&shift).map(|(s, f)| f + s / n).collect();
    let rest = column_sums(x, exec, |j, y| y - first[j])?;
    Ok(first.iter().zip(rest).map(|(mu, r)| times_power_of_two(mu + r / n, x.exponent)).collect())
}

/// s of features whose mean is already subtracted; 1 for a constant feature.
fn deviations(x: &Prepared<'_>, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let squares = column_sums(x, exec, |_, y| y * y)?;
    let n = x.rows() as f64;
    let deviation = squares.iter().map(|s| times_power_of_two((s / n).sqrt(), x.exponent));
    Ok(deviation.map(|s| if s > 0.0 { s } else { 1.0 }).collect())
}

/// Σᵢ f(j, yᵢⱼ) for every feature j, summed in the order of fixed blocks.
fn column_sums(x: &Prepared<'_>, exec: Exec<'_>, f: impl Fn(usize, f64) -> f64 + Sync) -> Result<Vec<f64>, Error> {
    if let Samples::Csr(csr) = x.samples {
        exec.begin("centre")?;
        return Ok(sparse::column_sums(x, csr, f));
    }
    let (n, m) = (x.rows(), x.cols());
    let parts = exec.map("centre", n.div_ceil(BLOCK_ROWS), |part| {
        let mut sums = vec![0.0; m];
        let mut row = vec![0.0; m];
        for i in part * BLOCK_ROWS..((part + 1) * BLOCK_ROWS).min(n) {
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
    use eigenspan_linalg::MatMut;
    use eigenspan_linalg::blocks::Native;
    use eigenspan_linalg::gram::Gram;

    fn prepared(x: &Mat, normalize: Normalize, center: bool) -> (Preparation, Mat) {
        let samples = Samples::from(x);
        let scan = Scan::of(samples, Exec::default()).unwrap();
        let learned = Preparation::learn(samples, &scan, normalize, center, None, Exec::default()).unwrap();
        let mut out = Mat::zeros(x.rows(), x.cols());
        let view = Prepared::new(samples, &learned, &scan);
        let exponent = view.exponent();
        view.read(0..x.rows(), 0..x.cols(), &mut MatMut::row_major(out.as_mut_slice(), x.cols()));
        out.as_mut_slice().iter_mut().for_each(|y| *y = times_power_of_two(*y, exponent));
        (learned, out)
    }

    #[test]
    fn unit_rows_have_length_one_and_zero_rows_stay_zero() {
        let x = Mat::from_vec(3, 2, vec![3.0, 4.0, 0.0, 0.0, 1e-200, 0.0]).unwrap();
        let (_, y) = prepared(&x, Normalize::Unit, false);
        let expected = [0.6, 0.8, 0.0, 0.0, 1.0, 0.0];
        assert!(y.as_slice().iter().zip(expected).all(|(y, e)| (y - e).abs() <= f64::EPSILON), "{y:?}");
    }

    #[test]
    fn centering_survives_a_large_offset() {
        let spread = [0.1, 0.2, 0.3, 0.4];
        let x = Mat::from_fn(4, 2, |i, j| if j == 0 { 1e8 + spread[i] } else { spread[i] });
        let (_, y) = prepared(&x, Normalize::None, true);
        for i in 0..4 {
            // 1e8 + 0.1 is itself rounded by 1.5e-8.
            assert!((y.at(i, 0) - (spread[i] - 0.25)).abs() < 3e-8, "{}", y.at(i, 0));
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
    fn bytes_minus_a_mean_of_other_samples_are_multiplied_as_f64() {
        let x = Mat::from_fn(50, 6, |i, j| ((i * 31 + j * 17 + i * j) % 251) as u8);
        let (samples, exec) = (Samples::from(&x), Exec::default());
        let scan = Scan::with_mean(samples, Normalize::None, exec).unwrap();
        for rows in [None, Some(&[3, 4, 40][..])] {
            let learned = Preparation::learn(samples, &scan, Normalize::None, true, rows, exec).unwrap();
            let view = Prepared::new(samples, &learned, &scan);
            assert_eq!(matches!(view.native(), Native::CenteredU8(_)), rows.is_none());
            let (meant, read) = (Gram::of(&view, exec).unwrap(), Gram::in_double(&view, exec).unwrap());
            let pairs = meant.matrix.as_slice().iter().zip(read.matrix.as_slice());
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() <= 1e-14 * read.trace()), "{rows:?}");
        }
    }

    #[test]
    fn single_precision_is_for_the_tall_and_exactness_for_the_others() {
        for (n, single) in [(47, false), (48, true)] {
            let x: Mat<f32> = Mat::from_fn(n, 6, |i, j| ((i * 31 + j * 17) as f32).sin());
            let (samples, exec) = (Samples::from(&x), Exec::default());
            let scan = Scan::of(samples, exec).unwrap();
            let learned = Preparation::learn(samples, &scan, Normalize::None, false, None, exec).unwrap();
            let view = Prepared::new(samples, &learned, &scan);
            assert_eq!(matches!(view.native(), Native::F32(_)), single, "{n}");
            assert_eq!(Gram::of(&view, exec).unwrap().chance > 0.0, single, "{n}");
            let (_, provisional) =
                FirstPass::of(samples, Normalize::None, false, false).unwrap().unwrap().read(exec).unwrap();
            assert_eq!(provisional.unwrap().of(&view).unwrap().chance > 0.0, single, "{n}");
        }
    }

    #[test]
    fn undo_inverts_prepare() {
        let x = Mat::from_fn(7, 4, |i, j| ((i * 4 + j) as f64).sin() * 10.0 + 3.0);
        for normalize in [Normalize::Unit, Normalize::None, Normalize::ZScore] {
            for center in [false, true] {
                let (learned, _) = prepared(&x, normalize, center);
                let mut row = x.row(3).to_vec();
                let length = learned.prepare(&mut row);
                learned.undo(&mut row, length);
                assert!(row.iter().zip(x.row(3)).all(|(a, b)| (a - b).abs() < 1e-14 * 13.0));
            }
        }
    }
}
