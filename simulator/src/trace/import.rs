//! Makes a trace of the events of Linux's scheduler: finds which ones change the state of a thread, and what is not
//! known because Linux lost events.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Seek, Write};

use super::{Header, LONGEST_TIME, Name, Reason, Record, What, Writer};

/// The result of importing a recording of Linux.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Events that were understood.
    pub events: u64,
    /// Lines of a text that are, or belong to, other events; other packets of Perfetto.
    pub others: u64,
    /// Other lines of a text.
    pub unreadable: u64,
    /// The first unreadable line.
    pub first_unreadable: Option<Line>,
    /// Events that wake a thread.
    pub wakeups: u64,
    /// Threads that ran again after a wait, without such an event. Since when they were ready is not known.
    pub unwoken: u64,
    /// Events that contradict earlier ones.
    pub contradictions: u64,
    /// The first contradiction.
    pub first_contradiction: Option<Contradiction>,
    /// The format, if it is another one, by the first line that shows it.
    pub other_format: Option<OtherFormat>,
    /// What Linux says it has lost, by processor.
    pub lost: BTreeMap<u16, Lost>,
    /// In words, how numbers were read as states, if that is not certain.
    pub uncertain_states: Option<&'static str>,
    /// Packets that were left out, because they are compressed by zstd.
    pub compressed: u64,
    /// Records that were written.
    pub records: u64,
}

/// A line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// Its beginning, without control characters.
    pub text: String,
    /// What is wrong with it, in words, if that is known.
    pub why: Option<String>,
}

/// An event that contradicts earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The line of a text, from 1.
    pub line: Option<u64>,
    /// The time since the first event.
    pub since: u64,
    /// What is wrong with it.
    pub what: String,
}

/// Why a recording of Linux cannot become a trace.
#[derive(Debug)]
pub enum Unimported {
    /// It cannot be read. If it makes no sense, this is [`io::ErrorKind::InvalidData`], with the place.
    Input(io::Error),
    /// This line has no end.
    Endless(u64),
    /// The trace cannot be written.
    Output(io::Error),
}

impl fmt::Display for Unimported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unimported::Input(error) | Unimported::Output(error) => error.fmt(out),
            Unimported::Endless(number) => write!(out, "line {number} is longer than any line can be"),
        }
    }
}

impl std::error::Error for Unimported {}

impl From<io::Error> for Unimported {
    fn from(error: io::Error) -> Self {
        Unimported::Input(error)
    }
}

/// Events that Linux did not record because its buffers were full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// How often.
    pub times: u64,
    /// How many events, as far as it says.
    pub events: u64,
    /// Whether it did not always say how many.
    pub more: bool,
}

/// A text about Linux's scheduler that lacks the events, or when they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFormat {
    /// `perf sched timehist`.
    TimeHistory,
    /// `perf sched latency`.
    LatencyTable,
    /// `perf sched map`.
    Map,
    /// What ftrace writes with the option `latency-format` and in its latency tracers.
    LatencyTrace,
    /// Chrome's JSON.
    Timeline,
    /// LTTng's text, as `babeltrace` prints it.
    Lttng,
    /// The description beside LTTng's data.
    LttngData,
    /// Events by a clock that does not count time.
    Ticks,
    /// A page of HTML without a recording.
    Page,
    /// Events without their processor.
    NoProcessor,
}

/// A thread of Linux; number 0: none, or not known.
pub(super) struct Task<'a> {
    pub name: &'a str,
    pub number: u32,
}

pub(super) struct Event<'a> {
    pub time: u64,
    pub processor: u16,
    pub what: Happened<'a>,
}

pub(super) enum Happened<'a> {
    Switch { from: Task<'a>, state: &'a str, to: Task<'a> },
    Wakeup(Task<'a>),
}

/// Processors are recorded one by one, so a line may be older than the last one, but by no more nanoseconds than this.
const MOST_BACK: u64 = 10_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Ready,
    /// On this processor.
    Running(u16),
    Waiting,
    /// It lives, but events have been lost since its last one.
    Lost,
}

