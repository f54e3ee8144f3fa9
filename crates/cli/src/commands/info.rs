//! `eigenspan info`: what is in the data, without fitting.

use eigenspan::Error;
use eigenspan::data::Samples;
use eigenspan::prepare::norm;
use eigenspan::short_number;
use serde::Serialize;

use super::{Session, print, print_json};
use crate::args::Info;
use crate::failure::Failure;
use crate::report;

#[derive(Serialize)]
struct Described {
    n: usize,
    m: usize,
    number_type: eigenspan::data::NumberType,
    image: Option<(usize, usize)>,
    classes: Option<usize>,
    min: f64,
    max: f64,
    mean: f64,
    zero_samples: usize,
    shortest: f64,
    longest: f64,
}

/// Reads and describes data.
pub fn run(args: &Info, session: &Session<'_>) -> Result<(), Failure> {
    let data = args.data.read()?;
    let mut described = describe(data.samples.view(), session)?;
    described.image = data.image.map(|shape| (shape.height, shape.width));
    described.classes = data.labels.as_ref().map(|labels| labels.counts().iter().filter(|c| **c > 0).count());
    if args.json {
        return print_json(&described);
    }
    let mut text = format!("{}: {}\n", args.data.name(), report::shape(data.samples.view()));
    if let Some(labels) = &data.labels {
        text += &format!("labels    {}\n", report::classes(labels));
    }
    if let Some((height, width)) = described.image {
        text += &format!("images    {height} × {width} pixels\n");
    }
    let Described { min, max, mean, zero_samples, shortest, longest, .. } = described;
    text += &format!("values    {} to {}, mean {}\n", short_number(min), short_number(max), short_number(mean));
    text += &format!("lengths   {} to {}", short_number(shortest), short_number(longest));
    text += &if zero_samples > 0 { format!(", {zero_samples} samples of length zero\n") } else { "\n".into() };
    print(&text)
}

/// One look at every value; the readers have refused what is not finite.
fn describe(x: Samples<'_>, session: &Session<'_>) -> Result<Described, Failure> {
    let (n, m) = (x.rows(), x.cols());
    let rows = session.exec.map("scan", n, |i| {
        let mut row = vec![];
        match x {
            Samples::Csr(x) => {
                // All zeros of a row are told by one.
                row.extend_from_slice(x.row(i).1);
                row.resize(m.min(row.len() + 1), 0.0);
            }
            _ => {
                row.resize(m, 0.0);
                x.read_row(i, 0..m, &mut row);
            }
        }
        let (low, high) = row.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
        (low, high, row.iter().sum::<f64>() / m as f64, norm(&row))
    });
    let rows = rows.map_err(Error::from)?;
    let fold = |of: fn(&(f64, f64, f64, f64)) -> f64, pick: fn(f64, f64) -> f64| rows.iter().map(of).reduce(pick);
    Ok(Described {
        n,
        m,
        number_type: x.number_type(),
        image: None,
        classes: None,
        min: fold(|r| r.0, f64::min).unwrap_or(f64::NAN),
        max: fold(|r| r.1, f64::max).unwrap_or(f64::NAN),
        mean: rows.iter().map(|r| r.2).sum::<f64>() / n as f64,
        zero_samples: rows.iter().filter(|r| r.3 == 0.0).count(),
        shortest: fold(|r| r.3, f64::min).unwrap_or(f64::NAN),
        longest: fold(|r| r.3, f64::max).unwrap_or(f64::NAN),
    })
}
