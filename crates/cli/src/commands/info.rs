//! `eigenspan info`: what is in the data, without fitting.

use eigenspan_core::data::NumberType;
use eigenspan_core::short_number;
use eigenspan_feed::{Describe, Description};
use eigenspan_io::ReadOptions;
use serde::Serialize;

use super::{Session, print, print_json};
use crate::args::{Info, Size};
use crate::failure::Failure;
use crate::report;

#[derive(Serialize)]
struct Described {
    n: usize,
    m: usize,
    number_type: NumberType,
    image: Option<(usize, usize)>,
    classes: Option<usize>,
    min: f64,
    max: f64,
    mean: f64,
    zero_samples: usize,
    shortest: f64,
    longest: f64,
}

/// Reads and describes data, chunk by chunk.
pub fn run(args: &Info, session: &Session<'_>) -> Result<(), Failure> {
    let memory = args.max_memory.map(|Size(bytes)| bytes);
    let describe = match &args.data.rows {
        Some(_) => Describe::of(args.data.read()?.into()),
        None => Describe::open(&args.data.data, &ReadOptions { memory, ..args.data.options() })?,
    };
    let found = describe.run(session.exec)?;
    session.progress.clear();
    if args.json {
        return print_json(&Described::of(&found));
    }
    let shape = report::shape_of(found.rows, found.features, found.number_type, found.sparse);
    let mut text = format!("{}: {shape}\n", args.data.name());
    if let Some(classes) = &found.classes {
        text += &format!("labels    {}\n", report::classes(classes));
    }
    if let Some(image) = found.image {
        text += &format!("images    {} × {} pixels\n", image.height, image.width);
    }
    let Description { min, max, mean, zero_samples, shortest, longest, .. } = found;
    text += &format!("values    {} to {}, mean {}\n", short_number(min), short_number(max), short_number(mean));
    text += &format!("lengths   {} to {}", short_number(shortest), short_number(longest));
    text += &if zero_samples > 0 { format!(", {zero_samples} samples of length zero\n") } else { "\n".into() };
    print(&text)
}

impl Described {
    fn of(found: &Description) -> Self {
        Self {
            n: found.rows,
            m: found.features,
            number_type: found.number_type,
            image: found.image.map(|shape| (shape.height, shape.width)),
            classes: found.classes.as_ref().map(Vec::len),
            min: found.min,
            max: found.max,
            mean: found.mean,
            zero_samples: found.zero_samples,
            shortest: found.shortest,
            longest: found.longest,
        }
    }
}
