//! The nearest neighbors of every sample, exact, by products of blocks.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | a, b | rows of `queries`, `points` | samples |
//! | d² | `Found` | ‖a − b‖², from the differences |
//! | d̂² ± ε | `low`, `high` | what one product of blocks tells of d² (`rough.rs`) |
//!
//! The product is fast and loses digits where a and b are close, so it only chooses candidates: all points but those of
//! which it proves that k others are nearer. Distances of candidates are computed from the differences a − b, and
//! sorted; of equal ones the first point wins. So the answer is that of the plain double loop, and does not depend on
//! blocks or threads.
//!
//! Squares that leave the range of `f64` are taken again near one, so that samples of size 1e-200 or 1e200 have the
//! neighbors that they would have after scaling.

mod candidates;
mod rough;

use std::cmp::Ordering;
use std::ops::Range;

use eigenspan_linalg::rows::energy;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::prepare::length_of;
use candidates::Candidates;
use rough::Rough;

/// Queries searched as one piece of work.
const QUERIES: usize = 128;
/// With fewer queries, blocks are not worth making.
const FEW: usize = 4;

/// How far two samples are from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// ‖a − b‖.
    #[default]
    Euclidean,
    /// 1 − aᵀb / (‖a‖ ‖b‖); 1 where one of them is zero.
    Cosine,
}

/// For every query its k nearest points, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    /// Neighbors of a query.
    pub k: usize,
    /// The numbers of the points, k for each query.
    pub index: Vec<usize>,
    /// How far they are: for [`Metric::Euclidean`] the squared distance, or the distance itself from
    /// [`nearest_lengths`]; 1 − cos for [`Metric::Cosine`].
    pub distance: Vec<f64>,
}

impl Neighbours {
    /// The nearest points of query `i`, with their distances.
    pub fn of(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let here = i * self.k..(i + 1) * self.k;
        self.index[here.clone()].iter().copied().zip(self.distance[here].iter().copied())
    }
}

/// The `k` points nearest to each query, or all where there are fewer.
pub fn nearest(points: &Mat, queries: &Mat, k: usize, metric: Metric, exec: Exec<'_>) -> Result<Neighbours, Error> {
    assert_eq!(points.cols(), queries.cols(), "points and queries have the same features");
    let found = search(points, queries, k.min(points.rows()), metric, false, exec)?;
    Ok(found.with(|found| found.square))
}

/// The same with ‖a − b‖ in place of its square, which may be out of range.
pub fn nearest_lengths(
    points: &Mat,
    queries: &Mat,
    k: usize,
    metric: Metric,
    exec: Exec<'_>,
) -> Result<Neighbours, Error> {
    assert_eq!(points.cols(), queries.cols(), "points and queries have the same features");
    Ok(search(points, queries, k.min(points.rows()), metric, false, exec)?.with(|found| found.length))
}

/// The `k` points nearest to each of the points, itself left out by its number; all others where there are fewer.
pub fn nearest_others(points: &Mat, k: usize, metric: Metric, exec: Exec<'_>) -> Result<Neighbours, Error> {
    let found = search(points, points, k.min(points.rows().saturating_sub(1)), metric, true, exec)?;
    Ok(found.with(|found| found.square))
}

/// The same with ‖a − b‖ in place of its square.
pub fn nearest_other_lengths(points: &Mat, k: usize, metric: Metric, exec: Exec<'_>) -> Result<Neighbours, Error> {
    let found = search(points, points, k.min(points.rows().saturating_sub(1)), metric, true, exec)?;
    Ok(found.with(|found| found.length))
}

fn search(points: &Mat, queries: &Mat, k: usize, metric: Metric, others: bool, exec: Exec<'_>) -> Result<All, Error> {
    let n = if k > 0 { queries.rows() } else { 0 };
    let (points, queries) = (&Rows::new(points, metric), &Rows::new(queries, metric));
    let rough = if n < FEW { None } else { Rough::new(points, exec)? };
    let search = Search { points, queries, rough, k, others };
    let pieces = exec.map("neighbours", n.div_ceil(QUERIES), |piece| {
        search.of_rows(piece * QUERIES..((piece + 1) * QUERIES).min(n))
    })?;
    Ok(All { k, found: pieces.into_iter().flatten().collect() })
}

