//! Tall samples in one pass: scanned, prepared and multiplied slab by slab, while they are in the caches.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | c | `shift` | the mean of a few samples at regular intervals: near μ, which is available only at the end |
//! | δ | `drift` | μ − c, from sums of differences: accurate to the precision of the samples' spread |
//! | e | `exponent` | scales those few samples near one |
//!
//! ```text
//!     Σ(x − μ)(x − μ)ᵀ  =  Σ(x − c)(x − c)ᵀ − n·δδᵀ
//! ```
//! c is subtracted before anything is squared, and the correction is small. Where it is not, or where the power of two
//! was badly chosen, only the scan is used, and the samples are read again.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use eigenspan_linalg::blocks::{Native, Prefetch, Rows};
use eigenspan_linalg::gram::{BATCH, Gram, LARGE, SLAB, single_pays};
use eigenspan_linalg::rows::{Prepared as Number, affine_adding_single, are_bytes, energy};
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Blocks, Exec};

use super::scan::{PartialScan, Scaling};
use super::view::write_affine;
use super::{Normalize, Prepared, Scan, norm};
use crate::Error;
use crate::data::Samples;

/// Number of samples whose mean is c.
const FEW: usize = 256;
/// The correction may subtract at most this share of the trace.
const SMALL: f64 = 0.25;
/// Maximum error of the exponent.
const NEAR: i32 = 100;

/// Samples before their first pass.
pub struct FirstPass<'a> {
    samples: Samples<'a>,
    scaling: Scaling,
    exponent: i32,
    /// 2⁻ᵉ.
    unit: f64,
    /// c, where samples are centered.
    center: Option<Vec<f64>>,
    /// c in the units of the values read.
    shift: Option<Vec<f64>>,
    /// The same where unscaled samples are read and multiplied in `f32`: c is then an `f32`.
    single: Option<Vec<f32>>,
    /// The scan of each slab, of the samples that were read so far, in order.
    scans: Vec<Mutex<SlabScan>>,
}

/// The scan of the samples of a slab.
struct SlabScan {
    scan: Result<PartialScan, Error>,
    /// Σ2⁻ᵉ(x − c), where samples are centered.
    sums: Vec<f64>,
}

impl<'a> FirstPass<'a> {
    /// Samples for which one pass suffices: dense, tall and not too wide, row after row in memory, and not bytes, which
    /// are better multiplied as such. `None` for others. Lengths of unscaled samples, and whether all are bytes, are
    /// computed only where samples will be read `again`.
    pub fn of(samples: Samples<'a>, normalize: Normalize, center: bool, again: bool) -> Result<Option<Self>, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        let scaling = Scaling::from(normalize);
        let mut blank = PartialScan::blank(samples, None)?;
        if n < m || m > LARGE || samples.whereabouts(0..n, 0..m).is_none() || normalize == Normalize::ZScore {
            return Ok(None);
        }
        let Some(Estimate { exponent, mean, bytes }) = Estimate::at(samples, scaling) else { return Ok(None) };
        if bytes && scaling == Scaling::None {
            return Ok(None);
        }
        blank.bytes = again && bytes;
        blank.measured = again || scaling == Scaling::Unit;
        let exponent = if scaling == Scaling::Unit { 0 } else { exponent };
        let scaled = |values: &[f64], exponent| values.iter().map(|y| times_power_of_two(*y, exponent)).collect();
        let mut shift: Option<Vec<f64>> = center.then(|| scaled(&mean, -exponent));
        let in_single = matches!(samples, Samples::F32(_)) && single_pays(n, m) && scaling == Scaling::None;
        let single: Option<Vec<f32>> =
            shift.as_ref().filter(|_| in_single).map(|c| c.iter().map(|c| *c as f32).collect());
        if let Some(single) = &single {
            shift = Some(single.iter().map(|c| f64::from(*c)).collect());
        }
        let center = shift.as_ref().map(|shift| scaled(shift, exponent));
        let sums = vec![0.0; center.as_ref().map_or(0, Vec::len)];
        let empty = || Mutex::new(SlabScan { scan: Ok(blank.clone()), sums: sums.clone() });
        let scans = (0..n.div_ceil(SLAB)).map(|_| empty()).collect();
        let unit = times_power_of_two(1.0, -exponent);
        Ok(Some(Self { samples, scaling, exponent, unit, center, shift, single, scans }))
    }

