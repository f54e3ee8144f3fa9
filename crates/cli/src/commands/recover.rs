//! `eigenspan recover`: samples in, clean samples, novelty scores and a contact sheet out, chunk by chunk.

use eigenspan_core::data::Matrix;
use eigenspan_core::method::pce::Recovery;
use eigenspan_feed::Recover as Job;
use eigenspan_io::{ModelFile, write_atomically};
use eigenspan_render::{SheetRow, contact_sheet};

use super::{Session, pce_of};
use crate::args::{Recover, Size};
use crate::failure::Failure;

/// Streams samples through the model and back.
pub fn run(args: &Recover, session: &Session<'_>) -> Result<(), Failure> {
    let model = pce_of(ModelFile::load(&args.model)?.model, "recover")?;
    let image = match (&args.sheet, model.parts().image) {
        (Some(_), None) => {
            return Err(Failure::refused(
                "a contact sheet needs to know height and width of the images, and the model does not",
                "fit on a folder of grey images, on a 3-D .npy stack of images, or with `--image HxW`",
            ));
        }
        (_, image) => image,
    };
    let rows = args.data.open(args.max_memory)?;
    let every = rows.source.rows().map_or(1, |n| (n / args.sheet_samples).max(1));
    let (most, mut sheet) = (if args.sheet.is_some() { args.sheet_samples.get() } else { 0 }, Vec::new());
    let job = Job {
        model: &model,
        output: args.output.as_deref(),
        scores: args.scores.as_deref(),
        max_memory: args.max_memory.map(|Size(bytes)| bytes),
    };
    job.rows(rows, session.exec, |before, block, recovery| {
        let wanted = (0..block.rows()).filter(|i| (before + i) % every == 0);
        let free = most - sheet.len();
        sheet.extend(wanted.take(free).map(|i| sheet_row(block, recovery, i)));
    })?;
    if let (Some(path), Some(shape)) = (&args.sheet, image) {
        let png = contact_sheet(&sheet, shape)?;
        write_atomically(path, |out| out.write_all(&png))?;
    }
    Ok(())
}

fn sheet_row(block: &Matrix, recovery: &Recovery, i: usize) -> SheetRow {
    let row = |x: &Matrix| {
        let mut out = vec![0.0; x.cols()];
        x.view().read_row(i, 0..x.cols(), &mut out);
        out
    };
    SheetRow { original: row(block), clean: row(&recovery.clean), error: row(&recovery.error) }
}
