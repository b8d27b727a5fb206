//! How long `catapults check` takes for each policy that we ship.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::place::Place;
use crate::results::Goal;
use crate::statistics::median;

const REPEATS: usize = 50;

/// Milliseconds from the start of the process to its end, of [`REPEATS`] rounds over all policies.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    eprintln!("bench: catapults check, each policy {REPEATS} times");
    let catapults = place.built("bin/catapults", "build")?;
    let policies = policies(place)?;
    let mut repeats = BTreeMap::<String, Vec<f64>>::new();
    for _ in 0..REPEATS {
        for policy in &policies {
            let start = Instant::now();
            let status = Command::new(&catapults)
                .arg("check")
                .arg(policy)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .with_context(|| format!("cannot start {}", catapults.display()))?;
            let took = start.elapsed().as_secs_f64() * 1000.0;
            if !status.success() {
                bail!("`catapults check {}` refuses it", place.short(policy));
            }
            repeats.entry(place.short(policy).to_string()).or_default().push(took);
        }
    }
    let goal = |(policy, times): (&String, &Vec<f64>)| Goal {
        what: format!("catapults check {policy}"),
        value: median(times),
        target: 20.0,
        at_most: true,
        unit: "ms",
    };
    let goals = repeats.iter().map(goal).collect();
    Ok((serde_json::to_value(&repeats)?, goals))
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
