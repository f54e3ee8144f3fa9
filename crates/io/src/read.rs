//! From a path or bytes to samples: the format is found, and its reader called.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use eigenspan_core::data::{Dataset, ImageShape, Labels, Source};

use crate::array::{ArrayHeader, ArrayRows};
#[cfg(feature = "columnar")]
use crate::columnar;
use crate::error::ReadError;
use crate::input::{BytesRead, Format, Input};
use crate::stream::InMemory;
use crate::{csv, idx, images, libsvm, mat, npy, npz};

/// How data are to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The column of a table that holds the classes, by name or by number counted from 1.
    pub label: Option<String>,
    /// The array that holds the samples, where a file may hold several.
    pub array: Option<String>,
    /// Height and width of the image that each sample is, where the file does not tell.
    pub image: Option<ImageShape>,
    /// The height and width that images in a folder are brought to.
    pub resize: Option<ImageShape>,
    /// Whether color images in a folder are turned to grey.
    pub grey: bool,
    /// The most bytes that [`open`] and what it opens may hold besides the samples that are handed out. A part of a
    /// file that is held as a whole, such as a row group of a Parquet file, is refused where it takes more.
    pub memory: Option<u64>,
}

/// The formats that [`open`] reads in chunks, for messages.
#[cfg(feature = "columnar")]
pub const STREAMED: &str = "NPY (C order), IDX, CSV, Parquet or a folder of images";
/// The formats that [`open`] reads in chunks, for messages.
#[cfg(not(feature = "columnar"))]
pub const STREAMED: &str = "NPY (C order), IDX, CSV or a folder of images";

/// Reads samples from a file of any format, or from a folder of images; `-` is standard input.
///
/// In a folder, every PNG, JPEG, PGM, PPM, PBM or BMP file is a sample, in the order of names, and has its path in the
/// folder as its id; other files are left alone. Where images lie in sub-folders, the first sub-folder is the class.
/// All images have one size, or are brought to one by [`ReadOptions::resize`] (bicubic, with a wider kernel when
/// shrinking). Grey images have a feature for every pixel, color images three, unless [`ReadOptions::grey`] makes them
/// grey by the weights of Rec. 709; alpha is left out. Images of 8 bits become a matrix of `u8`, images of 16 bits one
/// of `f64`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Dataset, ReadError> {
    if is_folder(path) {
        return read_folder(path, options);
    }
    read_opened(path, Input::open(path)?, options)
}

fn is_folder(path: &Path) -> bool {
    path != Path::new("-") && path.is_dir()
}

fn read_folder(path: &Path, options: &ReadOptions) -> Result<Dataset, ReadError> {
    let name = path.display().to_string();
    options.only_what_fits(&name, Some(Format::Folder))?;
    let data = images::read(path, options.grey, options.resize)?;
    with_told_image(&name, data, options)
}

fn read_opened(path: &Path, input: Input<'_>, options: &ReadOptions) -> Result<Dataset, ReadError> {
    let is_idx = input.format == Some(Format::Idx);
    let mut data = read_input(input, options)?;
    if is_idx {
        data.labels = idx::labels_beside(path, data.samples.rows())?;
    }
    Ok(data)
}

/// Reads samples from bytes of any format; `name` is what messages call them.
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Dataset, ReadError> {
    read_input(Input::bytes(name, bytes)?, options)
}

