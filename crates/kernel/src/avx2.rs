//! The tile in assembly, for x86-64 with AVX2 and FMA.
//!
//! ```text
//!     ymm(3r + v) += columns_v · broadcast(rows_r)        r = 0..4 rows, v = 0..3 strips, one step at a time
//! ```
//! Twelve sums, three columns and one broadcast fill the sixteen registers. The tile is assembly rather than
//! intrinsics, because the compiler moves the sums between registers and loses half of the speed.

#![expect(unsafe_code, reason = "vector instructions and addresses without checks")]

use std::arch::asm;
use std::arch::x86_64::{
    __m256d, _mm_loadu_ps, _mm256_cvtps_pd, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_set1_pd, _mm256_setzero_pd,
    _mm256_storeu_pd,
};

use crate::descent::{Descent, Iterates, Workspace};
use crate::gram::{Factors, Prefetch, Sides, Stripe, add, visit};
use crate::panel::{Number, Packed, STRIDE, TILE_SUMS, UNROLL};
use crate::probe::{self, Dots, RowGroup, VECTORS};
use crate::rows::Work;

/// Witness that the machine has AVX2 and FMA.
#[derive(Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    /// The witness, if the machine has both.
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }
}

/// `work`, compiled for this machine.
pub(crate) fn run<W: Work>(_: Avx2, work: W) -> W::Output {
    #[target_feature(enable = "avx2,fma")]
    fn inside<W: Work>(work: W) -> W::Output {
        work.run()
    }
    // SAFETY: `Avx2` exists only on machines with AVX2 and FMA.
    unsafe { inside(work) }
}

/// [`visit`], compiled for this machine.
pub(crate) fn accumulate<'a, T: Number>(
    avx2: Avx2,
    sides: Sides<'_, T>,
    gram: Stripe<'_>,
    next: impl IntoIterator<Item = Prefetch<'a>>,
) {
    // A closure would not do: the compiler need not inline it, and would then compile it for the baseline machine.
    #[target_feature(enable = "avx2,fma")]
    fn inside<'a, T: Number>(
        avx2: Avx2,
        sides: Sides<'_, T>,
        gram: Stripe<'_>,
        next: impl IntoIterator<Item = Prefetch<'a>>,
    ) {
        visit::<T, 1>(sides, gram, next, |factors, sums| T::tile(avx2, factors, sums), add::<T, 1>);
    }
    // SAFETY: `Avx2` exists only on machines with AVX2 and FMA.
    unsafe { inside(avx2, sides, gram, next) }
}

/// [`Descent::all`], compiled for this machine.
pub(crate) fn descend(avx2: Avx2, by: Descent<'_>, r: usize, iterates: Iterates<'_>, workspace: &mut Workspace) -> f64 {
    #[target_feature(enable = "avx2,fma")]
    fn inside(avx2: Avx2, by: Descent<'_>, r: usize, iterates: Iterates<'_>, workspace: &mut Workspace) -> f64 {
        by.all::<1>(r, iterates, workspace, |factors, sums| tile_f64(avx2, factors, sums))
    }
    // SAFETY: `Avx2` exists only on machines with AVX2 and FMA.
    unsafe { inside(avx2, by, r, iterates, workspace) }
}

/// [`probe::sweep`], compiled for this machine.
pub(crate) fn sweep(_: Avx2, rows: &[f32], vectors: &[f64], products: &mut [f64]) {
    #[target_feature(enable = "avx2,fma")]
    fn inside(rows: &[f32], vectors: &[f64], products: &mut [f64]) {
        probe::sweep::<2>(rows, vectors, products, |x, r| dots(x, r), |x, y, s| updates(x, y, s));
    }
    // SAFETY: `Avx2` exists only on machines with AVX2 and FMA.
    unsafe { inside(rows, vectors, products) }
}

/// [`probe::dots`], four columns at a time.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn dots(x: RowGroup<'_, 2>, r: [&[f64]; VECTORS]) -> Dots<2> {
    let whole = x.columns / 4 * 4;
    assert!(r.iter().all(|r| r.len() >= whole));
    let mut sums = [[_mm256_setzero_pd(); VECTORS]; 2];
    for j in (0..whole).step_by(4) {
        // SAFETY: j + 4 ≤ whole, and all rows and slices are at least that long.
        let (a, r) = unsafe { ([four(x.row(0), j), four(x.row(1), j)], r.map(|r| _mm256_loadu_pd(r.as_ptr().add(j)))) };
        for i in 0..2 {
            for k in 0..VECTORS {
                sums[i][k] = _mm256_fmadd_pd(a[i], r[k], sums[i][k]);
            }
        }
    }
    let mut y = probe::dots(x, r, whole);
    for i in 0..2 {
        for k in 0..VECTORS {
            let mut lanes = [0.0; 4];
            // SAFETY: four lanes go into four numbers.
            unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), sums[i][k]) };
            y[i][k] += (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
        }
    }
    y
}

