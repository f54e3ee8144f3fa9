//! Data of which the truth is known.

mod random;
mod subspaces;

pub use random::Normal;
pub use subspaces::Subspaces;
