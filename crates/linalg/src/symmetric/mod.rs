//! Eigenvalues and the leading eigenvectors of a dense symmetric matrix, at a cost proportional to their number.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | G | `g` (p × p) | the matrix; its lower triangle is read |
//! | T | `diagonal`, `off` | G = Q T Qᵀ, symmetric tridiagonal |
//! | Q | `reflectors`, `scales` | H₀ H₁ …, one Householder reflection per column |
//! | Λ, Z | [`Eigen`] | the k largest eigenvalues of T, and its eigenvectors; Q Z those of G |
//!
//! ```text
//!     G = Q T Qᵀ        T Z = Z Λ        G (Q Z) = (Q Z) Λ
//! ```
//! | step | file | cost |
//! |---|---|---|
//! | G → T | `reduce`; for values alone `band` | 4/3 p³, once |
//! | values of T | `values` | p² for all, p per count |
//! | Z | `vectors` | p k, and 2 p k² to orthonormalize |
//! | Q Z | here | 2 p² k |
//!
//! Only the lower triangle is read, every result is checked, and the bits do not depend on the number of threads.
//! Callers scale G near one, by a power of two.

mod band;
mod kernel;
mod reduce;
mod values;
mod vectors;

#[cfg(test)]
mod tests;

use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Conj, MatMut as FaerMut, MatRef as FaerRef, Par};

use crate::Error;
use crate::exec::Exec;
use crate::mat::Mat;
use crate::scale::{exponent_of, times_power_of_two};

use band::reduce_by_band;
use reduce::{Reduced, reduce};
use values::{BATCH, Sturm};

/// Reflections applied together in the back-transformation from T to G.
const BLOCK: usize = 48;
/// Maximum number of vectors transformed together: one piece of work.
const STRIPE: usize = 128;
/// Maximum of p² times the number of vectors transformed together: a few hundredths of a second.
const MAX_TRANSFORMED: usize = 1 << 29;
/// Order of T from which steps on T alone, which may take a tenth of a second, run on a thread of their own.
const LONG: usize = 1000;
/// From this order on, eigenvalues alone are computed faster by way of a band.
const BANDED: usize = 768;
/// The side of a tile that is transposed in cache.
const TILE: usize = 32;

/// The leading part of G = V Λ Vᵀ.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// Eigenvalues, in descending order.
    pub values: Vec<f64>,
    /// Eigenvectors, one column per value.
    pub vectors: Mat,
}

/// G = Q T Qᵀ: the reflections whose product is Q, and T.
pub struct Tridiagonal {
    diagonal: Vec<f64>,
    off: Vec<f64>,
    /// Column j holds the vector of reflection j from row j + 1 on; p × p, column after column.
    reflectors: Vec<f64>,
    scales: Vec<f64>,
}

/// Eigenpairs of T, before the back-transformation to G.
struct Pairs {
    values: Vec<f64>,
    /// Vectors, column after column.
    z: Vec<f64>,
}

/// Reduces the symmetric matrix `g`, of which the lower triangle is read, to tridiagonal form in place.
pub fn tridiagonalize(g: Mat, exec: Exec<'_>) -> Result<Tridiagonal, Error> {
    let p = g.rows();
    assert_eq!(p, g.cols(), "a symmetric matrix is square");
    let mut reflectors = g.into_vec();
    exec.check()?;
    mirror(&mut reflectors, p);
    let Reduced { diagonal, off, scales } = reduce(&mut reflectors, p, exec)?;
    if diagonal.iter().chain(&off).any(|x| !x.is_finite()) {
        return Err(failed(p));
    }
    Ok(Tridiagonal { diagonal, off, reflectors, scales })
}

/// All eigenvalues of the symmetric matrix `g`, of which the lower triangle is read, in descending order: those of
/// [`Tridiagonal`], computed faster, where no eigenvector is needed.
pub fn eigenvalues(g: Mat, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    if g.rows() < BANDED { tridiagonalize(g, exec)?.values(exec) } else { values_by_band(g, exec) }
}

fn values_by_band(g: Mat, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let p = g.rows();
    assert_eq!(p, g.cols(), "a symmetric matrix is square");
    let mut a = g.into_vec();
    exec.check()?;
    mirror(&mut a, p);
    let (diagonal, off) = reduce_by_band(&mut a, p, exec)?;
    if diagonal.iter().chain(&off).any(|x| !x.is_finite()) {
        return Err(failed(p));
    }
    all_values(&diagonal, &off, exec)
}

/// All eigenvalues of T, in descending order.
fn all_values(diagonal: &[f64], off: &[f64], exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    let (p, d, b) = (diagonal.len(), diagonal.to_vec(), off.to_vec());
    let found = exec.aside_if(p > LONG, "values", move || values::all(&d, &b))?;
    found.filter(|found| keeps_trace(diagonal, off, found)).ok_or_else(|| failed(p))
}

