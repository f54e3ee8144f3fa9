//! A slab of rows, packed for the kernels.
//!
//! ```text
//!     strip v:   step 0            step 1            …        step s holds rows s (f64, f32) or 2s and 2s + 1 (u8)
//!              [ LANES columns ] [ LANES columns ] …          of the columns v·LANES .. (v + 1)·LANES
//! ```
//! One step of one strip fills one vector register (32 bytes). The kernels read strips front to back, once as
//! columns of G (whole registers) and once as rows of G (one lane at a time), so one packing serves both sides.
//! Columns past the width are zero from the start and stay zero; steps past the depth are cleared by
//! [`Panel::set_depth`].

use std::ops::Range;

use crate::gram::Machine;
use crate::rows::Work;

/// Steps that a strip has room for: three strips of columns and one of rows just fill a first-level cache (32 KB).
pub(crate) const STEPS: usize = 256;
/// Steps from one strip to the next. Strips a multiple of 4096 bytes apart would fight for the same cache lines.
pub(crate) const STRIDE: usize = STEPS + 2;
/// The kernels take steps in groups of this many.
pub(crate) const UNROLL: usize = 4;
/// Strips that make up the columns of one tile.
pub(crate) const GROUP: usize = 3;
/// Rows of one tile.
pub(crate) const TALL: usize = 4;
/// Lanes of a register of four-byte numbers, the smallest.
pub(crate) const MOST_LANES: usize = 8;
/// Room for the sums of one tile of any type.
pub(crate) const SUMS: usize = TALL * GROUP * MOST_LANES;

/// A number that a Gram matrix is computed from: `f64`, `f32` or `u8`.
pub trait Number: Packed {
    /// The most rows of a [`Panel`]: 256, or 512 for `u8`. Full panels are the fastest.
    const DEPTH: usize = STEPS * Self::ROWS;
}

impl Number for f64 {}
impl Number for f32 {}
impl Number for u8 {}

/// How a number is packed and multiplied. Not nameable outside this crate, so that [`Number`] is closed.
pub trait Packed: Copy + Default + Send + Sync + 'static {
    /// What one lane of a register holds.
    type Lane: Copy + Default + PartialEq;
    /// One register.
    type Lanes: Copy + Default + Send + Sync + AsRef<[Self::Lane]> + AsMut<[Self::Lane]>;
    /// What the products of one panel are summed in.
    type Sum: Copy + Default + Into<f64>;
    /// Columns in a strip.
    const LANES: usize;
    /// Rows in a step.
    const ROWS: usize;

    /// Puts the value of row `row` of a step into its lane.
    fn put(lane: &mut Self::Lane, row: usize, value: Self);
    /// Fills a register with consecutive values from each of the `ROWS` rows of a step.
    fn fill(lanes: &mut Self::Lanes, rows: &[Self], width: usize, column: usize);
    /// Adds the product of two lanes.
    fn multiply(sum: &mut Self::Sum, a: Self::Lane, b: Self::Lane);
    /// The tile of [`crate::gram`] by AVX2.
    #[cfg(target_arch = "x86_64")]
    fn tile(avx2: crate::avx2::Avx2, factors: crate::gram::Factors<'_, Self>, sums: &mut [Self::Sum; SUMS]);
}

/// One register in memory.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
pub struct Register<L, const N: usize>([L; N])
where
    [L; N]: Default;

impl<L, const N: usize> AsRef<[L]> for Register<L, N>
where
    [L; N]: Default,
{
    fn as_ref(&self) -> &[L] {
        &self.0
    }
}

impl<L, const N: usize> AsMut<[L]> for Register<L, N>
where
    [L; N]: Default,
{
    fn as_mut(&mut self) -> &mut [L] {
        &mut self.0
    }
}

