//! The angles between the neighbors of a point, and the von Mises distribution fitted to them.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | θ | | angle between two neighbors, 0 … π; k(k − 1)/2 of each point |
//! | ν, κ | [`VonMises`] | mean direction and concentration of the angles of one point |
//! | μ, τ | [`VonMises::of`] | circular mean of all ν, mean of all κ |
//!
//! ```text
//!     ν = atan2(Σ sin θ, Σ cos θ),    R = |Σ e^{iθ}| / N,    κ from R by the approximation of Best and Fisher
//! ```
//! For fewer than 15 angles κ has their correction for small samples.
//!
//! Ceruti et al. (2014) — `ceruti2014`; Best, Fisher (1981) — `best1981` in `docs/references.bib`. **Where we differ**:
//! R is bounded by 1 − 1e-12, above which κ would be infinite (points on a line).

use eigenspan_linalg::Exec;
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};

use super::bessel::{log_i0, ratio};
use super::near::Near;
use crate::Error;

/// Points of one piece of work.
const POINTS: usize = 64;
/// Above this |cos θ| the angle is computed from chords: the arc cosine loses digits there.
const STEEP: f64 = 0.9;
/// The small-sample correction applies to fewer angles than this.
const FEW: usize = 15;

/// Mean direction and concentration of some angles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VonMises {
    /// ν or μ.
    pub direction: f64,
    /// κ or τ.
    pub concentration: f64,
}

impl VonMises {
    /// The mean law of the angles between the `k` nearest neighbors of all points.
    pub fn of(near: &Near, k: usize, exec: Exec<'_>) -> Result<Self, Error> {
        let n = near.points().rows();
        let pieces = exec.silent().map("angles", n.div_ceil(POINTS), |piece| {
            let mut directions = NeighborDirections::new(near, k);
            (piece * POINTS..((piece + 1) * POINTS).min(n)).map(|i| directions.from(i)).collect::<Vec<_>>()
        })?;
        let all: Vec<Self> = pieces.into_iter().flatten().collect();
        let (sine, cosine) = sums(all.iter().map(|one| one.direction));
        let concentration = all.iter().map(|one| one.concentration).sum::<f64>() / n as f64;
        Ok(Self { direction: sine.atan2(cosine), concentration })
    }

    fn of_angles(angles: &[f64]) -> Self {
        let (sine, cosine) = sums(angles.iter().copied());
        let count = angles.len() as f64;
        let length = (sine.hypot(cosine) / count).min(1.0 - 1e-12);
        let uncorrected = concentration(length);
        let concentration = match angles.len() < FEW {
            false => uncorrected,
            true if uncorrected < 2.0 => (uncorrected - 2.0 / (count * uncorrected)).max(0.0),
            true => (count - 1.0).powi(3) * uncorrected / (count * (count * count + 1.0)),
        };
        Self { direction: sine.atan2(cosine), concentration }
    }

    /// KL of this distribution from another one.
    pub fn divergence(&self, other: &Self) -> f64 {
        let (t1, t2) = (self.concentration, other.concentration);
        let turned = (other.direction - self.direction).cos();
        (log_i0(t2) - log_i0(t1) + ratio(t1) * (t1 - t2 * turned)).abs()
    }
}

fn sums(angles: impl Iterator<Item = f64>) -> (f64, f64) {
    angles.fold((0.0, 0.0), |(sine, cosine), angle| (sine + angle.sin(), cosine + angle.cos()))
}

/// κ of a mean resultant of length R.
fn concentration(r: f64) -> f64 {
    match r {
        r if r < 0.53 => 2.0 * r + r.powi(3) + 5.0 * r.powi(5) / 6.0,
        r if r < 0.85 => -0.4 + 1.39 * r + 0.43 / (1.0 - r),
        r => 1.0 / (r * (1.0 - r) * (3.0 - r)),
    }
}

/// Directions of the neighbors of a point.
struct NeighborDirections<'a> {
    near: &'a Near,
    k: usize,
    /// k unit vectors.
    directions: Vec<f64>,
    angles: Vec<f64>,
}