/// Writes the trace.
pub(super) struct Import<W> {
    out: Writer<W>,
    threads: HashMap<u32, Known>,
    /// The processors that lost events before their next one, and how many; 0: not known.
    gaps: BTreeMap<u16, u64>,
    /// The results so far.
    told: Imported,
    processors: BTreeMap<u16, Processor>,
    first: Option<u64>,
    last: u64,
}

/// What is known of a processor.
#[derive(Default)]
struct Processor {
    at: u64,
    /// The thread that runs there; 0: none. `None`: not known.
    runs: Option<u32>,
}

impl<W: Write + Seek> Import<W> {
    pub(super) fn new(out: W) -> Result<Self, Unimported> {
        let header = Header {
            policy: "Linux".to_owned(),
            host: "Linux".to_owned(),
            clock: "the clock of perf or ftrace".to_owned(),
            names: vec![Name::default(); 4],
            ..Header::default()
        };
        Ok(Import {
            out: Writer::new(out, &header).map_err(Unimported::Output)?,
            threads: HashMap::new(),
            gaps: BTreeMap::new(),
            told: Imported::default(),
            processors: BTreeMap::new(),
            first: None,
            last: 0,
        })
    }

    /// The results, except what the reader of the file counts.
    pub(super) fn finish(mut self) -> Result<Imported, Unimported> {
        for (processor, events) in std::mem::take(&mut self.gaps) {
            self.gap(processor, events).map_err(Unimported::Output)?;
        }
        Ok(Imported { records: self.out.finish().map_err(Unimported::Output)?, ..self.told })
    }

    /// So many events of this processor were lost between its last one and its next one; 0: not known how many.
    pub(super) fn loses(&mut self, processor: u16, events: u64) {
        let lost = self.told.lost.entry(processor).or_default();
        lost.times += 1;
        lost.events = lost.events.saturating_add(events);
        lost.more |= events == 0;
        let gap = self.gaps.entry(processor).or_insert(events);
        *gap = if events == 0 { 0 } else { (*gap).max(events) };
    }