macro_rules! packed_float {
    ($float:ty, $lanes:literal, $tile:path) => {
        impl Packed for $float {
            type Lane = $float;
            type Lanes = Register<$float, $lanes>;
            type Sum = $float;
            const LANES: usize = $lanes;
            const ROWS: usize = 1;

            #[inline(always)]
            fn put(lane: &mut $float, _row: usize, value: $float) {
                *lane = value;
            }
            #[inline(always)]
            fn fill(lanes: &mut Self::Lanes, rows: &[$float], _width: usize, column: usize) {
                lanes.0.copy_from_slice(&rows[column..column + $lanes]);
            }
            #[inline(always)]
            fn multiply(sum: &mut $float, a: $float, b: $float) {
                *sum += a * b;
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn tile(avx2: crate::avx2::Avx2, factors: crate::gram::Factors<'_, Self>, sums: &mut [$float; SUMS]) {
                $tile(avx2, factors, sums);
            }
        }
    };
}

packed_float!(f64, 4, crate::avx2::tile_f64);
packed_float!(f32, 8, crate::avx2::tile_f32);

/// Two rows share a lane: a register multiplies both and adds the products in one instruction (`vpmaddwd`, or `vpdpwssd` where
/// there is VNNI, which adds them to the sum as well).
/// Exact: a panel of 2 · `STEPS` products of at most 255² stays below 2²⁶, far from the 2³¹ that a sum has room for.
impl Packed for u8 {
    type Lane = [i16; 2];
    type Lanes = Register<[i16; 2], 8>;
    type Sum = i32;
    const LANES: usize = 8;
    const ROWS: usize = 2;

    #[inline(always)]
    fn put(lane: &mut [i16; 2], row: usize, value: u8) {
        lane[row] = i16::from(value);
    }
    #[inline(always)]
    fn fill(lanes: &mut Self::Lanes, rows: &[u8], width: usize, column: usize) {
        let (even, odd) = (&rows[column..column + 8], &rows[width + column..width + column + 8]);
        for c in 0..8 {
            lanes.0[c] = [i16::from(even[c]), i16::from(odd[c])];
        }
    }
    #[inline(always)]
    fn multiply(sum: &mut i32, a: [i16; 2], b: [i16; 2]) {
        *sum += i32::from(a[0]) * i32::from(b[0]) + i32::from(a[1]) * i32::from(b[1]);
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn tile(avx2: crate::avx2::Avx2, factors: crate::gram::Factors<'_, Self>, sums: &mut [i32; SUMS]) {
        crate::avx2::tile_u8(avx2, factors, sums);
    }
}

/// A slab of at most [`Number::DEPTH`] rows of A.
///
/// For every slab: [`set_depth`](Panel::set_depth), then every row or every column, then
/// [`squeeze`](Panel::squeeze) where many values are zero, then [`accumulate`](crate::accumulate). What is not set
/// again keeps its value from the slab before, or that of another column where that one was squeezed.
pub struct Panel<T: Number> {
    strips: Vec<T::Lanes>,
    /// Which strip of columns lies at each place, in rising order: all of them, until the slab is squeezed.
    kept: Vec<usize>,
    width: usize,
    depth: usize,
}

impl<T: Number> Panel<T> {
    /// An empty slab of a matrix with `width` columns.
    pub fn new(width: usize) -> Self {
        let count = width.div_ceil(T::LANES);
        let strips = vec![T::Lanes::default(); count.next_multiple_of(GROUP) * STRIDE];
        Self { strips, kept: (0..count).collect(), width, depth: 0 }
    }

    /// Columns of the slab.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of the slab.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Begins a slab of `depth` rows.
    pub fn set_depth(&mut self, depth: usize) {
        assert!(depth <= T::DEPTH, "a panel holds at most {} rows, not {depth}", T::DEPTH);
        self.depth = depth;
        self.kept.clear();
        self.kept.extend(0..self.width.div_ceil(T::LANES));
        // From the last row's step on, for a step of several rows may be half used.
        let (from, to) = (depth / T::ROWS, self.steps());
        for strip in self.strips.chunks_exact_mut(STRIDE) {
            strip[from..to].fill(T::Lanes::default());
        }
    }

    /// Sets row `l`, in any order.
    pub fn set_row(&mut self, l: usize, row: &[T]) {
        assert!(l < self.depth, "row {l} of a slab of {}", self.depth);
        assert_eq!(row.len(), self.width, "a row has a value for each column");
        for (strip, values) in self.strips.chunks_exact_mut(STRIDE).zip(row.chunks(T::LANES)) {
            for (lane, &value) in strip[l / T::ROWS].as_mut().iter_mut().zip(values) {
                T::put(lane, l % T::ROWS, value);
            }
        }
    }

    /// Sets the rows from `first` on, stored one after the other. Faster than row by row.
    pub fn set_rows(&mut self, first: usize, rows: &[T]) {
        let count = rows.len().checked_div(self.width).unwrap_or(0);
        assert_eq!(rows.len(), count * self.width, "a row has a value for each column");
        assert!(first + count <= self.depth, "rows {first}..{} of a slab of {}", first + count, self.depth);
        // A few rows at a time, so that both the rows and the lines they are packed to stay in the cache.
        let mut l = first;
        for rows in rows.chunks(self.width.max(1) * 4 * T::ROWS) {
            let count = rows.len() / self.width;
            if l.is_multiple_of(T::ROWS) && count.is_multiple_of(T::ROWS) {
                self.set_steps(l / T::ROWS, rows);
            } else {
                for (i, row) in rows.chunks_exact(self.width).enumerate() {
                    self.set_row(l + i, row);
                }
            }
            l += count;
        }
    }

    fn set_steps(&mut self, first: usize, rows: &[T]) {
        struct SetSteps<'a, T: Number>(&'a mut Panel<T>, usize, &'a [T]);
        impl<T: Number> Work for SetSteps<'_, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                self.0.fill_steps(self.1, self.2);
            }
        }
        Machine::detect().run(SetSteps(self, first, rows));
    }

    #[inline(always)]
    pub(crate) fn fill_steps(&mut self, first: usize, rows: &[T]) {
        let (width, whole) = (self.width, self.width / T::LANES);
        let count = rows.len() / (width * T::ROWS);
        for (v, strip) in self.strips.chunks_exact_mut(STRIDE).take(whole).enumerate() {
            for (lanes, rows) in strip[first..first + count].iter_mut().zip(rows.chunks_exact(width * T::ROWS)) {
                T::fill(lanes, rows, width, v * T::LANES);
            }
        }
        for column in whole * T::LANES..width {
            for (l, row) in rows.chunks_exact(width).enumerate() {
                let lanes = &mut self.strips[whole * STRIDE + first + l / T::ROWS];
                T::put(&mut lanes.as_mut()[column - whole * T::LANES], l % T::ROWS, row[column]);
            }
        }
    }

    /// Sets column `j`.
    pub fn set_column(&mut self, j: usize, column: &[T]) {
        assert!(j < self.width, "column {j} of a slab of {}", self.width);
        let v = j / T::LANES;
        Strip::<T>::new(&mut self.strips[v * STRIDE..(v + 1) * STRIDE], v, self.width, self.depth)
            .set_column(j, column);
    }

    /// The slab cut into strips of columns, for several threads to fill.
    pub fn strips_mut(&mut self) -> impl ExactSizeIterator<Item = Strip<'_, T>> {
        let (width, depth, count) = (self.width, self.depth, self.width.div_ceil(T::LANES));
        let strips = self.strips.chunks_exact_mut(STRIDE).take(count).enumerate();
        strips.map(move |(v, lanes)| Strip::new(lanes, v, width, depth))
    }

    /// Leaves out the strips that are zero throughout, such as the margins of images: they add nothing to G. Other
    /// strips move up, so that the next slab must be set as a whole.
    pub fn squeeze(&mut self) {
        let (steps, zero) = (self.steps(), T::Lanes::default());
        let mut place = 0;
        for v in 0..self.kept.len() {
            let from = v * STRIDE..v * STRIDE + steps;
            if self.strips[from.clone()].iter().all(|lanes| lanes.as_ref() == zero.as_ref()) {
                continue;
            }
            if place < v {
                self.strips.copy_within(from, place * STRIDE);
            }
            self.kept[place] = self.kept[v];
            place += 1;
        }
        self.kept.truncate(place);
    }

    /// Steps in use, counted in whole groups.
    pub(crate) fn steps(&self) -> usize {
        self.depth.div_ceil(T::ROWS).next_multiple_of(UNROLL)
    }

    /// Every lane that the kernels read.
    #[cfg(test)]
    pub(crate) fn registers(&self) -> Vec<T::Lane> {
        let steps = self.steps();
        let strips = self.strips.chunks_exact(STRIDE);
        strips.flat_map(|strip| &strip[..steps]).flat_map(|lanes| lanes.as_ref()).copied().collect()
    }

    /// Which strip of columns lies at each place.
    #[inline(always)]
    pub(crate) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The registers from some place on.
    #[inline(always)]
    pub(crate) fn strips_from(&self, place: usize) -> &[T::Lanes] {
        &self.strips[place * STRIDE..]
    }
}

