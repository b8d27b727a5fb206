//! Whether what is simulated is what the native runtime then does: response times and shares, of the programs in `bench/agreement`
//! and of the web server.

mod real;
mod scenario;
mod web;

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context, Result, ensure};
use catapults_compiler::framework::Framework;
use catapults_compiler::scenario::{Phase, Scenario};
use catapults_compiler::source::Source;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use serde_json::json;

use crate::bench;
use crate::place::Place;
use crate::process;
use crate::results::{self, Goal};
use crate::statistics::median;

use real::Run;
use scenario::{Case, Fate, Response};

/// How much to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// How often each program runs; its medians are compared
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Seconds for each measurement of the server
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// Run everything once, and only a second of the server, to see that it runs; judge nothing, write nothing
    #[arg(long)]
    short: bool,
    /// Do not write bench/results
    #[arg(long)]
    dry: bool,
}

/// Hundredths that simulated and real may be apart.
const AIM: f64 = 10.0;

/// Of so many jobs nine of ten are told.
const MANY_JOBS: u64 = 40;

/// One number, simulated and real.
#[derive(Debug, Serialize)]
struct Row {
    program: String,
    policy: String,
    processors: u32,
    /// What, and of which threads.
    measure: String,
    simulated: f64,
    real: f64,
    unit: &'static str,
    /// In hundredths of what is simulated.
    apart: f64,
    /// Of a miss: why, or that it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Row {
    fn new(of: (&str, &str, u32), measure: String, simulated: f64, real: f64, unit: &'static str) -> Row {
        // Nothing and nothing agree.
        let apart = if real == simulated { 0.0 } else { 100.0 * (real - simulated).abs() / simulated };
        let (program, policy, processors) = (of.0.to_owned(), of.1.to_owned(), of.2);
        Row { program, policy, processors, measure, simulated, real, unit, apart, reason: None }
    }

    /// What is not comparable is a miss, too.
    fn is_missed(&self) -> bool {
        self.apart.is_nan() || self.apart > AIM
    }
}

/// Simulates, measures, prints the table, and writes `bench/results/agreement.json`.
///
/// # Errors
///
/// When something is not built or installed, or does not do as it should. A difference is no error.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    process::prefer();
    let framework = scenario::native(place)?;
    let repeats = if options.short { 1 } else { options.repeats };
    let work = place.folder("build/agreement")?;
    let dispatch = dispatch_cost(place, &framework, repeats)?;
    let mut cases = Vec::new();
    for file in files(place)? {
        cases.extend(scenario::read(place, &framework, &scenario::source(&file)?)?);
    }
    for case in &mut cases {
        case.scenario.switch_cost = dispatch.round() as i64;
    }
    let mut runs: Vec<Vec<Run>> = cases.iter().map(|_| Vec::new()).collect();
    for repeat in 0..repeats {
        eprintln!("agreement: {} programs, {} of {repeats}", cases.len(), repeat + 1);
        for (case, runs) in cases.iter().zip(&mut runs) {
            let file = work.join(format!("{}.txt", case.scenario.name));
            runs.push(real::run(place, &case.scenario, &case.policy, &file)?);
        }
    }
    let mut rows = Vec::new();
    for (case, runs) in cases.iter().zip(&runs) {
        rows.extend(compared(case, &case.fates(&framework)?, runs));
    }
    let server = web::measure(place, &framework, repeats.min(3), if options.short { 1 } else { options.seconds })?;
    rows.extend(server.rows);
    if options.short {
        return Ok(());
    }

    let units: Vec<f64> = runs.iter().flatten().map(|run| run.unit).collect();
    let lost: Vec<f64> = runs.iter().flatten().map(|run| 100.0 * run.lost).collect();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n", table(&rows))?;
    let calibration = format!(
        "A unit of work is {:.0} ns, a dispatch under fifo {dispatch:.1} ns; in CoW, with system calls, {:.0} ns. Others had {:.1} % of the \
         processors' time.",
        median(&units),
        server.dispatch,
        median(&lost)
    );
    writeln!(out, "{calibration}")?;
    if !options.dry {
        let all: Vec<_> = cases.iter().zip(&runs).map(|(case, runs)| repeats_of(case, runs)).collect();
        let found = json!({"dispatch": dispatch, "server": server.repeats, "programs": all, "rows": rows});
        let file = place.folder("bench/results")?.join("agreement.json");
        results::write(&file, "what is simulated beside what the native runtime does", found, &goals(&rows))?;
        results::document(&place.source("bench/README.md"), "agreement", &document(&rows, &calibration)?)?;
        bench::list_missed(place)?;
        writeln!(out, "Every repeat: {}", place.short(&file))?;
    }
    let missed = rows.iter().filter(|row| row.is_missed()).count();
    let worst = rows.iter().max_by(|one, other| one.apart.total_cmp(&other.apart)).context("nothing was compared")?;
    writeln!(out, "within {AIM} %: {} of {}", rows.len() - missed, rows.len())?;
    writeln!(
        out,
        "worst difference: {:.1} %, {} in {} under {} on {}",
        worst.apart, worst.measure, worst.program, worst.policy, worst.processors
    )?;
    Ok(())
}

