//! `cd referee && cargo run --release -- --fits 20000 --seed 1`: fits, judged. `--case 17` shows one case of the seed,
//! `--first 1000` starts there, `--show 50` prints so many reproducers. Ends with 1 where a certified answer was wrong, or a fit panicked.
#![allow(clippy::print_stdout)] // a program for the terminal

use std::process::ExitCode;

use eigenspan_referee::cases::Case;
use eigenspan_referee::judge::{Judge, Tables, Verdict};
use eigenspan_referee::ways::Way;

struct Asked {
    fits: usize,
    seed: u64,
    first: u64,
    case: Option<u64>,
    show: usize,
}

fn asked() -> Result<Asked, String> {
    let mut asked = Asked { fits: 20_000, seed: 1, first: 0, case: None, show: 20 };
    let mut words = std::env::args().skip(1);
    while let Some(name) = words.next() {
        let value = words.next().and_then(|word| word.parse::<u64>().ok()).ok_or(format!("{name} needs a number"))?;
        match name.as_str() {
            "--fits" => asked.fits = value as usize,
            "--seed" => asked.seed = value,
            "--first" => asked.first = value,
            "--case" => asked.case = Some(value),
            "--show" => asked.show = value as usize,
            _ => return Err(format!("{name}: the options are --fits, --seed, --first, --case and --show")),
        }
    }
    Ok(asked)
}

fn main() -> ExitCode {
    let asked = match asked() {
        Ok(asked) => asked,
        Err(fault) => {
            println!("{fault}");
            return ExitCode::from(2);
        }
    };
    std::panic::set_hook(Box::new(|_| ())); // they are counted
    if let Some(index) = asked.case {
        show(&Case::draw(asked.seed, index));
        return ExitCode::SUCCESS;
    }
    let mut tables = Tables::default();
    let mut shown = 0;
    for index in asked.first.. {
        let case = Case::draw(asked.seed, index);
        let judge = Judge::of(&case);
        for way in Way::ALL.into_iter().filter(|way| way.serves(&case.params)) {
            let judgement = judge.try_way(way);
            tables.add(way, &case, &judgement);
            let bad = matches!(judgement.verdict, Verdict::CertifiedWrong | Verdict::Outside | Verdict::Panicked);
            if bad && shown < asked.show {
                shown += 1;
                let (n, m, kind) = (case.samples().rows(), case.samples().cols(), case.kind.name());
                let (seed, name) = (asked.seed, way.name());
                println!(
                    "{:?}: --seed {seed} --case {index} ({n} × {m}, {kind}), {name}: {}",
                    judgement.verdict, judgement.detail
                );
            }
        }
        if tables.all.fits() >= asked.fits {
            break;
        }
    }
    println!("\n{tables}");
    let bad = tables.all.count(Verdict::CertifiedWrong) + tables.all.count(Verdict::Panicked);
    ExitCode::from(u8::from(bad > 0))
}

/// A case in full, and every way of it.
fn show(case: &Case) {
    let samples = case.samples();
    let (n, m) = (samples.rows(), samples.cols());
    println!("{} × {}, {}, 1e{}, {:?}", n, m, case.kind.name(), case.scale, samples.number_type());
    println!("{:?}\ncuts {:?}, rank {}, block {}", case.params, case.cuts, case.rank, case.block);
    if n * m <= 200 {
        let mut row = vec![0.0; m];
        for i in 0..n {
            samples.read_row(i, 0..m, &mut row);
            println!("{row:?}");
        }
    }
    let judge = Judge::of(case);
    for way in Way::ALL.into_iter().filter(|way| way.serves(&case.params)) {
        let judgement = judge.try_way(way);
        println!("{:<18}{:?}: {}", way.name(), judgement.verdict, judgement.detail);
    }
}
