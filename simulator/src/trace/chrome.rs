//! A trace as Chrome trace JSON, which <https://ui.perfetto.dev> and `chrome://tracing` open.
//!
//! Two groups of tracks: the processors, with a slice for each turn of a thread; and the threads, each with a slice for each
//! stay in a state (running, ready, blocked, suspended). What concerns the policy is an instant across all tracks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Reason, Record, Trace, What, text};

/// Writes `trace` as one JSON object. The memory it takes depends on the numbers of threads and processors alone.
///
/// A stay that began before the first record begins with it; one that outlasts the last record ends with it.
///
/// # Errors
///
/// Those of `out`.
pub fn export_chrome<W: Write>(trace: &Trace, out: W) -> io::Result<()> {
    let begin = trace.records.first().map_or(trace.start_ns, |first| first.time_ns);
    let end = trace.records.last().map_or(begin, |last| last.time_ns);
    let doing = if trace.lost > 0 { Doing::Unknown } else { Doing::Choosing };
    let mut export = Export {
        events: Events { out, begin, first: true },
        names: names(trace),
        processors: processors(trace).into_iter().map(|number| (number, (doing, begin))).collect(),
        threads: BTreeMap::new(),
        begin,
        begun_before: trace.lost > 0,
    };

    export.events.open()?;
    export.name_tracks(&trace.policy)?;
    for record in &trace.records {
        export.record(record)?;
    }
    export.end(end)?;
    export.events.close(trace)
}

/// What a thread is in, between two records.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Ready,
    Blocked(Option<Reason>),
    Suspended,
}

/// What a processor is at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Unknown,
    Running(u32),
    Idling,
    /// Between the end of one turn and the next dispatch.
    Choosing,
}

struct Export<W> {
    events: Events<W>,
    names: BTreeMap<u32, String>,
    /// What each processor is at, and since when.
    processors: BTreeMap<u8, (Doing, u64)>,
    /// What each thread is in, and since when; `None`: it has ended.
    threads: BTreeMap<u32, (Option<State>, u64)>,
    begin: u64,
    /// Whether threads were alive before the first record.
    begun_before: bool,
}

impl<W: Write> Export<W> {
    fn name_tracks(&mut self, policy: &str) -> io::Result<()> {
        let several = self.processors.len() > 1;
        let group = if several { "processors" } else { "processor" };
        self.events.name("process_name", PROCESSOR, 0, &format!("{group}, under {policy}"))?;
        for &number in self.processors.keys() {
            let name = if several { format!("processor {number}") } else { "runs".to_owned() };
            self.events.name("thread_name", PROCESSOR, u64::from(number), &name)?;
        }
        self.events.name("process_name", THREADS, 0, "threads")?;
        for (&thread, name) in &self.names {
            self.events.name("thread_name", THREADS, u64::from(thread), name)?;
        }
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let Record { time_ns: now, thread, processor, what } = *record;
        match what {
            What::New => self.enter(now, thread, Some(State::Ready), None),
            What::Named { .. } => Ok(()),
            What::Dispatched => {
                self.turn(now, processor, Doing::Running(thread))?;
                self.enter(now, thread, Some(State::Running), Some(State::Ready))
            }
            What::SwitchedOut => self.leave(record, Some(State::Ready)),
            What::Blocked(reason) => self.leave(record, Some(State::Blocked(Some(reason)))),
            What::Exited => self.leave(record, None),
            What::Raised => self.enter(now, thread, Some(State::Ready), Some(State::Blocked(None))),
            What::Suspended => {
                if let Some(there) = self.runs_on(thread) {
                    self.turn(now, there, Doing::Choosing)?;
                }
                self.enter(now, thread, Some(State::Suspended), None)
            }
            What::Resumed => self.enter(now, thread, Some(State::Ready), Some(State::Suspended)),
            What::PolicyOut { line } => self.events.policy_out(now, line),
            What::Idle => self.turn(now, processor, Doing::Idling),
        }
    }

    /// A running thread leaves its processor for `state`, or for good. What makes it leave can happen on another one; and
    /// where there is one processor, another thread can have run on its turn.
    fn leave(&mut self, record: &Record, state: Option<State>) -> io::Result<()> {
        let Record { time_ns: now, thread, processor, .. } = *record;
        if let Some((doing @ Doing::Unknown, _)) = self.processors.get_mut(&processor) {
            *doing = Doing::Running(thread);
        }
        if let Some(there) = self.runs_on(thread).or((self.processors.len() == 1).then_some(processor)) {
            self.turn(now, there, Doing::Choosing)?;
        }
        self.enter(now, thread, state, Some(State::Running))
    }

    fn runs_on(&self, thread: u32) -> Option<u8> {
        let runs = |(_, (doing, _)): &(&u8, &(Doing, u64))| *doing == Doing::Running(thread);
        self.processors.iter().find(runs).map(|(&number, _)| number)
    }

    /// The processor does something else from now on.
    fn turn(&mut self, now: u64, processor: u8, next: Doing) -> io::Result<()> {
        let (doing, since) = self.processors.insert(processor, (next, now)).unwrap_or((Doing::Choosing, now));
        let name = match doing {
            Doing::Running(thread) => name_of(&self.names, thread),
            Doing::Idling => "idle".to_owned(),
            Doing::Unknown | Doing::Choosing => return Ok(()),
        };
        self.events.slice(PROCESSOR, u64::from(processor), &name, since, now)
    }

