//! Detection of the machine's instruction sets.

use std::ops::Range;

use crate::rows::Work;

/// A kind of machine that has kernels of its own.
#[derive(Clone, Copy)]
pub(crate) enum Machine {
    /// Any machine.
    Portable,
    /// x86-64 with AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(crate::avx2::Avx2),
    /// x86-64 with AVX-512 and its VNNI.
    #[cfg(target_arch = "x86_64")]
    Avx512(crate::avx512::Avx512),
}

impl Machine {
    /// The best kind that this machine supports.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = crate::avx512::Avx512::detect() {
                return Self::Avx512(avx512);
            }
            if let Some(avx2) = crate::avx2::Avx2::detect() {
                return Self::Avx2(avx2);
            }
        }
        Self::Portable
    }

    /// Every kind that this machine supports, in ascending order.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = crate::avx2::Avx2::detect().map(Self::Avx2);
            let avx512 = crate::avx512::Avx512::detect().map(Self::Avx512);
            [Self::Portable].into_iter().chain(avx2).chain(avx512).collect()
        }
        #[cfg(not(target_arch = "x86_64"))]
        vec![Self::Portable]
    }

    /// Size of its registers, in units of 32 bytes.
    #[inline(always)]
    pub(crate) fn wide(self) -> usize {
        match self {
            Self::Portable => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => 2,
        }
    }

    /// `work`, compiled for this machine.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            Self::Portable => work.run(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => crate::avx2::run(avx2, work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => crate::avx512::run(avx512, work),
        }
    }

    /// Lane `from[c]` of `strips`, and those every `lanes` after it, to lane c of each step of `to`. Lanes after the
    /// last c are left undefined.
    pub(crate) fn collect<L: Copy>(self, strips: &mut [L], from: &[usize], to: Range<usize>, lanes: usize) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => crate::avx512::collect(avx512, strips, from, to),
            _ => crate::portable::collect(strips, from, to, lanes),
        }
    }
}
