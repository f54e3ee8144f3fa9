//! Values column after column, as MATLAB keeps them, become samples in rows.

use eigenspan_core::data::{Csr, Dataset, ImageShape, Labels};

use super::MatFault;
use super::classes::Classes;
use super::element::{Body, DOUBLE, Head, INT32, SINGLE, SPARSE, UINT8, UINT32};
use crate::array::{self, ArrayFault, BadValue, Encoding, Item, Layout, Order, Values};
use crate::error::ReadError;
use crate::read::told_image;

/// Samples of a sparse array that may be without a value beside as many as there are values: a row takes memory even
/// where the file has no byte for it.
pub(super) const MOST_EMPTY: usize = 1 << 20;

/// An array that may be the samples.
pub(super) struct Kept {
    pub(super) name: String,
    shape: Vec<usize>,
    values: Values,
    sparse: Option<Pattern>,
    /// The first value that cannot be taken: it matters only if the array is.
    bad: Option<(usize, BadValue)>,
}

/// Where the values of a sparse array belong: the row of each, and the first value of each column.
struct Pattern {
    rows: Vec<usize>,
    starts: Vec<usize>,
}

impl Kept {
    pub(super) fn read(head: &Head, body: &mut Body<'_>, counted: bool) -> Result<Self, MatFault> {
        let sparse = if head.class == SPARSE { Some(Pattern::read(head, body)?) } else { None };
        let (element, mut item) = head.values(body)?;
        // Sparse flags take a byte each, though their tag says 64-bit floats.
        if sparse.as_ref().is_some_and(|pattern| head.logical && element.bytes < 8 * pattern.rows.len() as u64) {
            item = Item::U1;
        }
        let (mut values, count) = (Values::empty(target(head.class)), element.bytes as usize / item.bytes());
        if counted && body.place.packed.is_none() {
            values.reserve(count)?;
        }
        let count = match &sparse {
            Some(pattern) if pattern.rows.len() > count => {
                let expected = format!("{} values", pattern.rows.len());
                return Err(MatFault::Sparse { expected, found: count.to_string() });
            }
            Some(pattern) => pattern.rows.len(),
            None => count,
        };
        let encoding = Encoding { item, big_endian: body.big_endian };
        let bad = match array::decode(body, encoding, count, &mut values, |index| (index, 0)) {
            Ok(()) => None,
            Err(ArrayFault::Cell { row, found, .. }) => Some((row, found)),
            Err(ArrayFault::Read { source }) => return Err(body.failed(source)),
            Err(fault) => return Err(fault.into()),
        };
        Ok(Self { name: head.name.clone(), shape: head.shape.clone(), values, sparse, bad })
    }
}

/// The type of the numbers of a class.
fn target(class: u8) -> Item {
    match class {
        SINGLE => Item::F4,
        UINT8 => Item::U1,
        _ => Item::F8,
    }
}

impl Head {
    /// Reads the tag of the values, and compares type and length with what the head says. Numbers of a class may be
    /// stored as a smaller type that holds them all.
    pub(super) fn values(&self, body: &mut Body<'_>) -> Result<(super::element::Element, Item), MatFault> {
        let place = body.place;
        let element = body.expect("the values of an array", &[])?;
        let fits = |item: &Item| match self.class {
            SPARSE | DOUBLE => true,
            SINGLE => !matches!(item, Item::F8 | Item::I8 | Item::U8),
            UINT8 => *item == Item::U1,
            // int8 is class 8, int16 and uint16 are 10 and 11, and so on.
            class => !matches!(item, Item::F4 | Item::F8) && item.bytes() <= 1 << ((class - 8) / 2),
        };
        let item = element.item().filter(fits);
        let item = item.ok_or_else(|| MatFault::Stored { place, class: self.kind(), found: element.kind })?;
        let count = |bytes: u64, &axis: &usize| bytes.checked_mul(axis as u64);
        let needed = self.shape.iter().try_fold(item.bytes() as u64, count);
        if self.class != SPARSE && needed != Some(element.bytes) {
            let (shape, item) = (self.shape.clone(), item.bytes());
            return Err(MatFault::ValueBytes { shape, item, needed, found: element.bytes });
        }
        Ok((element, item))
    }
}

