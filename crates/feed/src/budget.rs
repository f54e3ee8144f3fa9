//! How much memory each way of having samples takes, and how large chunks may be under a limit. The only place where
//! this is decided.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | n, m, w | | samples, features, bytes of a number |
//! | h | [`Way::unit`] | rows that a chunk is a multiple of |
//! | c | `units` | a chunk has c·h rows |
//! | P | [`PROGRAM`] | the program itself |
//! | r | `held` | what the reader holds: a row group of a Parquet file |
//!
//! ```text
//!     memory    P + r + nmw + 8·(3·min(n, m)² + m·min(n, m))
//!     summary   P + r + 8·(s·(3m² + 3hm) + c·(m² + hm) + 8m²) + 2·8chm
//!     sketch    P + r + s·8·(lm(p + 5) + 6(pl)² + 3bm + 2bl) + 2·8chm
//!     online    P + r + 8·(4m(q + b) + 8(q + b)²) + 2·8chm
//!     map       P + r + names + 32mk + c·8·(copies·m + 3k)
//! ```
//! with s summaries or sketches side by side, l columns and p passes of a sketch of blocks of b rows, q directions and
//! blocks of b samples online, k columns of a model. The summary's and the sketch's inner part are those of
//! [`PceSummary::working_bytes`] and [`Sketch::working_bytes`], which know what they hold. A chunk in work and the next
//! one, which is read meanwhile, are counted as doubles. A checkpoint is written straight from what is held, and takes
//! nothing besides.

use std::path::Path;

use eigenspan_core::data::NumberType;
use eigenspan_core::linalg::sketch::{Sketch, block_rows as sketch_rows};
use eigenspan_core::linalg::summary::block_rows;
use eigenspan_core::method::pce::sketch::WIDE;
use eigenspan_core::{PceParams, PceSummary, SketchParams};
use eigenspan_io::{ReadOptions, open_samples};

use crate::error::FeedError;

/// Bytes that the program takes before it has read anything.
pub const PROGRAM: u128 = 16 << 20;
/// Bytes of a chunk where memory is not limited.
pub const CHUNK: usize = 64 << 20;
/// Rows of a chunk that is mapped by a model, at most.
const MAPPED: usize = 4096;

/// A way of having samples, with what its memory depends on.
#[derive(Debug, Clone, Copy)]
pub enum Way<'a> {
    /// All samples at once.
    Memory {
        /// n.
        rows: usize,
        /// m.
        features: usize,
        /// w.
        width: usize,
        /// What needs them, for messages.
        needed_by: &'a str,
    },
    /// What is kept of samples that are read once.
    Summary(&'a PceSummary),
    /// Products with Gaussian vectors, of samples that are read several times.
    Sketch {
        /// The settings of the fit.
        params: &'a PceParams,
        /// Those of the sketch.
        options: &'a SketchParams,
        /// m.
        features: usize,
    },
    /// Directions that are updated.
    Online {
        /// m.
        features: usize,
        /// q.
        rank: usize,
        /// b.
        block: usize,
    },
    /// A model that samples are mapped by.
    Map {
        /// m.
        features: usize,
        /// k.
        columns: usize,
        /// Numbers that are held for every feature of a sample.
        copies: usize,
        /// Bytes of the names of rows.
        names: u128,
    },
}

