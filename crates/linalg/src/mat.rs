//! Dense matrices: [`Mat`] owns its values, [`MatRef`] and [`MatMut`] borrow them with strides.

use std::ops::Range;

/// A number type of input data.
pub trait Scalar: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// The distance from one to the next number of this type; zero for integers, which are exact.
    const EPSILON: f64;
    /// The value as `f64`, exactly.
    fn to_f64(self) -> f64;
}

/// A number type of results.
pub trait Float: Scalar {
    /// The nearest number to `value`.
    fn nearest(value: f64) -> Self;
}

impl Float for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

impl Float for f32 {
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Scalar for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn to_f64(self) -> f64 {
        self
    }
}

impl Scalar for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Scalar for u8 {
    const EPSILON: f64 = 0.0;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// A dense matrix, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mat<T = f64> {
    data: Vec<T>,
    rows: usize,
    cols: usize,
}

impl<T: Scalar> Mat<T> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { data: vec![T::default(); rows * cols], rows, cols }
    }

    /// The matrix of values stored row after row; `None` unless there are exactly `rows · cols` of them.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<T>) -> Option<Self> {
        (rows.checked_mul(cols)? == data.len()).then_some(Self { data, rows, cols })
    }

    /// The matrix whose entry (i, j) is `value(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| value(i, j)));
        }
        Self { data, rows, cols }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The entry in row `i`, column `j`.
    pub fn at(&self, i: usize, j: usize) -> T {
        self.data[i * self.cols + j]
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.cols..][..self.cols]
    }

    /// Row `i`, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.cols..][..self.cols]
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All values, row after row, to write.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The values, row after row.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// A view of the whole matrix.
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef { data: &self.data, rows: self.rows, cols: self.cols, row_stride: self.cols, col_stride: 1 }
    }

    /// The rows selected by `index`, in that order.
    pub fn select_rows(&self, index: &[usize]) -> Self {
        let mut data = Vec::with_capacity(index.len() * self.cols);
        for &i in index {
            data.extend_from_slice(self.row(i));
        }
        Self { data, rows: index.len(), cols: self.cols }
    }

    /// The first `cols` columns.
    pub fn leading_columns(&self, cols: usize) -> Self {
        if cols == self.cols {
            return self.clone();
        }
        let mut data = Vec::with_capacity(self.rows * cols);
        (0..self.rows).for_each(|i| data.extend_from_slice(&self.row(i)[..cols]));
        Self { data, rows: self.rows, cols }
    }

    /// The transpose.
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self.at(j, i))
    }
}

/// A borrowed matrix: entry (i, j) is `data[i · row_stride + j · col_stride]`.
#[derive(Debug, Clone, Copy)]
pub struct MatRef<'a, T = f64> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, T: Scalar> MatRef<'a, T> {
    /// A view with strides; `None` where an entry would lie outside `data`.
    pub fn with_strides(data: &'a [T], rows: usize, cols: usize, row_stride: usize, col_stride: usize) -> Option<Self> {
        let empty = rows == 0 || cols == 0;
        let last = || (rows - 1).checked_mul(row_stride)?.checked_add((cols - 1).checked_mul(col_stride)?);
        (empty || last()? < data.len()).then_some(Self { data, rows, cols, row_stride, col_stride })
    }

    /// A view of values stored row after row; `None` unless there are exactly `rows · cols` of them.
    pub fn row_major(data: &'a [T], rows: usize, cols: usize) -> Option<Self> {
        (rows.checked_mul(cols)? == data.len()).then_some(Self { data, rows, cols, row_stride: cols, col_stride: 1 })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The same values with rows and columns exchanged.
    pub fn transposed(&self) -> Self {
        let Self { data, rows, cols, row_stride, col_stride } = *self;
        Self { data, rows: cols, cols: rows, row_stride: col_stride, col_stride: row_stride }
    }

    /// The rows `rows`.
    pub fn some_rows(&self, rows: Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows of the matrix");
        let data = if rows.is_empty() { &[] } else { &self.data[rows.start * self.row_stride..] };
        Self { data, rows: rows.len(), ..*self }
    }

    /// The values, and the strides of rows and columns.
    pub(crate) fn parts(&self) -> (&'a [T], [usize; 2]) {
        (self.data, [self.row_stride, self.col_stride])
    }

    /// The entry in row `i`, column `j`.
    pub fn at(&self, i: usize, j: usize) -> T {
        debug_assert!(i < self.rows && j < self.cols);
        self.data[i * self.row_stride + j * self.col_stride]
    }

    /// The entries of row `i` in the columns `cols`, where they are contiguous.
    pub fn row_slice(&self, i: usize, cols: Range<usize>) -> Option<&'a [T]> {
        let start = i * self.row_stride;
        (self.col_stride == 1).then(|| &self.data[start + cols.start..start + cols.end])
    }

