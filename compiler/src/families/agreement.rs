//! What a family may not do, and what a scheduler and its families must declare alike.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Framework, covers};
use crate::policy::{Attribute, Container, Element, Owner, Policy};
use crate::source::Source;
use crate::syntax::ast::{HandlerKind, Name, Scheduler, Variable};
use crate::syntax::words::nearest;
use crate::verify::{self, OfFamily, Unlike};
use crate::vocabulary::At;

/// How many families a scheduler has at most: it is compiled once for each.
const MOST_FAMILIES: usize = 32;

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
    if let Some(excess) = tree.families.get(MOST_FAMILIES) {
        let title = format!("a scheduler has at most {MOST_FAMILIES} families, this one names {}", tree.families.len());
        diagnostics.push(Diagnostic::error("E0322", title, excess.name.at, "the first that is too many"));
        return;
    }
    let files: Vec<&Scheduler> = tree.families.iter().filter_map(|family| family.tree.as_deref()).collect();
    for file in &files {
        global_events(file, framework, diagnostics);
        listed(source, tree, file, diagnostics);
        properties(tree, file, framework, diagnostics);
    }
    dead_handlers(tree, &files, diagnostics);
    let kinds: [(&str, Declared); 4] = [
        ("attribute", |file| &file.attributes),
        ("import of threads", |file| &file.thread_imports),
        ("import", |file| &file.imports),
        ("property", |file| &file.properties),
    ];
    let mut before: Vec<(usize, &str, &Variable)> = Vec::new();
    for (number, file) in [tree].into_iter().chain(files.iter().copied()).enumerate() {
        for (what, one) in kinds.iter().flat_map(|(what, of)| of(file).iter().map(|one| (*what, one))) {
            let meets = |(other, kind, first): &&(usize, &str, &Variable)| {
                *other != number && first.name.text == one.name.text && space(kind) == space(what)
            };
            // A file that two families share is no other file.
            let first = before.iter().find(meets).filter(|(.., first)| first.name.at != one.name.at);
            if let Some((_, kind, first)) = first.filter(|(_, kind, first)| *kind != what || !alike(source, first, one))
            {
                let title = if *kind == what {
                    format!("the {what} `{}` is declared in two ways", one.name.text)
                } else {
                    format!("`{}` is an {kind} in one file, and an {what} in another", one.name.text)
                };
                let differs = Diagnostic::error("E0338", title, one.name.at, "differs");
                let differs = differs.related(first.name.at, "declared here");
                diagnostics
                    .push(differs.note("a thread can go to nodes of all families, and a scheduler sees all nodes"));
            }
            before.push((number, what, one));
        }
    }
}

/// Kinds of one space cannot have a name for two things: what is kept for a thread is read alike, whoever keeps it.
fn space(kind: &str) -> &str {
    if kind == "attribute" { "import of threads" } else { kind }
}

/// A handler that every family overrides is for nothing, and nobody would judge it.
fn dead_handlers(tree: &Scheduler, files: &[&Scheduler], diagnostics: &mut Diagnostics) {
    let overridden = |kind: HandlerKind, name: &Name| {
        let own = |file: &&Scheduler| {
            let handlers = file.handlers.iter().filter(|handler| handler.kind == kind);
            handlers.flat_map(|handler| &handler.names).any(|own| covers(&own.text, &name.text))
        };
        files.iter().all(own)
    };
    for handler in tree.handlers.iter().filter(|_| !files.is_empty()) {
        for name in handler.names.iter().filter(|name| overridden(handler.kind, name)) {
            let title = format!("every family handles `{}` itself", name.text);
            let dead = Diagnostic::error("E0338", title, name.at, "runs on no node");
            diagnostics.push(dead.help("remove this handler, or that of a family"));
        }
    }
}

/// Judges what became of declarations that families share: the same words can mean different things in two files.
pub(super) fn check_policies(tree: &Scheduler, policies: &[OfFamily], diagnostics: &mut Diagnostics) {
    let mut told = BTreeSet::new();
    let pairs =
        policies.iter().enumerate().flat_map(|(number, one)| policies[..number].iter().map(move |first| (first, one)));
    for (first, one) in pairs {
        for (name, what) in differing(first, one) {
            let name = Element::array(&name);
            if !told.insert(name.to_owned()) {
                continue;
            }
            let title = format!("`{name}` has {what} with the family `{}` than with `{}`", one.name, first.name);
            let differs = Diagnostic::error("E0338", title, declared(tree, name).unwrap_or(one.at), "differs");
            let differs = differs.related(first.at, "one family").related(one.at, "the other one");
            diagnostics.push(differs.help("declare it so that it means the same with each family"));
        }
    }
}

