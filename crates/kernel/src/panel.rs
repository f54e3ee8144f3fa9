//! A slab of rows, packed for the kernels.
//!
//! ```text
//!     strip v:   step 0            step 1            …        step s holds row s (f64, f32), or two or four rows (u8),
//!              [ lanes columns ] [ lanes columns ] …          of the columns v·lanes .. (v + 1)·lanes
//! ```
//! One step of one strip fills one vector register of the machine: 32 bytes, or 64. The kernels read strips front to
//! back, once as columns of G (whole registers) and once as rows of G (one lane at a time), so one packing serves both
//! sides. Columns past the width are zero from the start and stay zero; steps past the depth are cleared by
//! [`Panel::set_depth`].

use std::ops::{BitOrAssign, Range};

use crate::machine::Machine;
use crate::rows::Work;

/// Capacity of a strip in steps: three strips of columns and one of rows just fill a first-level cache (32 KB with
/// registers of 32 bytes; with registers of 64 bytes columns come from the second-level cache, whose bandwidth suffices
/// there).
pub(crate) const STEPS: usize = 256;
/// Steps from one strip to the next. Strips a multiple of 4096 bytes apart would compete for the same cache lines.
pub(crate) const STRIDE: usize = STEPS + 2;
/// The kernels take steps in groups of this many.
pub(crate) const UNROLL: usize = 4;
/// Strips that make up the columns of one tile.
pub(crate) const TILE_STRIPS: usize = 3;
/// Rows of one tile, for each 32 bytes of a register.
pub(crate) const TILE_ROWS: usize = 4;
/// The largest register, in units of 32 bytes.
pub(crate) const MAX_REGISTER: usize = 2;
/// Lanes of the largest register of four-byte numbers, the smallest.
pub(crate) const MAX_LANES: usize = 8 * MAX_REGISTER;
/// Capacity for the sums of one tile of any type, and [`EXTRA_SUMS`].
pub(crate) const TILE_SUMS: usize = TILE_ROWS * MAX_REGISTER * TILE_STRIPS * MAX_LANES + EXTRA_SUMS;
/// Sums past the last one of a tile, so that sums can always be read eight at a time.
pub(crate) const EXTRA_SUMS: usize = 8;
/// Bytes in a cache line.
pub(crate) const LINE: usize = 64;

/// A number type of Gram matrices: `f64`, `f32` or `u8`.
pub trait Number: Packed {
    /// The maximum number of rows of a [`Panel`]: 256, or 512 for `u8`. Full panels are the fastest.
    const DEPTH: usize = STEPS * Self::ROWS[0];
}

impl Number for f64 {}
impl Number for f32 {}
impl Number for u8 {}

/// How a number is packed and multiplied. The trait cannot be named outside this crate, so that [`Number`] is sealed.
pub trait Packed: Copy + Default + Send + Sync + 'static {
    /// The content of one lane of a register.
    type Lane: Copy + Default + PartialEq + Send + Sync;
    /// An integer of the size of a lane.
    type Bits: Copy + Default + PartialEq + BitOrAssign;
    /// The type in which the products of one panel are summed.
    type Sum: Copy + Default + Into<f64>;
    /// Lanes in 32 bytes of a register.
    const LANES: usize;
    /// Rows in a step, of registers of 32 bytes and of 64.
    const ROWS: [usize; MAX_REGISTER];

    /// Puts the value of row `row` of the `rows` of a step into its lane.
    fn put(lane: &mut Self::Lane, row: usize, rows: usize, value: Self);
    /// Fills lanes with consecutive values from each of the rows of a step.
    fn fill(lanes: &mut [Self::Lane], rows: &[Self], width: usize, column: usize);
    /// The bits of a lane: zero only if its values are.
    fn bits(lane: Self::Lane) -> Self::Bits;
    /// Adds the product of two lanes.
    fn multiply(sum: &mut Self::Sum, a: Self::Lane, b: Self::Lane);
    /// The tile of [`crate::gram`] by AVX2.
    #[cfg(target_arch = "x86_64")]
    fn tile(avx2: crate::avx2::Avx2, factors: crate::gram::Factors<'_, Self>, sums: &mut [Self::Sum; TILE_SUMS]);
    /// The tile of [`crate::gram`] by AVX-512.
    #[cfg(target_arch = "x86_64")]
    fn wide_tile(
        avx512: crate::avx512::Avx512,
        factors: crate::gram::Factors<'_, Self>,
        sums: &mut [Self::Sum; TILE_SUMS],
    );
}

