//! `eigenspan recover`: samples in, clean samples, novelty scores and a contact sheet out, block by block.

use eigenspan::Mat;
use eigenspan::data::{Matrix, Sink};
use eigenspan::method::pce::Recovery;
use eigenspan_io::{ModelFile, Names, Rows, write_atomically};
use eigenspan_render::{SheetRow, contact_sheet};

use super::transform::{at_row, block, open};
use super::{Session, pce_of};
use crate::args::Recover;
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
    let mut rows = open(&args.data, &model, args.max_memory)?;
    for (path, columns) in [(&args.output, model.features()), (&args.scores, 1)] {
        rows.held += path.as_deref().map_or(0, |path| eigenspan_io::held_by_sink(path, columns));
    }
    let block = block(&model, args.max_memory, 6, &rows)?;
    let Rows { mut source, ids, feature_names, .. } = rows;
    let score = ["score".to_string()];
    let create = |path, cols, columns| eigenspan_io::create(path, cols, Names { columns, ids: ids.clone() });
    let features = feature_names.as_deref();
    let mut clean = args.output.as_deref().map(|path| create(path, model.features(), features)).transpose()?;
    let mut scores = args.scores.as_deref().map(|path| create(path, 1, Some(&score[..]))).transpose()?;
    let every = source.rows().map_or(1, |n| (n / args.sheet_samples).max(1));
    let mut sheet = Vec::new();
    let mut done = 0;
    while let Some(block) = source.next_block(block)? {
        let recovery = model.recover_with(&block, session.exec).map_err(|e| at_row(e, done))?;
        let wanted = (0..block.rows()).filter(|i| (done + i) % every == 0);
        if args.sheet.is_some() {
            let room = args.sheet_samples.get() - sheet.len();
            sheet.extend(wanted.take(room).map(|i| sheet_row(&block, &recovery, i)));
        }
        write(&mut clean, &recovery.clean)?;
        let score_column = Mat::from_vec(recovery.score.len(), 1, recovery.score).expect("one column");
        write(&mut scores, &score_column.into())?;
        done += block.rows();
    }
    if let (Some(path), Some(shape)) = (&args.sheet, image) {
        let png = contact_sheet(&sheet, shape)?;
        write_atomically(path, |out| out.write_all(&png))?;
    }
    for sink in [clean, scores].into_iter().flatten() {
        sink.finish()?;
    }
    Ok(())
}

fn write(sink: &mut Option<Box<dyn Sink>>, rows: &Matrix) -> Result<(), Failure> {
    Ok(sink.as_mut().map_or(Ok(()), |sink| sink.write_block(rows))?)
}

fn sheet_row(block: &Matrix, recovery: &Recovery, i: usize) -> SheetRow {
    let row = |x: &Matrix| {
        let mut out = vec![0.0; x.cols()];
        x.view().read_row(i, 0..x.cols(), &mut out);
        out
    };
    SheetRow { original: row(block), clean: row(&recovery.clean), error: row(&recovery.error) }
}
