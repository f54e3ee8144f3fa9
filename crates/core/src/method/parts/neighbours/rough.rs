//! Squared distances between blocks of samples, roughly, and how far off they may be.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | c | `center` | about the mean of the points; distances do not see it, rounding does |
//! | a, b | | query and point, less c, in units of a power of two that brings the largest point near one |
//! | â, b̂ | `single` | the same in single precision, â in units of 2^f, f ≥ 0, that bring it near one too |
//! | p | `products` | âᵀb̂, computed in single precision |
//! | u, m | | 2⁻²⁴, features |
//! | ε | | how far ‖a‖² + ‖b̂‖² − 2·2^f·p is from the d² that is measured from the difference of the samples |
//!
//! ```text
//!     ε = δ (‖a‖² + ‖b‖²) + s,      δ = (m + 16)u / (1 − (m + 16)u),      s = m 2^(f − 122)
//! ```
//! *Why this is a bound.* In any order of summation, with or without fused steps, |p − âᵀb̂| ≤ mu/(1 − mu) ‖â‖‖b̂‖.
//!   Rounding a and b to single precision changes each product by 2u of itself and a little, and ‖b̂‖² by 2u of itself.
//!   As 2‖a‖‖b‖ ≤ ‖a‖² + ‖b‖², all this is within (m + 6)u (‖a‖² + ‖b‖²) to first order. The ten u left are more than
//!   what double precision adds: the subtraction of c, the sums of squares, and the measured d² itself are each off by
//!   at most (m + 4)2⁻⁵²(‖a‖² + ‖b‖²), and m ≤ 2²⁰. Numbers below 2⁻¹²⁶ may have no digits in single precision, or be
//!   flushed to zero: at most 2⁻¹²⁶ for each of the 4m roundings in p, doubled and in units of 2^f; that is s/2. Large
//!   offsets are gone with c. Without c they would not make the bound wrong, but every point a candidate; so do
//!   clusters that lie a thousand times further apart than they are wide: then the search is as slow as the plain
//!   double loop.

use std::ops::Range;

use eigenspan_linalg::dense::multiply_single;
use eigenspan_linalg::rows::energy;
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::{Exec, Mat};

use super::Rows;
use crate::Error;

/// Points multiplied at once.
const POINTS: usize = 1024;
/// Rows prepared as one piece of work.
const SLAB: usize = 512;
/// Points that the center is the mean of, at most.
const SAMPLE: usize = 1024;
/// Distances looked at together.
const LANES: usize = 16;
/// Beyond 2^this in the units of the points, the square of a query may leave the range of `f64`.
const FAR: i32 = 400;

/// The points, ready to be multiplied.
pub(super) struct Rough {
    center: Vec<f64>,
    exponent: i32,
    single: Mat<f32>,
    /// (1 − δ)‖b̂‖²; −∞ where a point has no direction, and is a candidate always.
    low: Vec<f64>,
    delta: f64,
}

/// A query, ready to be compared.
struct Query {
    /// ‖a‖².
    square: f64,
    /// s.
    slack: f64,
    /// 2·2^f.
    weight: f64,
}

impl Rough {
    /// Makes the points ready; nothing where the bound would not hold or tell nothing.
    pub(super) fn new(points: &Rows<'_>, exec: Exec<'_>) -> Result<Option<Self>, Error> {
        let (n, m) = (points.matrix.rows(), points.matrix.cols());
        if n == 0 || m == 0 || m > 1 << 20 {
            return Ok(None);
        }
        let center = center(points);
        let largest = exec.silent().map("neighbours", n.div_ceil(SLAB), |part| {
            let (rows, mut row) = (part * SLAB..((part + 1) * SLAB).min(n), vec![0.0; m]);
            rows.fold(0.0, |largest, i| {
                less_center(points, i, &center, &mut row);
                size(&row).max(largest)
            })
        })?;
        let largest = largest.into_iter().fold(0.0, f64::max);
        if !largest.is_finite() {
            return Ok(None);
        }
        let exponent = exponent_of(largest);
        let mut single = Mat::<f32>::zeros(n, m);
        exec.silent().each_chunk("neighbours", single.as_mut_slice(), SLAB * m, |part, out| {
            let mut row = vec![0.0; m];
            for (at, out) in out.chunks_exact_mut(m).enumerate() {
                less_center(points, part * SLAB + at, &center, &mut row);
                out.iter_mut().zip(&row).for_each(|(out, b)| *out = times_power_of_two(*b, -exponent) as f32);
            }
        })?;
        let digits = (m + 16) as f64 * f64::from(f32::EPSILON) / 2.0;
        let delta = digits / (1.0 - digits);
        let lower =
            |i: usize| if points.is_lost(i) { f64::NEG_INFINITY } else { (1.0 - delta) * energy(single.row(i)) };
        let low = (0..n).map(lower).collect();
        Ok(Some(Self { center, exponent, single, low, delta }))
    }

