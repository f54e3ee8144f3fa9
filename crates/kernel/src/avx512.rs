//! The tile in assembly, for x86-64 with AVX-512 and, for bytes, its VNNI.
//!
//! ```text
//!     zmm(3r + v) += columns_v · broadcast(rows_r)        r = 0..8 rows, v = 0..3 strips, one step at a time
//! ```
//! Twenty-four sums, three columns and a few broadcasts: eleven numbers are loaded for twenty-four multiplications.
//! Even the eight sums of a tile of one strip keep the multipliers busy, so every entry is summed in the order of the
//! steps.
//!
//! `vpdpbusd` multiplies four bytes at a time, but reads one of the two factors as a number from −128 to 127. So 128 is
//! subtracted from the columns, and the sums are corrected at the end:
//! ```text
//!     Σ_l a_l b_l  =  Σ_l a_l (b_l − 128)  −  Σ_l a_l · (−128)        zmm(3r + v), and lane r of zmm31
//! ```
//! zmm30 holds bytes of −128, whose bits are those of 128: b ^ 128, read as a signed byte, is b − 128.

#![expect(unsafe_code, reason = "vector instructions and addresses without checks")]

use std::arch::asm;
use std::arch::x86_64::{
    __m512d, _mm256_loadu_ps, _mm512_add_pd, _mm512_cvtps_pd, _mm512_fmadd_pd, _mm512_loadu_pd, _mm512_loadu_si512,
    _mm512_mask_permutexvar_epi32, _mm512_mask_storeu_pd, _mm512_maskz_loadu_pd, _mm512_set1_pd, _mm512_setzero_pd,
    _mm512_setzero_si512, _mm512_shuffle_f64x2, _mm512_storeu_pd, _mm512_storeu_si512, _mm512_unpackhi_pd,
    _mm512_unpacklo_pd,
};
use std::ops::Range;

use crate::avx2::Avx2;
use crate::descent::{Descent, Iterates, Workspace};
use crate::gram::{Factors, Piece, Prefetch, Sides, Stripe, visit};
use crate::panel::{EXTRA_SUMS, Number, Packed, STRIDE, TILE_STRIPS, TILE_SUMS, UNROLL};
use crate::probe::{self, Dots, RowGroup, VECTORS};
use crate::rows::Work;

/// Witness that the machine has AVX-512, VNNI, and what [`Avx2`] stands for.
#[derive(Clone, Copy)]
pub struct Avx512(());

impl Avx512 {
    /// The witness, if the machine has all of them.
    pub(crate) fn detect() -> Option<Self> {
        let basic = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
        let words = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq");
        let all = basic && words && is_x86_feature_detected!("avx512vnni");
        Avx2::detect().filter(|_| all).map(|_| Self(()))
    }
}

/// `work`, compiled for this machine.
pub(crate) fn run<W: Work>(_: Avx512, work: W) -> W::Output {
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
    fn inside<W: Work>(work: W) -> W::Output {
        work.run()
    }
    // SAFETY: `Avx512` exists only on machines with all of these.
    unsafe { inside(work) }
}

/// [`visit`], compiled for this machine.
pub(crate) fn accumulate<'a, T: Number>(
    avx512: Avx512,
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = Prefetch<'a>>,
) {
    // A closure would not do: the compiler need not inline it, and would then compile it for the baseline machine.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
    fn inside<'a, T: Number>(
        avx512: Avx512,
        sides: Sides<'_, T>,
        gram: Stripe<'_>,
        next: impl IntoIterator<Item = Prefetch<'a>>,
    ) {
        let tile = |factors: Factors<'_, T>, sums: &mut _| T::wide_tile(avx512, factors, sums);
        visit::<T, 2>(sides, gram, next, tile, |entries, rows, pieces, sums| {
            add::<T>(entries, rows, pieces, sums);
        });
    }
    // SAFETY: `Avx512` exists only on machines with all of these.
    unsafe { inside(avx512, sides, gram, next) }
}

