//! Makes a trace of what Perfetto recorded of Linux's scheduler: of the packets of `tracebox` or `traced_probes`, with
//! the ftrace events `sched_switch` and `sched_waking`, also compact, and also compressed by zlib.
//!
//! Each bundle of events is of one processor and one read of the kernel's buffers, so bundles overlap in time. Events
//! wait here, sorted, until events are read that are so much later that no earlier one can follow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::io::{self, BufRead, Read, Seek, Write};

use prost::encoding::{DecodeContext, decode_key, message, skip_field};
use prost::{DecodeError, Message};

use super::MOST_PROCESSORS;
use super::import::{Event, Happened, Import, Imported, Task, Unimported};
use super::linux::states::{Numbering, Seen, UNKNOWN, release};

mod inflate;

/// How many nanoseconds an event waits. The kernel's buffers are read more often than that.
const WINDOW: u64 = 5_000_000_000;
/// How many events wait. If there are more, the earliest are written.
const MOST: usize = 1 << 21;
/// The bytes of a packet.
const LONGEST: u64 = 16 << 20;
/// The bytes that a compressed packet may expand to. Otherwise, a few KiB could keep the reader busy for ever.
const MOST_INFLATED: u64 = 128 << 20;
/// The bytes of a thread's name. Linux allows 15, and a few more for some of its own threads.
const LONGEST_NAME: usize = 64;

/// Whether a file that begins with these bytes is Perfetto's, and no text.
pub fn is_perfetto(start: &[u8]) -> bool {
    let is_text = |byte: &u8| matches!(byte, 0x08..=0x0d | 0x1b | 0x20..=0x7e);
    start.first() == Some(&0x0a) && !start.iter().take(256).all(is_text)
}

/// Reads the packets of `file`. `read` is told the length of each in bytes. The number of threads bounds the memory.
///
/// # Errors
/// Those of both files. If `file` has no packet where it should, this is `InvalidData`, with the place.
pub fn import_perfetto<R: BufRead, W: Write + Seek>(
    file: &mut R,
    out: W,
    read: &mut dyn FnMut(u64),
) -> Result<Imported, Unimported> {
    let mut events = Events {
        import: Import::new(out)?,
        waiting: BinaryHeap::new(),
        names: Names::default(),
        running: BTreeMap::new(),
        newest: 0,
        seen: Seen::default(),
        release: None,
        numbering: None,
        at: 0,
        imported: Imported::default(),
    };
    let mut file = Counted { file, at: 0 };
    let mut bytes = Vec::new();
    loop {
        let at = file.at;
        if !packet(&mut file, &mut bytes)? {
            break;
        }
        read(file.at - at);
        events.at = at;
        let packet = Packet::decode(bytes.as_slice()).map_err(|_| undecodable(at))?;
        match packet.compressed {
            Some(packed) => events.inflate(&packed)?,
            None => events.packet(packet)?,
        }
    }
    events.write_until(u64::MAX)?;
    let uncertain = events.numbering.filter(|(_, certain)| !certain);
    let uncertain_states = uncertain.map(|(numbering, _)| numbering.in_words());
    let done = events.import.finish()?;
    let Imported { events, others, compressed, .. } = events.imported;
    Ok(Imported { events, others, compressed, uncertain_states, ..done })
}

fn senseless(at: u64, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("this is no packet of Perfetto at byte {at}: {what}"))
}

fn undecodable(at: u64) -> io::Error {
    senseless(at, "it cannot be decoded")
}

struct Counted<'r, R> {
    file: &'r mut R,
    at: u64,
}

impl<R: BufRead> Counted<'_, R> {
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.file.fill_buf()?.first().copied();
        if byte.is_some() {
            self.file.consume(1);
            self.at += 1;
        }
        Ok(byte)
    }

    /// `None`: the file ends before it.
    fn varint(&mut self) -> io::Result<Option<u64>> {
        let (start, mut bytes) = (self.at, Vec::new());
        while let Some(byte) = self.byte()? {
            bytes.push(byte);
            if byte < 0x80 || bytes.len() == 10 {
                let number = prost::encoding::decode_varint(&mut bytes.as_slice());
                return number.map(Some).map_err(|_| senseless(start, "a number is too long"));
            }
        }
        if bytes.is_empty() { Ok(None) } else { Err(senseless(start, "the file ends in it")) }
    }

    fn bytes(&mut self, count: u64, into: &mut Vec<u8>) -> io::Result<()> {
        let start = self.at;
        into.clear();
        let length = Read::take(&mut *self.file, count).read_to_end(into)? as u64;
        self.at += length;
        if length == count { Ok(()) } else { Err(senseless(start, "the file ends in it")) }
    }
}

