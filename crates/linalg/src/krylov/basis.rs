//! The orthonormal basis Q = [Q₁ Q₂ …] of a block Krylov space, which gains a block with every step.
//!
//! ```text
//!     W = A Qⱼ                       the operator, once
//!     W ← W − [Qⱼ₋₁ Qⱼ] H            the part that is large: Aⱼ is the lower half of H
//!     W = V R₁                       Cholesky of WᵀW
//!     V ← V − Q (QᵀV)                what rounding left along ALL earlier blocks, now that V has length one
//!     V = Qⱼ₊₁ R₂                    Cholesky again:  Bⱼ = R₂ R₁
//! ```
//! The full pass follows after the columns were scaled to length one, so the remaining components along old directions
//! are a few eps, however much of W was cancelled before. Where a column vanishes (the space became invariant) a new
//! random vector replaces it, coupled to none of the vectors before: this is how eigenvalues of high multiplicity are
//! found.
//!
//! Golub, Underwood (1977) — `golub1977` in `docs/references.bib`.

use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat as Block, MatMut, MatRef, Scale};

use super::Operator;
use crate::Error;
use crate::exec::Exec;
use crate::matmul::product;
use crate::random::Random;

/// A full pass that subtracts more than this share of a vector is repeated.
const LARGE: f64 = 1e-2;
/// Two passes suffice; more would indicate a bug, and an error is better than an endless loop.
const PASSES: usize = 3;

/// One step of the recurrence A Qⱼ = Qⱼ₋₁ Bⱼ₋₁ᵀ + Qⱼ Aⱼ + Qⱼ₊₁ Bⱼ.
pub(super) struct Step {
    /// Aⱼ, symmetric.
    pub diagonal: Block<f64>,
    /// Bⱼ: as many rows as the next block has columns.
    pub below: Block<f64>,
    /// Random vectors in the next block: replacements of vanished columns, and requested ones.
    pub fresh: usize,
}

/// The basis, column after column.
pub(super) struct Basis {
    p: usize,
    values: Vec<f64>,
    /// Starts of the last block and of the one before it.
    last: usize,
    previous: usize,
    random: Random,
    /// The largest ‖A q‖ so far, the scale of rounding errors.
    scale: f64,
    work: Vec<f64>,
}

impl Basis {
    /// Starts from `width` random vectors.
    pub fn new(p: usize, width: usize, exec: Exec<'_>) -> Result<Self, Error> {
        let random = Random::new(p as u64);
        let mut basis = Self { p, values: Vec::new(), last: 0, previous: 0, random, scale: 0.0, work: Vec::new() };
        basis.add_random(width, exec)?;
        basis.polish(exec)?;
        Ok(basis)
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.values.len() / self.p
    }

    /// The vectors as a p × d matrix.
    pub fn columns(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.p, self.len())
    }

    /// Multiplies the last block by `a` and adds the next one, with `more` random vectors in it.
    pub fn extend(&mut self, a: &dyn Operator, more: usize, exec: Exec<'_>) -> Result<Step, Error> {
        let (p, d) = (self.p, self.len());
        let width = d - self.last;
        let mut work = std::mem::take(&mut self.work);
        work.resize(p * width, 0.0);
        a.multiply(&self.values[self.last * p..], &mut work, exec)?;
        let mut w = MatMut::from_column_major_slice_mut(&mut work, p, width);
        for length in (0..width).map(|j| w.rb().col(j).norm_l2()) {
            if !length.is_finite() {
                return Err(Error::NoConvergence { rows: p, cols: p });
            }
            self.scale = self.scale.max(length);
        }

        let near = self.columns().subcols(self.previous, d - self.previous);
        let mut h = Block::zeros(near.ncols(), width);
        product(h.as_mut(), Accum::Replace, near.transpose(), w.rb(), 1.0, exec)?;
        product(w.rb_mut(), Accum::Add, near, h.as_ref(), -1.0, exec)?;
        let own = h.subrows(self.last - self.previous, width);
        let diagonal = Block::from_fn(width, width, |i, j| 0.5 * (own[(i, j)] + own[(j, i)]));

        (self.previous, self.last) = (self.last, d);
        let first = self.add_block(w.rb(), exec)?;
        let fresh = width - first.nrows() + more;
        self.add_random(fresh, exec)?;
        self.work = work;
        let second = self.polish(exec)?;
        let below = second.subcols(0, first.nrows()) * &first;
        Ok(Step { diagonal, below, fresh })
    }
}

