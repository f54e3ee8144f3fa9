//! The distinct samples, and their distances to their nearest neighbors: computed once, for every estimator.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | x₁ … x_n | `points` | samples without exact copies |
//! | T₁ ≤ … ≤ T_k | [`Near::distances`] | distances of a sample to its nearest neighbors |
//!
//! A copy is at distance zero from its original, and log T₁ would be −∞. The multiplicity of a sample contains no
//! information about the space it lies in, so copies are dropped before the neighbor search. Neighbors are exact, so
//! that those of a smaller k are the first of a larger one, to the bit.

use std::collections::HashMap;

use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::data::Samples;
use crate::method::parts::neighbours::{Metric, Neighbours, nearest_other_lengths};
use crate::prepare::{Normalize, Preparation, Scan};
use crate::warning::Warning;

/// Distinct samples, and their neighbors.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    points: Mat,
    /// For every sample the index of its point.
    point_of: Vec<usize>,
    found: Neighbours,
}

impl Near {
    /// Searches `k` neighbors of every sample. NaN and infinity are refused with their position.
    pub fn of<'a>(samples: impl Into<Samples<'a>>, k: usize, exec: Exec<'_>) -> Result<Self, Error> {
        let samples = samples.into();
        Scan::of(samples, exec)?;
        let all = Preparation::scaling(Normalize::None).matrix(samples, exec)?;
        let (kept, point_of) = first_of_copies(&all);
        let points = if kept.len() < all.rows() { all.select_rows(&kept) } else { all };
        let found = nearest_other_lengths(&points, k, Metric::Euclidean, exec)?;
        Ok(Self { points, point_of, found })
    }

    /// The same for points that are distinct.
    pub(crate) fn of_points(points: Mat, k: usize, exec: Exec<'_>) -> Result<Self, Error> {
        let found = nearest_other_lengths(&points, k, Metric::Euclidean, exec.silent())?;
        Ok(Self { point_of: (0..points.rows()).collect(), points, found })
    }

    /// The distinct samples.
    pub fn points(&self) -> &Mat {
        &self.points
    }

    /// The number of neighbors of each point.
    pub fn neighbours(&self) -> usize {
        self.found.k
    }

    /// T₁ ≤ … ≤ T_k of point `i`.
    pub fn distances(&self, i: usize) -> &[f64] {
        &self.found.distance[i * self.found.k..][..self.found.k]
    }

    /// The indices of its neighbors, nearest first.
    pub fn indices(&self, i: usize) -> &[usize] {
        &self.found.index[i * self.found.k..][..self.found.k]
    }

    /// Refuses fewer than `k` neighbors of each point.
    pub(crate) fn check(&self, k: usize) -> Result<(), Error> {
        let got = self.points.rows();
        if got < k + 1 {
            return Err(Error::TooFewSamples { needed: k + 1, why: "that differ, for as many neighbors", got });
        }
        assert!(self.found.k >= k, "{k} neighbors were searched");
        Ok(())
    }

    /// Values per point as values per sample: copies have that of their original.
    pub(crate) fn of_samples(&self, of_points: &[f64]) -> Vec<f64> {
        self.point_of.iter().map(|&point| of_points[point]).collect()
    }

    /// A warning with the number of copies, where there are any.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        match self.point_of.len() - self.points.rows() {
            0 => vec![],
            count => vec![Warning::Copies { count }],
        }
    }
}

/// The rows that are no copy of an earlier one; for every row its index among them.
fn first_of_copies(rows: &Mat) -> (Vec<usize>, Vec<usize>) {
    let mut place: HashMap<Vec<u64>, usize> = HashMap::with_capacity(rows.rows());
    let (mut kept, mut point_of) = (vec![], Vec::with_capacity(rows.rows()));
    for i in 0..rows.rows() {
        // 0 and −0 are the same number.
        let bits = rows.row(i).iter().map(|y| (y + 0.0).to_bits()).collect();
        let point = *place.entry(bits).or_insert_with(|| {
            kept.push(i);
            kept.len() - 1
        });
        point_of.push(point);
    }
    (kept, point_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_left_out_and_have_the_number_of_their_original() {
        let x = Mat::from_vec(5, 2, vec![0.0, 1.0, 2.0, 2.0, -0.0, 1.0, 3.0, 0.0, 2.0, 2.0]).unwrap();
        let near = Near::of(&x, 2, Exec::default()).unwrap();
        assert_eq!(near.points().as_slice(), [0.0, 1.0, 2.0, 2.0, 3.0, 0.0]);
        assert_eq!(near.of_samples(&[7.0, 8.0, 9.0]), [7.0, 8.0, 7.0, 9.0, 8.0]);
        assert_eq!(near.warnings(), [Warning::Copies { count: 2 }]);
        assert_eq!(near.distances(0), [5f64.sqrt(), 10f64.sqrt()]);
        assert_eq!(near.indices(0), [1, 2]);
        assert!(near.check(3).is_err() && near.check(2).is_ok());
    }
}
