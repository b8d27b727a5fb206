//! Reads scenarios with their policies from .scenario files.

use crate::artefact::Accepted;
use crate::commands::{compile_any, is_standard_input, read_source};
use crate::console::{Console, Heard};
use crate::failure::{Failure, plain};
use crate::files;
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::framework::Framework;
use catapults_compiler::scenario::{self, Decides, Draft, FileName, Found, Scenario, Subject, Surroundings};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use catapults_compiler::{Staged, compile_scenarios};
use catapults_simulator::sim::Deciding;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A scenario that can be simulated.
pub struct Case {
    pub scenario: Scenario,
    pub policy: Rc<Accepted>,
    /// The policy's file.
    pub policy_file: PathBuf,
}

/// The scenarios of a file, and what else there is to report.
pub struct Loaded {
    pub source: Source,
    pub cases: Vec<Case>,
    /// The scenarios that are left out because they have no policy.
    pub left: Vec<String>,
}

/// The policies that have been compiled, or the errors of those that were refused.
#[derive(Default)]
pub struct Policies(HashMap<PathBuf, Result<Rc<Accepted>, Heard>>);

/// What replaces what a file says.
#[derive(Default)]
pub struct Instead<'a> {
    pub policy: Option<&'a Path>,
    pub only: Option<&'a str>,
    /// The file is not for a certain policy: variables that a policy does not import have no effect.
    pub for_none: bool,
    /// The policy of scenarios that name none and have none beside them.
    pub usual: Option<&'a Path>,
    /// Without such a policy, these scenarios are left out instead of refused.
    pub leaves: bool,
}

/// The text from which another one was made. Messages point to it.
pub struct Origin<'a> {
    pub source: &'a Source,
    pub place: &'a dyn Fn(At) -> At,
}

/// How many numbers a file has at most, one per line.
const MOST_NUMBERS: usize = 10_000_000;

/// Reads a file of scenarios. Errors have been shown.
pub fn load(
    console: &Console,
    path: &Path,
    framework: &Framework,
    instead: &Instead<'_>,
    policies: &mut Policies,
) -> Result<Loaded, Failure> {
    let source = read_source(path)?;
    of_source(console, path, (source, None), framework, instead, policies)
}

/// Like `load`, for a text that is known already, and may have been made from another one.
pub fn of_source(
    console: &Console,
    path: &Path,
    (source, origin): (Source, Option<Origin<'_>>),
    framework: &Framework,
    instead: &Instead<'_>,
    policies: &mut Policies,
) -> Result<Loaded, Failure> {
    let staged = judge(console, path, &source, framework, instead, policies)?;
    let left = left(path, &source, instead);
    match origin {
        Some(origin) => console.diagnostics(origin.source, &staged.said.placed(origin.place)),
        None => console.diagnostics(&source, &staged.said),
    }
    if staged.said.has_errors() || staged.refused {
        let name = path.display();
        match staged.said.errors() {
            // The policy that is simulated alone has reported it.
            0 if instead.policy == Some(path) => {}
            0 => console.summary(&format!("`{name}` cannot be simulated because of the errors above")),
            1 => console.summary(&format!("`{name}` is refused because of the error above")),
            errors => console.summary(&format!("`{name}` is refused because of the {errors} errors above")),
        }
        return Err(Failure::Said);
    }
    if let Some(only) = instead.only
        && staged.scenarios.is_empty()
    {
        let names: Vec<String> = staged.names.iter().map(|name| format!("`{name}`")).collect();
        let title = format!("there is no scenario `{only}`");
        let help = format!("it has {}", names.join(", "));
        let diagnostic = Diagnostic::error("E0515", title, At::default(), "").help(help);
        return Err(Failure::of_usage(&path.display().to_string(), diagnostic));
    }
    let cases = staged.scenarios.into_iter();
    let cases = cases.map(|(scenario, Known { policy, file })| Case { scenario, policy, policy_file: file });
    Ok(Loaded { source, cases: cases.collect(), left })
}

/// Judges the scenarios in a text. Errors in their policies have been shown.
pub fn judge(
    console: &Console,
    path: &Path,
    source: &Source,
    framework: &Framework,
    instead: &Instead<'_>,
    policies: &mut Policies,
) -> Result<Staged<Known>, Failure> {
    let left = left(path, source, instead);
    let mut folder = Beside { console, path, framework, instead, policies, unsaid: None };
    let wanted = |name: &str| instead.only.is_none_or(|only| only == name) && left.iter().all(|left| left != name);
    let staged = compile_scenarios(source, framework, &wanted, &mut folder);
    folder.unsaid.map_or(Ok(staged), Err)
}

/// The scenarios that are left out.
fn left(path: &Path, source: &Source, instead: &Instead<'_>) -> Vec<String> {
    if !instead.leaves || instead.usual.is_some() || instead.policy.is_some() {
        return Vec::new();
    }
    // Their errors are reported elsewhere.
    let drafts = scenario::read(source, &mut Diagnostics::new());
    let without = drafts.into_iter().filter(|draft| !has_policy(path, draft));
    without.map(|draft| draft.name.text).collect()
}

/// Whether a scenario names its policy, or one with its name is beside it.
fn has_policy(path: &Path, draft: &Draft) -> bool {
    draft.policy.is_some() || !is_standard_input(path) && policy_of(path, draft.policy.as_ref()).exists()
}

/// The policy or hierarchy, for the simulator.
pub fn deciding(accepted: &Accepted) -> Deciding<'_> {
    match accepted {
        Accepted::Policy(policy) => Deciding::Policy(policy),
        Accepted::Hierarchy(hierarchy) => Deciding::Hierarchy(hierarchy),
    }
}

