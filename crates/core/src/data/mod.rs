//! Input data: samples in rows, dense or sparse, whole or in blocks.

pub mod corrupt;
pub mod csr;
pub mod dataset;
pub mod generate;
pub mod matrix;
pub mod stream;
pub mod synthetic_faces;

pub use corrupt::{Corrupted, Corruption};
pub use csr::Csr;
pub use dataset::{Dataset, ImageShape, Labels};
pub use matrix::{Matrix, NumberType, Samples};
pub use stream::{Sink, Source, StreamError};
pub use synthetic_faces::{Disguise, SyntheticFaces};