fn read_input(input: Input<'_>, options: &ReadOptions) -> Result<Dataset, ReadError> {
    let name = input.name.clone();
    options.only_what_fits(&name, input.format)?;
    let data = match input.format {
        Some(Format::Npy) => {
            let (mut source, length) = input.sequential();
            let samples = npy::samples(&mut source, length);
            let (samples, image) = samples.map_err(|fault| ReadError::content(&name, fault))?;
            Dataset { image, ..Dataset::new(samples) }
        }
        Some(Format::Zip) => npz::read(&name, input.seekable(), options.array.as_deref())?,
        Some(Format::Idx) => {
            let (mut source, length) = input.sequential();
            idx::samples(&mut source, length).map_err(|fault| ReadError::content(&name, fault))?
        }
        Some(Format::Mat) => {
            let (mut source, length) = input.sequential();
            mat::read(&name, &mut source, length, options.array.as_deref(), options.image)?
        }
        #[cfg(feature = "columnar")]
        Some(Format::Parquet) => columnar::parquet::read(&name, input.whole()?, options.label.as_deref())?,
        #[cfg(feature = "columnar")]
        Some(Format::ArrowFile) => columnar::arrow::read_file(&name, &input.whole()?, options.label.as_deref())?,
        #[cfg(feature = "columnar")]
        Some(Format::ArrowStream) => columnar::arrow::read_stream(&name, &input.whole()?, options.label.as_deref())?,
        Some(format) => return Err(not_samples(name, format)),
        None => {
            let text = input.text()?;
            match libsvm::is_libsvm(&text) {
                true if options.label.is_some() => return Err(options.no_labels(&name, "LIBSVM files")),
                true => libsvm::read(&text).map_err(|fault| ReadError::content(&name, fault))?,
                false => csv::read(&name, &text, options.label.as_deref())?,
            }
        }
    };
    with_told_image(&name, data, options)
}

/// What is recognized only to be refused in words.
fn not_samples(file: String, format: Format) -> ReadError {
    let (what, hint) = match format {
        Format::Model => {
            ("a model", "give the data first: `eigenspan transform MODEL DATA`, `eigenspan inspect MODEL`")
        }
        Format::Summary => (
            "a summary of samples",
            "merge summaries with `eigenspan merge`, make a model of one with `eigenspan finish`",
        ),
        Format::Image => ("one image", "give the folder of all images: every image is a sample"),
        Format::Hdf5 => ("HDF5", "save it as MATLAB version 7, `save(file, '-v7')`, or with `np.save`"),
        Format::Feather1 => ("Feather of version 1", "write it as Parquet, or as Arrow with `version=2`"),
        Format::Parquet | Format::ArrowFile | Format::ArrowStream => {
            return ReadError::NotBuilt { file, format: format.to_string() };
        }
        _ => ("of a format that is not read", "save the data with `np.save`, or as CSV"),
    };
    ReadError::NotSamples { file, what, hint }
}

/// The data, with the image shape that was requested.
fn with_told_image(file: &str, mut data: Dataset, options: &ReadOptions) -> Result<Dataset, ReadError> {
    if let Some(image) = options.image {
        data.image = Some(told_image(file, image, data.samples.cols(), data.image)?);
    }
    Ok(data)
}

/// The image shape requested, if it fits the number of features, and the shape that the file tells.
pub(crate) fn told_image(
    file: &str,
    told: ImageShape,
    cols: usize,
    found: Option<ImageShape>,
) -> Result<ImageShape, ReadError> {
    let ImageShape { height, width } = told;
    let features = match found {
        Some(image) if image != told => format!("{} × {}", image.height, image.width),
        _ if height.checked_mul(width) != Some(cols) => format!("{cols} features"),
        _ => return Ok(told),
    };
    Err(ReadError::Image { file: file.to_string(), height, width, features })
}

impl ReadOptions {
    /// Refuses what was requested in vain.
    fn only_what_fits(&self, file: &str, format: Option<Format>) -> Result<(), ReadError> {
        let name = format.map_or("text files".to_string(), Format::plural);
        let is_folder = format == Some(Format::Folder);
        let is_table = matches!(format, None | Some(Format::Parquet | Format::ArrowFile | Format::ArrowStream));
        let not_there = |requested: String, lacking| {
            Err(ReadError::Option { file: file.to_string(), requested, format: name.clone(), lacking })
        };
        match &self.array {
            Some(array) if !matches!(format, Some(Format::Zip | Format::Mat)) => {
                not_there(format!("the array `{array}`"), "arrays with names")
            }
            _ if self.label.is_some() && !is_table => Err(self.no_labels(file, &name)),
            _ if self.resize.is_some() && !is_folder => not_there("another size".to_string(), "pictures"),
            _ if self.grey && !is_folder => not_there("grey".to_string(), "pictures"),
            _ => Ok(()),
        }
    }

