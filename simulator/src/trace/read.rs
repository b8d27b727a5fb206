//! Reads a trace as a stream. The memory depends on its names and the living threads, not on its length.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use catapults_compiler::vocabulary::{Float, Value};

use crate::picture::visible;

use super::{
    HEADER_BYTES, Header, LONGEST_TIME, MAGIC, MOST_NAMED, MOST_NAMES_BYTES, MOST_PARTS, MOST_PROCESSORS, NOT_KNOWN,
    Name, RECORD_BYTES, Reason, Record, SEED_BYTES, TraceError, VERSION, What, error, text,
};

/// The records of a trace, oldest first.
pub struct Reader<R> {
    file: BufReader<R>,
    header: Header,
    records_at: u64,
    /// The number of the next record, counting all that were written.
    next: u64,
    /// The time of the first record that was read.
    first: Option<u64>,
    latest: u64,
    names: HashMap<u32, Named>,
    /// The thread whose name is forgotten when the next record is read.
    ended: Option<u32>,
    /// Records that were read ahead or made up.
    waiting: VecDeque<Record>,
    lost: u64,
}

/// A name. There can be millions.
#[derive(Default)]
struct Named {
    text: Box<str>,
    /// Its parts in order; none once the name has ended.
    parts: Vec<(u16, [u8; 16])>,
    ended: bool,
}

impl<R: Read + Seek> Reader<R> {
    /// Reads all that comes before the records.
    ///
    /// # Errors
    /// The first violation of the format: another magic or version, or fewer bytes than the header promises.
    pub fn new(mut file: R) -> Result<Self, TraceError> {
        let length = file.seek(SeekFrom::End(0)).map_err(|failed| unreadable(0, &failed))?;
        file.seek(SeekFrom::Start(0)).map_err(|failed| unreadable(0, &failed))?;
        let mut file = BufReader::with_capacity(1 << 16, file);
        let mut start = Vec::new();
        file.by_ref().take(HEADER_BYTES).read_to_end(&mut start).map_err(|failed| unreadable(0, &failed))?;
        let (header, records_at) = header(&start, length, &mut file)?;
        let lost = header.written.saturating_sub(header.capacity);
        let mut reader = Reader {
            file,
            records_at,
            next: lost,
            first: None,
            latest: 0,
            names: HashMap::new(),
            ended: None,
            waiting: VecDeque::new(),
            lost,
            header,
        };
        reader.go_to(lost)?;
        Ok(reader)
    }

    /// What the trace says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many older records the ring no longer holds or were skipped.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many records are still to be read.
    pub fn left(&self) -> u64 {
        self.header.written - self.next + self.waiting.len() as u64
    }

    /// The name of a living or just ended thread; `None`: it has none, or the trace does not tell it.
    pub fn name(&self, thread: u32) -> Option<&str> {
        self.names.get(&thread).map(|named| &*named.text)
    }

    /// The instant 0 of what is shown, by the clock: when recording began, if that can be. `first`: the first record.
    pub(crate) fn origin(&self, first: &Record) -> u64 {
        let start = self.header.start_ns.min(first.time_ns);
        if first.time_ns - start > LONGEST_TIME { first.time_ns } else { start }
    }

    /// What to call a thread: `worker (3)`, or `thread 3`.
    pub fn called(&self, thread: u32) -> String {
        match self.name(thread) {
            Some(name) => format!("{} ({thread})", visible(name)),
            None => format!("thread {thread}"),
        }
    }

    /// Skips all but the newest `most` records, and counts them as lost. Names are kept.
    ///
    /// # Errors
    /// Those of [`Reader::next_record`].
    pub fn newest(&mut self, most: u64) -> Result<(), TraceError> {
        while self.left() > most {
            if self.next_record()?.is_none() {
                break;
            }
            self.lost += 1;
        }
        Ok(())
    }

