//! Built-in and synthetic data, and data from files.

use std::path::PathBuf;

use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::data::{Corruption, Dataset, Disguise, ImageShape, Labels, Matrix, SyntheticFaces};
use eigenspan_core::split::{Split, Train};
use eigenspan_io::{ReadError, ReadOptions};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Held, Numbers, array, sparse_parts, vector};
use crate::door::{enter, no_file, refused};

type Labelled<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

fn labelled(py: Python<'_>, data: Dataset) -> Labelled<'_> {
    let labels = data.labels.map_or_else(Vec::new, |labels| labels.of.iter().map(|l| *l as i64).collect());
    (array(py, data.samples, Numbers::AsGiven), vector(py, labels))
}

/// 1797 handwritten digits of 8 × 8 pixels, and the digit that each is.
#[pyfunction]
pub fn digits(py: Python<'_>) -> PyResult<Labelled<'_>> {
    let data = enter(py, Some(1), |_| Ok(eigenspan_io::embedded::digits()))?;
    Ok(labelled(py, data))
}

/// Samples from several random subspaces with noise, and the subspace that each is from.
#[pyfunction]
pub fn subspaces(
    py: Python<'_>,
    samples: usize,
    features: usize,
    subspaces: usize,
    dim: usize,
    noise: f64,
    seed: u64,
) -> PyResult<Labelled<'_>> {
    let wanted = Subspaces { samples, features, subspaces, dim, noise };
    let data = enter(py, Some(1), |_| wanted.generate(seed))?;
    Ok(labelled(py, data))
}

/// Rendered heads under many lights, and the person that each is.
#[pyfunction]
#[pyo3(signature = (subjects, per_subject, shape, disguise, seed, threads))]
pub fn synthetic_faces<'py>(
    py: Python<'py>,
    subjects: usize,
    per_subject: usize,
    shape: (usize, usize),
    disguise: &str,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Labelled<'py>> {
    let disguise = match disguise {
        "none" => Disguise::None,
        "sunglasses" => Disguise::Sunglasses,
        "scarf" => Disguise::Scarf,
        "mixed" => Disguise::Mixed,
        other => {
            let expected = "None, 'sunglasses', 'scarf' or 'mixed'";
            return Err(PyValueError::new_err(format!("`disguise` must be {expected}, got '{other}'")));
        }
    };
    let (height, width) = shape;
    let wanted = SyntheticFaces { subjects, per_subject, height, width, disguise, seed };
    let data = enter(py, threads, |exec| wanted.generate_with(exec))?;
    Ok(labelled(py, data))
}

/// Samples of which some are corrupted, and the numbers of those.
#[pyfunction]
#[pyo3(signature = (x, kind, image, share, seed, repeat))]
pub fn corrupt<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    kind: &str,
    image: Option<(usize, usize)>,
    share: f64,
    seed: u64,
    repeat: u64,
) -> PyResult<Labelled<'py>> {
    let corruption: Corruption = kind.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
    let held = Held::of(x)?;
    let samples = held.samples();
    let image = image.map(|(height, width)| ImageShape { height, width });
    let done = enter(py, Some(1), |_| corruption.apply(samples, image, share, seed, repeat))?;
    let rows = done.rows.iter().map(|row| *row as i64).collect();
    Ok((array(py, done.samples.into(), Numbers::AsGiven), vector(py, rows)))
}

/// The numbers of the samples to train on, and of the others; the same share or number of every class where classes are given.
#[pyfunction]
#[pyo3(signature = (n, classes, count, share, seed, repeat))]
pub fn split<'py>(
    py: Python<'py>,
    n: usize,
    classes: Option<PyReadonlyArray1<'py, i64>>,
    count: Option<usize>,
    share: f64,
    seed: u64,
    repeat: u64,
) -> PyResult<[Bound<'py, PyArray1<i64>>; 2]> {
    let train = count.map_or(Train::Share(share), Train::Count);
    let labels = classes.map(|of| Labels::from_numbers(&of.as_array().to_vec()));
    let split = match &labels {
        Some(labels) => Split::stratified(labels, train, seed, repeat),
        None => Split::plain(n, train, seed, repeat),
    };
    let Split { train, test } = split.map_err(refused)?;
    let numbers = |rows: Vec<usize>| vector(py, rows.into_iter().map(|row| row as i64).collect());
    Ok([numbers(train), numbers(test)])
}

/// Samples from a file or a folder of images, and what came with them.
#[pyfunction]
#[pyo3(signature = (path, label, array, image, resize, grey))]
pub fn read_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    label: Option<String>,
    array: Option<String>,
    image: Option<(usize, usize)>,
    resize: Option<(usize, usize)>,
    grey: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let shape = |sides: Option<(usize, usize)>| sides.map(|(height, width)| ImageShape { height, width });
    let options = ReadOptions { label, array, image: shape(image), resize: shape(resize), grey, memory: None };
    let data = enter(py, Some(1), |_| Ok(eigenspan_io::read(&path, &options)))?.map_err(|error| {
        let source = if let ReadError::Io { source, .. } = &error { Some(source) } else { None };
        no_file(&error, error.hint(), source)
    })?;
    let found = PyDict::new(py);
    let Dataset { samples, labels, image, feature_names, ids } = data;
    match samples {
        Matrix::Csr(rows) => found.set_item("sparse", sparse_parts(py, &rows))?,
        dense => found.set_item("data", crate::arrays::array(py, dense, Numbers::AsGiven))?,
    }
    let (of, names) = labels.map(|labels| (labels.of, labels.names)).unzip();
    found.set_item("target", of.map(|of| vector(py, of.iter().map(|class| *class as i64).collect())))?;
    found.set_item("target_names", names)?;
    found.set_item("feature_names", feature_names)?;
    found.set_item("ids", ids)?;
    found.set_item("image_shape", image.map(|shape| (shape.height, shape.width)))?;
    Ok(found)
}