/// [`probe::updates`], four columns at a time.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn updates(x: RowGroup<'_, 2>, y: &Dots<2>, s: &mut [&mut [f64]; VECTORS]) {
    let whole = x.columns / 4 * 4;
    assert!(s.iter().all(|s| s.len() >= whole));
    let mut all = [[_mm256_setzero_pd(); VECTORS]; 2];
    for i in 0..2 {
        for k in 0..VECTORS {
            all[i][k] = _mm256_set1_pd(y[i][k]);
        }
    }
    for j in (0..whole).step_by(4) {
        // SAFETY: j + 4 ≤ whole, and all rows and slices are at least that long.
        unsafe {
            let (a, b) = (four(x.row(0), j), four(x.row(1), j));
            for k in 0..VECTORS {
                let to = s[k].as_mut_ptr().add(j);
                let sum = _mm256_fmadd_pd(a, all[0][k], _mm256_loadu_pd(to));
                _mm256_storeu_pd(to, _mm256_fmadd_pd(b, all[1][k], sum));
            }
        }
    }
    probe::updates(x, y, s, whole);
}

/// Four consecutive values of a row.
///
/// # Safety
///
/// The row has values at `j..j + 4`.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn four(row: *const f32, j: usize) -> __m256d {
    // SAFETY: the caller's promise.
    _mm256_cvtps_pd(unsafe { _mm_loadu_ps(row.add(j)) })
}

/// BatchRow `$r` of a tile at byte `$at` of the steps: broadcast a lane of the rows, multiply by the columns, add.
/// Integers need a register for the product, so their third column is read from memory each time.
macro_rules! row {
    (f64 $r:literal $at:literal $($sum:literal $column:literal)*) => {
        concat!("vbroadcastsd ymm15, [{rows}+", $at, "+8*", $r, "]\n",
            $("vfmadd231pd ymm", $sum, ", ymm", $column, ", ymm15\n",)*)
    };
    (f32 $r:literal $at:literal $($sum:literal $column:literal)*) => {
        concat!("vbroadcastss ymm15, [{rows}+", $at, "+4*", $r, "]\n",
            $("vfmadd231ps ymm", $sum, ", ymm", $column, ", ymm15\n",)*)
    };
    (u8 $r:literal $at:literal $sum:literal 12 $($rest:tt)*) => {
        concat!("vpbroadcastd ymm15, [{rows}+", $at, "+4*", $r, "]\n",
            "vpmaddwd ymm14, ymm15, ymm12\n", "vpaddd ymm", $sum, ", ymm", $sum, ", ymm14\n",
            row!(more $at $($rest)*))
    };
    (more $at:literal) => { "" };
    (more $at:literal $sum:literal 13 $($rest:tt)*) => {
        concat!("vpmaddwd ymm14, ymm15, ymm13\n", "vpaddd ymm", $sum, ", ymm", $sum, ", ymm14\n",
            row!(more $at $($rest)*))
    };
    (more $at:literal $sum:literal 14) => {
        concat!("vpmaddwd ymm15, ymm15, [{columns}+2*{stride}+", $at, "]\n",
            "vpaddd ymm", $sum, ", ymm", $sum, ", ymm15\n")
    };
}

/// One step, at byte `$at`, of a tile of three, two or one strips. A tile of one strip has only four sums, too few to
/// keep the multipliers busy: even and odd steps have separate sums.
macro_rules! step {
    (3 u8 $at:literal) => {
        concat!(
            "vmovups ymm12, [{columns}+", $at, "]\n",
            "vmovups ymm13, [{columns}+{stride}+", $at, "]\n",
            row!(u8 0 $at 0 12 1 13 2 14),
            row!(u8 1 $at 3 12 4 13 5 14),
            row!(u8 2 $at 6 12 7 13 8 14),
            row!(u8 3 $at 9 12 10 13 11 14),
        )
    };
    (3 $type:tt $at:literal) => {
        concat!(
            "vmovups ymm12, [{columns}+", $at, "]\n",
            "vmovups ymm13, [{columns}+{stride}+", $at, "]\n",
            "vmovups ymm14, [{columns}+2*{stride}+", $at, "]\n",
            row!($type 0 $at 0 12 1 13 2 14),
            row!($type 1 $at 3 12 4 13 5 14),
            row!($type 2 $at 6 12 7 13 8 14),
            row!($type 3 $at 9 12 10 13 11 14),
        )
    };
    (2 $type:tt $at:literal) => {
        concat!(
            "vmovups ymm12, [{columns}+", $at, "]\n",
            "vmovups ymm13, [{columns}+{stride}+", $at, "]\n",
            row!($type 0 $at 0 12 1 13),
            row!($type 1 $at 3 12 4 13),
            row!($type 2 $at 6 12 7 13),
            row!($type 3 $at 9 12 10 13),
        )
    };
    (even $type:tt $at:literal) => {
        concat!("vmovups ymm12, [{columns}+", $at, "]\n",
            row!($type 0 $at 0 12), row!($type 1 $at 3 12), row!($type 2 $at 6 12), row!($type 3 $at 9 12))
    };
    (odd $type:tt $at:literal) => {
        concat!("vmovups ymm12, [{columns}+", $at, "]\n",
            row!($type 0 $at 1 12), row!($type 1 $at 4 12), row!($type 2 $at 7 12), row!($type 3 $at 10 12))
    };
}

