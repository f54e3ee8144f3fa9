//! LIBSVM text (svmlight): one sample a line, its class first, then the features that are not zero.
//!
//! ```text
//!     +1 3:0.5 17:2   # a comment
//! ```
//! Features are counted from 1, or from 0 where a feature 0 occurs. They rise within a line. `qid:` is skipped.
//! The samples are sparse, unless a dense matrix takes less memory: then they are dense.

use eigenspan_core::Mat;
use eigenspan_core::data::{Csr, Dataset, Labels, Matrix};

/// Lines that are inspected to find the format.
const LOOK_AT: usize = 20;

/// The largest feature: beyond it one line would make a matrix too wide to work with.
const MOST: usize = 1 << 27;

/// What is wrong with LIBSVM text. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LibsvmFault {
    /// A line begins with a feature.
    #[error("line {line}: expected a class in front of the features, found `{text}`")]
    NoClass {
        /// The line.
        line: usize,
        /// What stands there, cut after 40 characters.
        text: String,
    },
    /// A feature is not `index:value`.
    #[error("line {line}: expected `index:value`, found `{text}`")]
    NotAPair {
        /// The line.
        line: usize,
        /// What stands there, cut after 40 characters.
        text: String,
    },
    /// An index that is no number, or too large.
    #[error("line {line}: expected a feature number from 0 to {MOST}, found {}", shown(text))]
    Index {
        /// The line.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// Features out of order, or twice.
    #[error("line {line}: expected features in rising order, found {after} after {before}")]
    Order {
        /// The line.
        line: usize,
        /// The feature before.
        before: usize,
        /// The feature that should be larger.
        after: usize,
    },
    /// A value is not a number, or not finite.
    #[error("line {line}, feature {feature}: expected a finite number, found {}", shown(text))]
    Value {
        /// The line.
        line: usize,
        /// The feature as the file counts it.
        feature: usize,
        /// What stands there.
        text: String,
    },
    /// More values than memory.
    #[error("{bytes} bytes of memory are needed for the values, and could not be had")]
    Memory {
        /// Bytes requested.
        bytes: u128,
    },
}

impl LibsvmFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoClass { .. } => "put a class first in every line: any number where there are none",
            Self::NotAPair { .. } => "write a class, then features as `index:value`, all separated by spaces",
            Self::Index { .. } => "number the features from 1",
            Self::Order { .. } => "sort the features of every line, each once",
            Self::Value { text, .. } if text.contains(',') => "write decimals with a point",
            Self::Value { .. } => "leave the feature out of this line if it is missing or zero",
            Self::Memory { .. } => "use a machine with more memory",
        };
        Some(hint.to_string())
    }
}

/// Whether text is LIBSVM: in the first lines, something with spaces around it and then `number:` for every word after
/// the first, at least once.
pub(crate) fn is_libsvm(text: &str) -> bool {
    let mut pairs = 0;
    for line in text.lines().map(content).filter(|line| !line.is_empty()).take(LOOK_AT) {
        for word in line.split_ascii_whitespace().skip(1) {
            match word.split_once(':') {
                Some((index, _)) if index == "qid" || index.parse::<usize>().is_ok() => pairs += 1,
                _ => return false,
            }
        }
    }
    pairs > 0
}

/// Reads samples and classes.
pub(crate) fn read(text: &str) -> Result<Dataset, LibsvmFault> {
    let (mut starts, mut columns, mut values, mut classes) = (vec![0], vec![], vec![], vec![]);
    for (at, line) in text.lines().enumerate() {
        let mut words = content(line).split_ascii_whitespace();
        let Some(class) = words.next() else { continue };
        if class.contains(':') {
            return Err(LibsvmFault::NoClass { line: at + 1, text: cut(class) });
        }
        classes.push(whole(class));
        let before = columns.len();
        for word in words {
            if let Some((feature, value)) = pair(word, at + 1)? {
                if let Some(&last) = columns[before..].last().filter(|&&last| last >= feature) {
                    return Err(LibsvmFault::Order { line: at + 1, before: last, after: feature });
                }
                columns.push(feature);
                values.push(value);
            }
        }
        starts.push(columns.len());
    }
    // Counted from 1, unless there is a feature 0.
    let first = usize::from(!columns.contains(&0));
    columns.iter_mut().for_each(|column| *column -= first);
    let cols = columns.iter().max().map_or(1, |last| last + 1);
    let labels = Some(Labels::from_names(&classes));
    Ok(Dataset { labels, ..Dataset::new(smaller(cols, starts, columns, values)?) })
}

