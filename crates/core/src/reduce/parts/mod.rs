//! Steps that methods share, named by what they compute.

mod even_noise;
pub mod lambda;
pub mod noise_cut;
pub mod threshold;
