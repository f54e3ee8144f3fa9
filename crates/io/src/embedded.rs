//! Data that come with the program.

use eigenspan::data::Dataset;

/// Who made the [`digits`], and their licence.
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

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan::data::{ImageShape, Matrix};

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
