//! What is written reads back the same, and one array reads the same from every format and order.

mod build;

use std::path::{Path, PathBuf};

use build::{array, bytes, npy, npz};
use eigenspan_core::Mat;
use eigenspan_core::data::{Csr, Dataset, ImageShape, Matrix};
use eigenspan_io::{Names, ReadOptions, WriteError, create, open, read, read_bytes, read_row_numbers};
use tempfile::TempDir;
use zip::CompressionMethod;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for temporary files")
}

#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
fn saved(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    path
}

fn write(path: &Path, blocks: &[Matrix], header: Option<&[String]>) {
    let mut sink = create(path, blocks[0].cols(), Names { columns: header, ids: None }).unwrap();
    blocks.iter().for_each(|block| sink.write_block(block).unwrap());
    assert!(!path.exists(), "nothing is visible before the end");
    sink.finish().unwrap();
}

fn load(path: &Path) -> Dataset {
    read(path, &ReadOptions::default()).unwrap()
}

fn parse(bytes: &[u8]) -> Dataset {
    read_bytes("data", bytes, &ReadOptions::default()).unwrap()
}

/// Awkward on purpose: subnormal, negative zero, neighbors of one, the largest.
fn awkward(i: usize, j: usize) -> f64 {
    let values = [5e-324, -0.0, 1.0 + f64::EPSILON, f64::MAX, 0.1, -1.0 / 3.0, 1e-300, 123_456_789.125];
    values[(i * 3 + j) % values.len()] * if i.is_multiple_of(2) { 1.0 } else { -1.0 }
}

fn bits(x: &Matrix) -> Vec<u64> {
    x.view().to_f64().as_slice().iter().map(|v| v.to_bits()).collect()
}

