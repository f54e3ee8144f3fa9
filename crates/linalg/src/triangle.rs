//! The triangular factor R of A = QR, without Q and without a copy of A (TSQR).
//!
//! ```text
//!     A = [A₁; A₂; …]    R₁ = qr(A₁), R₂ = qr(A₂), …    R = qr([R₁; R₂])        AᵀA = RᵀR
//! ```
//! R gives every singular value of A to an absolute error of a few eps·σ₁, where the Gram matrix AᵀA = RᵀR would lose
//! everything below √eps·σ₁. The leaves A₁, A₂, … are cut by shape and merged in a fixed binary tree, so the bits of R
//! do not depend on the number of threads. Working memory: two p × p squares per thread.
//! Demmel, Grigori, Hoemmen, Langou (2012) — `demmel2012` in `docs/references.bib`.

use std::ops::Range;

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj,
};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Conj, MatMut as FaerMut};

use crate::Error;
use crate::blocks::Blocks;
use crate::exec::Exec;
use crate::mat::{Mat, MatMut};

/// Columns that are reflected one by one.
const NARROW: usize = 8;
/// The side of a tile that is transposed in cache.
const TILE: usize = 32;
/// Rows that are read together.
const READ: usize = 256;
/// Multiplications between two polls of the monitor: a few hundredths of a second.
const WORK: usize = 1 << 27;

/// R (p × p, upper triangular, zeros below) of a matrix with p columns.
pub fn triangle(a: &dyn Blocks, exec: Exec<'_>) -> Result<Mat, Error> {
    let (q, p) = (a.rows(), a.cols());
    let height = leaf_rows(p);
    let leaves = q.div_ceil(height).max(1);
    let leaf = |i: usize| fold(a, i * height..((i + 1) * height).min(q), exec);
    let mut level: Vec<Mat> = exec.map("orthogonalize", leaves, leaf)?.into_iter().collect::<Result<_, _>>()?;
    while level.len() > 1 {
        let pairs = level.len().div_ceil(2);
        let pair = |i: usize| match level.get(2 * i + 1) {
            Some(right) => merge(&level[2 * i], right, exec),
            None => Ok(level[2 * i].clone()),
        };
        level = exec.map("merge", pairs, pair)?.into_iter().collect::<Result<_, _>>()?;
    }
    Ok(level.pop().expect("there is at least one leaf"))
}

/// An orthonormal basis of the columns of `a` (tall): Q of A = QR with the signs that make R's diagonal positive, so
/// that columns that are already orthonormal are unchanged.
pub fn orthonormalize(a: &Mat) -> Mat {
    orthonormalized(a, Exec::default()).expect("nobody cancels")
}

