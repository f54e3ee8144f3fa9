//! Storage of a Gram matrix: every row begins at a cache line.
//!
//! The kernel adds a register of sums at a time, as long as a cache line. If rows followed each other without padding,
//! most registers would straddle two lines, and adding would take twice as long. Rows are an odd number of lines apart,
//! because rows a power of two apart would evict each other from the caches.

use crate::gram::Stripe;
use crate::panel::LINE;

/// Numbers in a cache line.
const WORDS: usize = LINE / size_of::<f64>();
/// Numbers in a memory page.
const PAGE: usize = 4096 / size_of::<f64>();

/// The lower triangle of a symmetric matrix, row after row; entries above the diagonal are undefined.
pub struct Square {
    memory: Vec<f64>,
    /// Start of the first row in `memory`.
    start: usize,
    order: usize,
}

impl Square {
    /// Zeros, in memory that is touched. Lazily allocated pages, as zeros usually are, fault when first read and again
    /// when first written, and the second fault interrupts every other processor that runs a thread of this process.
    pub fn zeros(order: usize) -> Self {
        let mut memory = vec![0.0; order * stride(order) + WORDS];
        // Hidden from the compiler, which would remove the writing of zeros over zeros.
        memory.iter_mut().step_by(PAGE).for_each(|entry| *entry = std::hint::black_box(0.0));
        let start = memory.as_ptr().align_offset(LINE).min(WORDS);
        Self { memory, start, order }
    }

    /// The number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Distance between the beginnings of two consecutive rows.
    pub fn stride(&self) -> usize {
        stride(self.order)
    }

    /// All rows, [`stride`](Self::stride) apart.
    pub fn entries(&mut self) -> &mut [f64] {
        &mut self.memory[self.start..][..self.order * stride(self.order)]
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.memory[self.start + i * self.stride()..][..self.order]
    }

    /// Row `i`, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let (stride, order) = (self.stride(), self.order);
        &mut self.entries()[i * stride..][..order]
    }

    /// All rows, as the target of an accumulation.
    pub fn whole(&mut self) -> Stripe<'_> {
        Stripe { rows: 0..self.order, stride: self.stride(), entries: self.entries() }
    }

    /// Adds the entries of another square of the same order, and resets that square to zero.
    pub fn drain(&mut self, other: &mut Self) {
        assert_eq!(self.order, other.order, "squares of one order are added");
        for i in 0..self.order {
            let (row, more) = (&mut self.row_mut(i)[..=i], &mut other.row_mut(i)[..=i]);
            row.iter_mut().zip(more).for_each(|(sum, more)| *sum += std::mem::take(more));
        }
    }

    /// The same rows, one right after the other, in the same memory.
    pub fn into_rows(self) -> Vec<f64> {
        let Self { mut memory, start, order } = self;
        for i in 0..order {
            let from = start + i * stride(order);
            memory.copy_within(from..from + order, i * order);
        }
        memory.truncate(order * order);
        memory
    }
}

fn stride(order: usize) -> usize {
    (order.div_ceil(WORDS) | 1) * WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_with_a_line_and_come_out_one_after_the_other() {
        for order in [1, 5, 8, 16, 17, 129] {
            let (mut a, mut b) = (Square::zeros(order), Square::zeros(order));
            let stride = a.stride();
            assert!(stride >= order && (stride / WORDS) % 2 == 1);
            assert_eq!(a.entries().as_ptr().align_offset(LINE), 0);
            for i in 0..order {
                for j in 0..=i {
                    a.entries()[i * stride + j] = (i * order + j) as f64;
                    b.entries()[i * stride + j] = 0.5;
                }
            }
            a.drain(&mut b);
            assert!(
                (0..order).all(|i| b.row(i)[..=i].iter().all(|entry| *entry == 0.0)),
                "the other square is zero after `drain`"
            );
            let rows = a.into_rows();
            assert_eq!(rows.len(), order * order);
            for i in 0..order {
                assert!((0..=i).all(|j| rows[i * order + j] == (i * order + j) as f64 + 0.5), "row {i} of {order}");
            }
        }
    }
}
