//! An experiment as a readable file: data, partitions, corruption, methods with their settings, classifiers.
//!
//! Every table and figure of the paper has one in `protocols/`, under its label in the paper's source. What is not in
//! the file is what the paper's own tables say: the parameter of a method is that of the row it is compared with.

use eigenspan_core::data::Corruption;
use eigenspan_core::dimension::{ESTIMATORS, Estimator};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::StudyError;
use crate::cell::{SplitRule, TrainSize};

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        /// Every protocol that comes with the program: its name, and its text.
        const EMBEDDED: &[(&str, &str)] = &[$(($name, include_str!(concat!("../protocols/", $name, ".toml")))),*];
    };
}
embedded!(
    "table2",
    "table3",
    "table3b",
    "table4",
    "table5",
    "table6",
    "table7",
    "table8",
    "table9",
    "table10",
    "table11",
    "table12",
    "fig1",
    "fig3a",
    "fig3b",
    "fig4a",
    "fig4b",
    "fig5",
    "fig6a",
    "fig6b",
    "claims",
    "complexity",
);

/// An experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Its name: the label in the paper's source.
    pub name: String,
    /// What the printed paper calls it.
    pub printed: String,
    /// What it is about, in one line.
    pub title: String,
    /// What is done, in words.
    pub about: String,
    /// What is known to be wrong with it, and what else to keep in mind.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What is made of it.
    pub show: Show,
    /// The data of all cases that name none.
    #[serde(default)]
    pub data: String,
    /// How samples are split.
    #[serde(default)]
    pub split: SplitRule,
    /// Partitions that are reported.
    #[serde(default = "ten")]
    pub repeats: u64,
    /// The seed of the partitions and of the corruption.
    #[serde(default = "one")]
    pub seed: u64,
    /// The classifiers.
    #[serde(default)]
    pub classifiers: Vec<String>,
    /// Data and how they are split.
    #[serde(default, rename = "case")]
    pub cases: Vec<CaseText>,
    /// What is compared.
    #[serde(default, rename = "method")]
    pub methods: Vec<MethodText>,
    /// What goes across, in a figure.
    pub axis: Option<Axis>,
    /// The paper's sentences with numbers in them.
    #[serde(default, rename = "claim")]
    pub claims: Vec<crate::claims::Claim>,
    /// What the paper says of its data.
    #[serde(default, rename = "size")]
    pub sizes: Vec<Size>,
}

fn ten() -> u64 {
    10
}

fn one() -> u64 {
    1
}

/// What is made of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Show {
    /// A table of accuracies beside the paper's.
    Accuracies,
    /// A figure of accuracies along the axis; with the dimension, where the axis is λ.
    Curves,
    /// A figure of the seconds of each step along the axis.
    Seconds,
    /// A table of accuracies of methods whose columns an estimator of the dimension counts, beside the paper's.
    Estimated,
    /// The sizes of the data beside the paper's.
    Sizes,
    /// The coefficients of PCE as a picture, and their singular values.
    Coefficients,
    /// Corrupted samples, what PCE recovers of them, and the error.
    Recovery,
    /// The paper's sentences beside what its tables and ours say.
    Claims,
    /// How the time of PCE grows with samples and features.
    Growth,
}

impl Show {
    /// Whether it is the time of fits that is shown, so that each has the machine for itself.
    pub fn is_timed(&self) -> bool {
        matches!(self, Self::Seconds | Self::Estimated | Self::Growth)
    }
}

/// Data and how they are split.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseText {
    /// Its name in the table.
    pub name: String,
    /// The data, where they are not those of the protocol.
    pub data: Option<String>,
    /// Samples to train on, of all; along the axis where this is not said.
    pub train: Option<usize>,
    /// The share to train on, where it is not a number.
    pub share: Option<f64>,
    /// How samples are corrupted before they are split.
    pub corrupt: Option<Corruption>,
    /// How many of them.
    #[serde(default = "half")]
    pub corrupt_share: f64,
    /// The table of the paper's numbers that this is compared with.
    pub paper: Option<String>,
    /// Which of its data.
    pub paper_data: Option<String>,
    /// The number of columns is tuned, from 1 to this.
    pub tune_columns: Option<usize>,
    /// Whether synthetic faces stand for the data where they are not there.
    #[serde(default)]
    pub stand_in: bool,
    /// Whether the case is left out where its data are not there.
    #[serde(default)]
    pub if_there: bool,
}

