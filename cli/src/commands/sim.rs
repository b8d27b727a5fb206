//! `catapults sim`.

mod data;
mod page;

use super::page::{is_html, written};
use super::run::up_to_date;
use super::{is_of_rtapp, is_of_scenarios, is_standard_input, read_source, unreadable_by};
use crate::arguments::Sim;
use crate::artefact::Accepted;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{apart, is_read, ready, unwritable, whole, whole_text};
use crate::frameworks::{self, Found};
use crate::scenarios::{self, Case, Instead, Loaded, Origin, Policies, deciding};
use crate::table;
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::framework::{Framework, Protocol};
use catapults_compiler::interp::ThreadId;
use catapults_compiler::scenario::{Scenario, Statistic, Thread};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::{At, Value};
use catapults_simulator::picture::{Drawn, LONGEST_NAME, short_names, visible};
use catapults_simulator::rtapp::{self, Taker, Translation};
use catapults_simulator::sim::{
    self, Ending, Keep, Kind, Nowhere, Object, Outcome, Record, RunBy, Sink, Tally, duration, exact,
};
use catapults_simulator::trace::Recorder;
use indicatif::ProgressBar;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufWriter, Stdout, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The scenario for a policy alone.
const USUAL: &str = "scenario usual {
  duration 1s;
  thread computing * 2 { repeat { run 20ms; } }
  thread interactive { repeat { run 1ms; sleep exponential(10ms); } }
  thread yielding { repeat { run 2ms; yield; } }
}
";

pub fn sim(console: &Console, arguments: &Sim) -> Result<(), Failure> {
    let keep = part(arguments)?;
    outputs(arguments)?;
    arguments.plot.as_ref().map_or(Ok(()), |file| is_svg("--plot", file))?;
    arguments.html.as_ref().map_or(Ok(()), |file| is_html("--html", file))?;
    let found = frameworks::find(console, &arguments.framework.framework)?;
    if is_standard_input(&arguments.file) && arguments.policy.iter().any(|policy| is_standard_input(policy)) {
        let title = "standard input cannot be both what is simulated and its policy";
        let help = "give one of the two as a file";
        return Err(Failure::of_usage("--policy", Diagnostic::error("E0515", title, At::default(), "").help(help)));
    }
    let alone = is_alone(&arguments.file)?;
    if let Some(policy) = arguments.policy.first().filter(|_| alone) {
        let file = arguments.file.display();
        let title = format!("`{file}` is a policy itself, and cannot be simulated under another one");
        let help = format!("leave `--policy` out, or simulate the other one: `catapults sim {}`", policy.display());
        return Err(Failure::of_usage("--policy", Diagnostic::error("E0515", title, At::default(), "").help(help)));
    }
    arguments.policy.iter().try_for_each(|policy| can_be_read(policy))?;
    let mut cases = Vec::new();
    let mut policies = Policies::default();
    match arguments.policy.as_slice() {
        [] => cases = loaded(console, arguments, alone.then_some(&arguments.file), &found, &mut policies)?.cases,
        several => {
            for policy in several {
                cases.extend(loaded(console, arguments, Some(policy), &found, &mut policies)?.cases);
            }
        }
    }
    for (option, file) in [("--trace", &arguments.trace), ("--plot", &arguments.plot), ("--html", &arguments.html)] {
        file.as_ref().map_or(Ok(()), |file| apart(option, file))?;
    }
    fit(arguments, cases.len())?;
    let mut failed = 0;
    let mut shows = Vec::new();
    for case in &mut cases {
        let scenario = &mut case.scenario;
        scenario.seed = arguments.seed.unwrap_or(scenario.seed);
        scenario.processors = arguments.processors.unwrap_or(scenario.processors);
        let mut room = arguments.html.as_ref().map(|_| page::room()).transpose()?;
        let for_page = room.as_mut().map(|room| recorder(room, case, &found.framework)).transpose();
        let mut for_page = for_page.map_err(|error| page::unkept(&error))?;
        let outcome = match &arguments.trace {
            None => simulated(console, case, &found, arguments, [for_page.as_mut().map(as_sink), None])?,
            Some(file) => whole("--trace", file, |out| {
                let wrong = |error| unwritable("--trace", file, &error);
                let mut recorder = recorder(out, case, &found.framework).map_err(wrong)?;
                let recorders = [for_page.as_mut().map(as_sink), Some(as_sink(&mut recorder))];
                let outcome = simulated(console, case, &found, arguments, recorders)?;
                recorder.finish(outcome.end).map_err(wrong)?;
                Ok(outcome)
            })?,
        };
        for_page.map(|recorder| recorder.finish(outcome.end)).transpose().map_err(|error| page::unkept(&error))?;
        console.result(&shown(case, &outcome))?;
        if console.is_json() {
            console.record(&data::object(case, &outcome, &arguments.file));
        }
        if let Keep::Between(from, _) = keep
            && from >= outcome.end
        {
            return Err(over(&case.scenario.name, from, outcome.end));
        }
        if let Some(file) = &arguments.plot {
            plot(console, case, &outcome, file)?;
        }
        if let Some(room) = room {
            shows.push(page::shown(room, case, keep)?);
        }
        failed += usize::from(!outcome.is_as_expected());
    }
    arguments.html.as_ref().map_or(Ok(()), |file| written(console, "--html", file, &shows))?;
    if failed == 0 { Ok(()) } else { Err(Failure::Said) }
}

