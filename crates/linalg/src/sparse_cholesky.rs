//! Systems with a positive definite matrix that has few nonzeros.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (p × p) | [`Symmetric`] | entries of row i: `index[starts[i]..starts[i + 1]]`, ascending, and their `values` |
//! | P | | a permutation for which L has few nonzeros (approximate minimum degree) |
//! | L | [`SparseCholesky`] | PAPᵀ = LLᵀ |
//!
//! The number of nonzeros of L is computed before any of them ([`Plan::stored`]): a few times those of A for a graph
//! like a surface, nearly p²/2 for an almost complete graph. One thread factorizes; the bits are always the same.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

use crate::Error;
use crate::exec::Exec;

/// Columns solved as one piece of work.
const COLUMNS: usize = 4;

/// A symmetric matrix with few nonzeros, both triangles stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Symmetric {
    /// Starts of the rows among the entries; one more than there are rows.
    pub starts: Vec<usize>,
    /// The columns of the entries, ascending in each row.
    pub index: Vec<usize>,
    /// The entries.
    pub values: Vec<f64>,
}

impl Symmetric {
    fn order(&self) -> usize {
        self.starts.len() - 1
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, usize> {
        let p = self.order();
        SymbolicSparseColMatRef::new_checked(p, p, &self.starts, None, &self.index)
    }
}

/// The symbolic factorization of A.
pub struct Plan {
    a: Arc<Symmetric>,
    symbolic: Arc<SymbolicCholesky<usize>>,
}

impl Plan {
    /// Orders rows and columns. The matrix must be valid as described by its fields.
    pub fn of(a: Symmetric, exec: Exec<'_>) -> Result<Self, Error> {
        let p = a.order();
        let planned = exec.aside("order", move || {
            let ordering = SymmetricOrdering::Amd;
            let symbolic = factorize_symbolic_cholesky(a.pattern(), Side::Lower, ordering, Default::default());
            symbolic.ok().map(|symbolic| Self { a: Arc::new(a), symbolic: Arc::new(symbolic) })
        })?;
        planned.ok_or(Error::NoConvergence { rows: p, cols: p })
    }

    /// The number of stored values of L.
    pub fn stored(&self) -> usize {
        self.symbolic.len_val()
    }

    /// L for A + `shift`·I; `None` where that is not positive definite in floating point.
    pub fn factor(&self, shift: f64, exec: Exec<'_>) -> Result<Option<SparseCholesky>, Error> {
        let (a, symbolic) = (self.a.clone(), self.symbolic.clone());
        exec.aside("factor", move || {
            let mut a = Symmetric::clone(&a);
            for i in 0..a.order() {
                let here = a.starts[i]..a.starts[i + 1];
                let on_diagonal = here.start + a.index[here].partition_point(|j| *j < i);
                a.values[on_diagonal] += shift;
            }
            let mut values = vec![0.0; symbolic.len_val()];
            let need = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
            let mut memory = MemBuffer::new(need);
            let a = SparseColMatRef::new(a.pattern(), &a.values);
            let none = LltRegularization::default();
            let stack = MemStack::new(&mut memory);
            let params = Default::default();
            let done = symbolic.factorize_numeric_llt(&mut values, a, Side::Lower, none, Par::Seq, stack, params);
            let done = done.is_ok() && values.iter().all(|v| v.is_finite());
            done.then_some(SparseCholesky { symbolic, values })
        })
    }
}

/// The factor L of a positive definite matrix with few nonzeros.
pub struct SparseCholesky {
    symbolic: Arc<SymbolicCholesky<usize>>,
    values: Vec<f64>,
}

impl SparseCholesky {
    /// X with A X = B in place of B: p values per column, column after column.
    pub fn solve(&self, b: &mut [f64], exec: Exec<'_>) -> Result<(), Error> {
        let p = self.symbolic.nrows();
        exec.silent().each_chunk("solve", b, (p * COLUMNS).max(1), |_, b| {
            let columns = b.len() / p;
            let need = self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq);
            let mut memory = MemBuffer::new(need);
            let b = MatMut::from_column_major_slice_mut(b, p, columns);
            let factor = LltRef::<usize, f64>::new(&self.symbolic, &self.values);
            factor.solve_in_place_with_conj(Conj::No, b, Par::Seq, MemStack::new(&mut memory));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 on the diagonal, −1 between neighbors of a square grid: positive definite.
    fn grid(side: usize) -> Symmetric {
        let (mut starts, mut index, mut values) = (vec![0], vec![], vec![]);
        for i in 0..side * side {
            let (row, column) = (i / side, i % side);
            let mut near = vec![(i, 4.0)];
            near.extend((row > 0).then(|| (i - side, -1.0)));
            near.extend((row + 1 < side).then(|| (i + side, -1.0)));
            near.extend((column > 0).then(|| (i - 1, -1.0)));
            near.extend((column + 1 < side).then(|| (i + 1, -1.0)));
            near.sort_by_key(|(j, _)| *j);
            index.extend(near.iter().map(|(j, _)| *j));
            values.extend(near.iter().map(|(_, v)| *v));
            starts.push(index.len());
        }
        Symmetric { starts, index, values }
    }

    fn times(a: &Symmetric, shift: f64, x: &[f64]) -> Vec<f64> {
        let entry = |at: usize| a.values[at] * x[a.index[at]];
        (0..x.len()).map(|i| (a.starts[i]..a.starts[i + 1]).map(entry).sum::<f64>() + shift * x[i]).collect()
    }

    #[test]
    fn solutions_solve_on_small_and_on_larger_grids() {
        for side in [1, 2, 7, 60] {
            let (a, p) = (grid(side), side * side);
            let plan = Plan::of(a.clone(), Exec::default()).unwrap();
            assert!(plan.stored() >= p && (side < 60 || plan.stored() < p * p / 20), "{}", plan.stored());
            let factor = plan.factor(0.5, Exec::default()).unwrap().unwrap();
            let x: Vec<f64> = (0..6 * p).map(|i| ((7 * i) as f64).sin()).collect();
            let mut b: Vec<f64> = x.chunks_exact(p).flat_map(|x| times(&a, 0.5, x)).collect();
            factor.solve(&mut b, Exec::default()).unwrap();
            assert!(b.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-12), "{side}");
        }
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor_until_it_is_shifted() {
        let plan = Plan::of(grid(5), Exec::default()).unwrap();
        assert!(plan.factor(-4.0, Exec::default()).unwrap().is_none());
        assert!(plan.factor(0.0, Exec::default()).unwrap().is_some());
    }
}
