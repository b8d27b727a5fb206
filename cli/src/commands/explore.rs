//! `catapults explore`.

use super::{compile_source, counted, distinct, is_standard_input, read_source};
use crate::arguments::Explore;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{is_read, ready, unasked, unwritable, whole_text};
use crate::frameworks;
use crate::interrupt;
use crate::scenarios::{self, Instead, Policies};
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::format::format;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::header::Header;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::At;
use catapults_simulator::explorer::{self, Finding, Options, Report};
use catapults_simulator::picture::visible;
use catapults_simulator::sim::{self, Ending, Keep, Nowhere, Outcome, RunBy};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use std::{fs, io};

/// Explores all policies, even after findings.
pub fn explore(console: &Console, arguments: &Explore) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let beginning = Instant::now();
    let (mut wrong, mut bounded, mut starving, mut explored) = (0, 0, 0, 0);
    let mut save = arguments.save.as_deref();
    let files = distinct(&arguments.files);
    if let Some(save) = save {
        files.iter().for_each(|path| is_read(path));
        can_be_saved(save, &files)?;
    }
    let stop = interrupt::asks();
    for path in files.iter().copied() {
        let start = Instant::now();
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let done = read_source(path).and_then(|source| {
            let (policy, report) = one(console, arguments, &found.framework, path, &source)?;
            Ok((policy, report, Header::of(&source.text)))
        });
        let (policy, report, header) = match done {
            Ok(done) => done,
            Err(failure) if failure.ends_all() => return Err(failure),
            Err(failure) => {
                console.failure(&failure);
                wrong += 1;
                explored += 1;
                continue;
            }
        };
        let judgement = Judgement::of(arguments, header.part(STARVES));
        let starvation = report.starvation.as_ref().filter(|_| judgement == Judgement::Error);
        let finding = report.counterexample.as_ref().or(starvation);
        if console.is_json() {
            console.record(&object(&report, finding, arguments, path));
        } else {
            console.result(&shown(&report, arguments, &judgement, path, start.elapsed()))?;
        }
        explored += 1;
        starving += usize::from(finding.is_none() && report.starvation.is_some());
        wrong += usize::from(finding.is_some());
        bounded += usize::from(finding.is_none() && !report.limits.is_empty());
        // A lasso that is no error is kept, too.
        if let (Some(finding), Some(file)) = (finding.or(report.starvation.as_ref()), save) {
            let kept = keep(console, file, path, finding, policy.policy(), &found.framework, arguments.force)?;
            console.result(&kept)?;
            save = None;
        }
    }
    let count = explored;
    let interrupted = stop.load(Ordering::Relaxed);
    let policies = if count == 1 { "policy" } else { "policies" };
    let mut sum = format!("{}explored {count} {policies}", if interrupted { "interrupted: " } else { "" });
    let whole = count - wrong - bounded;
    let _ = write!(sum, " ({whole} wholly, {bounded} within bounds, {wrong} with errors)");
    if starving > 0 {
        let _ = write!(sum, ", {starving} can starve a thread");
    }
    let _ = writeln!(sum, ", {}, {:.1} s", threads(arguments), beginning.elapsed().as_secs_f64());
    console.result(&sum)?;
    if interrupted {
        let left = files.len() - count;
        let left = if left > 0 { format!("; {} not explored", counted(left, "file")) } else { String::new() };
        console.summary(&format!("interrupted: the results are of what was explored until then{left}"));
        return Err(Failure::Interrupted(interrupt::signal()));
    }
    match (wrong, bounded) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::Bounded),
        (_, _) => Err(Failure::Said),
    }
}

/// Checks that a finding can be written, before the exploration.
fn can_be_saved(file: &Path, policies: &[&Path]) -> Result<(), Failure> {
    let usage = |title: &str, help: &str| {
        let diagnostic = Diagnostic::error("E0503", title, At::default(), "").help(help);
        Err(Failure::of_usage(&file.display().to_string(), diagnostic))
    };
    if file.is_dir() {
        let help = "name a file in it: `found.scenario` for a scenario, or `found.script` for a script";
        return usage("a finding is saved as a file, and this is a folder", help);
    }
    let is_plain = fs::metadata(file).map_or(true, |about| about.is_file());
    if is_plain && !is_standard_input(file) && !is(file, "scenario") && !is(file, "script") {
        let title = format!("the ending of `{}` does not say what to write", file.display());
        return usage(&title, "end it with .scenario for a scenario, or with .script for a script");
    }
    if is(file, "scenario") && policies.iter().any(|path| is_standard_input(path)) {
        let help = "give the policy as a file, or save a script: `--save found.script`";
        return usage("a scenario names its policy's file, but the policy is standard input", help);
    }
    ready("--save", file)
}

