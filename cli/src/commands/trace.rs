//! `catapults trace`.

mod data;
mod html;
mod import;
mod plot;
mod show;

pub use html::html;
pub use import::import;
pub use plot::plot;
pub use show::show;

use super::{counted, is_standard_input, unreadable};
use crate::arguments::{self, Compare, Export, Recording, ToScenario};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{self, ready, unasked, unwritable, whole, whole_text};
use crate::table::table;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use catapults_simulator::picture::{LONGEST_NAME, short_names, visible};
use catapults_simulator::sim::{duration, exact_since};
use catapults_simulator::trace::{
    self, Comparison, Decision, Reader, Replay, Summary, ThreadSummary, TraceError, Unexported,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;

/// A trace that is being read.
struct Opened<'a> {
    path: &'a Path,
    trace: Reader<File>,
    bar: ProgressBar,
}

/// Shorter traces need no bar.
const LONG: u64 = 2_000_000;

fn open<'a>(console: &Console, path: &'a Path) -> Result<Opened<'a>, Failure> {
    if is_standard_input(path) {
        let title = "a recording must be a file, but `-` is standard input";
        let help = "save the input to a file, and give that; write ./- for a file of this name";
        return Err(Failure::of_usage("-", Diagnostic::error("E0501", title, At::default(), "").help(help)));
    }
    // Opening a pipe, for instance, would wait for its writer; and a pipe cannot be read twice.
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            return Err(unreadable(path, &io::Error::from(io::ErrorKind::IsADirectory)));
        }
        Ok(about) if !about.is_file() => {
            let help = "save the input to a file, and give that";
            return Err(Failure::of_file("E0501", path, "a recording must be a regular file", help));
        }
        Ok(_) | Err(_) => {}
    }
    let file = files::open(path).map_err(|error| unreadable(path, &error))?;
    let trace = Reader::new(file).map_err(|wrong| senseless(path, &wrong))?;
    let records = trace.left();
    // It is drawn only on a terminal.
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
    let help = match wrong {
        TraceError::Senseless { .. } => {
            "a recording is made by running a program with CATAPULTS_TRACE=FILE.trace, or by `catapults sim --trace FILE.trace`"
        }
        TraceError::CutOff { .. } => "copy the whole file, or record again: the disk may have been full",
        TraceError::Crowded(_) => {
            "read only the last records: `--newest 1000000`; or record a shorter time, or fewer threads"
        }
    };
    Failure::of_file("E0509", path, wrong.to_string(), help)
}

/// Refuses an empty part.
fn within(from: Option<u64>, to: Option<u64>) -> Result<(), Failure> {
    match (from, to) {
        (from, Some(to)) if from.unwrap_or(0) >= to => {
            let title =
                format!("there is nothing from {} on and before {}", exact_since(from.unwrap_or(0)), exact_since(to));
            let help = "--to is the end of the part, since the beginning of recording".to_owned();
            Err(of_usage("E0518", "--to", title, help))
        }
        (_, _) => Ok(()),
    }
}

/// The trace ends before the part that was asked for.
fn over(from: u64, help: &str) -> Failure {
    let title = format!("there is nothing from {} on", exact_since(from));
    of_option("E0518", "--from", title, help.to_owned())
}

fn unrecorded(file: &Path) -> Failure {
    let help = "was anything recorded? `catapults trace summary` says how many records there are";
    Failure::of_file("E0509", file, "it has no records", help)
}

/// Advances a bar now and then, because that takes longer than reading a record.
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

/// From how many nanoseconds on a clock's resolution is reported in summaries.
const COARSE: u32 = 1_000;

