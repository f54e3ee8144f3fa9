//! A matrix over the samples with few entries, row after row: what the graphs of LPP, NPE and LLE are kept in.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | W (n × n) | [`SparseGraph`] | entries of row i: `index[starts[i]..starts[i + 1]]`, rising, and their `value`s |
//!
//! Products cost one multiplication for each entry and column. A row is summed by one thread in the order of its
//! entries, so the bits do not depend on the number of threads.

use eigenspan_linalg::sparse_cholesky::Symmetric;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::graph_embedding::Graph;

/// Multiplications that are worth a piece of work.
const WORK: usize = 1 << 20;
/// Rows of WᵀW that are one piece of work.
const GRAM_ROWS: usize = 256;

/// A square matrix with few entries.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseGraph {
    starts: Vec<usize>,
    index: Vec<usize>,
    value: Vec<f64>,
}

impl SparseGraph {
    /// The matrix of these rows. Entries of a row come in any order; of several in one place the largest counts.
    pub fn from_rows(rows: Vec<Vec<(usize, f64)>>) -> Self {
        let n = rows.len();
        let (mut starts, mut index, mut value) = (vec![0], vec![], vec![]);
        for mut row in rows {
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            row.dedup_by_key(|(j, _)| *j);
            assert!(row.last().is_none_or(|(j, _)| *j < n), "the matrix is square");
            index.extend(row.iter().map(|(j, _)| *j));
            value.extend(row.iter().map(|(_, w)| *w));
            starts.push(index.len());
        }
        Self { starts, index, value }
    }

    /// n.
    pub fn order(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many entries are stored.
    pub fn entries(&self) -> usize {
        self.index.len()
    }

    /// The entries of row `i`: where, rising, and how much.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let here = self.starts[i]..self.starts[i + 1];
        self.index[here.clone()].iter().copied().zip(self.value[here].iter().copied())
    }

    /// The sum of each row.
    pub fn row_sums(&self) -> Vec<f64> {
        (0..self.order()).map(|i| self.row(i).map(|(_, w)| w).sum()).collect()
    }

    /// Wᵀ.
    pub fn transposed(&self) -> Self {
        let mut starts = vec![0; self.order() + 1];
        self.index.iter().for_each(|j| starts[j + 1] += 1);
        (0..self.order()).for_each(|j| starts[j + 1] += starts[j]);
        let (mut next, mut index, mut value) = (starts.clone(), vec![0; self.entries()], vec![0.0; self.entries()]);
        for i in 0..self.order() {
            for (j, w) in self.row(i) {
                (index[next[j]], value[next[j]]) = (i, w);
                next[j] += 1;
            }
        }
        Self { starts, index, value }
    }

    /// max(W, Wᵀ), entry by entry, where what is not stored is zero: the graph in which two samples are joined if one
    /// of them is joined to the other. Entries that are not positive are left out.
    pub fn either_way(&self) -> Self {
        let back = self.transposed();
        let both = |i: usize| self.row(i).chain(back.row(i)).filter(|(_, w)| *w > 0.0).collect();
        Self::from_rows((0..self.order()).map(both).collect())
    }

    /// F W F with the diagonal F of `factors`.
    pub fn scaled(mut self, factors: &[f64]) -> Self {
        for i in 0..self.order() {
            for at in self.starts[i]..self.starts[i + 1] {
                self.value[at] *= factors[i] * factors[self.index[at]];
            }
        }
        self
    }

    /// WᵀW: symmetric to the last bit, as both triangles add up the same products in the same order.
    pub fn gram(&self, exec: Exec<'_>) -> Result<Self, Error> {
        let (n, back) = (self.order(), self.transposed());
        let pieces = exec.silent().map("square", n.div_ceil(GRAM_ROWS), |piece| {
            let (mut sums, mut met) = (vec![0.0; n], vec![false; n]);
            let some = piece * GRAM_ROWS..((piece + 1) * GRAM_ROWS).min(n);
            let row = |i: usize| {
                let mut places = vec![];
                for (l, a) in back.row(i) {
                    for (j, b) in self.row(l) {
                        if !std::mem::replace(&mut met[j], true) {
                            places.push(j);
                        }
                        sums[j] += a * b;
                    }
                }
                let take = |j: usize| (j, std::mem::take(&mut sums[j]));
                let row: Vec<(usize, f64)> = places.into_iter().map(take).collect();
                row.iter().for_each(|(j, _)| met[*j] = false);
                row
            };
            some.map(row).collect::<Vec<_>>()
        })?;
        Ok(Self::from_rows(pieces.into_iter().flatten().collect()))
    }

