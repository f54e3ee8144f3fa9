//! Eigenvectors of a symmetric tridiagonal matrix T for its largest eigenvalues, by inverse iteration.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | λ_i | `values` (k) | eigenvalues, in descending order, to eps·‖T‖ |
//! | z_i | column i of `z` (p × k, column after column) | (T − λ_i I)⁻¹ applied to a start vector a few times |
//! | S = LLᵀ | `overlap` (k × k) | ZᵀZ, close to I |
//!
//! ```text
//!     |z_i · z_j| ≤ c·eps·‖T‖ / |λ_i − λ_j|          Z ← Z L⁻ᵀ
//! ```
//! Vectors whose values are [`APART`] are computed independently and are only nearly orthogonal. Orthonormalizing them
//! afterwards, all together, mixes z_i into z_j by that bound, which changes the residual of z_j by at most c·eps·‖T‖:
//! the closer the values, the less the mixing matters. Values closer than that form a cluster, whose vectors are kept
//! orthogonal during the iteration.
//!
//! Peters, Wilkinson (1979) — `peters1979` in `docs/references.bib`.

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut as FaerMut, MatRef as FaerRef, Par};
use pulp::Arch;

use crate::Error;
use crate::exec::Exec;
use crate::matmul::{PIECE as WORK, stripes};

use super::kernel::{add_columns, dots};
use super::values::bound;

/// Values further apart than this share of ‖T‖ get their vectors independently.
const APART: f64 = 1e-10;
/// The largest cluster that is orthogonalized one by one: divide and conquer gains from clusters.
const CLUSTER: usize = 48;
/// Values of one piece of work (a cluster may exceed it).
const PIECE: usize = 32;
/// Maximum number of solves with one T − λI; two are usual.
const SOLVES: usize = 6;
/// The tolerance of the residual ‖Tz − λz‖, in eps·‖T‖.
const RESIDUAL: f64 = 50.0;
/// The overlap of independent vectors that orthonormalization can correct: far above eps / APART.
const OVERLAP: f64 = 1e-3;

/// Columns of ZᵀZ that are computed as one piece of work.
const STRIPE: usize = 96;
/// A Cholesky factorization of this order or more runs on a thread of its own.
const LONG: usize = 500;

/// The eigenvectors of the largest eigenvalues `values`; `None` where inverse iteration is unsuitable.
pub fn leading(diagonal: &[f64], off: &[f64], values: &[f64], exec: Exec<'_>) -> Result<Option<Vec<f64>>, Error> {
    let (p, k) = (diagonal.len(), values.len());
    let norm = bound(diagonal, off);
    let Some(pieces) = pieces(values, APART * norm) else { return Ok(None) };
    let solve = |i: usize| Inverse::new(diagonal, off, norm).piece(values, &pieces[i]);
    let mut z = Vec::with_capacity(p * k);
    for part in exec.map("vectors", pieces.len(), solve)? {
        let Some(part) = part else { return Ok(None) };
        z.extend_from_slice(&part);
    }
    Ok(orthonormalize(&mut z, p, k, exec)?.then_some(z))
}

/// Cuts the values into pieces between clusters; `None` if a cluster is too large.
fn pieces(values: &[f64], apart: f64) -> Option<Vec<Vec<Range<usize>>>> {
    let mut clusters: Vec<Range<usize>> = Vec::new();
    for i in 0..values.len() {
        match clusters.last_mut() {
            Some(last) if values[i - 1] - values[i] <= apart => last.end = i + 1,
            _ => clusters.push(i..i + 1),
        }
    }
    if clusters.iter().any(|c| c.len() > CLUSTER) {
        return None;
    }
    let mut pieces: Vec<Vec<Range<usize>>> = Vec::new();
    for cluster in clusters {
        match pieces.last_mut() {
            Some(piece) if piece[0].start + PIECE > cluster.start => piece.push(cluster),
            _ => pieces.push(vec![cluster]),
        }
    }
    Some(pieces)
}

/// One row of U in T − λI = P L U: the inverse pivot, and the two entries right of it.
#[derive(Clone, Copy, Default)]
struct PivotRow {
    inverse: f64,
    first: f64,
    second: f64,
    /// The multiplier of this row in the elimination of the next, and whether the two were exchanged before.
    multiplier: f64,
    exchanged: bool,
}

