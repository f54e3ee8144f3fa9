//! The order in which the tiles of G are visited.
//!
//! ```text
//!     block of rows │ ■ ■ ■ …        a tile ■ is 4 rows × 3 strips of columns;
//!     of G          │ ■ ■ ■ …        down a block first (the columns' strips stay in the first-level cache, the
//!                   │ ■ ■ ■ …        rows' strips come from the second), then on to the next columns
//! ```
//! A tile that the diagonal crosses covers only the strips that reach it. Strips that a panel leaves out, because they are
//! zero, belong to no tile. Which tile an entry belongs to, and so the order of its sum, depends on its place in G and on
//! the panel alone.
//!
//! A product AᵀB of two panels is visited in the same order; it has no diagonal.

use std::ops::Range;

use crate::panel::{GROUP, Number, Packed, Panel, STEPS, STRIDE, SUMS, TALL, UNROLL};
use crate::rows::Work;

/// Stripes of G begin at multiples of this many rows.
pub const STRIP: usize = 12;

/// Bytes of packed rows that stay in the second-level cache while the columns pass by.
const BLOCK: usize = 224 << 10;

/// Bytes in a cache line.
const LINE: usize = 64;

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
    accumulate_on(Machine::detect(), Sides::same(panel), gram, []);
}

/// Adds AᵀB of two panels of the same depth to the rows of a matrix that is as wide as B. Fastest where B is the wider one.
pub fn accumulate_product<T: Number>(a: &Panel<T>, b: &Panel<T>, product: Stripe<'_>) {
    assert_eq!(a.depth(), b.depth(), "both panels have as many rows");
    accumulate_on(Machine::detect(), Sides { rows: a, columns: b, triangle: false }, product, []);
}

/// [`accumulate`], while the values `next` are on their way from memory to the caches.
///
/// Nobody reads them, they are a hint: worth giving for the values that will be packed next, in any number of
/// pieces. On narrow matrices, where waiting for memory costs most, the gain is a fifth.
pub fn accumulate_ahead<'a, T: Number>(panel: &Panel<T>, gram: Stripe<'_>, next: impl IntoIterator<Item = &'a [T]>) {
    accumulate_on(Machine::detect(), Sides::same(panel), gram, next);
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

/// What the machine can do.
#[derive(Clone, Copy)]
pub(crate) enum Machine {
    /// Any machine.
    Portable,
    /// x86-64 with AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(crate::avx2::Avx2),
}

impl Machine {
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = crate::avx2::Avx2::detect() {
            return Self::Avx2(avx2);
        }
        Self::Portable
    }

    /// `work`, compiled for this machine.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            Self::Portable => work.run(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => crate::avx2::run(avx2, work),
        }
    }
}

/// The two sides of a tile, both packed: the sums are over `steps` steps of
/// `columns` (`count` strips, [`STRIDE`] apart) times the four lanes of `rows` from `lane` on.
pub struct Factors<'a, T: Packed> {
    pub(crate) columns: &'a [T::Lanes],
    pub(crate) rows: &'a [T::Lanes],
    pub(crate) lane: usize,
    pub(crate) count: usize,
    pub(crate) steps: usize,
    /// What is fetched meanwhile.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
    pub(crate) ahead: Ahead,
}

/// Memory to be fetched while a tile is computed, at most a cache line for each [`UNROLL`] steps. Nobody reads it.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "plain Rust cannot prefetch"))]
pub(crate) struct Ahead {
    pub(crate) start: *const u8,
    pub(crate) bytes: usize,
}

impl Ahead {
    /// Pieces for one tile each.
    #[inline(always)]
    pub(crate) fn pieces<V>(values: &[V], steps: usize) -> impl Iterator<Item = Self> {
        values.chunks(steps / UNROLL * LINE / size_of::<V>()).map(Self::of)
    }

    #[inline(always)]
    pub(crate) fn of<V>(values: &[V]) -> Self {
        Self { start: values.as_ptr().cast(), bytes: size_of_val(values) }
    }
}

impl<T: Packed> Factors<'_, T> {
    /// What the kernels rely on.
    #[inline(always)]
    pub(crate) fn check(&self) {
        assert!((1..=GROUP).contains(&self.count) && self.lane + TALL <= T::LANES);
        assert!(self.steps > 0 && self.steps.is_multiple_of(UNROLL));
        assert!(self.rows.len() >= self.steps && self.columns.len() >= (self.count - 1) * STRIDE + self.steps);
    }
}

