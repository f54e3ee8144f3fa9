//! From a protocol to everything that it gives: data are found, cells run, results drawn.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use eigenspan_core::Exec;
use eigenspan_core::data::Dataset;

use crate::StudyError;
use crate::cell::Partition;
use crate::data::{Known, find};
use crate::pictures::{Pictures, coefficients, recovery};
use crate::protocol::{CaseText, Protocol, Show, Size};
use crate::report::{DataInfo, Report, Table, figure};
use crate::reproduce::{self, Options};
use crate::run::{Runner, Subject};
use crate::{claims, estimated, growth};

/// Where data come from.
#[derive(Debug, Clone, Default)]
pub struct Supply {
    /// The folder they are in.
    pub folder: Option<PathBuf>,
    /// Whether synthetic faces stand for faces.
    pub synthetic: bool,
}

/// Everything that a protocol gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// The results.
    pub report: Report,
    /// Pictures by name.
    pub figures: Vec<(String, Vec<u8>)>,
}

/// Samples of a case, before and after they were corrupted.
struct Prepared {
    clean: Dataset,
    subject: Subject,
    corrupted: Vec<usize>,
}

impl Supply {
    /// Whether a protocol can be run with what there is.
    pub fn has(&self, protocol: &Protocol) -> bool {
        let there = |case: &CaseText| find(case.data_of(protocol)).is_ok_and(|known| self.has_data(known));
        protocol.show == Show::Sizes || protocol.cases.iter().all(|case| case.stand_in || case.if_there || there(case))
    }

    /// The protocol without the cases that are left out where their data are not there.
    fn as_far_as_there(&self, protocol: &Protocol) -> Protocol {
        let there = |case: &CaseText| find(case.data_of(protocol)).is_ok_and(|known| self.has_data(known));
        let cases = protocol.cases.iter().filter(|case| !case.if_there || there(case)).cloned().collect();
        Protocol { cases, ..protocol.clone() }
    }

    /// The same where synthetic faces stand for what a case wants and there is not.
    fn for_case(&self, known: &Known, case: &CaseText) -> Self {
        let synthetic = self.synthetic || (case.stand_in && known.faces && !self.has_data(known));
        Self { synthetic, ..self.clone() }
    }

    fn has_data(&self, known: &Known) -> bool {
        let there = self.folder.as_ref().is_some_and(|folder| known.file_in(folder).is_some());
        there || (self.synthetic && known.faces)
    }

    /// The name of data in results: synthetic ones are called so.
    fn called(&self, name: &str) -> String {
        let faces = find(name).is_ok_and(|known| known.faces);
        if self.synthetic && faces { format!("synthetic faces for {name}") } else { name.into() }
    }

    fn read(&self, name: &str, exec: Exec<'_>) -> Result<Dataset, StudyError> {
        let known = find(name)?;
        if self.synthetic && known.faces {
            return known.synthetic(exec);
        }
        known.read(self.folder.as_deref().unwrap_or_else(|| Path::new(".")))
    }
}

