//! IDX files, as MNIST comes.
#![no_main]

use eigenspan_fuzz::check_if;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus { check_if(bytes.starts_with(&[0, 0]), bytes) });
