//! Non-negative least squares with one basis and many samples, exact.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | W (m × r) | `basis` | the basis; w_j its columns, of length ‖w_j‖ |
//! | Ŵ | `unit` | its columns at length one; zero columns stay zero |
//! | G | `gram` | ŴᵀŴ |
//! | b | `b` | Ŵᵀx for a sample x |
//! | F | `inside` | the entries of h that are free; the others are zero |
//! | y | `slope` | Gh − b, the gradient |
//!
//! ```text
//!     min_h ½‖x − Wh‖²  with  h ≥ 0          ⇔        h ≥ 0,   y ≥ 0,   hⱼyⱼ = 0
//!
//!     block pivoting:   F = all.   repeat   G_FF h_F = b_F;   y outside F;   exchange every j that breaks a sign
//!                       as long as the broken signs get fewer, or did so within three rounds; then only the last of them
//!     active set:       F = ∅.     repeat   take in the j with the steepest slope;   go towards G_FF h_F = b_F, and
//!                       leave out what would turn negative on the way
//! ```
//! Block pivoting takes a few rounds where G is positive definite. Where it is not (a column twice, more columns than
//! features), or where the exchanges go round in circles, the active set takes over: it needs only G_FF to be definite,
//! and never takes in a column that depends on those inside.
//!
//! Everything is decided from one sample's b: its h is the same bits in any company and on any number of threads.
//!
//! Lawson & Hanson (1974), Portugal, Júdice & Vicente (1994), Kim & Park (2011) — `lawson1974`, `portugal1994`,
//! `kim2011` in `docs/references.bib`. **Where we differ:** columns are scaled to length one first, so that what counts
//! as zero does not depend on their units. G knows dependence only down to √eps: columns closer than that are taken for
//! dependent.

use eigenspan_linalg::dense::{Cholesky, product};
use eigenspan_linalg::product::Columns;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::prepare::norm;

/// Rounds in which all broken signs may be exchanged without getting fewer.
const PATIENCE: usize = 3;
/// A column of length one whose square off the span of the others is below this depends on them.
const DEPENDENT: f64 = 64.0 * f64::EPSILON;

/// A basis, ready for samples.
pub struct Nonnegative {
    lengths: Vec<f64>,
    unit: Columns,
    gram: Mat,
    /// The columns that are not zero.
    usable: Vec<usize>,
    /// The factor of G over these, where it is positive definite.
    whole: Option<Cholesky>,
}

/// What is known while one sample is solved.
struct Point {
    h: Vec<f64>,
    slope: Vec<f64>,
    inside: Vec<usize>,
}

impl Nonnegative {
    /// Of a basis with one column for each entry of h.
    pub fn new(basis: &Mat, exec: Exec<'_>) -> Result<Self, Error> {
        let columns = basis.transposed();
        let lengths: Vec<f64> = (0..columns.rows()).map(|j| norm(columns.row(j))).collect();
        let divisor = |j: usize| if lengths[j] > 0.0 { lengths[j] } else { 1.0 };
        let unit = Mat::from_fn(basis.rows(), basis.cols(), |i, j| basis.at(i, j) / divisor(j));
        let gram = product(unit.view().transposed(), unit.view(), exec)?;
        let usable: Vec<usize> = (0..lengths.len()).filter(|&j| lengths[j] > 0.0).collect();
        let whole = factor(&gram, &usable);
        Ok(Self { lengths, unit: Columns::new(&unit), gram, usable, whole })
    }

    /// h of samples that lie row after row; `h` takes r values a sample.
    pub fn solve(&self, samples: &[f64], h: &mut [f64]) {
        self.unit.multiply(samples, h);
        for h in h.chunks_exact_mut(self.lengths.len().max(1)) {
            let found = self.solve_for(h);
            h.iter_mut().zip(found).zip(&self.lengths).for_each(|((h, found), length)| {
                *h = if *length > 0.0 { found / length } else { 0.0 };
            });
        }
    }

    /// ĥ for one b, for columns of length one.
    fn solve_for(&self, b: &[f64]) -> Vec<f64> {
        match self.whole.as_ref().and_then(|whole| self.by_blocks(b, whole)) {
            Some(h) => h,
            None => self.by_active_set(b),
        }
    }

    /// What rounding may leave of a zero in h or y.
    fn slack(&self, b: &[f64], h: &[f64]) -> f64 {
        let largest = |v: &[f64]| v.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        4.0 * f64::EPSILON * (1.0 + b.len() as f64) * (largest(b) + largest(h))
    }

