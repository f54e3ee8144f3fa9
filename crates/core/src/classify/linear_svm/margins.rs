//! A weight vector, by itself or by its products with the samples.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | w | [`ByFeatures`] | m numbers: w·x costs m steps, and so does w + a·x |
//! | w = Σ βᵢ xᵢ, f = Xw | [`ByProducts`] | with K = XXᵀ at hand, w·xᵢ = fᵢ is there already, and w + a·xᵢ costs n steps |
//!
//! What is done with w is the same for both.

use eigenspan_linalg::Mat;
use eigenspan_linalg::dense::{Cholesky, multiply};
use eigenspan_linalg::rows::{add_scaled, combine, dot};

use super::support_products::SupportProducts;

/// One class against all others.
pub(crate) struct Problem<'a> {
    /// Samples in rows.
    pub x: &'a Mat,
    /// +1 or −1 for each sample.
    pub sides: &'a [f64],
    /// C.
    pub cost: f64,
    /// ‖x‖² of each sample.
    pub squares: &'a [f64],
}

impl Problem<'_> {
    /// ½‖w‖² + C Σ max(0, 1 − y w·x)².
    pub fn objective(&self, w: &impl Margins) -> f64 {
        let short = |(f, y): (f64, &f64)| (1.0 - y * f).max(0.0).powi(2);
        w.dot(w) / 2.0 + self.cost * w.all().into_iter().zip(self.sides).map(short).sum::<f64>()
    }

    /// Samples short of their margin.
    pub fn support(&self, margins: &[f64]) -> Vec<usize> {
        (0..margins.len()).filter(|&i| self.sides[i] * margins[i] < 1.0).collect()
    }
}

/// A weight vector w.
pub(crate) trait Margins: Clone {
    /// w·x of sample i.
    fn at(&self, i: usize) -> f64;
    /// w + amount · x of sample i.
    fn add(&mut self, i: usize, amount: f64);
    /// w·x of every sample.
    fn all(&self) -> Vec<f64>;
    /// w·v.
    fn dot(&self, v: &Self) -> f64;
    /// w + t (v − w).
    fn toward(&mut self, v: &Self, t: f64);
    /// Σ c x of some samples.
    fn of(&self, which: &[usize], c: &[f64]) -> Self;
    /// The least of ½‖w‖² + C Σ (1 − y w·x)² over some samples; `None` where that is lost in rounding. What is `known`
    /// from the step before may serve, and is left for the next.
    fn least_squares(
        &self,
        support: &[usize],
        problem: &Problem<'_>,
        known: &mut Option<SupportProducts>,
    ) -> Option<Self>;
    /// w.
    fn weights(self, x: &Mat) -> Vec<f64>;
}

/// w itself.
#[derive(Clone)]
pub(crate) struct ByFeatures<'a> {
    x: &'a Mat,
    /// XᵀX; nothing where no least squares are requested.
    total: &'a Mat,
    w: Vec<f64>,
}

impl<'a> ByFeatures<'a> {
    /// w = 0.
    pub fn new(x: &'a Mat, total: &'a Mat) -> Self {
        Self { x, total, w: vec![0.0; x.cols()] }
    }
}

impl Margins for ByFeatures<'_> {
    fn at(&self, i: usize) -> f64 {
        dot(self.x.row(i), &self.w)
    }

    fn add(&mut self, i: usize, amount: f64) {
        add_scaled(&mut self.w, amount, self.x.row(i));
    }

    fn all(&self) -> Vec<f64> {
        (0..self.x.rows()).map(|i| self.at(i)).collect()
    }

    fn dot(&self, v: &Self) -> f64 {
        dot(&self.w, &v.w)
    }

    fn toward(&mut self, v: &Self, t: f64) {
        self.w.iter_mut().zip(&v.w).for_each(|(w, v)| *w += t * (v - *w));
    }

    fn of(&self, which: &[usize], c: &[f64]) -> Self {
        let mut w = vec![0.0; self.w.len()];
        combine(self.x.as_slice(), which, c, &mut w);
        Self { w, ..*self }
    }

    /// By the cheaper of two systems: (XXᵀ + I/2C) β = y and w = Xᵀβ, or (XᵀX + I/2C) w = Xᵀy.
    fn least_squares(
        &self,
        support: &[usize],
        problem: &Problem<'_>,
        known: &mut Option<SupportProducts>,
    ) -> Option<Self> {
        let (count, m) = (support.len(), self.w.len());
        let sides: Vec<f64> = support.iter().map(|&i| problem.sides[i]).collect();
        // Multiplications for the matrix of the system, and for its factor.
        let work = |order: usize, inner: usize| order as f64 * order as f64 * (inner as f64 + order as f64 / 6.0);
        let changes = SupportProducts::cost(known.as_ref(), support, self.x.rows());
        if work(count, m) <= work(m, changes) {
            let rows = self.x.select_rows(support);
            let mut products = Mat::zeros(count, count);
            multiply(rows.view(), rows.view().transposed(), products.as_mut_slice());
            let beta = solve(&products, 0.5 / problem.cost, sides)?;
            return Some(self.of(support, &beta));
        }
        let before = known.take();
        let products = known.insert(SupportProducts::of(before, support, self.x, self.total));
        let target = self.of(support, &sides).w;
        Some(Self { w: solve(products.matrix(), 0.5 / problem.cost, target)?, ..*self })
    }

    fn weights(self, _: &Mat) -> Vec<f64> {
        self.w
    }
}