/// A policy or a hierarchy, and its file.
pub struct Known {
    policy: Rc<Accepted>,
    file: PathBuf,
}

impl Decides for Known {
    fn subject(&self) -> Subject<'_> {
        deciding(&self.policy).subject()
    }
}

/// The surroundings of a file of scenarios: its folder.
struct Beside<'a> {
    console: &'a Console,
    path: &'a Path,
    framework: &'a Framework,
    instead: &'a Instead<'a>,
    policies: &'a mut Policies,
    /// Such as a policy that could not be read.
    unsaid: Option<Failure>,
}

impl Surroundings for Beside<'_> {
    type Policy = Known;

    fn policy(&mut self, draft: &Draft) -> Found<Known> {
        let own = policy_of(self.path, draft.policy.as_ref());
        let usual = self.instead.usual.filter(|_| !has_policy(self.path, draft));
        let named = has_policy(self.path, draft).then_some(own.as_path());
        let Some(file) = self.instead.policy.or(usual).or(named) else {
            let missing = own.display();
            return match (is_standard_input(self.path), self.instead.for_none) {
                (true, true) => Found::None("it does not say which policy it is for".to_owned(), GIVE_ONE),
                (false, true) => Found::None(format!("there is no policy `{missing}`"), PUT_ONE),
                (true, false) => {
                    let why = "the scenario names no policy, and standard input has no name to find one by";
                    Found::None(why.to_owned(), NAME_ONE)
                }
                (false, false) => {
                    Found::None(format!("there is no policy `{missing}`, and the scenario names no other"), NAME_ONE)
                }
            };
        };
        let file = file.to_path_buf();
        // A scenario without a policy is for any. A trace's, for instance, may set variables that only its own policy
        // imported.
        let another = || own.canonicalize().ok() != file.canonicalize().ok();
        let instead = self.instead.for_none || self.instead.policy.or(usual).is_some() && another();
        match self.policies.compile(self.console, &file, self.framework) {
            Ok(Found::Policy(policy) | Found::Instead(policy)) if instead => Found::Instead(Known { policy, file }),
            Ok(Found::Policy(policy) | Found::Instead(policy)) => Found::Policy(Known { policy, file }),
            Ok(Found::Refused) => Found::Refused,
            Ok(Found::None(why, _)) if self.instead.for_none => Found::None(why, PUT_ONE),
            Ok(Found::None(why, help)) => Found::None(why, help),
            Err(failure) => {
                self.unsaid.get_or_insert(failure);
                Found::Refused
            }
        }
    }

    fn numbers(&mut self, file: &FileName) -> Result<Vec<i64>, String> {
        numbers(&self.path.parent().unwrap_or(Path::new("")).join(&file.path))
    }
}

