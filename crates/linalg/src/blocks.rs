//! A matrix that is read block by block, so that no f64 copy of the whole is ever needed.

use std::ops::Range;

use crate::mat::MatMut;

/// A matrix that can write any of its blocks as `f64`.
pub trait Blocks: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of columns.
    fn cols(&self) -> usize;
    /// Writes the block `rows × cols`, divided by 2^[`exponent`](Blocks::exponent), to the top left of `out`.
    fn read(&self, rows: Range<usize>, cols: Range<usize>, out: &mut MatMut<'_>);
    /// The power of two that keeps what is read near one, so that squares neither overflow nor vanish.
    fn exponent(&self) -> i32 {
        0
    }
}

/// A matrix read with rows and columns exchanged.
pub struct Transposed<'a>(pub &'a dyn Blocks);

impl Blocks for Transposed<'_> {
    fn rows(&self) -> usize {
        self.0.cols()
    }
    fn cols(&self) -> usize {
        self.0.rows()
    }
    fn read(&self, rows: Range<usize>, cols: Range<usize>, out: &mut MatMut<'_>) {
        self.0.read(cols, rows, &mut out.transposed());
    }
    fn exponent(&self) -> i32 {
        self.0.exponent()
    }
}

impl Blocks for crate::Mat {
    fn rows(&self) -> usize {
        self.rows()
    }
    fn cols(&self) -> usize {
        self.cols()
    }
    fn read(&self, rows: Range<usize>, cols: Range<usize>, out: &mut MatMut<'_>) {
        for (to, from) in rows.enumerate() {
            out.set_row(to, self.row(from)[cols.clone()].iter().copied());
        }
    }
}