pub fn summary(console: &Console, arguments: &arguments::Summary) -> Result<(), Failure> {
    let Opened { path, mut trace, bar } = part(console, &arguments.recording)?;
    let summary = trace::summarise(&mut trace, &mut advancing(&bar)).map_err(|wrong| senseless(path, &wrong))?;
    bar.finish_and_clear();
    let header = trace.header();
    if console.is_json() {
        console.record(&data::object(path, header, trace.lost(), &summary));
    }
    let mut text = String::new();
    let lost = if trace.lost() > 0 { format!(", {} older ones lost", trace.lost()) } else { String::new() };
    let _ = writeln!(
        text,
        "{} under {}: {} of {}, {} records{lost}\n",
        visible(&header.host),
        visible(&header.policy),
        time(summary.length),
        header.clock,
        summary.records
    );
    threads(&mut text, &summary);
    processors(&mut text, &summary);
    if header.resolution_ns >= COARSE {
        let step = time(u64::from(header.resolution_ns));
        let _ = writeln!(text, "\nall times are multiples of {step}: shorter ones show as 0 or {step}");
    }
    if !summary.handlers.is_empty() {
        text.push('\n');
        let mut rows = vec![vec!["decided".to_owned(), "in".to_owned(), "line".to_owned()]];
        for ((event, line), count) in &summary.handlers {
            let line = if *line > 0 { line.to_string() } else { "–".to_owned() };
            rows.push(vec![count.to_string(), visible(event).into_owned(), line]);
        }
        // The name comes first.
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
    let head = [
        "thread",
        "count",
        "running",
        "share",
        "ready",
        "lending",
        "blocked",
        "turns",
        "borrowed",
        "waited p50",
        "p99",
        "worst",
    ];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    let busy = summary.processors.values().fold(0, |sum: u64, processor| sum.saturating_add(processor.busy));
    let names = short_names(summary.threads.keys().map(String::as_str), LONGEST_NAME);
    for (name, thread) in names.into_iter().zip(summary.threads.values()) {
        rows.push(vec![
            name,
            thread.count.to_string(),
            time(thread.running),
            percent(thread.running, busy),
            time(thread.ready),
            time(thread.lending),
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

/// A bar for each power of two of waiting times.
fn histogram(text: &mut String, name: &str, thread: &ThreadSummary) {
    const WIDTH: u64 = 50;
    let most = thread.latency.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let _ = writeln!(text, "\n  {}, ready before it ran:", visible(name));
    // Many powers between the shortest and the longest time may have no stays.
    for (power, count) in thread.latency.iter().enumerate().filter(|(_, count)| **count > 0) {
        let from = if power == 0 { 0 } else { 1 << power };
        let to = 2_u64.saturating_mul(1 << power);
        let length = (u128::from(*count) * u128::from(WIDTH)).div_ceil(u128::from(most)) as usize;
        let _ = writeln!(text, "  {:>10} to {:>10}  {count:>9}  {}", time(from), time(to), "#".repeat(length));
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
            apart => {
                format!("{decisions} decisions, all the same; their times differ by {} at most\n", exact_since(apart))
            }
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
    let _ = writeln!(text, "> {:>12}  {processor:>3}  {thread} runs  ({because})", exact_since(decision.time));
}

pub fn export(console: &Console, arguments: &Export) -> Result<(), Failure> {
    let file = &arguments.recording.file;
    let output = arguments.output.clone().unwrap_or_else(|| file.with_extension("json"));
    let perfetto = match output.extension().and_then(OsStr::to_str) {
        Some("json") => false,
        Some("pftrace" | "perfetto-trace") => true,
        Some(_) | None => {
            let title = format!("the ending of `{}` does not say what to write", output.display());
            let help = "end it with .json for Chrome's format, or with .pftrace or .perfetto-trace for Perfetto's";
            return Err(of_usage("E0503", "--output", title, help.to_owned()));
        }
    };
    let Opened { mut trace, bar, .. } = part(console, &arguments.recording)?;
    ready("--output", &output)?;
    unasked("--output", &output, arguments.force || arguments.output.is_some())?;
    let mut advance = advancing(&bar);
    let records = whole("--output", &output, |out| {
        let records = if perfetto {
            trace::export_perfetto(&mut trace, out, &mut advance)
        } else {
            trace::export_chrome(&mut trace, out, &mut advance)
        };
        bar.finish_and_clear();
        records.map_err(|why| match why {
            Unexported::Trace(wrong) => senseless(file, &wrong),
            Unexported::Output(error) => unwritable("--output", &output, &error),
        })
    })?;
    console.result(&format!("{} ({records} records; open it in https://ui.perfetto.dev)\n", output.display()))
}

pub fn to_scenario(console: &Console, arguments: &ToScenario) -> Result<(), Failure> {
    let Opened { path, mut trace, bar } = part(console, &arguments.recording)?;
    arguments.output.as_ref().map_or(Ok(()), |output| ready("--output", output))?;
    let most = usize::try_from(arguments.most).unwrap_or(usize::MAX);
    let replayed = trace::replay(&mut trace, most, &mut advancing(&bar));
    bar.finish_and_clear();
    let replayed = replayed.map_err(|wrong| senseless(path, &wrong))?;
    can_be_read(path, &replayed)?;
    if let Some(left) = replayed.left_at {
        console.note(&format!(
            "note: only the first {} of the recording are taken: they have more than {} phases, threads and values; --most takes more",
            exact_since(left),
            arguments.most
        ));
    }
    let Some(output) = &arguments.output else { return console.data(&replayed.scenario) };
    whole_text("--output", output, &replayed.scenario)?;
    let (threads, phases) = (counted(replayed.threads, "thread"), counted(replayed.phases, "phase"));
    console.result(&format!("{} ({threads}, {phases})\n", output.display()))
}

/// Long names can make a scenario longer than what can be read.
fn can_be_read(path: &Path, replayed: &Replay) -> Result<(), Failure> {
    let (length, longest) = (replayed.scenario.len(), Source::LONGEST_SCENARIOS);
    if length <= longest {
        return Ok(());
    }
    let title = format!("the scenario would have {length} bytes, but only {longest} can be read");
    // All parts take about the same number of bytes.
    let fewer = replayed.taken as u128 * longest as u128 / length as u128 * 9 / 10;
    Err(Failure::of_file("E0105", path, title, format!("take less of the recording: `--most {fewer}`")))
}

/// Wrong usage, whatever the trace contains.
fn of_usage(code: &'static str, option: &str, title: String, help: String) -> Failure {
    Failure::of_usage(option, Diagnostic::error(code, title, At::default(), "").help(help))
}

/// A wrong request.
fn of_option(code: &'static str, option: &str, title: String, help: String) -> Failure {
    Failure::of(option, Diagnostic::error(code, title, At::default(), "").help(help))
}

fn time(nanoseconds: u64) -> String {
    duration(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}