/// The cases of the file, under this policy if there is one.
fn loaded(
    console: &Console,
    arguments: &Sim,
    policy: Option<&PathBuf>,
    found: &Found,
    policies: &mut Policies,
) -> Result<Loaded, Failure> {
    let is_rtapp = is_of_rtapp(&arguments.file);
    let alone = is_alone(&arguments.file)?;
    let policy = policy.map(PathBuf::as_path);
    let instead = Instead { policy, only: arguments.only.as_deref(), for_none: is_rtapp, ..Instead::default() };
    if alone {
        read_source(&arguments.file)?;
        let source = Source::new("<the usual threads>", USUAL);
        scenarios::of_source(console, &arguments.file, (source, None), &found.framework, &instead, policies)
    } else if is_rtapp {
        let json = read_source(&arguments.file)?;
        let imports = policies.imports(console, &arguments.file, policy, &found.framework)?;
        let translation = of_rtapp(&json, arguments, &found.framework, &imports)?;
        // Under another policy, it is the same workload.
        let is_first = policy == arguments.policy.first().map(PathBuf::as_path);
        if let Some(endless) = translation.endless.as_ref().filter(|_| is_first) {
            let title = format!("the workload is without end: {} of it are simulated", rtapp::ENDLESS);
            let mut said = Diagnostics::new();
            let at = at_range(&json.text, endless.clone());
            let help = "say for how many seconds it goes on: `\"duration\": 60`";
            said.push(Diagnostic::warning("E0517", title, at, "for ever").help(help));
            console.diagnostics(&json, &said);
        }
        if let Some(unclear) = translation.unclear.as_ref().filter(|_| is_first) {
            let title =
                "the workload does not name the class of its threads: their priorities are taken for real-time ones";
            let mut said = Diagnostics::new();
            let at = at_range(&json.text, unclear.clone());
            let note = "rt-app would take SCHED_OTHER, and nice values, of which lower ones are more urgent";
            let help = "name the class: `\"default_policy\": \"SCHED_FIFO\"`, or `\"SCHED_OTHER\"`, in `global`";
            said.push(Diagnostic::warning("E0517", title, at, "higher is more urgent").note(note).help(help));
            console.diagnostics(&json, &said);
        }
        let source = Source::new(format!("<{} as a scenario>", json.name), translation.text.clone());
        let place = |at: At| match translation.origin(&json.text, at.start as usize) {
            Some(range) if at != At::default() => at_range(&json.text, range),
            Some(_) | None => At::default(),
        };
        let made = (source, Some(Origin { source: &json, place: &place }));
        scenarios::of_source(console, &arguments.file, made, &found.framework, &instead, policies)
    } else {
        scenarios::load(console, &arguments.file, &found.framework, &instead, policies)
    }
}

