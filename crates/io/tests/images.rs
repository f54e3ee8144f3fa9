//! Folders of images, end to end.

use std::fs;

use eigenspan_core::data::{ImageShape, Matrix};
use eigenspan_fixtures::shared;
use eigenspan_io::{ReadError, ReadOptions, open, read};
use tempfile::TempDir;

/// A folder with these files.
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a sub-folder");
        fs::write(path, bytes).expect("a file");
    }
    folder
}

fn of(files: &[(&str, &[u8])]) -> Result<eigenspan_core::data::Dataset, ReadError> {
    read(folder(files).path(), &ReadOptions::default())
}

/// The message, with the temporary folder called `D`, and the hint.
fn refused(files: &[(&str, &[u8])], options: &ReadOptions) -> (String, String) {
    let folder = folder(files);
    let error = read(folder.path(), options).expect_err("something is wrong");
    let name = folder.path().display().to_string();
    (error.to_string().replace(&name, "D"), error.hint().expect("a hint"))
}

const A: &[u8] = b"P5 2 1 255\n\x01\x02";
const B: &[u8] = b"P5 2 1 255\n\x03\x04";
const C: &[u8] = b"P5 2 1 255\n\x05\x06";

#[test]
fn each_image_is_a_sample_in_the_order_of_names() {
    let data = of(&[("b.pgm", B), ("a10.pgm", A), ("Z", C)]).unwrap();
    assert_eq!(data.ids.unwrap(), ["Z", "a10.pgm", "b.pgm"], "upper case comes first byte for byte");
    assert!(matches!(data.samples, Matrix::U8(pixels) if pixels.as_slice() == [5, 6, 1, 2, 3, 4]));
    assert_eq!(data.image, Some(ImageShape { height: 1, width: 2 }));
    assert_eq!(data.labels, None);
}

#[test]
fn the_first_sub_folder_is_the_class_however_deep_an_image_lies() {
    let data = of(&[("oak/2020/x.pgm", A), ("elm/a.pgm", B), ("oak/b.pgm", C)]).unwrap();
    assert_eq!(data.ids.unwrap(), ["elm/a.pgm", "oak/2020/x.pgm", "oak/b.pgm"]);
    let labels = data.labels.unwrap();
    assert_eq!((labels.names, labels.of), (vec!["elm".to_string(), "oak".to_string()], vec![0, 1, 1]));
}

#[test]
fn other_and_hidden_files_are_left_alone() {
    let hidden = (".b.pgm", &b"P5 cut"[..]);
    let data = of(&[("a.pgm", A), hidden, (".git/c.pgm", C), ("notes.txt", b"hello"), ("empty", b"")]).unwrap();
    assert_eq!(data.ids.unwrap(), ["a.pgm"]);
}

#[test]
#[cfg(unix)]
fn links_to_files_are_followed_and_links_to_folders_are_not() {
    let folder = folder(&[("oak/a.pgm", A)]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("oak/circle")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("oak/a.pgm"), folder.path().join("oak/b")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("oak/c")).unwrap();
    let data = read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(data.ids.unwrap(), ["oak/a.pgm", "oak/b"]);
}