/// [`crate::gram::add`], one piece at a time: of eight entries, those outside the piece stay unchanged. Every piece is
/// added to all rows before the next piece, so that no row is read right after it was written, which would stall.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
fn add<T: Number>(entries: &mut [f64], rows: &[usize], pieces: &[Piece], sums: &[T::Sum]) {
    let (Some(bottom), Some(last)) = (rows.last(), pieces.last()) else { return };
    let wide = 2 * T::LANES * TILE_STRIPS;
    assert!(bottom + last.column + last.length <= entries.len());
    assert!((rows.len() - 1) * wide + last.at + EXTRA_SUMS <= sums.len());
    for piece in pieces {
        debug_assert!(piece.length <= EXTRA_SUMS && piece.at <= last.at && piece.column <= last.column);
        let mask = ((1_u32 << piece.length) - 1) as u8;
        for (r, row) in rows.iter().enumerate() {
            debug_assert!(row <= bottom);
            // SAFETY: rows are in ascending order and pieces from left to right, so that no piece ends after the last
            // piece of the last row; the mask selects the entries of the piece alone, and eight sums are readable from
            // its first one on.
            unsafe {
                let sums: [T::Sum; EXTRA_SUMS] = *sums.as_ptr().add(r * wide + piece.at).cast();
                let (sums, to) = (sums.map(Into::into), entries.as_mut_ptr().add(row + piece.column));
                let sums = _mm512_loadu_pd(sums.as_ptr());
                _mm512_mask_storeu_pd(to, mask, _mm512_add_pd(_mm512_maskz_loadu_pd(mask, to), sums));
            }
        }
    }
}

/// [`Descent::all`], compiled for this machine.
pub(crate) fn descend(
    avx512: Avx512,
    by: Descent<'_>,
    r: usize,
    iterates: Iterates<'_>,
    workspace: &mut Workspace,
) -> f64 {
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
    fn inside(avx512: Avx512, by: Descent<'_>, r: usize, iterates: Iterates<'_>, workspace: &mut Workspace) -> f64 {
        by.all::<2>(r, iterates, workspace, |factors, sums| tile_f64(avx512, factors, sums))
    }
    // SAFETY: `Avx512` exists only on machines with all of these.
    unsafe { inside(avx512, by, r, iterates, workspace) }
}

/// [`crate::machine::Machine::collect`]: lanes from the same register are moved together.
pub(crate) fn collect<L: Copy>(_: Avx512, strips: &mut [L], from: &[usize], to: Range<usize>) {
    /// Words of four bytes: which words of the register at `from` go to which place.
    struct Source {
        from: usize,
        mask: u16,
        words: [i32; 16],
    }
    #[target_feature(enable = "avx512f,avx512vl")]
    unsafe fn inside(words: *mut i32, sources: &[Source], to: usize, steps: usize) {
        for step in (0..16 * steps).step_by(16) {
            let mut all = _mm512_setzero_si512();
            for source in sources {
                // SAFETY: the caller's promise, for the register that is read and, below, for the one that is written.
                unsafe {
                    let register = _mm512_loadu_si512(words.add(source.from + step).cast());
                    let order = _mm512_loadu_si512(source.words.as_ptr().cast());
                    all = _mm512_mask_permutexvar_epi32(all, source.mask, order, register);
                }
            }
            unsafe { _mm512_storeu_si512(words.add(to + step).cast(), all) };
        }
    }
    let size = size_of::<L>() / 4;
    let (lanes, steps) = (16 / size, to.len() * size / 16);
    let mut sources: Vec<Source> = vec![];
    for (c, place) in from.iter().enumerate() {
        let register = place / lanes * 16;
        if sources.last().is_none_or(|source| source.from != register) {
            sources.push(Source { from: register, mask: 0, words: [0; 16] });
        }
        let source = sources.last_mut().expect("pushed where there was none");
        for word in 0..size {
            source.mask |= 1 << (c * size + word);
            source.words[c * size + word] = (place % lanes * size + word) as i32;
        }
    }
    let end = sources.iter().map(|source| source.from).chain([to.start * size]).max().unwrap_or(0) + 16 * steps;
    assert!(from.len() <= lanes && size * lanes == 16 && end <= strips.len() * size, "strips are within the memory");
    // SAFETY: `Avx512` exists only on machines with these features, lanes are whole words, and all registers lie within
    // the memory.
    unsafe { inside(strips.as_mut_ptr().cast(), &sources, to.start * size, steps) }
}

/// Rows per pass of the probe: twenty-four sums, one row and three vectors are in registers.
const PROBE_ROWS: usize = 8;

/// [`probe::sweep`], compiled for this machine.
pub(crate) fn sweep(_: Avx512, rows: &[f32], vectors: &[f64], products: &mut [f64]) {
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
    fn inside(rows: &[f32], vectors: &[f64], products: &mut [f64]) {
        probe::sweep::<PROBE_ROWS>(rows, vectors, products, |x, r| dots(x, r), |x, y, s| updates(x, y, s));
    }
    // SAFETY: `Avx512` exists only on machines with all of these.
    unsafe { inside(rows, vectors, products) }
}

