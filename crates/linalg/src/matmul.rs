//! Products of dense matrices in pieces: threads share them, and the monitor is polled between them.
//!
//! Pieces follow from the shape alone, so that the bits do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::Error;
use crate::exec::Exec;

/// Multiplications and additions that justify a piece of their own: about a millisecond.
pub(crate) const PIECE: usize = 12_000_000;

/// `out` = `out` or 0, plus `factor` · `left` · `right`.
pub(crate) fn product(
    out: MatMut<'_, f64>,
    accum: Accum,
    left: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
    factor: f64,
    exec: Exec<'_>,
) -> Result<(), Error> {
    let (rows, cols, inner) = (left.nrows(), right.ncols(), left.ncols());
    let pieces = (rows * cols * inner / PIECE).max(1);
    product_in_stripes(out, accum, left, right, factor, rows.div_ceil(pieces).next_multiple_of(48), exec)
}

/// The same with pieces of `height` rows.
pub(crate) fn product_in_stripes(
    out: MatMut<'_, f64>,
    accum: Accum,
    left: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
    factor: f64,
    height: usize,
    exec: Exec<'_>,
) -> Result<(), Error> {
    let exec = exec.worth(left.nrows() * left.ncols() * right.ncols());
    exec.each("multiply", stripes(out, height).into_iter(), |i, out| {
        let left = left.subrows(i * height, out.nrows());
        matmul(out, accum, left, right, factor, Par::Seq);
    })
}

/// The matrix cut into stripes of `height` rows.
pub(crate) fn stripes(of: MatMut<'_, f64>, height: usize) -> Vec<MatMut<'_, f64>> {
    let height = height.max(1);
    let mut stripes = Vec::with_capacity(of.nrows().div_ceil(height));
    let mut rest = of;
    while rest.nrows() > height {
        let (top, below) = rest.split_at_row_mut(height);
        stripes.push(top);
        rest = below;
    }
    stripes.push(rest);
    stripes
}
