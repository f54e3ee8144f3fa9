//! What a decomposition needs of samples that are no longer available: updated in chunks, merged, finished.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X, n, m | `rows`, `features` | samples in rows; only their summary is stored |
//! | μ | `mean` | their mean, where they are centered |
//! | C | | X, or X − 1μᵀ where samples are centered |
//! | S, R | `square` | CᵀC ([`Form::Gram`]), or the triangle with RᵀR = CᵀC ([`Form::Triangle`]) |
//! | B | [`block_rows`] | rows of a block, a function of m alone |
//!
//! ```text
//!     update   rows ─▶ tail ─ B rows are full ─▶ part of the block ─▶ whole ⊕ part
//!     merge    whole ⊕ our tail ⊕ their whole, their tail
//!     finish   whole ⊕ tail ─▶ σ above the cut, U, certificate
//! ```
//! and ⊕ is, with d = μ₂ − μ₁ where samples are centered and d = 0 where they are not (Chan, Golub, LeVeque 1983 —
//! `chan1983` in `docs/references.bib`),
//! ```text
//!     CᵀC = C₁ᵀC₁ + C₂ᵀC₂ + (n₁n₂/n)·ddᵀ        μ = μ₁ + (n₂/n)·d
//! ```
//! so both forms treat [C₁; C₂; √(n₁n₂/n)·dᵀ] as the matrix that was read: S adds its squares, R is its triangle. The
//! mean is subtracted before anything is squared, never as Σxxᵀ − nμμᵀ.
//!
//! **Same bytes.** Blocks are counted from the first row of a summary, each is reduced on its own, and they are added
//! in order. So a summary has the same bytes for any chunks and any number of threads. A merge is a boundary between
//! partitions: blocks are counted anew from there, and sums are taken in the order of the merges. Partitions merged one
//! after the other, in their order, give the same bytes wherever and whenever each was summarized; another order or
//! another bracketing gives the same numbers up to rounding.
//!
//! **Which form.** The error of σ from R is a few eps·σ₁. S costs several times less and is used while the cut is not
//! too far below σ₁ ([`REACH`](crate::spectrum::REACH)); where it is, [`Summary::finish`] returns [`Error::CutTooLow`].
//!
//! Values are expected near one, as in samples of unit length: squares of values below 1e-150 underflow, and values
//! above [`LARGEST`] are refused.

mod bytes;
mod finish;
pub(crate) mod mean;
mod reduction;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::Error;
use crate::blocks::Blocks;
use crate::exec::Exec;
use crate::mat::Mat;
use crate::scale::times_power_of_two;
pub use finish::{Closed, ClosedSpectrum, Finished};
pub(crate) use mean::Mean;
use reduction::Reduction;

/// 2²⁰⁰: squares of squares of larger values, summed, might overflow.
pub const LARGEST: f64 = f64::from_bits((1023 + 200) << 52);
/// Maximum total size, in bytes, of the blocks that are reduced side by side.
const SIDE_BY_SIDE: usize = 128 << 20;

/// What is stored of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The Gram matrix (the scatter matrix where samples are centered): fast, for cuts not far below σ₁.
    Gram,
    /// The triangular factor: for any cut.
    Triangle,
}

/// What two summaries must have in common to be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Features of a sample.
    pub features: usize,
    /// What is stored.
    pub form: Form,
    /// Whether the mean is subtracted.
    pub centered: bool,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let form = match self.form {
            Form::Gram => "Gram",
            Form::Triangle => "triangular",
        };
        let centered = if self.centered { "centered" } else { "uncentered" };
        write!(f, "{form} summary of {} {centered} features", self.features)
    }
}

/// A summary of samples. See the module documentation.
///
/// ```
/// use eigenspan_linalg::spectrum::Select;
/// use eigenspan_linalg::summary::{Form, Summary};
/// use eigenspan_linalg::{Exec, Mat};
///
/// let exec = Exec::default();
/// let mut summary = Summary::empty(2, Form::Triangle, true);
/// summary.update(&Mat::from_fn(3, 2, |i, j| (i + j) as f64), exec)?;
/// let mut more = Summary::empty(2, Form::Triangle, true);
/// more.update(&Mat::from_fn(2, 2, |i, j| (3 + i + j) as f64), exec)?;
/// summary.merge(&more, exec)?;
/// let found = summary.finish(Select::Above(1.0), exec)?;
/// assert_eq!((found.rows, found.count), (5, 1));
/// assert!((found.sigma[0] - 20f64.sqrt()).abs() < 1e-14);
/// assert_eq!(found.mean, Some(vec![2.0, 3.0]));
/// # Ok::<(), eigenspan_linalg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    kind: Kind,
    /// A bound so far on the ℓ2 rounding error of a row.
    row_rounding: f64,
    /// The full blocks, and everything before the last merge.
    whole: Reduction,
    /// The rows after them, fewer than a block.
    tail: Vec<f64>,
}

/// Rows of a block: enough that adding blocks costs little, and at least the number of features, so that no block is
/// wide.
pub fn block_rows(features: usize) -> usize {
    features.next_multiple_of(256).max(2048)
}

impl Summary {
    /// The summary of no samples with `features` features, at least one.
    pub fn empty(features: usize, form: Form, centered: bool) -> Self {
        assert!(features > 0, "a sample has at least one feature");
        let kind = Kind { features, form, centered };
        Self { kind, row_rounding: 0.0, whole: Reduction::empty(kind), tail: vec![] }
    }

