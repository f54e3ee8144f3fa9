//! How fast one core can multiply and add: independent fused multiply-adds that never leave the registers.

use crate::clock::timed;

/// Operations (a multiply and an add are two) each second on one core in `f64`; 0 where this is not known.
#[unsafe(no_mangle)]
pub extern "C" fn fma_peak() -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        let best = |chains: unsafe fn(usize), lanes| (0..20).map(|_| rate(chains, lanes)).fold(0.0, f64::max);
        // Some machines take as long for twice the lanes, some half as long again: the better one is the peak.
        if is_x86_feature_detected!("avx512f") {
            return f64::max(best(chains_of_eight, 8), best(chains_of_four, 4));
        }
        if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
            return best(chains_of_four, 4);
        }
    }
    0.0
}

/// Operations a second, two in a lane.
#[cfg(target_arch = "x86_64")]
fn rate(chains: unsafe fn(usize), lanes: usize) -> f64 {
    let rounds = 2_000_000;
    let (_, spent) = timed(|| {
        // SAFETY: what the chains need was detected; the loop writes registers only, all of them declared.
        unsafe { chains(rounds) }
    });
    (rounds * 12 * lanes * 2) as f64 / spent.cpu
}

/// Twelve chains hide the latency of four or five cycles on two ports.
#[cfg(target_arch = "x86_64")]
macro_rules! chains {
    ($name:ident $register:literal $feature:literal) => {
        /// # Safety
        /// Needs the feature; `rounds` is not zero.
        #[target_feature(enable = $feature)]
        #[rustfmt::skip]
        unsafe fn $name(rounds: usize) {
            // SAFETY: promised by the caller.
            unsafe {
                std::arch::asm!(
                    chains!(zero 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
                    "2:",
                    chains!(add $register 0 1 2 3 4 5 6 7 8 9 10 11),
                    "dec {rounds}",
                    "jnz 2b",
                    "vzeroupper",
                    rounds = inout(reg) rounds => _,
                    out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _,
                    out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                    out("ymm12") _, out("ymm13") _, options(nomem, nostack),
                );
            }
        }
    };
    (zero $($n:literal)*) => {
        concat!($("vxorpd ymm", $n, ", ymm", $n, ", ymm", $n, "\n",)*) // also clears what is above
    };
    (add $register:literal $($n:literal)*) => {
        concat!($("vfmadd231pd ", $register, $n, ", ", $register, "12, ", $register, "13\n",)*)
    };
}

#[cfg(target_arch = "x86_64")]
chains!(chains_of_four "ymm" "avx2,fma");
#[cfg(target_arch = "x86_64")]
chains!(chains_of_eight "zmm" "avx512f");
