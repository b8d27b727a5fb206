//! `catapults check`.

use super::{counted, distinct, is_hierarchy, is_of_scenarios, judge, read_source};
use crate::arguments::Check;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;
use crate::scenarios::{self, Instead, Policies};
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::{Share, Verified};
use serde_json::json;

/// Judges every file, whatever is wrong with those before it.
pub fn check(console: &Console, arguments: &Check) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let (mut errors, mut warnings, mut refused, mut hierarchies) = (0, 0, 0, 0);
    let (mut of_scenarios, mut scenarios) = (0, 0);
    let mut simulated = Policies::default();
    let mut share = Share::default();
    let files = distinct(&arguments.files);
    for path in &files {
        let wrong = match read_source(path) {
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
                    if arguments.explain_guards {
                        explain_guards(console, source, policy)?;
                    }
                    share.total += policy.share().total;
                    share.guarded += policy.share().guarded;
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
            Ok(source) => {
                let judged = catapults_compiler::compile(&source, &found.framework);
                let diagnostics = match &judged {
                    Ok((_, diagnostics)) | Err(diagnostics) => diagnostics,
                };
                console.diagnostics(&source, diagnostics);
                warnings += diagnostics.warnings();
                if let Ok((policy, _)) = &judged {
                    if arguments.explain_guards {
                        explain_guards(console, &source, policy)?;
                    }
                    share.total += policy.share().total;
                    share.guarded += policy.share().guarded;
                }
                diagnostics.errors()
            }
        };
        errors += wrong;
        refused += usize::from(wrong > 0);
    }
    let files = files.len();
    if refused > 0 {
        let place = if files == 1 { String::new() } else { format!(" in {refused} of {}", counted(files, "file")) };
        console.summary(&format!("{}{place}", counted(errors, "error")));
        return Err(Failure::Said);
    }
    let also = if warnings > 0 { format!(", {}", counted(warnings, "warning")) } else { String::new() };
    let policies = files - hierarchies - of_scenarios;
    let kinds = [(policies, "policy", "policies"), (hierarchies, "hierarchy", "hierarchies")];
    let kinds = kinds.into_iter().filter(|(number, ..)| *number > 0);
    let what = kinds.map(|(number, one, many)| format!("{number} {}", if number == 1 { one } else { many }));
    let what: Vec<String> = what.collect();
    let are = |number: usize| if number == 1 { "is" } else { "are" };
    let mut said = Vec::new();
    if !what.is_empty() {
        said.push(format!("{} {} safe to run", what.join(" and "), are(policies + hierarchies)));
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

/// Each guard that is left in a policy, then how many they are.
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

/// Statements that move or dispatch a thread are counted once for each event that they handle.
fn shown(share: Share) -> String {
    let percent = (share.guarded * 100).checked_div(share.total).unwrap_or(0);
    format!("guarded {} of {} transfers ({percent} %)", share.guarded, share.total)
}
