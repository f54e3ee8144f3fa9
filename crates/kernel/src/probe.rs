//! AᵀA times a few vectors in `f64`, to measure the error of a Gram matrix in `f32`.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (q × p) | `rows` | rows of A, `f32`, one after the other |
//! | R (3 × p) | `vectors` | the vectors, one after the other |
//! | S (3 × p) | `products` | their products with AᵀA |
//!
//! ```text
//!     y_k = Σ_j R_kj A_lj        S_kj ← S_kj + Σ_l y_k A_lj        for every row l and every k = 0..3
//! ```
//! Columns are taken a cache full at a time and rows two at a time, or four: R and S are read from the nearest cache and once
//! for all of these rows, whose sums with three vectors stay in registers.

use crate::machine::Machine;

/// Vectors that are multiplied together.
pub const VECTORS: usize = 3;

/// Rows whose y are kept at a time.
const BATCH: usize = 64;
/// Columns at a time: R, S and two rows take 14 KB.
const CHUNK: usize = 256;

/// Adds AᵀA R of some rows of A (`rows.len() / p` of them) to S.
pub fn probe(rows: &[f32], vectors: &[f64], products: &mut [f64]) {
    probe_on(Machine::detect(), rows, vectors, products);
}

pub(crate) fn probe_on(machine: Machine, rows: &[f32], vectors: &[f64], products: &mut [f64]) {
    let p = vectors.len() / VECTORS;
    assert!(vectors.len() == VECTORS * p && products.len() == VECTORS * p, "vectors and products are 3 × p");
    if rows.is_empty() {
        return;
    }
    assert!(p > 0 && rows.len().is_multiple_of(p), "a row has a value for each column");
    match machine {
        Machine::Portable => sweep::<2>(rows, vectors, products, |x, r| dots(x, r, 0), |x, y, s| updates(x, y, s, 0)),
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(avx2) => crate::avx2::sweep(avx2, rows, vectors, products),
        #[cfg(target_arch = "x86_64")]
        Machine::Avx512(avx512) => crate::avx512::sweep(avx512, rows, vectors, products),
    }
}

/// A chunk of columns of a few rows.
pub(crate) type Few<'a, const N: usize> = [&'a [f32]; N];
/// y of a few rows.
pub(crate) type Dots<const N: usize> = [[f64; VECTORS]; N];

/// Everything but the sums over one chunk of `N` rows: `dots` for y, `updates` for S.
#[inline(always)]
pub(crate) fn sweep<const N: usize>(
    rows: &[f32],
    vectors: &[f64],
    products: &mut [f64],
    dots: impl Fn(Few<'_, N>, [&[f64]; VECTORS]) -> Dots<N>,
    updates: impl Fn(Few<'_, N>, &Dots<N>, &mut [&mut [f64]; VECTORS]),
) {
    let p = vectors.len() / VECTORS;
    for batch in rows.chunks(BATCH * p) {
        let mut y = [[0.0; VECTORS]; BATCH];
        for start in (0..p).step_by(CHUNK) {
            let end = (start + CHUNK).min(p);
            let r: [&[f64]; VECTORS] = std::array::from_fn(|k| &vectors[k * p + start..k * p + end]);
            for (rows, y) in batch.chunks(N * p).zip(y.as_chunks_mut::<N>().0) {
                let sums = dots(some(rows, p, start, end), r);
                for i in 0..rows.len() / p {
                    (0..VECTORS).for_each(|k| y[i][k] += sums[i][k]);
                }
            }
        }
        for start in (0..p).step_by(CHUNK) {
            let end = (start + CHUNK).min(p);
            let mut planes = products.chunks_exact_mut(p);
            let mut s = std::array::from_fn(|_| &mut planes.next().expect("there are three")[start..end]);
            for (rows, y) in batch.chunks(N * p).zip(y.as_chunks::<N>().0) {
                updates(some(rows, p, start, end), y, &mut s);
            }
        }
    }
}

/// Columns `start..end` of some rows. The last stands in for those that are missing at the end: their y stay zero.
#[inline(always)]
fn some<const N: usize>(rows: &[f32], p: usize, start: usize, end: usize) -> Few<'_, N> {
    let last = rows.len() / p - 1;
    std::array::from_fn(|i| &rows[i.min(last) * p..][start..end])
}

/// y_k = Σ_j R_kj A_lj over the columns of a chunk from `first` on.
#[inline(always)]
pub(crate) fn dots<const N: usize>(x: Few<'_, N>, r: [&[f64]; VECTORS], first: usize) -> Dots<N> {
    let mut y = [[0.0; VECTORS]; N];
    for i in 0..N {
        for j in first..x[i].len() {
            (0..VECTORS).for_each(|k| y[i][k] += f64::from(x[i][j]) * r[k][j]);
        }
    }
    y
}

/// S_kj ← S_kj + Σ_l y_lk A_lj over the columns of a chunk from `first` on.
#[inline(always)]
pub(crate) fn updates<const N: usize>(x: Few<'_, N>, y: &Dots<N>, s: &mut [&mut [f64]; VECTORS], first: usize) {
    for (k, s) in s.iter_mut().enumerate() {
        for j in first..s.len() {
            s[j] += (0..N).map(|i| f64::from(x[i][j]) * y[i][k]).sum::<f64>();
        }
    }
}