    fn no_labels(&self, file: &str, format: &str) -> ReadError {
        let requested = format!("the label column `{}`", self.label.as_deref().unwrap_or_default());
        ReadError::Option { file: file.to_string(), requested, format: format.to_string(), lacking: "label columns" }
    }
}

/// Reads row numbers, counted from 0, from an NPY file: integers, or a mask with a bool for every row.
pub fn read_row_numbers(path: &Path) -> Result<Vec<usize>, ReadError> {
    let input = Input::open(path)?;
    let name = input.name.clone();
    let (mut source, length) = input.sequential();
    npy::row_numbers(&mut source, length).map_err(|fault| ReadError::content(&name, fault))
}

/// Samples that arrive in blocks, and what came with them.
pub struct Rows {
    /// The samples.
    pub source: Box<dyn Source + Send>,
    /// A name for every sample.
    pub ids: Option<Vec<String>>,
    /// A name for every feature.
    pub feature_names: Option<Vec<String>>,
    /// Height and width of the image that each sample is.
    pub image: Option<ImageShape>,
    /// Whether the samples are read from the file as they are requested, or lie in memory already.
    pub streams: bool,
    /// Bytes that the source holds besides the samples that it hands out: a row group of a Parquet file.
    pub held: u128,
    /// Bytes of the file, or of all files in the folder; 0 where there is none.
    pub bytes: u64,
    /// Bytes that were taken from the file so far, where it is read from the first to the last.
    pub read: Option<BytesRead>,
    /// How many samples of each class were read, where these were requested and there are some.
    pub classes: Option<ClassCounts>,
}

/// How many samples of each class were read so far, for whoever asks while or after others read.
#[derive(Debug, Clone, Default)]
pub struct ClassCounts(Arc<Mutex<BTreeMap<String, usize>>>);

impl ClassCounts {
    /// Counts one more of this class.
    pub(crate) fn add(&self, class: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(class) {
            Some(count) => *count += 1,
            None => _ = counts.insert(class.to_string(), 1),
        }
    }

    /// The samples of every class that has some.
    pub fn counts(&self) -> Vec<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

impl From<&Labels> for ClassCounts {
    fn from(labels: &Labels) -> Self {
        let counts = labels.counts();
        let live = labels.names.iter().cloned().zip(counts).filter(|(_, count)| *count > 0);
        Self(Arc::new(Mutex::new(live.collect())))
    }
}

/// Bytes of a file, or of all files in a folder; 0 of what is neither.
pub fn bytes_of(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            images::listed(path).map_or(0, |files| files.iter().map(|(_, bytes)| bytes).sum())
        }
        Ok(about) if about.is_file() => about.len(),
        _ => 0,
    }
}

impl From<Dataset> for Rows {
    fn from(data: Dataset) -> Self {
        let Dataset { samples, ids, feature_names, image, labels } = data;
        let classes = labels.as_ref().map(ClassCounts::from);
        Self { ids, feature_names, image, classes, ..Self::of(Box::new(InMemory::new(samples)), false) }
    }
}

impl Rows {
    /// Samples of which nothing else is known.
    pub(crate) fn of(source: Box<dyn Source + Send>, streams: bool) -> Self {
        let (ids, feature_names, image, read, classes) = (None, None, None, None, None);
        Self { source, ids, feature_names, image, streams, held: 0, bytes: 0, read, classes }
    }
}

/// What is wanted besides the samples.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extras {
    /// The names of rows.
    pub ids: bool,
    /// How many samples each class has.
    pub classes: bool,
}

