//! The classes of samples: a vector of whole numbers, a matrix of characters with a name in every row, or cells with
//! a name in each.

use super::MatFault;
use super::element::{Body, CHAR, Element, Head, INT8, MATRIX, SPARSE, UTF8};
use crate::array::{Encoding, List};

/// Names of classes, in lower case.
const NAMES: [&str; 4] = ["labels", "label", "y", "gnd"];

const CELL: u8 = 1;

/// The classes that a file holds under some name.
pub(super) struct Classes {
    pub(super) array: String,
    values: Values,
}

enum Values {
    /// The bytes of numbers. They become names when it is clear that these are needed.
    Numbers(Encoding, Vec<u8>),
    Text(Vec<String>),
    /// What are no classes: their size and class.
    Other(String),
}

/// Whether classes have such a name.
pub(super) fn is_name(name: &str) -> bool {
    NAMES.contains(&&*name.to_lowercase())
}

/// The classes that go with the array of samples of some name.
pub(super) fn partner(samples: &str, classes: Vec<Classes>) -> Option<Classes> {
    let first = match &*samples.to_lowercase() {
        "fea" => "gnd",
        "x" => "y",
        _ => "labels",
    };
    let order = |classes: &Classes| {
        let name = classes.array.to_lowercase();
        (name != first, NAMES.iter().position(|known| *known == name))
    };
    classes.into_iter().min_by_key(order)
}

impl Classes {
    /// Reads classes; `None` if the array is of a kind that holds none.
    pub(super) fn read(head: &Head, body: &mut Body<'_>) -> Result<Option<Self>, MatFault> {
        let values = match head.class {
            CHAR if head.shape.len() == 2 => Values::Text(rows(head, body)?),
            CELL if head.is_vector() => cells(head, body)?,
            _ if head.is_real() && head.class != SPARSE && head.is_vector() => numbers(head, body)?,
            _ => return Ok(None),
        };
        Ok(Some(Self { array: head.name.clone(), values }))
    }

    /// How many there are.
    pub(super) fn len(&self) -> Result<usize, MatFault> {
        match &self.values {
            Values::Numbers(encoding, bytes) => Ok(bytes.len() / encoding.item.bytes()),
            Values::Text(names) => Ok(names.len()),
            Values::Other(found) => Err(MatFault::NotClasses { found: found.clone() }),
        }
    }

    /// The class of every sample.
    pub(super) fn into_names(self) -> Result<Vec<String>, MatFault> {
        let fault = |(at, found)| MatFault::Class { at, found };
        match self.values {
            Values::Numbers(encoding, bytes) => {
                List::decode(encoding, &bytes).and_then(List::into_classes).map_err(fault)
            }
            Values::Text(names) => Ok(names),
            Values::Other(found) => Err(MatFault::NotClasses { found }),
        }
    }
}

fn numbers(head: &Head, body: &mut Body<'_>) -> Result<Values, MatFault> {
    let (element, item) = head.values(body)?;
    let encoding = Encoding { item, big_endian: body.big_endian };
    Ok(Values::Numbers(encoding, body.data(&element)?))
}

/// The rows of a matrix of characters, without the spaces at their ends.
fn rows(head: &Head, body: &mut Body<'_>) -> Result<Vec<String>, MatFault> {
    let place = body.place;
    let element = body.expect("the characters of an array", &[])?;
    let data = body.data(&element)?;
    let characters = characters(&element, &data, body.big_endian);
    let characters = characters.ok_or(MatFault::Stored { place, class: head.kind(), found: element.kind })?;
    let (rows, found) = (head.shape[0], characters.len());
    if rows.checked_mul(head.shape[1]) != Some(found) {
        return Err(MatFault::Characters { shape: head.shape.clone(), found });
    }
    if found == 0 {
        return Ok(vec![]);
    }
    let row = |i: usize| characters[i..].iter().step_by(rows).collect::<String>().trim_end().to_string();
    Ok((0..rows).map(row).collect())
}

fn characters(element: &Element, data: &[u8], big_endian: bool) -> Option<Vec<char>> {
    let unit = |bytes: &[u8]| match big_endian {
        true => u16::from_be_bytes([bytes[0], bytes[1]]),
        false => u16::from_le_bytes([bytes[0], bytes[1]]),
    };
    // Half of a character beyond 16 bits is a place of its own to MATLAB.
    let character = |unit: u16| char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some(match element.kind {
        UTF8 => String::from_utf8_lossy(data).chars().collect(),
        INT8 | 2 => data.iter().map(|&byte| char::from(byte)).collect(),
        4 | 17 => data.chunks_exact(2).map(|bytes| character(unit(bytes))).collect(),
        _ => return None,
    })
}

/// The text in every cell; what else there may be is no class.
fn cells(head: &Head, body: &mut Body<'_>) -> Result<Values, MatFault> {
    let mut names = vec![];
    for _ in 0..head.shape.iter().product() {
        let element = body.expect("a cell (type 14)", &[MATRIX])?;
        let (place, big_endian) = (body.place, body.big_endian);
        let mut inner = Body::new(body, big_endian, place, element.bytes);
        let cell = match element.bytes {
            0 => return Ok(Values::Other("an empty cell".to_string())),
            _ => Head::read(&mut inner)?,
        };
        if cell.class != CHAR || cell.shape[0] > 1 {
            return Ok(Values::Other(format!("a cell with {}", cell.kind())));
        }
        names.push(rows(&cell, &mut inner)?.pop().unwrap_or_default());
        inner.skip(u64::MAX)?;
    }
    Ok(Values::Text(names))
}
