//! The Gram matrix of the smaller side: G = XᵀX (features) where n ≥ m, G = XXᵀ (samples) where n < m.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | `x` | n × m, read once, row by row |
//! | p, q | `p`, `q` | min(n, m) and max(n, m): G is p × p, a sum over q |
//! | G | `matrix` | its eigenvalues are σ² |
//! | ‖Ĝ − G‖₂ | `error` | at most this distance from the exact Gram matrix of the values read |
//!
//! q is cut into slabs of a few hundred, each packed and multiplied by the kernel. A small G is summed by chunks of q,
//! each into a square of its own; a large G is cut into stripes of rows, each owned by one thread. Both cuts follow
//! from the shape alone, and chunks are added in order: the bits do not depend on the number of threads.
//!
//! **Error.** An entry of G is a sum of q products, in slabs of d. Recursive summation of d terms has an error of at
//! most γ_d = d·u/(1 − d·u) times the sum of absolute values (u = eps/2); adding the q/d slabs and the chunks
//! contributes γ of their number. With g = d + q/d + chunks, |Ĝ − G| ≤ γ_g |X|ᵀ|X| entry by entry, and the norm of the
//! right side is at most γ_g·‖X‖²_F = γ_g·tr G. Bytes are multiplied exactly, also with their means subtracted.
//!
//! **Single precision** sums its slabs with u = 2⁻²⁴: γ_d·tr G is then too coarse a bound to be of use, a thousand
//! times the true error E = Ĝ − G. So E is measured. For three Gaussian vectors r, ‖Er‖² has the mean ‖E‖²_F, and Gr =
//! Xᵀ(Xr) is computed in double precision in the same pass over X. In the worst case (E of rank one) Σ‖Er‖²/‖E‖²_F is
//! χ² with three degrees of freedom, whose density is at most √(x/2π), so that ‖E‖_F > s·(Σ‖Er‖²/3)^½ has at most the
//! probability ⅔(3/s²)^(3/2)/√2π: [`CHANCE`] for s = [`SAFETY`].

#[cfg(test)]
mod tests;
mod whole;

use std::ops::Range;
use std::sync::Mutex;

use eigenspan_kernel::rows::{add_bytes, dot};
use eigenspan_kernel::{Number, Panel, Prefetch, STRIPE_ROWS, Square, Stripe, VECTORS, accumulate_prefetching, probe};

use crate::Error;
use crate::blocks::{Blocks, Native, Rows};
use crate::exec::Exec;
use crate::mat::Mat;
use crate::random::Random;
use crate::rows::energy;
use crate::scale::times_power_of_two;
use crate::sparse::Sparse;

/// Maximum total size, in bytes, of the squares that chunks are summed into.
const SQUARES: usize = 32 << 20;
/// Above this order a Gram matrix is cut into stripes of itself.
pub const LARGE: usize = 1024;
/// Rows of `f64` or `f32` that are multiplied together: read once, in order, [`BATCH`] at a time where n ≥ m.
pub const SLAB: usize = <f64 as Number>::DEPTH;
/// Stripes of a large Gram matrix: enough to keep several threads busy to the end.
const STRIPES: usize = 16;
/// Safety factor of a measured error.
pub const SAFETY: f64 = 19.1;
/// The probability that an error is larger than [`SAFETY`] times the measured one.
pub const CHANCE: f64 = 2e-4;
/// Rows packed together: few enough to stay in the first-level cache while they are prepared.
pub const BATCH: usize = 16;
/// Above this ratio of rows to columns the Gram matrix is most of the work.
const TALL_RATIO: usize = 8;
/// The unit roundoff u = eps/2.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// The side of X that the Gram matrix belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// XᵀX: its eigenvectors are feature directions.
    Features,
    /// XXᵀ: its eigenvectors are sample-side vectors.
    Samples,
}

impl Side {
    /// The smaller side of X.
    pub fn of(x: &dyn Blocks) -> Self {
        if x.rows() >= x.cols() { Self::Features } else { Self::Samples }
    }
}

