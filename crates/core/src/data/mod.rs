//! What goes in: samples in rows, dense or sparse, whole or in blocks.

pub mod csr;
pub mod dataset;
pub mod generate;
pub mod matrix;
pub mod stream;

pub use csr::Csr;
pub use dataset::{Dataset, ImageShape, Labels};
pub use matrix::{Matrix, NumberType, Samples};
pub use stream::{Sink, Source, StreamError};
