//! Pictures of what a fit found, as text, SVG and PNG.
//!
//! Numbers go in, strings and bytes come out: nothing here opens a file or prints, and equal input gives
//! equal output.
//!
//! | module           | what it draws                                                            |
//! |------------------|--------------------------------------------------------------------------|
//! | `staircase`      | k(λ) for a terminal: [`staircase()`]                                     |
//! | `spectrum`       | singular values for a terminal: [`scree`]                                |
//! | `path_svg`       | k(λ) for a page or a talk: [`path_svg()`]                                |
//! | `spectrum_svg`   | singular values for a page or a talk: [`spectrum_svg()`]                 |
//! | `lines_svg`      | several curves with error bars and a legend: [`lines_svg()`]             |
//! | `greys`          | a matrix as a grey picture: [`greys()`]                                  |
//! | `sheet`          | original, clean and error images side by side: [`contact_sheet`]         |
//! | `axis`           | log and count axes, round ticks, numbers as people write them            |
//! | `canvas`, `chart`| braille dots in a terminal, and the frame around them                    |
//! | `svg`            | page, colors, grid and escaped text of every SVG                        |
//! | `glyphs`         | the letters that head the columns of a contact sheet                     |
//!
//! ```
//! use eigenspan_core::method::pce::PathStep;
//! use eigenspan_render::{path_svg, staircase};
//!
//! // Singular values 5, 2 and 0.5: above λ = 1/σᵢ² the i-th dimension pays.
//! let steps = [(0.04, 1), (0.25, 2), (4.0, 3)].map(|(lambda, k)| PathStep { lambda, k });
//! let text = staircase(&steps, Some((1.0, 2)), 60, 12);
//! let picture = path_svg(&steps, Some((1.0, 2)), "three dimensions");
//! assert!(text.contains('●') && picture.starts_with("<svg"));
//! ```

mod axis;
mod canvas;
mod chart;
mod glyphs;
mod greys;
mod lines_svg;
mod path_svg;
mod sheet;
mod spectrum;
mod spectrum_svg;
mod staircase;
mod svg;

pub use greys::greys;
pub use lines_svg::{LineChart, Point, Series, lines_svg};
pub use path_svg::path_svg;
pub use sheet::{SheetError, SheetRow, contact_sheet};
pub use spectrum::scree;
pub use spectrum_svg::spectrum_svg;
pub use staircase::staircase;
