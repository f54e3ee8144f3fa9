//! NPY: one array, as `np.save` writes it.

mod fault;
mod header;
mod read;
mod sink;
mod values;

pub use fault::{BadValue, NpyFault};
pub(crate) use header::MAGIC;
pub(crate) use read::{Length, NpyRows, axes, classes, image_shape, row_numbers, samples};
pub(crate) use sink::NpySink;
