//! Generators