    /// The next record; `None`: there are no more. Times never decrease.
    ///
    /// # Errors
    /// An unknown kind or reason, a time before the last one, or a file that has become shorter.
    pub fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        if let Some(ended) = self.ended.take() {
            self.names.remove(&ended);
        }
        if let Some(record) = self.waiting.pop_front() {
            return Ok(Some(record));
        }
        if self.next >= self.header.written {
            return Ok(None);
        }
        let slot = self.next % self.header.capacity;
        let offset = self.records_at + slot * RECORD_BYTES;
        if slot == 0 && self.next > self.header.written.saturating_sub(self.header.capacity) {
            self.go_to(self.next)?;
        }
        let mut bytes = [0; RECORD_BYTES as usize];
        self.file.read_exact(&mut bytes).map_err(|failed| unreadable(offset, &failed))?;
        let record = if self.header.version == 1 { record_of_1(&bytes, offset)? } else { record(&bytes, offset)? };
        if record.time_ns < self.latest {
            return Err(error(offset, "the record is older than the one before it"));
        }
        if record.time_ns - *self.first.get_or_insert(record.time_ns) > LONGEST_TIME {
            return Err(error(offset, "the record is more than 73 years after the first one"));
        }
        self.latest = record.time_ns;
        self.next += 1;
        match record.what {
            What::Named { part, bytes } => self.is_named(record.thread, part, bytes)?,
            What::New => drop(self.names.remove(&record.thread)),
            What::Exited | What::Refused => self.ended = Some(record.thread),
            What::Dispatched
            | What::Lent { .. }
            | What::SwitchedOut
            | What::Preempted
            | What::Blocked(_)
            | What::Raised
            | What::PolicyOut
            | What::Suspended
            | What::Resumed
            | What::Idle
            | What::Value { .. }
            | What::Lost { .. } => {}
        }
        Ok(Some(record))
    }

    fn is_named(&mut self, thread: u32, part: u16, bytes: [u8; 16]) -> Result<(), TraceError> {
        if self.names.len() > MOST_NAMED {
            return Err(TraceError::Crowded(MOST_NAMED));
        }
        let named = self.names.entry(thread).or_default();
        if part == 0 {
            *named = Named::default();
        }
        if part >= MOST_PARTS || named.ended {
            return Ok(());
        }
        match named.parts.binary_search_by_key(&part, |(number, _)| *number) {
            Ok(place) => named.parts[place].1 = bytes,
            Err(place) => named.parts.insert(place, (part, bytes)),
        }
        let all: Vec<u8> = named.parts.iter().flat_map(|(_, bytes)| bytes).copied().collect();
        named.text = text(&all).into_boxed_str();
        named.ended = all.contains(&0);
        if named.ended {
            named.parts = Vec::new();
        }
        Ok(())
    }

    fn go_to(&mut self, number: u64) -> Result<(), TraceError> {
        let slot = number.checked_rem(self.header.capacity).unwrap_or(0);
        let offset = self.records_at + slot * RECORD_BYTES;
        self.file.seek(SeekFrom::Start(offset)).map(drop).map_err(|failed| unreadable(offset, &failed))
    }
}

fn header<R: Read>(start: &[u8], length: u64, file: &mut R) -> Result<(Header, u64), TraceError> {
    if start.len() < 8 || &start[..8] != MAGIC {
        return Err(error(0, "it does not begin with CATTRACE"));
    }
    if (start.len() as u64) < HEADER_BYTES {
        let what = format!("within its header of {HEADER_BYTES} bytes");
        return Err(TraceError::CutOff { offset: start.len() as u64, what });
    }
    let version = u32_at(start, 8);
    if version == 0 || version > VERSION {
        let what = format!("its version is {version}, and this program reads version {VERSION} and those before it");
        return Err(error(8, what));
    }
    let record_bytes = u32_at(start, 12);
    if u64::from(record_bytes) != RECORD_BYTES {
        return Err(error(12, format!("records of {record_bytes} bytes; version {version} has {RECORD_BYTES}")));
    }
    let mut header = Header {
        version,
        capacity: u64_at(start, 16),
        written: u64_at(start, 24),
        start_ns: u64_at(start, 32),
        ..Header::default()
    };
    let records_at = if version == 1 {
        header.policy = text(&start[40..64]);
        "native".clone_into(&mut header.host);
        "CLOCK_MONOTONIC".clone_into(&mut header.clock);
        HEADER_BYTES
    } else {
        header.end_ns = Some(u64_at(start, 56)).filter(|end| *end > 0);
        header.resolution_ns = u32_at(start, 52);
        names(start, length, file, &mut header)?
    };
    let present = length.saturating_sub(records_at) / RECORD_BYTES;
    if header.capacity > present {
        let (capacity, written) = (header.capacity, header.written);
        let what = match capacity.min(written) {
            all if present < all => format!("after {present} of its {all} records"),
            all => format!("behind its last record: it has {all}, and room for {capacity} is promised"),
        };
        return Err(TraceError::CutOff { offset: 16, what });
    }
    if header.capacity == 0 && header.written > 0 {
        return Err(error(16, format!("{} records were written into a ring of none", header.written)));
    }
    Ok((header, records_at))
}

/// Reads the table of names. Returns where records begin.
fn names<R: Read>(start: &[u8], length: u64, file: &mut R, header: &mut Header) -> Result<u64, TraceError> {
    let (records_at, bytes, count) = (u32_at(start, 40), u32_at(start, 44), u32_at(start, 48));
    let mut names_at = HEADER_BYTES;
    if header.version >= 3 {
        let mut seed = [0; SEED_BYTES as usize];
        file.read_exact(&mut seed).map_err(|failed| unreadable(names_at, &failed))?;
        header.seed = Some(u64::from_le_bytes(seed)).filter(|seed| *seed > 0);
        names_at += SEED_BYTES;
    }
    if u64::from(records_at) < names_at + u64::from(bytes) || u64::from(records_at) > length {
        return Err(error(40, format!("its records cannot begin at byte {records_at}, as it says")));
    }
    if bytes > MOST_NAMES_BYTES {
        return Err(error(44, format!("its names take {bytes} bytes; {MOST_NAMES_BYTES} is the most")));
    }
    let mut table = vec![0; bytes as usize];
    file.read_exact(&mut table).map_err(|failed| unreadable(names_at, &failed))?;
    let mut at = 0;
    for number in 0..count {
        let offset = names_at + at as u64;
        let mut strings = table.get(at + 4..).unwrap_or_default().splitn(3, |&byte| byte == 0);
        let (Some(name), Some(source), Some(_)) = (strings.next(), strings.next(), strings.next()) else {
            return Err(error(offset, format!("it promises {count} names, and name {number} does not end")));
        };
        header.names.push(Name { text: text(name), line: u32_at(&table, at), source: text(source) });
        at += 4 + name.len() + 1 + source.len() + 1;
    }
    for (index, field) in
        [&mut header.policy, &mut header.source, &mut header.host, &mut header.clock].into_iter().enumerate()
    {
        if let Some(name) = header.names.get(index) {
            field.clone_from(&name.text);
        }
    }
    Ok(u64::from(records_at))
}

