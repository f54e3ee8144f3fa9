//! A fitted model of any method, and what models share.

pub mod decomposed;
pub mod factors;
pub mod fitted;
pub mod linear;
pub mod record;
pub mod trace;

use eigenspan_linalg::Exec;

use crate::classify::cesr::Cesr;
use crate::classify::exemplars::Prediction;
use crate::classify::linear_svm::LinearSvm;
use crate::classify::nearest_neighbour::NearestNeighbour;
use crate::classify::sparse_representation::Src;
use crate::data::{ImageShape, Matrix, Samples};
use crate::method::eigenfaces::EigenfacesParams;
use crate::method::l1_graph::L1GraphParams;
use crate::method::lle::Lle;
use crate::method::lpp::LppParams;
use crate::method::nenmf::NenmfParams;
use crate::method::nmf::NmfParams;
use crate::method::npe::NpeParams;
use crate::method::robust_pca::RobustPcaParams;
use crate::method::rosl::RoslParams;
use crate::model::factors::Factors;
use crate::model::fitted::{Fitted, ModelInfo};
use crate::model::linear::Linear;
use crate::model::record::{Arrays, Record};
use crate::registry::Method;
use crate::{Error, Pce};

/// A fitted model of any method.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Principal Coefficients Embedding, and principal component analysis, which is one with settings of its own.
    Pce(Pce),
    /// Eigenfaces as published.
    Eigenfaces(Linear<EigenfacesParams>),
    /// Locality preserving projections.
    Lpp(Linear<LppParams>),
    /// Neighbourhood preserving embedding.
    Npe(Linear<NpeParams>),
    /// Locally linear embedding.
    Lle(Lle),
    /// L1-graph.
    L1Graph(Linear<L1GraphParams>),
    /// Non-negative matrix factorisation.
    Nmf(Factors<NmfParams>),
    /// The same by Nesterov's method.
    Nenmf(Factors<NenmfParams>),
    /// Robust principal component analysis.
    RobustPca(Linear<RobustPcaParams>),
    /// Robust orthonormal subspace learning.
    Rosl(Linear<RoslParams>),
    /// Sparse representation by correntropy.
    Cesr(Cesr),
    /// The nearest neighbour.
    NearestNeighbour(NearestNeighbour),
    /// The linear support vector machine.
    LinearSvm(LinearSvm),
    /// Sparse representation.
    Src(Src),
}

/// `$of_pce` for a model of PCE, `$of_others` for a model of any other method.
macro_rules! each {
    ($model:expr, $inside:ident => $do:expr) => {
        each!($model, pce $inside => $do, other $inside => $do)
    };
    ($model:expr, pce $pce:ident => $of_pce:expr, other $other:ident => $of_others:expr) => {
        match $model {
            Model::Pce($pce) => $of_pce,
            Model::Eigenfaces($other) => $of_others,
            Model::Lpp($other) => $of_others,
            Model::Npe($other) => $of_others,
            Model::Lle($other) => $of_others,
            Model::L1Graph($other) => $of_others,
            Model::Nmf($other) => $of_others,
            Model::Nenmf($other) => $of_others,
            Model::RobustPca($other) => $of_others,
            Model::Rosl($other) => $of_others,
            Model::Cesr($other) => $of_others,
            Model::NearestNeighbour($other) => $of_others,
            Model::LinearSvm($other) => $of_others,
            Model::Src($other) => $of_others,
        }
    };
}

impl Model {
    /// What was asked.
    pub fn settings(&self) -> Method {
        match self {
            Self::Pce(model) => Method::Pce(model.parts().params),
            Self::Eigenfaces(model) => Method::Eigenfaces(model.about.params),
            Self::Lpp(model) => Method::Lpp(model.about.params),
            Self::Npe(model) => Method::Npe(model.about.params),
            Self::Lle(model) => Method::Lle(model.about().params),
            Self::L1Graph(model) => Method::L1Graph(model.about.params),
            Self::Nmf(model) => Method::Nmf(model.about.params),
            Self::Nenmf(model) => Method::Nenmf(model.about.params),
            Self::RobustPca(model) => Method::RobustPca(model.about.params),
            Self::Rosl(model) => Method::Rosl(model.about.params),
            Self::Cesr(model) => Method::Cesr(model.about.params),
            Self::NearestNeighbour(model) => Method::Nn(model.about().params),
            Self::LinearSvm(model) => Method::Svm(model.about().params),
            Self::Src(model) => Method::Src(model.about().params),
        }
    }

    /// The arrays that were learnt, by name; none of PCE, whose parts are known by their own names.
    pub fn arrays(&self) -> Arrays {
        each!(self, pce _model => Arrays::default(), other model => model.take_apart().1)
    }

    /// The names of the classes that a classifier tells apart.
    pub fn class_names(&self) -> Option<&[String]> {
        Some(match self {
            Self::Cesr(model) => &model.known.labels.names,
            Self::NearestNeighbour(model) => &model.labels().names,
            Self::LinearSvm(model) => model.names(),
            Self::Src(model) => &model.known().labels.names,
            _ => return None,
        })
    }

    /// The class of each sample, by its number among the names, and how many samples used up their rounds.
    pub fn predict_with<'a>(
        &self,
        samples: impl Into<Samples<'a>>,
        exec: Exec<'_>,
    ) -> Result<(Vec<usize>, usize), Error> {
        let settled = |classes: Vec<usize>| (classes, 0);
        let counted = |found: Prediction| (found.classes, found.unfinished);
        match self {
            Self::Cesr(model) => model.predict_with(samples, exec).map(counted),
            Self::NearestNeighbour(model) => model.predict_with(samples, exec).map(settled),
            Self::LinearSvm(model) => model.predict_with(samples, exec).map(settled),
            Self::Src(model) => model.predict_with(samples, exec).map(counted),
            other => Err(Error::NoClasses { method: other.info().method }),
        }
    }

    /// The features of each sample, on all cores.
    pub fn transform<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Matrix, Error> {
        self.transform_with(samples.into(), Exec::default())
    }

    /// The same model with the shape of its samples as images; `None` where that is not their size.
    pub fn with_image(mut self, shape: ImageShape) -> Option<Self> {
        if shape.height.checked_mul(shape.width) != Some(self.features()) {
            return None;
        }
        self.set_image(shape);
        Some(self)
    }
}

impl Fitted for Model {
    fn info(&self) -> ModelInfo<'_> {
        each!(self, model => Fitted::info(model))
    }

    fn features(&self) -> usize {
        each!(self, model => Fitted::features(model))
    }

    fn columns(&self) -> usize {
        each!(self, model => Fitted::columns(model))
    }

    fn set_image(&mut self, shape: ImageShape) {
        each!(self, model => Fitted::set_image(model, shape));
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        each!(self, model => Fitted::transform_with(model, samples, exec))
    }
}
