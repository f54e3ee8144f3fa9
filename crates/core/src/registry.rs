//! Every method by its name: what is asked in one type, what comes out in another.

use eigenspan_linalg::{Exec, Mat};

use crate::classify::cesr::CesrParams;
use crate::classify::linear_svm::LinearSvmParams;
use crate::classify::nearest_neighbour::NearestNeighbourParams;
use crate::classify::sparse_representation::SrcParams;
use crate::data::{Labels, Samples};
use crate::method::eigenfaces::EigenfacesParams;
use crate::method::l1_graph::L1GraphParams;
use crate::method::lle::LleParams;
use crate::method::lpp::LppParams;
use crate::method::nenmf::NenmfParams;
use crate::method::nmf::NmfParams;
use crate::method::npe::NpeParams;
use crate::method::pca::PcaParams;
use crate::method::pce::{PceParams, Weights};
use crate::method::robust_pca::RobustPcaParams;
use crate::method::rosl::RoslParams;
use crate::model::decomposed::Decomposed;
use crate::model::linear::Linear;
use crate::{Error, Model};

/// The names of the methods, and what each of them is.
pub const METHODS: [(&str, &str); 16] = [
    ("pce", "Principal Coefficients Embedding: finds the dimension by itself"),
    ("pce-auto", "the same with soft weights, chosen by the labels where there are some, and features of length one"),
    ("pca", "principal component analysis: the directions of largest variance"),
    ("eigenfaces", "PCA of raw pixels with features of length one, as the paper ran it"),
    ("lpp", "locality preserving projections: neighbours stay neighbours"),
    ("npe", "neighbourhood preserving embedding: samples stay the same means of their neighbours"),
    ("lle", "locally linear embedding: the same, not linear, with no map for new samples"),
    ("l1-graph", "L1-graph: samples stay the same sparse combinations of all others"),
    ("nmf", "non-negative matrix factorisation by multiplicative updates: samples are sums of parts"),
    ("nenmf", "the same by Nesterov's method"),
    ("robust-pca", "robust PCA: a low-rank part, and a sparse part for what is grossly wrong"),
    ("rosl", "robust orthonormal subspace learning: the same without a singular value decomposition"),
    ("cesr", "classifier: sparse representation by correntropy, for samples that are wrong in many places"),
    ("nn", "classifier: the nearest neighbour, exact"),
    ("svm", "classifier: the linear support vector machine, one class against all others"),
    ("src", "classifier: sparse representation by all training samples, the class that explains most"),
];

/// What is asked of any method.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Principal Coefficients Embedding.
    Pce(PceParams),
    /// Principal component analysis.
    #[serde(skip)]
    Pca(PcaParams),
    /// Eigenfaces as published.
    Eigenfaces(EigenfacesParams),
    /// Locality preserving projections.
    Lpp(LppParams),
    /// Neighbourhood preserving embedding.
    Npe(NpeParams),
    /// Locally linear embedding.
    Lle(LleParams),
    /// L1-graph.
    L1Graph(L1GraphParams),
    /// Non-negative matrix factorisation.
    Nmf(NmfParams),
    /// The same by Nesterov's method.
    Nenmf(NenmfParams),
    /// Robust principal component analysis.
    RobustPca(RobustPcaParams),
    /// Robust orthonormal subspace learning.
    Rosl(RoslParams),
    /// Sparse representation by correntropy.
    Cesr(CesrParams),
    /// The nearest neighbour.
    Nn(NearestNeighbourParams),
    /// The linear support vector machine.
    Svm(LinearSvmParams),
    /// Sparse representation.
    Src(SrcParams),
}

/// What a fit gives: a model, and the parts of the training samples that some methods find on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The model.
    pub model: Model,
    /// The low-rank part of the samples as they were prepared (robust PCA, ROSL).
    pub low_rank: Option<Mat>,
    /// Their sparse part.
    pub sparse: Option<Mat>,
}