    fn by_blocks(&self, b: &[f64], whole: &Cholesky) -> Option<Vec<f64>> {
        let mut inside: Vec<bool> = self.lengths.iter().map(|length| *length > 0.0).collect();
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        let mut point = self.at(b, self.usable.clone(), Some(whole))?;
        for _ in 0..3 * b.len() + 10 {
            let slack = self.slack(b, &point.h);
            let broken = |&j: &usize| if inside[j] { point.h[j] < -slack } else { point.slope[j] < -slack };
            let mut broken: Vec<usize> = self.usable.iter().copied().filter(broken).collect();
            if broken.is_empty() {
                point.h.iter_mut().for_each(|h| *h = h.max(0.0));
                return Some(point.h);
            }
            if broken.len() < fewest {
                (fewest, patience) = (broken.len(), PATIENCE);
            } else if patience > 0 {
                patience -= 1;
            } else {
                broken.drain(..broken.len() - 1);
            }
            broken.iter().for_each(|&j| inside[j] = !inside[j]);
            let free = self.usable.iter().copied().filter(|&j| inside[j]).collect();
            point = self.at(b, free, None)?;
        }
        None
    }

    /// The point where h is free in F = `inside` and the slope there is zero; `None` where G_FF is not positive
    /// definite.
    fn at(&self, b: &[f64], inside: Vec<usize>, known: Option<&Cholesky>) -> Option<Point> {
        let mut free: Vec<f64> = inside.iter().map(|&j| b[j]).collect();
        match known {
            Some(factor) => factor.solve(&mut free),
            None => factor(&self.gram, &inside)?.solve(&mut free),
        }
        let mut h = vec![0.0; b.len()];
        inside.iter().zip(&free).for_each(|(&j, x)| h[j] = *x);
        let slope = self.slope(b, &h);
        Some(Point { h, slope, inside })
    }

    /// Gh − b.
    fn slope(&self, b: &[f64], h: &[f64]) -> Vec<f64> {
        let mut slope: Vec<f64> = b.iter().map(|b| -b).collect();
        for (j, h) in h.iter().enumerate().filter(|(_, h)| **h != 0.0) {
            slope.iter_mut().zip(self.gram.row(j)).for_each(|(y, g)| *y += h * g);
        }
        slope
    }

    fn by_active_set(&self, b: &[f64]) -> Vec<f64> {
        let mut point = Point { h: vec![0.0; b.len()], slope: self.slope(b, &vec![0.0; b.len()]), inside: vec![] };
        let mut refused = vec![false; b.len()];
        // In exact arithmetic every step makes the error smaller, and no F comes twice.
        for _ in 0..10 * b.len() + 10 {
            let slack = self.slack(b, &point.h);
            let open = |&j: &usize| !refused[j] && !point.inside.contains(&j) && point.slope[j] < -slack;
            let steepest = |a: &usize, b: &usize| point.slope[*a].total_cmp(&point.slope[*b]);
            let Some(next) = self.usable.iter().copied().filter(open).min_by(steepest) else { break };
            match self.taking_in(b, &point, next) {
                Some(better) => {
                    point = better;
                    refused.fill(false);
                }
                None => refused[next] = true,
            }
        }
        point.h
    }

    /// The point after `next` is taken into F; `None` where its column depends on those inside.
    fn taking_in(&self, b: &[f64], from: &Point, next: usize) -> Option<Point> {
        if !self.independent(&from.inside, next) {
            return None;
        }
        let (mut h, mut inside) = (from.h.clone(), from.inside.clone());
        inside.push(next);
        loop {
            let Point { h: target, slope, .. } = self.at(b, inside.clone(), None)?;
            if target[next] <= 0.0 && h[next] == 0.0 {
                return None; // The slope was rounding.
            }
            // The share of the way on which nothing turns negative, and who stops it.
            let share = |&j: &usize| (h[j] / (h[j] - target[j]), j);
            let blocked = inside.iter().filter(|&&j| target[j] <= 0.0).map(share).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((share, blocking)) = blocked else { return Some(Point { h: target, slope, inside }) };
            for &j in &inside {
                h[j] = (h[j] + share * (target[j] - h[j])).max(0.0);
            }
            h[blocking] = 0.0;
            inside.retain(|&j| h[j] > 0.0);
        }
    }

    /// Whether a column adds a direction to those inside.
    fn independent(&self, inside: &[usize], next: usize) -> bool {
        let Some(factor) = factor(&self.gram, inside) else { return false };
        let beside: Vec<f64> = inside.iter().map(|&j| self.gram.at(j, next)).collect();
        let mut share = beside.clone();
        factor.solve(&mut share);
        let explained: f64 = beside.iter().zip(&share).map(|(a, b)| a * b).sum();
        self.gram.at(next, next) - explained > DEPENDENT
    }
}

