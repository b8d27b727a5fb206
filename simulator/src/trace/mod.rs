//! A trace: what became of each thread, and why, as a host recorded it.
//!
//! The file is a ring that the host writes through a shared mapping, so a program that is killed leaves a trace too. The simulator,
//! which has a file to itself, writes one that never comes round. All numbers are little endian; the whole format is in
//! `docs/traces.md`:
//!
//! ```text
//!  0  "CATTRACE"   8  u32 version = 2   12  u32 record_bytes = 32   16  u64 capacity, in records
//! 24  u64 written, ever                 32  u64 start_ns
//! 40  u32 records_at   44  u32 names_bytes   48  u32 names_count   52  zeros   56  u64 end_ns, or 0
//! 64  name × names_count: u32 line, UTF-8 text, a zero, the source in which the line is (none: that of the policy), a zero. The
//!     first four: policy, its source, the host, its clock; then events, with the line where the policy's handler begins, and
//!     imported variables
//! records_at  record × capacity; the record that was written as the n-th is at n modulo capacity:
//!      0  u64 time_ns   8  u32 thread   12  u8 kind   13  u8 detail   14  u16 processor
//!     16  u32 line     20  u16 event    22  u16 ready                24  u32 other   28  u32 zero
//! ```
//!
//! Version 1, which earlier hosts wrote, is read too: its records have no why, and are otherwise the same.
//!
//! ```text
//! Reader ── records ──► States ── stays in a state ──► Chrome, Perfetto, summary, scenario, picture
//!                └────► compare, show
//! text of Linux, packets of Perfetto ──► Writer
//! ```

mod chrome;
mod compare;
mod drawn;
mod export;
mod import;
mod linux;
mod packets;
mod perfetto;
mod read;
mod replay;
mod shown;
mod simulated;
mod states;
mod summary;
mod write;

use std::fmt;

pub use chrome::export_chrome;
pub use compare::{Comparison, Decision, compare};
pub use drawn::picture;
pub use export::Unexported;
pub use import::{Contradiction, Imported, Line, Lost, OtherFormat, Unimported};
pub use linux::import_linux;
pub use packets::{import_perfetto, is_perfetto};
pub use perfetto::export_perfetto;
pub use read::Reader;
pub use replay::{Replay, replay};
pub use simulated::Recorder;
pub use states::{Doing, State, States, Stay, Whose};
pub use summary::{ProcessorSummary, Summary, ThreadSummary, summarise};
pub use write::Writer;

use catapults_compiler::vocabulary::Value;

/// What a trace says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// From 1 to 3.
    pub version: u32,
    /// The name of the policy in force when recording began, or of the hierarchy.
    pub policy: String,
    /// Its file, as it was named when it was compiled; empty if that is not known.
    pub source: String,
    /// Who recorded it: `native`, `simulator` and so on.
    pub host: String,
    /// Which clock the times are of.
    pub clock: String,
    /// Nanoseconds between two times that the clock tells apart; 0: it is not known.
    pub resolution_ns: u32,
    /// When recording began, by that clock.
    pub start_ns: u64,
    /// Of what policies draw; `None`: it is not known.
    pub seed: Option<u64>,
    /// When it ended; `None`: with the last record, as far as is known.
    pub end_ns: Option<u64>,
    /// Records that the ring holds.
    pub capacity: u64,
    /// Records that were written, ever.
    pub written: u64,
    /// What [`Record::event`] and [`What::Value`] name.
    pub names: Vec<Name>,
}

