//! Random splits of samples into training and test sets.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | n, n_c | | samples, samples of class c |
//! | s | [`Train::Share`] | the share of training samples |
//!
//! [`Split::plain`] takes the first entries of a random permutation of all samples, whatever their class: this is how
//! the partitions of the paper's tables were made, and a class may have no training sample at all.
//! [`Split::stratified`] takes the same count or the same share of every class: s·n_c of each, rounded so that the sum
//! is s·n rounded, classes with the largest fractions rounded up first, of equal ones the first.
//!
//! The order of the permutation is irrelevant, so both sets are sorted. Permutations are Fisher and Yates's, with
//! numbers of ChaCha8 that are uniform without remainder (a number from the incomplete last interval is drawn again).
//! The seed is ChaCha's key and the repeat its stream: repeats are as independent as seeds, and repeat 7 does not
//! depend on whether the six before were computed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::Error;
use crate::data::Labels;

/// The number of training samples.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Train {
    /// This count; of every class, in a stratified split.
    Count(usize),
    /// This share of them.
    Share(f64),
}

/// The training samples and the test samples, by index, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Training samples.
    pub train: Vec<usize>,
    /// Test samples.
    pub test: Vec<usize>,
}

impl Split {
    /// A split that ignores classes.
    pub fn plain(n: usize, train: Train, seed: u64, repeat: u64) -> Result<Self, Error> {
        let count = train.check()?.of(n);
        if count == 0 || count > n {
            let expected = "at least one sample and at most all of them";
            return Err(Error::Parameter { name: "train", expected, got: count as f64 });
        }
        let mut all: Vec<usize> = (0..n).collect();
        shuffle(&mut all, count, &mut stream(seed, repeat));
        Ok(Self::of(n, &all[..count]))
    }

    /// The same count, or the same share, of every class. Classes without samples are skipped.
    pub fn stratified(labels: &Labels, train: Train, seed: u64, repeat: u64) -> Result<Self, Error> {
        if labels.of.iter().any(|&class| class >= labels.names.len()) {
            return Err(Error::Model("a class has no name".into()));
        }
        let mut classes: Vec<Vec<usize>> = vec![vec![]; labels.names.len()];
        labels.of.iter().enumerate().for_each(|(i, &class)| classes[class].push(i));
        let counts = match train.check()? {
            Train::Share(share) => apportion(&labels.counts(), share),
            Train::Count(asked) => {
                let small = (0..classes.len()).find(|&c| !classes[c].is_empty() && classes[c].len() < asked);
                if let Some(c) = small {
                    return Err(Error::ClassTooSmall { class: labels.names[c].clone(), asked, got: classes[c].len() });
                }
                classes.iter().map(|class| asked.min(class.len())).collect()
            }
        };
        if counts.iter().all(|count| *count == 0) {
            return Err(Error::Parameter { name: "train", expected: "enough for one sample", got: 0.0 });
        }
        let mut random = stream(seed, repeat);
        let mut train = vec![];
        for (class, count) in classes.iter_mut().zip(counts) {
            shuffle(class, count, &mut random);
            train.extend(&class[..count]);
        }
        Ok(Self::of(labels.of.len(), &train))
    }

    fn of(n: usize, train: &[usize]) -> Self {
        let mut trained = vec![false; n];
        train.iter().for_each(|&i| trained[i] = true);
        let (train, test) = (0..n).partition(|&i| trained[i]);
        Self { train, test }
    }
}

/// The fold, from 0 on, of each sample: every class is assigned evenly in turn, and the next class continues where the
/// last one ended, so that folds differ by at most one sample.
pub fn folds(labels: &Labels, folds: usize, seed: u64) -> Result<Vec<usize>, Error> {
    if folds == 0 {
        return Err(Error::Parameter { name: "folds", expected: "at least 1", got: 0.0 });
    }
    let mut order: Vec<usize> = (0..labels.of.len()).collect();
    shuffle(&mut order, labels.of.len(), &mut stream(seed, 0));
    order.sort_by_key(|&i| labels.of[i]); // stable: the order within a class stays random
    let mut of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(turn, &i)| of[i] = turn % folds);
    Ok(of)
}