/// Solves with T − λI.
struct Inverse<'a> {
    arch: Arch,
    diagonal: &'a [f64],
    off: &'a [f64],
    norm: f64,
    rows: Vec<PivotRow>,
}

impl<'a> Inverse<'a> {
    fn new(diagonal: &'a [f64], off: &'a [f64], norm: f64) -> Self {
        Self { arch: Arch::new(), diagonal, off, norm, rows: vec![PivotRow::default(); diagonal.len()] }
    }

    /// The vectors of a piece, cluster by cluster; `None` if one has too large a residual.
    fn piece(&mut self, values: &[f64], clusters: &[Range<usize>]) -> Option<Vec<f64>> {
        let p = self.diagonal.len();
        let count = clusters.iter().map(ExactSizeIterator::len).sum::<usize>();
        let mut z = vec![0.0; p * count];
        let first = clusters.first().map_or(0, |c| c.start);
        for cluster in clusters {
            for i in cluster.clone() {
                let (done, rest) = z.split_at_mut((i - first) * p);
                self.factorize(values[i]);
                self.iterate(values[i], i, &done[(cluster.start - first) * p..], &mut rest[..p])?;
            }
        }
        Some(z)
    }

    /// T − λI = P L U with row exchanges; a pivot too small to divide by is replaced by a tiny one.
    fn factorize(&mut self, value: f64) {
        let p = self.diagonal.len();
        let least = f64::EPSILON * self.norm.max(f64::MIN_POSITIVE / f64::EPSILON);
        let sure = |pivot: f64| if pivot.abs() < least { least.copysign(pivot) } else { pivot };
        let beside = |i: usize| self.off.get(i).copied().unwrap_or(0.0);
        let (mut pivot, mut first) = (self.diagonal[0] - value, beside(0));
        for i in 0..p - 1 {
            let below = self.off[i];
            let (next, next_first) = (self.diagonal[i + 1] - value, beside(i + 1));
            if below.abs() <= pivot.abs() {
                let inverse = 1.0 / sure(pivot);
                let multiplier = below * inverse;
                self.rows[i] = PivotRow { inverse, first, second: 0.0, multiplier, exchanged: false };
                (pivot, first) = (next - multiplier * first, next_first);
            } else {
                let inverse = 1.0 / sure(below);
                let multiplier = pivot * inverse;
                self.rows[i] = PivotRow { inverse, first: next, second: next_first, multiplier, exchanged: true };
                (pivot, first) = (first - multiplier * next, -multiplier * next_first);
            }
        }
        self.rows[p - 1] = PivotRow { inverse: 1.0 / sure(pivot), ..PivotRow::default() };
    }

    /// Iterates until the residual is small, orthogonally to `earlier`.
    fn iterate(&self, value: f64, seed: usize, earlier: &[f64], z: &mut [f64]) -> Option<()> {
        scatter(seed, z);
        for solve in 0..SOLVES {
            if solve > 0 {
                self.forward(z);
            }
            self.backward(z);
            self.scale(z)?;
            self.orthogonalize_against(earlier, z)?;
            if solve > 0 && residual(self.diagonal, self.off, value, z) <= RESIDUAL * f64::EPSILON * self.norm {
                return Some(());
            }
        }
        None
    }

    fn forward(&self, z: &mut [f64]) {
        let mut carried = z[0];
        for i in 0..z.len() - 1 {
            let PivotRow { multiplier, exchanged, .. } = self.rows[i];
            let (top, bottom) = if exchanged { (z[i + 1], carried) } else { (carried, z[i + 1]) };
            z[i] = top;
            carried = bottom - multiplier * top;
        }
        if let Some(last) = z.last_mut() {
            *last = carried;
        }
    }

    fn backward(&self, z: &mut [f64]) {
        let (mut next, mut after) = (0.0, 0.0);
        for (z, row) in z.iter_mut().zip(&self.rows).rev() {
            let value = (*z - row.second * after - row.first * next) * row.inverse;
            (next, after) = (value, next);
            *z = value;
        }
    }

