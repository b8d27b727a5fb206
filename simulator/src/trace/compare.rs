//! Compares two traces: finds the first decision that differs, and what decided it.

use std::collections::VecDeque;
use std::io::{Read, Seek};

use crate::picture::visible;

use super::{Reader, Record, TraceError, What};

/// What a policy decided: who runs next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Since the beginning of recording.
    pub time: u64,
    /// The thread that was dispatched.
    pub thread: String,
    /// The processor.
    pub processor: u16,
    /// The handler and line that chose it; empty: the trace does not say.
    pub because: String,
    /// What happened before it, oldest first, a line each.
    pub before: Vec<String>,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All decisions are the same.
    Same {
        /// How many there are.
        decisions: u64,
        /// The greatest difference in time of a decision.
        apart: u64,
    },
    /// The decision after the first `same` ones differs. `None`: that trace has no more decisions.
    Different {
        /// How many are the same.
        same: u64,
        /// Of the first trace.
        one: Option<Box<Decision>>,
        /// Of the second.
        other: Option<Box<Decision>>,
    },
}

/// How many records before a decision are told.
const BEFORE: usize = 5;

/// Threads are the same if their names and numbers are equal; with `by_name`, if their names are. `read` is called
/// after each record of the first trace.
///
/// # Errors
/// What is wrong with a trace, and whether that is the second one.
pub fn compare<A: Read + Seek, B: Read + Seek>(
    one: &mut Reader<A>,
    other: &mut Reader<B>,
    by_name: bool,
    read: &mut dyn FnMut(),
) -> Result<Comparison, (bool, TraceError)> {
    let (mut left, mut right) = (Side::new(one, by_name), Side::new(other, by_name));
    let (mut same, mut apart) = (0, 0);
    loop {
        let decided = left.next(read).map_err(|wrong| (false, wrong))?;
        let other_decided = right.next(&mut || {}).map_err(|wrong| (true, wrong))?;
        match (decided, other_decided) {
            (None, None) => return Ok(Comparison::Same { decisions: same, apart }),
            (Some(record), Some(other)) if left.says_the_same(&record, &right, &other) => {
                apart = apart.max(left.time(&record).abs_diff(right.time(&other)));
                same += 1;
                left.note(&record);
                right.note(&other);
            }
            (record, other) => {
                let one = record.map(|record| Box::new(left.decision(&record)));
                let other = other.map(|record| Box::new(right.decision(&record)));
                return Ok(Comparison::Different { same, one, other });
            }
        }
    }
}

/// A record before a decision. Few are ever shown, so it becomes a line only then, or when its thread's name goes.
enum Noted {
    Record(Record),
    Line(String),
}

struct Side<'a, R> {
    trace: &'a mut Reader<R>,
    before: VecDeque<Noted>,
    by_name: bool,
}

impl<'a, R: Read + Seek> Side<'a, R> {
    fn new(trace: &'a mut Reader<R>, by_name: bool) -> Self {
        Side { trace, before: VecDeque::new(), by_name }
    }

    /// The next record that dispatches.
    fn next(&mut self, read: &mut dyn FnMut()) -> Result<Option<Record>, TraceError> {
        while let Some(record) = self.trace.next_record()? {
            read();
            if record.what == What::Dispatched {
                return Ok(Some(record));
            }
            self.note(&record);
        }
        Ok(None)
    }

    fn says_the_same<S: Read + Seek>(&self, record: &Record, other: &Side<'_, S>, others: &Record) -> bool {
        let thread = match (self.trace.name(record.thread), other.trace.name(others.thread)) {
            (Some(one), Some(other)) => one == other && (self.by_name || record.thread == others.thread),
            (None, None) => record.thread == others.thread,
            (Some(_), None) | (None, Some(_)) => false,
        };
        thread && record.processor == others.processor
    }

    fn time(&self, record: &Record) -> u64 {
        record.time_ns.saturating_sub(self.trace.header().start_ns)
    }

    fn note(&mut self, record: &Record) {
        if matches!(record.what, What::Named { .. }) {
            return;
        }
        if self.before.len() == BEFORE {
            self.before.pop_front();
        }
        self.before.push_back(Noted::Record(*record));
        if matches!(record.what, What::Exited | What::Refused) {
            self.before = self.lines().map(Noted::Line).collect();
        }
    }

    fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.before.iter().map(|noted| match noted {
            Noted::Record(record) => self.trace.line(record),
            Noted::Line(line) => line.clone(),
        })
    }

    fn decision(&self, record: &Record) -> Decision {
        Decision {
            time: self.time(record),
            thread: self.trace.called(record.thread),
            processor: record.processor,
            because: visible(&self.trace.header().because(record)).into_owned(),
            before: self.lines().collect(),
        }
    }
}