/// Reads the next packet. `false`: there is none.
fn packet<R: BufRead>(file: &mut Counted<'_, R>, bytes: &mut Vec<u8>) -> io::Result<bool> {
    /// Field 1 of the message that the whole file is, with a length.
    const PACKET: u64 = 1 << 3 | 2;
    let at = file.at;
    match file.varint()? {
        None => return Ok(false),
        Some(PACKET) => {}
        Some(_) => return Err(senseless(at, "something else is there")),
    }
    match file.varint()? {
        None => Err(senseless(at, "the file ends in it")),
        Some(length) if length > LONGEST => Err(senseless(at, &format!("{length} bytes are too many for one"))),
        Some(length) => file.bytes(length, bytes).map(|()| true),
    }
}

// The parts that are read of the messages in `protos/perfetto/trace` of <https://github.com/google/perfetto>.

#[derive(Clone, PartialEq, Message)]
struct Packet {
    /// A [`Bundle`].
    #[prost(bytes = "vec", optional, tag = "1")]
    ftrace_events: Option<Vec<u8>>,
    #[prost(message, optional, tag = "45")]
    system: Option<System>,
    #[prost(bytes = "vec", optional, tag = "50")]
    compressed: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "133")]
    zstd_compressed: Option<Vec<u8>>,
}

/// The system that was recorded.
#[derive(Clone, PartialEq, Message)]
struct System {
    #[prost(message, optional, tag = "1")]
    kernel: Option<Kernel>,
}

#[derive(Clone, PartialEq, Message)]
struct Kernel {
    #[prost(string, tag = "3")]
    release: String,
}

/// The events of one processor. They are decoded one by one from where they are, because a decoded event can take a
/// hundred times the space.
#[derive(Clone, PartialEq, Message)]
struct Bundle {
    #[prost(uint32, tag = "1")]
    cpu: u32,
    #[prost(bool, tag = "3")]
    lost_events: bool,
    #[prost(message, optional, tag = "4")]
    compact: Option<Compact>,
}

/// A field of a bundle, as encoded.
const FTRACE_EVENT: u32 = 2;

fn each_event(
    mut bundle: &[u8],
    at: u64,
    mut each: impl FnMut(&FtraceEvent) -> Result<(), Unimported>,
) -> Result<(), Unimported> {
    let undecodable = |_: DecodeError| undecodable(at);
    while !bundle.is_empty() {
        let (tag, wire) = decode_key(&mut bundle).map_err(undecodable)?;
        if tag == FTRACE_EVENT {
            let mut event = FtraceEvent::default();
            message::merge(wire, &mut event, &mut bundle, DecodeContext::default()).map_err(undecodable)?;
            each(&event)?;
        } else {
            skip_field(wire, tag, &mut bundle, DecodeContext::default()).map_err(undecodable)?;
        }
    }
    Ok(())
}

#[derive(Clone, PartialEq, Message)]
struct FtraceEvent {
    #[prost(uint64, tag = "1")]
    timestamp: u64,
    #[prost(message, optional, tag = "4")]
    switch: Option<Switch>,
    #[prost(message, optional, tag = "17")]
    wakeup: Option<Wakeup>,
    #[prost(message, optional, tag = "20")]
    waking: Option<Wakeup>,
    #[prost(message, optional, tag = "114")]
    wakeup_new: Option<Wakeup>,
}

#[derive(Clone, PartialEq, Message)]
struct Switch {
    #[prost(string, tag = "1")]
    prev_comm: String,
    #[prost(int32, tag = "2")]
    prev_pid: i32,
    #[prost(int64, tag = "4")]
    prev_state: i64,
    #[prost(string, tag = "5")]
    next_comm: String,
    #[prost(int32, tag = "6")]
    next_pid: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Wakeup {
    #[prost(string, tag = "1")]
    comm: String,
    #[prost(int32, tag = "2")]
    pid: i32,
}

/// The events, field by field. The first time is an instant, each other one the time since the last.
#[derive(Clone, PartialEq, Message)]
struct Compact {
    #[prost(uint64, repeated, tag = "1")]
    switch_timestamp: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    switch_prev_state: Vec<i64>,
    #[prost(int32, repeated, tag = "3")]
    switch_next_pid: Vec<i32>,
    #[prost(string, repeated, tag = "5")]
    intern_table: Vec<String>,
    #[prost(uint32, repeated, tag = "6")]
    switch_next_comm_index: Vec<u32>,
    #[prost(uint64, repeated, tag = "7")]
    waking_timestamp: Vec<u64>,
    #[prost(int32, repeated, tag = "8")]
    waking_pid: Vec<i32>,
    #[prost(uint32, repeated, tag = "11")]
    waking_comm_index: Vec<u32>,
}

/// The names of threads, each once. Waiting events have their numbers.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
    /// By number. Names of free numbers are empty.
    names: Vec<String>,
    free: Vec<u32>,
    /// With more names than this, unneeded ones are forgotten.
    most: usize,
}

