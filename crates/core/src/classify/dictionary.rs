//! What samples are coded over: a dictionary, known by the products of its atoms.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (m × n) | | the dictionary, an atom a column; here atoms are rows of a matrix |
//! | G = AᵀA (n × n) | [`Dictionary::gram`] | the products of the atoms, exactly symmetric |
//!
//! An ℓ1 problem knows A by G and Aᵀy alone, so one G serves every y: computed once, half of it (the other half is the
//! mirror image), and kept as n² numbers in double precision.

use eigenspan_linalg::dense::multiply;
use eigenspan_linalg::rows::energy;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;

/// Rows of G computed at a time.
const STRIPE: usize = 96;

/// The products of the atoms.
#[derive(Debug, Clone, PartialEq)]
pub struct Dictionary {
    gram: Mat,
}

impl Dictionary {
    /// Of the rows of `atoms`. An atom whose square does not fit a number is refused.
    pub fn of(atoms: &Mat, exec: Exec<'_>) -> Result<Self, Error> {
        let n = atoms.rows();
        check_squares(atoms)?;
        let mut gram = Mat::zeros(n, n);
        exec.each_chunk("products", gram.as_mut_slice(), (STRIPE * n).max(1), |part, out| {
            let (first, count) = (part * STRIPE, out.len() / n);
            let width = first + count;
            let mut stripe = vec![0.0; count * width];
            let (rows, all) = (atoms.view().some_rows(first..width), atoms.view().some_rows(0..width));
            multiply(rows, all.transposed(), &mut stripe);
            for (to, from) in out.chunks_exact_mut(n).zip(stripe.chunks_exact(width)) {
                to[..width].copy_from_slice(from);
            }
        })?;
        for i in 0..n {
            for j in 0..i {
                gram.row_mut(j)[i] = gram.at(i, j);
            }
        }
        Ok(Self { gram })
    }

    /// G.
    pub fn gram(&self) -> &Mat {
        &self.gram
    }

    /// How many atoms there are.
    pub fn len(&self) -> usize {
        self.gram.rows()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Refuses a row whose square does not fit a number, by the place of its largest value.
pub(crate) fn check_squares(rows: &Mat) -> Result<(), Error> {
    let Some(row) = (0..rows.rows()).find(|i| !energy(rows.row(*i)).is_finite()) else { return Ok(()) };
    let size = |j: &usize| rows.at(row, *j).abs();
    let column = (0..rows.cols()).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0);
    Err(eigenspan_linalg::Error::OutOfRange { row, column }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_atoms_and_exactly_symmetric() {
        let atoms = Mat::from_fn(STRIPE + 5, 7, |i, j| ((i * 7 + j) as f64).sin());
        let gram = Dictionary::of(&atoms, Exec::default()).unwrap().gram;
        for i in 0..atoms.rows() {
            for j in 0..atoms.rows() {
                let want: f64 = atoms.row(i).iter().zip(atoms.row(j)).map(|(a, b)| a * b).sum();
                assert!((gram.at(i, j) - want).abs() < 1e-14, "{i}, {j}");
                assert_eq!(gram.at(i, j), gram.at(j, i));
            }
        }
    }

    #[test]
    fn an_atom_too_large_to_be_squared_is_refused_by_its_place() {
        let atoms = Mat::from_fn(3, 2, |i, j| if (i, j) == (2, 1) { 1e200 } else { 1.0 });
        let error = Dictionary::of(&atoms, Exec::default()).unwrap_err();
        assert_eq!(error, eigenspan_linalg::Error::OutOfRange { row: 2, column: 1 }.into());
    }
}
