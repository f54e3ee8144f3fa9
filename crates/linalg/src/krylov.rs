//! The leading eigenpairs of a large symmetric positive semidefinite operator above a cut: block Lanczos with full
//! reorthogonalization. Their number need not be given.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A | `a` | the operator, p × p |
//! | b | `WIDTH` | vectors in a block |
//! | Q | `basis` | p × d, orthonormal: the Krylov space of b random vectors |
//! | T | `band` | QᵀAQ, d × d, symmetric, 2b + 1 diagonals |
//! | θ, y | `values`, `vectors` of `Projected` | an eigenpair of T; (θ, Qy) is a Ritz pair of A |
//! | k | `selected` | number of values above the cut |
//!
//! ```text
//!     A Q = Q T + [0 … 0 Qⱼ₊₁ Bⱼ]      T y = θ y      ⇒      ‖A Qy − θ Qy‖ = ‖Bⱼ y_last‖
//! ```
//! The residual of every pair is available without a multiplication. The search ends when the residuals of all values
//! above the cut are small relative to the CUT: relative to the largest value, which may be a million times larger, the
//! last few would be miscounted. d ≈ 2k + 11b suffices for power-law spectra.
//!
//! A space grown from b vectors holds at most b copies of an eigenvalue. Where as many equal values are found as random
//! vectors were drawn, more are drawn. Still, the result is a lower bound: nothing here proves that no value was
//! missed, and no Krylov method can.
//!
//! b is small: a narrow block needs a smaller d, and the backend multiplies twelve columns at its full width.
//!
//! Golub, Underwood (1977) — `golub1977` in `docs/references.bib`.

mod band;
mod basis;
mod search;
mod tracker;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::Error;
use crate::exec::Exec;
use crate::mat::Mat;
use crate::matmul::{PIECE, product};
use band::Projected;
use basis::Basis;
use search::{Search, Verdict};

/// Vectors in a block.
const WIDTH: usize = 12;
/// Maximum number of rows of a dense operator multiplied together: as many as stay in the cache beside the vectors.
const STRIPE: usize = 256;
/// Maximum number of multiplications of one piece: a few hundredths of a second.
const WORK: usize = 1 << 28;

/// A symmetric operator: a dense Gram matrix, or a data matrix applied twice.
pub trait Operator: Sync {
    /// p: the operator is p × p.
    fn order(&self) -> usize;
    /// Whether A is stored as a matrix, so that a dense decomposition is an alternative.
    fn is_matrix(&self) -> bool {
        false
    }
    /// `out` = A · `v`, both p values per column, column after column.
    fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error>;
}

/// A full symmetric matrix, both triangles filled.
pub struct Dense<'a>(pub &'a Mat);

impl Dense<'_> {
    /// A · `v`. With V and the result stored row after row the backend streams A in memory order: column after column
    /// it would have to repack A for every block.
    pub fn times(&self, v: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
        let (p, width) = (v.rows(), v.cols());
        let few = (WORK / (p * width).max(1) / 16 * 16).clamp(16, STRIPE);
        let stripe = if p * p * width < PIECE { p } else { few };
        let right = MatRef::from_row_major_slice(v.as_slice(), p, width);
        let mut result = Mat::zeros(p, width);
        exec.each_chunk("multiply", result.as_mut_slice(), (stripe * width).max(1), |i, out| {
            let height = out.len() / width;
            let left = &self.0.as_slice()[i * stripe * p..][..height * p];
            let out = MatMut::from_row_major_slice_mut(out, height, width);
            matmul(out, Accum::Replace, MatRef::from_row_major_slice(left, height, p), right, 1.0, Par::Seq);
        })?;
        Ok(result)
    }
}

impl Operator for Dense<'_> {
    fn order(&self) -> usize {
        self.0.rows()
    }

    fn is_matrix(&self) -> bool {
        true
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        let p = self.order();
        let width = v.len() / p.max(1);
        let rows = Mat::from_vec(p, width, transposed(v, p, width)).expect("p values a column");
        let result = self.times(&rows, exec)?;
        let result = MatRef::from_row_major_slice(result.as_slice(), p, width);
        MatMut::from_column_major_slice_mut(out, p, width).copy_from(result);
        Ok(())
    }
}

fn transposed(v: &[f64], p: usize, width: usize) -> Vec<f64> {
    let mut rows = vec![0.0; v.len()];
    MatMut::from_row_major_slice_mut(&mut rows, p, width).copy_from(MatRef::from_column_major_slice(v, p, width));
    rows
}

/// The end of the search in the spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// All eigenvalues above this one.
    Above(f64),
    /// This number of the largest eigenvalues.
    Count(usize),
    /// Until the values found sum to this share of that trace.
    Share(f64, f64),
}

/// The leading eigenpairs of an operator.
pub struct Ritz {
    /// The selected eigenvalues in descending order, and the next one.
    pub values: Vec<f64>,
    /// Their eigenvectors, p × `values.len()`, orthonormal columns.
    pub vectors: Mat,
    /// ‖A v − θ v‖ of each pair. It bounds the distance from θ to an eigenvalue.
    pub residuals: Vec<f64>,
    /// d: vectors that the operator was applied to.
    pub dimension: usize,
}

/// The leading eigenpairs of `a`, which must be positive semidefinite, down to `until`. `floor` is the smallest error
/// to aim at, a few eps times the trace: no residual can be pushed below rounding. `None` where there are so many that
/// a dense decomposition is cheaper.
pub fn leading(a: &dyn Operator, until: Until, floor: f64, exec: Exec<'_>) -> Result<Option<Ritz>, Error> {
    let p = a.order();
    if p < 8 * WIDTH {
        return Ok(None);
    }
    let mut basis = Basis::new(p, WIDTH, exec.silent())?;
    let mut search = Search::new(until, floor, p, WIDTH);
    search.has_dense_alternative = a.is_matrix();
    let mut more = 0;
    while !search.dense_is_cheaper() {
        let step = basis.extend(a, more, exec.silent())?;
        more = 0;
        search.add_step(step, exec.silent())?;
        exec.report("converge", search.band.order(), search.expected())?;
        if !search.due()? {
            continue;
        }
        let found = search.decompose(exec.silent())?;
        match search.judge(&found) {
            Verdict::Done(count) => return combine(&basis, &found, count, exec).map(Some),
            Verdict::Crowded(missing) => more = missing,
            Verdict::NotYet => {}
        }
    }
    Ok(None)
}

/// The first `count` Ritz pairs: V = Q Y.
fn combine(basis: &Basis, found: &Projected, count: usize, exec: Exec<'_>) -> Result<Ritz, Error> {
    exec.begin("combine")?;
    let p = basis.columns().nrows();
    let d = found.values.len();
    let mut columns = vec![0.0; p * count];
    let out = MatMut::from_column_major_slice_mut(&mut columns, p, count);
    product(out, Accum::Replace, basis.columns().subcols(0, d), found.vectors.subcols(0, count), 1.0, exec.silent())?;
    let vectors = Mat::from_fn(p, count, |i, j| columns[j * p + i]);
    Ok(Ritz {
        values: found.values[..count].to_vec(),
        vectors,
        residuals: found.residuals[..count].to_vec(),
        dimension: d,
    })
}

#[cfg(test)]
mod tests;
