//! `experiment.json`: what an experiment runs, plots and promises.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use indexmap::IndexMap;
use serde::Deserialize;

/// An experiment. Its program is run as `PROGRAM SERIES PANEL POINT`, for each of these, and prints `value NUMBER`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What it is about.
    pub title: String,
    /// Who did it before.
    pub source: String,
    /// What a reader of the table must know: what differs from the source.
    pub notes: Vec<String>,
    /// A file below `build` that ours decides by.
    pub policy: String,
    /// What is compared, by the names in the legend: the program's first arguments.
    pub series: IndexMap<String, Vec<String>>,
    /// A plot each, by title: the next arguments.
    pub panels: IndexMap<String, Vec<String>>,
    /// The horizontal axis: the last argument.
    pub points: Vec<u32>,
    /// How often each is measured, by default.
    pub repeats: u32,
    /// What the points are.
    pub x: String,
    /// What the values are, with their unit.
    pub y: String,
    /// What must hold.
    pub check: Check,
}

/// At each point, `series` has at most `at_most` times what `times` has: the median of the ratios of each round.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub series: String,
    pub at_most: f64,
    pub times: String,
}

impl Description {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no description, or describes nothing to run.
    pub fn read(path: &Path) -> Result<Description> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let description: Description =
            serde_json::from_str(&text).with_context(|| format!("{} describes no experiment", path.display()))?;
        let Description { series, panels, points, repeats, check, .. } = &description;
        ensure!(
            !series.is_empty() && !panels.is_empty() && !points.is_empty() && *repeats > 0,
            "{}: nothing to run",
            path.display()
        );
        for name in [&check.series, &check.times] {
            ensure!(series.contains_key(name), "{}: no series is called {name}", path.display());
        }
        Ok(description)
    }
}
