//! The linear support vector machine: a weight vector for each class, which gives samples of that class values above one and
//! all others values below minus one, as far as they can be told apart.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | x₁ … x_n | | training samples, prepared; with a bias, one more feature of that value |
//! | y₁ … y_n | `sides` | +1 for the samples of the class, −1 for all others |
//! | w | [`LinearSvm::weights`] | the weights of the class |
//! | C | [`LinearSvmParams::cost`] | the price of a sample on the wrong side of its margin |
//! | α ≥ 0 | `alpha` | how much each sample holds w; zero for those beyond their margin |
//!
//! ```text
//!     min over w    ½‖w‖² + C Σᵢ max(0, 1 − yᵢ w·xᵢ)²
//!     min over α≥0  ½‖Σᵢ αᵢ yᵢ xᵢ‖² + Σᵢ αᵢ²/(4C) − Σᵢ αᵢ            the same w = Σᵢ αᵢ yᵢ xᵢ
//!
//!     one α after the other, in random order, to the least of its parabola          linear_svm/descent.rs
//!     then, unless told otherwise, Newton's method to rounding                      linear_svm/newton.rs
//!
//!     class of x:   argmax_c  w_c·x,   of equal ones the class seen first in training
//! ```
//! One class against all others, for every class ([`decision`](LinearSvm::decision_with)). Two classes share one w, of opposite
//! sign.
//!
//! Hsieh et al. (2008), Fan et al. (2008), the problem and the descent; Keerthi, DeCoste (2005), the Newton steps —
//! `hsieh2008`, `fan2008`, `keerthi2005` in `docs/references.bib`. **Where we differ:** the descent ends with differences of up to
//! a tenth in the conditions of the optimum as published, and close to it it is slow. The function is made of quadratic
//! pieces, so that Newton's method finds the lowest point itself in a few steps; that is the default. With fewer samples than
//! features w is kept by its products with the samples (`linear_svm/margins.rs`), where a sample beyond its margin costs nothing.

mod descent;
mod margins;
mod model;
mod newton;
mod support_products;

use eigenspan_linalg::dense::product;
use eigenspan_linalg::random::Random;
use eigenspan_linalg::rows::energy;
use eigenspan_linalg::{Exec, Mat};

use self::descent::{Descent, Reached};
use self::margins::{ByFeatures, ByProducts, Margins, Problem};
pub use self::model::LinearSvm;
use self::newton::finish;
use super::exemplars::check_labels;
use crate::Error;
use crate::classify::dictionary::{Dictionary, check_squares};
use crate::data::{Labels, Samples};
use crate::model::fitted::{About, Fit, Needs, Outcome};
use crate::model::trace::{Stop, Trace};
use crate::prepare::{Normalize, Preparation, Scan};

/// Newton's method factors a matrix of the smaller side, up to this one.
const LARGEST_FACTOR: usize = 4096;

/// How near the descent comes before Newton's method takes over, and how many rounds it has for that.
const NEAR: (f64, usize) = (0.1, 20);

/// How the optimum is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SvmSolver {
    /// By coordinate descent as far as a tenth, then by Newton's method; by descent alone where samples and features are
    /// both more than 4096.
    #[default]
    Auto,
    /// By coordinate descent alone.
    Descent,
}

/// What is asked of the support vector machine.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearSvmParams {
    /// C.
    pub cost: f64,
    /// The value of one more feature that every sample has, so that the border between two classes need not go through the
    /// origin; its weight is penalised as the others are. `None` is no such feature.
    pub bias: Option<f64>,
    /// How far the slope of the problem in α may differ from sample to sample in the end.
    #[serde(alias = "tolerance")]
    pub tol: f64,
    /// Times that the descent goes through the samples, at most.
    #[serde(alias = "most_rounds", alias = "rounds")]
    pub max_iter: usize,
    /// How the optimum is looked for.
    pub solver: SvmSolver,
    /// How samples are scaled.
    pub normalize: Normalize,
    /// The seed of the order in which the descent takes the samples.
    pub seed: u64,
}

impl Default for LinearSvmParams {
    fn default() -> Self {
        Self {
            cost: 1.0,
            bias: None,
            tol: 1e-6,
            max_iter: 1000,
            solver: SvmSolver::Auto,
            normalize: Normalize::None,
            seed: 0,
        }
    }
}

impl Fit for LinearSvmParams {
    type Model = LinearSvm;
    const NEEDS: Needs = Needs::LABELS;

    fn published() -> Option<Self> {
        Some(Self::as_published())
    }

    fn cap(&mut self, _max: usize) {}

    fn learn(
        &self,
        samples: Samples<'_>,
        labels: Option<&Labels>,
        exec: Exec<'_>,
    ) -> Result<Outcome<LinearSvm>, Error> {
        Ok(self.fit_with(samples, labels.ok_or(Error::NoLabels)?, exec)?.into())
    }
}

impl LinearSvmParams {
    /// The paper's SVM: LIBLINEAR with all its defaults, which are C = 1, no bias, and descent to a tenth.
    pub fn as_published() -> Self {
        Self { tol: 0.1, solver: SvmSolver::Descent, ..Self::default() }
    }

