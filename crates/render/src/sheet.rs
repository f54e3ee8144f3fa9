//! The contact sheet: what each image was, what was kept of it, and what was subtracted.
//!
//! One row a sample, three columns: original | clean | error, as in figure 5 of the paper. Rows continue in further
//! groups of three columns to the right, so that a sheet of many samples has the shape of a slide.

use crate::glyphs::{GLYPH, ink, word_width};
use eigenspan_core::data::ImageShape;

/// Images are enlarged by a whole factor until they are this wide, which also gives the headings space.
const LEAST_WIDTH: usize = 96;
/// … unless that made them taller than this: a sample may be one long column.
const MOST_HEIGHT: usize = 384;
/// A larger sheet is an error: no viewer shows it, and it would fill the memory first.
const MOST_PIXELS: usize = 1 << 28;

const HEADINGS: [&str; 3] = ["original", "clean", "error"];
const HEADING_SCALE: usize = 2;
const GAP: usize = 6;
const GROUP_GAP: usize = 30;
const MARGIN: usize = 12;
const WHITE: u8 = 255;
const INK: u8 = 40;
const MID_GREY: u8 = 128;

/// The images of one sample, all in the units of the data, pixels row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetRow {
    /// The sample as it came.
    pub original: Vec<f64>,
    /// What was kept of it.
    pub clean: Vec<f64>,
    /// What was subtracted.
    pub error: Vec<f64>,
}

/// Why a contact sheet cannot be drawn. Rows and values are counted from zero.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SheetError {
    /// There are no samples.
    #[error("a contact sheet needs at least one sample; found none")]
    NoRows,
    /// The images have no pixels.
    #[error("a contact sheet needs images with pixels; found a shape of {height} × {width}")]
    NoPixels {
        /// Rows of pixels.
        height: usize,
        /// Pixels a row.
        width: usize,
    },
    /// An image does not have the shape it should.
    #[error("the {column} image of row {row}: expected {expected} values ({height} × {width}), found {found}")]
    WrongLength {
        /// The row of the sheet.
        row: usize,
        /// `original`, `clean` or `error`.
        column: &'static str,
        /// Values an image has.
        expected: usize,
        /// Values this one has.
        found: usize,
        /// Rows of pixels an image has.
        height: usize,
        /// Pixels a row an image has.
        width: usize,
    },
    /// A value is infinite or not a number.
    #[error("the {column} image of row {row}: expected finite values, found another at {at}")]
    NotFinite {
        /// The row of the sheet.
        row: usize,
        /// `original`, `clean` or `error`.
        column: &'static str,
        /// The first such value.
        at: usize,
    },
    /// The sheet would not fit into memory or a viewer.
    #[error("a contact sheet of {rows} samples of {height} × {width} pixels is too large: the most is {most} pixels")]
    TooLarge {
        /// Samples requested.
        rows: usize,
        /// Rows of pixels an image has.
        height: usize,
        /// Pixels a row an image has.
        width: usize,
        /// Pixels that a whole sheet may have.
        most: usize,
    },
}

impl SheetError {
    /// What to do about it, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRows => Some("choose at least one sample".to_string()),
            Self::NoPixels { .. } => None,
            Self::WrongLength { found, .. } => Some(format!("give a shape whose height × width is {found}")),
            Self::NotFinite { .. } => Some("draw samples without missing or infinite values".to_string()),
            Self::TooLarge { .. } => Some("choose fewer samples".to_string()),
        }
    }
}

/// Draws the images as an 8-bit grey PNG and returns its bytes.
///
/// Greys: original and clean share the original's range, black to white, and what lies beyond is clipped; an
/// original of one single value, which has no range, makes both mid-grey. Errors are mid-grey at zero, and
/// one scale – the largest |error| of all rows – serves the whole sheet, so rows can be compared.
///
/// ```
/// use eigenspan_core::data::ImageShape;
/// use eigenspan_render::{SheetRow, contact_sheet};
///
/// let row = SheetRow { original: vec![0.0, 1.0], clean: vec![0.1, 0.9], error: vec![-0.1, 0.1] };
/// let png = contact_sheet(&[row], ImageShape { height: 1, width: 2 })?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), eigenspan_render::SheetError>(())
/// ```
pub fn contact_sheet(rows: &[SheetRow], shape: ImageShape) -> Result<Vec<u8>, SheetError> {
    checked(rows, shape)?;
    let layout = Layout::of(rows.len(), shape)?;
    let mut sheet = Sheet { pixels: vec![WHITE; layout.width * layout.height], layout };
    for group in 0..layout.groups {
        (0..3).for_each(|column| sheet.draw_heading(group, column));
    }
    let largest = rows.iter().flat_map(|row| &row.error).fold(0.0, |most: f64, e| most.max(e.abs()));
    for (at, row) in rows.iter().enumerate() {
        let (low, high) = range(&row.original);
        sheet.draw_image(at, 0, &row.original, |v| grey_between(v, low, high));
        sheet.draw_image(at, 1, &row.clean, |v| grey_between(v, low, high));
        sheet.draw_image(at, 2, &row.error, |e| grey_of_error(e, largest));
    }
    Ok(sheet.encoded())
}

