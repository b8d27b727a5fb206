//! `experiment.json`: what an experiment runs, plots and promises.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use indexmap::IndexMap;
use serde::Deserialize;

/// An experiment. Its program is run as `PROGRAM SERIES PANEL POINT`, for each of these, and prints lines `value NUMBER`.
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
    /// The horizontal axis: the last argument. None for a distribution, whose horizontal axis are the values.
    #[serde(default)]
    pub points: Vec<u32>,
    /// How often each is measured, by default.
    pub repeats: u32,
    /// What the horizontal axis is.
    pub x: String,
    /// What the vertical axis is, with its unit.
    pub y: String,
    /// What must hold.
    pub check: Check,
}

/// What must hold, and so what the plots show.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Check {
    /// At each point `series` has at most `at_most` times what `times` has: the median of the ratios of each round. A run
    /// prints one value; lines are plotted.
    Points {
        /// The name of a series.
        series: String,
        /// The bound.
        at_most: f64,
        /// The name of another series.
        times: String,
    },
    /// No value of `within` is above `bound`, and some value of `beyond` is. A run prints many; their distribution is
    /// plotted.
    Distribution {
        /// The name of a series.
        within: String,
        /// The name of another series.
        beyond: String,
        /// In the unit of the values.
        bound: f64,
        /// That unit.
        unit: String,
    },
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
        let Description { panels, points, repeats, check, .. } = &description;
        let many = matches!(check, Check::Points { .. });
        ensure!(!panels.is_empty() && *repeats > 0, "{}: nothing to run", path.display());
        ensure!(many != points.is_empty(), "{}: a distribution has no points, all else has", path.display());
        description.compared().with_context(|| path.display().to_string())?;
        Ok(description)
    }

    /// The numbers of the two series that the check compares.
    ///
    /// # Errors
    ///
    /// When there are no series of these names.
    pub fn compared(&self) -> Result<(usize, usize)> {
        let number = |name: &String| self.series.get_index_of(name).with_context(|| format!("no series {name}"));
        let (Check::Points { series: one, times: other, .. } | Check::Distribution { within: one, beyond: other, .. }) =
            &self.check;
        Ok((number(one)?, number(other)?))
    }
}
