//! Cancellation returns `Cancelled`, from every method and at every stage.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use eigenspan_linalg::certificate::count_above;
use eigenspan_linalg::gram::Gram;
use eigenspan_linalg::polish::polish;
use eigenspan_linalg::random::Random;
use eigenspan_linalg::spectrum::{GramSpectrum, Select, direct};
use eigenspan_linalg::summary::{Form, Summary};
use eigenspan_linalg::symmetric::tridiagonalize;
use eigenspan_linalg::triangle::triangle;
use eigenspan_linalg::{Error, Exec, Mat, Monitor};

/// Cancels after a given number of polls.
struct CancelAfter {
    polls: AtomicUsize,
    allowed: usize,
}

impl Monitor for CancelAfter {
    fn cancelled(&self) -> bool {
        self.polls.fetch_add(1, Ordering::Relaxed) >= self.allowed
    }
}

/// The result of `work` when it is cancelled after `allowed` polls, and the number of polls.
fn run(threads: usize, allowed: usize, work: &dyn Fn(Exec<'_>) -> Result<(), Error>) -> (Result<(), Error>, usize) {
    let monitor = CancelAfter { polls: AtomicUsize::new(0), allowed };
    let result = work(Exec::new(NonZero::new(threads), &monitor));
    (result, monitor.polls.into_inner())
}

/// Cancels `work` after each of the given numbers of polls.
fn stops_at(
    method: &str,
    threads: usize,
    places: impl Iterator<Item = usize>,
    work: &dyn Fn(Exec<'_>) -> Result<(), Error>,
) {
    for place in places {
        let (stopped, polls) = run(threads, place, work);
        assert_eq!(stopped, Err(Error::Cancelled), "{method}, {threads} threads, after {place} polls");
        // Each thread may poll once more, and once more where its results are collected.
        assert!(polls <= place + 4 * threads, "{method}: {polls} polls where {place} were allowed");
    }
}

/// Cancels `work` at several points from its beginning almost to its end.
fn stops_anywhere(method: &str, work: impl Fn(Exec<'_>) -> Result<(), Error>) {
    for threads in [1, 2] {
        let (whole, polls) = run(threads, usize::MAX, &work);
        assert_eq!(whole, Ok(()), "{method}");
        assert!(polls >= 4, "{method}: {polls} polls are few");
        stops_at(method, threads, (0..6).map(|i| i * polls / 7), &work);
    }
}

fn noise(n: usize, m: usize) -> Mat {
    Mat::from_vec(n, m, Random::new((n + m) as u64).normals(n * m)).unwrap()
}

/// Noise, and a few directions above it.
fn samples(n: usize, m: usize) -> Mat {
    let mut x = noise(n, m);
    (0..n).for_each(|i| x.row_mut(i)[i % 20] += 400.0 / (1 + i % 20) as f64);
    x
}

#[test]
fn the_methods_through_the_gram_matrix() {
    for (n, m) in [(900, 600), (600, 900)] {
        let x = samples(n, m);
        let compressed = GramSpectrum::of(&x, Exec::default()).unwrap();
        stops_anywhere("gram", |exec| Gram::of(&x, exec).map(drop));
        stops_anywhere("values", |exec| GramSpectrum::of(&x, exec)?.values(exec).map(drop));
        stops_anywhere("krylov", |exec| {
            compressed.by_krylov(Select::Top(12), exec).map(|found| assert!(found.is_some()))
        });
        for k in [100, 400] {
            stops_anywhere("dense", |exec| {
                let found = GramSpectrum::of(&x, exec)?.by_dense(Select::Top(k), exec)?.expect("within reach");
                found.basis(k, exec).map(drop)
            });
        }
    }
}

#[test]
fn the_symmetric_solver_step_by_step() {
    // Large enough that the backend runs on a thread of its own.
    let p = 1020;
    let gram = Gram::of(&samples(1200, p), Exec::default()).unwrap();
    let reduced = tridiagonalize(gram.matrix.clone(), Exec::default()).unwrap();
    stops_anywhere("few", |exec| reduced.leading(p / 2, exec).map(drop));
    // A call to the backend is polled by the clock, so that only the first polls are reproducible.
    stops_at("many", 2, 0..3, &|exec| reduced.leading(p / 2 + 1, exec).map(drop));
    stops_at("values", 2, 0..1, &|exec| reduced.values(exec).map(drop));
    let found = reduced.leading(41, Exec::default()).unwrap();
    let tau = (0.5 * (found.values[39] + found.values[40])).sqrt();
    stops_anywhere("certificate", |exec| count_above(&gram, (tau, 0.0), &found.values, &found.vectors, exec).map(drop));
}

#[test]
fn the_triangle_and_the_steps_after_it() {
    let x = samples(5000, 300);
    stops_anywhere("triangle", |exec| triangle(&x, exec).map(drop));
    let compressed = GramSpectrum::of(&x, Exec::default()).unwrap();
    stops_anywhere("by triangle", |exec| compressed.by_triangle(Select::Top(9), exec)?.basis(9, exec).map(drop));
    // Far from orthonormal: `polish` falls back to QR.
    stops_anywhere("polish", |exec| polish(noise(2000, 300), exec).map(drop));
}

#[test]
fn the_direct_method() {
    for (n, m) in [(3000, 300), (300, 3000)] {
        let x = samples(n, m);
        stops_anywhere("direct", |exec| direct(&x, Select::Top(6), exec)?.basis(6, exec).map(drop));
    }
}

#[test]
fn a_summary_at_every_step() {
    let x = samples(5000, 300);
    for form in [Form::Gram, Form::Triangle] {
        let fed = |exec: Exec<'_>| {
            let mut all = Summary::empty(300, form, true);
            all.update(&x, exec).map(|()| all)
        };
        let fed_summary = fed(Exec::default()).unwrap();
        stops_anywhere("update", |exec| fed(exec).map(drop));
        stops_anywhere("merge", |exec| fed_summary.clone().merge(&fed_summary, exec));
        stops_anywhere("finish", |exec| fed_summary.finish(Select::Top(9), exec).map(drop));
        // A cancelled merge leaves the summary unchanged.
        let mut ours = fed_summary.clone();
        let monitor = CancelAfter { polls: AtomicUsize::new(0), allowed: 2 };
        assert_eq!(ours.merge(&fed_summary, Exec::new(NonZero::new(1), &monitor)), Err(Error::Cancelled));
        assert_eq!(ours.to_bytes(), fed_summary.to_bytes());
    }
}