    /// The entries of the block `rows × cols`, where they are contiguous in memory.
    pub fn contiguous(&self, rows: Range<usize>, cols: Range<usize>) -> Option<&'a [T]> {
        if rows.len() == 1 {
            return self.row_slice(rows.start, cols);
        }
        let whole = self.col_stride == 1 && self.row_stride == self.cols && cols == (0..self.cols);
        whole.then(|| &self.data[rows.start * self.cols..rows.end * self.cols])
    }

    /// The entries of row `i` in the columns `cols`.
    pub fn row_values(&self, i: usize, cols: Range<usize>) -> impl Iterator<Item = T> + 'a {
        let (data, step) = (self.data, self.col_stride.max(1));
        let start = i * self.row_stride + cols.start * self.col_stride;
        let tail = data.get(start..).unwrap_or_default();
        tail.iter().step_by(step).take(cols.len()).copied()
    }
}

/// A mutable view of a matrix: entry (i, j) is `data[i · row_stride + j · col_stride]`.
#[derive(Debug)]
pub struct MatMut<'a> {
    data: &'a mut [f64],
    row_stride: usize,
    col_stride: usize,
}

impl<'a> MatMut<'a> {
    /// A destination stored row after row, `stride` values apart.
    pub fn row_major(data: &'a mut [f64], stride: usize) -> Self {
        Self { data, row_stride: stride, col_stride: 1 }
    }

    /// A destination stored column after column, `stride` values apart.
    pub fn column_major(data: &'a mut [f64], stride: usize) -> Self {
        Self { data, row_stride: 1, col_stride: stride }
    }

    /// The same destination with rows and columns exchanged.
    pub fn transposed(&mut self) -> MatMut<'_> {
        MatMut { data: self.data, row_stride: self.col_stride, col_stride: self.row_stride }
    }

    /// The first `len` entries of row `i`, where they are contiguous.
    pub fn row_mut(&mut self, i: usize, len: usize) -> Option<&mut [f64]> {
        let start = i * self.row_stride;
        (self.col_stride == 1).then(|| &mut self.data[start..start + len])
    }

    /// Sets entry (i, j).
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.data[i * self.row_stride + j * self.col_stride] = value;
    }

    /// Writes row `i` from the left.
    pub fn set_row(&mut self, i: usize, values: impl Iterator<Item = f64>) {
        let start = i * self.row_stride;
        if self.col_stride == 1 {
            self.data[start..].iter_mut().zip(values).for_each(|(to, from)| *to = from);
        } else {
            self.data[start..].iter_mut().step_by(self.col_stride).zip(values).for_each(|(to, from)| *to = from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_read_the_same_matrix_in_both_orders() {
        let by_rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let by_columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let a = MatRef::row_major(&by_rows, 2, 3).unwrap();
        let b = MatRef::with_strides(&by_columns, 2, 3, 1, 2).unwrap();
        for i in 0..2 {
            assert!(a.row_values(i, 1..3).eq(b.row_values(i, 1..3)));
            assert!((0..3).all(|j| a.at(i, j) == b.at(i, j)));
        }
    }

    #[test]
    fn a_view_never_reaches_outside_its_values() {
        let data = [0.0; 6];
        assert!(MatRef::row_major(&data, 2, 4).is_none());
        assert!(MatRef::with_strides(&data, 2, 3, 4, 1).is_none());
        assert!(MatRef::with_strides(&data, usize::MAX, 2, usize::MAX, 1).is_none());
        assert!(MatRef::with_strides(&data, 0, 9, 9, 1).is_some());
        assert!(Mat::from_vec(3, 3, vec![0.0; 8]).is_none());
    }
}
