//! What a family may not do, and what a scheduler and its families must declare alike.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Framework, covers};
use crate::policy::{Element, Policy, Value};
use crate::source::Source;
use crate::syntax::ast::{HandlerKind, Name, Scheduler, Variable};
use crate::syntax::words::nearest;
use crate::verify::OfFamily;
use crate::vocabulary::At;

/// What a file declares of one kind.
type Declared = fn(&Scheduler) -> &[Variable];

/// Judges a scheduler and its families before they are joined.
pub(super) fn check(source: &Source, tree: &Scheduler, framework: &Framework, diagnostics: &mut Diagnostics) {
    if tree.nodes.is_empty()
        && let Some(first) = tree.families.first()
    {
        let title = "a scheduler with families keeps their nodes";
        let none = Diagnostic::error("E0338", title, first.name.at, "its nodes are kept nowhere");
        diagnostics.push(none.help("declare a collection for them: `nodes { queue all; }`"));
    }
    let files: Vec<&Scheduler> = tree.families.iter().filter_map(|family| family.tree.as_deref()).collect();
    for file in &files {
        global_events(file, framework, diagnostics);
        listed(source, tree, file, diagnostics);
        properties(file, framework, diagnostics);
    }
    let kinds: [(&str, Declared); 4] = [
        ("attribute", |file| &file.attributes),
        ("import", |file| &file.thread_imports),
        ("import", |file| &file.imports),
        ("property", |file| &file.properties),
    ];
    for (what, declared) in kinds {
        let all = || [tree].into_iter().chain(files.iter().copied()).flat_map(declared);
        for (index, one) in all().enumerate() {
            let first = all().take(index).find(|first| first.name.text == one.name.text);
            // A file that two families share is no other file.
            if let Some(first) = first.filter(|first| first.name.at != one.name.at && !alike(source, first, one)) {
                let title = format!("the {what} `{}` is declared in two ways", one.name.text);
                let differs = Diagnostic::error("E0338", title, one.name.at, "differs");
                let differs = differs.related(first.name.at, "declared here");
                diagnostics
                    .push(differs.note("a thread can go to nodes of all families, and a scheduler sees all nodes"));
            }
        }
    }
}

/// Judges what became of declarations that families share: the same words can mean different things in two files.
pub(super) fn check_policies(tree: &Scheduler, policies: &[OfFamily], diagnostics: &mut Diagnostics) {
    for (index, one) in policies.iter().enumerate() {
        for first in &policies[..index] {
            for (what, name) in differing(first, one) {
                let title = format!("{what} with the family `{}` than with `{}`", one.name, first.name);
                let differs = Diagnostic::error("E0338", title, declared(tree, &name).unwrap_or(one.at), "differs");
                let differs = differs.related(first.at, "one family").related(one.at, "the other one");
                diagnostics.push(differs.help("declare it so that it means the same with each family"));
            }
        }
    }
}

/// What two policies have both, and differently: a description, and its name.
fn differing(first: &OfFamily, one: &OfFamily) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (first, other) = (first.verified.policy(), one.verified.policy());
    let pairs = |of: fn(&Policy) -> Vec<(&String, Value)>| {
        let of_first = of(first);
        let differs = move |(name, value): &(&String, Value)| {
            of_first.iter().any(|(known, before)| known == name && before != value)
        };
        of(other).into_iter().filter(differs).map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let attributes = pairs(|policy| policy.attributes.iter().map(|one| (&one.name, one.initial)).collect());
    let imports = pairs(|policy| policy.imports.iter().map(|one| (&one.name, one.default)).collect());
    let of_threads = pairs(|policy| policy.thread_imports.iter().map(|one| (&one.name, one.default)).collect());
    for name in attributes.into_iter().chain(imports).chain(of_threads) {
        found.push((format!("`{name}` has another first value"), name));
    }
    for container in other.containers.iter().filter(|container| !one.own.contains(Element::array(&container.name))) {
        let known = first.containers.iter().find(|known| known.name == container.name && known.at == container.at);
        if let Some(known) = known.filter(|known| known.class != container.class) {
            let (class, before) = (container.class.word(), known.class.word());
            let what = format!("`{}` holds threads that are {class}, not {before},", Element::array(&container.name));
            found.push((what, container.name.clone()));
        }
    }
    found
}

/// Where the scheduler declares a name.
fn declared(tree: &Scheduler, name: &str) -> Option<At> {
    let variables = tree.attributes.iter().chain(&tree.imports).chain(&tree.thread_imports).map(|one| &one.name);
    let mut names = variables.chain(tree.containers.iter().map(|container| &container.name));
    names.find(|known| known.text == Element::array(name)).map(|known| known.at)
}

