//! Results as tables: Markdown for people, CSV for programs.

use crate::results::Row;

/// A table in Markdown: heads, then rows; columns of numbers stand to the right.
pub fn markdown(heads: &[&str], rows: &[Vec<String>]) -> String {
    let safe = |cell: &str| cell.replace('|', "\\|").replace('\n', " ");
    let numeric = |j: usize| {
        let starts = |cell: &str| cell.chars().next().is_none_or(|c| c.is_ascii_digit() || "+−-–*".contains(c));
        j > 0 && rows.iter().all(|row| starts(&row[j]))
    };
    let width = |j: usize| {
        let longest = rows.iter().map(|row| safe(&row[j]).chars().count()).max().unwrap_or(0);
        longest.max(safe(heads[j]).chars().count()).max(3)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().enumerate().map(|(j, cell)| match numeric(j) {
            true => format!(" {:>1$} ", safe(cell), widths[j]),
            false => format!(" {:<1$} ", safe(cell), widths[j]),
        });
        format!("|{}|\n", padded.collect::<Vec<_>>().join("|"))
    };
    let rule = (0..heads.len()).map(|j| match numeric(j) {
        true => format!("{}:", "-".repeat(widths[j] + 1)),
        false => "-".repeat(widths[j] + 2),
    });
    let rule = format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
    let heads: Vec<String> = heads.iter().map(|head| head.to_string()).collect();
    line(&heads) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// A table in CSV.
pub fn csv(heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(vec![]);
    writer.write_record(heads).expect("memory takes every record");
    rows.iter().for_each(|row| writer.write_record(row).expect("rows are as long as the heads"));
    String::from_utf8(writer.into_inner().expect("memory takes every record")).expect("cells are text")
}

/// Mean ± standard deviation, to two digits.
pub fn plus_minus(mean: f64, sd: Option<f64>) -> String {
    match sd {
        Some(sd) => format!("{mean:.2} ± {sd:.2}"),
        None => format!("{mean:.2}"),
    }
}

/// Seconds as a person reads them.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        ..0.1 => format!("{seconds:.3}"),
        ..10.0 => format!("{seconds:.2}"),
        _ => format!("{seconds:.0}"),
    }
}

/// Methods and classifiers beside each other.
pub fn of_rows(rows: &[Row]) -> String {
    let cells = |row: &Row| {
        let range = match (row.dimensions.iter().min(), row.dimensions.iter().max()) {
            (Some(low), Some(high)) if low != high => format!("{low}–{high}"),
            _ => row.k.to_string(),
        };
        vec![
            row.method.clone(),
            row.classifier.clone(),
            plus_minus(row.accuracy_mean, row.accuracy_sd),
            range,
            row.columns.to_string(),
            seconds(row.seconds),
        ]
    };
    let heads = ["method", "classifier", "accuracy (%)", "k", "columns", "seconds"];
    markdown(&heads, &rows.iter().map(cells).collect::<Vec<_>>())
}
