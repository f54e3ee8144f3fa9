//! Ways of having the samples whose singular values a rule asks for: one way, one file.

pub mod online;
pub(crate) mod row_whitening;
pub mod sketch;
pub mod summary;
