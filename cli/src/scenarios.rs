//! From a .scenario file to scenarios with their policies.

use crate::artefact::Accepted;
use crate::commands::{compile_any, read_source};
use crate::console::Console;
use crate::failure::{Failure, plain};
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::framework::Framework;
use catapults_compiler::scenario::{self, Draft, FileName, Scenario};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use catapults_simulator::sim::Deciding;
use std::collections::HashMap;
use std::fs::File;
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

/// The scenarios of a file, with what was said of them.
pub struct Loaded {
    pub source: Source,
    pub cases: Vec<Case>,
}

/// Policies that have been compiled, each once.
#[derive(Default)]
pub struct Policies(HashMap<PathBuf, Option<Rc<Accepted>>>);

/// What is simulated instead of what a file says.
#[derive(Default)]
pub struct Instead<'a> {
    pub policy: Option<&'a Path>,
    pub only: Option<&'a str>,
}

/// A number in a file is on a line of its own; so many at most.
const MOST_NUMBERS: usize = 10_000_000;

/// Reads a file of scenarios. What is wrong has been shown.
pub fn load(
    console: &Console,
    path: &Path,
    framework: &Framework,
    instead: &Instead<'_>,
    policies: &mut Policies,
) -> Result<Loaded, Failure> {
    let source = read_source(path)?;
    of_source(console, path, source, framework, instead, policies)
}

/// The same of a text that is known already.
pub fn of_source(
    console: &Console,
    path: &Path,
    source: Source,
    framework: &Framework,
    instead: &Instead<'_>,
    policies: &mut Policies,
) -> Result<Loaded, Failure> {
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    twice(&drafts, &mut diagnostics);
    let mut cases = Vec::new();
    let mut refused = false;
    if !diagnostics.has_errors() {
        for draft in drafts.iter().filter(|draft| instead.only.is_none_or(|only| only == draft.name.text)) {
            let policy_file = policy_of(path, draft, instead);
            let Some(policy) = policies.compile(console, &policy_file, draft, framework, &mut diagnostics)? else {
                refused = true;
                continue;
            };
            let subject = deciding(&policy).subject();
            let folder = path.parent().unwrap_or(Path::new(""));
            let mut numbers = |file: &FileName| numbers(&folder.join(&file.path));
            if let Some(scenario) = scenario::check(draft, &subject, framework, &mut numbers, &mut diagnostics) {
                cases.push(Case { scenario, policy, policy_file });
            }
        }
    }
    console.diagnostics(&source, &diagnostics);
    if diagnostics.has_errors() || refused {
        let errors = diagnostics.errors();
        let name = path.display();
        console.summary(&match errors {
            0 => format!("`{name}` cannot be simulated because of the errors above"),
            1 => format!("`{name}` is refused because of the error above"),
            errors => format!("`{name}` is refused because of the {errors} errors above"),
        });
        return Err(Failure::Said);
    }
    if cases.is_empty()
        && let Some(only) = instead.only
    {
        let names: Vec<String> = drafts.iter().map(|draft| format!("`{}`", draft.name.text)).collect();
        let title = format!("there is no scenario `{only}`");
        let help = format!("it has {}", names.join(", "));
        return Err(Failure::of_file("E0515", path, title, help));
    }
    Ok(Loaded { source, cases })
}

/// What decides.
pub fn deciding(accepted: &Accepted) -> Deciding<'_> {
    match accepted {
        Accepted::Policy(policy) => Deciding::Policy(policy),
        Accepted::Hierarchy(hierarchy) => Deciding::Hierarchy(hierarchy),
    }
}

/// Two scenarios of one file have different names.
fn twice(drafts: &[Draft], diagnostics: &mut Diagnostics) {
    for (index, draft) in drafts.iter().enumerate() {
        if let Some(first) = drafts[..index].iter().find(|other| other.name.text == draft.name.text) {
            let title = format!("two scenarios are called `{}`", draft.name.text);
            let twice = Diagnostic::error("E0703", title, draft.name.at, "the second");
            diagnostics.push(twice.related(first.name.at, "the first"));
        }
    }
}

/// The policy's file: as it is asked for, as the scenario says, or the one whose name the scenario's file begins with.
fn policy_of(path: &Path, draft: &Draft, instead: &Instead<'_>) -> PathBuf {
    if let Some(policy) = instead.policy {
        return policy.to_path_buf();
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Some(named) = &draft.policy {
        return folder.join(&named.path);
    }
    let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let stem = name.split('.').next().unwrap_or_default();
    let hierarchy = folder.join(format!("{stem}.hierarchy"));
    if hierarchy.exists() { hierarchy } else { folder.join(format!("{stem}.sched")) }
}

impl Policies {
    fn compile(
        &mut self,
        console: &Console,
        file: &Path,
        draft: &Draft,
        framework: &Framework,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<Rc<Accepted>>, Failure> {
        if let Some(known) = self.0.get(file) {
            return Ok(known.clone());
        }
        if !file.exists() {
            let at = draft.policy.as_ref().map_or(draft.name.at, |named| named.at);
            let title = format!("there is no policy `{}`", file.display());
            let missing = Diagnostic::error("E0706", title, at, "");
            diagnostics.push(missing.help("say which one it is, from the scenario's folder: `policy \"edf.sched\";`"));
            return Ok(None);
        }
        let compiled = match compile_any(console, file, framework) {
            Ok(accepted) => Some(Rc::new(accepted)),
            Err(Failure::Said) => None,
            Err(other) => return Err(other),
        };
        self.0.insert(file.to_path_buf(), compiled.clone());
        Ok(compiled)
    }
}

/// The numbers in a file, or why there are none.
fn numbers(file: &Path) -> Result<Vec<i64>, String> {
    const LONGEST: u64 = 256 << 20;
    let mut text = String::new();
    let opened = File::open(file).map_err(|error| plain(&error))?;
    opened.take(LONGEST).read_to_string(&mut text).map_err(|error| plain(&error))?;
    let mut numbers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let number = line.parse::<i64>().ok().filter(|number| *number >= 0);
        numbers.push(number.ok_or_else(|| format!("line {} is no whole number that is not negative", index + 1))?);
        if numbers.len() > MOST_NUMBERS {
            return Err(format!("it has more than {MOST_NUMBERS} numbers"));
        }
    }
    Ok(numbers)
}

/// Where something of a scenario stands: `fifo.scenario:12`.
pub fn place(source: &Source, at: At) -> String {
    format!("{}:{}", source.name, at.line)
}
