//! `catapults trace`.

use super::unreadable;
use crate::arguments::{self, Compare, Export, Import, Recording, ShowTrace, ToScenario};
use crate::artefact::{beside, unwritable};
use crate::console::Console;
use crate::failure::Failure;
use catapults_simulator::sim::{duration, short};
use catapults_simulator::trace::{
    self, Comparison, Decision, Imported, Reader, Record, Summary, ThreadSummary, TraceError, Unexported, What,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::fs;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// A recording that is being read, and how far.
struct Opened<'a> {
    path: &'a Path,
    trace: Reader<File>,
    bar: ProgressBar,
}

/// Those of fewer records are read before anybody looks.
const LONG: u64 = 2_000_000;

fn open<'a>(console: &Console, path: &'a Path) -> Result<Opened<'a>, Failure> {
    // Opening a pipe, say, would wait for whoever writes it, and nobody can go back in it.
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(unreadable(path, &io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let trace = Reader::new(file).map_err(|wrong| senseless(path, &wrong))?;
    let records = trace.left();
    // It draws nothing unless standard error is a terminal.
    let bar = if console.is_json() || records < LONG { ProgressBar::hidden() } else { ProgressBar::new(records) };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% of {human_len} records, {eta} left") {
        bar.set_style(style);
    }
    Ok(Opened { path, trace, bar })
}

fn part<'a>(console: &Console, recording: &'a Recording) -> Result<Opened<'a>, Failure> {
    let mut opened = open(console, &recording.file)?;
    if let Some(most) = recording.newest {
        opened.trace.newest(most).map_err(|wrong| senseless(&recording.file, &wrong))?;
        opened.bar.set_position(opened.bar.length().unwrap_or(0).saturating_sub(most));
    }
    Ok(opened)
}

fn senseless(path: &Path, wrong: &TraceError) -> Failure {
    let help = "a recording is made by running a program with CATAPULTS_TRACE=FILE.trace, or by `catapults sim --trace FILE.trace`";
    Failure::of_file("E0509", path, wrong.to_string(), help)
}

/// Moves a bar once in a while: it costs more than a record.
fn advancing(bar: &ProgressBar) -> impl FnMut() {
    const OFTEN: u64 = 1 << 16;
    let bar = bar.clone();
    let mut count = 0;
    move || {
        count += 1;
        if count % OFTEN == 0 {
            bar.inc(OFTEN);
        }
    }
}

pub fn show(console: &Console, arguments: &ShowTrace) -> Result<(), Failure> {
    let Opened { path, mut trace, bar } = part(console, &arguments.recording)?;
    let mut advance = advancing(&bar);
    let mut out = BufWriter::new(io::stdout().lock());
    while let Some(record) = trace.next_record().map_err(|wrong| senseless(path, &wrong))? {
        advance();
        if wanted(&trace, &record, arguments) {
            writeln!(out, "{}", trace.line(&record)).map_err(|error| Failure::of_output(&error))?;
        }
    }
    bar.finish_and_clear();
    out.flush().map_err(|error| Failure::of_output(&error))
}

fn wanted(trace: &Reader<File>, record: &Record, arguments: &ShowTrace) -> bool {
    let since = record.time_ns.saturating_sub(trace.header().start_ns);
    let kind = record.what.word();
    let asked = arguments.kind.iter().any(|word| word == kind);
    let named = |thread: u32, name: &str| {
        thread != 0 && (name.parse() == Ok(thread) || trace.name(thread).is_some_and(|known| known == name))
    };
    let lends = |name: &str| if let What::Lent { donor } = record.what { named(donor, name) } else { false };
    arguments.from.is_none_or(|from| since >= from)
        && arguments.to.is_none_or(|to| since < to)
        && (asked || arguments.kind.is_empty() && !matches!(record.what, What::Named { .. }))
        && (arguments.processor.is_empty() || arguments.processor.contains(&record.processor))
        && (arguments.thread.is_empty()
            || arguments.thread.iter().any(|name| named(record.thread, name) || lends(name)))
}

pub fn summary(console: &Console, arguments: &arguments::Summary) -> Result<(), Failure> {
    let Opened { path, mut trace, bar } = part(console, &arguments.recording)?;
    let summary = trace::summarise(&mut trace, &mut advancing(&bar)).map_err(|wrong| senseless(path, &wrong))?;
    bar.finish_and_clear();
    let header = trace.header();
    let mut text = String::new();
    let lost = if trace.lost() > 0 { format!(", {} older ones lost", trace.lost()) } else { String::new() };
    let _ = writeln!(
        text,
        "{} under {}: {} of {}, {} records{lost}\n",
        header.host,
        header.policy,
        time(summary.length),
        header.clock,
        summary.records
    );
    threads(&mut text, &summary);
    processors(&mut text, &summary);
    if !summary.handlers.is_empty() {
        text.push('\n');
        let mut rows = vec![vec!["decided".to_owned(), "in".to_owned(), "line".to_owned()]];
        for ((event, line), count) in &summary.handlers {
            let line = if *line > 0 { line.to_string() } else { "–".to_owned() };
            rows.push(vec![count.to_string(), event.clone(), line]);
        }
        // The name first.
        rows.iter_mut().for_each(|row| row.swap(0, 1));
        table(&mut text, &rows);
    }
    if arguments.histograms {
        for (name, thread) in &summary.threads {
            histogram(&mut text, name, thread);
        }
    }
    console.result(&text)
}