    /// Reads the samples: their scan, and their Gram matrix about c where nothing went wrong.
    pub fn read(self, exec: Exec<'_>) -> Result<(Scan, Option<ProvisionalGram>), Error> {
        let gram = Gram::of(&self, exec)?;
        let Self { samples, scaling, exponent, center, scans, .. } = self;
        let (mut parts, mut sums) = (vec![], vec![0.0; center.as_ref().map_or(0, Vec::len)]);
        for slab in scans {
            let SlabScan { scan, sums: some } = slab.into_inner().unwrap_or_else(PoisonError::into_inner);
            parts.push(scan);
            sums.iter_mut().zip(some).for_each(|(all, some)| *all += some);
        }
        let mut parts = parts.into_iter();
        let whole = parts.next().expect("there is a sample")?.and(parts)?;
        let (n, measured) = (whole.rows as f64, whole.measured);
        let drift: Option<Vec<f64>> =
            center.is_some().then(|| sums.iter().map(|s| times_power_of_two(s / n, exponent)).collect());
        let finite = drift.iter().flatten().all(|d| d.is_finite());
        let usable = finite && gram.trace() <= times_power_of_two(n, 2 * NEAR);
        if !usable && !measured {
            // A value is not finite, or too large to be squared: a scan that measures lengths will report it.
            let scan =
                if center.is_some() { Scan::scan(samples, Some(scaling), exec) } else { Scan::of(samples, exec) };
            return Ok((scan?, None));
        }
        let mut scan = Scan::from(whole);
        if let (Some(c), Some(drift), true) = (&center, &drift, finite) {
            scan.mean = Some((scaling, c.iter().zip(drift).map(|(c, d)| c + d).collect()));
        }
        if !measured {
            scan.exponent = exponent;
            let offset = n.sqrt() * center.as_deref().map_or(0.0, norm);
            scan.norm = times_power_of_two(gram.trace().sqrt(), exponent) + offset;
        }
        Ok((scan, usable.then_some(ProvisionalGram { gram, exponent, drift })))
    }

    /// Scans some samples, and has them prepared by `write`, which is given the gain of each and the sums to update.
    /// Every sample is read once, and those of a slab one after the other.
    fn scan_and_write(&self, rows: Range<usize>, write: impl FnOnce(&[f64], &mut [f64])) {
        let slab = rows.start / SLAB;
        let SlabScan { scan, sums } = &mut *self.scans[slab].lock().unwrap_or_else(PoisonError::into_inner);
        // Invalid samples are reported at the end; until then their gains are irrelevant.
        let mut gains = [0.0; BATCH];
        if let Ok(part) = scan {
            assert_eq!(slab * SLAB + part.rows, rows.start, "samples are read in their order");
            match part.scan(self.samples, rows.clone()) {
                Ok(()) if self.scaling == Scaling::Unit => {
                    let lengths = &part.lengths[rows.start - slab * SLAB..];
                    gains.iter_mut().zip(lengths).for_each(|(gain, length)| *gain = self.scaling.gain(*length));
                }
                Ok(()) => gains.fill(self.unit),
                Err(error) => *scan = Err(error),
            }
        }
        write(&gains[..rows.len()], sums);
    }

    fn read_prepared<T: Number>(&self, rows: Range<usize>, width: usize, out: &mut [T]) {
        self.scan_and_write(rows.clone(), |gains, sums| {
            write_affine(self.samples, rows, 0..width, gains, self.shift.as_deref(), Some(sums), out);
        });
    }
}

/// A Gram matrix of a first pass, about c and not yet about μ.
pub struct ProvisionalGram {
    gram: Gram,
    exponent: i32,
    /// δ, where samples are centered.
    drift: Option<Vec<f64>>,
}

impl ProvisionalGram {
    /// The Gram matrix of the same samples as they are read from `view`, where the estimates of c and e were good.
    pub fn of(self, view: &Prepared<'_>) -> Option<Gram> {
        let off = self.exponent - view.exponent();
        let in_range = view.in_range() && off.abs() <= NEAR;
        let gram = in_range.then(|| self.gram.times_power_of_two(off))?;
        let Some(drift) = self.drift else { return Some(gram) };
        let drift: Vec<f64> = drift.iter().map(|d| times_power_of_two(*d, -view.exponent())).collect();
        let n = view.rows();
        let small = n as f64 * energy(&drift) <= SMALL * gram.trace();
        small.then(|| gram.recentered(n, &drift, view.rounding() / (n as f64).sqrt()))
    }
}

