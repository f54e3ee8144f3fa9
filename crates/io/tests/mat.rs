//! MATLAB files: some made here byte by byte, some written by SciPy.

mod harm;

use std::io::Write;

use eigenspan_core::Mat;
use eigenspan_core::data::{Csr, Dataset, ImageShape, Matrix};
use eigenspan_io::{ReadOptions, read_bytes};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use harm::change_bytes;

const CELL: u8 = 1;
const CHAR: u8 = 4;
const SPARSE: u8 = 5;
const DOUBLE: u8 = 6;
const SINGLE: u8 = 7;
const UINT8: u8 = 9;

/// Writes elements, in one byte order or the other.
#[derive(Clone, Copy)]
struct Maker {
    big_endian: bool,
}

const LITTLE: Maker = Maker { big_endian: false };

impl Maker {
    /// Numbers given with their lowest byte first, in the byte order of the file.
    fn bytes<const N: usize>(self, numbers: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
        let ordered = |mut bytes: [u8; N]| {
            if self.big_endian {
                bytes.reverse();
            }
            bytes
        };
        numbers.into_iter().flat_map(ordered).collect()
    }

    fn words(self, words: &[u32]) -> Vec<u8> {
        self.bytes(words.iter().map(|word| word.to_le_bytes()))
    }

    /// An element with its tag and padding; short where it can be.
    fn element(self, kind: u32, data: &[u8]) -> Vec<u8> {
        let (tag, size) = match data.len() {
            bytes @ 1..=4 => (self.words(&[(bytes as u32) << 16 | kind]), 4),
            bytes => (self.words(&[kind, bytes as u32]), 8),
        };
        let mut element = [tag, data.to_vec()].concat();
        element.resize(element.len().next_multiple_of(size), 0);
        element
    }

    /// An array up to its values.
    fn head(self, flags: u32, shape: &[u32], name: &str) -> Vec<u8> {
        let parts = [(6, self.words(&[flags, 0])), (5, self.words(shape)), (1, name.as_bytes().to_vec())];
        parts.iter().flat_map(|(kind, data)| self.element(*kind, data)).collect()
    }

    fn array(self, name: &str, class: u8, shape: &[u32], kind: u32, values: &[u8]) -> Vec<u8> {
        let parts = [self.head(class.into(), shape, name), self.element(kind, values)];
        self.element(14, &parts.concat())
    }

    fn packed(self, element: &[u8]) -> Vec<u8> {
        let mut packer = ZlibEncoder::new(vec![], Compression::default());
        packer.write_all(element).expect("memory takes all bytes");
        let packed = packer.finish().expect("a packed element");
        [self.words(&[15, packed.len() as u32]), packed].concat()
    }

    fn file(self, elements: &[Vec<u8>]) -> Vec<u8> {
        let mut header = vec![b' '; 124];
        header[..10].copy_from_slice(b"MATLAB 5.0");
        header.extend_from_slice(if self.big_endian { b"\x01\x00MI" } else { b"\x00\x01IM" });
        [header, elements.concat()].concat()
    }
}

fn doubles(values: &[f64]) -> Vec<u8> {
    LITTLE.bytes(values.iter().map(|value| value.to_le_bytes()))
}

fn matrix(name: &str, rows: u32, columns: u32) -> Vec<u8> {
    let values: Vec<u8> = (0..rows * columns).map(|value| value as u8).collect();
    LITTLE.array(name, UINT8, &[rows, columns], 2, &values)
}

fn list(name: &str, values: &[u8]) -> Vec<u8> {
    LITTLE.array(name, DOUBLE, &[values.len() as u32, 1], 2, values)
}

fn try_with(bytes: &[u8], array: Option<&str>, image: Option<(usize, usize)>) -> Result<Dataset, String> {
    let image = image.map(|(height, width)| ImageShape { height, width });
    let options = ReadOptions { array: array.map(str::to_string), image, ..ReadOptions::default() };
    read_bytes("a.mat", bytes, &options).map_err(|error| {
        assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "no hint for: {error}");
        error.to_string()
    })
}

fn read(bytes: &[u8]) -> Dataset {
    try_with(bytes, None, None).unwrap()
}

fn message(elements: &[Vec<u8>]) -> String {
    try_with(&LITTLE.file(elements), None, None).map(|_| "read".to_string()).unwrap_or_else(|message| message)
}

