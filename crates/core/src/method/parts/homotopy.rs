//! Sparse codes: a sample as a combination of few atoms, by following the solution as the penalty falls.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A, G = AᵀA | [`Dictionary`] | n atoms, known by their products |
//! | y; b = Aᵀy, ‖y‖² | `correlations`, `square` | the sample, known by its products with the atoms |
//! | x | [`Code::entries`] | the code |
//! | μ | `mu` | the penalty that x is the solution for, from ‖b‖∞ down to λ |
//! | S, z | `support`, `signs` | atoms with x ≠ 0 (or about to be), and their signs |
//! | c | `c` | Aᵀ(y − Ax), what the atoms have in common with the rest of y |
//!
//! ```text
//!     min  λ‖x‖₁ + ½‖y − Ax‖²        solved by x if and only if  c_i = λ sign x_i  where x_i ≠ 0,   |c_j| ≤ λ  elsewhere
//!
//!     x = 0, μ = ‖b‖∞, S = {the atom that reaches it}
//!     repeat                                                     x(μ) is made of straight pieces: on each
//!         d = G_SS⁻¹ z,  u = G_:S d                              dx/dμ = −d,  dc/dμ = u
//!         δ = the least step at which   |c_j − δu_j| = μ − δ     the atom j enters with the sign of c_j
//!                                       x_i + δd_i = 0           the atom i leaves
//!         x ← x + δd,  c ← c − δu,  μ ← μ − δ                    no further than to μ = λ
//! ```
//! [`PathStop::Exact`] follows the path to λ, solves for x once more on the support found, and checks the conditions above
//! for every atom: a code that misses them by more than rounding is not [`converged`](Code::converged).
//! [`PathStop::Published`] is the rule of the program behind the paper's numbers: it ends as soon as a step lowers
//! λ‖x‖₁ + ½‖y − Ax‖² by less than a share of it. That is most often long before λ, and regularises more than λ says.
//!
//! A step costs O(n|S| + |S|²), and most of it is u. The largest δ that is still allowed is known before u is read, so the
//! search for a lesser one is |c_j − δu_j| > μ − δ, without a division. Atoms that take no part have c = u = 0. Atoms that
//! the support can express already (the Schur complement at rounding: duplicates, collinear atoms) are not taken in; their
//! c_j falls with μ as that of the support does, so the conditions hold, until the support loses an atom. From G alone an atom
//! can be told from the support's span down to a distance of 1e-7 of its length, and for atoms nearer than that the
//! conditions are checked to 1e-7 of what is left of y.
//!
//! Osborne, Presnell, Turlach (2000); Efron et al. (2004); Donoho, Tsaig (2008); Asif, Romberg (2010) — `osborne2000`,
//! `efron2004`, `donoho2008`, `asif2010` in `docs/references.bib`. **Where we differ:** a factor that is updated
//! ([`Growing`]) in place of an inverse; an atom that has just left may come back with the other sign; atoms that reach μ
//! together enter one after the other; where ‖b‖∞ ≤ λ the code is zero.

mod exact;
mod published;

use eigenspan_linalg::growing::Growing;
use eigenspan_linalg::rows::combine;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
pub use crate::classify::dictionary::Dictionary;

/// Samples coded at a time, by one thread with one set of arrays.
const PIECE: usize = 8;
/// So many steps of length zero in a row are one too many.
const MOST_IDLE: usize = 500;
/// Atoms with less than this share of their square outside the support's span are not taken in: it is lost in the rounding of
/// G. Where a path fails its check it is followed once more with the second, larger share.
const COLLINEAR: [f64; 2] = [1e-14, 1e-11];
/// The same for the published rule.
const COLLINEAR_PUBLISHED: f64 = 1e-12;
/// How far the conditions may be missed, as a share of ‖b‖∞: rounding, of G and of what is solved with it.
const ROUNDING: f64 = 1e-10;
const ULP: f64 = f64::EPSILON;

/// When the path ends before its steps are used up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum PathStop {
    /// At λ.
    #[default]
    Exact,
    /// At λ, or where one step lowers the objective by no more than this share.
    Published {
        /// The share.
        tolerance: f64,
    },
}

impl From<Option<f64>> for PathStop {
    fn from(tolerance: Option<f64>) -> Self {
        tolerance.map_or(Self::Exact, |tolerance| Self::Published { tolerance })
    }
}

/// Parameters of the codes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Homotopy {
    /// λ.
    pub lambda: f64,
    /// When the path ends.
    pub stop: PathStop,
    /// Steps of one path, at most.
    pub max_iter: usize,
    /// Whether x ≥ 0 is asked for.
    pub nonnegative: bool,
}

