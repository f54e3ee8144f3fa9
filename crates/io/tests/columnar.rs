//! Parquet and Arrow: what is written reads back, what others write is read, and what is damaged is refused.
#![cfg(feature = "columnar")]

mod chunks;
mod harm;

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Float64Builder, LargeListBuilder, ListBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int8Type, Int32Type};
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use eigenspan_core::Mat;
use eigenspan_core::data::{Dataset, Matrix};
use eigenspan_io::{Names, ReadOptions, create, read, read_bytes};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

type F16 = <Float16Type as ArrowPrimitiveType>::Native;

fn table(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter(columns.iter().map(|(name, array)| (*name, array.clone()))).unwrap()
}

fn parquet(batches: &[RecordBatch]) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
    let mut writer = ArrowWriter::try_new(vec![], batches[0].schema(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn options(packed: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(packed).unwrap()
}

fn arrow_file(batches: &[RecordBatch], packed: Option<CompressionType>) -> Vec<u8> {
    let mut writer = FileWriter::try_new_with_options(vec![], &batches[0].schema(), options(packed)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batches: &[RecordBatch], packed: Option<CompressionType>) -> Vec<u8> {
    let mut writer = StreamWriter::try_new_with_options(vec![], &batches[0].schema(), options(packed)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// The same table in every format.
fn in_every_format(batches: &[RecordBatch]) -> Vec<Vec<u8>> {
    let mut files = vec![parquet(batches)];
    for packed in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        files.push(arrow_file(batches, packed));
        files.push(arrow_stream(batches, packed));
    }
    files
}

/// Whether this is a format that is read chunk by chunk.
fn streams(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

/// What is read at once; in chunks it is the same.
fn taken(bytes: &[u8]) -> Dataset {
    let data = read_bytes("data", bytes, &ReadOptions::default()).unwrap();
    if streams(bytes) {
        chunks::give(bytes, &data);
    }
    data
}

/// How bytes are refused: at once and in chunks alike.
fn said(bytes: &[u8]) -> String {
    let said = read_bytes("data", bytes, &ReadOptions::default()).unwrap_err().to_string();
    for at_most in if streams(bytes) { [1, 2, 100].as_slice() } else { &[] } {
        assert_eq!(chunks::refusal(bytes, *at_most).as_ref(), Some(&said));
    }
    said
}

/// What a table is read as: the same from all formats.
fn taken_from_all(columns: &[(&str, ArrayRef)]) -> Dataset {
    let mut all = in_every_format(&[table(columns)]).into_iter().map(|file| taken(&file));
    let first = all.next().unwrap();
    all.for_each(|other| assert_eq!(other, first));
    first
}

/// How a table is refused: alike from all formats.
fn refused(columns: &[(&str, ArrayRef)]) -> String {
    let mut all = in_every_format(&[table(columns)]).into_iter().map(|file| said(&file));
    let first = all.next().unwrap();
    all.for_each(|other| assert_eq!(other, first));
    first
}

fn numbers(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

#[test]
fn numbers_of_every_type_are_written_and_read_back_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let doubles = vec![0.1, -0.0, 5e-324, f64::MAX, 1.0 / 3.0, -1e300];
    let singles = vec![0.1f32, -0.0, 1e-45, f32::MAX, 1.0 / 3.0, -1e30];
    let matrices: [Matrix; 3] = [
        Mat::from_vec(3, 2, doubles).unwrap().into(),
        Mat::from_vec(3, 2, singles).unwrap().into(),
        Mat::from_vec(3, 2, vec![0u8, 255, 1, 2, 127, 128]).unwrap().into(),
    ];
    let ids: Vec<String> = ["a", "", "ü", "d", "e", "f"].map(String::from).to_vec();
    let columns = ["width".to_string(), "height".to_string()];
    for matrix in matrices {
        let names = Names { columns: Some(&columns), ids: Some(ids.clone()) };
        let mut sink = create(&path, 2, names).unwrap();
        sink.write_block(&matrix).unwrap();
        sink.write_block(&matrix).unwrap();
        sink.finish().unwrap();
        let back = read(&path, &ReadOptions::default()).unwrap();
        // Equality of floats takes -0 for 0.
        assert_eq!(format!("{:?}", back.samples), format!("{:?}", matrix.select_rows(&[0, 1, 2, 0, 1, 2])));
        assert_eq!((back.ids.unwrap(), back.feature_names.unwrap()), (ids.clone(), columns.to_vec()));
    }
}

#[test]
fn more_rows_than_a_row_group_holds_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let rows = 70_000;
    let mut sink = create(&path, 1, Names::default()).unwrap();
    for start in [0, rows] {
        let block = (start..start + rows).map(f64::from).collect();
        sink.write_block(&Mat::from_vec(rows as usize, 1, block).unwrap().into()).unwrap();
    }
    sink.finish().unwrap();
    let back = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(back.feature_names.unwrap(), ["x0"]);
    assert!(back.samples.into_f64().into_vec().into_iter().eq((0..2 * rows).map(f64::from)));
}

#[test]
fn a_sink_takes_blocks_of_one_width_and_type_and_may_stay_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let mut sink = create(&path, 2, Names::default()).unwrap();
    sink.write_block(&Mat::from_vec(1, 2, vec![1u8, 2]).unwrap().into()).unwrap();
    let narrow = sink.write_block(&Mat::from_vec(1, 1, vec![1u8]).unwrap().into()).unwrap_err();
    assert!(narrow.to_string().contains("expected rows of 2 columns, found a block of 1"), "{narrow}");
    let other = sink.write_block(&Mat::from_vec(1, 2, vec![1.0, 2.0]).unwrap().into()).unwrap_err();
    assert!(other.to_string().contains("type U8 as in the first block, found F64"), "{other}");
    drop(sink);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a sink dropped before it is finished");
    create(&path, 2, Names::default()).unwrap().finish().unwrap();
    let error = read(&path, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("expected at least one row, found none"), "{error}");
}

#[test]
fn every_type_of_number_is_a_feature() {
    let data = taken_from_all(&[
        ("f64", numbers(&[0.1, -0.5])),
        ("f32", Arc::new(Float32Array::from(vec![0.25, 1e30]))),
        ("f16", Arc::new(Float16Array::from(vec![F16::from_f32(1.5), F16::from_f32(-2.0)]))),
        ("i8", Arc::new(Int8Array::from(vec![-128, 127]))),
        ("i16", Arc::new(Int16Array::from(vec![-300, 300]))),
        ("i32", Arc::new(Int32Array::from(vec![i32::MIN, i32::MAX]))),
        ("i64", Arc::new(Int64Array::from(vec![-(1 << 53), 1 << 53]))),
        ("u8", Arc::new(UInt8Array::from(vec![0, 255]))),
        ("u16", Arc::new(UInt16Array::from(vec![0, u16::MAX]))),
        ("u32", Arc::new(UInt32Array::from(vec![0, u32::MAX]))),
        ("u64", Arc::new(UInt64Array::from(vec![0, 1 << 53]))),
        ("bool", Arc::new(BooleanArray::from(vec![true, false]))),
    ]);
    let (low, high) = (f64::from(i32::MIN), f64::from(i32::MAX));
    let big = 2f64.powi(53);
    let first = [0.1, 0.25, 1.5, -128.0, -300.0, low, -big, 0.0, 0.0, 0.0, 0.0, 1.0];
    let second =
        [-0.5, f64::from(1e30f32), -2.0, 127.0, 300.0, high, big, 255.0, 65535.0, f64::from(u32::MAX), big, 0.0];
    assert_eq!(data.samples, Matrix::F64(Mat::from_vec(2, 12, [first, second].concat()).unwrap()));
    assert_eq!(data.feature_names.unwrap()[10..], ["u64", "bool"]);
}

#[test]
fn the_samples_are_as_narrow_as_all_columns_allow() {
    let byte: ArrayRef = Arc::new(UInt8Array::from(vec![7]));
    let flag: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let single: ArrayRef = Arc::new(Float32Array::from(vec![0.1]));
    let half: ArrayRef = Arc::new(Float16Array::from(vec![F16::from_f32(0.5)]));
    let samples = |a: &ArrayRef, b: &ArrayRef| taken_from_all(&[("a", a.clone()), ("b", b.clone())]).samples;
    assert_eq!(samples(&byte, &flag), Matrix::U8(Mat::from_vec(1, 2, vec![7, 1]).unwrap()));
    assert_eq!(samples(&single, &half), Matrix::F32(Mat::from_vec(1, 2, vec![0.1, 0.5]).unwrap()));
    assert_eq!(samples(&byte, &half), Matrix::F64(Mat::from_vec(1, 2, vec![7.0, 0.5]).unwrap()));
}

#[test]
fn classes_come_as_text_numbers_or_categories() {
    let texts = vec!["b", "a", "b"];
    let categories: DictionaryArray<Int8Type> = texts.iter().copied().collect();
    let columns: [(ArrayRef, [&str; 2]); 8] = [
        (Arc::new(StringArray::from(texts.clone())), ["a", "b"]),
        (Arc::new(LargeStringArray::from(texts.clone())), ["a", "b"]),
        (Arc::new(StringViewArray::from(texts)), ["a", "b"]),
        (Arc::new(categories), ["a", "b"]),
        (Arc::new(Int16Array::from(vec![10, -9, 10])), ["-9", "10"]),
        (Arc::new(UInt64Array::from(vec![u64::MAX, 1, u64::MAX])), ["1", "18446744073709551615"]),
        (Arc::new(BooleanArray::from(vec![true, false, true])), ["0", "1"]),
        (Arc::new(Float32Array::from(vec![3.0, -2.0, 3.0])), ["-2", "3"]),
    ];
    for (column, names) in columns {
        let mut found = vec![];
        for name in ["label", "class", "target", "y"] {
            let data = taken_from_all(&[("x", numbers(&[1.0, 2.0, 3.0])), (name, column.clone())]);
            assert_eq!(data.samples.cols(), 1);
            found.push(data.labels.unwrap());
        }
        assert!(
            found.iter().all(|labels| (&labels.names[..], &labels.of[..]) == (&names.map(String::from), &[1, 0, 1]))
        );
    }
}

#[test]
fn the_label_asked_for_is_found_by_name_or_number() {
    for file in in_every_format(&[table(&[
        ("x", numbers(&[1.0, 2.0])),
        ("kind", text(&["u", "v"])),
        ("y", numbers(&[3.0, 4.0])),
    ])]) {
        for requested in ["kind", "2"] {
            let data = read_bytes("data", &file, &ReadOptions { label: Some(requested.into()), ..Default::default() })
                .unwrap();
            assert_eq!(data.labels.unwrap().names, ["u", "v"]);
            assert_eq!(data.feature_names.unwrap(), ["x", "y"]);
        }
        let error =
            read_bytes("data", &file, &ReadOptions { label: Some("z".into()), ..Default::default() }).unwrap_err();
        assert_eq!(error.to_string(), "data: expected a label column `z`, found `x`, `kind`, `y`");
    }
}

#[test]
fn rows_are_named_by_a_first_id_or_by_the_index_of_pandas() {
    let x = || numbers(&[1.0, 2.0]);
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![20, -1]));
    assert_eq!(taken_from_all(&[("id", text(&["a", "b"])), ("x", x())]).ids.unwrap(), ["a", "b"]);
    assert_eq!(taken_from_all(&[("id", whole.clone()), ("x", x())]).ids.unwrap(), ["20", "-1"]);
    assert_eq!(taken_from_all(&[("x", x()), ("__index_level_0__", text(&["a", "b"]))]).ids.unwrap(), ["a", "b"]);
    let second = taken_from_all(&[("x", x()), ("id", whole.clone())]);
    assert_eq!((second.ids, second.samples.cols()), (None, 2));
    let both = taken_from_all(&[("id", whole), ("x", x()), ("__index_level_0__", text(&["a", "b"]))]);
    assert_eq!((both.ids.unwrap(), both.samples.cols()), (vec!["20".to_string(), "-1".to_string()], 1));
}

#[test]
fn lists_of_one_length_are_as_many_features() {
    let mut list = ListBuilder::new(Float64Builder::new());
    let mut large = LargeListBuilder::new(Float32Builder::new());
    let mut fixed = FixedSizeListBuilder::new(Float64Builder::new(), 2);
    for row in [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] {
        row.iter().for_each(|&v| list.values().append_value(v));
        row.iter().for_each(|&v| large.values().append_value(v as f32));
        row.iter().for_each(|&v| fixed.values().append_value(v));
        list.append(true);
        large.append(true);
        fixed.append(true);
    }
    let lists: [(&str, ArrayRef); 3] =
        [("a", Arc::new(list.finish())), ("b", Arc::new(large.finish())), ("c", Arc::new(fixed.finish()))];
    for (name, list) in lists {
        let data = taken_from_all(&[("x", numbers(&[7.0, 8.0, 9.0])), (name, list), ("label", text(&["u", "v", "u"]))]);
        let names = ["x".to_string(), format!("{name}_0"), format!("{name}_1")];
        assert_eq!(data.feature_names.unwrap(), names);
        assert_eq!(data.samples.into_f64().into_vec(), [7.0, 1.0, 2.0, 8.0, 3.0, 4.0, 9.0, 5.0, 6.0]);
    }
}

#[test]
fn several_batches_and_dictionaries_are_one_table() {
    let category = |values: &[&str]| {
        let categories: DictionaryArray<Int32Type> = values.iter().copied().collect();
        Arc::new(categories) as ArrayRef
    };
    let first = table(&[("x", numbers(&[1.0, 2.0, 3.0])), ("label", category(&["u", "v", "u"]))]);
    let second = table(&[("x", numbers(&[4.0])), ("label", category(&["w"]))]);
    let batches = [first.clone(), second, first.slice(0, 0), first.slice(1, 2)];
    // A file has one dictionary for all batches: only the others may change it.
    for file in [parquet(&batches), arrow_stream(&batches, None), arrow_stream(&batches, Some(CompressionType::ZSTD))] {
        let data = taken(&file);
        assert_eq!(data.samples.into_f64().into_vec(), [1.0, 2.0, 3.0, 4.0, 2.0, 3.0]);
        let labels = data.labels.unwrap();
        assert_eq!((labels.names, labels.of), (["u", "v", "w"].map(String::from).to_vec(), vec![0, 1, 0, 2, 1, 0]));
    }
    let data = taken(&arrow_file(&[first.clone(), first.slice(1, 1)], None));
    assert_eq!(data.samples.into_f64().into_vec(), [1.0, 2.0, 3.0, 2.0]);
}

#[test]
fn what_cannot_be_taken_is_named_by_row_and_column() {
    let x = || numbers(&[1.0, 2.0, 3.0]);
    let missing: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), None]));
    let no_class: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let no_name: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(1), Some(2)]));
    let identifiers: ArrayRef = Arc::new(Int64Array::from(vec![0, 1, (1 << 53) + 1]));
    let days: ArrayRef = Arc::new(Date32Array::from(vec![1, 2, 3]));
    let money: ArrayRef = Arc::new(Decimal128Array::from(vec![1, 2, 3]));
    let raw: ArrayRef = Arc::new(BinaryArray::from(vec![&b"a"[..], b"b", b"c"]));
    let record: ArrayRef = Arc::new(StructArray::from(table(&[("deep", x())])));
    let (long, three) = ("a".repeat(4097), [1.0, 2.0, f64::NAN]);
    for (columns, message) in [
        (vec![("x", missing)], "row 2 (counted from 0), column `x`: expected a number, found a null"),
        (vec![("x", x()), ("y", no_class)], "row 1 (counted from 0), column `y`: expected a class, found a null"),
        (vec![("id", no_name), ("x", x())], "row 0 (counted from 0), column `id`: expected a name, found a null"),
        (
            vec![("x", x()), ("z", numbers(&three))],
            "row 2 (counted from 0), column `z` holds NaN, expected a finite number",
        ),
        (
            vec![("x", identifiers)],
            "row 2 (counted from 0), column `x` holds 9007199254740993, expected at most 2^53, beyond which 64-bit floats skip integers",
        ),
        (
            vec![("x", x()), ("y", numbers(&[0.0, 0.5, 1.0]))],
            "row 1 (counted from 0), column `y` holds 0.5, expected a whole number as class",
        ),
        (vec![("x", x()), ("city", text(&["a", "b", "c"]))], "column `city` holds text, expected numbers"),
        (vec![("x", x()), ("day", days.clone())], "column `day` holds dates, expected numbers"),
        (vec![("x", x()), ("label", days)], "column `label` holds dates, expected classes"),
        (vec![("price", money)], "column `price` holds fixed-point decimals, expected numbers"),
        (vec![("raw", raw)], "column `raw` holds raw bytes, expected numbers"),
        (vec![("id", x()), ("x", x())], "column `id` holds floating-point numbers, expected names of samples"),
        (vec![("p", record)], "column `p` holds structs, which are columns within a column, expected numbers"),
        (vec![("label", x())], "expected at least one column of numbers, found only labels and ids (1 in all)"),
        (
            vec![("x", x()), ("y", text(&["a", &long, "b"]))],
            "row 1 (counted from 0), column `y`: expected at most 4096 bytes of text, found 4097",
        ),
        (vec![("x", numbers(&[]))], "expected at least one row, found none"),
    ] {
        assert_eq!(refused(&columns), format!("data: {message}"));
    }
}

