//! A scheduler together with one of its families, as one tree.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::framework::covers;
use crate::policy::{Element, Policy};
use crate::syntax::ast::{Handler, Joined, Name, Scheduler, Variable};
use crate::verify::Own;
use crate::vocabulary::At;

/// A scheduler with one of its families.
pub(super) struct WithFamily {
    /// What the scheduler calls it.
    pub name: Name,
    /// Both.
    pub tree: Scheduler,
    /// How many constants, variables and containers the scheduler declares before those of the family, and how many these are.
    declared: [(usize, usize); 3],
}

impl WithFamily {
    /// Which parts of its policy are the family's own.
    pub fn own(&self, policy: &Policy) -> Own {
        let [constants, variables, containers] = self.declared;
        Own {
            constants: elements(constants, policy.constants.iter().map(|one| one.element)),
            variables: elements(variables, policy.variables.iter().map(|one| one.element)),
            containers: elements(containers, policy.containers.iter().map(|one| one.element)),
        }
    }
}

/// The places of the elements of some declarations, behind those of others.
fn elements((before, own): (usize, usize), all: impl Iterator<Item = Option<Element>>) -> Range<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    let mut end = 0;
    for (place, element) in all.enumerate() {
        if element.is_none_or(|element| element.index == 0) {
            firsts.push(place);
        }
        end = place + 1;
    }
    let place = |declaration: usize| firsts.get(declaration).copied().unwrap_or(end);
    place(before)..place(before + own)
}

/// All of them, in order.
pub(super) fn of_families(tree: &Scheduler) -> Vec<WithFamily> {
    let files = tree.families.iter().filter_map(|family| Some((&family.name, &**family.tree.as_ref()?)));
    let with_family = |(name, file): (&Name, &Scheduler)| WithFamily {
        name: name.clone(),
        tree: with(tree, name, file),
        declared: [
            (tree.constants.len(), file.constants.len()),
            (tree.variables.len(), file.variables.len()),
            (tree.containers.len(), file.containers.len()),
        ],
    };
    files.map(with_family).collect()
}

/// The scheduler with all of its families at once, to find out what none of them uses.
pub(super) fn with_all(tree: &Scheduler) -> Scheduler {
    let mut all = tree.clone();
    all.properties = properties(tree);
    for file in tree.families.iter().filter_map(|family| family.tree.as_ref()) {
        declare(&mut all, file);
        all.handlers.extend(file.handlers.iter().cloned());
    }
    all
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
    with.closed = None;
    with.properties = properties(tree);
    declare(&mut with, family);
    with.verbatim.extend(family.verbatim.iter().cloned());
    with.handlers = tree.handlers.iter().filter_map(|handler| where_the_family_has_none(handler, family)).collect();
    with.handlers.extend(family.handlers.iter().cloned());
    with.lost.names.extend(family.lost.names.iter().cloned());
    with.lost.handlers |= family.lost.handlers;
    with.lost.functions |= family.lost.functions;
    with.joined = Some(joined);
    with
}

/// Adds all that another file declares but its handlers and its verbatim code.
fn declare(all: &mut Scheduler, file: &Scheduler) {
    all.uses.extend(file.uses.iter().cloned());
    add(&mut all.attributes, &file.attributes);
    add(&mut all.thread_imports, &file.thread_imports);
    add(&mut all.imports, &file.imports);
    all.constants.extend(file.constants.iter().cloned());
    all.enumerations.extend(file.enumerations.iter().cloned());
    all.variables.extend(file.variables.iter().cloned());
    all.containers.extend(file.containers.iter().cloned());
    // A file of functions that both use is there once.
    let known: BTreeSet<u32> = all.functions.iter().map(|function| function.at.start).collect();
    all.functions.extend(file.functions.iter().filter(|one| !known.contains(&one.at.start)).cloned());
}

/// Adds declarations of another file, which may repeat what is there: [`super::agreement`] has seen that they agree.
fn add(all: &mut Vec<Variable>, more: &[Variable]) {
    let before: BTreeSet<String> = all.iter().map(|known| known.name.text.clone()).collect();
    all.extend(more.iter().filter(|one| !before.contains(&one.name.text)).cloned());
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
