//! `catapults check`.

use super::{counted, distinct, is_hierarchy, is_of_scenarios, judge, no_policy, read_source};
use crate::arguments::Check;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;
use crate::scenarios::{self, Instead, Policies};
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::Exact;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::is_of_functions;
use catapults_compiler::verify::{Share, Verified};
use serde_json::json;

/// Judges all files, even after errors.
pub fn check(console: &Console, arguments: &Check) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let (mut errors, mut warnings, mut refused, mut hierarchies) = (0, 0, 0, 0);
    let (mut of_scenarios, mut scenarios, mut of_functions) = (0, 0, 0);
    let mut simulated = Policies::default();
    let mut safe = Safe::default();
    let files = distinct(&arguments.files);
    for path in &files {
        let is_more = is_hierarchy(path) || is_of_scenarios(path);
        let wrong = match read_source(path)
            .and_then(|source| if is_more { Ok(source) } else { no_policy(path).map(|()| source) })
        {
            Err(failure) => {
                console.failure(&failure);
                1
            }
            Ok(source) if is_hierarchy(path) => {
                let judged = judge(path, &source, &found.framework);
                for (source, diagnostics) in &judged.said {
                    console.diagnostics(source, diagnostics);
                    warnings += diagnostics.warnings();
                }
                hierarchies += 1;
                let policies = judged.hierarchy.iter().flat_map(Hierarchy::policies);
                for (policy, (source, _)) in policies.zip(&judged.said) {
                    safe.add(console, source, policy, &found.framework, arguments.explain_guards)?;
                }
                judged.said.iter().map(|(_, diagnostics)| diagnostics.errors()).sum()
            }
            Ok(source) if is_of_scenarios(path) => {
                let instead = Instead::default();
                let staged = scenarios::judge(console, path, &source, &found.framework, &instead, &mut simulated)?;
                console.diagnostics(&source, &staged.said);
                warnings += staged.said.warnings();
                of_scenarios += 1;
                scenarios += staged.scenarios.len();
                staged.said.errors() + usize::from(staged.refused)
            }
            Ok(source) if is_of_functions(&source) => {
                let said = catapults_compiler::check_functions(&source, &found.framework);
                console.diagnostics(&source, &said);
                warnings += said.warnings();
                of_functions += 1;
                said.errors()
            }
            Ok(source) => {
                let judged = catapults_compiler::compile(&source, &found.framework);
                let diagnostics = match &judged {
                    Ok((_, diagnostics)) | Err(diagnostics) => diagnostics,
                };
                console.diagnostics(&source, diagnostics);
                warnings += diagnostics.warnings();
                if let Ok((policy, _)) = &judged {
                    safe.add(console, &source, policy, &found.framework, arguments.explain_guards)?;
                }
                diagnostics.errors()
            }
        };
        errors += wrong;
        refused += usize::from(wrong > 0);
    }
    let files = files.len();
    super::refused(console, errors, refused, files)?;
    let Safe { mut endless, share, left } = safe;
    endless.sort_unstable();
    endless.dedup();
    if !endless.is_empty() {
        console.note(&keeps_the_processor(&endless));
    }
    let also = if warnings > 0 { format!(", {}", counted(warnings, "warning")) } else { String::new() };
    let policies = files - hierarchies - of_scenarios - of_functions;
    let kinds = [(policies, "policy", "policies"), (hierarchies, "hierarchy", "hierarchies")];
    let kinds = kinds.into_iter().filter(|(number, ..)| *number > 0);
    let what = kinds.map(|(number, one, many)| format!("{number} {}", if number == 1 { one } else { many }));
    let what: Vec<String> = what.collect();
    let are = |number: usize| if number == 1 { "is" } else { "are" };
    let mut said = Vec::new();
    if !what.is_empty() {
        said.push(format!("{} {} safe to run{}", what.join(" and "), are(policies + hierarchies), left.said()));
    }
    if of_functions > 0 {
        let what = if of_functions == 1 { "file" } else { "files" };
        said.push(format!("{of_functions} {what} of functions can be used"));
    }
    if of_scenarios > 0 {
        said.push(format!("{} can be simulated", counted(scenarios, "scenario")));
    }
    console.result(&format!("{}{also}\n", said.join(", ")))?;
    if arguments.explain_guards || arguments.most_guarded.is_some() {
        console.result(&format!("{}\n", shown(share)))?;
    }
    match arguments.most_guarded {
        Some(most) if share.guarded * 100 > share.total * usize::from(most) => {
            console.summary(&format!("more than {most} % of the transfers keep a guard; --explain-guards says why"));
            Err(Failure::Said)
        }
        Some(_) | None => Ok(()),
    }
}

