//! The weather station: Table 3 of CATAPULTS 2005, on every host, for several numbers of threads; and, where a scheduler was written by
//! hand in C for the same policy, how the generated one compares with it.
//!
//! Hosts are the folders of `applications/weather/hosts`, whose Makefiles measure; schedulers by hand are `bench/HOST/by_hand.c`.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use crate::place::Place;
use crate::process::{Processors, ending, limited};
use crate::results::{self, Goal};
use crate::statistics::{median, overlap};

/// How much to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// With so many threads
    #[arg(long, value_delimiter = ',', default_values_t = [6, 8, 11, 15, 20, 24], value_parser = clap::value_parser!(u8).range(5..=24))]
    threads: Vec<u8>,
    /// Each run ends after so many calculations
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u16).range(1..))]
    calculations: u16,
    /// How often durations in seconds are measured; medians are shown
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Only these hosts
    #[arg(long, value_delimiter = ',')]
    hosts: Vec<String>,
    /// Do not write bench/results
    #[arg(long)]
    dry: bool,
}

/// What the host does by itself, and our policy, as the Makefiles call them.
const SCHEDULERS: [&str; 2] = ["generic", "weather"];

/// A host with a number of threads.
#[derive(Serialize)]
struct Row {
    host: String,
    threads: u8,
    unit: String,
    /// By scheduler, in the order of [`SCHEDULERS`]: every repeat, and bytes of code.
    durations: [Vec<f64>; 2],
    code: [u64; 2],
    /// Under a scheduler for the same policy that was written by hand, where there is one.
    by_hand: Option<f64>,
}

/// What a run printed.
struct Outcome {
    /// What the station did.
    work: Vec<String>,
    duration: f64,
    unit: String,
    code: u64,
}

