//! The order in which the tiles of G are visited.
//!
//! ```text
//!     block of rows │ ■ ■ ■ …        a tile ■ is 4 rows (8 with registers of 64 bytes) × 3 strips of columns;
//!     of G          │ ■ ■ ■ …        down a block first (the columns' strips stay in the first-level cache, the
//!                   │ ■ ■ ■ …        rows' strips come from the second), then on to the next columns
//! ```
//! A tile that the diagonal crosses covers only the strips that reach it. Columns that a panel leaves out, because they are
//! zero, belong to no tile. Which tile an entry belongs to, and so the order of its sum, depends on its place in G and on
//! the panel alone; a tile that two stripes share is computed for both.
//!
//! A product AᵀB of two panels is visited in the same order; it has no diagonal.

use std::marker::PhantomData;
use std::ops::Range;

use crate::machine::Machine;
use crate::panel::{GROUP, LINE, MOST_LANES, Number, Packed, Panel, STEPS, STRIDE, SUMS, TALL, UNROLL};

/// Stripes of G begin at multiples of this many rows.
pub const STRIP: usize = 24;

/// Bytes of packed rows that stay in the second-level cache while the columns pass by.
const BLOCK: usize = 224 << 10;

/// Some rows of G. Both ends of `rows` are multiples of [`STRIP`], or the width of G.
pub struct Stripe<'a> {
    /// Which rows.
    pub rows: Range<usize>,
    /// Their entries: row i begins at (i − `rows.start`) · `stride`.
    pub entries: &'a mut [f64],
    /// From the beginning of one row to that of the next; the width, or more where G is part of a larger matrix.
    pub stride: usize,
}

impl<'a> Stripe<'a> {
    /// All rows of a G that lies row after row.
    pub fn whole(entries: &'a mut [f64], width: usize) -> Self {
        Self { rows: 0..width, entries, stride: width }
    }
}

/// Adds AᵀA of the panel to some rows of the lower triangle of G.
///
/// The entries j ≤ i are added to; a few entries above the diagonal may be written too, their values mean nothing.
/// The bits of an entry depend on the panel and on the kind of machine, and on nothing else.
pub fn accumulate<T: Number>(panel: &Panel<T>, gram: Stripe<'_>) {
    accumulate_sides(Sides::same(panel), gram, []);
}

/// Adds AᵀB of two panels of the same depth to the rows of a matrix that is as wide as B. Fastest where B is the wider one.
pub fn accumulate_product<T: Number>(a: &Panel<T>, b: &Panel<T>, product: Stripe<'_>) {
    assert_eq!(a.depth(), b.depth(), "both panels have as many rows");
    accumulate_sides(Sides { rows: a, columns: b, triangle: false }, product, []);
}

/// [`accumulate`], while what is `next` is on its way from memory to the caches.
///
/// It is a hint: worth giving for the values that will be packed next, in any number of pieces. On narrow matrices, where waiting for memory costs most, the gain is a fifth.
pub fn accumulate_ahead<'a, T: Number>(panel: &Panel<T>, gram: Stripe<'_>, next: impl IntoIterator<Item = Ahead<'a>>) {
    accumulate_sides(Sides::same(panel), gram, next);
}

/// The panels that rows and columns of the product come from.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a, T: Number> {
    pub(crate) rows: &'a Panel<T>,
    pub(crate) columns: &'a Panel<T>,
    /// Both are the same panel, and what is above the diagonal is left out.
    pub(crate) triangle: bool,
}

impl<'a, T: Number> Sides<'a, T> {
    pub(crate) fn same(panel: &'a Panel<T>) -> Self {
        Self { rows: panel, columns: panel, triangle: true }
    }
}

/// The two sides of a tile, both packed: the sums are over `steps` steps of
/// `columns` (`count` strips, [`STRIDE`] apart) times the lanes of `rows` from `lane` on, one for each row of the tile.
pub struct Factors<'a, T: Packed> {
    pub(crate) columns: &'a [T::Lane],
    pub(crate) rows: &'a [T::Lane],
    pub(crate) lane: usize,
    pub(crate) count: usize,
    pub(crate) steps: usize,
    /// What is fetched meanwhile, two stretches side by side.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
    pub(crate) ahead: [Ahead<'a>; 2],
}

