//! The projection that keeps a graph between the samples: the engine of LPP, NPE and the L1-graph.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X (n × m) | `x` | samples in rows, prepared: perhaps centred, perhaps weighted by √degree |
//! | A (n × n) | `graph` | symmetric; known by its products alone, never as a dense matrix |
//! | U, Σ, Y | | X = YΣUᵀ, without the directions below [`GraphEmbedding::floor`]·σ₁ |
//! | Θ (m × k), s | [`Embedding`] | projection and eigenvalues |
//!
//! ```text
//!     max  θᵀ Xᵀ A X θ    s.t.  ΘᵀXᵀXΘ = I        that is     XᵀAXθ = s XᵀXθ
//! ```
//! With θ = UΣ⁻¹q the constraint reads QᵀQ = I and the problem YᵀAY q = s q: one ordinary eigenproblem of the order of
//! X's rank. Where m > n this is the step that reduces samples to their n (or fewer) principal directions first, unless they
//! are linearly independent: then Y drops out (`independent_samples.rs`).
//!
//! He, Niyogi (2003); Cai, He, Han (2007) — `he2003`, `cai2007` in `docs/references.bib`.

use eigenspan_linalg::dense::product;
use eigenspan_linalg::gram::{Gram, Side};
use eigenspan_linalg::spectrum::{GramSpectrum, Select, fix_signs};
use eigenspan_linalg::symmetric::tridiagonalize;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::independent_samples::Independent;

/// A symmetric matrix over the samples, known by its products.
pub trait Graph: Sync {
    /// A Y.
    fn times(&self, y: &Mat, exec: Exec<'_>) -> Result<Mat, eigenspan_linalg::Error>;
}

/// How long the columns of Θ are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Columns {
    /// ΘᵀXᵀXΘ = I.
    #[default]
    Constraint,
    /// ‖θ‖ = 1, as in the toolbox that the paper's baselines come from.
    Unit,
}

/// What is asked of the engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphEmbedding {
    /// k: how many columns, at most.
    pub dim: usize,
    /// Directions of X with σ at or below this share of σ₁ are left out.
    pub floor: f64,
    /// Columns with an eigenvalue below this are left out; −∞ keeps all.
    pub least: f64,
    /// How long the columns are.
    pub columns: Columns,
}

/// The projection and its eigenvalues, largest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Θ (m × k). The largest entry of each column is positive.
    pub theta: Mat,
    /// s.
    pub values: Vec<f64>,
    /// How many directions of X there were to choose from.
    pub rank: usize,
}

impl GraphEmbedding {
    /// Solves the problem for the samples `x` and their graph.
    pub fn solve(&self, x: &Mat, graph: &dyn Graph, exec: Exec<'_>) -> Result<Embedding, Error> {
        let compressed = GramSpectrum::of(x, exec)?;
        let independent = match compressed.gram() {
            Gram { side: Side::Samples, matrix, .. } => Independent::of(x, matrix, self.floor, exec)?,
            _ => None,
        };
        let (mut theta, mut values, rank) = match independent {
            Some(samples) => samples.embed(graph, self.dim, exec)?,
            None => self.by_directions(x, &compressed, graph, exec)?,
        };
        let kept = values.iter().take_while(|s| **s >= self.least).count();
        values.truncate(kept);
        theta = theta.leading_columns(kept);
        if self.columns == Columns::Unit {
            let lengths = column_lengths(&theta);
            divide_columns(&mut theta, &lengths);
        }
        fix_signs(&mut theta);
        Ok(Embedding { theta, values, rank })
    }

    /// Θ = UΣ⁻¹Q, the eigenvalues and the rank of X.
    fn by_directions(
        &self,
        x: &Mat,
        compressed: &GramSpectrum<'_>,
        graph: &dyn Graph,
        exec: Exec<'_>,
    ) -> Result<(Mat, Vec<f64>, usize), Error> {
        let sigma = compressed.values(exec)?;
        let rank = sigma.iter().take_while(|s| **s > self.floor * sigma[0]).count();
        if rank == 0 {
            return Err(Error::AllZero { n: x.rows(), m: x.cols(), centred: true });
        }
        let leading = compressed.leading(Select::Top(rank), exec)?;
        let mut whitening = leading.basis(rank, exec)?;
        divide_columns(&mut whitening, &leading.sigma[..rank]);
        let y = product(x.view(), whitening.view(), exec)?;
        let s = product(y.view().transposed(), graph.times(&y, exec)?.view(), exec)?;
        let symmetric = Mat::from_fn(rank, rank, |i, j| (s.at(i, j) + s.at(j, i)) / 2.0);
        let eigen = tridiagonalize(symmetric, exec)?.leading(self.dim.min(rank), exec)?;
        Ok((product(whitening.view(), eigen.vectors.view(), exec)?, eigen.values, rank))
    }
}