fn threads(text: &mut String, summary: &Summary) {
    let head =
        ["thread", "count", "running", "share", "ready", "blocked", "turns", "lent", "waited p50", "p99", "worst"];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    let busy = summary.processors.values().fold(0, |sum: u64, processor| sum.saturating_add(processor.busy));
    for (name, thread) in &summary.threads {
        rows.push(vec![
            short(name),
            thread.count.to_string(),
            time(thread.running),
            percent(thread.running, busy),
            time(thread.ready),
            time(thread.blocked),
            thread.dispatches.to_string(),
            thread.borrowed.to_string(),
            time(thread.latency_at(500)),
            time(thread.latency_at(990)),
            time(thread.worst),
        ]);
    }
    table(text, &rows);
}

fn processors(text: &mut String, summary: &Summary) {
    let head = ["processor", "busy", "idle", "switches"];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    for (number, processor) in &summary.processors {
        rows.push(vec![
            number.to_string(),
            percent(processor.busy, summary.length),
            percent(processor.idle, summary.length),
            processor.switches.to_string(),
        ]);
    }
    text.push('\n');
    table(text, &rows);
}

/// A bar for each power of two that a thread waited.
fn histogram(text: &mut String, name: &str, thread: &ThreadSummary) {
    const WIDTH: u64 = 50;
    let most = thread.latency.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let _ = writeln!(text, "\n  {name}, ready before it ran:");
    let first = thread.latency.iter().position(|count| *count > 0).unwrap_or(0);
    let last = thread.latency.iter().rposition(|count| *count > 0).unwrap_or(0);
    for (power, count) in thread.latency.iter().enumerate().take(last + 1).skip(first) {
        let from = if power == 0 { 0 } else { 1 << power };
        let length = (u128::from(*count) * u128::from(WIDTH)).div_ceil(u128::from(most)) as usize;
        let row = format!("  from {:>10}  {count:>9}  {}", time(from), "#".repeat(length));
        let _ = writeln!(text, "{}", row.trim_end());
    }
}

pub fn compare(console: &Console, arguments: &Compare) -> Result<(), Failure> {
    let Opened { trace: mut one, bar, .. } = open(console, &arguments.one)?;
    let Opened { trace: mut other, .. } = open(console, &arguments.other)?;
    let compared = trace::compare(&mut one, &mut other, arguments.by_name, &mut advancing(&bar));
    bar.finish_and_clear();
    let path = |second: bool| if second { &arguments.other } else { &arguments.one };
    let compared = compared.map_err(|(second, wrong)| senseless(path(second), &wrong))?;
    match compared {
        Comparison::Same { decisions, apart } => console.result(&match apart {
            0 => format!("{decisions} decisions, all the same at the same times\n"),
            apart => format!("{decisions} decisions, all the same; in time {} apart at most\n", time(apart)),
        }),
        Comparison::Different { same, one, other } => {
            let mut text = match same {
                0 => "the first decision differs\n".to_owned(),
                1 => "1 decision is the same; the next one differs\n".to_owned(),
                _ => format!("{same} decisions are the same; the next one differs\n"),
            };
            side(&mut text, &arguments.one, one.as_deref());
            side(&mut text, &arguments.other, other.as_deref());
            console.result(&text)?;
            Err(Failure::Said)
        }
    }
}

fn side(text: &mut String, path: &Path, decision: Option<&Decision>) {
    let _ = writeln!(text, "\n{}:", path.display());
    let Some(decision) = decision else {
        let _ = writeln!(text, "  decides nothing more");
        return;
    };
    for line in &decision.before {
        let _ = writeln!(text, "  {line}");
    }
    let because = if decision.because.is_empty() { "the trace does not say why" } else { &decision.because };
    let Decision { thread, processor, .. } = decision;
    let _ = writeln!(text, "> {:>12}  {processor:>3}  {thread} runs  ({because})", time(decision.time));
}

pub fn export(console: &Console, arguments: &Export) -> Result<(), Failure> {
    let file = &arguments.recording.file;
    let output = arguments.output.clone().unwrap_or_else(|| file.with_extension("json"));
    let Opened { mut trace, bar, .. } = part(console, &arguments.recording)?;
    let mut advance = advancing(&bar);
    let perfetto = output.extension().is_some_and(|ending| ending == "pftrace" || ending == "perfetto-trace");
    let records = whole(&output, |mut out| {
        let records = if perfetto {
            trace::export_perfetto(&mut trace, &mut out, &mut advance)
        } else {
            trace::export_chrome(&mut trace, &mut out, &mut advance)
        };
        bar.finish_and_clear();
        records.map_err(|why| match why {
            Unexported::Trace(wrong) => senseless(file, &wrong),
            Unexported::Output(error) => unwritable(&output, &error),
        })
    })?;
    console.result(&format!("{} ({records} records; open it in https://ui.perfetto.dev)\n", output.display()))
}

