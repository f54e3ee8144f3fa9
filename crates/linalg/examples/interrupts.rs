//! Latency of cancellation: the longest time between two polls of the monitor, method by method.
//!
//! ```text
//!     cargo run --release -p eigenspan-linalg --example interrupts [way …]
//! ```
//! A caller that cancels waits until the calling thread polls again, and until the threads that it waits for have
//! polled. So the time between polls is measured on each thread separately, from the start of the call to its end, and
//! the longest counts: wall-clock milliseconds, the minimum of several runs, because the machine is shared. A stage is
//! what was last reported; steps that report nothing count towards the stage before. Only methods whose name contains
//! one of the given words are run.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::time::Instant;

use eigenspan_linalg::certificate::count_above;
use eigenspan_linalg::gram::Gram;
use eigenspan_linalg::random::Random;
use eigenspan_linalg::spectrum::{GramSpectrum, Select, direct};
use eigenspan_linalg::summary::{Form, Summary};
use eigenspan_linalg::symmetric::tridiagonalize;
use eigenspan_linalg::{Error, Exec, Mat, Monitor};

/// The latency that a user takes for "at once", in milliseconds.
const AT_ONCE: f64 = 100.0;
/// Runs, of which the minimum counts; methods that answer in time after fewer runs are not run again.
const RUNS: usize = 2;

