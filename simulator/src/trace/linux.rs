//! What Linux recorded of its own scheduler, as a trace: the text of `perf sched script`, `perf script` or
//! `/sys/kernel/tracing/trace` with the events `sched_switch` and `sched_waking`, or `sched_wakeup`. Of one wakeup both can be told.
//!
//! ```text
//! web-812  [003] d..2.  1234.567890: sched_switch: prev_comm=web prev_pid=812 prev_prio=120 prev_state=S ==> next_comm=db next_pid=9 …
//! web   812 [003]  1234.567890: sched:sched_switch: web:812 [120] S ==> db:9 [120]
//! ```

use std::io::{self, BufRead, Seek, Write};

use super::MOST_PROCESSORS;
use super::import::{Event, Happened, Import, Imported, Line, OtherFormat, Task, Unimported};

/// A longer line is not read to its end.
const LONGEST: u64 = 1 << 16;
/// A line of more bytes is none: what goes on without an end is no text.
const ENDLESS: u64 = 1 << 20;

/// Reads `text`; `read` is told how many bytes each line has. Memory is bounded by how many threads there are.
///
/// # Errors
/// Those of both files; of this one [`io::ErrorKind::InvalidData`] with the line, where its time makes no sense.
pub fn import_linux<R: BufRead, W: Write + Seek>(
    text: &mut R,
    out: W,
    read: &mut dyn FnMut(u64),
) -> Result<Imported, Unimported> {
    let mut import = Import::new(out)?;
    let mut imported = Imported::default();
    let mut line = Vec::new();
    let mut starts = true;
    let (mut number, mut long) = (0_u64, 0_u64);
    loop {
        line.clear();
        let length = io::Read::take(&mut *text, LONGEST).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        read(length as u64);
        let is_rest = !starts;
        starts = line.ends_with(b"\n");
        long = if is_rest { long + length as u64 } else { length as u64 };
        if long > ENDLESS {
            return Err(Unimported::Endless(number.max(1)));
        }
        // What is left of a long line is none of its own.
        if is_rest {
            continue;
        }
        number += 1;
        let whole = String::from_utf8_lossy(&line);
        let line = whole.trim();
        if imported.other_format.is_none() {
            imported.other_format = other_format(line);
        }
        match meaning(&whole) {
            Meaning::Nothing => {}
            Meaning::Event(event) => {
                imported.events += 1;
                import
                    .is_at(event.time)
                    .map_err(|what| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {what}")))?;
                import.happens(&event, Some(number))?;
            }
            Meaning::Other => imported.others += 1,
            Meaning::Lost { processor, events } => import.loses(processor, events),
            Meaning::Unreadable => {
                imported.unreadable += 1;
                imported.first_unreadable.get_or_insert_with(|| Line { number, text: shown(line) });
            }
        }
    }
    let done = import.finish()?;
    let Imported { events, others, unreadable, first_unreadable, other_format, .. } = imported;
    Ok(Imported { events, others, unreadable, first_unreadable, other_format, ..done })
}

/// What a line tells.
enum Meaning<'a> {
    /// It is empty, or a comment.
    Nothing,
    Event(Event<'a>),
    /// It is another event, or belongs to one.
    Other,
    /// Events are missing here; 0: it does not say how many.
    Lost {
        processor: u16,
        events: u64,
    },
    Unreadable,
}

fn meaning(whole: &str) -> Meaning<'_> {
    let line = whole.trim();
    if line.is_empty() || line.starts_with('#') {
        return Meaning::Nothing;
    }
    if let Some((processor, events)) = lost(line) {
        return Meaning::Lost { processor, events };
    }
    match event(line) {
        Some(event) => Meaning::Event(event),
        None if is_another_event(line) || is_of_a_stack(whole) => Meaning::Other,
        None => Meaning::Unreadable,
    }
}

/// `CPU:3 [LOST 120 EVENTS]` of ftrace, `CPU:3 [120 EVENTS DROPPED]` of trace-cmd, and both without a number;
/// `web 812 [003] 1234.567890: PERF_RECORD_LOST lost 120` of `perf script --show-lost-events`.
fn lost(line: &str) -> Option<(u16, u64)> {
    if let Some((before, after)) = line.split_once("PERF_RECORD_LOST") {
        let processor = before.split_whitespace().rev().find_map(processor)?;
        let events = after.split_whitespace().rev().find_map(|word| word.parse().ok());
        return Some((processor, events.unwrap_or(0)));
    }
    let (number, said) = line.strip_prefix("CPU:")?.split_once(" [")?;
    let words: Vec<&str> = said.strip_suffix(']')?.split_whitespace().collect();
    let events = match words[..] {
        ["LOST", events, "EVENTS"] | [events, "EVENTS", "DROPPED"] => events.parse().ok()?,
        ["LOST", "EVENTS"] | ["EVENTS", "DROPPED"] => 0,
        _ => return None,
    };
    Some((number_of_processor(number.trim())?, events))
}