impl CaseText {
    /// The name of its data.
    pub fn data_of<'a>(&'a self, protocol: &'a Protocol) -> &'a str {
        self.data.as_deref().unwrap_or(&protocol.data)
    }
}

fn half() -> f64 {
    0.5
}

/// A method with its settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodText {
    /// What the paper calls it.
    pub name: String,
    /// What the program calls it.
    pub method: String,
    /// Settings other than those of the paper's experiments.
    #[serde(default)]
    pub set: Map<String, Value>,
    /// The settings that the paper's column of parameters holds, in its order.
    #[serde(default)]
    pub parameter: Vec<String>,
    /// The estimator that gives the number of columns.
    pub estimator: Option<EstimatorText>,
    /// Settings for each classifier, where the paper's are wrong or absent; those under `all` for every one.
    #[serde(default)]
    pub at: Map<String, Value>,
    /// What is tried where parameters are tuned.
    #[serde(default)]
    pub grid: Map<String, Value>,
    /// Other classifiers than those of the protocol.
    pub classifiers: Option<Vec<String>>,
    /// Whether features are scaled to length one before they are classified, whatever the method makes of them.
    #[serde(default)]
    pub unit_features: bool,
    /// The row of the paper that it is compared with, and has its parameters from, where that is not its name.
    pub row: Option<String>,
    /// Whether it is our addition, with our defaults, and not the paper's.
    #[serde(default)]
    pub ours: bool,
    /// Whether training samples are the low-rank part themselves: no reduction.
    #[serde(default)]
    pub low_rank: bool,
}

/// An estimator of the dimension, as the paper ran it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimatorText {
    /// What the program calls it.
    pub of: String,
    /// Its neighbors.
    pub neighbours: usize,
}

impl EstimatorText {
    /// The estimator; one that is not known, or looks at no neighbors, is refused.
    pub fn estimator(&self) -> Result<Estimator, StudyError> {
        let named = Estimator::as_published(&self.of).or_else(|| Estimator::named(&self.of));
        named.and_then(|estimator| estimator.with_neighbours(self.neighbours)).ok_or_else(|| {
            let looks = |name: &&str| Estimator::named(name).is_some_and(|e| e.with_neighbours(1).is_some());
            let known: Vec<String> =
                ESTIMATORS.iter().map(|(name, _)| *name).filter(looks).map(|name| format!("`{name}`")).collect();
            StudyError::Unknown { what: "estimator with neighbours", name: self.of.clone(), known: known.join(", ") }
        })
    }
}

/// What goes across.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// What it is.
    pub of: Along,
    /// What the figure calls it.
    pub label: String,
    /// The first value.
    pub from: usize,
    /// The last is not above this.
    pub to: usize,
    /// From one to the next.
    pub step: usize,
}

/// What an axis may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Along {
    /// λ of PCE.
    Lambda,
    /// Columns of the features, the first so many.
    Columns,
    /// Training samples of all.
    Train,
    /// Training samples of every class.
    Each,
}

/// What the paper says of a data set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// The data.
    pub data: String,
    /// What the paper calls them.
    pub name: String,
    /// Subjects.
    pub subjects: usize,
    /// Images of each.
    pub each: usize,
    /// Height and width.
    pub image: [usize; 2],
}

impl Axis {
    /// The values, in order.
    pub fn values(&self) -> Vec<usize> {
        (self.from..=self.to).step_by(self.step.max(1)).collect()
    }
}

impl Protocol {
    /// Reads a protocol; errors say on which line.
    pub fn parse(name: &str, text: &str) -> Result<Self, StudyError> {
        let fault = |fault: String| StudyError::Protocol { name: name.into(), fault };
        let protocol: Self = toml::from_str(text).map_err(|error| fault(error.to_string()))?;
        protocol.check().map_err(fault)?;
        Ok(protocol)
    }

