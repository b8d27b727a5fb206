//! Measurements: of one policy beside another, and of ours beside its peers.

mod agreement;
mod bench;
mod client;
mod demo;
mod experiments;
mod files;
mod mariadb;
mod misses;
mod others;
mod place;
mod process;
mod results;
mod server;
mod statistics;
mod table;
mod unmodified;
mod weather;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures Catapults; `make demo` and `make bench` build all that it needs
#[derive(Parser)]
#[command(version)]
struct Command {
    /// The root of the repository
    #[arg(long, default_value = ".", global = true)]
    root: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Serve files under two policies, and compare them in one table
    Demo(demo::Options),
    /// Compare with peers and targets
    Bench(bench::Options),
    /// Repeat experiments of papers, each with its check and plot
    Experiments(experiments::Options),
    /// Compare what is simulated with what the native runtime then does
    Agreement(agreement::Options),
    /// Compare MariaDB under the kernel's scheduler and under policies
    Mariadb(mariadb::Options),
    /// Count the jobs that miss their deadlines under policies, beside those under SCHED_DEADLINE and under FreeRTOS's priorities
    Misses(misses::Options),
    /// Run the distribution's programs under policies, and compare what they do with what they do under NPTL
    Unmodified(unmodified::Options),
    /// Run the weather station on every host, under the generic scheduler and under its own
    Weather(weather::Options),
}

fn main() -> ExitCode {
    let command = Command::parse();
    let done = place::Place::at(&command.root).and_then(|place| match &command.what {
        What::Demo(options) => demo::run(&place, options),
        What::Bench(options) => bench::run(&place, options),
        What::Experiments(options) => experiments::run(&place, options),
        What::Agreement(options) => agreement::run(&place, options),
        What::Mariadb(options) => mariadb::run(&place, options),
        What::Misses(options) => misses::run(&place, options),
        What::Unmodified(options) => unmodified::run(&place, options),
        What::Weather(options) => weather::run(&place, options),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("catapults-bench: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