/// [`orthonormalize`] with the given threads and monitor.
pub(crate) fn orthonormalized(a: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
    let (m, k) = (a.rows(), a.cols());
    assert!(m >= k, "an orthonormal basis of {k} columns needs {k} rows, not {m}");
    if k == 0 {
        return Ok(a.clone());
    }
    let mut factor = column_major(a);
    let block = recommended_block_size::<f64>(m, k);
    let mut coefficients = vec![0.0; block * k];
    factorize(&mut factor, m, k, &mut coefficients, block, exec)?;
    let mut q = vec![0.0; m * k];
    for j in 0..k {
        q[j * m + j] = if factor[j * m + j] < 0.0 { -1.0 } else { 1.0 };
    }
    let width = at_once(m * k);
    let need = apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(m, block, width);
    let mut memory = MemBuffer::new(need);
    for some in q.chunks_mut(width * m) {
        exec.check()?;
        let count = some.len() / m;
        apply_block_householder_sequence_on_the_left_in_place_with_conj(
            faer::MatRef::from_column_major_slice(&factor, m, k),
            faer::MatRef::from_column_major_slice(&coefficients, block, k),
            Conj::No,
            FaerMut::from_column_major_slice_mut(some, m, count),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }
    Ok(Mat::from_fn(m, k, |i, j| q[j * m + i]))
}

/// Rows of one leaf: enough that merging costs little, a function of p alone.
fn leaf_rows(p: usize) -> usize {
    (8 * p).max(4096)
}

/// R of some rows of `a`, one block of rows at a time below the R of the previous ones.
fn fold(a: &dyn Blocks, rows: Range<usize>, exec: Exec<'_>) -> Result<Mat, Error> {
    let p = a.cols();
    let block = p.max(256);
    let height = p + block;
    let mut work = QrBuffer::new(height, p);
    let mut next = rows.start;
    let mut above = 0; // rows of `work` already taken by an R
    while next < rows.end {
        let end = (next + height - above).min(rows.end);
        work.read(a, next..end, above, exec)?;
        work.reduce(exec)?;
        (next, above) = (end, p);
    }
    Ok(work.upper())
}

/// R of a triangle and the rows below it.
pub(crate) fn merge(top: &Mat, bottom: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
    let p = top.cols();
    let height = p + bottom.rows();
    let mut work = QrBuffer::new(height, p);
    work.read(top, 0..p, 0, exec)?;
    work.read(bottom, 0..bottom.rows(), p, exec)?;
    work.reduce(exec)?;
    Ok(work.upper())
}

/// Column-major working memory, at least as high as wide, zero where nothing was written.
struct QrBuffer {
    values: Vec<f64>,
    height: usize,
    width: usize,
    block: usize,
    coefficients: Vec<f64>,
}

impl QrBuffer {
    fn new(height: usize, width: usize) -> Self {
        let block = recommended_block_size::<f64>(height, width);
        Self { values: vec![0.0; height * width], height, width, block, coefficients: vec![0.0; block * width] }
    }

    /// Writes some rows of `a` from row `to` on.
    fn read(&mut self, a: &dyn Blocks, rows: Range<usize>, to: usize, exec: Exec<'_>) -> Result<(), Error> {
        for first in rows.clone().step_by(READ) {
            exec.check()?;
            let mut out = MatMut::column_major(&mut self.values[to + first - rows.start..], self.height);
            a.read(first..(first + READ).min(rows.end), 0..self.width, &mut out);
        }
        Ok(())
    }

    /// Replaces the contents by their R, zeros below.
    fn reduce(&mut self, exec: Exec<'_>) -> Result<(), Error> {
        if self.width == 0 {
            return Ok(());
        }
        factorize(&mut self.values, self.height, self.width, &mut self.coefficients, self.block, exec)?;
        for j in 0..self.width {
            self.values[j * self.height + j + 1..(j + 1) * self.height].fill(0.0);
        }
        Ok(())
    }

    fn upper(&self) -> Mat {
        let mut upper = Mat::zeros(self.width, self.width);
        // Tile by tile, because consecutive columns are a whole column apart in memory.
        for top in (0..self.width).step_by(TILE) {
            for left in (top..self.width).step_by(TILE) {
                for j in left..(left + TILE).min(self.width) {
                    let column = &self.values[j * self.height..][..j + 1];
                    (top..(top + TILE).min(j + 1)).for_each(|i| upper.row_mut(i)[j] = column[i]);
                }
            }
        }
        upper
    }
}

/// Householder QR in place, a panel of columns at a time: R on and above the diagonal, the vectors of the reflections
/// below it, and in `coefficients` the triangles F of I − V F⁻¹ Vᵀ: τ on the diagonal, VᵀV above it.
///
/// Not the backend's QR: it treats a column as dependent if its remainder is below 16·height·eps of the whole, and
/// drops that remainder. Singular values then change by thousands of eps.
fn factorize(
    values: &mut [f64],
    height: usize,
    width: usize,
    coefficients: &mut [f64],
    block: usize,
    exec: Exec<'_>,
) -> Result<(), Error> {
    for start in (0..width).step_by(block) {
        let count = block.min(width - start);
        let (panel, rest) = values[start * height..].split_at_mut(count * height);
        let factors = &mut coefficients[start * block..][..count * block];
        reflect_panel(panel, height, start, factors, block, exec)?;
        for some in rest.chunks_mut(at_once((height - start) * count) * height) {
            exec.check()?;
            apply(panel, height, start, factors, block, some);
        }
    }
    Ok(())
}

/// Columns that are reflected as one piece of work, where each takes twice this many multiplications.
fn at_once(work: usize) -> usize {
    (WORK / work.max(1)).next_multiple_of(48)
}

/// Multiplies the columns `rest` by the reflections of `panel`, from row `start` on.
fn apply(panel: &[f64], height: usize, start: usize, factors: &[f64], block: usize, rest: &mut [f64]) {
    let (rows, count, after) = (height - start, panel.len() / height, rest.len() / height);
    if after == 0 {
        return;
    }
    let need = apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<f64>(rows, count, after);
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
        faer::MatRef::from_column_major_slice_with_stride(&panel[start..], rows, count, height),
        faer::MatRef::from_column_major_slice_with_stride(factors, count, count, block),
        Conj::No,
        FaerMut::from_column_major_slice_with_stride_mut(&mut rest[start..], rows, after, height),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
    );
}