/// Opens samples to be read in blocks, with their names. NPY files in C order and IDX files, packed by gzip or not, CSV
/// without names of rows (packed or not), Parquet and folders of images are read block by block, and never as a whole;
/// the rest is read at once and handed out in blocks.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Rows, ReadError> {
    open_by(path, options, Extras { ids: true, classes: false })
}

/// The same without names of rows, where nobody asks for them: then every CSV file is read block by block.
pub fn open_samples(path: &Path, options: &ReadOptions) -> Result<Rows, ReadError> {
    open_by(path, options, Extras::default())
}

/// The same with a count of the samples of every class, where there are classes.
pub fn open_counted(path: &Path, options: &ReadOptions) -> Result<Rows, ReadError> {
    open_by(path, options, Extras { ids: false, classes: true })
}

fn open_by(path: &Path, options: &ReadOptions, extras: Extras) -> Result<Rows, ReadError> {
    Ok(Rows { bytes: bytes_of(path), ..open_rows(path, options, extras)? })
}

fn open_rows(path: &Path, options: &ReadOptions, extras: Extras) -> Result<Rows, ReadError> {
    if is_folder(path) {
        return open_folder(path, options, extras);
    }
    let input = Input::open(path)?;
    let name = input.name.clone();
    options.only_what_fits(&name, input.format)?;
    let opened = match input.format {
        _ if !input.in_file => return Ok(read_opened(path, input, options)?.into()),
        Some(Format::Npy) => {
            let (source, length) = input.sequential();
            npy::rows(&name, source, length)?.map(of_array)
        }
        Some(Format::Idx) => {
            let (source, length) = input.sequential();
            let rows = of_array(idx::rows(&name, source, length)?);
            let samples = rows.source.rows().expect("the header counts them");
            let labels = if extras.classes { idx::labels_beside(path, samples)? } else { None };
            Some(Rows { classes: labels.as_ref().map(ClassCounts::from), ..rows })
        }
        #[cfg(feature = "columnar")]
        Some(Format::Parquet) => match input.into_file() {
            Ok((file, bytes)) => Some(columnar::open_parquet(&name, file, bytes, options, extras)?),
            Err(_) => unreachable!("what needs a way back is refused while packed"),
        },
        Some(_) => return Ok(read_opened(path, input, options)?.into()),
        None => {
            let read = input.read.clone();
            csv::CsvRows::open(input, path.to_path_buf(), options.label.as_deref(), extras)?.map(|rows| {
                let (feature_names, classes, read) = (rows.feature_names(), rows.classes(), Some(read));
                Rows { feature_names, classes, read, ..Rows::of(Box::new(rows), true) }
            })
        }
    };
    match opened {
        Some(rows) => with_told_shape(&name, rows, options),
        None => Ok(read(path, options)?.into()),
    }
}

fn of_array<H: ArrayHeader + 'static>(rows: ArrayRows<H>) -> Rows {
    let image = rows.image();
    Rows { image, ..Rows::of(Box::new(rows), true) }
}

fn open_folder(path: &Path, options: &ReadOptions, extras: Extras) -> Result<Rows, ReadError> {
    let name = path.display().to_string();
    options.only_what_fits(&name, Some(Format::Folder))?;
    let rows = images::ImageRows::open(path, options.grey, options.resize)?;
    let (ids, image) = (Some(rows.ids()), rows.image());
    let classes = if extras.classes { rows.classes() } else { None };
    with_told_shape(&name, Rows { ids, image, classes, ..Rows::of(Box::new(rows), true) }, options)
}

/// The samples, with the image shape that was requested.
fn with_told_shape(file: &str, mut rows: Rows, options: &ReadOptions) -> Result<Rows, ReadError> {
    if let Some(image) = options.image {
        rows.image = Some(told_image(file, image, rows.source.cols(), rows.image)?);
    }
    Ok(rows)
}
