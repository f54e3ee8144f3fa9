//! A matrix that is read divided by the power of two that brings its largest entry into [½, 1).

use eigenspan_linalg::Mat;
use eigenspan_linalg::blocks::{Blocks, Rows};
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use std::ops::Range;

pub struct Scaled {
    pub x: Mat,
    pub exponent: i32,
}

impl Scaled {
    pub fn new(x: Mat) -> Self {
        let most = x.as_slice().iter().fold(0.0f64, |most, v| most.max(v.abs()));
        Self { x, exponent: exponent_of(most) }
    }

    /// The values read.
    pub fn near_one(&self) -> Mat {
        Mat::from_fn(self.x.rows(), self.x.cols(), |i, j| times_power_of_two(self.x.at(i, j), -self.exponent))
    }
}

impl Rows<f64> for Scaled {
    fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        out.iter_mut().zip(&self.x.row(i)[cols]).for_each(|(to, x)| *to = times_power_of_two(*x, -self.exponent));
    }
}

impl Blocks for Scaled {
    fn rows(&self) -> usize {
        self.x.rows()
    }
    fn cols(&self) -> usize {
        self.x.cols()
    }
    fn exponent(&self) -> i32 {
        self.exponent
    }
}
