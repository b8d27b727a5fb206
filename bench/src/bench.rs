//! The measurements that have a target: against other thread libraries, against the bare switch, against nginx, against the clock.

mod activations;
mod check;
mod dask;
mod freertos;
mod growth;
mod large;
mod missed;
mod peers;
mod processors;
mod recordings;
mod simulator;
mod switch;
mod web;

use std::io::Write;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::place::Place;
use crate::results;

/// What to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// Only these questions
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Question>,
    /// How often servers are measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Seconds for each measurement of a server
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// How often peers are measured, in turn
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Do not write bench/results
    #[arg(long)]
    dry: bool,
}

/// A question that the measurements answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Question {
    /// How other thread libraries compare
    Peers,
    /// What a policy adds to a bare context switch, and each level of schedulers
    Switch,
    /// How soon a thread that blocks in the kernel is noticed
    Activations,
    /// What several processors cost
    Processors,
    /// What costs more the more threads there are
    Growth,
    /// How CoW compares with nginx
    Web,
    /// How long a policy takes to be checked and translated
    Check,
    /// How fast a policy is simulated
    Simulator,
    /// How much memory it takes to read a long recording
    Recordings,
    /// What a policy costs on FreeRTOS
    Freertos,
    /// How policies compare with what stock Dask does
    Dask,
}

/// Measures, prints the table, and writes `bench/results`.
///
/// # Errors
///
/// When something is not built or installed, or does not do as it should. A target that is missed is no error.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    let mut goals = Vec::new();
    for question in Question::value_variants().iter().copied() {
        if !options.only.is_empty() && !options.only.contains(&question) {
            continue;
        }
        let (name, asked, repeats, found) = match question {
            Question::Peers => {
                let found = peers::measure(place, options.rounds)?;
                writeln!(std::io::stdout(), "{}\n", found.text)?;
                if !options.dry {
                    results::document(&place.source("bench/README.md"), "peers", &found.document)?;
                }
                ("peers", "the loops of bench/peers/loops.h, in nanoseconds", found.repeats, found.goals)
            }
            Question::Switch => {
                let (repeats, goals) = switch::measure(place)?;
                ("switch", "one switch between two ready threads, in nanoseconds", repeats, goals)
            }
            Question::Activations => {
                let (repeats, goals) = activations::measure(place)?;
                ("activations", "upcalls of the activations, in nanoseconds", repeats, goals)
            }
            Question::Processors => {
                let (repeats, goals) = processors::measure(place)?;
                ("processors", "several processors, in nanoseconds", repeats, goals)
            }
            Question::Growth => {
                let (repeats, goals) = growth::measure(place)?;
                (
                    "growth",
                    "what concerns a few threads, beside 100 and 100,000 that sleep, in nanoseconds",
                    repeats,
                    goals,
                )
            }
            Question::Freertos => {
                let (table, rows) = freertos::measure(place)?;
                writeln!(std::io::stdout(), "{table}")?;
                ("freertos", "policies in FreeRTOS on a Cortex-M3, in bytes and instructions", rows, Vec::new())
            }
            Question::Dask => {
                let (repeats, goals) = dask::measure(place)?;
                ("dask", "clusters of Dask under policies and without, in seconds, or tasks per second", repeats, goals)
            }
            Question::Web => {
                let (repeats, goals) = web::measure(place, options.repeats, options.seconds)?;
                ("web", "CoW under fifo.sched against nginx with one worker, keep-alive", repeats, goals)
            }
            Question::Check => {
                let (repeats, goals) = check::measure(place)?;
                ("check", "checking a policy, and translating it, as a whole process, in milliseconds", repeats, goals)
            }
            Question::Simulator => {
                let (repeats, goals) = simulator::measure(place)?;
                ("simulator", "simulating fifo.sched, as a whole process, in seconds", repeats, goals)
            }
            Question::Recordings => {
                let (repeats, goals) = recordings::measure(place)?;
                ("recordings", "reading a recording of 1 GB, as a whole process", repeats, goals)
            }
        };
        if !options.dry {
            results::write(&place.folder("bench/results")?.join(format!("{name}.json")), asked, repeats, &found)?;
        }
        goals.extend(found);
    }

    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{}\n", results::table(&goals))?;
    if !options.dry {
        list_missed(place)?;
        writeln!(out, "Every repeat: bench/results/*.json")?;
    }
    writeln!(out, "reached {} of {}", goals.iter().filter(|goal| goal.reached()).count(), goals.len())?;
    Ok(())
}

/// Lists, in `bench/README.md`, the goals that were missed, of all files in `bench/results`.
///
/// # Errors
///
/// When one of these cannot be read, or is none of ours.
pub fn list_missed(place: &Place) -> Result<()> {
    let missed = missed::of(&place.folder("bench/results")?)?;
    results::put(&place.source("bench/README.md"), "missed", &missed)
}
