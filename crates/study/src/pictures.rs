//! The paper's pictures: the coefficients of PCE (fig1), and corrupted faces with what is recovered of them (fig5).

use eigenspan_core::data::Dataset;
use eigenspan_core::registry::Method;
use eigenspan_core::{Exec, Mat, Normalize, Pce, PceParams};
use eigenspan_render::{LineChart, Point, Series, SheetRow, contact_sheet, greys, lines_svg};

use crate::StudyError;
use crate::report::Table;

/// Classes whose coefficients are shown.
const CLASSES: usize = 7;
/// Faces on a sheet.
const FACES: usize = 12;

/// Pictures by name, and what there is to say about them.
pub struct Pictures {
    /// File names and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// In numbers.
    pub table: Table,
}

fn failed(doing: &str) -> impl Fn(eigenspan_core::Error) -> StudyError {
    let doing = doing.to_string();
    move |source| StudyError::Method { doing: doing.clone(), source }
}

fn fitted(method: &Method, data: &Dataset, exec: Exec<'_>) -> Result<Pce, StudyError> {
    let outcome = method.fit_with(data.samples.view(), None, exec).map_err(failed("PCE"))?;
    let other = |_| StudyError::Setting { method: method.name().into(), fault: "is not PCE".into() };
    outcome.model.into_pce().map_err(other)
}

/// |C| between samples of the first classes, the singular values of C, and the energy of the first of them.
pub fn coefficients(
    name: &str,
    title: &str,
    method: &Method,
    data: &Dataset,
    exec: Exec<'_>,
) -> Result<Pictures, StudyError> {
    let model = fitted(method, data, exec)?;
    let labels = data.labels.as_ref().expect("subjects have labels");
    let mut first: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i] < CLASSES).collect();
    first.sort_by_key(|&i| labels.of[i]);
    let some = data.select_rows(&first).expect("the numbers of its own samples");
    let block = model.coefficients(&some.samples, &some.samples).map_err(failed("coefficients"))?;
    let whole = model.coefficients(&data.samples, &data.samples).map_err(failed("coefficients"))?;
    let plain = PceParams { normalize: Normalize::None, ..PceParams::default() };
    let sigma = plain.values(&whole, exec).map_err(failed("singular values of the coefficients"))?;
    let total: f64 = sigma.iter().sum();
    let ones = sigma.iter().filter(|s| **s > 0.5).count();
    let point = |i: usize, y: f64| Point { x: (i + 1) as f64, y, spread: None };
    let mut sum = 0.0;
    let energy = sigma.iter().enumerate().map(|(i, s)| {
        sum += s;
        point(i, sum / total)
    });
    let series = [
        Series {
            name: "singular value".into(),
            points: sigma.iter().enumerate().map(|(i, s)| point(i, *s)).collect(),
            second: false,
        },
        Series { name: "share of their sum so far".into(), points: energy.collect(), second: false },
    ];
    let words = format!("{title}: singular values of C");
    let chart = LineChart { title: &words, across: "number", up: "σ of C", second: None, series: &series, most: 1.0 };
    let (inside, outside) = block_means(&block, &some);
    let table = Table {
        heads: ["samples", "k", "singular values of C that are 1", "mean |C| within a class", "between classes"]
            .map(String::from)
            .to_vec(),
        rows: vec![vec![
            data.samples.rows().to_string(),
            model.k().to_string(),
            ones.to_string(),
            format!("{inside:.4}"),
            format!("{outside:.4}"),
        ]],
    };
    let files = vec![(format!("{name}a.png"), greys(&block)), (format!("{name}b.svg"), lines_svg(&chart).into_bytes())];
    Ok(Pictures { files, table })
}

/// The mean size of coefficients within a class and between classes, without a sample's own.
fn block_means(block: &Mat, data: &Dataset) -> (f64, f64) {
    let of = &data.labels.as_ref().expect("subjects have labels").of;
    let mut sums = [(0.0, 0usize); 2];
    for i in 0..block.rows() {
        for j in (0..block.cols()).filter(|&j| j != i) {
            let (sum, count) = &mut sums[usize::from(of[i] != of[j])];
            *sum += block.at(i, j).abs();
            *count += 1;
        }
    }
    let mean = |(sum, count): (f64, usize)| sum / count.max(1) as f64;
    (mean(sums[0]), mean(sums[1]))
}

/// Corrupted samples, what is recovered of them, and the error; how near both are to the samples before.
pub fn recovery(
    name: &str,
    method: &Method,
    (clean, corrupted, rows): (&Dataset, &Dataset, &[usize]),
    exec: Exec<'_>,
) -> Result<Pictures, StudyError> {
    let model = fitted(method, corrupted, exec)?;
    let corrupted = corrupted.select_rows(rows).expect("the numbers of its own samples");
    let recovered = model.recover_with(&corrupted.samples, exec).map_err(failed("recovery"))?;
    let (found, error) = (recovered.clean.into_f64(), recovered.error.into_f64());
    let (before, after) = (clean.samples.select_rows(rows).into_f64(), corrupted.samples.clone().into_f64());
    let distance = |a: &Mat, b: &Mat| {
        let squares = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        (squares / a.as_slice().len().max(1) as f64).sqrt()
    };
    let shown = (0..FACES.min(rows.len())).map(|i| i * rows.len() / FACES.min(rows.len()));
    let sheet: Vec<SheetRow> = shown
        .map(|i| SheetRow {
            original: after.row(i).to_vec(),
            clean: found.row(i).to_vec(),
            error: error.row(i).to_vec(),
        })
        .collect();
    let image = corrupted.image.ok_or(StudyError::Setting { method: name.into(), fault: "needs images".into() })?;
    let cells = [
        model.k().to_string(),
        format!("{:.2}", distance(&after, &before)),
        format!("{:.2}", distance(&found, &before)),
        rows.len().to_string(),
    ];
    let heads = ["k", "distance of the corrupted images to the clean ones", "of the recovered ones", "images"];
    let table = Table { heads: heads.map(String::from).to_vec(), rows: vec![cells.to_vec()] };
    Ok(Pictures { files: vec![(format!("{name}.png"), contact_sheet(&sheet, image)?)], table })
}