thread_local! {
    /// Time of the last poll on this thread.
    static LAST_POLL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Never cancels; records the time between polls.
#[derive(Default)]
struct Gaps(Mutex<Record>);

#[derive(Default)]
struct Record {
    stage: &'static str,
    longest: BTreeMap<&'static str, f64>,
}

impl Gaps {
    #[expect(clippy::disallowed_methods, reason = "a stopwatch reads a clock")]
    fn poll(&self) {
        let now = Instant::now();
        if let Some(last) = LAST_POLL.replace(Some(now)) {
            let mut record = self.0.lock().expect("nothing panics here");
            let stage = record.stage;
            let longest = record.longest.entry(stage).or_default();
            *longest = longest.max(1e3 * (now - last).as_secs_f64());
        }
    }
}

impl Monitor for Gaps {
    fn progress(&self, stage: &'static str, _: usize, _: usize) {
        self.0.lock().expect("nothing panics here").stage = stage;
    }

    fn cancelled(&self) -> bool {
        self.poll();
        false
    }
}

/// The longest gap of each stage of one run.
#[expect(clippy::disallowed_methods, reason = "a stopwatch reads a clock")]
fn gaps(threads: usize, work: &dyn Fn(Exec<'_>) -> Result<(), Error>) -> BTreeMap<&'static str, f64> {
    let gaps = Gaps::default();
    gaps.progress("begin", 0, 0);
    LAST_POLL.set(Some(Instant::now()));
    work(Exec::new(NonZero::new(threads), &gaps)).expect("nobody cancels");
    gaps.poll();
    LAST_POLL.set(None);
    gaps.0.into_inner().expect("nothing panics here").longest
}

/// The same, the minimum of a few runs.
fn least(threads: usize, work: &dyn Fn(Exec<'_>) -> Result<(), Error>) -> BTreeMap<&'static str, f64> {
    let mut least = gaps(threads, work);
    for _ in 1..RUNS {
        if least.values().all(|gap| *gap < AT_ONCE) {
            break;
        }
        for (stage, gap) in gaps(threads, work) {
            least.entry(stage).and_modify(|least| *least = least.min(gap)).or_insert(gap);
        }
    }
    least
}

#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    println!("{:44} {:16} {:>9} {:>9}", "way", "stage", "1 thread", "2 threads");
    let time = |way: &str, work: &dyn Fn(Exec<'_>) -> Result<(), Error>| {
        if !words.is_empty() && !words.iter().any(|word| way.contains(word.as_str())) {
            return;
        }
        let (one, two) = (least(1, work), least(2, work));
        let late = |stages: &BTreeMap<&str, f64>, stage: &str| stages.get(stage).copied().unwrap_or(0.0);
        for stage in one.keys().chain(two.keys().filter(|stage| !one.contains_key(*stage))) {
            let (a, b) = (late(&one, stage), late(&two, stage));
            let mark = if a.max(b) > AT_ONCE { " *" } else { "" };
            println!("{way:44} {stage:16} {a:9.1} {b:9.1}{mark}");
        }
    };
    in_memory(&time);
    large_order(&time);
    summaries(&time);
}

type Time<'a> = &'a dyn Fn(&str, &dyn Fn(Exec<'_>) -> Result<(), Error>);

/// Tall and wide samples with a few hundred directions above noise.
fn in_memory(time: Time<'_>) {
    for (n, m) in [(20_000, 1500), (1500, 20_000), (3000, 3000)] {
        let x = samples(n, m);
        let name = |way: &str| format!("{way}, {n} × {m}");
        let compressed = GramSpectrum::of(&x, Exec::default()).expect("nobody cancels");
        time(&name("Gram"), &|exec| Gram::of(&x, exec).map(drop));
        time(&name("Krylov, k = 100"), &|exec| {
            let found = compressed.by_krylov(Select::Top(100), exec)?.expect("few of many");
            found.basis(100, exec).map(drop)
        });
        time(&name("direct, k = 100"), &|exec| direct(&x, Select::Top(100), exec)?.basis(100, exec).map(drop));
        if n >= m {
            time(&name("triangle"), &|exec| compressed.by_triangle(Select::Top(50), exec)?.basis(50, exec).map(drop));
        }
    }
}

/// Everything that is done with a Gram matrix of order p, one step at a time.
fn large_order(time: Time<'_>) {
    for p in [1500, 2500] {
        let x = samples(p + 500, p);
        let gram = Gram::of(&x, Exec::default()).expect("nobody cancels");
        let name = |way: &str| format!("{way}, p = {p}");
        let reduced = tridiagonalize(gram.matrix.clone(), Exec::default()).expect("nobody cancels");
        time(&name("reduce"), &|exec| tridiagonalize(gram.matrix.clone(), exec).map(drop));
        time(&name("dense, values"), &|exec| reduced.values(exec).map(drop));
        for k in [p / 10, p / 2, p / 2 + 1, p] {
            time(&name(&format!("dense, k = {k}")), &|exec| reduced.leading(k, exec).map(drop));
        }
        for k in [p / 10, p / 2] {
            let found = reduced.leading(k + 1, Exec::default()).expect("nobody cancels");
            let tau = (0.5 * (found.values[k - 1] + found.values[k])).sqrt();
            time(&name(&format!("certificate, k = {k}")), &|exec| {
                count_above(&gram, (tau, 0.0), &found.values, &found.vectors, exec).map(drop)
            });
        }
    }
    // Fewer samples than features, many directions: U = XᵀVΣ⁻¹ and its orthonormalization.
    let x = samples(2500, 4000);
    let compressed = GramSpectrum::of(&x, Exec::default()).expect("nobody cancels");
    let found = compressed.by_dense(Select::Top(1500), Exec::default()).expect("nobody cancels").expect("within reach");
    time("directions, 2500 × 4000, k = 1500", &|exec| found.basis(1500, exec).map(drop));
}

fn summaries(time: Time<'_>) {
    let x = samples(8000, 1500);
    for form in [Form::Gram, Form::Triangle] {
        let whole = |exec: Exec<'_>| {
            let mut all = Summary::empty(1500, form, true);
            all.update(&x, exec).map(|()| all)
        };
        let all = whole(Exec::default()).expect("nobody cancels");
        let name = |way: &str| format!("summary, {form:?}, 8000 × 1500, {way}");
        time(&name("update"), &|exec| whole(exec).map(drop));
        time(&name("merge"), &|exec| all.clone().merge(&all, exec));
        time(&name("finish"), &|exec| all.finish(Select::Top(100), exec).map(drop));
    }
}

/// Z diag(i^−0.3) W with Gaussian Z and W of up to 400 directions, above noise of a tenth of the last one.
fn samples(n: usize, m: usize) -> Mat {
    let directions = 400;
    let mut random = Random::new((n * m) as u64);
    let noise = Mat::from_vec(n, m, random.normals(n * m)).expect("n · m of them");
    let z = random.normals(n * directions);
    let w = random.normals(directions * m);
    let mut x = noise;
    // Each sample has components along eight directions only: enough for a decaying spectrum, and quickly generated.
    for i in 0..n {
        for step in 0..8 {
            let d = (i * 13 + step * 57) % directions;
            let weight = 4.0 * z[i * directions + d] / (d as f64 + 1.0).powf(0.3);
            let direction = &w[d * m..(d + 1) * m];
            x.row_mut(i).iter_mut().zip(direction).for_each(|(x, w)| *x += weight * w);
        }
    }
    x
}
