//! Samples in files, of thousands of features, read several times.
//!
//! ```text
//!     for every pass    file ─ file ─ … ─▶ sketch ─▶ the model, or once more
//! ```
//! Files follow each other like parts of one: their boundaries change nothing. That they hold the same samples in every
//! pass is seen by their fingerprints.

use eigenspan_core::data::{ImageShape, Source};
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::{Exec, Model, PceSketch, SketchParams};
use eigenspan_io::{Fingerprint, ModelFile, PartOfData, Rows, provenance_of};

use crate::budget::Way;
use crate::error::{FeedError, at_row};
use crate::files::file_name;
use crate::fit::{Fit, Fitted, Form};
use crate::pass::{Pass, Work};
use crate::summarize::same_features;

/// The data of one pass, and the shape of the images in them where that is one.
type Seen = (Vec<PartOfData>, Option<ImageShape>);

/// The model of files by a sketch; the first of them is open.
pub(crate) fn run(fit: &Fit, options: SketchParams, first: Rows, exec: Exec<'_>) -> Result<Fitted, FeedError> {
    let mut sketch = PceSketch::new(fit.params, options, first.source.cols())?;
    let passes = Passes { fit, options, work: Work::new(exec, fit.files.bytes() * options.readings as u64) };
    let (mut first, mut before): (_, Option<Seen>) = (Some(first), None);
    loop {
        let seen = passes.pass(&mut sketch, first.take(), before.as_ref())?;
        if before.as_ref().is_some_and(|before| *before != seen) {
            return Err(FeedError::Changed);
        }
        let Some(model) = sketch.end_of_reading(exec)? else {
            before = Some(seen);
            continue;
        };
        let (parts, image) = seen;
        let mut model = Model::Pce(model);
        if let Some(shape) = image {
            model.set_image(shape);
        }
        let file = ModelFile { model, provenance: provenance_of(&parts) };
        return Ok(Fitted::new(file, parts, Form::Sketch, None));
    }
}

struct Passes<'a> {
    fit: &'a Fit,
    options: SketchParams,
    work: Work<'a>,
}

impl Passes<'_> {
    /// Every sample once.
    fn pass(&self, sketch: &mut PceSketch, mut first: Option<Rows>, before: Option<&Seen>) -> Result<Seen, FeedError> {
        let (mut parts, mut images) = (vec![], vec![]);
        let Fit { files, params, max_memory, .. } = self.fit;
        for (at, path) in files.paths().iter().enumerate() {
            let rows = match first.take() {
                Some(rows) => rows,
                None => files.open(path, *max_memory)?,
            };
            let features = sketch.features();
            same_features(rows.source.cols(), path, Some(features))?;
            let way = Way::Sketch { params, options: &self.options, features };
            let height = way.chunk_rows(*max_memory, rows.held)?;
            // The fingerprint is that of a summary's blocks, which are higher than these chunks: it must know where the last
            // one ends.
            let total = match (rows.source.rows(), before) {
                (Some(total), _) => total,
                (None, Some((parts, _))) => parts[at].rows,
                (None, None) => count(&mut *files.open(path, *max_memory)?.source)?,
            };
            images.push(rows.image);
            let (mut end, mut seen) = (0, Fingerprint::of_rows(total));
            Pass::new(&self.work, rows, height, 0, seen.clone()).each(|chunk| {
                sketch.update(chunk.block.view(), self.work.exec()).map_err(|e| at_row(e, chunk.before))?;
                (end, seen) = (chunk.end(), chunk.fingerprint);
                Ok(())
            })?;
            parts.push(PartOfData { data: file_name(path), rows: end, sha256: seen.digits() });
        }
        let image = images[0].filter(|_| images.iter().all(|image| *image == images[0]));
        Ok((parts, image))
    }
}

/// Samples of a source that does not know their number: a table, whose lines are counted by reading them.
fn count(source: &mut dyn Source) -> Result<usize, FeedError> {
    Ok(source.skip(usize::MAX)?)
}
