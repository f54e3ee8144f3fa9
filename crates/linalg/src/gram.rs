//! The Gram matrix of the smaller side: G = XᵀX (features) where n ≥ m, G = XXᵀ (samples) where n < m.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | `x` | n × m, read once, row by row |
//! | p, q | `p`, `q` | min(n, m) and max(n, m): G is p × p, a sum over q |
//! | G | `matrix` | its eigenvalues are σ² |
//! | ‖Ĝ − G‖₂ | `error` | at most this far from the exact Gram matrix of what was read |
//!
//! q is cut into slabs of a few hundred, each packed and multiplied by the kernel. A small G is summed by chunks of q,
//! each into a square of its own; a large G is cut into stripes of rows, each owned by one thread. Both cuts follow
//! from the shape alone, and chunks are added in their order: the same bits for any number of threads.
//!
//! **Error.** An entry of G is a sum of q products, in slabs of d. Recursive summation of d terms is off by at most
//! γ_d = d·u/(1 − d·u) times the sum of absolute values (u = eps/2); adding the q/d slabs and the chunks is off by
//! γ of their number. With g = d + q/d + chunks, |Ĝ − G| ≤ γ_g |X|ᵀ|X| entry by entry, and the norm of the right side is
//! at most γ_g·‖X‖²_F = γ_g·tr G. Bytes are multiplied exactly, and so they are once their means are taken away.
//!
//! **Single precision** sums its slabs with u = 2⁻²⁴: γ_d·tr G is then too coarse a bound to be of use, a thousand times the
//! true error E = Ĝ − G. So E is measured. For three Gaussian vectors r, ‖Er‖² has the mean ‖E‖²_F, and Gr = Xᵀ(Xr) is
//! computed in double precision while X passes by. At worst (E of rank one) Σ‖Er‖²/‖E‖²_F is χ² with three degrees of
//! freedom, whose density is at most √(x/2π), so that ‖E‖_F > s·(Σ‖Er‖²/3)^½ has at most the probability ⅔(3/s²)^(3/2)/√2π:
//! [`CHANCE`] for s = [`SAFETY`].

#[cfg(test)]
mod tests;
mod whole;

use std::ops::Range;
use std::sync::Mutex;

use eigenspan_kernel::rows::{add_bytes, dot};
use eigenspan_kernel::{Ahead, Number, Panel, STRIP, Square, Stripe, VECTORS, accumulate_ahead, probe};

use crate::Error;
use crate::blocks::{Blocks, Native, Rows};
use crate::exec::Exec;
use crate::mat::Mat;
use crate::random::Random;
use crate::rows::energy;
use crate::scale::times_power_of_two;
use crate::sparse::Sparse;

/// Squares that chunks are summed into take no more than this together, in bytes.
const SQUARES: usize = 32 << 20;
/// Above this order a Gram matrix is cut into stripes of itself.
pub const LARGE: usize = 1024;
/// Rows of `f64` or `f32` that are multiplied together: read once, in order, [`BATCH`] at a time where n ≥ m.
pub const SLAB: usize = <f64 as Number>::DEPTH;
/// Stripes of a large Gram matrix: enough to keep several threads busy to the end.
const STRIPES: usize = 16;
/// A measured error is multiplied by this.
pub const SAFETY: f64 = 19.1;
/// The chance that an error is larger than [`SAFETY`] times what was measured.
pub const CHANCE: f64 = 2e-4;
/// Rows packed at a time: few enough to stay in the nearest cache while they are prepared.
pub const BATCH: usize = 16;
/// So many rows for each column, and the Gram matrix is most of the work.
const TALL: usize = 8;
/// Half the distance from one to the next number.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// Which side of X the Gram matrix belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// XᵀX: its eigenvectors are feature directions.
    Features,
    /// XXᵀ: its eigenvectors are over samples.
    Samples,
}

impl Side {
    /// The smaller side of X.
    pub fn of(x: &dyn Blocks) -> Self {
        if x.rows() >= x.cols() { Self::Features } else { Self::Samples }
    }
}