    /// Normalizes z; its entries may be as large as 1 / eps² and as small as zero.
    fn scale(&self, z: &mut [f64]) -> Option<()> {
        let mut squares = [0.0];
        dots(self.arch, z, z.len(), z, &mut squares);
        let length = squares[0].sqrt();
        if !(length.is_finite() && length > 0.0) {
            return None;
        }
        z.iter_mut().for_each(|z| *z *= 1.0 / length);
        Some(())
    }

    /// Orthogonalizes z against the earlier vectors of its cluster: two passes suffice.
    fn orthogonalize_against(&self, earlier: &[f64], z: &mut [f64]) -> Option<()> {
        let p = z.len();
        let mut along = [0.0; CLUSTER];
        let along = &mut along[..earlier.len() / p];
        if along.is_empty() {
            return Some(());
        }
        for _ in 0..2 {
            dots(self.arch, earlier, p, z, along);
            along.iter_mut().for_each(|a| *a = -*a);
            add_columns(self.arch, earlier, p, along, z);
            self.scale(z)?;
        }
        Some(())
    }
}

/// The largest entry of |Tz − λz|.
pub fn residual(diagonal: &[f64], off: &[f64], value: f64, z: &[f64]) -> f64 {
    let p = z.len();
    let entry = |i: usize| {
        let above = if i > 0 { off[i - 1] * z[i - 1] } else { 0.0 };
        let below = if i + 1 < p { off[i] * z[i + 1] } else { 0.0 };
        ((diagonal[i] - value) * z[i] + above + below).abs()
    };
    // NaN must not look small, as it would to `max`.
    (0..p).map(entry).fold(0.0, |most, r| if r <= most { most } else { r })
}

/// A deterministic pseudo-random start vector: entries in ±1 from a 64-bit mixer.
fn scatter(seed: usize, z: &mut [f64]) {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for z in z {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        *z = ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    }
}

/// Z ← Z L⁻ᵀ with ZᵀZ = LLᵀ: orthonormal to rounding, because ZᵀZ is close to I. False if it is not.
fn orthonormalize(z: &mut [f64], p: usize, k: usize, exec: Exec<'_>) -> Result<bool, Error> {
    let overlap = overlap(z, p, k, exec)?;
    let close = |j: usize| overlap[j * k + j + 1..(j + 1) * k].iter().all(|s| s.abs() <= OVERLAP);
    if !(0..k).all(close) {
        return Ok(false);
    }
    let Some(factor) = exec.aside_if(k > LONG, "orthonormalize", move || cholesky(overlap, k))? else {
        return Ok(false);
    };
    let factor = FaerRef::from_column_major_slice(&factor, k, k);
    let height = (4 * WORK / (k * k)).max(1).next_multiple_of(48);
    let rows = stripes(FaerMut::from_column_major_slice_mut(z, p, k), height);
    exec.each("orthonormalize", rows.into_iter(), |_, rows| {
        solve_lower_triangular_in_place(factor, rows.transpose_mut(), Par::Seq);
    })?;
    Ok(true)
}

/// ZᵀZ, lower triangle.
fn overlap(z: &[f64], p: usize, k: usize, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let z = FaerRef::from_column_major_slice(z, p, k);
    let mut overlap = vec![0.0; k * k];
    exec.each_chunk("orthonormalize", &mut overlap, STRIPE * k, |i, columns| {
        let (first, width) = (i * STRIPE, columns.len() / k);
        let target = FaerMut::from_column_major_slice_with_stride_mut(&mut columns[first..], k - first, width, k);
        let (left, right) = (z.subcols(first, k - first), z.subcols(first, width));
        matmul(target, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
    })?;
    Ok(overlap)
}

/// L of S = LLᵀ in the lower triangle of `s`; `None` where S is not positive definite.
fn cholesky(mut s: Vec<f64>, k: usize) -> Option<Vec<f64>> {
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(k, Par::Seq, Default::default()));
    let factor = FaerMut::from_column_major_slice_mut(&mut s, k, k);
    cholesky_in_place(factor, Default::default(), Par::Seq, MemStack::new(&mut memory), Default::default()).ok()?;
    Some(s)
}