/// Memory that will be read soon, in whatever numbers. Nobody reads it here: it is fetched, so that it is near by then.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
pub struct Ahead<'a> {
    pub(crate) start: *const u8,
    pub(crate) bytes: usize,
    values: PhantomData<&'a ()>,
}

impl<'a> Ahead<'a> {
    /// The memory of some values.
    #[inline(always)]
    pub fn of<V>(values: &'a [V]) -> Self {
        Self { start: values.as_ptr().cast(), bytes: size_of_val(values), values: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn nothing() -> Self {
        Self::of::<u8>(&[])
    }

    /// Pieces for one tile each: a cache line for each [`UNROLL`] steps.
    #[inline(always)]
    pub(crate) fn pieces(self, steps: usize) -> impl Iterator<Item = Self> {
        let most = steps / UNROLL * LINE;
        (0..self.bytes).step_by(most).map(move |at| Self {
            start: self.start.wrapping_add(at),
            bytes: most.min(self.bytes - at),
            ..self
        })
    }
}

impl<T: Packed> Factors<'_, T> {
    /// What kernels with registers of `wide` · 32 bytes rely on.
    #[inline(always)]
    pub(crate) fn check(&self, wide: usize) {
        let lanes = wide * T::LANES;
        assert!((1..=GROUP).contains(&self.count) && self.lane + wide * TALL <= lanes);
        assert!(self.steps > 0 && self.steps.is_multiple_of(UNROLL));
        assert!(self.rows.len() >= self.steps * lanes);
        assert!(self.columns.len() >= ((self.count - 1) * STRIDE + self.steps) * lanes);
    }
}

fn accumulate_sides<'a, T: Number>(sides: Sides<'_, T>, gram: Stripe<'_>, next: impl IntoIterator<Item = Ahead<'a>>) {
    assert_eq!(sides.rows.machine().wide(), sides.columns.machine().wide(), "both panels are packed alike");
    let (height, width, rows) = (sides.rows.width(), sides.columns.width(), &gram.rows);
    let legal = |end: usize| end == height || (end < height && end.is_multiple_of(STRIP));
    assert!(rows.start <= rows.end && legal(rows.start) && legal(rows.end), "rows {rows:?} of {height}");
    let least = rows.len().checked_sub(1).map_or(0, |before| before * gram.stride + width);
    assert!(gram.stride >= width && gram.entries.len() >= least, "too few entries for the rows {rows:?} of {width}");
    if sides.rows.depth() == 0 || rows.is_empty() {
        return;
    }
    match sides.rows.machine() {
        Machine::Portable => {
            visit::<T, 1>(sides, gram, next, |_| (), crate::portable::tile, add::<T, 1>);
        }
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(avx2) => crate::avx2::accumulate(avx2, sides, gram, next),
        #[cfg(target_arch = "x86_64")]
        Machine::Avx512(avx512) => crate::avx512::accumulate(avx512, sides, gram, next),
    }
}

