//! What the columns of a table are, where their names tell: the same in text and in columnar files.

use crate::error::listed;

/// Names that make a column the label, the first one found.
pub(crate) const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// Why there is no telling which column holds the classes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelFault {
    /// The label column is not there.
    #[error("expected a label column `{label}`, found {}", found(*columns, names))]
    NoLabel {
        /// The column requested.
        label: String,
        /// Number of columns.
        columns: usize,
        /// Their names, where there are some.
        names: Vec<String>,
    },
    /// Two columns have the name of the label column.
    #[error("expected one label column `{label}`, found columns {first} and {second} of this name")]
    LabelTwice {
        /// The column requested.
        label: String,
        /// Number of the first.
        first: usize,
        /// Number of the second.
        second: usize,
    },
}

impl LabelFault {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoLabel { columns, .. } => format!("give a name from the header, or a number from 1 to {columns}"),
            Self::LabelTwice { first, second, .. } => format!("give its number: {first} or {second}"),
        }
    }
}

fn found(columns: usize, names: &[String]) -> String {
    if names.is_empty() { format!("{columns} columns without names") } else { listed(names) }
}

/// The number of the column requested, counted from 1, where it is one.
pub(crate) fn requested_number(requested: Option<&str>, columns: usize) -> Option<usize> {
    requested.and_then(|label| label.parse::<usize>().ok()).filter(|number| (1..=columns).contains(number))
}

/// The column that holds the classes: the one requested, by name, else by number; the one with a usual name where none
/// is requested. `names` are empty where columns have none.
pub(crate) fn label(requested: Option<&str>, columns: usize, names: &[String]) -> Result<Option<usize>, LabelFault> {
    let Some(label) = requested else {
        return Ok(LABEL_NAMES.iter().find_map(|usual| names.iter().position(|name| name == usual)));
    };
    let mut named = names.iter().enumerate().filter(|(_, name)| *name == label).map(|(at, _)| at);
    match (named.next(), named.next(), requested_number(requested, columns)) {
        (Some(at), None, _) => Ok(Some(at)),
        (Some(first), Some(second), _) => {
            Err(LabelFault::LabelTwice { label: label.to_string(), first: first + 1, second: second + 1 })
        }
        (None, _, Some(number)) => Ok(Some(number - 1)),
        (None, _, None) => Err(LabelFault::NoLabel { label: label.to_string(), columns, names: names.to_vec() }),
    }
}
