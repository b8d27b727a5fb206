//! The demonstration: CoW under the generic policy and under its own, as in Tables 1 and 2 of CATAPULTS 2005.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catapults_simulator::trace;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::client::{Errors, Load, Outcome};
use crate::files::{self, Served};
use crate::place::Place;
use crate::process::Processors;
use crate::server::Cow;
use crate::table;

/// How much to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// How often each cell of the table is measured; its medians are shown
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Clients that ask at the same time
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=4000))]
    connections: u32,
    /// Bytes of a response that a handler sends before the others have their turn
    ///
    /// Small turns make the server, not the client, the limit: a server that has time to spare has nothing to order.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    turn: u32,
    /// Keep connections open between requests; the paper's client did not
    #[arg(long)]
    keep_alive: bool,
}

/// The generic policy, then the one that is compared with it.
const POLICIES: [&str; 2] = ["fifo", "cow"];
const HANDLERS: [usize; 3] = [5, 20, 100];

/// A row of the table: one workload with one number of handlers.
pub struct Cell {
    /// As the table calls it.
    pub workload: &'static str,
    /// How many handler threads.
    pub handlers: usize,
    /// By policy, in the order of [`POLICIES`], the repeats.
    pub runs: [Vec<Run>; 2],
    files: Vec<Served>,
}

/// One measurement.
#[derive(Serialize)]
pub struct Run {
    /// What the client saw.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The part of the time during which the server had something to do. What has nothing to do has nothing to order.
    pub busy: f64,
    /// What the server had to say, if anything.
    pub messages: String,
}

/// Measures, prints the table, and writes the timeline.
///
/// # Errors
///
/// When something is not built or installed, or a server or client does not do as it should.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    let processors = Processors::first_two()?;
    let work = place.folder("build/demo")?;
    let mut cells = cells(&place.folder("build/demo/files")?)?;
    let mut progress = Progress::new(u64::from(options.repeats) * (cells.len() * POLICIES.len()) as u64);
    for repeat in 0..options.repeats {
        for cell in &mut cells {
            // The two alternate, and who begins does too: what changes on the machine meanwhile is shared.
            let order = if repeat % 2 == 0 { [0, 1] } else { [1, 0] };
            for policy in order {
                progress.step(&format!("{}, {} handlers, {}", cell.workload, cell.handlers, POLICIES[policy]));
                let run = measure(place, &work, processors, options, cell, policy, repeat)
                    .with_context(|| format!("{}, {} handlers, {}", cell.workload, cell.handlers, POLICIES[policy]))?;
                cell.runs[policy].push(run);
            }
        }
    }
    progress.finish();

    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n\n{}", table::of(&cells), table::in_short(&cells))?;
    for note in notes(&cells, options, processors) {
        writeln!(out, "{note}")?;
    }
    write_results(&work.join("results.json"), &cells)?;
    writeln!(out, "Every repeat: {}", place.short(&work.join("results.json")))?;
    let timeline = timeline(place, &work, processors, options, &cells)?;
    writeln!(out, "Who ran when: open {} at https://ui.perfetto.dev or chrome://tracing", place.short(&timeline))?;
    Ok(())
}

fn cells(root: &Path) -> Result<Vec<Cell>> {
    let workloads = [
        ("90K files", files::single(root, "90k", 90_000)?),
        ("250K files", files::single(root, "250k", 250_000)?),
        ("4 byte files", files::single(root, "4", 4)?),
        ("heavy-tailed mix", files::heavy_tailed(root)?),
    ];
    let cell = |workload: &(&'static str, Vec<Served>), handlers| Cell {
        workload: workload.0,
        handlers,
        runs: [Vec::new(), Vec::new()],
        files: workload.1.clone(),
    };
    Ok(workloads.iter().flat_map(|workload| HANDLERS.map(|handlers| cell(workload, handlers))).collect())
}

fn measure(
    place: &Place,
    work: &Path,
    processors: Processors,
    options: &Options,
    cell: &Cell,
    policy: usize,
    repeat: u32,
) -> Result<Run> {
    let (root, log) = (work.join("files"), work.join("server.log"));
    let cow = Cow {
        policy: POLICIES[policy],
        handlers: cell.handlers,
        root: &root,
        turn: Some(options.turn),
        trace: None,
        log: &log,
    };
    let server = cow.start(place, processors)?;
    server.warm(&cell.files)?;
    let load = Load {
        connections: options.connections as usize,
        seconds: options.seconds,
        close: !options.keep_alive,
        files: &cell.files,
        processors: &[processors.client],
        seed: u64::from(repeat),
    };
    let before = server.busy_seconds()?;
    let outcome = load.run(place, server.address())?;
    let used = server.busy_seconds()? - before;
    let busy = used * 1e6 / outcome.microseconds as f64;
    Ok(Run { outcome, busy, messages: server.stop()? })
}