/// Refuses more simulations than fit in one file.
fn fit(arguments: &Sim, simulations: usize) -> Result<(), Failure> {
    let one = arguments.trace.as_ref().map(|file| (file, "recorded in one file"));
    let one = one.or(arguments.plot.as_ref().map(|file| (file, "drawn in one file"))).filter(|_| simulations > 1);
    let two = arguments.html.as_ref().map(|file| (file, "shown in one page; two can")).filter(|_| simulations > 2);
    let Some((file, done)) = one.or(two) else { return Ok(()) };
    let (what, help) = match arguments.policy.len() {
        0 | 1 => ("scenarios", "say which one with `--only NAME`"),
        _ => ("simulations", "say which scenario with `--only NAME`, and fewer policies"),
    };
    let title = format!("{simulations} {what} cannot be {done}");
    let diagnostic = Diagnostic::error("E0509", title, At::default(), "").help(help);
    Err(Failure::of_usage(&file.display().to_string(), diagnostic))
}

/// Checks, as far as possible in advance, that the outputs can be written and are no inputs.
fn outputs(arguments: &Sim) -> Result<(), Failure> {
    [&arguments.file].into_iter().chain(&arguments.policy).for_each(|file| is_read(file));
    let outputs = [("--trace", &arguments.trace), ("--plot", &arguments.plot), ("--html", &arguments.html)];
    outputs
        .into_iter()
        .filter_map(|(option, file)| Some((option, file.as_ref()?)))
        .try_for_each(|(option, file)| ready(option, file))
}

/// Runs a simulation, with a log and recordings if they are wanted.
fn simulated(
    console: &Console,
    case: &Case,
    found: &Found,
    arguments: &Sim,
    recorders: [Option<&mut dyn Sink>; 2],
) -> Result<Outcome, Failure> {
    let (recorded, keep) = (recorders.iter().any(Option::is_some), part(arguments)?);
    let mut log = Log::new(event_names(case, &found.framework));
    let mut all = All { log: arguments.log.then_some(&mut log), recorders };
    let sink: &mut dyn Sink = if arguments.log || recorded { &mut all } else { &mut Nowhere };
    let objects = match arguments.compiled {
        true => objects(console, case, found, recorded || arguments.log)?,
        false => Vec::new(),
    };
    let run_by = if arguments.compiled { RunBy::Objects(&objects) } else { RunBy::Interpreter };
    // A log is written at the same time.
    let bar = (!arguments.log).then(|| console.spinner(format!("simulating {}", case.scenario.name)));
    let outcome = sim::simulate(&case.scenario, deciding(&case.policy), &found.framework, run_by, keep, sink);
    bar.iter().for_each(ProgressBar::finish_and_clear);
    let outcome = outcome.map_err(|why| unsimulated(&arguments.framework.framework, &why))?;
    log.finish().map_err(|error| Failure::of_output(&error))?;
    Ok(outcome)
}

/// Whether a file contains a policy or hierarchy, and no scenario. Standard input tells this by its first word.
fn is_alone(file: &Path) -> Result<bool, Failure> {
    if !is_standard_input(file) {
        return Ok(file.extension().is_some_and(|ending| ending == "sched" || ending == "hierarchy"));
    }
    read_source(file)?;
    Ok(!is_of_scenarios(file) && !is_of_rtapp(file))
}

/// For a policy on the command line: errors in reading it are no fault of a scenario's.
pub(super) fn can_be_read(policy: &Path) -> Result<(), Failure> {
    if is_standard_input(policy) {
        return Ok(());
    }
    let opened = fs::metadata(policy).and_then(|about| match about.is_dir() {
        true => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        // A pipe can be opened only once.
        false if about.is_file() => File::open(policy).map(drop),
        false => Ok(()),
    });
    opened.map_err(|error| unreadable_by("--policy", policy, &error))
}

/// Which part of the timeline is shown.
fn part(arguments: &Sim) -> Result<Keep, Failure> {
    let instant = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let (from, to) = match (arguments.from.map(instant), arguments.to.map(instant)) {
        (None, None) => return Ok(Keep::Beginning),
        (from, to) => (from.unwrap_or(0), to.unwrap_or(i64::MAX)),
    };
    if from < to {
        return Ok(Keep::Between(from, to));
    }
    let title = format!("there is nothing from {} on and before {}", exact(from), exact(to));
    let help = "--to is the end of the part, since the beginning of the simulation";
    Err(Failure::of_usage("--to", Diagnostic::error("E0518", title, At::default(), "").help(help)))
}