impl Basis {
    /// Appends an orthonormal basis V of the columns of W that have not vanished, and returns R₁ with W = V R₁.
    fn add_block(&mut self, w: MatRef<'_, f64>, exec: Exec<'_>) -> Result<Block<f64>, Error> {
        let (p, width) = (self.p, w.ncols());
        let vanish = 100.0 * f64::EPSILON * self.scale;
        let Some(r) = triangle(w, vanish, exec)? else { return Ok(self.add_column_by_column(w, vanish)) };
        let start = self.values.len();
        self.values.resize(start + p * width, 0.0);
        let v = MatMut::from_column_major_slice_mut(&mut self.values[start..], p, width);
        product(v, Accum::Replace, w, inverse(&r).as_ref(), 1.0, exec)?;
        Ok(r)
    }

    /// [`Basis::add_block`] for columns that may be linearly dependent: slow and safe.
    fn add_column_by_column(&mut self, w: MatRef<'_, f64>, vanish: f64) -> Block<f64> {
        let (p, width) = (self.p, w.ncols());
        let start = self.values.len();
        let mut r = Block::zeros(width, width);
        let mut rank = 0;
        for j in 0..width {
            let mut column = w.col(j).to_owned();
            for _ in 0..2 {
                let v = MatRef::from_column_major_slice(&self.values[start..], p, rank);
                let along = v.transpose() * &column;
                column -= v * &along;
                (0..rank).for_each(|i| r[(i, j)] += along[i]);
            }
            let length = column.norm_l2();
            if length > vanish {
                r[(rank, j)] = length;
                self.values.extend(column.iter().map(|x| x / length));
                rank += 1;
            }
        }
        r.subrows(0, rank).to_owned()
    }

    /// Appends `count` random vectors orthogonal to all present ones.
    fn add_random(&mut self, count: usize, exec: Exec<'_>) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let (p, d) = (self.p, self.len());
        let mut fresh: Vec<f64> = (0..p * count).map(|_| self.random.uniform()).collect();
        let mut v = MatMut::from_column_major_slice_mut(&mut fresh, p, count);
        for _ in 0..2 {
            remove(v.rb_mut(), self.columns(), exec)?;
        }
        let r = triangle(v.rb(), 0.0, exec)?.ok_or(Error::NoConvergence { rows: p, cols: d + count })?;
        self.values.resize(p * (d + count), 0.0);
        let tail = MatMut::from_column_major_slice_mut(&mut self.values[p * d..], p, count);
        product(tail, Accum::Replace, v.rb(), inverse(&r).as_ref(), 1.0, exec)
    }

