//! What fitted models share; the [`Model`] of any method is declared in the [registry](crate::registry).

pub mod decomposed;
pub mod factors;
pub mod fitted;
pub mod linear;
pub mod principal;
pub mod record;
pub mod trace;

pub use crate::registry::Model;