/// The part that was asked for is empty.
fn over(name: &str, from: i64, end: i64) -> Failure {
    let title = format!("`{name}` has nothing from {} on", exact(from));
    let help = format!("it ends at {}", exact(end));
    Failure::of("--from", Diagnostic::error("E0518", title, At::default(), "").help(help))
}

/// The scenario from a file of rt-app, for a policy that imports these variables of threads.
fn of_rtapp(
    json: &Source,
    arguments: &Sim,
    framework: &Framework,
    imports: &BTreeSet<String>,
) -> Result<Translation, Failure> {
    let named = arguments.file.file_stem().filter(|_| !is_standard_input(&arguments.file));
    let name = named.map_or("workload".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let plain = framework.locks.as_ref().is_some_and(|locks| locks.protocols.contains(&Protocol::None));
    let imports = |name: &str| imports.contains(name);
    let taker = Taker { processors: arguments.processors.unwrap_or(1), plain, imports: &imports };
    rtapp::to_scenario(&json.text, &name, taker).map_err(|wrong| {
        let at = at_range(&json.text, wrong.at.clone());
        let diagnostic = Diagnostic::error("E0517", visible(&wrong.to_string()), at, "")
            .help("docs/scenarios.md says what of rt-app can be simulated");
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        Failure::Diagnostics(Box::new((Source::new(json.name.clone(), json.text.clone()), diagnostics)))
    })
}

pub(super) fn at_range(text: &str, range: Range<usize>) -> At {
    let before = text.bytes().take(range.start).filter(|byte| *byte == b'\n').count();
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    At { start: number(range.start), end: number(range.end), line: number(before + 1) }
}

/// The policies of a case as shared objects, which are built unless they are up to date.
fn objects(console: &Console, case: &Case, found: &Found, recorded: bool) -> Result<Vec<Object>, Failure> {
    // If the host compiles policies into itself, builds cannot be loaded here.
    if found.framework.builds.first().is_none_or(|build| build.name != "shared") {
        let title = format!("policies of the framework `{}` cannot be simulated compiled", found.framework.name);
        let none = Diagnostic::error("E0516", title, At::default(), "");
        let none = none.note("its first build does not make shared objects (`build shared`), as that of `native` does");
        return Err(Failure::of_usage(
            "--compiled",
            none.help("leave `--compiled` out: the interpreter decides the same"),
        ));
    }
    let made = |accepted: &Accepted, file: &Path| {
        let object = up_to_date(console, found, accepted, file)?;
        Object::load(&object, &found.framework, recorded).map_err(|why| {
            let title = "the compiled policy cannot be simulated";
            let help = "leave `--compiled` out: the interpreter decides the same";
            Failure::of("--compiled", Diagnostic::error("E0516", title, At::default(), "").note(why).help(help))
        })
    };
    match &*case.policy {
        Accepted::Policy(_) => Ok(vec![made(&case.policy, &case.policy_file)?]),
        Accepted::Hierarchy(hierarchy) => {
            let each = hierarchy.policies().iter();
            each.map(|policy| {
                let file = case.policy_file.join(&policy.policy().name);
                made(&Accepted::Policy(Box::new(policy.clone())), &file)
            })
            .collect()
        }
    }
}

fn plot(console: &Console, case: &Case, outcome: &Outcome, file: &Path) -> Result<(), Failure> {
    let title = format!("{} under {}", case.scenario.name, case.policy.name());
    let drawn = sim::picture(&case.scenario, outcome, &title).draw();
    whole_text("--plot", file, &drawn.svg)?;
    console.result(&format!("drawn: {}{}\n", file.display(), left_out(&drawn)))
}

/// Checks that the picture's name fits.
pub fn is_svg(option: &str, file: &Path) -> Result<(), Failure> {
    let plain = fs::metadata(file).map_or(true, |about| about.is_file());
    if !plain || file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Ok(());
    }
    let title = format!("`{}` does not end with .svg, and pictures are SVG", file.display());
    let help = "end it with .svg; `rsvg-convert` and others make a .png or .pdf of one".to_owned();
    Err(Failure::of_usage(option, Diagnostic::error("E0503", title, At::default(), "").help(help)))
}

