//! The first pass over the samples: lengths, range, invalid values, and the mean where it is needed.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | ‖y‖ | `lengths` | ℓ2 norm of each sample |
//! | g | `gains` | 1/‖y‖ where samples are scaled to unit length, 1 otherwise |
//! | f | `shift` | the first sample, scaled |
//! | μ | `mean` | f + Σ(g·y − f)/n: a large offset is subtracted before anything is summed |

use std::ops::Range;
use std::sync::Arc;

use eigenspan_linalg::rows::{Value, add_affine, are_bytes, energies};
use eigenspan_linalg::scale::exponent_of;
use eigenspan_linalg::{Exec, MatRef, Scalar};

use super::{BLOCK_ROWS, Normalize, length_of, norm};
use crate::Error;
use crate::data::Samples;
use crate::warning::Warning;

/// Samples of one batch: few enough to stay in the first-level cache between two operations.
const BATCH: usize = 16;

/// The result of a pass over the samples.
pub struct Scan {
    /// ‖y‖ of every sample; empty where they were not requested.
    pub lengths: Vec<f64>,
    /// √Σ‖y‖², or an upper bound.
    pub(super) norm: f64,
    /// The exponent of the largest length.
    pub(super) exponent: i32,
    /// Whether every value is one of 0, 1, …, 255.
    pub(super) bytes: bool,
    /// The mean of the samples, after scaling to unit length or unscaled; absent where it was not requested.
    pub(super) mean: Option<(Scaling, Vec<f64>)>,
}

/// The scaling of a sample before the mean is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scaling {
    Unit,
    None,
}

impl From<Normalize> for Scaling {
    fn from(normalize: Normalize) -> Self {
        if normalize == Normalize::Unit { Self::Unit } else { Self::None }
    }
}

impl Scaling {
    pub(super) fn gain(self, length: f64) -> f64 {
        if self == Self::Unit && length > 0.0 { 1.0 / length } else { 1.0 }
    }
}

impl Scan {
    /// Scans every value once; NaN and infinity are refused with their position.
    pub fn of(samples: Samples<'_>, exec: Exec<'_>) -> Result<Self, Error> {
        Self::scan(samples, None, exec)
    }

    /// The same, and the mean of the samples scaled by `normalize`, in the same pass.
    pub fn with_mean(samples: Samples<'_>, normalize: Normalize, exec: Exec<'_>) -> Result<Self, Error> {
        Self::scan(samples, Some(normalize.into()), exec)
    }

    pub(super) fn scan(samples: Samples<'_>, scaling: Option<Scaling>, exec: Exec<'_>) -> Result<Self, Error> {
        let n = samples.rows();
        let blank = PartialScan::blank(samples, scaling)?;
        if let Samples::Csr(x) = samples {
            exec.begin("scan")?;
            return Ok(PartialScan::of_csr(x)?.into());
        }
        let parts = exec.map("scan", n.div_ceil(BLOCK_ROWS), |i| {
            let mut part = blank.clone();
            part.scan(samples, i * BLOCK_ROWS..((i + 1) * BLOCK_ROWS).min(n)).map(|()| part)
        })?;
        Ok(blank.and(parts)?.into())
    }

    /// The samples of length zero.
    pub fn zero_samples(&self) -> Vec<usize> {
        (0..self.lengths.len()).filter(|&i| self.lengths[i] == 0.0).collect()
    }

    /// The warning of samples that cannot be scaled to unit length, where `normalize` requires it.
    pub(crate) fn zero_sample_warning(&self, normalize: Normalize) -> Option<Warning> {
        let zero = if normalize == Normalize::Unit { self.zero_samples() } else { vec![] };
        Warning::zero_samples(zero.len(), &zero)
    }
}

impl From<PartialScan> for Scan {
    fn from(whole: PartialScan) -> Self {
        let PartialScan { rows, lengths, exponent, bytes, sums, .. } = whole;
        // Beyond this the sums might have overflowed; the mean is then computed of samples scaled near one.
        let mean = sums.filter(|_| exponent < 900).map(|ShiftedSums { scaling, shift, sums }| {
            let n = rows as f64;
            (scaling, sums.iter().zip(shift.iter()).map(|(s, f)| f + s / n).collect())
        });
        Self { norm: norm(&lengths), lengths, exponent, bytes, mean }
    }
}

/// The scan of some samples.
#[derive(Clone)]
pub(super) struct PartialScan {
    /// Number of samples.
    pub(super) rows: usize,
    /// Whether lengths are computed. Without them, invalid values are not detected.
    pub(super) measured: bool,
    pub(super) lengths: Vec<f64>,
    pub(super) exponent: i32,
    pub(super) bytes: bool,
    sums: Option<ShiftedSums>,
}

/// Σ(g·y − f).
#[derive(Clone)]
struct ShiftedSums {
    scaling: Scaling,
    shift: Arc<[f64]>,
    sums: Vec<f64>,
}

impl PartialScan {
    pub(super) fn empty() -> Self {
        Self { rows: 0, measured: true, lengths: vec![], exponent: i32::MIN, bytes: true, sums: None }
    }

