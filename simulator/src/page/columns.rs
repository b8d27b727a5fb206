//! What a page gets of a trace: columns of numbers, sorted by time. `-1` stands for none.

use serde::Serialize;

/// All columns of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    pub(super) threads: Threads,
    /// The numbers of the processors.
    pub(super) processors: Vec<u16>,
    pub(super) stays: Stays,
    /// What threads wait for, by the state of a stay, from [`WAITING`] on.
    pub(super) waits: Vec<&'static str>,
    pub(super) whys: Vec<Why>,
    pub(super) sources: Vec<Text>,
    /// How many threads are ready.
    pub(super) ready: Ready,
    /// The names of imported variables.
    pub(super) variables: Vec<String>,
    pub(super) values: Values,
    pub(super) marks: Marks,
}

impl Columns {
    pub(super) fn turns(&self) -> usize {
        self.stays.state.iter().filter(|state| **state == RUNNING).count()
    }
}

/// One for each thread, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Threads {
    /// The host's.
    pub(super) number: Vec<u32>,
    /// An index of names; -1: it has none.
    pub(super) name: Vec<i64>,
}

/// What was so for a while, in the order in which it began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Stays {
    /// Nanoseconds since the stay before it began; for the first, since recording began.
    pub(super) after: Vec<i64>,
    pub(super) length: Vec<i64>,
    pub(super) state: Vec<usize>,
    pub(super) thread: Vec<i64>,
    /// Where a thread runs, or what is idle.
    pub(super) processor: Vec<i64>,
    /// What began it and what ended it, in `whys`.
    pub(super) why: Vec<i64>,
    pub(super) end: Vec<i64>,
    /// Pairs of a stay and the thread whose turn it is.
    pub(super) lent: Vec<(usize, i64)>,
}

/// States of stays.
pub(super) const RUNNING: usize = 0;
pub(super) const IDLE: usize = 1;
/// Events are missing.
pub(super) const UNKNOWN: usize = 2;
pub(super) const READY: usize = 3;
pub(super) const LENDING: usize = 4;
pub(super) const SUSPENDED: usize = 5;
/// Of threads that wait for the first of `waits`.
pub(super) const WAITING: usize = 6;

/// Something that can happen, and what decides it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Why {
    /// As on the command line: `dispatched`.
    pub(super) kind: &'static str,
    /// The event whose handler decided; empty: not known.
    pub(super) event: String,
    /// 0: it is not known, or in no file.
    pub(super) line: u32,
    /// Whether the line is that of a statement. Otherwise, the handler begins there.
    pub(super) exact: bool,
    /// An index of `sources`; -1: none.
    pub(super) source: i64,
}

/// A file of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Text {
    pub(super) file: String,
    /// `None`: it is not at hand.
    pub(super) text: Option<String>,
}

/// A number that changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Ready {
    pub(super) after: Vec<i64>,
    pub(super) count: Vec<i64>,
}

/// What variables are from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Values {
    pub(super) after: Vec<i64>,
    /// -1: it is the application's.
    pub(super) thread: Vec<i64>,
    pub(super) variable: Vec<usize>,
    pub(super) value: Vec<String>,
}

/// What happens at an instant and is no stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Marks {
    pub(super) after: Vec<i64>,
    pub(super) thread: Vec<i64>,
    pub(super) why: Vec<i64>,
}

/// The distances of instants, which take fewer digits.
pub(super) fn distances(instants: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut before = 0;
    instants.map(|instant| instant - std::mem::replace(&mut before, instant)).collect()
}