/// The factor of G over some columns.
fn factor(gram: &Mat, some: &[usize]) -> Option<Cholesky> {
    Cholesky::of(Mat::from_fn(some.len(), some.len(), |a, b| gram.at(some[a], some[b])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;

    /// How far h is from optimal: negative entries, negative slopes and slopes where h is free, in units of ‖x‖.
    fn broken(basis: &Mat, x: &[f64], h: &[f64]) -> f64 {
        let rest: Vec<f64> =
            (0..basis.rows()).map(|i| basis.row(i).iter().zip(h).map(|(w, h)| w * h).sum::<f64>() - x[i]).collect();
        let mut worst = 0.0f64;
        for j in 0..basis.cols() {
            let column: Vec<f64> = (0..basis.rows()).map(|i| basis.at(i, j)).collect();
            let length = norm(&column).max(1e-300);
            let slope = column.iter().zip(&rest).map(|(w, r)| w * r).sum::<f64>() / length;
            let fault = if h[j] > 0.0 { slope.abs() } else { -slope };
            worst = worst.max(fault / norm(x).max(1e-300));
            assert!(h[j] >= 0.0 && h[j].is_finite());
        }
        worst
    }

    fn check(name: &str, basis: &Mat, tolerance: f64) {
        let (m, r, count) = (basis.rows(), basis.cols(), 25);
        let mut normal = Normal::new(5);
        let samples = Mat::from_fn(count, m, |i, _| normal.draw() + (i % 3) as f64);
        let solver = Nonnegative::new(basis, Exec::default()).unwrap();
        let mut h = Mat::zeros(count, r);
        solver.solve(samples.as_slice(), h.as_mut_slice());
        for i in 0..count {
            let worst = broken(basis, samples.row(i), h.row(i));
            assert!(worst <= tolerance, "{name}, sample {i}: {worst:e}");
            let mut alone = vec![0.0; r];
            solver.solve(samples.row(i), &mut alone);
            assert_eq!(alone, h.row(i), "{name}: a sample alone");
        }
    }

    #[test]
    fn every_solution_satisfies_the_conditions_of_optimality() {
        let mut normal = Normal::new(1);
        for (m, r) in [(20, 8), (50, 40), (1, 1), (30, 1), (60, 60)] {
            check("signed", &Mat::from_fn(m, r, |_, _| normal.draw()), 1e-12);
            check("positive", &Mat::from_fn(m, r, |_, _| normal.uniform()), 1e-12);
        }
    }

    #[test]
    fn so_do_those_of_bases_with_collinear_zero_and_too_many_columns() {
        let mut normal = Normal::new(2);
        let good = Mat::from_fn(20, 6, |_, _| normal.uniform());
        // G tells a column from the span of the others by √eps, about 1e-8 of ‖x‖.
        check("twice", &Mat::from_fn(20, 12, |i, j| good.at(i, j % 6) * (1.0 + (j / 6) as f64)), 1e-7);
        check("sum", &Mat::from_fn(20, 7, |i, j| if j < 6 { good.at(i, j) } else { good.row(i).iter().sum() }), 1e-7);
        check("zero", &Mat::from_fn(20, 8, |i, j| if j < 6 { good.at(i, j) } else { 0.0 }), 1e-12);
        check("nothing", &Mat::zeros(5, 3), 0.0);
        check("wide", &Mat::from_fn(5, 30, |_, _| normal.draw()), 1e-7);
        check("units", &Mat::from_fn(20, 6, |i, j| good.at(i, j) * 10f64.powi(40 * j as i32 - 100)), 1e-12);
        check("near", &Mat::from_fn(20, 12, |i, j| good.at(i, j % 6) + 1e-6 * ((i * j) as f64).sin()), 1e-6);
    }

    #[test]
    fn both_ways_find_the_same_point() {
        let mut normal = Normal::new(3);
        let basis = Mat::from_fn(40, 25, |_, _| normal.draw());
        let solver = Nonnegative::new(&basis, Exec::default()).unwrap();
        for _ in 0..20 {
            let b: Vec<f64> = (0..25).map(|_| normal.draw()).collect();
            let (blocks, set) =
                (solver.by_blocks(&b, solver.whole.as_ref().unwrap()).unwrap(), solver.by_active_set(&b));
            assert!(blocks.iter().zip(&set).all(|(a, b)| (a - b).abs() < 1e-10), "{blocks:?} {set:?}");
            assert!(blocks.contains(&0.0) && blocks.iter().any(|h| *h > 0.0));
        }
    }
}
