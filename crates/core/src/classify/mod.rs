//! Classifiers, one file each, and how often they are right.

pub mod cesr;
pub(crate) mod correntropy;
pub mod dictionary;
pub mod exemplars;
pub mod linear_svm;
pub mod nearest_neighbour;
pub mod picked;
pub mod sparse_representation;
pub mod verification;

use eigenspan_linalg::Exec;

use crate::Error;
use crate::classify::cesr::CesrParams;
use crate::data::{Labels, Samples};
use crate::method::parts::neighbours::Metric;
use crate::model::fitted::{Fit, Fitted as _};
use linear_svm::LinearSvmParams;
use nearest_neighbour::NearestNeighbourParams;
use picked::PickedParams;
use sparse_representation::SrcParams;

/// Parameters of a classifier of features.
trait OfFeatures: Sized {
    /// Those for which the name alone stands.
    fn named() -> Self;
    /// Those of the paper's experiments, where it ran the classifier.
    fn published() -> Option<Self>;
    /// The class of each row of `test`.
    fn predict(
        &self,
        train: Samples<'_>,
        labels: &Labels,
        test: Samples<'_>,
        exec: Exec<'_>,
    ) -> Result<Vec<usize>, Error>;
}

impl<P: Fit> OfFeatures for P {
    fn named() -> Self {
        <P as Fit>::named()
    }

    fn published() -> Option<Self> {
        <P as Fit>::published()
    }

    fn predict(
        &self,
        train: Samples<'_>,
        labels: &Labels,
        test: Samples<'_>,
        exec: Exec<'_>,
    ) -> Result<Vec<usize>, Error> {
        Ok(self.learn(train, Some(labels), exec)?.model.classify(test, exec)?.of)
    }
}

impl OfFeatures for PickedParams {
    fn named() -> Self {
        Self::default()
    }

    fn published() -> Option<Self> {
        None
    }

    fn predict(
        &self,
        train: Samples<'_>,
        labels: &Labels,
        test: Samples<'_>,
        exec: Exec<'_>,
    ) -> Result<Vec<usize>, Error> {
        PickedParams::predict(self, train, labels, test, exec)
    }
}

macro_rules! classifiers {
    ($(
        $(#[$doc:meta])*
        $variant:ident($params:ty) = $name:literal, $line:literal
        $(, also $preset:literal = $settings:expr, $preset_line:literal)*;
    )*) => {
        /// The names of the classifiers of features, and what each of them is.
        pub const CLASSIFIERS: &[(&str, &str)] = &[$(($name, $line), $(($preset, $preset_line),)*)*];

        /// Parameters of a classifier of features.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "classifier")]
        pub enum Classifier {
            $($(#[$doc])* #[serde(rename = $name)] $variant($params),)*
        }

        impl Classifier {
            /// The classifier of this name with its defaults.
            pub fn named(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$variant(OfFeatures::named()), $($preset => Self::$variant($settings),)*)*
                    _ => return None,
                })
            }

            /// The classifier of this name as the paper ran it, where it did; with its defaults otherwise.
            pub fn as_published(name: &str) -> Option<Self> {
                let published = match name {
                    $($name => <$params as OfFeatures>::published().map(Self::$variant),)*
                    _ => None,
                };
                published.or_else(|| Self::named(name))
            }

            /// The class of each row of `test`, from training features and their classes, as an index into the names of the
            /// labels.
            pub fn predict(
                &self,
                train: Samples<'_>,
                labels: &Labels,
                test: Samples<'_>,
                exec: Exec<'_>,
            ) -> Result<Vec<usize>, Error> {
                match self {
                    $(Self::$variant(params) => OfFeatures::predict(params, train, labels, test, exec),)*
                }
            }
        }
    };
}

classifiers! {
    /// The nearest neighbour, by distance or angle.
    Nn(NearestNeighbourParams) = "nn", "the nearest neighbour, Euclidean",
        also "nn-cosine" = NearestNeighbourParams { metric: Metric::Cosine, ..NearestNeighbourParams::default() },
        "the nearest neighbour by the angle between features";
    /// The linear support vector machine.
    Svm(LinearSvmParams) = "svm", "the linear support vector machine";
    /// Sparse representation.
    Src(SrcParams) = "src",
        "sparse representation: the class whose training samples explain a sample best";
    /// Sparse representation by correntropy.
    Cesr(CesrParams) = "cesr", "sparse representation that leaves wrong features aside (correntropy)";
    /// The best of several.
    Auto(PickedParams) = "auto",
        "nn-cosine or svm, whichever is right more often on folds of the training samples";
}

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
    fn every_classifier_is_known_by_name_and_tells_two_heaps_apart() {
        let samples = eigenspan_linalg::Mat::from_fn(8, 2, |i, j| if i % 2 == j { 5.0 + i as f64 } else { 0.5 });
        let labels = Labels::from_numbers(&[0, 1, 0, 1, 0, 1, 0, 1]);
        for (name, _) in CLASSIFIERS {
            for classifier in [Classifier::named(name), Classifier::as_published(name)].map(Option::unwrap) {
                let found = classifier.predict((&samples).into(), &labels, (&samples).into(), Exec::default());
                assert_eq!(found.as_ref(), Ok(&labels.of), "{name}");
            }
        }
    }

    #[test]
    fn accuracy_is_the_share_of_right_ones() {
        assert_eq!(accuracy(&[1, 2, 3, 0], &[1, 2, 0, 0]), Ok(75.0));
        assert_eq!(accuracy(&[1], &[1, 2]), Err(Error::LabelMismatch { samples: 1, got: 2 }));
        assert!(accuracy(&[], &[]).is_err());
    }
}
