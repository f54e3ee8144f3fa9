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
//! Columns are processed a cache full at a time and rows two (or eight) at a time: R and S are read from the nearest
//! cache once for all of these rows, whose sums with three vectors stay in registers.

use std::ops::Range;

use crate::machine::Machine;

/// Number of vectors in one product.
pub const VECTORS: usize = 3;

/// Rows whose y are stored at a time.
const BATCH: usize = 16;
/// Maximum number of columns at a time: R, or S, and eight rows take 22 KB.
const CHUNK: usize = 400;

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

/// A range of columns of `N` rows.
#[derive(Clone, Copy)]
pub(crate) struct RowGroup<'a, const N: usize> {
    /// Values from the first of these columns of the first row on.
    values: &'a [f32],
    /// From one row to the next.
    stride: usize,
    /// How many columns.
    pub(crate) columns: usize,
}

impl<'a, const N: usize> RowGroup<'a, N> {
    #[inline(always)]
    fn new(rows: &'a [f32], stride: usize, columns: Range<usize>) -> Self {
        let group = Self { values: &rows[columns.start..], stride, columns: columns.len() };
        assert!((N - 1) * stride + group.columns <= group.values.len());
        group
    }

    /// Row `i`, i < N.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> *const f32 {
        self.values.as_ptr().wrapping_add(i * self.stride)
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.stride + j].into()
    }
}

/// y of a few rows.
pub(crate) type Dots<const N: usize> = [[f64; VECTORS]; N];

/// Everything but the sums over one chunk of `N` rows: `dots` for y, `updates` for S. The remaining rows are processed
/// one by one.
#[inline(always)]
pub(crate) fn sweep<const N: usize>(
    rows: &[f32],
    vectors: &[f64],
    products: &mut [f64],
    dots: impl Fn(RowGroup<'_, N>, [&[f64]; VECTORS]) -> Dots<N>,
    updates: impl Fn(RowGroup<'_, N>, &Dots<N>, &mut [&mut [f64]; VECTORS]),
) {
    let p = vectors.len() / VECTORS;
    // Chunks of nearly equal length, since each chunk has a cost of its own.
    let chunk = p.div_ceil(p.div_ceil(CHUNK)).next_multiple_of(8);
    for batch in rows.chunks(BATCH * p) {
        let mut y = [[0.0; VECTORS]; BATCH];
        let whole = batch.len() / p / N * N;
        let (groups, rest) = batch.split_at(whole * p);
        for start in (0..p).step_by(chunk) {
            let columns = start..(start + chunk).min(p);
            let r: [&[f64]; VECTORS] = std::array::from_fn(|k| &vectors[k * p..][columns.clone()]);
            for (rows, y) in groups.chunks_exact(N * p).zip(y.as_chunks_mut::<N>().0) {
                add(y, dots(RowGroup::new(rows, p, columns.clone()), r));
            }
            for (row, y) in rest.chunks_exact(p).zip(y[whole..].as_chunks_mut::<1>().0) {
                add(y, self::dots(RowGroup::new(row, p, columns.clone()), r, 0));
            }
        }
        for start in (0..p).step_by(chunk) {
            let columns = start..(start + chunk).min(p);
            let mut planes = products.chunks_exact_mut(p);
            let mut s = std::array::from_fn(|_| &mut planes.next().expect("there are three")[columns.clone()]);
            for (rows, y) in groups.chunks_exact(N * p).zip(y.as_chunks::<N>().0) {
                updates(RowGroup::new(rows, p, columns.clone()), y, &mut s);
            }
            for (row, y) in rest.chunks_exact(p).zip(y[whole..].as_chunks::<1>().0) {
                self::updates(RowGroup::new(row, p, columns.clone()), y, &mut s, 0);
            }
        }
    }
}

#[inline(always)]
fn add<const N: usize>(y: &mut Dots<N>, more: Dots<N>) {
    y.as_flattened_mut().iter_mut().zip(more.as_flattened()).for_each(|(y, more)| *y += more);
}

/// y_k = Σ_j R_kj A_lj over the columns of a chunk from `first` on.
#[inline(always)]
pub(crate) fn dots<const N: usize>(x: RowGroup<'_, N>, r: [&[f64]; VECTORS], first: usize) -> Dots<N> {
    let mut y = [[0.0; VECTORS]; N];
    for j in first..x.columns {
        for i in 0..N {
            (0..VECTORS).for_each(|k| y[i][k] += x.at(i, j) * r[k][j]);
        }
    }
    y
}

/// S_kj ← S_kj + Σ_l y_lk A_lj over the columns of a chunk from `first` on.
#[inline(always)]
pub(crate) fn updates<const N: usize>(x: RowGroup<'_, N>, y: &Dots<N>, s: &mut [&mut [f64]; VECTORS], first: usize) {
    for j in first..x.columns {
        for k in 0..VECTORS {
            s[k][j] += (0..N).map(|i| x.at(i, j) * y[i][k]).sum::<f64>();
        }
    }
}
