//! The space that the passes build: orthonormal blocks, A over them, and its next block.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | Q₁ … Q_s | `blocks` | orthonormal together, m × l each or narrower |
//! | T | `projected` | QᵀAQ, d × d: column block j is QᵀW_j, computed when W_j was read |
//! | Q_{s+1} | `next` | an orthonormal basis of R = W_s − QQᵀW_s |
//! | S | `coupling` | R = Q_{s+1}S |
//!
//! The action of A on the space beyond T is R alone: W₁ … W_{s−1} lie in the space, since Q₂ … Q_s were computed from
//! them. So for a Ritz pair (ξ, Qy) the residual is AQy − ξQy = Q_{s+1} S y_s, y_s the last l entries of y. Directions
//! of R at rounding level are dropped; where all are, the space contains the whole range of A.

use super::pass::add;
use crate::Error;
use crate::dense::product;
use crate::exec::Exec;
use crate::mat::Mat;
use crate::polish::polish;
use crate::rows::energy;
use crate::svd;
use crate::triangle::orthonormalized;

#[derive(Debug, Clone)]
pub(super) struct Space {
    blocks: Vec<Mat>,
    projected: Mat,
    next: Mat,
    coupling: Mat,
}

impl Space {
    /// An empty space; the first pass multiplies with `first`, orthonormal.
    pub(super) fn new(first: Mat) -> Self {
        Self { blocks: vec![], projected: Mat::zeros(0, 0), coupling: Mat::zeros(0, 0), next: first }
    }

    /// s: passes that extended the space.
    pub(super) fn steps(&self) -> usize {
        self.blocks.len()
    }

    /// d.
    pub(super) fn dimension(&self) -> usize {
        self.projected.rows()
    }

    /// T.
    pub(super) fn projected(&self) -> &Mat {
        &self.projected
    }

    /// The factor of the next pass: Q_{s+1}.
    pub(super) fn next(&self) -> &Mat {
        &self.next
    }

    /// S y_s for the columns y of some vectors over the space, d × c.
    pub(super) fn coupled_coordinates(&self, vectors: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
        let (width, d) = (self.coupling.cols(), vectors.rows());
        let last = vectors.view().some_rows(d - width..d);
        product(self.coupling.view(), last, exec.silent())
    }

    /// Q y for the columns y of some vectors over the space.
    pub(super) fn over_features(&self, vectors: &Mat, exec: Exec<'_>) -> Result<Mat, Error> {
        let mut sum = Mat::zeros(self.next.rows(), vectors.cols());
        let mut first = 0;
        for q in &self.blocks {
            let some = vectors.view().some_rows(first..first + q.cols());
            add(&mut sum, &product(q.view(), some, exec.silent())?, 1.0);
            first += q.cols();
        }
        Ok(sum)
    }

    /// Adds W = A Q_{s+1}; directions shorter than `error`·√l are rounding.
    pub(super) fn add_block(&mut self, mut image: Mat, error: f64, exec: Exec<'_>) -> Result<(), Error> {
        let m = image.rows();
        let floor = error * (image.cols() as f64).sqrt();
        let q = std::mem::replace(&mut self.next, Mat::zeros(m, 0));
        self.blocks.push(q);
        let column = self.removed_from(&mut image, exec)?;
        self.grow(&column);
        (self.next, self.coupling) = self.continued(image, floor, exec)?;
        Ok(())
    }

    /// W ← W − Q(QᵀW), twice; returns QᵀW.
    fn removed_from(&self, w: &mut Mat, exec: Exec<'_>) -> Result<Mat, Error> {
        let d: usize = self.blocks.iter().map(Mat::cols).sum();
        let mut along = Mat::zeros(d, w.cols());
        for _ in 0..2 {
            let mut first = 0;
            for q in &self.blocks {
                let some = product(q.view().transposed(), w.view(), exec.silent())?;
                add(w, &product(q.view(), some.view(), exec.silent())?, -1.0);
                for i in 0..q.cols() {
                    let row = along.row_mut(first + i);
                    row.iter_mut().zip(some.row(i)).for_each(|(a, s)| *a += s);
                }
                first += q.cols();
            }
        }
        Ok(along)
    }

    /// T with one more block: its columns are given, its rows are their transpose.
    fn grow(&mut self, column: &Mat) {
        let (before, d) = (self.projected.rows(), column.rows());
        let old = &self.projected;
        self.projected = Mat::from_fn(d, d, |i, j| match (i < before, j < before) {
            (true, true) => old.at(i, j),
            (true, false) => column.at(i, j - before),
            (false, true) => column.at(j, i - before),
            (false, false) => 0.5 * (column.at(i, j - before) + column.at(j, i - before)),
        });
    }

    /// Q_{s+1} and S of R; directions not longer than `floor` are dropped.
    fn continued(&self, r: Mat, floor: f64, exec: Exec<'_>) -> Result<(Mat, Mat), Error> {
        let (m, l) = (r.rows(), r.cols());
        let nothing = || (Mat::zeros(m, 0), Mat::zeros(0, l));
        if energy(r.as_slice()).sqrt() <= floor {
            return Ok(nothing());
        }
        let q = orthonormalized(&r, exec)?;
        let small = product(q.view().transposed(), r.view(), exec.silent())?;
        // R = Q small, so the left singular vectors of `small` are those of R: the right ones of its transpose.
        let rotated = svd::right(&small.transposed())?;
        let retained = rotated.sigma.iter().take_while(|s| **s > floor).count();
        if retained == 0 {
            return Ok(nothing());
        }
        let mut next = product(q.view(), rotated.v.leading_columns(retained).view(), exec.silent())?;
        drop(q);
        // A direction of R near rounding has a small component in the space.
        self.removed_from(&mut next, exec)?;
        let next = polish(next, exec.silent())?;
        let coupling = product(next.view().transposed(), r.view(), exec.silent())?;
        Ok((next, coupling))
    }
}
