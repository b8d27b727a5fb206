//! `experiment.json`: what an experiment runs, plots and promises.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// An experiment. Its program is run as `PROGRAM SERIES PANEL POINT`, for each of these, and prints lines `value NUMBER`. If the check
/// is about shares, it is run as `PROGRAM PANEL TICKS`, and prints lines `value TICKS NUMBER…`, a number for each series. If it is about
/// answers, the program is CoW on GNU Pth: a series names its policy, a panel the files that are asked for, a point the handlers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What it is about.
    pub title: String,
    /// Who did it before.
    pub source: String,
    /// What a reader of the table must know: what differs from the source.
    pub notes: Vec<String>,
    /// The program, below `build`; by default that of the experiment's folder.
    pub program: Option<String>,
    /// A file below `build` that ours decides by. A server has one for each series.
    #[serde(default)]
    pub policy: Option<String>,
    /// What is compared, by the names in the legend: the program's first arguments. If the check is about shares: threads.
    pub series: IndexMap<String, Vec<String>>,
    /// A plot each, by title: the next arguments.
    pub panels: IndexMap<String, Vec<String>>,
    /// The horizontal axis: the last argument. None for a distribution, whose horizontal axis are the values, and for shares.
    #[serde(default)]
    pub points: Vec<Point>,
    /// How often each is measured, by default.
    pub repeats: u32,
    /// What the horizontal axis is.
    pub x: String,
    /// What the vertical axis is, with its unit.
    pub y: String,
    /// What must hold.
    pub check: Check,
}

/// A place on the horizontal axis.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Point {
    /// A number.
    Number(u32),
    /// Something that has a name, and its place by its turn.
    Name(String),
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Point::Number(number) => number.fmt(f),
            Point::Name(name) => name.fmt(f),
        }
    }
}

/// What must hold, and so what the plots show.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Check {
    /// Of each point. A run prints one value; lines are plotted.
    Points(Vec<Comparison>),
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
    /// In each phase of a run each series has its share of what the series and all else have come to: at most `within` more or
    /// less. What they have come to is plotted over time, or what shares they have.
    Shares {
        /// How long a phase is, in ticks.
        ticks: u32,
        /// The same for a short run.
        short: u32,
        /// The difference that may be.
        within: f64,
        /// Shares are plotted, one above the other.
        #[serde(default)]
        stacked: bool,
        /// By what begins it: the shares of those series that have one.
        phases: IndexMap<String, IndexMap<String, f64>>,
    },
    /// How many requests a server answers, and how soon: how many times better than under the first series.
    Answers(Answers),
}

/// A web server under several schedulers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Clients that ask at the same time, with a connection for each request.
    pub clients: u32,
    /// Bytes of a response that a handler sends before the others have their turn.
    pub turn: u32,
    /// How long each measurement takes.
    pub seconds: u32,
    /// What the paper measured.
    pub paper: Paper,
    /// What must hold where the paper has no figures.
    pub promises: Vec<Promise>,
}

/// Tables of a paper: by panel, for each point the generic scheduler's figure and that of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The series that stands for the paper's own scheduler: it must gain as much.
    pub series: String,
    /// Pages that were served.
    pub requests: IndexMap<String, Vec<[f64; 2]>>,
    /// Response times.
    pub mean: IndexMap<String, Vec<[f64; 2]>>,
}

/// So many times better than another series, at points of a panel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Where.
    pub panel: String,
    /// Who.
    pub series: String,
    /// In what.
    pub quantity: Quantity,
    /// The bound.
    pub at_least: f64,
    /// Than whom.
    pub than: String,
    /// At these points only.
    #[serde(default)]
    pub points: Vec<u32>,
}

/// What is measured of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// How many a second.
    Requests,
    /// Response times, on average.
    Mean,
    /// Half of them took no longer.
    Half,
    /// None took longer.
    Slowest,
}

/// What must hold at each point: the median of what it says of each round.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The name of a series.
    pub series: String,
    /// The bound.
    pub at_most: f64,
    /// In what it is given.
    pub of: Of,
    /// In these panels only.
    #[serde(default)]
    pub panels: Vec<String>,
}

/// What a bound is in.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// Times what another series has at that point.
    Times(String),
    /// Times what the series itself has at the first point, for each unit that the point is further on: how fast it grows.
    TimesFirstEach,
    /// Times what the series itself has at the first point.
    TimesFirst,
    /// In this unit.
    Unit(String),
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
        let many = matches!(check, Check::Points(_) | Check::Answers(_));
        ensure!(!panels.is_empty() && *repeats > 0, "{}: nothing to run", path.display());
        ensure!(many != points.is_empty(), "{}: points have points, all else has none", path.display());
        for name in description.named() {
            description.number(name).with_context(|| path.display().to_string())?;
        }
        Ok(description)
    }

    /// The number of a series.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn number(&self, name: &str) -> Result<usize> {
        self.series.get_index_of(name).with_context(|| format!("no series {name}"))
    }

    /// The series that the check names.
    fn named(&self) -> Vec<&str> {
        match &self.check {
            Check::Points(comparisons) => comparisons.iter().flat_map(Comparison::named).collect(),
            Check::Distribution { within, beyond, .. } => vec![within, beyond],
            Check::Shares { phases, .. } => {
                phases.values().flat_map(|phase| phase.keys().map(String::as_str)).collect()
            }
            Check::Answers(answers) => {
                let promised = answers.promises.iter().flat_map(|promise| [&promise.series, &promise.than]);
                promised.chain([&answers.paper.series]).map(String::as_str).collect()
            }
        }
    }
}

impl Comparison {
    fn named(&self) -> Vec<&str> {
        match &self.of {
            Of::Times(other) => vec![&self.series, other],
            Of::TimesFirstEach | Of::TimesFirst | Of::Unit(_) => vec![&self.series],
        }
    }
}