/// What is reported about all policies that are safe to run.
#[derive(Default)]
struct Safe {
    /// Those that limit no turn: see [`without_limit`].
    endless: Vec<(String, String)>,
    share: Share,
    left: Left,
}

impl Safe {
    fn add(
        &mut self,
        console: &Console,
        source: &Source,
        policy: &Verified<Policy>,
        framework: &Framework,
        explain: bool,
    ) -> Result<(), Failure> {
        self.endless.extend(without_limit(policy, framework));
        if explain {
            explain_guards(console, source, policy)?;
        }
        self.share.total += policy.share().total;
        self.share.guarded += policy.share().guarded;
        self.left.add(source, policy);
        Ok(())
    }
}

/// The name of a policy that limits no turn although its host could, and the event by which it could.
fn without_limit(policy: &Verified<Policy>, framework: &Framework) -> Option<(String, String)> {
    policy.unlimited_turns(framework).map(|event| (policy.policy().name.clone(), event))
}

fn keeps_the_processor(policies: &[(String, String)]) -> String {
    let names: Vec<&str> = policies.iter().map(|(name, _)| name.as_str()).collect();
    let limit = if names.len() == 1 { "limits" } else { "limit" };
    let event = policies.first().map_or("", |(_, event)| event.as_str());
    format!(
        "note: `{}` {limit} no turn: a thread that computes keeps the processor until it blocks or yields\n = help: if that is not \
         meant, handle `{event}`, or arm a timer in `schedule`",
        names.join("`, `")
    )
}

/// The guards that remain in all policies.
#[derive(Default)]
struct Left {
    number: usize,
    /// The first of them.
    first: String,
}

impl Left {
    fn add(&mut self, source: &Source, policy: &Verified<Policy>) {
        if let Some(first) = policy.guards_left().first()
            && self.number == 0
        {
            let place = match first.remark.primary.0.line {
                0 => format!("{}, in a handler of the framework", source.name),
                line => format!("{}:{line}", source.file(first.remark.primary.0.start).name),
            };
            self.first = format!("{} ({place})", first.tested);
        }
        self.number += policy.guards_left().len();
    }

    fn said(&self) -> String {
        match self.number {
            0 => String::new(),
            1 => format!(" as long as 1 guard holds: {}", self.first),
            number => format!(" as long as {number} guards hold, the first: {}", self.first),
        }
    }
}

/// Explains each remaining guard of a policy, and counts them.
fn explain_guards(console: &Console, source: &Source, policy: &Verified<Policy>) -> Result<(), Failure> {
    for guard in policy.explain_guards() {
        let mut alone = Diagnostics::new();
        alone.push(guard.clone());
        console.answer(source, &alone)?;
    }
    let share = policy.share();
    if console.is_json() {
        let (guarded, transfers) = (share.guarded, share.total);
        console.record(&json!({ "type": "guards", "file": source.name, "guarded": guarded, "transfers": transfers }));
        return Ok(());
    }
    console.result(&format!("{}: {}\n", source.name, shown(share)))
}

/// A statement that moves or dispatches a thread counts once for each event that it handles.
fn shown(share: Share) -> String {
    let part = Exact::new(100 * share.guarded as i128, share.total.max(1) as i128);
    // Enough digits to distinguish it from the whole numbers to which it is compared.
    let percent = match (part.floor(), part.rest()) {
        (whole, None) => whole.to_string(),
        (whole, Some((rest, of))) => format!("{whole}.{}", (rest * 10 / of).max(1)),
    };
    format!("guarded {} of {} transfers ({percent} %)", share.guarded, share.total)
}