/// Whether the Gram matrix of an n × m matrix of `f32` should be computed in single precision: where it is most of the
/// work. Elsewhere the gain is smaller than the loss when single precision turns out to be insufficient.
pub fn single_pays(n: usize, m: usize) -> bool {
    n >= TALL_RATIO * m
}

/// A Gram matrix and a bound on its error.
#[derive(Debug, Clone)]
pub struct Gram {
    /// G, both triangles.
    pub matrix: Mat,
    /// The side that G belongs to.
    pub side: Side,
    /// A bound on ‖Ĝ − G‖₂.
    pub error: f64,
    /// The probability that the bound is wrong; zero where it is proved.
    pub chance: f64,
}

impl Gram {
    /// The Gram matrix of the smaller side of `x`, in the number type that is multiplied fastest.
    pub fn of(x: &dyn Blocks, exec: Exec<'_>) -> Result<Self, Error> {
        match x.native() {
            Native::F64 => Self::in_double(x, exec),
            Native::F32(values) if x.rows() >= x.cols() => Self::in_single(x, values, exec),
            Native::F32(_) => Self::in_double(x, exec),
            Native::U8 { values, lengths } => Self::in_integers(x, values, lengths, exec),
            Native::CenteredU8(values) => Self::in_centered_integers(x, values, exec),
            Native::Sparse(rows) if Side::of(x) == Side::Features => Self::without_zeros(x, rows, exec),
            Native::Sparse(rows) => Self::without_zeros(x, rows.transposed(), exec),
        }
    }

    /// The Gram matrix of the smaller side of `x` in double precision, whatever its number type.
    pub fn in_double(x: &dyn Blocks, exec: Exec<'_>) -> Result<Self, Error> {
        let Product { matrix, terms, .. } = product::<f64>(x, shape(x), &RowSums::none(), exec)?;
        Ok(Self { error: gamma(terms) * trace(&matrix), chance: 0.0, side: Side::of(x), matrix })
    }

    fn in_single(x: &dyn Blocks, values: &dyn Rows<f32>, exec: Exec<'_>) -> Result<Self, Error> {
        let p = x.cols();
        let vectors = Random::new(p as u64).normals(p * VECTORS);
        let extra = RowSums { size: p * VECTORS, visit: &|rows, sums| probe(rows, &vectors, sums) };
        let Product { matrix, sums, .. } = product::<f32>(values, shape(x), &extra, exec)?;
        let mut off = 0.0;
        for (r, exact) in vectors.chunks_exact(p).zip(sums.chunks_exact(p)) {
            for i in 0..p {
                off += (dot(matrix.row(i), r) - exact[i]).powi(2);
            }
        }
        let error = SAFETY * (off / VECTORS as f64).sqrt();
        Ok(Self { error, chance: CHANCE, side: Side::Features, matrix })
    }

    fn in_integers(
        x: &dyn Blocks,
        values: &dyn Rows<u8>,
        lengths: Option<&[f64]>,
        exec: Exec<'_>,
    ) -> Result<Self, Error> {
        let Product { mut matrix, .. } = product::<u8>(values, shape(x), &RowSums::none(), exec)?;
        let unit = times_power_of_two(1.0, -x.exponent());
        let length = |i: usize| lengths.map_or(1.0, |l| if l[i] > 0.0 { l[i] } else { 1.0 });
        let weights: Vec<f64> = (0..matrix.rows()).map(|i| unit / length(i)).collect();
        scale(&mut matrix, &weights);
        Ok(Self { error: gamma(4) * trace(&matrix), chance: 0.0, side: Side::of(x), matrix })
    }

