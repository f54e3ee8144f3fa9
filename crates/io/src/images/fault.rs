//! What can be wrong with a folder of images.

/// What is wrong with a folder of images, or with one of them.
#[derive(Debug, thiserror::Error)]
pub enum ImagesFault {
    /// Nothing to read.
    #[error("expected a folder of PNG, JPEG, PNM or BMP images, found {}", none_among(*.others))]
    NoImages {
        /// Other files that were seen, hidden ones apart.
        others: usize,
    },
    /// The name of an image, but not its first bytes.
    #[error("expected PNG, JPEG, PNM or BMP, as its name says, found {found}")]
    NotAnImage {
        /// What is there instead.
        found: String,
    },
    /// More pixels than the bytes can hold.
    #[error("the header claims {height} × {width} pixels, more than a {format} file of {bytes} bytes can hold")]
    TooLarge {
        /// The format.
        format: &'static str,
        /// The height claimed.
        height: usize,
        /// The width claimed.
        width: usize,
        /// Bytes of the file.
        bytes: usize,
    },
    /// An image of nothing.
    #[error("expected at least one pixel, but the header claims {height} × {width}")]
    NoPixels {
        /// The height claimed.
        height: usize,
        /// The width claimed.
        width: usize,
    },
    /// It cannot be decoded.
    #[error("expected a {format} image that is whole, found one that {problem}")]
    Damaged {
        /// The format.
        format: &'static str,
        /// What about it is wrong.
        problem: String,
    },
    /// Another size than the images before.
    #[error("is {height} × {width} pixels, while `{first}` is {} × {}: expected images of one size", .of_first.0, .of_first.1)]
    OtherSize {
        /// Its height.
        height: usize,
        /// Its width.
        width: usize,
        /// The first image.
        first: String,
        /// Height and width of the first image.
        of_first: (usize, usize),
    },
    /// Color among grey, or grey among color.
    #[error("is {found}, while `{first}` is {of_first}: expected all in grey or all in color")]
    OtherChannels {
        /// `grey` or `in color`.
        found: &'static str,
        /// The first image.
        first: String,
        /// `grey` or `in color`.
        of_first: &'static str,
    },
    /// 8 bits among 16, or 16 among 8.
    #[error("has {found} bits in each value, while `{first}` has {of_first}: expected the same in all images")]
    OtherDepth {
        /// Its bits.
        found: usize,
        /// The first image.
        first: String,
        /// Bits of the first image.
        of_first: usize,
    },
    /// Some images lie in sub-folders, which are classes, and some do not.
    #[error("lies in no sub-folder and so has no class, while `{other}` has one: expected a class for all or for none")]
    NoClass {
        /// An image with a class.
        other: String,
    },
    /// A size that images cannot be brought to.
    #[error("images cannot be brought to {height} × {width} pixels: expected sides from 1 to {most}", most = u16::MAX)]
    Resize {
        /// The height requested.
        height: usize,
        /// The width requested.
        width: usize,
    },
}

impl ImagesFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoImages { .. } => {
                "give the folder that holds the images, or the folder of all classes with one sub-folder each"
                    .to_string()
            }
            Self::NotAnImage { .. } | Self::TooLarge { .. } | Self::NoPixels { .. } | Self::Damaged { .. } => {
                "the image is cut, damaged or of a rare kind: copy or save it again, or move it away".to_string()
            }
            Self::OtherSize { of_first: (height, width), .. } => {
                format!("bring all images to one size, `--resize {height}x{width}`, or move it away")
            }
            Self::OtherChannels { .. } => "turn all images to grey, `--grey`, or move it away".to_string(),
            Self::OtherDepth { .. } => "save all images with 8 bits, or all with 16, or move it away".to_string(),
            Self::NoClass { .. } => "move it into the sub-folder of its class, or away".to_string(),
            Self::Resize { .. } => "ask for height and width in pixels, as in `--resize 32x24`".to_string(),
        })
    }
}

fn none_among(files: usize) -> String {
    match files {
        0 => "no files at all".to_string(),
        1 => "one file, which is none".to_string(),
        _ => format!("none among {files} files"),
    }
}
