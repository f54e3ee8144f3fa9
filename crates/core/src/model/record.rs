//! Models as plain data: facts for a header and arrays beside it. Files are written and read through this.

use std::collections::BTreeMap;

use eigenspan_linalg::Mat;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::model::fitted::Settings;

/// A model that can be taken apart and put together again.
pub trait Record: Sized {
    /// The parameters of the method.
    type Params: Settings;
    /// What is known besides the arrays.
    type Facts: Serialize + DeserializeOwned;
    /// The parameters of the fit.
    fn params(&self) -> &Self::Params;
    /// The facts and the arrays, all of them.
    fn take_apart(&self) -> (Self::Facts, Arrays);
    /// The model again, checked: facts and arrays may come from anywhere. Arrays are finite.
    fn put_together(facts: Self::Facts, arrays: Arrays) -> Result<Self, Error>;
}

/// Arrays by name. A vector is a matrix of one row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arrays {
    named: BTreeMap<String, Mat>,
}

impl Arrays {
    /// Adds an array.
    pub fn with(mut self, name: &str, array: Mat) -> Self {
        self.named.insert(name.into(), array);
        self
    }

    /// Adds a vector.
    pub fn with_vector(self, name: &str, values: &[f64]) -> Self {
        let row = Mat::from_vec(1, values.len(), values.to_vec()).expect("one row");
        self.with(name, row)
    }

    /// Adds a vector where there is one.
    pub fn with_some(self, name: &str, values: Option<&Vec<f64>>) -> Self {
        match values {
            Some(values) => self.with_vector(name, values),
            None => self,
        }
    }

    /// The array of this name, which must be there.
    pub fn take(&mut self, name: &str) -> Result<Mat, Error> {
        self.named.remove(name).ok_or_else(|| Error::Model(format!("no array `{name}`")))
    }

    /// The array of this name, if there is one.
    pub fn take_some(&mut self, name: &str) -> Option<Mat> {
        self.named.remove(name)
    }

    /// The vector of this name, if there is one; it must have `len` entries.
    pub fn take_vector(&mut self, name: &str, len: usize) -> Result<Option<Vec<f64>>, Error> {
        match self.named.remove(name) {
            None => Ok(None),
            Some(array) if array.rows() == 1 && array.cols() == len => Ok(Some(array.into_vec())),
            Some(array) => {
                let (rows, cols) = (array.rows(), array.cols());
                Err(Error::Model(format!("array `{name}` is expected to be 1 × {len}, found {rows} × {cols}")))
            }
        }
    }

    /// Refuses arrays that nobody took.
    pub fn finish(self) -> Result<(), Error> {
        match self.named.keys().next() {
            Some(name) => Err(Error::Model(format!("unknown array `{name}`"))),
            None => Ok(()),
        }
    }

    /// Names and arrays, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Mat)> {
        self.named.iter().map(|(name, array)| (name.as_str(), array))
    }
}
