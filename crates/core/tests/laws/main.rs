//! What every method promises, a file each, in one program: it is linked once.

#![allow(clippy::print_stderr, reason = "tests say what they skip")]

mod common;

mod cesr;
mod corruption;
mod dimension;
mod eigenfaces;
mod graph;
mod homotopy;
mod l1_graph;
mod linear_svm;
mod nearest_neighbour;
mod nmf;
mod online;
mod pca;
mod pce;
mod pce_auto;
mod portion;
mod registry;
mod robust_pca;
mod rosl;
mod settings;
mod sparse;
mod src;
mod synthetic_faces;
mod verification;
mod wide;
