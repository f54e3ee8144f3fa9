//! The natural cubic spline: the smoothest interpolating curve, linear beyond the points.

/// An interpolating curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Spline {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Second derivatives, zero at both ends.
    bend: Vec<f64>,
}

impl Spline {
    /// The spline through (xᵢ, yᵢ); the xᵢ ascend. At least one point.
    pub fn through(x: Vec<f64>, y: Vec<f64>) -> Self {
        let count = x.len();
        let mut bend = vec![0.0; count];
        let (mut over, mut right) = (vec![0.0; count], vec![0.0; count]);
        // The tridiagonal system of the inner points, by elimination.
        for i in 1..count.saturating_sub(1) {
            let (before, after) = (x[i] - x[i - 1], x[i + 1] - x[i]);
            let turn = (y[i + 1] - y[i]) / after - (y[i] - y[i - 1]) / before;
            let pivot = 2.0 * (before + after) - before * over[i - 1];
            over[i] = after / pivot;
            right[i] = (6.0 * turn - before * right[i - 1]) / pivot;
        }
        for i in (1..count.saturating_sub(1)).rev() {
            bend[i] = right[i] - over[i] * bend[i + 1];
        }
        Self { x, y, bend }
    }

    /// The curve at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let last = self.x.len() - 1;
        if last == 0 {
            return self.y[0];
        }
        if x < self.x[0] {
            return self.y[0] + self.tilt(0, 0.0) * (x - self.x[0]);
        }
        if x > self.x[last] {
            return self.y[last] + self.tilt(last - 1, 1.0) * (x - self.x[last]);
        }
        let i = self.x.partition_point(|knot| *knot <= x).clamp(1, last) - 1;
        let width = self.x[i + 1] - self.x[i];
        let (b, a) = ((x - self.x[i]) / width, (self.x[i + 1] - x) / width);
        let curved = (a * a * a - a) * self.bend[i] + (b * b * b - b) * self.bend[i + 1];
        a * self.y[i] + b * self.y[i + 1] + curved * width * width / 6.0
    }

    /// The slope in piece `i`, at a share `b` of its width from its left end.
    fn tilt(&self, i: usize, b: f64) -> f64 {
        let (width, a) = (self.x[i + 1] - self.x[i], 1.0 - b);
        let curved = (3.0 * b * b - 1.0) * self.bend[i + 1] - (3.0 * a * a - 1.0) * self.bend[i];
        (self.y[i + 1] - self.y[i]) / width + curved * width / 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_through_its_points_smoothly_and_on_in_straight_lines() {
        let x = vec![0.0, 1.0, 2.5, 3.0, 5.0];
        let y: Vec<f64> = x.iter().map(|x: &f64| x.sin()).collect();
        let spline = Spline::through(x.clone(), y.clone());
        for (x, y) in x.iter().zip(&y) {
            assert!((spline.at(*x) - y).abs() < 1e-15);
        }
        let h = 1e-4;
        let slope = |x: f64| (spline.at(x + h) - spline.at(x - h)) / (2.0 * h);
        for knot in &x {
            // Slopes by differences on both sides of a knot agree up to h times the second derivative.
            assert!((slope(knot + 2.0 * h) - slope(knot - 2.0 * h)).abs() < 10.0 * h);
        }
        assert!((slope(-1.0) - slope(-2.0)).abs() < 1e-9 && (slope(6.0) - slope(9.0)).abs() < 1e-9);
        // Natural ends distort the curve near them; inside it follows the sine.
        assert!((spline.at(2.0) - 2f64.sin()).abs() < 0.05);
    }

    #[test]
    fn lines_stay_lines_and_one_point_is_a_level() {
        let line = Spline::through(vec![1.0, 2.0, 4.0, 8.0], vec![2.0, 4.0, 8.0, 16.0]);
        assert!([0.0, 1.5, 5.0, 20.0].iter().all(|x| (line.at(*x) - 2.0 * x).abs() < 1e-12));
        assert_eq!(Spline::through(vec![3.0], vec![7.0]).at(100.0), 7.0);
        assert_eq!(Spline::through(vec![0.0, 2.0], vec![0.0, 4.0]).at(1.0), 2.0);
    }
}
