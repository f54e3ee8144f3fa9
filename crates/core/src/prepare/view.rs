//! Samples as the decomposition reads them: scaled and centered on the fly.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | 2^e | `exponent` | scales unscaled samples near one |
//! | g | `gain` | 2⁻ᵉ/‖y‖ |
//! | s | `shift` | 2⁻ᵉ·μ |
//!
//! ```text
//!     y  ↦  g·y − s        for almost all data;   (y/‖y‖ − μ)/s where features are scaled too, or g is out of range
//! ```

use std::ops::Range;

use eigenspan_linalg::Blocks;
use eigenspan_linalg::blocks::{Native, Prefetch, Rows};
use eigenspan_linalg::gram::single_pays;
use eigenspan_linalg::rows::{Prepared as Number, Value, affine, affine_adding, to_bytes};
use eigenspan_linalg::scale::times_power_of_two;

use super::scan::Scaling;
use super::{Normalize, Preparation, Scan, norm, sparse};
use crate::data::Samples;

/// Prepared samples, possibly restricted to some rows and columns.
pub struct Prepared<'a> {
    pub(super) samples: Samples<'a>,
    pub(super) preparation: &'a Preparation,
    scan: &'a Scan,
    pub(super) exponent: i32,
    /// 2⁻ᵉ; infinite or below the normal numbers where e is.
    unit: f64,
    shift: Option<Vec<f64>>,
    pub(super) rows: Option<&'a [usize]>,
    pub(super) columns: Option<&'a [usize]>,
}

impl<'a> Prepared<'a> {
    /// All samples, with all their features.
    pub fn new(samples: Samples<'a>, preparation: &'a Preparation, scan: &'a Scan) -> Self {
        // Scaled samples have values near one already; others are multiplied by a power of two.
        let near_one = preparation.normalize == Normalize::Unit || preparation.deviation.is_some();
        let exponent = if near_one || scan.exponent == i32::MIN { 0 } else { scan.exponent };
        let unit = times_power_of_two(1.0, -exponent);
        let shift = preparation.mean.as_ref().map(|mean| mean.iter().map(|mu| mu * unit).collect());
        Self { samples, preparation, scan, exponent, unit, shift, rows: None, columns: None }
    }

    /// Only these samples and features.
    pub fn restricted(mut self, rows: &'a [usize], columns: &'a [usize]) -> Self {
        self.rows = (rows.len() < self.samples.rows()).then_some(rows);
        self.columns = (columns.len() < self.samples.cols()).then_some(columns);
        self
    }

    /// Only these samples.
    pub fn some(self, rows: Option<&'a [usize]>) -> Self {
        Self { rows, ..self }
    }

    /// ‖y‖ of sample i where samples are scaled to unit length, 1 otherwise.
    pub(super) fn length(&self, i: usize) -> f64 {
        if self.preparation.normalize == Normalize::Unit { self.scan.lengths[i] } else { 1.0 }
    }

    /// Whether every sample can be scaled near one by one product.
    pub(super) fn in_range(&self) -> bool {
        let unit_length = self.preparation.normalize == Normalize::Unit;
        let near_one = |length: &f64| *length == 0.0 || (1e-300..1e300).contains(length);
        self.unit.is_normal() && (!unit_length || self.scan.lengths.iter().all(near_one))
    }

    /// g of sample i; `None` where it is not a normal number, or where features are scaled too.
    pub(super) fn gain(&self, i: usize) -> Option<f64> {
        let length = self.length(i);
        let gain = if length > 0.0 { self.unit / length } else { self.unit };
        (gain.is_normal() && self.preparation.deviation.is_none()).then_some(gain)
    }

