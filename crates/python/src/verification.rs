//! Pairs of samples that are of the same class or not.

use eigenspan_core::classify::verification::{Roc, accuracy_by_folds, cosines, even_folds, pairs};
use eigenspan_core::data::Labels;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Held, vector};
use crate::door::{enter, refused};

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Numbers<'py> = Bound<'py, PyArray1<i64>>;

/// The numbers of two samples each, and whether they are of the same class: all pairs that are, and as many that are not.
#[pyfunction]
pub fn make_pairs<'py>(
    py: Python<'py>,
    classes: PyReadonlyArray1<'py, i64>,
    seed: u64,
) -> PyResult<(Numbers<'py>, Numbers<'py>, Bound<'py, PyArray1<bool>>)> {
    let labels = Labels::from_numbers(&classes.as_array().to_vec());
    let found = enter(py, Some(1), |_| Ok(pairs(&labels, seed)))?;
    let first = found.iter().map(|pair| pair.first as i64).collect();
    let second = found.iter().map(|pair| pair.second as i64).collect();
    Ok((vector(py, first), vector(py, second), vector(py, found.iter().map(|pair| pair.same).collect())))
}

/// The cosine of row i of the one with row i of the other.
#[pyfunction]
pub fn cosine_scores<'py>(py: Python<'py>, x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<Vector<'py>> {
    let (x, y) = (Held::of(x)?, Held::of(y)?);
    let (first, second) = (x.samples(), y.samples());
    Ok(vector(py, enter(py, Some(1), |_| cosines(first, second))?))
}

/// False accepts, true accepts and thresholds of the curve; the area below it and its equal error rate.
#[pyfunction]
pub fn roc<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    same: PyReadonlyArray1<'py, bool>,
) -> PyResult<([Vector<'py>; 3], f64, f64)> {
    let (scores, same) = (scores.as_array().to_vec(), same.as_array().to_vec());
    let roc = Roc::of(&scores, &same).map_err(refused)?;
    let column = |of: fn(&eigenspan_core::classify::verification::RocPoint) -> f64| {
        vector(py, roc.points.iter().map(of).collect())
    };
    let columns = [column(|p| p.false_accepts), column(|p| p.true_accepts), column(|p| p.threshold)];
    Ok((columns, roc.auc(), roc.equal_error_rate()))
}

/// Pairs dealt out to folds.
#[pyfunction]
pub fn folds<'py>(
    py: Python<'py>,
    same: PyReadonlyArray1<'py, bool>,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let fold_of = even_folds(&same.as_array().to_vec(), count, seed).map_err(refused)?;
    Ok(vector(py, fold_of.into_iter().map(|fold| fold as i64).collect()))
}

/// The accuracy and the threshold of each fold, the mean accuracy and its standard error.
#[pyfunction]
pub fn fold_accuracy<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    same: PyReadonlyArray1<'py, bool>,
    fold_of: PyReadonlyArray1<'py, i64>,
) -> PyResult<([Vector<'py>; 2], f64, f64)> {
    let (scores, same) = (scores.as_array().to_vec(), same.as_array().to_vec());
    // Numbers below zero become too large ones, and are refused as a gap.
    let fold_of: Vec<usize> =
        fold_of.as_array().iter().map(|fold| usize::try_from(*fold).unwrap_or(usize::MAX - 1)).collect();
    let found = accuracy_by_folds(&scores, &same, &fold_of).map_err(refused)?;
    let (accuracies, thresholds) = found.folds.iter().map(|fold| (fold.accuracy, fold.threshold)).unzip();
    Ok(([vector(py, accuracies), vector(py, thresholds)], found.mean, found.standard_error))
}
