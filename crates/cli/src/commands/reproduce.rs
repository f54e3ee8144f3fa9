//! `eigenspan reproduce`: the paper's experiments.

use std::path::Path;

use eigenspan_io::write_atomically;
use eigenspan_study::StudyError;
use eigenspan_study::cache::Cache;
use eigenspan_study::experiment::{Product, Supply, carry_out};
use eigenspan_study::protocol::Protocol;
use eigenspan_study::reproduce::Options;
use eigenspan_study::run::Runner;
use eigenspan_study::table::markdown;

use super::{Session, print, warn};
use crate::args::Reproduce;
use crate::failure::Failure;

/// Runs the requested experiments one after the other, and prints each when it is done.
pub fn run(args: &Reproduce, session: &Session<'_>) -> Result<(), Failure> {
    let supply = Supply { folder: args.data.clone(), synthetic: args.synthetic };
    if args.list {
        return list(&supply);
    }
    let (protocols, missing) = requested(args, &supply)?;
    warn(&missing);
    let cache = match &args.output {
        Some(folder) => {
            let create =
                |error| Failure::Failed { fact: format!("cannot create {}: {error}", folder.display()), hint: None };
            std::fs::create_dir_all(folder).map_err(create)?;
            Cache::open(&folder.join("cells.jsonl"))?
        }
        None => Cache::in_memory(),
    };
    let options = Options { repeats: args.repeats.map(|repeats| repeats.get().into()), tune: args.tune };
    let mut runner = Runner { cache, clock: session.progress, exec: session.exec };
    for protocol in &protocols {
        let product = carry_out(protocol, &supply, options, &mut runner)?;
        session.progress.clear();
        warn(&product.report.warnings);
        show(args, &product)?;
    }
    Ok(())
}

/// The named protocols, of `all` those whose data are present, and messages on the others.
fn requested(args: &Reproduce, supply: &Supply) -> Result<(Vec<Protocol>, Vec<String>), StudyError> {
    let mut protocols = vec![];
    let mut missing = vec![];
    for name in &args.names {
        if name != "all" {
            protocols.push(Protocol::named(name)?);
            continue;
        }
        for protocol in Protocol::all() {
            match supply.has(&protocol) {
                true => protocols.push(protocol),
                false => missing.push(format!("{} is skipped: its data are not present", protocol.name)),
            }
        }
    }
    Ok((protocols, missing))
}

fn list(supply: &Supply) -> Result<(), Failure> {
    let row = |protocol: Protocol| {
        let data = protocol.data_names().join(", ");
        let there = if supply.has(&protocol) { "yes" } else { "no" };
        vec![protocol.name, protocol.printed, protocol.title, data, there.to_string()]
    };
    let rows: Vec<Vec<String>> = Protocol::all().into_iter().map(row).collect();
    print(&markdown(&["name", "printed as", "what", "data", "data present"], &rows))
}

/// Writes the files where a folder was given, and prints the table.
fn show(args: &Reproduce, product: &Product) -> Result<(), Failure> {
    let Product { report, figures } = product;
    let names: Vec<String> = figures.iter().map(|(name, _)| name.clone()).collect();
    if let Some(folder) = &args.output {
        let write = |name: &Path, bytes: &[u8]| write_atomically(&folder.join(name), |out| out.write_all(bytes));
        let name = Path::new(&report.name);
        write(&name.with_extension("json"), report.json().as_bytes())?;
        write(&name.with_extension("md"), report.markdown(&names).as_bytes())?;
        write(&name.with_extension("csv"), report.csv().as_bytes())?;
        for (name, bytes) in figures {
            write(Path::new(name), bytes)?;
        }
    }
    match args.json {
        true => print(&report.json()),
        false => print(&(report.markdown(if args.output.is_some() { &names } else { &[] }) + "\n")),
    }
}