    /// The samples as bytes, where they are bytes and their preparation can be applied after multiplying.
    fn in_bytes(&self) -> Option<Native<'_>> {
        let Preparation { normalize, mean, deviation } = self.preparation;
        if !self.scan.bytes || self.rows.is_some() || deviation.is_some() {
            return None;
        }
        let unit = *normalize == Normalize::Unit;
        let of_samples = Blocks::rows(self) < Blocks::cols(self);
        match (mean, &self.scan.mean) {
            (None, _) if !unit => Some(Native::U8 { values: self, lengths: None }),
            (None, _) if of_samples => Some(Native::U8 { values: self, lengths: Some(&self.scan.lengths) }),
            // The mean of these samples, not of some of them or of others.
            (Some(mean), Some((Scaling::None, own))) if !unit && mean == own => Some(Native::CenteredU8(self)),
            _ => None,
        }
    }

    /// The memory of some samples, whatever their number type, if none are dropped.
    fn in_memory(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'_>> {
        let all = self.rows.is_none() && self.columns.is_none();
        all.then(|| self.samples.whereabouts(rows, cols)).flatten()
    }

    /// g·y − s of some samples that are contiguous in memory; false where they are not.
    fn at_once<T: Number>(&self, samples: Range<usize>, cols: Range<usize>, gains: &[f64], out: &mut [T]) -> bool {
        if self.columns.is_some() {
            return false;
        }
        let shift = self.shift.as_ref().map(|shift| &shift[cols.clone()]);
        write_affine(self.samples, samples, cols, gains, shift, None, out)
    }

    /// The same for one sample.
    fn row_at_once<T: Number>(&self, i: usize, cols: Range<usize>, out: &mut [T]) -> bool {
        let i = self.rows.map_or(i, |rows| rows[i]);
        self.gain(i).is_some_and(|gain| self.at_once(i..i + 1, cols, &[gain], out))
    }

    /// The same for several.
    fn rows_at_once<T: Number>(&self, rows: Range<usize>, width: usize, out: &mut [T]) -> bool {
        let gains: Option<Vec<f64>> = rows.clone().map(|i| self.gain(i)).collect();
        self.rows.is_none() && gains.is_some_and(|gains| self.at_once(rows, 0..width, &gains, out))
    }

    /// The same where values are not contiguous, or a number would leave its range.
    fn one_by_one(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        let i = self.rows.map_or(i, |rows| rows[i]);
        match self.columns.map(|columns| &columns[cols.clone()]) {
            Some(&[]) => (),
            Some(selected) => {
                // With features dropped, the contiguous range of the original that contains the selected ones is read.
                let first = selected[0];
                let mut whole = vec![0.0; selected[selected.len() - 1] + 1 - first];
                self.samples.read_row(i, first..first + whole.len(), &mut whole);
                self.prepare(i, first, &mut whole);
                out.iter_mut().zip(selected).for_each(|(to, j)| *to = whole[j - first]);
            }
            None => {
                let first = cols.start;
                self.samples.read_row(i, cols, out);
                self.prepare(i, first, out);
            }
        }
    }

    /// Prepares the features of sample i from `first` on.
    fn prepare(&self, i: usize, first: usize, values: &mut [f64]) {
        match (self.gain(i), &self.shift) {
            (Some(gain), Some(shift)) => {
                values.iter_mut().zip(&shift[first..]).for_each(|(y, s)| *y = gain * *y - s);
            }
            (Some(gain), None) => values.iter_mut().for_each(|y| *y *= gain),
            (None, _) => {
                self.preparation.apply(values, self.length(i), first);
                values.iter_mut().for_each(|y| *y = times_power_of_two(*y, -self.exponent));
            }
        }
    }
}

/// g·y − s of some samples, where they are contiguous in memory; false where they are not. Their sums are added to
/// `sums`, where given.
pub(super) fn write_affine<T: Number>(
    samples: Samples<'_>,
    rows: Range<usize>,
    cols: Range<usize>,
    gains: &[f64],
    shift: Option<&[f64]>,
    sums: Option<&mut [f64]>,
    out: &mut [T],
) -> bool {
    match samples {
        Samples::F64(x) => write_values(x.contiguous(rows, cols), gains, shift, sums, out),
        Samples::F32(x) => write_values(x.contiguous(rows, cols), gains, shift, sums, out),
        Samples::U8(x) => write_values(x.contiguous(rows, cols), gains, shift, sums, out),
        Samples::Csr(_) => false,
    }
}

fn write_values<S: Value, T: Number>(
    values: Option<&[S]>,
    gains: &[f64],
    shift: Option<&[f64]>,
    sums: Option<&mut [f64]>,
    out: &mut [T],
) -> bool {
    match (values, shift, sums) {
        (None, ..) => return false,
        (Some(y), Some(shift), Some(sums)) => affine_adding(y, gains, shift, out, sums),
        (Some(y), shift, _) => affine(y, gains, shift, out),
    }
    true
}

