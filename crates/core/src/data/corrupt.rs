//! Corruption of samples, to test the robustness of a method.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | d | | a value of a sample |
//! | n | | a standard normal number |
//! | u | | a uniform number between 0 and 1 |
//!
//! | kind | written | a value becomes |
//! |---|---|---|
//! | [`Corruption::Gaussian`] | `gaussian:sd=25` | d + 25 n |
//! | [`Corruption::Relative`] | `gaussian:relative=0.1` | d + 0.1 d n |
//! | [`Corruption::Pixels`] | `rpc:0.3` | u · (largest value of the sample), for a random 30 % of the values |
//! | [`Corruption::Block`] | `block:0.2` | 255 u, in one rectangle of a fifth of the image |
//! | [`Corruption::SaltPepper`] | `salt-pepper:0.1` | 0 or 255, equally likely, for a random 10 % of the values |
//!
//! Results are clipped to 0 … 255 ([`RANGE`]). Shares are rounded to counts: 30 % of 2592 values are 778. A block has
//! the proportions of the image, as far as whole pixels allow, and lies anywhere inside the image; its pixels are noise
//! without structure. The paper writes d + ρn; taken literally that is invisible for its ρ = 0.1 to 0.3, and the
//! relative form comes closest to its figures.
//!
//! The corruption of a sample depends on seed, repeat and sample number alone, not on other samples. The choice of the
//! corrupted samples depends on seed, repeat and the number of samples.

use std::fmt;
use std::str::FromStr;

use eigenspan_linalg::Mat;

use super::generate::Normal;
use super::{ImageShape, Samples};
use crate::Error;
use crate::split::{below, shuffle};

/// The least and the largest value of 8-bit pixels.
pub const RANGE: (f64, f64) = (0.0, 255.0);

/// How samples are corrupted.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Corruption {
    /// Normal noise of this standard deviation is added.
    Gaussian {
        /// The standard deviation.
        sd: f64,
    },
    /// Normal noise is added whose standard deviation is this share of the value itself.
    Relative {
        /// ρ.
        rho: f64,
    },
    /// A share of the values is replaced by numbers between 0 and the largest value of the sample.
    Pixels {
        /// The share.
        share: f64,
    },
    /// A rectangle of this share of the image is replaced by noise.
    Block {
        /// The share.
        share: f64,
    },
    /// A share of the values is set to 0 or 255.
    SaltPepper {
        /// The share.
        share: f64,
    },
}

/// Samples of which some are corrupted.
#[derive(Debug, Clone, PartialEq)]
pub struct Corrupted {
    /// All samples.
    pub samples: Mat,
    /// The indices of the corrupted samples, in ascending order.
    pub rows: Vec<usize>,
}

/// A text that names no corruption.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no corruption: write gaussian:sd=25, gaussian:relative=0.1, rpc:0.3, block:0.2 or salt-pepper:0.1")]
pub struct UnknownCorruption(pub String);