/// [`probe::dots`], eight columns at a time.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
fn dots(x: RowGroup<'_, PROBE_ROWS>, r: [&[f64]; VECTORS]) -> Dots<PROBE_ROWS> {
    let whole = x.columns / 8 * 8;
    assert!(r.iter().all(|r| r.len() >= whole));
    let mut sums = [_mm512_setzero_pd(); PROBE_ROWS * VECTORS];
    for j in (0..whole).step_by(8) {
        // SAFETY: j + 8 ≤ whole, and all rows and slices are at least that long.
        let r = unsafe { r.map(|r| _mm512_loadu_pd(r.as_ptr().add(j))) };
        for i in 0..PROBE_ROWS {
            // SAFETY: as before.
            let a = unsafe { eight(x.row(i), j) };
            for k in 0..VECTORS {
                sums[i * VECTORS + k] = _mm512_fmadd_pd(a, r[k], sums[i * VECTORS + k]);
            }
        }
    }
    let mut y = probe::dots(x, r, whole);
    for (y, sums) in y.as_flattened_mut().as_chunks_mut::<8>().0.iter_mut().zip(sums.as_chunks::<8>().0) {
        // SAFETY: eight numbers are read, and written.
        unsafe { _mm512_storeu_pd(y.as_mut_ptr(), _mm512_add_pd(_mm512_loadu_pd(y.as_ptr()), totals(*sums))) };
    }
    y
}

/// The totals of eight registers. Pairs are reduced to four, two and one registers, each with sums of lanes of both of
/// its pair.
#[inline]
#[target_feature(enable = "avx512f")]
fn totals([a, b, c, d, e, f, g, h]: [__m512d; 8]) -> __m512d {
    let lanes = |a, b| _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
    let pairs = |a, b| {
        let (even, odd) = (_mm512_shuffle_f64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b));
        _mm512_add_pd(even, odd)
    };
    pairs(pairs(lanes(a, b), lanes(c, d)), pairs(lanes(e, f), lanes(g, h)))
}

/// [`probe::updates`], eight columns at a time.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
fn updates(x: RowGroup<'_, PROBE_ROWS>, y: &Dots<PROBE_ROWS>, s: &mut [&mut [f64]; VECTORS]) {
    let whole = x.columns / 8 * 8;
    assert!(s.iter().all(|s| s.len() >= whole));
    let mut all = [[_mm512_setzero_pd(); VECTORS]; PROBE_ROWS];
    for i in 0..PROBE_ROWS {
        for k in 0..VECTORS {
            all[i][k] = _mm512_set1_pd(y[i][k]);
        }
    }
    for j in (0..whole).step_by(8) {
        // SAFETY: j + 8 ≤ whole, and all rows and slices are at least that long.
        unsafe {
            // Two halves of each sum, so that an addition does not wait for the previous one.
            let mut halves = [[_mm512_setzero_pd(); VECTORS]; 2];
            for k in 0..VECTORS {
                halves[0][k] = _mm512_loadu_pd(s[k].as_ptr().add(j));
            }
            for i in 0..PROBE_ROWS {
                let a = eight(x.row(i), j);
                for k in 0..VECTORS {
                    halves[i % 2][k] = _mm512_fmadd_pd(a, all[i][k], halves[i % 2][k]);
                }
            }
            for k in 0..VECTORS {
                _mm512_storeu_pd(s[k].as_mut_ptr().add(j), _mm512_add_pd(halves[0][k], halves[1][k]));
            }
        }
    }
    probe::updates(x, y, s, whole);
}

/// Eight consecutive values of a row.
///
/// # Safety
///
/// The row has values at `j..j + 8`.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
unsafe fn eight(row: *const f32, j: usize) -> __m512d {
    // SAFETY: the caller's promise.
    _mm512_cvtps_pd(unsafe { _mm256_loadu_ps(row.add(j)) })
}

/// BatchRow `$r` of a tile at byte `$at` of the steps: broadcast a lane of the rows, multiply by the columns, add.
macro_rules! row {
    (f64 $r:literal $at:literal $all:literal $($sum:literal $column:literal)*) => {
        concat!("vbroadcastsd zmm", $all, ", [{rows}+", $at, "+8*", $r, "]\n",
            $("vfmadd231pd zmm", $sum, ", zmm", $column, ", zmm", $all, "\n",)*)
    };
    (f32 $r:literal $at:literal $all:literal $($sum:literal $column:literal)*) => {
        concat!("vbroadcastss zmm", $all, ", [{rows}+", $at, "+4*", $r, "]\n",
            $("vfmadd231ps zmm", $sum, ", zmm", $column, ", zmm", $all, "\n",)*)
    };
    (u8 $r:literal $at:literal $all:literal $($sum:literal $column:literal)*) => {
        concat!("vpbroadcastd zmm", $all, ", [{rows}+", $at, "+4*", $r, "]\n",
            $("vpdpbusd zmm", $sum, ", zmm", $all, ", zmm", $column, "\n",)*)
    };
}

