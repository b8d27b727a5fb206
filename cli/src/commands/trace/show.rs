//! `catapults trace show`.

use super::{Opened, advancing, of_option, over, part, senseless, unrecorded, within};
use crate::arguments::ShowTrace;
use crate::console::Console;
use crate::failure::Failure;
use catapults_simulator::picture::{short, visible};
use catapults_simulator::sim::exact_since;
use catapults_simulator::trace::{Reader, Record, What};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};

pub fn show(console: &Console, arguments: &ShowTrace) -> Result<(), Failure> {
    within(arguments.from, arguments.to)?;
    let Opened { path, mut trace, bar } = part(console, &arguments.recording)?;
    let mut advance = advancing(&bar);
    let mut there = There::default();
    let mut out = BufWriter::new(io::stdout().lock());
    while let Some(record) = trace.next_record().map_err(|wrong| senseless(path, &wrong))? {
        advance();
        there.notice(&trace, &record, arguments);
        if wanted(&trace, &record, arguments) {
            writeln!(out, "{}", visible(&trace.line(&record))).map_err(|error| Failure::of_output(&error))?;
        }
    }
    bar.finish_and_clear();
    out.flush().map_err(|error| Failure::of_output(&error))?;
    there.missing(arguments).map_or(Ok(()), Err)
}

/// What a trace contains of what was asked for.
#[derive(Default)]
struct There {
    /// The names and numbers of threads that were asked for and found.
    asked: BTreeSet<String>,
    /// The first names of threads, or numbers if they have none.
    threads: BTreeSet<String>,
    more_threads: bool,
    processors: BTreeSet<u16>,
    /// Since recording began.
    last: Option<u64>,
}

impl There {
    fn notice(&mut self, trace: &Reader<File>, record: &Record, arguments: &ShowTrace) {
        /// How many are listed.
        const MOST: usize = 20;
        self.last = Some(record.time_ns.saturating_sub(trace.header().start_ns));
        if !is_named(record) {
            self.processors.insert(record.processor);
        }
        if arguments.thread.is_empty() || record.thread == 0 {
            return;
        }
        let found = |name: &&String| called(trace, record, name);
        self.asked.extend(arguments.thread.iter().filter(found).cloned());
        // A new thread has no name yet.
        if record.what == What::New {
            return;
        }
        let name = trace.name(record.thread).map_or_else(|| record.thread.to_string(), short);
        if self.threads.contains(&name) {
            return;
        }
        if self.threads.len() < MOST {
            self.threads.insert(name);
        } else {
            self.more_threads = true;
        }
    }

    /// What was asked for but does not occur at all.
    fn missing(&self, arguments: &ShowTrace) -> Option<Failure> {
        let Some(last) = self.last else {
            return Some(unrecorded(&arguments.recording.file));
        };
        if let Some(name) = arguments.thread.iter().find(|name| !self.asked.contains(*name)) {
            let more = if self.more_threads { " and others" } else { "" };
            let names: Vec<String> = self.threads.iter().map(|name| format!("`{name}`")).collect();
            let help = format!("there are {}{more}; a number names a single thread", names.join(", "));
            return Some(of_option("E0518", "--thread", format!("there is no thread `{name}`"), help));
        }
        if let Some(number) = arguments.processor.iter().find(|number| !self.processors.contains(number)) {
            let numbers: Vec<String> = self.processors.iter().map(u16::to_string).collect();
            let help = format!("there are records of {}", numbers.join(", "));
            return Some(of_option("E0518", "--processor", format!("nothing happens on processor {number}"), help));
        }
        let from = arguments.from.filter(|from| *from > last)?;
        Some(over(from, &format!("the last record is of {}", exact_since(last))))
    }
}

/// Whether the record is about a thread with this name or number.
fn called(trace: &Reader<File>, record: &Record, name: &str) -> bool {
    let named = |thread: u32| {
        thread != 0 && (name.parse() == Ok(thread) || trace.name(thread).is_some_and(|known| known == name))
    };
    named(record.thread) || matches!(record.what, What::Lent { donor } if named(donor))
}

fn is_named(record: &Record) -> bool {
    matches!(record.what, What::Named { .. })
}

fn wanted(trace: &Reader<File>, record: &Record, arguments: &ShowTrace) -> bool {
    let since = record.time_ns.saturating_sub(trace.header().start_ns);
    let kind = record.what.word();
    let asked = arguments.kind.iter().any(|word| word == kind);
    arguments.from.is_none_or(|from| since >= from)
        && arguments.to.is_none_or(|to| since < to)
        && (asked || arguments.kind.is_empty() && !is_named(record))
        && (arguments.processor.is_empty() || arguments.processor.contains(&record.processor))
        && (arguments.thread.is_empty() || arguments.thread.iter().any(|name| called(trace, record, name)))
}
