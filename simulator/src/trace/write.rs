//! Writes a trace: what the simulator does, in a file that holds all records.

use std::io::{self, Seek, SeekFrom, Write};

use catapults_compiler::vocabulary::Value;

use super::{HEADER_BYTES, Header, MAGIC, MOST_PARTS, NOT_KNOWN, RECORD_BYTES, Record, SEED_BYTES, VERSION, What};

/// Writes a file of version 3.
pub struct Writer<W> {
    out: W,
    written: u64,
    start_ns: u64,
    end_ns: u64,
}

impl<W: Write + Seek> Writer<W> {
    /// The first four names are the header's policy, source, host and clock. [`Writer::finish`] fills in the number of
    /// records.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let fixed = [&header.policy, &header.source, &header.host, &header.clock];
        let mut names = Vec::new();
        for (index, name) in header.names.iter().enumerate() {
            let text = fixed.get(index).map_or(name.text.as_str(), |text| text.as_str());
            names.extend(name.line.to_le_bytes());
            for text in [text, &name.source] {
                names.extend(text.bytes().filter(|byte| *byte != 0));
                names.push(0);
            }
        }
        let records_at = (HEADER_BYTES + SEED_BYTES + names.len() as u64).next_multiple_of(RECORD_BYTES);
        let number = |number: u64| u32::try_from(number).map_err(|_| io::Error::other("the names are too long"));
        let mut start = MAGIC.to_vec();
        start.extend(VERSION.to_le_bytes());
        start.extend((RECORD_BYTES as u32).to_le_bytes());
        start.extend([0; 16]);
        start.extend(header.start_ns.to_le_bytes());
        start.extend(number(records_at)?.to_le_bytes());
        start.extend(number(names.len() as u64)?.to_le_bytes());
        start.extend(number(header.names.len() as u64)?.to_le_bytes());
        start.extend(header.resolution_ns.to_le_bytes());
        start.resize(HEADER_BYTES as usize, 0);
        start.extend(header.seed.unwrap_or(0).to_le_bytes());
        start.extend(names);
        start.resize(records_at as usize, 0);
        out.write_all(&start)?;
        Ok(Writer { out, written: 0, start_ns: header.start_ns, end_ns: header.end_ns.unwrap_or(0) })
    }

    /// Sets when recording began, if that was not known at first.
    pub fn starts_at(&mut self, time_ns: u64) {
        self.start_ns = time_ns;
    }

    /// Sets when recording ended, if that is after the last record.
    pub fn ends_at(&mut self, time_ns: u64) {
        self.end_ns = time_ns;
    }

    /// Appends a record. Its time must not be before the last one's.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn record(&mut self, record: &Record) -> io::Result<()> {
        self.written += 1;
        self.out.write_all(&bytes(record))
    }

    /// Appends the records of a thread's name.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn name(&mut self, time_ns: u64, thread: u32, name: &str) -> io::Result<()> {
        for (part, chunk) in (0..MOST_PARTS).zip(name.as_bytes().chunks(16)) {
            let mut bytes = [0; 16];
            bytes[..chunk.len()].copy_from_slice(chunk);
            let what = What::Named { part, bytes };
            self.record(&Record { time_ns, thread, processor: 0, what, event: 0, line: 0, ready: None })?;
        }
        Ok(())
    }

    /// Writes how many records there are, and when recording began and ended. Otherwise the file says that it has none.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<u64> {
        self.out.seek(SeekFrom::Start(16))?;
        for number in [self.written, self.written, self.start_ns] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.seek(SeekFrom::Start(56))?;
        self.out.write_all(&self.end_ns.to_le_bytes())?;
        self.out.flush()?;
        Ok(self.written)
    }
}

fn bytes(record: &Record) -> [u8; RECORD_BYTES as usize] {
    let (kind, detail): (u8, u8) = match record.what {
        What::New => (1, 0),
        What::Named { part, .. } => (2, part.min(255) as u8),
        What::Dispatched => (3, 0),
        What::SwitchedOut => (4, 0),
        What::Blocked(reason) => (5, reason as u8),
        What::Raised => (6, 0),
        What::Exited => (7, 0),
        What::PolicyOut => (8, 0),
        What::Suspended => (9, 0),
        What::Resumed => (10, 0),
        What::Idle => (11, 0),
        What::Refused => (12, 0),
        What::Lent { .. } => (13, 0),
        What::Preempted => (14, 0),
        What::Value { value, .. } => (15, type_of(value)),
        What::Lost { .. } => (16, 0),
    };
    let mut bytes = [0; RECORD_BYTES as usize];
    bytes[..8].copy_from_slice(&record.time_ns.to_le_bytes());
    bytes[8..12].copy_from_slice(&record.thread.to_le_bytes());
    bytes[12] = kind;
    bytes[13] = detail;
    bytes[14..16].copy_from_slice(&record.processor.to_le_bytes());
    bytes[16..20].copy_from_slice(&record.line.to_le_bytes());
    bytes[20..22].copy_from_slice(&record.event.to_le_bytes());
    bytes[22..24].copy_from_slice(&record.ready.unwrap_or(NOT_KNOWN).to_le_bytes());
    if let What::Named { bytes: name, .. } = record.what {
        bytes[16..].copy_from_slice(&name);
    } else if let What::Lent { donor } = record.what {
        bytes[24..28].copy_from_slice(&donor.to_le_bytes());
    } else if let What::Lost { events } = record.what {
        bytes[24..].copy_from_slice(&events.to_le_bytes());
    } else if let What::Value { variable, value } = record.what {
        bytes[20..22].copy_from_slice(&variable.to_le_bytes());
        bytes[24..].copy_from_slice(&bits(value).to_le_bytes());
    }
    bytes
}

fn type_of(value: Value) -> u8 {
    match value {
        Value::Int(_) => 0,
        Value::Bool(_) => 1,
        Value::Time(_) => 2,
        Value::Float(_) => 3,
    }
}

fn bits(value: Value) -> u64 {
    match value {
        Value::Int(number) | Value::Time(number) => number as u64,
        Value::Bool(whether) => u64::from(whether),
        Value::Float(number) => number.get().to_bits(),
    }
}