    /// The Gram matrix of bytes with their means subtracted, without computing a mean: with Y the bytes and 1 the
    /// vector of n ones,
    /// ```text
    ///     features    n  G_ij = n (YᵀY)_ij − s_i s_j                   s = Yᵀ1
    ///     samples     n² G_ij = n² (YYᵀ)_ij − n r_i − n r_j + t        r = YYᵀ1,   t = 1ᵀr
    /// ```
    /// The right sides are integers, computed exactly: YᵀY, YYᵀ and s stay below 2⁵³ while max(n, m) < 10¹¹, the rest
    /// is done in 128 bits. So there is no cancellation, and the error of an entry is its rounding to `f64`, that of n²
    /// and that of the division: |Ĝ_ij − G_ij| ≤ γ₃ |G_ij|, and ‖Ĝ − G‖₂ ≤ γ₃ ‖G‖_F ≤ γ₃ tr G, because G has no
    /// negative eigenvalue. γ₄ covers the rounding of the trace itself.
    fn in_centered_integers(x: &dyn Blocks, values: &dyn Rows<u8>, exec: Exec<'_>) -> Result<Self, Error> {
        let (n, side) = (x.rows(), Side::of(x));
        let size = if side == Side::Features { x.cols() } else { 0 };
        let extra = RowSums { size, visit: &add_bytes };
        let Product { mut matrix, sums, .. } = product::<u8>(values, shape(x), &extra, exec)?;
        match side {
            Side::Features => whole::center_features(&mut matrix, &sums, n),
            Side::Samples => whole::center_samples(&mut matrix),
        }
        mirror(&mut matrix);
        let square = times_power_of_two(1.0, -2 * x.exponent());
        matrix.as_mut_slice().iter_mut().for_each(|g| *g *= square);
        Ok(Self { error: gamma(4) * trace(&matrix), chance: 0.0, side, matrix })
    }

    /// The Gram matrix of `x`, whose long side are the rows of `sparse`: without the zeros where this is faster.
    fn without_zeros(x: &dyn Blocks, sparse: Sparse, exec: Exec<'_>) -> Result<Self, Error> {
        if !sparse.pays() {
            return Self::in_double(x, exec);
        }
        let (mut matrix, error) = sparse.gram(exec)?;
        mirror(&mut matrix);
        Ok(Self { matrix, side: Side::of(x), error, chance: 0.0 })
    }

    /// The Gram matrix of the same n rows (features' side) with their mean `drift` subtracted: G − n·δδᵀ. The error of
    /// the mean is at most `error_bound` in the ℓ2 norm.
    pub fn recentered(mut self, n: usize, drift: &[f64], error_bound: f64) -> Self {
        assert_eq!(self.side, Side::Features, "a drift belongs to features");
        let (n, before) = (n as f64, self.trace());
        let length = energy(drift).sqrt();
        for (i, di) in drift.iter().enumerate() {
            self.matrix.row_mut(i).iter_mut().zip(drift).for_each(|(g, dj)| *g -= n * (di * dj));
        }
        self.error += gamma(4) * (before + n * length * length) + n * (2.0 * length + error_bound) * error_bound;
        self
    }

    /// The Gram matrix of the same rows times 2^`exponent`, exactly.
    pub fn times_power_of_two(mut self, exponent: i32) -> Self {
        let power = times_power_of_two(1.0, 2 * exponent);
        self.matrix.as_mut_slice().iter_mut().for_each(|g| *g *= power);
        self.error *= power;
        self
    }

    /// The order p.
    pub fn order(&self) -> usize {
        self.matrix.rows()
    }

    /// tr G = ‖X‖²_F.
    pub fn trace(&self) -> f64 {
        trace(&self.matrix)
    }

    /// The Gram matrix of the same samples with row i multiplied by `weights[i]`. Samples' side only.
    pub fn weighted(&self, weights: &[f64]) -> Self {
        assert_eq!(self.side, Side::Samples, "weights belong to samples");
        let mut matrix = self.matrix.clone();
        scale(&mut matrix, weights);
        let most = weights.iter().fold(0.0f64, |most, w| most.max(w.abs()));
        let error = most * most * self.error + gamma(2) * trace(&matrix);
        Self { error, chance: self.chance, matrix, side: self.side }
    }
}

