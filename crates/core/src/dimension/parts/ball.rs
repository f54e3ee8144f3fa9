//! Points uniform in the unit ball of d dimensions, and the statistics that the estimators compute of them.
//!
//! A Gaussian vector has a uniform direction; the d-th root of a uniform number in (0, 1) is the length that fills the
//! ball uniformly. Points depend on the seed, n and d alone, so that every k uses the same ones.

use eigenspan_linalg::{Exec, Mat};

use super::angles::VonMises;
use super::near::Near;
use super::ratios::{Ratios, divergence};
use crate::Error;
use crate::data::generate::Normal;
use crate::prepare::norm;

/// The statistics of a ball.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BallStatistics {
    /// d̂, the dimension by MiND-MLk.
    pub dimension: f64,
    /// Its standard error.
    pub error: f64,
    /// μ of the angles.
    pub direction: f64,
    /// τ of the angles.
    pub concentration: f64,
}

impl BallStatistics {
    /// The statistics of points and their nearest k + 1 neighbors.
    pub fn of(near: &Near, k: usize, exec: Exec<'_>) -> Result<Self, Error> {
        let ratios = Ratios::of(near, k);
        let dimension = ratios.dimension();
        let VonMises { direction, concentration } = VonMises::of(near, k, exec)?;
        Ok(Self { dimension, error: ratios.error(dimension), direction, concentration })
    }

    /// The divergence from other statistics: the sum of the KL of the distributions of the distances and of the angles.
    pub fn divergence(&self, k: usize, other: &Self) -> f64 {
        divergence(k, self.dimension, other.dimension) + self.angles().divergence(&other.angles())
    }

    /// The distribution of the angles.
    pub(crate) fn angles(&self) -> VonMises {
        VonMises { direction: self.direction, concentration: self.concentration }
    }
}

/// `n` points, uniform in the unit ball of `d` dimensions.
pub fn points(n: usize, d: usize, seed: u64) -> Mat {
    let mut random = Normal::new(mixed(seed, n as u64, d as u64));
    let mut points = Mat::zeros(n, d);
    for i in 0..n {
        let row = points.row_mut(i);
        row.iter_mut().for_each(|y| *y = random.draw());
        let factor = random.uniform().powf(1.0 / d as f64) / norm(row);
        row.iter_mut().for_each(|y| *y *= factor);
    }
    points
}

/// One seed of three numbers, by the finalizer of SplitMix64: close numbers give independent streams.
pub fn mixed(seed: u64, a: u64, b: u64) -> u64 {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let step = |state: u64, next: u64| mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(next));
    step(step(step(0, seed), a), b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_fill_the_ball_evenly_and_directions_have_no_side() {
        for d in [1, 2, 7] {
            let n = 20_000;
            let x = points(n, d, 5);
            let mut volumes: Vec<f64> = (0..n).map(|i| norm(x.row(i)).powi(d as i32)).collect();
            volumes.sort_by(f64::total_cmp);
            let gap = |(i, v): (usize, &f64)| (v - (i as f64 + 0.5) / n as f64).abs();
            // Kolmogorov: 1.95/√n is exceeded once in a thousand.
            assert!(volumes.iter().enumerate().map(gap).fold(0.0, f64::max) < 1.95 / (n as f64).sqrt());
            let mean = (0..n).map(|i| x.at(i, 0)).sum::<f64>() / n as f64;
            assert!(mean.abs() < 4.0 / (n as f64).sqrt());
        }
        assert_eq!(points(5, 3, 1), points(5, 3, 1));
        assert_ne!(points(5, 3, 1), points(5, 3, 2));
    }
}
