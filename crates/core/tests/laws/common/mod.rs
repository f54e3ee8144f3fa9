//! Numbers made by other programs, and real data.

use eigenspan_core::Mat;
use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::data::{Dataset, ImageShape, Labels, Matrix};
use eigenspan_fixtures::{Array, Number, load, shared};

/// An array of a file in `fixtures/`, as it lies there.
pub fn fixture(file: &str, array: &str) -> Mat {
    matrix(&eigenspan_fixtures::fixture(file, array))
}

fn matrix(array: &Array) -> Mat {
    Mat::from_vec(array.rows(), array.cols(), array.values.clone()).expect("a matrix")
}

/// A real data set, where there is one; otherwise says so.
pub fn real(file: &str) -> Option<Dataset> {
    let path = shared(file)?;
    let samples = load(&path, "X").expect("samples");
    let samples = match samples.number {
        Number::U8 => {
            let values = samples.values.iter().map(|value| *value as u8).collect();
            Mat::from_vec(samples.rows(), samples.cols(), values).expect("a matrix").into()
        }
        _ => Matrix::from(matrix(&samples)),
    };
    let labels = load(&path, "y").map(|classes| Labels::from_numbers(&classes.integers()));
    let image = load(&path, "shape").map(|shape| {
        let [height, width] = shape.integers()[..] else { panic!("{file}: an image has a height and a width") };
        ImageShape { height: height as usize, width: width as usize }
    });
    Some(Dataset { labels, image, ..Dataset::new(samples) })
}

/// Samples from three planes through the origin, and noise.
pub fn samples(n: usize, m: usize) -> Mat {
    subspaces(Subspaces { samples: n, features: m, subspaces: 3, dim: 2, noise: 0.2 })
}

/// Samples from these subspaces.
pub fn subspaces(planted: Subspaces) -> Mat {
    planted.generate(5).expect("subspaces that fit").samples.into_f64()
}

/// A·B, term by term: a reference for the kernels.
pub fn times(a: &Mat, b: &Mat) -> Mat {
    let mut c = Mat::zeros(a.rows(), b.cols());
    for i in 0..a.rows() {
        for l in 0..a.cols() {
            let factor = a.at(i, l);
            c.row_mut(i).iter_mut().zip(b.row(l)).for_each(|(c, b)| *c += factor * b);
        }
    }
    c
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