/// A stored value takes its number and its column: dense is smaller where half of the cells are stored.
fn smaller(cols: usize, starts: Vec<usize>, columns: Vec<usize>, values: Vec<f64>) -> Result<Matrix, LibsvmFault> {
    let (rows, cells) = (starts.len() - 1, (starts.len() - 1) as u128 * cols as u128);
    let sparse = Csr::new(cols, starts, columns, values).expect("features rise in every line");
    if 2 * sparse.stored() as u128 <= cells {
        return Ok(sparse.into());
    }
    let mut dense = vec![];
    let memory = |_| LibsvmFault::Memory { bytes: 8 * cells };
    dense.try_reserve_exact(rows * cols).map_err(memory)?;
    dense.resize(rows * cols, 0.0);
    for (i, row) in dense.chunks_exact_mut(cols).enumerate() {
        sparse.read_row(i, 0..cols, row);
    }
    Ok(Mat::from_vec(rows, cols, dense).expect("rows · cols values").into())
}

/// A line without its comment.
fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// Classes that are whole numbers in any form, `+1` and `1.0`, are one class.
fn whole(class: &str) -> String {
    match class.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() <= (1u64 << 53) as f64 => (value as i64).to_string(),
        _ => class.to_string(),
    }
}

/// What stands in the file, fit to be shown.
fn cut(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

fn shown(text: &str) -> String {
    if text.is_empty() { "nothing".to_string() } else { format!("`{text}`") }
}

/// A feature and its value; `None` for the query that a line belongs to.
fn pair(word: &str, line: usize) -> Result<Option<(usize, f64)>, LibsvmFault> {
    let (index, value) = word.split_once(':').ok_or_else(|| LibsvmFault::NotAPair { line, text: cut(word) })?;
    if index == "qid" {
        return Ok(None);
    }
    let feature = match index.parse::<usize>() {
        Ok(feature) if feature <= MOST => feature,
        _ => return Err(LibsvmFault::Index { line, text: cut(index) }),
    };
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some((feature, number))),
        _ => Err(LibsvmFault::Value { line, feature, text: cut(value) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_text_stays_sparse_and_dense_text_becomes_dense() {
        let data = read("# made by hand\n+1 1:0.5 6:2\n\n-1 qid:7 2:-3e2 # odd\n1.0\n").unwrap();
        let expected = Csr::new(6, vec![0, 2, 3, 3], vec![0, 5, 1], vec![0.5, 2.0, -300.0]).unwrap();
        assert_eq!(data.samples, Matrix::Csr(expected));
        let labels = data.labels.unwrap();
        assert_eq!((labels.names, labels.of), (vec!["-1".to_string(), "1".to_string()], vec![1, 0, 1]));
        let dense = read("a 1:1 2:2\nb 2:4\n").unwrap().samples;
        assert_eq!(dense, Matrix::F64(Mat::from_vec(2, 2, vec![1.0, 2.0, 0.0, 4.0]).unwrap()));
    }

    #[test]
    fn features_are_counted_from_zero_where_zero_occurs() {
        assert_eq!(read("1 0:5 1:6\n").unwrap().samples.into_f64().into_vec(), [5.0, 6.0]);
        assert_eq!(read("1 1:5 2:6\n").unwrap().samples.into_f64().into_vec(), [5.0, 6.0]);
    }

    #[test]
    fn tables_are_not_taken_for_it() {
        assert!(is_libsvm("1 1:2\n"));
        assert!(is_libsvm("# comment\n-1\n+1 qid:3 1:2 5:0.5\n"));
        for table in ["1 2 3\n", "a,b\n1,2\n", "12:30,5\n", "time 12:30\n1 2:x y\n", "1\n2\n", ""] {
            assert!(!is_libsvm(table), "{table:?}");
        }
    }
}
