//! A folder of images: each image is a sample, each sub-folder a class.
//!
//! | what | how |
//! |---|---|
//! | images | PNG, JPEG, PBM, PGM, PPM (P1 to P6) and BMP, recognized by their first bytes; other files are left alone, unless they are named like an image |
//! | order | by name, byte for byte, folder by folder; ids are the paths in the folder, with `/` |
//! | hidden files, links | what begins with a dot is not looked at; links to files are followed, links to folders are not |
//! | classes | the first sub-folder, however deep the image lies below it; none where all images lie in the folder itself |
//! | values | 8 bits as they are, 16 bits as `f64` from 0 to 65535; PNG of fewer bits and PNM of another maximum are stretched to 255 or 65535 and rounded (what is above the maximum counts as the maximum) |
//! | color | red, green and blue of each pixel are three features, and alpha is left out; a BMP with a palette of greys is grey |
//! | grey | (2126 R + 7152 G + 722 B) / 10000, rounded down: the weights of Rec. 709 on the values as stored |
//! | size | bicubic (a = −0.5), as wide as the shrinking asks for, rounded; after the turn to grey |
//!
//! Pixels are taken as stored: neither color profiles nor the turn that a camera notes in EXIF are applied. Of an
//! animated PNG, the first picture is read.

mod decode;
mod fault;
mod rows;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use eigenspan_core::Mat;
use eigenspan_core::data::{Dataset, ImageShape, Labels, Matrix};

pub use self::fault::ImagesFault;
pub(crate) use self::rows::ImageRows;

use self::decode::{Picture, Values};
use crate::error::{self, ReadError};
use crate::input::is_image;

/// Endings of names that promise an image.
const ENDINGS: [&str; 8] = ["png", "jpg", "jpeg", "pgm", "ppm", "pbm", "pnm", "bmp"];

/// Bytes that show whether a file is an image.
const LOOK_AT: u64 = 16;

/// Reads all images of a folder.
pub(crate) fn read(folder: &Path, grey: bool, resize: Option<ImageShape>) -> Result<Dataset, ReadError> {
    let mut files = vec![];
    walk(folder, "", &mut files)?;
    let (mut gathered, mut others) = (None, 0);
    for file in files {
        match file.bytes()? {
            None => others += 1,
            Some(bytes) => {
                let faulty = |fault: ImagesFault| ReadError::content(&file.name(), fault);
                let picture = decode::picture(&bytes, grey, resize).map_err(faulty)?;
                match &mut gathered {
                    None => gathered = Some(Gathered::new(&file, picture)),
                    Some(gathered) => gathered.add(&file, picture).map_err(faulty)?,
                }
            }
        }
    }
    let name = || folder.display().to_string();
    let gathered = gathered.ok_or_else(|| ReadError::content(&name(), ImagesFault::NoImages { others }))?;
    gathered
        .class_of_all_or_none()
        .map_err(|(id, fault)| ReadError::content(&folder.join(id).display().to_string(), fault))?;
    Ok(gathered.into_dataset())
}

/// The files below a folder, hidden ones left out, and their lengths.
pub(crate) fn listed(folder: &Path) -> Result<Vec<(String, u64)>, ReadError> {
    let mut files = vec![];
    walk(folder, "", &mut files)?;
    let length = |file: &Candidate| fs::metadata(&file.path).map_or(0, |about| about.len());
    Ok(files.into_iter().map(|file| (length(&file), file)).map(|(length, file)| (file.id, length)).collect())
}

/// A file that may be an image.
struct Candidate {
    path: PathBuf,
    /// The path in the folder.
    id: String,
}

/// Gathers the files below a folder in the order of their names. `above` is the path from the folder requested.
fn walk(folder: &Path, above: &str, files: &mut Vec<Candidate>) -> Result<(), ReadError> {
    let failed = |source| ReadError::Io { file: folder.display().to_string(), doing: "read", source };
    let mut entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let id = format!("{above}{}", name.to_string_lossy());
        if kind.is_dir() {
            walk(&path, &format!("{id}/"), files)?;
        } else if !(kind.is_symlink() && path.is_dir()) {
            files.push(Candidate { path, id });
        }
    }
    Ok(())
}

impl Candidate {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The name of the sub-folder, where there is one.
    fn class(&self) -> Option<&str> {
        self.id.split_once('/').map(|(class, _)| class)
    }

    /// Whether this is an image, by its first bytes; a file that is named like one must be one.
    fn is_image(&self) -> Result<bool, ReadError> {
        Ok(self.begun()?.is_some())
    }

    /// All bytes, if this is an image; of other files only the first bytes are read.
    fn bytes(&self) -> Result<Option<Vec<u8>>, ReadError> {
        let failed = |source| ReadError::Io { file: self.name(), doing: "read", source };
        let Some((file, mut bytes)) = self.begun()? else { return Ok(None) };
        let rest = file.metadata().map_err(failed)?.len().saturating_sub(bytes.len() as u64);
        let space = usize::try_from(rest).ok().and_then(|rest| bytes.try_reserve_exact(rest).ok());
        space.ok_or_else(|| failed(std::io::ErrorKind::OutOfMemory.into()))?;
        file.take(rest).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    }