fn record(bytes: &[u8], offset: u64) -> Result<Record, TraceError> {
    let (kind, detail) = (bytes[12], bytes[13]);
    let (thread, processor) = (thread(bytes, offset)?, u16_at(bytes, 14));
    if processor >= MOST_PROCESSORS {
        let what = format!("a record of processor {processor}; there are {MOST_PROCESSORS} at most, from 0");
        return Err(error(offset + 14, what));
    }
    let mut record = Record {
        time_ns: u64_at(bytes, 0),
        thread,
        processor,
        what: What::New,
        event: u16_at(bytes, 20),
        line: u32_at(bytes, 16),
        ready: Some(u16_at(bytes, 22)).filter(|ready| *ready != NOT_KNOWN),
    };
    record.what = match kind {
        12 => What::Refused,
        13 if u32_at(bytes, 24) == 0 => return Err(error(offset + 24, "thread 0, which cannot be, lends its turn")),
        13 => What::Lent { donor: u32_at(bytes, 24) },
        14 => What::Preempted,
        15 => {
            let variable = record.event;
            let bits = u64_at(bytes, 24);
            let value = match detail {
                0 => Value::Int(bits as i64),
                1 => Value::Bool(bits != 0),
                2 => Value::Time(bits as i64),
                3 => Value::Float(Float::new(f64::from_bits(bits))),
                _ => return Err(error(offset + 13, format!("a value of type {detail}, which does not exist"))),
            };
            record = Record { event: 0, line: 0, ready: None, ..record };
            What::Value { variable, value }
        }
        16 => What::Lost { events: u64_at(bytes, 24) },
        _ => what(bytes, u16::from(detail), offset)?,
    };
    if let What::Named { .. } = record.what {
        record = Record { event: 0, line: 0, ready: None, ..record };
    }
    Ok(record)
}

/// A record of version 1.
fn record_of_1(bytes: &[u8], offset: u64) -> Result<Record, TraceError> {
    let detail = u16_at(bytes, 14);
    let what = what(bytes, detail, offset)?;
    let line = if what == What::PolicyOut { u32::from(detail) } else { 0 };
    Ok(Record {
        time_ns: u64_at(bytes, 0),
        thread: thread(bytes, offset)?,
        processor: u16::from(bytes[13]),
        what,
        event: 0,
        line,
        ready: None,
    })
}

/// The thread, which records must have unless they concern none.
fn thread(bytes: &[u8], offset: u64) -> Result<u32, TraceError> {
    /// Named, policy out, idle, value and lost.
    const OF_NONE: [u8; 5] = [2, 8, 11, 15, 16];
    match u32_at(bytes, 8) {
        0 if !OF_NONE.contains(&bytes[12]) => Err(error(offset + 8, "a record of thread 0, which cannot be")),
        thread => Ok(thread),
    }
}

/// The kinds that all versions share.
fn what(bytes: &[u8], detail: u16, offset: u64) -> Result<What, TraceError> {
    Ok(match bytes[12] {
        1 => What::New,
        2 => {
            let mut name = [0; 16];
            name.copy_from_slice(&bytes[16..32]);
            What::Named { part: detail, bytes: name }
        }
        3 => What::Dispatched,
        4 => What::SwitchedOut,
        5 => {
            let unknown = || error(offset + 13, format!("a thread blocked for reason {detail}, which does not exist"));
            What::Blocked(u8::try_from(detail).ok().and_then(Reason::of).ok_or_else(unknown)?)
        }
        6 => What::Raised,
        7 => What::Exited,
        8 => What::PolicyOut,
        9 => What::Suspended,
        10 => What::Resumed,
        11 => What::Idle,
        kind => return Err(error(offset + 12, format!("a record of kind {kind}, which does not exist"))),
    })
}

fn unreadable(offset: u64, failed: &io::Error) -> TraceError {
    if failed.kind() == io::ErrorKind::UnexpectedEof {
        return TraceError::CutOff { offset, what: format!("at byte {offset}") };
    }
    error(offset, failed.to_string())
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