/// The class of every sample.
fn classes(data: &Dataset) -> Vec<&str> {
    let labels = data.labels.as_ref().expect("classes");
    labels.of.iter().map(|&class| &*labels.names[class]).collect()
}

fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    let samples = data.samples.view().to_f64();
    samples.as_slice().chunks_exact(data.samples.cols()).map(<[f64]>::to_vec).collect()
}

#[test]
fn numbers_are_read_as_their_class_however_they_are_stored() {
    let numbers = [1u8, 0, 100, 7];
    for big_endian in [false, true] {
        let maker = Maker { big_endian };
        let whole = |size: usize| -> Vec<u8> {
            let wide = numbers.iter().map(|&v| u64::from(v).to_le_bytes());
            match size {
                1 => numbers.to_vec(),
                2 => maker.bytes(wide.map(|b| [b[0], b[1]])),
                4 => maker.bytes(wide.map(|b| [b[0], b[1], b[2], b[3]])),
                _ => maker.bytes(wide),
            }
        };
        let singles = maker.bytes(numbers.map(|v| f32::from(v).to_le_bytes()));
        let floats = maker.bytes(numbers.map(|v| f64::from(v).to_le_bytes()));
        let stored = [(1, whole(1)), (2, whole(1)), (3, whole(2)), (4, whole(2)), (5, whole(4)), (6, whole(4))];
        let stored = [&stored[..], &[(12, whole(8)), (13, whole(8)), (7, singles), (9, floats)]].concat();
        let all: &[u32] = &[1, 2, 3, 4, 5, 6, 7, 9, 12, 13];
        for (class, kinds) in [
            (DOUBLE, all),
            (SINGLE, &[1, 2, 3, 4, 5, 6, 7]),
            (8, &[1]),
            (UINT8, &[2]),
            (10, &[1, 2, 3]),
            (11, &[2, 4]),
            (12, &[5]),
            (13, &[6]),
            (14, &[12]),
            (15, &[13]),
        ] {
            for (kind, values) in stored.iter().filter(|(kind, _)| kinds.contains(kind)) {
                let array = maker.array("X", class, &[2, 2], *kind, values);
                for element in [array.clone(), maker.packed(&array)] {
                    let data = read(&maker.file(&[element]));
                    assert_eq!(rows(&data), [[1.0, 100.0], [0.0, 7.0]], "class {class} stored as {kind}");
                    let is_of_class = match class {
                        SINGLE => matches!(data.samples, Matrix::F32(_)),
                        UINT8 => matches!(data.samples, Matrix::U8(_)),
                        _ => matches!(data.samples, Matrix::F64(_)),
                    };
                    assert!(is_of_class, "class {class} stored as {kind}");
                }
            }
        }
    }
}

#[test]
fn samples_are_rows_and_those_of_dat_columns_unless_the_classes_say_otherwise() {
    let size = |elements: &[Vec<u8>]| {
        let data = read(&LITTLE.file(elements));
        (data.samples.rows(), data.samples.cols())
    };
    assert_eq!(size(&[matrix("X", 2, 3)]), (2, 3));
    assert_eq!(size(&[matrix("DAT", 2, 3)]), (3, 2));
    for name in ["X", "fea", "DAT", "other"] {
        assert_eq!(size(&[matrix(name, 2, 3), list("y", &[1, 2])]), (2, 3), "{name}");
        assert_eq!(size(&[list("labels", &[1, 2, 3]), matrix(name, 2, 3)]), (3, 2), "{name}");
    }
    let square = |name| rows(&read(&LITTLE.file(&[matrix(name, 2, 2), list("y", &[1, 2])])));
    assert_eq!(square("X"), [[0.0, 2.0], [1.0, 3.0]]);
    assert_eq!(square("dat"), [[0.0, 1.0], [2.0, 3.0]]);
}