    /// The same matrix for a factorization; it must be symmetric.
    pub fn into_symmetric(self) -> Symmetric {
        Symmetric { starts: self.starts, index: self.index, values: self.value }
    }

    /// W Y, whether W is symmetric or not.
    pub fn multiply(&self, y: &Mat, exec: Exec<'_>) -> Result<Mat, eigenspan_linalg::Error> {
        let (n, width) = (self.order(), y.cols());
        assert_eq!(n, y.rows(), "one row a sample");
        let mut out = Mat::zeros(n, width);
        let some = (WORK / (width * self.entries().div_ceil(n.max(1))).max(1)).clamp(1, n.max(1));
        exec.silent().each_chunk("multiply", out.as_mut_slice(), (some * width).max(1), |part, out| {
            for (to, out) in out.chunks_exact_mut(width.max(1)).enumerate() {
                for (j, w) in self.row(part * some + to) {
                    out.iter_mut().zip(y.row(j)).for_each(|(out, y)| *out += w * y);
                }
            }
        })?;
        Ok(out)
    }
}

/// As a symmetric matrix, which it must be.
impl Graph for SparseGraph {
    fn times(&self, y: &Mat, exec: Exec<'_>) -> Result<Mat, eigenspan_linalg::Error> {
        self.multiply(y, exec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> SparseGraph {
        SparseGraph::from_rows(vec![vec![(2, 3.0), (1, 1.0), (2, 2.0)], vec![], vec![(1, -1.0), (0, 4.0)]])
    }

    #[test]
    fn of_several_entries_in_one_place_the_largest_counts() {
        assert_eq!(some().row(0).collect::<Vec<_>>(), [(1, 1.0), (2, 3.0)]);
        assert_eq!(some().row_sums(), [4.0, 0.0, 3.0]);
    }

    #[test]
    fn the_transpose_has_rows_and_columns_exchanged() {
        let back = some().transposed();
        assert_eq!(back.row(0).collect::<Vec<_>>(), [(2, 4.0)]);
        assert_eq!(back.row(1).collect::<Vec<_>>(), [(0, 1.0), (2, -1.0)]);
        assert_eq!(back.transposed(), some());
    }

    #[test]
    fn either_way_is_symmetric_and_positive() {
        let graph = some().either_way();
        assert_eq!(graph, graph.transposed());
        assert_eq!(graph.row(1).collect::<Vec<_>>(), [(0, 1.0)]); // the one-sided −1 counts as max(−1, 0)
        assert_eq!(graph.row(2).collect::<Vec<_>>(), [(0, 4.0)]);
    }

    #[test]
    fn the_gram_matrix_agrees_with_the_plain_sum() {
        let (gram, back) = (some().gram(Exec::default()).unwrap(), some().transposed());
        let at = |i: usize, j: usize| some().row(i).find(|(l, _)| *l == j).map_or(0.0, |(_, w)| w);
        for i in 0..3 {
            let plain = |j: usize| back.row(i).map(|(l, w)| w * at(l, j)).sum::<f64>();
            assert!(gram.row(i).all(|(j, w)| w == plain(j)));
            assert!((0..3).filter(|j| plain(*j) != 0.0).all(|j| gram.row(i).any(|(l, _)| l == j)));
        }
    }

    #[test]
    fn products_agree_with_the_plain_sum() {
        let y = Mat::from_fn(3, 2, |i, j| (5 * i + j) as f64);
        let z = some().scaled(&[1.0, 2.0, 0.5]).multiply(&y, Exec::default()).unwrap();
        let plain = |i: usize, j: usize| {
            let factors = [1.0, 2.0, 0.5];
            some().row(i).map(|(l, w)| factors[i] * w * factors[l] * y.at(l, j)).sum::<f64>()
        };
        assert_eq!(z, Mat::from_fn(3, 2, plain));
    }
}
