//! A trace: what became of each thread, as a host recorded it.
//!
//! The file is a ring that the host writes through a shared mapping, so a program that is killed leaves a trace too. All
//! numbers are little endian:
//!
//! ```text
//!  0  "CATTRACE"   8  u32 version = 1   12  u32 record_bytes = 32   16  u64 capacity, in records
//! 24  u64 written, ever                 32  u64 start_ns            40  char policy[24]
//! 64  record × capacity; the record that was written as the n-th is at n modulo capacity:
//!      0  u64 time_ns (CLOCK_MONOTONIC)   8  u32 thread   12  u8 kind   13  u8 processor   14  u16 detail
//!     16  payload[16]
//! ```

mod chrome;

use std::fmt;

pub use chrome::export_chrome;

/// What the file says, in the order in which it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The name of the policy in force when recording began.
    pub policy: String,
    /// When recording began: nanoseconds of the host's monotonic clock.
    pub start_ns: u64,
    /// Older records that the ring no longer holds.
    pub lost: u64,
    /// What is left, oldest first; their times never decrease.
    pub records: Vec<Record>,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds of the host's monotonic clock.
    pub time_ns: u64,
    /// The host's number for the thread that it happened to; without meaning for what concerns no thread.
    pub thread: u32,
    /// The number of the processor that made it happen: where a thread is dispatched it runs. 0, if there is one only.
    pub processor: u8,
    /// What it was.
    pub what: What,
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
    /// It gave the processor up and is ready.
    SwitchedOut,
    /// It waits for something.
    Blocked(Reason),
    /// What it waited for has happened: it is ready.
    Raised,
    /// It has ended.
    Exited,
    /// A guard of the policy failed; the host's built-in policy took over.
    PolicyOut {
        /// The line of the policy's source; 0: of the framework's own default handler.
        line: u16,
    },
    /// It was suspended.
    Suspended,
    /// It was resumed, and is ready.
    Resumed,
    /// No thread is ready: the processor idles.
    Idle,
}

/// What a blocked thread waits for; the numbers are those of `enum dispatcher_reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// In bytes from the start of the file.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not a trace of a Catapults host: at byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for TraceError {}

const HEADER_BYTES: u64 = 64;
const RECORD_BYTES: u64 = 32;
const VERSION: u32 = 1;

/// Reads a whole file. Takes memory in proportion to `bytes`, whatever they say.
///
/// # Errors
///
/// The first place that contradicts the format above: another magic, another version, fewer bytes than the header
/// promises, an unknown kind or reason, time that runs backwards.
pub fn read(bytes: &[u8]) -> Result<Trace, TraceError> {
    if bytes.len() < 8 || &bytes[..8] != b"CATTRACE" {
        return Err(error(0, "it does not begin with CATTRACE"));
    }
    if (bytes.len() as u64) < HEADER_BYTES {
        return Err(error(bytes.len() as u64, format!("the file ends within its header of {HEADER_BYTES} bytes")));
    }
    let version = u32_at(bytes, 8);
    if version != VERSION {
        return Err(error(8, format!("its version is {version}, and this program reads version {VERSION}")));
    }
    let record_bytes = u32_at(bytes, 12);
    if u64::from(record_bytes) != RECORD_BYTES {
        return Err(error(12, format!("records of {record_bytes} bytes; version {VERSION} has {RECORD_BYTES}")));
    }
    let capacity = u64_at(bytes, 16);
    let written = u64_at(bytes, 24);
    let start_ns = u64_at(bytes, 32);
    let present = (bytes.len() as u64 - HEADER_BYTES) / RECORD_BYTES;
    if capacity > present {
        let what = format!("it promises {capacity} records, and the file has room for {present}: was it cut off?");
        return Err(error(16, what));
    }
    if capacity == 0 && written > 0 {
        return Err(error(16, format!("{written} records were written into a ring of none")));
    }

    let kept = written.min(capacity);
    let lost = written - kept;
    let mut records: Vec<Record> = Vec::with_capacity(kept as usize);
    for index in lost..written {
        let offset = HEADER_BYTES + index % capacity * RECORD_BYTES;
        let record = record_at(bytes, offset)?;
        if records.last().is_some_and(|previous| previous.time_ns > record.time_ns) {
            return Err(error(offset, "the record is older than the one before it"));
        }
        records.push(record);
    }
    Ok(Trace { policy: text(&bytes[40..64]), start_ns, lost, records })
}

impl Trace {
    /// The newest `most` records: the older ones count as lost, except that names are kept.
    #[must_use]
    pub fn newest(&self, most: usize) -> Trace {
        let cut = self.records.len().saturating_sub(most);
        let (older, newer) = self.records.split_at(cut);
        let since = newer.first().map_or(self.start_ns, |first| first.time_ns);
        let names: Vec<Record> = older
            .iter()
            .filter(|record| matches!(record.what, What::Named { .. }))
            .map(|name| Record { time_ns: since, ..*name })
            .collect();
        let lost = self.lost + (cut - names.len()) as u64;
        Trace {
            policy: self.policy.clone(),
            start_ns: self.start_ns,
            lost,
            records: [names.as_slice(), newer].concat(),
        }
    }
}

impl Reason {
    /// As in the names of the events: `block.io.read` is `io.read`.
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
        }
    }

    fn of(detail: u16) -> Option<Reason> {
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
            _ => return None,
        })
    }
}

fn record_at(bytes: &[u8], offset: u64) -> Result<Record, TraceError> {
    // In range: the caller has compared the capacity with the length.
    let at = offset as usize;
    let (kind, processor, detail) = (bytes[at + 12], bytes[at + 13], u16_at(bytes, at + 14));
    let what = match kind {
        1 => What::New,
        2 => {
            let mut name = [0; 16];
            name.copy_from_slice(&bytes[at + 16..at + 32]);
            What::Named { part: detail, bytes: name }
        }
        3 => What::Dispatched,
        4 => What::SwitchedOut,
        5 => {
            let unknown = || error(offset + 14, format!("a thread blocked for reason {detail}, which there is not"));
            What::Blocked(Reason::of(detail).ok_or_else(unknown)?)
        }
        6 => What::Raised,
        7 => What::Exited,
        8 => What::PolicyOut { line: detail },
        9 => What::Suspended,
        10 => What::Resumed,
        11 => What::Idle,
        _ => return Err(error(offset + 12, format!("a record of kind {kind}, which there is not"))),
    };
    Ok(Record { time_ns: u64_at(bytes, at), thread: u32_at(bytes, at + 8), processor, what })
}

/// The bytes before the first zero; what is not UTF-8 among them is replaced.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn error(offset: u64, what: impl Into<String>) -> TraceError {
    TraceError { offset, what: what.into() }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

#[cfg(test)]
mod tests;
