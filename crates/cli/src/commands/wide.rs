//! Samples in files, of thousands of features, read several times: what `fit --form sketch` does.
//!
//! ```text
//!     for every reading    file ─ file ─ … ─▶ sketch ─▶ the model, or once more
//! ```
//! Files follow each other like parts of one: their boundaries change nothing. That they hold the same samples in every reading is seen
//! by their fingerprints.

use std::path::{Path, PathBuf};

use eigenspan::data::ImageShape;
use eigenspan::linalg::sketch::{Sketch, block_rows};
use eigenspan::method::pce::sketch::{WIDE, can_be_sketched};
use eigenspan::model::fitted::Fitted as _;
use eigenspan::{Model, PceParams, PceSketch, SketchParams};
use eigenspan_io::{Ahead, Fingerprint, ModelFile, PartOfData, provenance_of};

use super::gather::{PORTION, PROGRAM, fits, no_rows};
use super::transform::at_row;
use super::{Session, file_name};
use crate::args::{Data, Fit, FormArg, Streaming};
use crate::failure::Failure;

/// What is to be sketched, and how.
pub struct Wide<'a> {
    data: &'a Data,
    more: &'a [PathBuf],
    params: PceParams,
    streaming: &'a Streaming,
    options: SketchParams,
    features: usize,
}

/// The data of one reading, and the shape of the images in them where that is one.
type Seen = (Vec<PartOfData>, Option<ImageShape>);

impl<'a> Wide<'a> {
    /// The work, where a sketch was asked for, or nothing was and the samples are wide; nothing where a summary serves.
    pub fn of(args: &'a Fit, params: PceParams) -> Result<Option<Self>, Failure> {
        let streaming = &args.streaming;
        let asked = streaming.form == Some(FormArg::Sketch);
        let files = || std::iter::once(&args.data.data).chain(&args.more);
        let twice = !files().any(|path| path == Path::new("-"));
        if !asked {
            let open = matches!(streaming.form, None | Some(FormArg::Auto));
            if !open || !twice || streaming.checkpoint.is_some() || can_be_sketched(&params).is_err() {
                return Ok(None);
            }
        }
        can_be_sketched(&params)?;
        no_rows(&args.data)?;
        if !twice {
            let hint = "write the samples to a file first";
            return Err(Failure::refused("standard input cannot be read a second time, as a sketch must", hint));
        }
        if streaming.checkpoint.is_some() {
            let fact = "a sketch writes no checkpoint";
            return Err(Failure::refused(fact, "leave `--checkpoint` out, or keep a summary (`--form gram`)"));
        }
        let features = args.data.open_other(&args.data.data, streaming.max_memory)?.source.cols();
        let options = streaming.sketch();
        let wide = Self { data: &args.data, more: &args.more, params, streaming, options, features };
        Ok((asked || features > WIDE).then_some(wide))
    }

    /// The model, and what was read in words.
    pub fn run(&self, session: &Session<'_>) -> Result<(ModelFile, String), Failure> {
        let mut sketch = PceSketch::new(self.params, self.options, self.features)?;
        let mut before: Option<Seen> = None;
        loop {
            let seen = self.reading(&mut sketch, session)?;
            if before.is_some_and(|before| before != seen) {
                let fact = "the samples are not what they were in the reading before";
                return Err(Failure::refused(fact, "give files that nobody writes to meanwhile"));
            }
            let Some(model) = sketch.end_of_reading(session.exec)? else {
                before = Some(seen);
                continue;
            };
            session.progress.clear();
            let (parts, image) = seen;
            let (n, m) = (model.info().n, self.features);
            let name = if let [part] = &parts[..] { part.data.clone() } else { format!("{} files", parts.len()) };
            let model = match image {
                Some(shape) => Model::Pce(model).with_image(shape).expect("a file's image shape fits its samples"),
                None => Model::Pce(model),
            };
            let file = ModelFile { model, provenance: provenance_of(&parts) };
            return Ok((file, format!("{name}: {n} samples of {m} features, sketched\n")));
        }
    }

    /// Every sample once.
    fn reading(&self, sketch: &mut PceSketch, session: &Session<'_>) -> Result<Seen, Failure> {
        let (mut parts, mut images) = (vec![], vec![]);
        for path in std::iter::once(&self.data.data).chain(self.more) {
            let rows = self.data.open_other(path, self.streaming.max_memory)?;
            fits(&rows, path, Some(self.features), self.streaming)?;
            let (portion, total, mut count) = (self.portion(rows.held)?, rows.source.rows(), 0);
            let mut seen = Fingerprint::in_chunks(block_rows(self.features));
            images.push(rows.image);
            let name = file_name(path);
            for portion in Ahead::new(rows.source, portion, seen.clone()) {
                let (block, fingerprint) = portion?;
                sketch.update(block.view(), session.exec.silent()).map_err(|e| at_row(e, count))?;
                (count, seen) = (count + block.rows(), fingerprint);
                session.progress.told(&format!("reading {}: {name}", sketch.readings() + 1), count, total);
            }
            parts.push(PartOfData { data: name, rows: count, sha256: seen.digits() });
        }
        let image = images[0].filter(|_| images.iter().all(|image| *image == images[0]));
        Ok((parts, image))
    }

    /// Rows of a portion: whole blocks, as many as memory allows beside what the reader holds.
    fn portion(&self, held: u128) -> Result<usize, Failure> {
        let (m, height) = (self.features, block_rows(self.features));
        let columns = self.options.columns(&self.params, m);
        let usual = (PORTION / (8 * m * height)).clamp(1, 64);
        let Some(limit) = self.streaming.max_memory else { return Ok(usual * height) };
        let (readings, sketches) = (self.options.readings, SketchParams::sketches(&self.params));
        let needed = |blocks: usize| {
            PROGRAM + held + Sketch::working_bytes((m, columns), readings, sketches, blocks * height, 8)
        };
        let fitting = (1..=usual).rev().find(|blocks| needed(*blocks) <= u128::from(limit.0));
        fitting.map(|blocks| blocks * height).ok_or_else(|| {
            let least = needed(1).div_ceil(1 << 20);
            let fact = format!("a sketch of {m} features takes {least} MiB, more than `--max-memory` allows");
            let hint = format!("allow {least}MiB, or less with fewer `--passes` or `--sketch-columns`");
            Failure::refused(fact, hint)
        })
    }
}