    /// Learns from samples in rows and their classes, on all cores.
    pub fn fit<'a>(&self, samples: impl Into<Samples<'a>>, labels: &Labels) -> Result<LinearSvm, Error> {
        self.fit_with(samples, labels, Exec::default())
    }

    /// Learns from samples and classes, on as many threads as `exec` says and under its eyes. The result does not depend on
    /// it.
    pub fn fit_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        labels: &Labels,
        exec: Exec<'_>,
    ) -> Result<LinearSvm, Error> {
        let samples = samples.into();
        self.check()?;
        check_labels(samples, labels)?;
        let scan = Scan::of(samples, exec)?;
        let preparation = Preparation::learn(samples, &scan, self.normalize, false, None, exec)?;
        let m = samples.cols();
        let x = self.with_bias(preparation.matrix(samples, exec)?);
        check_squares(&x)?;
        let classes = in_order_of_appearance(labels);
        let found = self.solve_each(&x, labels, &classes, exec)?;
        let trace = self.trace(&found);
        let why = format!("{} classes are told apart by {} weights each", classes.len(), m);
        let mut model = LinearSvm {
            about: About::new(self, samples, why).with_trace(trace),
            preparation,
            weights: Mat::from_fn(classes.len(), m, |c, j| found[c].w[j]),
            offsets: self.bias.map(|bias| found.iter().map(|class| class.w[m] * bias).collect()),
            objectives: found.iter().map(|class| class.objective).collect(),
            classes,
            names: labels.names.clone(),
        };
        model.about.warnings.extend(scan.zero_sample_warning(self.normalize));
        model.checked()
    }

    fn check(&self) -> Result<(), Error> {
        let refuse = |name, expected, got| Err(Error::Parameter { name, expected, got });
        let positive = |value: f64| value > 0.0 && value.is_finite();
        match self {
            _ if !positive(self.cost) => refuse("cost", "a positive number", self.cost),
            _ if !positive(self.tol) => refuse("tol", "a positive number", self.tol),
            _ if self.max_iter == 0 => refuse("max_iter", "at least 1", 0.0),
            Self { bias: Some(bias), .. } if !positive(*bias) => refuse("bias", "a positive number, or none", *bias),
            _ => Ok(()),
        }
    }

    fn with_bias(&self, x: Mat) -> Mat {
        let Some(bias) = self.bias else { return x };
        let m = x.cols();
        Mat::from_fn(x.rows(), m + 1, |i, j| if j < m { x.at(i, j) } else { bias })
    }

    /// The weights of each class, in the order of `classes`.
    fn solve_each(&self, x: &Mat, labels: &Labels, classes: &[usize], exec: Exec<'_>) -> Result<Vec<OneClass>, Error> {
        let (n, m) = (x.rows(), x.cols());
        // Products of all samples take n² numbers: where that is less than the samples themselves, they serve better.
        let products = if n < m { Some(Dictionary::of(x, exec.silent())?) } else { None };
        let total = match products.is_none() && self.by_newton(x) {
            true => product(x.view().transposed(), x.view(), exec.silent())?,
            false => Mat::zeros(0, 0),
        };
        let squares: Vec<f64> = (0..n).map(|i| energy(x.row(i))).collect();
        // Two classes are one problem seen from both sides.
        let problems = if classes.len() == 2 { 1 } else { classes.len() };
        let found = exec.map("weights", problems, |c| {
            let sides: Vec<f64> = labels.of.iter().map(|of| if *of == classes[c] { 1.0 } else { -1.0 }).collect();
            let problem = Problem { x, sides: &sides, cost: self.cost, squares: &squares };
            match &products {
                Some(products) => self.solve(&problem, ByProducts::new(products.gram()), c, exec),
                None => self.solve(&problem, ByFeatures::new(x, &total), c, exec),
            }
        })?;
        let mut found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        if classes.len() == 2 {
            let other = found[0].w.iter().map(|w| -w).collect();
            found.push(OneClass { w: other, ..found[0] });
        }
        Ok(found)
    }

    /// Whether Newton's method ends it: its matrix has the order of the smaller side.
    fn by_newton(&self, x: &Mat) -> bool {
        self.solver == SvmSolver::Auto && x.rows().min(x.cols()) <= LARGEST_FACTOR
    }

    fn solve(
        &self,
        problem: &Problem<'_>,
        zero: impl Margins,
        class: usize,
        exec: Exec<'_>,
    ) -> Result<OneClass, Error> {
        let newton = self.by_newton(problem.x);
        let descent = if newton {
            Descent { tolerance: self.tol.max(NEAR.0), max_iter: self.max_iter.min(NEAR.1) }
        } else {
            Descent { tolerance: self.tol, max_iter: self.max_iter }
        };
        let seed = self.seed.wrapping_add(Random::new(class as u64).bits());
        let mut reached = descent.run(problem, zero, seed, exec)?;
        let mut rounds = reached.rounds;
        if newton {
            reached = finish(problem, reached.margins, self.tol, exec)?;
            rounds += reached.rounds;
        }
        let objective = problem.objective(&reached.margins);
        let Reached { margins, violation, converged, .. } = reached;
        Ok(OneClass { w: margins.weights(problem.x), objective, rounds, violation, converged })
    }

    /// The class that is furthest from its optimum speaks for all.
    fn trace(&self, found: &[OneClass]) -> Trace {
        let worst = found.iter().map(|class| class.violation).fold(0.0, f64::max);
        let rounds = found.iter().map(|class| class.rounds).max().unwrap_or(0);
        let stop = if found.iter().all(|class| class.converged) { Stop::Converged } else { Stop::RoundsUsedUp };
        Trace { measure: "largest violation in the end".into(), values: vec![worst], rounds, stop }
    }
}

/// What was found for one class.
struct OneClass {
    w: Vec<f64>,
    objective: f64,
    rounds: usize,
    violation: f64,
    converged: bool,
}

/// The classes that have samples, in the order of their first ones.
fn in_order_of_appearance(labels: &Labels) -> Vec<usize> {
    let mut seen = vec![false; labels.names.len()];
    labels.of.iter().copied().filter(|class| !std::mem::replace(&mut seen[*class], true)).collect()
}