impl Way<'_> {
    /// Rows that a chunk is a multiple of.
    pub fn unit(&self) -> usize {
        match self {
            Self::Memory { rows, .. } => *rows,
            Self::Summary(summary) => block_rows(summary.features()),
            Self::Online { features, .. } => block_rows(*features),
            Self::Sketch { features, .. } => sketch_rows(*features),
            Self::Map { .. } => 1,
        }
    }

    /// Units of a chunk where memory is not limited.
    fn usual(&self) -> usize {
        let m = match self {
            Self::Memory { .. } | Self::Online { .. } => return 1,
            Self::Map { .. } => return MAPPED,
            Self::Summary(summary) => summary.features(),
            Self::Sketch { features, .. } => *features,
        };
        (CHUNK / (8 * m * self.unit())).clamp(1, 64)
    }

    /// Bytes with chunks of so many units, besides what the reader holds.
    pub fn bytes(&self, units: usize) -> u128 {
        let double = |features: usize| 16 * (units * self.unit()) as u128 * features as u128;
        PROGRAM
            + match self {
                Self::Memory { rows, features, width, .. } => {
                    let [n, m, w] = [rows, features, width].map(|x| *x as u128);
                    let least = n.min(m);
                    n * m * w + 8 * (3 * least * least + m * least)
                }
                Self::Summary(summary) => summary.working_bytes(units, 8),
                Self::Sketch { params, options, features } => {
                    let shape = (*features, options.columns(params, *features));
                    let side_by_side = SketchParams::sketches(params);
                    Sketch::working_bytes(shape, options.readings, side_by_side, units * self.unit(), 8)
                }
                Self::Online { features, rank, block } => {
                    let (m, both) = (*features as u128, (rank + block) as u128);
                    8 * (4 * m * both + 8 * both * both) + double(*features)
                }
                Self::Map { features, columns, copies, names } => {
                    let [m, k, copies, rows] = [features, columns, copies, &units].map(|x| *x as u128);
                    names + 32 * m * k + rows * 8 * (copies * m + 3 * k)
                }
            }
    }

    /// Rows of a chunk: as many whole units as a limit allows beside what the reader holds.
    pub fn chunk_rows(&self, limit: Option<u64>, held: u128) -> Result<usize, FeedError> {
        let Some(limit) = limit.map(u128::from) else { return Ok(self.usual() * self.unit()) };
        let fits = |units: &usize| held + self.bytes(*units) <= limit;
        // What is needed grows with the units: the largest number that fits is searched by halving.
        let (mut low, mut high) = (0, self.usual());
        while low < high {
            let middle = (low + high).div_ceil(2);
            (low, high) = if fits(&middle) { (middle, high) } else { (low, middle - 1) };
        }
        if low == 0 { Err(self.refused(held)) } else { Ok(low * self.unit()) }
    }

    /// What to say where not even one unit fits.
    fn refused(&self, held: u128) -> FeedError {
        let mib = |bytes: u128| bytes.div_ceil(1 << 20);
        let needed = held + self.bytes(1);
        let least = mib(needed);
        let (what, advice) = match self {
            Self::Memory { rows, features, needed_by, .. } => {
                let what = format!("{needed_by}, which needs all {rows} samples of {features} features in memory,");
                (what, String::new())
            }
            Self::Summary(summary) if held > needed / 2 => {
                let rest = mib(needed - held);
                let what = format!(
                    "a row group of {} MiB beside a summary of {} features of {rest} MiB",
                    mib(held),
                    summary.features()
                );
                (what, ", or write the file with smaller row groups".to_string())
            }
            Self::Summary(summary) => {
                let m = summary.features();
                let mut advice =
                    ", or keep one summary instead of two with a given λ; fewer features need less, at the \
                                  rate of m²"
                        .to_string();
                if m > WIDE {
                    advice += "; the form `sketch` needs far less, with a λ, a noise level, a share of the energy or \
                               a dimension";
                }
                (format!("a summary of {m} features"), advice)
            }
            Self::Sketch { features, .. } => {
                (format!("a sketch of {features} features"), ", or less with fewer `passes` or `sketch_columns`".into())
            }
            Self::Online { features, rank, .. } => {
                let what = format!("an update of {features} features that keeps {rank} directions");
                (what, ", or keep fewer directions (`rank`)".into())
            }
            Self::Map { .. } => ("one sample at a time".into(), String::new()),
        };
        FeedError::Memory { what, least, hint: format!("allow {least}MiB{advice}") }
    }
}

/// A size as people write it: `500MB`, `2GB`, `1GiB`, or a number of bytes; `None` where it is none.
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024f64,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * unit;
    (bytes >= 1.0 && bytes < 1e18).then_some(bytes as u64)
}