#[test]
fn matrices_of_every_number_type_survive_npy() {
    let folder = folder();
    let matrices: [Matrix; 3] = [
        Mat::from_fn(7, 3, awkward).into(),
        Mat::from_fn(7, 3, |i, j| (i as f32 + 0.1) / (j as f32 + 1.7)).into(),
        Mat::from_fn(7, 3, |i, j| (i * 31 + j) as u8).into(),
    ];
    for (number, x) in matrices.iter().enumerate() {
        let path = folder.path().join(format!("{number}.npy"));
        write(&path, &[x.select_rows(&[0, 1]), x.select_rows(&[2, 3, 4, 5]), x.select_rows(&[6])], None);
        assert_eq!(load(&path).samples, *x);
        assert_eq!(bits(&load(&path).samples), bits(x));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test looks at the file that was written")]
fn sparse_rows_and_no_rows_are_written_as_f64() {
    let folder = folder();
    let sparse: Matrix = Csr::new(3, vec![0, 1, 1, 3], vec![2, 0, 1], vec![0.5, 1.0, -2.0]).unwrap().into();
    let path = folder.path().join("sparse.npy");
    write(&path, std::slice::from_ref(&sparse), None);
    assert_eq!(load(&path).samples, Matrix::F64(sparse.view().to_f64()));

    let path = folder.path().join("none.npy");
    create(&path, 5, Names::default()).unwrap().finish().unwrap();
    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
    assert!(text.contains("'descr': '<f8', 'fortran_order': False, 'shape': (0, 5)"), "{text}");
}

#[test]
fn doubles_and_singles_survive_csv_to_the_last_bit() {
    let folder = folder();
    let names = ["a", "b,c", "d \"e\""].map(String::from);
    let doubles: Matrix = Mat::from_fn(9, 3, awkward).into();
    let singles = Mat::from_fn(9, 3, |i, j| (i as f32 + 0.1) / (j as f32 + 1.7) * 1e-20);
    for end in ["csv", "tsv", "CSV"] {
        let path = folder.path().join(format!("x.{end}"));
        write(&path, &[doubles.select_rows(&[0, 1, 2, 3]), doubles.select_rows(&[4, 5, 6, 7, 8])], Some(&names));
        let back = load(&path);
        assert_eq!(bits(&back.samples), bits(&doubles));
        assert_eq!(back.feature_names.unwrap(), names);
        let path = folder.path().join(format!("singles.{end}"));
        write(&path, &[singles.clone().into()], None);
        let back = load(&path).samples.into_f64();
        assert!(back.as_slice().iter().zip(singles.as_slice()).all(|(double, single)| *double as f32 == *single));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test looks at the file that was written")]
fn csv_numbers_are_no_longer_than_they_must_be() {
    let folder = folder();
    let path = folder.path().join("short.csv");
    write(&path, &[Mat::from_vec(1, 3, vec![0.1f32, 16_777_216.0, 1e-30]).unwrap().into()], None);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "0.1,16777216,1e-30\n");
}

/// Numbers 0 to 23 in an array of two axes (4 × 6), or of images (4 × 2 × 3): first in C order, then in Fortran order.
fn counted() -> ([u8; 24], [u8; 24], [u8; 24]) {
    let by_rows = std::array::from_fn(|at| at as u8);
    let by_columns = std::array::from_fn(|at| (at % 4 * 6 + at / 4) as u8);
    let images = std::array::from_fn(|at| (at % 4 * 6 + at / 4 % 2 * 3 + at / 8) as u8);
    (by_rows, by_columns, images)
}

#[test]
fn one_array_reads_the_same_in_every_order_and_shape() {
    let (by_rows, by_columns, images) = counted();
    let header = |descr: &str, fortran: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
    };
    let expected = Matrix::U8(Mat::from_vec(4, 6, by_rows.to_vec()).unwrap());
    for (fortran, shape, values) in [
        ("False", "(4, 6)", by_rows),
        ("True", "(4, 6)", by_columns),
        ("False", "(4, 2, 3)", by_rows),
        ("True", "(4, 2, 3)", images),
        ("False", "(4, 2, 3, 1)", by_rows),
        ("True", "(4, 2, 3, 1)", images),
    ] {
        let data = parse(&npy(&header("|u1", fortran, shape), &values));
        assert_eq!(data.samples, expected, "{fortran} {shape}");
        let image = (shape != "(4, 6)").then_some(ImageShape { height: 2, width: 3 });
        assert_eq!(data.image, image);
        let doubles = bytes(values.map(|v| f64::from(v).to_be_bytes()));
        let data = parse(&npy(&header(">f8", fortran, shape), &doubles));
        assert_eq!(data.samples, Matrix::F64(expected.view().to_f64()));
    }
}

#[test]
fn every_item_type_reads_to_the_same_numbers() {
    let whole = |descr: &str, values: Vec<u8>| parse(&array(descr, "(2, 2)", &values)).samples;
    let numbers = [0i8, 1, 100, 7];
    let expected = Mat::from_vec(2, 2, vec![0.0, 1.0, 100.0, 7.0]).unwrap();
    let doubles = Matrix::F64(expected.clone());
    assert_eq!(whole("|i1", bytes(numbers.map(i8::to_le_bytes))), doubles);
    assert_eq!(whole("<i2", bytes(numbers.map(|v| i16::from(v).to_le_bytes()))), doubles);
    assert_eq!(whole(">i2", bytes(numbers.map(|v| i16::from(v).to_be_bytes()))), doubles);
    assert_eq!(whole("<u2", bytes(numbers.map(|v| (v as u16).to_le_bytes()))), doubles);
    assert_eq!(whole("<i4", bytes(numbers.map(|v| i32::from(v).to_le_bytes()))), doubles);
    assert_eq!(whole(">u4", bytes(numbers.map(|v| (v as u32).to_be_bytes()))), doubles);
    assert_eq!(whole("<i8", bytes(numbers.map(|v| i64::from(v).to_le_bytes()))), doubles);
    assert_eq!(whole(">u8", bytes(numbers.map(|v| (v as u64).to_be_bytes()))), doubles);
    assert_eq!(whole("<f8", bytes(numbers.map(|v| f64::from(v).to_le_bytes()))), doubles);
    let halves = [0x0000u16, 0x3c00, 0x5640, 0x4700].map(u16::to_le_bytes);
    for singles in [whole(">f4", bytes(numbers.map(|v| f32::from(v).to_be_bytes()))), whole("<f2", bytes(halves))] {
        assert!(matches!(singles, Matrix::F32(_)));
        assert_eq!(singles.into_f64(), expected);
    }
    assert_eq!(whole("|b1", vec![0, 1, 1, 0]), Matrix::U8(Mat::from_vec(2, 2, vec![0, 1, 1, 0]).unwrap()));
    assert_eq!(whole("<i8", bytes([-1i64, -2, -3, -4].map(i64::to_le_bytes))).into_f64().at(1, 1), -4.0);
}

#[test]
fn versions_of_the_format_differ_only_in_the_length_of_the_length() {
    let one = array("|u1", "(2, 2)", &[1, 2, 3, 4]);
    let length = u32::from(u16::from_le_bytes([one[8], one[9]])).to_le_bytes();
    for version in [2, 3] {
        let other = [b"\x93NUMPY", &[version, 0][..], &length, &one[10..]].concat();
        assert_eq!(parse(&other), parse(&one));
    }
}

#[test]
fn an_npz_archive_reads_like_its_arrays() {
    let x = array("<f4", "(3, 2)", &bytes([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].map(f32::to_le_bytes)));
    let text: Vec<u8> =
        ["b\0\0", "a\0\0", "äöü"].iter().flat_map(|s| s.chars()).flat_map(|c| u32::from(c).to_be_bytes()).collect();
    for (y, names) in [
        (array("|u1", "(3,)", &[9, 10, 9]), vec!["9", "10"]),
        (array(">i8", "(3,)", &bytes([-1i64, 5, -1].map(i64::to_be_bytes))), vec!["-1", "5"]),
        (array("|b1", "(3,)", &[1, 0, 1]), vec!["0", "1"]),
        (array("<f8", "(3,)", &bytes([2.0f64, 0.0, 2.0].map(f64::to_le_bytes))), vec!["0", "2"]),
        (array(">U3", "(3,)", &text), vec!["a", "b", "äöü"]),
    ] {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let data = parse(&npz(method, &[("y.npy", y.clone()), ("X.npy", x.clone()), ("notes.txt", vec![0])]));
            assert_eq!(data.samples, parse(&x).samples);
            assert_eq!(data.labels.unwrap().names, names);
        }
    }
    let image = Some(ImageShape { height: 1, width: 2 });
    let shape = array("<i4", "(2,)", &bytes([1i32, 2].map(i32::to_le_bytes)));
    for name in ["X.npy", "x.npy", "data.npy", "arr_0.npy", "faces.npy", "../X.npy"] {
        let data = parse(&npz(CompressionMethod::Deflated, &[(name, x.clone()), ("shape.npy", shape.clone())]));
        assert_eq!((&data.samples, data.image), (&parse(&x).samples, image), "{name}");
    }
}

#[test]
fn blocks_of_every_format_are_the_rows_of_the_whole() {
    let folder = folder();
    let (by_rows, by_columns, _) = counted();
    let c = array("|u1", "(4, 6)", &by_rows);
    let fortran = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (4, 6), }", &by_columns);
    let table: String =
        by_rows.chunks(6).map(|row| row.iter().map(u8::to_string).collect::<Vec<_>>().join(";") + "\n").collect();
    for path in [
        saved(&folder, "c.npy", &c),
        saved(&folder, "fortran.npy", &fortran),
        saved(&folder, "table.txt", table.as_bytes()),
        saved(&folder, "archive", &npz(CompressionMethod::Deflated, &[("X.npy", c.clone())])),
    ] {
        for at_most in [1, 3, 100] {
            let mut source = open(&path, &ReadOptions::default()).unwrap().source;
            // How many lines a text has is known when it was read.
            let text = path.extension().is_some_and(|end| end == "txt");
            assert_eq!((source.rows(), source.cols()), ((!text).then_some(4), 6));
            let mut values = vec![];
            while let Some(block) = source.next_block(at_most).unwrap() {
                assert!(block.rows() <= at_most);
                values.extend(block.into_f64().into_vec());
            }
            assert!(source.next_block(at_most).unwrap().is_none());
            assert_eq!(values, by_rows.map(f64::from), "{}", path.display());
        }
    }
}

