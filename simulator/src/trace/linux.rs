//! Makes a trace of what Linux recorded of its scheduler: of the text of `perf sched script`, `perf script`, `trace-cmd
//! report` or `/sys/kernel/tracing/trace`, even in a page of `systrace`, with the events `sched_switch` and
//! `sched_waking` or `sched_wakeup`. A wakeup may have both.
//!
//! ```text
//! web-812  [003] d..2.  1234.567890: sched_switch: prev_comm=web prev_pid=812 prev_prio=120 prev_state=S ==> next_comm=db next_pid=9 …
//! web   812 [003]  1234.567890: sched:sched_switch: web:812 [120] S ==> db:9 [120]
//! web-812    3d..2.  1234.567890123: (+17) sched_switch: prev_comm=web prev_pid=812 prev_prio=120 prev_state=1 next_comm=db next_pid=9 …
//! ```

mod page;
pub(super) mod states;
mod unread;

use std::borrow::Cow;
use std::io::{self, BufRead, Read, Seek, Write};

use super::MOST_PROCESSORS;
use super::import::{Event, Happened, Import, Imported, Line, OtherFormat, Task, Unimported};
use page::Page;
use states::{Numbering, Seen};

/// Lines are read only up to this many bytes.
const LONGEST: u64 = 1 << 16;
/// A text has no longer line than this; an endless one is no text. Pages contain programs, with lines of any length.
const ENDLESS: u64 = 1 << 20;
/// How much of the text is searched first for what numbers stand for.
const BEGINNING: u64 = 2 << 20;

/// Reads `text`. `read` is told the length of each line in bytes. The number of threads bounds the memory.
///
/// # Errors
/// Those of both files. If a time in the text makes no sense, this is [`io::ErrorKind::InvalidData`], with the line.
pub fn import_linux<R: BufRead, W: Write + Seek>(
    text: &mut R,
    out: W,
    read: &mut dyn FnMut(u64),
) -> Result<Imported, Unimported> {
    let mut beginning = Vec::new();
    Read::take(&mut *text, BEGINNING).read_to_end(&mut beginning)?;
    let mut page = Page::of(&beginning);
    let (numbering, certain) = numbering(&beginning);
    let mut text = Read::chain(beginning.as_slice(), text);
    let mut import = Import::new(out)?;
    let uncertain_states = (!certain).then_some(numbering.in_words());
    let mut imported = Imported::default();
    let mut line = Vec::new();
    let mut starts = true;
    let (mut number, mut long) = (0_u64, 0_u64);
    loop {
        line.clear();
        let length = Read::take(&mut text, LONGEST).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        read(length as u64);
        let is_rest = !starts;
        starts = line.ends_with(b"\n");
        long = if is_rest { long + length as u64 } else { length as u64 };
        if long > ENDLESS && !page.is_page() {
            return Err(Unimported::Endless(number.max(1)));
        }
        // The rest of a long line is no line.
        if is_rest {
            continue;
        }
        number += 1;
        let whole = String::from_utf8_lossy(&line);
        let Some(whole) = page.text(whole.trim_start_matches('\u{feff}')) else { continue };
        let whole = with_spaces(whole.as_ref());
        let whole = whole.as_ref();
        let line = whole.trim();
        if imported.other_format.is_none() && imported.events == 0 {
            imported.other_format = other_format(line);
        }
        match meaning(whole, numbering) {
            Meaning::Nothing => {}
            // Headings come before the events.
            Meaning::Unreadable if imported.events == 0 && is_heading(line) => imported.others += 1,
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
                imported.first_unreadable.get_or_insert_with(|| Line {
                    number,
                    text: shown(line),
                    why: unread::why(line),
                });
            }
        }
    }
    if page.is_page() {
        imported.other_format.get_or_insert(OtherFormat::Page);
    }
    let done = import.finish()?;
    let Imported { events, others, unreadable, first_unreadable, other_format, .. } = imported;
    Ok(Imported { events, others, unreadable, first_unreadable, other_format, uncertain_states, ..done })
}

