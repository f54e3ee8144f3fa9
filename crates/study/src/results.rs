//! What a study found, as plain data.

use serde::{Deserialize, Serialize};

use crate::run::Found;

/// Mean and standard deviation over partitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// With n − 1; none of a single one.
    pub sd: Option<f64>,
}

impl Spread {
    /// Of at least one number.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, sd: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()) }
    }
}

/// How a method and a classifier did together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The method.
    pub method: String,
    /// The classifier; `own` where the method is one.
    pub classifier: String,
    /// In percent.
    pub accuracy_mean: f64,
    /// In percent; none of a single partition.
    pub accuracy_sd: Option<f64>,
    /// The dimension: the whole number nearest to the mean over the partitions.
    pub k: usize,
    /// Columns of the features, likewise.
    pub columns: usize,
    /// Seconds of a partition: fit, features, classifier.
    pub seconds: f64,
    /// In percent, of each partition.
    pub accuracies: Vec<f64>,
    /// The dimension in each partition.
    pub dimensions: Vec<usize>,
    /// Seconds of the fit, of the features and of the classifier.
    pub seconds_of: [f64; 3],
    /// Training and test samples.
    pub samples: [usize; 2],
}

impl Row {
    /// Of what was found in each partition.
    pub fn new(method: &str, classifier: &str, found: &[Found]) -> Self {
        let mean = |value: fn(&Found) -> f64| Spread::of(&found.iter().map(value).collect::<Vec<_>>());
        let Spread { mean: accuracy_mean, sd: accuracy_sd } = mean(|f| f.accuracy);
        let seconds_of = [mean(|f| f.fit).mean, mean(|f| f.transform).mean, mean(|f| f.classify).mean];
        Self {
            method: method.into(),
            classifier: classifier.into(),
            accuracy_mean,
            accuracy_sd,
            k: mean(|f| f.k as f64).mean.round() as usize,
            columns: mean(|f| f.columns as f64).mean.round() as usize,
            seconds: seconds_of.iter().sum(),
            accuracies: found.iter().map(|f| f.accuracy).collect(),
            dimensions: found.iter().map(|f| f.k).collect(),
            seconds_of,
            samples: [found[0].train, found[0].test],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(Spread::of(&[1.0, 2.0, 3.0, 4.0]), Spread { mean: 2.5, sd: Some((5.0_f64 / 3.0).sqrt()) });
        assert_eq!(Spread::of(&[7.0]), Spread { mean: 7.0, sd: None });
    }
}
