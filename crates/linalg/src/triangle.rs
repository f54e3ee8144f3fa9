//! The triangular factor R of A = QR, without Q and without a copy of A (TSQR).
//!
//! ```text
//!     A = [A₁; A₂; …]    R₁ = qr(A₁), R₂ = qr(A₂), …    R = qr([R₁; R₂])        AᵀA = RᵀR
//! ```
//! R carries every singular value of A to an absolute error of a few eps·σ₁, where the Gram matrix AᵀA = RᵀR
//! would lose everything below √eps·σ₁. The leaves A₁, A₂, … are cut by shape and merged in a fixed binary
//! tree, so R has the same bits for any number of threads. Working memory: two p × p squares a thread.
//!
//! Demmel, Grigori, Hoemmen, Langou (2012) — `demmel2012` in `docs/references.bib`.

use std::ops::Range;

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Conj, MatMut as FaerMut};

use crate::Error;
use crate::blocks::Blocks;
use crate::exec::Exec;
use crate::mat::{Mat, MatMut};

/// R (p × p, upper triangular, zeros below) of a matrix with p columns.
pub fn triangle(a: &dyn Blocks, exec: Exec<'_>) -> Result<Mat, Error> {
    let (q, p) = (a.rows(), a.cols());
    let height = leaf_rows(p);
    let leaves = q.div_ceil(height).max(1);
    let leaf = |i: usize| fold(a, i * height..((i + 1) * height).min(q));
    let mut level = exec.map("orthogonalise", leaves, leaf)?;
    while level.len() > 1 {
        let pairs = level.len().div_ceil(2);
        level = exec.map("merge", pairs, |i| match level.get(2 * i + 1) {
            Some(right) => merge(&level[2 * i], right),
            None => level[2 * i].clone(),
        })?;
    }
    Ok(level.pop().expect("there is at least one leaf"))
}

/// An orthonormal basis of the columns of `a` (tall): Q of A = QR with the signs that make R's diagonal
/// positive, so that columns that were orthonormal already stay where they are.
pub fn orthonormalise(a: &Mat) -> Mat {
    let (m, k) = (a.rows(), a.cols());
    assert!(m >= k, "an orthonormal basis of {k} columns needs {k} rows, not {m}");
    if k == 0 {
        return a.clone();
    }
    let mut factor = column_major(a);
    let block = recommended_block_size::<f64>(m, k);
    let mut coefficients = vec![0.0; block * k];
    factorise(&mut factor, m, k, &mut coefficients, block);
    let mut q = vec![0.0; m * k];
    for j in 0..k {
        q[j * m + j] = if factor[j * m + j] < 0.0 { -1.0 } else { 1.0 };
    }
    let mut memory = MemBuffer::new(apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(m, block, k));
    apply_block_householder_sequence_on_the_left_in_place_with_conj(
        faer::MatRef::from_column_major_slice(&factor, m, k),
        faer::MatRef::from_column_major_slice(&coefficients, block, k),
        Conj::No,
        FaerMut::from_column_major_slice_mut(&mut q, m, k),
        Par::Seq,
        MemStack::new(&mut memory),
    );
    Mat::from_fn(m, k, |i, j| q[j * m + i])
}

/// Rows of one leaf: enough that merging costs little, a number that depends on p alone.
fn leaf_rows(p: usize) -> usize {
    (8 * p).max(4096)
}

/// R of some rows of `a`, a stretch at a time under the R of what came before.
fn fold(a: &dyn Blocks, rows: Range<usize>) -> Mat {
    let p = a.cols();
    let stretch = p.max(256);
    let height = p + stretch;
    let mut work = Work::new(height, p);
    let mut next = rows.start;
    let mut above = 0; // rows of `work` already taken by an R
    while next < rows.end {
        let end = (next + height - above).min(rows.end);
        let mut below = MatMut::column_major(&mut work.values[above..], height);
        a.read(next..end, 0..p, &mut below);
        work.reduce();
        (next, above) = (end, p);
    }
    work.upper()
}

/// R of a triangle and the rows below it.
pub(crate) fn merge(top: &Mat, bottom: &Mat) -> Mat {
    let p = top.cols();
    let height = p + bottom.rows();
    let mut work = Work::new(height, p);
    for j in 0..p {
        let column = &mut work.values[j * height..(j + 1) * height];
        (0..p).for_each(|i| column[i] = top.at(i, j));
        (0..bottom.rows()).for_each(|i| column[p + i] = bottom.at(i, j));
    }
    work.reduce();
    work.upper()
}

/// A column-major square of working memory, at least as high as wide, zero where nothing was written.
struct Work {
    values: Vec<f64>,
    height: usize,
    width: usize,
    block: usize,
    coefficients: Vec<f64>,
}

impl Work {
    fn new(height: usize, width: usize) -> Self {
        let block = recommended_block_size::<f64>(height, width);
        Self { values: vec![0.0; height * width], height, width, block, coefficients: vec![0.0; block * width] }
    }

    /// Replaces the contents by their R, zeros below.
    fn reduce(&mut self) {
        if self.width == 0 {
            return;
        }
        factorise(&mut self.values, self.height, self.width, &mut self.coefficients, self.block);
        for j in 0..self.width {
            self.values[j * self.height + j + 1..(j + 1) * self.height].fill(0.0);
        }
    }

    fn upper(&self) -> Mat {
        Mat::from_fn(self.width, self.width, |i, j| self.values[j * self.height + i])
    }
}

fn factorise(values: &mut [f64], height: usize, width: usize, coefficients: &mut [f64], block: usize) {
    let mut memory = MemBuffer::new(qr_in_place_scratch::<f64>(height, width, block, Par::Seq, Default::default()));
    qr_in_place(
        FaerMut::from_column_major_slice_mut(values, height, width),
        FaerMut::from_column_major_slice_mut(coefficients, block, width),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
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
        // One leaf, several stretches, several leaves, a last leaf of one row, fewer rows than columns.
        for (q, p) in [(5, 3), (700, 40), (4097, 6), (13000, 7), (3, 9)] {
            let a = wavy(q, p);
            let r = triangle(&a, Exec::default()).unwrap();
            let (want, have) = (gram(&a), gram(&r));
            let scale = want.as_slice().iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (w, h) in want.as_slice().iter().zip(have.as_slice()) {
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
        let q = orthonormalise(&a);
        let qq = gram(&q);
        for i in 0..8 {
            for j in 0..8 {
                let want = if i == j { 1.0 } else { 0.0 };
                assert!((qq.at(i, j) - want).abs() < 60.0 * f64::EPSILON);
            }
            let along: f64 = (0..60).map(|r| q.at(r, i) * a.at(r, i)).sum();
            assert!(along > 0.0);
        }
        let again = orthonormalise(&q);
        assert!(q.as_slice().iter().zip(again.as_slice()).all(|(x, y)| (x - y).abs() < 100.0 * f64::EPSILON));
    }
}
