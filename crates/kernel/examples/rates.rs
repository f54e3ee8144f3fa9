//! Rates of the kernels on one thread: `cargo run --release -p eigenspan-kernel --example rates`.
//!
//! Rate = q·p² / CPU time, packing included, the best of many short interleaved repetitions. The peak is the rate of a
//! loop of multiply-adds on registers only, run right before and after each repetition because clocks change; the share
//! is that of the fastest repetition. The peak for `u8` is that of instructions that multiply four bytes in a lane
//! (AVX-512), or that of two instructions without the additions (AVX2); with the additions, a loop on registers only
//! reaches about 81 % of it.

use std::fmt::Write as _;

use eigenspan_kernel::{Number, Panel, Prefetch, Square, VECTORS, accumulate_prefetching, probe};

/// CPU time of this thread in nanoseconds, read from the kernel by a system call: `/proc/thread-self/schedstat` is
/// updated only at the scheduler's ticks.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[expect(unsafe_code, reason = "the clock is assembly")]
fn cpu_time() -> f64 {
    let (mut time, mut result) = ([0_i64; 2], 228_i64);
    // SAFETY: clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) of x86-64 Linux writes two numbers.
    unsafe {
        std::arch::asm!("syscall", inout("rax") result, in("rdi") 3, in("rsi") &raw mut time,
            out("rcx") _, out("r11") _, options(nostack));
    }
    assert_eq!(result, 0, "Linux has a clock for each thread");
    time[0] as f64 * 1e9 + time[1] as f64
}

/// Wall-clock nanoseconds, on systems without a known CPU clock.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[expect(clippy::disallowed_methods, reason = "an example that measures needs a clock")]
fn cpu_time() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as f64
}

