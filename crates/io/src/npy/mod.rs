//! NPY: one array, as `np.save` writes it.

mod fault;
mod header;
mod read;
mod sink;

pub use fault::NpyFault;
pub(crate) use fault::tuple;
pub(crate) use header::MAGIC;
pub(crate) use read::{axes, classes, image_shape, row_numbers, rows, samples};
pub(crate) use sink::NpySink;
