//! One image, from bytes that nobody vouches for to values.
//!
//! The decoders are those of the crate `image`. Before one of them takes memory for the pixels, their number is
//! compared with the bytes of the file. What a format can hold at most follows from its packing:
//!
//! | format | bits of pixels in one bit of the file, at most | because |
//! |---|--:|---|
//! | PNM, BMP | 1 | pixels are stored as they are |
//! | BMP with runs | 128 | two bytes are a run of at most 255 pixels of 8 bits |
//! | JPEG | 512 | a block of 64 pixels of 8 bits takes at least the one bit of the shortest Huffman code |
//! | PNG | 1032 | deflate repeats at most 258 bytes with a length and a distance of one bit each |
//!
//! A decoder that panics is taken for a decoder that refuses.

use std::error::Error;
use std::io::{Cursor, ErrorKind};

use eigenspan_core::data::ImageShape;
use image::codecs::{bmp::BmpDecoder, jpeg::JpegDecoder, png::PngDecoder, pnm::PnmDecoder};
use image::imageops::{self, FilterType};
use image::{ImageBuffer, ImageDecoder, ImageError, Limits, Luma, Pixel, Rgb};

use super::ImagesFault;
use crate::contain::contained;

/// The values of an image, pixel by pixel from the upper left, row by row.
#[derive(Debug, PartialEq)]
pub(super) struct Picture {
    pub(super) height: usize,
    pub(super) width: usize,
    /// 1 for grey; 3 for red, green, blue.
    pub(super) channels: usize,
    pub(super) values: Values,
}

#[derive(Debug, PartialEq)]
pub(super) enum Values {
    U8(Vec<u8>),
    U16(Vec<u16>),
}

impl Values {
    pub(super) fn bits(&self) -> usize {
        match self {
            Self::U8(_) => 8,
            Self::U16(_) => 16,
        }
    }
}

/// Decodes an image, turns it to grey and brings it to a size, where requested.
pub(super) fn picture(bytes: &[u8], grey: bool, resize: Option<ImageShape>) -> Result<Picture, ImagesFault> {
    let format = Format::of(bytes);
    let decoded = contained(|| format.decode(bytes));
    let (size, stored, values) =
        decoded.unwrap_or_else(|_| Err(format.damaged("makes its decoder panic".to_string())))?;
    let to = match resize {
        Some(ImageShape { height, width }) => {
            let side = |length: usize| u16::try_from(length).ok().filter(|&length| length > 0).map(u32::from);
            side(height).zip(side(width)).ok_or(ImagesFault::Resize { height, width })?
        }
        None => size,
    };
    let channels = if grey || stored <= 2 { 1 } else { 3 };
    let values = match values {
        Values::U8(values) => Values::U8(brought(values, stored, grey, size, to)),
        Values::U16(values) => Values::U16(brought(values, stored, grey, size, to)),
    };
    Ok(Picture { height: to.0 as usize, width: to.1 as usize, channels, values })
}

/// Leaves the alpha out, turns to grey and brings to another size. Sizes are height and width.
fn brought<T: image::Primitive + 'static>(
    values: Vec<T>,
    stored: usize,
    grey: bool,
    size: (u32, u32),
    to: (u32, u32),
) -> Vec<T>
where
    Luma<T>: Pixel<Subpixel = T>,
    Rgb<T>: Pixel<Subpixel = T>,
{
    let values: Vec<T> = match stored {
        1 => values,
        2 => values.chunks_exact(2).map(|pixel| pixel[0]).collect(),
        _ if grey => values.chunks_exact(stored).map(|p| Rgb([p[0], p[1], p[2]]).to_luma().0[0]).collect(),
        3 => values,
        _ => values.chunks_exact(stored).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
    };
    match stored <= 2 || grey {
        _ if size == to => values,
        true => resized::<Luma<T>>(values, size, to),
        false => resized::<Rgb<T>>(values, size, to),
    }
}