pub fn to_scenario(console: &Console, arguments: &ToScenario) -> Result<(), Failure> {
    let Opened { path, mut trace, bar } = part(console, &arguments.recording)?;
    let replayed = trace::replay(&mut trace, arguments.most, &mut advancing(&bar));
    bar.finish_and_clear();
    let replayed = replayed.map_err(|wrong| senseless(path, &wrong))?;
    if let Some(left) = replayed.left_at {
        console.note(&format!(
            "note: what is after the first {} of the recording is left out: its threads do more than {} things until then; --most takes more",
            time(left),
            arguments.most
        ));
    }
    let Some(output) = &arguments.output else { return console.result(&replayed.scenario) };
    fs::write(output, &replayed.scenario).map_err(|error| unwritable(output, &error))?;
    console.result(&format!("{} ({} threads, {} phases)\n", output.display(), replayed.threads, replayed.phases))
}

pub fn import(console: &Console, arguments: &Import) -> Result<(), Failure> {
    let file = &arguments.file;
    let mut text: Box<dyn BufRead> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(file).map_err(|error| unreadable(file, &error))?))
    };
    let length = fs::metadata(file).map_or(0, |about| about.len());
    let long = length > LONG * 100;
    let bar = if console.is_json() || !long { ProgressBar::hidden() } else { ProgressBar::new(length) };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% of {total_bytes}, {eta} left") {
        bar.set_style(style);
    }
    let start = text.fill_buf().map_err(|error| unreadable(file, &error))?;
    let packets = trace::is_perfetto(start);
    if start.starts_with(&[0x1f, 0x8b]) {
        return Err(Failure::of_file("E0509", file, "it is compressed by gzip", "decompress it first: `gunzip`"));
    }
    let mut advance = |bytes| bar.inc(bytes);
    let imported = whole(&arguments.output, |out| {
        let imported = match packets {
            true => trace::import_perfetto(&mut text, out, &mut advance),
            false => trace::import_linux(&mut text, out, &mut advance),
        };
        bar.finish_and_clear();
        understood(file, packets, imported)
    })?;
    if imported.compressed > 0 {
        let count = imported.compressed;
        console.note(&format!(
            "note: {count} compressed packets are left out; `traceconv decompress_packets` makes all readable"
        ));
    }
    if imported.lost > 0 {
        console.note(&format!("note: Linux lost events {} times: its buffers were full", imported.lost));
    }
    let records = imported.records;
    console.result(&format!("{} ({} events, {records} records)\n", arguments.output.display(), imported.events))
}

/// A file that appears whole or not at all: what was there stays until then. What is no plain file, such as a pipe, is written to.
fn whole<T>(output: &Path, write: impl FnOnce(BufWriter<File>) -> Result<T, Failure>) -> Result<T, Failure> {
    let plain = fs::metadata(output).map_or(true, |about| about.is_file());
    let unfinished = if plain { beside(output) } else { output.to_path_buf() };
    let file = File::create(&unfinished).map_err(|error| unwritable(output, &error))?;
    let done = write(BufWriter::new(file)).and_then(|value| match plain {
        true => fs::rename(&unfinished, output).map_err(|error| unwritable(output, &error)).map(|()| value),
        false => Ok(value),
    });
    if done.is_err() && plain {
        let _ = fs::remove_file(&unfinished);
    }
    done
}

fn understood(file: &Path, packets: bool, imported: io::Result<Imported>) -> Result<Imported, Failure> {
    let imported = imported.map_err(|error| {
        if error.kind() != io::ErrorKind::InvalidData {
            return unreadable(file, &error);
        }
        let help = match packets {
            true => "is the whole file there? Perfetto's are read as `tracebox` and `traced` write them",
            false => "import each recording by itself; its lines are in the order of their times, but for those of other processors",
        };
        Failure::of_file("E0509", file, error.to_string(), help)
    })?;
    if imported.events == 0 { Err(nothing_of_linux(file, packets, &imported)) } else { Ok(imported) }
}

fn nothing_of_linux(file: &Path, packets: bool, imported: &Imported) -> Failure {
    let Imported { others, compressed, .. } = imported;
    let (title, help) = match (packets, compressed) {
        (true, 0) => (
            format!("no event of Linux's scheduler is among its {others} packets"),
            "record the ftrace events sched/sched_switch and sched/sched_waking",
        ),
        (true, _) => (
            format!("no event of Linux's scheduler is among its packets, {compressed} of which are compressed"),
            "decompress them first: `traceconv decompress_packets`",
        ),
        (false, _) => (
            format!("no event of Linux's scheduler is among its {others} lines"),
            "write one with `perf sched record` and `perf sched script`; the events are sched_switch and sched_wakeup",
        ),
    };
    Failure::of_file("E0509", file, title, help)
}

fn time(nanoseconds: u64) -> String {
    duration(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

/// The first column to the left, the others to the right.
fn table(text: &mut String, rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(
            |(index, (cell, width))| if index == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") },
        );
        let _ = writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  "));
    }
}
