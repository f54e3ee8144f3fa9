//! What verification promises.

use crate::common::{fixture, real};
use eigenspan_core::classify::verification::{
    Pair, Roc, RocPoint, accuracy_by_folds, cosines, cosines_of_pairs, even_folds, pairs,
};
use eigenspan_core::data::Labels;
use eigenspan_core::data::generate::Normal;
use eigenspan_core::{Error, Mat, PceParams};

fn numbers(array: &str) -> Vec<f64> {
    fixture("verification.npz", array).into_vec()
}

/// Scores in few steps, so that many are equal; those of same pairs are larger by `lead`.
fn drawn(count: usize, lead: f64, seed: u64) -> (Vec<f64>, Vec<bool>) {
    let mut random = Normal::new(seed);
    let same: Vec<bool> = (0..count).map(|_| random.uniform() < 0.4).collect();
    let scores = same.iter().map(|s| ((random.draw() + if *s { lead } else { 0.0 }) * 4.0).round()).collect();
    (scores, same)
}

#[test]
fn curve_and_folds_are_those_of_the_definitions() {
    let scores: Vec<f64> = numbers("dist").iter().map(|d| -d).collect();
    let same: Vec<bool> = numbers("same").iter().map(|s| *s == 1.0).collect();
    let fold_of: Vec<usize> = numbers("fold").iter().map(|f| *f as usize).collect();
    let roc = Roc::of(&scores, &same).unwrap();
    assert!((roc.auc() - numbers("auc")[0]).abs() < 1e-12);
    // The curve has a point with FPR = 1 − TPR = 46/300. The fixture took the mean of the two rates at the point beside it.
    assert!((roc.equal_error_rate() - 46.0 / 300.0).abs() < 1e-12);
    assert!((roc.equal_error_rate() - numbers("eer")[0]).abs() < 0.5001 / 300.0);
    let found = accuracy_by_folds(&scores, &same, &fold_of).unwrap();
    for ((fold, accuracy), threshold) in found.folds.iter().zip(numbers("acc")).zip(numbers("th")) {
        assert!((fold.accuracy - accuracy).abs() < 1e-12 && fold.threshold == -threshold);
    }
    assert!((found.mean - 0.84).abs() < 1e-12);
}

#[test]
fn the_area_is_the_chance_that_a_same_pair_scores_higher() {
    for (lead, seed) in [(0.0, 1), (1.0, 2), (-0.5, 3), (20.0, 4)] {
        let (scores, same) = drawn(300, lead, seed);
        let roc = Roc::of(&scores, &same).unwrap();
        let (mut wins, mut all) = (0.0, 0.0);
        for i in (0..300).filter(|&i| same[i]) {
            for j in (0..300).filter(|&j| !same[j]) {
                all += 1.0;
                wins += if scores[i] > scores[j] {
                    1.0
                } else if scores[i] == scores[j] {
                    0.5
                } else {
                    0.0
                };
            }
        }
        assert!((roc.auc() - wins / all).abs() < 1e-12);
        let (first, last) = (roc.points[0], roc.points[roc.points.len() - 1]);
        assert_eq!((first.false_accepts, first.true_accepts), (0.0, 0.0));
        assert_eq!((last.false_accepts, last.true_accepts), (1.0, 1.0));
        assert!(roc.points.windows(2).all(|p| p[0].threshold > p[1].threshold));
        // Turning the scores round mirrors the curve.
        let turned: Vec<f64> = scores.iter().map(|s| -s).collect();
        let other = Roc::of(&turned, &same).unwrap();
        assert!((roc.auc() + other.auc() - 1.0).abs() < 1e-12);
        assert!((roc.equal_error_rate() + other.equal_error_rate() - 1.0).abs() < 1e-12);
        let rate = roc.equal_error_rate();
        // On the curve, and on the line from (0, 1) to (1, 0).
        let on = |p: &[RocPoint]| {
            let between = |a: f64, b: f64, v: f64| a.min(b) - 1e-12 <= v && v <= a.max(b) + 1e-12;
            let area = (p[1].false_accepts - p[0].false_accepts) * (1.0 - rate - p[0].true_accepts)
                - (p[1].true_accepts - p[0].true_accepts) * (rate - p[0].false_accepts);
            between(p[0].false_accepts, p[1].false_accepts, rate)
                && between(p[0].true_accepts, p[1].true_accepts, 1.0 - rate)
                && area.abs() < 1e-12
        };
        assert!(roc.points.windows(2).any(on), "{rate}");
    }
}

#[test]
fn perfect_scores_make_no_error() {
    let (scores, same) = ([0.9, 0.8, 0.3, 0.1], [true, true, false, false]);
    let roc = Roc::of(&scores, &same).unwrap();
    assert_eq!((roc.auc(), roc.equal_error_rate(), roc.true_accepts_at(0.0)), (1.0, 0.0, 1.0));
    let found = accuracy_by_folds(&scores, &same, &[0, 1, 0, 1]).unwrap();
    // Without 0.8 the threshold of the first fold would be 0.8: it has seen no other.
    assert_eq!(found.folds.iter().map(|fold| fold.threshold).collect::<Vec<_>>(), [0.8, 0.9]);
    assert_eq!(found.folds.iter().map(|fold| fold.accuracy).collect::<Vec<_>>(), [1.0, 0.5]);
    assert!((found.mean - 0.75).abs() < 1e-15 && (found.standard_error - 0.25).abs() < 1e-15);
}

