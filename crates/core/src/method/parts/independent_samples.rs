//! Graph embedding of samples that are linearly independent, as images with more pixels than there are images most often are.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X (n × m) | `x` | samples in rows, of rank n |
//! | G = XXᵀ (n × n) | `gram` | |
//! | A (n × n), V, s | `graph`, `eigen` | the graph, and its own leading eigenvectors and eigenvalues |
//! | Θ (m × k) | `theta` | XᵀG⁻¹V |
//!
//! Of [`graph_embedding`](crate::method::parts::graph_embedding)'s YᵀAYq = sq, with X = YΣUᵀ, the matrix Y is n × n and orthogonal here. So
//! v = Yq is an eigenvector of A itself, and θ = UΣ⁻¹q = UΣ⁻¹Yᵀv = X⁺v, the shortest solution of Xθ = v: one factor of G in
//! place of a decomposition of X. A is as large as G and written out for its eigenvectors; those of most graphs are too close
//! to each other at the upper end for a Krylov space that is much smaller.
//!
//! *That the rank is n* is proved by a Cholesky factor of G − (φ² + rounding)·cI, where c ≥ σ₁² is the largest sum of a row of
//! |G|: every σ is above φσ₁ then. Θ is refined once from V − XΘ, which makes up for the square of X's condition in G
//! (Björck 1987: corrected seminormal equations, `bjorck1987` in `docs/references.bib`).

use eigenspan_linalg::dense::{Cholesky, product};
use eigenspan_linalg::symmetric::{Eigen, tridiagonalize};
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::graph_embedding::Graph;

/// φ, at least: below, G says too little of X's smallest singular values.
const FLOOR: f64 = 1e-5;

/// Samples, and the factor of their Gram matrix.
pub(super) struct Independent<'a> {
    x: &'a Mat,
    factor: Cholesky,
}

impl<'a> Independent<'a> {
    /// `None` where it is not proved that every singular value of `x` is above `floor` times the largest.
    pub fn of(x: &'a Mat, gram: &Mat, floor: f64, exec: Exec<'_>) -> Result<Option<Self>, Error> {
        let n = gram.rows();
        let bound = (0..n).map(|i| gram.row(i).iter().map(|g| g.abs()).sum()).fold(0.0, f64::max);
        let share = floor.max(FLOOR).powi(2) + (n + x.cols()) as f64 * f64::EPSILON;
        let factor = |shift: f64| {
            let mut shifted = gram.clone();
            (0..n).for_each(|i| shifted.row_mut(i)[i] -= shift);
            exec.aside("factor", move || Cholesky::of(shifted))
        };
        let proved = factor(share * bound)?.is_some();
        Ok(if proved { factor(0.0)?.map(|factor| Self { x, factor }) } else { None })
    }

    /// Θ = X⁺V, the eigenvalues and the rank of X.
    pub fn embed(&self, graph: &dyn Graph, k: usize, exec: Exec<'_>) -> Result<(Mat, Vec<f64>, usize), Error> {
        let n = self.x.rows();
        let k = k.min(n);
        let identity = Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
        let a = graph.times(&identity, exec)?;
        let symmetric = Mat::from_fn(n, n, |i, j| (a.at(i, j) + a.at(j, i)) / 2.0);
        let Eigen { values, vectors } = tridiagonalize(symmetric, exec)?.leading(k, exec)?;
        let mut weights = vectors.clone();
        self.factor.solve_all(weights.as_mut_slice(), k);
        let theta = product(self.x.view().transposed(), weights.view(), exec)?;
        let mut rest = product(self.x.view(), theta.view(), exec)?;
        rest.as_mut_slice().iter_mut().zip(vectors.as_slice()).for_each(|(r, v)| *r = v - *r);
        self.factor.solve_all(rest.as_mut_slice(), k);
        weights.as_mut_slice().iter_mut().zip(rest.as_slice()).for_each(|(w, r)| *w += r);
        Ok((product(self.x.view().transposed(), weights.view(), exec)?, values, n))
    }
}