    /// The protocol of this name that comes with the program.
    pub fn named(name: &str) -> Result<Self, StudyError> {
        match EMBEDDED.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::parse(name, text),
            None => {
                let known = EMBEDDED.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                Err(StudyError::Unknown {
                    what: "table or figure",
                    name: name.into(),
                    known: format!("{known}, `all`"),
                })
            }
        }
    }

    /// All protocols that come with the program, in the order of the paper.
    pub fn all() -> Vec<Self> {
        EMBEDDED.iter().map(|(name, text)| Self::parse(name, text).expect("the tests read every protocol")).collect()
    }

    /// How a case is split; `along` is its place on an axis of training samples.
    pub fn train_of(&self, case: &CaseText, along: Option<usize>) -> TrainSize {
        match (&self.axis, along, case.train, case.share) {
            (Some(Axis { of: Along::Each, .. }), Some(each), ..) => TrainSize::Each(each),
            (Some(Axis { of: Along::Train, .. }), Some(train), ..) => TrainSize::Total(train),
            (_, _, Some(train), _) => TrainSize::Total(train),
            (_, _, None, share) => TrainSize::Share(share.unwrap_or(0.5)),
        }
    }

    /// The names of the data, each once.
    pub fn data_names(&self) -> Vec<&str> {
        let cases = self.cases.iter().map(|case| case.data_of(self));
        let mut names: Vec<&str> = cases.chain(self.sizes.iter().map(|size| size.data.as_str())).collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }

    fn check(&self) -> Result<(), String> {
        let needs_cases = !matches!(self.show, Show::Sizes | Show::Claims | Show::Growth);
        if needs_cases && (self.cases.is_empty() || self.methods.is_empty()) {
            return Err("no [[case]] or no [[method]]".into());
        }
        if matches!(self.show, Show::Curves | Show::Seconds) && self.axis.is_none() {
            return Err("a figure needs an [axis]".into());
        }
        if let Some(axis) = &self.axis
            && (axis.from == 0 || axis.to < axis.from || axis.step == 0)
        {
            return Err("the [axis] goes nowhere: expected 1 ≤ from ≤ to, and a step".into());
        }
        if self.repeats == 0 {
            return Err("`repeats` is 0".into());
        }
        for name in &self.classifiers {
            crate::settings::classifier(name, true).map_err(|error| error.to_string())?;
        }
        for method in &self.methods {
            crate::reproduce::points(method, "nn", None, false).map_err(|error| error.to_string())?;
            crate::reproduce::points(method, "nn", None, true).map_err(|error| error.to_string())?;
            if let Some(text) = &method.estimator {
                text.estimator().map_err(|error| error.to_string())?;
                if method.method != "eigenfaces" || self.show != Show::Estimated {
                    return Err("an `estimator` counts the columns of `eigenfaces`, and is shown as `estimated`".into());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_reads_and_names_what_there_is() {
        for protocol in Protocol::all() {
            assert_eq!(Protocol::named(&protocol.name).unwrap(), protocol);
            for data in protocol.data_names() {
                assert!(crate::data::find(data).is_ok(), "{}: {data}", protocol.name);
            }
            for case in &protocol.cases {
                let Some(table) = &case.paper else { continue };
                let numbers = crate::paper::of_table(table, case.paper_data.as_deref());
                assert!(!numbers.is_empty(), "{}: the paper has no {table}", protocol.name);
                for number in &numbers {
                    let known = protocol.methods.iter().any(|method| method.name == number.algorithm);
                    assert!(known, "{}: {}", protocol.name, number.algorithm);
                }
            }
        }
    }

    #[test]
    fn a_mistake_is_told_by_its_line() {
        let text = "name = \"x\"\nprinted = \"\"\ntitle = \"\"\nabout = \"\"\nshow = \"accuracies\"\nrepeat = 3\n";
        let error = Protocol::parse("x", text).unwrap_err().to_string();
        assert!(error.contains("line 6") && error.contains("repeat"), "{error}");
        let text = text.replace("repeat = 3", "[[case]]\nname = \"a\"\n[[method]]\nname = \"A\"\nmethod = \"tsne\"");
        let error = Protocol::parse("x", &text).unwrap_err().to_string();
        assert_eq!(error, "protocol x: there is no method `tsne`");
        assert!(Protocol::named("table99").unwrap_err().hint().unwrap().contains("`table3`"));
    }
}
