//! The order in which the tiles of G are visited.
//!
//! ```text
//!     block of rows │ ■ ■ ■ …        a tile ■ is 4 rows (8 with registers of 64 bytes) × 3 strips of columns;
//!     of G          │ ■ ■ ■ …        down a block first (the columns' strips stay in the first-level cache, the
//!                   │ ■ ■ ■ …        rows' strips come from the second), then on to the next columns
//! ```
//! A tile that the diagonal crosses covers only the strips that reach the diagonal. Columns that a panel leaves out,
//! because they are zero, belong to no tile. The tile of an entry, and so the order of its sum, depends on the entry's
//! place in G and on the panel alone; a tile that two stripes share is computed for both.
//!
//! A product AᵀB of two panels is visited in the same order; it has no diagonal.

use std::marker::PhantomData;
use std::ops::Range;

use crate::machine::Machine;
use crate::panel::{
    EXTRA_SUMS, LINE, MAX_LANES, MAX_REGISTER, Number, Packed, Panel, STEPS, STRIDE, TILE_ROWS, TILE_STRIPS, TILE_SUMS,
    UNROLL,
};

/// Stripes of G begin at multiples of this many rows.
pub const STRIPE_ROWS: usize = 24;

/// Bytes of packed rows that stay in the second-level cache while the columns are visited.
const BLOCK: usize = 224 << 10;

/// Prefetched where nothing else is: an address that is mapped, since prefetching an unmapped one is slow.
static MAPPED: [f64; 1] = [0.0];

/// A range of rows of G. Both ends of `rows` are multiples of [`STRIPE_ROWS`], or the width of G.
pub struct Stripe<'a> {
    /// Which rows.
    pub rows: Range<usize>,
    /// The entries of these rows: row i begins at (i − `rows.start`) · `stride`.
    pub entries: &'a mut [f64],
    /// Distance between the beginnings of two consecutive rows; the width, or more where G is part of a larger matrix.
    pub stride: usize,
}

#[cfg(test)]
impl<'a> Stripe<'a> {
    /// All rows of a G that is stored row after row.
    pub(crate) fn whole(entries: &'a mut [f64], width: usize) -> Self {
        Self { rows: 0..width, entries, stride: width }
    }
}

/// Adds AᵀA of the panel to some rows of the lower triangle of G.
///
/// The entries j ≤ i are updated; a few entries above the diagonal may be written too, with undefined values. The bits
/// of an entry depend on the panel and on the kind of machine only.
pub fn accumulate<T: Number>(panel: &Panel<T>, gram: Stripe<'_>) {
    accumulate_sides(Sides::same(panel), gram, []);
}

/// Adds AᵀB of two panels of the same depth to the rows of a matrix that is as wide as B. The call is fastest where B
/// is the wider panel.
pub fn accumulate_product<T: Number>(a: &Panel<T>, b: &Panel<T>, product: Stripe<'_>) {
    assert_eq!(a.depth(), b.depth(), "both panels have as many rows");
    accumulate_sides(Sides { rows: a, columns: b, triangle: false }, product, []);
}

/// [`accumulate`], which prefetches `next` from memory meanwhile.
///
/// `next` is a hint, useful for the values that are packed next, in any number of pieces. On narrow matrices, which are
/// limited by memory latency, the gain is a fifth.
pub fn accumulate_prefetching<'a, T: Number>(
    panel: &Panel<T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = Prefetch<'a>>,
) {
    accumulate_sides(Sides::same(panel), gram, next);
}

/// The panels of the rows and the columns of the product.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a, T: Number> {
    pub(crate) rows: &'a Panel<T>,
    pub(crate) columns: &'a Panel<T>,
    /// Both are the same panel, and entries above the diagonal are left out.
    pub(crate) triangle: bool,
}

impl<'a, T: Number> Sides<'a, T> {
    pub(crate) fn same(panel: &'a Panel<T>) -> Self {
        Self { rows: panel, columns: panel, triangle: true }
    }
}