/// Prefetches what is read eight steps later: the columns of a tile alone exceed a first-level cache of 32 KB.
macro_rules! fetch {
    ($side:literal $strip:literal $at:literal) => {
        concat!("prefetcht0 [{", $side, "}+", $strip, "*{stride}+512+", $at, "]\n")
    };
}

/// Strip `$column` of the columns at byte `$at` of the steps, minus 128 for bytes.
macro_rules! column {
    (u8 $column:literal $strip:literal $at:literal) => {
        concat!("vpxord zmm", $column, ", zmm30, [{columns}+", $strip, "*{stride}+", $at, "]\n")
    };
    ($float:ident $column:literal $strip:literal $at:literal) => {
        concat!("vmovups zmm", $column, ", [{columns}+", $strip, "*{stride}+", $at, "]\n", fetch!("columns" $strip $at))
    };
}

/// What the rows of bytes at byte `$at` of the steps add to zmm31. For other numbers nothing is added, and the rows are
/// prefetched.
macro_rules! bias {
    (u8 $at:literal) => {
        concat!("vmovups ymm29, [{rows}+", $at, "]\n", "vpdpbusd ymm31, ymm29, ymm30\n")
    };
    ($float:ident $at:literal) => {
        fetch!("rows" 0 $at)
    };
}

/// zmm30 and zmm31 at the start.
macro_rules! begin {
    (u8) => {
        concat!(
            "vpternlogd zmm30, zmm30, zmm30, 255\n",
            "vpabsb zmm30, zmm30\n",
            "vpslld zmm30, zmm30, 7\n",
            "vpxord zmm31, zmm31, zmm31\n",
        )
    };
    ($float:ident) => {
        ""
    };
}

/// Adds back what [`column`] subtracted; the space after the sums is used as scratch memory.
macro_rules! end {
    (u8) => {
        concat!(
            "vmovups [{sums}+1536], ymm31\n",
            given!(0 0 1 2), given!(1 3 4 5), given!(2 6 7 8), given!(3 9 10 11),
            given!(4 12 13 14), given!(5 15 16 17), given!(6 18 19 20), given!(7 21 22 23),
        )
    };
    ($float:ident) => {
        ""
    };
}
macro_rules! given {
    ($r:literal $($sum:literal)*) => {
        concat!($("vpsubd zmm", $sum, ", zmm", $sum, ", dword ptr [{sums}+1536+4*", $r, "]{{1to16}}\n",)*)
    };
}

/// One step, at byte `$at`, of a tile of three, two or one strips.
macro_rules! step {
    (3 $type:tt $at:literal) => {
        concat!(
            column!($type 24 0 $at), column!($type 25 1 $at), column!($type 26 2 $at), bias!($type $at),
            row!($type 0 $at 27 0 24 1 25 2 26),
            row!($type 1 $at 28 3 24 4 25 5 26),
            row!($type 2 $at 29 6 24 7 25 8 26),
            row!($type 3 $at 27 9 24 10 25 11 26),
            row!($type 4 $at 28 12 24 13 25 14 26),
            row!($type 5 $at 29 15 24 16 25 17 26),
            row!($type 6 $at 27 18 24 19 25 20 26),
            row!($type 7 $at 28 21 24 22 25 23 26),
        )
    };
    (2 $type:tt $at:literal) => {
        concat!(
            column!($type 24 0 $at), column!($type 25 1 $at), bias!($type $at),
            row!($type 0 $at 27 0 24 1 25),
            row!($type 1 $at 28 3 24 4 25),
            row!($type 2 $at 29 6 24 7 25),
            row!($type 3 $at 27 9 24 10 25),
            row!($type 4 $at 28 12 24 13 25),
            row!($type 5 $at 29 15 24 16 25),
            row!($type 6 $at 27 18 24 19 25),
            row!($type 7 $at 28 21 24 22 25),
        )
    };
    (1 $type:tt $at:literal) => {
        concat!(
            column!($type 24 0 $at), bias!($type $at),
            row!($type 0 $at 27 0 24), row!($type 1 $at 28 3 24), row!($type 2 $at 29 6 24), row!($type 3 $at 27 9 24),
            row!($type 4 $at 28 12 24), row!($type 5 $at 29 15 24), row!($type 6 $at 27 18 24),
            row!($type 7 $at 28 21 24),
        )
    };
}