/// Whether the Gram matrix of an n × m matrix of `f32` is worth having in single precision: where it is most of the work. Where
/// it is not, what is saved is less than what is lost when single precision turns out not to be enough.
pub fn single_pays(n: usize, m: usize) -> bool {
    n >= TALL * m
}

/// A Gram matrix and how far it can be from the exact one.
#[derive(Debug, Clone)]
pub struct Gram {
    /// G, both triangles.
    pub matrix: Mat,
    /// The side it belongs to.
    pub side: Side,
    /// A bound on ‖Ĝ − G‖₂.
    pub error: f64,
    /// The chance that the bound is wrong; zero where it is proved.
    pub chance: f64,
}

impl Gram {
    /// The Gram matrix of the smaller side of `x`, in the numbers that are multiplied fastest.
    pub fn of(x: &dyn Blocks, exec: Exec<'_>) -> Result<Self, Error> {
        match x.native() {
            Native::F64 => Self::in_double(x, exec),
            Native::F32(values) if x.rows() >= x.cols() => Self::in_single(x, values, exec),
            Native::F32(_) => Self::in_double(x, exec),
            Native::U8 { values, lengths } => Self::in_whole_numbers(x, values, lengths, exec),
            Native::CentredU8(values) => Self::in_centred_whole_numbers(x, values, exec),
            Native::Sparse(rows) if Side::of(x) == Side::Features => Self::without_zeros(x, rows, exec),
            Native::Sparse(rows) => Self::without_zeros(x, rows.transposed(), exec),
        }
    }

    /// The Gram matrix of the smaller side of `x` in double precision, whatever its numbers.
    pub fn in_double(x: &dyn Blocks, exec: Exec<'_>) -> Result<Self, Error> {
        let Product { matrix, terms, .. } = product::<f64>(x, shape(x), &Probe::none(), exec)?;
        Ok(Self { error: gamma(terms) * trace(&matrix), chance: 0.0, side: Side::of(x), matrix })
    }

    fn in_single(x: &dyn Blocks, values: &dyn Rows<f32>, exec: Exec<'_>) -> Result<Self, Error> {
        let p = x.cols();
        let vectors = Random::new(p as u64).normals(p * VECTORS);
        let watch = Probe { size: p * VECTORS, look: &|rows, sums| probe(rows, &vectors, sums) };
        let Product { matrix, sums, .. } = product::<f32>(values, shape(x), &watch, exec)?;
        let mut off = 0.0;
        for (r, exact) in vectors.chunks_exact(p).zip(sums.chunks_exact(p)) {
            for i in 0..p {
                off += (dot(matrix.row(i), r) - exact[i]).powi(2);
            }
        }
        let error = SAFETY * (off / VECTORS as f64).sqrt();
        Ok(Self { error, chance: CHANCE, side: Side::Features, matrix })
    }

    fn in_whole_numbers(
        x: &dyn Blocks,
        values: &dyn Rows<u8>,
        lengths: Option<&[f64]>,
        exec: Exec<'_>,
    ) -> Result<Self, Error> {
        let Product { mut matrix, .. } = product::<u8>(values, shape(x), &Probe::none(), exec)?;
        let unit = times_power_of_two(1.0, -x.exponent());
        let length = |i: usize| lengths.map_or(1.0, |l| if l[i] > 0.0 { l[i] } else { 1.0 });
        let weights: Vec<f64> = (0..matrix.rows()).map(|i| unit / length(i)).collect();
        scale(&mut matrix, &weights);
        Ok(Self { error: gamma(4) * trace(&matrix), chance: 0.0, side: Side::of(x), matrix })
    }