impl Train {
    fn check(self) -> Result<Self, Error> {
        match self {
            Self::Share(share) if !(share > 0.0 && share <= 1.0) => {
                Err(Error::Parameter { name: "train", expected: "a share above 0 and up to 1", got: share })
            }
            Self::Count(0) => Err(Error::Parameter { name: "train", expected: "at least 1", got: 0.0 }),
            other => Ok(other),
        }
    }

    /// Of n samples.
    fn of(self, n: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Share(share) => (share * n as f64).round() as usize,
        }
    }
}

/// A share of every class, in whole samples.
fn apportion(sizes: &[usize], share: f64) -> Vec<usize> {
    let quotas: Vec<f64> = sizes.iter().map(|size| share * *size as f64).collect();
    let mut counts: Vec<usize> = quotas.iter().map(|quota| quota.floor() as usize).collect();
    let total = Train::Share(share).of(sizes.iter().sum());
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&c| counts[c] < sizes[c]).collect();
    order.sort_by(|&a, &b| quotas[b].fract().total_cmp(&quotas[a].fract()).then(a.cmp(&b)));
    let missing = total.saturating_sub(counts.iter().sum());
    order.into_iter().take(missing).for_each(|c| counts[c] += 1);
    counts
}

fn stream(seed: u64, repeat: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(repeat);
    random
}

/// Moves a random choice of `count` values to the front, in random order.
pub(crate) fn shuffle(values: &mut [usize], count: usize, random: &mut ChaCha8Rng) {
    let n = values.len();
    for i in 0..count {
        let other = i + below((n - i) as u64, random) as usize;
        values.swap(i, other);
    }
}