/// Runs a protocol.
pub fn carry_out(
    protocol: &Protocol,
    supply: &Supply,
    options: Options,
    runner: &mut Runner<'_>,
) -> Result<Product, StudyError> {
    let mut report = empty(protocol, supply, options);
    let mut figures = vec![];
    match protocol.show {
        Show::Accuracies | Show::Curves | Show::Seconds => {
            let prepared = prepare(protocol, supply, runner.exec)?;
            let subjects: Vec<Subject> = prepared.into_iter().map(|prepared| prepared.subject).collect();
            report.data = subjects.iter().map(info).collect();
            report.workers = Some(runner.workers(protocol.show.is_timed()));
            (report.lines, report.warnings) = reproduce::run(protocol, &subjects, options, runner)?;
            let drawn = figure(protocol, &report);
            figures.extend(drawn.map(|svg| (format!("{}.svg", protocol.name), svg.into_bytes())));
        }
        Show::Estimated => {
            let protocol = supply.as_far_as_there(protocol);
            let prepared = prepare(&protocol, supply, runner.exec)?;
            let subjects: Vec<Subject> = prepared.into_iter().map(|prepared| prepared.subject).collect();
            report.data = subjects.iter().map(info).collect();
            report.workers = Some(runner.workers(protocol.show.is_timed()));
            (report.lines, report.warnings) = estimated::run(&protocol, &subjects, options, runner)?;
        }
        Show::Coefficients | Show::Recovery => {
            let mut table: Option<Table> = None;
            for (at, prepared) in prepare(protocol, supply, runner.exec)?.into_iter().enumerate() {
                report.data.push(info(&prepared.subject));
                let Pictures { files, table: one } = pictures(protocol, at, &prepared, &report.full_title(), runner)?;
                figures.extend(files);
                let named = |cells: Vec<String>, name: &str| [vec![name.to_string()], cells].concat();
                let table = table.get_or_insert_with(|| Table { heads: named(one.heads, "case"), rows: vec![] });
                table.rows.extend(one.rows.into_iter().map(|row| named(row, &protocol.cases[at].name)));
            }
            report.table = table;
        }
        Show::Sizes => report.table = Some(sizes(&protocol.sizes, supply, runner.exec)?),
        Show::Growth => report.table = Some(growth::table(runner.clock, runner.exec)?),
        Show::Claims => {
            let mut reports: Vec<Report> = vec![];
            for name in claimed(protocol) {
                let behind = Protocol::named(&name)?;
                if supply.has(&behind) {
                    reports.push(carry_out(&behind, supply, options, runner)?.report);
                }
            }
            report.table = Some(claims::table(&protocol.claims, &reports));
        }
    }
    Ok(Product { report, figures })
}

fn empty(protocol: &Protocol, supply: &Supply, options: Options) -> Report {
    Report {
        name: protocol.name.clone(),
        printed: protocol.printed.clone(),
        title: protocol.title.clone(),
        about: protocol.about.trim().into(),
        notes: protocol.notes.clone(),
        eigenspan: env!("CARGO_PKG_VERSION").into(),
        seed: protocol.seed,
        repeats: options.repeats.unwrap_or(protocol.repeats),
        tuned: options.tune,
        synthetic: supply.synthetic
            && protocol.data_names().iter().any(|name| find(name).is_ok_and(|known| known.faces)),
        workers: None,
        data: vec![],
        lines: vec![],
        table: None,
        warnings: vec![],
    }
}

fn info(subject: &Subject) -> DataInfo {
    let classes = subject.data.labels.as_ref().map_or(0, |labels| labels.counts().iter().filter(|c| **c > 0).count());
    let size = [subject.data.samples.rows(), subject.data.samples.cols(), classes];
    DataInfo { name: subject.name.clone(), hash: subject.hash.clone(), size }
}

/// The samples of every case; each data set is read once.
fn prepare(protocol: &Protocol, supply: &Supply, exec: Exec<'_>) -> Result<Vec<Prepared>, StudyError> {
    let mut known: HashMap<&str, Dataset> = HashMap::new();
    protocol
        .cases
        .iter()
        .map(|case| {
            let name = case.data_of(protocol);
            let supply = supply.for_case(find(name)?, case);
            let clean = match known.get(name) {
                Some(data) => data.clone(),
                None => known.entry(name).or_insert(supply.read(name, exec)?).clone(),
            };
            corrupted(&supply.called(name), clean, case, protocol.seed)
        })
        .collect()
}

fn corrupted(name: &str, clean: Dataset, case: &CaseText, seed: u64) -> Result<Prepared, StudyError> {
    let Some(corruption) = case.corrupt else {
        return Ok(Prepared { subject: Subject::new(name, clean.clone())?, clean, corrupted: vec![] });
    };
    let (data, corrupted) = crate::run::corrupted(&clean, corruption, case.corrupt_share, seed)
        .map_err(|source| StudyError::Method { doing: format!("{corruption} of {name}"), source })?;
    let subject = Subject::new(format!("{name} ({corruption})"), data)?;
    Ok(Prepared { clean, subject, corrupted })
}

