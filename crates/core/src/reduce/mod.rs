//! The methods: one method, one file; the steps they share in [`parts`].

pub mod cesr;
pub mod decomposed;
pub mod eigenfaces;
pub mod factors;
pub mod fitted;
pub mod l1_graph;
pub mod linear;
pub mod lle;
pub mod lpp;
pub mod nenmf;
pub mod nmf;
pub mod npe;
pub mod online;
pub mod parts;
pub mod pca;
pub mod pce;
pub mod record;
pub mod robust_pca;
pub mod rosl;
pub mod stream;
pub mod trace;
pub mod wide;
