//! The singular values above a cut of samples too wide for m² numbers, in a few readings of the samples.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X, n, m | `rows`, `features` | samples in rows (less their mean μ where they are centred), never held |
//! | A | | XᵀX, m × m, never formed; its eigenvalues are σ² |
//! | G, l | `columns` | a Gaussian m × l matrix of a seed |
//! | s | `readings` | how often the samples were read |
//! | Q₁ … Q_s | `space` | orthonormal blocks; together they span K = {G, AG, …, Aˢ⁻¹G} |
//! | W | `image` | A Q_s = Σ x (xᵀQ_s), the sum of one reading |
//! | T | `projected` | QᵀAQ, with eigenvalues ξ₁ ≥ ξ₂ ≥ … (Ritz values) |
//! | E | `energy` | ‖X‖²_F = tr A |
//!
//! ```text
//!     reading 1    W = A Q₁, the sketch AG         mean, E
//!     reading 2    W = A Q₂                        exact Rayleigh–Ritz over {G, AG}
//!     reading s    W = A Q_s                       the same over {G, AG, …, Aˢ⁻¹G}, where the count is not settled yet
//! ```
//! A sum over rows is all that a reading does, l·m numbers of it. What comes out is block Lanczos with one reading a step
//! and all of T computed from W, so that T is exact but for rounding however badly the blocks converge (Musco, Musco 2015 —
//! `musco2015` in `docs/references.bib`).
//!
//! **At least.** ξᵢ ≤ λᵢ(A) always (Cauchy), so every ξ above the cut stands for a value above it: proved.
//! **At most**, by the first of these that answers (`count.rs`):
//! 1. *Proved* by energy: E − tr T is all that is left beside K. Where that, and what couples it to K, stays
//!    below the cut, nothing is missed.
//! 2. *Probable* by the draw of G (`chance.rs`): a value that is missed would have shown itself in K, but for a chance of 10⁻⁹.
//! 3. *Between*: the least number for which 1 or 2 holds. One more reading makes it smaller.
//!
//! **Centring.** The first reading takes away the mean of the first block instead, c, and makes up for it:
//! A = (X − 1cᵀ)ᵀ(X − 1cᵀ) − n·δδᵀ with δ = μ − c. Later ones take away μ itself, before anything is squared.
//!
//! **Same bytes.** Blocks of rows are counted from the first row of a reading and added in their order; a block's product is
//! cut by shape. So neither portions nor threads matter.

mod chance;
mod count;
mod reading;
mod space;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::blocks::Blocks;
use crate::exec::Exec;
use crate::gram::gamma;
use crate::mat::Mat;
use crate::random::Random;
use crate::summary::{Form, Kind, Mean, Waiting};
use crate::triangle::orthonormalised;
pub use count::Answer;
use reading::Reading;
use space::Space;

/// Samples are read no more often than this.
pub const MOST_READINGS: usize = 64;
/// Values in a block of rows, about.
const BLOCK: usize = 1 << 22;

/// A sketch of samples that are read a few times. See the head of this file.
///
/// ```
/// use eigenspan_linalg::sketch::Sketch;
/// use eigenspan_linalg::spectrum::Select;
/// use eigenspan_linalg::{Exec, Mat};
///
/// let exec = Exec::default();
/// // Rank one: σ = ‖u‖‖v‖.
/// let x = Mat::from_fn(50, 300, |i, j| (i + 1) as f64 * (j as f64).cos());
/// let mut sketch = Sketch::new(300, 8, 1, false);
/// for _ in 0..2 {
///     sketch.update(&x, exec)?; // in portions of any size
///     sketch.end_of_reading(exec)?;
/// }
/// let answer = sketch.leading(Select::Above(1.0), exec)?;
/// assert!(answer.settled && answer.leading.count == 1);
/// # Ok::<(), eigenspan_linalg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sketch {
    features: usize,
    columns: usize,
    seed: u64,
    centred: bool,
    /// At most so far is each row from what is meant, in the ℓ2 norm.
    row_rounding: f64,
    /// n, once all samples were read.
    rows: Option<usize>,
    readings: usize,
    /// μ, and how far it may be off.
    mean: Option<(Mean, f64)>,
    energy: f64,
    /// ‖W − AQ‖ ≤ this, for every reading, times √l.
    error: f64,
    space: Space,
    reading: Reading,
}

/// Rows of a block, a function of m alone.
pub fn block_rows(features: usize) -> usize {
    (BLOCK / features.max(1)).clamp(64, 512) / 64 * 64
}

impl Sketch {
    /// Of no samples with `features` features, at least one, by `columns` Gaussian vectors, at least one, of a seed.
    pub fn new(features: usize, columns: usize, seed: u64, centred: bool) -> Self {
        assert!(features > 0 && columns > 0, "a sketch has features and columns");
        let columns = columns.min(features);
        let values = Random::new(seed).normals(features * columns);
        let gaussian = Mat::from_vec(features, columns, values).expect("as many values as entries");
        let first = orthonormalised(&gaussian, Exec::default()).expect("nobody cancels");
        let reading = Reading::new(features, columns, centred, None);
        let space = Space::new(first);
        let (rows, readings, mean, energy, error) = (None, 0, None, 0.0, 0.0);
        Self {
            features,
            columns,
            seed,
            centred,
            row_rounding: 0.0,
            rows,
            readings,
            mean,
            energy,
            error,
            space,
            reading,
        }
    }