/// Peak of the machine in GF/s for `f64`, with its largest registers.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the loop that finds the peak is assembly")]
fn peak() -> f64 {
    /// Twelve chains of multiply-adds in the registers `$register`.
    macro_rules! chains {
        ($register:literal $rounds:ident: $($n:literal)*) => {
            std::arch::asm!(
                "2:",
                $(concat!("vfmadd231pd ", $register, $n, ", ", $register, "12, ", $register, "13"),)*
                "sub {n}, 1",
                "jnz 2b",
                "vzeroupper",
                n = inout(reg) $rounds => _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                out("xmm12") _, out("xmm13") _, options(nostack, nomem),
            )
        };
    }
    assert!(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"), "needs AVX2 and FMA");
    let (rounds, wide) = (400_000_u64, is_x86_feature_detected!("avx512f"));
    let start = cpu_time();
    // SAFETY: the machine has what it takes; the loops touch nothing but the registers named.
    unsafe {
        match wide {
            true => chains!("zmm" rounds: 0 1 2 3 4 5 6 7 8 9 10 11),
            false => chains!("ymm" rounds: 0 1 2 3 4 5 6 7 8 9 10 11),
        }
    }
    let lanes = if wide { 8.0 } else { 4.0 };
    rounds as f64 * 12.0 * 2.0 * lanes / (cpu_time() - start)
}

/// Unknown for other machines.
#[cfg(not(target_arch = "x86_64"))]
fn peak() -> f64 {
    f64::NAN
}

/// Whether the machine multiplies four bytes per lane.
fn four_bytes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// One Gram matrix: total time and packing time.
fn by_rows<T: Number>(x: &[T], p: usize, panel: &mut Panel<T>, gram: &mut Square) -> [f64; 2] {
    let (start, mut packing) = (cpu_time(), 0.0);
    let mut slabs = x.chunks(T::DEPTH * p).peekable();
    while let Some(slab) = slabs.next() {
        let before = cpu_time();
        panel.set_depth(slab.len() / p);
        panel.set_rows(0, slab);
        packing += cpu_time() - before;
        accumulate_prefetching(panel, gram.whole(), slabs.peek().map(|slab| Prefetch::of(slab)));
    }
    [cpu_time() - start, packing]
}

/// The same with x (p × q) read by columns of the slab, which are contiguous ranges of rows of x.
fn by_columns<T: Number>(x: &[T], q: usize, panel: &mut Panel<T>, gram: &mut Square) -> [f64; 2] {
    let (start, mut packing) = (cpu_time(), 0.0);
    for top in (0..q).step_by(T::DEPTH) {
        let bottom = (top + T::DEPTH).min(q);
        let before = cpu_time();
        panel.set_depth(bottom - top);
        for mut strip in panel.strips_mut() {
            strip.set_columns(|j| &x[j * q..][top..bottom]);
        }
        packing += cpu_time() - before;
        let next = bottom..(bottom + T::DEPTH).min(q);
        accumulate_prefetching(
            panel,
            gram.whole(),
            x.chunks_exact(q).map(|sample| Prefetch::of(&sample[next.clone()])),
        );
    }
    [cpu_time() - start, packing]
}

/// Rate of the probe in GF/s on a slab that is in the caches: two products with each vector for each value.
fn probe_rate(x: &[f32], p: usize) -> f64 {
    let (slab, vectors, mut products) = (&x[..f32::DEPTH * p], vec![1.0; VECTORS * p], vec![0.0; VECTORS * p]);
    probe(slab, &vectors, &mut products);
    let start = cpu_time();
    probe(slab, &vectors, &mut products);
    (4 * VECTORS * slab.len()) as f64 / (cpu_time() - start)
}

struct Case<T: Number> {
    name: &'static str,
    q: usize,
    x: Vec<T>,
    columns: bool,
    panel: Panel<T>,
    gram: Square,
    best: [f64; 2],
    /// Share of the peak for these numbers, measured right before and after.
    share: f64,
}

impl<T: Number> Case<T> {
    fn new(name: &'static str, (q, p, columns): (usize, usize, bool), value: impl Fn(u64) -> T) -> Self {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            value(state >> 40)
        };
        let x = (0..q * p).map(|_| next()).collect();
        let (panel, gram) = (Panel::new(p), Square::zeros(p));
        Self { name, q, x, columns, panel, gram, best: [f64::INFINITY; 2], share: 0.0 }
    }

    /// One run. The peak for these numbers is `times` the peak for `f64`.
    fn run(&mut self, times: f64) {
        let (p, before) = (self.panel.width(), peak());
        let time = match self.columns {
            true => by_columns(&self.x, self.q, &mut self.panel, &mut self.gram),
            false => by_rows(&self.x, p, &mut self.panel, &mut self.gram),
        };
        let peak = times * 0.5 * (before + peak());
        if time[0] < self.best[0] {
            self.share = (self.q * p * p) as f64 / time[0] / peak;
            self.best = time;
        }
    }

    fn line(&self) -> String {
        let p = self.panel.width();
        let rate = (self.q * p * p) as f64 / self.best[0];
        let mut line = String::new();
        let _ = write!(line, "{:>7} x {:<5} {:4} {rate:7.1} GF/s {:6.1} %", self.q, p, self.name, 100.0 * self.share);
        let _ = write!(line, "  packing {:4.1} %", 100.0 * self.best[1] / self.best[0]);
        line
    }
}

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let repetitions: usize = arguments.next().map_or(20, |text| text.parse().expect("a number of repetitions"));
    let only = arguments.next();
    // Rows, columns, by columns. The first three are blocks of longer matrices, to keep a repetition short.
    let shapes =
        [(3072, 784, false), (6144, 512, false), (2592, 1520, true), (9500, 256, false), (100_000, 128, false)];
    let mut doubles: Vec<_> = shapes.map(|s| Case::new("f64", s, |r| r as f64 / 16_777_216.0 - 0.5)).into();
    let mut singles: Vec<_> = shapes.map(|s| Case::new("f32", s, |r| r as f32 / 16_777_216.0 - 0.5)).into();
    let mut bytes: Vec<_> = shapes.map(|s| Case::new("u8", s, |r| (r >> 16) as u8)).into();
    let selected = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let bytes_times = if four_bytes() { 8.0 } else { 4.0 };
    let (mut best, mut probes) = (0.0_f64, [0.0_f64; 5]);
    for _ in 0..repetitions {
        for i in 0..shapes.len() {
            best = best.max(peak());
            selected("f64").then(|| doubles[i].run(1.0));
            selected("f32").then(|| singles[i].run(2.0));
            selected("u8").then(|| bytes[i].run(bytes_times));
            probes[i] = probes[i].max(probe_rate(&singles[i].x, shapes[i].1));
        }
    }
    println!("peak {best:.1} GF/s f64, {:.1} f32, {:.1} u8", 2.0 * best, bytes_times * best);
    for i in 0..shapes.len() {
        selected("f64").then(|| println!("{}", doubles[i].line()));
        selected("f32").then(|| println!("{}", singles[i].line()));
        selected("u8").then(|| println!("{}", bytes[i].line()));
        println!("{:>21} {:7.1} GF/s {:6.1} %", "probe", probes[i], 100.0 * probes[i] / best);
    }
}
