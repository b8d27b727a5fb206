//! A trace as Chrome trace JSON, which <https://ui.perfetto.dev> and `chrome://tracing` open.

use std::io::{self, Read, Seek, Write};

use catapults_compiler::vocabulary::Value as Said;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Reader;
use super::export::{Arg, Timeline, Told, Track, Unexported, export};

/// Writes the rest of `trace` as one JSON object. `read` is called after each record. The memory depends only on the
/// numbers of living threads and of processors. Returns how many records there were.
///
/// # Errors
/// Those of the trace and of `out`.
pub fn export_chrome<R: Read + Seek, W: Write>(
    trace: &mut Reader<R>,
    out: W,
    read: &mut dyn FnMut(),
) -> Result<u64, Unexported> {
    let mut events = Events { out, begin: None, first: true };
    events.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    let records = export(trace, &mut events, read)?;
    let header = trace.header();
    let other = Other {
        policy: &header.policy,
        source: &header.source,
        host: &header.host,
        clock: &header.clock,
        start_ns: header.start_ns,
        records,
        lost: trace.lost(),
    };
    events.out.write_all(b"\n],\"otherData\":")?;
    serde_json::to_writer(&mut events.out, &other).map_err(io::Error::from)?;
    events.out.write_all(b"}\n")?;
    events.out.flush()?;
    Ok(records)
}

#[derive(Serialize)]
struct Other<'a> {
    policy: &'a str,
    source: &'a str,
    host: &'a str,
    clock: &'a str,
    start_ns: u64,
    records: u64,
    lost: u64,
}

/// Writes the events of the format, one to a line.
struct Events<W> {
    out: W,
    /// The instant of the first event.
    begin: Option<u64>,
    first: bool,
}

/// <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    ph: &'a str,
    pid: u32,
    tid: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// The scope of an instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    /// Of an arrow: the number and the category that its ends share, and that it ends in the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
}

/// The two groups of tracks; "process" is the format's word for a group.
const PROCESSOR: u32 = 1;
const THREADS: u32 = 2;

fn place(track: Track) -> (u32, u64) {
    match track {
        Track::Processors => (PROCESSOR, 0),
        Track::Processor(number) => (PROCESSOR, u64::from(number)),
        Track::Threads => (THREADS, 0),
        Track::Thread(number) => (THREADS, u64::from(number)),
    }
}

impl<W: Write> Events<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if !self.first {
            self.out.write_all(b",\n")?;
        }
        self.first = false;
        serde_json::to_writer(&mut self.out, event).map_err(io::Error::from)
    }

    /// Since the first instant. A double holds a year of it, exact to a tenth of a nanosecond.
    fn microseconds(&mut self, instant: u64) -> f64 {
        let begin = *self.begin.get_or_insert(instant);
        if instant < begin { -((begin - instant) as f64) / 1000.0 } else { (instant - begin) as f64 / 1000.0 }
    }
}

fn bare<'a>(name: &'a str, ph: &'a str, track: Track) -> Event<'a> {
    let (pid, tid) = place(track);
    Event { name, ph, pid, tid, ts: None, dur: None, s: None, id: None, cat: None, bp: None, args: Map::new() }
}

fn values(args: &[Arg]) -> Map<String, Value> {
    let value = |told: &Told| match told {
        Told::Text(text) => Value::from(text.as_str()),
        Told::Number(number) => Value::from(*number),
    };
    args.iter().map(|(name, told)| ((*name).to_owned(), value(told))).collect()
}

impl<W: Write> Timeline for Events<W> {
    fn name(&mut self, track: Track, name: &str) -> io::Result<()> {
        let what = if matches!(track, Track::Processors | Track::Threads) { "process_name" } else { "thread_name" };
        let args = Map::from_iter([("name".to_owned(), Value::from(name))]);
        self.event(&Event { args, ..bare(what, "M", track) })
    }

    fn slice(&mut self, track: Track, name: &str, since: u64, until: u64, args: &[Arg]) -> io::Result<()> {
        let (ts, dur) = (Some(self.microseconds(since)), Some((until - since) as f64 / 1000.0));
        self.event(&Event { ts, dur, args: values(args), ..bare(name, "X", track) })
    }

    fn instant(&mut self, track: Track, name: &str, at: u64, args: &[Arg]) -> io::Result<()> {
        let reach = if track == Track::Processors { "g" } else { "t" };
        let ts = Some(self.microseconds(at));
        self.event(&Event { ts, s: Some(reach), args: values(args), ..bare(name, "i", track) })
    }

    fn arrow(&mut self, number: u64, at: u64, from: Track, to: Track) -> io::Result<()> {
        let (ts, id, cat, bp) = (Some(self.microseconds(at)), Some(number), Some("donation"), Some("e"));
        self.event(&Event { ts, id, cat, ..bare("lends its turn", "s", from) })?;
        self.event(&Event { ts, id, cat, bp, ..bare("lends its turn", "f", to) })
    }

    fn count(&mut self, _thread: u32, counter: &str, at: u64, value: Said) -> io::Result<()> {
        let ts = Some(self.microseconds(at));
        let value = match value {
            Said::Int(number) | Said::Time(number) => Value::from(number),
            Said::Bool(whether) => Value::from(i64::from(whether)),
            Said::Float(number) => Value::from(number.get()),
        };
        let args = Map::from_iter([("value".to_owned(), value)]);
        self.event(&Event { ts, args, ..bare(counter, "C", Track::Processors) })
    }

    fn forget(&mut self, _thread: u32) {}
}