/// One line of assembly for each sum: its register and its place in memory.
macro_rules! sums {
    ($line:ident) => {
        concat!(
            $line!(0 0), $line!(1 64), $line!(2 128), $line!(3 192), $line!(4 256), $line!(5 320),
            $line!(6 384), $line!(7 448), $line!(8 512), $line!(9 576), $line!(10 640), $line!(11 704),
            $line!(12 768), $line!(13 832), $line!(14 896), $line!(15 960), $line!(16 1024), $line!(17 1088),
            $line!(18 1152), $line!(19 1216), $line!(20 1280), $line!(21 1344), $line!(22 1408), $line!(23 1472),
        )
    };
}
macro_rules! clear {
    ($sum:literal $at:literal) => {
        concat!("vpxord zmm", $sum, ", zmm", $sum, ", zmm", $sum, "\n")
    };
}
macro_rules! store {
    ($sum:literal $at:literal) => {
        concat!("vmovups [{sums}+", $at, "], zmm", $sum, "\n")
    };
}

/// The whole tile: clear the sums, all steps by four, store the sums.
macro_rules! tile {
    ($factors:ident, $rows:ident, $lines:ident, $sums:ident, $count:tt $type:tt) => {
        asm!(
            sums!(clear),
            begin!($type),
            ".p2align 5",
            "2:",
            step!($count $type 0), step!($count $type 64), step!($count $type 128), step!($count $type 192),
            "prefetcht1 [{near}]",
            "add {near}, {near_line}",
            "prefetcht1 [{far}]",
            "add {far}, {far_line}",
            "mov {line}, [{soon}]",
            "prefetcht0 [{line}]",
            "add {soon}, 8",
            "add {rows}, 256",
            "add {columns}, 256",
            "sub {steps}, 4",
            "jnz 2b",
            end!($type),
            sums!(store),
            "vzeroupper",
            rows = inout(reg) $rows => _,
            columns = inout(reg) $factors.columns.as_ptr() => _,
            steps = inout(reg) $factors.steps => _,
            near = inout(reg) $factors.ahead[0].start => _,
            near_line = in(reg) $lines[0],
            far = inout(reg) $factors.ahead[1].start => _,
            far_line = in(reg) $lines[1],
            soon = inout(reg) $factors.soon.lines.as_ptr() => _,
            line = out(reg) _,
            sums = in(reg) $sums.as_mut_ptr(),
            stride = const STRIDE * 64,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _, out("zmm6") _,
            out("zmm7") _, out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
            out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _, out("zmm25") _,
            out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            options(nostack),
        )
    };
}

macro_rules! tile_function {
    ($name:ident $type:tt) => {
        /// The tile of [`crate::gram`].
        #[inline(always)]
        pub(crate) fn $name(_: Avx512, factors: Factors<'_, $type>, sums: &mut [<$type as Packed>::Sum; TILE_SUMS]) {
            #[target_feature(enable = "avx512f")]
            fn inside(factors: Factors<'_, $type>, sums: &mut [<$type as Packed>::Sum; TILE_SUMS]) {
                factors.check(2);
                let rows = factors.rows.as_ptr().wrapping_add(factors.lane);
                let lines = factors.ahead.map(|ahead| ahead.bytes.div_ceil(factors.steps / UNROLL));
                // SAFETY: `check` guarantees that `count` strips of `steps` registers of columns, as many of rows and
                // eight lanes from `lane` on are readable, and that `steps` is a positive multiple of four. The sums
                // are 24 registers of 64 bytes and eight numbers of four bytes, which fit into `TILE_SUMS` numbers of
                // four bytes or more. Prefetching cannot fault.
                unsafe {
                    match factors.count {
                        3 => tile!(factors, rows, lines, sums, 3 $type),
                        2 => tile!(factors, rows, lines, sums, 2 $type),
                        _ => tile!(factors, rows, lines, sums, 1 $type),
                    }
                }
            }
            // SAFETY: `Avx512` exists only on machines with AVX-512 and VNNI.
            unsafe { inside(factors, sums) }
        }
    };
}

tile_function!(tile_f64 f64);
tile_function!(tile_f32 f32);
tile_function!(tile_u8 u8);
