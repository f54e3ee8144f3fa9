//! The values of a column: as features, as classes, as names.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait};
use arrow_schema::DataType;

use crate::array::{BadValue, EXACT, List};

/// Why a cell cannot be taken.
#[derive(Debug)]
pub(super) enum Bad {
    Null,
    Value(BadValue),
    Length { expected: usize, found: usize },
    Long { bytes: usize },
}

/// The longest text that is a class or a name. A dictionary may hold a text once and repeat it in every row: what
/// becomes of it is bounded by this.
pub(super) const LONGEST: usize = 4096;

/// A number as it is kept in memory. What is read as such fits without rounding.
pub(super) trait Cell: Copy + Default {
    fn of(value: f64) -> Self;
}

impl Cell for f64 {
    fn of(value: f64) -> Self {
        value
    }
}

impl Cell for f32 {
    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Cell for u8 {
    fn of(value: f64) -> Self {
        value as u8
    }
}

pub(super) fn are_features(kind: &DataType) -> bool {
    is_number(number(kind))
}

pub(super) fn are_classes(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values) || is_number(values),
        _ => is_text(kind) || is_number(kind),
    }
}

pub(super) fn are_ids(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values) || values.is_integer(),
        _ => is_text(kind) || kind.is_integer(),
    }
}

/// What a list holds, or the type itself.
pub(super) fn number(kind: &DataType) -> &DataType {
    match kind {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.data_type(),
        _ => kind,
    }
}

pub(super) fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || matches!(kind, DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Boolean)
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// What a column of this type holds, for messages.
pub(super) fn words(kind: &DataType) -> String {
    let plain = match kind {
        _ if is_text(kind) => "text",
        _ if kind.is_integer() => "whole numbers",
        DataType::Boolean => "true and false",
        DataType::Float16 | DataType::Float32 | DataType::Float64 => "floating-point numbers",
        DataType::Date32 | DataType::Date64 => "dates",
        DataType::Timestamp(..) => "points in time",
        DataType::Time32(_) | DataType::Time64(_) => "times of day",
        DataType::Duration(_) | DataType::Interval(_) => "lengths of time",
        DataType::Struct(_) => "structs, which are columns within a column",
        DataType::Map(..) => "maps",
        DataType::Union(..) => "values of several types",
        DataType::Null => "nothing but nulls",
        DataType::RunEndEncoded(..) => "runs of equal values",
        DataType::ListView(_) | DataType::LargeListView(_) => "views of lists",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "raw bytes",
        DataType::Dictionary(_, values) => return format!("categories that are {}", words(values)),
        _ if is_list(kind) => return format!("lists of {}", words(number(kind))),
        _ => "fixed-point decimals",
    };
    plain.to_string()
}

/// The features that a column is: one, or as many as the first list is long.
pub(super) fn width(array: &dyn Array) -> usize {
    match array.data_type() {
        DataType::List(_) if array.is_valid(0) => array.as_list::<i32>().value_length(0) as usize,
        DataType::LargeList(_) if array.is_valid(0) => array.as_list::<i64>().value_length(0) as usize,
        DataType::FixedSizeList(_, length) => *length as usize,
        _ => 1,
    }
}

/// Writes a column into rows of `cols` numbers, from the column `first` on. With an error comes its row.
pub(super) fn fill<T: Cell>(
    array: &dyn Array,
    width: usize,
    out: &mut [T],
    first: usize,
    cols: usize,
) -> Result<(), (usize, Bad)> {
    no_nulls(array)?;
    let items = match array.data_type() {
        DataType::List(_) => list_items::<i32>(array, width)?,
        DataType::LargeList(_) => list_items::<i64>(array, width)?,
        DataType::FixedSizeList(..) => array.as_fixed_size_list().values().clone(),
        _ => return numbers(array, |i, value| out[i * cols + first] = T::of(value)),
    };
    let row_of = |(i, bad): (usize, Bad)| (i / width.max(1), bad);
    no_nulls(&items).map_err(row_of)?;
    numbers(&items, |i, value| out[i / width * cols + first + i % width] = T::of(value)).map_err(row_of)
}

/// The items of lists that are all `width` long.
fn list_items<O: OffsetSizeTrait>(array: &dyn Array, width: usize) -> Result<arrow_array::ArrayRef, (usize, Bad)> {
    let list = array.as_list::<O>();
    let offsets = list.value_offsets();
    for (row, pair) in offsets.windows(2).enumerate() {
        let found = (pair[1] - pair[0]).as_usize();
        if found != width {
            return Err((row, Bad::Length { expected: width, found }));
        }
    }
    Ok(list.values().slice(offsets[0].as_usize(), list.len() * width))
}

