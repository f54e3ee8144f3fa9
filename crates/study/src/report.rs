//! What a protocol gave: plain JSON, and the Markdown, CSV and figures that are drawn from it.

use eigenspan_render::{LineChart, Point, Series, lines_svg};
use serde::{Deserialize, Serialize};

use crate::paper::Number;
use crate::protocol::{Along, Protocol, Show};
use crate::results::Row;
use crate::run::Workers;
use crate::table::{csv, markdown, plus_minus, seconds};

/// Values of an axis that a table shows, at most.
const SHOWN: usize = 13;

/// A row beside the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The case.
    pub case: String,
    /// The place on the axis.
    pub x: Option<f64>,
    /// What was set.
    pub parameter: String,
    /// Whether it is our addition.
    pub ours: bool,
    /// What was found.
    #[serde(flatten)]
    pub row: Row,
    /// What the paper prints.
    pub paper: Option<Number>,
    /// How far the two are apart, in the paper's standard deviations.
    pub distance: Option<f64>,
    /// The best that tuning on the test samples would have given, which is what the paper reports.
    pub best_on_test: Option<Best>,
}

/// The best number of columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// So many.
    pub columns: usize,
    /// In percent, the mean over the partitions.
    pub accuracy: f64,
}

/// Data that were used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataInfo {
    /// The name.
    pub name: String,
    /// A hash of samples and classes.
    pub hash: String,
    /// Samples, features, classes.
    pub size: [usize; 3],
}