/// An event of another name: `web-812 [003] d..2. 1234.567890: irq_handler_entry: irq=9`. One of ours that cannot be read is none.
fn is_another_event(line: &str) -> bool {
    let mut words = line.split_whitespace();
    if !words.any(|word| word.strip_suffix(':').is_some_and(|time| instant(time).is_some())) {
        return false;
    }
    // The next word is its name, or how often it was counted; then a name follows.
    let name = words.find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    let is_ours = |name: &str| OURS.iter().any(|ours| ours.trim_end_matches([':', ' ']) == name);
    name.is_some_and(|name| !is_ours(name.trim_start_matches("sched:").trim_end_matches(':')))
}

/// A line of a stack below its event: ` => schedule` and `<stack trace>` of ftrace, `ffffffff81a0 schedule+0x2e ([kernel])` of perf.
fn is_of_a_stack(whole: &str) -> bool {
    let line = whole.trim();
    let is_address = |word: &str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let indented = whole.starts_with([' ', '\t']);
    line.starts_with("=> ")
        || line.ends_with("<stack trace>")
        || indented && line.ends_with(')') && line.split_whitespace().next().is_some_and(is_address)
}

/// Which other text of Linux's scheduler begins, or goes on, like this.
fn other_format(line: &str) -> Option<OtherFormat> {
    let has = |words: &[&str]| words.iter().all(|word| line.contains(word));
    if has(&["time", "cpu", "task name", "wait time"]) {
        Some(OtherFormat::TimeHistory)
    } else if has(&["Task", "Runtime ms", "delay ms"]) {
        Some(OtherFormat::LatencyTable)
    } else if line.starts_with("*A0 ") {
        Some(OtherFormat::Map)
    } else if line.starts_with('#') && has(&["latency trace v"]) {
        Some(OtherFormat::LatencyTrace)
    } else {
        None
    }
}

/// The beginning of a line, for people.
fn shown(line: &str) -> String {
    const MOST: usize = 100;
    let letter = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    let mut text: String = line.chars().take(MOST).map(letter).collect();
    if line.chars().nth(MOST).is_some() {
        text.push('…');
    }
    text
}

fn number_of_processor(digits: &str) -> Option<u16> {
    digits.parse().ok().filter(|number| *number < MOST_PROCESSORS)
}

/// The events that are read.
const OURS: [&str; 4] = ["sched_switch: ", "sched_waking: ", "sched_wakeup: ", "sched_wakeup_new: "];

/// `[003]`.
fn processor(word: &str) -> Option<u16> {
    number_of_processor(word.strip_prefix('[')?.strip_suffix(']')?)
}

fn event(line: &str) -> Option<Event<'_>> {
    let split = |name: &&'static str| line.split_once(*name).map(|(before, after)| (*name, before, after));
    let (name, before, after) = OURS.iter().find_map(split)?;
    let mut words = before.trim_end().trim_end_matches("sched:").split_whitespace().rev();
    let time = instant(words.next()?.strip_suffix(':')?)?;
    let cpu = words.find_map(processor)?;
    let what = if name == OURS[0] { switch(after)? } else { Happened::Wakeup(task(after.trim(), "")?) };
    Some(Event { time, processor: cpu, what })
}

/// Names of threads can be like what stands between them: of the arrows it is the first that has a thread on either side.
fn switch(text: &str) -> Option<Happened<'_>> {
    const ARROW: &str = "==>";
    text.match_indices(ARROW).find_map(|(at, _)| {
        let (from, state) = before_switch(text[..at].trim())?;
        Some(Happened::Switch { from, state, to: task(text[at + ARROW.len()..].trim(), "next_")? })
    })
}

/// Who ran, and in which state he is left.
fn before_switch(text: &str) -> Option<(Task<'_>, &str)> {
    if text.starts_with("prev_comm=") {
        let (rest, state) = text.rsplit_once(" prev_state=")?;
        return Some((task(rest, "prev_")?, state.trim()));
    }
    let (rest, state) = text.rsplit_once(' ')?;
    if rest.ends_with(']') { Some((task(rest, "")?, state)) } else { None }
}

/// `prev_comm=web prev_pid=812 …`, or `web:812 [120] …`.
fn task<'a>(text: &'a str, prefix: &str) -> Option<Task<'a>> {
    if let Some(fields) = text.strip_prefix(&format!("{prefix}comm=")) {
        let (name, rest) = fields.rsplit_once(&format!(" {prefix}pid="))?;
        return Some(Task { name, number: rest.split_whitespace().next()?.parse().ok()? });
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

#[cfg(test)]
mod tests;