/// Why a path ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// λ was reached.
    Target,
    /// A step lowered the objective by too little ([`PathStop::Published`]).
    Tolerance,
    /// The steps that were allowed were used up.
    StepsUsedUp,
    /// It moved no more, or the conditions are missed by more than rounding.
    Stuck,
}

/// A sparse code.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// Atoms in ascending order, and their coefficients; none is zero.
    pub entries: Vec<(usize, f64)>,
    /// The penalty that the code is the solution for: λ, or where the path ended before.
    pub reached: f64,
    /// Steps done.
    pub steps: usize,
    /// λ‖x‖₁ + ½‖y − Ax‖², with the λ that was asked for.
    pub objective: f64,
    /// Why the path ended.
    pub ended: Ended,
}

impl Code {
    /// Whether the code is what was asked for, and not only what the steps allowed.
    pub fn converged(&self) -> bool {
        matches!(self.ended, Ended::Target | Ended::Tolerance)
    }
}

impl Homotopy {
    /// Refuses what cannot be asked.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |name, expected, got| Err(Error::Parameter { name, expected, got });
        match self.stop {
            _ if !(self.lambda > 0.0 && self.lambda.is_finite()) => refuse("lambda", "a positive number", self.lambda),
            _ if self.max_iter == 0 => refuse("max_iter", "at least 1", 0.0),
            PathStop::Published { tolerance } if !(tolerance >= 0.0 && tolerance.is_finite()) => {
                refuse("tol", "zero or a positive number", tolerance)
            }
            _ => Ok(()),
        }
    }

    /// The code of one sample y with `correlations` Aᵀy and the given ‖y‖². The atom `without` takes no part.
    pub fn solve(&self, dictionary: &Dictionary, correlations: &[f64], square: f64, without: Option<usize>) -> Code {
        Path::new(self, dictionary).follow(correlations, square, without)
    }

    /// The code of every atom over the others.
    pub fn of_each_other(&self, dictionary: &Dictionary, exec: Exec<'_>) -> Result<Vec<Code>, Error> {
        let gram = dictionary.gram();
        self.of_samples(dictionary, exec, |i| (gram.row(i), gram.at(i, i), Some(i)), dictionary.len())
    }

    /// The code of every sample whose Aᵀy is a row of `correlations`.
    pub fn of_queries(
        &self,
        dictionary: &Dictionary,
        correlations: &Mat,
        squares: &[f64],
        exec: Exec<'_>,
    ) -> Result<Vec<Code>, Error> {
        self.of_samples(dictionary, exec, |i| (correlations.row(i), squares[i], None), correlations.rows())
    }

    fn of_samples<'a>(
        &self,
        dictionary: &Dictionary,
        exec: Exec<'_>,
        sample: impl Fn(usize) -> (&'a [f64], f64, Option<usize>) + Sync,
        count: usize,
    ) -> Result<Vec<Code>, Error> {
        self.check()?;
        let pieces = exec.map("code", count.div_ceil(PIECE), |piece| {
            let mut path = Path::new(self, dictionary);
            let code = |i| {
                let (correlations, square, without) = sample(i);
                path.follow(correlations, square, without)
            };
            (piece * PIECE..((piece + 1) * PIECE).min(count)).map(code).collect::<Vec<_>>()
        })?;
        Ok(pieces.into_iter().flatten().collect())
    }
}

/// What ends a straight piece of the path.
enum Change {
    /// The atom enters with this sign.
    Enter(usize, f64),
    /// The atom at this place of the support leaves.
    Leave(usize),
}

/// A path and its arrays, which serve one sample after the other.
struct Path<'a> {
    asked: &'a Homotopy,
    gram: &'a Mat,
    factor: Growing,
    support: Vec<usize>,
    signs: Vec<f64>,
    x: Vec<f64>,
    d: Vec<f64>,
    c: Vec<f64>,
    u: Vec<f64>,
    /// Atoms outside the support that take no part: the one that is left out first, then those that were refused.
    closed: Vec<usize>,
    left_out: usize,
    /// The share of an atom's square that has to be new.
    least_new: f64,
    /// The atom that left in the last step, and its sign.
    last_left: Option<(usize, f64)>,
    mu: f64,
    steps: usize,
}

impl<'a> Path<'a> {
    fn new(asked: &'a Homotopy, dictionary: &'a Dictionary) -> Self {
        let n = dictionary.len();
        Self {
            asked,
            gram: dictionary.gram(),
            factor: Growing::new(),
            support: vec![],
            signs: vec![],
            x: vec![],
            d: vec![],
            c: vec![0.0; n],
            u: vec![0.0; n],
            closed: vec![],
            left_out: 0,
            least_new: 0.0,
            last_left: None,
            mu: 0.0,
            steps: 0,
        }
    }

