//! The Gram matrix at the machine's speed.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A (q × p) | [`Panel`] | arrives a slab of at most [`Number::DEPTH`] rows at a time |
//! | G (p × p) | `gram` | lower triangle, `f64`, row after row |
//!
//! ```text
//!     G ← G + AᵀA        G_ij = Σ_l A_li A_lj,   j ≤ i
//! ```
//! One slab is summed in the type of its numbers (`f64`, `f32`; integers for `u8`, hence exactly), the slabs are summed
//! in `f64`. This crate runs on the caller's thread; threads share the work by owning disjoint stripes of rows of G,
//! and the bits of G do not depend on the stripes. A product AᵀB of two matrices is computed the same way
//! ([`accumulate_product`]).
//!
//! ```
//! use eigenspan_kernel::{Panel, Square, accumulate};
//!
//! let mut panel = Panel::new(2);
//! panel.set_depth(3);
//! panel.set_rows(0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! let mut gram = Square::zeros(2);
//! accumulate(&panel, gram.whole());
//! assert_eq!((gram.row(0)[0], gram.row(1)), (35.0, &[44.0, 56.0][..]));
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `panel` | a slab, packed so that the kernels read it front to back |
//! | `square` | where G is summed |
//! | `gram` | the order in which the tiles of G are visited |
//! | `rows` | operations on rows before they are multiplied: lengths, sums, scaling, shifting |
//! | `descent` | one step of Nesterov's method for many small problems with the same matrix |
//! | `steps` | entrywise steps of an iteration on a matrix |
//! | `portable` | the tile in plain Rust, for any machine |
//! | `avx2`, `avx512` | the tile in assembly, for AVX2 and FMA or for AVX-512: the only modules with `unsafe` |
//! | `machine` | which kernels this machine can run |
//! | `probe` | AᵀA times a few vectors in `f64`, to measure the error of a Gram matrix in `f32` |

#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod descent;
mod gram;
mod machine;
mod panel;
mod portable;
mod probe;
pub mod rows;
mod square;
pub mod steps;
#[cfg(test)]
mod tests;

pub use gram::{Prefetch, STRIPE_ROWS, Stripe, accumulate, accumulate_prefetching, accumulate_product};
pub use panel::{Number, Panel, Strip};
pub use probe::{VECTORS, probe};
pub use square::Square;