#[test]
fn row_numbers_are_integers_or_a_mask() {
    let folder = folder();
    let rows = |bytes: &[u8]| read_row_numbers(&saved(&folder, "rows", bytes)).map_err(|error| error.to_string());
    assert_eq!(rows(&array("<i8", "(3,)", &bytes([5i64, 0, 5].map(i64::to_le_bytes)))), Ok(vec![5, 0, 5]));
    assert_eq!(rows(&array(">u2", "(2,)", &bytes([258u16, 1].map(u16::to_be_bytes)))), Ok(vec![258, 1]));
    assert_eq!(rows(&array("|i1", "(0,)", &[])), Ok(vec![]));
    assert_eq!(rows(&array("|b1", "(5,)", &[1, 0, 0, 1, 1])), Ok(vec![0, 3, 4]));
    let file = folder.path().join("rows").display().to_string();
    for (content, expected) in [
        (
            array("<i2", "(2,)", &bytes([3i16, -1].map(i16::to_le_bytes))),
            ": entry 1 (counted from 0) holds -1, expected 0 or more",
        ),
        (array("<f8", "(1,)", &[0; 8]), ": expected row numbers as integers or a mask of bools, found `<f8`"),
        (array("|u1", "(1, 1)", &[0]), ": expected an array with one axis, found shape (1, 1)"),
        (
            b"1\n2\n".to_vec(),
            ": expected an NPY array, which starts with the bytes 93 4e 55 4d 50 59, found 31 0a 32 0a",
        ),
    ] {
        assert_eq!(rows(&content), Err(format!("{file}{expected}")));
    }
}