macro_rules! packed_tiles {
    ($tile:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        fn tile(avx2: crate::avx2::Avx2, factors: crate::gram::Factors<'_, Self>, sums: &mut [Self::Sum; TILE_SUMS]) {
            crate::avx2::$tile(avx2, factors, sums);
        }
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        fn wide_tile(
            avx512: crate::avx512::Avx512,
            factors: crate::gram::Factors<'_, Self>,
            sums: &mut [Self::Sum; TILE_SUMS],
        ) {
            crate::avx512::$tile(avx512, factors, sums);
        }
    };
}

macro_rules! packed_float {
    ($float:ty, $bits:ty, $lanes:literal, $tile:ident) => {
        impl Packed for $float {
            type Lane = $float;
            type Bits = $bits;
            type Sum = $float;
            const LANES: usize = $lanes;
            const ROWS: [usize; MAX_REGISTER] = [1, 1];

            #[inline(always)]
            fn put(lane: &mut $float, _row: usize, _rows: usize, value: $float) {
                *lane = value;
            }
            #[inline(always)]
            fn fill(lanes: &mut [$float], rows: &[$float], _width: usize, column: usize) {
                lanes.copy_from_slice(&rows[column..column + lanes.len()]);
            }
            #[inline(always)]
            fn bits(lane: $float) -> $bits {
                lane.to_bits()
            }
            #[inline(always)]
            fn multiply(sum: &mut $float, a: $float, b: $float) {
                *sum += a * b;
            }
            packed_tiles!($tile);
        }
    };
}

packed_float!(f64, u64, 4, tile_f64);
packed_float!(f32, u32, 8, tile_f32);

/// Several rows share a lane: one instruction multiplies all of them and adds the products. Two rows are two numbers of
/// 16 bits (`vpmaddwd`: each byte is followed by a zero byte), four rows are four bytes (`vpdpbusd`). The sum is exact:
/// a panel of 512 products of at most 255² stays below 2²⁶, far from the limit 2³¹ of a sum.
impl Packed for u8 {
    type Lane = [u8; 4];
    type Bits = u32;
    type Sum = i32;
    const LANES: usize = 8;
    const ROWS: [usize; MAX_REGISTER] = [2, 4];

    #[inline(always)]
    fn put(lane: &mut [u8; 4], row: usize, rows: usize, value: u8) {
        lane[4 / rows * row] = value;
    }
    #[inline(always)]
    fn fill(lanes: &mut [[u8; 4]], rows: &[u8], width: usize, column: usize) {
        let row = |l: usize| &rows[l * width + column..][..lanes.len()];
        if rows.len() / width == 2 {
            let (even, odd) = (row(0), row(1));
            for c in 0..lanes.len() {
                lanes[c] = [even[c], 0, odd[c], 0];
            }
        } else {
            let (a, b, c, d) = (row(0), row(1), row(2), row(3));
            for i in 0..lanes.len() {
                lanes[i] = [a[i], b[i], c[i], d[i]];
            }
        }
    }
    #[inline(always)]
    fn bits(lane: [u8; 4]) -> u32 {
        u32::from_ne_bytes(lane)
    }
    #[inline(always)]
    fn multiply(sum: &mut i32, a: [u8; 4], b: [u8; 4]) {
        *sum += a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(b)).sum::<i32>();
    }
    packed_tiles!(tile_u8);
}

