//! A union of subspaces with noise, the model that PCE is made for.

use eigenspan_linalg::Mat;

use super::Normal;
use crate::Error;
use crate::data::{Dataset, Labels};

/// Samples from several random subspaces of the same dimension, plus Gaussian noise.
///
/// Each sample has expected squared length 1 before noise is added. The subspaces are drawn independently, so
/// while their dimensions together stay below the number of features the data have rank `subspaces · dim`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subspaces {
    /// Number of samples n, assigned to the subspaces in turn.
    pub samples: usize,
    /// Number of features m.
    pub features: usize,
    /// Number of subspaces.
    pub subspaces: usize,
    /// Dimension of each subspace.
    pub dim: usize,
    /// Expected length of the noise of a sample, relative to its signal.
    pub noise: f64,
}

impl Subspaces {
    /// The dimension of the sum of all subspaces: the correct k.
    pub fn rank(&self) -> usize {
        (self.subspaces * self.dim).min(self.features).min(self.samples)
    }

    /// The data set of this seed; a sample's label is its subspace.
    pub fn generate(&self, seed: u64) -> Result<Dataset, Error> {
        let Self { samples: n, features: m, subspaces, dim, noise } = *self;
        if n == 0 || m == 0 {
            return Err(Error::Empty { n, m });
        }
        let positive = |name, value: usize| match value {
            0 => Err(Error::Parameter { name, expected: "at least 1", got: 0.0 }),
            _ => Ok(()),
        };
        positive("subspaces", subspaces)?;
        positive("dim", dim)?;
        if !(noise >= 0.0 && noise.is_finite()) {
            return Err(Error::Parameter { name: "noise", expected: "0 or more", got: noise });
        }
        let mut normal = Normal::new(seed);
        let bases: Vec<Mat> =
            (0..subspaces).map(|_| Mat::from_fn(dim, m, |_, _| normal.draw() / ((m * dim) as f64).sqrt())).collect();
        let mut x = Mat::zeros(n, m);
        for i in 0..n {
            let row = x.row_mut(i);
            row.iter_mut().for_each(|y| *y = noise / (m as f64).sqrt() * normal.draw());
            let basis = &bases[i % subspaces];
            for d in 0..dim {
                let weight = normal.draw();
                row.iter_mut().zip(basis.row(d)).for_each(|(y, b)| *y += weight * b);
            }
        }
        let mut data = Dataset::new(x);
        data.labels = Some(Labels::from_numbers(&(0..n).map(|i| (i % subspaces) as i64).collect::<Vec<_>>()));
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_data_and_another_seed_others() {
        let spec = Subspaces { samples: 20, features: 10, subspaces: 2, dim: 2, noise: 0.1 };
        assert_eq!(spec.generate(1).unwrap(), spec.generate(1).unwrap());
        assert_ne!(spec.generate(1).unwrap(), spec.generate(2).unwrap());
    }

    #[test]
    fn samples_have_about_unit_length_and_noise_its_share() {
        let spec = Subspaces { samples: 4000, features: 30, subspaces: 3, dim: 5, noise: 0.5 };
        let x = spec.generate(5).unwrap().samples.into_f64();
        let mean_square = x.as_slice().iter().map(|y| y * y).sum::<f64>() / 4000.0;
        assert!((mean_square - 1.25).abs() < 0.3, "{mean_square}");
    }
}