/// How many names are kept in any case.
const FEW_NAMES: usize = 4096;

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        let end = (0..=name.len().min(LONGEST_NAME)).rev().find(|end| name.is_char_boundary(*end));
        let name = &name[..end.unwrap_or(0)];
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.free.pop().unwrap_or(self.names.len() as u32);
        if self.names.len() <= number as usize {
            self.names.resize_with(number as usize + 1, String::new);
        }
        self.numbers.insert(name.to_owned(), number);
        name.clone_into(&mut self.names[number as usize]);
        number
    }

    /// Forgets all names but those with these numbers.
    fn keep(&mut self, needed: &HashSet<u32>) {
        let names = &mut self.names;
        let free = &mut self.free;
        self.numbers.retain(|_, number| {
            let kept = needed.contains(number);
            if !kept {
                names[*number as usize] = String::new();
                free.push(*number);
            }
            kept
        });
        self.most = FEW_NAMES + 2 * self.numbers.len();
    }
}

/// A thread, and its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    number: u32,
    name: u32,
}

/// Ordered by time, then as they were read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    time: u64,
    place: u64,
    processor: u16,
    what: Waited,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waited {
    /// The processor's events before its next one are missing.
    Lost,
    Switch {
        from: Named,
        state: i64,
        to: Named,
    },
    Wakeup(Named),
}

struct Events<W> {
    import: Import<W>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    names: Names,
    /// By processor, the thread that runs there at the end of what was read. A compact switch does not name the thread
    /// that it ends.
    running: BTreeMap<u16, Named>,
    newest: u64,
    /// The numbers for states that were read, and the kernel's release, if the file has it.
    seen: Seen,
    release: Option<(u32, u32)>,
    /// What the numbers stand for, and whether that is certain. Settled when the first of them is written.
    numbering: Option<(Numbering, bool)>,
    /// The place of the last packet.
    at: u64,
    imported: Imported,
}

impl<W: Write + Seek> Events<W> {
    /// Reads the packets in a compressed one. Only one at a time is in memory.
    fn inflate(&mut self, packed: &[u8]) -> Result<(), Unimported> {
        let at = self.at;
        let unreadable = |why: &io::Error| senseless(at, &format!("what is compressed in it cannot be read ({why})"));
        let mut inflated = inflate::inflated(packed);
        let (mut file, mut bytes) = (Counted { file: &mut inflated, at: 0 }, Vec::new());
        while packet(&mut file, &mut bytes).map_err(|why| unreadable(&why))? {
            if file.at > MOST_INFLATED {
                let most = MOST_INFLATED >> 20;
                return Err(senseless(at, &format!("what is compressed in it is more than {most} MiB")).into());
            }
            let packet = Packet::decode(bytes.as_slice()).map_err(|_| undecodable(at))?;
            if packet.compressed.is_some() {
                return Err(senseless(at, "what is compressed in it is compressed again").into());
            }
            self.packet(packet)?;
        }
        Ok(())
    }

    fn packet(&mut self, packet: Packet) -> Result<(), Unimported> {
        if packet.zstd_compressed.is_some() {
            self.imported.compressed += 1;
        }
        if let Some(kernel) = packet.system.and_then(|system| system.kernel) {
            self.release = self.release.or(release(&kernel.release));
        }
        let Some(bytes) = packet.ftrace_events else {
            self.imported.others += 1;
            return Ok(());
        };
        let bundle = Bundle::decode(bytes.as_slice()).map_err(|_| undecodable(self.at))?;
        let processor = u16::try_from(bundle.cpu)
            .ok()
            .filter(|processor| *processor < MOST_PROCESSORS)
            .ok_or_else(|| senseless(self.at, &format!("processor {} is more than there can be", bundle.cpu)))?;
        if bundle.lost_events {
            self.loses(processor, &bundle, &bytes)?;
        }
        if let Some(compact) = &bundle.compact {
            self.compact(processor, compact)?;
        }
        each_event(&bytes, self.at, |event| self.event(processor, event))?;
        self.write_until(self.newest.saturating_sub(WINDOW))?;
        if self.names.numbers.len() > self.names.most.max(FEW_NAMES) {
            self.forget_names();
        }
        Ok(())
    }

