//! The binary format of a summary. All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `eigenΣ` and the version, 1 |
//! | 8 | form (0 Gram, 1 triangle), centered (0, 1), six zeros |
//! | 8 × 3 | features m, rows before the tail, rows of the tail |
//! | 8 × 4 | bound of the rounding of a row; error, perturbation and drift of the [`Reduction`] |
//! | 8 × 2m | where centered: the two halves of the mean |
//! | 8 × m(m + 1)/2 | row after row: S up to its diagonal, or R from its diagonal on |
//! | 8 × tail·m | the tail |
//! | 8 | checksum: FNV-1a, eight bytes at a time |
//!
//! Bytes are untrusted until they are checked. Their number must match the header before anything is allocated, and
//! nothing is accepted that could not have been written: every summary accepted here can be finished without a panic.
//! The checksum detects damage, not malice: each step of FNV is invertible, so that one damaged word is always
//! detected.

use std::io::Write;

use super::mean::Mean;
use super::reduction::Reduction;
use super::{Form, Kind, LARGEST, Summary, block_rows, usable};
use crate::Error;
use crate::mat::Mat;

const MAGIC: [u8; 8] = *b"eigen\xce\xa3\x01";
/// Words before the mean.
const HEADER: usize = 9;
/// No sum of squares of fewer than 2⁵³ rows, and no product with their means, is larger.
const LARGEST_SQUARE: f64 = LARGEST * LARGEST * f64::from_bits((1023 + 60) << 52);

impl Summary {
    /// The summary as bytes. Two summaries are the same when their bytes are.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.byte_count());
        self.write_to(&mut out).expect("memory takes every byte");
        out
    }

    /// How many bytes [`to_bytes`](Summary::to_bytes) gives and [`write_to`](Summary::write_to) writes.
    pub fn byte_count(&self) -> usize {
        expected(self.kind, self.tail_rows()).expect("a summary that fits in memory can be counted")
    }

    /// Writes the bytes row after row, with no more than a row beside the summary.
    pub fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Kind { features: m, form, centered } = self.kind;
        let (whole, mut sum, mut bytes) = (&self.whole, OFFSET, Vec::with_capacity(8 * m.max(HEADER)));
        let mut put = |words: &mut dyn Iterator<Item = [u8; 8]>| {
            bytes.clear();
            bytes.extend(words.flatten());
            sum = fnv(sum, &bytes);
            out.write_all(&bytes)
        };
        let counts = [m, whole.rows, self.tail_rows()].map(|count| (count as u64).to_le_bytes());
        let kinds = [u8::from(form == Form::Triangle), u8::from(centered), 0, 0, 0, 0, 0, 0];
        put(&mut [MAGIC, kinds].into_iter().chain(counts))?;
        let mut numbers = |values: &[f64]| put(&mut values.iter().map(|v| v.to_le_bytes()));
        numbers(&[self.row_rounding, whole.error, whole.perturbation, whole.drift])?;
        if let Some(mean) = &whole.mean {
            numbers(&mean.high)?;
            numbers(&mean.low)?;
        }
        for i in 0..m {
            let row = whole.square.row(i);
            numbers(if form == Form::Gram { &row[..=i] } else { &row[i..] })?;
        }
        self.tail.chunks(m).try_for_each(numbers)?;
        out.write_all(&sum.to_le_bytes())
    }

    /// The summary that [`to_bytes`](Summary::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let ensure = |ok: bool, fault: &'static str| if ok { Ok(()) } else { Err(Error::Damaged(fault)) };
        ensure(
            bytes.len() >= 8 * (HEADER + 1) && bytes.len().is_multiple_of(8),
            "its length is not that of a summary",
        )?;
        ensure(bytes[..7] == MAGIC[..7], "it does not begin like a summary")?;
        ensure(bytes[7] == MAGIC[7], "its version is unknown")?;
        let (body, sum) = bytes.split_at(bytes.len() - 8);
        ensure(checksum(body).to_le_bytes() == *sum, "its checksum is wrong")?;
        let kinds = &bytes[8..16];
        ensure(kinds[0] <= 1 && kinds[1] <= 1 && kinds[2..] == [0; 6], "its form is unknown")?;
        let form = if kinds[0] == 0 { Form::Gram } else { Form::Triangle };
        let mut words = body[16..].chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().expect("eight bytes")));
        let [features, rows, tail] = std::array::from_fn(|_| words.next().expect("the header is whole"));
        let kind = Kind { features: count(features)?, form, centered: kinds[1] == 1 };
        let tail = count(tail)?;
        ensure(expected(kind, tail) == Some(bytes.len()), "its sizes do not fit its length")?;
        ensure(tail < block_rows(kind.features), "its tail is as long as a block")?;
        ensure(rows < 1 << 53, "it has more rows than can be counted")?;
        let mut values = words.map(f64::from_bits);
        let bounds: [f64; 4] = std::array::from_fn(|_| values.next().expect("the header is whole"));
        ensure(bounds.iter().all(|b| (0.0..=LARGEST_SQUARE).contains(b)), "a bound is negative or too large")?;
        let mut take = |count: usize| values.by_ref().take(count).collect::<Vec<f64>>();
        let m = kind.features;
        let mean = kind.centered.then(|| Mean { high: take(m), low: take(m) });
        let square = unpacked(form, m, &take(m * (m + 1) / 2));
        let tail = take(tail * m);
        let usable = |values: &[f64]| values.iter().all(|v| usable(*v));
        ensure(mean.as_ref().is_none_or(|mean| usable(&mean.high) && usable(&mean.low)), "a mean is not a number")?;
        ensure(usable(&tail), "a value of its tail is not a number")?;
        ensure(possible(form, &square), "its squares are not those of real rows")?;
        let [row_rounding, error, perturbation, drift] = bounds;
        let whole = Reduction { form, rows: count(rows)?, mean, square, error, perturbation, drift };
        ensure(whole.rows > 0 || whole == Reduction::empty(kind), "it has squares of no rows")?;
        Ok(Self { kind, row_rounding, whole, tail })
    }
}