impl Rows<f64> for Prepared<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        if !self.row_at_once(i, cols.clone(), out) {
            self.one_by_one(i, cols, out);
        }
    }

    fn read_rows(&self, rows: Range<usize>, width: usize, out: &mut [f64]) {
        if !self.rows_at_once(rows.clone(), width, out) {
            rows.zip(out.chunks_exact_mut(width.max(1)))
                .for_each(|(i, row)| Rows::<f64>::read_row(self, i, 0..width, row));
        }
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'_>> {
        self.in_memory(rows, cols)
    }
}

impl Rows<f32> for Prepared<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f32]) {
        if !self.row_at_once(i, cols.clone(), out) {
            let mut row = vec![0.0; cols.len()];
            self.one_by_one(i, cols, &mut row);
            out.iter_mut().zip(&row).for_each(|(to, y)| *to = *y as f32);
        }
    }

    fn read_rows(&self, rows: Range<usize>, width: usize, out: &mut [f32]) {
        if !self.rows_at_once(rows.clone(), width, out) {
            rows.zip(out.chunks_exact_mut(width.max(1)))
                .for_each(|(i, row)| Rows::<f32>::read_row(self, i, 0..width, row));
        }
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'_>> {
        self.in_memory(rows, cols)
    }
}

impl Rows<u8> for Prepared<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [u8]) {
        let i = self.rows.map_or(i, |rows| rows[i]);
        if self.columns.is_none() {
            let done = match self.samples {
                Samples::F64(x) => x.row_slice(i, cols.clone()).map(|row| to_bytes(row, out)),
                Samples::U8(x) => x.row_slice(i, cols.clone()).map(|row| out.copy_from_slice(row)),
                _ => None,
            };
            if done.is_some() {
                return;
            }
        }
        let (first, last) = match self.columns.map(|columns| &columns[cols.clone()]) {
            Some(&[]) => return,
            Some(selected) => (selected[0], selected[selected.len() - 1] + 1),
            None => (cols.start, cols.end),
        };
        let mut row = vec![0.0; last - first];
        self.samples.read_row(i, first..last, &mut row);
        match self.columns {
            Some(columns) => out.iter_mut().zip(&columns[cols]).for_each(|(to, j)| *to = row[j - first] as u8),
            None => to_bytes(&row, out),
        }
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'_>> {
        self.in_memory(rows, cols)
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

    /// A length has m/2 + 2 roundings, its reciprocal and a product one each. Of a mean, y₀ + Σ(y − y₀)/n, the
    /// roundings are those of numbers of the size of the samples, and in the second part of the sums within a block and
    /// over blocks.
    fn rounding(&self) -> f64 {
        let (n, m) = (self.samples.rows() as f64, self.samples.cols() as f64);
        let unit = f64::EPSILON / 2.0;
        let scaled = |norm: f64| times_power_of_two(norm, -self.exponent);
        let size = if self.preparation.normalize == Normalize::Unit { n.sqrt() } else { scaled(self.scan.norm) };
        let single = match self.native() {
            Native::F32(_) => f64::from(f32::EPSILON) / 2.0 * size,
            _ => 0.0,
        };
        let unit_length = self.preparation.normalize == Normalize::Unit;
        let scaling = single + if unit_length { (0.5 * m + 4.0) * unit * size } else { 0.0 };
        let Some(mean) = &self.preparation.mean else { return scaling };
        let centering = 4.0 * unit * (size + n.sqrt() * scaled(norm(mean)));
        match &self.preparation.deviation {
            Some(deviation) => {
                let least = deviation.iter().copied().fold(f64::INFINITY, f64::min);
                (single + centering) / least + (0.5 * n + 3.0) * unit * (n * m).sqrt()
            }
            None => scaling + centering,
        }
    }

    fn native(&self) -> Native<'_> {
        if let Some(sparse) = sparse::native(self) {
            return Native::Sparse(sparse);
        }
        if let Some(bytes) = self.in_bytes() {
            return bytes;
        }
        match self.samples {
            Samples::F32(_) if single_pays(Blocks::rows(self), Blocks::cols(self)) => Native::F32(self),
            _ => Native::F64,
        }
    }
}
