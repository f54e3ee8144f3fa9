//! Malformed files, each with the exact words a user reads. Nothing here may panic.

mod build;

use std::time::Duration;

use build::{array, bytes, npy, npz, patched, stored};
use eigenspan_io::{ReadError, ReadOptions, read_bytes};
use zip::CompressionMethod;

/// The bytes of a file, and the message that they must lead to.
macro_rules! must_say {
    ($name:literal: $($bytes:expr => $text:literal,)*) => { compare([$((message($name, &$bytes, None), $text)),*]) };
}

fn message(name: &str, bytes: &[u8], label: Option<&str>) -> String {
    match read_bytes(name, bytes, &ReadOptions { label: label.map(str::to_string) }) {
        Ok(data) => format!("read {} × {}", data.samples.rows(), data.samples.cols()),
        Err(error) => {
            if !matches!(error, ReadError::Io { .. }) {
                assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "no hint for: {error}");
            }
            error.to_string()
        }
    }
}

/// Shows all that differs, not only the first.
fn compare(messages: impl IntoIterator<Item = (String, &'static str)>) {
    let wrong: Vec<String> = messages
        .into_iter()
        .filter(|(found, expected)| found != expected)
        .map(|(found, expected)| format!("expected: {expected}\nfound:    {found}\n"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const F8: &str = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";

fn two() -> Vec<u8> {
    bytes([1.0f64, 2.0].map(f64::to_le_bytes))
}

#[test]
fn headers_of_npy_files_that_are_not_headers() {
    let text = |header: &str| npy(header, &two());
    let whole = npy(F8, &two());
    must_say! { "a.npy":
        whole[..6] => "a.npy: the header ends at byte 8, but there are only 6 bytes",
        whole[..7] => "a.npy: the header ends at byte 8, but there are only 7 bytes",
        whole[..9] => "a.npy: the header ends at byte 10, but there are only 9 bytes",
        whole[..30] => "a.npy: the header ends at byte 69, but there are only 30 bytes",
        [b"\x93NUMPY\x04\x00", &whole[8..]].concat()
            => "a.npy: byte 6: expected NPY version 1.0, 2.0 or 3.0, found 4.0",
        [b"\x93NUMPY\x01\x01", &whole[8..]].concat()
            => "a.npy: byte 6: expected NPY version 1.0, 2.0 or 3.0, found 1.1",
        [&b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..], &whole[10..]].concat()
            => "a.npy: byte 8: a header of at most 65536 bytes is expected, found one of 4294967295",
        text("") => "a.npy: header, byte 10: expected `{`, found the end of the header",
        text("[1, 2]") => "a.npy: header, byte 10: expected `{`, found `[1, 2]`",
        text("{'descr' '<f8'}") => "a.npy: header, byte 19: expected `:`, found `'<f8'}`",
        text("{'descr: '<f8'}") => "a.npy: header, byte 20: expected `:`, found `<f8'}`",
        text("{'descr': <f8}") => "a.npy: header, byte 20: expected a type in quotes, found `<f8}`",
        text("{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 2)}")
            => "a.npy: header, byte 44: expected True or False, found `0, 'shape': `",
        text("{'descr': '<f8', 'fortran_order': False, 'shape': [1, 2]}")
            => "a.npy: header, byte 60: expected `(`, found `[1, 2]}`",
        text("{'descr': '<f8', 'fortran_order': False, 'shape': (1, -2)}")
            => "a.npy: header, byte 64: expected a length below 2^64 in digits, found `-2)}`",
        text("{'descr': '<f8', 'fortran_order': False, 'shape': (1 2)}")
            => "a.npy: header, byte 63: expected `,` after a length, found `2)}`",
        text("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2)}")
            => "a.npy: header, byte 61: expected a length below 2^64 in digits, found `999999999999`",
        text("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)")
            => "a.npy: header, byte 66: expected `,` or `}`, found the end of the header",
        text("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)} + exit()")
            => "a.npy: header, byte 68: expected nothing but spaces after `}`, found `+ exit()`",
        text("{'descr': '<f8', 'fortran_order': False}")
            => "a.npy: the header has no 'shape', expected 'descr', 'fortran_order' and 'shape'",
        text("{'fortran_order': False, 'shape': (1, 2)}")
            => "a.npy: the header has no 'descr', expected 'descr', 'fortran_order' and 'shape'",
        text("{'descr': '<f8', 'descr': '<f8'}")
            => "a.npy: header, byte 27: expected each of 'descr', 'fortran_order' and 'shape' once, found 'descr'",
        text("{'descr': '<f8', 'version': 1}")
            => "a.npy: header, byte 27: expected each of 'descr', 'fortran_order' and 'shape' once, found 'version'",
    }
}

#[test]
fn npy_items_that_are_not_real_numbers() {
    let of = |descr: &str| array(descr, "(1, 2)", &[0; 16]);
    must_say! { "a.npy":
        of("|O") => "a.npy: the array holds pickled Python objects (`|O`), expected plain numbers",
        of("<c16")
            => "a.npy: the array holds complex numbers (`<c16`), expected real numbers of at most 64 bits",
        of("<U2") => "a.npy: the array holds text (`<U2`), expected real numbers of at most 64 bits",
        of("|S8") => "a.npy: the array holds text (`|S8`), expected real numbers of at most 64 bits",
        of("|V8")
            => "a.npy: the array holds structured records (`|V8`), expected real numbers of at most 64 bits",
        of("<M8[ns]")
            => "a.npy: the array holds dates or times (`<M8[ns]`), expected real numbers of at most 64 bits",
        of("<f16")
            => "a.npy: the array holds extended floating-point numbers (`<f16`), expected real numbers of at most 64 bits",
        of("f8")
            => "a.npy: the array holds items of an unknown type (`f8`), expected real numbers of at most 64 bits",
        of("|f8")
            => "a.npy: the array holds items of an unknown byte order (`|f8`), expected real numbers of at most 64 bits",
        of("")
            => "a.npy: the array holds items of an unknown type (``), expected real numbers of at most 64 bits",
        npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", &two())
            => "a.npy: the array holds structured records (`[('a', '<f8'…`), expected real numbers of at most 64 bits",
    }
}

#[test]
fn npy_shapes_and_values_that_cannot_be_taken() {
    let f8 = |shape: &str, values: &[f64]| array("<f8", shape, &bytes(values.iter().map(|v| v.to_le_bytes())));
    let nan = f8("(2, 2)", &[1.0, 2.0, f64::NAN, 4.0]);
    let fortran = patched(nan.clone(), 0, b"False", b"True ");
    must_say! { "a.npy":
        f8("(2,)", &[1.0, 2.0])
            => "a.npy: expected samples in rows, found an array with one axis of length 2",
        f8("()", &[1.0])
            => "a.npy: expected samples × features or images × height × width, found shape ()",
        f8("(1, 1, 1, 2)", &[1.0, 2.0])
            => "a.npy: expected samples × features or images × height × width, found shape (1, 1, 1, 2)",
        f8("(1, 1, 1, 1, 1)", &[1.0])
            => "a.npy: expected samples × features or images × height × width, found shape (1, 1, 1, 1, 1)",
        f8("(0, 3)", &[]) => "a.npy: expected at least one sample and one feature, found shape (0, 3)",
        f8("(3, 0)", &[]) => "a.npy: expected at least one sample and one feature, found shape (3, 0)",
        f8("(2, 2)", &[1.0, 2.0, 3.0])
            => "a.npy: the header claims shape (2, 2) of `<f8`, 101 bytes with the header, but there are 93",
        f8("(1, 2)", &[1.0, 2.0, 3.0])
            => "a.npy: the header claims shape (1, 2) of `<f8`, 85 bytes with the header, but there are 93",
        array("<f8", "(65536, 65536)", &[])
            => "a.npy: the header claims shape (65536, 65536) of `<f8`, 34359738445 bytes with the header, but there are 77",
        array("<f8", "(4294967296, 4294967296)", &[])
            => "a.npy: the header claims shape (4294967296, 4294967296) of `<f8`, more bytes than any file holds",
        nan => "a.npy: row 1, column 0 (counted from 0) holds NaN, expected a finite number",
        fortran => "a.npy: row 0, column 1 (counted from 0) holds NaN, expected a finite number",
        array(">f4", "(1, 2)", &bytes([1.0, f32::NEG_INFINITY].map(f32::to_be_bytes)))
            => "a.npy: row 0, column 1 (counted from 0) holds -inf, expected a finite number",
        array("<f2", "(1, 1)", &[0, 0x7c])
            => "a.npy: row 0, column 0 (counted from 0) holds inf, expected a finite number",
        array("<i8", "(1, 2)", &bytes([0, 9_007_199_254_740_993i64].map(i64::to_le_bytes)))
            => "a.npy: row 0, column 1 (counted from 0) holds 9007199254740993, expected at most 2^53, beyond which 64-bit floats skip integers",
        array(">u8", "(2, 1)", &bytes([0, u64::MAX].map(u64::to_be_bytes)))
            => "a.npy: row 1, column 0 (counted from 0) holds 18446744073709551615, expected at most 2^53, beyond which 64-bit floats skip integers",
        array("|b1", "(1, 3)", &[0, 1, 2])
            => "a.npy: row 0, column 2 (counted from 0) holds the byte 2 as a bool, expected 0 or 1",
    }
}

#[test]
fn npz_archives_whose_arrays_do_not_fit() {
    let x = || array("|u1", "(2, 3)", &[0; 6]);
    let with = |name: &'static str, content: Vec<u8>| stored(&[("X.npy", x()), (name, content)]);
    let alone = |content: Vec<u8>| stored(&[("X.npy", content)]);
    let sparse = ["data", "format", "indices", "indptr", "shape"].map(|n| format!("{n}.npy"));
    let sparse: Vec<(&str, Vec<u8>)> = sparse.iter().map(|n| (n.as_str(), vec![])).collect();
    must_say! { "a.npz":
        stored(&[]) => "a.npz: expected the samples in an array `X`, found no array",
        stored(&[("readme.txt", b"hello".to_vec())])
            => "a.npz: expected the samples in an array `X`, found no array",
        stored(&[("train.npy", x()), ("test.npy", x())])
            => "a.npz: expected the samples in an array `X`, found `test`, `train`",
        stored(&[("x.npy", x()), ("data.npy", x())])
            => "a.npz: expected the samples in an array `X`, found `data`, `x`",
        stored(&[("y.npy", array("|u1", "(2,)", &[0; 2]))])
            => "a.npz: expected the samples in an array `X`, found `y`",
        stored(&sparse) => "a.npz: expected the samples in an array `X`, found a SciPy sparse matrix",
        alone(b"hello".to_vec())
            => "a.npz, array `X`: expected an NPY array, which starts with the bytes 93 4e 55 4d 50 59, found 68 65 6c 6c 6f",
        alone(array("|O", "(1, 2)", &[0; 16]))
            => "a.npz, array `X`: the array holds pickled Python objects (`|O`), expected plain numbers",
        alone(array("|u1", "(6,)", &[0; 6]))
            => "a.npz, array `X`: expected samples in rows, found an array with one axis of length 6",
        alone(array("<f8", "(2, 3)", &[0; 6]))
            => "a.npz, array `X`: the header claims shape (2, 3) of `<f8`, 117 bytes with the header, but there are 75",
        with("y.npy", array("|u1", "(3,)", &[0; 3]))
            => "a.npz: array `y` has 3 classes for 2 samples, expected one for each",
        with("y.npy", array("|u1", "(2, 1)", &[0; 2]))
            => "a.npz, array `y`: expected an array with one axis, found shape (2, 1)",
        with("y.npy", array("<f4", "(2,)", &bytes([1.0, 1.5f32].map(f32::to_le_bytes))))
            => "a.npz, array `y`: entry 1 (counted from 0) holds 1.5, expected a whole number as class",
        with("y.npy", array("<U1", "(2,)", &bytes([65, 0xd800u32].map(u32::to_le_bytes))))
            => "a.npz, array `y`: entry 1 (counted from 0) holds the code 0xd800, expected a Unicode character",
        with("y.npy", array("<U0", "(2,)", &[]))
            => "a.npz, array `y`: the array holds items of an unknown type (`<U0`), expected real numbers of at most 64 bits",
        with("y.npy", array("|O", "(2,)", &[0; 16]))
            => "a.npz, array `y`: the array holds pickled Python objects (`|O`), expected plain numbers",
        with("shape.npy", array("|u1", "(3,)", &[1, 3, 1]))
            => "a.npz: array `shape` has 3 numbers, expected height and width",
        with("shape.npy", array("|u1", "(2,)", &[2, 2]))
            => "a.npz: array `shape` says 2 × 2, which does not fit samples of 3 features",
        with("shape.npy", array("|i1", "(2,)", &[0xff, 0xfd]))
            => "a.npz, array `shape`: entry 0 (counted from 0) holds -1, expected 0 or more",
        with("shape.npy", array("<f8", "(2,)", &[0; 16]))
            => "a.npz, array `shape`: expected height and width as integers, found `<f8`",
    }
}

/// Writes into the first entry of the directory at the end of an archive: flags are at 8, the method at 10, the
/// unpacked size at 24, the offset of the entry at 42.
fn directory(archive: &[u8], at: usize, to: &[u8]) -> Vec<u8> {
    let mut archive = archive.to_vec();
    let start = archive.windows(4).position(|w| w == b"PK\x01\x02").expect("a directory");
    archive[start + at..][..to.len()].copy_from_slice(to);
    archive
}

#[test]
fn npz_archives_that_are_damaged() {
    let x = array("|u1", "(2, 3)", &[7; 6]);
    let whole = stored(&[("X.npy", x.clone())]);
    let size = (x.len() as u32).to_le_bytes();
    // The central directory comes after the entry, and repeats its sizes: compressed, then uncompressed.
    let (sizes, longer) = ([size, size].concat(), [size, (x.len() as u32 + 1).to_le_bytes()].concat());
    let bomb = npz(CompressionMethod::Deflated, &[("X.npy", array("|u1", "(2, 3)", &vec![0; 10_000_000]))]);
    assert!(bomb.len() < 20_000);
    // Header and directory agree on 4 GB that are not there.
    let claims = array("|u1", "(65535, 65535)", &[]);
    let claimed = (65535u32 * 65535 + claims.len() as u32).to_le_bytes();
    let twice = stored(&[("X.npy", x.clone()), ("Z.npy", x)]);
    must_say! { "a.npz":
        whole[..whole.len() - 1] => "a.npz: expected a zip archive that is whole, found one that is cut or damaged",
        whole[..40] => "a.npz: expected a zip archive that is whole, found one that is cut or damaged",
        *b"PK\x03\x04" => "a.npz: expected a zip archive that is whole, found one that is cut or damaged",
        patched(whole.clone(), 0, &[7; 6], &[7, 7, 7, 7, 7, 8])
            => "a.npz, array `X`: cannot read the array: Invalid checksum",
        patched(whole.clone(), 1, &sizes, &longer)
            => "a.npz, array `X`: the header claims shape (2, 3) of `|u1`, 75 bytes with the header, but there are 76",
        directory(&whole, 8, &[1]) => "a.npz: array `X` is encrypted, expected one that is not",
        directory(&whole, 10, &[12])
            => "a.npz: array `X` is packed by zip method 12, expected 0 (stored) or 8 (deflated)",
        directory(&whole, 42, &[9]) => "a.npz: array `X` cannot be unpacked: its entry is cut or damaged",
        patched(patched(twice, 1, b"Z.npy", b"X.npy"), 0, b"Z.npy", b"X.npy")
            => "a.npz: expected every array once, found entries of the same name",
        directory(&bomb, 24, &size)
            => "a.npz, array `X`: cannot read the array: File is larger than its declared uncompressed size",
        directory(&stored(&[("X.npy", claims.clone())]), 24, &claimed)
            => "a.npz, array `X`: the header claims shape (65535, 65535) of `|u1`, 4294836302 bytes with the header, but there are 77",
        bomb
            => "a.npz, array `X`: the header claims shape (2, 3) of `|u1`, 75 bytes with the header, but there are 10000069",
    }
}

#[test]
fn tables_that_are_not_tables_of_numbers() {
    let text = |text: &str| text.as_bytes().to_vec();
    must_say! { "a.csv":
        text("") => "a.csv is empty: expected NPY, NPZ or CSV, found 0 bytes",
        text("\u{feff}") => "a.csv: expected at least one row of numbers, found none",
        text("\n\n  \n") => "a.csv: expected at least one row of numbers, found none",
        text("a,b\n") => "a.csv: expected at least one row of numbers, found none",
        text("1,2\n3\n") => "a.csv: line 2: expected as many columns as the first row has (2), found 1",
        text("1,2\n\n\n3,4,5\n")
            => "a.csv: line 4: expected as many columns as the first row has (2), found 3",
        text("1,2\r\n3,4\r\n5\r\n")
            => "a.csv: line 3: expected as many columns as the first row has (2), found 1",
        text("a,b\n1,2\n3,x\n") => "a.csv: line 3, column 2 (`b`): expected a number, found `x`",
        text("1,2\n3,4 cm\n") => "a.csv: line 2, column 2: expected a number, found `4 cm`",
        text("1;2\n3;4,5\n") => "a.csv: line 2, column 2: expected a number, found `4,5`",
        text("1,,3\n") => "a.csv: line 1, column 2: expected a number, found an empty cell",
        text("a,b\n1,\n") => "a.csv: line 2, column 2 (`b`): expected a number, found an empty cell",
        text("a,b\n1,nan\n") => "a.csv: line 2, column 2 (`b`): expected a finite number, found `nan`",
        text("1,2\n-inf,4\n") => "a.csv: line 2, column 1: expected a finite number, found `-inf`",
        text("1,2\n3,1e999\n") => "a.csv: line 2, column 2: expected a finite number, found `1e999`",
        text("1,2\n\"3\n4\",5\n") => "a.csv: line 2, column 1: expected a number, found `3\\n4`",
        text("1,2\n\"3,4\n5,6\n")
            => "a.csv: line 2: expected as many columns as the first row has (2), found 1",
        text("a,label\n1,\n")
            => "a.csv: line 2, column 2 (`label`): expected a class, found an empty cell",
        text("label\nx\ny\n")
            => "a.csv: expected at least one column of numbers, found only labels and ids (1 in all)",
        text("# made by hand\n1,2\n")
            => "a.csv: line 2: expected as many columns as the first row has (1), found 2",
        *b"1,2\n3,\x00\n"
            => "a.csv is none of NPY, NPZ and CSV: it starts with the bytes 31 2c 32 0a 33 2c 00 0a, and byte 6 is not text in UTF-8",
        *b"1,2\n3,\xff\n"
            => "a.csv is none of NPY, NPZ and CSV: it starts with the bytes 31 2c 32 0a 33 2c ff 0a, and byte 6 is not text in UTF-8",
        *b"\xff\xfe1\x00,\x002\x00"
            => "a.csv is none of NPY, NPZ and CSV: it starts with the bytes ff fe 31 00 2c 00 32 00, and byte 0 is not text in UTF-8",
        *b"\x89PNG\r\n\x1a\n...."
            => "a.csv is none of NPY, NPZ and CSV: it starts with the bytes 89 50 4e 47 0d 0a 1a 0a, and byte 0 is not text in UTF-8",
        *b"\x93NUM"
            => "a.csv is none of NPY, NPZ and CSV: it starts with the bytes 93 4e 55 4d, and byte 0 is not text in UTF-8",
    }
}

#[test]
fn label_columns_that_are_not_there() {
    let table = b"a,b,b\n1,2,3\n";
    let cases = [
        (&table[..], "kind", "a: expected a label column `kind`, found `a`, `b`, `b`"),
        (table, "4", "a: expected a label column `4`, found `a`, `b`, `b`"),
        (table, "0", "a: expected a label column `0`, found `a`, `b`, `b`"),
        (table, "b", "a: expected one label column `b`, found columns 2 and 3 of this name"),
        (b"1,2\n", "kind", "a: expected a label column `kind`, found 2 columns without names"),
        (&npy(F8, &two()), "kind", "a: the label column `kind` was asked for, but NPY files have no label columns"),
        (&stored(&[]), "1", "a: the label column `1` was asked for, but NPZ files have no label columns"),
    ];
    compare(cases.map(|(bytes, label, expected)| (message("a", bytes, Some(label)), expected)));
}

#[test]
fn a_header_that_claims_32_gib_is_refused_before_any_memory_is_taken() {
    let (done, finished) = std::sync::mpsc::channel();
    let bytes = array("<f8", "(65536, 65536)", &[]);
    assert!(bytes.len() < 100);
    std::thread::scope(|scope| {
        scope.spawn(|| done.send(message("a.npy", &bytes, None)));
        let text = finished.recv_timeout(Duration::from_secs(5)).expect("refused at once");
        assert!(text.contains("34359738445 bytes with the header, but there are 77"), "{text}");
    });
}