/// A slab of at most [`Number::DEPTH`] rows of A.
///
/// For every slab: [`set_depth`](Panel::set_depth), then every row or every column, then
/// [`drop_zero_columns`](Panel::drop_zero_columns) where many values are zero, then [`accumulate`](crate::accumulate).
/// What is not set again keeps its value from the previous slab, or that of another column where the previous slab was
/// compacted.
pub struct Panel<T: Number> {
    memory: Vec<T::Lane>,
    /// Start of the first strip in `memory`, aligned to a cache line.
    start: usize,
    /// The machine whose registers the strips are packed for.
    machine: Machine,
    /// Which column lies at each place, in ascending order: all columns, until the slab is compacted.
    stored: Vec<usize>,
    width: usize,
    depth: usize,
}

impl<T: Number> Panel<T> {
    /// An empty slab of a matrix with `width` columns.
    pub fn new(width: usize) -> Self {
        Self::on(Machine::detect(), width)
    }

    pub(crate) fn on(machine: Machine, width: usize) -> Self {
        let lanes = T::LANES * machine.wide();
        let count = width.div_ceil(lanes);
        let line = LINE / size_of::<T::Lane>();
        let memory = vec![T::Lane::default(); count.next_multiple_of(TILE_STRIPS) * STRIDE * lanes + line];
        let start = memory.as_ptr().align_offset(LINE).min(line);
        Self { memory, start, machine, stored: (0..width).collect(), width, depth: 0 }
    }

    /// Columns of the slab.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of the slab.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The machine that the slab is packed for.
    pub(crate) fn machine(&self) -> Machine {
        self.machine
    }

    /// Columns in a strip.
    #[inline(always)]
    fn lanes(&self) -> usize {
        T::LANES * self.machine.wide()
    }

    /// Rows in a step.
    #[inline(always)]
    fn rows(&self) -> usize {
        T::ROWS[self.machine.wide() - 1]
    }