/// QR of the columns `panel` from row `start` on: the left half, then the right half after the reflections of the left.
fn reflect_panel(
    panel: &mut [f64],
    height: usize,
    start: usize,
    factors: &mut [f64],
    block: usize,
    exec: Exec<'_>,
) -> Result<(), Error> {
    exec.check()?;
    let count = panel.len() / height;
    if count <= NARROW {
        reflect_columns(panel, height, start, factors, block);
        return Ok(());
    }
    let half = count / 2;
    let (left, right) = panel.split_at_mut(half * height);
    reflect_panel(left, height, start, factors, block, exec)?;
    apply(left, height, start, factors, block, right);
    reflect_panel(right, height, start + half, &mut factors[half * block + half..], block, exec)?;
    // V₁ᵀV₂, where the head of V₂ is a unit triangle.
    let (row, width) = (start + half, count - half);
    let head = |x| faer::MatRef::from_column_major_slice_with_stride(x, width, width, height);
    let one = faer::MatRef::from_column_major_slice_with_stride(&left[row..], width, half, height);
    let cross = &mut factors[half * block..];
    let mut cross = FaerMut::from_column_major_slice_with_stride_mut(cross, half, width, block);
    triangular::matmul(
        cross.rb_mut(),
        BlockStructure::Rectangular,
        Accum::Replace,
        one.transpose(),
        BlockStructure::Rectangular,
        head(&right[row..]),
        BlockStructure::UnitTriangularLower,
        1.0,
        Par::Seq,
    );
    let below = height - row - width;
    if below > 0 {
        let one = faer::MatRef::from_column_major_slice_with_stride(&left[row + width..], below, half, height);
        let two = faer::MatRef::from_column_major_slice_with_stride(&right[row + width..], below, width, height);
        matmul(cross, Accum::Add, one.transpose(), two, 1.0, Par::Seq);
    }
    Ok(())
}

/// [`reflect_panel`], column by column.
fn reflect_columns(panel: &mut [f64], height: usize, start: usize, factors: &mut [f64], block: usize) {
    let count = panel.len() / height;
    for c in 0..count {
        let (before, rest) = panel.split_at_mut(c * height);
        let (own, others) = rest.split_at_mut(height);
        let (row, v) = (start + c, &mut own[start + c..]);
        let (tau, head) = reflection(v);
        let column = faer::MatRef::from_column_major_slice(v, height - row, 1);
        let mut along = [0.0; NARROW];
        // v begins with 1 below zeros, so vᵢᵀv is a sum from here down.
        if c > 0 {
            let before = faer::MatRef::from_column_major_slice_with_stride(&before[row..], height - row, c, height);
            let dots = FaerMut::from_row_major_slice_mut(&mut along[..c], 1, c);
            matmul(dots, Accum::Replace, column.transpose(), before, 1.0, Par::Seq);
            factors[c * block..][..c].copy_from_slice(&along[..c]);
        }
        let after = count - c - 1;
        if after > 0 {
            let others =
                FaerMut::from_column_major_slice_with_stride_mut(&mut others[row..], height - row, after, height);
            let mut along = FaerMut::from_row_major_slice_mut(&mut along[..after], 1, after);
            matmul(along.rb_mut(), Accum::Replace, column.transpose(), others.rb(), 1.0 / tau, Par::Seq);
            matmul(others, Accum::Add, column, along.rb(), -1.0, Par::Seq);
        }
        factors[c * block + c] = tau;
        own[row] = head;
    }
}

