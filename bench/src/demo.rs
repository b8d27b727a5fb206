//! The demonstration: CoW under a generic scheduler and under policies for it, as in Tables 1 and 2 of CATAPULTS 2005.

mod page;

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::client::{Errors, Load, Outcome};
use crate::files::{self, Served};
use crate::others::{self, BUSY, Reading};
use crate::place::Place;
use crate::process::{self, Processors};
use crate::server::{Cow, Host};
use crate::table;

/// How much to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// Measure all workloads and numbers of handlers, not only those that show the point
    #[arg(long)]
    full: bool,
    /// How often each cell of the table is measured; its medians are shown
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Clients that ask at the same time; GNU Pth has descriptors for 900
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=900))]
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

/// Where CoW runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// Our own runtime.
    Native,
    /// GNU Pth as Debian ships it: the host of the paper.
    Pth,
}

impl On {
    /// In the order of [`SCHEDULERS`].
    fn schedulers(self) -> [Host<'static>; SCHEDULERS.len()] {
        match self {
            On::Native => [Host::Native("fifo"), Host::Native("cow"), Host::Native("cow_fair")],
            On::Pth => [
                Host::Pth(None),
                Host::Pth(Some("experiments/pth/policies/cow.so")),
                Host::Pth(Some("experiments/pth/policies/cow_fair.so")),
            ],
        }
    }
}

/// The generic scheduler, then the policies that are compared with it, as the table calls them.
pub const SCHEDULERS: [&str; 3] = ["generic", "cow", "cow_fair"];
const HANDLERS: [usize; 3] = [5, 20, 100];
const MIX: &str = "heavy-tailed mix";
/// The cells that show the point: where ordering requests gains the most, on the paper's host and on ours, and where it loses.
const POINT: [(On, &str, usize); 3] = [(On::Pth, MIX, 100), (On::Native, MIX, 100), (On::Native, "250K files", 100)];

/// A row of the table: one workload with one number of handlers.
pub struct Cell {
    /// Where.
    pub on: On,
    /// As the table calls it.
    pub workload: &'static str,
    /// How many handler threads.
    pub handlers: usize,
    /// By scheduler, in the order of [`SCHEDULERS`], the repeats.
    pub runs: [Vec<Run>; SCHEDULERS.len()],
    files: Vec<Served>,
}

impl Cell {
    /// What its row is about.
    pub fn name(&self) -> String {
        let host = match self.on {
            On::Native => "",
            On::Pth => "GNU Pth, ",
        };
        format!("{host}{} handlers, {}", self.handlers, self.workload)
    }

    /// Whether other programs took so much of the processors that its figures say little.
    pub fn disturbed(&self) -> bool {
        self.runs.iter().flatten().any(|run| run.others > BUSY)
    }
}

/// One measurement.
#[derive(Serialize)]
pub struct Run {
    /// What the client saw.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The part of the time during which the server had something to do. What has nothing to do has nothing to order.
    pub busy: f64,
    /// The part of the server's processor that other programs took.
    pub others: f64,
    /// What the server had to say, if anything.
    pub messages: String,
}

/// Measures, prints the table, and writes the page.
///
/// # Errors
///
/// When something is not built or installed, or a server or client does not do as it should.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    let begin = Instant::now();
    process::prefer();
    let processors = Processors::first_two()?;
    let work = place.folder("build/demo")?;
    let mut both = vec![processors.server, processors.client];
    both.dedup();
    let at_rest = others::at_rest(&both)?;
    if at_rest > BUSY {
        eprintln!(
            "demo: the machine is busy: other programs take {:.0} % of the processors that are used here. What is measured now \
             may be chance; stop those programs, and run it again.",
            at_rest * 100.0
        );
    }
    let mut cells = cells(&place.folder("build/demo/files")?, options.full)?;
    let mut progress = Progress::new(u64::from(options.repeats) * (cells.len() * SCHEDULERS.len()) as u64);
    for repeat in 0..options.repeats {
        for cell in &mut cells {
            // They take turns, and so does who begins: what changes on the machine meanwhile is shared.
            for turn in 0..SCHEDULERS.len() {
                let scheduler = (repeat as usize + turn) % SCHEDULERS.len();
                let what = format!("{}, {}", cell.name(), SCHEDULERS[scheduler]);
                progress.step(&what);
                let run = measure(place, &work, processors, options, cell, scheduler, repeat).context(what)?;
                cell.runs[scheduler].push(run);
            }
        }
    }
    progress.finish();
    let page = page::write(place, &work, processors, &files::heavy_tailed(&work.join("files"))?)?;

    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n\n{}", table::of(&cells, options.full), table::in_short(&cells))?;
    for note in notes(&cells, options, processors) {
        writeln!(out, "{note}")?;
    }
    write_results(&work.join("results.json"), &cells)?;
    writeln!(out, "Every repeat: {}", place.short(&work.join("results.json")))?;
    writeln!(
        out,
        "Who ran when, and why, under both: {}, a page that a browser opens (xdg-open {0}; keys: ?)",
        place.short(&page)
    )?;
    let rest = if options.full { "" } else { "; `make demo-full` measures the other workloads, too" };
    writeln!(out, "Measured in {} s{rest}", begin.elapsed().as_secs())?;
    Ok(())
}

