//! A scheduler together with one of its families, as one tree.

use std::collections::BTreeSet;

use crate::framework::covers;
use crate::syntax::ast::{Handler, Joined, Name, Scheduler, Variable};
use crate::vocabulary::At;

/// A scheduler with one of its families.
pub(super) struct WithFamily {
    /// What the scheduler calls it.
    pub name: Name,
    /// Both.
    pub tree: Scheduler,
    /// The constants, variables and containers that the family declares.
    pub own: BTreeSet<String>,
}

/// All of them, in order.
pub(super) fn of_families(tree: &Scheduler) -> Vec<WithFamily> {
    let files = tree.families.iter().filter_map(|family| Some((&family.name, &**family.tree.as_ref()?)));
    files.map(|(name, file)| WithFamily { name: name.clone(), tree: with(tree, name, file), own: own(file) }).collect()
}

fn own(family: &Scheduler) -> BTreeSet<String> {
    let values = family.constants.iter().chain(&family.variables).map(|variable| &variable.name);
    values.chain(family.containers.iter().map(|container| &container.name)).map(|name| name.text.clone()).collect()
}

/// The scheduler with a family: all that both declare, and the handlers of the scheduler where the family has none.
fn with(tree: &Scheduler, name: &Name, family: &Scheduler) -> Scheduler {
    let listed: BTreeSet<&str> = family.globals.iter().map(|listed| listed.name.text.as_str()).collect();
    let unlisted = tree.globals.iter().map(|variable| variable.name.text.clone());
    let joined = Joined {
        name: name.clone(),
        extent: At { start: family.name.at.start, end: family.closed.map_or(u32::MAX, |closed| closed.end), line: 0 },
        unlisted: unlisted.filter(|name| !listed.contains(name.as_str())).collect(),
    };
    let mut with = tree.clone();
    // What the framework requires and nobody handles is reported where the family is named.
    with.name.at = name.at;
    with.closed = None;
    with.uses.extend(family.uses.iter().cloned());
    with.properties = properties(tree);
    add(&mut with.attributes, &family.attributes);
    add(&mut with.thread_imports, &family.thread_imports);
    add(&mut with.imports, &family.imports);
    with.constants.extend(family.constants.iter().cloned());
    with.enumerations.extend(family.enumerations.iter().cloned());
    with.variables.extend(family.variables.iter().cloned());
    with.containers.extend(family.containers.iter().cloned());
    with.verbatim.extend(family.verbatim.iter().cloned());
    // A file of functions that both use is there once.
    let known: BTreeSet<u32> = tree.functions.iter().map(|function| function.at.start).collect();
    with.functions.extend(family.functions.iter().filter(|one| !known.contains(&one.at.start)).cloned());
    with.handlers = tree.handlers.iter().filter_map(|handler| where_the_family_has_none(handler, family)).collect();
    with.handlers.extend(family.handlers.iter().cloned());
    with.lost.names.extend(family.lost.names.iter().cloned());
    with.lost.handlers |= family.lost.handlers;
    with.lost.functions |= family.lost.functions;
    with.joined = Some(joined);
    with
}

/// Adds declarations that several files may repeat: [`super::agreement`] has seen that they agree.
fn add(all: &mut Vec<Variable>, more: &[Variable]) {
    for one in more {
        if all.iter().all(|known| known.name.text != one.name.text) {
            all.push(one.clone());
        }
    }
}

/// The properties of all families: the scheduler sees the nodes of each.
fn properties(tree: &Scheduler) -> Vec<Variable> {
    let mut all = Vec::new();
    tree.families.iter().filter_map(|family| family.tree.as_ref()).for_each(|file| add(&mut all, &file.properties));
    all
}

/// A handler of the scheduler for those events that the family does not handle. `None`: it handles them all.
fn where_the_family_has_none(handler: &Handler, family: &Scheduler) -> Option<Handler> {
    let own = family.handlers.iter().filter(|own| own.kind == handler.kind).flat_map(|own| &own.names);
    let own: Vec<&str> = own.map(|name| name.text.as_str()).collect();
    let left = |name: &&Name| !own.iter().any(|own| covers(own, &name.text));
    let names: Vec<Name> = handler.names.iter().filter(left).cloned().collect();
    (!names.is_empty()).then(|| Handler { names, ..handler.clone() })
}
