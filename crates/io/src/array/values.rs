//! The bytes of an array as numbers, bools or text.

use eigenspan_core::Mat;
use eigenspan_core::data::Matrix;

use super::{ArrayFault, BadValue, Encoding, Item, Layout, Order};

/// Up to here every integer is a 64-bit float.
pub(crate) const EXACT: i128 = 1 << 53;

/// Numbers in the order of the file, in the types that a [`Matrix`] holds.
pub(crate) enum Values {
    F64(Vec<f64>),
    F32(Vec<f32>),
    U8(Vec<u8>),
}

/// The values of an array with one axis.
pub(crate) enum List {
    Integers(Vec<i128>),
    Flags(Vec<bool>),
    Numbers(Vec<f64>),
    Names(Vec<String>),
}

impl Values {
    pub(crate) fn empty(item: Item) -> Self {
        match item {
            Item::F2 | Item::F4 => Self::F32(vec![]),
            Item::U1 | Item::Bool => Self::U8(vec![]),
            _ => Self::F64(vec![]),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }

    /// Makes space for exactly `count` values.
    pub(crate) fn reserve(&mut self, count: usize) -> Result<(), ArrayFault> {
        let (reserved, size) = match self {
            Self::F64(values) => (values.try_reserve_exact(count), 8),
            Self::F32(values) => (values.try_reserve_exact(count), 4),
            Self::U8(values) => (values.try_reserve_exact(count), 1),
        };
        reserved.map_err(|_| ArrayFault::Memory { bytes: count as u64 * size })
    }

    /// Takes whole items from `bytes`, of a type that goes into this one. After an error, [`len`](Self::len) is the
    /// index of the bad value.
    pub(crate) fn extend(&mut self, encoding: Encoding, bytes: &[u8]) -> Result<(), BadValue> {
        let big = encoding.big_endian;
        match self {
            Self::F64(out) => match encoding.item {
                Item::I1 => each(bytes, big, out, |b| exact(i8::from_le_bytes(b))),
                Item::U1 => each(bytes, big, out, |[byte]| exact(byte)),
                Item::I2 => each(bytes, big, out, |b| exact(i16::from_le_bytes(b))),
                Item::U2 => each(bytes, big, out, |b| exact(u16::from_le_bytes(b))),
                Item::I4 => each(bytes, big, out, |b| exact(i32::from_le_bytes(b))),
                Item::U4 => each(bytes, big, out, |b| exact(u32::from_le_bytes(b))),
                Item::I8 => each(bytes, big, out, |b| exact(i64::from_le_bytes(b))),
                Item::U8 => each(bytes, big, out, |b| exact(u64::from_le_bytes(b))),
                Item::F4 => each(bytes, big, out, |b| finite(f32::from_le_bytes(b).into())),
                _ => each(bytes, big, out, |b| finite(f64::from_le_bytes(b))),
            },
            Self::F32(out) => match encoding.item {
                Item::F2 => each(bytes, big, out, |b| finite(half(u16::from_le_bytes(b)))),
                // Singles that MATLAB found to be integers: those that 32 bits do not hold exactly are none of its.
                Item::I1 => each(bytes, big, out, |b| Ok(i8::from_le_bytes(b).into())),
                Item::U1 => each(bytes, big, out, |[byte]| Ok(byte.into())),
                Item::I2 => each(bytes, big, out, |b| Ok(i16::from_le_bytes(b).into())),
                Item::U2 => each(bytes, big, out, |b| Ok(u16::from_le_bytes(b).into())),
                Item::I4 => each(bytes, big, out, |b| Ok(i32::from_le_bytes(b) as f32)),
                Item::U4 => each(bytes, big, out, |b| Ok(u32::from_le_bytes(b) as f32)),
                _ => each(bytes, big, out, |b| finite(f32::from_le_bytes(b))),
            },
            Self::U8(out) => match encoding.item {
                Item::Bool => each(bytes, big, out, |[byte]| flag(byte).map(u8::from)),
                _ => each(bytes, big, out, |[byte]| Ok(byte)),
            },
        }
    }

    /// The values as samples in rows.
    pub(crate) fn into_matrix(self, order: Order, layout: &Layout) -> Matrix {
        fn rows<T: Copy>(values: Vec<T>, order: Order, layout: &Layout) -> Vec<T> {
            let cell = |at: usize| values[position(at / layout.cols, at % layout.cols, layout)];
            match order {
                Order::C => values,
                Order::Fortran => (0..values.len()).map(cell).collect(),
            }
        }
        const COUNTED: &str = "rows · cols values were read";
        let Layout { rows: n, cols: m, .. } = *layout;
        match self {
            Self::F64(v) => Mat::from_vec(n, m, rows(v, order, layout)).expect(COUNTED).into(),
            Self::F32(v) => Mat::from_vec(n, m, rows(v, order, layout)).expect(COUNTED).into(),
            Self::U8(v) => Mat::from_vec(n, m, rows(v, order, layout)).expect(COUNTED).into(),
        }
    }
}

impl List {
    /// All items of `bytes`; with an error comes the index of the bad value.
    pub(crate) fn decode(encoding: Encoding, bytes: &[u8]) -> Result<Self, (usize, BadValue)> {
        let big = encoding.big_endian;
        let integers = |decode: fn([u8; 8]) -> i128| {
            let size = encoding.item.bytes();
            let one = |chunk: &[u8]| {
                let mut wide = [0; 8];
                wide[..size].copy_from_slice(chunk);
                if big {
                    wide[..size].reverse();
                }
                decode(wide)
            };
            Ok(Self::Integers(bytes.chunks_exact(size).map(one).collect()))
        };
        match encoding.item {
            Item::U1 | Item::U2 | Item::U4 | Item::U8 => integers(|b| u64::from_le_bytes(b).into()),
            Item::I1 => integers(|b| (b[0] as i8).into()),
            Item::I2 => integers(|b| i16::from_le_bytes([b[0], b[1]]).into()),
            Item::I4 => integers(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()),
            Item::I8 => integers(|b| i64::from_le_bytes(b).into()),
            Item::Bool => collect(bytes, big, |[byte]| flag(byte)).map(Self::Flags),
            Item::F2 => collect(bytes, big, |b| Ok(half(u16::from_le_bytes(b)).into())).map(Self::Numbers),
            Item::F4 => collect(bytes, big, |b| Ok(f32::from_le_bytes(b).into())).map(Self::Numbers),
            Item::F8 => collect(bytes, big, |b| Ok(f64::from_le_bytes(b))).map(Self::Numbers),
            Item::Text(_) => {
                let name = |(at, chunk)| text(chunk, big).map_err(|code| (at, BadValue::NotUnicode(code)));
                bytes
                    .chunks_exact(encoding.item.bytes())
                    .enumerate()
                    .map(name)
                    .collect::<Result<_, _>>()
                    .map(Self::Names)
            }
        }
    }
}

impl List {
    /// The values as classes: integers, bools (as 0 and 1), whole floats or text. With an error comes the index of the
    /// bad value.
    pub(crate) fn into_classes(self) -> Result<Vec<String>, (usize, BadValue)> {
        let whole = |(at, value): (usize, &f64)| match value.fract() == 0.0 && value.abs() <= EXACT as f64 {
            true => Ok((*value as i64).to_string()),
            false => Err((at, BadValue::NotWhole(*value))),
        };
        match self {
            Self::Integers(values) => Ok(values.iter().map(i128::to_string).collect()),
            Self::Flags(values) => Ok(values.iter().map(|&flag| u8::from(flag).to_string()).collect()),
            Self::Numbers(values) => values.iter().enumerate().map(whole).collect(),
            Self::Names(names) => Ok(names),
        }
    }
}

/// The sample and the feature of the value at `index` in the file.
pub(crate) fn place(index: usize, order: Order, layout: &Layout) -> (usize, usize) {
    if order == Order::C {
        return (index / layout.cols, index % layout.cols);
    }
    let (row, pixel) = (index % layout.rows, index / layout.rows);
    match layout.image {
        Some(image) => (row, pixel % image.height * image.width + pixel / image.height),
        None => (row, pixel),
    }
}

/// Where an array in Fortran order keeps the value of a sample and a feature: its first axis runs fastest.
fn position(row: usize, column: usize, layout: &Layout) -> usize {
    let pixel = match layout.image {
        Some(image) => column / image.width + column % image.width * image.height,
        None => column,
    };
    row + pixel * layout.rows
}

/// Appends the value of every N bytes, turned to little-endian first.
fn each<const N: usize, T>(
    bytes: &[u8],
    big_endian: bool,
    out: &mut Vec<T>,
    value: impl Fn([u8; N]) -> Result<T, BadValue>,
) -> Result<(), BadValue> {
    for chunk in bytes.chunks_exact(N) {
        let mut item: [u8; N] = chunk.try_into().expect("chunks of N bytes");
        if big_endian {
            item.reverse();
        }
        out.push(value(item)?);
    }
    Ok(())
}

fn collect<const N: usize, T>(
    bytes: &[u8],
    big_endian: bool,
    value: impl Fn([u8; N]) -> Result<T, BadValue>,
) -> Result<Vec<T>, (usize, BadValue)> {
    let mut out = vec![];
    each(bytes, big_endian, &mut out, value).map_err(|bad| (out.len(), bad))?;
    Ok(out)
}

fn exact(value: impl Into<i128>) -> Result<f64, BadValue> {
    let value = value.into();
    match (-EXACT..=EXACT).contains(&value) {
        true => Ok(value as f64),
        false => Err(BadValue::Inexact(value)),
    }
}

fn finite<T: Into<f64> + Copy>(value: T) -> Result<T, BadValue> {
    match value.into().is_finite() {
        true => Ok(value),
        false => Err(BadValue::NotFinite(value.into())),
    }
}

fn flag(byte: u8) -> Result<bool, BadValue> {
    match byte {
        0 | 1 => Ok(byte == 1),
        _ => Err(BadValue::NotBool(byte)),
    }
}

/// UTF-32 text, padded with zeros; the code that is no character otherwise.
fn text(chunk: &[u8], big_endian: bool) -> Result<String, u32> {
    let code = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("chunks of four bytes");
        if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    let codes: Vec<u32> = chunk.chunks_exact(4).map(code).collect();
    let used = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    codes[..used].iter().map(|&code| char::from_u32(code).ok_or(code)).collect()
}

/// IEEE 754 half precision: 1 sign, 5 exponent and 10 fraction bits. Every half is a single.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_core::data::ImageShape;

    #[test]
    fn halves_have_the_values_that_the_standard_lists() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 2f32.powi(-14)),
            (0x0001, 2f32.powi(-24)),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits), value, "{bits:#06x}");
        }
        assert!(half(0x7e00).is_nan());
        assert_eq!(half(0x8000).to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn place_undoes_position() {
        let flat = Layout { rows: 3, cols: 8, image: None };
        let images = Layout { rows: 3, cols: 8, image: Some(ImageShape { height: 2, width: 4 }) };
        for layout in [flat, images] {
            for (row, column) in (0..3).flat_map(|i| (0..8).map(move |j| (i, j))) {
                assert_eq!(place(position(row, column, &layout), Order::Fortran, &layout), (row, column));
                assert_eq!(place(row * 8 + column, Order::C, &layout), (row, column));
            }
        }
    }

    #[test]
    fn integers_are_taken_up_to_the_last_exact_one() {
        assert_eq!(exact(1i64 << 53), Ok(9_007_199_254_740_992.0));
        assert_eq!(exact(-(1i64 << 53)), Ok(-9_007_199_254_740_992.0));
        assert_eq!(exact((1u64 << 53) + 1), Err(BadValue::Inexact((1 << 53) + 1)));
    }
}