fn checked(rows: &[SheetRow], ImageShape { height, width }: ImageShape) -> Result<(), SheetError> {
    if rows.is_empty() {
        return Err(SheetError::NoRows);
    }
    if height == 0 || width == 0 {
        return Err(SheetError::NoPixels { height, width });
    }
    // A product too large for a usize is larger than any Vec, hence never the right length.
    let expected = height.saturating_mul(width);
    for (row, images) in rows.iter().enumerate() {
        for (column, values) in HEADINGS.into_iter().zip([&images.original, &images.clean, &images.error]) {
            if values.len() != expected {
                return Err(SheetError::WrongLength { row, column, expected, found: values.len(), height, width });
            }
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                return Err(SheetError::NotFinite { row, column, at });
            }
        }
    }
    Ok(())
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

fn grey_between(value: f64, low: f64, high: f64) -> u8 {
    if low == high {
        return MID_GREY;
    }
    // high − low may overflow where neither does; halving always would lose the smallest numbers instead.
    let scale = if (high - low).is_finite() { 1.0 } else { 0.5 };
    let share = (value * scale - low * scale) / (high * scale - low * scale);
    (share.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn grey_of_error(error: f64, largest: f64) -> u8 {
    let share = if largest > 0.0 { error / largest } else { 0.0 };
    (f64::from(MID_GREY) + share * f64::from(WHITE - MID_GREY)).round() as u8
}

/// Sizes in pixels of the finished sheet.
#[derive(Debug, Clone, Copy)]
struct Layout {
    shape: ImageShape,
    factor: usize,
    groups: usize,
    rows_a_group: usize,
    /// Width of a column: an image, or its heading where that is wider.
    column: usize,
    width: usize,
    height: usize,
}

impl Layout {
    fn of(rows: usize, shape: ImageShape) -> Result<Self, SheetError> {
        let ImageShape { height, width } = shape;
        let factor = LEAST_WIDTH.div_ceil(width).min(MOST_HEIGHT / height).max(1);
        let heading = HEADINGS.map(word_width).into_iter().max().unwrap_or(0) * HEADING_SCALE;
        let column = heading.max(width * factor);
        let in_groups = |groups: usize| {
            let rows_a_group = rows.div_ceil(groups); // even groups: 13 rows are 7 + 6, not 12 + 1
            let groups = rows.div_ceil(rows_a_group); // … and none without a row
            Self { shape, factor, groups, rows_a_group, column, width: 0, height: 0 }.sized()
        };
        // As a slide is: wider than high by a third, or all rows beside each other.
        let layout = (1..rows).map(in_groups).find(|sheet| sheet.width / 4 >= sheet.height / 3);
        let layout = layout.unwrap_or_else(|| in_groups(rows));
        if layout.width.saturating_mul(layout.height) > MOST_PIXELS {
            return Err(SheetError::TooLarge { rows, height, width, most: MOST_PIXELS });
        }
        Ok(layout)
    }

    fn sized(self) -> Self {
        let Self { groups, rows_a_group, .. } = self;
        let width = self.group_width().saturating_add(GROUP_GAP).saturating_mul(groups) - GROUP_GAP + 2 * MARGIN;
        let image = self.shape.height * self.factor;
        let height = (image + GAP).saturating_mul(rows_a_group) - GAP + 2 * MARGIN + self.heading_height();
        Self { width, height, ..self }
    }

    fn group_width(&self) -> usize {
        3 * self.column + 2 * GAP
    }

    fn heading_height(&self) -> usize {
        GLYPH.1 * HEADING_SCALE + GAP
    }

    fn column_start(&self, group: usize, column: usize) -> usize {
        MARGIN + group * (self.group_width() + GROUP_GAP) + column * (self.column + GAP)
    }

    /// Top left corner of an image; narrow ones stand in the middle of their column.
    fn corner(&self, row: usize, column: usize) -> (usize, usize) {
        let start = self.column_start(row / self.rows_a_group, column);
        let below = (row % self.rows_a_group) * (self.shape.height * self.factor + GAP);
        (start + (self.column - self.shape.width * self.factor) / 2, MARGIN + self.heading_height() + below)
    }
}

struct Sheet {
    layout: Layout,
    pixels: Vec<u8>,
}

impl Sheet {
    fn draw_image(&mut self, row: usize, column: usize, values: &[f64], grey: impl Fn(f64) -> u8) {
        let (left, top) = self.layout.corner(row, column);
        let (width, factor) = (self.layout.shape.width, self.layout.factor);
        for (at, &value) in values.iter().enumerate() {
            self.fill(left + at % width * factor, top + at / width * factor, factor, grey(value));
        }
    }

    fn draw_heading(&mut self, group: usize, column: usize) {
        let word = HEADINGS[column];
        let free = self.layout.column - word_width(word) * HEADING_SCALE;
        let left = self.layout.column_start(group, column) + free / 2;
        for (x, y) in ink(word) {
            self.fill(left + x * HEADING_SCALE, MARGIN + y * HEADING_SCALE, HEADING_SCALE, INK);
        }
    }

    fn fill(&mut self, left: usize, top: usize, side: usize, grey: u8) {
        for y in top..top + side {
            self.pixels[y * self.layout.width + left..][..side].fill(grey);
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Both sides are below MOST_PIXELS and above zero, and writing to a Vec cannot fail.
        let mut encoder = png::Encoder::new(&mut bytes, self.layout.width as u32, self.layout.height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.pixels)?;
            writer.finish()
        });
        written.expect("a sheet has as many pixels as its header says");
        bytes
    }
}

#[cfg(test)]
#[path = "sheet_tests.rs"]
mod tests;
