//! How long `catapults check` takes for each policy that we ship; how long checking and translating the largest of them takes,
//! and policies of 10,000 lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::large::{self, Large};
use crate::place::Place;
use crate::results::Goal;
use crate::statistics::median;

const REPEATS: usize = 50;
/// Of what takes longer.
const FEW: usize = 5;

/// Milliseconds from the start of the process to its end, of [`REPEATS`] rounds over all policies.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    eprintln!("bench: catapults check, each policy {REPEATS} times");
    let mut repeats = BTreeMap::<String, Vec<f64>>::new();
    let mut goals = Vec::new();
    let policies = policies(place)?;
    for _ in 0..REPEATS {
        for policy in &policies {
            let name = format!("catapults check {}", place.short(policy));
            repeats.entry(name).or_default().push(run(place, &["check"], policy)?);
        }
    }
    goals.extend(repeats.iter().map(|(name, times)| goal(name, times, 20.0)));

    let made = place.folder("build/bench/large")?;
    let translate = ["build", "--as", "source", "--output", &made.display().to_string()];
    let mut add = |name: String, policy: &Path, times: usize, target: f64| -> Result<()> {
        let taken = (0..times).map(|_| run(place, &translate, policy)).collect::<Result<Vec<f64>>>()?;
        goals.push(goal(&name, &taken, target));
        repeats.insert(name, taken);
        Ok(())
    };
    if let Some(largest) = policies.iter().max_by_key(|policy| policy.metadata().map_or(0, |file| file.len())) {
        add(format!("check and translate {}, the largest", place.short(largest)), largest, REPEATS, 20.0)?;
    }
    eprintln!("bench: policies of {} lines, each {FEW} times", large::LINES);
    for Large { name, text } in large::policies() {
        let path = made.join(format!("{name}.sched"));
        std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        add(format!("check and translate {} lines: {name}", text.lines().count()), &path, FEW, 1000.0)?;
    }
    Ok((serde_json::to_value(&repeats)?, goals))
}

fn goal(name: &str, times: &[f64], target: f64) -> Goal {
    Goal { what: name.to_owned(), value: median(times), target, at_most: true, unit: "ms", why: None }
}

/// The time of one process, in milliseconds.
fn run(place: &Place, arguments: &[&str], policy: &Path) -> Result<f64> {
    let catapults = place.built("bin/catapults", "build")?;
    let start = Instant::now();
    let status = Command::new(&catapults)
        .args(arguments)
        .arg(policy)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", catapults.display()))?;
    let took = start.elapsed().as_secs_f64() * 1000.0;
    if !status.success() {
        bail!("`catapults {}` refuses {}", arguments.join(" "), place.short(policy));
    }
    Ok(took)
}

fn policies(place: &Place) -> Result<Vec<PathBuf>> {
    let mut policies = Vec::new();
    for entry in std::fs::read_dir(place.source("policies")).context("cannot read the folder policies")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sched") {
            policies.push(path);
        }
    }
    policies.sort();
    Ok(policies)
}