#[test]
fn a_usual_name_is_preferred_and_others_must_be_asked_for() {
    let file = LITTLE.file(&[matrix("a", 2, 3), matrix("b", 3, 3), matrix("FEA", 4, 3), matrix("c", 5, 3)]);
    assert_eq!(read(&file).samples.rows(), 4);
    assert_eq!(try_with(&file, Some("c"), None).unwrap().samples.rows(), 5);
    assert_eq!(
        try_with(&file, Some("d"), None).unwrap_err(),
        "a.mat: expected an array `d`, found `a` (2 × 3 uint8), `b` (3 × 3 uint8), `FEA` (4 × 3 uint8), `c` (5 × 3 uint8)"
    );
    assert_eq!(
        message(&[matrix("a", 2, 3), list("v", &[1]), matrix("b", 3, 3)]),
        "a.mat: expected one array of samples, found `a` (2 × 3 uint8), `b` (3 × 3 uint8)"
    );
    assert_eq!(try_with(&LITTLE.file(&[list("y", &[1, 2])]), Some("y"), None).unwrap().samples.rows(), 2);
}

#[test]
fn the_classes_that_go_with_the_name_of_the_samples_are_taken() {
    let file =
        |name| LITTLE.file(&[list("y", &[1, 2]), list("gnd", &[3, 4]), matrix(name, 2, 3), list("Labels", &[5, 6])]);
    for (name, expected) in [("X", ["1", "2"]), ("fea", ["3", "4"]), ("data", ["5", "6"]), ("other", ["5", "6"])] {
        assert_eq!(classes(&read(&file(name))), expected, "{name}");
    }
}

#[test]
fn classes_may_be_text() {
    let texts = LITTLE.array("y", CHAR, &[2, 3], 16, b"oealk ");
    assert_eq!(classes(&read(&LITTLE.file(&[matrix("X", 2, 3), texts]))), ["oak", "el"]);
    let units: Vec<u8> = "oealk ".bytes().flat_map(|byte| [byte, 0]).collect();
    let texts = LITTLE.array("y", CHAR, &[2, 3], 4, &units);
    assert_eq!(classes(&read(&LITTLE.file(&[matrix("X", 2, 3), texts]))), ["oak", "el"]);
    let cell = |text: &str| LITTLE.array("", CHAR, &[1, text.len() as u32], 16, text.as_bytes());
    let cells = |cells: [Vec<u8>; 2]| [LITTLE.head(CELL.into(), &[1, 2], "y"), cells.concat()].concat();
    let texts = LITTLE.element(14, &cells([cell("elm"), cell("a longer name")]));
    assert_eq!(classes(&read(&LITTLE.file(&[matrix("X", 2, 3), texts]))), ["elm", "a longer name"]);
    let mixed = LITTLE.element(14, &cells([cell("elm"), list("", &[1])]));
    assert_eq!(
        message(&[matrix("X", 2, 3), mixed]),
        "a.mat, array `y`: expected classes as whole numbers or as text, found a cell with 1 × 1 double"
    );
}

#[test]
fn three_axes_are_images_and_those_of_data_without_classes_are_pages() {
    let values: Vec<u8> = (0..12).collect();
    let stack = |name| LITTLE.array(name, UINT8, &[2, 3, 2], 2, &values);
    let turned = [[0.0, 2.0, 4.0, 1.0, 3.0, 5.0], [6.0, 8.0, 10.0, 7.0, 9.0, 11.0]];
    for file in [LITTLE.file(&[stack("faces")]), LITTLE.file(&[stack("data"), list("y", &[1, 1])])] {
        let data = read(&file);
        assert_eq!(
            (rows(&data), data.image),
            (turned.map(Vec::from).to_vec(), Some(ImageShape { height: 2, width: 3 }))
        );
    }
    let pages = read(&LITTLE.file(&[stack("data")]));
    assert_eq!(rows(&pages)[..2], [[0.0, 1.0], [2.0, 3.0]]);
    assert_eq!((classes(&pages), pages.image), (vec!["1", "1", "1", "2", "2", "2"], None));
}