fn resized<P: Pixel + 'static>(values: Vec<P::Subpixel>, size: (u32, u32), to: (u32, u32)) -> Vec<P::Subpixel> {
    let image: ImageBuffer<P, _> = ImageBuffer::from_raw(size.1, size.0, values).expect("a value for every pixel");
    imageops::resize(&image, to.1, to.0, FilterType::CatmullRom).into_raw()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Png,
    Jpeg,
    Bmp,
    Pnm,
}

/// Height and width, stored channels, and all values.
type Decoded = ((u32, u32), usize, Values);

impl Format {
    /// The format of bytes that [`crate::input::is_image`] found to be an image.
    fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x89, ..] => Self::Png,
            [0xff, ..] => Self::Jpeg,
            [b'B', ..] => Self::Bmp,
            _ => Self::Pnm,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Bmp => "BMP",
            Self::Pnm => "PNM",
        }
    }

    fn damaged(self, problem: String) -> ImagesFault {
        ImagesFault::Damaged { format: self.name(), problem }
    }

    fn decode(self, bytes: &[u8]) -> Result<Decoded, ImagesFault> {
        let failed = |error: ImageError| self.damaged(problem(&error));
        let source = Cursor::new(bytes);
        match self {
            Self::Png => {
                // The decoder of PNG takes memory for a row before it hands out the size.
                let Some((height, width, bits)) = png_header(bytes) else {
                    return Err(self.damaged("ends too early".to_string()));
                };
                self.can_hold(bytes, height, width, bits, 1032)?;
                let mut limits = Limits::no_limits();
                // What its packed parts can hold, and a row with four channels of 16 bits.
                limits.max_alloc = Some(bytes.len() as u64 * 1032 + u64::from(width) * 8);
                self.values(PngDecoder::with_limits(source, limits).map_err(failed)?)
            }
            Self::Jpeg => {
                let decoder = JpegDecoder::new(source).map_err(failed)?;
                let (width, height) = decoder.dimensions();
                self.can_hold(bytes, height, width, 8, 512)?;
                // What is missing would be filled with grey.
                match reaches_end(bytes) {
                    true => self.values(decoder),
                    false => Err(self.damaged("ends before its end marker ff d9".to_string())),
                }
            }
            Self::Bmp => {
                let decoder = BmpDecoder::new(source).map_err(failed)?;
                let (width, height) = decoder.dimensions();
                let (bits, runs) = bmp_bits(bytes);
                self.can_hold(bytes, height, width, bits, if runs { 128 } else { 1 })?;
                // BMP has no grey of its own: grey images are written with a palette of greys.
                let is_grey =
                    |palette: &[[u8; 3]]| palette.iter().all(|[red, green, blue]| red == green && green == blue);
                let grey = decoder.get_palette().is_some_and(is_grey);
                match self.values(decoder)? {
                    (size, 3, Values::U8(values)) if grey => {
                        Ok((size, 1, Values::U8(values.into_iter().step_by(3).collect())))
                    }
                    decoded => Ok(decoded),
                }
            }
            Self::Pnm => {
                let decoder = PnmDecoder::new(source).map_err(failed)?;
                let (width, height) = decoder.dimensions();
                self.can_hold(bytes, height, width, decoder.original_color_type().bits_per_pixel().into(), 1)?;
                self.values(decoder)
            }
        }
    }

    /// Compares the size that a header claims with the bytes of the file. A pixel takes so many `bits` before packing,
    /// and packing makes them at most `gain` times fewer.
    fn can_hold(self, bytes: &[u8], height: u32, width: u32, bits: u64, gain: u64) -> Result<(), ImagesFault> {
        let needed = u128::from(height) * u128::from(width) * u128::from(bits);
        let (height, width) = (height as usize, width as usize);
        if height == 0 || width == 0 {
            return Err(ImagesFault::NoPixels { height, width });
        }
        match needed <= 8 * u128::from(gain) * bytes.len() as u128 {
            true => Ok(()),
            false => Err(ImagesFault::TooLarge { format: self.name(), height, width, bytes: bytes.len() }),
        }
    }

    fn values(self, decoder: impl ImageDecoder) -> Result<Decoded, ImagesFault> {
        let ((width, height), color) = (decoder.dimensions(), decoder.color_type());
        let channels = usize::from(color.channel_count());
        let mut bytes = vec![0; decoder.total_bytes() as usize];
        decoder.read_image(&mut bytes).map_err(|error| self.damaged(problem(&error)))?;
        let values = match usize::from(color.bytes_per_pixel()) / channels {
            1 => Values::U8(bytes),
            _ => Values::U16(bytes.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect()),
        };
        Ok(((height, width), channels, values))
    }
}

