//! A trace as a timeline, in whatever format a viewer has.
//!
//! There are two groups of tracks: processors, with a slice for each turn; and threads, with a slice for each stay in a
//! state (running, ready, blocked, suspended). A slice tells the handler and line that began it. Counters show the
//! number of ready threads and the imported variables. Arrows lead from threads that lend a turn to those that run on
//! it.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Read, Seek};

use catapults_compiler::vocabulary::Value;

use super::{Doing, Reader, Record, State, States, Stay, TraceError, What, Whose};

/// A format. Instants are those of the trace.
pub(super) trait Timeline {
    /// Names a track, before anything else is told of it.
    fn name(&mut self, track: Track, name: &str) -> io::Result<()>;
    fn slice(&mut self, track: Track, name: &str, since: u64, until: u64, args: &[Arg]) -> io::Result<()>;
    fn instant(&mut self, track: Track, name: &str, at: u64, args: &[Arg]) -> io::Result<()>;
    fn arrow(&mut self, number: u64, at: u64, from: Track, to: Track) -> io::Result<()>;
    /// A number of this thread; of the application, if the thread is 0.
    fn count(&mut self, thread: u32, counter: &str, at: u64, value: Value) -> io::Result<()>;
    /// Nothing more is told of this thread. Another thread may get its number.
    fn forget(&mut self, thread: u32);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Track {
    Processors,
    Processor(u16),
    Threads,
    Thread(u32),
}

pub(super) type Arg = (&'static str, Told);

pub(super) enum Told {
    Text(String),
    Number(i64),
}

/// Why a timeline was not written.
#[derive(Debug)]
pub enum Unexported {
    /// The trace makes no sense.
    Trace(TraceError),
    /// It cannot be written.
    Output(io::Error),
}

impl fmt::Display for Unexported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unexported::Trace(wrong) => wrong.fmt(out),
            Unexported::Output(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for Unexported {}

impl From<TraceError> for Unexported {
    fn from(wrong: TraceError) -> Self {
        Unexported::Trace(wrong)
    }
}

impl From<io::Error> for Unexported {
    fn from(wrong: io::Error) -> Self {
        Unexported::Output(wrong)
    }
}

/// Writes the rest of `trace`; `read` is called after each record. Returns how many records there were.
///
/// Stays from before the first record begin with it. Stays that outlast the records end with the recording.
pub(super) fn export<R: Read + Seek>(
    trace: &mut Reader<R>,
    timeline: &mut dyn Timeline,
    read: &mut dyn FnMut(),
) -> Result<u64, Unexported> {
    let mut export = Export { states: States::of(trace), named: HashSet::new(), arrows: 0 };
    timeline.name(Track::Processors, &format!("processors, under {}", trace.header().policy))?;
    timeline.name(Track::Threads, "threads")?;
    let (mut stays, mut records) = (Vec::new(), 0);
    let mut ready = None;
    while let Some(record) = trace.next_record()? {
        records += 1;
        read();
        export.states.record(&record, &mut stays)?;
        for stay in stays.drain(..) {
            export.stay(trace, &stay, timeline)?;
        }
        if let Some(count) = record.ready.filter(|count| ready != Some(*count)) {
            ready = Some(count);
            timeline.count(0, "ready threads", record.time_ns, Value::Int(i64::from(count)))?;
        }
        export.at_once(trace, &record, timeline)?;
    }
    export.states.end(export.states.until(), &mut stays);
    for stay in stays {
        export.stay(trace, &stay, timeline)?;
    }
    Ok(records)
}

struct Export {
    states: States,
    /// The tracks that have been named.
    named: HashSet<Track>,
    arrows: u64,
}

impl Export {
    fn stay<R: Read + Seek>(&mut self, trace: &Reader<R>, stay: &Stay, out: &mut dyn Timeline) -> io::Result<()> {
        let (track, name) = match stay.whose {
            Whose::Processor(number, Doing::Running(thread)) => (Track::Processor(number), trace.called(thread)),
            Whose::Processor(number, Doing::Idling) => (Track::Processor(number), "idle".to_owned()),
            Whose::Processor(number, Doing::Unknown | Doing::Choosing) => {
                return self.name(trace, Track::Processor(number), out);
            }
            Whose::Thread(thread, state) => (Track::Thread(thread), state.name().to_owned()),
        };
        self.name(trace, track, out)?;
        let args = stay.cause.map_or(Vec::new(), |cause| args(trace, &cause, stay.whose));
        out.slice(track, &name, stay.since, stay.until, &args)
    }

    fn at_once<R: Read + Seek>(
        &mut self,
        trace: &Reader<R>,
        record: &Record,
        out: &mut dyn Timeline,
    ) -> io::Result<()> {
        let at = record.time_ns;
        match record.what {
            What::Lent { donor } if donor == record.thread => Ok(()),
            What::Lent { donor } => {
                let (from, to) = (Track::Thread(donor), Track::Thread(record.thread));
                self.name(trace, from, out)?;
                self.name(trace, to, out)?;
                self.arrows += 1;
                out.arrow(self.arrows, at, from, to)
            }
            What::PolicyOut => {
                let line = ("line", Told::Number(i64::from(record.line)));
                out.instant(Track::Processors, "policy out: a guard failed", at, &[line])
            }
            What::Value { variable, value } => {
                let Some(name) = trace.header().name(variable) else { return Ok(()) };
                let counter = match record.thread {
                    0 => name.text.clone(),
                    thread => format!("{} of {}", name.text, trace.called(thread)),
                };
                out.count(record.thread, &counter, at, value)
            }
            What::Lost { events } => {
                let args = if events > 0 { vec![("events", Told::Text(events.to_string()))] } else { Vec::new() };
                out.instant(Track::Processor(record.processor), "events are missing before this", at, &args)
            }
            What::Refused => {
                let track = Track::Thread(record.thread);
                self.name(trace, track, out)?;
                out.instant(track, "refused", at, &args(trace, record, Whose::Thread(record.thread, State::Ready)))?;
                self.forget(record.thread, out);
                Ok(())
            }
            What::Exited => {
                self.forget(record.thread, out);
                Ok(())
            }
            What::New
            | What::Named { .. }
            | What::Dispatched
            | What::SwitchedOut
            | What::Preempted
            | What::Blocked(_)
            | What::Raised
            | What::Suspended
            | What::Resumed
            | What::Idle => Ok(()),
        }
    }

    fn forget(&mut self, thread: u32, out: &mut dyn Timeline) {
        self.named.remove(&Track::Thread(thread));
        out.forget(thread);
    }

    fn name<R: Read + Seek>(&mut self, trace: &Reader<R>, track: Track, out: &mut dyn Timeline) -> io::Result<()> {
        if !self.named.insert(track) {
            return Ok(());
        }
        match track {
            Track::Thread(thread) => out.name(track, &trace.called(thread)),
            Track::Processor(number) => out.name(track, &format!("processor {number}")),
            Track::Processors | Track::Threads => Ok(()),
        }
    }
}

/// Why a stay began.
fn args<R: Read + Seek>(trace: &Reader<R>, cause: &Record, whose: Whose) -> Vec<Arg> {
    let mut args = Vec::new();
    if let Some((event, line)) = trace.header().why(cause) {
        args.push(("handler", Told::Text(event.to_owned())));
        if line > 0 {
            args.push(("line", Told::Number(i64::from(line))));
            args.push(("source", Told::Text(trace.header().source(cause).to_owned())));
        }
    }
    if let What::Lent { donor } = cause.what
        && donor != cause.thread
        && matches!(whose, Whose::Thread(_, State::Running) | Whose::Processor(..))
    {
        args.push(("on the turn of", Told::Text(trace.called(donor))));
    }
    args
}