/// The whole tile: clear the sums, all steps by four, store the sums.
macro_rules! tile {
    ($factors:ident, $rows:ident, $lines:ident, $sums:ident, [$($step:expr),*], $last:expr) => {
        asm!(
            "vxorps ymm0, ymm0, ymm0", "vxorps ymm1, ymm1, ymm1", "vxorps ymm2, ymm2, ymm2",
            "vxorps ymm3, ymm3, ymm3", "vxorps ymm4, ymm4, ymm4", "vxorps ymm5, ymm5, ymm5",
            "vxorps ymm6, ymm6, ymm6", "vxorps ymm7, ymm7, ymm7", "vxorps ymm8, ymm8, ymm8",
            "vxorps ymm9, ymm9, ymm9", "vxorps ymm10, ymm10, ymm10", "vxorps ymm11, ymm11, ymm11",
            ".p2align 5 /* {stride}: a tile of one strip does not use it, and must */",
            "2:",
            $($step,)*
            "prefetcht1 [{near}]",
            "add {near}, {near_line}",
            "prefetcht1 [{far}]",
            "add {far}, {far_line}",
            "mov {line}, [{soon}]",
            "prefetcht0 [{line}]",
            "add {soon}, 8",
            "add {rows}, 128",
            "add {columns}, 128",
            "sub {steps}, 4",
            "jnz 2b",
            $last,
            "vmovups [{sums}], ymm0", "vmovups [{sums}+32], ymm1", "vmovups [{sums}+64], ymm2",
            "vmovups [{sums}+96], ymm3", "vmovups [{sums}+128], ymm4", "vmovups [{sums}+160], ymm5",
            "vmovups [{sums}+192], ymm6", "vmovups [{sums}+224], ymm7", "vmovups [{sums}+256], ymm8",
            "vmovups [{sums}+288], ymm9", "vmovups [{sums}+320], ymm10", "vmovups [{sums}+352], ymm11",
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
            stride = const STRIDE * 32,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
            out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack),
        )
    };
}

macro_rules! tile_function {
    ($name:ident $type:tt $add:literal) => {
        /// The tile of [`crate::gram`].
        #[inline(always)]
        pub(crate) fn $name(_: Avx2, factors: Factors<'_, $type>, sums: &mut [<$type as Packed>::Sum; TILE_SUMS]) {
            factors.check(1);
            let rows = factors.rows.as_ptr().wrapping_add(factors.lane);
            let lines = factors.ahead.map(|ahead| ahead.bytes.div_ceil(factors.steps / UNROLL));
            // SAFETY: `Avx2` exists only on machines with AVX2 and FMA. `check` guarantees that `count` strips of
            // `steps` registers of columns, as many of rows and four lanes from `lane` on are readable, and that
            // `steps` is a positive multiple of four. The sums are 12 registers of 32 bytes, which fit into `TILE_SUMS`
            // numbers of four bytes or more. Prefetching cannot fault.
            unsafe {
                match factors.count {
                    3 => tile!(factors, rows, lines, sums, [
                        step!(3 $type 0), step!(3 $type 32), step!(3 $type 64), step!(3 $type 96)
                    ], ""),
                    2 => tile!(factors, rows, lines, sums, [
                        step!(2 $type 0), step!(2 $type 32), step!(2 $type 64), step!(2 $type 96)
                    ], ""),
                    _ => tile!(factors, rows, lines, sums, [
                        step!(even $type 0), step!(odd $type 32), step!(even $type 64), step!(odd $type 96)
                    ], concat!(
                        $add, " ymm0, ymm0, ymm1\n", $add, " ymm3, ymm3, ymm4\n",
                        $add, " ymm6, ymm6, ymm7\n", $add, " ymm9, ymm9, ymm10",
                    )),
                }
            }
        }
    };
}

tile_function!(tile_f64 f64 "vaddpd");
tile_function!(tile_f32 f32 "vaddps");
tile_function!(tile_u8 u8 "vpaddd");
