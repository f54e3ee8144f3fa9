//! What corruptions promise.

use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{Corruption, ImageShape, Samples};
use eigenspan_core::{Error, Mat};

const IMAGE: ImageShape = ImageShape { height: 20, width: 30 };

fn images(n: usize) -> Mat {
    let mut random = Normal::new(1);
    Mat::from_fn(n, 600, |_, _| 40.0 + 150.0 * random.uniform())
}

fn every() -> [Corruption; 5] {
    ["gaussian:sd=25", "gaussian:relative=0.1", "rpc:0.3", "block:0.2", "salt-pepper:0.1"].map(|t| t.parse().unwrap())
}

fn apply(corruption: Corruption, x: &Mat, share: f64, seed: u64, repeat: u64) -> (Mat, Vec<usize>) {
    let done = corruption.apply(x, Some(IMAGE), share, seed, repeat).unwrap();
    (done.samples, done.rows)
}

#[test]
fn a_share_of_the_samples_is_spoilt_and_the_others_are_untouched() {
    let x = images(40);
    for corruption in every() {
        for (share, count) in [(0.0, 0), (0.5, 20), (0.26, 10), (1.0, 40)] {
            let (corrupted, rows) = apply(corruption, &x, share, 3, 0);
            assert!(rows.len() == count && rows.is_sorted());
            assert!((0..40).all(|i| (corrupted.row(i) != x.row(i)) == rows.contains(&i)), "{corruption}");
            assert!(corrupted.as_slice().iter().all(|v| (0.0..=255.0).contains(v)));
        }
    }
}

#[test]
fn a_sample_is_spoilt_the_same_whatever_stands_beside_it() {
    let x = images(12);
    for corruption in every() {
        let (all, _) = apply(corruption, &x, 1.0, 3, 2);
        let (first, _) = apply(corruption, &x.select_rows(&[0, 1, 2, 3]), 1.0, 3, 2);
        assert_eq!(first.as_slice(), all.select_rows(&[0, 1, 2, 3]).as_slice());
        let (half, rows) = apply(corruption, &x, 0.5, 3, 2);
        assert!(rows.iter().all(|&i| half.row(i) == all.row(i)));
        for (seed, repeat) in [(4, 2), (3, 1)] {
            let (other, _) = apply(corruption, &x, 1.0, seed, repeat);
            assert!((0..12).all(|i| other.row(i) != all.row(i)));
        }
        assert!((1..12).all(|i| {
            let change = |i: usize| (0..600).map(|j| all.at(i, j) - x.at(i, j)).collect::<Vec<_>>();
            change(i) != change(0)
        }));
    }
}

/// Mean and deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt())
}

#[test]
fn noise_has_the_deviation_that_was_asked_for() {
    // 40 samples of 600: the mean of noise of deviation 10 is known to 0.065, its deviation to 0.046.
    let grey = Mat::from_fn(40, 600, |_, _| 100.0);
    let (corrupted, _) = apply(Corruption::Gaussian { sd: 10.0 }, &grey, 1.0, 1, 0);
    let (mean, deviation) = moments(corrupted.as_slice());
    assert!((mean - 100.0).abs() < 0.3 && (deviation - 10.0).abs() < 0.2, "{mean} {deviation}");
    let (corrupted, _) = apply(Corruption::Relative { rho: 0.1 }, &grey, 1.0, 1, 0);
    let (mean, deviation) = moments(corrupted.as_slice());
    assert!((mean - 100.0).abs() < 0.3 && (deviation - 10.0).abs() < 0.2, "{mean} {deviation}");
    let dark = Mat::<f64>::zeros(3, 600);
    assert_eq!(apply(Corruption::Relative { rho: 0.5 }, &dark, 1.0, 1, 0).0, dark, "what is black stays black");
    // Clipped, not wrapped: half of the noise on black is lost.
    let (corrupted, _) = apply(Corruption::Gaussian { sd: 10.0 }, &dark, 1.0, 1, 0);
    let black = corrupted.as_slice().iter().filter(|v| **v == 0.0).count();
    assert!((800..1000).contains(&black), "{black} of 1800");
}

#[test]
fn shares_of_pixels_are_counts_and_their_values_what_they_should_be() {
    let x = images(30);
    let changed =
        |corrupted: &Mat, i: usize| (0..600).filter(|&j| corrupted.at(i, j) != x.at(i, j)).collect::<Vec<_>>();
    let (corrupted, _) = apply(Corruption::Pixels { share: 0.3 }, &x, 1.0, 1, 0);
    let mut values = vec![];
    for i in 0..30 {
        let places = changed(&corrupted, i);
        assert_eq!(places.len(), 180);
        let largest = x.row(i).iter().copied().fold(0.0, f64::max);
        values.extend(places.iter().map(|&j| corrupted.at(i, j) / largest));
    }
    // Uniform numbers: 5400 of them have mean 1/2 to 0.004 and deviation 0.2887 to 0.002.
    let (mean, deviation) = moments(&values);
    assert!(values.iter().all(|v| *v < 1.0) && (mean - 0.5).abs() < 0.02 && (deviation - 0.2887).abs() < 0.01);
    let (corrupted, _) = apply(Corruption::SaltPepper { share: 0.1 }, &x, 1.0, 1, 0);
    let mut salt = 0;
    for i in 0..30 {
        let places = changed(&corrupted, i);
        assert!(places.len() == 60 && places.iter().all(|&j| [0.0, 255.0].contains(&corrupted.at(i, j))));
        salt += places.iter().filter(|&&j| corrupted.at(i, j) == 255.0).count();
    }
    assert!((800..1000).contains(&salt), "{salt} of 1800");
}

