//! What every way to factor non-negative samples into non-negative parts begins and ends with.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | V (m × n) | `x` = Vᵀ | samples, in our rows |
//! | W (m × r) | `w` | the parts, one in each column |
//! | H (r × n) | `h` = Hᵀ | how much of each part is in each sample, in our rows |
//! | G_W, G_H | `gram` | WᵀW and HHᵀ (r × r) |
//!
//! ```text
//!     f(W, H) = ½‖V − WH‖² = ½‖V‖² − ⟨VHᵀ, W⟩ + ½⟨WᵀW, HHᵀ⟩
//! ```
//! The right-hand side costs nothing: all its matrices are there after a step in W. It subtracts numbers of the size of
//! ‖V‖², so where little is left the residual itself is summed up, sample after sample.
//!
//! Seen from the samples the two halves are the same problem, min_F ½‖A − F Bᵀ‖² with F = Hᵀ, A = X, B = W or F = W, A
//! = Xᵀ, B = Hᵀ; both have their unknowns in rows, and rows have nothing to do with each other.

use eigenspan_linalg::dense::multiply;
use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::steps::inner;
use eigenspan_linalg::{Exec, Mat};

use crate::data::Samples;
use crate::data::generate::Normal;
use crate::method::parts::dimension::dimension;
use crate::method::parts::halves::Halves;
use crate::model::factors::{FactorOptions, Start};
use crate::prepare::{Preparation, Scan, norm};
use crate::{Dim, Error, Normalize};

/// Below this share of ½‖V‖², f is summed up from the residual.
const LITTLE: f64 = 1e-6;
/// Values whose exponents are within this need no scaling: nothing overflows when products of them are squared.
const SAFE_EXPONENT: i32 = 200;

/// Samples to factor.
pub(crate) struct Task {
    /// Vᵀ (n × m), divided by 2^`exponent`.
    pub x: Mat,
    exponent: i32,
    /// ½‖V‖², of the divided V.
    energy: f64,
    /// r.
    pub parts: usize,
}

/// W, and H with samples in rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// W (m × r).
    pub w: Mat,
    /// Hᵀ (n × r).
    pub h: Mat,
}

/// All that the parameters of such a method have in common; `iterate` is what it does with the first factors.
macro_rules! factorizes {
    ($params:ident, $iterate:path) => {
        impl Default for $params {
            fn default() -> Self {
                Self {
                    dim: $crate::Dim::Auto,
                    seed: 0,
                    start: $crate::model::factors::Start::Scaled,
                    max_iter: 1000,
                    tol: 1e-4,
                    normalize: $crate::Normalize::None,
                    unit_parts: true,
                    features: $crate::model::factors::Features::Nonnegative,
                }
            }
        }

        impl $crate::model::factors::PartSettings for $params {
            fn options(&self) -> $crate::model::factors::FactorOptions {
                let Self { dim, seed, start, max_iter, tol, normalize, unit_parts, features } = *self;
                $crate::model::factors::FactorOptions {
                    dim,
                    seed,
                    start,
                    max_iter,
                    tol,
                    normalize,
                    unit_parts,
                    features,
                }
            }
        }

        impl $crate::model::fitted::Fit for $params {
            type Model = $crate::model::factors::Factors<Self>;
            type Output = Self::Model;

            fn published() -> Option<Self> {
                Some(Self::as_published())
            }

            fn dim_mut(&mut self) -> Option<&mut $crate::Dim> {
                Some(&mut self.dim)
            }

            fn learn(
                &self,
                samples: $crate::data::Samples<'_>,
                _: Option<&$crate::data::Labels>,
                exec: $crate::Exec<'_>,
            ) -> Result<Self::Output, $crate::Error> {
                Ok(self.fit_transform_with(samples, exec)?.0)
            }
        }

        impl $params {
            /// The model, and Hᵀ (n × r): how much of each part is in each training sample, as the iteration left it.
            pub fn fit_transform_with<'a>(
                &self,
                samples: impl Into<$crate::data::Samples<'a>>,
                exec: $crate::Exec<'_>,
            ) -> Result<($crate::model::factors::Factors<Self>, $crate::Mat), $crate::Error> {
                self.fit_from(samples, None, exec)
            }

            /// The same, from the given factors; `dim`, `seed` and `start` then have no effect.
            pub fn fit_from<'a>(
                &self,
                samples: impl Into<$crate::data::Samples<'a>>,
                given: Option<$crate::method::parts::factorisation::Pair>,
                exec: $crate::Exec<'_>,
            ) -> Result<($crate::model::factors::Factors<Self>, $crate::Mat), $crate::Error> {
                let (samples, options) = (samples.into(), $crate::model::factors::PartSettings::options(self));
                let task = $crate::method::parts::factorisation::Task::open(samples, &options, given.as_ref(), exec)?;
                let pair = task.start(&options, given)?;
                let (pair, trace) = $iterate(&task, pair, &options, exec)?;
                $crate::model::factors::Factors::of(self, samples, &task, pair, trace)
            }
        }
    };
}
pub(crate) use factorizes;

