//! `catapults trace import`.

use super::LONG;
use crate::arguments::Import;
use crate::commands::{input_is_open, is_standard_input, unreadable};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{self, ready, unwritable, whole};
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use catapults_simulator::sim::exact_since;
use catapults_simulator::trace::{self, Imported, OtherFormat, Unimported};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

pub fn import(console: &Console, arguments: &Import) -> Result<(), Failure> {
    let file = &arguments.file;
    let mut text: Box<dyn BufRead> = if is_standard_input(file) {
        input_is_open()?;
        files::is_read(Path::new("/dev/stdin"));
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(files::open(file).map_err(|error| unreadable(file, &error))?))
    };
    ready("--output", &arguments.output)?;
    let length = fs::metadata(file).map_or(0, |about| about.len());
    let long = length > LONG * 100;
    let bar = if console.is_json() || !long { ProgressBar::hidden() } else { ProgressBar::new(length) };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% of {total_bytes}, {eta} left") {
        bar.set_style(style);
    }
    let start = text.fill_buf().map_err(|error| unreadable(file, &error))?;
    let packets = trace::is_perfetto(start);
    if let Some((title, help)) = binary(start, length) {
        return Err(Failure::of_file("E0509", file, title, help));
    }
    let mut advance = |bytes| bar.inc(bytes);
    let imported = whole("--output", &arguments.output, |out| {
        let imported = match packets {
            true => trace::import_perfetto(&mut text, out, &mut advance),
            false => trace::import_linux(&mut text, out, &mut advance),
        };
        bar.finish_and_clear();
        understood(arguments, packets, imported)
    })?;
    if imported.compressed > 0 {
        let count = imported.compressed;
        console.note(&format!(
            "note: {count} packets compressed by zstd are left out; `traceconv decompress_packets` makes all readable"
        ));
    }
    left_out(console, file, &imported);
    let records = imported.records;
    console.result(&format!("{} ({} events, {records} records)\n", arguments.output.display(), imported.events))
}

/// The beginnings of binary files, and how to make a text of each.
const BINARY: [(&[u8], &str, &str); 15] = [
    (&[0x1f, 0x8b], "it is compressed by gzip", "decompress it first: `gunzip`"),
    (b"BZh", "it is compressed by bzip2", "decompress it first: `bunzip2`"),
    (b"\xfd7zXZ\0", "it is compressed by xz", "decompress it first: `unxz`"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "it is compressed by zstd", "decompress it first: `unzstd`"),
    (&[0x04, 0x22, 0x4d, 0x18], "it is compressed by lz4", "decompress it first: `unlz4`"),
    (b"PK\x03\x04", "it is an archive of zip's", "unpack it first: `unzip`"),
    (b"PERFILE2", PERF, PERF_SCRIPT),
    (b"PERFFILE", PERF, PERF_SCRIPT),
    (b"2ELIFREP", PERF, PERF_SCRIPT),
    (
        b"\x17\x08\x44tracing",
        "this is what trace-cmd recorded, not its text",
        "`trace-cmd report FILE > FILE.txt` makes it a text",
    ),
    (&[0xc1, 0x1f, 0xfc, 0xc1], "this is what LTTng recorded, and its text cannot be read, either", LTTNG),
    (&[0xc1, 0xfc, 0x1f, 0xc1], "this is what LTTng recorded, and its text cannot be read, either", LTTNG),
    (&[0xff, 0xfe], "it is a text in UTF-16", "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8 FILE > FILE.txt`"),
    (&[0xfe, 0xff], "it is a text in UTF-16", "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8 FILE > FILE.txt`"),
    (b"CATTRACE", "this is a trace already", "read it with `catapults trace show` or `catapults trace summary`"),
];

const PERF: &str = "this is what perf recorded, not its text";
const PERF_SCRIPT: &str = "`perf script -i FILE > FILE.txt` makes it a text";
const LTTNG: &str = "record the same with `perf sched record`, and print it with `perf sched script`";

/// What a binary file is, and how to get a text. `length`: of the file, if it is one.
fn binary(start: &[u8], length: u64) -> Option<(&'static str, &'static str)> {
    if let Some((_, title, help)) = BINARY.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Some((title, help));
    }
    if start.windows(ATRACE_PACKED.len()).any(|part| part == ATRACE_PACKED) {
        return Some((
            "it is compressed, as `atrace -z` does",
            "record without `-z`, or with `systrace`, whose pages can be read",
        ));
    }
    if is_ring(start, length) {
        return Some((
            "these are raw pages of ftrace's buffer (trace_pipe_raw), not a text",
            "read /sys/kernel/tracing/trace instead; or, where they were recorded, convert the files of all processors for trace-cmd: `trace-cmd restore FILE.cpu0 FILE.cpu1 …`, then `trace-cmd report trace.dat > FILE.txt`",
        ));
    }
    // Texts have no zeros.
    if start.contains(&0) && !trace::is_perfetto(start) {
        return Some((
            "this is neither a text nor a known kind of recording",
            "the tool that recorded it may print a text: `perf script`, `trace-cmd report`; or read /sys/kernel/tracing/trace",
        ));
    }
    None
}