pub(crate) fn accumulate_on<'a, T: Number>(
    machine: Machine,
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = &'a [T]>,
) {
    let (height, width, rows) = (sides.rows.width(), sides.columns.width(), &gram.rows);
    let legal = |end: usize| end == height || (end < height && end.is_multiple_of(STRIP));
    assert!(rows.start <= rows.end && legal(rows.start) && legal(rows.end), "rows {rows:?} of {height}");
    let least = rows.len().checked_sub(1).map_or(0, |before| before * gram.stride + width);
    assert!(gram.stride >= width && gram.entries.len() >= least, "too few entries for the rows {rows:?} of {width}");
    if sides.rows.depth() == 0 || rows.is_empty() {
        return;
    }
    match machine {
        Machine::Portable => visit(sides, gram, next, |_| (), |factors, sums| crate::portable::tile(factors, sums)),
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(avx2) => crate::avx2::accumulate(avx2, sides, gram, next),
    }
}

/// `soon` hears of the entries that a tile is going to be added to before its sums are computed.
#[inline(always)]
pub(crate) fn visit<'a, T: Number>(
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = &'a [T]>,
    soon: impl Fn(&[f64]),
    tile: impl Fn(Factors<'_, T>, &mut [T::Sum; SUMS]),
) {
    let Stripe { rows, entries, stride } = gram;
    let (panel, across, triangle) = (sides.rows, sides.columns, sides.triangle);
    let (width, steps, kept) = (across.width(), panel.steps(), panel.kept());
    let mut ahead = next.into_iter().flat_map(|values| Ahead::pieces(values, steps));
    let mut sums = [T::Sum::default(); SUMS];
    // Places of the strips that some of the rows are in.
    let first = kept.partition_point(|v| (v + 1) * T::LANES <= rows.start);
    let last = kept.partition_point(|v| v * T::LANES < rows.end);
    for top in (first..last).step_by(BLOCK / (STEPS * 32)) {
        let bottom = (top + BLOCK / (STEPS * 32)).min(last);
        for left in (0..if triangle { bottom } else { across.kept().len() }).step_by(GROUP) {
            let columns = across.strips_from(left);
            // The next columns are on their way while these are multiplied: a wide panel lies in no near cache.
            let after = across.strips_from(left + GROUP).chunks_exact(STRIDE).take(GROUP);
            let mut after = after.flat_map(|strip| Ahead::pieces(&strip[..steps], steps));
            for place in if triangle { top.max(left) } else { top }..bottom {
                let (side, start) = (panel.strips_from(place), kept[place] * T::LANES);
                let reach = if triangle { place + 1 } else { across.kept().len() };
                let (end, count) = ((start + T::LANES).min(rows.end), (reach - left).min(GROUP));
                let strips = Strips { places: &across.kept()[left..left + count], lanes: T::LANES, width };
                for i in (start.max(rows.start)..end).step_by(TALL) {
                    let tile_rows = &mut entries[(i - rows.start) * stride..];
                    let high = TALL.min(end - i);
                    for row in tile_rows.chunks(stride).take(high) {
                        soon(&row[strips.first_stretch()]);
                    }
                    let ahead = after.next().or_else(|| ahead.next()).unwrap_or_else(|| Ahead::of::<T>(&[]));
                    let lane = i - start;
                    tile(Factors { columns, rows: side, lane, count, steps, ahead }, &mut sums);
                    for (row, sums) in tile_rows.chunks_mut(stride).take(high).zip(sums.chunks_exact(GROUP * T::LANES))
                    {
                        strips.add::<T>(row, sums);
                    }
                }
            }
        }
    }
}

/// The strips of columns that a tile covers.
struct Strips<'a> {
    places: &'a [usize],
    lanes: usize,
    width: usize,
}

impl Strips<'_> {
    /// As many columns as there are, from the first on: all of them where the strips are neighbours.
    #[inline(always)]
    fn first_stretch(&self) -> Range<usize> {
        let start = self.places[0] * self.lanes;
        start..(start + self.places.len() * self.lanes).min(self.width)
    }

    /// Adds sums of one panel to a row of G.
    #[inline(always)]
    fn add<T: Number>(&self, row: &mut [f64], sums: &[T::Sum]) {
        let neighbours = self.places[self.places.len() - 1] - self.places[0] < self.places.len();
        if neighbours {
            return add::<T>(&mut row[self.first_stretch()], sums);
        }
        for (place, sums) in self.places.iter().zip(sums.chunks_exact(T::LANES)) {
            add::<T>(&mut row[place * T::LANES..((place + 1) * T::LANES).min(self.width)], sums);
        }
    }
}

#[inline(always)]
fn add<T: Number>(row: &mut [f64], sums: &[T::Sum]) {
    // The usual case has a length that the compiler knows.
    let wide = GROUP * T::LANES;
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