fn notes(cells: &[Cell], options: &Options, processors: Processors) -> Vec<String> {
    let mut notes = vec![format!(
        "\nCoW under fifo.sched (threads run in the order in which they became ready) and under cow.sched (no accept while out of \
         descriptors,\nthe response nearest completion first). {} clients, {}; responses are sent {} bytes a turn; {} s a run, \
         medians of {} runs.\n\
         ratio: how many times better cow is; below 1 it loses (marked -). ~: the repeats of the two overlap, so it may be chance.\n\
         paper: the same ratio in CATAPULTS 2005, Tables 1 and 2 (GNU Pth, httperf, 2005's machines; its clients are not told).",
        options.connections,
        if options.keep_alive { "connections kept open" } else { "a connection for each request" },
        options.turn,
        options.seconds,
        options.repeats,
    )];
    if processors.shared() {
        notes.push("There is only one processor: client and server shared it, so take no ratio seriously.".to_owned());
    }
    for cell in cells {
        for (policy, runs) in POLICIES.iter().zip(&cell.runs) {
            let name = format!("{}, {} handlers, {policy}", cell.workload, cell.handlers);
            if let Some(run) = runs.iter().find(|run| run.outcome.errors != Errors::default()) {
                notes.push(format!("! {name}: {} of {} requests", run.outcome.errors, run.outcome.requests));
            }
            if let Some(run) = runs.iter().find(|run| !run.messages.is_empty()) {
                notes.push(format!("! {name}: the server said: {}", run.messages));
            }
        }
    }
    // Throughput and percentiles do not show who waits behind all shorter ones.
    let slowest = |policy: usize| {
        cells.iter().flat_map(|cell| &cell.runs[policy]).map(|run| run.outcome.max).max().unwrap_or(0) as f64 / 1000.0
    };
    notes.push(format!(
        "The slowest response of all: {:.0} ms under fifo, {:.0} ms under cow.",
        slowest(0),
        slowest(1)
    ));
    let idle = |cell: &&Cell| cell.runs.iter().flatten().any(|run| run.busy < 0.9);
    let names: Vec<String> =
        cells.iter().filter(idle).map(|cell| format!("{} with {} handlers", cell.workload, cell.handlers)).collect();
    if !names.is_empty() {
        notes.push(format!(
            "The client, not the server, was the limit for a tenth of the time or more (and while a server idles, its policy has \
             nothing to order) in: {}.",
            names.join("; ")
        ));
    }
    notes
}

fn write_results(path: &Path, cells: &[Cell]) -> Result<()> {
    #[derive(Serialize)]
    struct Entry<'a> {
        workload: &'a str,
        handlers: usize,
        fifo: &'a [Run],
        cow: &'a [Run],
    }
    let entries: Vec<Entry<'_>> = cells
        .iter()
        .map(|cell| Entry { workload: cell.workload, handlers: cell.handlers, fifo: &cell.runs[0], cow: &cell.runs[1] })
        .collect();
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    serde_json::to_writer_pretty(BufWriter::new(file), &entries).context("cannot write the results")
}

/// A second of the mix under cow.sched, as a timeline of its newest events.
fn timeline(place: &Place, work: &Path, processors: Processors, options: &Options, cells: &[Cell]) -> Result<PathBuf> {
    let cell = cells.iter().find(|cell| cell.files.len() > 1 && cell.handlers == 20).context("no cell has the mix")?;
    let (root, log, recorded) = (work.join("files"), work.join("server.log"), work.join("timeline.trace"));
    let cow = Cow {
        policy: "cow",
        handlers: cell.handlers,
        root: &root,
        turn: Some(options.turn),
        trace: Some(&recorded),
        log: &log,
    };
    let server = cow.start(place, processors)?;
    let load = Load {
        connections: 40,
        seconds: 1,
        close: true,
        files: &cell.files,
        seed: 1,
        processors: &[processors.client],
    };
    load.run(place, server.address())?;
    server.stop()?;

    let recording = File::open(&recorded).with_context(|| format!("the server left no {}", recorded.display()))?;
    let mut trace = trace::Reader::new(recording).with_context(|| format!("{}", recorded.display()))?;
    let path = work.join("timeline.json");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    // Some 100 bytes a record: a browser opens a few megabytes at once.
    trace.newest(30_000).with_context(|| format!("{}", recorded.display()))?;
    trace::export_chrome(&mut trace, BufWriter::new(file), &mut || ()).context("cannot write the timeline")?;
    Ok(path)
}

/// A bar on a terminal; elsewhere a line now and then.
struct Progress {
    bar: Option<ProgressBar>,
    done: u64,
    steps: u64,
}

impl Progress {
    fn new(steps: u64) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:32} {pos}/{len} runs, {eta} left: {msg}");
            ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Progress { bar, done: 0, steps }
    }

    fn step(&mut self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.done);
                bar.set_message(what.to_owned());
            }
            None if self.done.is_multiple_of(12) => eprintln!("demo: run {} of {}: {what}", self.done + 1, self.steps),
            None => {}
        }
        self.done += 1;
    }

    fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
