//! From a spectrum to a cut: one rule, one file.

pub mod lambda;
pub mod minka;
pub mod noise_cut;
pub mod threshold;
