//! The outside of the files that are ours alone, models and summaries: safetensors, one JSON text among its metadata
//! under a key that tells which, and a checksum over everything.
//!
//! The checksum is the SHA-256 of the whole file with the checksum's own 64 digits set to `0`: one flipped bit anywhere
//! is noticed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView, View, serialize};
use sha2::{Digest, Sha256};

use crate::json_fault::in_words;

/// The key of models.
pub(crate) const MODEL: &str = "eigenspan";
/// The key of summaries.
pub(crate) const SUMMARY: &str = "eigenspan-summary";
/// The key of checkpoints.
pub(crate) const CHECKPOINT: &str = "eigenspan-checkpoint";
/// The keys, and what files with them are.
const KINDS: [(&str, &str); 3] =
    [(MODEL, "a model"), (SUMMARY, "a summary of samples"), (CHECKPOINT, "a checkpoint of a fit")];

/// Sixty-four digits that stand for the checksum while it is computed.
pub(crate) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A tensor of f64.
pub(crate) struct Array {
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

impl Array {
    pub fn new(name: &str, shape: &[usize], values: &[f64]) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), values: values.to_vec() }
    }
}

/// A tensor as it is stored, for files that no writer makes.
#[cfg(test)]
pub(crate) struct Tensor {
    pub name: &'static str,
    pub kind: Dtype,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

#[cfg(test)]
impl Tensor {
    pub fn bytes(name: &'static str, bytes: Vec<u8>) -> Self {
        Self { name, kind: Dtype::U8, shape: vec![bytes.len()], bytes }
    }

    pub fn numbers(name: &'static str, values: &[f64]) -> Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self { name, kind: Dtype::F64, shape: vec![values.len()], bytes }
    }
}

/// The kinds of files: the key of the JSON, and the latest format.
#[derive(Clone, Copy)]
pub(crate) struct Stamp {
    pub key: &'static str,
    pub latest: u32,
}

/// Why the outside of a file is not whole.
#[derive(Debug)]
pub(crate) enum Broken {
    /// No such file, or cut short.
    NotSealed(String),
    /// Another kind of file of ours.
    OtherKind(&'static str),
    /// A later format.
    Version(u64),
    /// The checksum is wrong.
    Damaged,
}

/// What is inside a file whose outside is whole: settings as JSON, and tensors.
pub(crate) struct Opened<'a> {
    pub json: String,
    pub format: u32,
    pub method: Option<String>,
    pub tensors: SafeTensors<'a>,
}

#[derive(serde::Deserialize)]
struct Kind {
    format: u64,
    method: Option<serde_json::Value>,
}

/// The bytes of a file: `header` has a field `checksum` that is [`BLANK`].
pub(crate) fn seal(key: &str, header: &impl serde::Serialize, arrays: &[Array]) -> Vec<u8> {
    let stored: Vec<Vec<u8>> = arrays.iter().map(|a| a.values.iter().flat_map(|v| v.to_le_bytes()).collect()).collect();
    let views = arrays.iter().zip(&stored).map(|(array, bytes)| {
        let view = TensorView::new(Dtype::F64, array.shape.clone(), bytes).expect("the shape is that of the values");
        (array.name.as_str(), view)
    });
    sealed(key, header, views)
}

/// The same of tensors of any kind.
#[cfg(test)]
pub(crate) fn seal_tensors(key: &str, header: &impl serde::Serialize, tensors: &[Tensor]) -> Vec<u8> {
    let views = tensors.iter().map(|Tensor { name, kind, shape, bytes }| {
        (*name, TensorView::new(*kind, shape.clone(), bytes).expect("the shape is that of the values"))
    });
    sealed(key, header, views)
}

fn sealed<'a>(
    key: &str,
    header: &impl serde::Serialize,
    views: impl Iterator<Item = (&'a str, TensorView<'a>)>,
) -> Vec<u8> {
    let json = serde_json::to_string(header).expect("a header is plain data");
    let metadata = HashMap::from([(key.to_string(), json)]);
    let mut bytes = serialize(views, Some(metadata)).expect("names and shapes are valid");
    let at = checksum_position(&bytes).expect("the header was just written");
    let sum = checksum(&bytes, at);
    bytes[at..at + 64].copy_from_slice(sum.as_bytes());
    bytes
}