impl Corruption {
    /// Corrupts a share of the samples, chosen at random. `image` is their shape, which a block needs.
    pub fn apply<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        image: Option<ImageShape>,
        share_of_samples: f64,
        seed: u64,
        repeat: u64,
    ) -> Result<Corrupted, Error> {
        let samples = samples.into();
        self.check()?;
        let (n, m) = (samples.rows(), samples.cols());
        if !(0.0..=1.0).contains(&share_of_samples) {
            let (name, expected) = ("share_of_samples", "a share from 0 to 1");
            return Err(Error::Parameter { name, expected, got: share_of_samples });
        }
        if image.is_some_and(|image| image.height.checked_mul(image.width) != Some(m)) {
            return Err(Error::Parameter { name: "image", expected: "height × width = features", got: m as f64 });
        }
        let count = whole(share_of_samples, n);
        // A key that no sample has. It differs from the key of a split of the same seed: otherwise all corrupted
        // samples would be training samples.
        let rows = chosen(n, count, &mut Normal::of([seed, repeat, u64::MAX]));
        let mut samples = samples.to_f64();
        if let Some(at) = samples.as_slice().iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { row: at / m, column: at % m, value: samples.as_slice()[at] });
        }
        for &row in &rows {
            self.corrupt(samples.row_mut(row), image, &mut Normal::of([seed, repeat, row as u64]))?;
        }
        Ok(Corrupted { samples, rows })
    }

    fn check(&self) -> Result<(), Error> {
        let refuse = |name, expected, got| Err(Error::Parameter { name, expected, got });
        match *self {
            Self::Gaussian { sd } if !(sd >= 0.0 && sd.is_finite()) => refuse("sd", "zero or a positive number", sd),
            Self::Relative { rho } if !(rho >= 0.0 && rho.is_finite()) => {
                refuse("relative", "zero or a positive number", rho)
            }
            Self::Pixels { share } | Self::Block { share } | Self::SaltPepper { share }
                if !(0.0..=1.0).contains(&share) =>
            {
                refuse("share", "a share from 0 to 1", share)
            }
            _ => Ok(()),
        }
    }

    /// Corrupts one sample.
    fn corrupt(&self, row: &mut [f64], image: Option<ImageShape>, random: &mut Normal) -> Result<(), Error> {
        let (least, most) = RANGE;
        match *self {
            Self::Gaussian { sd } => row.iter_mut().for_each(|d| *d += sd * random.draw()),
            Self::Relative { rho } => row.iter_mut().for_each(|d| *d += rho * *d * random.draw()),
            Self::Pixels { share } => {
                let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                chosen(row.len(), whole(share, row.len()), random)
                    .into_iter()
                    .for_each(|j| row[j] = largest * random.uniform());
            }
            Self::SaltPepper { share } => {
                let salt = |random: &mut Normal| if random.uniform() < 0.5 { least } else { most };
                chosen(row.len(), whole(share, row.len()), random).into_iter().for_each(|j| row[j] = salt(random));
            }
            Self::Block { share } => {
                let image = image.ok_or(Error::NoImageShape)?;
                rectangle(image, share, random).for_each(|j| row[j] = most * random.uniform());
            }
        }
        row.iter_mut().for_each(|d| *d = d.clamp(least, most));
        Ok(())
    }
}

/// A share of a count, rounded.
fn whole(share: f64, of: usize) -> usize {
    (share * of as f64).round() as usize
}

/// A random choice of `count` numbers below n, in ascending order.
fn chosen(n: usize, count: usize, random: &mut Normal) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    shuffle(&mut all, count, random.bits());
    all.truncate(count);
    all.sort_unstable();
    all
}

/// The pixels of a rectangle of this share of the image, somewhere inside it.
fn rectangle(image: ImageShape, share: f64, random: &mut Normal) -> impl Iterator<Item = usize> + use<> {
    let ImageShape { height, width } = image;
    let area = whole(share, height * width);
    let tall = ((share.sqrt() * height as f64).round() as usize).clamp(usize::from(area > 0), height);
    let wide = if tall == 0 { 0 } else { ((area as f64 / tall as f64).round() as usize).min(width) };
    let (top, left) =
        (below((height - tall) as u64 + 1, random.bits()), below((width - wide) as u64 + 1, random.bits()));
    let (top, left) = (top as usize, left as usize);
    (top..top + tall).flat_map(move |i| (left..left + wide).map(move |j| i * width + j))
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian { sd } => write!(f, "gaussian:sd={sd}"),
            Self::Relative { rho } => write!(f, "gaussian:relative={rho}"),
            Self::Pixels { share } => write!(f, "rpc:{share}"),
            Self::Block { share } => write!(f, "block:{share}"),
            Self::SaltPepper { share } => write!(f, "salt-pepper:{share}"),
        }
    }
}

impl FromStr for Corruption {
    type Err = UnknownCorruption;

    fn from_str(text: &str) -> Result<Self, UnknownCorruption> {
        let unknown = || UnknownCorruption(text.into());
        let (kind, amount) = text.split_once(':').ok_or_else(unknown)?;
        let (name, number) = amount.split_once('=').unwrap_or(("", amount));
        let number: f64 = number.trim().parse().map_err(|_| unknown())?;
        let corruption = match (kind.trim(), name.trim()) {
            ("gaussian", "sd") => Self::Gaussian { sd: number },
            ("gaussian", "relative") => Self::Relative { rho: number },
            ("rpc", "") => Self::Pixels { share: number },
            ("block", "") => Self::Block { share: number },
            ("salt-pepper", "") => Self::SaltPepper { share: number },
            _ => return Err(unknown()),
        };
        corruption.check().map(|()| corruption).map_err(|_| unknown())
    }
}

impl TryFrom<String> for Corruption {
    type Error = UnknownCorruption;

    fn try_from(text: String) -> Result<Self, UnknownCorruption> {
        text.parse()
    }
}

impl From<Corruption> for String {
    fn from(corruption: Corruption) -> Self {
        corruption.to_string()
    }
}