/// Measures, prints the table, and writes `bench/results/weather.json`.
///
/// # Errors
///
/// When something is not built or installed, or when the station does not do the same under both schedulers.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    let hosts = hosts(place, &options.hosts)?;
    let (mut rows, mut goals) = (Vec::new(), Vec::new());
    for host in &hosts {
        for threads in &options.threads {
            eprintln!("bench: weather on {host}, {threads} threads");
            rows.push(row(place, host, *threads, options)?);
        }
        if in_c(place, host, "by_hand").is_some() {
            eprintln!("bench: weather on {host}, by hand");
            goals.extend(by_hand(place, host, options)?);
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{}\n", table(&rows))?;
    if !goals.is_empty() {
        writeln!(out, "{}\n", results::table(&goals))?;
    }
    if !options.dry {
        let asked = "the weather station under the host's own scheduler and under weather.sched";
        results::write(&place.folder("bench/results")?.join("weather.json"), asked, &rows, &goals)?;
        writeln!(out, "Every repeat: bench/results/weather.json")?;
    }
    writeln!(out, "{}", in_short(&rows, &goals))?;
    Ok(())
}

fn hosts(place: &Place, wanted: &[String]) -> Result<Vec<String>> {
    let folder = place.source("applications/weather/hosts");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let all: BTreeSet<String> = names.collect::<Result<_>>()?;
    if let Some(unknown) = wanted.iter().find(|host| !all.contains(*host)) {
        bail!("there is no host `{unknown}`; there are {}", Vec::from_iter(all).join(", "));
    }
    Ok(all.into_iter().filter(|host| wanted.is_empty() || wanted.contains(host)).collect())
}

fn row(place: &Place, host: &str, threads: u8, options: &Options) -> Result<Row> {
    let measured = |scheduler: &str| {
        station(place, host, scheduler, threads, options.calculations)
            .with_context(|| format!("{host}, {threads} threads, {scheduler}"))
    };
    // The first runs also build. What counts clocks counts the same each time; what looks at the time does not.
    let first = [measured(SCHEDULERS[0])?, measured(SCHEDULERS[1])?];
    ensure!(
        first[0].work == first[1].work,
        "{host}, {threads} threads: the schedulers do not do the same work:\n{:?}\n{:?}",
        first[0].work,
        first[1].work
    );
    let mut durations = [Vec::new(), Vec::new()];
    if first[0].unit == "ns" {
        for repeat in 0..options.repeats {
            let order = if repeat % 2 == 0 { [0, 1] } else { [1, 0] };
            for scheduler in order {
                durations[scheduler].push(measured(SCHEDULERS[scheduler])?.duration);
            }
        }
    } else {
        durations = [vec![first[0].duration], vec![first[1].duration]];
    }
    let code = [first[0].code, first[1].code];
    let by_hand = match in_c(place, host, "by_hand") {
        None => None,
        Some(scheduler) => {
            let outcome = measured(&scheduler)?;
            ensure!(outcome.work == first[1].work, "{host}: the scheduler by hand does not do the same work");
            Some(outcome.duration)
        }
    };
    Ok(Row { host: host.to_owned(), threads, unit: first[0].unit.clone(), durations, code, by_hand })
}

/// A scheduler in C, to compare with.
fn in_c(place: &Place, host: &str, name: &str) -> Option<String> {
    let file = place.source(&format!("bench/{host}/{name}.c"));
    file.exists().then(|| file.display().to_string())
}

fn station(place: &Place, host: &str, scheduler: &str, threads: u8, calculations: u16) -> Result<Outcome> {
    let variables =
        [format!("SCHEDULER={scheduler}"), format!("THREADS={threads}"), format!("CALCULATIONS={calculations}")];
    outcome(&make(place, &format!("applications/weather/hosts/{host}"), "measure", &variables)?)
}

/// What a target prints.
fn make(place: &Place, folder: &str, target: &str, variables: &[String]) -> Result<String> {
    let folder = place.source(folder);
    let mut command = limited("make", &[Processors::first_two()?.server]);
    command.arg("--silent").arg("-C").arg(&folder).arg(target).args(variables);
    command.arg(format!("BUILD={}", place.source("build").display()));
    let output = command.env_remove("MAKEFLAGS").output().context("cannot start make")?;
    if !output.status.success() {
        bail!(
            "make -C {} {target} {} failed ({}):\n{}{}",
            folder.display(),
            variables.join(" "),
            ending(output.status),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads what the station did, `duration N UNIT` and `code N`.
fn outcome(text: &str) -> Result<Outcome> {
    let words = |name: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>())
    };
    let missing = || format!("the station printed no duration, or no code:\n{text}");
    let (duration, unit) = match words("duration").with_context(missing)?.as_slice() {
        [duration, unit] => (duration.parse().with_context(missing)?, (*unit).to_owned()),
        _ => bail!(missing()),
    };
    let code = words("code").and_then(|words| words.first()?.parse().ok()).with_context(missing)?;
    let work = text.lines().filter(|line| !line.starts_with("duration ") && !line.starts_with("code "));
    let work: Vec<String> = work.map(str::to_owned).collect();
    ensure!(!work.is_empty(), "the station did not say what it did:\n{text}");
    Ok(Outcome { work, duration, unit, code })
}

/// The generated scheduler beside one that was written by hand in C: what a decision costs, and how large the program is.
fn by_hand(place: &Place, host: &str, options: &Options) -> Result<Vec<Goal>> {
    let folder = format!("bench/{host}");
    let in_c = |name| in_c(place, host, name).with_context(|| format!("there is no {folder}/{name}.c"));
    let threads = options.threads.first().copied().unwrap_or(6);
    let yielded = |scheduler: &str| -> Result<f64> {
        let printed = make(place, &folder, "yield", &[format!("SCHEDULER={scheduler}")])?;
        let number = printed.split_whitespace().nth(1).and_then(|number| number.parse().ok());
        number.with_context(|| format!("not the cost of a yield: {printed}"))
    };
    let bare = yielded(&in_c("bare")?)?;
    let (own, by_hand, generic) = (yielded("weather")?, yielded(&in_c("by_hand")?)?, yielded("generic")?);
    let code = |scheduler: &str| {
        station(place, host, scheduler, threads, options.calculations).map(|outcome| outcome.code as f64)
    };
    let (own_code, code_by_hand) = (code("weather")?, code(&in_c("by_hand")?)?);
    let goal =
        |what: String, value: f64, target: f64| Goal { what, value, target, at_most: true, unit: "×", why: None };
    Ok(vec![
        goal(
            format!(
                "{host}: a decision, generated ({:.0}) / by hand ({:.0}; generic {:.0}, calls and switch {bare:.0} clocks)",
                own - bare,
                by_hand - bare,
                generic - bare
            ),
            (own - bare) / (by_hand - bare),
            1.3,
        ),
        goal(
            format!("{host}: code of the program, generated ({own_code:.0}) / by hand ({code_by_hand:.0} bytes)"),
            own_code / code_by_hand,
            1.15,
        ),
    ])
}

/// Table 3.
fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        "host",
        "threads",
        "generic",
        "weather",
        "by hand",
        "",
        "gain",
        "",
        "code, generic",
        "weather",
        "more",
    ]);
    for row in rows {
        let [generic, ours] = row.durations.each_ref().map(|durations| median(durations));
        let (scale, unit) = if row.unit == "ns" { (1e6, "ms".to_owned()) } else { (1e6, format!("M {}", row.unit)) };
        table.add_row([
            row.host.clone(),
            row.threads.to_string(),
            format!("{:.2}", generic / scale),
            format!("{:.2}", ours / scale),
            row.by_hand.map_or_else(String::new, |duration| format!("{:.2}", duration / scale)),
            unit,
            format!("{:.1} %", gain(row)),
            said(row).to_owned(),
            row.code[0].to_string(),
            row.code[1].to_string(),
            format!("{:.1} %", 100.0 * (row.code[1] as f64 / row.code[0] as f64 - 1.0)),
        ]);
    }
    table.add_row(["paper", "?", "76.508", "66.837", "", "s", "12.6 %", "", "21120", "23808", "12.7 %"]);
    for (index, column) in table.column_iter_mut().enumerate() {
        if ![0, 5, 7].contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((0, 2));
    }
    table
}

