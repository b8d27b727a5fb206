//! `make tutorial`: does the steps of `docs/tutorial.md` in order, as they are written, and compares what is printed with what the page
//! shows. It ends at the first difference, with status 1. UPDATE=1 writes into the page what is printed.

use std::fs;
use std::process::ExitCode;

use catapults_tests::{root, steps};

const PAGE: &str = "docs/tutorial.md";

fn main() -> ExitCode {
    let update = std::env::var_os("UPDATE").is_some();
    let outcome = match steps::follow_at(PAGE, update, &mut |step| println!("{step}")) {
        Ok(outcome) => outcome,
        Err(wrong) => {
            eprintln!("tutorial: error: {wrong}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(wrong) = &outcome.wrong {
        println!("\n{wrong}\n");
    } else if update && let Err(error) = fs::write(root().join(PAGE), &outcome.renewed) {
        eprintln!("tutorial: error: {PAGE}: {error}");
        return ExitCode::FAILURE;
    }
    println!("tutorial: {} of {} steps", outcome.done, outcome.all);
    if outcome.wrong.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