    /// Events before the bundle's first one are lost. So the thread that its first compact switch ends is not known
    /// either.
    fn loses(&mut self, processor: u16, bundle: &Bundle, bytes: &[u8]) -> Result<(), Unimported> {
        self.running.remove(&processor);
        let compact = bundle.compact.as_ref();
        let firsts = compact.map(|compact| [compact.switch_timestamp.first(), compact.waking_timestamp.first()]);
        let mut first = firsts.into_iter().flatten().flatten().copied().min();
        each_event(bytes, self.at, |event| {
            first = Some(first.map_or(event.timestamp, |first| first.min(event.timestamp)));
            Ok(())
        })?;
        let time = first.unwrap_or(self.newest);
        self.waiting.push(Reverse(Waiting { time, place: self.imported.events, processor, what: Waited::Lost }));
        Ok(())
    }

    fn event(&mut self, processor: u16, event: &FtraceEvent) -> Result<(), Unimported> {
        if let Some(switch) = &event.switch {
            let from = self.named(switch.prev_pid, &switch.prev_comm);
            let to = self.named(switch.next_pid, &switch.next_comm);
            self.running.insert(processor, to);
            self.seen.leaves(from.number, switch.prev_state.unsigned_abs());
            self.wait(event.timestamp, processor, Waited::Switch { from, state: switch.prev_state, to })?;
        }
        for wakeup in [&event.wakeup, &event.waking, &event.wakeup_new].into_iter().flatten() {
            let woken = self.named(wakeup.pid, &wakeup.comm);
            self.wait(event.timestamp, processor, Waited::Wakeup(woken))?;
        }
        Ok(())
    }

    fn compact(&mut self, processor: u16, compact: &Compact) -> Result<(), Unimported> {
        let comm = |index: &u32| compact.intern_table.get(*index as usize).map_or("", String::as_str);
        let mut time = 0_u64;
        let switches = compact.switch_timestamp.iter().zip(&compact.switch_prev_state);
        let threads = compact.switch_next_pid.iter().zip(&compact.switch_next_comm_index);
        for ((after, state), (pid, name)) in switches.zip(threads) {
            time = time.saturating_add(*after);
            let to = self.named(*pid, comm(name));
            let from = self.running.insert(processor, to);
            self.seen.leaves(from.map_or(UNKNOWN, |from| from.number), state.unsigned_abs());
            let from = from.unwrap_or(Named { number: 0, name: to.name });
            self.wait(time, processor, Waited::Switch { from, state: *state, to })?;
        }
        time = 0;
        let woken = compact.waking_pid.iter().zip(&compact.waking_comm_index);
        for (after, (pid, name)) in compact.waking_timestamp.iter().zip(woken) {
            time = time.saturating_add(*after);
            let woken = self.named(*pid, comm(name));
            self.wait(time, processor, Waited::Wakeup(woken))?;
        }
        Ok(())
    }

    /// A negative number is no thread.
    fn named(&mut self, pid: i32, name: &str) -> Named {
        Named { number: u32::try_from(pid).unwrap_or(0), name: self.names.number(name) }
    }

    /// Forgets the names that no event or running thread needs.
    fn forget_names(&mut self) {
        let waiting = self.waiting.iter().filter_map(|Reverse(waiting)| match waiting.what {
            Waited::Lost => None,
            Waited::Switch { from, to, .. } => Some([from.name, to.name]),
            Waited::Wakeup(woken) => Some([woken.name; 2]),
        });
        let needed = waiting.flatten().chain(self.running.values().map(|running| running.name)).collect();
        self.names.keep(&needed);
    }

    fn wait(&mut self, time: u64, processor: u16, what: Waited) -> Result<(), Unimported> {
        self.newest = self.newest.max(time);
        let place = self.imported.events;
        self.imported.events += 1;
        self.waiting.push(Reverse(Waiting { time, place, processor, what }));
        if self.waiting.len() > MOST { self.write_first() } else { Ok(()) }
    }

    fn write_until(&mut self, time: u64) -> Result<(), Unimported> {
        while self.waiting.peek().is_some_and(|Reverse(first)| first.time <= time) {
            self.write_first()?;
        }
        Ok(())
    }

    fn write_first(&mut self) -> Result<(), Unimported> {
        let Some(Reverse(Waiting { time, processor, what, .. })) = self.waiting.pop() else { return Ok(()) };
        let (numbering, _) = *self.numbering.get_or_insert_with(|| self.seen.numbering(self.release));
        let task = |named: Named| Task { name: &self.names.names[named.name as usize], number: named.number };
        let what = match what {
            Waited::Lost => {
                self.import.loses(processor, 0);
                return Ok(());
            }
            Waited::Switch { from, state, to } => {
                Happened::Switch { from: task(from), state: numbering.letter(state.unsigned_abs()), to: task(to) }
            }
            Waited::Wakeup(named) => Happened::Wakeup(task(named)),
        };
        self.import.is_at(time).map_err(|what| senseless(self.at, what))?;
        self.import.happens(&Event { time, processor, what }, None)
    }
}

#[cfg(test)]
mod tests;