    /// The file behind its first bytes, and these, if it is an image.
    #[expect(clippy::disallowed_methods, reason = "bytes enter here")]
    fn begun(&self) -> Result<Option<(File, Vec<u8>)>, ReadError> {
        let failed = |doing| move |source| ReadError::Io { file: self.name(), doing, source };
        let not_an_image = |found| match self.promises_an_image() {
            true => Err(ReadError::content(&self.name(), ImagesFault::NotAnImage { found })),
            false => Ok(None),
        };
        // A pipe or device must not even be opened: it may wait for a writer. A link may lead nowhere.
        match fs::metadata(&self.path) {
            Ok(about) if about.is_file() => {}
            Ok(_) => return not_an_image("a pipe or device".to_string()),
            Err(_) if !self.promises_an_image() => return Ok(None),
            Err(source) => return Err(failed("read")(source)),
        }
        let mut file = File::open(&self.path).map_err(failed("open"))?;
        let mut bytes = vec![];
        file.by_ref().take(LOOK_AT).read_to_end(&mut bytes).map_err(failed("read"))?;
        match is_image(&bytes) {
            true => Ok(Some((file, bytes))),
            false if bytes.is_empty() => not_an_image("0 bytes".to_string()),
            false => not_an_image(format!("a file that starts with the bytes {}", error::hexadecimal(&bytes))),
        }
    }

    fn promises_an_image(&self) -> bool {
        let ending = self.path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| ENDINGS.contains(&&*ending))
    }
}

/// The images read so far, all of the kind of the first.
struct Gathered {
    kind: Kind,
    /// The path of the first image of all.
    first: String,
    ids: Vec<String>,
    classes: Vec<Option<String>>,
    values: All,
}

#[derive(Clone, Copy)]
struct Kind {
    height: usize,
    width: usize,
    channels: usize,
    bits: usize,
}

enum All {
    U8(Vec<u8>),
    F64(Vec<f64>),
}

impl Gathered {
    fn new(file: &Candidate, picture: Picture) -> Self {
        let kind = Kind::of(&picture);
        let values = match picture.values {
            Values::U8(values) => All::U8(values),
            Values::U16(values) => All::F64(values.into_iter().map(f64::from).collect()),
        };
        let (ids, classes) = (vec![file.id.clone()], vec![file.class().map(str::to_string)]);
        Self { kind, first: file.id.clone(), ids, classes, values }
    }

    /// No images, to be gathered like these.
    fn more(&self) -> Self {
        let values = match self.values {
            All::U8(_) => All::U8(vec![]),
            All::F64(_) => All::F64(vec![]),
        };
        Self { kind: self.kind, first: self.first.clone(), ids: vec![], classes: vec![], values }
    }

    fn add(&mut self, file: &Candidate, picture: Picture) -> Result<(), ImagesFault> {
        let (kind, first) = (Kind::of(&picture), self.kind);
        let id = || self.first.clone();
        if (kind.height, kind.width) != (first.height, first.width) {
            let of_first = (first.height, first.width);
            return Err(ImagesFault::OtherSize { height: kind.height, width: kind.width, first: id(), of_first });
        }
        if kind.channels != first.channels {
            let color = |kind: Kind| if kind.channels == 1 { "grey" } else { "in color" };
            return Err(ImagesFault::OtherChannels { found: color(kind), first: id(), of_first: color(first) });
        }
        match (&mut self.values, picture.values) {
            (All::U8(all), Values::U8(values)) => all.extend(values),
            (All::F64(all), Values::U16(values)) => all.extend(values.into_iter().map(f64::from)),
            _ => return Err(ImagesFault::OtherDepth { found: kind.bits, first: id(), of_first: first.bits }),
        }
        self.ids.push(file.id.clone());
        self.classes.push(file.class().map(str::to_string));
        Ok(())
    }

    /// Finds an image without a class among images that have one.
    fn class_of_all_or_none(&self) -> Result<(), (&str, ImagesFault)> {
        let place = |has: bool| self.classes.iter().position(|class| class.is_some() == has);
        match place(true).zip(place(false)) {
            Some((with, without)) => Err((&self.ids[without], ImagesFault::NoClass { other: self.ids[with].clone() })),
            None => Ok(()),
        }
    }

    fn into_dataset(self) -> Dataset {
        let Kind { height, width, channels, .. } = self.kind;
        let (rows, cols) = (self.ids.len(), height * width * channels);
        let samples = match self.values {
            All::U8(values) => Matrix::U8(Mat::from_vec(rows, cols, values).expect("images of one kind")),
            All::F64(values) => Matrix::F64(Mat::from_vec(rows, cols, values).expect("images of one kind")),
        };
        let classes: Option<Vec<String>> = self.classes.into_iter().collect();
        Dataset {
            ids: Some(self.ids),
            labels: classes.map(|classes| Labels::from_names(&classes)),
            image: (channels == 1).then_some(ImageShape { height, width }),
            ..Dataset::new(samples)
        }
    }
}

impl Kind {
    fn of(picture: &Picture) -> Self {
        let &Picture { height, width, channels, ref values } = picture;
        Self { height, width, channels, bits: values.bits() }
    }
}
