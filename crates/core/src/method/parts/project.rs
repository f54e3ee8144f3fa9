//! Rows times a matrix after preparation, in slabs that threads share: what `transform` of a linear method is.

use eigenspan_linalg::product::Columns;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::data::{Matrix, NumberType, Samples};
use crate::prepare::Preparation;

/// Rows transformed as one piece of work.
pub(crate) const SLAB: usize = 256;

/// The samples' lengths, and Bᵀy for every prepared sample y; then each row goes through `finish`.
///
/// A sample's features do not depend on the samples beside it, nor on the number of threads.
pub(crate) fn project(
    samples: Samples<'_>,
    preparation: &Preparation,
    basis: &Mat,
    finish: impl Fn(&mut [f64]) + Sync,
    exec: Exec<'_>,
) -> Result<(Vec<f64>, Mat), Error> {
    let (n, m, k) = (samples.rows(), basis.rows(), basis.cols());
    check_features(samples, m)?;
    let basis = Columns::new(basis);
    let slabs = exec.map("transform", n.div_ceil(SLAB), |part| {
        let rows = part * SLAB..((part + 1) * SLAB).min(n);
        let (lengths, y) = read_prepared(samples, preparation, rows)?;
        let mut z = Mat::zeros(y.rows(), k);
        basis.multiply(y.as_slice(), z.as_mut_slice());
        (0..z.rows()).for_each(|i| finish(z.row_mut(i)));
        Ok::<_, Error>((lengths, z))
    })?;
    let (mut lengths, mut values) = (Vec::with_capacity(n), Vec::with_capacity(n * k));
    for slab in slabs {
        let (some_lengths, z) = slab?;
        lengths.extend(some_lengths);
        values.extend(z.into_vec());
    }
    Ok((lengths, Mat::from_vec(n, k, values).expect("one row a sample")))
}

/// Refuses samples that do not have the model's `m` features.
pub(crate) fn check_features(samples: Samples<'_>, m: usize) -> Result<(), Error> {
    if samples.cols() == m { Ok(()) } else { Err(Error::FeatureMismatch { expected: m, got: samples.cols() }) }
}

/// Some samples, prepared, and their lengths; NaN and infinity are refused by place.
pub(crate) fn read_prepared(
    samples: Samples<'_>,
    preparation: &Preparation,
    rows: std::ops::Range<usize>,
) -> Result<(Vec<f64>, Mat), Error> {
    let m = samples.cols();
    let (mut lengths, mut y) = (Vec::with_capacity(rows.len()), Mat::zeros(rows.len(), m));
    for (to, row) in rows.enumerate() {
        samples.read_row(row, 0..m, y.row_mut(to));
        if let Some(column) = y.row(to).iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { row, column, value: y.at(to, column) });
        }
        lengths.push(preparation.prepare(y.row_mut(to)));
    }
    Ok((lengths, y))
}

/// Results in the numbers the samples came in: `f32` for `f32`, `f64` for everything else.
pub(crate) fn in_numbers_of(samples: Samples<'_>, rows: Mat) -> Matrix {
    match samples.number_type() {
        NumberType::F32 => {
            let (n, m) = (rows.rows(), rows.cols());
            let rounded = rows.into_vec().into_iter().map(|v| v as f32).collect();
            Matrix::F32(Mat::from_vec(n, m, rounded).expect("as many values as before"))
        }
        NumberType::F64 | NumberType::U8 => Matrix::F64(rows),
    }
}
