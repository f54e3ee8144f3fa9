//! The tile in plain Rust, for machines without a kernel of their own; the reference in the tests of the kernels.

use std::ops::Range;

use crate::gram::Factors;
use crate::panel::{MAX_LANES, Packed, STRIDE, TILE_ROWS, TILE_STRIPS, TILE_SUMS};

/// [`crate::machine::Machine::collect`].
pub(crate) fn collect<L: Copy>(strips: &mut [L], from: &[usize], to: Range<usize>, lanes: usize) {
    for step in 0..to.len() / lanes {
        let mut some = [strips[to.start]; MAX_LANES];
        some.iter_mut().zip(from).for_each(|(lane, from)| *lane = strips[from + step * lanes]);
        strips[to.start + step * lanes..][..from.len()].copy_from_slice(&some[..from.len()]);
    }
}

/// The tile of [`crate::gram`].
pub(crate) fn tile<T: Packed>(factors: Factors<'_, T>, sums: &mut [T::Sum; TILE_SUMS]) {
    factors.check(1);
    let width = TILE_STRIPS * T::LANES;
    for v in 0..factors.count {
        let mut tile = [[T::Sum::default(); MAX_LANES]; TILE_ROWS];
        let columns = factors.columns[v * STRIDE * T::LANES..].chunks_exact(T::LANES);
        for (columns, rows) in columns.zip(factors.rows.chunks_exact(T::LANES)).take(factors.steps) {
            for (sums, &b) in tile.iter_mut().zip(&rows[factors.lane..factors.lane + TILE_ROWS]) {
                for (sum, &a) in sums.iter_mut().zip(columns) {
                    T::multiply(sum, a, b);
                }
            }
        }
        for (r, row) in tile.iter().enumerate() {
            sums[r * width + v * T::LANES..][..T::LANES].copy_from_slice(&row[..T::LANES]);
        }
    }
}