fn is(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|found| found == ending)
}

/// Writes a finding: to a file that ends with `.scenario`, a scenario, if one shows the same; otherwise a script.
/// Returns what to say.
fn keep(
    console: &Console,
    file: &Path,
    path: &Path,
    finding: &Finding,
    policy: &Policy,
    framework: &Framework,
    force: bool,
) -> Result<String, Failure> {
    let title = format!("{}: {}", finding.kind, finding.what);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = |file: &Path, text: &str| whole_text("--save", file, text);
    if !is(file, "scenario") {
        write(file, &finding.scenario.script(&title))?;
        return Ok(format!("saved as {}\n", file.display()));
    }
    let named = from_folder(path, folder).map_err(|error| unwritable("--save", file, &error))?;
    let why = match finding.scenario.workloads(policy, framework, &named, &title) {
        Ok(texts) => {
            for text in texts {
                let name = || file.display().to_string();
                let text = format(&Source::new(name(), text.as_str())).unwrap_or(text);
                if fails(console, file, Source::new(name(), text.as_str()), finding, framework)? {
                    write(file, &text)?;
                    return Ok(format!(
                        "saved as {}: `catapults test` fails with it until the policy is corrected\n",
                        name()
                    ));
                }
            }
            "the simulated host raises its events in another order"
        }
        Err(why) => why,
    };
    let script = file.with_extension("script");
    unasked("--save", &script, force)?;
    write(&script, &finding.scenario.script(&title))?;
    Ok(format!("saved as {}, a script: no scenario shows it, because {why}\n", script.display()))
}

/// Whether the simulated host finds the same.
fn fails(
    console: &Console,
    file: &Path,
    text: Source,
    finding: &Finding,
    framework: &Framework,
) -> Result<bool, Failure> {
    let same = |outcome: &Outcome| match &outcome.ending {
        Ending::Out(out) => finding.scenario.starved.is_none() && finding.is_of_line(out.line),
        Ending::Duration | Ending::AllEnded | Ending::Stuck(_) => finding.scenario.starved.is_some(),
    };
    let loaded =
        scenarios::of_source(console, file, (text, None), framework, &Instead::default(), &mut Policies::default())?;
    Ok(loaded.cases.iter().any(|case| {
        let deciding = scenarios::deciding(&case.policy);
        sim::simulate(&case.scenario, deciding, framework, RunBy::Interpreter, Keep::Beginning, &mut Nowhere)
            .is_ok_and(|outcome| !outcome.is_as_expected() && same(&outcome))
    }))
}

/// A path relative to a folder.
fn from_folder(path: &Path, folder: &Path) -> io::Result<String> {
    let (path, folder) = (fs::canonicalize(path)?, fs::canonicalize(folder)?);
    let (to, from): (Vec<_>, Vec<_>) = (path.components().collect(), folder.components().collect());
    let same = to.iter().zip(&from).take_while(|(to, from)| to == from).count();
    let mut way: PathBuf = from[same..].iter().map(|_| Component::ParentDir).collect();
    way.extend(&to[same..]);
    Ok(way.display().to_string())
}

/// The result, for a program.
fn object(report: &Report, error: Option<&Finding>, arguments: &Explore, path: &Path) -> Value {
    let finding = |finding: &Finding| {
        let script = finding.scenario.script(&format!("{}: {}", finding.kind, finding.what));
        let steps: Vec<String> = finding.scenario.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
        json!({ "kind": finding.kind.to_string(), "what": finding.what, "steps": steps, "script": script })
    };
    json!({
        "type": "explored",
        "file": path.display().to_string(),
        "threads": arguments.threads,
        "situations": report.states,
        "transitions": report.transitions,
        "complete": report.limits.is_empty(),
        "interrupted": is_interrupted(report),
        "limits": report.limits,
        "assumptions": report.assumptions,
        "error": error.map(finding),
        "starvation": report.starvation.as_ref().map(finding),
    })
}

/// The part of a policy's header that says whom it starves, and when. Starvation that its author states is no error.
const STARVES: &str = "Starves";

