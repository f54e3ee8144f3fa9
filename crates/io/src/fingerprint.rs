//! A fingerprint of samples: the same whether they lie in memory or arrive in chunks of any size, and taken up again
//! where it was left.
//!
//! ```text
//!     f₀ = 0…0,   f ← SHA-256(f ‖ number type, rows, columns ‖ values, row after row, little-endian)   for every block
//! ```
//! Blocks are those of a summary ([`block_rows`]), counted from the first sample, the last one shorter. Between two
//! blocks f is all there is to be known.

use eigenspan_core::data::{NumberType, Samples};
use eigenspan_core::linalg::summary::block_rows;
use sha2::{Digest, Sha256};

use crate::model::word_of;
use crate::seal::hex;

/// The fingerprint of the samples so far.
#[derive(Clone, Default)]
pub struct Fingerprint {
    so_far: [u8; 32],
    extent: Extent,
    /// The block that has begun, and the rows that it lacks.
    open: Option<(Sha256, usize)>,
}

/// What is known of the samples to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Extent {
    /// They arrive in whole blocks, and the last ones at once.
    #[default]
    Blocks,
    /// So many are to come, in chunks of any size.
    Rows(usize),
    /// Nobody will ask.
    Nobody,
}

impl Fingerprint {
    /// Of so many samples, which may arrive in chunks of any size. Without their number ([`default`](Self::default))
    /// chunks are whole blocks but for the last.
    pub fn of_rows(rows: usize) -> Self {
        Self { extent: Extent::Rows(rows), ..Self::default() }
    }

    /// Of samples that need none.
    pub fn none() -> Self {
        Self { extent: Extent::Nobody, ..Self::default() }
    }

    /// Of samples in memory.
    pub fn of(samples: Samples<'_>) -> Self {
        let mut whole = Self::default();
        whole.add(samples);
        whole
    }

    /// Takes the next samples.
    pub fn add(&mut self, samples: Samples<'_>) {
        if self.extent == Extent::Nobody {
            return;
        }
        let (n, height, mut first) = (samples.rows(), block_rows(samples.cols().max(1)), 0);
        while first < n {
            let (mut hash, lacking) = self.open.take().unwrap_or_else(|| {
                let rows = match self.extent {
                    Extent::Rows(left) => left.max(n - first).min(height),
                    Extent::Blocks | Extent::Nobody => (n - first).min(height),
                };
                (self.begun(samples, rows), rows)
            });
            let taken = lacking.min(n - first);
            rows_into(&mut hash, samples, first..first + taken);
            first += taken;
            if let Extent::Rows(left) = &mut self.extent {
                *left = left.saturating_sub(taken);
            }
            match lacking - taken {
                0 => self.so_far = hash.finalize().into(),
                lacking => self.open = Some((hash, lacking)),
            }
        }
    }

    /// The hash of a block of so many rows before its values.
    fn begun(&self, samples: Samples<'_>, rows: usize) -> Sha256 {
        let mut hash = Sha256::new();
        hash.update(self.so_far);
        hash.update(format!("{} {rows} {}\n", word_of(samples.number_type()), samples.cols()));
        hash
    }

    /// 64 digits; of whole blocks, or of all samples.
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
        Some(Self { so_far, ..Self::default() })
    }
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        let lacking = |of: &Self| of.open.as_ref().map(|(_, lacking)| *lacking);
        self.so_far == other.so_far && lacking(self) == lacking(other)
    }
}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.digits())
    }
}

/// Values row after row.
fn rows_into(hash: &mut Sha256, samples: Samples<'_>, rows: std::ops::Range<usize>) {
    let m = samples.cols();
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
}

#[cfg(test)]
mod tests {
    use eigenspan_core::Mat;
    use eigenspan_core::data::Matrix;

    use super::*;

    fn x(rows: std::ops::Range<usize>) -> Matrix {
        Mat::from_fn(rows.len(), 3, |i, j| ((rows.start + i) * 3 + j) as f64).into()
    }

    #[test]
    fn chunks_of_whole_blocks_and_a_pause_do_not_matter() {
        let whole = Fingerprint::of(x(0..5000).view());
        let mut parts = Fingerprint::default();
        parts.add(x(0..2048).view());
        let mut parts = Fingerprint::from_digits(&parts.digits()).unwrap();
        parts.add(x(2048..4096).view());
        parts.add(x(4096..5000).view());
        assert_eq!(parts, whole);
        assert_ne!(Fingerprint::of(x(1..5001).view()), whole);
        assert!(Fingerprint::from_digits("12").is_none());
    }

    #[test]
    fn chunks_of_any_size_do_not_matter_where_the_number_of_samples_is_known() {
        let whole = Fingerprint::of(x(0..5000).view());
        for height in [1, 64, 999, 2048, 2049, 5000] {
            let mut parts = Fingerprint::of_rows(5000);
            for first in (0..5000).step_by(height) {
                parts.add(x(first..(first + height).min(5000)).view());
            }
            assert_eq!(parts, whole, "{height}");
        }
    }
}
