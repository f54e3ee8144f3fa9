//! From what is requested to the fewest fits that give it.

use eigenspan_core::classify::Classifier;
use eigenspan_core::registry::Method;
use eigenspan_core::{Dim, Lambda, Weights};

use crate::cell::{Cell, Partition, Reading, SplitRule, Take, TrainSize, is_classifier};

/// Data that are split in one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Which of the data.
    pub subject: usize,
    /// How they are split.
    pub rule: SplitRule,
    /// How many are to train on.
    pub train: TrainSize,
    /// The seed of the partitions.
    pub seed: u64,
}

/// One fit of every partition of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub case: usize,
    /// What is fitted; of PCE at a given λ, the one with the largest that is requested.
    pub method: Method,
    pub readings: Vec<Reading>,
}

/// Where a number that is requested is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub group: usize,
    pub reading: usize,
    pub score: usize,
}

/// What is to be fitted, and where every number that is requested will be found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    pub(crate) cases: Vec<Case>,
    pub(crate) groups: Vec<Group>,
    pub(crate) places: Vec<Place>,
}

impl Plan {
    /// Adds a case and gives its number.
    pub fn case(&mut self, case: Case) -> usize {
        self.cases.push(case);
        self.cases.len() - 1
    }

    /// Adds what is requested, and gives the number by which it is found afterwards. A method that is a classifier is its
    /// own judge.
    pub fn want(&mut self, case: usize, method: &Method, take: Take, classifier: &Classifier) -> usize {
        let (method, take) = match lambda_of(method) {
            Some(lambda) if take == Take::All => (method.clone(), Take::Lambda(lambda)),
            _ => (method.clone(), take),
        };
        let same = |group: &Group| group.case == case && fits_together(&group.method, &method);
        let group = self.groups.iter().position(same).unwrap_or_else(|| {
            self.groups.push(Group { case, method: method.clone(), readings: vec![] });
            self.groups.len() - 1
        });
        let found = &mut self.groups[group];
        if lambda_of(&method) > lambda_of(&found.method) {
            found.method = method;
        }
        let reading = found.readings.iter().position(|reading| reading.take == take).unwrap_or_else(|| {
            found.readings.push(Reading { take, classifiers: vec![] });
            found.readings.len() - 1
        });
        let own = is_classifier(&found.method);
        let classifiers = &mut found.readings[reading].classifiers;
        let score = classifiers.iter().position(|other| other == classifier).unwrap_or_else(|| {
            if !own {
                classifiers.push(classifier.clone());
            }
            classifiers.len().saturating_sub(1)
        });
        self.places.push(Place { group, reading, score });
        self.places.len() - 1
    }

    /// The cell of a group on one partition.
    pub(crate) fn cell(&self, group: usize, repeat: u64) -> Cell {
        let Group { case, method, readings } = &self.groups[group];
        let Case { rule, train, seed, .. } = self.cases[*case];
        let partition = Partition { rule, train, seed, repeat };
        Cell { partition, method: method.clone(), readings: readings.clone() }
    }
}

/// Whether one fit serves both: the same settings, but for the λ of PCE with the weights of the paper.
fn fits_together(one: &Method, other: &Method) -> bool {
    match (one, other) {
        (Method::Pce(one), Method::Pce(other)) if lambda_of(&Method::Pce(*one)).is_some() => {
            let mut same = *one;
            same.lambda = other.lambda;
            same == *other && lambda_of(&Method::Pce(*other)).is_some()
        }
        _ => one == other,
    }
}

/// The λ at which a fit at any larger λ can be read.
fn lambda_of(method: &Method) -> Option<f64> {
    match method {
        Method::Pce(params) if params.dim == Dim::Auto && params.weights == Weights::Hard => match params.lambda {
            Lambda::Fixed(lambda) => Some(lambda),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{classifier, method_of_text};

    #[test]
    fn all_lambdas_share_a_fit_and_nothing_else_does() {
        let mut plan = Plan::default();
        let random = SplitRule::Random;
        let case = plan.case(Case { subject: 0, rule: random, train: TrainSize::Share(0.5), seed: 1 });
        let (nn, cosine) = (classifier("nn", false).unwrap(), classifier("nn-cosine", false).unwrap());
        let mut want =
            |text: &str, classifier| plan.want(case, &method_of_text(text, false).unwrap(), Take::All, classifier);
        for (text, classifier) in [
            ("pce:lambda=5", &nn),
            ("pce:lambda=50", &cosine),
            ("pce:lambda=5", &cosine),
            ("pce:lambda=7,rank_rule=released", &nn),
            ("pce", &nn),
            ("pce:dim=9", &nn),
            ("npe:neighbours=9", &nn),
            ("npe:neighbours=3", &nn),
            ("npe:neighbours=9", &cosine),
        ] {
            want(text, classifier);
        }
        assert_eq!(plan.groups.len(), 6);
        assert_eq!(lambda_of(&plan.groups[0].method), Some(50.0));
        let takes: Vec<_> = plan.groups[0].readings.iter().map(|reading| reading.take).collect();
        assert_eq!(takes, [Take::Lambda(5.0), Take::Lambda(50.0)]);
        assert_eq!(plan.groups[0].readings[0].classifiers, [nn, cosine]);
        assert_eq!(plan.places[2], Place { group: 0, reading: 0, score: 1 });
        assert_eq!(plan.places[8], Place { group: 4, reading: 0, score: 1 });
    }
}