const GIVE_ONE: &str = "name one with `--policy FILE.sched`";
const PUT_ONE: &str = "name one with `--policy FILE.sched`, or put one of this name there";
const NAME_ONE: &str = "name it in the scenario, relative to its folder: `policy \"edf.sched\";`; or use `--policy FILE.sched` of `sim` and `test`";

/// The file of a scenario's own policy: the named one, or the one with whose name the scenario's file begins.
fn policy_of(path: &Path, named: Option<&FileName>) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Some(named) = named {
        let file = folder.join(&named.path);
        // A scenario names a file, never standard input.
        return if is_standard_input(&file) { Path::new(".").join(file) } else { file };
    }
    let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let stem = name.split('.').next().unwrap_or_default();
    let hierarchy = folder.join(format!("{stem}.hierarchy"));
    if hierarchy.exists() { hierarchy } else { folder.join(format!("{stem}.sched")) }
}

impl Policies {
    /// The variables of threads that this policy imports, or the one beside a file that names none; of a hierarchy, that any of its
    /// policies imports. None, if there is no such policy or it is refused: who simulates the file will say so.
    ///
    /// # Errors
    /// The policy cannot be read.
    pub fn imports(
        &mut self,
        console: &Console,
        file: &Path,
        policy: Option<&Path>,
        framework: &Framework,
    ) -> Result<BTreeSet<String>, Failure> {
        let policy = policy.map_or_else(|| policy_of(file, None), Path::to_path_buf);
        let Found::Policy(accepted) = self.compile(console, &policy, framework)? else { return Ok(BTreeSet::new()) };
        let policies = deciding(&accepted).subject().policies;
        let imports = policies.iter().flat_map(|policy| &policy.thread_imports);
        Ok(imports.map(|import| import.name.clone()).collect())
    }

    fn compile(
        &mut self,
        console: &Console,
        file: &Path,
        framework: &Framework,
    ) -> Result<Found<Rc<Accepted>>, Failure> {
        if let Some(known) = self.0.get(file) {
            return Ok(found(console, known));
        }
        if !is_standard_input(file) && !file.exists() {
            let help = "name one, relative to the scenario's folder: `policy \"edf.sched\";`";
            return Ok(Found::None(format!("there is no policy `{}`", file.display()), help));
        }
        let (compiled, said) = console.hearing(|| compile_any(console, file, framework));
        let compiled = match compiled {
            Ok(accepted) => Ok(Rc::new(accepted)),
            Err(Failure::Said) => Err(said),
            Err(other) => return Err(other),
        };
        Ok(found(console, self.0.entry(file.to_path_buf()).or_insert(compiled)))
    }
}

/// A file that names a refused policy is refused for the policy's errors.
fn found(console: &Console, compiled: &Result<Rc<Accepted>, Heard>) -> Found<Rc<Accepted>> {
    match compiled {
        Ok(policy) => Found::Policy(Rc::clone(policy)),
        Err(said) => {
            console.holds_again(said);
            Found::Refused
        }
    }
}

/// The numbers in a file, or why it has none.
fn numbers(file: &Path) -> Result<Vec<i64>, String> {
    const LONGEST: u64 = 256 << 20;
    // Opening a pipe, for instance, would wait for its writer.
    if fs::metadata(file).is_ok_and(|about| !about.is_file()) {
        return Err("it is no regular file".to_owned());
    }
    let mut text = String::new();
    let opened = files::open(file).map_err(|error| plain(&error))?;
    opened.take(LONGEST).read_to_string(&mut text).map_err(|error| plain(&error))?;
    let mut numbers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let number = line.parse::<i64>().ok().filter(|number| *number >= 0);
        numbers.push(number.ok_or_else(|| format!("line {} is no whole number from 0 on", index + 1))?);
        if numbers.len() > MOST_NUMBERS {
            return Err(format!("it has more than {MOST_NUMBERS} numbers"));
        }
    }
    Ok(numbers)
}

/// A place in a scenario: `fifo.scenario:12`.
pub fn place(source: &Source, at: At) -> String {
    format!("{}:{}", source.name, at.line)
}
