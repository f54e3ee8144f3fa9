//! Statistics of balls of known dimension: computed on demand, stored as plain data.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | n, k, d, seed | [`Ball`] | points, neighbors, dimensions, and the seed of the points |
//! | d̂, μ, τ | [`BallStatistics`] | the statistics |
//! | r_i | `ratios` | sorted |
//!
//! A ball costs one neighbor search. Nothing here is a constant of the program: whatever is missing is drawn and
//! computed, with the same result on any number of threads. A caller who keeps the value, in memory or in a file,
//! computes every ball once.

use eigenspan_linalg::Exec;

use super::ball::{BallStatistics, points};
use super::near::Near;
use super::ratios::Ratios;
use super::reference_fit::ReferenceFit;
use crate::Error;

/// One ball and its statistics.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Points.
    pub n: usize,
    /// Neighbors.
    pub k: usize,
    /// Dimensions.
    pub d: usize,
    /// The seed of the points.
    pub seed: u64,
    /// The statistics.
    #[serde(rename = "seen")]
    pub statistics: BallStatistics,
    /// T₁/T_{k+1} of the points, sorted.
    pub ratios: Vec<f64>,
}

impl Ball {
    /// Draws the points and computes their statistics.
    fn draw(n: usize, k: usize, d: usize, seed: u64, exec: Exec<'_>) -> Result<Self, Error> {
        let near = Near::of_points(points(n, d, seed), k + 1, exec)?;
        let statistics = BallStatistics::of(&near, k, exec)?;
        let mut ratios: Vec<f64> = Ratios::of(&near, k).values().collect();
        ratios.sort_by(f64::total_cmp);
        Ok(Self { n, k, d, seed, statistics, ratios })
    }

    fn key(&self) -> (usize, usize, u64, usize) {
        (self.k, self.n, self.seed, self.d)
    }
}

/// The balls and fits computed so far.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Ordered by k, n, seed and d.
    balls: Vec<Ball>,
    /// Ordered by k, seed and draws.
    fits: Vec<ReferenceFit>,
}

impl Calibration {
    /// The number of balls and fits.
    pub fn len(&self) -> usize {
        self.balls.len() + self.fits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The statistics of a ball; computed where they are missing.
    pub fn ball(&mut self, n: usize, k: usize, d: usize, seed: u64, exec: Exec<'_>) -> Result<&Ball, Error> {
        let at = match self.balls.binary_search_by_key(&(k, n, seed, d), Ball::key) {
            Ok(at) => at,
            Err(at) => {
                self.balls.insert(at, Ball::draw(n, k, d, seed, exec)?);
                at
            }
        };
        Ok(&self.balls[at])
    }

    /// The fit to balls of up to `most` dimensions; computed where it is missing or too small.
    pub(crate) fn fit(
        &mut self,
        k: usize,
        most: usize,
        draws: usize,
        seed: u64,
        exec: Exec<'_>,
    ) -> Result<&ReferenceFit, Error> {
        let found = self.fits.binary_search_by_key(&(k, seed, draws), ReferenceFit::key);
        let at = match found {
            Ok(at) if self.fits[at].reaches(most) => at,
            Ok(at) => {
                self.fits[at] = ReferenceFit::compute(k, most, draws, seed, exec)?;
                at
            }
            Err(at) => {
                self.fits.insert(at, ReferenceFit::compute(k, most, draws, seed, exec)?);
                at
            }
        };
        Ok(&self.fits[at])
    }

    /// Refuses a table that no computation produces: for readers of files.
    pub fn checked(self) -> Result<Self, Error> {
        let ensure = |ok: bool, fault: &'static str| if ok { Ok(()) } else { Err(Error::Calibration(fault)) };
        ensure(self.balls.is_sorted_by(|a, b| a.key() < b.key()), "balls are not in order")?;
        ensure(self.fits.is_sorted_by(|a, b| a.key() < b.key()), "fits are not in order")?;
        for ball in &self.balls {
            let BallStatistics { dimension, error, direction, concentration } = ball.statistics;
            let positive = |x: f64| x > 0.0 && x.is_finite();
            ensure(
                ball.k > 0 && ball.n.saturating_sub(1) > ball.k && ball.d > 0,
                "a ball has no neighbours or no dimension",
            )?;
            ensure(positive(dimension) && positive(error), "a dimension is not positive")?;
            ensure(
                direction.is_finite() && concentration >= 0.0 && concentration.is_finite(),
                "angles are out of range",
            )?;
            let inside = ball.ratios.iter().all(|r| *r > 0.0 && *r <= 1.0);
            ensure(inside && ball.ratios.len() == ball.n && ball.ratios.is_sorted(), "ratios are out of range")?;
        }
        self.fits.iter().try_for_each(|fit| ensure(fit.is_sound(), "a fit is out of range"))?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_linalg::Quiet;
    use std::num::NonZero;

    #[test]
    fn a_ball_is_the_same_on_any_number_of_threads_and_in_any_order() {
        let on = |threads, order: &[usize]| {
            let mut all = Calibration::default();
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            order.iter().for_each(|d| assert_eq!(all.ball(300, 10, *d, 1, exec).unwrap().d, *d));
            all
        };
        let one = on(1, &[3, 8]);
        assert_eq!(one, on(2, &[8, 3]));
        assert_eq!(one, on(3, &[3, 3, 8]));
        assert_eq!(one.len(), 2);
        assert_eq!(one.clone().checked().unwrap(), one);
    }

    #[test]
    fn a_table_that_contradicts_itself_is_refused() {
        let mut good = Calibration::default();
        good.ball(50, 5, 2, 1, Exec::default()).unwrap();
        good.ball(50, 5, 3, 1, Exec::default()).unwrap();
        let harms: [fn(&mut Calibration); 6] = [
            |c| c.balls.swap(0, 1),
            |c| c.balls[0].ratios[3] = f64::NAN,
            |c| c.balls[0].ratios.truncate(4),
            |c| c.balls[1].statistics.dimension = -1.0,
            |c| c.balls[1].statistics.concentration = f64::INFINITY,
            |c| c.balls[1].k = 49,
        ];
        for harm in harms {
            let mut bad = good.clone();
            harm(&mut bad);
            assert!(matches!(bad.checked(), Err(Error::Calibration(_))));
        }
    }
}