    /// Makes the last block orthonormal, and orthogonal to all blocks before it, to a few eps; returns R₂ with V = Q H
    /// + Qⱼ₊₁ R₂. Both are done together:
    /// ```text
    ///     [Q V]ᵀV = [H; S]      R₂ᵀR₂ = S − HᵀH      Qⱼ₊₁ = [Q V] [−H; I] R₂⁻¹
    /// ```
    fn polish(&mut self, exec: Exec<'_>) -> Result<Block<f64>, Error> {
        let (p, d, last) = (self.p, self.len(), self.last);
        let width = d - last;
        let mut coefficients = Block::zeros(d, width);
        for pass in 0.. {
            let all = self.columns();
            product(coefficients.as_mut(), Accum::Replace, all.transpose(), all.subcols(last, width), 1.0, exec)?;
            let h = coefficients.subrows(0, last);
            if (0..width).all(|j| h.col(j).norm_l2() <= LARGE) {
                break;
            }
            if pass == PASSES {
                return Err(Error::NoConvergence { rows: p, cols: d });
            }
            let (old, tail) = self.values.split_at_mut(last * p);
            let old = MatRef::from_column_major_slice(old, p, last);
            product(MatMut::from_column_major_slice_mut(tail, p, width), Accum::Add, old, h, -1.0, exec)?;
        }
        let h = coefficients.subrows(0, last);
        let r = cholesky(coefficients.subrows(last, width) - h.transpose() * h, 0.0);
        let r = r.ok_or(Error::NoConvergence { rows: p, cols: d })?;
        let inverse = inverse(&r);
        let turn = h * &inverse * Scale(-1.0);
        coefficients.subrows_mut(0, last).copy_from(turn);
        coefficients.subrows_mut(last, width).copy_from(inverse);
        self.work.resize(p * width, 0.0);
        let q = MatMut::from_column_major_slice_mut(&mut self.work, p, width);
        let all = MatRef::from_column_major_slice(&self.values, p, d);
        product(q, Accum::Replace, all, coefficients.as_ref(), 1.0, exec)?;
        self.values[last * p..].copy_from_slice(&self.work);
        Ok(r)
    }
}

/// V ← V − Q (QᵀV).
fn remove(v: MatMut<'_, f64>, q: MatRef<'_, f64>, exec: Exec<'_>) -> Result<(), Error> {
    let mut h = Block::zeros(q.ncols(), v.ncols());
    product(h.as_mut(), Accum::Replace, q.transpose(), v.rb(), 1.0, exec)?;
    product(v, Accum::Add, q, h.as_ref(), -1.0, exec)
}

/// R (upper triangular) with RᵀR = WᵀW, where Cholesky is safe.
fn triangle(w: MatRef<'_, f64>, vanish: f64, exec: Exec<'_>) -> Result<Option<Block<f64>>, Error> {
    let mut square = Block::zeros(w.ncols(), w.ncols());
    product(square.as_mut(), Accum::Replace, w.transpose(), w, 1.0, exec)?;
    Ok(cholesky(square, vanish))
}

/// R (upper triangular) with RᵀR = S, the inner products of some columns; `None` where a column is shorter than
/// `vanish` orthogonally to the columns before it, or too close to their span for Cholesky to be safe.
fn cholesky(s: Block<f64>, vanish: f64) -> Option<Block<f64>> {
    let b = s.ncols();
    let mut r = s;
    for j in 0..b {
        let whole = r[(j, j)];
        for i in 0..j {
            let dot: f64 = (0..i).map(|l| r[(l, i)] * r[(l, j)]).sum();
            r[(i, j)] = (r[(i, j)] - dot) / r[(i, i)];
            r[(j, i)] = 0.0;
        }
        let left = whole - (0..j).map(|l| r[(l, j)] * r[(l, j)]).sum::<f64>();
        // WᵀW loses the square root of 1e-12: four digits of a direction remain, and two passes follow.
        if !(left > 1e-12 * whole && left > vanish * vanish) {
            return None;
        }
        r[(j, j)] = left.sqrt();
    }
    Some(r)
}

/// The inverse of an upper triangular matrix.
fn inverse(r: &Block<f64>) -> Block<f64> {
    let b = r.ncols();
    let mut x = Block::zeros(b, b);
    for j in 0..b {
        x[(j, j)] = 1.0 / r[(j, j)];
        for i in (0..j).rev() {
            let dot: f64 = (i + 1..=j).map(|l| r[(i, l)] * x[(l, j)]).sum();
            x[(i, j)] = -dot / r[(i, i)];
        }
    }
    x
}
