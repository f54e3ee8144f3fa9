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
use crate::panel::{GROUP, LINE, MORE, MOST_LANES, Number, Packed, Panel, STEPS, STRIDE, SUMS, TALL, UNROLL, WIDEST};

/// Stripes of G begin at multiples of this many rows.
pub const STRIP: usize = 24;

/// Bytes of packed rows that stay in the second-level cache while the columns pass by.
const BLOCK: usize = 224 << 10;

/// What is fetched where there is nothing to fetch: memory that is there, for a look for memory that is not takes its time.
static SOMEWHERE: [f64; 1] = [0.0];

/// Some rows of G. Both ends of `rows` are multiples of [`STRIP`], or the width of G.
pub struct Stripe<'a> {
    /// Which rows.
    pub rows: Range<usize>,
    /// Their entries: row i begins at (i − `rows.start`) · `stride`.
    pub entries: &'a mut [f64],
    /// From the beginning of one row to that of the next; the width, or more where G is part of a larger matrix.
    pub stride: usize,
}

#[cfg(test)]
impl<'a> Stripe<'a> {
    /// All rows of a G that lies row after row.
    pub(crate) fn whole(entries: &'a mut [f64], width: usize) -> Self {
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
    /// What is fetched meanwhile to the nearest cache.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
    pub(crate) soon: &'a Soon,
}

/// Cache lines that are needed right after a tile: one is fetched every [`UNROLL`] steps. All at once, they would keep what the
/// tile itself reads waiting.
pub(crate) struct Soon {
    pub(crate) lines: [*const f64; STEPS / UNROLL],
    count: usize,
}

impl Soon {
    #[inline(always)]
    pub(crate) fn nothing() -> Self {
        Self { lines: [SOMEWHERE.as_ptr(); STEPS / UNROLL], count: 0 }
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.lines[..self.count].fill(SOMEWHERE.as_ptr());
        self.count = 0;
    }

    /// Neighbouring numbers.
    #[inline(always)]
    fn push_all(&mut self, numbers: &[f64]) {
        for line in numbers.chunks(LINE / size_of::<f64>()) {
            let Some(next) = self.lines.get_mut(self.count) else { return };
            *next = line.as_ptr();
            self.count += 1;
        }
    }

    /// Some pieces of a row. Those that there is no time for are left out.
    #[inline(always)]
    fn push(&mut self, row: &[f64], pieces: &[Piece]) {
        for (line, piece) in self.lines[self.count..].iter_mut().zip(pieces) {
            *line = row.as_ptr().wrapping_add(piece.column);
            self.count += 1;
        }
    }
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
        Self { start: SOMEWHERE.as_ptr().cast(), bytes: 0, values: PhantomData }
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
        assert!(self.steps > 0 && self.steps.is_multiple_of(UNROLL) && self.steps <= STEPS);
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
            visit::<T, 1>(sides, gram, next, crate::portable::tile, add::<T, 1>);
        }
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(avx2) => crate::avx2::accumulate(avx2, sides, gram, next),
        #[cfg(target_arch = "x86_64")]
        Machine::Avx512(avx512) => crate::avx512::accumulate(avx512, sides, gram, next),
    }
}

