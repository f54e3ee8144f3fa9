//! Reading ahead: one thread reads the next chunk while the caller works on this one.
//!
//! ```text
//!     reader   reads 1 │ reads 2 ─ waits ─│ reads 3 …
//!     caller            works on 1 ───────│ works on 2 …
//! ```
//! A chunk is handed over, never queued, so that two of them are in memory and no more. The reader also takes the
//! fingerprint.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use eigenspan_core::data::{Matrix, Source, StreamError};

use crate::fingerprint::Fingerprint;

/// Samples, and the fingerprint of everything up to their end.
pub type Portion = (Matrix, Fingerprint);

/// Portions that are read ahead.
pub struct Ahead {
    chunks: Option<Receiver<Result<Portion, StreamError>>>,
    reader: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Begins to read chunks of `rows` samples, from where `source` is; `before` is the fingerprint of what came
    /// before.
    pub fn new(mut source: Box<dyn Source + Send>, rows: usize, before: Fingerprint) -> Self {
        let (give, chunks) = sync_channel(0);
        let reader = std::thread::spawn(move || {
            let mut seen = before;
            loop {
                let chunk = match source.next_block(rows) {
                    Ok(Some(block)) => {
                        seen.add(block.view());
                        Ok((block, seen.clone()))
                    }
                    Ok(None) => return,
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                // Whoever listened may be gone: then there is nobody to read for.
                if give.send(chunk).is_err() || failed {
                    return;
                }
            }
        });
        Self { chunks: Some(chunks), reader: Some(reader) }
    }
}

impl Iterator for Ahead {
    type Item = Result<Portion, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.chunks.as_ref()?.recv().ok();
        if next.is_none() {
            self.chunks = None;
            if let Some(Err(panic)) = self.reader.take().map(JoinHandle::join) {
                std::panic::resume_unwind(panic);
            }
        }
        next
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.chunks = None;
        if let Some(reader) = self.reader.take() {
            let _ = reader.join(); // a panic that nobody waited for is nobody's answer
        }
    }
}

#[cfg(test)]
mod tests {
    use eigenspan_core::Mat;

    use super::*;
    use crate::stream::InMemory;

    fn x() -> Matrix {
        Mat::from_fn(50, 2, |i, j| (2 * i + j) as f64).into()
    }

    #[test]
    fn portions_are_full_and_in_order() {
        let mut whole = Fingerprint::default();
        whole.add(x().view());
        for rows in [1, 7, 25, 50, 80] {
            let (mut values, mut last) = (vec![], None);
            for chunk in Ahead::new(Box::new(InMemory::new(x())), rows, Fingerprint::default()) {
                let (block, seen) = chunk.unwrap();
                assert!(block.rows() == rows || values.len() + block.rows() * 2 == 100);
                values.extend(block.into_f64().into_vec());
                last = Some(seen);
            }
            assert_eq!(values, x().into_f64().into_vec());
            assert!(rows < 50 || last == Some(whole.clone()));
        }
    }

    #[test]
    fn it_may_be_dropped_before_its_end() {
        let mut some = Ahead::new(Box::new(InMemory::new(x())), 4, Fingerprint::default());
        assert!(some.next().is_some());
        drop(some);
    }
}
