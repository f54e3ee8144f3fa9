//! Python's arrays as samples without a copy, results as arrays without a copy.

use eigenspan_core::data::{Csr, Matrix, Samples};
use eigenspan_core::{Mat, Scalar};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Samples that Python holds.
pub enum Held<'py> {
    /// A dense array.
    F64(PyReadonlyArray2<'py, f64>),
    /// A dense array.
    F32(PyReadonlyArray2<'py, f32>),
    /// A dense array.
    U8(PyReadonlyArray2<'py, u8>),
    /// Values that had to be moved: sparse rows, or an array that runs backwards.
    Copied(Matrix, Numbers),
}

/// The numbers that results come in.
#[derive(Clone, Copy, PartialEq)]
pub enum Numbers {
    /// As the core gives them.
    AsGiven,
    /// Sparse rows are `f64` inside; these came in `f32`, and so do their features.
    Single,
}

impl<'py> Held<'py> {
    /// A NumPy array of `f64`, `f32` or `u8`, or SciPy's compressed rows with rising columns.
    pub fn of(x: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(x) = x.extract::<PyReadonlyArray2<'py, f64>>() {
            return Ok(Self::or_copied(x, Self::F64));
        }
        if let Ok(x) = x.extract::<PyReadonlyArray2<'py, f32>>() {
            return Ok(Self::or_copied(x, Self::F32));
        }
        if let Ok(x) = x.extract::<PyReadonlyArray2<'py, u8>>() {
            return Ok(Self::or_copied(x, Self::U8));
        }
        if x.hasattr("indptr")? {
            let (csr, numbers) = sparse(x)?;
            return Ok(Self::Copied(csr.into(), numbers));
        }
        let what = match x.cast::<PyUntypedArray>() {
            Ok(_) => format!("an array of shape {} and type {}", x.getattr("shape")?, x.getattr("dtype")?),
            Err(_) => x.get_type().name()?.to_string(),
        };
        Err(PyTypeError::new_err(format!(
            "`X` must be a two-dimensional array of float64, float32 or uint8, got {what}"
        )))
    }

    /// The array, or a copy of it where it cannot be read as it lies in memory.
    fn or_copied<T>(x: PyReadonlyArray2<'py, T>, keep: impl FnOnce(PyReadonlyArray2<'py, T>) -> Self) -> Self
    where
        T: numpy::Element + Copy,
        Matrix: From<Array2<T>>,
        for<'a> Samples<'a>: TryFrom<ArrayView2<'a, T>>,
    {
        let lies_well = Samples::try_from(x.as_array()).is_ok();
        if lies_well { keep(x) } else { Self::Copied(x.as_array().to_owned().into(), Numbers::AsGiven) }
    }

    /// The samples, borrowed.
    pub fn samples(&self) -> Samples<'_> {
        let borrowed = match self {
            Self::F64(x) => Samples::try_from(x.as_array()),
            Self::F32(x) => Samples::try_from(x.as_array()),
            Self::U8(x) => Samples::try_from(x.as_array()),
            Self::Copied(x, _) => Ok(x.view()),
        };
        borrowed.expect("it was looked at when it came in")
    }

    /// The samples, copied where Python holds them.
    pub fn into_matrix(self) -> Matrix {
        match self {
            Self::F64(x) => x.as_array().to_owned().into(),
            Self::F32(x) => x.as_array().to_owned().into(),
            Self::U8(x) => x.as_array().to_owned().into(),
            Self::Copied(x, _) => x,
        }
    }

    /// The numbers that features of these samples should come in.
    pub fn numbers(&self) -> Numbers {
        if let Self::Copied(_, numbers) = self { *numbers } else { Numbers::AsGiven }
    }
}

/// SciPy's compressed rows.
fn sparse(x: &Bound<'_, PyAny>) -> PyResult<(Csr, Numbers)> {
    let (_, cols): (usize, usize) = x.getattr("shape")?.extract()?;
    let index = |name: &str| -> PyResult<Vec<usize>> {
        let values = x.getattr(name)?;
        let outside = |_| PyValueError::new_err(format!("`X.{name}` holds a negative number"));
        if let Ok(values) = values.extract::<PyReadonlyArray1<'_, i32>>() {
            return values.as_array().iter().map(|i| usize::try_from(*i).map_err(outside)).collect();
        }
        let values = values.extract::<PyReadonlyArray1<'_, i64>>()?;
        values.as_array().iter().map(|i| usize::try_from(*i).map_err(outside)).collect()
    };
    let data = x.getattr("data")?;
    let (values, numbers) = if let Ok(values) = data.extract::<PyReadonlyArray1<'_, f64>>() {
        (values.as_array().to_vec(), Numbers::AsGiven)
    } else if let Ok(values) = data.extract::<PyReadonlyArray1<'_, f32>>() {
        (values.as_array().iter().map(|v| f64::from(*v)).collect(), Numbers::Single)
    } else {
        let values = data.extract::<PyReadonlyArray1<'_, u8>>()?;
        (values.as_array().iter().map(|v| f64::from(*v)).collect(), Numbers::AsGiven)
    };
    let csr = Csr::new(cols, index("indptr")?, index("indices")?, values);
    csr.map(|csr| (csr, numbers)).map_err(|fault| PyValueError::new_err(format!("`X`: {fault}")))
}

/// Sparse rows as SciPy takes them: ((values, columns, row starts), shape).
pub fn sparse_parts<'py>(py: Python<'py>, rows: &Csr) -> (SparseArrays<'py>, (usize, usize)) {
    let (mut values, mut columns, mut starts) = (vec![], vec![], vec![0]);
    for i in 0..rows.rows() {
        let (at, row) = rows.row(i);
        columns.extend(at.iter().map(|column| *column as i64));
        values.extend_from_slice(row);
        starts.push(values.len() as i64);
    }
    ((vector(py, values), vector(py, columns), vector(py, starts)), (rows.rows(), rows.cols()))
}

type SparseArrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// A matrix as an array.
pub fn array<'py>(py: Python<'py>, x: Matrix, numbers: Numbers) -> Bound<'py, PyAny> {
    match (x, numbers) {
        (Matrix::F32(x), _) => owned(py, x),
        (Matrix::U8(x), _) => owned(py, x),
        (Matrix::F64(x), Numbers::AsGiven) => owned(py, x),
        (x, Numbers::Single) => {
            let x = x.into_f64();
            let (rows, cols) = (x.rows(), x.cols());
            let values = x.into_vec().into_iter().map(|v| v as f32).collect();
            owned(py, Mat::from_vec(rows, cols, values).expect("as many values as before"))
        }
        (x, Numbers::AsGiven) => owned(py, x.into_f64()),
    }
}

fn owned<T: numpy::Element + Scalar>(py: Python<'_>, x: Mat<T>) -> Bound<'_, PyAny> {
    let shape = (x.rows(), x.cols());
    let array = Array2::from_shape_vec(shape, x.into_vec()).expect("a matrix holds rows · cols values");
    array.into_pyarray(py).into_any()
}

/// Values as an array.
pub fn vector<T: numpy::Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}