/// The two sides of a tile, both packed: the sums are over `steps` steps of `columns` (`count` strips, [`STRIDE`]
/// apart) times the lanes of `rows` from `lane` on, one lane for each row of the tile.
pub struct Factors<'a, T: Packed> {
    pub(crate) columns: &'a [T::Lane],
    pub(crate) rows: &'a [T::Lane],
    pub(crate) lane: usize,
    pub(crate) count: usize,
    pub(crate) steps: usize,
    /// Prefetched meanwhile: two blocks side by side.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
    pub(crate) ahead: [Prefetch<'a>; 2],
    /// Prefetched meanwhile to the first-level cache.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
    pub(crate) soon: &'a PrefetchQueue,
}

/// Cache lines that are needed right after a tile: one line is prefetched every [`UNROLL`] steps. All lines at once
/// would delay the loads of the tile.
pub(crate) struct PrefetchQueue {
    pub(crate) lines: [*const f64; STEPS / UNROLL],
    count: usize,
}

impl PrefetchQueue {
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self { lines: [MAPPED.as_ptr(); STEPS / UNROLL], count: 0 }
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.lines[..self.count].fill(MAPPED.as_ptr());
        self.count = 0;
    }

    /// Consecutive numbers.
    #[inline(always)]
    fn push_all(&mut self, numbers: &[f64]) {
        for line in numbers.chunks(LINE / size_of::<f64>()) {
            let Some(next) = self.lines.get_mut(self.count) else { return };
            *next = line.as_ptr();
            self.count += 1;
        }
    }

    /// Some pieces of a row. Lines beyond the capacity are dropped.
    #[inline(always)]
    fn push(&mut self, row: &[f64], pieces: &[Piece]) {
        for (line, piece) in self.lines[self.count..].iter_mut().zip(pieces) {
            *line = row.as_ptr().wrapping_add(piece.column);
            self.count += 1;
        }
    }
}

/// Memory that will be read soon, in any number type: it is prefetched, never read here.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
pub struct Prefetch<'a> {
    pub(crate) start: *const u8,
    pub(crate) bytes: usize,
    values: PhantomData<&'a ()>,
}

impl<'a> Prefetch<'a> {
    /// The memory of some values.
    #[inline(always)]
    pub fn of<V>(values: &'a [V]) -> Self {
        Self { start: values.as_ptr().cast(), bytes: size_of_val(values), values: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self { start: MAPPED.as_ptr().cast(), bytes: 0, values: PhantomData }
    }

    /// Pieces for one tile each: one cache line for each [`UNROLL`] steps.
    #[inline(always)]
    pub(crate) fn pieces(self, steps: usize) -> impl Iterator<Item = Self> {
        let max_bytes = steps / UNROLL * LINE;
        (0..self.bytes).step_by(max_bytes).map(move |at| Self {
            start: self.start.wrapping_add(at),
            bytes: max_bytes.min(self.bytes - at),
            ..self
        })
    }
}

impl<T: Packed> Factors<'_, T> {
    /// Preconditions of kernels with registers of `wide` · 32 bytes.
    #[inline(always)]
    pub(crate) fn check(&self, wide: usize) {
        let lanes = wide * T::LANES;
        assert!((1..=TILE_STRIPS).contains(&self.count) && self.lane + wide * TILE_ROWS <= lanes);
        assert!(self.steps > 0 && self.steps.is_multiple_of(UNROLL) && self.steps <= STEPS);
        assert!(self.rows.len() >= self.steps * lanes);
        assert!(self.columns.len() >= ((self.count - 1) * STRIDE + self.steps) * lanes);
    }
}

fn accumulate_sides<'a, T: Number>(
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = Prefetch<'a>>,
) {
    assert_eq!(sides.rows.machine().wide(), sides.columns.machine().wide(), "both panels are packed alike");
    let (height, width, rows) = (sides.rows.width(), sides.columns.width(), &gram.rows);
    let legal = |end: usize| end == height || (end < height && end.is_multiple_of(STRIPE_ROWS));
    assert!(rows.start <= rows.end && legal(rows.start) && legal(rows.end), "rows {rows:?} of {height}");
    let required = rows.len().checked_sub(1).map_or(0, |before| before * gram.stride + width);
    assert!(gram.stride >= width && gram.entries.len() >= required, "too few entries for the rows {rows:?} of {width}");
    if sides.rows.depth() == 0 || rows.is_empty() {
        return;
    }
    match sides.rows.machine() {
        Machine::Portable => {
            visit::<T, 1>(sides, gram, next, crate::portable::tile, add::<T, 1>);
        }
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(avx2) => crate::avx2::accumulate(avx2, sides, gram, next),
        #[cfg(target_arch = "x86_64")]
        Machine::Avx512(avx512) => crate::avx512::accumulate(avx512, sides, gram, next),
    }
}