/// Height, width and bits of a pixel before packing, from the header of a PNG.
fn png_header(bytes: &[u8]) -> Option<(u32, u32, u64)> {
    let &[.., a, b, c, d, e, f, g, h, depth, color] = bytes.first_chunk::<26>()?;
    let channels = [1, 1, 3, 1, 2, 1, 4].get(usize::from(color)).unwrap_or(&1);
    Some((u32::from_be_bytes([e, f, g, h]), u32::from_be_bytes([a, b, c, d]), u64::from(depth) * channels))
}

/// Bits of a pixel, and whether pixels are packed into runs, from the header of a BMP.
fn bmp_bits(bytes: &[u8]) -> (u64, bool) {
    let number = |at: usize| bytes.get(at..at + 2).map_or(0, |pair| u64::from(u16::from_le_bytes([pair[0], pair[1]])));
    // The oldest header, of 12 bytes, has no packing.
    match number(14) {
        12 => (number(24), false),
        _ => (number(28), matches!(number(30), 1 | 2)),
    }
}

/// Whether the segments of a JPEG lead to its end marker. Markers are `ff` and a code; between the segments, which have
/// their lengths, lie the packed pixels, in which `ff` is followed by 0 or by a code that has no segment.
fn reaches_end(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(rest) = bytes.get(at..) {
        let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 1 | 0xd0..=0xd8 | 0xff);
        let Some(marker) = rest.windows(2).position(is_marker) else { return false };
        match rest[marker + 1..] {
            [0xd9, ..] => return true,
            [_, high, low, ..] => at += marker + 2 + usize::from(u16::from_be_bytes([high, low])),
            _ => return false,
        }
    }
    false
}

/// What decoders say, and what it means to the owner of an image. What is not listed is shown in their words.
const MEANINGS: [(&str, &str); 12] = [
    ("CRC error", "has a part whose checksum does not fit"),
    ("Corrupt deflate stream", "has packed rows that cannot be unpacked"),
    ("does not have enough data", "holds fewer pixels than its header claims"),
    ("Not enough data", "ends too early"),
    ("Not enough bytes", "ends too early"),
    ("Corrupt RLE", "has a run of pixels that leaves its row or the image"),
    ("Overflow when parsing integer in number", "claims a width, height or largest value beyond measure"),
    ("number in preamble", "has something else where a whole number should be its width, height or largest value"),
    ("in sample", "has a pixel that is no number, or too large a one"),
    ("MAXVAL", "names a largest value that is not from 1 to 65535"),
    ("set to zero", "claims a height or width of 0"),
    ("Image dimensions", "claims a height or width that is 0 or beyond measure"),
];