    /// `thread` is in `state` from now on; `None`: it is no more. `before` is what it must have been in if nothing is known.
    fn enter(&mut self, now: u64, thread: u32, state: Option<State>, before: Option<State>) -> io::Result<()> {
        let known = self.threads.insert(thread, (state, now));
        let earlier = || (before.filter(|_| self.begun_before), self.begin);
        let (was, since) = known.unwrap_or_else(earlier);
        match was {
            Some(was) => self.events.slice(THREADS, u64::from(thread), was.name(), since, now),
            None => Ok(()),
        }
    }

    fn end(&mut self, now: u64) -> io::Result<()> {
        for number in self.processors.keys().copied().collect::<Vec<_>>() {
            self.turn(now, number, Doing::Choosing)?;
        }
        for (thread, (state, since)) in std::mem::take(&mut self.threads) {
            if let Some(state) = state {
                self.events.slice(THREADS, u64::from(thread), state.name(), since, now)?;
            }
        }
        Ok(())
    }
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ready => "ready",
            State::Suspended => "suspended",
            State::Blocked(None) => "blocked",
            State::Blocked(Some(reason)) => match reason {
                Reason::Read => "blocked: io.read",
                Reason::Write => "blocked: io.write",
                Reason::Accept => "blocked: io.accept",
                Reason::Connect => "blocked: io.connect",
                Reason::File => "blocked: io.file",
                Reason::Lock => "blocked: lock",
                Reason::Condition => "blocked: condition",
                Reason::Join => "blocked: join",
                Reason::Sleep => "blocked: sleep",
                Reason::Kernel => "blocked: kernel",
                Reason::Scheduler => "blocked: scheduler",
                Reason::Port => "blocked: port",
                Reason::Signal => "blocked: signal",
            },
        }
    }
}

/// The processors that the trace mentions, the first one in any case.
fn processors(trace: &Trace) -> BTreeSet<u8> {
    trace.records.iter().map(|record| record.processor).chain([0]).collect()
}

/// The names of all threads that the trace mentions: those that it tells, and numbers for the others. A number that was used
/// again keeps the last name.
fn names(trace: &Trace) -> BTreeMap<u32, String> {
    let mut parts: BTreeMap<u32, BTreeMap<u16, [u8; 16]>> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for record in &trace.records {
        match record.what {
            What::Named { part, bytes } => {
                let known = parts.entry(record.thread).or_default();
                if part == 0 {
                    known.clear();
                }
                known.insert(part, bytes);
            }
            What::PolicyOut { .. } | What::Idle => {}
            What::New
            | What::Dispatched
            | What::SwitchedOut
            | What::Blocked(_)
            | What::Raised
            | What::Exited
            | What::Suspended
            | What::Resumed => {
                names.entry(record.thread).or_insert_with(|| format!("thread {}", record.thread));
            }
        }
    }
    for (thread, parts) in parts {
        let bytes: Vec<u8> = parts.into_values().flatten().collect();
        names.insert(thread, format!("{} ({thread})", text(&bytes)));
    }
    names
}

fn name_of(names: &BTreeMap<u32, String>, thread: u32) -> String {
    names.get(&thread).cloned().unwrap_or_else(|| format!("thread {thread}"))
}

/// The two groups of tracks; "process" is the format's word for a group.
const PROCESSOR: u32 = 1;
const THREADS: u32 = 2;

/// Writes the events of the format, one to a line.
struct Events<W> {
    out: W,
    begin: u64,
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
    /// How far an instant reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
}

impl<W: Write> Events<W> {
    fn open(&mut self) -> io::Result<()> {
        self.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")
    }

    fn close(&mut self, trace: &Trace) -> io::Result<()> {
        #[derive(Serialize)]
        struct Other<'a> {
            policy: &'a str,
            start_ns: u64,
            records: usize,
            lost: u64,
        }
        let other =
            Other { policy: &trace.policy, start_ns: trace.start_ns, records: trace.records.len(), lost: trace.lost };
        self.out.write_all(b"\n],\"otherData\":")?;
        serde_json::to_writer(&mut self.out, &other)?;
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }

    fn name(&mut self, what: &str, group: u32, track: u64, name: &str) -> io::Result<()> {
        let args = Map::from_iter([("name".to_owned(), Value::from(name))]);
        self.event(&Event { name: what, ph: "M", pid: group, tid: track, ts: None, dur: None, s: None, args })
    }

    fn slice(&mut self, group: u32, track: u64, name: &str, since: u64, now: u64) -> io::Result<()> {
        let (ts, dur) = (Some(self.microseconds(since)), Some((now - since) as f64 / 1000.0));
        self.event(&Event { name, ph: "X", pid: group, tid: track, ts, dur, s: None, args: Map::new() })
    }

    fn policy_out(&mut self, now: u64, line: u16) -> io::Result<()> {
        let ts = Some(self.microseconds(now));
        let args = Map::from_iter([("line".to_owned(), Value::from(line))]);
        let name = "policy out: a guard failed";
        self.event(&Event { name, ph: "i", pid: PROCESSOR, tid: 0, ts, dur: None, s: Some("g"), args })
    }

    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if !self.first {
            self.out.write_all(b",\n")?;
        }
        self.first = false;
        serde_json::to_writer(&mut self.out, event).map_err(io::Error::from)
    }

    /// Since the first record: a double holds a year of it to the nanosecond's tenth.
    fn microseconds(&self, instant: u64) -> f64 {
        (instant - self.begin) as f64 / 1000.0
    }
}