/// An event, or a variable that a policy imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// As the framework, or the policy, declares it.
    pub text: String,
    /// Of an event: where the policy's handler begins in its source; 0: it is the framework's, or of no file.
    pub line: u32,
    /// In which file; empty: in [`Header::source`].
    pub source: String,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds of the host's clock.
    pub time_ns: u64,
    /// The host's number for the thread that it happened to; without meaning for what concerns no thread.
    pub thread: u32,
    /// The number of the processor that made it happen: where a thread is dispatched it runs. 0, if there is one only.
    pub processor: u16,
    /// What it was.
    pub what: What,
    /// The event whose handler decided it, into [`Header::names`]; 0: it is not known.
    pub event: u16,
    /// The line of the policy's source that moved the thread; 0: it is not known, or none of its own.
    pub line: u32,
    /// How many threads were ready then, the one that it happened to included.
    pub ready: Option<u16>,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The thread was created, and is ready.
    New,
    /// Sixteen bytes of the thread's name, from byte 16 × `part`; padded with zeros.
    Named {
        /// Which sixteen bytes.
        part: u16,
        /// UTF-8, where whoever named the thread kept to it.
        bytes: [u8; 16],
    },
    /// The policy dispatched it: it runs.
    Dispatched,
    /// It runs, on the turn of another thread, which waits for it.
    Lent {
        /// Whom the policy dispatched; the thread itself, if it goes on with a turn that it had lent.
        donor: u32,
    },
    /// It gave the processor up and is ready.
    SwitchedOut,
    /// The policy took the processor from it: it is ready.
    Preempted,
    /// It waits for something.
    Blocked(Reason),
    /// What it waited for has happened: it is ready.
    Raised,
    /// It has ended.
    Exited,
    /// The policy did not admit it.
    Refused,
    /// A guard of the policy failed; the host's built-in policy took over.
    PolicyOut,
    /// It was suspended.
    Suspended,
    /// It was resumed, and is ready.
    Resumed,
    /// No thread is ready: the processor idles.
    Idle,
    /// Events of this processor are missing, between the record of it before this one and now. Only who runs on another
    /// processor is known to be in the state that he was in.
    Lost {
        /// How many; 0: that is not known.
        events: u64,
    },
    /// A variable that the policy imports has this value now; of the application if the thread is 0.
    Value {
        /// Into [`Header::names`].
        variable: u16,
        /// What it is.
        value: Value,
    },
}

/// What a blocked thread waits for; the numbers are those of `enum dispatcher_reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Reason {
    Read = 0,
    Write = 1,
    Accept = 2,
    Connect = 3,
    File = 4,
    Lock = 5,
    Condition = 6,
    Join = 7,
    Sleep = 8,
    Kernel = 9,
    Scheduler = 10,
    Port = 11,
    Signal = 12,
    /// The record's event says it.
    Other = 255,
}

/// Why a file is not read as a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// It is none.
    Senseless {
        /// In bytes from the start of the file.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// It ends too early.
    CutOff {
        /// Where the file says so, in bytes from its start.
        offset: u64,
        /// Where it was cut off.
        what: String,
    },
    /// More than so many threads live at a time.
    Crowded(usize),
}

impl TraceError {
    /// Where in the file something is wrong, in bytes from its start.
    pub fn offset(&self) -> Option<u64> {
        match self {
            TraceError::Senseless { offset, .. } | TraceError::CutOff { offset, .. } => Some(*offset),
            TraceError::Crowded(_) => None,
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Senseless { offset, what } => {
                write!(out, "not a trace of a Catapults host: at byte {offset}: {what}")
            }
            TraceError::CutOff { what, .. } => write!(out, "the trace is cut off {what}"),
            TraceError::Crowded(threads) => write!(out, "more than {threads} threads live at a time in it"),
        }
    }
}

impl std::error::Error for TraceError {}

const MAGIC: &[u8; 8] = b"CATTRACE";
/// Of versions 1 and 2; from 3 on the seed follows.
const HEADER_BYTES: u64 = 64;
const SEED_BYTES: u64 = 8;
const RECORD_BYTES: u64 = 32;
const VERSION: u32 = 3;
/// No record is so many nanoseconds, some 73 years, after the first: sums of a few such are numbers, too.
const LONGEST_TIME: u64 = u64::MAX / 8;
/// Of the name of one thread: longer ones are neither written nor read to their ends.
const MOST_PARTS: u16 = 256;
/// Threads that live at a time: a host has no more, and what is known of each is kept.
const MOST_LIVING: usize = 1 << 20;
/// Threads whose names are kept, for they are not said to have ended: as many as Linux has numbers for.
const MOST_NAMED: usize = 1 << 22;
/// As many as Linux can have.
const MOST_PROCESSORS: u16 = 8192;
/// Of all names together: a reader keeps them.
const MOST_NAMES_BYTES: u32 = 1 << 20;
/// `ready`, where a host does not know it.
const NOT_KNOWN: u16 = u16::MAX;

