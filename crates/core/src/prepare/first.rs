//! Tall samples read once: looked at, prepared and multiplied slab by slab, while they are in the caches.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | c | `shift` | the mean of a few samples, spread evenly: near μ, which is known only at the end |
//! | δ | `drift` | μ − c, from sums of differences: known to the precision of the samples' spread |
//! | e | `exponent` | brings those few samples near one |
//!
//! ```text
//!     Σ(x − μ)(x − μ)ᵀ  =  Σ(x − c)(x − c)ᵀ − n·δδᵀ
//! ```
//! c is taken away before anything is squared, and the correction is small. Where it is not, or where the power of two
//! turns out to be badly chosen, only the look is kept, and the samples are read again.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use eigenspan_linalg::blocks::{Ahead, Native, Rows};
use eigenspan_linalg::gram::{BATCH, Gram, LARGE, SLAB, single_pays};
use eigenspan_linalg::rows::{Prepared as Number, affine_adding_single, are_bytes, energy};
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Blocks, Exec};

use super::scan::{Part, Scaling};
use super::view::write_affine;
use super::{Normalize, Prepared, Scan, norm};
use crate::Error;
use crate::data::Samples;

/// Samples that c is the mean of.
const FEW: usize = 256;
/// The correction may take away this share of the trace.
const SMALL: f64 = 0.25;
/// The exponent may be off by this much.
const NEAR: i32 = 100;

/// Samples that nobody has looked at.
pub struct FirstReading<'a> {
    samples: Samples<'a>,
    scaling: Scaling,
    exponent: i32,
    /// 2⁻ᵉ.
    unit: f64,
    /// c, where samples are centred.
    center: Option<Vec<f64>>,
    /// c in the units of what is read.
    shift: Option<Vec<f64>>,
    /// The same where samples that are not scaled are read and multiplied in `f32`: c is such a number then.
    single: Option<Vec<f32>>,
    /// What is known of each slab: of those of its samples that were read, in their order.
    seen: Vec<Mutex<Seen>>,
}

/// What the samples of a slab tell.
struct Seen {
    part: Result<Part, Error>,
    /// Σ2⁻ᵉ(x − c), where samples are centred.
    sums: Vec<f64>,
}

impl<'a> FirstReading<'a> {
    /// Samples that one reading will do for: dense, tall and not too wide, row after row in memory, and no bytes that are
    /// better multiplied as such. `None` for others. Lengths of samples that are not scaled, and whether all are bytes, are
    /// looked at only where samples will be read `again`.
    pub fn of(samples: Samples<'a>, normalize: Normalize, center: bool, again: bool) -> Result<Option<Self>, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        let scaling = Scaling::from(normalize);
        let mut blank = Part::blank(samples, None)?;
        if n < m || m > LARGE || samples.whereabouts(0..n, 0..m).is_none() || normalize == Normalize::ZScore {
            return Ok(None);
        }
        let Some(Glance { exponent, mean, bytes }) = Glance::at(samples, scaling) else { return Ok(None) };
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
        let nothing = || Mutex::new(Seen { part: Ok(blank.clone()), sums: sums.clone() });
        let seen = (0..n.div_ceil(SLAB)).map(|_| nothing()).collect();
        let unit = times_power_of_two(1.0, -exponent);
        Ok(Some(Self { samples, scaling, exponent, unit, center, shift, single, seen }))
    }

