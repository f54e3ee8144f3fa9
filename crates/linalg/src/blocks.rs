//! A matrix that is read row by row, so that no f64 copy of the whole matrix is needed.

use std::ops::Range;

pub use eigenspan_kernel::Prefetch;

use crate::mat::MatMut;
use crate::sparse::Sparse;

/// A matrix that can write any contiguous part of its rows as numbers of type `T`.
pub trait Rows<T>: Sync {
    /// Writes the columns `cols` of row `i` to `out`.
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [T]);
    /// Writes all columns of some rows, `width` values each, one after the other.
    fn read_rows(&self, rows: Range<usize>, width: usize, out: &mut [T]) {
        for (i, row) in rows.zip(out.chunks_exact_mut(width.max(1))) {
            self.read_row(i, 0..width, row);
        }
    }
    /// The memory that [`read_row`](Rows::read_row) will read for the columns `cols` of some rows, if it is one
    /// contiguous block: for prefetching.
    fn whereabouts(&self, _rows: Range<usize>, _cols: Range<usize>) -> Option<Prefetch<'_>> {
        None
    }
}

/// A matrix that can write any of its blocks as `f64`.
///
/// [`read`](Blocks::read) gives the matrix divided by 2^[`exponent`](Blocks::exponent), which keeps entries near one,
/// so that squares neither overflow nor underflow.
pub trait Blocks: Rows<f64> {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of columns.
    fn cols(&self) -> usize;
    /// The power of two by which every value read is divided.
    fn exponent(&self) -> i32 {
        0
    }
    /// A bound on ‖X_read − X‖_F, where X is the exactly prepared matrix: the rounding of scaling and centering.
    fn rounding(&self) -> f64 {
        0.0
    }
    /// The same matrix in a number type that is multiplied faster than `f64`.
    fn native(&self) -> Native<'_> {
        Native::F64
    }
    /// Writes the block `rows × cols` to the top left of `out`.
    fn read(&self, rows: Range<usize>, cols: Range<usize>, out: &mut MatMut<'_>) {
        let mut row = vec![0.0; cols.len()];
        for (to, i) in rows.enumerate() {
            if let Some(straight) = out.row_mut(to, cols.len()) {
                self.read_row(i, cols.clone(), straight);
            } else {
                self.read_row(i, cols.clone(), &mut row);
                out.set_row(to, row.iter().copied());
            }
        }
    }
}

/// The number type in which a matrix is multiplied.
pub enum Native<'a> {
    /// `f64`, by [`Rows::read_row`].
    F64,
    /// `f32`: the values read, rounded to single precision.
    F32(&'a dyn Rows<f32>),
    /// Bytes v: row i of the values read is v / (2^exponent · `lengths`\[i\]), or v / 2^exponent without lengths.
    U8 {
        /// The bytes.
        values: &'a dyn Rows<u8>,
        /// The divisor of each row.
        lengths: Option<&'a [f64]>,
    },
    /// Bytes v: the exact matrix is (v − μ) / 2^exponent, with μ the exact mean of each column. The values read differ
    /// from it by the rounding of μ.
    CenteredU8(&'a dyn Rows<u8>),
    /// Few nonzeros: multiplied without the zeros where this is faster.
    Sparse(Sparse),
}

/// A matrix read with rows and columns exchanged.
pub struct Transposed<'a>(pub &'a dyn Blocks);

impl Rows<f64> for Transposed<'_> {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        self.0.read(cols, i..i + 1, &mut MatMut::row_major(out, 1));
    }
}

impl Blocks for Transposed<'_> {
    fn rows(&self) -> usize {
        self.0.cols()
    }
    fn cols(&self) -> usize {
        self.0.rows()
    }
    fn exponent(&self) -> i32 {
        self.0.exponent()
    }
    fn rounding(&self) -> f64 {
        self.0.rounding()
    }
    fn read(&self, rows: Range<usize>, cols: Range<usize>, out: &mut MatMut<'_>) {
        self.0.read(cols, rows, &mut out.transposed());
    }
}

impl Rows<f64> for crate::Mat {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        out.copy_from_slice(&self.row(i)[cols]);
    }
    fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'_>> {
        self.view().contiguous(rows, cols).map(Prefetch::of)
    }
}

impl Blocks for crate::Mat {
    fn rows(&self) -> usize {
        self.rows()
    }
    fn cols(&self) -> usize {
        self.cols()
    }
}