/// The scenarios, sorted.
fn files(place: &Place) -> Result<Vec<std::path::PathBuf>> {
    let folder = place.source("bench/agreement");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "scenario"));
    ensure!(!files.is_empty(), "there is no scenario in {}", folder.display());
    files.sort();
    Ok(files)
}

/// What a dispatch costs, in nanoseconds: threads that only yield, under the simplest policy.
fn dispatch_cost(place: &Place, framework: &Framework, repeats: u32) -> Result<f64> {
    const YIELDS: u32 = 200_000;
    let text = format!(
        "scenario yields {{ policy \"../../policies/fifo.sched\"; thread A * 2 {{ repeat {YIELDS} {{ yield; }} }} }}"
    );
    let cases = scenario::read(place, framework, &Source::new("yields.scenario", text))?;
    let case = cases.first().context("there is no scenario")?;
    let file = place.folder("build/agreement")?.join("yields.txt");
    let mut costs = Vec::new();
    for _ in 0..repeats {
        let run = real::run(place, &case.scenario, &case.policy, &file)?;
        let response = run.fates.first().and_then(|fate| fate.response).context("no thread has ended")?;
        costs.push(response.mean * 1e6 / f64::from(2 * YIELDS));
    }
    Ok(median(&costs))
}

/// What is simulated beside the medians of all runs.
fn compared(case: &Case, simulated: &[Fate], runs: &[Run]) -> Vec<Row> {
    let Case { scenario, policy, .. } = case;
    let of = (scenario.name.as_str(), policy.as_str(), scenario.processors);
    let mut rows = Vec::new();
    for (ours, real) in simulated.iter().zip(real::middle(runs)) {
        rows.push(Row::new(of, format!("share of {}", ours.name), ours.share, real.share, "%"));
        if let Some(response) = ours.response {
            // In some run none was done.
            let theirs = real.response.unwrap_or(Response { jobs: 0, mean: f64::NAN, p90: f64::NAN });
            rows.push(Row::new(of, format!("mean response of {}", ours.name), response.mean, theirs.mean, "ms"));
            // Of few jobs it is but one of them.
            if response.jobs >= MANY_JOBS {
                rows.push(Row::new(of, format!("p90 response of {}", ours.name), response.p90, theirs.p90, "ms"));
            }
        }
    }
    let lost = median(&runs.iter().map(|run| 100.0 * run.lost).collect::<Vec<_>>());
    for row in rows.iter_mut().filter(|row| row.is_missed()) {
        row.reason = Some(reason(scenario, row, lost));
    }
    rows
}

/// Why a number of a program is missed, by what else was measured.
fn reason(scenario: &Scenario, row: &Row, lost: f64) -> String {
    let blocks = |phase: &Phase| matches!(phase, Phase::Block(..));
    let tick = scenario.tick as f64 / 1e6;
    if lost > row.apart / 2.0 {
        return format!("other programs had the processors for {lost:.0} % of the time");
    }
    if row.unit == "ms"
        && (row.real - row.simulated).abs() <= tick
        && scenario.threads.iter().any(|thread| thread.phases.iter().any(blocks))
    {
        return format!("while a thread computes, the runtime looks at descriptors every tick, {tick} ms");
    }
    "not known".to_owned()
}

