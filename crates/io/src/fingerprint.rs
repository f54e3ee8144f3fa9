//! A fingerprint of samples that arrive in blocks: the same for blocks of any size, and taken up again where it was left.
//!
//! ```text
//!     f₀ = 0…0,   f ← SHA-256(f ‖ number type, rows, columns ‖ values, row after row, little-endian)   for every chunk
//! ```
//! Chunks are as high as the blocks of a summary ([`block_rows`]) unless said otherwise, counted from the first sample, the last
//! one shorter. Between two chunks f is all there is to be known.

use eigenspan::data::{Matrix, NumberType, Samples};
use eigenspan::linalg::summary::block_rows;
use sha2::{Digest, Sha256};

use crate::seal::hex;

/// The fingerprint of the samples so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    so_far: [u8; 32],
    /// Rows of a chunk, where not those of a summary's block.
    height: Option<usize>,
}

impl Fingerprint {
    /// Of nothing, in chunks of so many rows.
    pub fn in_chunks(height: usize) -> Self {
        Self { height: Some(height.max(1)), ..Self::default() }
    }

    /// Takes more samples: whole chunks, or the last samples of all.
    pub fn add(&mut self, block: &Matrix) {
        let samples = block.view();
        let height = self.height.unwrap_or_else(|| block_rows(block.cols().max(1)));
        for first in (0..samples.rows()).step_by(height) {
            self.chunk(samples, first..(first + height).min(samples.rows()));
        }
    }

    fn chunk(&mut self, samples: Samples<'_>, rows: std::ops::Range<usize>) {
        let m = samples.cols();
        let mut hash = Sha256::new();
        hash.update(self.so_far);
        hash.update(format!("{} {} {m}\n", samples.number_type(), rows.len()));
        let (mut row, mut bytes) = (vec![0.0; m], Vec::with_capacity(8 * m));
        for i in rows {
            samples.read_row(i, 0..m, &mut row);
            bytes.clear();
            match samples.number_type() {
                NumberType::F64 => row.iter().for_each(|y| bytes.extend_from_slice(&y.to_le_bytes())),
                NumberType::F32 => row.iter().for_each(|y| bytes.extend_from_slice(&(*y as f32).to_le_bytes())),
                NumberType::U8 => bytes.extend(row.iter().map(|y| *y as u8)),
            }
            hash.update(&bytes);
        }
        self.so_far = hash.finalize().into();
    }

    /// 64 digits.
    pub fn digits(&self) -> String {
        hex(&self.so_far)
    }

    /// From the digits; `None` where these are not such.
    pub fn from_digits(digits: &str) -> Option<Self> {
        let mut so_far = [0; 32];
        if digits.len() != 64 || !digits.is_ascii() {
            return None;
        }
        for (byte, pair) in so_far.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self { so_far, height: None })
    }
}

#[cfg(test)]
mod tests {
    use eigenspan::Mat;

    use super::*;

    #[test]
    fn portions_of_whole_chunks_and_a_pause_do_not_matter() {
        let x = |rows: std::ops::Range<usize>| -> Matrix {
            Mat::from_fn(rows.len(), 3, |i, j| ((rows.start + i) * 3 + j) as f64).into()
        };
        let mut whole = Fingerprint::default();
        whole.add(&x(0..5000));
        let mut parts = Fingerprint::default();
        parts.add(&x(0..2048));
        let mut parts = Fingerprint::from_digits(&parts.digits()).unwrap();
        parts.add(&x(2048..4096));
        parts.add(&x(4096..5000));
        assert_eq!(parts, whole);
        let mut other = Fingerprint::default();
        other.add(&x(1..5001));
        assert_ne!(other, whole);
        assert!(Fingerprint::from_digits("12").is_none());
    }
}
