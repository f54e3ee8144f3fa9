//! placeholder
pub mod data;
pub use eigenspan_linalg::{Mat, MatRef, exec};