/// One for each program: the number that is furthest apart.
fn goals(rows: &[Row]) -> Vec<Goal> {
    let mut goals: Vec<Goal> = Vec::new();
    let mut last = None;
    for row in rows {
        let of = (&row.program, &row.policy, row.processors);
        let what = format!("simulated and real, {} under {} on {}: {}", of.0, of.1, of.2, row.measure);
        let goal = Goal { what, value: row.apart, target: AIM, at_most: true, unit: "%", why: row.reason.clone() };
        match goals.last_mut() {
            Some(worst) if last == Some(of) => {
                if row.apart.total_cmp(&worst.value).is_gt() {
                    *worst = goal;
                }
            }
            Some(_) | None => goals.push(goal),
        }
        last = Some(of);
    }
    goals
}

fn repeats_of(case: &Case, runs: &[Run]) -> serde_json::Value {
    let runs: Vec<_> = runs
        .iter()
        .map(|run| {
            let fates: Vec<_> = run
                .fates
                .iter()
                .map(|fate| {
                    let response = fate.response.map(|response| json!({"mean": response.mean, "p90": response.p90}));
                    json!({"thread": fate.name, "share": fate.share, "response": response})
                })
                .collect();
            json!({"unit": run.unit, "lost": run.lost, "threads": fates})
        })
        .collect();
    json!({"program": case.scenario.name, "policy": case.policy, "runs": runs})
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["program", "policy", "processors", "measure", "simulated", "real", "apart", ""]);
    for row in rows {
        table.add_row(cells(row));
    }
    for column in [2, 4, 5, 6] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn cells(row: &Row) -> [String; 8] {
    let digits = if row.unit == "%" { 1 } else { 3 };
    [
        row.program.clone(),
        row.policy.clone(),
        row.processors.to_string(),
        row.measure.clone(),
        format!("{:.digits$} {}", row.simulated, row.unit),
        format!("{:.digits$} {}", row.real, row.unit),
        format!("{:.1} %", row.apart),
        row.reason.as_ref().map_or(String::new(), |reason| format!("MISSED: {reason}")),
    ]
}

fn document(rows: &[Row], calibration: &str) -> Result<String> {
    let mut text = "| program | policy | processors | measure | simulated | real | apart | |\n".to_owned();
    text.push_str("|---|---|---:|---|---:|---:|---:|---|\n");
    for row in rows {
        writeln!(text, "| {} |", cells(row).join(" | "))?;
    }
    let missed = rows.iter().filter(|row| row.is_missed()).count();
    writeln!(text, "\n- Within {AIM} %: {} of {}. {calibration}", rows.len() - missed, rows.len())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_judged_by_what_is_furthest_apart() {
        let row =
            |program: &str, measure: &str, real| Row::new((program, "fifo", 1), measure.to_owned(), 100.0, real, "%");
        let goals = goals(&[row("a", "one", 101.0), row("a", "two", 80.0), row("b", "one", 100.0)]);
        let told: Vec<(&str, f64, bool)> =
            goals.iter().map(|goal| (goal.what.as_str(), goal.value, goal.reached())).collect();
        assert_eq!(
            told,
            [
                ("simulated and real, a under fifo on 1: two", 20.0, false),
                ("simulated and real, b under fifo on 1: one", 0.0, true)
            ]
        );
        assert!(!Row::new(("a", "fifo", 1), String::new(), 0.0, 0.0, "%").is_missed());
        // Nothing simulated, something real, or the other way round.
        assert!(Row::new(("a", "fifo", 1), String::new(), 0.0, 1.0, "%").is_missed());
        assert!(Row::new(("a", "fifo", 1), String::new(), f64::NAN, 1.0, "%").is_missed());
    }
}
