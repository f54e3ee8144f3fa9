//! The tile in plain Rust, for machines without a kernel of their own, and what the kernels are tested against.

use crate::gram::Factors;
use crate::panel::{GROUP, MOST_LANES, Packed, STRIDE, SUMS, TALL};

/// The tile of [`crate::gram`].
pub(crate) fn tile<T: Packed>(factors: Factors<'_, T>, sums: &mut [T::Sum; SUMS]) {
    factors.check();
    let width = GROUP * T::LANES;
    for v in 0..factors.count {
        let mut tile = [[T::Sum::default(); MOST_LANES]; TALL];
        for (columns, rows) in factors.columns[v * STRIDE..].iter().zip(&factors.rows[..factors.steps]) {
            for (sums, &b) in tile.iter_mut().zip(&rows.as_ref()[factors.lane..factors.lane + TALL]) {
                for (sum, &a) in sums.iter_mut().zip(columns.as_ref()) {
                    T::multiply(sum, a, b);
                }
            }
        }
        for (r, row) in tile.iter().enumerate() {
            sums[r * width + v * T::LANES..][..T::LANES].copy_from_slice(&row[..T::LANES]);
        }
    }
}
