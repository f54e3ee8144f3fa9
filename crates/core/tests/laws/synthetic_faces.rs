//! What the synthetic faces promise.

use std::num::NonZero;

use eigenspan_core::classify::accuracy;
use eigenspan_core::classify::nearest_neighbour::NearestNeighbourParams;
use eigenspan_core::data::{Dataset, Disguise, ImageShape, Matrix, SyntheticFaces};
use eigenspan_core::split::{Split, Train};
use eigenspan_core::{Error, Exec, Lambda, Mat, Normalize, PceParams, Quiet};

fn pixels(data: &Dataset) -> &Mat<u8> {
    let Matrix::U8(pixels) = &data.samples else { panic!("pixels are bytes") };
    pixels
}

const SMALL: SyntheticFaces =
    SyntheticFaces { subjects: 3, per_subject: 6, height: 27, width: 24, disguise: Disguise::None, seed: 1 };

#[test]
fn a_seed_is_one_set_of_people_on_any_number_of_threads() {
    let run = |threads: usize| SMALL.generate_with(Exec::new(NonZero::new(threads), &Quiet)).unwrap();
    let one = run(1);
    assert!(run(2) == one && run(3) == one);
    assert_eq!(one.image, Some(ImageShape { height: 27, width: 24 }));
    assert_eq!(one.labels.as_ref().unwrap().counts(), [6, 6, 6]);
    assert_eq!(one.labels.as_ref().unwrap().names, ["1", "2", "3"]);
    let other = SyntheticFaces { seed: 2, ..SMALL }.generate().unwrap();
    assert!((0..18).all(|i| pixels(&one).row(i) != pixels(&other).row(i)));
    // More people are added, not exchanged.
    let more = SyntheticFaces { subjects: 5, ..SMALL }.generate().unwrap();
    assert_eq!(pixels(&more).as_slice()[..18 * 648], *pixels(&one).as_slice());
}

#[test]
fn nine_dimensions_carry_the_images_of_one_person_under_all_lights() {
    let data = SyntheticFaces { subjects: 6, per_subject: 64, height: 36, width: 32, ..SMALL }.generate().unwrap();
    for person in 0..6 {
        let rows: Vec<usize> = (person * 64..(person + 1) * 64).collect();
        let params = PceParams { lambda: Lambda::Energy(0.99), normalize: Normalize::None, ..Default::default() };
        let model = params.fit(&data.samples.select_rows(&rows)).unwrap();
        assert!((2..=9).contains(&model.k()), "person {person}: {} dimensions carry 99 %", model.k());
    }
    // Of all six it is more: they are different people.
    let params = PceParams { lambda: Lambda::Energy(0.99), normalize: Normalize::None, ..Default::default() };
    assert!(params.fit(&data.samples).unwrap().k() > 9);
}

#[test]
fn light_decides_where_a_face_is_bright() {
    // Sorted from the front: the last ones are from far aside, alternating left and right.
    let data = SyntheticFaces { per_subject: 64, ..SMALL }.generate().unwrap();
    let side = |i: usize, right: bool| {
        let part = pixels(&data).row(i).iter().enumerate().filter(|(j, _)| (j % 24 >= 12) == right);
        part.map(|(_, p)| f64::from(*p)).sum::<f64>()
    };
    for person in 0..3 {
        let total = |i: usize| side(person * 64 + i, false) + side(person * 64 + i, true);
        assert!((40..64).all(|i| total(i) < 0.8 * total(0)), "less light from aside");
        let lefts = (0..64).filter(|&i| side(person * 64 + i, false) > 1.5 * side(person * 64 + i, true)).count();
        let rights = (0..64).filter(|&i| side(person * 64 + i, true) > 1.5 * side(person * 64 + i, false)).count();
        assert!(
            (15..30).contains(&lefts) && (15..30).contains(&rights),
            "{lefts} from the left, {rights} from the right"
        );
    }
}

#[test]
fn pixels_confuse_people_with_their_light_and_pce_does_not() {
    let data = SyntheticFaces { subjects: 20, per_subject: 40, height: 36, width: 32, ..SMALL }.generate().unwrap();
    let split = Split::plain(800, Train::Count(540), 1, 0).unwrap();
    let (train, test) = (data.select_rows(&split.train).unwrap(), data.select_rows(&split.test).unwrap());
    let right = |a: &Matrix, b: &Matrix| {
        let model = NearestNeighbourParams::default().fit(a, train.labels.as_ref().unwrap()).unwrap();
        accuracy(&model.predict(b).unwrap(), &test.labels.as_ref().unwrap().of).unwrap()
    };
    let raw = right(&train.samples, &test.samples);
    let model = PceParams { lambda: Lambda::Fixed(5.0), ..Default::default() }.fit(&train.samples).unwrap();
    let pce = right(&model.transform(&train.samples).unwrap(), &model.transform(&test.samples).unwrap());
    assert!(raw < 80.0 && pce > 90.0, "pixels {raw}, PCE {pce} percent");
}

#[test]
fn disguises_cover_every_second_image_at_their_place() {
    let bare = SMALL.generate().unwrap();
    let changed = |disguise: Disguise| {
        let worn = SyntheticFaces { disguise, ..SMALL }.generate().unwrap();
        let share = |i: usize, rows: std::ops::Range<usize>| {
            let area = rows.start * 24..rows.end * 24;
            let pairs = pixels(&bare).row(i)[area.clone()].iter().zip(&pixels(&worn).row(i)[area]);
            pairs.map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / (24.0 * rows.len() as f64)
        };
        (0..18).map(|i| [share(i, 6..13), share(i, 18..27)]).collect::<Vec<_>>()
    };
    // The last light of six is from far aside, where all is dark.
    for (i, [eyes, mouth]) in changed(Disguise::Sunglasses).into_iter().enumerate() {
        assert!(
            if i % 2 == 0 { eyes + mouth == 0.0 } else { i % 6 == 5 || eyes > 3.0 * mouth + 1.0 },
            "image {i}: {eyes} {mouth}"
        );
    }
    for (i, [eyes, mouth]) in changed(Disguise::Scarf).into_iter().enumerate() {
        assert!(
            if i % 2 == 0 { eyes + mouth == 0.0 } else { i % 6 == 5 || mouth > 3.0 * eyes + 1.0 },
            "image {i}: {eyes} {mouth}"
        );
    }
    let mixed = changed(Disguise::Mixed);
    assert!((0..18).all(|i| (mixed[i] == [0.0, 0.0]) == (i % 6 % 3 == 0)));
}

#[test]
fn sizes_that_hold_no_face_are_refused() {
    for (faces, name) in [
        (SyntheticFaces { subjects: 0, ..SMALL }, "subjects"),
        (SyntheticFaces { per_subject: 0, ..SMALL }, "per_subject"),
        (SyntheticFaces { height: 7, ..SMALL }, "height"),
        (SyntheticFaces { width: 0, ..SMALL }, "width"),
    ] {
        assert!(matches!(faces.generate(), Err(Error::Parameter { name: found, .. }) if found == name));
    }
    // More lights than Extended Yale B has.
    let many = SyntheticFaces { subjects: 1, per_subject: 70, height: 8, width: 8, ..SMALL }.generate().unwrap();
    assert_eq!(many.samples.rows(), 70);
}