/// Editors and tables put tabs where tools print spaces.
fn with_spaces(line: &str) -> Cow<'_, str> {
    if line.contains('\t') { Cow::Owned(line.replace('\t', " ")) } else { Cow::Borrowed(line) }
}

/// The meaning of a line.
enum Meaning<'a> {
    /// An empty line, or a comment.
    Nothing,
    Event(Event<'a>),
    /// Another event, or what belongs to one.
    Other,
    /// Events are missing here; 0: not known how many.
    Lost {
        processor: u16,
        events: u64,
    },
    Unreadable,
}

fn meaning(whole: &str, numbering: Numbering) -> Meaning<'_> {
    let line = whole.trim();
    if line.is_empty() || line.starts_with('#') {
        return Meaning::Nothing;
    }
    if let Some((processor, events)) = lost(line) {
        return Meaning::Lost { processor, events };
    }
    match event(line, numbering) {
        Some(event) => Meaning::Event(event),
        None if is_another_event(line) || is_of_a_stack(whole) => Meaning::Other,
        None => Meaning::Unreadable,
    }
}

/// What numbers stand for, judged by those in the beginning of a text; and whether that is certain.
fn numbering(beginning: &[u8]) -> (Numbering, bool) {
    let mut seen = Seen::default();
    let mut page = Page::of(beginning);
    for line in beginning.split(|byte| *byte == b'\n') {
        let line = match page.is_page() {
            true => match page.text(&String::from_utf8_lossy(line)) {
                Some(text) => Cow::Owned(text.into_owned().into_bytes()),
                None => continue,
            },
            false => Cow::Borrowed(line),
        };
        // Other lines need no closer look.
        if !line.windows(NUMBERED.len()).any(|part| part == NUMBERED) {
            continue;
        }
        let line = String::from_utf8_lossy(&line);
        let line = with_spaces(&line);
        if let Some(Found { name: SWITCH, what, .. }) = found(line.trim())
            && let Some((from, state, _)) = switch(what)
            && let Some(number) = number(state)
        {
            seen.leaves(from.number, number);
        }
    }
    seen.numbering(None)
}

const NUMBERED: &[u8] = b"prev_state=";

/// A state that is a number.
fn number(state: &str) -> Option<u64> {
    match state.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => state.parse().ok(),
    }
}

/// `version = 6`, `cpus=8`, `CPU 3 is empty` and the state of buffers from trace-cmd; `TRACE:` from atrace.
fn is_heading(line: &str) -> bool {
    if OURS.iter().any(|name| line.contains(name)) {
        return false;
    }
    if line.strip_prefix("CPU ").is_some_and(|rest| rest.ends_with(" is empty")) || line == "capturing trace... done" {
        return true;
    }
    let Some(at) = line.find(['=', ':']) else { return false };
    let (name, value) = (line[..at].trim_end(), line[at + 1..].trim());
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '_' | '-' | '.' | '/');
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.split(' ').count() <= 4
        && name.chars().all(is_word)
        && value.split_whitespace().count() <= 3
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

/// Another event: `web-812 [003] d..2. 1234.567890: irq_handler_entry: irq=9`. No unreadable one of ours.
fn is_another_event(line: &str) -> bool {
    let mut words = line.split_whitespace();
    if !words.any(|word| word.strip_suffix(':').is_some_and(|time| instant(time).is_some())) {
        return false;
    }
    // The next word is the name, or a count before the name.
    let name = words.find(|word| !word.bytes().all(is_between));
    let is_ours = |name: &str| OURS.contains(&name);
    name.is_some_and(|name| !is_ours(name.trim_start_matches("sched:").trim_end_matches(':')))
}

/// A line of a stack below an event: ` => schedule`, `<stack trace>` of ftrace, `ffffffff81a0 schedule+0x2e ([kernel])`
/// of perf.
fn is_of_a_stack(whole: &str) -> bool {
    let line = whole.trim();
    let is_address = |word: &str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let indented = whole.starts_with([' ', '\t']);
    line.starts_with("=> ")
        || line.ends_with("<stack trace>")
        || indented && line.ends_with(')') && line.split_whitespace().next().is_some_and(is_address)
}

