//! Steps that methods share, named by what they compute.

pub mod alternation;
pub(crate) mod bottom_eigenpairs;
pub(crate) mod dimension;
pub mod factorisation;
pub mod graph_embedding;
pub(crate) mod graph_samples;
pub(crate) mod halves;
pub mod homotopy;
mod independent_samples;
pub mod leave_one_out;
pub mod low_rank;
pub mod neighbour_graph;
pub mod neighbours;
pub mod nonnegative;
pub(crate) mod project;
pub mod reconstruction;
pub mod singular_threshold;
pub mod soft_weights;
pub mod sparse_graph;
