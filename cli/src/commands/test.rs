//! `catapults test`.

use super::sim::{can_be_read, ended, names, unsimulated};
use super::{counted, is_standard_input, unreadable};
use crate::arguments::Test;
use crate::console::{Console, Heard};
use crate::failure::Failure;
use crate::files::{is_read, ready, whole_text};
use crate::frameworks;
use crate::scenarios::{self, Case, Instead, Loaded, Policies, deciding};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::framework::Framework;
use catapults_compiler::vocabulary::At;
use catapults_simulator::sim::{self, Ending, Keep, Nowhere, Outcome, RunBy, exact};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn test(console: &Console, arguments: &Test) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let mut tests = Tests::default();
    let done = tests.run(console, arguments, &found.framework);
    // Nothing was run then.
    let is_usage = matches!(done, Err(Failure::Usage(_)));
    if is_usage || done.as_ref().is_err_and(Failure::ends_all) {
        return done;
    }
    // Even after errors, the last line sums up.
    done.as_ref().err().into_iter().for_each(|failure| console.failure(failure));
    let Tests { passed, failed, broken, left, details, .. } = tests;
    console.result(&details)?;
    let refused = if broken > 0 { format!("; {} refused", counted(broken, "file")) } else { String::new() };
    let not_run = if left > 0 { format!("; {left} not run") } else { String::new() };
    let ok = failed + broken == 0 && done.is_ok();
    let word = if ok { "ok" } else { "FAILED" };
    console.result(&format!("test result: {word}. {passed} passed; {failed} failed{refused}{not_run}\n"))?;
    if ok { Ok(()) } else { Err(Failure::Said) }
}

/// The results so far.
#[derive(Default)]
struct Tests {
    passed: usize,
    failed: usize,
    /// Files that cannot be read or are refused.
    broken: usize,
    /// Scenarios without a policy.
    left: usize,
    /// Scenarios that were run under a policy of their own, and not under that of `--policy`.
    own: usize,
    /// Scenarios that `--only` leaves out.
    others: usize,
    /// The failures, as text.
    details: String,
}

impl Tests {
    fn run(&mut self, console: &Console, arguments: &Test, framework: &Framework) -> Result<(), Failure> {
        arguments.policy.as_deref().map_or(Ok(()), can_be_read)?;
        if arguments.policy.iter().chain(&arguments.files).filter(|file| is_standard_input(file)).count() > 1 {
            let title = "standard input can be given once";
            let help = "give files, or their folder";
            return Err(Failure::of_usage("-", Diagnostic::error("E0515", title, At::default(), "").help(help)));
        }
        let mut files = Vec::new();
        for path in &arguments.files {
            gather(path, &mut files)?;
        }
        files.dedup();
        if let Some(junit) = &arguments.junit {
            files.iter().chain(&arguments.policy).for_each(|file| is_read(file));
            ready("--junit", junit)?;
        }
        let mut policies = Policies::default();
        let mut report = Report::new("catapults test");
        for file in &files {
            console.listen();
            let leaves = !arguments.files.contains(file);
            let instead = Instead { usual: arguments.policy.as_deref(), leaves, ..Instead::default() };
            let loaded = scenarios::load(console, file, framework, &instead, &mut policies);
            let refusal = loaded.as_ref().err().filter(|failure| !failure.ends_all());
            refusal.into_iter().for_each(|failure| console.failure(failure));
            let heard = console.heard();
            let mut suite = TestSuite::new(file.display().to_string());
            match loaded {
                Ok(loaded) => self.file(console, arguments, file, &loaded, framework, &mut suite)?,
                Err(failure) if failure.ends_all() => return Err(failure),
                // The errors were reported.
                Err(_) => {
                    self.broken += 1;
                    console.result(&format!("{} ... REFUSED\n", file.display()))?;
                    say(console, file, "", "REFUSED", None);
                    suite.add_test_case(refused(file, &heard));
                }
            }
            report.add_test_suite(suite);
        }
        if let Some(junit) = &arguments.junit {
            let text = report
                .to_string()
                .map_err(|error| Failure::of_file("E0502", junit, error.to_string(), "give another name"))?;
            whole_text("--junit", junit, &text)?;
        }
        if self.left > 0 {
            let what = if self.left == 1 { "1 scenario is".to_owned() } else { format!("{} scenarios are", self.left) };
            console.note(&format!(
                "note: {what} not run, without a policy: name one with `--policy FILE.sched`, or `policy \"FILE.sched\";` in the scenario"
            ));
        }
        if self.own > 0 {
            let what = if self.own == 1 { "1 scenario was" } else { "some scenarios were" };
            console.note(&format!(
                "note: {what} not run under the policy of --policy, but under the one that is named there or beside it; `catapults sim --policy` simulates it under another"
            ));
        }
        if let Some(only) = arguments.only.as_ref().filter(|_| self.others > 0 && self.is_nothing()) {
            let title = format!("no scenario has `{only}` in its name");
            let help = match self.others {
                1 => "there is one with another name: leave `--only` out to run it".to_owned(),
                others => format!("there are {others} with other names: leave `--only` out to run them"),
            };
            return Err(Failure::of_usage("--only", Diagnostic::error("E0515", title, At::default(), "").help(help)));
        }
        if self.passed + self.failed + self.broken == 0 {
            let (title, help) = match self.left {
                0 => ("no scenario was found", "scenarios are in files with the ending `.scenario`"),
                _ => ("no scenario names a policy, or has one beside it", "name one: `--policy FILE.sched`"),
            };
            return Err(Failure::of_file("E0515", &arguments.files[0], title, help));
        }
        Ok(())
    }