fn pictures(
    protocol: &Protocol,
    at: usize,
    prepared: &Prepared,
    title: &str,
    runner: &Runner<'_>,
) -> Result<Pictures, StudyError> {
    let (case, text) = (&protocol.cases[at], &protocol.methods[0]);
    let method = reproduce::points(text, "nn", None, false)?.remove(0).method;
    let data = &prepared.subject.data;
    if protocol.show == Show::Recovery {
        return recovery(
            &figure_name(protocol, at),
            &method,
            (&prepared.clean, data, &prepared.corrupted),
            runner.exec,
        );
    }
    let train = protocol.train_of(case, None);
    let partition = Partition { rule: protocol.split, train, seed: protocol.seed, repeat: 0 };
    let labels = data.labels.as_ref().expect("subjects have labels");
    let failed = |source| StudyError::Method { doing: protocol.name.clone(), source };
    let split = partition.split(labels).map_err(failed)?;
    let part = data.select_rows(&split.train).expect("a split names samples that are there");
    coefficients(&figure_name(protocol, at), title, &method, &part, runner.exec)
}

/// The name that the figures of a case begin with: no two cases share it.
fn figure_name(protocol: &Protocol, at: usize) -> String {
    match (protocol.show, at) {
        (Show::Recovery, _) => format!("{}{}", protocol.name, letters(at)),
        (_, 0) => protocol.name.clone(),
        (_, _) => format!("{}-{}", protocol.name, at + 1),
    }
}

/// a to z, then aa to az, ba and so on: every number has letters of its own.
fn letters(at: usize) -> String {
    let last = char::from(b'a' + (at % 26) as u8);
    let before = if at < 26 { String::new() } else { letters(at / 26 - 1) };
    format!("{before}{last}")
}

/// What the paper says of its data, and what is there.
fn sizes(sizes: &[Size], supply: &Supply, exec: Exec<'_>) -> Result<Table, StudyError> {
    let mut rows = vec![];
    for size in sizes {
        let known = find(&size.data)?;
        let words = |subjects: usize, each: String, [height, width]: [usize; 2]| {
            format!("{subjects} × {each}, {height} × {width}")
        };
        let found = if supply.has_data(known) {
            let data = supply.read(&size.data, exec)?;
            let counts: Vec<usize> =
                data.labels.as_ref().map(|l| l.counts().into_iter().filter(|c| *c > 0).collect()).unwrap_or_default();
            let (low, high) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
            let each = if low == high { low.to_string() } else { format!("{low}–{high}") };
            words(counts.len(), each, known.image)
        } else {
            format!("absent: {}", known.obtained)
        };
        rows.push(vec![size.name.clone(), words(size.subjects, size.each.to_string(), size.image), found]);
    }
    let heads = ["data", "the paper: subjects × images, pixels", "here"].map(String::from).to_vec();
    Ok(Table { heads, rows })
}

/// The tables and figures that the claims are about, each once.
fn claimed(protocol: &Protocol) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for claim in &protocol.claims {
        if !names.contains(&claim.of) {
            names.push(claim.of.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_every_case_have_names_of_their_own() {
        for (name, first) in [("fig5", ["fig5a", "fig5b"]), ("fig1", ["fig1", "fig1-2"])] {
            let protocol = Protocol::named(name).expect("a protocol of the paper");
            let names: Vec<String> = (0..1000).map(|at| figure_name(&protocol, at)).collect();
            assert_eq!(names[..2], first);
            let mut different = names.clone();
            different.sort();
            different.dedup();
            assert_eq!(different.len(), names.len(), "{name}: {:?}", &names[..6]);
        }
    }
}
