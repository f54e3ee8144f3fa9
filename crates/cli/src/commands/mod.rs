//! What each command does.

mod demo;
mod dimension;
mod evaluate;
mod export;
mod fit;
mod info;
mod inspect;
mod methods;
mod path;
mod recover;
mod reproduce;
mod summarize;
mod transform;
mod update;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use eigenspan_core::data::Dataset;
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::{Exec, Model, Pce};
use eigenspan_feed::{Files, check_whole};
use eigenspan_io::{ReadOptions, Rows, embedded};

use crate::args::{Args, Command, Data, Size};
use crate::failure::Failure;
use crate::progress::Progress;

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    let progress = Progress::new();
    let session = Session { progress: &progress, exec: Exec::new(args.threads, &progress) };
    let result = match args.command {
        Command::Demo => demo::run(&session),
        Command::Dimension(args) => dimension::run(&args, &session),
        Command::Fit(args) => fit::run(&args, &session),
        Command::Finish(args) => summarize::finish(&args, &session),
        Command::Merge(args) => summarize::merge(&args, &session),
        Command::Methods => methods::run(),
        Command::Summarize(args) => summarize::run(&args, &session),
        Command::Transform(args) => transform::run(&args, &session),
        Command::Update(args) => update::run(&args, &session),
        Command::Recover(args) => recover::run(&args, &session),
        Command::Path(args) => path::run(&args, &session),
        Command::Evaluate(args) => evaluate::run(&args, &session),
        Command::Reproduce(args) => reproduce::run(&args, &session),
        Command::Inspect(args) => inspect::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Info(args) => info::run(&args, &session),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut <Args as clap::CommandFactory>::command(), "eigenspan", &mut script);
            print_bytes(&script)
        }
    };
    progress.clear();
    result
}

/// Threads, and the eyes on them.
pub struct Session<'a> {
    pub progress: &'a Progress,
    pub exec: Exec<'a>,
}

impl Data {
    /// Reads the samples, and takes the rows asked for.
    pub fn read(&self) -> Result<Dataset, Failure> {
        let data = match self.built_in() {
            Some(name) => embedded::by_name(name).expect("one of the names"),
            None => eigenspan_io::read(&self.data, &self.options())?,
        };
        let Some(rows) = &self.rows else { return Ok(data) };
        let index = eigenspan_io::read_row_numbers(rows)?;
        if index.is_empty() {
            return Err(Failure::refused(format!("{} names no row", rows.display()), "give at least one row number"));
        }
        data.select_rows(&index).ok_or_else(|| {
            let (most, n) = (index.iter().max().unwrap_or(&0), data.samples.rows());
            Failure::refused(
                format!("{} asks for row {most}, {} has rows 0 to {}", rows.display(), self.data.display(), n - 1),
                "row numbers count from 0",
            )
        })
    }

    /// Opens the samples to be read chunk by chunk, with no more than so much memory held by the reader.
    pub fn open(&self, memory: Option<Size>) -> Result<Rows, Failure> {
        if self.rows.is_some() {
            return Ok(self.read()?.into());
        }
        let files = Files::new([&self.data]).read_by(self.options());
        Ok(files.open_named(&self.data, memory.map(|Size(bytes)| bytes))?)
    }

    /// These samples and those of files that are read like them, in their order. Refuses a choice among rows: only samples in
    /// memory have one.
    pub fn files(&self, more: &[PathBuf]) -> Result<Files, Failure> {
        if self.rows.is_some() {
            let fact = "`--rows` needs all samples in memory, and these are read in their order";
            return Err(Failure::refused(fact, "write the rows to a file of their own, or fit in memory"));
        }
        Ok(Files::new(std::iter::once(&self.data).chain(more)).read_by(self.options()))
    }

    /// Refuses data that `needed_by` takes more memory for than is allowed.
    pub fn whole(&self, memory: Option<Size>, needed_by: &str) -> Result<(), Failure> {
        match memory {
            Some(Size(limit)) if self.built_in().is_none() => {
                Ok(check_whole(&self.data, &self.options(), limit, needed_by)?)
            }
            _ => Ok(()),
        }
    }

    /// The name, where it is one of data that come with the program.
    fn built_in(&self) -> Option<&'static str> {
        embedded::NAMES.into_iter().find(|name| self.data.as_os_str() == *name)
    }

    /// How the samples are to be read.
    pub fn options(&self) -> ReadOptions {
        let Self { label, array, image, resize, grey, .. } = self;
        let (label, array) = (label.clone(), array.clone());
        ReadOptions { label, array, image: *image, resize: *resize, grey: *grey, memory: None }
    }

    /// The name without its folder.
    pub fn name(&self) -> String {
        file_name(&self.data)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The model where it is one of PCE or PCA, which `command` needs.
fn pce_of(model: Model, command: &str) -> Result<Pce, Failure> {
    model.into_pce().map_err(|other| {
        let fact = format!("`{command}` needs a model of PCE or PCA, this is one of `{}`", other.info().method);
        Failure::refused(fact, "`eigenspan transform` and `inspect` take models of every method")
    })
}

/// Writes a result to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Writes one JSON object and a line end to stdout.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string(value).expect("reports are plain data");
    print(&format!("{json}\n"))
}

/// Says on stderr what the user should know.
pub fn warn(warnings: &[impl std::fmt::Display]) {
    for warning in warnings {
        let _ = writeln!(std::io::stderr(), "warning: {warning}"); // a closed stderr is no reason to stop
    }
}

/// Columns and rows that a plot in this terminal may take.
pub fn plot_size() -> (usize, usize) {
    let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
    (width.clamp(20, 100), 16)
}