/// The other text about Linux's scheduler that has such a line.
fn other_format(line: &str) -> Option<OtherFormat> {
    let has = |words: &[&str]| words.iter().all(|word| line.contains(word));
    if has(&["time", "cpu", "task name", "wait time"]) {
        Some(OtherFormat::TimeHistory)
    } else if has(&["Task", "Runtime ms", "delay ms"]) {
        Some(OtherFormat::LatencyTable)
    } else if line.starts_with("*A0 ") {
        Some(OtherFormat::Map)
    } else if line.starts_with('#') && has(&["latency trace v"]) || has_relative_time(line) {
        Some(OtherFormat::LatencyTrace)
    } else if line.starts_with(['{', '[']) && (has(&["\"ph\""]) || has(&["traceEvents"]) || line.len() <= 2) {
        Some(OtherFormat::Timeline)
    } else if has(&["{ cpu_id = ", "sched_switch"]) {
        Some(OtherFormat::Lttng)
    } else if line.starts_with("/* CTF ") {
        Some(OtherFormat::LttngData)
    } else if has_ticks(line) {
        Some(OtherFormat::Ticks)
    } else if is_without_a_processor(line) {
        Some(OtherFormat::NoProcessor)
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

/// The events that are imported.
const OURS: [&str; 4] = [SWITCH, "sched_waking", "sched_wakeup", "sched_wakeup_new"];
const SWITCH: &str = "sched_switch";

/// One of our events in a line.
struct Found<'a> {
    name: &'static str,
    time: u64,
    processor: Option<u16>,
    /// What follows its name.
    what: &'a str,
}

/// Thread names can look like event names. The event is the first one that has a time before it.
fn found(line: &str) -> Option<Found<'_>> {
    OURS.iter().find_map(|name| {
        line.match_indices(name).find_map(|(at, _)| {
            let what = line[at + name.len()..].strip_prefix(':')?;
            let before = line[..at].strip_suffix("sched:").unwrap_or(&line[..at]);
            let (before, time) = before_the_event(before)?;
            let processor = before.split_whitespace().rev().find_map(processor);
            let processor = processor.or_else(|| before.split_whitespace().next_back().and_then(latency));
            Some(Found { name, time, processor, what })
        })
    })
}

/// What stands before the time, and the time. After it may come the time since the last event, `(+17)`, or a count.
fn before_the_event(text: &str) -> Option<(&str, u64)> {
    let mut rest = text.trim_end();
    for _ in 0..3 {
        let at = rest.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let (before, word) = rest.split_at(at);
        if let Some(time) = word.strip_suffix(':').and_then(instant) {
            return Some((before, time));
        }
        if word.is_empty() || !word.bytes().all(is_between) {
            return None;
        }
        rest = before.trim_end();
    }
    None
}

fn is_between(byte: u8) -> bool {
    byte.is_ascii_digit() || b"(+)".contains(&byte)
}

/// `[003]`.
fn processor(word: &str) -> Option<u16> {
    number_of_processor(word.strip_prefix('[')?.strip_suffix(']')?)
}

/// `3d..2.`, as in `trace-cmd report -l`: the processor, and its state.
fn latency(word: &str) -> Option<u16> {
    let digits = word.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, state) = word.split_at(digits);
    let known = |byte: u8| byte.is_ascii_digit() || b".dDbBXnNpLlhHszZ#".contains(&byte);
    if state.len() >= 3 && state.bytes().all(known) { number_of_processor(number) } else { None }
}

fn event(line: &str, numbering: Numbering) -> Option<Event<'_>> {
    let Found { name, time, processor, what } = found(line)?;
    // Where the end of a line is missing, the next event would be a part of a name.
    if found(what).is_some() {
        return None;
    }
    let what = if name == SWITCH {
        let (from, state, to) = switch(what)?;
        let state = number(state).map_or(state, |number| numbering.letter(number));
        Happened::Switch { from, state, to }
    } else {
        Happened::Wakeup(task(what.trim(), "")?)
    };
    Some(Event { time, processor: processor?, what })
}

