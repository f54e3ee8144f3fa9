//! Numbers made by other programs, and real data.

use std::path::{Path, PathBuf};

use eigenspan_core::Mat;
use eigenspan_core::data::Dataset;
use eigenspan_io::{ReadOptions, read};

/// An array of a file in `fixtures/`, as it lies there.
pub fn fixture(file: &str, array: &str) -> Mat {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(file);
    let options = ReadOptions { array: Some(array.into()), ..ReadOptions::default() };
    read(&path, &options).unwrap_or_else(|error| panic!("{error}")).samples.into_f64()
}

/// A real data set, where there is one; otherwise says so.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub fn real(file: &str) -> Option<Dataset> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file);
    if !path.exists() {
        eprintln!("skipped: no data ({file})");
        return None;
    }
    Some(read(&path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}")))
}

/// The largest difference of two matrices of the same shape.
pub fn gap(a: &Mat, b: &Mat) -> f64 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()), "matrices of the same shape");
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Samples that are hard to learn from: none that differ, one, of one feature, mostly zero.
pub fn odd_samples() -> Vec<Mat> {
    vec![
        Mat::from_fn(1, 5, |_, j| j as f64 + 1.0),
        Mat::from_fn(5, 1, |i, _| i as f64),
        Mat::from_fn(1, 1, |_, _| 3.0),
        Mat::from_fn(6, 4, |i, j| if i < 3 { 0.0 } else { (i * j) as f64 }),
        Mat::from_fn(6, 4, |i, j| if j == 0 { 7.0 } else { (i + j) as f64 }),
        Mat::from_fn(6, 4, |i, j| if i == 2 && j == 1 { 1.0 } else { 0.0 }),
    ]
}

/// Twelve people of a set of faces, every second image to learn from and the others to recognise.
pub fn halves(faces: &Dataset) -> (Dataset, Dataset) {
    let labels = faces.labels.as_ref().expect("faces have names");
    let half = |from: usize| {
        let rows: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i] < 12 && i % 2 == from).collect();
        faces.select_rows(&rows).expect("rows that are there")
    };
    (half(0), half(1))
}