    /// All strips, one after the other.
    #[inline(always)]
    fn strips(&mut self) -> std::slice::ChunksExactMut<'_, T::Lane> {
        let size = STRIDE * self.lanes();
        self.memory[self.start..].chunks_exact_mut(size)
    }

    /// Begins a slab of `depth` rows.
    pub fn set_depth(&mut self, depth: usize) {
        assert!(depth <= T::DEPTH, "a panel holds at most {} rows, not {depth}", T::DEPTH);
        let lanes = self.lanes();
        self.depth = depth;
        self.stored.clear();
        self.stored.extend(0..self.width);
        // Clears from the last row's step on, because a step of several rows may be partly used.
        let (from, to) = (depth / self.rows() * lanes, self.steps() * lanes);
        for strip in self.strips() {
            strip[from..to].fill(T::Lane::default());
        }
    }

    /// Drops the last columns permanently, so that the memory serves for a narrower matrix. The next slab must be set
    /// as a whole.
    pub fn narrow(&mut self, width: usize) {
        assert!(width <= self.width, "{width} columns of {}", self.width);
        self.width = width;
        self.set_depth(0);
        let cut = width / self.lanes();
        if let Some(strip) = self.strips().nth(cut) {
            strip.fill(T::Lane::default());
        }
    }

    /// Sets row `l`, in any order.
    pub fn set_row(&mut self, l: usize, row: &[T]) {
        assert!(l < self.depth, "row {l} of a slab of {}", self.depth);
        assert_eq!(row.len(), self.width, "a row has a value for each column");
        let (lanes, rows) = (self.lanes(), self.rows());
        for (strip, values) in self.strips().zip(row.chunks(lanes)) {
            for (lane, &value) in strip[l / rows * lanes..].iter_mut().zip(values) {
                T::put(lane, l % rows, rows, value);
            }
        }
    }

    /// Sets the rows from `first` on, stored one after the other. This is faster than row by row.
    pub fn set_rows(&mut self, first: usize, rows: &[T]) {
        let count = rows.len().checked_div(self.width).unwrap_or(0);
        assert_eq!(rows.len(), count * self.width, "a row has a value for each column");
        assert!(first + count <= self.depth, "rows {first}..{} of a slab of {}", first + count, self.depth);
        // A few rows at a time, so that both the rows and the lines that they are packed into stay in the cache.
        let (mut l, step) = (first, self.rows());
        for rows in rows.chunks(self.width.max(1) * 16 * step) {
            let count = rows.len() / self.width;
            if l.is_multiple_of(step) && count.is_multiple_of(step) {
                self.set_steps(l / step, rows);
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
        self.machine.run(SetSteps(self, first, rows));
    }

    /// The same in the caller's code.
    #[inline(always)]
    pub(crate) fn fill_steps(&mut self, first: usize, rows: &[T]) {
        // Lengths known to the compiler.
        match self.machine.wide() {
            1 => self.fill_lanes(T::LANES, T::ROWS[0], first, rows),
            _ => self.fill_lanes(T::LANES * MAX_REGISTER, T::ROWS[1], first, rows),
        }
    }

    #[inline(always)]
    fn fill_lanes(&mut self, lanes: usize, step_rows: usize, first: usize, rows: &[T]) {
        let (width, whole) = (self.width, self.width / lanes);
        let count = rows.len() / (width * step_rows);
        for (v, strip) in self.strips().take(whole).enumerate() {
            let steps = strip[first * lanes..(first + count) * lanes].chunks_exact_mut(lanes);
            for (step, rows) in steps.zip(rows.chunks_exact(width * step_rows)) {
                T::fill(step, rows, width, v * lanes);
            }
        }
        let Some(last) = self.strips().nth(whole) else { return };
        for (l, row) in rows.chunks_exact(width).enumerate() {
            for (lane, &value) in last[(first + l / step_rows) * lanes..].iter_mut().zip(&row[whole * lanes..]) {
                T::put(lane, l % step_rows, step_rows, value);
            }
        }
    }

    /// Sets column `j`.
    pub fn set_column(&mut self, j: usize, column: &[T]) {
        assert!(j < self.width, "column {j} of a slab of {}", self.width);
        let v = j / self.lanes();
        self.strips_mut().nth(v).expect("a strip for each column").set_column(j, column);
    }

    /// The slab cut into strips of columns, for several threads to fill.
    pub fn strips_mut(&mut self) -> impl ExactSizeIterator<Item = Strip<'_, T>> {
        let (width, depth, lanes, rows) = (self.width, self.depth, self.lanes(), self.rows());
        let strips = self.strips().take(width.div_ceil(lanes)).enumerate();
        strips.map(move |(v, strip)| {
            let columns = v * lanes..((v + 1) * lanes).min(width);
            Strip { strip, lanes, rows, columns, depth }
        })
    }

    /// Drops the columns that are entirely zero, such as the margins of images, where there are many: they add nothing
    /// to G. Other columns move up, so that the next slab must be set as a whole.
    pub fn drop_zero_columns(&mut self) {
        struct NonzeroColumns<'a, T: Number>(&'a Panel<T>);
        impl<T: Number> Work for NonzeroColumns<'_, T> {
            type Output = Vec<usize>;
            #[inline(always)]
            fn run(self) -> Vec<usize> {
                self.0.nonzero_columns()
            }
        }
        let lanes = self.lanes();
        let stored = self.machine.run(NonzeroColumns(self));
        // Moving columns takes a few percent of the time of all products.
        if 8 * stored.len().div_ceil(lanes) > 7 * self.width.div_ceil(lanes) {
            return;
        }
        let (used, size) = (self.steps() * lanes, STRIDE * lanes);
        let strips = &mut self.memory[self.start..];
        for (to, columns) in stored.chunks(lanes).enumerate() {
            // A column never moves down: what is overwritten here has moved already.
            let mut from = [0; MAX_LANES];
            from.iter_mut().zip(columns).for_each(|(from, j)| *from = j / lanes * size + j % lanes);
            self.machine.collect(strips, &from[..columns.len()], to * size..to * size + used, lanes);
        }
        self.stored = stored;
    }

    /// The columns with a nonzero value.
    #[inline(always)]
    fn nonzero_columns(&self) -> Vec<usize> {
        let (lanes, mut stored) = (self.lanes(), Vec::with_capacity(self.width));
        let used = self.steps() * lanes;
        for (v, strip) in self.memory[self.start..].chunks_exact(STRIDE * lanes).enumerate() {
            let here = v * lanes..((v + 1) * lanes).min(self.width);
            let mut bits = [T::Bits::default(); MAX_LANES];
            for some in strip[..used].chunks(16 * lanes) {
                for step in some.chunks_exact(lanes) {
                    bits.iter_mut().zip(step).for_each(|(bits, lane)| *bits |= T::bits(*lane));
                }
                if bits[..here.len()].iter().all(|bits| *bits != T::Bits::default()) {
                    break;
                }
            }
            stored.extend(here.zip(bits).filter(|(_, bits)| *bits != T::Bits::default()).map(|(j, _)| j));
        }
        stored
    }

    /// Steps in use, rounded up to whole groups.
    pub(crate) fn steps(&self) -> usize {
        self.depth.div_ceil(self.rows()).next_multiple_of(UNROLL)
    }

    /// Every lane that the kernels read.
    #[cfg(test)]
    pub(crate) fn registers(&mut self) -> Vec<T::Lane> {
        let used = self.steps() * self.lanes();
        self.strips().flat_map(|strip| strip[..used].to_vec()).collect()
    }

    /// Which column lies at each place.
    #[inline(always)]
    pub(crate) fn stored_columns(&self) -> &[usize] {
        &self.stored
    }

    /// The lanes from some strip on.
    #[inline(always)]
    pub(crate) fn strips_from(&self, strip: usize) -> &[T::Lane] {
        &self.memory[self.start + strip * STRIDE * self.lanes()..]
    }
}

