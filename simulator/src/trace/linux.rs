//! What Linux recorded of its own scheduler, as a trace: the text of `perf sched script`, `perf script` or
//! `/sys/kernel/tracing/trace` with the events `sched_switch` and `sched_wakeup`.
//!
//! ```text
//! web-812  [003] d..2.  1234.567890: sched_switch: prev_comm=web prev_pid=812 prev_prio=120 prev_state=S ==> next_comm=db next_pid=9 …
//! web   812 [003]  1234.567890: sched:sched_switch: web:812 [120] S ==> db:9 [120]
//! ```

use std::collections::HashMap;
use std::io::{self, BufRead, Seek, Write};

use super::{Header, LONGEST_TIME, Name, Reason, Record, What, Writer};

/// What came of a recording of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Events that were understood.
    pub events: u64,
    /// Other lines of a text that are not empty, nor a comment; other packets of Perfetto.
    pub others: u64,
    /// Times at which Linux had lost events, as it says itself.
    pub lost: u64,
    /// Packets that are compressed, and were left out.
    pub compressed: u64,
    /// Records that were written.
    pub records: u64,
}

/// A longer line is not read to its end.
const LONGEST: u64 = 1 << 16;

/// Processors are recorded one by one, so that a line may be older than the one before it; none is by so many nanoseconds.
const MOST_BACK: u64 = 10_000_000_000;

/// Reads `text`; `read` is told how many bytes each line has. Memory is bounded by how many threads there are.
///
/// # Errors
/// Those of both files; [`io::ErrorKind::InvalidData`] with the line, where its time makes no sense.
pub fn import_linux<R: BufRead, W: Write + Seek>(
    text: &mut R,
    out: W,
    read: &mut dyn FnMut(u64),
) -> io::Result<Imported> {
    let mut import = Import::new(out)?;
    let mut imported = Imported::default();
    let mut line = Vec::new();
    let mut starts = true;
    let mut number = 0_u64;
    loop {
        line.clear();
        let length = io::Read::take(&mut *text, LONGEST).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        read(length as u64);
        // What is left of a long line is none of its own.
        number += u64::from(starts);
        starts = line.ends_with(b"\n");
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match event(line) {
            Some(event) => {
                imported.events += 1;
                import
                    .is_at(event.time)
                    .map_err(|what| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {what}")))?;
                import.happens(&event)?;
            }
            None => imported.others += 1,
        }
    }
    imported.records = import.finish()?;
    Ok(imported)
}

/// A thread of Linux; 0: there is none, or it is not known.
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

fn event(line: &str) -> Option<Event<'_>> {
    let (before, after) =
        ["sched_switch: ", "sched_wakeup: ", "sched_wakeup_new: "].iter().find_map(|name| line.split_once(name))?;
    let switch = line[..line.len() - after.len()].ends_with("sched_switch: ");
    let mut words = before.trim_end().trim_end_matches("sched:").split_whitespace().rev();
    let time = instant(words.next()?.strip_suffix(':')?)?;
    let cpu = words.find_map(|word| word.strip_prefix('[')?.strip_suffix(']')?.parse().ok())?;
    let what = if switch {
        let (from, to) = after.split_once("==>")?;
        let (from, state) = before_switch(from.trim())?;
        Happened::Switch { from, state, to: task(to.trim(), "next_")? }
    } else {
        Happened::Wakeup(task(after.trim(), "")?)
    };
    Some(Event { time, processor: cpu, what })
}

/// Who ran, and in which state he is left.
fn before_switch(text: &str) -> Option<(Task<'_>, &str)> {
    if let Some((rest, state)) = text.rsplit_once(" prev_state=") {
        return Some((task(rest, "prev_")?, state.trim()));
    }
    let (rest, state) = text.rsplit_once(' ')?;
    Some((task(rest, "")?, state))
}

/// `prev_comm=web prev_pid=812 …`, or `web:812 [120] …`.
fn task<'a>(text: &'a str, prefix: &str) -> Option<Task<'a>> {
    let field = |name: &str| text.find(&format!("{prefix}{name}=")).map(|at| at + prefix.len() + name.len() + 1);
    if let (Some(comm), Some(pid)) = (field("comm"), field("pid")) {
        let end = text.find(&format!(" {prefix}pid="))?;
        let number = text[pid..].split_whitespace().next()?.parse().ok()?;
        return Some(Task { name: text.get(comm..end)?, number });
    }
    let (brief, _) = text.split_once(" [").unwrap_or((text, ""));
    let (name, rest) = brief.rsplit_once(':')?;
    let number = rest.split_whitespace().next()?.parse().ok()?;
    Some(Task { name: name.trim(), number })
}

/// `1234.567890`, in seconds.
fn instant(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let fraction = fraction.get(..fraction.len().min(9))?;
    let power = u32::try_from(9 - fraction.len()).ok()?;
    let nanoseconds: u64 = fraction.parse::<u64>().ok()? * 10_u64.pow(power);
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Ready,
    Running,
    Waiting,
}

/// Events of Linux, on their way into a trace.
pub(super) struct Import<W> {
    out: Writer<W>,
    threads: HashMap<u32, Known>,
    first: Option<u64>,
    last: u64,
}

impl<W: Write + Seek> Import<W> {
    pub(super) fn new(out: W) -> io::Result<Self> {
        let header = Header {
            policy: "Linux".to_owned(),
            host: "Linux".to_owned(),
            clock: "of perf or ftrace".to_owned(),
            names: vec![Name::default(); 4],
            ..Header::default()
        };
        Ok(Import { out: Writer::new(out, &header)?, threads: HashMap::new(), first: None, last: 0 })
    }

    /// How many records there are.
    pub(super) fn finish(self) -> io::Result<u64> {
        self.out.finish()
    }

    /// What is told from now on is no older than this; or what is wrong with it.
    pub(super) fn is_at(&mut self, time: u64) -> Result<(), &'static str> {
        if time.saturating_add(MOST_BACK) < self.last {
            return Err("its time is more than 10 s before that of another before it");
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

    /// At the time that was told last.
    pub(super) fn happens(&mut self, event: &Event<'_>) -> io::Result<()> {
        match &event.what {
            Happened::Wakeup(task) => self.is_ready(event, task),
            Happened::Switch { from, state, to } => {
                if from.number != 0 {
                    self.leaves(event, from, state)?;
                }
                if to.number == 0 {
                    return self.record(event, 0, What::Idle);
                }
                self.is_ready(event, to)?;
                self.threads.insert(to.number, Known::Running);
                self.record(event, to.number, What::Dispatched)
            }
        }
    }

    fn is_ready(&mut self, event: &Event<'_>, task: &Task<'_>) -> io::Result<()> {
        match self.threads.insert(task.number, Known::Ready) {
            Some(known @ (Known::Ready | Known::Running)) => {
                self.threads.insert(task.number, known);
                Ok(())
            }
            Some(Known::Waiting) => self.record(event, task.number, What::Raised),
            None => {
                self.record(event, task.number, What::New)?;
                self.out.name(self.last, task.number, task.name)
            }
        }
    }

    fn leaves(&mut self, event: &Event<'_>, task: &Task<'_>, state: &str) -> io::Result<()> {
        if self.threads.get(&task.number) != Some(&Known::Running) {
            self.is_ready(event, task)?;
            self.record(event, task.number, What::Dispatched)?;
        }
        let (known, what) = match state.chars().next() {
            Some('R') if state.contains('+') => (Some(Known::Ready), What::Preempted),
            Some('R') => (Some(Known::Ready), What::SwitchedOut),
            Some('X' | 'Z') => (None, What::Exited),
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