/// Refuses a file of which `needed_by` needs all samples in memory, where that takes more than a limit. The file is not held
/// for it, unless its format is read as a whole.
pub fn check_whole(path: &Path, options: &ReadOptions, limit: u64, needed_by: &str) -> Result<(), FeedError> {
    let mut source = open_samples(path, options)?.source;
    let Some(first) = source.next_block(1)? else { return Ok(()) };
    let width = match first.view().number_type() {
        NumberType::F64 => 8,
        NumberType::F32 => 4,
        NumberType::U8 => 1,
    };
    let rows = match source.rows() {
        Some(rows) => rows,
        None => 1 + source.skip(usize::MAX)?,
    };
    let way = Way::Memory { rows, features: source.cols(), width, needed_by };
    if way.bytes(1) > u128::from(limit) { Err(way.refused(0)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use eigenspan_core::Lambda;

    use super::*;

    const FIXED: PceParams = PceParams { lambda: Lambda::Fixed(1.0), ..AUTO };
    const AUTO: PceParams = PceParams {
        lambda: Lambda::Auto,
        dim: eigenspan_core::Dim::Auto,
        rank_rule: eigenspan_core::RankRule::Theorem,
        normalize: eigenspan_core::Normalize::Unit,
        center: false,
        strict: false,
        solver: eigenspan_core::Solver::Auto,
        weights: eigenspan_core::Weights::Hard,
        unit_features: false,
    };

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = ["500MB", "2 GB", "1GiB", "1.5k", "77", "0", "GB", "5 apples", "1e3"].map(parse_size);
        let (mb, gb) = (500_000_000, 2_000_000_000);
        assert_eq!(read, [Some(mb), Some(gb), Some(1 << 30), Some(1500), Some(77), None, None, None, None]);
    }

    /// The formulas at the head of this file, written down once more.
    #[test]
    fn every_way_takes_what_its_formula_says() {
        let (m, h, c) = (100u128, 2048u128, 3u128);
        for (params, s) in [(FIXED, 1), (AUTO, 2)] {
            let summary = PceSummary::keeping(eigenspan_core::Keep::Gram, params, 100).unwrap();
            let inner = 8 * (s * (3 * m * m + 3 * h * m) + c * (m * m + h * m) + 8 * m * m) + 16 * c * h * m;
            assert_eq!(Way::Summary(&summary).bytes(3), PROGRAM + inner);
        }
        let options = SketchParams { columns: Some(40), readings: 4, seed: 1 };
        let (l, p, b) = (40, 4, sketch_rows(100) as u128);
        let way = Way::Sketch { params: &FIXED, options: &options, features: 100 };
        let inner = 8 * (l * m * (p + 5) + 6 * (p * l) * (p * l) + 3 * b * m + 2 * b * l) + 16 * c * b * m;
        assert_eq!(way.bytes(3), PROGRAM + inner);
        let online = Way::Online { features: 100, rank: 30, block: 10 };
        assert_eq!(online.bytes(1), PROGRAM + 8 * (4 * m * 40 + 8 * 40 * 40) + 16 * h * m);
        let memory = Way::Memory { rows: 1000, features: 100, width: 4, needed_by: "x" };
        assert_eq!(memory.bytes(1), PROGRAM + 1000 * m * 4 + 8 * (3 * m * m + m * m));
        let map = Way::Map { features: 100, columns: 7, copies: 3, names: 11 };
        assert_eq!(map.bytes(5), PROGRAM + 11 + 32 * m * 7 + 5 * 8 * (3 * m + 21));
    }

    #[test]
    fn chunks_are_the_largest_that_fit_and_one_unit_less_is_refused() {
        let summary = PceSummary::keeping(eigenspan_core::Keep::Gram, FIXED, 100).unwrap();
        let options = SketchParams::default();
        for way in [
            Way::Summary(&summary),
            Way::Sketch { params: &FIXED, options: &options, features: 6000 },
            Way::Online { features: 100, rank: 30, block: 10 },
            Way::Map { features: 100, columns: 7, copies: 3, names: 11 },
        ] {
            for held in [0, 5 << 20] {
                let usual = way.chunk_rows(None, held).unwrap();
                assert_eq!(way.chunk_rows(Some(u64::MAX), held).unwrap(), usual);
                for units in 1..usual / way.unit() {
                    let limit = u64::try_from(held + way.bytes(units)).unwrap();
                    assert_eq!(way.chunk_rows(Some(limit), held).unwrap(), units * way.unit());
                }
                let limit = u64::try_from(held + way.bytes(1)).unwrap();
                let refused = way.chunk_rows(Some(limit - 1), held).unwrap_err();
                let least = u128::from(limit).div_ceil(1 << 20);
                assert!(refused.hint().unwrap().starts_with(&format!("allow {least}MiB")), "{refused}");
            }
        }
    }
}