    /// An empty scan; with a mean where a scaling is given.
    pub(super) fn blank(samples: Samples<'_>, scaling: Option<Scaling>) -> Result<Self, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        if n == 0 || m == 0 {
            return Err(Error::Empty { n, m });
        }
        let sums = scaling.filter(|_| !matches!(samples, Samples::Csr(_))).map(|scaling| {
            let mut shift = vec![0.0; m];
            samples.read_row(0, 0..m, &mut shift);
            let gain = scaling.gain(norm(&shift));
            shift.iter_mut().for_each(|f| *f *= gain);
            ShiftedSums { scaling, shift: shift.into(), sums: vec![0.0; m] }
        });
        Ok(Self { sums, ..Self::empty() })
    }

    /// Scans more samples.
    pub(super) fn scan(&mut self, samples: Samples<'_>, rows: Range<usize>) -> Result<(), Error> {
        match samples {
            Samples::F64(x) => self.scan_values(x, rows),
            Samples::F32(x) => self.scan_values(x, rows),
            Samples::U8(x) => self.scan_values(x, rows),
            Samples::Csr(_) => unreachable!("sparse samples are scanned by their stored values"),
        }
    }

    fn scan_values<T: Scalar + Value>(&mut self, x: MatRef<'_, T>, rows: Range<usize>) -> Result<(), Error> {
        let (mut squares, mut gains, mut copy) = ([0.0; BATCH], [1.0; BATCH], vec![]);
        for first in rows.clone().step_by(BATCH) {
            let batch = first..(first + BATCH).min(rows.end);
            let values = match x.contiguous(batch.clone(), 0..x.cols()) {
                Some(values) => values,
                None => {
                    copy.clear();
                    batch.clone().for_each(|i| copy.extend(x.row_values(i, 0..x.cols())));
                    &copy
                }
            };
            if self.measured {
                let squares = &mut squares[..batch.len()];
                energies(values, squares);
                for (l, (row, square)) in values.chunks_exact(x.cols()).zip(squares).enumerate() {
                    let length = length_of(row, *square);
                    self.push(length);
                    if !length.is_finite()
                        && let Some(column) = row.iter().position(|y| !y.to_f64().is_finite())
                    {
                        return Err(Error::NotFinite { row: first + l, column, value: row[column].to_f64() });
                    }
                    gains[l] = self.sums.as_ref().map_or(1.0, |sums| sums.scaling.gain(length));
                }
            } else {
                self.rows += batch.len();
            }
            self.bytes = self.bytes && (T::EPSILON == 0.0 || are_bytes(values));
            if let Some(ShiftedSums { shift, sums, .. }) = &mut self.sums {
                add_affine(values, &gains[..batch.len()], shift, sums);
            }
        }
        Ok(())
    }

    /// Adds the next sample's length.
    pub(super) fn push(&mut self, length: f64) {
        if length > 0.0 {
            self.exponent = self.exponent.max(exponent_of(length));
        }
        self.lengths.push(length);
        self.rows += 1;
    }

    /// Appends the scans of the samples that follow.
    pub(super) fn and(mut self, parts: impl IntoIterator<Item = Result<Self, Error>>) -> Result<Self, Error> {
        parts.into_iter().try_for_each(|part| part.map(|part| self.append(part)))?;
        Ok(self)
    }

    fn append(&mut self, part: Self) {
        self.rows += part.rows;
        self.lengths.extend(part.lengths);
        self.exponent = self.exponent.max(part.exponent);
        self.bytes &= part.bytes;
        if let (Some(all), Some(here)) = (&mut self.sums, part.sums) {
            all.sums.iter_mut().zip(here.sums).for_each(|(a, h)| *a += h);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_linalg::Mat;

    #[test]
    fn invalid_values_are_located() {
        let mut x = Mat::from_fn(600, 3, |i, j| (i + j) as f64);
        x.row_mut(555)[2] = f64::NAN;
        let error = Scan::of(Samples::from(&x), Exec::default()).err().unwrap();
        assert!(matches!(error, Error::NotFinite { row: 555, column: 2, .. }));
        assert!(matches!(
            Scan::of(Samples::from(&Mat::<f64>::zeros(0, 3)), Exec::default()),
            Err(Error::Empty { n: 0, m: 3 })
        ));
    }

    #[test]
    fn rows_with_gaps_and_columns_in_memory_are_scanned_alike() {
        let x = Mat::from_fn(40, 7, |i, j| ((i * 7 + j) as f64 * 0.37).sin());
        let by_columns = x.transposed();
        let columns = MatRef::with_strides(by_columns.as_slice(), 40, 7, 1, 40).unwrap();
        let scans =
            [Samples::from(&x), Samples::from(columns)].map(|s| Scan::with_mean(s, Normalize::Unit, Exec::default()));
        let [a, b] = scans.map(Result::unwrap);
        assert_eq!(a.lengths, b.lengths);
        assert_eq!(a.mean.unwrap().1, b.mean.unwrap().1);
    }
}