#[test]
fn lists_of_several_lengths_are_refused() {
    let lists = |lengths: &[usize]| {
        let mut list = ListBuilder::new(Float64Builder::new());
        for &length in lengths {
            (0..length).for_each(|v| list.values().append_value(v as f64));
            list.append(true);
        }
        table(&[("e", Arc::new(list.finish()) as ArrayRef)])
    };
    let by_row = "data: row 1 (counted from 0), column `e`: expected a list of 2 as in row 0, found 1";
    assert_eq!(said(&arrow_stream(&[lists(&[2, 1, 3])], None)), by_row);
    // A Parquet footer counts values: 3 in a row group of 2 rows cannot be lists of one length.
    assert_eq!(
        said(&parquet(&[lists(&[2, 1, 3])])),
        "data: column `e`: expected lists of one length, found 3 values in 2 rows"
    );
    let across = "data: row 2 (counted from 0), column `e`: expected a list of 2 as in row 0, found 3";
    assert_eq!(said(&parquet(&[lists(&[2, 2, 3, 3])])), across);
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().map(|digit| (digit as char).to_digit(16).unwrap() as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

// Written by pyarrow 26 and pandas 3: Snappy, pages of version 2, dictionaries, an index and a category; gzip and a
// list of a fixed length; a stream packed by LZ4 with a dictionary.
const PANDAS: &str = "\
    5041523115041530152c4c15061500120000180000050104e03f05072800f4bf83b63ad29712c0011506150c150c5c1506150015061510150415\
    00121c00000006010203240015041518151c4c150615001200000c2c03000000fa000000000000001506150c150c5c1506150015061510150415\
    00121c0000000601020324001504151c15204c150415001200000e3403000000656c6d030000006f616b1506150a150a5c150615001506151015\
    041500121c00000006010103051504151e15224c150615001200000f380100000061010000006201000000631506150c150c5c15061500150615\
    1015041500121c0000000601020324001504195c35001806736368656d61150800150a25021805776964746800150225021805636f756e742516\
    4cac130812000000150c250218056c6162656c25004c1c000000150c250218115f5f696e6465785f6c6576656c5f305f5f25004c1c0000001606\
    191c194c26001c150a193500061019180577696474681502160616880116840126502608292c15041500150200150015101502003c2906192600\
    0600000026001c15021935000610191805636f756e74150216061670167426c401268c01292c15041500150200150015101502003c2906192600\
    0600000026001c150c19350006101918056c6162656c150216061672167626bc02268002292c15041500150200150015101502003c1612190619\
    26000600000026001c150c19350006101918115f5f696e6465785f6c6576656c5f305f5f150216061676167a26b40326f602292c150415001502\
    00150015101502003c160619061926000600000016e0031606260816e803002820706172717565742d6370702d6172726f772076657273696f6e\
    2032362e302e31194c1c00001c00001c00001c0000009c01000050415231";
const EMBEDDINGS: &str = "\
    504152311504152015424c150815001200001f8b0800000000000203636068b0676060700022209ee00000050665c1100000001500152015442c\
    15081510150615061c0000001f8b08000000000002036362606060e66202921ccc4ccc4f1800f88c71c31000000015041510152e4c1504150012\
    00001f8b08000000000002036364800000f7df88a90800000015001512153a2c15041510150615061c0000001f8b080000000000020363626060\
    6061646466020055a52241090000001504195c35001806736368656d611504003502180165150215064c3c000000350418046c69737415020015\
    0825021807656c656d656e740015022502180179251e4cac1308110000001604191c192c26001c1508193500061019380165046c69737407656c\
    656d656e741504160816820116c80126662608292c15041500150200150015101502003c2926040419460000000800000026001c150219350006\
    101918017915041604166416aa01269a0226d001292c15041500150200150015101502003c29061926000400000016e6011604260816f2020028\
    20706172717565742d6370702d6172726f772076657273696f6e2032362e302e31192c1c00001c0000000301000050415231";
const STREAM: &str = "\
    ffffffff000100001000000000000a000c000600050008000a0000000001040004000000b0ffffff0400000003000000a4000000640000001400\
    0000100018000800060007000c00100014001000000000000105140000003c00000020000000040000000000000005000000636c617373000000\
    0800080000000400080000000400000090ffffff00000001200000000400040004000000d4ffffff000001021000000018000000040000000000\
    00000100000078000600080004000600000008000000100014000800060007000c00000010001000000000000102100000001c00000004000000\
    00000000020000006964000008000c0008000700080000000000000140000000ffffffffb800000014000000000000000c001800060005000800\
    0c000c0000000002040018000000480000000000000000000000080008000000040008000000100000000c001c001000040008000c000c000000\
    580000001c0000001400000002000000000000000000000004000400040000000300000000000000000000000000000000000000000000000000\
    00002300000000000000280000000000000019000000000000000000000001000000020000000000000000000000000000000c00000000000000\
    04224d186040820c000080000000000100000002000000000000000000000000020000000000000004224d186040820200008075760000000000\
    000000000000fffffffff800000014000000000000000c0018000600050008000c000c000000000304001c000000780000000000000000000000\
    0c001c001000040008000c000c000000880000001c00000014000000030000000000000000000000040004000400000006000000000000000000\
    0000000000000000000000000000000000002a000000000000003000000000000000000000000000000030000000000000001a00000000000000\
    50000000000000000000000000000000500000000000000023000000000000000000000003000000030000000000000000000000000000000300\
    000000000000000000000000000003000000000000000000000000000000180000000000000004224d1860408213000000220700010012080700\
    9000090000000000000000000000000000000000030000000000000004224d1860408203000080010203000000000000000000000c0000000000\
    000004224d186040820c000080000000000100000000000000000000000000000000ffffffff00000000";

#[test]
fn files_of_pyarrow_are_read() {
    let data = taken(&from_hex(PANDAS));
    assert_eq!(data.samples.into_f64().into_vec(), [0.5, 3.0, -1.25, 250.0, 3e-300, 0.0]);
    assert_eq!(data.feature_names.unwrap(), ["width", "count"]);
    assert_eq!(
        (data.ids.unwrap(), data.labels.unwrap().of),
        (["a", "b", "c"].map(String::from).to_vec(), vec![1, 0, 1])
    );
    let data = taken(&from_hex(EMBEDDINGS));
    assert_eq!(data.samples, Matrix::F32(Mat::from_vec(2, 2, vec![1.0, 2.0, 3.0, 4.5]).unwrap()));
    assert_eq!(
        (data.feature_names.unwrap(), data.labels.unwrap().of),
        (["e_0", "e_1"].map(String::from).to_vec(), vec![1, 0])
    );
    let data = taken(&from_hex(STREAM));
    assert_eq!(data.samples, Matrix::U8(Mat::from_vec(3, 1, vec![1, 2, 3]).unwrap()));
    assert_eq!(
        (data.ids.unwrap(), data.labels.unwrap().names),
        (["7", "8", "9"].map(String::from).to_vec(), ["u", "v"].map(String::from).to_vec())
    );
}

mod damage {
    use super::*;

    /// Whether the bytes are read: at once and in chunks, or neither.
    fn is_read(bytes: &[u8]) -> bool {
        let whole = harm::is_read(bytes);
        if streams(bytes) {
            let refusal = chunks::refusal(bytes, 3);
            assert_eq!(refusal.is_none(), whole, "{refusal:?}");
            assert!(refusal.is_none_or(|said| said.contains("data")));
        }
        whole
    }

    fn files() -> Vec<Vec<u8>> {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i % 5)).collect();
        let classes: DictionaryArray<Int8Type> = (0..40).map(|i| if i % 3 == 0 { "oak" } else { "elm" }).collect();
        let batch = table(&[("x", numbers(&values)), ("label", Arc::new(classes))]);
        let mut files: Vec<Vec<u8>> = [PANDAS, EMBEDDINGS, STREAM].map(from_hex).to_vec();
        files.extend(in_every_format(&[batch.slice(0, 2), batch.slice(2, 38)]).into_iter().skip(1));
        files.push(parquet(&[batch.slice(0, 5)]));
        let mut packed = ArrowWriter::try_new(vec![], batch.schema(), None).unwrap();
        packed.write(&batch).unwrap();
        files.push(packed.into_inner().unwrap());
        files
    }

    #[test]
    fn one_changed_byte_is_read_or_refused() {
        files().iter().for_each(|file| harm::change_bytes(file, 0, is_read));
    }

    #[test]
    fn a_word_changed_to_a_large_number_is_read_or_refused() {
        let large = [0x7fff_ffffu32, 0xffff_ffff, 0x7fff_fff0, 0x4000_0000, 0x0fff_ffff];
        for file in files() {
            for at in 0..file.len() - 4 {
                let mut damaged = file.clone();
                damaged[at..at + 4].copy_from_slice(&large[at % large.len()].to_le_bytes());
                is_read(&damaged);
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_refused_and_a_stream_is_read_as_far_as_its_whole_messages_go() {
        for file in files() {
            let is_stream = file.starts_with(&[0xff; 4]);
            for end in 0..file.len() {
                assert!(!is_read(&file[..end]) || is_stream, "{end} of {}", file.len());
            }
        }
    }
}