/// Writes the bytes of a tensor.
type WriteBytes<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// A tensor that is written straight from where it lies.
pub(crate) struct Streamed<'a> {
    name: &'static str,
    kind: Dtype,
    shape: [usize; 1],
    bytes: usize,
    write: Box<WriteBytes<'a>>,
}

impl<'a> Streamed<'a> {
    /// So many bytes, as they are written.
    pub fn bytes(name: &'static str, bytes: usize, write: impl Fn(&mut dyn Write) -> io::Result<()> + 'a) -> Self {
        Self { name, kind: Dtype::U8, shape: [bytes], bytes, write: Box::new(write) }
    }

    /// Numbers.
    pub fn numbers(name: &'static str, values: impl AsRef<[f64]> + 'a) -> Self {
        let count = values.as_ref().len();
        let write = move |out: &mut dyn Write| values.as_ref().iter().try_for_each(|v| out.write_all(&v.to_le_bytes()));
        Self { name, kind: Dtype::F64, shape: [count], bytes: 8 * count, write: Box::new(write) }
    }
}

/// What the header says of a tensor; its bytes are written by `Sealed`.
impl View for &Streamed<'_> {
    fn dtype(&self) -> Dtype {
        self.kind
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[])
    }

    fn data_len(&self) -> usize {
        self.bytes
    }
}

/// A file that holds no tensor: it is written straight from where the tensors lie, as often as requested.
pub(crate) struct Sealed<'a> {
    head: Vec<u8>,
    tensors: Vec<Streamed<'a>>,
}

impl<'a> Sealed<'a> {
    /// `header` has a field `checksum` that is [`BLANK`]. The tensors are written once into the checksum.
    pub fn new(key: &str, header: &impl serde::Serialize, mut tensors: Vec<Streamed<'a>>) -> Self {
        let json = serde_json::to_string(header).expect("a header is plain data");
        let metadata = HashMap::from([(key.to_string(), json)]);
        // In the order in which the header puts them.
        tensors.sort_by(|a, b| b.kind.cmp(&a.kind).then(a.name.cmp(b.name)));
        let views = tensors.iter().map(|tensor| (tensor.name, tensor));
        let head = serialize(views, Some(metadata)).expect("names and shapes are valid");
        let at = checksum_position(&head).expect("the header was just written");
        let mut sealed = Self { head, tensors };
        let mut hash = Hash(Sha256::new());
        sealed.write_to(&mut hash).expect("a hash takes every byte");
        sealed.head[at..at + 64].copy_from_slice(hex(&hash.0.finalize()).as_bytes());
        sealed
    }

    /// How many bytes are written.
    pub fn byte_count(&self) -> usize {
        self.head.len() + self.tensors.iter().map(|tensor| tensor.bytes).sum::<usize>()
    }

    /// Writes the file.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.head)?;
        self.tensors.iter().try_for_each(|tensor| (tensor.write)(out))
    }
}

/// Hashes what is written.
struct Hash(Sha256);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Checks the outside of a file.
pub(crate) fn open(bytes: &[u8], stamp: Stamp) -> Result<Opened<'_>, Broken> {
    check_frame(bytes).map_err(Broken::NotSealed)?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| Broken::NotSealed(in_header(&e)))?;
    let texts = metadata.metadata().as_ref();
    let Some(json) = texts.and_then(|m| m.get(stamp.key)) else {
        let other = KINDS.iter().find(|(key, _)| texts.is_some_and(|m| m.contains_key(*key)));
        let detail = format!("its header has no `{}` among its metadata", stamp.key);
        return Err(other.map_or(Broken::NotSealed(detail), |(_, kind)| Broken::OtherKind(kind)));
    };
    let Kind { format, method } = serde_json::from_str(json).map_err(|e| Broken::NotSealed(in_settings(&e)))?;
    let known = u32::try_from(format).ok().filter(|format| (1..=stamp.latest).contains(format));
    let format = known.ok_or(Broken::Version(format))?;
    let at = checksum_position(bytes).ok_or_else(|| Broken::NotSealed("its settings have no checksum".into()))?;
    if checksum(bytes, at).as_bytes() != &bytes[at..at + 64] {
        return Err(Broken::Damaged);
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| Broken::NotSealed(in_header(&e)))?;
    let method = method.and_then(|method| method.as_str().map(String::from));
    Ok(Opened { json: json.clone(), format, method, tensors })
}