/// Thread names can look like what separates them. The separator is the first possible one that has a thread on both
/// sides. Without arrows, the fields may have any order.
fn switch(text: &str) -> Option<(Task<'_>, &str, Task<'_>)> {
    const ARROW: &str = "==>";
    const NEXT: &str = " next_comm=";
    let arrows = text.match_indices(ARROW).map(|(at, _)| (at, at + ARROW.len()));
    let fields = text.match_indices(NEXT).map(|(at, _)| (at, at));
    arrows
        .chain(fields)
        .find_map(|(end, start)| {
            let (from, state) = before_switch(text[..end].trim())?;
            Some((from, state, task(text[start..].trim(), "next_")?))
        })
        .or_else(|| by_fields(text))
}

/// `next_pid=9 next_comm=db … prev_state=0x1 (1) prev_pid=812 prev_comm=web`.
fn by_fields(text: &str) -> Option<(Task<'_>, &str, Task<'_>)> {
    const FIELDS: [&str; 7] =
        ["prev_comm=", "prev_pid=", "prev_prio=", "prev_state=", "next_comm=", "next_pid=", "next_prio="];
    let text = text.trim();
    let starts: Vec<usize> = (0..text.len())
        .filter(|at| *at == 0 || text.as_bytes()[at - 1] == b' ')
        .filter(|at| text.get(*at..).is_some_and(|rest| FIELDS.iter().any(|field| rest.starts_with(field))))
        .collect();
    let field = |name: &str| {
        let place = starts.iter().position(|start| text[*start..].starts_with(name))?;
        let end = starts.get(place + 1).copied().unwrap_or(text.len());
        Some(text[starts[place] + name.len()..end].trim())
    };
    let first = |name: &str| field(name).and_then(|value| value.split_whitespace().next());
    let task = |name: &str, number: &str| Some(Task { name: field(name)?, number: first(number)?.parse().ok()? });
    Some((task(FIELDS[0], FIELDS[1])?, first(FIELDS[3])?, task(FIELDS[4], FIELDS[5])?))
}

/// The thread that ran, and the state in which it is left.
fn before_switch(text: &str) -> Option<(Task<'_>, &str)> {
    if text.starts_with("prev_comm=") {
        let (rest, state) = text.rsplit_once(" prev_state=")?;
        let state = state.trim();
        return if state.contains(' ') { None } else { Some((task(rest, "prev_")?, state)) };
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
    let (brief, _) = text.rsplit_once(" [").unwrap_or((text, ""));
    let (name, rest) = brief.rsplit_once(':')?;
    let number = rest.split_whitespace().next()?.parse().ok()?;
    Some(Task { name: name.trim(), number })
}

/// One of our events with a time that is not in seconds: `12us+: sched_switch: `.
fn has_relative_time(line: &str) -> bool {
    let is_time = |word: &str| {
        let digits = word.trim_end_matches([':', '+', '!', '#', '*', '$', '@']);
        digits
            .strip_suffix("us")
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    before_ours(line)
        .is_some_and(|before| before.trim_end_matches([' ', ':']).split_whitespace().next_back().is_some_and(is_time))
}

/// One of our events with a count as its time.
fn has_ticks(line: &str) -> bool {
    let is_count = |word: &str| {
        word.strip_suffix(':')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    before_ours(line).is_some_and(|before| before.split_whitespace().next_back().is_some_and(is_count))
}

fn is_without_a_processor(line: &str) -> bool {
    let has_none = |before| unread::bracketed(before).is_none();
    found(line).is_some_and(|found| found.processor.is_none()) && before_ours(line).is_some_and(has_none)
}

/// What stands before the name of one of our events.
fn before_ours(line: &str) -> Option<&str> {
    let at = OURS.iter().filter_map(|name| line.find(&format!("{name}:"))).min()?;
    let before = line[..at].trim_end();
    Some(before.strip_suffix("sched:").unwrap_or(before).trim_end())
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