    /// Moves on to this time. No later event is older. Or says what is wrong with the time.
    pub(super) fn is_at(&mut self, time: u64) -> Result<(), &'static str> {
        if time.saturating_add(MOST_BACK) < self.last {
            return Err("its time is more than 10 s before that of an earlier one");
        }
        if self.first.is_none() {
            self.out.starts_at(time);
        }
        if time.saturating_sub(*self.first.get_or_insert(time)) > LONGEST_TIME {
            return Err("its time is more than 73 years after that of the first");
        }
        self.last = self.last.max(time);
        Ok(())
    }

    /// An event at the present time. `line`: its line in a text.
    pub(super) fn happens(&mut self, event: &Event<'_>, line: Option<u64>) -> Result<(), Unimported> {
        self.is_recorded(event, line).map_err(Unimported::Output)
    }

    fn is_recorded(&mut self, event: &Event<'_>, line: Option<u64>) -> io::Result<()> {
        if let Some(events) = self.gaps.remove(&event.processor) {
            self.gap(event.processor, events)?;
        }
        if let Some(what) = self.contradicts(event) {
            let since = self.last.saturating_sub(self.first.unwrap_or(self.last));
            self.told.contradictions += 1;
            self.told.first_contradiction.get_or_insert(Contradiction { line, since, what });
        }
        match &event.what {
            // It wakes no thread.
            Happened::Wakeup(task) if task.number == 0 => Ok(()),
            Happened::Wakeup(task) => {
                self.told.wakeups += 1;
                self.is_ready(event, task)
            }
            Happened::Switch { from, state, to } => {
                if from.number != 0 {
                    self.leaves(event, from, state)?;
                }
                if to.number == 0 {
                    return self.record(event, 0, What::Idle);
                }
                self.told.unwoken += u64::from(self.threads.get(&to.number) == Some(&Known::Waiting));
                // After a gap, it is not known since when the thread was ready.
                if self.threads.get(&to.number) != Some(&Known::Lost) {
                    self.is_ready(event, to)?;
                }
                self.threads.insert(to.number, Known::Running(event.processor));
                self.record(event, to.number, What::Dispatched)
            }
        }
    }

    /// How an event contradicts earlier ones. It is recorded all the same, because those may be the wrong ones.
    fn contradicts(&mut self, event: &Event<'_>) -> Option<String> {
        let number = event.processor;
        let here = self.processors.entry(number).or_default();
        let goes_back = (event.time < here.at).then(|| format!("the time goes back on processor {number}"));
        here.at = here.at.max(event.time);
        let Happened::Switch { from, to, .. } = &event.what else { return goes_back };
        let left = match here.runs.replace(to.number) {
            Some(runs) if runs != from.number => {
                Some(format!("{} leaves processor {number}, where {} runs", called(from.number), called(runs)))
            }
            Some(_) => None,
            None => self
                .runs_elsewhere(from.number, number)
                .map(|there| format!("{} runs on processor {there}, and leaves {number}", called(from.number))),
        };
        let elsewhere = self
            .runs_elsewhere(to.number, number)
            .map(|there| format!("{} runs on processor {there}, and begins to run on {number}", called(to.number)));
        goes_back.or(left).or(elsewhere)
    }

    /// The processor, another than this one, on which a thread is known to run.
    fn runs_elsewhere(&self, thread: u32, here: u16) -> Option<u16> {
        match self.threads.get(&thread) {
            Some(Known::Running(there)) if *there != here && thread != 0 => {
                self.processors.get(there).filter(|processor| processor.runs == Some(thread)).map(|_| *there)
            }
            Some(Known::Running(_) | Known::Ready | Known::Waiting | Known::Lost) | None => None,
        }
    }

    /// Then only the threads that run on other processors are known.
    fn gap(&mut self, processor: u16, events: u64) -> io::Result<()> {
        self.processors.entry(processor).or_default().runs = None;
        for known in self.threads.values_mut() {
            if !matches!(known, Known::Running(there) if *there != processor) {
                *known = Known::Lost;
            }
        }
        let what = What::Lost { events };
        self.out.record(&Record { time_ns: self.last, thread: 0, processor, what, event: 0, line: 0, ready: None })
    }

    fn is_ready(&mut self, event: &Event<'_>, task: &Task<'_>) -> io::Result<()> {
        match self.threads.insert(task.number, Known::Ready) {
            Some(known @ (Known::Ready | Known::Running(_))) => {
                self.threads.insert(task.number, known);
                Ok(())
            }
            Some(Known::Waiting | Known::Lost) => self.record(event, task.number, What::Raised),
            None => {
                self.record(event, task.number, What::New)?;
                self.out.name(self.last, task.number, task.name)
            }
        }
    }

    fn leaves(&mut self, event: &Event<'_>, task: &Task<'_>, state: &str) -> io::Result<()> {
        // The thread must have run; after a gap, it is not known since when.
        if !matches!(self.threads.get(&task.number), Some(Known::Running(_) | Known::Lost)) {
            self.is_ready(event, task)?;
            self.record(event, task.number, What::Dispatched)?;
        }
        let (known, what) = match state.chars().next() {
            Some('X' | 'x' | 'Z') => (None, What::Exited),
            // It may have been about to wait, but was preempted before it did.
            Some(_) if state.contains('+') => (Some(Known::Ready), What::Preempted),
            Some('R') => (Some(Known::Ready), What::SwitchedOut),
            Some('D') => (Some(Known::Waiting), What::Blocked(Reason::File)),
            _ => (Some(Known::Waiting), What::Blocked(Reason::Other)),
        };
        match known {
            Some(known) => drop(self.threads.insert(task.number, known)),
            None => drop(self.threads.remove(&task.number)),
        }
        self.record(event, task.number, what)
    }

    fn record(&mut self, event: &Event<'_>, thread: u32, what: What) -> io::Result<()> {
        let (time_ns, processor) = (self.last, event.processor);
        self.out.record(&Record { time_ns, thread, processor, what, event: 0, line: 0, ready: None })
    }
}

fn called(thread: u32) -> String {
    if thread == 0 { "nobody".to_owned() } else { format!("thread {thread}") }
}