impl Pattern {
    fn read(head: &Head, body: &mut Body<'_>) -> Result<Self, MatFault> {
        let [rows_claimed, columns] = *head.shape else {
            return Err(MatFault::Axes { shape: head.shape.clone() });
        };
        let mut numbers = |what, enough: &dyn Fn(u64) -> bool| {
            let place = body.place;
            let element = body.expect(what, &[INT32, UINT32])?;
            if !enough(element.bytes) {
                return Err(MatFault::Field { place, expected: what, found: element.bytes });
            }
            let data = body.data(&element)?;
            let number = |bytes: &[u8]| body.number(bytes.try_into().expect("chunks of four bytes")) as usize;
            Ok(data.chunks_exact(4).map(number).collect::<Vec<usize>>())
        };
        let mut rows = numbers("the rows of the values (type 5)", &|bytes| bytes % 4 == 0)?;
        let enough = |bytes: u64| bytes == 4 * (columns as u64 + 1);
        let starts = numbers("one number for every column and one more (type 5)", &enough)?;
        let fault = |expected: String, found: usize| Err(MatFault::Sparse { expected, found: found.to_string() });
        if starts[0] != 0 {
            return fault("column 0 to begin with value 0".to_string(), starts[0]);
        }
        if let Some(at) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
            return fault(format!("column {} to begin with value {} or later", at + 1, starts[at]), starts[at + 1]);
        }
        let stored = starts[columns];
        if stored > rows.len() {
            return fault(format!("the rows of {stored} values"), rows.len());
        }
        // Room for values to come may be stored behind them.
        rows.truncate(stored);
        if let Some(&row) = rows.iter().find(|&&row| row >= rows_claimed) {
            return fault(format!("rows below {rows_claimed}"), row);
        }
        Ok(Self { rows, starts })
    }

    /// Row and column of a value.
    fn place(&self, index: usize) -> (usize, usize) {
        (self.rows[index], self.starts.partition_point(|&start| start <= index) - 1)
    }
}

/// An array as a matrix: which of its places is which feature of which sample.
struct Arrangement {
    rows: usize,
    columns: usize,
    samples_are_columns: bool,
    image: Option<ImageShape>,
    /// Samples of a page, where pages are the classes.
    page: Option<usize>,
}

impl Arrangement {
    fn of(kept: &Kept, classes: Option<usize>) -> Result<Self, MatFault> {
        let name = kept.name.to_lowercase();
        let fault = |labels| Err(MatFault::LabelCount { labels, array: kept.name.clone(), shape: kept.shape.clone() });
        let matrix =
            |rows, columns, samples_are_columns| Self { rows, columns, samples_are_columns, image: None, page: None };
        match *kept.shape {
            [rows, columns] => match classes {
                Some(labels) if labels != rows && labels != columns => fault(labels),
                Some(labels) if rows != columns => Ok(matrix(rows, columns, labels == columns)),
                _ => Ok(matrix(rows, columns, name == "dat")),
            },
            [features, samples, pages] if name == "data" && classes.is_none() => {
                Ok(Self { page: Some(samples), ..matrix(features, samples * pages, true) })
            }
            [height, width, samples] => match classes {
                Some(labels) if labels != samples => fault(labels),
                _ => Ok(Self { image: Some(ImageShape { height, width }), ..matrix(height * width, samples, true) }),
            },
            _ => Err(MatFault::Axes { shape: kept.shape.clone() }),
        }
    }