    /// Declares that the error of each row is at most `bound` in the ℓ2 norm, from scaling: the certificate then holds
    /// for the exactly scaled samples. Of two merged summaries, the larger bound holds.
    ///
    /// The bound is per row, so that it does not depend on chunks; [`Blocks::rounding`], which is about a whole chunk,
    /// is ignored.
    pub fn with_row_rounding(mut self, bound: f64) -> Self {
        assert!(bound >= 0.0 && bound.is_finite(), "{bound} is no bound");
        self.row_rounding = bound;
        self
    }

    /// Number of samples so far.
    pub fn rows(&self) -> usize {
        self.whole.rows + self.tail_rows()
    }

    /// The kind given to [`empty`](Summary::empty).
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The number of samples at the end that do not fill a block yet.
    pub fn waiting(&self) -> usize {
        self.tail_rows()
    }

    fn tail_rows(&self) -> usize {
        self.tail.len() / self.kind.features
    }

    /// Adds samples, in chunks of any size. After an error the summary is unchanged.
    pub fn update(&mut self, rows: &dyn Blocks, exec: Exec<'_>) -> Result<(), Error> {
        let m = self.kind.features;
        if rows.cols() != m {
            let theirs = Kind { features: rows.cols(), ..self.kind };
            return Err(Error::NotAlike { ours: self.kind, theirs });
        }
        let height = block_rows(m);
        let total = self.tail_rows() + rows.rows();
        let blocks = total / height;
        if blocks > 0 {
            let waiting = PendingRows { tail: &self.tail, rows, features: m, rows_before: self.whole.rows };
            let mut whole = self.whole.clone();
            let at_once = (SIDE_BY_SIDE / (8 * m * (m + height))).clamp(1, 64);
            for first in (0..blocks).step_by(at_once) {
                let parts = exec.map("summarize", at_once.min(blocks - first), |i| {
                    let some = (first + i) * height..(first + i + 1) * height;
                    Reduction::of(waiting.read(some)?, self.kind, exec.silent())
                })?;
                for part in parts {
                    whole.absorb(&part?, exec.silent())?;
                }
            }
            let rest = waiting.read(blocks * height..total)?.into_vec();
            (self.whole, self.tail) = (whole, rest);
        } else {
            let mut tail = std::mem::take(&mut self.tail);
            let held = tail.len();
            tail.resize(total * m, 0.0);
            let read = PendingRows { tail: &[], rows, features: m, rows_before: self.whole.rows + held / m };
            let outcome = read.write(0..rows.rows(), &mut tail[held..]);
            tail.truncate(if outcome.is_ok() { total * m } else { held });
            self.tail = tail;
            outcome?;
        }
        Ok(())
    }

    /// Adds the samples of another summary, after the present ones. After an error the summary is unchanged.
    pub fn merge(&mut self, other: &Self, exec: Exec<'_>) -> Result<(), Error> {
        if self.kind != other.kind {
            return Err(Error::NotAlike { ours: self.kind, theirs: other.kind });
        }
        // A tail that nothing follows stays open, so that merging with the empty summary changes no bit.
        if other.rows() > 0 {
            let mut whole = self.closed(exec)?;
            whole.absorb(&other.whole, exec)?;
            self.whole = whole;
            self.tail.clone_from(&other.tail);
        }
        self.row_rounding = self.row_rounding.max(other.row_rounding);
        Ok(())
    }

    /// All samples, the tail as a short block.
    fn closed(&self, exec: Exec<'_>) -> Result<Reduction, Error> {
        let mut whole = self.whole.clone();
        if !self.tail.is_empty() {
            let rows = Mat::from_vec(self.tail_rows(), self.kind.features, self.tail.clone());
            let part = Reduction::of(rows.expect("the tail holds whole rows"), self.kind, exec)?;
            whole.absorb(&part, exec)?;
        }
        Ok(whole)
    }
}

/// The tail, and new rows after it.
pub(crate) struct PendingRows<'a> {
    pub(crate) tail: &'a [f64],
    pub(crate) rows: &'a dyn Blocks,
    pub(crate) features: usize,
    /// Rows before the tail.
    pub(crate) rows_before: usize,
}

impl PendingRows<'_> {
    /// Some of the rows, tail and new ones counted together.
    pub(crate) fn read(&self, some: Range<usize>) -> Result<Mat, Error> {
        let mut out = Mat::zeros(some.len(), self.features);
        self.write(some, out.as_mut_slice())?;
        Ok(out)
    }

    /// Writes some of the rows, one after the other; an unusable value is refused with its position.
    fn write(&self, some: Range<usize>, out: &mut [f64]) -> Result<(), Error> {
        let (m, held, exponent) = (self.features, self.tail.len() / self.features, self.rows.exponent());
        for (i, row) in some.zip(out.chunks_exact_mut(m)) {
            if i < held {
                row.copy_from_slice(&self.tail[i * m..(i + 1) * m]);
                continue;
            }
            self.rows.read_row(i - held, 0..m, row);
            if exponent != 0 {
                row.iter_mut().for_each(|x| *x = times_power_of_two(*x, exponent));
            }
            // Without an exit from the loop the compiler vectorizes it.
            if !row.iter().fold(true, |ok, x| ok & usable(*x)) {
                let column = row.iter().position(|x| !usable(*x)).expect("one of them is not usable");
                return Err(Error::OutOfRange { row: self.rows_before + i, column });
            }
        }
        Ok(())
    }
}

/// Whether a value is finite and can be squared.
pub(crate) fn usable(x: f64) -> bool {
    x.abs() <= LARGEST
}
