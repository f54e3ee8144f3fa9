//! XᵀX over the samples short of their margin, brought up to date instead of computed again.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | T | `total` | XᵀX of all samples: one for all classes |
//! | S | `support` | samples short of their margin |
//! | P | `products` | Σ_S x xᵀ |
//!
//! From one Newton step to the next few samples join or leave S, so that P is that of the step before and the products
//! of those few. The first P is T less the samples beyond their margin, or nothing and those short of it, whichever are
//! fewer.

use eigenspan_linalg::Mat;
use eigenspan_linalg::dense::multiply;
use eigenspan_linalg::rows::add_scaled;

/// Samples multiplied at a time: all of them a second time in memory would be too many.
const SLAB: usize = 2048;

/// P for the S of the last step.
pub(crate) struct SupportProducts {
    support: Vec<usize>,
    products: Mat,
}

impl SupportProducts {
    /// How many samples have to be multiplied to come from `known`, or from all or nothing, to `support`, which rises.
    pub fn cost(known: Option<&Self>, support: &[usize], samples: usize) -> usize {
        let afresh = support.len().min(samples - support.len());
        known.map_or(afresh, |known| afresh.min(differing(&known.support, support).iter().map(Vec::len).sum()))
    }

    /// P of `support`, which rises, by the shortest way.
    pub fn of(known: Option<Self>, support: &[usize], x: &Mat, total: &Mat) -> Self {
        let (n, m) = (x.rows(), x.cols());
        let way = Self::cost(known.as_ref(), support, n);
        let nothing = || Self { support: vec![], products: Mat::zeros(m, m) };
        let all = || Self { support: (0..n).collect(), products: total.clone() };
        let mut found = match known {
            Some(known) if way < support.len().min(n - support.len()) => known,
            _ if support.len() <= n - support.len() => nothing(),
            _ => all(),
        };
        let [left, joined] = differing(&found.support, support);
        add_products(&mut found.products, x, &left, -1.0);
        add_products(&mut found.products, x, &joined, 1.0);
        found.support = support.to_vec();
        found
    }

    /// P.
    pub fn matrix(&self) -> &Mat {
        &self.products
    }
}

/// P + sign · Σ x xᵀ over some samples.
fn add_products(products: &mut Mat, x: &Mat, which: &[usize], sign: f64) {
    let mut part = Mat::zeros(products.rows(), products.cols());
    for some in which.chunks(SLAB) {
        let rows = x.select_rows(some);
        multiply(rows.view().transposed(), rows.view(), part.as_mut_slice());
        add_scaled(products.as_mut_slice(), sign, part.as_slice());
    }
}

/// What is in `before` alone, and what is in `after` alone; both rise.
fn differing(before: &[usize], after: &[usize]) -> [Vec<usize>; 2] {
    let without = |a: &[usize], b: &[usize]| a.iter().copied().filter(|i| b.binary_search(i).is_err()).collect();
    [without(before, after), without(after, before)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;

    #[test]
    fn products_by_any_way_are_those_of_the_samples_themselves() {
        let (n, m) = (60, 7);
        let mut normal = Normal::new(8);
        let x = Mat::from_fn(n, m, |_, _| normal.draw());
        let of = |which: &[usize]| {
            let mut plain = Mat::zeros(m, m);
            add_products(&mut plain, &x, which, 1.0);
            plain
        };
        let total = of(&(0..n).collect::<Vec<_>>());
        let steps: [Vec<usize>; 5] = [
            (0..20).collect(),                         // from nothing
            (0..24).filter(|i| i % 11 != 3).collect(), // from the step before
            (2..58).collect(),                         // from all
            (2..58).filter(|i| *i != 30).collect(),
            vec![],
        ];
        let mut known = None;
        let mut ways = vec![];
        for support in steps {
            ways.push(SupportProducts::cost(known.as_ref(), &support, n));
            let found = SupportProducts::of(known, &support, &x, &total);
            for (got, want) in found.matrix().as_slice().iter().zip(of(&support).as_slice()) {
                // Sums of 60 products of about one, added and subtracted a few times.
                assert!((got - want).abs() < 1e-12, "{got} {want}");
            }
            known = Some(found);
        }
        assert_eq!(ways, [20, 6, 4, 1, 0]);
    }
}