    /// Reads the samples: the look at them, and their Gram matrix about c where nothing went wrong.
    pub fn read(self, exec: Exec<'_>) -> Result<(Scan, Option<Rough>), Error> {
        let gram = Gram::of(&self, exec)?;
        let Self { samples, scaling, exponent, center, seen, .. } = self;
        let (mut parts, mut sums) = (vec![], vec![0.0; center.as_ref().map_or(0, Vec::len)]);
        for slab in seen {
            let Seen { part, sums: some } = slab.into_inner().unwrap_or_else(PoisonError::into_inner);
            parts.push(part);
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
            // Something is not a number, or too large to be squared: a look that measures will tell.
            let scan =
                if center.is_some() { Scan::look(samples, Some(scaling), exec) } else { Scan::of(samples, exec) };
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
        Ok((scan, usable.then_some(Rough { gram, exponent, drift })))
    }

    /// Looks at some samples, and has them prepared by `write`, which is given the gain of each and where to add up what it
    /// writes. Every sample is read once, and those of a slab one after the other.
    fn watch(&self, rows: Range<usize>, write: impl FnOnce(&[f64], &mut [f64])) {
        let slab = rows.start / SLAB;
        let Seen { part: seen, sums } = &mut *self.seen[slab].lock().unwrap_or_else(PoisonError::into_inner);
        // Bad samples are told at the end; until then anything will do for them.
        let mut gains = [0.0; BATCH];
        if let Ok(part) = seen {
            assert_eq!(slab * SLAB + part.rows, rows.start, "samples are read in their order");
            match part.look(self.samples, rows.clone()) {
                Ok(()) if self.scaling == Scaling::Unit => {
                    let lengths = &part.lengths[rows.start - slab * SLAB..];
                    gains.iter_mut().zip(lengths).for_each(|(gain, length)| *gain = self.scaling.gain(*length));
                }
                Ok(()) => gains.fill(self.unit),
                Err(error) => *seen = Err(error),
            }
        }
        write(&gains[..rows.len()], sums);
    }

    fn read_prepared<T: Number>(&self, rows: Range<usize>, width: usize, out: &mut [T]) {
        self.watch(rows.clone(), |gains, sums| {
            write_affine(self.samples, rows, 0..width, gains, self.shift.as_deref(), Some(sums), out);
        });
    }
}

/// A Gram matrix of a first reading, about c and not yet about μ.
pub struct Rough {
    gram: Gram,
    exponent: i32,
    /// δ, where samples are centred.
    drift: Option<Vec<f64>>,
}

impl Rough {
    /// The Gram matrix of the same samples as they are read from `view`, where the guesses were good.
    pub fn of(self, view: &Prepared<'_>) -> Option<Gram> {
        let off = self.exponent - view.exponent();
        let in_range = view.in_range() && off.abs() <= NEAR;
        let gram = in_range.then(|| self.gram.times_power_of_two(off))?;
        let Some(drift) = self.drift else { return Some(gram) };
        let drift: Vec<f64> = drift.iter().map(|d| times_power_of_two(*d, -view.exponent())).collect();
        let n = view.rows();
        let small = n as f64 * energy(&drift) <= SMALL * gram.trace();
        small.then(|| gram.recentred(n, &drift, view.rounding() / (n as f64).sqrt()))
    }
}

/// What a few samples tell of all.
struct Glance {
    /// The exponent of the largest length.
    exponent: i32,
    /// Their mean, scaled.
    mean: Vec<f64>,
    /// Whether they are all bytes.
    bytes: bool,
}

impl Glance {
    /// `None` where all are zero, or one is not a number.
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

impl Rows<f64> for FirstReading<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        assert_eq!(cols.len(), self.samples.cols(), "whole samples are read");
        self.read_prepared(i..i + 1, cols.len(), out);
    }

    fn read_rows(&self, rows: Range<usize>, width: usize, out: &mut [f64]) {
        self.read_prepared(rows, width, out);
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Ahead<'_>> {
        self.samples.whereabouts(rows, cols)
    }
}

impl Rows<f32> for FirstReading<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f32]) {
        assert_eq!(cols.len(), self.samples.cols(), "whole samples are read");
        self.read_prepared(i..i + 1, cols.len(), out);
    }

    fn read_rows(&self, rows: Range<usize>, width: usize, out: &mut [f32]) {
        match (self.samples, &self.single) {
            (Samples::F32(x), Some(shift)) => self.watch(rows.clone(), |_, sums| {
                let values = x.stretch(rows, 0..width).expect("samples lie one after the other");
                affine_adding_single(values, self.unit as f32, shift, out, sums);
            }),
            _ => self.read_prepared(rows, width, out),
        }
    }

    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Ahead<'_>> {
        self.samples.whereabouts(rows, cols)
    }
}