/// A few consecutive columns of a [`Panel`].
pub struct Strip<'a, T: Number> {
    strip: &'a mut [T::Lane],
    lanes: usize,
    /// Rows in a step.
    rows: usize,
    columns: Range<usize>,
    depth: usize,
}

impl<T: Number> Strip<'_, T> {
    /// The columns of the panel that this strip covers.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Sets every column j of this strip to `column(j)`. This is faster than column by column: all columns are read
    /// from memory together.
    pub fn set_columns<'c>(&mut self, column: impl Fn(usize) -> &'c [T]) {
        // The last column fills the lanes that a narrow strip lacks, so that the length is known.
        let last = self.columns.end - 1;
        let columns: [&[T]; MAX_LANES] = std::array::from_fn(|c| column((self.columns.start + c).min(last)));
        for column in &columns {
            assert_eq!(column.len(), self.depth, "a column has a value for each row");
        }
        match self.lanes / T::LANES {
            1 => self.fill_columns(T::LANES, T::ROWS[0], columns),
            _ => self.fill_columns(T::LANES * MAX_REGISTER, T::ROWS[1], columns),
        }
    }

    #[inline(always)]
    fn fill_columns(&mut self, lanes: usize, rows: usize, columns: [&[T]; MAX_LANES]) {
        let count = self.columns.len();
        let columns = columns.map(|column| &column[..self.depth]);
        for l in 0..self.depth {
            let step = &mut self.strip[l / rows * lanes..][..lanes];
            for c in 0..lanes.min(count) {
                T::put(&mut step[c], l % rows, rows, columns[c][l]);
            }
        }
    }

    /// Sets column `j` of the panel.
    pub fn set_column(&mut self, j: usize, column: &[T]) {
        assert!(self.columns.contains(&j), "column {j} of a strip of {:?}", self.columns);
        assert_eq!(column.len(), self.depth, "a column has a value for each row");
        let lane = j - self.columns.start;
        for (step, values) in self.strip.chunks_exact_mut(self.lanes).zip(column.chunks(self.rows)) {
            for (row, &value) in values.iter().enumerate() {
                T::put(&mut step[lane], row, self.rows, value);
            }
        }
    }
}
