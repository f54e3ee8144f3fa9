//! The singular values above a cut of samples too wide for m² numbers, in a few passes over the samples.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X, n, m | `rows`, `features` | samples in rows (less their mean μ where they are centered), never stored |
//! | A | | XᵀX, m × m, never formed; its eigenvalues are σ² |
//! | G, l | `columns` | a seeded Gaussian m × l matrix |
//! | s | `passes` | number of passes over the samples |
//! | Q₁ … Q_s | `space` | orthonormal blocks; together they span K = {G, AG, …, Aˢ⁻¹G} |
//! | W | `image` | A Q_s = Σ x (xᵀQ_s), the sum of one pass |
//! | T | `projected` | QᵀAQ, with eigenvalues ξ₁ ≥ ξ₂ ≥ … (Ritz values) |
//! | E | `energy` | ‖X‖²_F = tr A |
//!
//! ```text
//!     pass 1    W = A Q₁, the sketch AG         mean, E
//!     pass 2    W = A Q₂                        exact Rayleigh–Ritz over {G, AG}
//!     pass s    W = A Q_s                       the same over {G, AG, …, Aˢ⁻¹G}, where the count is not settled yet
//! ```
//! A pass is a sum of l·m numbers over the rows. The method is block Lanczos with one pass per step and all of T
//! computed from W, so that T is exact up to rounding however badly the blocks converge (Musco, Musco 2015 —
//! `musco2015` in `docs/references.bib`).
//!
//! **Lower bound.** ξᵢ ≤ λᵢ(A) always (Cauchy), so every ξ above the cut proves a value above it.
//! **Upper bound**, by the first of these that applies (`count.rs`):
//! 1. *Proved* by energy: E − tr T is the energy of the complement of K. Where it stays below the cut together with the
//! coupling to K, nothing is missed.
//! 2. *Probable* by the draw of G (`chance.rs`): a missed value would have appeared in K, except with probability 10⁻⁹.
//! 3. *Between*: the smallest number for which 1 or 2 holds. Another pass makes it smaller.
//!
//! **Centering.** The first pass subtracts the mean c of the first block instead, and corrects for it: A = (X − 1cᵀ)ᵀ(X
//! − 1cᵀ) − n·δδᵀ with δ = μ − c. Later passes subtract μ itself, before anything is squared.
//!
//! **Same bytes.** Blocks of rows are counted from the first row of a pass and added in order; a block's product is cut
//! by shape. So the bytes depend neither on chunks nor on threads.

mod chance;
mod count;
mod pass;
mod space;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::blocks::Blocks;
use crate::exec::Exec;
use crate::gram::gamma;
use crate::mat::Mat;
use crate::random::Random;
use crate::summary::{Form, Kind, Mean, PendingRows};
use crate::triangle::orthonormalized;
pub use count::Answer;
use pass::Pass;
use space::Space;

/// Maximum number of passes over the samples.
pub const MAX_PASSES: usize = 64;
/// Approximate number of values in a block of rows.
const BLOCK: usize = 1 << 22;

/// A sketch of samples that are read in a few passes. See the module documentation.
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
///     sketch.update(&x, exec)?; // in chunks of any size
///     sketch.end_pass(exec)?;
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
    centered: bool,
    /// A bound so far on the ℓ2 rounding error of a row.
    row_rounding: f64,
    /// n, once a pass is complete.
    rows: Option<usize>,
    passes: usize,
    /// μ, and a bound on its error.
    mean: Option<(Mean, f64)>,
    energy: f64,
    /// ‖W − AQ‖ ≤ this times √l, for every pass.
    error: f64,
    space: Space,
    pass: Pass,
}

/// Rows of a block, a function of m alone.
pub fn block_rows(features: usize) -> usize {
    (BLOCK / features.max(1)).clamp(64, 512) / 64 * 64
}

impl Sketch {
    /// A sketch of no samples with `features` ≥ 1 features, by `columns` ≥ 1 Gaussian vectors of a seed.
    pub fn new(features: usize, columns: usize, seed: u64, centered: bool) -> Self {
        assert!(features > 0 && columns > 0, "a sketch has features and columns");
        let columns = columns.min(features);
        let values = Random::new(seed).normals(features * columns);
        let gaussian = Mat::from_vec(features, columns, values).expect("as many values as entries");
        let first = orthonormalized(&gaussian, Exec::default()).expect("nobody cancels");
        let pass = Pass::new(features, columns, centered, None);
        let space = Space::new(first);
        let (rows, passes, mean, energy, error) = (None, 0, None, 0.0, 0.0);
        Self { features, columns, seed, centered, row_rounding: 0.0, rows, passes, mean, energy, error, space, pass }
    }