fn divide_columns(x: &mut Mat, divisors: &[f64]) {
    (0..x.rows()).for_each(|i| x.row_mut(i).iter_mut().zip(divisors).for_each(|(x, d)| *x /= d));
}

fn column_lengths(x: &Mat) -> Vec<f64> {
    let mut squares = vec![0.0; x.cols()];
    (0..x.rows()).for_each(|i| squares.iter_mut().zip(x.row(i)).for_each(|(s, x)| *s += x * x));
    squares.into_iter().map(f64::sqrt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use crate::{Dim, Normalize, PceParams};

    /// A dense symmetric matrix as a graph.
    struct Dense(Mat);

    impl Graph for Dense {
        fn times(&self, y: &Mat, exec: Exec<'_>) -> Result<Mat, eigenspan_linalg::Error> {
            product(self.0.view(), y.view(), exec)
        }
    }

    fn largest(x: &Mat) -> f64 {
        x.as_slice().iter().fold(0.0, |most, v| most.max(v.abs()))
    }

    fn engine(dim: usize) -> GraphEmbedding {
        GraphEmbedding { dim, floor: 1e-5, least: f64::NEG_INFINITY, columns: Columns::Constraint }
    }

    #[test]
    fn the_equation_and_the_constraint_hold_with_more_samples_and_with_more_features() {
        let mut random = Normal::new(4);
        for (n, m) in [(40, 12), (12, 40)] {
            let x = Mat::from_fn(n, m, |_, _| random.draw());
            let a = Mat::from_fn(n, n, |i, j| ((i * j) as f64).cos());
            let found = engine(5).solve(&x, &Dense(a.clone()), Exec::default()).unwrap();
            let times = |a: &Mat, b: &Mat| product(a.view(), b.view(), Exec::default()).unwrap();
            let (xt, z) = (x.transposed(), times(&x, &found.theta));
            let left = times(&xt, &times(&a, &z));
            let right = times(&xt, &z);
            let off = Mat::from_fn(m, 5, |i, j| left.at(i, j) - found.values[j] * right.at(i, j));
            assert!(largest(&off) < 1e-11 * largest(&left), "{n} × {m}: {:e}", largest(&off));
            let gram = times(&z.transposed(), &z);
            let off = Mat::from_fn(5, 5, |i, j| gram.at(i, j) - f64::from(u8::from(i == j)));
            assert!(largest(&off) < 1e-12, "{n} × {m}");
            assert!(found.values.windows(2).all(|w| w[0] >= w[1]));
        }
    }

    #[test]
    fn independent_samples_need_no_directions_and_dependent_ones_do() {
        let mut random = Normal::new(6);
        let mut x = Mat::from_fn(20, 50, |i, _| random.draw() / (1 + i) as f64);
        let graph = Dense(Mat::from_fn(20, 20, |i, j| ((i * j) as f64).cos()));
        let by_directions = |x: &Mat| {
            let compressed = GramSpectrum::of(x, Exec::default()).unwrap();
            engine(4).by_directions(x, &compressed, &graph, Exec::default()).unwrap()
        };
        let found = engine(4).solve(&x, &graph, Exec::default()).unwrap();
        let (mut theta, values, rank) = by_directions(&x);
        fix_signs(&mut theta);
        assert_eq!((found.rank, rank), (20, 20));
        let off = Mat::from_fn(50, 4, |i, j| found.theta.at(i, j) - theta.at(i, j));
        assert!(largest(&off) < 1e-10 * largest(&theta), "{:e}", largest(&off)); // the condition of X is below 1e3
        assert!(values.iter().zip(&found.values).all(|(a, b)| (a - b).abs() < 1e-12));
        let first = x.row(0).to_vec();
        x.row_mut(1).copy_from_slice(&first);
        assert_eq!(engine(4).solve(&x, &graph, Exec::default()).unwrap().rank, 19);
    }

    #[test]
    fn the_graph_of_pce_gives_the_projection_of_pce() {
        let mut random = Normal::new(5);
        let x = Mat::from_fn(30, 18, |_, j| random.draw() / (1 + j) as f64);
        let params = PceParams { dim: Dim::Fixed(6), normalize: Normalize::None, ..PceParams::default() };
        let pce = params.fit(&x).unwrap();
        let c = pce.coefficients(&x, &x).unwrap(); // C + Cᵀ − CCᵀ = C
        let found = engine(6).solve(&x, &Dense(c), Exec::default()).unwrap();
        assert!(found.values.iter().all(|s| (s - 1.0).abs() < 1e-12), "{:?}", found.values);
        // Equal up to a rotation: ΘΘᵀ is the same.
        let square = |t: &Mat| product(t.view(), t.view().transposed(), Exec::default()).unwrap();
        let (ours, theirs) = (square(&found.theta), square(&pce.theta()));
        let off = Mat::from_fn(18, 18, |i, j| ours.at(i, j) - theirs.at(i, j));
        assert!(largest(&off) < 1e-11 * largest(&theirs));
    }
}