    fn follow(&mut self, b: &[f64], square: f64, without: Option<usize>) -> Code {
        let lambda = self.asked.lambda.max(0.0);
        let Some(first) = self.start(b, without).filter(|_| self.mu > lambda) else {
            return Code { entries: vec![], reached: lambda, steps: 0, objective: square / 2.0, ended: Ended::Target };
        };
        let ended = match self.asked.stop {
            PathStop::Exact => {
                let follow = |least_new: f64| {
                    self.start(b, without);
                    self.least_new = least_new;
                    self.enter(first, b[first].signum());
                    self.exact(b, square, lambda)
                };
                let mut attempts = COLLINEAR.into_iter().map(follow);
                attempts.find(|ended| *ended != Ended::Stuck).unwrap_or(Ended::Stuck)
            }
            PathStop::Published { tolerance } => {
                self.least_new = COLLINEAR_PUBLISHED;
                self.enter(first, b[first].signum());
                self.published(b, square, lambda, tolerance)
            }
        };
        let objective = self.objective(b, square, lambda);
        let entries = self.support.iter().copied().zip(self.x.iter().copied());
        let mut entries: Vec<(usize, f64)> = entries.filter(|(_, x)| *x != 0.0).collect();
        entries.sort_unstable_by_key(|(j, _)| *j);
        Code { entries, reached: self.mu, steps: self.steps, objective, ended }
    }

    /// x = 0. The atom with the largest correlation, the first of them.
    fn start(&mut self, b: &[f64], without: Option<usize>) -> Option<usize> {
        assert_eq!(b.len(), self.c.len(), "a correlation for each atom");
        self.factor.clear();
        for numbers in [&mut self.x, &mut self.d, &mut self.signs] {
            numbers.clear();
        }
        self.support.clear();
        self.closed.clear();
        self.c.copy_from_slice(b);
        self.closed.extend(without);
        self.left_out = self.closed.len();
        self.closed.iter().for_each(|j| self.c[*j] = 0.0);
        (self.mu, self.steps, self.last_left) = (0.0, 0, None);
        let mut first = None;
        for (j, c) in self.c.iter().enumerate() {
            let size = if self.asked.nonnegative { *c } else { c.abs() };
            if size > self.mu {
                (self.mu, first) = (size, Some(j));
            }
        }
        first
    }

    /// d, and u, which is zero for the atoms that take no part.
    fn direct(&mut self) {
        self.d.clear();
        self.d.extend_from_slice(&self.signs);
        self.factor.solve(&mut self.d);
        combine(self.gram.as_slice(), &self.support, &self.d, &mut self.u);
        self.support.iter().chain(&self.closed).for_each(|j| self.u[*j] = 0.0);
    }

    fn advance(&mut self, step: f64) {
        self.x.iter_mut().zip(&self.d).for_each(|(x, d)| *x += step * d);
        self.c.iter_mut().zip(&self.u).for_each(|(c, u)| *c -= step * u);
    }

    /// Takes an atom into the support, unless the support can express it.
    fn enter(&mut self, j: usize, sign: f64) {
        let (row, square) = (self.gram.row(j), self.gram.at(j, j));
        self.c[j] = 0.0;
        if self.factor.push(self.support.iter().map(|i| row[*i]), square, self.least_new * square) {
            self.support.push(j);
            self.signs.push(sign);
            self.x.push(0.0);
        } else {
            self.closed.push(j);
        }
    }

    /// Takes the atom at `place` out of the support. Those that were refused may now be wanted.
    fn leave(&mut self, place: usize, b: &[f64]) {
        self.factor.remove(place);
        let (j, sign) = (self.support.remove(place), self.signs.remove(place));
        self.x.remove(place);
        self.c[j] = sign * self.mu;
        self.last_left = Some((j, sign));
        for j in self.closed.drain(self.left_out..) {
            let row = self.gram.row(j);
            self.c[j] = b[j] - self.support.iter().zip(&self.x).map(|(i, x)| row[*i] * x).sum::<f64>();
        }
    }

    /// λ‖x‖₁ + ½‖y − Ax‖² at a point of the path, where c = μz on the support: xᵀGx = xᵀ(b − c).
    fn objective(&self, b: &[f64], square: f64, lambda: f64) -> f64 {
        let atoms = self.support.iter().zip(&self.signs).zip(&self.x);
        let (length, product) = atoms
            .fold((0.0, 0.0), |(length, product), ((j, z), x)| (length + x.abs(), product + x * (b[*j] + self.mu * z)));
        lambda * length + ((square - product) / 2.0).max(0.0)
    }
}