impl Method {
    /// The method of this name with its defaults.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pce" => Self::Pce(PceParams::default()),
            "pce-auto" => Self::Pce(PceParams::auto()),
            "pca" => Self::Pca(PcaParams::default()),
            "eigenfaces" => Self::Eigenfaces(EigenfacesParams::default()),
            "lpp" => Self::Lpp(LppParams::default()),
            "npe" => Self::Npe(NpeParams::default()),
            "lle" => Self::Lle(LleParams::default()),
            "l1-graph" => Self::L1Graph(L1GraphParams::default()),
            "nmf" => Self::Nmf(NmfParams::default()),
            "nenmf" => Self::Nenmf(NenmfParams::default()),
            "robust-pca" => Self::RobustPca(RobustPcaParams::default()),
            "rosl" => Self::Rosl(RoslParams::default()),
            "cesr" => Self::Cesr(CesrParams::default()),
            "nn" => Self::Nn(NearestNeighbourParams::default()),
            "svm" => Self::Svm(LinearSvmParams::default()),
            "src" => Self::Src(SrcParams::default()),
            _ => return None,
        })
    }

    /// The method of this name as the paper ran it, where it did: 300 features, and the parameter that served the nearest
    /// neighbour best on Extended Yale B (its Table 3).
    pub fn as_published(name: &str) -> Option<Self> {
        Some(match name {
            "eigenfaces" => Self::Eigenfaces(EigenfacesParams::as_published(300)),
            "lpp" => Self::Lpp(LppParams::as_published(300, 3)),
            "npe" => Self::Npe(NpeParams::as_published(300, 49)),
            "l1-graph" => Self::L1Graph(L1GraphParams::as_published(300, 1e-2, 1e-3)),
            "nmf" => Self::Nmf(NmfParams::as_published()),
            "nenmf" => Self::Nenmf(NenmfParams::as_published()),
            "robust-pca" => Self::RobustPca(RobustPcaParams::as_published(300, 0.2)),
            "rosl" => Self::Rosl(RoslParams::as_published(300, 0.35)),
            "cesr" => Self::Cesr(CesrParams::as_published()),
            "svm" => Self::Svm(LinearSvmParams::as_published()),
            "src" => Self::Src(SrcParams::as_published()),
            _ => return None,
        })
    }

    /// Learns from samples in rows. Classifiers need their labels, PCE with weights to be chosen looks at them where there are
    /// some, the others do not.
    pub fn fit_with(&self, samples: Samples<'_>, labels: Option<&Labels>, exec: Exec<'_>) -> Result<Outcome, Error> {
        let classes = || labels.ok_or(Error::NoLabels);
        Ok(match self {
            Self::Pce(params) => match labels.filter(|_| params.weights == Weights::Auto) {
                Some(labels) => Model::Pce(params.fit_labelled_with(samples, labels, exec)?).into(),
                None => Model::Pce(params.fit_with(samples, exec)?).into(),
            },
            Self::Pca(params) => Model::Pce(params.fit_with(samples, exec)?).into(),
            Self::Eigenfaces(params) => Model::Eigenfaces(params.fit_with(samples, exec)?).into(),
            Self::Lpp(params) => Model::Lpp(params.fit_with(samples, exec)?).into(),
            Self::Npe(params) => Model::Npe(params.fit_with(samples, exec)?).into(),
            Self::Lle(params) => Model::Lle(params.fit_with(samples, exec)?).into(),
            Self::L1Graph(params) => Model::L1Graph(params.fit_with(samples, exec)?).into(),
            Self::Nmf(params) => Model::Nmf(params.fit_with(samples, exec)?).into(),
            Self::Nenmf(params) => Model::Nenmf(params.fit_with(samples, exec)?).into(),
            Self::RobustPca(params) => Outcome::split(params.fit_with(samples, exec)?, Model::RobustPca),
            Self::Rosl(params) => Outcome::split(params.fit_with(samples, exec)?, Model::Rosl),
            Self::Cesr(params) => Model::Cesr(params.fit_with(samples, classes()?, exec)?).into(),
            Self::Nn(params) => Model::NearestNeighbour(params.fit_with(samples, classes()?, exec)?).into(),
            Self::Svm(params) => Model::LinearSvm(params.fit_with(samples, classes()?, exec)?).into(),
            Self::Src(params) => Model::Src(params.fit_with(samples, classes()?, exec)?).into(),
        })
    }
}

impl Outcome {
    fn split<P>(found: Decomposed<P>, model: impl FnOnce(Linear<P>) -> Model) -> Self {
        Self { model: model(found.model), low_rank: Some(found.low_rank), sparse: Some(found.sparse) }
    }
}

impl From<Model> for Outcome {
    fn from(model: Model) -> Self {
        Self { model, low_rank: None, sparse: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_and_comes_back_from_its_settings() {
        for (name, _) in METHODS {
            assert!(Method::named(name).is_some(), "{name}");
        }
    }
}