/// The neighbors of all queries.
struct All {
    k: usize,
    found: Vec<Found>,
}

impl All {
    fn with(&self, distance: impl Fn(&Found) -> f64) -> Neighbours {
        let index = self.found.iter().map(|found| found.index).collect();
        Neighbours { k: self.k, index, distance: self.found.iter().map(distance).collect() }
    }
}

/// A point, and how far it is from a query.
#[derive(Debug, Clone, Copy)]
struct Found {
    index: usize,
    /// ‖a − b‖², where that is in range; 1 − cos.
    square: f64,
    /// ‖a − b‖; 1 − cos.
    length: f64,
    /// Not less than the square in the units of [`Rough`].
    bound: f64,
}

impl Found {
    /// Nearer first, of equal ones the first. Two squares may have one root, so they decide where lengths are equal.
    fn order(&self, other: &Self) -> Ordering {
        let lengths = self.length.total_cmp(&other.length);
        lengths.then(self.square.total_cmp(&other.square)).then(self.index.cmp(&other.index))
    }
}

/// Samples, or their directions.
struct Rows<'a> {
    matrix: &'a Mat,
    metric: Metric,
    /// ‖b‖ for the cosine; nothing otherwise.
    lengths: Vec<f64>,
}

impl<'a> Rows<'a> {
    fn new(matrix: &'a Mat, metric: Metric) -> Self {
        let lengths = match metric {
            Metric::Euclidean => vec![],
            Metric::Cosine => (0..matrix.rows()).map(|i| length_of(matrix.row(i), square_of(matrix.row(i)))).collect(),
        };
        Self { matrix, metric, lengths }
    }

    /// What row `i` is divided by.
    fn divisor(&self, i: usize) -> f64 {
        self.lengths.get(i).copied().unwrap_or(1.0)
    }

    /// Whether row `i` has no direction where one is requested.
    fn is_lost(&self, i: usize) -> bool {
        self.divisor(i) == 0.0
    }

    /// Row `i` less `other` / `divisor`.
    fn less(&self, i: usize, other: &[f64], divisor: f64, out: &mut [f64]) {
        let (row, own) = (self.matrix.row(i), self.divisor(i));
        let both = out.iter_mut().zip(row.iter().zip(other));
        match self.metric {
            Metric::Euclidean => both.for_each(|(out, (a, b))| *out = a - b),
            Metric::Cosine => both.for_each(|(out, (a, b))| *out = a / own - b / divisor),
        }
    }
}

/// Σy², of no features too.
fn square_of(row: &[f64]) -> f64 {
    if row.is_empty() { 0.0 } else { energy(row) }
}

struct Search<'a> {
    points: &'a Rows<'a>,
    queries: &'a Rows<'a>,
    /// Nothing where it is not worth its making, or has nothing to tell.
    rough: Option<Rough>,
    k: usize,
    others: bool,
}

