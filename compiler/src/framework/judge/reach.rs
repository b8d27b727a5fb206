//! Each event, and each alternative of its type, can come: earlier events bring threads into the states it demands.

use std::collections::BTreeSet;

use super::{Condition, Framework, Rule, Stage, any_of, class_of, events};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::vocabulary::StateClass;

pub(super) fn check(framework: &Framework, diagnostics: &mut Diagnostics) {
    // What an event without a type does is not known.
    if events(framework).any(|event| event.rules.is_empty() && !event.parameters.is_empty()) {
        return;
    }
    let reached = reached(framework);
    for event in events(framework) {
        let (possible, never): (Vec<&Rule>, Vec<&Rule>) =
            event.rules.iter().partition(|rule| lacks(rule, &reached).is_empty());
        for rule in &never {
            let all = possible.is_empty();
            let title = if all {
                format!("`{}` can never come", event.name)
            } else {
                format!("an alternative of the type of `{}` never applies", event.name)
            };
            let classes: Vec<&str> = lacks(rule, &reached).into_iter().map(StateClass::word).collect();
            let at = if all { event.at } else { rule.at };
            let never = Diagnostic::error("E0209", title, at, format!("no thread is ever {}", any_of(&classes)));
            let help = format!("add the event that makes a thread {}, or remove this", any_of(&classes));
            diagnostics.push(never.help(help));
            if all {
                break;
            }
        }
    }
}

/// The classes in which threads can be.
fn reached(framework: &Framework) -> BTreeSet<StateClass> {
    let mut reached = BTreeSet::new();
    loop {
        let before = reached.len();
        for rule in events(framework).flat_map(|event| &event.rules) {
            if lacks(rule, &reached).is_empty() {
                let ends = rule.moves.iter().map(|step| super::stages(step).1);
                reached.extend(ends.filter_map(|end| match end {
                    // A thread that has ended is in no container.
                    Stage::New | Stage::Placed | Stage::In(StateClass::Terminated) => None,
                    Stage::In(class) => Some(class),
                }));
            }
        }
        // A policy may take the processor from a thread.
        if reached.contains(&StateClass::Running) {
            reached.insert(StateClass::Ready);
        }
        if reached.len() == before {
            return reached;
        }
    }
}

/// The classes that a rule demands and in which no thread can be.
fn lacks(rule: &Rule, reached: &BTreeSet<StateClass>) -> Vec<StateClass> {
    let some = rule.given.iter().filter(|condition| matches!(condition, Condition::Some(_))).map(class_of);
    let starts = rule.moves.iter().filter_map(|step| match super::stages(step).0 {
        Stage::In(class) => Some(class),
        Stage::New | Stage::Placed => None,
    });
    let asked: BTreeSet<StateClass> = some.chain(starts).collect();
    asked.difference(reached).copied().collect()
}
