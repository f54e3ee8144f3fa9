//! Samples with their labels, image shape and names.

use super::matrix::Matrix;

/// Height and width of an image whose pixels, row after row, are one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ImageShape {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels per row.
    pub width: usize,
}

/// A class for every sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// The names of the classes, in sorted order: by value where all are integers, by letters otherwise.
    pub names: Vec<String>,
    /// For each sample, the index of its class in `names`.
    pub of: Vec<usize>,
}

impl Labels {
    /// Gathers the classes of samples that carry these names.
    pub fn from_names(of_samples: &[String]) -> Self {
        let mut names: Vec<String> = of_samples.to_vec();
        names.sort_by(|a, b| match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(x), Ok(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
            (Ok(_), Err(_)) => std::cmp::Ordering::Less,
            (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
            (Err(_), Err(_)) => a.cmp(b),
        });
        names.dedup();
        let index: std::collections::HashMap<&str, usize> =
            names.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
        let of = of_samples.iter().map(|name| index[name.as_str()]).collect();
        Self { of, names }
    }

    /// Gathers the classes of samples that carry these numbers.
    pub fn from_numbers(of_samples: &[i64]) -> Self {
        Self::from_names(&of_samples.iter().map(i64::to_string).collect::<Vec<_>>())
    }

    /// Samples in each class, in the order of `names`.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.of.iter().for_each(|&c| counts[c] += 1);
        counts
    }
}

/// Samples in rows, and optional data about them. Optional parts have one entry per sample or per feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// n samples in rows, m features in columns.
    pub samples: Matrix,
    /// A class for every sample.
    pub labels: Option<Labels>,
    /// The shape of the image that each sample is; height · width = m.
    pub image: Option<ImageShape>,
    /// A name for every feature.
    pub feature_names: Option<Vec<String>>,
    /// A name for every sample.
    pub ids: Option<Vec<String>>,
}

impl Dataset {
    /// Samples without further data.
    pub fn new(samples: impl Into<Matrix>) -> Self {
        Self { samples: samples.into(), labels: None, image: None, feature_names: None, ids: None }
    }

    /// The samples selected by `index`, in that order; `None` where an index is out of range.
    pub fn select_rows(&self, index: &[usize]) -> Option<Self> {
        if index.iter().any(|&i| i >= self.samples.rows()) {
            return None;
        }
        Some(Self {
            samples: self.samples.select_rows(index),
            labels: self
                .labels
                .as_ref()
                .map(|l| Labels { names: l.names.clone(), of: index.iter().map(|&i| l.of[i]).collect() }),
            image: self.image,
            feature_names: self.feature_names.clone(),
            ids: self.ids.as_ref().map(|ids| index.iter().map(|&i| ids[i].clone()).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_linalg::Mat;

    #[test]
    fn classes_are_sorted_by_value_then_by_letters() {
        let labels = Labels::from_names(&["10", "cat", "9", "cat", "-1"].map(String::from));
        assert_eq!(labels.names, ["-1", "9", "10", "cat"]);
        assert_eq!(labels.of, [2, 3, 1, 3, 0]);
        assert_eq!(labels.counts(), [1, 1, 1, 2]);
    }

    #[test]
    fn chosen_rows_take_their_labels_and_names_along() {
        let mut data = Dataset::new(Mat::from_fn(3, 2, |i, _| i as f64));
        data.labels = Some(Labels::from_numbers(&[7, 8, 7]));
        data.ids = Some(["a", "b", "c"].map(String::from).to_vec());
        let part = data.select_rows(&[2, 1]).unwrap();
        assert_eq!(part.samples.clone().into_f64().as_slice(), [2.0, 2.0, 1.0, 1.0]);
        assert_eq!(part.labels.unwrap().of, [0, 1]);
        assert_eq!(part.ids.unwrap(), ["c", "b"]);
        assert!(data.select_rows(&[3]).is_none());
    }
}