#[test]
fn samples_said_to_be_images_are_turned() {
    let shape = Some(ImageShape { height: 2, width: 3 });
    // Sample 0 is 0, 1, … 5 column after column.
    for file in [matrix("DAT", 6, 2), {
        let values: Vec<u8> = (0..6).flat_map(|pixel| [pixel, pixel + 6]).collect();
        LITTLE.array("X", UINT8, &[2, 6], 2, &values)
    }] {
        let file = LITTLE.file(&[file]);
        let data = try_with(&file, None, Some((2, 3))).unwrap();
        assert_eq!((rows(&data)[0].clone(), data.image), (vec![0.0, 2.0, 4.0, 1.0, 3.0, 5.0], shape));
        assert_eq!(rows(&read(&file))[0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(
            try_with(&file, None, Some((2, 2))).unwrap_err(),
            "a.mat: images of 2 × 2 were requested, which does not fit samples of 6 features"
        );
    }
}

#[test]
fn sparse_arrays_stay_sparse() {
    let array = |name: &str, starts: &[u32], kind, values: &[u8]| {
        let head = LITTLE.head(u32::from(SPARSE) | 0x200, &[2, 3], name);
        let places = [LITTLE.element(5, &LITTLE.words(&[1, 0, 1, 0])), LITTLE.element(5, &LITTLE.words(starts))];
        LITTLE.element(14, &[head, places.concat(), LITTLE.element(kind, values)].concat())
    };
    let values = doubles(&[5.0, 6.0, 7.0]);
    let samples = |name, kind, values: &[u8]| read(&LITTLE.file(&[array(name, &[0, 1, 1, 3], kind, values)])).samples;
    let rows = |of: [f64; 3]| Csr::new(3, vec![0, 1, 3], vec![2, 0, 2], vec![of[1], of[0], of[2]]).unwrap();
    assert_eq!(samples("fea", 9, &values), Matrix::Csr(rows([5.0, 6.0, 7.0])));
    let columns = Csr::new(2, vec![0, 1, 1, 3], vec![1, 0, 1], vec![5.0, 6.0, 7.0]).unwrap();
    assert_eq!(samples("DAT", 9, &values), Matrix::Csr(columns));
    // Flags: a byte each under a tag that says floats.
    assert_eq!(samples("fea", 9, &[1, 1, 1]), Matrix::Csr(rows([1.0; 3])));
    for (starts, expected) in [
        ([1, 1, 1, 3], "expected column 0 to begin with value 0, found 1"),
        ([0, 2, 1, 3], "expected column 2 to begin with value 2 or later, found 1"),
        ([0, 1, 1, 9], "expected the rows of 9 values, found 4"),
        ([0, 3, 3, 3], "expected every place once, found row 1, column 0 twice"),
    ] {
        assert_eq!(message(&[array("fea", &starts, 9, &values)]), format!("a.mat, array `fea`: {expected}"));
    }
}

#[test]
fn a_bad_value_is_named_by_sample_and_feature_if_it_is_needed() {
    let bad = |name| LITTLE.array(name, DOUBLE, &[2, 3], 9, &doubles(&[0.0, 1.0, 2.0, 3.0, f64::NAN, 5.0]));
    let said = |array: &str, row, column| {
        format!(
            "a.mat, array `{array}`: row {row}, column {column} (counted from 0) holds NaN, expected a finite number"
        )
    };
    assert_eq!(message(&[bad("X")]), said("X", 0, 2));
    assert_eq!(message(&[bad("X"), list("y", &[1, 2, 3])]), said("X", 2, 0));
    assert_eq!(message(&[bad("DAT")]), said("DAT", 2, 0));
    assert_eq!(message(&[bad("other"), matrix("X", 2, 3)]), "read");
}

#[test]
fn a_bad_pixel_is_named_as_it_lies_in_the_turned_image() {
    let mut values = [0.0; 12];
    values[3] = f64::INFINITY;
    let array = LITTLE.array("DAT", DOUBLE, &[6, 2], 9, &doubles(&values));
    assert_eq!(
        try_with(&LITTLE.file(&[array]), None, Some((2, 3))).unwrap_err(),
        "a.mat, array `DAT`: row 0, column 4 (counted from 0) holds inf, expected a finite number"
    );
}

#[test]
fn a_packed_array_ends_where_it_says_and_has_its_checksum() {
    let array = matrix("X", 2, 3);
    assert_eq!(
        message(&[LITTLE.packed(&[array.clone(), vec![0; 8]].concat())]),
        "a.mat: byte 64 of what is packed at byte 128: expected the end of the packed array, found more bytes"
    );
    let mut packed = LITTLE.packed(&array);
    *packed.last_mut().unwrap() ^= 1;
    assert_eq!(message(&[packed]), "a.mat: what is packed at byte 128 cannot be unpacked: corrupt deflate stream");
}

/// The files of SciPy 1.17 (`scipy.io.savemat`), from byte 116 on: the text before it holds the date.
fn scipy(hexadecimal: &str) -> Vec<u8> {
    let bytes = hexadecimal.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
    let mut file = vec![b' '; 116];
    file[..19].copy_from_slice(b"MATLAB 5.0 MAT-file");
    file.extend(bytes.map(|pair| u8::from_str_radix(pair, 16).expect("digits")));
    file
}

const SCIPY_STORED: &str = "00000000000000000001494d0e0000004800000006000000080000000700000000000000050000000800000002000\
00003000000010003006665610007000000180000000000803f00008040000000400000a040000040400000c0400e000000300000000600000008000000\
09000000000000000500000008000000020000000100000001000300676e64000200020007090000";

const SCIPY_PACKED: &str = "00000000000000000001494d0f00000039000000789ce36360604800623620e680d220c00ae533013133103302610490\
e60462030618f8610fa1051ca0020720940894cf01a5251c00b17904630f00000039000000789ce36360609801c46c40cc01c48c0c10c08ac46702d38c0\
c95409a0f880d90d4b36051cf8c648e0090979f984d96bed49c5c0600398404a40f0000002f000000789ce3636060b000623620e600621606086085f219\
81981d4cb330e4e597a40a40f949950a198979290c00458f04d6";

const SCIPY_PAGES: &str = "00000000000000000001494d0f0000003a000000789c2dc9890900200c03c0b4fe0fcee51a8223b83f466ce0082103c0a4\
48990a7e02755272d62f028fbdce52fb1135fb2ac995d0debc53710275";

#[test]
fn the_files_of_another_writer_are_read() {
    let data = read(&scipy(SCIPY_STORED));
    assert_eq!(data.samples, Matrix::F32(Mat::from_vec(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap()));
    assert_eq!(classes(&data), ["7", "9"]);
    let data = read(&scipy(SCIPY_PACKED));
    assert_eq!(rows(&data), [[1.5, -2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(classes(&data), ["oak", "elm"]);
    let data = read(&scipy(SCIPY_PAGES));
    assert_eq!(rows(&data)[3], [1.0, 7.0]);
    assert_eq!(classes(&data), ["1", "1", "1", "2", "2", "2"]);
}

#[test]
fn a_file_inside_gzip_is_read_and_its_cuts_are_refused() {
    for file in [scipy(SCIPY_STORED), scipy(SCIPY_PACKED)] {
        let mut packer = GzEncoder::new(vec![], Compression::default());
        packer.write_all(&file).unwrap();
        let packed = packer.finish().unwrap();
        assert_eq!(rows(&read(&packed)), rows(&read(&file)));
        for end in 128..file.len() {
            let mut packer = GzEncoder::new(vec![], Compression::default());
            packer.write_all(&file[..end]).unwrap();
            let cut = try_with(&packer.finish().unwrap(), None, None);
            // Without the classes, or what follows them, the file is whole.
            assert!(cut.is_err() || cut.is_ok_and(|data| data.samples.rows() == 2 && end > 192), "{end}");
        }
    }
}

#[test]
fn a_damaged_file_is_read_or_refused() {
    let sparse = {
        let parts = [LITTLE.head(SPARSE.into(), &[3, 2], "fea"), LITTLE.element(5, &LITTLE.words(&[1, 0, 2]))];
        let more = [LITTLE.element(5, &LITTLE.words(&[0, 1, 3])), LITTLE.element(9, &doubles(&[1.0, 2.0, 3.0]))];
        LITTLE.element(14, &[parts.concat(), more.concat()].concat())
    };
    let arrays = [matrix("X", 2, 3), list("y", &[1, 2])];
    let packed = [LITTLE.packed(&arrays[0]), LITTLE.packed(&arrays[1])];
    let files =
        [LITTLE.file(&arrays), LITTLE.file(&packed), scipy(SCIPY_PACKED), scipy(SCIPY_PAGES), LITTLE.file(&[sparse])];
    for file in files {
        // The text of the header may say anything.
        change_bytes(&file, 124, harm::is_read);
        for end in 0..file.len() {
            // What ends after a whole array is a whole file.
            if let Ok(data) = try_with(&file[..end], None, None) {
                assert!(data.samples.rows() >= 2, "cut at {end}");
            }
        }
    }
}
