//! The methods: one method, one file; the steps they share in [`parts`].

pub mod parts;
pub mod pca;
pub mod pce;
pub mod stream;
