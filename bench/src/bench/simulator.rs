//! How many decisions `catapults sim` simulates in a second: interpreted and compiled, with two threads and with 100,000.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::place::Place;
use crate::results::Goal;
use crate::statistics::median;

const REPEATS: usize = 5;

/// What is simulated: a name, what threads do, and how many decisions that takes.
const SCENARIOS: [(&str, &str, u32); 3] = [
    ("nothing", "thread A { run 1us; }", 1),
    ("two threads that yield", "thread A * 2 { repeat 1000000 { yield; } }", 2_000_002),
    ("100,000 threads", "thread A * 100000 { repeat 20 { run 1us; yield; } }", 2_100_000),
];

/// Millions of decisions a second, of the time from the start of the process to its end without that of a simulation of nothing.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    eprintln!("bench: catapults sim, {REPEATS} times each");
    let folder = place.folder("build/bench/simulator")?;
    let policy = place.source("policies/fifo.sched");
    let mut repeats = BTreeMap::<String, Vec<f64>>::new();
    let mut goals = Vec::new();
    for (how, arguments, target) in [("interpreted", &[][..], 1.0), ("compiled", &["--compiled"][..], 5.0)] {
        let mut times = Vec::new();
        for (index, (name, threads, _)) in SCENARIOS.iter().enumerate() {
            let file = folder.join(format!("{index}.scenario"));
            let text = format!("scenario measured {{\n  policy \"{}\";\n  {threads}\n}}\n", policy.display());
            std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
            // A compiled policy is built the first time.
            run(place, arguments, &file)?;
            let taken = (0..REPEATS).map(|_| run(place, arguments, &file)).collect::<Result<Vec<f64>>>()?;
            times.push(median(&taken));
            repeats.insert(format!("{name}, {how}, seconds"), taken);
        }
        for ((name, _, decisions), time) in SCENARIOS.iter().zip(&times).skip(1) {
            let value = f64::from(*decisions) / (time - times[0]) / 1e6;
            let what = format!("decisions simulated, {how}, {name}");
            goals.push(Goal { what, value, target, at_most: false, unit: "M/s", why: None });
        }
    }
    Ok((serde_json::to_value(&repeats)?, goals))
}

/// The time of one process, in seconds.
fn run(place: &Place, arguments: &[&str], scenario: &Path) -> Result<f64> {
    let catapults = place.built("bin/catapults", "build")?;
    let start = Instant::now();
    let status = Command::new(&catapults)
        .arg("sim")
        .args(arguments)
        .arg(scenario)
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", catapults.display()))?;
    let took = start.elapsed().as_secs_f64();
    if !status.success() {
        bail!("`catapults sim` does not simulate {}", scenario.display());
    }
    Ok(took)
}