impl Header {
    /// Of an event or variable; `None`: there is none of that number.
    pub fn name(&self, index: u16) -> Option<&Name> {
        if index == 0 { None } else { self.names.get(usize::from(index)) }
    }

    /// The event of a record and its line: that of the statement, or that of the handler if a host knows no better.
    pub fn why(&self, record: &Record) -> Option<(&str, u32)> {
        let name = self.name(record.event)?;
        Some((&name.text, if record.line > 0 { record.line } else { name.line }))
    }

    /// The file in which that line is.
    pub fn source(&self, record: &Record) -> &str {
        let own = self.name(record.event).map_or("", |name| name.source.as_str());
        if own.is_empty() { &self.source } else { own }
    }

    /// The same in words: `schedule, round_robin.sched:12`; empty, if it is not known.
    pub fn because(&self, record: &Record) -> String {
        let file = self.source(record).rsplit('/').next().unwrap_or_default();
        match self.why(record) {
            None => String::new(),
            Some((event, 0)) => event.to_owned(),
            Some((event, line)) if file.is_empty() => format!("{event}, line {line}"),
            Some((event, line)) => format!("{event}, {file}:{line}"),
        }
    }
}

impl What {
    /// The word for it on the command line.
    pub fn word(&self) -> &'static str {
        match self {
            What::New => "new",
            What::Named { .. } => "named",
            What::Dispatched => "dispatched",
            What::Lent { .. } => "lent",
            What::SwitchedOut => "switched-out",
            What::Preempted => "preempted",
            What::Blocked(_) => "blocked",
            What::Raised => "raised",
            What::Exited => "exited",
            What::Refused => "refused",
            What::PolicyOut => "policy-out",
            What::Suspended => "suspended",
            What::Resumed => "resumed",
            What::Idle => "idle",
            What::Value { .. } => "value",
            What::Lost { .. } => "lost",
        }
    }
}

impl Reason {
    /// As in the names of the events: `block.io.read` is `io.read`. Empty: the event says it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Read => "io.read",
            Reason::Write => "io.write",
            Reason::Accept => "io.accept",
            Reason::Connect => "io.connect",
            Reason::File => "io.file",
            Reason::Lock => "lock",
            Reason::Condition => "condition",
            Reason::Join => "join",
            Reason::Sleep => "sleep",
            Reason::Kernel => "kernel",
            Reason::Scheduler => "scheduler",
            Reason::Port => "port",
            Reason::Signal => "signal",
            Reason::Other => "",
        }
    }

    /// The one of an event `block.NAME`; [`Reason::Other`], if there is none.
    pub fn of_event(event: &str) -> Reason {
        let name = event.strip_prefix("block.").unwrap_or(event);
        let known = (0..=12).filter_map(Reason::of).find(|reason| reason.name() == name);
        known.unwrap_or(Reason::Other)
    }

    fn of(detail: u8) -> Option<Reason> {
        Some(match detail {
            0 => Reason::Read,
            1 => Reason::Write,
            2 => Reason::Accept,
            3 => Reason::Connect,
            4 => Reason::File,
            5 => Reason::Lock,
            6 => Reason::Condition,
            7 => Reason::Join,
            8 => Reason::Sleep,
            9 => Reason::Kernel,
            10 => Reason::Scheduler,
            11 => Reason::Port,
            12 => Reason::Signal,
            255 => Reason::Other,
            _ => return None,
        })
    }
}

/// The bytes before the first zero; what is not UTF-8 among them is replaced.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn error(offset: u64, what: impl Into<String>) -> TraceError {
    TraceError::Senseless { offset, what: what.into() }
}

#[cfg(test)]
mod tests;
