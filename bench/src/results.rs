//! What `bench` found: a file for each question, and one table.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// A number that is to be reached.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// What was measured.
    pub what: String,
    /// What it came to; NaN: it was not measured, which is a miss.
    pub value: f64,
    /// The bound.
    pub target: f64,
    /// Whether the value may not be above the bound (else: not below).
    pub at_most: bool,
    /// Of value and bound: `×` the peer, ms.
    pub unit: &'static str,
    /// Why it was missed, if that is told with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Goal {
    /// Whether it was reached.
    pub fn reached(&self) -> bool {
        if self.at_most { self.value <= self.target } else { self.value >= self.target }
    }
}

/// The goals, and whether they were reached.
pub fn table(goals: &[Goal]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "measured", "target", ""]);
    for goal in goals {
        let bound = if goal.at_most { "≤" } else { "≥" };
        table.add_row([
            goal.what.clone(),
            if goal.value.is_nan() { "–".to_owned() } else { format!("{:.2} {}", goal.value, goal.unit) },
            format!("{bound} {} {}", goal.target, goal.unit),
            (if goal.reached() { "reached" } else { "MISSED" }).to_owned(),
        ]);
    }
    for column in table.column_iter_mut().skip(1).take(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Writes `repeats` and the goals that they bear on, with when and where they were measured.
///
/// # Errors
///
/// Those of writing the file.
pub fn write(path: &Path, question: &str, repeats: impl Serialize, goals: &[Goal]) -> Result<()> {
    #[derive(Serialize)]
    struct Judged<'a> {
        #[serde(flatten)]
        goal: &'a Goal,
        reached: bool,
    }
    #[derive(Serialize)]
    struct Results<'a, Repeats> {
        question: &'a str,
        date: String,
        machine: Machine,
        goals: Vec<Judged<'a>>,
        repeats: Repeats,
    }
    let goals = goals.iter().map(|goal| Judged { goal, reached: goal.reached() }).collect();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let results = Results { question, date: now, machine: Machine::this(), goals, repeats };
    let mut file = BufWriter::new(File::create(path).with_context(|| format!("cannot write {}", path.display()))?);
    serde_json::to_writer_pretty(&mut file, &results)?;
    writeln!(file)?;
    Ok(())
}

/// Puts `text` between the lines `<!-- NAME -->` and `<!-- /NAME -->` of a document, with when and where it was measured.
///
/// # Errors
///
/// Those of reading and writing it, and when it has no such lines.
pub fn document(path: &Path, name: &str, text: &str) -> Result<()> {
    let Machine { processor, processors, kernel, compiler } = Machine::this();
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let made = format!("- Measured on {date}: {processor}, {processors} processors, Linux {kernel}, {compiler}.\n");
    put(path, name, &(text.to_owned() + &made))
}

/// Puts `text` between these lines of a document, and nothing else.
///
/// # Errors
///
/// As above.
pub fn put(path: &Path, name: &str, text: &str) -> Result<()> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
    let whole = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parts = whole.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = parts.with_context(|| format!("{} has no lines {begin} and {end}", path.display()))?;
    std::fs::write(path, format!("{before}{begin}{text}{end}{after}"))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Where it was measured, as far as it matters for the numbers.
#[derive(Serialize)]
struct Machine {
    processor: String,
    processors: usize,
    kernel: String,
    compiler: String,
}

impl Machine {
    fn this() -> Machine {
        let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let compiler = std::process::Command::new("cc").arg("-dumpfullversion").output();
        Machine {
            processor: model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: kernel.trim().to_owned(),
            compiler: compiler
                .map(|output| format!("gcc {}", String::from_utf8_lossy(&output.stdout).trim()))
                .unwrap_or_default(),
        }
    }
}