/// Σλ = tr T holds for every matrix: values that violate it are wrong.
fn keeps_trace(diagonal: &[f64], off: &[f64], values: &[f64]) -> bool {
    let size = diagonal.len() as f64 * values::bound(diagonal, off);
    let slack = values.iter().sum::<f64>() - diagonal.iter().sum::<f64>();
    slack.abs() <= 1e2 * f64::EPSILON * size
}

fn failed(order: usize) -> Error {
    Error::NoConvergence { rows: order, cols: order }
}

impl Tridiagonal {
    /// The number of rows of G, and of T.
    pub fn order(&self) -> usize {
        self.diagonal.len()
    }

    /// All eigenvalues, in descending order, each to a few eps·‖G‖.
    pub fn values(&self, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        all_values(&self.diagonal, &self.off, exec)
    }

    /// The number of eigenvalues of T above `x`: exact for a matrix that differs from T by a few eps.
    pub fn count_above(&self, x: f64) -> usize {
        Sturm::new(&self.diagonal, &self.off).above(&[x; BATCH])[0]
    }

    /// The `k` largest eigenvalues and their vectors.
    pub fn leading(&self, k: usize, exec: Exec<'_>) -> Result<Eigen, Error> {
        let p = self.order();
        assert!(k <= p, "a matrix of order {p} has {p} eigenvectors, not {k}");
        if 2 * k <= p { self.with_values(self.largest(k, exec)?, exec) } else { self.by_divide_and_conquer(k, exec) }
    }

    /// The vectors of the given largest eigenvalues.
    pub fn with_values(&self, values: Vec<f64>, exec: Exec<'_>) -> Result<Eigen, Error> {
        let k = values.len();
        if k == 0 {
            return Ok(Eigen { values, vectors: Mat::zeros(self.order(), 0) });
        }
        match self.inverse_iteration(&values, exec)? {
            Some(z) => self.back_transformed(Pairs { values, z }, exec),
            None => self.by_divide_and_conquer(k, exec),
        }
    }

    /// Inverse iteration, for the leading part of a spectrum without large clusters.
    fn inverse_iteration(&self, values: &[f64], exec: Exec<'_>) -> Result<Option<Vec<f64>>, Error> {
        if 2 * values.len() > self.order() {
            return Ok(None);
        }
        vectors::leading(&self.diagonal, &self.off, values, exec)
    }

    fn by_divide_and_conquer(&self, k: usize, exec: Exec<'_>) -> Result<Eigen, Error> {
        self.back_transformed(self.divide_and_conquer(k, exec)?, exec)
    }

    /// Eigenpairs of G from those of T.
    fn back_transformed(&self, Pairs { values, mut z }: Pairs, exec: Exec<'_>) -> Result<Eigen, Error> {
        let (p, k) = (self.order(), values.len());
        self.back_transform(&mut z, exec)?;
        if z.iter().chain(&values).any(|x| !x.is_finite()) {
            return Err(failed(p));
        }
        Ok(Eigen { values, vectors: by_rows(&z, p, k, exec)? })
    }

    /// The `k` largest eigenvalues, by bisection.
    fn largest(&self, k: usize, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let sturm = Sturm::new(&self.diagonal, &self.off);
        let batches = exec.map("values", k.div_ceil(BATCH), |i| sturm.bisect(i * BATCH))?;
        let mut values = batches.concat();
        values.truncate(k);
        for i in 1..k {
            values[i] = values[i].min(values[i - 1]); // batches agree to eps·‖T‖ only
        }
        Ok(values)
    }

    /// Divide and conquer for all vectors of T, by the backend.
    fn divide_and_conquer(&self, k: usize, exec: Exec<'_>) -> Result<Pairs, Error> {
        let p = self.order();
        // The backend compares with absolute thresholds: for a T far from one it treats significant entries as
        // negligible.
        let exponent = exponent_of(values::bound(&self.diagonal, &self.off));
        let scaled = |values: &[f64]| values.iter().map(|x| times_power_of_two(*x, -exponent)).collect::<Vec<f64>>();
        let (diagonal, mut off) = (scaled(&self.diagonal), scaled(&self.off));
        off.push(0.0);
        let found = exec.aside_if(p > LONG / 4, "vectors", move || divide_and_conquer(&diagonal, &off))?;
        let (mut values, z) = found.ok_or_else(|| failed(p))?;
        values.iter_mut().for_each(|x| *x = times_power_of_two(*x, exponent));
        let sorted = values.windows(2).all(|w| w[0] <= w[1]);
        values.reverse();
        if !sorted || !keeps_trace(&self.diagonal, &self.off, &values) {
            return Err(failed(p));
        }
        values.truncate(k);
        let mut leading = Vec::with_capacity(p * k);
        for (z, value) in z.chunks_exact(p).rev().zip(&values) {
            exec.check()?;
            if !self.is_pair(*value, z) {
                return Err(failed(p));
            }
            leading.extend_from_slice(z);
        }
        Ok(Pairs { values, z: leading })
    }