/// Per cent of the generic duration, as in the paper.
fn gain(row: &Row) -> f64 {
    let [generic, ours] = row.durations.each_ref().map(|durations| median(durations));
    100.0 * (1.0 - ours / generic)
}

fn said(row: &Row) -> &'static str {
    // Repeats that are one number each overlap only if they are equal.
    if overlap(&row.durations[0], &row.durations[1]) {
        "~"
    } else if gain(row) < 0.0 {
        "generic wins"
    } else {
        ""
    }
}

fn in_short(rows: &[Row], goals: &[Goal]) -> String {
    let lost: Vec<String> = rows
        .iter()
        .filter(|row| said(row) == "generic wins")
        .map(|row| format!("{} with {} threads, {:.1} %", row.host, row.threads, gain(row)))
        .collect();
    let lost = if lost.is_empty() { String::new() } else { format!(" (generic wins: {})", lost.join("; ")) };
    let won = rows.iter().filter(|row| said(row).is_empty()).count();
    let reached = goals.iter().filter(|goal| goal.reached()).count();
    let by_hand =
        if goals.is_empty() { String::new() } else { format!("; by hand: reached {reached} of {}", goals.len()) };
    format!("weather: ours wins {won} of {}{lost}{by_hand}", rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(generic: f64, ours: f64) -> Row {
        let (unit, durations) = ("clocks".to_owned(), [vec![generic], vec![ours]]);
        Row { host: "a".to_owned(), threads: 6, unit, durations, code: [1, 1], by_hand: None }
    }

    #[test]
    fn what_a_run_printed() {
        let outcome = outcome("calculations 5\nlost 0\nduration 12 clocks\ncode 34\n").unwrap();
        assert_eq!(outcome.work, ["calculations 5", "lost 0"]);
        assert_eq!((outcome.duration, &*outcome.unit, outcome.code), (12.0, "clocks", 34));
        assert!(super::outcome("calculations 5\nduration 12 clocks\n").is_err());
        assert!(super::outcome("duration 12 clocks\ncode 34\n").is_err());
    }

    #[test]
    fn who_wins_is_said() {
        assert_eq!(said(&row(100.0, 90.0)), "");
        assert_eq!(said(&row(100.0, 110.0)), "generic wins");
        assert_eq!(said(&row(100.0, 100.0)), "~");
        let short = in_short(&[row(100.0, 90.0), row(100.0, 110.0)], &[]);
        assert_eq!(short, "weather: ours wins 1 of 2 (generic wins: a with 6 threads, -10.0 %)");
    }
}
