//! The methods: one method, one file; the steps they share in [`parts`].
//!
//! The list below is the one place where a method is declared; [`registry`](crate::registry) says what follows from it, and
//! `docs/first-method.md` how a method is added.

pub mod eigenfaces;
pub mod l1_graph;
pub mod lle;
pub mod lpp;
pub mod nenmf;
pub mod nmf;
pub mod npe;
pub mod parts;
pub mod pca;
pub mod pce;
pub mod random_projection;
pub mod robust_pca;
pub mod rosl;

/// The parameters of every method.
pub mod params {
    pub use super::eigenfaces::EigenfacesParams;
    pub use super::l1_graph::L1GraphParams;
    pub use super::lle::LleParams;
    pub use super::lpp::LppParams;
    pub use super::nenmf::NenmfParams;
    pub use super::nmf::NmfParams;
    pub use super::npe::NpeParams;
    pub use super::pca::PcaParams;
    pub use super::pce::PceParams;
    pub use super::random_projection::RandomProjectionParams;
    pub use super::robust_pca::RobustPcaParams;
    pub use super::rosl::RoslParams;
    pub use crate::classify::cesr::CesrParams;
    pub use crate::classify::linear_svm::LinearSvmParams;
    pub use crate::classify::nearest_neighbour::NearestNeighbourParams;
    pub use crate::classify::sparse_representation::SrcParams;
}

use params::*;

crate::registry::methods! {
    /// Principal Coefficients Embedding.
    Pce(PceParams) = "pce", Reducer, "Principal Coefficients Embedding: finds the dimension by itself",
        also "pce-auto" = PceParams::auto(),
        "the same with soft weights, chosen by the labels where there are some, and features of length one";
    /// Principal component analysis.
    Pca(PcaParams) = "pca", Reducer, "principal component analysis: the directions of largest variance";
    /// Eigenfaces as published.
    Eigenfaces(EigenfacesParams) = "eigenfaces", Reducer,
        "PCA of raw pixels with features of length one, as the paper ran it";
    /// Locality preserving projections.
    Lpp(LppParams) = "lpp", Reducer, "locality preserving projections: neighbours stay neighbours";
    /// Neighbourhood preserving embedding.
    Npe(NpeParams) = "npe", Reducer,
        "neighbourhood preserving embedding: samples stay the same means of their neighbours";
    /// Locally linear embedding.
    Lle(LleParams) = "lle", Reducer, "locally linear embedding: the same, not linear, with no map for new samples";
    /// L1-graph.
    L1Graph(L1GraphParams) = "l1-graph", Reducer,
        "L1-graph: samples stay the same sparse combinations of all others";
    /// Non-negative matrix factorisation.
    Nmf(NmfParams) = "nmf", Reducer,
        "non-negative matrix factorisation by multiplicative updates: samples are sums of parts";
    /// The same by Nesterov's method.
    Nenmf(NenmfParams) = "nenmf", Reducer, "the same by Nesterov's method";
    /// Random projection.
    RandomProjection(RandomProjectionParams) = "random-projection", Reducer,
        "random projection: distances are kept within a share, without a look at the samples";
    /// Robust principal component analysis.
    RobustPca(RobustPcaParams) = "robust-pca", Decomposition,
        "robust PCA: a low-rank part, and a sparse part for what is grossly wrong";
    /// Robust orthonormal subspace learning.
    Rosl(RoslParams) = "rosl", Decomposition,
        "robust orthonormal subspace learning: the same without a singular value decomposition";
    /// Sparse representation by correntropy.
    Cesr(CesrParams) = "cesr", Classifier,
        "classifier: sparse representation by correntropy, for samples that are wrong in many places";
    /// The nearest neighbour.
    Nn(NearestNeighbourParams) = "nn", Classifier, "classifier: the nearest neighbour, exact";
    /// The linear support vector machine.
    Svm(LinearSvmParams) = "svm", Classifier,
        "classifier: the linear support vector machine, one class against all others";
    /// Sparse representation.
    Src(SrcParams) = "src", Classifier,
        "classifier: sparse representation by all training samples, the class that explains most";
}