#[test]
fn blocks_of_a_folder_are_its_samples() {
    let folder = folder(&[("a.pgm", A), ("b.pgm", B)]);
    let mut rows = open(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(rows.ids.as_deref(), Some(&["a.pgm".to_string(), "b.pgm".to_string()][..]));
    assert_eq!(rows.source.next_block(9).unwrap().unwrap().into_f64().as_slice(), [1., 2., 3., 4.]);
}

#[test]
fn images_that_do_not_go_together_are_named_with_what_would_help() {
    let wide: &[u8] = b"P5 3 1 255\n\x01\x02\x03";
    let color: &[u8] = b"P6 2 1 255\n\x01\x02\x03\x04\x05\x06";
    let deep: &[u8] = b"P5 2 1 65535\n\x01\x02\x03\x04";
    let plain = ReadOptions::default();
    for (other, fact, help) in [
        (wide, "D/b: is 1 × 3 pixels, while `a` is 1 × 2: expected images of one size", "`--resize 1x2`"),
        (color, "D/b: is in color, while `a` is grey: expected all in grey or all in color", "`--grey`"),
        (deep, "D/b: has 16 bits in each value, while `a` has 8: expected the same in all images", "move it away"),
    ] {
        let (message, hint) = refused(&[("a", A), ("b", other)], &plain);
        assert_eq!(message, fact);
        assert!(hint.contains(help), "{hint}");
    }
    let (message, hint) = refused(&[("oak/a", A), ("b", B)], &plain);
    let fact =
        "D/b: lies in no sub-folder and so has no class, while `oak/a` has one: expected a class for all or for none";
    assert_eq!((&*message, &*hint), (fact, "move it into the sub-folder of its class, or away"));
}

#[test]
fn grey_and_another_size_make_images_go_together() {
    let wide: &[u8] = b"P5 3 1 255\n\x09\x09\x09";
    let color: &[u8] = b"P6 2 1 255\n\x01\x01\x01\xff\x00\x00";
    let options =
        ReadOptions { grey: true, resize: Some(ImageShape { height: 1, width: 2 }), ..ReadOptions::default() };
    let folder = folder(&[("a", A), ("b", wide), ("c", color)]);
    let data = read(folder.path(), &options).unwrap();
    // Red counts 0.2126.
    assert!(matches!(data.samples, Matrix::U8(pixels) if pixels.as_slice() == [1, 2, 9, 9, 1, 54]));
    assert_eq!(data.image, options.resize);
}

#[test]
fn color_images_have_three_features_a_pixel_and_no_shape() {
    let data = of(&[("a", b"P6 2 1 255\n\x01\x02\x03\x04\x05\x06")]).unwrap();
    assert!(matches!(data.samples, Matrix::U8(pixels) if pixels.as_slice() == [1, 2, 3, 4, 5, 6]));
    assert_eq!(data.image, None);
}

#[test]
fn sixteen_bits_are_kept_to_the_last() {
    let data = of(&[("a", b"P5 2 1 65535\n\xff\xff\x00\x01")]).unwrap();
    assert!(matches!(data.samples, Matrix::F64(pixels) if pixels.as_slice() == [65535., 1.]));
}

#[test]
fn what_is_named_like_an_image_and_is_none_is_refused() {
    let plain = ReadOptions::default();
    let (message, _) = refused(&[("a", A), ("b.JPEG", b"")], &plain);
    assert_eq!(message, "D/b.JPEG: expected PNG, JPEG, PNM or BMP, as its name says, found 0 bytes");
    let (message, _) = refused(&[("a", A), ("b.png", b"<html>")], &plain);
    assert!(message.ends_with("found a file that starts with the bytes 3c 68 74 6d 6c 3e"), "{message}");
}

#[test]
fn a_folder_without_images_says_what_was_seen() {
    let plain = ReadOptions::default();
    let fact = "D: expected a folder of PNG, JPEG, PNM or BMP images, found";
    assert_eq!(refused(&[], &plain).0, format!("{fact} no files at all"));
    assert_eq!(refused(&[("a.txt", b"x"), ("b/c.npy", b"y")], &plain).0, format!("{fact} none among 2 files"));
}

#[test]
fn what_a_folder_does_not_have_is_not_asked_of_it() {
    let label = ReadOptions { label: Some("kind".to_string()), ..ReadOptions::default() };
    let (message, hint) = refused(&[("a", A)], &label);
    assert_eq!(message, "D: the label column `kind` was requested, but folders of images have no label columns");
    assert_eq!(hint, "leave it out: each sub-folder is a class");
    let array = ReadOptions { array: Some("X".to_string()), ..ReadOptions::default() };
    assert!(refused(&[("a", A)], &array).0.ends_with("folders of images have no arrays with names"));
    let image = ReadOptions { image: Some(ImageShape { height: 2, width: 1 }), ..ReadOptions::default() };
    assert!(refused(&[("a", A)], &image).0.ends_with("which does not fit samples of 1 × 2"));
    let resize = ReadOptions { resize: Some(ImageShape { height: 0, width: 1 }), ..ReadOptions::default() };
    assert!(refused(&[("a", A)], &resize).0.ends_with("expected sides from 1 to 65535"));
}

#[test]
fn one_image_is_no_data_set() {
    let folder = folder(&[("a.pgm", A)]);
    let error = read(&folder.path().join("a.pgm"), &ReadOptions::default()).unwrap_err();
    assert!(error.hint().unwrap().starts_with("give the folder"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
fn the_extended_yale_faces_as_pgm_files_are_the_same_data() {
    let Some(path) = shared("exyaleb_54x48_first58.npz") else { return };
    let faces = read(&path, &ReadOptions::default()).unwrap();
    let (Matrix::U8(pixels), Some(labels), Some(shape)) = (&faces.samples, &faces.labels, faces.image) else {
        panic!("faces are 8-bit images with classes")
    };
    let folder = tempfile::tempdir().unwrap();
    for i in 0..pixels.rows() {
        let class = folder.path().join(format!("yaleB{:02}", labels.of[i]));
        fs::create_dir_all(&class).unwrap();
        let header = format!("P5\n{} {}\n255\n", shape.width, shape.height);
        fs::write(class.join(format!("img_{i:04}.pgm")), [header.as_bytes(), pixels.row(i)].concat()).unwrap();
    }
    let found = read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!((found.samples.rows(), found.image), (2204, Some(ImageShape { height: 54, width: 48 })));
    assert_eq!(found.labels.as_ref().unwrap().of, labels.of);
    assert!(found.samples == faces.samples, "the same pixels in the same order");
}