/// γ_n = n·u/(1 − n·u): the relative error of a sum or product of n terms.
pub(crate) fn gamma(n: usize) -> f64 {
    let nu = n as f64 * UNIT;
    nu / (1.0 - nu)
}

fn shape(x: &dyn Blocks) -> (usize, usize) {
    (x.rows(), x.cols())
}

fn trace(g: &Mat) -> f64 {
    (0..g.rows()).map(|i| g.at(i, i)).sum()
}

/// G ↦ W G W for the diagonal W, symmetric to the last bit.
fn scale(g: &mut Mat, weights: &[f64]) {
    for (i, wi) in weights.iter().enumerate() {
        for (g, wj) in g.row_mut(i).iter_mut().zip(weights) {
            *g *= wi * wj;
        }
    }
}

/// A second computation on the rows of X in the same pass: sums of a given size are accumulated over the rows.
struct RowSums<'a, T> {
    size: usize,
    visit: &'a (dyn Fn(&[T], &mut [f64]) + Sync),
}

impl<T> RowSums<'_, T> {
    fn none() -> Self {
        Self { size: 0, visit: &|_, _| () }
    }
}

struct Product {
    matrix: Mat,
    /// The sums of the probe.
    sums: Vec<f64>,
    /// The number of terms in an entry: slab, slabs and chunks.
    terms: usize,
}

/// The Gram matrix of an n × m matrix.
fn product<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    probe: &RowSums<'_, T>,
    exec: Exec<'_>,
) -> Result<Product, Error> {
    let (p, q) = (n.min(m), n.max(m));
    let slabs = q.div_ceil(T::DEPTH);
    let chunks = if p > LARGE { 1 } else { (SQUARES / (8 * p * p).max(1)).clamp(1, 64).min(slabs.div_ceil(8)).max(1) };
    let sum = if p > LARGE {
        by_stripes(x, (n, m), probe, exec)?
    } else {
        let rows = slabs.div_ceil(chunks) * T::DEPTH;
        let of = |chunk: usize| (chunk * rows).min(q)..((chunk + 1) * rows).min(q);
        let panels = Mutex::new(vec![]);
        let idle = || panels.lock().expect("nothing fails while it is held");
        let work = |chunk, sum: &mut PartialSum| {
            let panel = idle().pop();
            let mut panel = panel.unwrap_or_else(|| Panel::<T>::new(p));
            by_slabs(x, (n, m), of(chunk), probe, sum, &mut panel, exec)?;
            idle().push(panel);
            Ok(())
        };
        exec.fold("multiply", chunks, || PartialSum::new(p, probe), work, PartialSum::drain)?
    };
    let mut matrix = Mat::from_vec(p, p, sum.square.into_rows()).expect("p rows of p");
    mirror(&mut matrix);
    Ok(Product { matrix, sums: sum.probed, terms: T::DEPTH + slabs + chunks })
}

/// The sums over a block of q: its contribution to G (lower triangle) and the sums of the probe.
struct PartialSum {
    square: Square,
    probed: Vec<f64>,
}

impl PartialSum {
    fn new<T>(p: usize, probe: &RowSums<'_, T>) -> Self {
        Self { square: Square::zeros(p), probed: vec![0.0; probe.size] }
    }

    /// Adds the sums of `other`, and resets them to zero.
    fn drain(&mut self, other: &mut Self) {
        self.square.drain(&mut other.square);
        self.probed.iter_mut().zip(&mut other.probed).for_each(|(sum, more)| *sum += std::mem::take(more));
    }
}

/// Adds the contribution of a block of q.
fn by_slabs<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    some: Range<usize>,
    probe: &RowSums<'_, T>,
    sum: &mut PartialSum,
    panel: &mut Panel<T>,
    exec: Exec<'_>,
) -> Result<(), Error> {
    for slab in slabs::<T>(some.clone()) {
        exec.check()?;
        let next = slab.end..(slab.end + T::DEPTH).min(some.end);
        pack(x, (n, m), slab, panel, &mut |rows| (probe.visit)(rows, &mut sum.probed));
        panel.drop_zero_columns();
        accumulate_prefetching(panel, sum.square.whole(), whereabouts(x, (n, m), next));
    }
    Ok(())
}