impl Blocks for FirstReading<'_> {
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

    /// The Gram matrix by one reading and by two, in units of the samples; the first is absent where it was no good.
    fn both(x: &Mat, normalize: Normalize, center: bool) -> (Option<Mat>, Mat) {
        let (samples, exec) = (Samples::from(x), Exec::default());
        let read = |again| FirstReading::of(samples, normalize, center, again).unwrap().unwrap().read(exec).unwrap();
        let (scan, rough) = read(true);
        let (_, rough_again) = read(false);
        assert_eq!(rough.as_ref().map(|r| &r.gram.matrix), rough_again.as_ref().map(|r| &r.gram.matrix));
        let again = match center {
            true => Scan::with_mean(samples, normalize, exec).unwrap(),
            false => Scan::of(samples, exec).unwrap(),
        };
        assert_eq!(scan.lengths, again.lengths);
        let learnt = Preparation::learn(samples, &scan, normalize, center, None, exec).unwrap();
        let view = Prepared::new(samples, &learnt, &scan);
        let back = |gram: Gram| gram.times_power_of_two(view.exponent()).matrix;
        (rough.and_then(|rough| rough.of(&view)).map(back), back(Gram::of(&view, exec).unwrap()))
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
    fn one_reading_gives_the_gram_matrix_of_two() {
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
    fn a_large_offset_is_taken_away_before_squaring() {
        // Of 1e8 + y, y has eight digits left: what is rounded there is the sample, the same for both.
        let (one, two) = both(&wavy(2000, 7, 1e8), Normalize::None, true);
        close(&one.unwrap(), &two, 1e-13);
    }

    #[test]
    fn samples_in_single_precision_lose_nothing_of_their_mean() {
        // 300 + y: of y, single precision has a few digits left; its mean has them all.
        let x: Mat<f32> = Mat::from_fn(1000, 33, |i, j| (300.0 + ((i * 37 + j * 11) as f64 * 0.618).sin()) as f32);
        let (samples, exec) = (Samples::from(&x), Exec::default());
        let first = FirstReading::of(samples, Normalize::None, true, true).unwrap().unwrap();
        assert!(first.single.is_some());
        let (scan, rough) = first.read(exec).unwrap();
        let two = Scan::with_mean(samples, Normalize::None, exec).unwrap();
        let means = [&scan, &two].map(|scan| scan.mean.clone().unwrap().1);
        // What is summed is at most 2 and was rounded by half an eps of that.
        let off = means[0].iter().zip(&means[1]).fold(0.0f64, |off, (a, b)| off.max((a - b).abs()));
        assert!(off <= f64::from(f32::EPSILON), "{off:e}");
        let learnt = Preparation::learn(samples, &scan, Normalize::None, true, None, exec).unwrap();
        let view = Prepared::new(samples, &learnt, &scan);
        let (one, exact) = (rough.unwrap().of(&view).unwrap(), Gram::in_double(&view, exec).unwrap());
        close(&one.matrix, &exact.matrix, 1e-6);
    }

    #[test]
    fn bad_guesses_are_noticed() {
        // The few samples looked at ahead are every fourth one: far from the others, or far smaller.
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
    fn bad_values_are_named_and_bytes_left_to_the_whole_numbers() {
        let mut x = wavy(700, 3, 0.0);
        x.row_mut(555)[2] = f64::INFINITY;
        let first = FirstReading::of(Samples::from(&x), Normalize::None, true, false).unwrap().unwrap();
        let error = first.read(Exec::default()).err().unwrap();
        assert!(matches!(error, Error::NotFinite { row: 555, column: 2, .. }), "{error}");
        let bytes = Mat::from_fn(40, 3, |i, j| ((i * 7 + j) % 256) as f64);
        assert!(FirstReading::of(Samples::from(&bytes), Normalize::None, false, true).unwrap().is_none());
        for again in [false, true] {
            let first = FirstReading::of(Samples::from(&bytes), Normalize::Unit, false, again).unwrap().unwrap();
            assert_eq!(first.read(Exec::default()).unwrap().0.bytes, again);
        }
    }
}