impl Task {
    /// Reads the samples, refuses what cannot be factored and decides r: what `given` has, or what the options say.
    pub fn open(
        samples: Samples<'_>,
        options: &FactorOptions,
        given: Option<&Pair>,
        exec: Exec<'_>,
    ) -> Result<Self, Error> {
        options.check()?;
        let (n, m) = (samples.rows(), samples.cols());
        let scan = Scan::of(samples, exec)?;
        let z_score = options.normalize == Normalize::ZScore;
        if !z_score {
            nowhere_negative(n, m, |i, row| samples.read_row(i, 0..m, row))?;
        }
        let preparation = Preparation::learn(samples, &scan, options.normalize, false, None, exec)?;
        let mut x = preparation.matrix(samples, exec)?;
        if z_score {
            nowhere_negative(n, m, |i, row| row.copy_from_slice(x.row(i)))?;
        }
        let largest = x.as_slice().iter().fold(0.0f64, |most, v| most.max(*v));
        if largest == 0.0 {
            return Err(Error::AllZero { n, m, centred: z_score });
        }
        let exponent = Some(exponent_of(largest)).filter(|e| e.abs() > SAFE_EXPONENT).unwrap_or(0);
        if exponent != 0 {
            x.as_mut_slice().iter_mut().for_each(|v| *v = times_power_of_two(*v, -exponent));
        }
        let dim = given.map_or(options.dim, |pair| Dim::Fixed(pair.w.cols()));
        let parts = dimension(dim, samples, options.normalize, false, exec)?;
        if parts > n.min(m) {
            return Err(Error::DimTooLarge { asked: parts, most: n.min(m), n, m });
        }
        let energy = 0.5 * (0..n).map(|i| squares(x.row(i))).sum::<f64>();
        Ok(Self { x, exponent, energy, parts })
    }

    /// The factors to begin with: those given, or random ones.
    pub fn start(&self, options: &FactorOptions, given: Option<Pair>) -> Result<Pair, Error> {
        let (n, m, r) = (self.x.rows(), self.x.cols(), self.parts);
        if let Some(mut pair) = given {
            if (pair.w.rows(), pair.h.rows(), pair.h.cols()) != (m, n, r) {
                return Err(Error::Model(format!("expected factors of {m} × {r} and {n} × {r} to begin with")));
            }
            for factor in [&pair.w, &pair.h] {
                if let Some(bad) = factor.as_slice().iter().find(|v| !(v.is_finite() && **v >= 0.0)) {
                    return Err(Error::Parameter { name: "start", expected: "finite and not negative", got: *bad });
                }
            }
            pair.w.as_mut_slice().iter_mut().for_each(|w| *w = times_power_of_two(*w, -self.exponent));
            return Ok(pair);
        }
        let mean = (0..n).map(|i| self.x.row(i).iter().sum::<f64>()).sum::<f64>() / (n as f64 * m as f64);
        let size = match options.start {
            Start::Scaled => 2.0 * (mean / r as f64).sqrt(),
            Start::Uniform => 1.0,
        };
        let mut random = Normal::new(options.seed);
        let w = Mat::from_fn(m, r, |_, _| size * random.uniform());
        let h = Mat::from_fn(n, r, |_, _| size * random.uniform());
        Ok(Pair { w, h })
    }

    /// f, where W's half has looked at H, given the Gram matrices of W and H.
    pub fn objective(&self, now: &Halves<'_>, grams: [&Mat; 2], exec: Exec<'_>) -> Result<f64, Error> {
        let value = self.energy - now.agreement() + 0.5 * inner(grams[0].as_slice(), grams[1].as_slice());
        if value > LITTLE * self.energy { Ok(value) } else { self.residual(&now.pair(), exec) }
    }

    /// f from the residual.
    fn residual(&self, pair: &Pair, exec: Exec<'_>) -> Result<f64, Error> {
        let (n, m) = (self.x.rows(), self.x.cols());
        let height = stripe(m);
        let parts = exec.silent().map("residual", n.div_ceil(height), |part| {
            let rows = part * height..((part + 1) * height).min(n);
            let mut fit = vec![0.0; rows.len() * m];
            multiply(pair.h.view().some_rows(rows.clone()), pair.w.view().transposed(), &mut fit);
            let here = &self.x.as_slice()[rows.start * m..rows.end * m];
            0.5 * here.iter().zip(&fit).map(|(x, fit)| (x - fit) * (x - fit)).sum::<f64>()
        })?;
        Ok(parts.iter().sum())
    }

    /// ½‖V‖².
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// f in the samples' own units, as far as numbers reach.
    pub fn in_units(&self, objective: f64) -> f64 {
        times_power_of_two(objective, 2 * self.exponent).min(f64::MAX)
    }

    /// The factors in the samples' own units; parts of length one where that is requested.
    pub fn close(&self, mut pair: Pair, unit_parts: bool) -> Pair {
        if unit_parts {
            let columns = pair.w.transposed();
            let lengths: Vec<f64> = (0..self.parts).map(|j| norm(columns.row(j))).collect();
            let back = |length: f64| times_power_of_two(length, self.exponent);
            for i in 0..pair.w.rows() {
                let scaled = pair.w.row_mut(i).iter_mut().zip(&lengths);
                scaled.filter(|(_, length)| **length > 0.0).for_each(|(w, length)| *w /= length);
            }
            for i in 0..pair.h.rows() {
                pair.h.row_mut(i).iter_mut().zip(&lengths).for_each(|(h, length)| *h *= back(*length));
            }
        } else {
            pair.w.as_mut_slice().iter_mut().for_each(|w| *w = times_power_of_two(*w, self.exponent));
        }
        pair
    }
}

/// Rows of `width` values that stay in cache together with what is computed from them.
fn stripe(width: usize) -> usize {
    (16_384 / width.max(1)).clamp(16, 1024)
}

/// ⟨a, b⟩.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ‖a‖².
pub(crate) fn squares(a: &[f64]) -> f64 {
    dot(a, a)
}

fn nowhere_negative(n: usize, m: usize, read: impl Fn(usize, &mut [f64])) -> Result<(), Error> {
    let mut row = vec![0.0; m];
    for i in 0..n {
        read(i, &mut row);
        if let Some(column) = row.iter().position(|v| *v < 0.0) {
            return Err(Error::Negative { row: i, column, value: row[column] });
        }
    }
    Ok(())
}
