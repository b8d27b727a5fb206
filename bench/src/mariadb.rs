//! MariaDB as Debian compiled it, under the kernel's scheduler and under policies: what clients of each kind of load see.
//!
//! The server's threads are those of POSIX. `catapults run` has a policy schedule them, on both processors. sysbench makes the load on
//! the same two.

mod load;
mod server;

use std::io::Write;

use anyhow::{Result, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::place::Place;
use crate::results;
use crate::statistics::median;
use load::{LOADS, Load, Measured};
use server::{Data, Host};

/// How much to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// How often each is measured, in turns; medians are shown
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// How long each takes, in seconds
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=200))]
    seconds: u32,
    /// Only these loads
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Beside that of each load, these policies of the library
    #[arg(long, value_delimiter = ',', default_value = "fifo")]
    policies: Vec<String>,
    /// Do not write bench/results
    #[arg(long)]
    dry: bool,
}

/// One load under one scheduler.
#[derive(Serialize)]
struct Row {
    load: &'static str,
    host: Host,
    repeats: Vec<Measured>,
}

/// Measures, prints the table, and writes `bench/results/mariadb.json`.
///
/// # Errors
///
/// When something is not built or installed, or when the server or a client fails.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    if let Some(unknown) = options.only.iter().find(|name| LOADS.iter().all(|load| load.name != name.as_str())) {
        let all: Vec<&str> = LOADS.iter().map(|load| load.name).collect();
        bail!("there is no load `{unknown}`; there are {}", all.join(", "));
    }
    let data = Data::prepared(place)?;
    let (mut rows, mut goals) = (Vec::new(), Vec::new());
    for load in LOADS.iter().filter(|load| options.only.is_empty() || options.only.iter().any(|name| name == load.name))
    {
        let measured = measure(place, &data, load, options)?;
        goals.extend(load.goals(&of(&measured, &Host::Kernel), &of(&measured, &Host::Policy(load.policy.to_owned()))));
        rows.extend(measured);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{}\n\n{}\n", table(&rows), results::table(&goals))?;
    if !options.dry {
        let asked = "MariaDB under the kernel's scheduler and under policies";
        results::write(&place.folder("bench/results")?.join("mariadb.json"), asked, &rows, &goals)?;
        writeln!(out, "Every repeat: bench/results/mariadb.json")?;
    }
    let reached = goals.iter().filter(|goal| goal.reached()).count();
    writeln!(out, "mariadb: reached {reached} of {}", goals.len())?;
    Ok(())
}

/// In turns, so that what else the machine does meanwhile concerns all alike.
fn measure(place: &Place, data: &Data, load: &'static Load, options: &Options) -> Result<Vec<Row>> {
    let mut hosts = vec![Host::Kernel];
    for policy in options.policies.iter().map(String::as_str).chain([load.policy]) {
        let host = Host::Policy(policy.to_owned());
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let mut rows: Vec<Row> = hosts.into_iter().map(|host| Row { load: load.name, host, repeats: Vec::new() }).collect();
    for repeat in 0..options.repeats {
        for row in &mut rows {
            eprintln!("mariadb: {}, {}, {} of {}", load.name, row.host, repeat + 1, options.repeats);
            let server = data.serve(place, &row.host)?;
            let measured = load.make(data, options.seconds);
            let messages = server.end()?;
            row.repeats.push(measured.map_err(|error| error.context(messages))?);
        }
    }
    Ok(rows)
}

/// The repeats of a host.
fn of(rows: &[Row], host: &Host) -> Vec<Measured> {
    rows.iter().filter(|row| row.host == *host).flat_map(|row| row.repeats.clone()).collect()
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "", "transactions/s", "mean ms", "p99 ms", "long reports/s"]);
    for row in rows {
        let middle = |of: fn(&Measured) -> f64| median(&row.repeats.iter().map(of).collect::<Vec<f64>>());
        let reports = middle(|one| one.reports.unwrap_or(f64::NAN));
        table.add_row([
            row.load.to_owned(),
            row.host.to_string(),
            format!("{:.0}", middle(|one| one.rate)),
            format!("{:.1}", middle(|one| one.mean)),
            format!("{:.1}", middle(|one| one.p99)),
            if reports.is_nan() { String::new() } else { format!("{reports:.2}") },
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