    /// Is Tz = λz, to p·eps·‖T‖?
    fn is_pair(&self, value: f64, z: &[f64]) -> bool {
        let norm = values::bound(&self.diagonal, &self.off);
        vectors::residual(&self.diagonal, &self.off, value, z) <= 10.0 * self.order() as f64 * f64::EPSILON * norm
    }

    /// Q Z for the columns `z`.
    fn back_transform(&self, z: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        let p = self.order();
        if p < 2 {
            return Ok(());
        }
        let m = p - 1;
        let factors = self.factors();
        let basis = FaerRef::from_column_major_slice_with_stride(&self.reflectors[1..], m, m, p);
        let factors = FaerRef::from_column_major_slice(&factors, BLOCK, m);
        let width = (MAX_TRANSFORMED / (p * p) / 16 * 16).clamp(32, STRIPE);
        exec.each_chunk("back-transform", z, width * p, |_, columns| {
            let count = columns.len() / p;
            let need = apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(m, BLOCK, count);
            apply_block_householder_sequence_on_the_left_in_place_with_conj(
                basis,
                factors,
                Conj::No,
                FaerMut::from_column_major_slice_with_stride_mut(&mut columns[1..], m, count, p),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(need)),
            );
        })
    }

    /// The triangles F of H_j H_{j+1} … = I − V F⁻¹ Vᵀ, block after block: τ on the diagonal, VᵀV above it.
    fn factors(&self) -> Vec<f64> {
        let p = self.order();
        let m = p - 1;
        let mut factors = vec![0.0; BLOCK * m];
        let mut clean = vec![0.0; BLOCK * m];
        for start in (0..m).step_by(BLOCK) {
            let (width, rows) = (BLOCK.min(m - start), m - start);
            for c in 0..width {
                let j = start + c;
                let column = &mut clean[c * rows..][..rows];
                column[..c].fill(0.0);
                column[c..].copy_from_slice(&self.reflectors[j * p + j + 1..(j + 1) * p]);
            }
            let v = FaerRef::from_column_major_slice(&clean[..width * rows], rows, width);
            let block = &mut factors[start * BLOCK..];
            matmul(
                FaerMut::from_column_major_slice_with_stride_mut(block, width, width, BLOCK),
                BlockStructure::TriangularUpper,
                Accum::Replace,
                v.transpose(),
                BlockStructure::Rectangular,
                v,
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
            for c in 0..width {
                block[c * BLOCK + c] = self.scales[start + c];
            }
        }
        factors
    }
}

/// All eigenvalues of T, in ascending order, and their vectors, column after column.
fn divide_and_conquer(diagonal: &[f64], off: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let p = diagonal.len();
    let need = self_adjoint_evd_scratch::<f64>(p, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let (mut values, mut z) = (vec![0.0; p], vec![0.0; p * p]);
    tridiagonal_self_adjoint_evd(
        DiagRef::from_slice(diagonal),
        DiagRef::from_slice(off),
        DiagMut::from_slice_mut(&mut values),
        Some(FaerMut::from_column_major_slice_mut(&mut z, p, p)),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Default::default(),
    )
    .ok()?;
    Some((values, z))
}

/// Copies the lower triangle of a matrix stored row after row to the upper one, which is the lower triangle in column
/// order.
fn mirror(a: &mut [f64], p: usize) {
    for row in (0..p).step_by(TILE) {
        for column in (0..=row).step_by(TILE) {
            for i in row..(row + TILE).min(p) {
                for j in column..(column + TILE).min(i) {
                    a[j * p + i] = a[i * p + j];
                }
            }
        }
    }
}

/// The p × k matrix whose columns follow one another in `z`.
fn by_rows(z: &[f64], p: usize, k: usize, exec: Exec<'_>) -> Result<Mat, Error> {
    let mut out = Mat::zeros(p, k);
    for (tile, rows) in out.as_mut_slice().chunks_mut(TILE * k).enumerate() {
        exec.check()?;
        for (i, row) in (tile * TILE..).zip(rows.chunks_exact_mut(k)) {
            row.iter_mut().zip(z.chunks_exact(p)).for_each(|(to, z)| *to = z[i]);
        }
    }
    Ok(out)
}
