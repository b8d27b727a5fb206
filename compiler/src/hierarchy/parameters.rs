//! The values that schedulers are given: they are for variables that policies import, and of their types.

use std::collections::BTreeMap;

use crate::check::{Values, unused_constants};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::{Import, Policy};
use crate::syntax::ast::Name;
use crate::syntax::words::nearest;

use super::Parameter;
use super::reader::{Draft, Given, Scheduler};

/// What each scheduler is given, by its index in the draft. `policy` gives a scheduler's policy, as far as it is known.
pub(super) fn check<'a>(
    draft: &Draft,
    parents: &[Option<usize>],
    policy: &dyn Fn(usize) -> Option<&'a Policy>,
    framework: &Framework,
    diagnostics: &mut Diagnostics,
) -> Vec<Vec<Parameter>> {
    let mut values = Values::new(framework);
    for constant in &draft.constants {
        values.declare(constant, diagnostics);
    }
    let mut all = Vec::new();
    for (index, scheduler) in draft.schedulers.iter().enumerate() {
        let (own, above) = (policy(index), parents[index].and_then(policy));
        let mut parameters = Vec::new();
        for (given, at_parent) in [(&scheduler.at_parent, true), (&scheduler.own, false)] {
            let imports =
                if at_parent { above.map(|above| &above.thread_imports) } else { own.map(|own| &own.imports) };
            let mut seen = BTreeMap::new();
            for Given { name, value } in given {
                if let Some(first) = seen.insert(name.text.as_str(), name.at) {
                    let title = format!("`{}` is given twice", name.text);
                    let twice = Diagnostic::error("E0603", title, name.at, "the second time");
                    diagnostics.push(twice.related(first, "the first time"));
                }
                let Some(imports) = imports else { continue };
                let Some(import) = imports.iter().find(|import| import.name == name.text) else {
                    diagnostics.push(unknown(name, scheduler, at_parent, imports, own, above));
                    continue;
                };
                if let Some(value) = values.value(value, import.ty, diagnostics) {
                    parameters.push(Parameter { name: name.text.clone(), value, at_parent, at: name.at });
                }
            }
        }
        all.push(parameters);
    }
    // A misspelt name must not be reported as missing, too.
    if !diagnostics.has_errors() {
        let given = draft.schedulers.iter().flat_map(|scheduler| scheduler.at_parent.iter().chain(&scheduler.own));
        unused_constants(&draft.constants, given.map(|given| &given.value), diagnostics);
        unlike_siblings(draft, parents, policy, diagnostics);
    }
    all
}

fn unknown(
    name: &Name,
    scheduler: &Scheduler,
    at_parent: bool,
    imports: &[Import],
    own: Option<&Policy>,
    above: Option<&Policy>,
) -> Diagnostic {
    let policy = if at_parent { above } else { own }.map_or("", |policy| policy.name.as_str());
    let (kind, place) = if at_parent { ("variable of threads", "threadimports") } else { ("variable", "imports") };
    let title = format!("the policy `{policy}` imports no {kind} `{}`", name.text);
    let unknown = Diagnostic::error("E0602", title, name.at, "unknown name");
    let unknown = match imports {
        [] => unknown.note(format!("`{policy}` has no `{place}`")),
        some => {
            let names: Vec<String> = some.iter().map(|import| format!("`{}`", import.name)).collect();
            unknown.note(format!("it imports {}", names.join(", ")))
        }
    };
    let has = |imports: &[Import]| imports.iter().any(|import| import.name == name.text);
    if let Some(near) = nearest(&name.text, imports.iter().map(|import| import.name.as_str())) {
        return unknown.help(format!("did you mean `{near}`?")).suggest(name.at, near);
    }
    match (own, above, &scheduler.under) {
        (Some(own), _, _) if at_parent && has(&own.imports) => {
            unknown.help(format!("`{}` imports it: write it after `with`", own.name))
        }
        (_, Some(above), Some(under)) if !at_parent && has(&above.thread_imports) => {
            unknown.help(format!("`{}` imports it of its threads: write it after `under {}`", above.name, under.text))
        }
        (Some(own), _, _) if !at_parent && has(&own.thread_imports) => {
            unknown.help(format!("`{}` imports it of each of its threads: the application sets it for them", own.name))
        }
        (..) => unknown,
    }
}

/// If one child gives a value and another does not, the default was hardly meant.
fn unlike_siblings<'a>(
    draft: &Draft,
    parents: &[Option<usize>],
    policy: &dyn Fn(usize) -> Option<&'a Policy>,
    diagnostics: &mut Diagnostics,
) {
    for (index, scheduler) in draft.schedulers.iter().enumerate() {
        let Some((parent, above)) = parents[index].and_then(|parent| Some((parent, policy(parent)?))) else { continue };
        for import in &above.thread_imports {
            if says(scheduler, import).is_some() {
                continue;
            }
            let siblings = draft.schedulers.iter().zip(parents).filter(|(_, above)| **above == Some(parent));
            let Some((sibling, said)) = siblings.filter_map(|(other, _)| Some((other, says(other, import)?))).next()
            else {
                continue;
            };
            let title =
                format!("`{}` is not given `{}`, and `{}` is", scheduler.name.text, import.name, sibling.name.text);
            let missing = Diagnostic::warning("E0607", title, scheduler.name.at, "")
                .related(said.name.at, "given here")
                .note(format!("it is {} then, the default of `{}`", import.default, above.name));
            diagnostics.push(
                missing.help(format!("write it, even if it is the default: `{} = {};`", import.name, import.default)),
            );
        }
    }
}

/// What a scheduler gives for a variable of threads that its parent's policy imports.
fn says<'a>(scheduler: &'a Scheduler, import: &Import) -> Option<&'a Given> {
    scheduler.at_parent.iter().find(|given| given.name.text == import.name)
}
