//! Samples in their number type: no f64 copy of the whole matrix is made.

use std::ops::Range;

use eigenspan_linalg::blocks::Prefetch;
use eigenspan_linalg::{Mat, MatRef, Scalar};

use super::csr::Csr;

/// The number type of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberType {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// 8-bit integers, as in gray-scale images.
    U8,
}

impl NumberType {
    /// The relative rounding error that data of this type carries: zero for integers.
    pub fn epsilon(self) -> f64 {
        match self {
            Self::F64 => f64::EPSILON,
            Self::F32 => f64::from(f32::EPSILON),
            Self::U8 => 0.0,
        }
    }
}

/// A matrix that owns its values.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Dense, 64-bit floating point.
    F64(Mat<f64>),
    /// Dense, 32-bit floating point.
    F32(Mat<f32>),
    /// Dense, 8-bit integers.
    U8(Mat<u8>),
    /// Sparse, 64-bit floating point.
    Csr(Csr),
}

/// A borrowed matrix, n samples in rows, m features in columns.
#[derive(Debug, Clone, Copy)]
pub enum Samples<'a> {
    /// Dense, 64-bit floating point.
    F64(MatRef<'a, f64>),
    /// Dense, 32-bit floating point.
    F32(MatRef<'a, f32>),
    /// Dense, 8-bit integers.
    U8(MatRef<'a, u8>),
    /// Sparse, 64-bit floating point.
    Csr(&'a Csr),
}

impl Matrix {
    /// A borrowed view.
    pub fn view(&self) -> Samples<'_> {
        match self {
            Self::F64(x) => Samples::F64(x.view()),
            Self::F32(x) => Samples::F32(x.view()),
            Self::U8(x) => Samples::U8(x.view()),
            Self::Csr(x) => Samples::Csr(x),
        }
    }

    /// Number of samples.
    pub fn rows(&self) -> usize {
        self.view().rows()
    }

    /// Number of features.
    pub fn cols(&self) -> usize {
        self.view().cols()
    }

    /// The rows selected by `index`, in that order.
    pub fn select_rows(&self, index: &[usize]) -> Self {
        match self {
            Self::F64(x) => Self::F64(x.select_rows(index)),
            Self::F32(x) => Self::F32(x.select_rows(index)),
            Self::U8(x) => Self::U8(x.select_rows(index)),
            Self::Csr(x) => Self::Csr(x.select_rows(index)),
        }
    }

    /// The values as dense `f64`, without a copy where that is their type.
    pub fn into_f64(self) -> Mat {
        match self {
            Self::F64(x) => x,
            other => other.view().to_f64(),
        }
    }
}

impl<'a> Samples<'a> {
    /// Number of samples n.
    pub fn rows(&self) -> usize {
        match self {
            Self::F64(x) => x.rows(),
            Self::F32(x) => x.rows(),
            Self::U8(x) => x.rows(),
            Self::Csr(x) => x.rows(),
        }
    }

    /// Number of features m.
    pub fn cols(&self) -> usize {
        match self {
            Self::F64(x) => x.cols(),
            Self::F32(x) => x.cols(),
            Self::U8(x) => x.cols(),
            Self::Csr(x) => x.cols(),
        }
    }

    /// The number type of the values.
    pub fn number_type(&self) -> NumberType {
        match self {
            Self::F64(_) | Self::Csr(_) => NumberType::F64,
            Self::F32(_) => NumberType::F32,
            Self::U8(_) => NumberType::U8,
        }
    }

    /// The memory of the columns `cols` of some rows, if it is one contiguous block: for prefetching.
    pub(crate) fn whereabouts(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Prefetch<'a>> {
        match self {
            Self::F64(x) => x.contiguous(rows, cols).map(Prefetch::of),
            Self::F32(x) => x.contiguous(rows, cols).map(Prefetch::of),
            Self::U8(x) => x.contiguous(rows, cols).map(Prefetch::of),
            Self::Csr(_) => None,
        }
    }

    /// Writes the columns `cols` of row `i` into `out`, as `f64`.
    pub fn read_row(&self, i: usize, cols: Range<usize>, out: &mut [f64]) {
        fn copy<T: Scalar>(x: &MatRef<'_, T>, i: usize, cols: Range<usize>, out: &mut [f64]) {
            match x.row_slice(i, cols.clone()) {
                Some(row) => out.iter_mut().zip(row).for_each(|(to, from)| *to = from.to_f64()),
                None => out.iter_mut().zip(x.row_values(i, cols)).for_each(|(to, from)| *to = from.to_f64()),
            }
        }
        match self {
            Self::F64(x) => copy(x, i, cols, out),
            Self::F32(x) => copy(x, i, cols, out),
            Self::U8(x) => copy(x, i, cols, out),
            Self::Csr(x) => x.read_row(i, cols, out),
        }
    }

    /// Row `i` as `f64`: borrowed where it is contiguous in memory; otherwise written to `buffer`.
    pub(crate) fn row<'b>(&self, i: usize, buffer: &'b mut [f64]) -> &'b [f64]
    where
        'a: 'b,
    {
        if let Self::F64(x) = self
            && let Some(row) = x.row_slice(i, 0..x.cols())
        {
            return row;
        }
        self.read_row(i, 0..self.cols(), buffer);
        buffer
    }

    /// A dense copy in `f64`.
    pub fn to_f64(&self) -> Mat {
        let mut dense = Mat::zeros(self.rows(), self.cols());
        (0..self.rows()).for_each(|i| self.read_row(i, 0..self.cols(), dense.row_mut(i)));
        dense
    }
}

macro_rules! samples_from_dense {
    ($($number:ty => $variant:ident),*) => {$(
        impl From<Mat<$number>> for Matrix {
            fn from(x: Mat<$number>) -> Self {
                Self::$variant(x)
            }
        }
        impl<'a> From<&'a Mat<$number>> for Samples<'a> {
            fn from(x: &'a Mat<$number>) -> Self {
                Self::$variant(x.view())
            }
        }
        impl<'a> From<MatRef<'a, $number>> for Samples<'a> {
            fn from(x: MatRef<'a, $number>) -> Self {
                Self::$variant(x)
            }
        }
        #[cfg(feature = "ndarray")]
        impl<'a> TryFrom<ndarray::ArrayView2<'a, $number>> for Samples<'a> {
            type Error = ReversedAxis;
            /// Borrows the array in its memory layout, in row or column order or with gaps.
            fn try_from(x: ndarray::ArrayView2<'a, $number>) -> Result<Self, ReversedAxis> {
                strided(x).map(Self::$variant).ok_or(ReversedAxis)
            }
        }
        #[cfg(feature = "ndarray")]
        impl From<ndarray::Array2<$number>> for Matrix {
            /// Takes the values without a copy where they are stored row after row.
            fn from(x: ndarray::Array2<$number>) -> Self {
                let (rows, cols) = x.dim();
                let x = if x.is_standard_layout() { x } else { x.as_standard_layout().into_owned() };
                let (values, offset) = x.into_raw_vec_and_offset();
                let values = match offset {
                    Some(first) if first > 0 => values[first..first + rows * cols].to_vec(),
                    _ => values,
                };
                Self::$variant(Mat::from_vec(rows, cols, values).expect("an array holds rows · cols values"))
            }
        }
    )*};
}
samples_from_dense!(f64 => F64, f32 => F32, u8 => U8);

