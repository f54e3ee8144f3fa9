//! The nearest neighbor for the first 1, 2, … columns of the features, in one sweep.
//!
//! ```text
//!     d²_j(a, b) = d²_{j−1}(a, b) + (a_j − b_j)²            the distance over the first j columns
//!     1 − ⟨a, b⟩_j / (‖a‖_j ‖b‖_j)                          the same of features that are scaled to length one
//! ```
//! One more column costs one operation a pair, so that all widths together cost what the widest costs. Sums are taken
//! in the order of the columns, for every test sample by itself: the result does not depend on threads.

use eigenspan_core::{Error, Exec, Mat};

/// Test samples that one piece of work takes.
const PIECE: usize = 16;

/// For each width, which rises, the nearest row of `train` to every row of `test` over so many columns; of equally near
/// ones the first. Features of length one, after the cut, where `unit`.
pub fn nearest(
    train: &Mat,
    test: &Mat,
    widths: &[usize],
    unit: bool,
    exec: Exec<'_>,
) -> Result<Vec<Vec<usize>>, Error> {
    let columns = train.transposed();
    let lengths = unit.then(|| squares(&columns, widths));
    let pieces = exec.map("classify", test.rows().div_ceil(PIECE), |piece| {
        let rows = piece * PIECE..((piece + 1) * PIECE).min(test.rows());
        rows.map(|i| sweep(&columns, test.row(i), widths, lengths.as_deref())).collect::<Vec<_>>()
    })?;
    let by_sample: Vec<Vec<usize>> = pieces.into_iter().flatten().collect();
    Ok((0..widths.len()).map(|w| by_sample.iter().map(|nearest| nearest[w]).collect()).collect())
}

/// ‖b‖² of every training row over the first so many columns, for each width.
fn squares(columns: &Mat, widths: &[usize]) -> Vec<Vec<f64>> {
    let (mut sum, mut done) = (vec![0.0; columns.cols()], 0);
    widths
        .iter()
        .map(|&width| {
            for j in done..width.min(columns.rows()) {
                sum.iter_mut().zip(columns.row(j)).for_each(|(sum, b)| *sum += b * b);
            }
            done = width.min(columns.rows());
            sum.clone()
        })
        .collect()
}

/// One test sample against all training samples, width after width.
fn sweep(columns: &Mat, sample: &[f64], widths: &[usize], lengths: Option<&[Vec<f64>]>) -> Vec<usize> {
    let mut running = vec![0.0; columns.cols()];
    let mut done = 0;
    let mut found = Vec::with_capacity(widths.len());
    for (w, &width) in widths.iter().enumerate() {
        for j in done..width.min(columns.rows()) {
            let (a, row) = (sample[j], columns.row(j));
            match lengths {
                Some(_) => running.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b),
                None => running.iter_mut().zip(row).for_each(|(sum, b)| *sum += (a - b) * (a - b)),
            }
        }
        done = width.min(columns.rows());
        found.push(match lengths {
            // A row of length zero is at a right angle to all.
            Some(lengths) => first_smallest(
                running.iter().zip(&lengths[w]).map(
                    |(product, square)| {
                        if *square > 0.0 { -product / square.sqrt() } else { 0.0 }
                    },
                ),
            ),
            None => first_smallest(running.iter().copied()),
        });
    }
    found
}

/// Where the smallest value is. Values that differ by rounding are equal: with one column of length one, all that have
/// the same sign are equally near.
fn first_smallest(values: impl Iterator<Item = f64>) -> usize {
    let below = |best: f64| best - 4.0 * f64::EPSILON * best.abs();
    let smaller = |best: (usize, f64), next: (usize, f64)| match next.1 < below(best.1) || best.1.is_infinite() {
        true => next,
        false => best,
    };
    values.enumerate().fold((0, f64::INFINITY), smaller).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_core::classify::Classifier;
    use eigenspan_core::data::Labels;
    use eigenspan_core::data::generate::Normal;
    use eigenspan_core::exec::Quiet;
    use std::num::NonZero;

    fn features(rows: usize, seed: u64) -> Mat {
        let mut normal = Normal::new(seed);
        Mat::from_fn(rows, 20, |_, j| normal.draw() / (1.0 + j as f64))
    }

    #[test]
    fn every_width_finds_what_the_classifier_finds_there() {
        let (train, test) = (features(70, 1), features(50, 2));
        let each = Labels::from_numbers(&(0..70).collect::<Vec<_>>());
        let widths = [1, 2, 5, 19, 20, 40];
        for (unit, classifier) in [(false, "nn"), (true, "nn-cosine")] {
            let found = nearest(&train, &test, &widths, unit, Exec::default()).unwrap();
            for (w, width) in widths.map(|width| width.min(20)).into_iter().enumerate() {
                let cut = |x: &Mat| Mat::from_fn(x.rows(), width, |i, j| x.at(i, j));
                let (train, test) = (cut(&train), cut(&test));
                let classifier = Classifier::named(classifier).unwrap();
                let expected = classifier.predict((&train).into(), &each, (&test).into(), Exec::default()).unwrap();
                assert_eq!(found[w], expected, "{width} columns");
            }
        }
    }

    #[test]
    fn threads_do_not_matter() {
        let (train, test) = (features(33, 3), features(65, 4));
        let found = [1, 2, 3]
            .map(|threads| nearest(&train, &test, &[3, 11], true, Exec::new(NonZero::new(threads), &Quiet)).unwrap());
        assert!(found[0] == found[1] && found[1] == found[2]);
    }
}
