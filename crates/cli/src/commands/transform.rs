//! `eigenspan transform`: samples in, features out, chunk by chunk.

use eigenspan_feed::Transform as Job;
use eigenspan_io::ModelFile;

use super::Session;
use crate::args::{Mapped, Transform};
use crate::failure::Failure;

/// Streams samples through the model.
pub fn run(args: &Transform, session: &Session<'_>) -> Result<(), Failure> {
    let Mapped { model, data, memory } = &args.mapped;
    let ModelFile { model, .. } = ModelFile::load(model)?;
    let job = Job { model: &model, max_memory: memory.bytes() };
    job.check()?;
    job.rows(data.open(memory)?, &args.output, session.exec)?;
    Ok(())
}
