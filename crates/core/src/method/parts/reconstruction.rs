//! Every sample as a combination of others: of its nearest ones in NPE and LLE, of few in the L1-graph.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | N(i) | `neighbours` | the k samples nearest to xᵢ |
//! | Z (k × m) | `shifted` | xⱼ − xᵢ, j ∈ N(i) |
//! | G (k × k) | `gram` | ZZᵀ / tr ZZᵀ |
//! | ε | `ridge` | what is added to the diagonal of G |
//! | R (n × n) | [`Reconstruction::weights`] | row i holds the weights of sample i: xᵢ ≈ Σⱼ rᵢⱼ xⱼ. The papers' W is Rᵀ in NPE, R in LLE |
//! | M (n × n) | | (I − R)ᵀ(I − R) |
//!
//! ```text
//!     min ‖xᵢ − Σⱼ rᵢⱼ xⱼ‖²  s.t.  Σⱼ rᵢⱼ = 1        ⇒        (G + εI) w = 1,    rᵢ = w / Σw
//! ```
//! As rows of R sum to one, M1 = 0. A Gram matrix that has no Cholesky factor even so gets a larger ridge; where all
//! neighbors lie upon the sample, any weights are right and they are equal.
//!
//! Roweis, Saul (2000) — `roweis2000` in `docs/references.bib`.

use eigenspan_linalg::dense::{Cholesky, multiply};
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::graph_embedding::Graph;
use crate::method::parts::neighbours::Neighbours;
use crate::method::parts::sparse_graph::SparseGraph;

/// Samples whose weights are one piece of work.
const SLAB: usize = 64;
/// A trace below this has lost its digits: distances of which are not distinguishable from zero.
const NOTHING: f64 = 1e-280;

/// The weights by which samples are made of their neighbors.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconstruction {
    /// R.
    pub weights: SparseGraph,
    /// Rᵀ.
    pub transposed: SparseGraph,
}

impl Reconstruction {
    /// The weights of the rows of `x` for these neighbors, with the share `ridge` of its trace added to every Gram
    /// matrix.
    pub fn of(x: &Mat, neighbours: &Neighbours, ridge: f64, exec: Exec<'_>) -> Result<Self, Error> {
        let n = x.rows();
        let pieces = exec.map("weights", n.div_ceil(SLAB), |piece| {
            let some = piece * SLAB..((piece + 1) * SLAB).min(n);
            some.map(|i| weights_of(x, i, neighbours, ridge)).collect::<Vec<_>>()
        })?;
        Ok(SparseGraph::from_rows(pieces.into_iter().flatten().collect()).into())
    }

    /// (I − R) Y: what is left of each sample of an embedding Y.
    pub fn residual(&self, y: &Mat, exec: Exec<'_>) -> Result<Mat, eigenspan_linalg::Error> {
        let mut left = self.weights.multiply(y, exec)?;
        left.as_mut_slice().iter_mut().zip(y.as_slice()).for_each(|(left, y)| *left = y - *left);
        Ok(left)
    }

    /// M.
    pub fn m(&self, exec: Exec<'_>) -> Result<SparseGraph, Error> {
        let n = self.weights.order();
        // No sample is its own neighbor: the place on the diagonal is free.
        let row = |i: usize| self.weights.row(i).map(|(j, w)| (j, -w)).chain([(i, 1.0)]).collect();
        SparseGraph::from_rows((0..n).map(row).collect()).gram(exec)
    }
}

/// With R given.
impl From<SparseGraph> for Reconstruction {
    fn from(weights: SparseGraph) -> Self {
        Self { transposed: weights.transposed(), weights }
    }
}

/// I − M = R + Rᵀ − RᵀR, by products with R and Rᵀ.
impl Graph for Reconstruction {
    fn times(&self, y: &Mat, exec: Exec<'_>) -> Result<Mat, eigenspan_linalg::Error> {
        let left = self.residual(y, exec)?;
        let mut out = self.transposed.multiply(&left, exec)?;
        let terms = y.as_slice().iter().zip(left.as_slice());
        out.as_mut_slice().iter_mut().zip(terms).for_each(|(out, (y, left))| *out += y - left);
        Ok(out)
    }
}