/// Those that show the point come first.
fn cells(root: &Path, full: bool) -> Result<Vec<Cell>> {
    let workloads = [
        ("90K files", files::single(root, "90k", 90_000)?),
        ("250K files", files::single(root, "250k", 250_000)?),
        ("4 byte files", files::single(root, "4", 4)?),
        (MIX, files::heavy_tailed(root)?),
    ];
    let mut wanted = POINT.to_vec();
    if full {
        let all = workloads.iter().flat_map(|(workload, _)| HANDLERS.map(|handlers| (On::Native, *workload, handlers)));
        wanted.extend(all.filter(|cell| !POINT.contains(cell)));
    }
    let cell = |(on, workload, handlers)| {
        let files = workloads.iter().find(|(name, _)| *name == workload).context("no such workload")?.1.clone();
        Ok(Cell { on, workload, handlers, runs: [const { Vec::new() }; SCHEDULERS.len()], files })
    };
    wanted.into_iter().map(cell).collect()
}

fn measure(
    place: &Place,
    work: &Path,
    processors: Processors,
    options: &Options,
    cell: &Cell,
    scheduler: usize,
    repeat: u32,
) -> Result<Run> {
    let (root, log) = (work.join("files"), work.join("server.log"));
    let cow = Cow {
        on: cell.on.schedulers()[scheduler],
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
    let before = server.times()?;
    let reading = Reading::now(&[processors.server], before.ran)?;
    let outcome = load.run(place, server.address())?;
    let after = server.times()?;
    // Who takes the client's processor makes the client the limit, which `busy` shows. If it is the same, all else is one.
    let others = match processors.shared() {
        false => Reading::now(&[processors.server], after.ran)?.others_since(&reading),
        true => 0.0,
    };
    let used = (after.ran + after.waited) - (before.ran + before.waited);
    let busy = used * 1e6 / outcome.microseconds as f64;
    Ok(Run { outcome, busy, others, messages: server.stop()? })
}

fn notes(cells: &[Cell], options: &Options, processors: Processors) -> Vec<String> {
    let mut notes = vec![format!(
        "\nCoW under a generic scheduler (fifo.sched: threads run in the order in which they became ready; on GNU Pth, Pth's own) and \
         under\ncow.sched (no accept while out of descriptors, the response nearest completion first) and cow_fair.sched (the same, but what\n\
         waits ages). {} clients, {};\n\
         responses are sent {} bytes a turn; {} s a run, medians of {} runs.\n\
         ratio: how many times better the policy is; below 1 it loses (marked -). ~: its repeats and the generic scheduler's overlap,\n\
         so it may be chance.",
        options.connections,
        if options.keep_alive { "connections kept open" } else { "a connection for each request" },
        options.turn,
        options.seconds,
        options.repeats,
    )];
    if options.full {
        notes.push(
            "paper: the same ratio in CATAPULTS 2005, Tables 1 and 2 (GNU Pth, httperf, 2005's machines; its clients are not told)."
                .to_owned(),
        );
    }
    if processors.shared() {
        notes.push("There is only one processor: client and server shared it, so take no ratio seriously.".to_owned());
    }
    for cell in cells {
        for (scheduler, runs) in SCHEDULERS.iter().zip(&cell.runs) {
            let name = format!("{}, {scheduler}", cell.name());
            if let Some(run) = runs.iter().find(|run| run.outcome.errors != Errors::default()) {
                notes.push(format!("! {name}: {} of {} requests", run.outcome.errors, run.outcome.requests));
            }
            if let Some(run) = runs.iter().find(|run| !run.messages.is_empty()) {
                notes.push(format!("! {name}: the server said: {}", run.messages));
            }
        }
    }
    notes.push(disturbance(cells));
    let idle = |cell: &&Cell| cell.runs.iter().flatten().any(|run| run.busy < 0.9);
    let names: Vec<String> = cells.iter().filter(idle).map(Cell::name).collect();
    if !names.is_empty() {
        notes.push(format!(
            "The client, not the server, was the limit for a tenth of the time or more (and while a server idles, its policy has \
             nothing to order) in: {}.",
            names.join("; ")
        ));
    }
    notes
}

/// Whether other programs were in the way.
fn disturbance(cells: &[Cell]) -> String {
    let runs = || cells.iter().flat_map(|cell| cell.runs.iter().flatten());
    let most = runs().map(|run| run.others).fold(0.0, f64::max) * 100.0;
    let disturbed = runs().filter(|run| run.others > BUSY).count();
    if disturbed == 0 {
        return format!("Other programs took at most {most:.0} % of the server's processor.");
    }
    format!(
        "! The machine was too busy to judge: other programs took up to {most:.0} % of the server's processor, and more than {:.0} % in \
         {disturbed} of {} runs\n  (rows marked *). Differences in these rows may be theirs. Stop those programs, and run it again.",
        BUSY * 100.0,
        runs().count()
    )
}

fn write_results(path: &Path, cells: &[Cell]) -> Result<()> {
    #[derive(Serialize)]
    struct Entry<'a> {
        on: On,
        workload: &'a str,
        handlers: usize,
        generic: &'a [Run],
        cow: &'a [Run],
        cow_fair: &'a [Run],
    }
    let entry = |cell| {
        let Cell { on, workload, handlers, runs: [generic, cow, cow_fair], .. }: &Cell = cell;
        Entry { on: *on, workload, handlers: *handlers, generic, cow, cow_fair }
    };
    let entries: Vec<Entry<'_>> = cells.iter().map(entry).collect();
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    serde_json::to_writer_pretty(BufWriter::new(file), &entries).context("cannot write the results")
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
            None if self.done.is_multiple_of(6) => eprintln!("demo: run {} of {}: {what}", self.done + 1, self.steps),
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
