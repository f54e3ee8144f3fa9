//! Generated data with a known ground truth.

mod random;
mod subspaces;

pub use random::Normal;
pub use subspaces::Subspaces;
