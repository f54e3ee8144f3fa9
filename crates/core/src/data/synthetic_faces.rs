//! Synthetic faces: rendered heads under many lights, for experiments on faces without a download.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | z(x, y) | `height` | the surface of a head seen from the front, x to the right and y upwards |
//! | a(x, y) | `albedo` | the share of light that the surface reflects |
//! | n | | its normal, (−∂z/∂x, −∂z/∂y, 1) / ‖·‖ |
//! | s | `light` | the direction of the light |
//!
//! ```text
//!     a head       smooth bumps on an ellipsoid (nose, eyes, brows, cheeks, mouth, chin), painted; one for each person
//!     its light    I = a (0.015 + max(0, n·s) · (1 where the light is not occluded)),  softened at the edge
//!     its image    255 · 1.2 I + noise of deviation 1.5, rounded and clipped to 8 bits
//! ```
//! Lights are those of Extended Yale B: 64 directions up to 130° to the side, 40° from below and 90° from above. Fewer
//! lights are spread from the front to the side; of more lights, the others are drawn in the same range. As in the AR
//! set, disguises cover half of the images of everyone: dark glasses, or a scarf up to the nose.
//!
//! The property that makes faces a union of subspaces holds for these too: images of one head under any light lie near
//! a subspace of nine dimensions (Basri, Jacobs 2003), and images of two heads under one light are often more alike
//! than those of one head under two. Seeds are exact on one machine; another mathematical library may round some pixels
//! differently.
//!
//! Georghiades et al. (2001); Lee et al. (2005); Martinez, Benavente (1998); Basri, Jacobs (2003) — `georghiades2001`,
//! `lee2005`, `martinez1998`, `basri2003` in `docs/references.bib`.

mod head;
mod light;

use eigenspan_linalg::{Exec, Mat};

use self::head::{Head, Worn};
use self::light::{Relief, direction_of};
use super::generate::Normal;
use super::{Dataset, ImageShape, Labels};
use crate::Error;

/// Height of an image in units of half a head's width.
const TALL: f64 = 2.3;
/// Gray levels of a white surface that faces the light.
const GAIN: f64 = 1.2 * 255.0;
/// Ambient light.
const AMBIENT: f64 = 0.015;
/// Standard deviation of the camera's noise, in gray levels.
const NOISE: f64 = 1.5;

/// The disguise of some of the images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disguise {
    /// Nothing.
    #[default]
    None,
    /// Every second image wears dark glasses.
    Sunglasses,
    /// Every second image wears a scarf.
    Scarf,
    /// Every third image wears dark glasses, and every third a scarf.
    Mixed,
}

/// Images of rendered heads. The default is of the size of the paper's set of Extended Yale B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticFaces {
    /// People.
    pub subjects: usize,
    /// Images of each, each under a different light.
    pub per_subject: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Pixels per row.
    pub width: usize,
    /// The disguise of some of the images.
    pub disguise: Disguise,
    /// The seed.
    pub seed: u64,
}

impl Default for SyntheticFaces {
    fn default() -> Self {
        Self { subjects: 38, per_subject: 58, height: 54, width: 48, disguise: Disguise::None, seed: 1 }
    }
}

impl SyntheticFaces {
    /// The images, 8 bits per pixel, one person after the other; a sample's label is the person. On all cores.
    pub fn generate(&self) -> Result<Dataset, Error> {
        self.generate_with(Exec::default())
    }

    /// [`generate`](Self::generate) with the given threads and monitor. The images do not depend on either.
    pub fn generate_with(&self, exec: Exec<'_>) -> Result<Dataset, Error> {
        let Self { subjects, per_subject, height, width, .. } = *self;
        let sides =
            [("subjects", subjects, 1), ("per_subject", per_subject, 1), ("height", height, 8), ("width", width, 8)];
        for (name, value, least) in sides {
            if value < least {
                let expected = if least == 1 { "at least 1" } else { "at least 8 pixels" };
                return Err(Error::Parameter { name, expected, got: value as f64 });
            }
        }
        let people = exec.map("render", subjects, |person| self.images_of(person))?;
        let samples = Mat::from_vec(subjects * per_subject, height * width, people.concat());
        let mut data = Dataset::new(samples.expect("every image has every pixel"));
        let of: Vec<i64> = (0..subjects * per_subject).map(|i| (i / per_subject) as i64 + 1).collect();
        data.labels = Some(Labels::from_numbers(&of));
        data.image = Some(ImageShape { height, width });
        Ok(data)
    }

    /// All images of one person.
    fn images_of(&self, person: usize) -> Vec<u8> {
        let stream = |number: usize| Normal::of([self.seed, person as u64, number as u64]);
        let head = Head::draw(&mut stream(0));
        let step = TALL / self.height as f64;
        let bare = self.relief(&head, Worn::Nothing, step);
        let mut pixels = Vec::with_capacity(self.per_subject * self.height * self.width);
        for number in 0..self.per_subject {
            let mut random = stream(number + 1);
            let light = direction_of(number, self.per_subject, &mut random);
            // A stream of its own, so that the rest of an image is the same with and without a disguise.
            let image = match self.worn(number, &mut stream(usize::MAX - number)) {
                Worn::Nothing => bare.lit(light, AMBIENT),
                worn => self.relief(&head, worn, step).lit(light, AMBIENT),
            };
            let level = |value: f64| (GAIN * value + NOISE * random.draw()).round().clamp(0.0, 255.0) as u8;
            pixels.extend(image.into_iter().map(level));
        }
        pixels
    }

    fn worn(&self, number: usize, random: &mut Normal) -> Worn {
        let mut at = || (0.02 * random.draw(), 0.02 * random.draw());
        match (self.disguise, number % 2, number % 3) {
            (Disguise::Sunglasses, 1, _) | (Disguise::Mixed, _, 1) => Worn::Sunglasses(at()),
            (Disguise::Scarf, 1, _) | (Disguise::Mixed, _, 2) => Worn::Scarf(at()),
            _ => Worn::Nothing,
        }
    }

    /// Surface and paint at every pixel.
    fn relief(&self, head: &Head, worn: Worn, step: f64) -> Relief {
        let Self { height, width, .. } = *self;
        let center = |count: usize| (count as f64 - 1.0) / 2.0;
        let points = (0..height).flat_map(|i| {
            (0..width).map(move |j| ((j as f64 - center(width)) * step, (center(height) - i as f64) * step))
        });
        let (z, albedo) = points.map(|(x, y)| head.at(x, y, worn)).unzip();
        Relief { height, width, step, z, albedo }
    }
}
