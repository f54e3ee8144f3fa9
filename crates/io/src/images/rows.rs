//! A folder of images read one after the other.

use std::path::Path;

use eigenspan_core::data::{ImageShape, Matrix, Source, StreamError};

use super::{Candidate, Gathered, ImagesFault, decode, walk};
use crate::error::ReadError;
use crate::read::ClassCounts;

/// The images of a folder, in the order of their names.
pub(crate) struct ImageRows {
    files: Vec<Candidate>,
    done: usize,
    grey: bool,
    resize: Option<ImageShape>,
    /// The first image, which all others are like.
    first: Gathered,
}

impl ImageRows {
    /// Looks at the first bytes of every file, and at the first image.
    pub(crate) fn open(folder: &Path, grey: bool, resize: Option<ImageShape>) -> Result<Self, ReadError> {
        let (mut all, mut files) = (vec![], vec![]);
        walk(folder, "", &mut all)?;
        let others = all.len();
        for file in all {
            if file.is_image()? {
                files.push(file);
            }
        }
        let name = || folder.display().to_string();
        let Some(file) = files.first() else {
            return Err(ReadError::content(&name(), ImagesFault::NoImages { others }));
        };
        let has_class = |has: bool| files.iter().find(|file| file.class().is_some() == has);
        if let (Some(with), Some(without)) = (has_class(true), has_class(false)) {
            return Err(ReadError::content(&without.name(), ImagesFault::NoClass { other: with.id.clone() }));
        }
        let first = Gathered::new(file, picture(file, grey, resize)?);
        Ok(Self { files, done: 0, grey, resize, first })
    }

    /// Height and width of the image that each sample is: where it is grey.
    pub(crate) fn image(&self) -> Option<ImageShape> {
        let kind = self.first.kind;
        (kind.channels == 1).then_some(ImageShape { height: kind.height, width: kind.width })
    }

    /// The samples of every class, where images lie in sub-folders.
    pub(crate) fn classes(&self) -> Option<ClassCounts> {
        self.files.first()?.class()?;
        let counts = ClassCounts::default();
        self.files.iter().filter_map(Candidate::class).for_each(|class| counts.add(class));
        Some(counts)
    }

    /// The paths in the folder.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.files.iter().map(|file| file.id.clone()).collect()
    }
}

fn picture(file: &Candidate, grey: bool, resize: Option<ImageShape>) -> Result<super::Picture, ReadError> {
    let faulty = |fault: ImagesFault| ReadError::content(&file.name(), fault);
    let bytes = file.bytes()?.ok_or_else(|| faulty(ImagesFault::NotAnImage { found: "no image any more".into() }))?;
    decode::picture(&bytes, grey, resize).map_err(faulty)
}

impl Source for ImageRows {
    fn cols(&self) -> usize {
        let kind = self.first.kind;
        kind.height * kind.width * kind.channels
    }

    fn rows(&self) -> Option<usize> {
        Some(self.files.len())
    }

    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError> {
        let end = self.done.saturating_add(at_most.max(1)).min(self.files.len());
        let mut gathered = self.first.more();
        for file in &self.files[self.done..end] {
            let picture = picture(file, self.grey, self.resize)?;
            gathered.add(file, picture).map_err(|fault| ReadError::content(&file.name(), fault))?;
        }
        let any = end > self.done;
        self.done = end;
        Ok(any.then(|| gathered.into_dataset().samples))
    }

    fn skip(&mut self, rows: usize) -> Result<usize, StreamError> {
        let count = rows.min(self.files.len() - self.done);
        self.done += count;
        Ok(count)
    }
}
