//! The correlation dimension: the growth exponent of the number of pairs with their distance.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | C(r) | `pairs` | pairs of points nearer than r |
//! | r₁, r₂ | `radii` | medians of the distance to neighbor k₁ and k₂ |
//! | d | `dimension` | the slope of log C between them |
//!
//! ```text
//!     C(r) ∝ r^d          d = log(C(r₂)/C(r₁)) / log(r₂/r₁)
//! ```
//! Pairs are counted from blocks of products, ‖a − b‖² = ‖a‖² + ‖b‖² − 2aᵀb; where rounding makes this ambiguous, from
//! the difference itself. So the count equals that of the plain double loop.
//!
//! Grassberger, Procaccia (1983) — `grassberger1983` in `docs/references.bib`. **Where we differ**: copies are dropped.

use std::ops::Range;

use eigenspan_linalg::dense::multiply;
use eigenspan_linalg::rows::energy;
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Exec, Mat};

use super::parts::near::Near;
use super::{Estimate, Estimator, uncalibrated};
use crate::Error;
use crate::rule::threshold::median_of;

/// Points of a block.
const BLOCK: usize = 256;

/// Parameters of the correlation dimension.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CorrelationParams {
    /// k₁.
    pub near: usize,
    /// k₂.
    pub far: usize,
}

impl Default for CorrelationParams {
    fn default() -> Self {
        Self { near: 10, far: 20 }
    }
}

impl CorrelationParams {
    /// Estimates the dimension.
    pub fn estimate(&self, near: &Near, exec: Exec<'_>) -> Result<Estimate, Error> {
        if self.near == 0 || self.far <= self.near {
            let got = self.far as f64;
            return Err(Error::Parameter { name: "far", expected: "more than `near`, which is at least 1", got });
        }
        near.check(self.far)?;
        let radii = [self.near, self.far].map(|k| {
            let mut distances: Vec<f64> = (0..near.points().rows()).map(|i| near.distances(i)[k - 1]).collect();
            distances.sort_by(f64::total_cmp);
            median_of(&distances)
        });
        let pairs = count_pairs(near.points(), radii, exec)?;
        if radii[0] == radii[1] || pairs[0] == 0 {
            return Err(Error::EqualDistances { neighbours: self.far });
        }
        let dimension = (pairs[1] as f64 / pairs[0] as f64).ln() / (radii[1] / radii[0]).ln();
        let mut warnings = near.warnings();
        warnings.extend(uncalibrated(near, dimension));
        Ok(Estimate {
            dimension,
            error: None,
            per_point: None,
            settings: Estimator::Correlation(*self),
            why: format!(
                "{} pairs are closer than the median neighbor {}, {} closer than neighbor {}: exponent {dimension:.2}",
                pairs[0], self.near, pairs[1], self.far
            ),
            warnings,
        })
    }
}

/// The number of pairs of points closer than each radius.
fn count_pairs(points: &Mat, radii: [f64; 2], exec: Exec<'_>) -> Result<[usize; 2], Error> {
    let (n, m) = (points.rows(), points.cols());
    // In units in which the larger radius is near one, and centered: squares neither overflow nor cancel.
    let exponent = exponent_of(radii[1]);
    let mut mean = vec![0.0; m];
    for i in 0..n {
        mean.iter_mut().zip(points.row(i)).for_each(|(to, y)| *to += y / n as f64);
    }
    let near = Mat::from_fn(n, m, |i, j| times_power_of_two(points.at(i, j) - mean[j], -exponent));
    let count = Count {
        squares: (0..n).map(|i| energy(near.row(i))).collect(),
        radii: radii.map(|r| times_power_of_two(r, -exponent)),
        exponent,
        points,
        near,
    };
    let blocks = n.div_ceil(BLOCK);
    let range = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(n);
    let counted = exec.map("pairs", blocks, |a| {
        (0..=a).map(|b| count.block(range(a), range(b))).fold([0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    })?;
    Ok(counted.into_iter().fold([0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]))
}

struct Count<'a> {
    points: &'a Mat,
    /// Points minus their mean, scaled.
    near: Mat,
    exponent: i32,
    /// ‖a‖² of the centered points.
    squares: Vec<f64>,
    radii: [f64; 2],
}

impl Count<'_> {
    /// Pairs of one point of `rows` and an earlier one of `columns`.
    fn block(&self, rows: Range<usize>, columns: Range<usize>) -> [usize; 2] {
        let m = self.near.cols();
        let part = |range: &Range<usize>| self.near.view().some_rows(range.clone());
        let mut products = vec![0.0; rows.len() * columns.len()];
        multiply(part(&rows), part(&columns).transposed(), &mut products);
        let mut pairs = [0; 2];
        for (i, products) in rows.zip(products.chunks_exact(columns.len())) {
            for (j, product) in columns.clone().zip(products).take_while(|(j, _)| *j < i) {
                let size = self.squares[i] + self.squares[j];
                let square = size - 2.0 * product;
                // Products, squares and the mean each have an error of at most m + 4 roundings of their size.
                let doubt = 8.0 * (m + 4) as f64 * f64::EPSILON * size;
                for (pairs, radius) in pairs.iter_mut().zip(self.radii) {
                    let sure = (square - radius * radius).abs() > doubt + 4.0 * f64::EPSILON;
                    let inside = if sure { square < radius * radius } else { self.length(i, j) < radius };
                    *pairs += usize::from(inside);
                }
            }
        }
        pairs
    }

    /// ‖a − b‖ in the units of the radii.
    fn length(&self, i: usize, j: usize) -> f64 {
        let scaled = |(a, b): (&f64, &f64)| times_power_of_two(a - b, -self.exponent);
        let difference: Vec<f64> = self.points.row(i).iter().zip(self.points.row(j)).map(scaled).collect();
        energy(&difference).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;

    #[test]
    fn pairs_are_those_of_the_double_loop_with_ties_offsets_and_scales() {
        let mut random = Normal::new(4);
        let base = Mat::from_fn(300, 3, |_, _| random.draw());
        let coarse = Mat::from_fn(300, 3, |i, j| (base.at(i, j) * 4.0).round());
        let far = Mat::from_fn(300, 3, |i, j| 1e9 + (base.at(i, j) * 4.0).round());
        let tiny = Mat::from_fn(300, 3, |i, j| times_power_of_two((base.at(i, j) * 4.0).round(), -800));
        let radii = [2.0, 3.0];
        let mut want = [0; 2];
        for i in 0..300 {
            for j in 0..i {
                let length = (0..3).map(|c| (coarse.at(i, c) - coarse.at(j, c)).powi(2)).sum::<f64>().sqrt();
                want = [want[0] + usize::from(length < 2.0), want[1] + usize::from(length < 3.0)];
            }
        }
        assert_eq!(count_pairs(&coarse, radii, Exec::default()).unwrap(), want, "strictly nearer, with many ties");
        assert_eq!(count_pairs(&far, radii, Exec::default()).unwrap(), want);
        let radii = radii.map(|r| times_power_of_two(r, -800));
        assert_eq!(count_pairs(&tiny, radii, Exec::default()).unwrap(), want);
    }
}