    /// Says that each row is off by at most `bound` in the ℓ2 norm, from scaling on the way: what is proved then holds
    /// for what was meant.
    pub fn with_row_rounding(mut self, bound: f64) -> Self {
        assert!(bound >= 0.0 && bound.is_finite(), "{bound} is no bound");
        self.row_rounding = bound;
        self
    }

    /// m.
    pub fn features(&self) -> usize {
        self.features
    }

    /// l.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The seed of G.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Samples of a whole reading; of the first one so far, before its end.
    pub fn rows(&self) -> usize {
        self.rows.unwrap_or_else(|| self.reading.rows())
    }

    /// Samples of the reading under way.
    pub fn rows_of_reading(&self) -> usize {
        self.reading.rows()
    }

    /// Readings that are done.
    pub fn readings(&self) -> usize {
        self.readings
    }

    /// Whether the space holds all of A's range, so that another reading would bring nothing.
    pub fn is_closed(&self) -> bool {
        self.rows.is_some() && self.space.next().cols() == 0
    }

    /// ‖X‖²_F, once all samples were read.
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// μ, where samples are centred and all were read.
    pub fn mean(&self) -> Option<Vec<f64>> {
        self.mean.as_ref().map(|(mean, _)| mean.rounded())
    }

    /// Takes samples of this reading, in portions of any size. After an error the sketch is of no use.
    pub fn update(&mut self, rows: &dyn Blocks, exec: Exec<'_>) -> Result<(), Error> {
        let m = self.features;
        if rows.cols() != m {
            let ours = Kind { features: m, form: Form::Gram, centred: self.centred };
            return Err(Error::NotAlike { ours, theirs: Kind { features: rows.cols(), ..ours } });
        }
        let height = block_rows(m);
        let tail = self.reading.take_tail();
        let waiting = Waiting { tail: &tail, rows, features: m, seen: self.reading.rows() };
        let total = tail.len() / m + rows.rows();
        for block in 0..total / height {
            let block = waiting.read(block * height..(block + 1) * height)?;
            self.reading.add(block, self.space.next(), exec)?;
        }
        let rest = waiting.read(total / height * height..total)?.into_vec();
        self.reading.set_tail(rest);
        Ok(())
    }

    /// Ends a reading: every sample was given once, the same ones as in the reading before and in the same order.
    pub fn end_of_reading(&mut self, exec: Exec<'_>) -> Result<(), Error> {
        let m = self.features;
        let tail = self.reading.take_tail();
        if !tail.is_empty() {
            let rows = Mat::from_vec(tail.len() / m, m, tail).expect("the tail holds whole rows");
            self.reading.add(rows, self.space.next(), exec)?;
        }
        let n = self.reading.rows();
        match self.rows {
            _ if n == 0 => return Err(Error::NoRows),
            Some(before) if before != n => return Err(Error::OtherRows { before, now: n }),
            _ => self.rows = Some(n),
        }
        let fresh = Reading::new(m, 0, false, None); // for a moment
        let done = std::mem::replace(&mut self.reading, fresh).end(self.space.next(), exec)?;
        self.energy = done.energy;
        self.error = self.error.max(done.error);
        self.mean = done.mean.or(self.mean.take());
        self.readings += 1;
        if self.space.next().cols() > 0 {
            self.space.take(done.image, self.error, exec)?;
        }
        self.reading = Reading::new(m, self.space.next().cols(), self.centred, self.mean.clone());
        Ok(())
    }

    /// A bound on how far T, as computed, is from what it is over exactly orthonormal vectors: its rounding and what was left
    /// out of the space as rounding, and what the vectors lack of being orthonormal.
    fn slack(&self, largest: f64) -> f64 {
        let d = self.space.dimension() as f64;
        4.0 * d.sqrt() * self.error + gamma(self.features) * d * largest
    }

    /// Bytes that it takes, at most and about, to read samples `readings` times with portions of `portion` rows of
    /// numbers of `width` bytes, the next of which is read meanwhile.
    ///
    /// These are the blocks Q and what a step makes beside them, 8·l·m·(s + 5); T and its decomposition, 48(s·l)²; a block of b rows,
    /// its product and what waits for one, 8(3bm + 2bl); two portions. `sketches` of them side by side share the last.
    pub fn working_bytes(
        (features, columns): (usize, usize),
        readings: usize,
        sketches: usize,
        portion: usize,
        width: usize,
    ) -> u128 {
        let [m, s, b] = [features, readings, block_rows(features)].map(|x| x as u128);
        let (l, portion) = (columns.min(features) as u128, portion as u128);
        let one = 8 * (l * m * (s + 5) + 6 * (s * l) * (s * l) + 3 * b * m + 2 * b * l);
        sketches as u128 * one + 2 * portion * m * width as u128
    }
}
