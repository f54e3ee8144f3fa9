//! Statistics of balls as a smooth function of their dimension and of the number of points: FastDANCo's calibration.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | d | [`DIMENSIONS`] | dimensions of the balls |
//! | N | [`SIZES`] | numbers of points |
//! | d̂, μ, τ | `means` | statistics, means over `draws` balls |
//!
//! Natural cubic splines over d, and then over log N, interpolate the means and extrapolate linearly.

use eigenspan_linalg::Exec;

use super::angles::VonMises;
use super::ball::{BallStatistics, mixed, points};
use super::near::Near;
use super::spline::Spline;
use crate::Error;

/// Dimensions of the balls. One is excluded: angles on a line have no von Mises distribution.
const DIMENSIONS: [usize; 17] = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100];
/// Points of a ball.
const SIZES: [usize; 6] = [50, 100, 200, 500, 1000, 2000];

/// Mean statistics of balls.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceFit {
    k: usize,
    seed: u64,
    draws: usize,
    dimensions: Vec<usize>,
    sizes: Vec<usize>,
    /// d̂, μ and τ: dimension by dimension for the first size, then for the next.
    means: Vec<[f64; 3]>,
}

impl ReferenceFit {
    /// Draws balls of up to `most` dimensions, rounded up to the next one of the table.
    pub(super) fn compute(k: usize, most: usize, draws: usize, seed: u64, exec: Exec<'_>) -> Result<Self, Error> {
        let enough = DIMENSIONS.iter().position(|d| *d >= most).map_or(DIMENSIONS.len(), |at| at + 1).max(4);
        let dimensions = DIMENSIONS[..enough].to_vec();
        let fitting = |size: &usize| *size > 2 * (k + 1);
        // For very many neighbors the table has no size: then the smallest possible one.
        let mut sizes: Vec<usize> = SIZES.into_iter().filter(fitting).collect();
        if sizes.is_empty() {
            sizes = vec![4 * (k + 1), 8 * (k + 1)];
        }
        let cells: Vec<(usize, usize)> = sizes.iter().flat_map(|n| dimensions.iter().map(|d| (*n, *d))).collect();
        let mut means = Vec::with_capacity(cells.len());
        for (done, (n, d)) in cells.iter().enumerate() {
            let draw = |draw: usize| {
                let near = Near::of_points(points(*n, *d, mixed(seed, 1, draw as u64)), k + 1, exec)?;
                BallStatistics::of(&near, k, exec)
            };
            means.push(mean(&(0..draws).map(draw).collect::<Result<Vec<_>, Error>>()?));
            exec.report("balls", done + 1, cells.len())?;
        }
        Ok(Self { k, seed, draws, dimensions, sizes, means })
    }

    pub(super) fn key(&self) -> (usize, u64, usize) {
        (self.k, self.seed, self.draws)
    }

    /// Whether the dimensions cover `most`, or all of the table.
    pub(super) fn reaches(&self, most: usize) -> bool {
        self.dimensions.last().is_some_and(|last| *last >= most.min(DIMENSIONS[DIMENSIONS.len() - 1]))
    }

    /// Whether the numbers can be the result of a computation.
    pub(super) fn is_sound(&self) -> bool {
        let rising = |values: &[usize]| !values.is_empty() && values.is_sorted_by(|a, b| a < b) && values[0] > 0;
        let value = |[d, mu, tau]: &[f64; 3]| *d > 0.0 && *tau >= 0.0 && [d, mu, tau].iter().all(|x| x.is_finite());
        self.k > 0
            && rising(&self.dimensions)
            && rising(&self.sizes)
            && self.means.len() == self.dimensions.len() * self.sizes.len()
            && self.means.iter().all(value)
    }

    /// The statistics of balls of `n` points, by dimension.
    pub fn at_size(&self, n: usize) -> AtSize {
        let dimensions: Vec<f64> = self.dimensions.iter().map(|d| *d as f64).collect();
        let logs: Vec<f64> = self.sizes.iter().map(|size| (*size as f64).ln()).collect();
        let curve = |which: usize| {
            let at = |d: usize| {
                let column = (0..logs.len()).map(|size| self.means[size * dimensions.len() + d][which]).collect();
                Spline::through(logs.clone(), column).at((n as f64).ln())
            };
            Spline::through(dimensions.clone(), (0..dimensions.len()).map(at).collect())
        };
        AtSize { dimension: curve(0), direction: curve(1), concentration: curve(2) }
    }
}

fn mean(draws: &[BallStatistics]) -> [f64; 3] {
    let count = draws.len() as f64;
    let sum = |of: fn(&BallStatistics) -> f64| draws.iter().map(of).sum::<f64>();
    let (sine, cosine) = (sum(|s| s.direction.sin()), sum(|s| s.direction.cos()));
    [sum(|s| s.dimension) / count, sine.atan2(cosine), sum(|s| s.concentration) / count]
}

/// The statistics of balls of one number of points.
pub struct AtSize {
    dimension: Spline,
    direction: Spline,
    concentration: Spline,
}

impl AtSize {
    /// d̂ and the distribution of the angles in the ball of `d` dimensions. Linear extrapolation may leave the range of
    /// either: the values are bounded below by a hundredth of a dimension, and by zero concentration.
    pub fn of(&self, d: usize) -> (f64, VonMises) {
        let (d, direction) = (d as f64, self.direction.at(d as f64));
        (self.dimension.at(d).max(0.01), VonMises { direction, concentration: self.concentration.at(d).max(0.0) })
    }
}
