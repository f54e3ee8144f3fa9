//! Sparse matrices in compressed rows.

use std::ops::Range;

/// A sparse matrix: row i holds `values[starts[i]..starts[i + 1]]` in the `columns` of the same range.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    cols: usize,
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

/// What is wrong with the arrays of a sparse matrix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsrError {
    /// The row starts do not begin at 0, fall, or do not end at the number of values.
    #[error("the row starts of a sparse matrix must rise from 0 to its {values} values; entry {at} does not")]
    Starts {
        /// Index of the first bad entry.
        at: usize,
        /// Number of stored values.
        values: usize,
    },
    /// Columns and values differ in number.
    #[error("a sparse matrix needs one column index a value: {columns} indices, {values} values")]
    Lengths {
        /// Number of column indices.
        columns: usize,
        /// Number of values.
        values: usize,
    },
    /// A column index is out of range, or not above the one before it in its row.
    #[error("column indices of row {row} must rise and stay below {cols}; entry {at} does not")]
    Column {
        /// The row.
        row: usize,
        /// Index into the column array.
        at: usize,
        /// Number of columns of the matrix.
        cols: usize,
    },
}

impl Csr {
    /// Checks the three arrays and stores them. Within a row the columns must rise strictly.
    pub fn new(cols: usize, starts: Vec<usize>, columns: Vec<usize>, values: Vec<f64>) -> Result<Self, CsrError> {
        if columns.len() != values.len() {
            return Err(CsrError::Lengths { columns: columns.len(), values: values.len() });
        }
        let bad_start = |at| CsrError::Starts { at, values: values.len() };
        if starts.first() != Some(&0) {
            return Err(bad_start(0));
        }
        if let Some(at) = starts.windows(2).position(|w| w[0] > w[1]) {
            return Err(bad_start(at + 1));
        }
        if starts.last() != Some(&values.len()) {
            return Err(bad_start(starts.len() - 1));
        }
        for (row, w) in starts.windows(2).enumerate() {
            let line = &columns[w[0]..w[1]];
            let rises = |at: usize| line[at] < cols && (at == 0 || line[at - 1] < line[at]);
            if let Some(at) = (0..line.len()).find(|&at| !rises(at)) {
                return Err(CsrError::Column { row, at: w[0] + at, cols });
            }
        }
        Ok(Self { cols, starts, columns, values })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored values.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// The columns and values stored in row `i`.
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let line = self.starts[i]..self.starts[i + 1];
        (&self.columns[line.clone()], &self.values[line])
    }

    /// Writes the columns `cols` of row `i` into `out`, zeros included.
    pub fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        let line = self.starts[i]..self.starts[i + 1];
        let columns = &self.columns[line.clone()];
        let first = columns.partition_point(|&c| c < cols.start);
        let last = columns.partition_point(|&c| c < cols.end);
        for (c, v) in columns[first..last].iter().zip(&self.values[line][first..last]) {
            out[c - cols.start] = *v;
        }
    }

    /// The rows selected by `index`, in that order.
    pub fn select_rows(&self, index: &[usize]) -> Self {
        let mut chosen = Self { cols: self.cols, starts: vec![0], columns: vec![], values: vec![] };
        for &i in index {
            let line = self.starts[i]..self.starts[i + 1];
            chosen.columns.extend_from_slice(&self.columns[line.clone()]);
            chosen.values.extend_from_slice(&self.values[line]);
            chosen.starts.push(chosen.values.len());
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_dense_and_in_part() {
        let a = Csr::new(4, vec![0, 2, 2, 3], vec![0, 3, 1], vec![5.0, 6.0, 7.0]).unwrap();
        let row = |i, cols: Range<usize>| {
            let mut out = vec![9.0; cols.len()];
            a.read_row(i, cols, &mut out);
            out
        };
        assert_eq!(row(0, 0..4), [5.0, 0.0, 0.0, 6.0]);
        assert_eq!(row(0, 1..3), [0.0, 0.0]);
        assert_eq!(row(1, 0..4), [0.0; 4]);
        assert_eq!(row(2, 1..2), [7.0]);
        assert_eq!(a.select_rows(&[2, 0]).select_rows(&[1]), a.select_rows(&[0]));
    }

    #[test]
    fn broken_arrays_are_refused_by_name() {
        let new = |starts, columns, values| Csr::new(3, starts, columns, values).unwrap_err();
        assert_eq!(new(vec![0, 1], vec![], vec![1.0]), CsrError::Lengths { columns: 0, values: 1 });
        assert_eq!(new(vec![], vec![], vec![]), CsrError::Starts { at: 0, values: 0 });
        assert_eq!(new(vec![0, 2, 1], vec![0], vec![1.0]), CsrError::Starts { at: 2, values: 1 });
        assert_eq!(new(vec![0, 1, 3], vec![0, 1], vec![1.0; 2]), CsrError::Starts { at: 2, values: 2 });
        assert_eq!(new(vec![0, 1], vec![3], vec![1.0]), CsrError::Column { row: 0, at: 0, cols: 3 });
        assert_eq!(new(vec![0, 2], vec![1, 1], vec![1.0; 2]), CsrError::Column { row: 0, at: 1, cols: 3 });
    }
}
