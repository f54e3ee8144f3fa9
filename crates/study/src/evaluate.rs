//! Methods and classifiers on labelled data: how often they are right on samples they have not seen.

use eigenspan::classify::Classifier;
use eigenspan::method::Method;

use crate::StudyError;
use crate::cell::{SplitRule, Take, TrainSize, is_classifier};
use crate::plan::{Case, Plan};
use crate::results::Row;
use crate::run::{Runner, Subject};

/// What is to be compared, and on how many partitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Methods with the names they get in the result.
    pub methods: Vec<(String, Method)>,
    /// Classifiers with their names.
    pub classifiers: Vec<(String, Classifier)>,
    /// How samples are parted.
    pub rule: SplitRule,
    /// How many are to train on.
    pub train: TrainSize,
    /// Partitions.
    pub repeats: u64,
    /// The seed of the partitions.
    pub seed: u64,
}

impl Evaluation {
    /// Every method with every classifier, in this order, and what the user should know. The partitions are number 1, 2, …
    /// of the seed; number 0 is kept to tune on.
    pub fn run(&self, subject: &Subject, runner: &mut Runner<'_>) -> Result<(Vec<Row>, Vec<String>), StudyError> {
        let mut plan = Plan::default();
        let case = plan.case(Case { subject: 0, rule: self.rule, train: self.train, seed: self.seed });
        let mut wanted = vec![];
        for (name, method) in &self.methods {
            for (classifier_name, classifier) in &self.classifiers {
                let want = plan.want(case, method, Take::All, classifier);
                let own = is_classifier(method);
                wanted.push((want, name, if own { "own" } else { classifier_name.as_str() }));
                if own {
                    break;
                }
            }
        }
        let done = runner.run(&plan, std::slice::from_ref(subject), 1..self.repeats.max(1) + 1)?;
        let row = |(want, method, classifier): &(usize, &String, &str)| Row::new(method, classifier, &done.of(*want));
        Ok((wanted.iter().map(row).collect(), done.warnings()))
    }
}
