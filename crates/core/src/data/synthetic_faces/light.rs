//! Directions of light, and the shading of a surface.

use crate::data::generate::Normal;

/// Azimuth and elevation of the lights of Extended Yale B that are straight ahead, in degrees.
const AHEAD: [(f64, f64); 6] = [(0.0, 0.0), (0.0, 20.0), (0.0, 45.0), (0.0, 90.0), (0.0, -20.0), (0.0, -35.0)];
/// Those of one side; the other has the same.
const ASIDE: [(f64, f64); 29] = [
    (5.0, 10.0),
    (5.0, -10.0),
    (10.0, 0.0),
    (10.0, -20.0),
    (15.0, 20.0),
    (20.0, 10.0),
    (20.0, -10.0),
    (20.0, -40.0),
    (25.0, 0.0),
    (35.0, 15.0),
    (35.0, 40.0),
    (35.0, 65.0),
    (35.0, -20.0),
    (50.0, 0.0),
    (50.0, -40.0),
    (60.0, 20.0),
    (60.0, -20.0),
    (70.0, 0.0),
    (70.0, 45.0),
    (70.0, -35.0),
    (85.0, 20.0),
    (85.0, -20.0),
    (95.0, 0.0),
    (110.0, 15.0),
    (110.0, 40.0),
    (110.0, 65.0),
    (110.0, -20.0),
    (120.0, 0.0),
    (130.0, 20.0),
];
/// The distance up to which shadows are traced, as a share of the image: 26 pixels of an image 54 pixels high.
const REACH: f64 = 26.0 / 54.0;
/// Self-shadowing below this height is ignored: the surface is sampled at pixels only.
const GRAIN: f64 = 0.02;

/// A direction: to the right, up, and towards the camera.
pub(super) type Direction = [f64; 3];

/// The light of image `number` of `count`.
pub(super) fn direction_of(number: usize, count: usize, random: &mut Normal) -> Direction {
    let mut all: Vec<Direction> = AHEAD.iter().map(|&(a, e)| direction(a, e)).collect();
    all.extend(ASIDE.iter().flat_map(|&(a, e)| [direction(a, e), direction(-a, e)]));
    // From the front to the side; a stable sort, so that left stays before right.
    all.sort_by(|a, b| b[2].total_cmp(&a[2]));
    let known = all.len();
    if number >= known {
        return direction(130.0 * (2.0 * random.uniform() - 1.0), -40.0 + 130.0 * random.uniform());
    }
    all[if count < known { number * known / count } else { number }]
}

fn direction(azimuth: f64, elevation: f64) -> Direction {
    let ((sine, cosine), (up, level)) = (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
    [sine * level, up, cosine * level]
}

/// A surface at the pixels of an image, row after row from the top.
pub(super) struct Relief {
    pub height: usize,
    pub width: usize,
    /// Distance between pixels.
    pub step: f64,
    pub z: Vec<f64>,
    pub albedo: Vec<f64>,
}

impl Relief {
    /// The image under a light.
    pub fn lit(&self, light: Direction, ambient: f64) -> Vec<f64> {
        let shine = |i: usize, j: usize| {
            let facing = self.facing(i, j, light);
            let direct = if facing > 0.0 { facing * self.open(i, j, light) } else { 0.0 };
            self.albedo[i * self.width + j] * (ambient + direct)
        };
        (0..self.height).flat_map(|i| (0..self.width).map(move |j| (i, j))).map(|(i, j)| shine(i, j)).collect()
    }

    /// n·s.
    fn facing(&self, i: usize, j: usize, light: Direction) -> f64 {
        let z = |i: usize, j: usize| self.z[i * self.width + j];
        let (left, right) = (j.saturating_sub(1), (j + 1).min(self.width - 1));
        let (above, below) = (i.saturating_sub(1), (i + 1).min(self.height - 1));
        let across = (z(i, right) - z(i, left)) / ((right - left) as f64 * self.step);
        let up = (z(above, j) - z(below, j)) / ((below - above) as f64 * self.step);
        (light[2] - across * light[0] - up * light[1]) / (1.0 + across * across + up * up).sqrt()
    }

    /// The share of light that reaches a pixel: 1, or less where the surface is higher on the way to the light.
    fn open(&self, i: usize, j: usize, light: Direction) -> f64 {
        let along = light[0].hypot(light[1]);
        if along < 1e-6 {
            return 1.0;
        }
        let (right, down, rise) = (light[0] / along, -light[1] / along, light[2] / along * self.step);
        let start = self.z[i * self.width + j] + GRAIN;
        let mut hidden = 0.0_f64;
        for k in 1..=(REACH * self.height as f64) as usize {
            let k = k as f64;
            let Some(z) = self.between(i as f64 + down * k, j as f64 + right * k) else { break };
            // The light has an extent: the farther the occluder, the softer the edge of the shadow.
            hidden = hidden.max((z - start - rise * k) / (0.25 * self.step * k + GRAIN));
            if hidden >= 1.0 {
                return 0.0;
            }
        }
        1.0 - hidden
    }

    /// z between pixels; `None` outside the image.
    fn between(&self, i: f64, j: f64) -> Option<f64> {
        if !(i >= 0.0 && j >= 0.0 && i <= (self.height - 1) as f64 && j <= (self.width - 1) as f64) {
            return None;
        }
        let (row, column) = ((i as usize).min(self.height - 2), (j as usize).min(self.width - 2));
        let (down, right) = (i - row as f64, j - column as f64);
        let z = |row: usize, column: usize| self.z[row * self.width + column];
        let left = z(row, column) * (1.0 - down) + z(row + 1, column) * down;
        let other = z(row, column + 1) * (1.0 - down) + z(row + 1, column + 1) * down;
        Some(left * (1.0 - right) + other * right)
    }
}
