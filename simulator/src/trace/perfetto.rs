//! A trace in Perfetto's own format, which <https://ui.perfetto.dev> and `trace_processor` open.
//!
//! A file is a sequence of packets encoded as Protocol Buffers. Only a few messages are needed, so they are written by
//! hand. The numbers are those of `protos/perfetto/trace` in <https://github.com/google/perfetto>.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};

use catapults_compiler::vocabulary::Value;

use super::Reader;
use super::export::{Arg, Timeline, Told, Track, Unexported, export};

/// Writes the rest of `trace`. `read`, memory and result are as for [`super::export_chrome`].
///
/// # Errors
/// Those of the trace and of `out`.
pub fn export_perfetto<R: Read + Seek, W: Write>(
    trace: &mut Reader<R>,
    out: W,
    read: &mut dyn FnMut(),
) -> Result<u64, Unexported> {
    let mut packets = Packets { out, tracks: HashMap::new(), counters: HashMap::new(), last: 0, first: true };
    let records = export(trace, &mut packets, read)?;
    packets.out.flush()?;
    Ok(records)
}

struct Packets<W> {
    out: W,
    /// The numbers of tracks in the file. A thread's is not used again, even if the thread's own number is.
    tracks: HashMap<Track, u64>,
    /// The numbers of counters, by thread.
    counters: HashMap<u32, HashMap<String, u64>>,
    last: u64,
    first: bool,
}

/// A message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(mut self, field: u32, number: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(number);
        self
    }

    fn fixed(mut self, field: u32, number: u64) -> Self {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend(number.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn message(self, field: u32, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }
}

/// The fields of messages.
mod trace {
    pub const PACKET: u32 = 1;
}
mod packet {
    pub const TIMESTAMP: u32 = 8;
    pub const SEQUENCE: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const TRACK_DESCRIPTOR: u32 = 60;
}
mod descriptor {
    pub const UUID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PARENT: u32 = 5;
    pub const COUNTER: u32 = 8;
}
mod event {
    pub const ANNOTATION: u32 = 4;
    pub const TYPE: u32 = 9;
    pub const TRACK: u32 = 11;
    pub const NAME: u32 = 23;
    pub const COUNTER: u32 = 30;
    pub const COUNTER_DOUBLE: u32 = 44;
    pub const FLOW: u32 = 47;
    pub const FLOW_END: u32 = 48;
}
mod annotation {
    pub const INT: u32 = 4;
    pub const STRING: u32 = 6;
    pub const NAME: u32 = 10;
}

/// The types of events.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// All packets belong to one sequence. The first one says so.
const SEQUENCE: u64 = 1;
const STATE_CLEARED: u64 = 1;

impl<W: Write> Packets<W> {
    fn packet(&mut self, packet: Message) -> io::Result<()> {
        let mut packet = packet.number(packet::SEQUENCE, SEQUENCE);
        if std::mem::take(&mut self.first) {
            packet = packet.number(packet::SEQUENCE_FLAGS, STATE_CLEARED);
        }
        self.out.write_all(&Message::default().message(trace::PACKET, &packet).0)
    }

    fn event(&mut self, at: u64, event: &Message) -> io::Result<()> {
        self.packet(Message::default().number(packet::TIMESTAMP, at).message(packet::TRACK_EVENT, event))
    }

    fn describe(&mut self, descriptor: &Message) -> io::Result<()> {
        self.packet(Message::default().message(packet::TRACK_DESCRIPTOR, descriptor))
    }

    fn of(&self, track: Track, kind: u64) -> Message {
        let number = self.tracks.get(&track).copied().unwrap_or(0);
        Message::default().number(event::TYPE, kind).number(event::TRACK, number)
    }
}

fn annotated(mut event: Message, args: &[Arg]) -> Message {
    for (name, told) in args {
        let named = Message::default().bytes(annotation::NAME, name.as_bytes());
        let annotation = match told {
            Told::Text(text) => named.bytes(annotation::STRING, text.as_bytes()),
            Told::Number(number) => named.number(annotation::INT, *number as u64),
        };
        event = event.message(event::ANNOTATION, &annotation);
    }
    event
}

impl<W: Write> Timeline for Packets<W> {
    fn name(&mut self, track: Track, name: &str) -> io::Result<()> {
        self.last += 1;
        self.tracks.insert(track, self.last);
        let parent = match track {
            Track::Processors | Track::Threads => None,
            Track::Processor(_) => self.tracks.get(&Track::Processors),
            Track::Thread(_) => self.tracks.get(&Track::Threads),
        };
        let mut descriptor =
            Message::default().number(descriptor::UUID, self.last).bytes(descriptor::NAME, name.as_bytes());
        if let Some(parent) = parent {
            descriptor = descriptor.number(descriptor::PARENT, *parent);
        }
        self.describe(&descriptor)
    }

    fn slice(&mut self, track: Track, name: &str, since: u64, until: u64, args: &[Arg]) -> io::Result<()> {
        let begin = annotated(self.of(track, SLICE_BEGIN).bytes(event::NAME, name.as_bytes()), args);
        self.event(since, &begin)?;
        let end = self.of(track, SLICE_END);
        self.event(until, &end)
    }

    fn instant(&mut self, track: Track, name: &str, at: u64, args: &[Arg]) -> io::Result<()> {
        let instant = annotated(self.of(track, INSTANT).bytes(event::NAME, name.as_bytes()), args);
        self.event(at, &instant)
    }

    fn arrow(&mut self, number: u64, at: u64, from: Track, to: Track) -> io::Result<()> {
        let tail = self.of(from, INSTANT).bytes(event::NAME, b"lends its turn").fixed(event::FLOW, number);
        self.event(at, &tail)?;
        let head = self.of(to, INSTANT).bytes(event::NAME, b"runs on a turn that is lent");
        self.event(at, &head.fixed(event::FLOW_END, number))
    }

    fn count(&mut self, thread: u32, counter: &str, at: u64, value: Value) -> io::Result<()> {
        let counters = self.counters.entry(thread).or_default();
        let number = if let Some(number) = counters.get(counter) {
            *number
        } else {
            self.last += 1;
            counters.insert(counter.to_owned(), self.last);
            let descriptor =
                Message::default().number(descriptor::UUID, self.last).bytes(descriptor::NAME, counter.as_bytes());
            self.describe(&descriptor.message(descriptor::COUNTER, &Message::default()))?;
            self.last
        };
        let event = Message::default().number(event::TYPE, COUNTER).number(event::TRACK, number);
        let event = match value {
            Value::Int(value) | Value::Time(value) => event.number(event::COUNTER, value as u64),
            Value::Bool(whether) => event.number(event::COUNTER, u64::from(whether)),
            Value::Float(value) => event.fixed(event::COUNTER_DOUBLE, value.get().to_bits()),
        };
        self.event(at, &event)
    }

    fn forget(&mut self, thread: u32) {
        self.tracks.remove(&Track::Thread(thread));
        self.counters.remove(&thread);
    }
}
