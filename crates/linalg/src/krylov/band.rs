//! The projected matrix T = QᵀAQ, a band of small blocks, and its eigenpairs.
//!
//! ```text
//!         ⎡ A₁  B₁ᵀ       ⎤
//!     T = ⎢ B₁  A₂  B₂ᵀ   ⎥      blocks may differ in width
//!         ⎣     B₂  A₃  … ⎦
//! ```

use std::ops::AddAssign;

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat as Block, MatRef, Par};

use super::basis::Step;
use crate::Error;
use crate::exec::Exec;
use crate::mat::Mat;
use crate::symmetric::tridiagonalize;

/// T, block after block.
#[derive(Default)]
pub(super) struct BlockTridiagonal {
    /// The blocks in their order.
    pub steps: Vec<Step>,
    order: usize,
}

impl BlockTridiagonal {
    /// Adds a block.
    pub fn push(&mut self, step: Step) {
        self.order += step.diagonal.nrows();
        self.steps.push(step);
    }

    /// Rows of T.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The first row of every block.
    pub fn starts(&self) -> Vec<usize> {
        let next = |sum: &mut usize, step: &Step| {
            *sum += step.diagonal.nrows();
            Some(*sum - step.diagonal.nrows())
        };
        self.steps.iter().scan(0, next).collect()
    }

    /// T in full, lower triangle.
    fn dense(&self) -> Block<f64> {
        let mut t = Block::zeros(self.order, self.order);
        for (start, step) in self.starts().into_iter().zip(&self.steps) {
            let end = start + step.diagonal.nrows();
            t.submatrix_mut(start, start, end - start, end - start).copy_from(&step.diagonal);
            let height = step.below.nrows().min(self.order - end);
            t.submatrix_mut(end, start, height, end - start).copy_from(step.below.subrows(0, height));
        }
        t
    }

    /// T · X.
    pub fn multiply(&self, x: &Block<f64>) -> Block<f64> {
        let mut out = Block::zeros(self.order, x.ncols());
        for (start, step) in self.starts().into_iter().zip(&self.steps) {
            let width = step.diagonal.nrows();
            let height = step.below.nrows().min(self.order - start - width);
            let (own, next) = (x.subrows(start, width), x.subrows(start + width, height));
            let below = step.below.subrows(0, height);
            out.subrows_mut(start, width).add_assign(&step.diagonal * own + below.transpose() * next);
            out.subrows_mut(start + width, height).add_assign(below * own);
        }
        out
    }

    /// ‖A Qy − θ Qy‖ = ‖B y_last‖ of the eigenvectors y of T in the columns of `vectors`.
    pub fn residuals(&self, vectors: MatRef<'_, f64>) -> Vec<f64> {
        let last = self.steps.last().expect("a band has at least one block");
        let width = last.diagonal.nrows();
        let tail = &last.below * vectors.subrows(self.order - width, width);
        (0..tail.ncols()).map(|j| tail.col(j).norm_l2()).collect()
    }

    /// All eigenvalues of T, and the leading `count(values)` eigenvectors.
    pub fn decompose(&self, selected: impl Fn(&[f64]) -> usize, exec: Exec<'_>) -> Result<Projected, Error> {
        let (t, d) = (self.dense(), self.order);
        let reduced = tridiagonalize(Mat::from_fn(d, d, |i, j| t[(i.max(j), i.min(j))]), exec)?;
        let values = reduced.values(exec)?;
        let leading = reduced.leading(selected(&values).min(d), exec)?.vectors;
        let vectors = Block::from_fn(d, leading.cols(), |i, j| leading.at(i, j));
        let residuals = self.residuals(vectors.as_ref());
        Ok(Projected { values, vectors, residuals })
    }
}

/// The eigenpairs (θ, y) of T, largest first: θ and Qy are the Ritz pairs of A.
pub(super) struct Projected {
    pub values: Vec<f64>,
    /// y of the leading eigenvalues.
    pub vectors: Block<f64>,
    /// ‖A Qy − θ Qy‖ = ‖B y_last‖.
    pub residuals: Vec<f64>,
}

/// All eigenpairs of a small symmetric matrix (lower triangle), in descending order.
pub(super) fn projected(t: MatRef<'_, f64>) -> Result<(Vec<f64>, Block<f64>), Error> {
    let d = t.nrows();
    let mut values = vec![0.0; d];
    let mut vectors = Block::zeros(d, d);
    let need = self_adjoint_evd_scratch::<f64>(d, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    self_adjoint_evd(
        t,
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { rows: d, cols: d })?;
    values.reverse();
    Ok((values, vectors.as_ref().reverse_cols().to_owned()))
}