/// All tiles, of registers of `WIDE` · 32 bytes. `add` adds the sums of a tile to some pieces of some rows of G, which begin where
/// it is told; the sums of a row follow those of the row before, and at least [`MORE`] the last.
#[inline(always)]
pub(crate) fn visit<'a, T: Number, const WIDE: usize>(
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = Ahead<'a>>,
    tile: impl Fn(Factors<'_, T>, &mut [T::Sum; SUMS]),
    add: impl Fn(&mut [f64], &[usize], &[Piece], &[T::Sum]),
) {
    let (lanes, tall, wide) = (WIDE * T::LANES, WIDE * TALL, WIDE * T::LANES * GROUP);
    let Stripe { rows, entries, stride } = gram;
    let (panel, across, triangle) = (sides.rows, sides.columns, sides.triangle);
    let (steps, kept) = (panel.steps(), panel.kept());
    let mut ahead = next.into_iter().flat_map(|values| values.pieces(steps));
    let (mut sums, mut soon) = ([T::Sum::default(); SUMS], Soon::nothing());
    // Places of the rows; tiles begin where they begin in any stripe.
    let (first, last) = (kept.partition_point(|i| *i < rows.start), kept.partition_point(|i| *i < rows.end));
    let (strips, block) = (across.kept().len().div_ceil(lanes), BLOCK / (STEPS * 32 * WIDE) * lanes);
    for top in (first / tall * tall..last).step_by(block) {
        let bottom = (top + block).min(last);
        for left in (0..if triangle { bottom.div_ceil(lanes) } else { strips }).step_by(GROUP) {
            let (columns, pieces) = (across.strips_from(left), Pieces::new(&across.kept()[left * lanes..], lanes));
            let neighbours = pieces.neighbours(wide);
            // The next columns are on their way while these are multiplied: a wide panel lies in no near cache.
            let after = across.strips_from(left + GROUP).chunks_exact(STRIDE * lanes).take(GROUP);
            let mut after = after.flat_map(|strip| Ahead::of(&strip[..steps * lanes]).pieces(steps));
            for place in (if triangle { top.max(left * lanes) } else { top }..bottom).step_by(tall) {
                let (strip, lane) = (place / lanes, place % lanes);
                let count = if triangle { strip + 1 - left } else { strips - left }.min(GROUP);
                let (tile_rows, pieces) = (place.max(first)..(place + tall).min(last), pieces.of(count));
                let row_of = |at: usize| (kept[at] - rows.start) * stride;
                // A tile of all neighbours lies in G as it is; of others, every row is gone through piece by piece.
                let rows_too = tile_rows.len() == tall && kept[tile_rows.end - 1] - kept[tile_rows.start] < tall;
                let corner = neighbours.filter(|_| count == GROUP && rows_too).map(|column| row_of(place) + column);
                soon.clear();
                match corner {
                    Some(corner) => (0..tall).for_each(|r| soon.push_all(&entries[corner + r * stride..][..wide])),
                    None => tile_rows.clone().for_each(|at| soon.push(&entries[row_of(at)..], pieces)),
                }
                let two = [after.next().or_else(|| ahead.next()), ahead.next()];
                let ahead = two.map(|memory| memory.unwrap_or_else(Ahead::nothing));
                let packed_rows = panel.strips_from(strip);
                tile(Factors { columns, rows: packed_rows, lane, count, steps, ahead, soon: &soon }, &mut sums);
                match corner {
                    Some(corner) => (0..tall).for_each(|r| {
                        add_all::<T>(&mut entries[corner + r * stride..][..wide], &sums[r * wide..][..wide]);
                    }),
                    None => {
                        let mut begin = [0; TALL * WIDEST];
                        begin.iter_mut().zip(tile_rows.clone()).for_each(|(begin, at)| *begin = row_of(at));
                        let sums = &sums[(tile_rows.start - place) * wide..];
                        add(entries, &begin[..tile_rows.len()], pieces, sums);
                    }
                }
            }
        }
    }
}

/// Neighbouring columns of G at neighbouring places of a tile: no more than [`MORE`], and of one strip.
#[derive(Clone, Copy, Default)]
pub(crate) struct Piece {
    /// The place of the first, counted from the first of the tile.
    pub(crate) at: usize,
    /// Which column it is.
    pub(crate) column: usize,
    pub(crate) length: usize,
}

/// The columns of a tile of [`GROUP`] strips, from left to right.
struct Pieces {
    pieces: [Piece; GROUP * MOST_LANES],
    /// Pieces in the first strip, the first two, all three.
    ends: [usize; GROUP],
}

impl Pieces {
    /// Those of the first of the columns `kept`.
    #[inline(always)]
    fn new(kept: &[usize], lanes: usize) -> Self {
        let mut all = Self { pieces: [Piece::default(); GROUP * MOST_LANES], ends: [0; GROUP] };
        let mut count = 0;
        for (strip, end) in all.ends.iter_mut().enumerate() {
            for first in (strip * lanes..(strip + 1) * lanes).step_by(MORE) {
                let some = &kept[first.min(kept.len())..(first + lanes.min(MORE)).min(kept.len())];
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

    /// The first column, where all are neighbours and there are `wide` of them.
    #[inline(always)]
    fn neighbours(&self, wide: usize) -> Option<usize> {
        let (first, last) = (self.pieces[0].column, self.pieces[self.ends[GROUP - 1] - 1]);
        (last.at + last.length == wide && last.column - first == last.at).then_some(first)
    }

    /// Those of the first `count` strips.
    #[inline(always)]
    fn of(&self, count: usize) -> &[Piece] {
        &self.pieces[..self.ends[count - 1]]
    }
}

/// Adds the sums of a row of a tile to neighbours in a row of G, as many as the compiler knows.
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
    for (row, sums) in rows.iter().zip(sums.chunks(WIDE * T::LANES * GROUP)) {
        for piece in pieces {
            let row = &mut entries[row + piece.column..][..piece.length];
            row.iter_mut().zip(&sums[piece.at..]).for_each(|(entry, &sum)| *entry += sum.into());
        }
    }
}