    /// Declares that the error of each row is at most `bound` in the ℓ2 norm, from scaling: bounds then hold for the
    /// exactly scaled samples.
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

    /// Samples of a complete pass; of the first one so far, before its end.
    pub fn rows(&self) -> usize {
        self.rows.unwrap_or_else(|| self.pass.rows())
    }

    /// Samples of the current pass.
    pub fn rows_of_pass(&self) -> usize {
        self.pass.rows()
    }

    /// Number of complete passes.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Whether the space contains the whole range of A, so that another pass adds nothing.
    pub fn is_closed(&self) -> bool {
        self.rows.is_some() && self.space.next().cols() == 0
    }

    /// ‖X‖²_F, once a pass is complete.
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// μ, where samples are centered and a pass is complete.
    pub fn mean(&self) -> Option<Vec<f64>> {
        self.mean.as_ref().map(|(mean, _)| mean.rounded())
    }

    /// Adds samples of this pass, in chunks of any size. After an error the sketch must be discarded.
    pub fn update(&mut self, rows: &dyn Blocks, exec: Exec<'_>) -> Result<(), Error> {
        let m = self.features;
        if rows.cols() != m {
            let ours = Kind { features: m, form: Form::Gram, centered: self.centered };
            return Err(Error::NotAlike { ours, theirs: Kind { features: rows.cols(), ..ours } });
        }
        let height = block_rows(m);
        let tail = self.pass.take_tail();
        let waiting = PendingRows { tail: &tail, rows, features: m, rows_before: self.pass.rows() };
        let total = tail.len() / m + rows.rows();
        for block in 0..total / height {
            let block = waiting.read(block * height..(block + 1) * height)?;
            self.pass.add(block, self.space.next(), exec)?;
        }
        let rest = waiting.read(total / height * height..total)?.into_vec();
        self.pass.set_tail(rest);
        Ok(())
    }

    /// Ends a pass: every sample was given once, the same samples as in the pass before and in the same order.
    pub fn end_pass(&mut self, exec: Exec<'_>) -> Result<(), Error> {
        let m = self.features;
        let tail = self.pass.take_tail();
        if !tail.is_empty() {
            let rows = Mat::from_vec(tail.len() / m, m, tail).expect("the tail holds whole rows");
            self.pass.add(rows, self.space.next(), exec)?;
        }
        let n = self.pass.rows();
        match self.rows {
            _ if n == 0 => return Err(Error::NoRows),
            Some(before) if before != n => return Err(Error::OtherRows { before, now: n }),
            _ => self.rows = Some(n),
        }
        let fresh = Pass::new(m, 0, false, None); // for a moment
        let done = std::mem::replace(&mut self.pass, fresh).end(self.space.next(), exec)?;
        self.energy = done.energy;
        self.error = self.error.max(done.error);
        self.mean = done.mean.or(self.mean.take());
        self.passes += 1;
        if self.space.next().cols() > 0 {
            self.space.add_block(done.image, self.error, exec)?;
        }
        self.pass = Pass::new(m, self.space.next().cols(), self.centered, self.mean.clone());
        Ok(())
    }

    /// A bound on the error of the computed T relative to exactly orthonormal vectors: its rounding, directions dropped
    /// from the space as rounding, and the vectors' departure from orthonormality.
    fn slack(&self, largest: f64) -> f64 {
        let d = self.space.dimension() as f64;
        4.0 * d.sqrt() * self.error + gamma(self.features) * d * largest
    }

    /// An upper bound, approximately, on the bytes needed for `passes` passes with chunks of `chunk` rows of
    /// numbers of `width` bytes, while the next chunk is read ahead.
    ///
    /// These are the blocks Q and the temporaries of a step, 8·l·m·(s + 5); T and its decomposition, 48(s·l)²; a block
    /// of b rows, its product and the buffered rows, 8(3bm + 2bl); two chunks. `sketches` of them side by side share
    /// the last.
    pub fn working_bytes(
        (features, columns): (usize, usize),
        passes: usize,
        sketches: usize,
        chunk: usize,
        width: usize,
    ) -> u128 {
        let [m, s, b] = [features, passes, block_rows(features)].map(|x| x as u128);
        let (l, chunk) = (columns.min(features) as u128, chunk as u128);
        let one = 8 * (l * m * (s + 5) + 6 * (s * l) * (s * l) + 3 * b * m + 2 * b * l);
        sketches as u128 * one + 2 * chunk * m * width as u128
    }
}
