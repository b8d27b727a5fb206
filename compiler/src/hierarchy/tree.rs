//! Which scheduler stands under which: one root, all others under another scheduler, and none under itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::syntax::ast::Name;
use crate::syntax::words::nearest;

use super::reader::Draft;

/// The tree, by indices into the schedulers as they are written.
pub(super) struct Tree {
    /// The parent of each scheduler.
    pub(super) parents: Vec<Option<usize>>,
    /// The root first, each parent before its children, children as written. On errors, some can be missing.
    pub(super) order: Vec<usize>,
    pub(super) default: Option<usize>,
}

pub(super) fn check(draft: &Draft, diagnostics: &mut Diagnostics) -> Tree {
    let names = named(draft, diagnostics);
    let mut unknown = BTreeSet::new();
    let mut parents = Vec::new();
    for (index, scheduler) in draft.schedulers.iter().enumerate() {
        let parent = scheduler.under.as_ref().and_then(|under| find(under, &names, draft, diagnostics));
        if scheduler.under.is_some() && parent.is_none() {
            unknown.insert(index);
        }
        parents.push(parent);
    }
    let roots: Vec<usize> =
        (0..parents.len()).filter(|index| parents[*index].is_none() && !unknown.contains(index)).collect();
    let mut order = roots.clone();
    order.extend(&unknown);
    let mut at = 0;
    let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            children.entry(*parent).or_default().push(index);
        }
    }
    while let Some(parent) = order.get(at) {
        let below = children.get(parent).cloned().unwrap_or_default();
        order.extend(below);
        at += 1;
    }
    one_root(draft, &roots, diagnostics);
    cycles(draft, &parents, &order, diagnostics);
    let leaves: Vec<usize> = (0..parents.len()).filter(|index| !children.contains_key(index)).collect();
    let default = default(draft, &names, &leaves, diagnostics);
    Tree { parents, order, default }
}

/// The schedulers by their names.
fn named<'a>(draft: &'a Draft, diagnostics: &mut Diagnostics) -> BTreeMap<&'a str, usize> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, scheduler) in draft.schedulers.iter().enumerate() {
        let name = &scheduler.name;
        if let Some(first) = names.get(name.text.as_str()) {
            let first = &draft.schedulers[*first].name;
            let title = format!("two schedulers are called `{}`", name.text);
            let twice = Diagnostic::error("E0603", title, name.at, "the second").related(first.at, "the first");
            diagnostics.push(twice.help("choose another name; two schedulers can be of one policy"));
            continue;
        }
        names.insert(name.text.as_str(), index);
    }
    names
}

fn find(name: &Name, names: &BTreeMap<&str, usize>, draft: &Draft, diagnostics: &mut Diagnostics) -> Option<usize> {
    let found = names.get(name.text.as_str()).copied();
    if found.is_none() && !draft.incomplete {
        let title = format!("no scheduler of this hierarchy is called `{}`", name.text);
        let unknown = Diagnostic::error("E0602", title, name.at, "unknown name");
        diagnostics.push(match nearest(&name.text, names.keys().copied()) {
            Some(near) => unknown.help(format!("did you mean `{near}`?")).suggest(name.at, near),
            None => match draft.schedulers.iter().find(|scheduler| scheduler.policy.written == name.text) {
                Some(scheduler) => unknown.help(format!(
                    "`{}` is a policy; the scheduler of this policy is called `{}`",
                    name.text, scheduler.name.text
                )),
                None => {
                    let there: Vec<String> = names.keys().map(|name| format!("`{name}`")).collect();
                    unknown.note(format!("there is {}", there.join(", ")))
                }
            },
        });
    }
    found
}

fn one_root(draft: &Draft, roots: &[usize], diagnostics: &mut Diagnostics) {
    let name = |index: &usize| &draft.schedulers[*index].name;
    match roots {
        [first, others @ ..] => {
            for other in others {
                let title =
                    format!("both `{}` and `{}` are roots: neither names a parent", name(first).text, name(other).text);
                let second = Diagnostic::error("E0604", title, name(other).at, "the second root")
                    .related(name(first).at, "the first")
                    .note("the root has the processor from the host, all others have it from the scheduler above them");
                diagnostics.push(second.help(format!("write `under {}`", name(first).text)));
            }
        }
        // If all stand under another one, there is a cycle, which is reported.
        [] if draft.schedulers.is_empty() && !draft.incomplete => {
            let empty = Diagnostic::error("E0604", "this hierarchy has no scheduler", draft.name.at, "");
            diagnostics.push(empty.help("write at least `scheduler root : fifo;`"));
        }
        [] => {}
    }
}

/// A scheduler that is not below the root, or below an unknown parent, is in a cycle or below one.
fn cycles(draft: &Draft, parents: &[Option<usize>], order: &[usize], diagnostics: &mut Diagnostics) {
    let mut seen: BTreeSet<usize> = order.iter().copied().collect();
    for start in 0..parents.len() {
        let mut way = Vec::new();
        let mut next = Some(start);
        while let Some(index) = next.filter(|index| !seen.contains(index)) {
            seen.insert(index);
            way.push(index);
            next = parents[index];
        }
        let Some(again) = next.and_then(|next| way.iter().position(|index| *index == next)) else { continue };
        let cycle = &way[again..];
        let name = |index: &usize| format!("`{}`", draft.schedulers[*index].name.text);
        let title = match cycle {
            [one] => format!("{} stands under itself", name(one)),
            _ => {
                let ring: Vec<String> = cycle.iter().chain(cycle.first()).map(name).collect();
                format!("these stand under one another: {}", ring.join(" under "))
            }
        };
        let at = |index: &usize| {
            let scheduler = &draft.schedulers[*index];
            scheduler.under.as_ref().map_or(scheduler.name.at, |under| under.at)
        };
        let mut diagnostic = Diagnostic::error("E0604", title, at(&cycle[0]), "would have the processor from itself");
        for index in &cycle[1..] {
            diagnostic = diagnostic.related(at(index), "");
        }
        diagnostics.push(diagnostic.help("leave `under` out of the one that is to be the root"));
    }
}

fn default(
    draft: &Draft,
    names: &BTreeMap<&str, usize>,
    leaves: &[usize],
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    if let [first, others @ ..] = draft.defaults.as_slice() {
        for other in others {
            let title = "the default scheduler is given twice";
            let twice = Diagnostic::error("E0603", title, other.at, "the second time");
            diagnostics.push(twice.related(first.at, "the first time"));
        }
        return find(first, names, draft, diagnostics);
    }
    match leaves {
        [only] => Some(*only),
        [] => None,
        [first, ..] if !draft.incomplete => {
            let named: Vec<String> =
                leaves.iter().map(|leaf| format!("`{}`", draft.schedulers[*leaf].name.text)).collect();
            let title = format!("it is not said which scheduler threads go to: {}", named.join(", "));
            let missing = Diagnostic::error("E0606", title, draft.name.at, "has no `default`")
                .note("a thread can be given to any scheduler when it is created; `default` is for all others");
            let name = &draft.schedulers[*first].name.text;
            diagnostics.push(missing.help(format!("name one: `default {name};`")));
            None
        }
        _ => None,
    }
}