#[test]
fn a_sink_that_is_not_finished_leaves_nothing_behind() {
    let folder = folder();
    for name in ["a.npy", "a.csv"] {
        let mut sink = create(&folder.path().join(name), 2, Names::default()).unwrap();
        sink.write_block(&Mat::<f64>::zeros(3, 2).into()).unwrap();
        assert!(sink.write_block(&Mat::<f64>::zeros(3, 4).into()).is_err());
        drop(sink);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_a_sink_cannot_take_is_refused_in_words() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let refused =
        |name: &str, header: Option<&[String]>| match create(&path(name), 2, Names { columns: header, ids: None }) {
            Ok(_) => panic!("{name} must be refused"),
            Err(error) => error,
        };
    let one = ["one".to_string()];
    assert!(matches!(refused("a.xlsx", None), WriteError::Extension { .. }));
    assert!(matches!(refused("a", None), WriteError::Extension { .. }));
    assert!(matches!(refused("a.csv", Some(&one[..])), WriteError::Names { cols: 2, found: 1, .. }));
    assert!(matches!(refused("no/a.csv", None), WriteError::Io { doing: "create", .. }));
    let mut sink = create(&path("a.npy"), 2, Names::default()).unwrap();
    sink.write_block(&Mat::<u8>::zeros(1, 2).into()).unwrap();
    let name = path("a.npy").display().to_string();
    let error = sink.write_block(&Mat::<f64>::zeros(1, 2).into()).unwrap_err().to_string();
    assert_eq!(error, format!("cannot write {name}: expected numbers of type U8 as in the first block, found F64"));
    let error = sink.write_block(&Mat::<u8>::zeros(1, 3).into()).unwrap_err().to_string();
    assert_eq!(error, format!("cannot write {name}: expected rows of 2 columns, found a block of 3"));
}

#[test]
fn a_missing_file_is_named_with_the_words_of_the_system() {
    let path = folder().path().join("gone.npy");
    let error = read(&path, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot open {}: ", path.display())), "{error}");
    assert_eq!(error.hint().unwrap(), "check the name and the folder");
}
