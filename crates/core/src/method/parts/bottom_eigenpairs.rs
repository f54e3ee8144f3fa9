//! The smallest eigenpairs of M = (I − R)ᵀ(I − R) beside the constant vector: what LLE embeds by.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | M (n × n) | [`Reconstruction::m`] | positive semidefinite, few entries, M1 = 0 |
//! | P | `take_constant_away` | I − 11ᵀ/n |
//! | c | `bound` | the largest sum of absolute values in a row of M: no eigenvalue is larger |
//! | ε | `shift` | c · 1e-13, ten times more where rounding asks for it |
//!
//! ```text
//!     few samples      −M − c 11ᵀ/n            dense; its largest eigenvalues are the smallest of M, the constant is last
//!     many             P (M + εI)⁻¹ P          Krylov; a sparse Cholesky factor of M + εI, solved for block after block
//! ```
//! Eigenvalues of interest are often a millionth of c and less. A Krylov space of M itself would have to grow for thousands of
//! steps to tell them apart; of the inverse it takes tens. The factor is sparse where samples lie on a surface of few
//! dimensions and fills up where they do not, up to the n²/2 of a dense one: more than [`MOST`] numbers are refused.
//!
//! The constant vector is taken away by name and not as "the first": where the graph falls into pieces, others are in the
//! null space beside it. λ is measured at the end as ‖(I − R)v‖², which keeps its digits where λ/c is near rounding.

use eigenspan_linalg::krylov::{Operator, Until, leading};
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::sparse_cholesky::{Plan, SparseCholesky};
use eigenspan_linalg::spectrum::fix_signs;
use eigenspan_linalg::symmetric::tridiagonalize;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::reconstruction::Reconstruction;
use crate::method::parts::sparse_graph::SparseGraph;

/// Up to so many samples the dense way is as fast.
const DENSE: usize = 1000;
/// More pairs than this share of the samples are the work of the dense way.
const FEW: usize = 20;
/// Numbers in a factor or a dense matrix, at most: 4 GiB.
const MOST: usize = 1 << 29;
/// ε/c at first.
const SHIFT: f64 = 1e-13;
/// Steps of the power method that find the size of the inverse.
const POWER: usize = 8;

/// The `k` smallest eigenvalues beside that of the constant vector, smallest first, and their vectors (n × k) of length
/// one, the largest entry of each positive.
pub(crate) fn bottom_eigenpairs(graph: &Reconstruction, k: usize, exec: Exec<'_>) -> Result<(Vec<f64>, Mat), Error> {
    bottom(graph, k, DENSE, exec)
}

fn bottom(graph: &Reconstruction, k: usize, dense: usize, exec: Exec<'_>) -> Result<(Vec<f64>, Mat), Error> {
    let (m, n) = (graph.m(exec)?, graph.weights.order());
    let few = if n <= dense || k > n / FEW { None } else { by_inverse(m.clone(), k, exec)? };
    let vectors = match few {
        Some(vectors) => vectors,
        None => by_dense(&m, k, exec)?,
    };
    measured(graph, vectors, exec)
}

fn bound(m: &SparseGraph) -> f64 {
    (0..m.order()).map(|i| m.row(i).map(|(_, w)| w.abs()).sum()).fold(0.0, f64::max)
}

fn allow(what: &'static str, n: usize, numbers: usize) -> Result<(), Error> {
    let size = |numbers: usize| numbers as f64 * 8e-9;
    let refused = Error::TooMuchMemory { what, n, gigabytes: size(numbers), most: size(MOST) };
    if numbers > MOST { Err(refused) } else { Ok(()) }
}

fn by_dense(m: &SparseGraph, k: usize, exec: Exec<'_>) -> Result<Mat, Error> {
    let (n, c) = (m.order(), bound(m));
    allow("a dense eigenproblem", n, n.saturating_mul(n))?;
    let exponent = exponent_of(c);
    let lift = times_power_of_two(c, -exponent) / n as f64;
    let mut lifted = Mat::from_fn(n, n, |_, _| -lift);
    for i in 0..n {
        m.row(i).for_each(|(j, w)| lifted.row_mut(i)[j] -= times_power_of_two(w, -exponent));
    }
    Ok(tridiagonalize(lifted, exec)?.leading(k, exec)?.vectors)
}

/// `None`: there are so many, or so many equal ones, that the dense way is better.
fn by_inverse(m: SparseGraph, k: usize, exec: Exec<'_>) -> Result<Option<Mat>, Error> {
    let (n, c) = (m.order(), bound(&m));
    let plan = Plan::of(m.into_symmetric(), exec)?;
    allow("the sparse factor", n, plan.stored())?;
    let mut shift = SHIFT * c;
    let factor = loop {
        match plan.factor(shift, exec)? {
            Some(factor) => break factor,
            // At ε = c the matrix is far from singular: this ends.
            None => shift *= 10.0,
        }
    };
    let inverse = Inverse { factor, n };
    let floor = 100.0 * f64::EPSILON * inverse.size(exec)?;
    Ok(leading(&inverse, Until::Count(k), floor, exec)?.map(|found| found.vectors.leading_columns(k)))
}

/// P (M + εI)⁻¹ P.
struct Inverse {
    factor: SparseCholesky,
    n: usize,
}

