//! An event type does not contradict itself. If one start has several ends, the policy may choose.

use std::collections::BTreeMap;

use super::{Condition, Event, Framework, Move, Rule, Stage, class_of};
use crate::diagnostics::{Diagnostic, Diagnostics};

pub(super) fn check(framework: &Framework, diagnostics: &mut Diagnostics) {
    for event in framework.events.iter().chain(&framework.timer) {
        for (index, rule) in event.rules.iter().enumerate() {
            conditions(rule, diagnostics);
            threads(event, rule, diagnostics);
            if let Some(first) = event.rules[..index].iter().find(|first| same(first, rule)) {
                let title = format!("`{}` states an alternative of its type twice", event.name);
                let twice = Diagnostic::error("E0207", title, rule.at, "the second time");
                diagnostics.push(twice.related(first.at, "the first time").help("remove one of them"));
            }
        }
    }
}

/// The conditions of a rule can hold together.
fn conditions(rule: &Rule, diagnostics: &mut Diagnostics) {
    for (index, condition) in rule.given.iter().enumerate() {
        let class = class_of(condition);
        for other in rule.given[..index].iter().filter(|other| class_of(other) == class) {
            let title = if other == condition {
                format!("a rule says twice whether a thread is {}", class.word())
            } else {
                format!("no situation has some {0} and none {0}", class.word())
            };
            diagnostics.push(Diagnostic::error("E0207", title, rule.at, "").help("remove one of the conditions"));
        }
    }
    for step in &rule.moves {
        let (from, _) = super::stages(step);
        let Stage::In(class) = from else { continue };
        if rule.given.contains(&Condition::None(class)) {
            let title = format!("a rule has a {0} thread, and the condition `none {0}`", class.word());
            let never = Diagnostic::error("E0207", title, rule.at, "no situation is like this");
            diagnostics.push(never.help(format!("remove `none {}`, or the move", class.word())));
        }
    }
}

/// A rule gives a thread one state before the event, and one after.
fn threads(event: &Event, rule: &Rule, diagnostics: &mut Diagnostics) {
    let mut said: BTreeMap<usize, (Stage, Stage)> = BTreeMap::new();
    for step in &rule.moves {
        let Move::Parameter(index, from, to) = step else { continue };
        let Some(first) = said.insert(*index, (*from, *to)) else { continue };
        let name = event.parameters.get(*index).map_or("?", String::as_str);
        let title = match first {
            same if same == (*from, *to) => format!("a rule says twice what becomes of `{name}`"),
            (before, _) if before != *from => format!("`{name}` cannot be in two states at once"),
            _ => format!("`{name}` cannot end in two states at once"),
        };
        let twice = Diagnostic::error("E0207", title, rule.at, format!("`{name}` stands twice in this rule"));
        diagnostics.push(twice.help("separate alternatives with `|`"));
    }
}

fn same(one: &Rule, other: &Rule) -> bool {
    let alike = |some: &Rule, more: &Rule| {
        some.given.iter().all(|condition| more.given.contains(condition))
            && some.moves.iter().all(|step| more.moves.contains(step))
    };
    alike(one, other) && alike(other, one)
}