    /// The Gram matrix of bytes whose means are taken away, though no mean is ever computed: with Y the bytes and 1 the
    /// vector of n ones,
    /// ```text
    ///     features    n  G_ij = n (YᵀY)_ij − s_i s_j                   s = Yᵀ1
    ///     samples     n² G_ij = n² (YYᵀ)_ij − n r_i − n r_j + t        r = YYᵀ1,   t = 1ᵀr
    /// ```
    /// The right sides are whole numbers, known exactly: YᵀY, YYᵀ and s stay below 2⁵³ while max(n, m) < 10¹¹, the rest
    /// is done in 128 bits. So nothing cancels, and an entry is off by its rounding to `f64`, by that of n² and by that
    /// of the division: |Ĝ_ij − G_ij| ≤ γ₃ |G_ij|, and ‖Ĝ − G‖₂ ≤ γ₃ ‖G‖_F ≤ γ₃ tr G, because G has no eigenvalue below
    /// zero. γ₄ leaves room for the rounding of the trace itself.
    fn in_centred_whole_numbers(x: &dyn Blocks, values: &dyn Rows<u8>, exec: Exec<'_>) -> Result<Self, Error> {
        let (n, side) = (x.rows(), Side::of(x));
        let size = if side == Side::Features { x.cols() } else { 0 };
        let watch = Probe { size, look: &add_bytes };
        let Product { mut matrix, sums, .. } = product::<u8>(values, shape(x), &watch, exec)?;
        match side {
            Side::Features => whole::centre_features(&mut matrix, &sums, n),
            Side::Samples => whole::centre_samples(&mut matrix),
        }
        mirror(&mut matrix);
        let square = times_power_of_two(1.0, -2 * x.exponent());
        matrix.as_mut_slice().iter_mut().for_each(|g| *g *= square);
        Ok(Self { error: gamma(4) * trace(&matrix), chance: 0.0, side, matrix })
    }

    /// The Gram matrix of `x`, whose long side are the rows of `sparse`: without the zeros where that pays.
    fn without_zeros(x: &dyn Blocks, sparse: Sparse, exec: Exec<'_>) -> Result<Self, Error> {
        if !sparse.pays() {
            return Self::in_double(x, exec);
        }
        let (mut matrix, error) = sparse.gram(exec)?;
        mirror(&mut matrix);
        Ok(Self { matrix, side: Side::of(x), error, chance: 0.0 })
    }

    /// The Gram matrix of the same rows, n of them and on the features' side, less their mean `drift`: G − n·δδᵀ. The mean
    /// may be off by `blur` in the ℓ2 norm.
    pub fn recentred(mut self, n: usize, drift: &[f64], blur: f64) -> Self {
        assert_eq!(self.side, Side::Features, "a drift belongs to features");
        let (n, before) = (n as f64, self.trace());
        let length = energy(drift).sqrt();
        for (i, di) in drift.iter().enumerate() {
            self.matrix.row_mut(i).iter_mut().zip(drift).for_each(|(g, dj)| *g -= n * (di * dj));
        }
        self.error += gamma(4) * (before + n * length * length) + n * (2.0 * length + blur) * blur;
        self
    }

    /// The Gram matrix of the same rows times 2^`exponent`: exact.
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

/// What is done with the rows of X besides multiplying them: sums of some size are added up over them.
struct Probe<'a, T> {
    size: usize,
    look: &'a (dyn Fn(&[T], &mut [f64]) + Sync),
}

impl<T> Probe<'_, T> {
    fn none() -> Self {
        Self { size: 0, look: &|_, _| () }
    }
}

struct Product {
    matrix: Mat,
    /// What the probe added up.
    sums: Vec<f64>,
    /// The length of the sums in an entry: slab, slabs and chunks.
    terms: usize,
}

/// The Gram matrix of an n × m matrix.
fn product<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    probe: &Probe<'_, T>,
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
        let work = |chunk, sum: &mut Sum| {
            let panel = idle().pop();
            let mut panel = panel.unwrap_or_else(|| Panel::<T>::new(p));
            by_slabs(x, (n, m), of(chunk), probe, sum, &mut panel, exec)?;
            idle().push(panel);
            Ok(())
        };
        exec.fold("multiply", chunks, || Sum::new(p, probe), work, Sum::take)?
    };
    let mut matrix = Mat::from_vec(p, p, sum.square.into_rows()).expect("p rows of p");
    mirror(&mut matrix);
    Ok(Product { matrix, sums: sum.probed, terms: T::DEPTH + slabs + chunks })
}

/// What is added up over a stretch of q: its part of G (lower triangle) and what the probe sums.
struct Sum {
    square: Square,
    probed: Vec<f64>,
}