impl Opened<'_> {
    /// The tensor of bytes of this name, where there is one.
    pub fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String> {
        match self.tensors.tensor(name) {
            Ok(view) if view.dtype() == Dtype::U8 => Ok(Some(view.data())),
            Ok(_) => Err(format!("tensor `{name}` is not u8")),
            Err(_) => Ok(None),
        }
    }

    /// The tensor of this name, where there is one.
    pub fn array(&self, name: &str) -> Result<Option<Array>, String> {
        let Ok(view) = self.tensors.tensor(name) else { return Ok(None) };
        if view.dtype() != Dtype::F64 {
            return Err(format!("tensor `{name}` is not f64"));
        }
        let (chunks, _) = view.data().as_chunks::<8>();
        let values = chunks.iter().map(|c| f64::from_le_bytes(*c)).collect();
        Ok(Some(Array { name: name.into(), shape: view.shape().to_vec(), values }))
    }
}

/// The file must be as long as its first eight bytes claim the header to be.
fn check_frame(bytes: &[u8]) -> Result<(), String> {
    let found = bytes.len();
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(format!("expected 8 bytes with the length of the header, found {found} in all"));
    };
    let claimed = u64::from_le_bytes(*length);
    match claimed <= rest.len() as u64 {
        true => Ok(()),
        false => Err(format!("its first 8 bytes claim a header of {claimed} bytes, but only {} follow", rest.len())),
    }
}

/// What is wrong with the header of the tensors.
fn in_header(error: &SafeTensorError) -> String {
    match error {
        SafeTensorError::InvalidHeader(error) => {
            format!("byte {} of its header is not text in UTF-8", error.valid_up_to())
        }
        SafeTensorError::InvalidHeaderDeserialization(error) if error.is_data() => {
            format!("byte {} of its header does not describe tensors and metadata", error.column())
        }
        SafeTensorError::InvalidHeaderDeserialization(error) => {
            format!("expected JSON as header, found none at byte {}", error.column())
        }
        SafeTensorError::HeaderTooLarge => "its header has more than 100 MB".into(),
        SafeTensorError::TensorInvalidInfo => "shape, type and place of a tensor contradict each other".into(),
        SafeTensorError::InvalidOffset(name) => {
            format!("tensor `{name}` is expected to begin where the one before it ends, and to end after it begins")
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            "its tensors are expected to end where the file ends, and do not".into()
        }
        SafeTensorError::ValidationOverflow => "a tensor claims more bytes than any file holds".into(),
        other => other.to_string(),
    }
}

/// What is wrong with the JSON of the settings.
pub(crate) fn in_settings(error: &serde_json::Error) -> String {
    format!("byte {} of its settings: {}", error.column(), in_words(error))
}

/// Where the 64 digits of the checksum are: the JSON is a string inside JSON, so its quotes are escaped.
pub(crate) fn checksum_position(bytes: &[u8]) -> Option<usize> {
    const MARK: &[u8] = br#"\"checksum\":\""#;
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let header = bytes.get(8..)?.get(..usize::try_from(length).ok()?)?;
    let start = 8 + header.windows(MARK.len()).position(|w| w == MARK)? + MARK.len();
    (start + 64 <= 8 + header.len()).then_some(start)
}

pub(crate) fn checksum(bytes: &[u8], at: usize) -> String {
    let mut hash = Sha256::new();
    hash.update(&bytes[..at]);
    hash.update(BLANK);
    hash.update(&bytes[at + 64..]);
    hex(&hash.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