fn no_nulls(array: &dyn Array) -> Result<(), (usize, Bad)> {
    // A category may be null in the list of categories, too.
    match array.logical_nulls().and_then(|nulls| (0..nulls.len()).find(|&i| nulls.is_null(i))) {
        Some(row) => Err((row, Bad::Null)),
        None => Ok(()),
    }
}

/// Hands every number on, as a double that it equals.
fn numbers(array: &dyn Array, put: impl FnMut(usize, f64)) -> Result<(), (usize, Bad)> {
    match array.data_type() {
        DataType::Float64 => each::<Float64Type>(array, finite, put),
        DataType::Float32 => each::<Float32Type>(array, |v| finite(v.into()), put),
        DataType::Float16 => each::<Float16Type>(array, |v| finite(v.to_f64()), put),
        DataType::Int8 => each::<Int8Type>(array, |v| Ok(v.into()), put),
        DataType::Int16 => each::<Int16Type>(array, |v| Ok(v.into()), put),
        DataType::Int32 => each::<Int32Type>(array, |v| Ok(v.into()), put),
        DataType::Int64 => each::<Int64Type>(array, |v| exact(v.into()), put),
        DataType::UInt8 => each::<UInt8Type>(array, |v| Ok(v.into()), put),
        DataType::UInt16 => each::<UInt16Type>(array, |v| Ok(v.into()), put),
        DataType::UInt32 => each::<UInt32Type>(array, |v| Ok(v.into()), put),
        DataType::UInt64 => each::<UInt64Type>(array, |v| exact(v.into()), put),
        DataType::Boolean => {
            let mut put = put;
            array.as_boolean().values().iter().enumerate().for_each(|(i, flag)| put(i, f64::from(u8::from(flag))));
            Ok(())
        }
        _ => unreachable!("a column of another type is refused before it is read"),
    }
}

fn each<N: ArrowPrimitiveType>(
    array: &dyn Array,
    convert: impl Fn(N::Native) -> Result<f64, BadValue>,
    mut put: impl FnMut(usize, f64),
) -> Result<(), (usize, Bad)> {
    for (i, &value) in array.as_primitive::<N>().values().iter().enumerate() {
        put(i, convert(value).map_err(|bad| (i, Bad::Value(bad)))?);
    }
    Ok(())
}

fn finite(value: f64) -> Result<f64, BadValue> {
    if value.is_finite() { Ok(value) } else { Err(BadValue::NotFinite(value)) }
}

fn exact(value: i128) -> Result<f64, BadValue> {
    if value.abs() <= EXACT { Ok(value as f64) } else { Err(BadValue::Inexact(value)) }
}

/// A column as classes or names.
pub(super) fn classes(array: &dyn Array) -> Result<Vec<String>, (usize, Bad)> {
    no_nulls(array)?;
    if let DataType::Dictionary(..) = array.data_type() {
        let categories = array.as_any_dictionary();
        // A category that no row has may be anything.
        let names = list(categories.values())?.into_classes().map_err(|(_, bad)| (0, Bad::Value(bad)))?;
        return Ok(categories.normalized_keys().into_iter().map(|key| names[key].clone()).collect());
    }
    list(array)?.into_classes().map_err(|(row, bad)| (row, Bad::Value(bad)))
}

fn list(array: &dyn Array) -> Result<List, (usize, Bad)> {
    Ok(match array.data_type() {
        DataType::Utf8 => texts(array.as_string::<i32>().iter())?,
        DataType::LargeUtf8 => texts(array.as_string::<i64>().iter())?,
        DataType::Utf8View => texts(array.as_string_view().iter())?,
        DataType::Boolean => List::Flags(array.as_boolean().values().iter().collect()),
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float16 => floats::<Float16Type>(array, |v| v.to_f64()),
        DataType::Float32 => floats::<Float32Type>(array, f64::from),
        DataType::Float64 => floats::<Float64Type>(array, |v| v),
        _ => unreachable!("a column of another type is refused before it is read"),
    })
}

fn integers<N: ArrowPrimitiveType>(array: &dyn Array) -> List
where
    N::Native: Into<i128>,
{
    List::Integers(array.as_primitive::<N>().values().iter().map(|&value| value.into()).collect())
}

fn floats<N: ArrowPrimitiveType>(array: &dyn Array, wide: fn(N::Native) -> f64) -> List {
    List::Numbers(array.as_primitive::<N>().values().iter().map(|&value| wide(value)).collect())
}

fn texts<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Result<List, (usize, Bad)> {
    let text = |(row, text): (usize, Option<&str>)| match text.unwrap_or_default() {
        long if long.len() > LONGEST => Err((row, Bad::Long { bytes: long.len() })),
        text => Ok(text.to_string()),
    };
    texts.enumerate().map(text).collect::<Result<_, _>>().map(List::Names)
}