impl<'a> NeighborDirections<'a> {
    fn new(near: &'a Near, k: usize) -> Self {
        Self { near, k, directions: vec![0.0; k * near.points().cols()], angles: Vec::with_capacity(k * (k - 1) / 2) }
    }

    /// The distribution of the angles at point `i`.
    fn from(&mut self, i: usize) -> VonMises {
        let (points, m) = (self.near.points(), self.near.points().cols());
        let own = points.row(i);
        let neighbours = self.near.indices(i).iter().zip(self.near.distances(i));
        for (direction, (&j, &distance)) in self.directions.chunks_exact_mut(m).zip(neighbours) {
            // By a power of two first: 1/distance may be out of range.
            let exponent = exponent_of(distance);
            let distance = times_power_of_two(distance, -exponent);
            for (to, (a, b)) in direction.iter_mut().zip(points.row(j).iter().zip(own)) {
                *to = times_power_of_two(a - b, -exponent) / distance;
            }
        }
        self.angles.clear();
        for a in 0..self.k {
            for b in 0..a {
                let angle = angle(&self.directions[a * m..][..m], &self.directions[b * m..][..m]);
                self.angles.push(angle);
            }
        }
        VonMises::of_angles(&self.angles)
    }
}

/// The angle between two unit vectors, accurate to all digits.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    if cosine.abs() < STEEP {
        return cosine.acos();
    }
    let (apart, together) = a
        .iter()
        .zip(b)
        .fold((0.0, 0.0), |(apart, together), (a, b)| (apart + (a - b) * (a - b), together + (a + b) * (a + b)));
    2.0 * apart.sqrt().atan2(together.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_have_all_digits() {
        for theta in [0.0, 1e-9, 1e-3, 0.4, 1.5, 3.0, 3.13, std::f64::consts::PI] {
            let got = angle(&[1.0, 0.0], &[f64::cos(theta), f64::sin(theta)]);
            assert!((got - theta).abs() < 1e-15 + 4e-15 * theta, "{theta}: {got}");
        }
    }

    #[test]
    fn concentration_is_the_inverse_of_the_ratio_of_bessel_functions() {
        for r in [0.05, 0.3, 0.5, 0.6, 0.8, 0.9, 0.97, 0.999] {
            // The relative error of Best and Fisher's approximation is about one percent in κ.
            let back = ratio(concentration(r));
            assert!((back - r).abs() < 0.01 * r.min(1.0 - r).max(0.02), "{r}: {back}");
        }
        assert!(concentration(1.0 - 1e-12).is_finite());
    }

    #[test]
    fn few_angles_are_corrected_and_equal_ones_are_finite() {
        let spread = [1.0, 1.2, 1.4, 1.6, 1.8];
        let (sine, cosine) = sums(spread.into_iter());
        let uncorrected = concentration(sine.hypot(cosine) / 5.0);
        let law = VonMises::of_angles(&spread);
        assert!((law.concentration / (64.0 * uncorrected / 130.0) - 1.0).abs() < 1e-14);
        assert!((law.direction - 1.4).abs() < 1e-14);
        assert!(VonMises::of_angles(&[1.0; 20]).concentration.is_finite());
    }

    #[test]
    fn the_divergence_is_that_of_the_definition() {
        let (one, two) =
            (VonMises { direction: 1.45, concentration: 1.9 }, VonMises { direction: 1.2, concentration: 3.2 });
        let log = |x: f64, law: &VonMises| {
            law.concentration * (x - law.direction).cos() - log_i0(law.concentration) - std::f64::consts::TAU.ln()
        };
        let steps = 400; // the trapezoidal rule of a periodic function
        let value = |i: usize| {
            let x = std::f64::consts::TAU * i as f64 / steps as f64;
            log(x, &one).exp() * (log(x, &one) - log(x, &two))
        };
        let want = (0..steps).map(value).sum::<f64>() * std::f64::consts::TAU / steps as f64;
        assert!((one.divergence(&two) - want).abs() < 1e-12);
        assert_eq!(one.divergence(&one), 0.0);
    }
}