/// The heading, and the beginning of zlib's data.
const ATRACE_PACKED: &[u8] = b"TRACE:\n\x78";

/// Pages begin with a time and the number of used bytes, whose topmost bits say that events are missing.
fn is_ring(start: &[u8], length: u64) -> bool {
    const PAGE: usize = 4096;
    const HEAD: u64 = 16;
    let number = |at: usize| start.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let whole = length > 0 && length.is_multiple_of(PAGE as u64);
    let plausible = |page: usize| match (number(page), number(page + 8)) {
        (Some(time), Some(used)) => {
            time > 0 && (1..=PAGE as u64 - HEAD).contains(&(used & 0x3fff_ffff)) && used >> 32 == 0
        }
        (_, _) => true,
    };
    whole && (0..start.len()).step_by(PAGE).all(plausible)
}

fn understood(arguments: &Import, packets: bool, imported: Result<Imported, Unimported>) -> Result<Imported, Failure> {
    let file = &arguments.file;
    let imported = imported.map_err(|why| match why {
        Unimported::Output(error) => unwritable("--output", &arguments.output, &error),
        Unimported::Endless(_) => {
            let help = "this is no text of Linux's scheduler: `perf sched record` and `perf sched script` write one";
            Failure::of_file("E0509", file, why.to_string(), help)
        }
        Unimported::Input(error) if error.kind() != io::ErrorKind::InvalidData => unreadable(file, &error),
        Unimported::Input(error) => {
            let help = match packets {
                true => "is the whole file there? Perfetto's are read as `tracebox` and `traced` write them",
                false => "import each recording by itself; lines must be in the order of their times, except between processors",
            };
            Failure::of_file("E0509", file, error.to_string(), help)
        }
    })?;
    if imported.events == 0 {
        return Err(nothing_of_linux(file, packets, &imported));
    }
    let all = imported.events + imported.others + imported.unreadable;
    if imported.unreadable > 1 && imported.unreadable > all / MOST_UNREADABLE {
        let title = format!("{} of its {all} lines cannot be read", imported.unreadable);
        let help = format!(
            "with more than one in {MOST_UNREADABLE}, the others are unreliable; {}",
            "was it copied whole, as `perf sched script`, `trace-cmd report` or ftrace wrote it?"
        );
        let diagnostic = Diagnostic::error("E0509", title, At::default(), "").help(help);
        return Err(Failure::of(&file.display().to_string(), first_unreadable(diagnostic, &imported)));
    }
    let contradictions = imported.contradictions;
    if contradictions > 1 && contradictions > imported.events / MOST_CONTRADICTORY {
        let title = format!("{contradictions} of its {} events contradict those before them", imported.events);
        let help = format!(
            "with more than one in {MOST_CONTRADICTORY}, the others are unreliable; is this one recording, as `perf sched script` or ftrace wrote it?"
        );
        let diagnostic = Diagnostic::error("E0509", title, At::default(), "").help(help);
        return Err(Failure::of(&file.display().to_string(), first_contradiction(diagnostic, &imported)));
    }
    Ok(imported)
}

/// One contradiction in so many events is accepted: Linux may not have said that it lost some.
const MOST_CONTRADICTORY: u64 = 5;

fn first_contradiction(diagnostic: Diagnostic, imported: &Imported) -> Diagnostic {
    let Some(first) = &imported.first_contradiction else { return diagnostic };
    let place = match first.line {
        Some(line) => format!("line {line}"),
        None => format!("{} after the beginning", exact_since(first.since)),
    };
    let several = if imported.contradictions > 1 { "first, " } else { "" };
    diagnostic.note(format!("{several}{place}: {}", first.what))
}

/// One unreadable line in so many is accepted: the last one may be cut off, or two processes may have written at once.
const MOST_UNREADABLE: u64 = 20;

fn first_unreadable(diagnostic: Diagnostic, imported: &Imported) -> Diagnostic {
    let Some(line) = &imported.first_unreadable else { return diagnostic };
    let diagnostic = diagnostic.note(format!(
        "{}line {}: {}",
        if imported.unreadable > 1 { "first, " } else { "" },
        line.number,
        line.text
    ));
    match &line.why {
        Some(why) => diagnostic.note(why.clone()),
        None => diagnostic,
    }
}