/// Which part is missing from a picture, and how to show it.
pub fn left_out(drawn: &Drawn) -> String {
    let of = |part: &String| format!(" (who ran when: {part}; --from and --to show another part)");
    drawn.less.as_ref().map_or(String::new(), of)
}

/// The framework's description lacks what simulations need.
pub fn unsimulated(framework: &str, why: &str) -> Failure {
    let title = format!("the framework `{framework}` cannot be simulated");
    let diagnostic = Diagnostic::error("E0516", title, At::default(), "").note(why.to_owned());
    Failure::of("--framework", diagnostic.help("threads come by `newthread`, and so on: docs/scenarios.md"))
}

/// The names of threads in a picture, and whether there are several with each.
pub fn names(scenario: &Scenario) -> Vec<(String, bool)> {
    let several = |thread: &Thread| thread.count != Some(1) || thread.spawned;
    scenario.threads.iter().map(|thread| (thread.name.clone(), several(thread))).collect()
}

fn shown(case: &Case, outcome: &Outcome) -> String {
    let scenario = &case.scenario;
    let mut text = String::new();
    let processors =
        if scenario.processors == 1 { "1 processor".to_owned() } else { format!("{} processors", scenario.processors) };
    let policy = case.policy.name();
    let _ = writeln!(text, "{} under {policy}, {processors}, {}\n", scenario.name, ended(outcome));
    text.push_str(&outcome.timeline.picture(&names(scenario), None, &outcome.concerned()));
    text.push('\n');
    text.push_str(&table(case, outcome));
    for (verdict, expectation) in outcome.verdicts.iter().zip(&scenario.expectations) {
        let word = match (verdict.holds, &outcome.ending) {
            (false, _) => "NOT AS EXPECTED",
            (true, Ending::Out(_) | Ending::Stuck(_)) => "as expected until then",
            (true, Ending::Duration | Ending::AllEnded) => "as expected",
        };
        let since = verdict.since.map_or(String::new(), |since| format!(", first at {}", exact(since)));
        let _ = writeln!(text, "{word}: {}: {}{since} (line {})", verdict.text, verdict.found, expectation.at.line);
    }
    text
}

/// How the simulation ended, in words.
pub fn ended(outcome: &Outcome) -> String {
    let end = exact(outcome.end);
    match &outcome.ending {
        Ending::Duration => format!("{end} simulated"),
        // If it was to go on, the remaining time passes, and shares are of the whole.
        Ending::AllEnded => match outcome.last_end {
            Some(last) if last < outcome.end => format!("all threads ended at {}, {end} simulated", exact(last)),
            Some(_) => format!("all threads ended at {end}"),
            // None was admitted.
            None => format!("{end} simulated"),
        },
        Ending::Stuck(left) => {
            let mut left = left.clone();
            left.dedup();
            let some: Vec<&str> = left.iter().take(4).map(String::as_str).collect();
            format!(
                "STOPPED at {end}: nothing happens any more, and threads wait for ever: {}; if that is meant, say `duration 1s;`",
                some.join(", ")
            )
        }
        Ending::Out(out) => {
            let line = if out.line > 0 { format!(", line {}", out.line) } else { String::new() };
            let event = if out.event.is_empty() { String::new() } else { format!(" in `{}`{line}", out.event) };
            format!("STOPPED at {}{event}: {}", exact(out.time), out.why)
        }
    }
}

fn table(case: &Case, outcome: &Outcome) -> String {
    let head =
        ["thread", "came", "share", "jobs", "missed", "response", "p99", "worst", "ready for", "worst", "dispatched"];
    let mut rows: Vec<Vec<String>> = vec![head.iter().map(|word| (*word).to_owned()).collect()];
    let periods = case.scenario.threads.iter().any(|thread| thread.deadline.is_some());
    let names = short_names(case.scenario.threads.iter().map(|thread| thread.name.as_str()), LONGEST_NAME);
    for ((thread, tally), name) in case.scenario.threads.iter().zip(&outcome.tallies).zip(names) {
        rows.push(row(name, thread, tally, outcome.capacity));
    }
    if !periods {
        rows.iter_mut().for_each(|row| drop(row.remove(4)));
    }
    let mut text = String::new();
    table::table(&mut text, &rows);
    text
}