impl Sum {
    fn new<T>(p: usize, probe: &Probe<'_, T>) -> Self {
        Self { square: Square::zeros(p), probed: vec![0.0; probe.size] }
    }

    /// Adds what `other` holds, and leaves zeros there.
    fn take(&mut self, other: &mut Self) {
        self.square.take(&mut other.square);
        self.probed.iter_mut().zip(&mut other.probed).for_each(|(sum, more)| *sum += std::mem::take(more));
    }
}

/// Adds what a stretch of q gives.
fn by_slabs<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    some: Range<usize>,
    probe: &Probe<'_, T>,
    sum: &mut Sum,
    panel: &mut Panel<T>,
    exec: Exec<'_>,
) -> Result<(), Error> {
    for slab in slabs::<T>(some.clone()) {
        exec.check()?;
        let next = slab.end..(slab.end + T::DEPTH).min(some.end);
        pack(x, (n, m), slab, panel, &mut |rows| (probe.look)(rows, &mut sum.probed));
        panel.squeeze();
        accumulate_ahead(panel, sum.square.whole(), whereabouts(x, (n, m), next));
    }
    Ok(())
}

/// G (lower triangle), slab after slab, each thread with stripes of its own, and the probe's sums.
fn by_stripes<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    probe: &Probe<'_, T>,
    exec: Exec<'_>,
) -> Result<Sum, Error> {
    let (p, q) = (n.min(m), n.max(m));
    let (mut sum, mut panel) = (Sum::new(p, probe), Panel::<T>::new(p));
    let rows = p.div_ceil(STRIPES).next_multiple_of(STRIP);
    let total = q.div_ceil(T::DEPTH);
    for (done, slab) in slabs::<T>(0..q).enumerate() {
        exec.report("multiply", done, total)?;
        let next = slab.end..(slab.end + T::DEPTH).min(q);
        pack(x, (n, m), slab, &mut panel, &mut |rows| (probe.look)(rows, &mut sum.probed));
        panel.squeeze();
        // The last stripes are the longest: they go first, and the first of them fetches the next slab.
        let stride = sum.square.stride();
        let stripes: Vec<(usize, &mut [f64])> = sum.square.entries().chunks_mut(rows * stride).enumerate().collect();
        exec.silent().each("multiply", stripes.into_iter().rev(), |turn, (i, entries)| {
            let rows = i * rows..i * rows + entries.len() / stride;
            let next = whereabouts(x, (n, m), if turn == 0 { next.clone() } else { 0..0 });
            accumulate_ahead(&panel, Stripe { rows, entries, stride }, next);
        })?;
    }
    Ok(sum)
}

fn slabs<T: Number>(of: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = of.end;
    of.step_by(T::DEPTH).map(move |first| first..(first + T::DEPTH).min(end))
}

/// Packs a slab: some samples where n ≥ m, shown to `look` on the way; some features of all samples where n < m.
fn pack<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    slab: Range<usize>,
    panel: &mut Panel<T>,
    look: &mut dyn FnMut(&[T]),
) {
    panel.set_depth(slab.len());
    if n < m {
        let mut stretches: Vec<T> = vec![];
        for mut strip in panel.strips_mut() {
            let columns = strip.columns();
            stretches.resize(columns.len() * slab.len(), T::default());
            for (i, stretch) in columns.clone().zip(stretches.chunks_exact_mut(slab.len())) {
                x.read_row(i, slab.clone(), stretch);
            }
            strip.set_columns(|i| &stretches[(i - columns.start) * slab.len()..][..slab.len()]);
        }
        return;
    }
    let mut batch = vec![T::default(); BATCH.min(slab.len()) * m];
    for first in slab.clone().step_by(BATCH) {
        let count = BATCH.min(slab.end - first);
        let rows = &mut batch[..count * m];
        x.read_rows(first..first + count, m, rows);
        look(rows);
        panel.set_rows(first - slab.start, rows);
    }
}

/// Where a slab lies in memory.
fn whereabouts<T: Number>(
    x: &dyn Rows<T>,
    (n, m): (usize, usize),
    slab: Range<usize>,
) -> impl Iterator<Item = Ahead<'_>> {
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