/// A few neighbouring columns of a [`Panel`].
pub struct Strip<'a, T: Number> {
    lanes: &'a mut [T::Lanes],
    columns: Range<usize>,
    depth: usize,
}

impl<'a, T: Number> Strip<'a, T> {
    fn new(lanes: &'a mut [T::Lanes], v: usize, width: usize, depth: usize) -> Self {
        Self { lanes, columns: v * T::LANES..((v + 1) * T::LANES).min(width), depth }
    }

    /// The columns of the panel that this strip covers.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Sets every column j of this strip to `column(j)`. Faster than column by column: they come from memory at once.
    pub fn set_columns<'c>(&mut self, column: impl Fn(usize) -> &'c [T]) {
        // The last column stands in for those that a narrow strip lacks, so that the length is known.
        let (count, last) = (self.columns.len(), self.columns.end - 1);
        let columns: [&[T]; MOST_LANES] = std::array::from_fn(|c| column((self.columns.start + c).min(last)));
        for column in &columns {
            assert_eq!(column.len(), self.depth, "a column has a value for each row");
        }
        let columns = columns.map(|column| &column[..self.depth]);
        for l in 0..self.depth {
            let lanes = self.lanes[l / T::ROWS].as_mut();
            for c in 0..T::LANES.min(count) {
                T::put(&mut lanes[c], l % T::ROWS, columns[c][l]);
            }
        }
    }

    /// Sets column `j` of the panel.
    pub fn set_column(&mut self, j: usize, column: &[T]) {
        assert!(self.columns.contains(&j), "column {j} of a strip of {:?}", self.columns);
        assert_eq!(column.len(), self.depth, "a column has a value for each row");
        let lane = j - self.columns.start;
        for (lanes, values) in self.lanes.iter_mut().zip(column.chunks(T::ROWS)) {
            for (row, &value) in values.iter().enumerate() {
                T::put(&mut lanes.as_mut()[lane], row, value);
            }
        }
    }
}