fn row(name: String, thread: &Thread, tally: &Tally, capacity: i128) -> Vec<String> {
    let time = |value: Option<i64>| value.map_or("–".to_owned(), duration);
    let share = if capacity > 0 { 100.0 * tally.ran as f64 / capacity as f64 } else { 0.0 };
    let came = if tally.refusals > 0 {
        format!("{} ({} refused)", tally.came, tally.refusals)
    } else {
        tally.came.to_string()
    };
    vec![
        name,
        came,
        format!("{share:.1}%"),
        tally.jobs.to_string(),
        if thread.deadline.is_some() { tally.misses.to_string() } else { "–".to_owned() },
        time(tally.response.statistic(Statistic::Mean)),
        time(tally.response.statistic(Statistic::Quantile(990))),
        match tally.worst_response() {
            // It takes longer.
            Some((taken, true)) => format!(">{}", duration(taken)),
            worst => time(worst.map(|(taken, _)| taken)),
        },
        time(tally.latency.statistic(Statistic::Mean)),
        time(tally.latency.statistic(Statistic::Worst)),
        tally.dispatches.to_string(),
    ]
}

/// A simulation's trace.
type Recorded<'a> = Recorder<&'a mut BufWriter<File>>;

fn as_sink<'a>(recorder: &'a mut Recorded<'_>) -> &'a mut dyn Sink {
    recorder
}

fn recorder<'a>(out: &'a mut BufWriter<File>, case: &Case, framework: &Framework) -> io::Result<Recorded<'a>> {
    let source = case.policy_file.display().to_string();
    Recorder::new(out, deciding(&case.policy), case.policy.name(), framework, &source, case.scenario.seed)
}

/// Sends what happens to the log, the page and the trace, if they are wanted.
struct All<'log, 'recorders> {
    log: Option<&'log mut Log>,
    recorders: [Option<&'recorders mut dyn Sink>; 2],
}

impl Sink for All<'_, '_> {
    fn record(&mut self, record: &Record) {
        if let Some(log) = &mut self.log {
            log.record(record);
        }
        self.recorders.iter_mut().flatten().for_each(|recorder| recorder.record(record));
    }

    fn named(&mut self, time: i64, thread: ThreadId, name: &str) {
        self.recorders.iter_mut().flatten().for_each(|recorder| recorder.named(time, thread, name));
    }

    fn value(&mut self, time: i64, thread: Option<ThreadId>, name: &str, value: Value) {
        self.recorders.iter_mut().flatten().for_each(|recorder| recorder.value(time, thread, name, value));
    }
}

/// Writes a line for each thing that happens, at once: a long simulation has too many to keep.
struct Log {
    names: Vec<String>,
    out: BufWriter<Stdout>,
    /// Why writing has stopped.
    failed: Option<io::Error>,
}

impl Log {
    fn new(names: Vec<String>) -> Self {
        Log { names, out: BufWriter::new(io::stdout()), failed: None }
    }

    fn line(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = writeln!(self.out, "{line}").err();
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.out.flush(), Err)
    }
}

impl Sink for Log {
    fn record(&mut self, record: &Record) {
        let what = match record.kind {
            Kind::New => "comes",
            Kind::Refused => "is refused",
            Kind::Dispatched => "runs",
            Kind::Lent if record.donor == record.thread => "goes on with its turn",
            Kind::Lent => "runs on the turn of a thread that waits for it",
            Kind::SwitchedOut => "gives the processor up",
            Kind::Preempted => "is preempted",
            Kind::Blocked => "waits",
            Kind::Raised => "is ready",
            Kind::Suspended => "is suspended",
            Kind::Resumed => "is resumed",
            Kind::Exited => "ends",
            Kind::Idle => "",
        };
        let time = exact(record.time);
        if record.kind == Kind::Idle {
            return self.line(&format!("{time:>12}  {:>3}  nothing to run", record.processor));
        }
        let event = self.names.get(record.event.index()).map_or("", String::as_str);
        let line = if record.line > 0 { format!(", line {}", record.line) } else { String::new() };
        let thread = record.thread.0;
        self.line(&format!("{time:>12}  {:>3}  thread {thread} {what} ({event}{line})", record.processor));
    }
}

fn event_names(case: &Case, framework: &Framework) -> Vec<String> {
    sim::event_names(deciding(&case.policy), framework)
}
