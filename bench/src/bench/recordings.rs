//! What it takes to read a recording of 1 GB: memory, and how fast that is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::place::Place;
use crate::results::Goal;

/// Two threads that yield make most of it; 300,000 come and go.
const SCENARIO: &str = "thread yields * 2 { repeat 7500000 { run 500ns; yield; } }
  thread comes * 300000 every 20us { run 100ns; }";

/// MiB that a command may take, however long the recording is.
const MOST: f64 = 64.0;

/// The peak of each command that reads all of it; in the repeats are also MB a second.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    let folder = place.folder("build/bench/recordings")?;
    let (scenario, trace) = (folder.join("long.scenario"), folder.join("long.trace"));
    let policy = place.source("policies/fifo.sched");
    let text = format!("scenario long {{\n  policy \"{}\";\n  {SCENARIO}\n}}\n", policy.display());
    fs::write(&scenario, text).with_context(|| format!("cannot write {}", scenario.display()))?;
    eprintln!("bench: a recording of 1 GB is made, and read");
    let catapults = place.built("bin/catapults", "build")?;
    let command = |words: &[&str], file: &Path| {
        let mut command = Command::new(&catapults);
        command.args(words).arg(file);
        command
    };
    run(command(&["sim", "--compiled"], &scenario).arg("--trace").arg(&trace))?;
    let length = fs::metadata(&trace).with_context(|| format!("cannot read {}", trace.display()))?.len() as f64 / 1e6;
    let (mut repeats, mut goals) = (BTreeMap::new(), Vec::new());
    for (what, others) in [("summary", None), ("compare", Some(&trace))] {
        let (took, peak) = run(command(&["trace", what], &trace).args(others))?;
        repeats.insert(format!("trace {what}, MB a second"), length / took);
        let what = format!("reading a recording of {length:.0} MB: trace {what}, most memory");
        goals.push(Goal { what, value: peak, target: MOST, at_most: true, unit: "MiB", why: None });
    }
    fs::remove_file(&trace).with_context(|| format!("cannot remove {}", trace.display()))?;
    Ok((serde_json::to_value(&repeats)?, goals))
}

/// Seconds, and MiB: what /proc said last, every 10 ms, of the most that it had.
fn run(command: &mut Command) -> Result<(f64, f64)> {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().with_context(|| format!("cannot start {command:?}"))?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = f64::NAN;
    let ended = loop {
        if let Ok(text) = fs::read_to_string(&status)
            && let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))
        {
            let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().context("/proc says no number")?;
            peak = kibibytes / 1024.0;
        }
        match child.try_wait()? {
            Some(ended) => break ended,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    if !ended.success() {
        bail!("{command:?}: {ended}");
    }
    Ok((start.elapsed().as_secs_f64(), peak))
}
