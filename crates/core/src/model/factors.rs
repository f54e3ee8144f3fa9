//! The model of the methods that take non-negative samples apart into non-negative parts: V ≈ WH.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | V (m × n) | `samples` = Vᵀ | samples, in our rows |
//! | W (m × r) | [`Factors::w`] | the parts, one in each column; never negative |
//! | H (r × n) | returned beside the model, as Hᵀ | how much of each part is in each training sample |
//!
//! ```text
//!     z = argmin_h≥0 ‖x − Wh‖        the amounts of the parts in x          (Features::Nonnegative)
//!     z = Wᵀx                        how much x looks like each part        (Features::Projected)
//!     z = Qᵀx,  W = QR               where x lies among the parts           (Features::Orthonormal)
//! ```
//! The first is what H is for the training samples, exact ([`crate::method::parts::nonnegative`]). Of the others one or the other is what
//! the experiments of the PCE paper are consistent with (`docs/studies/methods.md`). Parts overlap, so that all features of
//! the second carry the common brightness; the third counts what they share once.
//!
//! None of them asks for x ≥ 0: a new sample may be a little negative where the training samples were zero.

use std::borrow::Cow;

use eigenspan_linalg::polish::polish;
use eigenspan_linalg::{Exec, Mat};

use crate::data::{ImageShape, Matrix, Samples};
use crate::method::parts::factorisation::{Pair, Task};
use crate::method::parts::nonnegative::Nonnegative;
use crate::method::parts::project::{STRETCH, check_features, in_numbers_of, project, read_prepared};
use crate::model::fitted::{About, Fitted, ModelInfo, Settings};
use crate::model::record::{Arrays, Record};
use crate::model::trace::Trace;
use crate::prepare::Preparation;
use crate::{Dim, Error, Normalize};

/// What the features of a sample are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Features {
    /// The amounts of the parts that come closest to the sample, none of them negative.
    #[default]
    Nonnegative,
    /// Wᵀx.
    Projected,
    /// Qᵀx for an orthonormal basis Q of the parts: distances are those of the samples' projections on their span.
    Orthonormal,
}

/// How large the random factors are that the iteration begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Uniform, and so large that WH has the mean of V.
    #[default]
    Scaled,
    /// Uniform between 0 and 1, whatever the units of V.
    Uniform,
}

/// What is asked of any of these methods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// How many parts.
    pub dim: Dim,
    /// Of the random numbers to begin with.
    pub seed: u64,
    /// How large these are.
    pub start: Start,
    /// Rounds at most.
    pub max_iter: usize,
    /// When to stop.
    pub tol: f64,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// Whether parts are scaled to length one.
    pub unit_parts: bool,
    /// What the features of a sample are.
    pub features: Features,
}

impl Asked {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.max_iter == 0 {
            return Err(Error::Parameter { name: "max_iter", expected: "at least 1", got: 0.0 });
        }
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            return Err(Error::Parameter { name: "tol", expected: "0 or more", got: self.tol });
        }
        Ok(())
    }
}

/// The settings of a method whose model is [`Factors`].
pub trait PartSettings: Settings {
    /// What is asked, in the words all of these methods share.
    fn asked(&self) -> Asked;
}

/// Parts learnt by the method whose settings are `P`.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors<P> {
    /// What is known besides the arrays.
    pub about: About<P>,
    /// W (m × r).
    pub w: Mat,
}

impl<P: PartSettings> Factors<P> {
    /// The features of each sample, on all cores.
    pub fn transform<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Matrix, Error> {
        self.transform_with(samples.into(), Exec::default())
    }

    /// The model, if its parts belong together.
    pub fn checked(self) -> Result<Self, Error> {
        let (m, r) = (self.w.rows(), self.w.cols());
        self.about.check(m)?;
        let say = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(Error::Model(fault.into())) };
        say(r > 0, "there are no parts")?;
        say(r <= m, "there are more parts than features")?;
        say(self.w.as_slice().iter().all(|w| w.is_finite() && *w >= 0.0), "a part is negative or not finite")?;
        say(self.about.params.asked().normalize != Normalize::ZScore, "parts cannot be those of z-scores")?;
        Ok(self)
    }

    /// The model and Hᵀ of factors that `task` ended with.
    pub(crate) fn of(
        params: &P,
        samples: Samples<'_>,
        task: &Task,
        pair: Pair,
        trace: Trace,
    ) -> Result<(Self, Mat), Error> {
        let left = trace.values.last().copied().unwrap_or(0.0) / task.in_units(task.energy());
        let why = format!(
            "{} parts explain {:.2} % of the samples' energy after {} rounds",
            task.parts,
            100.0 * (1.0 - left),
            trace.rounds
        );
        let Pair { w, h } = task.close(pair, params.asked().unit_parts);
        Ok((Self { about: About::new(params, samples, why).with_trace(trace), w }.checked()?, h))
    }
}

impl<P: PartSettings> Fitted for Factors<P> {
    fn info(&self) -> ModelInfo<'_> {
        self.about.info()
    }

    fn features(&self) -> usize {
        self.w.rows()
    }

    fn columns(&self) -> usize {
        self.w.cols()
    }

    fn scaling(&self) -> Normalize {
        self.about.params.asked().normalize
    }

    fn unit_features(&self) -> bool {
        false
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.about.image = Some(shape);
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        let (n, m, r) = (samples.rows(), self.w.rows(), self.w.cols());
        check_features(samples, m)?;
        let asked = self.about.params.asked();
        let preparation = Preparation::scaling(asked.normalize);
        let basis = match asked.features {
            Features::Nonnegative => None,
            Features::Projected => Some(Cow::Borrowed(&self.w)),
            Features::Orthonormal => Some(Cow::Owned(polish(self.w.clone(), exec.silent())?)),
        };
        if let Some(basis) = basis {
            let (_, rows) = project(samples, &preparation, &basis, |_| (), exec)?;
            return Ok(in_numbers_of(samples, rows));
        }
        let solver = Nonnegative::new(&self.w, exec.silent())?;
        // Few samples a piece: their work differs.
        let height = STRETCH / 8;
        let stretches = exec.map("transform", n.div_ceil(height), |part| {
            let rows = part * height..((part + 1) * height).min(n);
            let (_, x) = read_prepared(samples, &preparation, rows)?;
            let mut h = vec![0.0; x.rows() * r];
            solver.solve(x.as_slice(), &mut h);
            Ok::<_, Error>(h)
        })?;
        let values: Vec<f64> = stretches.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        Ok(in_numbers_of(samples, Mat::from_vec(n, r, values).expect("one row a sample")))
    }
}

impl<P: PartSettings> Record for Factors<P> {
    type Params = P;
    type Facts = About<P>;

    fn params(&self) -> &P {
        &self.about.params
    }

    fn take_apart(&self) -> (About<P>, Arrays) {
        (self.about.clone(), Arrays::default().with("w", self.w.clone()))
    }

    fn put_together(about: About<P>, mut arrays: Arrays) -> Result<Self, Error> {
        let w = arrays.take("w")?;
        arrays.finish()?;
        Self { about, w }.checked()
    }
}