/// All tiles, of registers of `WIDE` · 32 bytes. `soon` hears of the entries that a tile is going to be added to before its
/// sums are computed. `add` adds sums to neighbouring entries; so many as [`crate::panel::MORE`] that mean nothing follow those
/// that belong to them.
#[inline(always)]
pub(crate) fn visit<'a, T: Number, const WIDE: usize>(
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = Ahead<'a>>,
    soon: impl Fn(&[f64]),
    tile: impl Fn(Factors<'_, T>, &mut [T::Sum; SUMS]),
    add: impl Fn(&mut [f64], &[T::Sum]),
) {
    let (lanes, tall) = (WIDE * T::LANES, WIDE * TALL);
    let Stripe { rows, entries, stride } = gram;
    let (panel, across, triangle) = (sides.rows, sides.columns, sides.triangle);
    let (steps, kept) = (panel.steps(), panel.kept());
    let mut ahead = next.into_iter().flat_map(|values| values.pieces(steps));
    let mut sums = [T::Sum::default(); SUMS];
    // Places of the rows; tiles begin where they begin in any stripe.
    let (first, last) = (kept.partition_point(|i| *i < rows.start), kept.partition_point(|i| *i < rows.end));
    let (strips, block) = (across.kept().len().div_ceil(lanes), BLOCK / (STEPS * 32 * WIDE) * lanes);
    for top in (first / tall * tall..last).step_by(block) {
        let bottom = (top + block).min(last);
        for left in (0..if triangle { bottom.div_ceil(lanes) } else { strips }).step_by(GROUP) {
            let (columns, runs) = (across.strips_from(left), Runs::new(across.kept(), left * lanes, GROUP * lanes));
            // The next columns are on their way while these are multiplied: a wide panel lies in no near cache.
            let after = across.strips_from(left + GROUP).chunks_exact(STRIDE * lanes).take(GROUP);
            let mut after = after.flat_map(|strip| Ahead::of(&strip[..steps * lanes]).pieces(steps));
            for place in (if triangle { top.max(left * lanes) } else { top }..bottom).step_by(tall) {
                let (strip, lane) = (place / lanes, place % lanes);
                let count = if triangle { strip + 1 - left } else { strips - left }.min(GROUP);
                let tile_rows = place.max(first)..(place + tall).min(last);
                for i in &kept[tile_rows.clone()] {
                    let row = &entries[(i - rows.start) * stride..];
                    runs.some(count * lanes).for_each(|run| soon(&row[run.column..run.column + run.length]));
                }
                let two = [after.next().or_else(|| ahead.next()), ahead.next()];
                let ahead = two.map(|memory| memory.unwrap_or_else(Ahead::nothing));
                tile(Factors { columns, rows: panel.strips_from(strip), lane, count, steps, ahead }, &mut sums);
                for at in tile_rows {
                    let row = &mut entries[(kept[at] - rows.start) * stride..];
                    let sums = &sums[(at - place) * GROUP * lanes..];
                    runs.some(count * lanes)
                        .for_each(|run| add(&mut row[run.column..run.column + run.length], &sums[run.at..]));
                }
            }
        }
    }
}

/// The columns that lie at some places: runs of neighbours.
struct Runs {
    runs: [Run; GROUP * MOST_LANES],
    count: usize,
}

/// `length` neighbours, the first of which is column `column` and lies `at` places on.
#[derive(Clone, Copy, Default)]
struct Run {
    at: usize,
    column: usize,
    length: usize,
}

impl Runs {
    /// Those at the places from `first` on, `most` of them at most.
    #[inline(always)]
    fn new(kept: &[usize], first: usize, most: usize) -> Self {
        let kept = &kept[first..(first + most).min(kept.len())];
        let mut found = Self { runs: [Run::default(); GROUP * MOST_LANES], count: 0 };
        // The usual case: nothing was left out.
        if kept[kept.len() - 1] - kept[0] < kept.len() {
            found.push(Run { at: 0, column: kept[0], length: kept.len() });
            return found;
        }
        let mut at = 0;
        for run in kept.chunk_by(|a, b| a + 1 == *b) {
            found.push(Run { at, column: run[0], length: run.len() });
            at += run.len();
        }
        found
    }

    fn push(&mut self, run: Run) {
        self.runs[self.count] = run;
        self.count += 1;
    }

    /// The runs of the first `places` places.
    #[inline(always)]
    fn some(&self, places: usize) -> impl Iterator<Item = Run> {
        let runs = self.runs[..self.count].iter().take_while(move |run| run.at < places);
        runs.map(move |run| Run { length: run.length.min(places - run.at), ..*run })
    }
}

/// Adds sums to neighbouring entries, of tiles that are `WIDE` · 32 bytes wide three times over.
#[inline(always)]
pub(crate) fn add<T: Number, const WIDE: usize>(row: &mut [f64], sums: &[T::Sum]) {
    // The usual case has a length that the compiler knows.
    let wide = GROUP * WIDE * T::LANES;
    if row.len() == wide {
        let (row, sums) = (&mut row[..wide], &sums[..wide]);
        for c in 0..wide {
            row[c] += sums[c].into();
        }
    } else {
        for (entry, &sum) in row.iter_mut().zip(sums) {
            *entry += sum.into();
        }
    }
}
