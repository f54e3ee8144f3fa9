//! The two factors of V ≈ WH on their way, laid out so that every product of a round runs at the machine's speed.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | F | [`Half`] | the unknowns of one half of the problem: Hᵀ (n × r) or W (m × r) |
//! | F′ | the other half | W or Hᵀ |
//! | A | `source` | the samples as this half sees them, its unknowns in columns: V (m × n) or Vᵀ (n × m) |
//! | B | [`Block::b`] | F′ᵀA: WᵀV or HVᵀ |
//!
//! ```text
//!     min_F≥0 ½‖A − F′Fᵀ‖²        needs   B = F′ᵀA (r × count)   and   F′ᵀF′ (r × r)
//! ```
//! Unknowns in different rows of F have nothing to do with each other, so they go in blocks, and within a block Fᵀ and B lie
//! part after part: that is how the kernel gives products, and how it takes F for the next ones. A never changes and is laid
//! out once, block by block, in slabs that are the other half's blocks. That takes two more copies of the samples;
//! samples too large for it are laid out again every time.

use eigenspan_linalg::dense::{PackedMatrix, Slab};
use eigenspan_linalg::steps::inner;
use eigenspan_linalg::{Exec, Mat, MatRef};

use crate::Error;
use crate::method::parts::factorisation::Pair;

/// Unknowns in a block: whole tiles of the kernel, and a slab of nearly full depth for the other half.
const BLOCK: usize = 240;
const _: () = assert!(BLOCK <= Slab::DEPTH);
/// Values of A, above which it is not kept laid out: half a gigabyte.
const KEPT: usize = 1 << 26;
/// Rows of a Gram matrix that are worth a piece of work.
const ROWS: usize = 4 * Slab::CUT;

/// Both halves.
pub(crate) struct Halves<'a> {
    pub h: Half<'a>,
    pub w: Half<'a>,
}

/// One half of the problem.
pub(crate) struct Half<'a> {
    pub blocks: Vec<Block<'a>>,
    parts: usize,
}

/// Some unknowns.
pub(crate) struct Block<'a> {
    /// Fᵀ (r × width).
    pub f: Vec<f64>,
    /// B (r × width), from the last [`Block::look`].
    pub b: Vec<f64>,
    /// Memory for another r × width.
    pub spare: Vec<f64>,
    /// Memory for Fᵀ, laid out for [`PackedMatrix::transposed_times`].
    pub room: Slab,
    /// F, laid out for the other half.
    laid_out: Slab,
    /// Aᵀ of these unknowns (width × the other half's unknowns).
    source: MatRef<'a>,
    kept: Option<Vec<Slab>>,
}

impl<'a> Halves<'a> {
    /// Of samples in rows, with factors to begin with.
    pub fn of(x: &'a Mat, pair: &Pair, exec: Exec<'_>) -> Result<Self, Error> {
        Ok(Self { h: Half::of(x.view(), &pair.h, exec)?, w: Half::of(x.view().transposed(), &pair.w, exec)? })
    }

    /// ⟨VHᵀ, W⟩, where W's half has looked at H.
    pub fn agreement(&self) -> f64 {
        self.w.blocks.iter().map(|block| inner(&block.b, &block.f)).sum()
    }

    /// The factors as matrices.
    pub fn pair(&self) -> Pair {
        Pair { w: self.w.matrix(), h: self.h.matrix() }
    }
}

impl<'a> Half<'a> {
    /// `source` is Aᵀ (count × the other half's unknowns).
    fn of(source: MatRef<'a>, factor: &Mat, exec: Exec<'_>) -> Result<Self, Error> {
        let (count, parts) = (factor.rows(), factor.cols());
        let blocks = exec.silent().map("lay out", count.div_ceil(BLOCK), |i| {
            let rows = i * BLOCK..((i + 1) * BLOCK).min(count);
            let f = &factor.as_slice()[rows.start * parts..rows.end * parts];
            Block::of(source.some_rows(rows), f, parts, source.rows() * source.cols() <= KEPT)
        })?;
        Ok(Self { blocks, parts })
    }

    /// FᵀF.
    pub fn gram(&self, exec: Exec<'_>) -> Result<Mat, Error> {
        let r = self.parts;
        let mut gram = Mat::zeros(r, r);
        exec.silent().each_chunk("gram", gram.as_mut_slice(), ROWS * r, |piece, out| {
            let rows = piece * ROWS..piece * ROWS + out.len() / r;
            self.blocks.iter().for_each(|block| block.laid_out.add_gram(rows.clone(), out));
        })?;
        for i in 0..r {
            (0..i).for_each(|j| gram.row_mut(j)[i] = gram.at(i, j));
        }
        Ok(gram)
    }

    /// F (count × r).
    fn matrix(&self) -> Mat {
        let values: Vec<f64> = self.blocks.iter().flat_map(|block| turned(&block.f, block.width())).collect();
        Mat::from_vec(values.len() / self.parts, self.parts, values).expect("r values an unknown")
    }
}

impl<'a> Block<'a> {
    fn of(source: MatRef<'a>, f: &[f64], parts: usize, keep: bool) -> Self {
        let (width, len) = (source.rows(), f.len());
        let (room, laid_out) = (Slab::new(width), Slab::new(parts));
        let (b, spare) = (vec![0.0; len], vec![0.0; len]);
        let mut block = Self { f: turned(f, parts), b, spare, room, laid_out, source, kept: None };
        block.kept = keep.then(|| (0..block.slabs()).map(|i| Slab::of(block.slab(i))).collect());
        block.lay_out();
        block
    }

    /// Unknowns here.
    pub fn width(&self) -> usize {
        self.source.rows()
    }

    fn slabs(&self) -> usize {
        self.source.cols().div_ceil(BLOCK)
    }

    /// The rows of A that belong to a block of the other half.
    fn slab(&self, i: usize) -> MatRef<'a> {
        self.source.transposed().some_rows(i * BLOCK..((i + 1) * BLOCK).min(self.source.cols()))
    }

    /// B, from the other half's F′ as it was laid out last.
    pub fn look(&mut self, other: &Half<'_>) {
        self.b.fill(0.0);
        let mut now = None;
        for (i, theirs) in other.blocks.iter().enumerate() {
            let ours = match &self.kept {
                Some(slabs) => &slabs[i],
                None => {
                    let slab = now.get_or_insert_with(|| Slab::new(self.source.rows()));
                    slab.set(self.slab(i));
                    slab
                }
            };
            theirs.laid_out.add_transposed_times(ours, &mut self.b);
        }
    }

    /// F′ᵀF′Fᵀ into `spare`.
    pub fn multiply(&mut self, gram: &PackedMatrix) {
        gram.transposed_times(&self.f, &mut self.spare, &mut self.room);
    }

    /// Lays out F for the other half, after it has changed.
    pub fn lay_out(&mut self) {
        let width = self.width();
        let f = MatRef::row_major(&self.f, self.f.len() / width, width).expect("r rows");
        self.laid_out.set(f.transposed());
    }
}

/// The transpose of rows of `width` values.
fn turned(rows: &[f64], width: usize) -> Vec<f64> {
    let height = rows.len() / width;
    (0..width).flat_map(|j| (0..height).map(move |i| rows[i * width + j])).collect()
}
