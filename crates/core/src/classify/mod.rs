//! Classifiers, one file each, and how often they are right.

pub mod nearest_neighbour;

use crate::Error;

/// How many of the predicted classes are the true ones, in percent.
pub fn accuracy(predicted: &[usize], truth: &[usize]) -> Result<f64, Error> {
    if predicted.len() != truth.len() {
        return Err(Error::LabelMismatch { samples: predicted.len(), got: truth.len() });
    }
    if truth.is_empty() {
        return Err(Error::TooFewSamples { needed: 1, why: "to count how many are right", got: 0 });
    }
    let right = predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    Ok(100.0 * right as f64 / truth.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_is_the_share_of_right_ones() {
        assert_eq!(accuracy(&[1, 2, 3, 0], &[1, 2, 0, 0]), Ok(75.0));
        assert_eq!(accuracy(&[1], &[1, 2]), Err(Error::LabelMismatch { samples: 1, got: 2 }));
        assert!(accuracy(&[], &[]).is_err());
    }
}