#[test]
fn the_fold_that_is_judged_has_no_say_in_its_threshold() {
    let (scores, same) = drawn(200, 1.0, 5);
    let fold_of = even_folds(&same, 4, 1).unwrap();
    let found = accuracy_by_folds(&scores, &same, &fold_of).unwrap();
    let mut other = scores.clone();
    (0..200).filter(|&i| fold_of[i] == 2).for_each(|i| other[i] = -100.0 - i as f64);
    assert_eq!(accuracy_by_folds(&other, &same, &fold_of).unwrap().folds[2].threshold, found.folds[2].threshold);
    for fold in 0..4 {
        let sizes = |kind: bool| (0..200).filter(|&i| fold_of[i] == fold && same[i] == kind).count() as f64;
        let all = |kind: bool| same.iter().filter(|s| **s == kind).count() as f64 / 4.0;
        assert!((sizes(true) - all(true)).abs() <= 1.0 && (sizes(false) - all(false)).abs() <= 1.0);
    }
}

#[test]
fn cosines_are_cosines_of_rows_and_of_pairs() {
    let mut random = Normal::new(1);
    let (a, b) = (Mat::from_fn(5, 7, |_, _| random.draw()), Mat::from_fn(5, 7, |_, _| random.draw()));
    let found = cosines(&a, &b).unwrap();
    for i in 0..5 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let want = dot(a.row(i), b.row(i)) / (dot(a.row(i), a.row(i)) * dot(b.row(i), b.row(i))).sqrt();
        assert!((found[i] - want).abs() < 1e-14);
    }
    let far = Mat::from_fn(2, 3, |i, j| if i == 0 { 0.0 } else { [1e200, -1e200, 3.0][j] });
    assert_eq!(cosines(&far, &far).unwrap()[0], 0.0, "zero is like nothing");
    assert!((cosines(&far, &far).unwrap()[1] - 1.0).abs() < 1e-15, "no overflow");
    let pair = [Pair { first: 0, second: 3, same: true }];
    assert_eq!(cosines_of_pairs(&a, &pair).unwrap(), cosines(&a.select_rows(&[0]), &a.select_rows(&[3])).unwrap());
}

#[test]
fn pairs_are_all_of_a_class_and_as_many_of_two() {
    // Many classes, where different pairs are drawn, and two, where they are dealt from all.
    for classes in [10, 2] {
        let labels = Labels::from_numbers(&(0..60).map(|i| i % classes).collect::<Vec<_>>());
        let found = pairs(&labels, 1);
        let each = 60 / classes as usize;
        let same = classes as usize * each * (each - 1) / 2;
        assert_eq!(found.iter().filter(|pair| pair.same).count(), same);
        assert_eq!(found.iter().filter(|pair| !pair.same).count(), same.min(60 * 59 / 2 - same));
        assert!(found.iter().all(|p| p.first < p.second && p.same == (labels.of[p.first] == labels.of[p.second])));
        let mut once: Vec<_> = found.iter().map(|p| (p.first, p.second)).collect();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), found.len());
        assert_eq!(found, pairs(&labels, 1));
        assert_ne!(found, pairs(&labels, 2));
    }
    assert_eq!(pairs(&Labels::from_numbers(&[1, 2, 3]), 0), []);
    assert_eq!(pairs(&Labels::from_numbers(&[]), 0), []);
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert_eq!(Roc::of(&[1.0], &[]), Err(Error::LabelMismatch { samples: 1, got: 0 }));
    for same in [vec![true; 3], vec![false; 3], vec![]] {
        assert!(matches!(Roc::of(&vec![0.5; same.len()], &same), Err(Error::Parameter { name: "pairs", .. })));
    }
    assert!(matches!(Roc::of(&[0.1, f64::NAN], &[true, false]), Err(Error::NotFinite { row: 1, .. })));
    let (scores, same) = drawn(20, 1.0, 1);
    for folds in [vec![0; 20], vec![1; 20], vec![usize::MAX - 1; 20]] {
        assert!(matches!(accuracy_by_folds(&scores, &same, &folds), Err(Error::Parameter { name: "folds", .. })));
    }
    assert!(matches!(accuracy_by_folds(&scores, &same, &[0, 1]), Err(Error::LabelMismatch { .. })));
    assert!(even_folds(&same, 1, 0).is_err() && even_folds(&same, 21, 0).is_err());
    let (a, b) = (Mat::<f64>::zeros(2, 3), Mat::<f64>::zeros(2, 4));
    assert!(matches!(cosines(&a, &b), Err(Error::FeatureMismatch { .. })));
    assert!(matches!(cosines(&a, &Mat::<f64>::zeros(1, 3)), Err(Error::Parameter { name: "second", .. })));
    assert!(cosines_of_pairs(&a, &[Pair { first: 0, second: 2, same: true }]).is_err());
}

#[test]
fn faces_of_people_never_seen_are_verified_better_by_pce_than_by_pixels() {
    let Some(data) = real("exyaleb_54x48_first58.npz") else { return };
    let labels = data.labels.clone().unwrap();
    let some = |people: std::ops::Range<usize>| {
        let rows: Vec<usize> = (0..labels.of.len()).filter(|&i| people.contains(&labels.of[i]) && i % 4 == 0).collect();
        data.select_rows(&rows).unwrap()
    };
    let (train, test) = (some(0..26), some(26..38));
    let model = PceParams::default().fit(&train.samples).unwrap();
    let pairs = pairs(test.labels.as_ref().unwrap(), 1);
    let same: Vec<bool> = pairs.iter().map(|pair| pair.same).collect();
    let area = |scores: Vec<f64>| Roc::of(&scores, &same).unwrap().auc();
    let pixels = area(cosines_of_pairs(&test.samples, &pairs).unwrap());
    let features = area(cosines_of_pairs(&model.transform(&test.samples).unwrap(), &pairs).unwrap());
    assert!(features > pixels + 0.1, "{features} against {pixels}");
}
