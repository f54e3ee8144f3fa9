//! `eigenspan transform`: samples in, features out, chunk by chunk.

use eigenspan_feed::Transform as Job;
use eigenspan_io::ModelFile;

use super::Session;
use crate::args::{Size, Transform};
use crate::failure::Failure;

/// Streams samples through the model.
pub fn run(args: &Transform, session: &Session<'_>) -> Result<(), Failure> {
    let ModelFile { model, .. } = ModelFile::load(&args.model)?;
    let job = Job { model: &model, max_memory: args.max_memory.map(|Size(bytes)| bytes) };
    job.check()?;
    job.rows(args.data.open(args.max_memory)?, &args.output, session.exec)?;
    Ok(())
}