/// Estimates from a few samples.
struct Estimate {
    /// The exponent of the largest length.
    exponent: i32,
    /// Their mean, scaled.
    mean: Vec<f64>,
    /// Whether they are all bytes.
    bytes: bool,
}

impl Estimate {
    /// `None` where all are zero, or one is not finite.
    fn at(samples: Samples<'_>, scaling: Scaling) -> Option<Self> {
        let (n, m) = (samples.rows(), samples.cols());
        let few = FEW.min(n);
        let (mut first, mut row) = (vec![0.0; m], vec![0.0; m]);
        let (mut sums, mut most, mut bytes) = (vec![0.0; m], 0.0f64, true);
        for l in 0..few {
            samples.read_row(l * (n / few), 0..m, &mut row);
            let length = norm(&row);
            if !length.is_finite() || length >= 1e300 {
                return None;
            }
            most = most.max(length);
            bytes = bytes && are_bytes(&row);
            let gain = scaling.gain(length);
            row.iter_mut().for_each(|y| *y *= gain);
            if l == 0 {
                first.clone_from(&row);
            }
            sums.iter_mut().zip(row.iter().zip(&first)).for_each(|(s, (y, f))| *s += y - f);
        }
        let mean = first.iter().zip(&sums).map(|(f, s)| f + s / few as f64).collect();
        (most > 1e-300).then(|| Self { exponent: exponent_of(most), mean, bytes })
    }
}

impl Rows<f64> for FirstPass<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        assert_eq!(cols.len(), self.samples.cols(), "whole samples are read");
        self.read_prepared(i..i + 1, cols.len(), out);
    }

    fn read_rows(&self, rows: Range<usize>, width: usize, out: &mut [f64]) {
        self.read_prepared(rows, width, out);
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'_>> {
        self.samples.whereabouts(rows, cols)
    }
}

impl Rows<f32> for FirstPass<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f32]) {
        assert_eq!(cols.len(), self.samples.cols(), "whole samples are read");
        self.read_prepared(i..i + 1, cols.len(), out);
    }

    fn read_rows(&self, rows: Range<usize>, width: usize, out: &mut [f32]) {
        match (self.samples, &self.single) {
            (Samples::F32(x), Some(shift)) => self.scan_and_write(rows.clone(), |_, sums| {
                let values = x.contiguous(rows, 0..width).expect("samples lie one after the other");
                affine_adding_single(values, self.unit as f32, shift, out, sums);
            }),
            _ => self.read_prepared(rows, width, out),
        }
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'_>> {
        self.samples.whereabouts(rows, cols)
    }
}