fn weights_of(x: &Mat, i: usize, neighbours: &Neighbours, ridge: f64) -> Vec<(usize, f64)> {
    let (k, m) = (neighbours.k, x.cols());
    let mut shifted = Mat::zeros(k, m);
    for (to, (j, _)) in neighbours.of(i).enumerate() {
        shifted.row_mut(to).iter_mut().zip(x.row(j).iter().zip(x.row(i))).for_each(|(z, (b, a))| *z = b - a);
    }
    let mut gram = Mat::zeros(k, k);
    multiply(shifted.view(), shifted.view().transposed(), gram.as_mut_slice());
    neighbours.of(i).map(|(j, _)| j).zip(affine_weights(gram, ridge)).collect()
}

/// w with (G/tr G + εI) w = 1, scaled to sum to one.
fn affine_weights(mut gram: Mat, ridge: f64) -> Vec<f64> {
    let k = gram.rows();
    let trace: f64 = (0..k).map(|j| gram.at(j, j)).sum();
    if trace < NOTHING {
        return vec![1.0 / k as f64; k];
    }
    gram.as_mut_slice().iter_mut().for_each(|g| *g /= trace);
    let mut ridge = ridge;
    loop {
        let mut shifted = gram.clone();
        (0..k).for_each(|j| shifted.row_mut(j)[j] += ridge);
        if let Some(factor) = Cholesky::of(shifted) {
            let mut w = vec![1.0; k];
            factor.solve(&mut w);
            let sum: f64 = w.iter().sum();
            w.iter_mut().for_each(|w| *w /= sum);
            if w.iter().all(|w| w.is_finite()) {
                return w;
            }
        }
        // At ε = 1 the matrix is far from singular: this ends.
        ridge = (10.0 * ridge).max(1e-14);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use crate::method::parts::neighbours::{Metric, nearest_others};

    fn of(x: &Mat, k: usize, ridge: f64) -> Reconstruction {
        let neighbours = nearest_others(x, k, Metric::Euclidean, Exec::default()).unwrap();
        Reconstruction::of(x, &neighbours, ridge, Exec::default()).unwrap()
    }

    #[test]
    fn weights_sum_to_one_and_m_of_the_constant_vector_is_zero_even_with_duplicates() {
        let mut random = Normal::new(1);
        let mut x = Mat::from_fn(60, 3, |_, _| random.draw());
        for i in 0..20 {
            let copy = x.row(i % 2).to_vec();
            x.row_mut(40 + i).copy_from_slice(&copy); // some have all their neighbours upon them
        }
        for ridge in [0.0, 1e-12, 1e-3] {
            let found = of(&x, 6, ridge);
            assert!(found.weights.row_sums().iter().all(|sum| (sum - 1.0).abs() < 1e-12), "{ridge}");
            let ones = Mat::from_fn(60, 1, |_, _| 1.0);
            let kept = found.times(&ones, Exec::default()).unwrap();
            let weight = found.weights.row_sums().len() as f64 * 1e-12;
            assert!(kept.as_slice().iter().all(|v| (v - 1.0).abs() < weight), "{ridge}");
        }
    }

    #[test]
    fn a_sample_within_the_span_of_its_neighbours_is_reconstructed() {
        // Evenly spaced on a line: each inner sample is the mean of the two beside it.
        let x = Mat::from_fn(9, 2, |i, j| (i as f64) * (1.0 + j as f64));
        let found = of(&x, 2, 1e-12);
        let left = found.residual(&x, Exec::default()).unwrap();
        assert!((1..8).all(|i| left.row(i).iter().all(|v| v.abs() < 1e-9)));
        assert!(found.weights.row(4).all(|(j, w)| (j == 3 || j == 5) && (w - 0.5).abs() < 1e-9));
    }

    #[test]
    fn weights_minimise_the_error_of_the_reconstruction() {
        let mut random = Normal::new(7);
        let x = Mat::from_fn(30, 8, |_, _| random.draw());
        let found = of(&x, 4, 0.0);
        let error = |i: usize, w: &[(usize, f64)]| {
            (0..8).map(|f| (x.at(i, f) - w.iter().map(|(j, w)| w * x.at(*j, f)).sum::<f64>()).powi(2)).sum::<f64>()
        };
        for i in 0..30 {
            let w: Vec<_> = found.weights.row(i).collect();
            let best = error(i, &w);
            for (a, b) in [(0, 1), (1, 2), (3, 0)] {
                let mut other = w.clone();
                other[a].1 += 1e-3;
                other[b].1 -= 1e-3;
                assert!(error(i, &other) > best);
            }
        }
    }
}
