//! The graph that joins every sample to its nearest ones.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | N(i) | `nearest_others` | the k samples nearest to sample i, itself left out by its number |
//! | W (n × n) | [`NeighbourGraph::weights`] | wᵢⱼ > 0 where j ∈ N(i) or i ∈ N(j); symmetric, the diagonal is zero |
//! | t | [`NeighbourGraph::t`] | the width of the heat kernel |
//!
//! ```text
//!     heat    wᵢⱼ = exp(−‖xᵢ − xⱼ‖² / 2t²)         binary    wᵢⱼ = 1         cosine    wᵢⱼ = max(0, cos(xᵢ, xⱼ))
//! ```
//! Where t is not given it is the mean distance of all pairs of samples, of each with itself too: the default of the
//! toolbox that the paper's baselines come from. Of more than 3000 samples it takes 3000 at random; we take 3000 that are
//! evenly spaced, so that the result needs no seed. Neighbours are the nearest by Euclidean distance, for cosine weights
//! by the angle. A negative cosine counts as no edge: a degree must not be negative.

use eigenspan_linalg::dense::multiply;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::neighbours::{Metric, nearest_others};
use crate::method::parts::sparse_graph::SparseGraph;

/// The mean distance is that of so many samples at most.
const MOST: usize = 3000;
/// Samples whose distances are added up as one piece of work.
const STRETCH: usize = 128;

/// How strongly two neighbours are joined.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(from = "crate::settings::EdgesForm", into = "crate::settings::EdgesForm")]
pub enum EdgeWeights {
    /// exp(−d²/2t²).
    Heat {
        /// The width, in the units of the prepared samples; `None`: their mean distance.
        t: Option<f64>,
    },
    /// 1.
    Binary,
    /// The cosine of the angle between the two; none where it is negative.
    Cosine,
}

impl Default for EdgeWeights {
    /// The heat kernel of the mean distance.
    fn default() -> Self {
        Self::Heat { t: None }
    }
}

impl EdgeWeights {
    /// Refuses a width that is none.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Heat { t: Some(t) } if !(*t > 0.0 && t.is_finite()) => {
                Err(Error::Parameter { name: "t", expected: "above 0", got: *t })
            }
            _ => Ok(()),
        }
    }
}

/// The graph of nearest samples.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighbourGraph {
    /// W.
    pub weights: SparseGraph,
    /// k, no more than there are other samples.
    pub k: usize,
    /// The width of the heat kernel, where that was asked for.
    pub t: Option<f64>,
}

impl NeighbourGraph {
    /// Joins each row of `x` to the `k` rows nearest to it.
    pub fn of(x: &Mat, k: usize, weights: EdgeWeights, exec: Exec<'_>) -> Result<Self, Error> {
        weights.check()?;
        let metric = if weights == EdgeWeights::Cosine { Metric::Cosine } else { Metric::Euclidean };
        let found = nearest_others(x, k, metric, exec)?;
        let t = match weights {
            EdgeWeights::Heat { t: None } => Some(mean_distance(x, exec)?),
            EdgeWeights::Heat { t } => t,
            _ => None,
        };
        let weight = |distance: f64| match (weights, t) {
            (EdgeWeights::Cosine, _) => 1.0 - distance,
            (EdgeWeights::Heat { .. }, Some(t)) if distance > 0.0 => (-(distance.sqrt() / t).powi(2) / 2.0).exp(),
            _ => 1.0,
        };
        let row = |i: usize| found.of(i).map(|(j, distance)| (j, weight(distance))).collect();
        let one_way = SparseGraph::from_rows((0..x.rows()).map(row).collect());
        Ok(Self { weights: one_way.either_way(), k: found.k, t })
    }
}

/// The mean of ‖xᵢ − xⱼ‖ over all pairs (i, j), i = j too, of at most [`MOST`] rows.
fn mean_distance(x: &Mat, exec: Exec<'_>) -> Result<f64, Error> {
    let count = x.rows().min(MOST);
    let mut x = x.select_rows(&(0..count).map(|i| i * x.rows() / count).collect::<Vec<_>>());
    // A distance does not change when the origin is moved among the samples, and ‖a‖² + ‖b‖² − 2aᵀb loses fewer digits.
    let origin = mean_of(&x);
    (0..count).for_each(|i| x.row_mut(i).iter_mut().zip(&origin).for_each(|(x, o)| *x -= o));
    let squares: Vec<f64> = (0..count).map(|i| x.row(i).iter().map(|v| v * v).sum()).collect();
    let sums = exec.map("distances", count.div_ceil(STRETCH), |part| {
        // Distances are symmetric: each piece meets itself and the pieces after it, and those count twice.
        let rows = part * STRETCH..((part + 1) * STRETCH).min(count);
        let mut products = vec![0.0; rows.len() * (count - rows.start)];
        multiply(x.view().some_rows(rows.clone()), x.view().some_rows(rows.start..count).transposed(), &mut products);
        let mut sum = 0.0;
        for (i, products) in rows.clone().zip(products.chunks_exact(count - rows.start)) {
            for (j, ab) in (rows.start..count).zip(products).filter(|(j, _)| *j != i) {
                let distance = (squares[i] + squares[j] - 2.0 * ab).max(0.0).sqrt();
                sum += if j < rows.end { distance } else { 2.0 * distance };
            }
        }
        sum
    })?;
    Ok(sums.iter().sum::<f64>() / (count * count) as f64)
}

fn mean_of(x: &Mat) -> Vec<f64> {
    let mut mean = vec![0.0; x.cols()];
    (0..x.rows()).for_each(|i| mean.iter_mut().zip(x.row(i)).for_each(|(sum, v)| *sum += v));
    mean.iter_mut().for_each(|sum| *sum /= x.rows() as f64);
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;

    #[test]
    fn the_mean_distance_is_that_of_the_plain_double_loop_even_far_from_the_origin() {
        let mut random = Normal::new(2);
        let x = Mat::from_fn(300, 4, |_, _| 1e6 + random.draw());
        let distance =
            |i: usize, j: usize| x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let plain = (0..300).flat_map(|i| (0..300).map(move |j| distance(i, j))).sum::<f64>() / 9e4;
        let found = mean_distance(&x, Exec::default()).unwrap();
        assert!((found / plain - 1.0).abs() < 1e-9, "{found} {plain}"); // 1e6 + x is rounded by 1e-10
    }

    #[test]
    fn samples_that_are_all_the_same_are_joined_with_weight_one() {
        let x = Mat::from_fn(4, 2, |_, _| 3.0);
        let graph = NeighbourGraph::of(&x, 2, EdgeWeights::default(), Exec::default()).unwrap();
        assert_eq!(graph.t, Some(0.0));
        assert!((0..4).all(|i| graph.weights.row(i).all(|(j, w)| j != i && w == 1.0)));
    }

    #[test]
    fn a_width_that_is_none_is_refused() {
        for t in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(EdgeWeights::Heat { t: Some(t) }.check().is_err());
        }
    }
}