/// Whether two declarations are the same, as they are written.
fn alike(source: &Source, one: &Variable, other: &Variable) -> bool {
    let text = |at: At| source.whole().get(at.start as usize..at.end as usize).unwrap_or_default();
    let written = |variable: &Variable| {
        let array = variable.array.as_ref();
        let length = array.map(|array| text(array.length.at).to_owned());
        let list = array.and_then(|array| array.list.as_ref()).map(|(_, at)| text(*at).to_owned());
        (variable.ty, length, list, variable.initial.as_ref().map(|initial| text(initial.at).to_owned()))
    };
    written(one) == written(other)
}

/// A family's handlers run on its nodes. What happens to nodes themselves is the scheduler's.
fn global_events(file: &Scheduler, framework: &Framework, diagnostics: &mut Diagnostics) {
    let global = |name: &&Name| {
        let covered = |event: &&Event| covers(&name.text, &event.name);
        framework.events.iter().filter(covered).any(Event::is_global)
    };
    let handlers = file.handlers.iter().filter(|handler| handler.kind == HandlerKind::Event);
    for name in handlers.flat_map(|handler| &handler.names).filter(global) {
        let title = format!("a family does not handle `{}`", name.text);
        let outside = Diagnostic::error("E0329", title, name.at, "runs in the instance of no node");
        diagnostics.push(
            outside.help("move the handler to the scheduler; there, `n is FAMILY` says of which family a node is"),
        );
    }
}

/// What a family lists under `global` is the scheduler's.
fn listed(source: &Source, tree: &Scheduler, file: &Scheduler, diagnostics: &mut Diagnostics) {
    for listed in &file.globals {
        let name = &listed.name;
        let given = listed.initial.as_ref().map(|initial| initial.at);
        let given = given.or(listed.array.as_ref().and_then(|array| array.list.as_ref()).map(|(_, at)| *at));
        let Some(own) = tree.globals.iter().find(|own| own.name.text == name.text) else {
            let title = format!("the scheduler has no global variable `{}`", name.text);
            let unknown = Diagnostic::error("E0338", title, name.at, "");
            let unknown = unknown.note("a family lists those of the scheduler that it uses");
            let meant = nearest(&name.text, tree.globals.iter().map(|own| own.name.text.as_str()));
            diagnostics.push(match meant {
                Some(meant) => unknown.help(format!("did you mean `{meant}`?")),
                None => unknown.help(format!(
                    "declare it in the scheduler, `global {{ {} {}; }}`, or in `data` if each node has its own",
                    listed.ty.word(),
                    name.text
                )),
            });
            continue;
        };
        if let Some(given) = given {
            let title = format!("`{}` gets its first value in the scheduler", name.text);
            let twice = Diagnostic::error("E0338", title, given, "not here");
            diagnostics.push(twice.related(own.name.at, "declared here").help("leave the value out"));
            continue;
        }
        let length = |variable: &Variable| {
            let at = variable.array.as_ref().map(|array| array.length.at)?;
            source.whole().get(at.start as usize..at.end as usize).map(str::to_owned)
        };
        if listed.ty != own.ty || length(listed) != length(own) {
            let title = format!("the global variable `{}` is another one in the scheduler", name.text);
            let differs = Diagnostic::error("E0338", title, name.at, "differs");
            diagnostics.push(differs.related(own.name.at, "declared here").help("declare it as the scheduler does"));
        }
    }
}

/// Only what the host can tell of a node is a property.
fn properties(file: &Scheduler, framework: &Framework, diagnostics: &mut Diagnostics) {
    for property in &file.properties {
        let name = &property.name;
        // The property `family` is told of every node, too, and read by `n is FAMILY`.
        if name.text == "family" || framework.properties.iter().any(|known| known.name == name.text) {
            let title = format!("the framework tells `{}` of every node", name.text);
            let known = Diagnostic::error("E0338", title, name.at, "declared again");
            diagnostics.push(known.help(if name.text == "family" {
                "remove it; `n is FAMILY` reads it"
            } else {
                "remove it here; `n.NAME` reads it all the same"
            }));
        } else if !framework.tells_any_property {
            let title = format!("framework `{}` tells no property `{}` of a node", framework.name, name.text);
            let unknown = Diagnostic::error("E0304", title, name.at, "unknown property");
            let known: Vec<&str> = framework.properties.iter().map(|known| known.name.as_str()).collect();
            let listed = || known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            diagnostics.push(match nearest(&name.text, known.iter().copied()) {
                Some(meant) => unknown.help(format!("did you mean `{meant}`, which needs no declaration?")),
                None if known.is_empty() => unknown.note("it tells none"),
                None => unknown.note(format!("it tells {}", listed())),
            });
        }
    }
}