    fn is_nothing(&self) -> bool {
        self.passed + self.failed + self.broken + self.left == 0
    }

    fn file(
        &mut self,
        console: &Console,
        arguments: &Test,
        file: &Path,
        loaded: &Loaded,
        framework: &Framework,
        suite: &mut TestSuite,
    ) -> Result<(), Failure> {
        for case in &loaded.cases {
            let name = &case.scenario.name;
            if arguments.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                self.others += 1;
                continue;
            }
            let start = Instant::now();
            let bar = console.spinner(format!("{}: {name}", file.display()));
            let wrong = wrong(loaded, case, framework);
            bar.finish_and_clear();
            let wrong = wrong.map_err(|why| unsimulated(&arguments.framework.framework, &why))?;
            let word = if wrong.is_some() { "FAILED" } else { "ok" };
            console.result(&format!("{}: {name} ... {word}\n", file.display()))?;
            say(console, file, name, word, wrong.as_deref());
            self.own += usize::from(arguments.policy.as_ref().is_some_and(|policy| *policy != case.policy_file));
            self.passed += usize::from(wrong.is_none());
            self.failed += usize::from(wrong.is_some());
            suite.add_test_case(reported(file, case, start, wrong.as_deref()));
            self.details.extend(wrong);
        }
        for name in &loaded.left {
            if arguments.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                self.others += 1;
                continue;
            }
            console.result(&format!("{}: {name} ... not run: it names no policy\n", file.display()))?;
            say(console, file, name, "not run", None);
            self.left += 1;
            let mut case = TestCase::new(name.as_str(), TestCaseStatus::skipped());
            case.set_classname(file.display().to_string());
            suite.add_test_case(case);
        }
        Ok(())
    }
}

/// The result of a scenario, for programs. A file that is refused has none that is named.
fn say(console: &Console, file: &Path, scenario: &str, result: &str, wrong: Option<&str>) {
    if console.is_json() {
        console.record(&json!({
            "type": "tested",
            "file": file.display().to_string(),
            "scenario": Some(scenario).filter(|name| !name.is_empty()),
            "result": result.to_lowercase(),
            "wrong": wrong.map(str::trim),
        }));
    }
}

fn refused(file: &Path, heard: &Heard) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let why = heard.text.lines().find(|line| line.contains(": error")).unwrap_or_default();
    status.set_message(if why.is_empty() { "its policy is refused" } else { why });
    status.set_type(heard.code);
    status.set_description(heard.text.trim());
    let mut case = TestCase::new(file.display().to_string(), status);
    case.extra.insert("file".into(), file.display().to_string().into());
    case
}

/// What is not as expected, as text; `None`: all is.
fn wrong(loaded: &Loaded, case: &Case, framework: &Framework) -> Result<Option<String>, String> {
    let outcome = sim::simulate(
        &case.scenario,
        deciding(&case.policy),
        framework,
        RunBy::Interpreter,
        Keep::AroundDivergence,
        &mut Nowhere,
    )?;
    if outcome.is_as_expected() {
        return Ok(None);
    }
    let mut text = format!("\n{}: {}, under {}\n", loaded.source.name, case.scenario.name, case.policy_file.display());
    if let Ending::Out(_) | Ending::Stuck(_) = outcome.ending {
        let _ = writeln!(text, "  {}", ended(&outcome));
    }
    said(loaded, case, &outcome, &mut text);
    text.push_str(&outcome.timeline.picture(&names(&case.scenario), outcome.divergence, &outcome.concerned()));
    Ok(Some(text))
}

fn said(loaded: &Loaded, case: &Case, outcome: &Outcome, text: &mut String) {
    for (verdict, expectation) in outcome.verdicts.iter().zip(&case.scenario.expectations) {
        if !verdict.holds {
            let since = verdict.since.map_or(String::new(), |since| format!(", first at {}", exact(since)));
            let place = scenarios::place(&loaded.source, expectation.at);
            let _ = writeln!(text, "  expected {}: {}{since}\n    --> {place}", verdict.text, verdict.found);
        }
    }
}

fn reported(file: &Path, of: &Case, start: Instant, wrong: Option<&str>) -> TestCase {
    let status = match wrong {
        None => TestCaseStatus::success(),
        Some(text) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            // The first line names the scenario.
            status.set_message(text.trim().lines().nth(1).unwrap_or_default().trim());
            status.set_description(text.trim());
            status
        }
    };
    let mut case = TestCase::new(of.scenario.name.as_str(), status);
    case.set_classname(file.display().to_string());
    case.extra.insert("file".into(), file.display().to_string().into());
    case.set_time(start.elapsed());
    case
}

/// The scenario files of a path.
fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let is = |path: &Path, ending: &str| path.extension().is_some_and(|found| found == ending);
    if path.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(path)
            .map_err(|error| unreadable(path, &error))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        inside.sort();
        inside.iter().filter(|path| is(path, "scenario") && !path.is_dir()).for_each(|path| files.push(path.clone()));
        return inside.iter().filter(|path| path.is_dir()).try_for_each(|path| gather(path, files));
    }
    if is(path, "sched") || is(path, "hierarchy") {
        fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        let stem = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut beside: Vec<PathBuf> = fs::read_dir(folder)
            .map_err(|error| unreadable(folder, &error))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        beside.retain(|file| {
            let name = file.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            is(file, "scenario") && name.split('.').next() == Some(stem.as_str())
        });
        beside.sort();
        files.extend(beside);
        return Ok(());
    }
    files.push(path.to_path_buf());
    Ok(())
}