/// How starvation is judged.
#[derive(PartialEq, Eq)]
enum Judgement {
    MayBeMeant,
    Stated(String),
    Error,
}

impl Judgement {
    fn of(arguments: &Explore, stated: Option<&str>) -> Self {
        match stated {
            Some(stated) => Judgement::Stated(stated.to_owned()),
            None if arguments.fair => Judgement::Error,
            None => Judgement::MayBeMeant,
        }
    }
}

fn one(
    console: &Console,
    arguments: &Explore,
    framework: &Framework,
    path: &Path,
    source: &Source,
) -> Result<(Verified<Policy>, Report), Failure> {
    if path.extension().is_some_and(|ending| ending == "hierarchy") {
        let help = "explore the policies that it names, each by itself: `catapults explore policies/*.sched`";
        return Err(Failure::of_file("E0512", path, "a hierarchy is not explored, only policies are", help));
    }
    let policy = compile_source(console, path, source, framework)?;
    if let Some(at) = policy.uninterpretable() {
        let title = "a policy with verbatim text alone cannot be explored";
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(
            Diagnostic::error("E0512", title, at, "the effect of this text is not known")
                .help("add `else` and what stands for it: `verbatim c int { rand() } else 4`"),
        );
        return Err(Failure::Diagnostics(Box::new((source.clone(), diagnostics))));
    }
    let options = Options {
        threads: usize::from(arguments.threads),
        states: arguments.states as usize,
        bound: arguments.bound,
        starvation: true,
        stop: Some(interrupt::asks()),
        time: (arguments.seconds > 0).then(|| Duration::from_secs(u64::from(arguments.seconds))),
    };
    let bar = console.spinner(path.display().to_string());
    let name = visible(&path.display().to_string()).into_owned();
    let mut progress = |done: usize, known: usize| {
        bar.set_message(format!("{name}: {done} situations explored, {} more to explore", known - done));
    };
    let report = explorer::explore(&policy, framework, &options, &mut progress);
    bar.finish_and_clear();
    let report = report.map_err(|text| {
        console.summary(&format!("{name}: the counterexample cannot be repeated, a mistake of the explorer: {text}"));
        Failure::Said
    })?;
    Ok((policy, report))
}

/// Whether an interrupt ended the exploration early.
fn is_interrupted(report: &Report) -> bool {
    interrupt::asks().load(Ordering::Relaxed) && report.limits.iter().any(|limit| limit.contains("interrupted"))
}

fn shown(report: &Report, arguments: &Explore, judgement: &Judgement, path: &Path, time: Duration) -> String {
    let threads = threads(arguments);
    let mut text = format!("{}: ", path.display());
    // The answer in a sentence, then how it comes about, then what it rests on.
    let answer = if report.limits.is_empty() {
        format!("proved for {threads}: no order of events makes it fail")
    } else if is_interrupted(report) {
        format!("interrupted: nothing found until then, for {threads}: this is no proof")
    } else {
        format!("nothing found within bounds, for {threads}: this is no proof")
    };
    let mut finding = |answer: &str, finding: &Finding| {
        let _ = write!(text, "{answer}\n{}", finding.scenario);
    };
    let wrong = |finding: &Finding| format!("wrong: {}: {}", finding.kind, finding.what);
    match (&report.counterexample, &report.starvation) {
        (Some(counterexample), _) => finding(&wrong(counterexample), counterexample),
        (None, Some(starvation)) => match judgement {
            Judgement::Error => finding(&wrong(starvation), starvation),
            Judgement::MayBeMeant => {
                finding(&format!("{answer}\n  but {}, which may be meant", starvation.what), starvation)
            }
            Judgement::Stated(limit) => {
                let stated = limit.trim_end_matches('.');
                finding(
                    &format!("{answer}\n  as its header states, it starves {stated}; here {}", starvation.what),
                    starvation,
                )
            }
        },
        (None, None) => {
            let _ = writeln!(text, "{answer}");
        }
    }
    let (situations, transitions, seconds) = (report.states, report.transitions, time.as_secs_f64());
    let _ = writeln!(text, "  explored: {situations} situations, {transitions} transitions, {seconds:.1} s");
    for line in &report.assumptions {
        let _ = writeln!(text, "  assumed: {line}");
    }
    for limit in &report.limits {
        let _ = writeln!(text, "  bound reached: {limit}");
    }
    text
}

fn threads(arguments: &Explore) -> String {
    counted(usize::from(arguments.threads), "thread")
}