/// A uniform number below `bound`.
pub(crate) fn below(bound: u64, random: &mut ChaCha8Rng) -> u64 {
    // 2⁶⁴ mod bound: the number of the largest values that form an incomplete interval.
    let left_over = bound.wrapping_neg() % bound;
    loop {
        let bits = random.next_u64();
        if bits <= u64::MAX - left_over {
            return bits % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(of: &[usize], classes: usize) -> Labels {
        Labels { names: (0..classes).map(|c| format!("c{c}")).collect(), of: of.to_vec() }
    }

    fn complete(split: &Split, n: usize) {
        let mut all = [split.train.clone(), split.test.clone()].concat();
        assert!(split.train.is_sorted() && split.test.is_sorted());
        all.sort_unstable();
        assert_eq!(all, (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn a_seed_and_a_repeat_are_one_split_for_ever() {
        let split = |seed, repeat| Split::plain(12, Train::Count(5), seed, repeat).unwrap().train;
        assert_eq!(split(7, 0), [1, 3, 4, 6, 7]);
        assert_eq!(split(7, 1), [0, 6, 7, 9, 10]);
        assert_eq!(split(8, 0), [0, 3, 4, 5, 10]);
        let classes = labels(&[0, 1, 0, 1, 0, 1, 0, 1, 2, 2, 2, 2], 3);
        assert_eq!(Split::stratified(&classes, Train::Count(2), 7, 0).unwrap().train, [0, 1, 3, 6, 8, 11]);
    }

    #[test]
    fn every_sample_is_in_one_part_and_repeats_differ() {
        for (n, train, count) in [(100, Train::Count(37), 37), (9, Train::Share(0.5), 5), (4, Train::Share(1.0), 4)] {
            let split = Split::plain(n, train, 3, 0).unwrap();
            assert_eq!(split.train.len(), count);
            complete(&split, n);
        }
        let trains: Vec<_> = (0..10).map(|r| Split::plain(100, Train::Count(50), 3, r).unwrap().train).collect();
        assert!((0..10).all(|i| (0..i).all(|j| trains[i] != trains[j])));
    }

    #[test]
    fn every_set_of_samples_is_as_likely_as_the_others() {
        // All C(6, 3) = 20 sets, 4000 repeats; χ² with 19 degrees of freedom exceeds 43.8 once in a thousand.
        let mut sets = std::collections::BTreeMap::new();
        for repeat in 0..4000 {
            *sets.entry(Split::plain(6, Train::Count(3), 1, repeat).unwrap().train).or_insert(0u32) += 1;
        }
        let chi: f64 = sets.values().map(|&count| (f64::from(count) - 200.0).powi(2) / 200.0).sum();
        assert!(sets.len() == 20 && chi < 43.8, "{chi}");
        // And all 24 orders of 4: 23 degrees of freedom, 49.7.
        let mut orders = std::collections::BTreeMap::new();
        for repeat in 0..4800 {
            let mut values = [0, 1, 2, 3];
            shuffle(&mut values, 4, &mut stream(2, repeat));
            *orders.entry(values).or_insert(0u32) += 1;
        }
        let chi: f64 = orders.values().map(|&count| (f64::from(count) - 200.0).powi(2) / 200.0).sum();
        assert!(orders.len() == 24 && chi < 49.7, "{chi}");
    }

    #[test]
    fn numbers_below_a_bound_have_no_favourites() {
        // With 3·2⁶² the first third would be twice as likely if the remainder of 64 bits were used.
        let (bound, mut random) = (3 << 62, stream(5, 0));
        let first = (0..3000).filter(|_| below(bound, &mut random) < 1 << 62).count();
        assert!((850..1150).contains(&first), "{first} of 3000, the deviation is 26");
    }

    #[test]
    fn every_class_gives_its_part() {
        // Sizes 10, 7, 3, none, 1.
        let of = [vec![0; 10], vec![1; 7], vec![2; 3], vec![4; 1]].concat();
        let classes = labels(&of, 5);
        let counts = |split: &Split| {
            complete(split, 21);
            labels(&split.train.iter().map(|&i| of[i]).collect::<Vec<_>>(), 5).counts()
        };
        for repeat in 0..5 {
            let split = |train| Split::stratified(&classes, train, 1, repeat).unwrap();
            assert_eq!(counts(&split(Train::Count(1))), [1, 1, 1, 0, 1]);
            // Quotas 5, 3.5, 1.5, 0, 0.5; ⌊10.5⌉ = 11 samples, so the first two of three equal fractions are rounded
            // up.
            assert_eq!(counts(&split(Train::Share(0.5))), [5, 4, 2, 0, 0]);
            assert_eq!(counts(&split(Train::Share(1.0))), [10, 7, 3, 0, 1]);
        }
        assert_eq!(apportion(&[100, 100], 0.29), [29, 29], "0.29 · 100 is below 29 in floating point");
        let one = |repeat| Split::stratified(&classes, Train::Share(0.5), 1, repeat).unwrap();
        assert_ne!(one(0), one(1));
    }

    #[test]
    fn folds_take_every_class_evenly_and_differ_by_a_sample_at_most() {
        let of = [vec![0; 11], vec![1; 7], vec![3; 2]].concat();
        let classes = labels(&of, 4);
        let dealt = folds(&classes, 3, 5).unwrap();
        for class in [0, 1, 3] {
            let counts: Vec<usize> =
                (0..3).map(|fold| (0..20).filter(|&i| of[i] == class && dealt[i] == fold).count()).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "class {class}: {counts:?}");
        }
        let mut sizes = [0; 3];
        dealt.iter().for_each(|&fold| sizes[fold] += 1);
        assert_eq!(sizes, [7, 7, 6]);
        assert_eq!(folds(&classes, 3, 5).unwrap(), dealt);
        assert_ne!(folds(&classes, 3, 6).unwrap(), dealt);
        assert!(folds(&classes, 0, 5).is_err());
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let parameter = |result: Result<Split, Error>| matches!(result, Err(Error::Parameter { name: "train", .. }));
        let trains = [Train::Count(0), Train::Count(6), Train::Share(0.0), Train::Share(1.1), Train::Share(f64::NAN)];
        assert!(trains.into_iter().all(|train| parameter(Split::plain(5, train, 0, 0))));
        assert!(
            parameter(Split::plain(0, Train::Share(0.5), 0, 0)) && parameter(Split::plain(5, Train::Share(0.01), 0, 0))
        );
        let classes = labels(&[0, 0, 0, 1, 1], 2);
        let small = Split::stratified(&classes, Train::Count(3), 0, 0);
        assert_eq!(small, Err(Error::ClassTooSmall { class: "c1".into(), asked: 3, got: 2 }));
        assert!(parameter(Split::stratified(&labels(&[], 3), Train::Count(1), 0, 0)));
        assert!(parameter(Split::stratified(&classes, Train::Share(-0.5), 0, 0)));
        assert!(Split::stratified(&labels(&[0, 2], 2), Train::Count(1), 0, 0).is_err());
    }
}