fn count(word: u64) -> Result<usize, Error> {
    usize::try_from(word).map_err(|_| Error::Damaged("a size is beyond this machine"))
}

/// Bytes of a summary; `None` where there cannot be so many, or where there is no feature.
fn expected(kind: Kind, tail: usize) -> Option<usize> {
    let m = kind.features;
    let means = if kind.centered { m.checked_mul(2)? } else { 0 };
    let square = m.checked_mul(m.checked_add(1)?)? / 2;
    let words = (HEADER + 1).checked_add(means)?.checked_add(square)?.checked_add(tail.checked_mul(m)?)?;
    words.checked_mul(8).filter(|_| m > 0)
}

/// The square matrix of which one triangle is given.
fn unpacked(form: Form, m: usize, half: &[f64]) -> Mat {
    let mut square = Mat::zeros(m, m);
    let mut values = half.iter();
    for i in 0..m {
        let columns = if form == Form::Gram { 0..i + 1 } else { i..m };
        for (j, v) in columns.zip(&mut values) {
            square.row_mut(i)[j] = *v;
            if form == Form::Gram {
                square.row_mut(j)[i] = *v;
            }
        }
    }
    square
}

/// Whether a square may be S or R: numbers of a size that rows can give, and in S no entry above the bound of its
/// diagonal.
fn possible(form: Form, square: &Mat) -> bool {
    let fits = |i: usize, j: usize| match form {
        Form::Triangle => square.at(i, j).abs() <= LARGEST_SQUARE.sqrt(),
        Form::Gram => {
            let (a, b) = (square.at(i, i), square.at(j, j));
            (0.0..=LARGEST_SQUARE).contains(&a) && square.at(i, j).abs() <= (0.5 + 1e-9) * (a + b)
        }
    };
    (0..square.rows()).all(|i| (0..square.cols()).all(|j| fits(i, j)))
}

/// Where FNV-1a begins.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a over words of eight bytes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    fnv(OFFSET, bytes)
}

/// The same, gone on from what came before.
fn fnv(before: u64, bytes: &[u8]) -> u64 {
    bytes.chunks_exact(8).fold(before, |hash, word| {
        (hash ^ u64::from_le_bytes(word.try_into().expect("eight bytes"))).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
