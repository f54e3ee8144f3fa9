//! Steps that methods share, named by what they compute.

pub mod lambda;
pub mod threshold;