    /// Not less than the square of a length, in the units of the points; rounding of the length included.
    pub(super) fn above(&self, length: f64) -> f64 {
        let length = times_power_of_two(length, -self.exponent);
        length * length * (1.0 + 1e-8) + 1e-300
    }

    /// Offers to each of some queries the points that may be among its nearest, as (query, point, low, high). An offer
    /// answers above which `low` there is no need for more.
    pub(super) fn sift(
        &self,
        queries: &Rows<'_>,
        rows: Range<usize>,
        mut offer: impl FnMut(usize, usize, f64, f64) -> f64,
    ) {
        let (n, m) = (self.single.rows(), self.single.cols());
        let mut single = Mat::<f32>::zeros(rows.len(), m);
        let ready: Vec<Option<Query>> =
            rows.enumerate().map(|(at, i)| self.ready(queries, i, single.row_mut(at))).collect();
        let mut limits = vec![f64::INFINITY; ready.len()];
        let mut products = vec![0.0; ready.len() * POINTS.min(n)];
        for first in (0..n).step_by(POINTS) {
            let chunk = first..(first + POINTS).min(n);
            let products = &mut products[..ready.len() * chunk.len()];
            multiply_single(single.view(), self.single.view().some_rows(chunk.clone()).transposed(), products);
            for (at, (query, products)) in ready.iter().zip(products.chunks_exact(chunk.len())).enumerate() {
                match query {
                    Some(query) => {
                        self.compare(query, first, products, &mut limits[at], |j, low, high| offer(at, j, low, high))
                    }
                    None => chunk.clone().for_each(|j| {
                        offer(at, j, f64::NEG_INFINITY, f64::INFINITY);
                    }),
                }
            }
        }
    }

    /// A query in single precision; nothing where it has no direction or is out of range.
    fn ready(&self, queries: &Rows<'_>, i: usize, out: &mut [f32]) -> Option<Query> {
        if queries.is_lost(i) {
            return None;
        }
        let mut row = vec![0.0; out.len()];
        less_center(queries, i, &self.center, &mut row);
        row.iter_mut().for_each(|a| *a = times_power_of_two(*a, -self.exponent));
        let largest = size(&row);
        let exponent = exponent_of(largest).max(0);
        if !largest.is_finite() || exponent > FAR {
            return None;
        }
        out.iter_mut().zip(&row).for_each(|(out, a)| *out = times_power_of_two(*a, -exponent) as f32);
        let weight = times_power_of_two(2.0, exponent);
        let slack = out.len() as f64 * times_power_of_two(1.0, exponent - 122);
        Some(Query { square: energy(&row), slack, weight })
    }

    /// Offers the points from `first` on that may be below the limit.
    fn compare(
        &self,
        query: &Query,
        first: usize,
        products: &[f32],
        limit: &mut f64,
        mut offer: impl FnMut(usize, f64, f64) -> f64,
    ) {
        let Query { square, slack, weight } = query;
        let base = (1.0 - self.delta) * square - slack;
        let low = &self.low[first..first + products.len()];
        let lowest = |p: &f32, low: &f64| base + low - weight * f64::from(*p);
        for (block, (p, low)) in products.chunks(LANES).zip(low.chunks(LANES)).enumerate() {
            let mut any = false;
            for (p, low) in p.iter().zip(low) {
                any |= lowest(p, low) <= *limit;
            }
            if !any {
                continue;
            }
            for (l, (p, low)) in p.iter().zip(low).enumerate() {
                let lowest = lowest(p, low);
                if lowest <= *limit {
                    // 2ε, as δ < 1/12.
                    let width = 3.0 * self.delta * (square + low) + 2.0 * slack;
                    let highest = if lowest.is_finite() { lowest + width } else { f64::INFINITY };
                    *limit = offer(first + block * LANES + l, lowest, highest);
                }
            }
        }
    }
}

fn less_center(rows: &Rows<'_>, i: usize, center: &[f64], out: &mut [f64]) {
    if rows.is_lost(i) { out.fill(0.0) } else { rows.less(i, center, 1.0, out) }
}

/// max |y|, infinite where one is not finite.
fn size(row: &[f64]) -> f64 {
    row.iter().fold(0.0, |largest: f64, y| if y.is_finite() { largest.max(y.abs()) } else { f64::INFINITY })
}

/// The mean of some of the points, evenly spread among them.
fn center(points: &Rows<'_>) -> Vec<f64> {
    let (n, m) = (points.matrix.rows(), points.matrix.cols());
    let (mut center, mut row, zero) = (vec![0.0; m], vec![0.0; m], vec![0.0; m]);
    let some = (0..n).step_by(n.div_ceil(SAMPLE));
    let share = 1.0 / some.len() as f64;
    for i in some {
        less_center(points, i, &zero, &mut row);
        center.iter_mut().zip(&row).for_each(|(c, b)| *c += share * b);
    }
    center
}