impl From<Csr> for Matrix {
    fn from(x: Csr) -> Self {
        Self::Csr(x)
    }
}

impl<'a> From<&'a Csr> for Samples<'a> {
    fn from(x: &'a Csr) -> Self {
        Self::Csr(x)
    }
}

impl<'a> From<&'a Matrix> for Samples<'a> {
    fn from(x: &'a Matrix) -> Self {
        x.view()
    }
}

/// An array with a reversed axis cannot be borrowed.
#[cfg(feature = "ndarray")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an array with a reversed or overlapping axis cannot be borrowed: pass `.to_owned()` of it")]
pub struct ReversedAxis;

#[cfg(feature = "ndarray")]
fn strided<T: Scalar>(x: ndarray::ArrayView2<'_, T>) -> Option<MatRef<'_, T>> {
    let (rows, cols) = x.dim();
    let [down, across] = [x.strides()[0], x.strides()[1]].map(usize::try_from);
    let values = match x.to_slice_memory_order() {
        Some(values) => values,
        None if rows == 0 || cols == 0 => &[],
        None => return None,
    };
    MatRef::with_strides(values, rows, cols, down.ok()?, across.ok()?)
}

/// The matrix as an `ndarray` array, without a copy.
#[cfg(feature = "ndarray")]
pub fn into_array(x: Mat) -> ndarray::Array2<f64> {
    let shape = (x.rows(), x.cols());
    ndarray::Array2::from_shape_vec(shape, x.into_vec()).expect("a matrix holds rows · cols values")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_number_reads_the_same() {
        let f64s = Mat::from_fn(3, 4, |i, j| (i * 4 + j) as f64);
        let kinds: [Matrix; 4] = [
            f64s.clone().into(),
            Mat::from_fn(3, 4, |i, j| (i * 4 + j) as f32).into(),
            Mat::from_fn(3, 4, |i, j| (i * 4 + j) as u8).into(),
            Csr::new(4, vec![0, 4, 8, 12], (0..12).map(|c| c % 4).collect(), (0..12).map(f64::from).collect())
                .unwrap()
                .into(),
        ];
        for x in kinds {
            let mut part = [0.0; 2];
            x.view().read_row(2, 1..3, &mut part);
            assert_eq!(part, [9.0, 10.0]);
            assert_eq!(x.select_rows(&[1]).into_f64().as_slice(), [4.0, 5.0, 6.0, 7.0]);
            assert_eq!(x.into_f64(), f64s);
        }
    }

    #[cfg(feature = "ndarray")]
    #[test]
    fn arrays_are_borrowed_as_they_lie_in_memory() {
        let a = ndarray::array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let by_columns = a.t().as_standard_layout().into_owned().reversed_axes();
        for x in [a.view(), by_columns.view()] {
            let samples = Samples::try_from(x).unwrap();
            assert_eq!(samples.to_f64().as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
            assert_eq!(into_array(samples.to_f64()), a);
        }
        assert!(Samples::try_from(a.slice(ndarray::s![.., ..;-1])).is_err());
        assert_eq!(Matrix::from(by_columns).into_f64().as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
}