/// All tiles, of registers of `WIDE` · 32 bytes. `add(entries, rows, pieces, sums)` adds the sums of a tile to some
/// pieces of the rows of G that begin at the offsets `rows`; the sums of a row follow those of the row before, and at
/// required [`EXTRA_SUMS`] more follow the last.
#[inline(always)]
pub(crate) fn visit<'a, T: Number, const WIDE: usize>(
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = Prefetch<'a>>,
    tile: impl Fn(Factors<'_, T>, &mut [T::Sum; TILE_SUMS]),
    add: impl Fn(&mut [f64], &[usize], &[Piece], &[T::Sum]),
) {
    let (lanes, tall, wide) = (WIDE * T::LANES, WIDE * TILE_ROWS, WIDE * T::LANES * TILE_STRIPS);
    let Stripe { rows, entries, stride } = gram;
    let (panel, across, triangle) = (sides.rows, sides.columns, sides.triangle);
    let (steps, stored) = (panel.steps(), panel.stored_columns());
    let mut ahead = next.into_iter().flat_map(|values| values.pieces(steps));
    let (mut sums, mut soon) = ([T::Sum::default(); TILE_SUMS], PrefetchQueue::none());
    // Places of the rows; tiles begin at the same rows in every stripe.
    let (first, last) = (stored.partition_point(|i| *i < rows.start), stored.partition_point(|i| *i < rows.end));
    let (strips, block) = (across.stored_columns().len().div_ceil(lanes), BLOCK / (STEPS * 32 * WIDE) * lanes);
    for top in (first / tall * tall..last).step_by(block) {
        let bottom = (top + block).min(last);
        for left in (0..if triangle { bottom.div_ceil(lanes) } else { strips }).step_by(TILE_STRIPS) {
            let (columns, pieces) =
                (across.strips_from(left), Pieces::new(&across.stored_columns()[left * lanes..], lanes));
            let contiguous = pieces.contiguous(wide);
            // The next columns are prefetched while these are multiplied: a wide panel does not fit into a near cache.
            let after = across.strips_from(left + TILE_STRIPS).chunks_exact(STRIDE * lanes).take(TILE_STRIPS);
            let mut after = after.flat_map(|strip| Prefetch::of(&strip[..steps * lanes]).pieces(steps));
            for place in (if triangle { top.max(left * lanes) } else { top }..bottom).step_by(tall) {
                let (strip, lane) = (place / lanes, place % lanes);
                let count = if triangle { strip + 1 - left } else { strips - left }.min(TILE_STRIPS);
                let (tile_rows, pieces) = (place.max(first)..(place + tall).min(last), pieces.of(count));
                let row_of = |at: usize| (stored[at] - rows.start) * stride;
                // A tile of consecutive rows and columns is contiguous in G; of any other tile, every row is updated
                // piece by piece.
                let rows_too = tile_rows.len() == tall && stored[tile_rows.end - 1] - stored[tile_rows.start] < tall;
                let corner =
                    contiguous.filter(|_| count == TILE_STRIPS && rows_too).map(|column| row_of(place) + column);
                soon.clear();
                match corner {
                    Some(corner) => (0..tall).for_each(|r| soon.push_all(&entries[corner + r * stride..][..wide])),
                    None => tile_rows.clone().for_each(|at| soon.push(&entries[row_of(at)..], pieces)),
                }
                let two = [after.next().or_else(|| ahead.next()), ahead.next()];
                let ahead = two.map(|memory| memory.unwrap_or_else(Prefetch::none));
                let packed_rows = panel.strips_from(strip);
                tile(Factors { columns, rows: packed_rows, lane, count, steps, ahead, soon: &soon }, &mut sums);
                match corner {
                    Some(corner) => (0..tall).for_each(|r| {
                        add_all::<T>(&mut entries[corner + r * stride..][..wide], &sums[r * wide..][..wide]);
                    }),
                    None => {
                        let mut begin = [0; TILE_ROWS * MAX_REGISTER];
                        begin.iter_mut().zip(tile_rows.clone()).for_each(|(begin, at)| *begin = row_of(at));
                        let sums = &sums[(tile_rows.start - place) * wide..];
                        add(entries, &begin[..tile_rows.len()], pieces, sums);
                    }
                }
            }
        }
    }
}

