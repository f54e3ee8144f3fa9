//! How fast one core can multiply and add: independent fused multiply-adds that never leave the registers.

use crate::clock::timed;

/// Operations (a multiply and an add are two) each second on one core in `f64`; 0 where this is not known.
#[unsafe(no_mangle)]
pub extern "C" fn fma_peak() -> f64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
        return (0..20).map(|_| rate(2_000_000)).fold(0.0, f64::max);
    }
    0.0
}

/// Twelve chains hide the latency of four or five cycles on two ports; four lanes, two operations a lane.
#[cfg(target_arch = "x86_64")]
fn rate(rounds: usize) -> f64 {
    let (_, spent) = timed(|| {
        // SAFETY: AVX2 and FMA were detected; the loop writes registers only, all of them declared.
        unsafe { twelve_chains(rounds) }
    });
    (rounds * 12 * 4 * 2) as f64 / spent.cpu
}

/// # Safety
/// Needs AVX2 and FMA; `rounds` is not zero.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
unsafe fn twelve_chains(rounds: usize) {
    // SAFETY: promised by the caller.
    unsafe {
        std::arch::asm!(
            "vxorpd ymm0, ymm0, ymm0", "vxorpd ymm1, ymm1, ymm1", "vxorpd ymm2, ymm2, ymm2",
            "vxorpd ymm3, ymm3, ymm3", "vxorpd ymm4, ymm4, ymm4", "vxorpd ymm5, ymm5, ymm5",
            "vxorpd ymm6, ymm6, ymm6", "vxorpd ymm7, ymm7, ymm7", "vxorpd ymm8, ymm8, ymm8",
            "vxorpd ymm9, ymm9, ymm9", "vxorpd ymm10, ymm10, ymm10", "vxorpd ymm11, ymm11, ymm11",
            "vxorpd ymm12, ymm12, ymm12", "vxorpd ymm13, ymm13, ymm13",
            "2:",
            "vfmadd231pd ymm0, ymm12, ymm13", "vfmadd231pd ymm1, ymm12, ymm13", "vfmadd231pd ymm2, ymm12, ymm13",
            "vfmadd231pd ymm3, ymm12, ymm13", "vfmadd231pd ymm4, ymm12, ymm13", "vfmadd231pd ymm5, ymm12, ymm13",
            "vfmadd231pd ymm6, ymm12, ymm13", "vfmadd231pd ymm7, ymm12, ymm13", "vfmadd231pd ymm8, ymm12, ymm13",
            "vfmadd231pd ymm9, ymm12, ymm13", "vfmadd231pd ymm10, ymm12, ymm13", "vfmadd231pd ymm11, ymm12, ymm13",
            "dec {rounds}",
            "jnz 2b",
            "vzeroupper",
            rounds = inout(reg) rounds => _,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _, out("ymm6") _,
            out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _, out("ymm12") _,
            out("ymm13") _, options(nomem, nostack),
        );
    }
}