/// Warns about parts of a recording that are not in the trace.
fn left_out(console: &Console, file: &Path, imported: &Imported) {
    let mut said = Diagnostics::new();
    if imported.unreadable > 0 {
        let title = match imported.unreadable {
            1 => "a line cannot be read, and is left out".to_owned(),
            count => format!("{count} lines cannot be read, and are left out"),
        };
        said.push(first_unreadable(Diagnostic::warning("E0509", title, At::default(), ""), imported));
    }
    if imported.contradictions > 0 {
        let title = match imported.contradictions {
            1 => "an event contradicts those before it".to_owned(),
            count => format!("{count} events contradict those before them"),
        };
        let warning = Diagnostic::warning("E0509", title, At::default(), "");
        said.push(first_contradiction(warning, imported).help(
            "events may be missing without notice, or the clocks of processors differ: what threads did around these events is not certain",
        ));
    }
    if imported.wakeups == 0 && imported.unwoken > 0 {
        let title = "no event says when a thread was woken: how long threads were ready is not known";
        let warning = Diagnostic::warning("E0509", title, At::default(), "");
        let times = if imported.unwoken == 1 { "once".to_owned() } else { format!("{} times", imported.unwoken) };
        said.push(
            warning
                .note(format!("a thread that had waited ran again: {times}; it counts as waiting until then"))
                .help("record sched_waking or sched_wakeup as well as sched_switch, as `perf sched record` does"),
        );
    }
    if let Some(taken) = imported.uncertain_states {
        let title = "states of threads are numbers, and the kernel is not known: what they stand for is not certain";
        said.push(
            Diagnostic::warning("E0509", title, At::default(), "")
                .note(format!("they are taken {taken}"))
                .help("print letters, by `trace-cmd report` without `-R`; or record switches of the idle threads, too, which tell the kernel"),
        );
    }
    if !imported.lost.is_empty() {
        let mut warning = Diagnostic::warning("E0509", "Linux lost events: its buffers were full", At::default(), "");
        for (processor, lost) in &imported.lost {
            let times = if lost.times == 1 { "once".to_owned() } else { format!("{} times", lost.times) };
            let events = match (lost.events, lost.more) {
                (0, _) => "it does not say how many".to_owned(),
                (events, false) => format!("{events} events"),
                (events, true) => format!("more than {events} events"),
            };
            warning = warning.note(format!("processor {processor}: {times}, {events}"));
        }
        said.push(warning.note(
            "threads on other processors are taken to run on; the states of all others are not known until their next event",
        ).help("`catapults trace show --kind lost` says where; record with larger buffers: `perf sched record -m 8M`, or ftrace's buffer_size_kb"));
    }
    console.diagnostics(&Source::new(file.display().to_string(), ""), &said);
}

fn nothing_of_linux(file: &Path, packets: bool, imported: &Imported) -> Failure {
    let Imported { others, unreadable, compressed, .. } = imported;
    if !packets && others + unreadable == 0 {
        let help = "write one with `perf sched record` and `perf sched script`";
        return Failure::of_file("E0509", file, "nothing is recorded in it", help);
    }
    if let Some(format) = imported.other_format {
        let (title, help) = other_format(format);
        return Failure::of_file("E0509", file, title, help);
    }
    let (title, help) = match (packets, compressed) {
        (true, 0) => (
            format!("no event of Linux's scheduler is among its {others} packets"),
            "record the ftrace events sched/sched_switch and sched/sched_waking",
        ),
        (true, _) => (
            format!("no event of Linux's scheduler is among its packets, {compressed} of which are compressed by zstd"),
            "decompress them first: `traceconv decompress_packets`",
        ),
        (false, _) => (
            format!("no event of Linux's scheduler is among its {} lines", others + unreadable),
            "write one with `perf sched record` and `perf sched script`; the events are sched_switch, and sched_waking or sched_wakeup",
        ),
    };
    let diagnostic = Diagnostic::error("E0509", title, At::default(), "").help(help);
    Failure::of(&file.display().to_string(), first_unreadable(diagnostic, imported))
}

/// What the format is, and how to get a readable one.
fn other_format(format: OtherFormat) -> (&'static str, &'static str) {
    let script = "the recording itself has them: `perf sched script`, or `perf script`, prints it";
    match format {
        OtherFormat::TimeHistory => {
            ("this is the table of `perf sched timehist`, without the events themselves", script)
        }
        OtherFormat::LatencyTable => {
            ("this is the table of `perf sched latency`, without the events themselves", script)
        }
        OtherFormat::Map => ("this is the map of `perf sched map`, without the events themselves", script),
        OtherFormat::Timeline => (
            "this is a timeline in Chrome's JSON, without the events themselves",
            "the original recording has them; `traceconv systrace` prints those of Perfetto's",
        ),
        OtherFormat::Lttng | OtherFormat::LttngData => ("this is LTTng's, whose text cannot be read", LTTNG),
        OtherFormat::Page => (
            "there is no recording in this page",
            "pages of systrace have one, between `<script class=\"trace-data\" …>` and `</script>`",
        ),
        OtherFormat::Ticks => (
            "its clock does not count time",
            "record again with one that does: `trace-cmd record -C mono`, or write `mono` to /sys/kernel/tracing/trace_clock",
        ),
        OtherFormat::NoProcessor => (
            "its events do not say on which processor they were",
            "`perf script -F comm,pid,tid,cpu,time,event,trace` prints that, too",
        ),
        OtherFormat::LatencyTrace => (
            "this is ftrace's latency format, in which times are not those of the clock",
            "write 0 to /sys/kernel/tracing/options/latency-format, nop to current_tracer, and record again",
        ),
    }
}