/// Replaces x by v with v₀ = 1 and (I − vvᵀ/τ)x = (β, 0, …, 0)ᵀ; returns τ and β. Valid for any size of x.
fn reflection(x: &mut [f64]) -> (f64, f64) {
    let most = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if most == 0.0 {
        x[0] = 1.0;
        return (0.5, 0.0);
    }
    let tail = x[1..].iter().map(|x| (x / most) * (x / most)).sum::<f64>();
    let head = x[0] / most;
    let beta = -(head * head + tail).sqrt().copysign(head);
    let pivot = head - beta;
    x.iter_mut().for_each(|x| *x = (*x / most) / pivot);
    x[0] = 1.0;
    (0.5 * (1.0 + tail / (pivot * pivot)), beta * most)
}

fn column_major(a: &Mat) -> Vec<f64> {
    a.transposed().into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Quiet;
    use std::num::NonZero;

    fn wavy(rows: usize, cols: usize) -> Mat {
        Mat::from_fn(rows, cols, |i, j| ((i * 7 + j * 13) as f64 * 0.37).sin() + if i % cols == j { 1.0 } else { 0.0 })
    }

    fn gram(a: &Mat) -> Mat {
        Mat::from_fn(a.cols(), a.cols(), |i, j| (0..a.rows()).map(|r| a.at(r, i) * a.at(r, j)).sum())
    }

    #[test]
    fn the_triangle_has_the_gram_matrix_of_the_whole() {
        // One leaf, several blocks, several leaves, a last leaf of one row, fewer rows than columns.
        for (q, p) in [(5, 3), (700, 40), (4097, 6), (13000, 7), (3, 9)] {
            let a = wavy(q, p);
            let r = triangle(&a, Exec::default()).unwrap();
            let (expected, have) = (gram(&a), gram(&r));
            let scale = expected.as_slice().iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (w, h) in expected.as_slice().iter().zip(have.as_slice()) {
                assert!((w - h).abs() <= 10.0 * f64::EPSILON * q.max(p) as f64 * scale, "{q} × {p}: {w} ≠ {h}");
            }
            assert!((0..p).all(|i| (0..i).all(|j| r.at(i, j) == 0.0)));
        }
    }

    #[test]
    fn the_triangle_has_the_same_bits_for_any_number_of_threads() {
        let a = wavy(13000, 7);
        let with = |threads| triangle(&a, Exec::new(NonZero::new(threads), &Quiet)).unwrap();
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(4));
    }

    #[test]
    fn orthonormal_columns_span_what_they_came_from_and_keep_their_direction() {
        let a = wavy(60, 8);
        let q = orthonormalize(&a);
        let qq = gram(&q);
        for i in 0..8 {
            for j in 0..8 {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((qq.at(i, j) - expected).abs() < 60.0 * f64::EPSILON);
            }
            let along: f64 = (0..60).map(|r| q.at(r, i) * a.at(r, i)).sum();
            assert!(along > 0.0);
        }
        let again = orthonormalize(&q);
        assert!(q.as_slice().iter().zip(again.as_slice()).all(|(x, y)| (x - y).abs() < 100.0 * f64::EPSILON));
    }
}