/// w by its products with the samples.
#[derive(Clone)]
pub(crate) struct ByProducts<'a> {
    gram: &'a Mat,
    beta: Vec<f64>,
    f: Vec<f64>,
}

impl<'a> ByProducts<'a> {
    /// w = 0.
    pub fn new(gram: &'a Mat) -> Self {
        Self { gram, beta: vec![0.0; gram.rows()], f: vec![0.0; gram.rows()] }
    }
}

impl Margins for ByProducts<'_> {
    fn at(&self, i: usize) -> f64 {
        self.f[i]
    }

    fn add(&mut self, i: usize, amount: f64) {
        self.beta[i] += amount;
        add_scaled(&mut self.f, amount, self.gram.row(i));
    }

    fn all(&self) -> Vec<f64> {
        self.f.clone()
    }

    fn dot(&self, v: &Self) -> f64 {
        dot(&self.beta, &v.f)
    }

    fn toward(&mut self, v: &Self, t: f64) {
        self.beta.iter_mut().zip(&v.beta).for_each(|(w, v)| *w += t * (v - *w));
        self.f.iter_mut().zip(&v.f).for_each(|(w, v)| *w += t * (v - *w));
    }

    fn of(&self, which: &[usize], c: &[f64]) -> Self {
        let mut new = Self { gram: self.gram, beta: vec![0.0; self.f.len()], f: vec![0.0; self.f.len()] };
        which.iter().zip(c).for_each(|(i, c)| new.beta[*i] = *c);
        combine(self.gram.as_slice(), which, c, &mut new.f);
        new
    }

    fn least_squares(&self, support: &[usize], problem: &Problem<'_>, _: &mut Option<SupportProducts>) -> Option<Self> {
        let count = support.len();
        let products = Mat::from_fn(count, count, |i, j| self.gram.at(support[i], support[j]));
        let sides = support.iter().map(|&i| problem.sides[i]).collect();
        Some(self.of(support, &solve(&products, 0.5 / problem.cost, sides)?))
    }

    fn weights(self, x: &Mat) -> Vec<f64> {
        let held: Vec<usize> = (0..self.beta.len()).filter(|&i| self.beta[i] != 0.0).collect();
        let beta: Vec<f64> = held.iter().map(|&i| self.beta[i]).collect();
        let mut w = vec![0.0; x.cols()];
        combine(x.as_slice(), &held, &beta, &mut w);
        w
    }
}

/// (A + ridge·I)⁻¹ b, refined once: with pixels of up to 255 A is a million times its ridge.
fn solve(a: &Mat, ridge: f64, b: Vec<f64>) -> Option<Vec<f64>> {
    let mut shifted = a.clone();
    (0..a.rows()).for_each(|i| shifted.row_mut(i)[i] += ridge);
    let factor = Cholesky::of(shifted)?;
    let mut solution = b.clone();
    factor.solve(&mut solution);
    let mut rest: Vec<f64> = (0..a.rows()).map(|i| b[i] - ridge * solution[i] - dot(a.row(i), &solution)).collect();
    factor.solve(&mut rest);
    solution.iter_mut().zip(&rest).for_each(|(x, r)| *x += r);
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}