/// Consecutive columns of G at consecutive places of a tile: at most [`EXTRA_SUMS`], and of one strip.
#[derive(Clone, Copy, Default)]
pub(crate) struct Piece {
    /// Place of the first column, counted from the first column of the tile.
    pub(crate) at: usize,
    /// Its column in G.
    pub(crate) column: usize,
    pub(crate) length: usize,
}

/// The columns of a tile of [`TILE_STRIPS`] strips, from left to right.
struct Pieces {
    pieces: [Piece; TILE_STRIPS * MAX_LANES],
    /// Number of pieces in the first strip, the first two, all three.
    ends: [usize; TILE_STRIPS],
}

impl Pieces {
    /// The pieces of the first columns of `stored`.
    #[inline(always)]
    fn new(stored: &[usize], lanes: usize) -> Self {
        let mut all = Self { pieces: [Piece::default(); TILE_STRIPS * MAX_LANES], ends: [0; TILE_STRIPS] };
        let mut count = 0;
        for (strip, end) in all.ends.iter_mut().enumerate() {
            for first in (strip * lanes..(strip + 1) * lanes).step_by(EXTRA_SUMS) {
                let some = &stored[first.min(stored.len())..(first + lanes.min(EXTRA_SUMS)).min(stored.len())];
                let mut at = first;
                for run in some.chunk_by(|a, b| a + 1 == *b) {
                    all.pieces[count] = Piece { at, column: run[0], length: run.len() };
                    (at, count) = (at + run.len(), count + 1);
                }
            }
            *end = count;
        }
        all
    }

    /// The first column, where the tile has `wide` columns that are consecutive.
    #[inline(always)]
    fn contiguous(&self, wide: usize) -> Option<usize> {
        let (first, last) = (self.pieces[0].column, self.pieces[self.ends[TILE_STRIPS - 1] - 1]);
        (last.at + last.length == wide && last.column - first == last.at).then_some(first)
    }

    /// The pieces of the first `count` strips.
    #[inline(always)]
    fn of(&self, count: usize) -> &[Piece] {
        &self.pieces[..self.ends[count - 1]]
    }
}

/// Adds the sums of a row of a tile to consecutive entries of a row of G, in lengths known to the compiler.
#[inline(always)]
fn add_all<T: Number>(row: &mut [f64], sums: &[T::Sum]) {
    let ((eights, rest), (sums, sums_rest)) = (row.as_chunks_mut::<8>(), sums.as_chunks::<8>());
    for (entries, sums) in eights.iter_mut().zip(sums) {
        (0..8).for_each(|c| entries[c] += sums[c].into());
    }
    rest.iter_mut().zip(sums_rest).for_each(|(entry, &sum)| *entry += sum.into());
}

/// Adds the sums of a tile of `WIDE` · 32 bytes to some pieces of some rows of G.
#[inline(always)]
pub(crate) fn add<T: Number, const WIDE: usize>(
    entries: &mut [f64],
    rows: &[usize],
    pieces: &[Piece],
    sums: &[T::Sum],
) {
    for (row, sums) in rows.iter().zip(sums.chunks(WIDE * T::LANES * TILE_STRIPS)) {
        for piece in pieces {
            let row = &mut entries[row + piece.column..][..piece.length];
            row.iter_mut().zip(&sums[piece.at..]).for_each(|(entry, &sum)| *entry += sum.into());
        }
    }
}