impl Blocks for FirstPass<'_> {
    fn rows(&self) -> usize {
        self.samples.rows()
    }

    fn cols(&self) -> usize {
        self.samples.cols()
    }

    fn exponent(&self) -> i32 {
        self.exponent
    }

    fn native(&self) -> Native<'_> {
        match self.samples {
            Samples::F32(x) if single_pays(x.rows(), x.cols()) => Native::F32(self),
            _ => Native::F64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Preparation;
    use eigenspan_linalg::Mat;

    /// The Gram matrix by one pass and by two, in units of the samples; the first is absent where it was rejected.
    fn both(x: &Mat, normalize: Normalize, center: bool) -> (Option<Mat>, Mat) {
        let (samples, exec) = (Samples::from(x), Exec::default());
        let read = |again| FirstPass::of(samples, normalize, center, again).unwrap().unwrap().read(exec).unwrap();
        let (scan, provisional) = read(true);
        let (_, rough_again) = read(false);
        assert_eq!(provisional.as_ref().map(|r| &r.gram.matrix), rough_again.as_ref().map(|r| &r.gram.matrix));
        let again = match center {
            true => Scan::with_mean(samples, normalize, exec).unwrap(),
            false => Scan::of(samples, exec).unwrap(),
        };
        assert_eq!(scan.lengths, again.lengths);
        let learned = Preparation::learn(samples, &scan, normalize, center, None, exec).unwrap();
        let view = Prepared::new(samples, &learned, &scan);
        let back = |gram: Gram| gram.times_power_of_two(view.exponent()).matrix;
        (provisional.and_then(|provisional| provisional.of(&view)).map(back), back(Gram::of(&view, exec).unwrap()))
    }

    fn close(a: &Mat, b: &Mat, tolerance: f64) {
        let most = b.as_slice().iter().fold(0.0f64, |most, g| most.max(g.abs()));
        let off = a.as_slice().iter().zip(b.as_slice()).fold(0.0f64, |off, (a, b)| off.max((a - b).abs()));
        assert!(off <= tolerance * most, "{off:e} of {most:e}");
    }

    fn wavy(n: usize, m: usize, offset: f64) -> Mat {
        Mat::from_fn(n, m, |i, j| offset + ((i * 37 + j * 11) as f64 * 0.618).sin() * (1.0 + j as f64))
    }

    #[test]
    fn one_pass_gives_the_gram_matrix_of_two() {
        for (n, m) in [(3, 3), (256, 20), (257, 5), (1000, 33)] {
            for normalize in [Normalize::None, Normalize::Unit] {
                for center in [false, true] {
                    let (one, two) = both(&wavy(n, m, 0.3), normalize, center);
                    close(&one.unwrap(), &two, 1e-13);
                }
            }
        }
    }

    #[test]
    fn a_large_offset_is_subtracted_before_squaring() {
        // Of 1e8 + y, y has eight digits left: the sample itself is rounded there, the same for both.
        let (one, two) = both(&wavy(2000, 7, 1e8), Normalize::None, true);
        close(&one.unwrap(), &two, 1e-13);
    }

    #[test]
    fn samples_in_single_precision_lose_nothing_of_their_mean() {
        // 300 + y: of y, single precision has a few digits left; its mean has all of them.
        let x: Mat<f32> = Mat::from_fn(1000, 33, |i, j| (300.0 + ((i * 37 + j * 11) as f64 * 0.618).sin()) as f32);
        let (samples, exec) = (Samples::from(&x), Exec::default());
        let first = FirstPass::of(samples, Normalize::None, true, true).unwrap().unwrap();
        assert!(first.single.is_some());
        let (scan, provisional) = first.read(exec).unwrap();
        let two = Scan::with_mean(samples, Normalize::None, exec).unwrap();
        let means = [&scan, &two].map(|scan| scan.mean.clone().unwrap().1);
        // Each summand is at most 2 and was rounded by half an eps of that.
        let off = means[0].iter().zip(&means[1]).fold(0.0f64, |off, (a, b)| off.max((a - b).abs()));
        assert!(off <= f64::from(f32::EPSILON), "{off:e}");
        let learned = Preparation::learn(samples, &scan, Normalize::None, true, None, exec).unwrap();
        let view = Prepared::new(samples, &learned, &scan);
        let (one, exact) = (provisional.unwrap().of(&view).unwrap(), Gram::in_double(&view, exec).unwrap());
        close(&one.matrix, &exact.matrix, 1e-6);
    }

    #[test]
    fn bad_estimates_are_detected() {
        // The samples used for the estimate are every fourth one: far from the others, or far smaller.
        let mut x = wavy(1024, 4, 0.0);
        (0..1024).step_by(4).for_each(|i| x.row_mut(i).iter_mut().for_each(|y| *y = *y * 1e-3 + 1e4));
        assert!(both(&x, Normalize::None, true).0.is_none());
        for larger in [1e40, 1e200] {
            let mut x = wavy(1024, 4, 1.0);
            (0..1024).filter(|i| i % 4 != 0).for_each(|i| x.row_mut(i).iter_mut().for_each(|y| *y *= larger));
            assert!(both(&x, Normalize::None, false).0.is_none(), "{larger}");
        }
    }

    #[test]
    fn invalid_values_are_located_and_bytes_left_to_integers() {
        let mut x = wavy(700, 3, 0.0);
        x.row_mut(555)[2] = f64::INFINITY;
        let first = FirstPass::of(Samples::from(&x), Normalize::None, true, false).unwrap().unwrap();
        let error = first.read(Exec::default()).err().unwrap();
        assert!(matches!(error, Error::NotFinite { row: 555, column: 2, .. }), "{error}");
        let bytes = Mat::from_fn(40, 3, |i, j| ((i * 7 + j) % 256) as f64);
        assert!(FirstPass::of(Samples::from(&bytes), Normalize::None, false, true).unwrap().is_none());
        for again in [false, true] {
            let first = FirstPass::of(Samples::from(&bytes), Normalize::Unit, false, again).unwrap().unwrap();
            assert_eq!(first.read(Exec::default()).unwrap().0.bytes, again);
        }
    }
}
