//! AᵀA times a few vectors in `f64`, to measure the error of a Gram matrix in `f32`.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (q × p) | `rows` | rows of A, `f32`, one after the other |
//! | R (4 × p) | `vectors` | the vectors, one after the other |
//! | S (4 × p) | `products` | their products with AᵀA |
//!
//! ```text
//!     y_k = Σ_j R_kj A_lj        S_kj ← S_kj + Σ_l y_k A_lj        for every row l and every k = 0..4
//! ```
//! Columns are taken a cache full at a time, rows two at a time for y and four for S, so that R and S are read from the
//! nearest cache and once for all these rows.

use crate::gram::Machine;

/// Vectors that are multiplied together.
pub const VECTORS: usize = 4;

/// Rows whose y are kept at a time.
const BATCH: usize = 64;
/// Columns at a time: R, S and four rows take 20 KB.
const CHUNK: usize = 256;

/// Adds AᵀA R of some rows of A (`rows.len() / p` of them) to S.
pub fn probe(rows: &[f32], vectors: &[f64], products: &mut [f64]) {
    probe_on(Machine::detect(), rows, vectors, products);
}

pub(crate) fn probe_on(machine: Machine, rows: &[f32], vectors: &[f64], products: &mut [f64]) {
    let p = vectors.len() / VECTORS;
    assert!(vectors.len() == VECTORS * p && products.len() == VECTORS * p, "vectors and products are 4 × p");
    if rows.is_empty() {
        return;
    }
    assert!(p > 0 && rows.len().is_multiple_of(p), "a row has a value for each column");
    match machine {
        Machine::Portable => sweep(rows, vectors, products, |x, r| dots(x, r, 0), |x, y, s| updates(x, y, s, 0)),
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(avx2) => crate::avx2::sweep(avx2, rows, vectors, products),
    }
}

/// A chunk of columns of two rows.
pub(crate) type Pair<'a> = [&'a [f32]; 2];
/// A chunk of columns of four rows.
pub(crate) type Four<'a> = [&'a [f32]; 4];
/// y of two rows.
pub(crate) type Dots = [[f64; VECTORS]; 2];

/// Everything but the sums over one chunk: `dots` for y, `updates` for S.
#[inline(always)]
pub(crate) fn sweep(
    rows: &[f32],
    vectors: &[f64],
    products: &mut [f64],
    dots: impl Fn(Pair<'_>, [&[f64]; VECTORS]) -> Dots,
    updates: impl Fn(Four<'_>, &[Dots; 2], &mut [&mut [f64]; VECTORS]),
) {
    let p = vectors.len() / VECTORS;
    for batch in rows.chunks(BATCH * p) {
        let mut y = [[[[0.0; VECTORS]; 2]; 2]; BATCH / 4];
        for start in (0..p).step_by(CHUNK) {
            let end = (start + CHUNK).min(p);
            let r: [&[f64]; VECTORS] = std::array::from_fn(|k| &vectors[k * p + start..k * p + end]);
            for (rows, y) in batch.chunks(2 * p).zip(y.iter_mut().flatten()) {
                let sums = dots(some(rows, p, start, end), r);
                for i in 0..rows.len() / p {
                    (0..VECTORS).for_each(|k| y[i][k] += sums[i][k]);
                }
            }
        }
        for start in (0..p).step_by(CHUNK) {
            let end = (start + CHUNK).min(p);
            let mut planes = products.chunks_exact_mut(p);
            let mut s = std::array::from_fn(|_| &mut planes.next().expect("there are four")[start..end]);
            for (rows, y) in batch.chunks(4 * p).zip(&y) {
                updates(some(rows, p, start, end), y, &mut s);
            }
        }
    }
}

/// Columns `start..end` of some rows. The last row stands in for those that are missing at the end, whose y stay zero.
#[inline(always)]
fn some<const N: usize>(rows: &[f32], p: usize, start: usize, end: usize) -> [&[f32]; N] {
    let last = rows.len() / p - 1;
    std::array::from_fn(|i| &rows[i.min(last) * p..][start..end])
}

/// y_k = Σ_j R_kj A_lj over the columns of a chunk from `first` on, for two rows.
#[inline(always)]
pub(crate) fn dots(x: Pair<'_>, r: [&[f64]; VECTORS], first: usize) -> Dots {
    x.map(|x| r.map(|r| x[first..].iter().zip(&r[first..]).map(|(&a, &r)| f64::from(a) * r).sum()))
}

/// S_kj ← S_kj + y_k A_lj over the columns of a chunk from `first` on, for four rows.
#[inline(always)]
pub(crate) fn updates(x: Four<'_>, y: &[Dots; 2], s: &mut [&mut [f64]; VECTORS], first: usize) {
    for (k, s) in s.iter_mut().enumerate() {
        for j in first..s.len() {
            let term = |row: usize| f64::from(x[row][j]) * y[row / 2][row % 2][k];
            s[j] += (term(0) + term(1)) + (term(2) + term(3));
        }
    }
}
