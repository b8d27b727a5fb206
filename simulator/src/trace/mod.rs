//! A trace: what happened to each thread, and why, as a host recorded it.
//!
//! The file is a ring that the host writes through a shared mapping, so even a killed program leaves a trace. The
//! simulator writes a file that never wraps. All numbers are little endian. `docs/traces.md` has the whole format:
//!
//! ```text
//!  0  "CATTRACE"   8  u32 version = 3   12  u32 record_bytes = 32   16  u64 capacity, in records
//! 24  u64 written, ever                 32  u64 start_ns
//! 40  u32 records_at   44  u32 names_bytes   48  u32 names_count   52  u32 resolution_ns, or 0   56  u64 end_ns, or 0
//! 64  u64 seed, or 0
//! 72  name × names_count: u32 line, UTF-8 text, a zero, the source that has the line (none: the policy's), a zero. The
//!     first four: policy, its source, the host, its clock; then events, with the line where the policy's handler begins,
//!     and imported variables
//! records_at  record × capacity; the record that was written as the n-th is at n modulo capacity:
//!      0  u64 time_ns   8  u32 thread   12  u8 kind   13  u8 detail   14  u16 processor
//!     16  u32 line     20  u16 event    22  u16 ready                24  u32 other   28  u32 zero
//! ```
//!
//! Versions 1 and 2, which earlier hosts wrote, are read, too. They have no seed, and records of version 1 have no why.
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

/// What a trace says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// From 1 to 3.
    pub version: u32,
    /// The name of the policy or hierarchy that was in force when recording began.
    pub policy: String,
    /// Its file, as named when it was compiled; empty: not known.
    pub source: String,
    /// What recorded the trace: `native`, `simulator` and so on.
    pub host: String,
    /// The clock of the times.
    pub clock: String,
    /// The shortest time that the clock measures, in nanoseconds; 0: not known.
    pub resolution_ns: u32,
    /// When recording began, by the clock.
    pub start_ns: u64,
    /// The seed of what policies draw; `None`: not known.
    pub seed: Option<u64>,
    /// When recording ended; `None`: with the last record, as far as is known.
    pub end_ns: Option<u64>,
    /// How many records the ring holds.
    pub capacity: u64,
    /// How many records were ever written.
    pub written: u64,
    /// The names for [`Record::event`] and [`What::Value`].
    pub names: Vec<Name>,
}

/// An event, or a variable that a policy imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// As the framework, or the policy, declares it.
    pub text: String,
    /// For an event, where the policy's handler begins in its source; 0: it is the framework's, or in no file.
    pub line: u32,
    /// The file of the line; empty: [`Header::source`].
    pub source: String,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// By the host's clock.
    pub time_ns: u64,
    /// The thread's number on the host; meaningless if no thread is concerned.
    pub thread: u32,
    /// The processor that made it happen; a dispatched thread runs there. 0 if there is only one.
    pub processor: u16,
    /// What it was.
    pub what: What,
    /// The event whose handler decided it, as an index of [`Header::names`]; 0: not known.
    pub event: u16,
    /// The line of the policy's source that moved the thread; 0: not known, or no line of its own.
    pub line: u32,
    /// How many threads were READY then, including this one.
    pub ready: Option<u16>,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The thread was created, and is READY.
    New,
    /// Sixteen bytes of the thread's name, from byte 16 × `part`; padded with zeros.
    Named {
        /// Which sixteen bytes.
        part: u16,
        /// UTF-8, if the name was UTF-8.
        bytes: [u8; 16],
    },
    /// The policy dispatched it: it runs.
    Dispatched,
    /// It runs, on the turn of another thread, which waits for it.
    Lent {
        /// The thread that the policy dispatched; the thread itself, if it goes on with a turn that it had lent.
        donor: u32,
    },
    /// It gave the processor up, and is READY.
    SwitchedOut,
    /// The policy took the processor from it. It is READY.
    Preempted,
    /// It waits for something.
    Blocked(Reason),
    /// Its wait is over. It is READY.
    Raised,
    /// It has ended.
    Exited,
    /// The policy refused it.
    Refused,
    /// A guard of the policy failed; the host's built-in policy took over.
    PolicyOut,
    /// It was suspended.
    Suspended,
    /// It was resumed, and is READY.
    Resumed,
    /// No thread is READY: the processor idles.
    Idle,
    /// Events of this processor are missing since its last record. Only the threads that run on other processors are
    /// known to be in the same state as before.
    Lost {
        /// How many; 0: not known.
        events: u64,
    },
    /// An imported variable has this value now: one of the thread, or, if that is 0, of the application.
    Value {
        /// An index of [`Header::names`].
        variable: u16,
        /// The value.
        value: Value,
    },
}

/// What a blocked thread waits for. The numbers are those of `enum dispatcher_reason`.
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
    /// The record's event tells it.
    Other = 255,
}

/// Why a file cannot be read as a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// It is no trace.
    Senseless {
        /// In bytes from the start of the file.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// It ends too early.
    CutOff {
        /// The place that shows it, in bytes from the start of the file.
        offset: u64,
        /// What is cut off.
        what: String,
    },
    /// More than this many threads live at a time.
    Crowded(usize),
}

impl TraceError {
    /// The place of what is wrong, in bytes from the start of the file.
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
/// Of versions 1 and 2. In version 3, the seed follows.
const HEADER_BYTES: u64 = 64;
const SEED_BYTES: u64 = 8;
const RECORD_BYTES: u64 = 32;
const VERSION: u32 = 3;
/// No record comes so many nanoseconds, some 73 years, after the first. So sums of a few times do not overflow.
const LONGEST_TIME: u64 = u64::MAX / 8;
/// For the name of one thread. Longer names are neither written nor read to their ends.
const MOST_PARTS: u16 = 256;
/// How many threads live at a time. No host has more, and what is known of each is kept.
const MOST_LIVING: usize = 1 << 20;
/// How many names are kept of threads that are not known to have ended: as many as Linux has numbers.
const MOST_NAMED: usize = 1 << 22;
/// As many as Linux supports.
const MOST_PROCESSORS: u16 = 8192;
/// For all names together, because a reader keeps them.
const MOST_NAMES_BYTES: u32 = 1 << 20;
/// `ready`, if a host does not know it.
const NOT_KNOWN: u16 = u16::MAX;

impl Header {
    /// The name of an event or variable; `None`: there is none of that number.
    pub fn name(&self, index: u16) -> Option<&Name> {
        if index == 0 { None } else { self.names.get(usize::from(index)) }
    }

    /// The event of a record, and the line: of the statement, or of the handler if the host knows no better.
    pub fn why(&self, record: &Record) -> Option<(&str, u32)> {
        let name = self.name(record.event)?;
        Some((&name.text, if record.line > 0 { record.line } else { name.line }))
    }

    /// The file of that line.
    pub fn source(&self, record: &Record) -> &str {
        let own = self.name(record.event).map_or("", |name| name.source.as_str());
        if own.is_empty() { &self.source } else { own }
    }

    /// Event, file and line in words: `schedule, round_robin.sched:12`; empty: not known.
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
    /// Its word on the command line.
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
    /// As in the names of events: `io.read` for `block.io.read`. Empty: the event tells it.
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

    /// The reason of an event `block.NAME`; [`Reason::Other`] if there is none.
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

/// The bytes before the first zero, as text. What is not UTF-8 is replaced.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn error(offset: u64, what: impl Into<String>) -> TraceError {
    TraceError::Senseless { offset, what: what.into() }
}

#[cfg(test)]
mod tests;