#[test]
fn blocks_are_rectangles_inside_the_image_that_lie_anywhere() {
    let x = images(200);
    let (corrupted, _) = apply(Corruption::Block { share: 0.2 }, &x, 1.0, 1, 0);
    let mut corners = std::collections::BTreeSet::new();
    for i in 0..200 {
        let inside: Vec<usize> = (0..600).filter(|&j| corrupted.at(i, j) != x.at(i, j)).collect();
        let (rows, columns): (Vec<usize>, Vec<usize>) = inside.iter().map(|j| (j / 30, j % 30)).unzip();
        let span = |v: &[usize]| (*v.iter().min().unwrap(), v.iter().max().unwrap() - v.iter().min().unwrap() + 1);
        let ((top, tall), (left, wide)) = (span(&rows), span(&columns));
        // 0.2 · 20 · 30 = 120 = 9 · 13.3
        assert_eq!((tall, wide, inside.len()), (9, 13, 117));
        corners.insert((top, left));
    }
    // 12 · 18 = 216 places, 200 draws: 130 of them are expected.
    assert!(corners.len() > 100, "{}", corners.len());
    let whole = apply(Corruption::Block { share: 1.0 }, &x, 1.0, 1, 0).0;
    assert!(whole.as_slice().iter().zip(x.as_slice()).all(|(a, b)| a != b));
    assert_eq!(apply(Corruption::Block { share: 0.0 }, &x, 1.0, 1, 0).0, x);
}

#[test]
fn the_spoilt_half_is_not_the_training_half_of_the_same_seed() {
    let x = images(100);
    let rows = apply(Corruption::Gaussian { sd: 1.0 }, &x, 0.5, 7, 3).1;
    let train = eigenspan_core::split::Split::plain(100, eigenspan_core::split::Train::Count(50), 7, 3).unwrap().train;
    let both = rows.iter().filter(|row| train.contains(row)).count();
    assert!((13..38).contains(&both), "{both} of 50: 25 with a deviation of 2.5 where they are independent");
}

#[test]
fn bytes_and_single_numbers_are_spoilt_as_what_they_stand_for() {
    let bytes = Mat::from_fn(5, 600, |i, j| ((i * 31 + j * 7) % 256) as u8);
    let same = Mat::from_fn(5, 600, |i, j| f64::from(bytes.at(i, j)));
    for corruption in every() {
        let of = |x: Samples<'_>| corruption.apply(x, Some(IMAGE), 0.6, 2, 0).unwrap();
        assert_eq!(of((&bytes).into()), of((&same).into()));
    }
}

#[test]
fn what_is_written_is_read_again_and_nonsense_is_refused() {
    for corruption in every() {
        assert_eq!(corruption.to_string().parse(), Ok(corruption));
    }
    assert_eq!(Corruption::Relative { rho: 0.1 }.to_string(), "gaussian:relative=0.1");
    for bad in [
        "",
        "gaussian",
        "gaussian:25",
        "gaussian:sd=x",
        "rpc:1.5",
        "rpc:-0.1",
        "block:NaN",
        "salt:0.1",
        "rpc:sd=0.1",
        "gaussian:sd=-1",
        "gaussian:sd=inf",
    ] {
        let error = bad.parse::<Corruption>().unwrap_err();
        assert!(error.to_string().contains("write gaussian:sd=25"), "{bad}");
    }
    let x = images(3);
    let block = Corruption::Block { share: 0.5 };
    assert_eq!(block.apply(&x, None, 1.0, 0, 0), Err(Error::NoImageShape));
    assert!(Error::NoImageShape.hint().is_some());
    let wrong = Some(ImageShape { height: 7, width: 7 });
    assert!(matches!(block.apply(&x, wrong, 1.0, 0, 0), Err(Error::Parameter { name: "image", .. })));
    assert!(matches!(block.apply(&x, Some(IMAGE), 1.1, 0, 0), Err(Error::Parameter { .. })));
    assert!(matches!(
        Corruption::Gaussian { sd: -1.0 }.apply(&x, None, 1.0, 0, 0),
        Err(Error::Parameter { name: "sd", .. })
    ));
    let nan = Mat::from_fn(2, 3, |i, j| if (i, j) == (1, 2) { f64::NAN } else { 0.0 });
    assert!(matches!(
        Corruption::Pixels { share: 0.1 }.apply(&nan, None, 1.0, 0, 0),
        Err(Error::NotFinite { row: 1, column: 2, .. })
    ));
    let none = Mat::<f64>::zeros(0, 3);
    assert_eq!(Corruption::Pixels { share: 0.1 }.apply(&none, None, 1.0, 0, 0).unwrap().rows, Vec::<usize>::new());
}