impl Inverse {
    /// About its largest eigenvalue, and not more.
    fn size(&self, exec: Exec<'_>) -> Result<f64, Error> {
        let mut v: Vec<f64> = (0..self.n).map(|i| ((i * i + i) as f64).sin()).collect();
        let mut size = 0.0;
        for _ in 0..POWER {
            let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            v.iter_mut().for_each(|v| *v /= length);
            let mut next = vec![0.0; self.n];
            self.multiply(&v, &mut next, exec)?;
            v = next;
            size = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        }
        Ok(size)
    }
}

impl Operator for Inverse {
    fn order(&self) -> usize {
        self.n
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], exec: Exec<'_>) -> Result<(), eigenspan_linalg::Error> {
        out.copy_from_slice(v);
        take_constant_away(out, self.n);
        self.factor.solve(out, exec)?;
        take_constant_away(out, self.n);
        Ok(())
    }
}

/// P, on every column of n values.
fn take_constant_away(columns: &mut [f64], n: usize) {
    for column in columns.chunks_exact_mut(n) {
        let mean = column.iter().sum::<f64>() / n as f64;
        column.iter_mut().for_each(|v| *v -= mean);
    }
}

/// λ = ‖(I − R)v‖² of each vector, smallest first, and the vectors in that order.
fn measured(graph: &Reconstruction, vectors: Mat, exec: Exec<'_>) -> Result<(Vec<f64>, Mat), Error> {
    let (n, k) = (vectors.rows(), vectors.cols());
    let left = graph.residual(&vectors, exec)?;
    let mut values = vec![0.0; k];
    (0..n).for_each(|i| values.iter_mut().zip(left.row(i)).for_each(|(sum, v)| *sum += v * v));
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut sorted = Mat::from_fn(n, k, |i, j| vectors.at(i, order[j]));
    fix_signs(&mut sorted);
    Ok((order.iter().map(|j| values[*j]).collect(), sorted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use crate::method::parts::neighbours::{Metric, nearest_others};

    fn graph(x: &Mat, k: usize) -> Reconstruction {
        let near = nearest_others(x, k, Metric::Euclidean, Exec::default()).unwrap();
        Reconstruction::of(x, &near, 1e-3, Exec::default()).unwrap()
    }

    /// Samples on a surface in three dimensions, with some noise.
    fn roll(n: usize) -> Mat {
        let mut random = Normal::new(1);
        let mut x = Mat::zeros(n, 3);
        for i in 0..n {
            let (t, h) = (2.0 + 5.0 * random.uniform(), 9.0 * random.uniform());
            let row = [t * t.cos(), h, t * t.sin()];
            x.row_mut(i).iter_mut().zip(row).for_each(|(x, v)| *x = v + 0.05 * random.draw());
        }
        x
    }

    fn dot(a: &Mat, p: usize, b: &Mat, q: usize) -> f64 {
        (0..a.rows()).map(|i| a.at(i, p) * b.at(i, q)).sum()
    }

    #[test]
    fn the_inverse_and_the_dense_way_find_the_same() {
        let graph = graph(&roll(400), 8);
        let (dense, by_dense) = bottom(&graph, 4, 1000, Exec::default()).unwrap();
        let (sparse, by_inverse) = bottom(&graph, 4, 0, Exec::default()).unwrap();
        for j in 0..4 {
            assert!((dense[j] - sparse[j]).abs() < 1e-13, "{dense:?} {sparse:?}"); // rounding of M, whose norm is about 4
            // Their vectors are as far apart as rounding beside the gap to the next eigenvalue, 1e-8 and more.
            assert!((dot(&by_dense, j, &by_inverse, j) - 1.0).abs() < 1e-10, "{j}");
        }
    }

    #[test]
    fn vectors_are_orthonormal_without_a_mean_and_solve_the_equation() {
        let graph = graph(&roll(1300), 8); // the way of many samples
        let (values, v) = bottom_eigenpairs(&graph, 3, Exec::default()).unwrap();
        assert!(values.windows(2).all(|w| w[0] <= w[1]) && values[0] > 0.0);
        let times = graph.m(Exec::default()).unwrap().multiply(&v, Exec::default()).unwrap();
        for j in 0..3 {
            let off = (0..1300).map(|i| (times.at(i, j) - values[j] * v.at(i, j)).powi(2)).sum::<f64>().sqrt();
            assert!(off < 1e-13, "{off:e}");
            assert!((0..1300).map(|i| v.at(i, j)).sum::<f64>().abs() < 1e-10);
            (0..=j).for_each(|q| assert!((dot(&v, j, &v, q) - f64::from(u8::from(j == q))).abs() < 1e-11));
        }
    }

    #[test]
    fn a_graph_in_pieces_has_null_vectors_beside_the_constant_one() {
        let half = roll(150);
        let x = Mat::from_fn(450, 3, |i, j| half.at(i % 150, j) + 1000.0 * (i / 150) as f64);
        let graph = graph(&x, 8);
        for dense in [0, 1000] {
            let (values, v) = bottom(&graph, 3, dense, Exec::default()).unwrap();
            assert!(values[1] < 1e-20 && values[2] > 1e-9, "{dense}: {values:?}");
            // Both are constant on every piece.
            assert!((0..450).all(|i| (0..2).all(|j| (v.at(i, j) - v.at(i / 150 * 150, j)).abs() < 1e-7)));
        }
    }
}