    /// Number of samples and of features.
    fn size(&self) -> (usize, usize) {
        if self.samples_are_columns { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    /// Sample and feature of a place in the array. The pixels of an image lie column after column there.
    fn cell(&self, row: usize, column: usize) -> (usize, usize) {
        let (sample, pixel) = if self.samples_are_columns { (column, row) } else { (row, column) };
        match self.image {
            Some(ImageShape { height, width }) => (sample, pixel % height * width + pixel / height),
            None => (sample, pixel),
        }
    }

    /// The values as samples in rows.
    fn samples(&self, values: Values) -> eigenspan_core::data::Matrix {
        fn turned<T: Copy>(values: &[T], ImageShape { height, width }: ImageShape) -> Vec<T> {
            let pixels = |image: &[T]| {
                let pixel = |at: usize| image[at / width + at % width * height];
                (0..image.len()).map(pixel).collect::<Vec<T>>()
            };
            values.chunks_exact(height * width).flat_map(pixels).collect()
        }
        let (rows, cols) = self.size();
        let layout = Layout { rows, cols, image: self.image };
        let values = match (self.image, values) {
            (_, values) if !self.samples_are_columns => return values.into_matrix(Order::Fortran, &layout),
            (None, values) => values,
            (Some(image), Values::F64(values)) => Values::F64(turned(&values, image)),
            (Some(image), Values::F32(values)) => Values::F32(turned(&values, image)),
            (Some(image), Values::U8(values)) => Values::U8(turned(&values, image)),
        };
        values.into_matrix(Order::C, &layout)
    }

    /// The values of a sparse array as samples in rows.
    fn sparse(&self, pattern: &Pattern, values: &Values) -> Result<Csr, MatFault> {
        let Values::F64(values) = values else { unreachable!("sparse arrays are read as 64-bit floats") };
        let (samples, features) = self.size();
        if samples > values.len().saturating_add(MOST_EMPTY) {
            return Err(MatFault::Empty { samples, stored: values.len() });
        }
        let mut cells: Vec<(usize, usize, f64)> = vec![];
        for column in 0..self.columns {
            for at in pattern.starts[column]..pattern.starts[column + 1] {
                let (sample, feature) = self.cell(pattern.rows[at], column);
                cells.push((sample, feature, values[at]));
            }
        }
        cells.sort_unstable_by_key(|&(sample, feature, _)| (sample, feature));
        if let Some(twice) = cells.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
            let (expected, (sample, feature, _)) = ("every place once".to_string(), twice[0]);
            return Err(MatFault::Sparse { expected, found: format!("row {sample}, column {feature} twice") });
        }
        let starts = (0..=samples).map(|sample| cells.partition_point(|cell| cell.0 < sample)).collect();
        let columns = cells.iter().map(|cell| cell.1).collect();
        Ok(Csr::new(features, starts, columns, cells.iter().map(|cell| cell.2).collect()).expect("sorted places"))
    }
}

/// Samples in rows, with their classes. `image` is what the caller says that every sample is.
pub(super) fn dataset(
    file: &str,
    kept: Kept,
    classes: Option<Classes>,
    image: Option<ImageShape>,
) -> Result<Dataset, ReadError> {
    let named = |array: &str, fault: MatFault| ReadError::Content {
        file: file.to_string(),
        array: Some(array.to_string()),
        fault: Box::new(fault.into()),
    };
    let of_classes = |classes: &Classes, fault| named(&classes.array, fault);
    let count = match &classes {
        Some(classes) => Some(classes.len().map_err(|fault| of_classes(classes, fault))?),
        None => None,
    };
    let blamed = classes.as_ref().map_or(&kept.name, |classes| &classes.array);
    let mut arrangement = Arrangement::of(&kept, count).map_err(|fault| named(blamed, fault))?;
    if let Some(told) = image {
        let features = arrangement.size().1;
        arrangement.image = Some(told_image(file, told, features, arrangement.image)?);
    }
    if let Some((index, found)) = kept.bad {
        let place = |pattern: &Pattern| pattern.place(index);
        let (row, column) = kept.sparse.as_ref().map_or((index % arrangement.rows, index / arrangement.rows), place);
        let (row, column) = arrangement.cell(row, column);
        return Err(named(&kept.name, ArrayFault::Cell { row, column, found }.into()));
    }
    let labels = match (classes, arrangement.page) {
        (Some(classes), _) => {
            let array = classes.array.clone();
            Some(classes.into_names().map_err(|fault| named(&array, fault))?)
        }
        (None, Some(page)) => Some((0..arrangement.columns).map(|at| (at / page + 1).to_string()).collect()),
        (None, None) => None,
    };
    let image = arrangement.image;
    let samples = match &kept.sparse {
        Some(pattern) => arrangement.sparse(pattern, &kept.values).map_err(|fault| named(&kept.name, fault))?.into(),
        None => arrangement.samples(kept.values),
    };
    Ok(Dataset { labels: labels.map(|names: Vec<String>| Labels::from_names(&names)), image, ..Dataset::new(samples) })
}
