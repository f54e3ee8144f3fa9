//! Steps that estimators share, named by what they compute.

pub(crate) mod angles;
pub(crate) mod ball;
pub(crate) mod bessel;
pub(crate) mod calibration;
pub(crate) mod near;
pub(crate) mod ratios;
pub(crate) mod reference_fit;
pub(crate) mod search;
pub(crate) mod spline;
