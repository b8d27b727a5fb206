//! What policies change for clusters of Dask: what `bench/dask/compare.py` prints, and what it writes.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::place::Place;
use crate::results::Goal;

/// What was compared. More is in the repeats.
#[derive(Deserialize)]
struct Row {
    what: String,
    policy: String,
    /// There is none, if only what stock Dask does is to be told.
    goal: Option<f64>,
    /// Whether more is better.
    rate: bool,
    /// Of the policy to stock Dask; there is none, if it was not measured.
    ratio: Option<f64>,
}

/// Every repeat, and the goals. The table is printed as it comes.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    eprintln!("bench: clusters of Dask");
    let output = Command::new(place.source("scripts/dask")).output().context("cannot start scripts/dask")?;
    if !output.status.success() {
        bail!("scripts/dask failed ({}):\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let python = String::from_utf8(output.stdout).context("scripts/dask printed no path")?;
    let file = place.folder("build/bench")?.join("dask.json");
    let status = Command::new(python.trim())
        .arg(place.source("bench/dask/compare.py"))
        .arg("--json")
        .arg(&file)
        .env("CATAPULTS", place.built("bin/catapults", "build")?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .status()
        .context("cannot start bench/dask/compare.py")?;
    if !status.success() {
        bail!("bench/dask/compare.py failed ({status})");
    }
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let rows: Vec<Row> = serde_json::from_str(&text).context("what bench/dask/compare.py wrote")?;
    Ok((serde_json::from_str(&text)?, rows.into_iter().filter_map(goal).collect()))
}

fn goal(row: Row) -> Option<Goal> {
    let Row { what, policy, goal, rate, ratio } = row;
    // Unless it is a rate, the last word is the unit of what was measured.
    let what = what.trim_end_matches(", s");
    Some(Goal {
        what: format!("Dask: {what}, under {policy} / stock"),
        value: ratio.unwrap_or(f64::NAN),
        target: goal?,
        at_most: !rate,
        unit: "×",
        why: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_an_aim_is_no_goal() {
        let rows: Vec<Row> = serde_json::from_str(
            r#"[{"what": "equal tasks, s", "policy": "fifo", "goal": null, "rate": false, "ratio": 1.5, "workers": 4},
                {"what": "a mix, s", "policy": "fifo", "goal": 0.7, "rate": false, "ratio": null}]"#,
        )
        .unwrap();
        let goals: Vec<Goal> = rows.into_iter().filter_map(goal).collect();
        assert_eq!(goals.len(), 1);
        assert_eq!(goals[0].what, "Dask: a mix, under fifo / stock");
        assert!(goals[0].value.is_nan() && !goals[0].reached());
    }
}