impl Search<'_> {
    /// Neighbors of some queries, one query after the other.
    fn of_rows(&self, rows: Range<usize>) -> Vec<Found> {
        let mut difference = vec![0.0; self.points.matrix.cols()];
        let mut found: Vec<Candidates> = rows.clone().map(|_| Candidates::new(self.k)).collect();
        let mut offer = |at: usize, j: usize, low: f64, high: f64| {
            let query = rows.start + at;
            if !(self.others && j == query) {
                found[at].offer(low, high, j, |j| self.measure(query, j, &mut difference));
            }
            found[at].limit
        };
        match &self.rough {
            Some(rough) => rough.sift(self.queries, rows.clone(), offer),
            None => (0..rows.len()).for_each(|at| {
                (0..self.points.matrix.rows()).for_each(|j| {
                    offer(at, j, f64::NEG_INFINITY, f64::INFINITY);
                });
            }),
        }
        let mut finish =
            |(query, found): (usize, Candidates)| found.finish(|j| self.measure(query, j, &mut difference));
        rows.zip(found).flat_map(&mut finish).collect()
    }

    /// How far point `j` is from a query, from the difference of the two.
    fn measure(&self, query: usize, j: usize, difference: &mut [f64]) -> Found {
        let bound = |length: f64| self.rough.as_ref().map_or(f64::INFINITY, |rough| rough.above(length));
        if self.queries.is_lost(query) || self.points.is_lost(j) {
            return Found { index: j, square: 1.0, length: 1.0, bound: bound(2f64.sqrt()) };
        }
        self.queries.less(query, self.points.matrix.row(j), self.points.divisor(j), difference);
        let square = square_of(difference);
        match self.points.metric {
            Metric::Euclidean => {
                let length = length_of(difference, square);
                // Out of range, the square has lost what the length has not.
                let square = if (1e-240..1e240).contains(&square) { square } else { length * length };
                Found { index: j, square, length, bound: bound(length) }
            }
            // For unit vectors 1 − aᵀb is half their squared distance, without cancellation.
            Metric::Cosine => {
                Found { index: j, square: square / 2.0, length: square / 2.0, bound: bound(square.sqrt()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use eigenspan_linalg::Quiet;
    use eigenspan_linalg::scale::times_power_of_two;
    use std::num::NonZero;

    fn normal(n: usize, m: usize, seed: u64) -> Mat {
        let mut random = Normal::new(seed);
        Mat::from_fn(n, m, |_, _| random.draw())
    }

    /// The k nearest by a plain double loop.
    fn plain(points: &Mat, queries: &Mat, k: usize, metric: Metric, others: bool) -> Neighbours {
        let (mut index, mut distance) = (vec![], vec![]);
        let (points, queries) = (&Rows::new(points, metric), &Rows::new(queries, metric));
        let search = Search { points, queries, rough: None, k, others };
        for i in 0..queries.matrix.rows() {
            let mut all: Vec<(f64, usize)> = (0..points.matrix.rows())
                .filter(|j| !others || *j != i)
                .map(|j| (search.measure(i, j, &mut vec![0.0; points.matrix.cols()]).square, j))
                .collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            index.extend(all[..k].iter().map(|(_, j)| *j));
            distance.extend(all[..k].iter().map(|(d, _)| *d));
        }
        Neighbours { k, index, distance }
    }

    #[test]
    fn they_are_those_of_the_plain_double_loop_with_ties_duplicates_offsets_and_clusters() {
        let base = normal(600, 3, 1);
        let coarse = Mat::from_fn(600, 3, |i, j| (base.at(i, j) * 2.0).round()); // many ties, duplicates and zero samples
        let far = Mat::from_fn(600, 3, |i, j| 1e7 + base.at(i, j)); // ‖a‖² + ‖b‖² − 2aᵀb has no digit left
        let clusters = Mat::from_fn(600, 3, |i, j| base.at(i, j) + 1e6 * (i % 2) as f64); // nor here, with c taken away
        let alike = Mat::from_fn(600, 3, |_, j| j as f64 + 0.1);
        let outlier = Mat::from_fn(600, 3, |i, j| base.at(i, j) * if i == 77 { 1e30 } else { 1.0 });
        for points in [base, coarse, far, clusters, alike, outlier] {
            let queries = points.select_rows(&(0..200).rev().collect::<Vec<_>>());
            for metric in [Metric::Euclidean, Metric::Cosine] {
                for k in [1, 7] {
                    let found = nearest(&points, &queries, k, metric, Exec::default()).unwrap();
                    assert_eq!(found, plain(&points, &queries, k, metric, false));
                    let found = nearest_others(&points, k, metric, Exec::default()).unwrap();
                    assert_eq!(found, plain(&points, &points, k, metric, true));
                }
            }
        }
    }

    #[test]
    fn distances_are_those_of_the_definition_and_lengths_are_their_roots() {
        let (points, queries) = (normal(300, 40, 2), normal(30, 40, 3));
        let squares = nearest(&points, &queries, 5, Metric::Euclidean, Exec::default()).unwrap();
        let lengths = nearest_lengths(&points, &queries, 5, Metric::Euclidean, Exec::default()).unwrap();
        let cosines = nearest(&points, &queries, 5, Metric::Cosine, Exec::default()).unwrap();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for i in 0..30 {
            let a = queries.row(i);
            for ((j, square), (same, length)) in squares.of(i).zip(lengths.of(i)) {
                let want: f64 = a.iter().zip(points.row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
                assert!((square / want - 1.0).abs() < 1e-14 && same == j && length == square.sqrt());
            }
            for (j, cosine) in cosines.of(i) {
                let b = points.row(j);
                assert!((1.0 - dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() - cosine).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn numbers_whose_squares_leave_the_range_have_the_neighbours_of_the_same_numbers_near_one() {
        let (points, queries) = (normal(300, 5, 4), normal(40, 5, 5));
        let scaled = |x: &Mat, e: i32| Mat::from_fn(x.rows(), 5, |i, j| times_power_of_two(x.at(i, j), e));
        for metric in [Metric::Euclidean, Metric::Cosine] {
            let want = nearest_lengths(&points, &queries, 4, metric, Exec::default()).unwrap();
            for exponent in [-900, -665, -540, 540, 900] {
                let (points, queries) = (scaled(&points, exponent), scaled(&queries, exponent));
                let found = nearest_lengths(&points, &queries, 4, metric, Exec::default()).unwrap();
                assert_eq!(found.index, want.index);
                let back = if metric == Metric::Euclidean { -exponent } else { 0 };
                for (found, want) in found.distance.iter().zip(&want.distance) {
                    assert!((times_power_of_two(*found, back) / want - 1.0).abs() < 1e-14);
                }
                // Squares are zero or infinite; the order is that of the lengths all the same.
                assert_eq!(nearest(&points, &queries, 4, metric, Exec::default()).unwrap().index, want.index);
            }
        }
        // Queries of a size that has nothing to do with that of the points.
        let mixed = Mat::from_fn(40, 5, |i, j| queries.at(i, j) * [1.0, 1e-250, 1e40, 1e250][i % 4]);
        let few = |some: &[usize]| nearest(&points, &mixed.select_rows(some), 4, Metric::Euclidean, Exec::default());
        let found = few(&(0..40).collect::<Vec<_>>()).unwrap();
        for i in 0..40 {
            assert_eq!(found.index[4 * i..4 * i + 4], few(&[i]).unwrap().index, "query {i}: all points were measured");
        }
    }

    #[test]
    fn threads_and_company_change_nothing() {
        let points = Mat::from_fn(1500, 20, |i, j| ((i * 7 + j * 13) % 11) as f64);
        let on = |threads, queries: &Mat| {
            nearest(&points, queries, 9, Metric::Euclidean, Exec::new(NonZero::new(threads), &Quiet)).unwrap()
        };
        let one = on(1, &points);
        assert!([2, 3].into_iter().all(|threads| on(threads, &points) == one));
        let alone = on(1, &points.select_rows(&[700]));
        assert_eq!(alone.index, one.index[9 * 700..9 * 701]);
    }

    #[test]
    fn fewer_points_than_neighbours_are_all_neighbours() {
        let points = Mat::from_fn(3, 1, |i, _| i as f64);
        let others = |points: &Mat, k| nearest_others(points, k, Metric::Euclidean, Exec::default()).unwrap().index;
        assert_eq!(others(&points, 9), [1, 2, 0, 2, 1, 0]);
        assert_eq!(nearest(&points, &points, 9, Metric::Euclidean, Exec::default()).unwrap().k, 3);
        for nothing in [Mat::zeros(1, 1), Mat::zeros(0, 2)] {
            assert_eq!(others(&nothing, 2), [] as [usize; 0]);
        }
        assert_eq!(others(&points, 0), [] as [usize; 0]);
        assert_eq!(others(&Mat::zeros(6, 0), 1), [1, 0, 0, 0, 0, 0], "no features: all samples are alike");
    }

    #[test]
    fn a_zero_sample_is_at_cosine_distance_one_from_all() {
        let points = Mat::from_vec(4, 2, vec![0.0, 0.0, 1.0, 1.0, -1.0, -1.0, 0.0, 0.0]).unwrap();
        for queries in [points.clone(), points.select_rows(&[0, 1])] {
            let found = nearest(&points, &queries, 4, Metric::Cosine, Exec::default()).unwrap();
            assert_eq!((&found.index[..4], &found.distance[..4]), (&[0, 1, 2, 3][..], &[1.0; 4][..]));
            assert_eq!(found.index[4..8], [1, 0, 3, 2]);
        }
    }
}
