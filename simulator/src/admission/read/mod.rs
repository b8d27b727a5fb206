//! Sets of tasks from files. Whatever is not understood is refused: a field that is skipped could be the one that matters.

mod amount;
mod record;
mod scenario;
mod table;
mod yaml;

use std::ops::Range;
use std::path::Path;

pub use amount::Unit;

use super::{Order, TaskSet};
pub use scenario::{NotRead, OfScenario, of_rtapp, of_scenario};

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its position in the text.
    pub at: Range<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl Wrong {
    fn new(at: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Wrong { at, what: what.into(), help: help.into() }
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// At least one task.
    pub set: TaskSet,
    /// Where each task stands in the text.
    pub places: Vec<Range<usize>>,
    /// The order that the file names, or for which it has all that is needed.
    pub order: Option<Order>,
    /// How many processors it names.
    pub processors: Option<u32>,
    /// What of it is not judged.
    pub notes: Vec<String>,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// POET's YAML.
    Poet,
    /// Values separated by commas, semicolons or tabs, with a line of names.
    Table,
}

/// The kind that a name says. `None`: it says no kind that [`read`] reads.
pub fn kind_of(path: &Path) -> Option<Kind> {
    match path.extension()?.to_str()? {
        "yaml" | "yml" => Some(Kind::Poet),
        "csv" | "tsv" => Some(Kind::Table),
        _ => None,
    }
}

/// Reads a set. Numbers without a unit are in this one.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(text: &str, kind: Kind, unit: Unit) -> Result<Found, Wrong> {
    match kind {
        Kind::Poet => yaml::read(text, unit),
        Kind::Table => table::read(text, unit),
    }
}
