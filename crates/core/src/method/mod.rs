//! The methods: one method, one file; the steps they share in [`parts`].

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
pub mod robust_pca;
pub mod rosl;
