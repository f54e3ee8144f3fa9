//! Methods and classifiers on labelled data: how often they are right on samples they have not seen.

use eigenspan_core::classify::Classifier;
use eigenspan_core::data::{Corruption, Dataset, ImageShape};
use eigenspan_core::registry::Method;

use crate::StudyError;
use crate::cell::{SplitRule, Take, TrainSize, is_classifier};
use crate::plan::{Case, Plan};
use crate::results::Row;
use crate::run::{Runner, Subject, corrupted};
use crate::settings;

/// What is to be compared, and on how many partitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Methods with the names they get in the result.
    pub methods: Vec<(String, Method)>,
    /// Classifiers with their names.
    pub classifiers: Vec<(String, Classifier)>,
    /// How samples are split.
    pub rule: SplitRule,
    /// How many are to train on.
    pub train: TrainSize,
    /// Partitions.
    pub repeats: u64,
    /// The seed of the partitions.
    pub seed: u64,
}

/// The same as a person writes it: methods by name with their settings, classifiers by name.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// `pce`, `npe:neighbours=49,dim=300`.
    pub methods: Vec<String>,
    /// `nn`, `svm`.
    pub classifiers: Vec<String>,
    /// How samples are split.
    pub split: SplitRule,
    /// How many are to train on.
    pub train: TrainSize,
    /// Partitions.
    pub repeats: u64,
    /// The seed of the partitions and of the corruption.
    pub seed: u64,
    /// Whether settings are those of the paper's experiments, where it had some.
    pub as_published: bool,
    /// How samples are corrupted before they are split.
    pub corrupt: Option<Corruption>,
    /// How many of them.
    pub corrupt_share: f64,
    /// The size of the images that samples are, where the data do not say.
    pub image: Option<ImageShape>,
}

impl Request {
    /// What is to be compared; names and settings that do not exist are refused.
    pub fn evaluation(&self) -> Result<Evaluation, StudyError> {
        let method = |text: &String| Ok((text.clone(), settings::method_of_text(text, self.as_published)?));
        let classifier = |name: &String| Ok((name.clone(), settings::classifier(name, self.as_published)?));
        Ok(Evaluation {
            methods: self.methods.iter().map(method).collect::<Result<_, StudyError>>()?,
            classifiers: self.classifiers.iter().map(classifier).collect::<Result<_, StudyError>>()?,
            rule: self.split,
            train: self.train,
            repeats: self.repeats,
            seed: self.seed,
        })
    }

    /// The data, corrupted where that is requested.
    pub fn corrupted(&self, mut data: Dataset) -> Result<Dataset, StudyError> {
        data.image = self.image.or(data.image);
        let Some(corruption) = self.corrupt else { return Ok(data) };
        match corrupted(&data, corruption, self.corrupt_share, self.seed) {
            Ok((data, _)) => Ok(data),
            Err(source) => Err(StudyError::Method { doing: corruption.to_string(), source }),
        }
    }
}

impl Evaluation {
    /// Every method with every classifier, in this order, and what the user should know. The partitions are number 1,
    /// 2, … of the seed; number 0 is kept to tune on.
    pub fn run(&self, subject: &Subject, runner: &mut Runner<'_>) -> Result<(Vec<Row>, Vec<String>), StudyError> {
        let mut plan = Plan::default();
        let case = plan.case(Case { subject: 0, rule: self.rule, train: self.train, seed: self.seed });
        let mut requested = vec![];
        for (name, method) in &self.methods {
            for (classifier_name, classifier) in &self.classifiers {
                let want = plan.want(case, method, Take::All, classifier);
                let own = is_classifier(method);
                requested.push((want, name, if own { "own" } else { classifier_name.as_str() }));
                if own {
                    break;
                }
            }
        }
        let done = runner.run(&plan, std::slice::from_ref(subject), 1..self.repeats.max(1) + 1, false)?;
        let row = |(want, method, classifier): &(usize, &String, &str)| Row::new(method, classifier, &done.of(*want));
        Ok((requested.iter().map(row).collect(), done.warnings()))
    }
}
