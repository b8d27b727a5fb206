//! How many jobs of a control workload miss their deadlines: under policies of the native runtime, beside SCHED_DEADLINE and the kernel's
//! other classes; and on FreeRTOS, beside its priorities. Each with honest threads alone, and with one among them that lies.

mod count;
mod goals;
mod hosts;

use std::io::Write;

use anyhow::{Result, ensure};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::bench::list_missed;
use crate::place::Place;
use crate::process::Processors;
use crate::results;
use crate::statistics::median;
use count::{Counted, Repeat};
use hosts::{CORTEX, HERE, Outcome};

/// How much to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// How often each is measured, in turns; medians are shown
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// How long each takes, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=200))]
    seconds: u32,
    /// Only see whether everything runs and all jobs are counted; judge nothing
    #[arg(long)]
    short: bool,
    /// Do not write bench/results
    #[arg(long)]
    dry: bool,
}

/// One set of threads under one scheduler.
#[derive(Debug, Serialize)]
struct Row {
    /// The machine, and who schedules the threads there.
    machine: &'static str,
    scheduler: &'static str,
    /// Whether one thread lies.
    liar: bool,
    repeats: Vec<Repeat>,
    /// Why the kernel does not let it run, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// Measures, prints the table, and writes `bench/results/misses.json`.
///
/// # Errors
///
/// When something is not built or installed, fails, or does not count all jobs.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    let rows = measure(place, options)?;
    for row in &rows {
        if let Some(why) = &row.refused {
            eprintln!("misses: {} cannot run here: {why}", row.scheduler);
        }
    }
    let mut out = std::io::stdout().lock();
    if options.short {
        let counted: u32 = rows.iter().flat_map(|row| &row.repeats).map(Repeat::jobs).sum();
        writeln!(out, "misses: {counted} jobs counted")?;
        return Ok(());
    }
    let goals = goals::of(&rows);
    writeln!(out, "\n{}\n\n{}\n", table(&rows), results::table(&goals))?;
    if !options.dry {
        let asked =
            "jobs of a control workload that miss their deadlines, per 10,000, and the worst lateness in microseconds";
        results::write(&place.folder("bench/results")?.join("misses.json"), asked, &rows, &goals)?;
        results::document(&place.source("bench/README.md"), "misses", &document(&rows))?;
        list_missed(place)?;
        writeln!(out, "Every repeat: bench/results/misses.json")?;
    }
    let reached = goals.iter().filter(|goal| goal.reached()).count();
    writeln!(out, "misses: reached {reached} of {}", goals.len())?;
    Ok(())
}

/// In turns, so that what else the machine does meanwhile concerns all alike. The simulated machine is asked once: its counts repeat.
fn measure(place: &Place, options: &Options) -> Result<Vec<Row>> {
    let processor = Processors::first_two()?.server;
    let (repeats, seconds, rounds) =
        if options.short { (1, 0.2, 1) } else { (options.repeats, f64::from(options.seconds), 20) };
    let mut rows = Vec::new();
    for liar in [false, true] {
        rows.extend(HERE.iter().map(|host| Row {
            machine: "Linux",
            scheduler: host.scheduler,
            liar,
            repeats: Vec::new(),
            refused: None,
        }));
    }
    for repeat in 0..repeats {
        for (index, row) in rows.iter_mut().enumerate().filter(|(_, row)| row.refused.is_none()) {
            let host = &HERE[index % HERE.len()];
            if !options.short {
                eprintln!("misses: {}, {}, {} of {repeats}", host.scheduler, set(row.liar), repeat + 1);
            }
            match host.run(place, processor, row.liar, seconds)? {
                Outcome::Counted(counted) => row.repeats.push(counted),
                Outcome::Refused(why) => row.refused = Some(why),
            }
        }
    }
    if !options.short {
        eprintln!("misses: FreeRTOS");
    }
    let mut simulated = hosts::on_cortex(place, rounds)?;
    for liar in [false, true] {
        for (name, scheduler) in CORTEX {
            let repeat = simulated.remove(&(name.to_owned(), liar)).unwrap_or_default();
            ensure!(repeat.jobs() > 0, "bench/freertos/misses/run printed nothing of {name}, {}", set(liar));
            rows.push(Row { machine: "Cortex-M3", scheduler, liar, repeats: vec![repeat], refused: None });
        }
    }
    Ok(rows)
}

fn set(liar: bool) -> &'static str {
    if liar { "with a liar" } else { "all honest" }
}

impl Row {
    /// Medians of the misses per 10,000 jobs.
    fn missed(&self, of: fn(&Repeat) -> Counted) -> f64 {
        median(&self.repeats.iter().map(|repeat| of(repeat).per_10_000()).collect::<Vec<f64>>())
    }

    /// The cells of a table, of which the first three are words.
    fn cells(&self) -> [String; 9] {
        let worst = |of: fn(&Repeat) -> Counted| {
            let values: Vec<f64> = self.repeats.iter().map(|repeat| of(repeat).worst as f64 / 1000.0).collect();
            (median(&values), values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let sum = self.repeats.iter().map(Repeat::honest).fold(Counted::none(), Counted::and);
        let number = |value: f64, digits: usize| {
            if value.is_finite() { format!("{value:.digits$}").replace('-', "−") } else { "–".to_owned() }
        };
        let (honest, liar) = (worst(Repeat::honest), worst(Repeat::liar));
        [
            self.machine.to_owned(),
            self.scheduler.to_owned(),
            set(self.liar).to_owned(),
            number(self.missed(Repeat::honest), 0),
            format!("{} of {}", sum.missed, sum.jobs),
            number(honest.0, 1),
            number(honest.1, 1),
            number(self.missed(Repeat::liar), 0),
            number(liar.0, 1),
        ]
    }
}

const HEADER: [&str; 9] = [
    "on",
    "scheduler",
    "set",
    "honest: missed per 10,000",
    "in all repeats",
    "latest, ms",
    "of all repeats",
    "who may lie: missed per 10,000",
    "latest, ms",
];

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(HEADER);
    for row in rows {
        table.add_row(row.cells());
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The same for `bench/README.md`.
fn document(rows: &[Row]) -> String {
    let mut text = format!("| {} |\n|---|---|---|---:|---:|---:|---:|---:|---:|\n", HEADER.join(" | "));
    for row in rows {
        text += &format!("| {} |\n", row.cells().join(" | "));
    }
    text + "\n"
}