/// A table as plain text cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The heads of the columns.
    pub heads: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// What a protocol gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The protocol.
    pub name: String,
    /// What the printed paper calls it.
    pub printed: String,
    /// What it is about.
    pub title: String,
    /// What was done.
    pub about: String,
    /// What to keep in mind.
    pub notes: Vec<String>,
    /// The version of the program.
    pub eigenspan: String,
    /// The seed of partitions and corruptions.
    pub seed: u64,
    /// Partitions.
    pub repeats: u64,
    /// Whether parameters were tuned on the extra partition, or are the paper's.
    pub tuned: bool,
    /// Whether synthetic faces stand for the data.
    pub synthetic: bool,
    /// How fits shared the threads, where their seconds are shown.
    pub workers: Option<Workers>,
    /// The data.
    pub data: Vec<DataInfo>,
    /// Accuracies, where that is what is shown.
    pub lines: Vec<Line>,
    /// Anything else that is shown.
    pub table: Option<Table>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Report {
    /// The report as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("reports are plain data") + "\n"
    }

    /// The title; synthetic data are called so.
    pub fn full_title(&self) -> String {
        if self.synthetic { format!("{} – on synthetic faces", self.title) } else { self.title.clone() }
    }

    /// The report for people.
    pub fn markdown(&self, figures: &[String]) -> String {
        let mut text = format!("# {} ({}): {}\n\n{}\n\n", self.name, self.printed, self.full_title(), self.about);
        let Table { heads, rows } = self.shown_table();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        text += &markdown(&heads, &rows);
        for figure in figures {
            text += &format!("\n![{}]({figure})\n", self.full_title());
        }
        let notes: String = self.notes.iter().map(|note| format!("* {note}\n")).collect();
        text += &if notes.is_empty() { String::new() } else { format!("\n{notes}") };
        let tuned = if self.tuned { "parameters tuned on the extra partition" } else { "the paper's parameters" };
        let data: Vec<String> = self.data.iter().map(|data| data.name.clone()).collect();
        let data = if data.is_empty() { String::new() } else { format!(" · {}", data.join(", ")) };
        let plural = if self.repeats == 1 { "" } else { "s" };
        let partitions = if self.lines.is_empty() {
            String::new()
        } else {
            format!(" · {} partition{plural}, {tuned}", self.repeats)
        };
        let workers = self.workers.map(|workers| format!(" · {workers}")).unwrap_or_default();
        text += &format!("\neigenspan {} · seed {}{partitions}{data}{workers}\n", self.eigenspan, self.seed);
        text
    }

    /// The whole table as CSV.
    pub fn csv(&self) -> String {
        let Table { heads, rows } = self.whole_table();
        csv(&heads.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
    }

    /// The table as a page has space for it: of a long axis, some values.
    fn shown_table(&self) -> Table {
        let whole = self.whole_table();
        let mut places: Vec<f64> = self.lines.iter().filter_map(|line| line.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        if places.len() <= SHOWN || self.table.is_some() {
            return whole;
        }
        let shown: Vec<f64> = (0..SHOWN).map(|i| places[i * (places.len() - 1) / (SHOWN - 1)]).collect();
        let kept = |line: &Line| line.x.is_none_or(|x| shown.contains(&x));
        let rows = self.lines.iter().zip(whole.rows).filter(|(line, _)| kept(line)).map(|(_, row)| row);
        Table { heads: whole.heads, rows: rows.collect() }
    }

    fn whole_table(&self) -> Table {
        if let Some(table) = &self.table {
            return table.clone();
        }
        let several = self.lines.iter().any(|line| line.case != self.lines[0].case);
        let along = self.lines.iter().any(|line| line.x.is_some());
        let paper = self.lines.iter().any(|line| line.paper.is_some());
        let best = self.lines.iter().any(|line| line.best_on_test.is_some());
        let columns = [
            (several, "case"),
            (true, "method"),
            (true, "classifier"),
            (along, "at"),
            (true, "parameter"),
            (true, "k"),
            (true, "accuracy"),
            (best, "tuned on test"),
            (paper, "paper"),
            (paper, "difference"),
            (paper, "÷ paper's sd"),
            (true, "seconds"),
            (paper, "paper's"),
        ];
        let heads = columns.iter().filter(|(shown, _)| *shown).map(|(_, head)| head.to_string()).collect();
        let row = |line: &Line| {
            let cells = line.cells();
            columns.iter().zip(cells).filter(|((shown, _), _)| *shown).map(|(_, cell)| cell).collect()
        };
        Table { heads, rows: self.lines.iter().map(row).collect() }
    }
}

impl Line {
    /// Every cell that a table may have, in the order of the columns.
    fn cells(&self) -> [String; 13] {
        let row = &self.row;
        let range = match (row.dimensions.iter().min(), row.dimensions.iter().max()) {
            (Some(low), Some(high)) if low != high => format!("{low}–{high}"),
            _ => row.k.to_string(),
        };
        let paper = self.paper.as_ref();
        let none = || "–".to_string();
        [
            self.case.clone(),
            if self.ours { format!("{} (ours)", row.method) } else { row.method.clone() },
            row.classifier.clone(),
            self.x.map_or_else(none, |x| x.to_string()),
            if self.parameter.is_empty() { none() } else { self.parameter.clone() },
            range,
            plus_minus(row.accuracy_mean, row.accuracy_sd),
            self.best_on_test.map_or_else(none, |best| format!("{:.2} (m′ = {})", best.accuracy, best.columns)),
            paper.map_or_else(none, |paper| plus_minus(paper.accuracy, paper.accuracy_sd)),
            paper.map_or_else(none, |paper| format!("{:+.2}", row.accuracy_mean - paper.accuracy)),
            self.distance.map_or_else(none, |distance| format!("{distance:+.1}")),
            seconds(row.seconds),
            paper.and_then(|paper| paper.time_s).map_or_else(none, seconds),
        ]
    }
}

/// The figure of a report, where its protocol has one.
pub fn figure(protocol: &Protocol, report: &Report) -> Option<String> {
    let axis = protocol.axis.as_ref()?;
    let title = report.full_title();
    let (series, up, second, most) = match protocol.show {
        Show::Curves => {
            let lambda = axis.of == Along::Lambda;
            let curves = if lambda { with_dimensions(&report.lines) } else { accuracies(&report.lines) };
            (curves, "accuracy (%)", lambda.then_some("k"), 100.0)
        }
        Show::Seconds => (steps(&report.lines), "seconds", None, f64::INFINITY),
        _ => return None,
    };
    let chart = LineChart { title: &title, across: &axis.label, up, second, series: &series, most };
    Some(lines_svg(&chart))
}

/// The curves of a figure, by what distinguishes them.
fn grouped(lines: &[Line], name: impl Fn(&Line) -> String, point: impl Fn(&Line) -> Point) -> Vec<Series> {
    let mut series: Vec<Series> = vec![];
    for line in lines {
        let name = name(line);
        match series.iter_mut().find(|known| known.name == name) {
            Some(known) => known.points.push(point(line)),
            None => series.push(Series { name, points: vec![point(line)], second: false }),
        }
    }
    series
}

/// A classifier as a curve is called.
fn in_words(classifier: &str) -> &str {
    match classifier {
        "nn" => "NN",
        "nn-cosine" => "NN by angle",
        "svm" => "SVM",
        "src" => "SRC",
        "auto" => "picked classifier",
        other => other,
    }
}

fn accuracies(lines: &[Line]) -> Vec<Series> {
    let classifiers = lines.iter().any(|line| line.row.classifier != lines[0].row.classifier);
    let methods = lines.iter().any(|line| line.row.method != lines[0].row.method);
    let name = |line: &Line| match (methods, classifiers) {
        (true, true) => format!("{}, {}", line.row.method, in_words(&line.row.classifier)),
        (false, true) => in_words(&line.row.classifier).into(),
        _ => line.row.method.clone(),
    };
    let point =
        |line: &Line| Point { x: line.x.unwrap_or(0.0), y: line.row.accuracy_mean, spread: line.row.accuracy_sd };
    grouped(lines, name, point)
}

fn with_dimensions(lines: &[Line]) -> Vec<Series> {
    let dimension = |line: &Line| Point {
        x: line.x.unwrap_or(0.0),
        y: line.row.dimensions.iter().sum::<usize>() as f64 / line.row.dimensions.len() as f64,
        spread: None,
    };
    let mut all = grouped(
        lines,
        |_| "accuracy".into(),
        |line| Point { x: line.x.unwrap_or(0.0), y: line.row.accuracy_mean, spread: line.row.accuracy_sd },
    );
    let dimensions = grouped(lines, |_| "dimension k".into(), dimension);
    all.extend(dimensions.into_iter().map(|series| Series { second: true, ..series }));
    all
}

/// The steps of PCE, as the paper draws them: its graph and embedding are one closed solution here.
fn steps(lines: &[Line]) -> Vec<Series> {
    let first = |line: &&Line| line.row.classifier == lines[0].row.classifier;
    let fits: Vec<Line> = lines.iter().filter(first).cloned().collect();
    let at = |line: &Line, y: f64| Point { x: line.x.unwrap_or(0.0), y, spread: None };
    let mut all = grouped(&fits, |_| "both".into(), |line| at(line, line.row.seconds_of[0] + line.row.seconds_of[1]));
    all.extend(grouped(&fits, |_| "k and Θ".into(), |line| at(line, line.row.seconds_of[0])));
    all.extend(grouped(&fits, |_| "features of all".into(), |line| at(line, line.row.seconds_of[1])));
    all
}