/// The refusal of a handler that runs on no node, and depends on families.
pub(super) fn not_the_same(unlike: &Unlike) -> Diagnostic {
    let title = format!("`{}` does not mean the same with each family", unlike.event);
    let differs = Diagnostic::error("E0338", title, unlike.at, "runs on no node, so it is of no family");
    differs.help("use what the scheduler itself declares here, and no name of a family")
}

/// What two policies have both, and differently: its name, and what differs.
fn differing(first: &OfFamily, one: &OfFamily) -> Vec<(String, &'static str)> {
    let mut found: Vec<(String, &'static str)> = Vec::new();
    let (policy, other) = (first.verified.policy(), one.verified.policy());
    let (own, of_other) = (&first.own, &one.own);
    for (a, b) in without(&policy.constants, &own.constants).zip(without(&other.constants, &of_other.constants)) {
        if a != b {
            found.push((a.name.clone(), "another value"));
        }
    }
    for (a, b) in without(&policy.variables, &own.variables).zip(without(&other.variables, &of_other.variables)) {
        if a.element != b.element || a.name != b.name {
            found.push((a.name.clone(), "another length"));
            break;
        }
        if a != b {
            found.push((a.name.clone(), "another first value"));
        }
    }
    // The framework's stand last, and may be used by one family alone.
    let lent = |one: &&Container| one.owner == Owner::Policy;
    let containers = without(&policy.containers, &own.containers).filter(lent);
    for (a, b) in containers.zip(without(&other.containers, &of_other.containers).filter(lent)) {
        if a.element != b.element || a.name != b.name {
            found.push((a.name.clone(), "another length"));
            break;
        }
        let filled =
            |of: &Policy, at: At| of.containers.iter().zip(verify::fills(of)).any(|(it, fills)| fills && it.at == at);
        if a.class != b.class && filled(policy, a.at) && filled(other, b.at) {
            found.push((a.name.clone(), "another state class"));
        }
    }
    for a in &policy.attributes {
        let same = |b: &&Attribute| b.of == a.of && Element::array(&b.name) == Element::array(&a.name);
        let Some(b) = other.attributes.iter().find(same) else { continue };
        if b.element.map(|element| element.length) != a.element.map(|element| element.length) {
            found.push((a.name.clone(), "another length"));
        } else if other.attributes.iter().any(|b| b.of == a.of && b.name == a.name && b.initial != a.initial) {
            found.push((a.name.clone(), "another first value"));
        }
    }
    let imports = policy.imports.iter().zip(std::iter::repeat(&other.imports));
    let of_threads = policy.thread_imports.iter().zip(std::iter::repeat(&other.thread_imports));
    for (a, others) in imports.chain(of_threads) {
        if others.iter().any(|b| b.name == a.name && b.default != a.default) {
            found.push((a.name.clone(), "another default"));
        }
    }
    found.dedup_by(|one, other| Element::array(&one.0) == Element::array(&other.0));
    found
}

/// All but the family's own.
fn without<'a, T>(all: &'a [T], own: &Range<usize>) -> impl Iterator<Item = &'a T> {
    all[..own.start].iter().chain(&all[own.end..])
}

/// Where the scheduler declares a name.
fn declared(tree: &Scheduler, name: &str) -> Option<At> {
    let variables =
        [&tree.attributes, &tree.imports, &tree.thread_imports, &tree.variables, &tree.globals, &tree.constants];
    let variables = variables.into_iter().flatten().map(|one| &one.name);
    let containers = tree.containers.iter().chain(&tree.nodes).map(|container| &container.name);
    variables.chain(containers).find(|known| known.text == name).map(|known| known.at)
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
    for (index, listed) in file.globals.iter().enumerate() {
        let name = &listed.name;
        twice(name, &file.globals[..index], diagnostics);
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

/// Reports a name that a file declares again.
fn twice(name: &Name, before: &[Variable], diagnostics: &mut Diagnostics) {
    if let Some(first) = before.iter().find(|first| first.name.text == name.text) {
        let title = format!("`{}` is declared twice", name.text);
        let twice = Diagnostic::error("E0302", title, name.at, "the second time");
        diagnostics.push(twice.related(first.name.at, "the first time").help("rename or remove one of them"));
    }
}

/// Only what the host can tell of a node is a property.
fn properties(tree: &Scheduler, file: &Scheduler, framework: &Framework, diagnostics: &mut Diagnostics) {
    for (index, property) in file.properties.iter().enumerate() {
        let name = &property.name;
        twice(name, &file.properties[..index], diagnostics);
        if let Some(family) = tree.families.iter().find(|family| family.name.text == name.text) {
            let title = format!("`{}` is the name of a family", name.text);
            let same = Diagnostic::error("E0302", title, name.at, "a property of that name");
            diagnostics.push(same.related(family.name.at, "the family").help("rename one of them"));
        }
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
