//! Data that come with the program.

use eigenspan_core::data::{Dataset, SyntheticFaces};

/// The names by which data that come with the program are requested in place of a file.
pub const NAMES: [&str; 2] = ["@digits", "@synthetic-faces"];

/// Who made the [`digits`], and their license.
pub const DIGITS_CREDIT: &str = "Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), \
    UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0";

/// 1797 handwritten digits of 8 × 8 pixels with values from 0 to 16, and the digit that each is.
/// See [`DIGITS_CREDIT`].
///
/// ```
/// let digits = eigenspan_io::embedded::digits();
/// assert_eq!((digits.samples.rows(), digits.samples.cols()), (1797, 64));
/// assert_eq!(digits.labels.unwrap().names.len(), 10);
/// ```
pub fn digits() -> Dataset {
    let bytes = include_bytes!("../data/digits.npz");
    crate::read_bytes("digits.npz", bytes, &crate::ReadOptions::default()).expect("the embedded file is whole")
}

/// 38 rendered heads under 58 lights each, 54 × 48 pixels: as many as the paper's set of Extended Yale B, and nobody's
/// face. See [`SyntheticFaces`].
pub fn synthetic_faces() -> Dataset {
    SyntheticFaces::default().generate().expect("the default is a set of faces")
}

/// The data of one of the [`NAMES`].
pub fn by_name(name: &str) -> Option<Dataset> {
    match name {
        "@digits" => Some(digits()),
        "@synthetic-faces" => Some(synthetic_faces()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_core::data::{ImageShape, Matrix};

    #[test]
    fn every_name_is_known_and_faces_have_the_size_of_the_papers_set() {
        assert!(NAMES.iter().all(|name| by_name(name).is_some()) && by_name("@nothing").is_none());
        let faces = synthetic_faces();
        assert_eq!((faces.samples.rows(), faces.samples.cols()), (2204, 2592));
        assert_eq!(faces.image, Some(ImageShape { height: 54, width: 48 }));
        assert_eq!(faces.labels.unwrap().counts(), [58; 38]);
    }

    #[test]
    fn digits_are_those_of_the_repository() {
        let data = digits();
        let Matrix::U8(pixels) = &data.samples else { panic!("pixels are bytes") };
        assert_eq!(pixels.as_slice().iter().max(), Some(&16));
        assert_eq!(pixels.as_slice().iter().map(|&p| u64::from(p)).sum::<u64>(), 561_718);
        assert_eq!(data.image, Some(ImageShape { height: 8, width: 8 }));
        let labels = data.labels.unwrap();
        assert_eq!(labels.counts(), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
        assert_eq!(labels.of[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(pixels.row(0)[..8], [0, 0, 5, 13, 9, 1, 0, 0]);
    }
}