/// G (lower triangle), slab after slab, each thread with its own stripes, and the sums of the probe.
fn by_stripes<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    probe: &RowSums<'_, T>,
    exec: Exec<'_>,
) -> Result<PartialSum, Error> {
    let (p, q) = (n.min(m), n.max(m));
    let (mut sum, mut panel) = (PartialSum::new(p, probe), Panel::<T>::new(p));
    let rows = p.div_ceil(STRIPES).next_multiple_of(STRIPE_ROWS);
    let total = q.div_ceil(T::DEPTH);
    for (done, slab) in slabs::<T>(0..q).enumerate() {
        exec.report("multiply", done, total)?;
        let next = slab.end..(slab.end + T::DEPTH).min(q);
        pack(x, (n, m), slab, &mut panel, &mut |rows| (probe.visit)(rows, &mut sum.probed));
        panel.drop_zero_columns();
        // The last stripes are the longest, so they are started first; the first of them prefetches the next slab.
        let stride = sum.square.stride();
        let stripes: Vec<(usize, &mut [f64])> = sum.square.entries().chunks_mut(rows * stride).enumerate().collect();
        exec.silent().each("multiply", stripes.into_iter().rev(), |turn, (i, entries)| {
            let rows = i * rows..i * rows + entries.len() / stride;
            let next = whereabouts(x, (n, m), if turn == 0 { next.clone() } else { 0..0 });
            accumulate_prefetching(&panel, Stripe { rows, entries, stride }, next);
        })?;
    }
    Ok(sum)
}

fn slabs<T: Number>(of: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = of.end;
    of.step_by(T::DEPTH).map(move |first| first..(first + T::DEPTH).min(end))
}

/// Packs a slab: some samples where n ≥ m, passed to `visit` on the way; some features of all samples where n < m.
fn pack<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    slab: Range<usize>,
    panel: &mut Panel<T>,
    visit: &mut dyn FnMut(&[T]),
) {
    panel.set_depth(slab.len());
    if n < m {
        let mut buffer: Vec<T> = vec![];
        for mut strip in panel.strips_mut() {
            let columns = strip.columns();
            buffer.resize(columns.len() * slab.len(), T::default());
            for (i, values) in columns.clone().zip(buffer.chunks_exact_mut(slab.len())) {
                x.read_row(i, slab.clone(), values);
            }
            strip.set_columns(|i| &buffer[(i - columns.start) * slab.len()..][..slab.len()]);
        }
        return;
    }
    let mut batch = vec![T::default(); BATCH.min(slab.len()) * m];
    for first in slab.clone().step_by(BATCH) {
        let count = BATCH.min(slab.end - first);
        let rows = &mut batch[..count * m];
        x.read_rows(first..first + count, m, rows);
        visit(rows);
        panel.set_rows(first - slab.start, rows);
    }
}

/// The memory of a slab.
fn whereabouts<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    slab: Range<usize>,
) -> impl Iterator<Item = Prefetch<'_>> {
    let samples = if n < m && !slab.is_empty() { n } else { 0 };
    let block = if n >= m { x.whereabouts(slab.clone(), 0..m) } else { None };
    block.into_iter().chain((0..samples).filter_map(move |i| x.whereabouts(i..i + 1, slab.clone())))
}

/// Copies the lower triangle to the upper one, tile by tile.
fn mirror(g: &mut Mat) {
    const TILE: usize = 32;
    let p = g.rows();
    for top in (0..p).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for i in top..(top + TILE).min(p) {
                for j in left..(left + TILE).min(i) {
                    g.as_mut_slice()[j * p + i] = g.at(i, j);
                }
            }
        }
    }
}