fn problem(error: &ImageError) -> String {
    match error {
        ImageError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => "ends too early".to_string(),
        ImageError::Limits(_) => "asks for more memory than its bytes can fill".to_string(),
        other => {
            let words = other.source().map_or_else(|| other.to_string(), |source| source.to_string());
            match MEANINGS.iter().find(|(said, _)| words.contains(said)) {
                Some((_, meaning)) => meaning.to_string(),
                None => {
                    format!("cannot be decoded ({})", words.lines().next().unwrap_or_default().trim_end_matches('.'))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{DynamicImage, ExtendedColorType, ImageEncoder, ImageFormat, codecs};

    fn grey(height: usize, width: usize, values: &[u8]) -> Picture {
        Picture { height, width, channels: 1, values: Values::U8(values.to_vec()) }
    }

    fn plain(bytes: &[u8]) -> Result<Picture, String> {
        picture(bytes, false, None).map_err(|fault| fault.to_string())
    }

    fn to(height: usize, width: usize) -> Option<ImageShape> {
        Some(ImageShape { height, width })
    }

    fn written(values: &[u8], width: u32, height: u32, color: ExtendedColorType, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(vec![]);
        image::write_buffer_with_format(&mut file, values, width, height, color, format).unwrap();
        file.into_inner()
    }

    /// 4 rows of 6 pixels, smooth as faces are.
    fn smooth() -> Vec<u8> {
        (0..24).map(|i| (40. + 8. * f64::from(i % 6) + 90. * (f64::from(i / 6) / 2.).sin()) as u8).collect()
    }

    /// BMP of 8 bits with a palette, rows from the bottom, each filled up to four bytes.
    fn bmp(width: usize, height: usize, values: &[u8], palette: impl Fn(u8) -> [u8; 3]) -> Vec<u8> {
        let mut file = [&b"BM"[..], &[0; 8], &1078u32.to_le_bytes(), &40u32.to_le_bytes()].concat();
        file.extend([(width as u32).to_le_bytes(), (height as u32).to_le_bytes()].concat());
        file.extend([1, 0, 8, 0]);
        file.extend([0; 24]);
        for value in 0..=255 {
            let [red, green, blue] = palette(value);
            file.extend([blue, green, red, 0]);
        }
        for row in values.chunks(width).rev() {
            file.extend(row);
            file.extend(vec![0; width.next_multiple_of(4) - width]);
        }
        file
    }

    #[test]
    fn every_format_gives_the_same_grey_pixels() {
        let values = smooth();
        let text = values.iter().map(u8::to_string).collect::<Vec<_>>().join("\n");
        for file in [
            [&b"P5 6 4 255\n"[..], &values].concat(),
            format!("P2 # a comment\n6 4\n255\n{text}\n").into_bytes(),
            bmp(6, 4, &values, |value| [value; 3]),
            written(&values, 6, 4, ExtendedColorType::L8, ImageFormat::Png),
        ] {
            assert_eq!(plain(&file), Ok(grey(4, 6, &values)));
        }
    }

    #[test]
    fn jpeg_is_within_a_few_levels() {
        let (values, mut file) = (smooth(), vec![]);
        let encoder = codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 95);
        encoder.write_image(&values, 6, 4, ExtendedColorType::L8).unwrap();
        let Values::U8(found) = plain(&file).unwrap().values else { panic!("JPEG has 8 bits") };
        assert!(values.iter().zip(&found).all(|(a, b)| a.abs_diff(*b) <= 4), "{values:?} {found:?}");
    }

    #[test]
    fn sixteen_bits_are_the_same_in_png_and_pgm() {
        let values = [0u16, 1, 255, 256, 40_000, 65_535];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        let pgm = [&b"P5 3 2 65535\n"[..], &bytes].concat();
        let image: ImageBuffer<Luma<u16>, _> = ImageBuffer::from_raw(3, 2, values.to_vec()).unwrap();
        let mut png = Cursor::new(vec![]);
        DynamicImage::from(image).write_to(&mut png, ImageFormat::Png).unwrap();
        let expected = Picture { height: 2, width: 3, channels: 1, values: Values::U16(values.to_vec()) };
        assert_eq!(plain(&pgm).as_ref(), Ok(&expected));
        assert_eq!(plain(&png.into_inner()), Ok(expected));
    }

    #[test]
    fn another_maximum_is_stretched_to_all_of_the_range() {
        assert_eq!(plain(b"P2 4 1 15\n0 1 7 15\n"), Ok(grey(1, 4, &[0, 17, 119, 255])));
        assert_eq!(plain(b"P4 3 1\n\xa0"), Ok(grey(1, 3, &[0, 255, 0])), "in PBM, 1 is black");
        assert_eq!(plain(b"P1 3 1\n101"), Ok(grey(1, 3, &[0, 255, 0])));
        let twelve = plain(b"P5 2 1 4095\n\x0f\xff\x00\x01").unwrap();
        assert_eq!(twelve.values, Values::U16(vec![65_535, 16]));
        assert_eq!(plain(b"P5 2 1 100\n\x64\xc8"), Ok(grey(1, 2, &[255, 255])), "no more than the maximum");
    }

    #[test]
    fn alpha_is_left_out() {
        let with = [1, 2, 3, 4, 250, 128, 0, 255];
        let file = written(&with, 2, 1, ExtendedColorType::Rgba8, ImageFormat::Png);
        let color = Values::U8(vec![1, 2, 3, 250, 128, 0]);
        assert_eq!(plain(&file), Ok(Picture { height: 1, width: 2, channels: 3, values: color }));
        let file = written(&[7, 0, 9, 255], 2, 1, ExtendedColorType::La8, ImageFormat::Png);
        assert_eq!(plain(&file), Ok(grey(1, 2, &[7, 9])));
    }

    #[test]
    fn grey_is_the_luma_of_rec_709_rounded_down() {
        let pixels = [255, 0, 0, 0, 255, 0, 0, 0, 255, 90, 90, 90];
        let file = [&b"P6 4 1 255\n"[..], &pixels].concat();
        let luma = [0.2126 * 255., 0.7152 * 255., 0.0722 * 255., 90.].map(|value: f64| value as u8);
        assert_eq!(picture(&file, true, None).unwrap(), grey(1, 4, &luma));
    }

    #[test]
    fn a_palette_of_greys_is_grey_and_any_other_is_colour() {
        let values = [3, 200];
        let negative = bmp(2, 1, &values, |value| [255 - value; 3]);
        assert_eq!(plain(&negative), Ok(grey(1, 2, &[252, 55])));
        let tinted = plain(&bmp(2, 1, &values, |value| [value, value, value / 2])).unwrap();
        assert_eq!((tinted.channels, tinted.values), (3, Values::U8(vec![3, 3, 1, 200, 200, 100])));
    }

    #[test]
    fn bringing_to_the_same_size_changes_nothing() {
        let file = [&b"P5 6 4 255\n"[..], &smooth()].concat();
        assert_eq!(picture(&file, false, to(4, 6)).unwrap(), grey(4, 6, &smooth()));
    }

    #[test]
    fn a_constant_image_stays_constant_in_any_size() {
        let file = [&b"P5 6 4 255\n"[..], &[77; 24]].concat();
        for (height, width) in [(2, 3), (1, 1), (3, 5), (9, 13)] {
            assert_eq!(
                picture(&file, false, to(height, width)).unwrap(),
                grey(height, width, &vec![77; height * width])
            );
        }
        let deep = [&b"P6 2 2 65535\n"[..], &[0x12; 24]].concat();
        assert_eq!(picture(&deep, false, to(1, 1)).unwrap().values, Values::U16(vec![0x1212; 3]));
    }

    #[test]
    fn shrinking_is_that_of_pillow_within_a_level() {
        #[rustfmt::skip]
        let values = [
            0, 10, 40, 90, 160, 250,
            5, 15, 60, 80, 170, 240,
            200, 150, 100, 50, 25, 12,
            255, 0, 255, 0, 255, 0,
        ];
        let file = [&b"P5 6 4 255\n"[..], &values].concat();
        let Values::U8(found) = picture(&file, false, to(2, 3)).unwrap().values else { panic!("8 bits stay 8 bits") };
        // Image.resize((3, 2), Image.BICUBIC)
        let pillow = [22, 67, 181, 147, 100, 75u8];
        assert!(pillow.iter().zip(&found).all(|(a, b)| a.abs_diff(*b) <= 1), "{found:?}");
    }

    /// 3 × 2 pixels in RGBA, written by Pillow 13.
    #[rustfmt::skip]
    const PNG_BY_PILLOW: [u8; 92] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
        0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x06, 0x00, 0x00, 0x00, 0x9d, 0x74, 0x66, 0x1a, 0x00, 0x00, 0x00, 0x23, 0x49,
        0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x64, 0x62, 0x66, 0xf9, 0xd5, 0xc0, 0xf0, 0x9f, 0x93, 0x93, 0x93, 0x81,
        0x81, 0xe1, 0x3f, 0x03, 0xbb, 0xaf, 0x93, 0xb9, 0xce, 0xff, 0xff, 0xff, 0xff, 0x03, 0x00, 0x4e, 0xa6, 0x08, 0x93,
        0x59, 0xdb, 0xd6, 0xe4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    ];

    /// 8 × 8 grey pixels, written by Pillow 13.
    #[rustfmt::skip]
    const JPEG_BY_PILLOW: [u8; 177] = [
        0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00,
        0x00, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x0d, 0x09, 0x0a, 0x0b, 0x0a, 0x08, 0x0d, 0x0b, 0x0a, 0x0b, 0x0e, 0x0e, 0x0d,
        0x0f, 0x13, 0x20, 0x15, 0x13, 0x12, 0x12, 0x13, 0x27, 0x1c, 0x1e, 0x17, 0x20, 0x2e, 0x29, 0x31, 0x30, 0x2e, 0x29,
        0x2d, 0x2c, 0x33, 0x3a, 0x4a, 0x3e, 0x33, 0x36, 0x46, 0x37, 0x2c, 0x2d, 0x40, 0x57, 0x41, 0x46, 0x4c, 0x4e, 0x52,
        0x53, 0x52, 0x32, 0x3e, 0x5a, 0x61, 0x5a, 0x50, 0x60, 0x4a, 0x51, 0x52, 0x4f, 0xff, 0xc0, 0x00, 0x0b, 0x08, 0x00,
        0x08, 0x00, 0x08, 0x01, 0x01, 0x11, 0x00, 0xff, 0xc4, 0x00, 0x14, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xff, 0xc4, 0x00, 0x1e, 0x10, 0x00, 0x01, 0x01, 0x09,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x21, 0x00, 0x04, 0x05, 0x32, 0x41,
        0x51, 0x81, 0x91, 0xb1, 0xff, 0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x3f, 0x00, 0x68, 0x33, 0xec, 0xab, 0x6a,
        0x69, 0x38, 0x32, 0x5b, 0xff, 0xd9,
    ];

    #[test]
    fn files_written_by_pillow_have_the_pixels_that_pillow_finds() {
        let color = [1, 2, 3, 250, 128, 0, 9, 9, 9, 0, 255, 0, 77, 66, 55, 255, 255, 255];
        let expected = Picture { height: 2, width: 3, channels: 3, values: Values::U8(color.to_vec()) };
        assert_eq!(plain(&PNG_BY_PILLOW), Ok(expected));

        #[rustfmt::skip]
        let pillow: [u8; 64] = [
            98, 142, 158, 131, 178, 202, 163, 208, 120, 158, 103, 150, 189, 145, 188, 225,
            123, 77, 145, 171, 121, 166, 213, 168, 74, 114, 147, 109, 152, 190, 140, 181,
            94, 135, 85, 124, 167, 128, 161, 202, 108, 62, 110, 155, 104, 131, 198, 153,
            51, 87, 131, 87, 125, 172, 118, 155, 67, 113, 73, 97, 145, 117, 133, 178,
        ];
        let Values::U8(found) = plain(&JPEG_BY_PILLOW).unwrap().values else { panic!("JPEG has 8 bits") };
        assert!(pillow.iter().zip(&found).all(|(a, b)| a.abs_diff(*b) <= 2), "{found:?}");
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_an_image_or_a_fault() {
        let files = [
            PNG_BY_PILLOW.to_vec(),
            JPEG_BY_PILLOW.to_vec(),
            bmp(2, 2, &[1, 2, 3, 4], |value| [value; 3]),
            b"P5 3 2 255\nabcdef".to_vec(),
            b"P3 1 2 255\n1 2 3 4 5 6".to_vec(),
        ];
        for whole in files {
            for end in 3..whole.len() {
                let _ = plain(&whole[..end]);
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut changed = whole.clone();
                    changed[end] = value;
                    let _ = plain(&changed);
                }
            }
        }
    }

    #[test]
    fn a_jpeg_is_whole_at_its_own_end_marker_and_garbage_may_follow() {
        let (cut, end) = JPEG_BY_PILLOW.split_at(JPEG_BY_PILLOW.len() - 2);
        assert_eq!(
            plain(cut).unwrap_err(),
            "expected a JPEG image that is whole, found one that ends before its end marker ff d9"
        );
        // The end marker of a thumbnail, which lies in a segment.
        let thumbnail = [&cut[..2], &[0xff, 0xfe, 0, 4, 0xff, 0xd9], &cut[2..]].concat();
        assert!(plain(&thumbnail).is_err());
        assert_eq!(plain(&[&thumbnail, end, b"garbage"].concat()), plain(&JPEG_BY_PILLOW));
    }

    #[test]
    fn a_claim_beyond_what_the_bytes_can_hold_is_refused_before_memory_is_taken() {
        let mut png = PNG_BY_PILLOW;
        png[16..20].copy_from_slice(&60_000u32.to_be_bytes());
        png[20..24].copy_from_slice(&60_000u32.to_be_bytes());
        let mut jpeg = JPEG_BY_PILLOW;
        jpeg[94..98].copy_from_slice(&[0xff, 0xdc, 0xff, 0xdc]);
        let mut bmp = bmp(1, 1, &[0], |value| [value; 3]);
        bmp[18..20].copy_from_slice(&[0xff, 0xff]);
        for (file, claim) in [
            (&png[..], "60000 × 60000 pixels, more than a PNG file of 92 bytes can hold"),
            (&jpeg, "65500 × 65500 pixels, more than a JPEG file of 177 bytes can hold"),
            (&bmp, "1 × 65535 pixels, more than a BMP file of 1082 bytes can hold"),
            (b"P5 9 9 255\n", "9 × 9 pixels, more than a PNM file of 11 bytes can hold"),
        ] {
            let found = plain(file).unwrap_err();
            assert!(found.contains(claim), "{found}");
        }
    }

    #[test]
    fn what_packs_best_is_not_taken_for_a_lie() {
        let chunk = |kind: &[u8], content: &[u8]| {
            let mut sum = flate2::Crc::new();
            sum.update(&[kind, content].concat());
            [&(content.len() as u32).to_be_bytes(), kind, content, &sum.sum().to_be_bytes()].concat()
        };
        let side = 4095u32;
        let mut packed = flate2::write::ZlibEncoder::new(vec![], flate2::Compression::best());
        std::io::Write::write_all(&mut packed, &vec![0; (side * (side + 1)) as usize]).unwrap();
        let header = [&side.to_be_bytes()[..], &side.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
        let data = chunk(b"IDAT", &packed.finish().unwrap());
        let png = [b"\x89PNG\r\n\x1a\n", &*chunk(b"IHDR", &header), &data, &chunk(b"IEND", b"")].concat();
        assert!(png.len() < 17_000, "{}", png.len());
        assert_eq!(plain(&png), Ok(grey(side as usize, side as usize, &vec![0; (side * side) as usize])));

        let mut runs = bmp(255, 200, &[], |value| [value; 3]);
        runs[30] = 1;
        runs.extend([255, 9, 0, 0].repeat(200));
        assert_eq!(plain(&runs), Ok(grey(200, 255, &[9; 200 * 255])));
        assert_eq!(plain(b"P4 16 1\n\x00\x00"), Ok(grey(1, 16, &[255; 16])));
    }
}
