//! Whether a description is consistent. Errors refuse it: what is proved of policies rests on it.

mod builds;
mod defaults;
mod lives;
mod names;
mod nodes;
mod reach;
mod types;

use super::{Condition, Event, Framework, Move, Rule, Stage};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::vocabulary::StateClass;

/// Judges a description whose names are resolved.
pub(super) fn judge(framework: &Framework, diagnostics: &mut Diagnostics) {
    names::check(framework, diagnostics);
    builds::check(framework, diagnostics);
    let before = diagnostics.errors();
    nodes::check(framework, diagnostics);
    types::check(framework, diagnostics);
    containers(framework, diagnostics);
    lacks(framework, diagnostics);
    defaults::check(framework, diagnostics);
    // If an event type makes no sense, it does not tell what can come.
    if diagnostics.errors() == before {
        reach::check(framework, diagnostics);
    }
    if diagnostics.errors() == before {
        lives::check(framework, diagnostics);
    }
}

/// Without an event of a new thread and one that dispatches, no thread ever runs.
fn lacks(framework: &Framework, diagnostics: &mut Diagnostics) {
    let new = |step: &Move| matches!(step, Move::Parameter(_, Stage::New, _));
    // What an event without a type does is not known.
    let created = moves(framework).any(new) || events(framework).any(|event| event.rules.is_empty());
    let parts = [
        (created, "an event of a new thread", "write `event newthread(t) { t: NEW -> READY }`"),
        (
            framework.events.iter().any(Event::dispatches),
            "an event that dispatches",
            "write `event schedule { some READY, none RUNNING: one READY -> RUNNING }`",
        ),
    ];
    for (_, what, help) in parts.into_iter().filter(|(there, ..)| !there) {
        let title = format!("the description of `{}` lacks {what}", framework.name);
        diagnostics.push(Diagnostic::error("E0204", title, framework.places.name, "").help(help));
    }
}

/// A framework's container holds threads that policies need not move, and some default handler fills it.
fn containers(framework: &Framework, diagnostics: &mut Diagnostics) {
    for container in &framework.containers {
        let reason = match container.class {
            StateClass::Ready => "no policy could dispatch the threads in it: policies cannot name it",
            StateClass::Running => "a thread runs because a policy dispatches it: policies cannot name this container",
            StateClass::Terminated => "a thread that has ended is destroyed: no container can keep it",
            StateClass::Blocked => {
                if !defaults::fills(framework, &container.name) {
                    let title = format!("no default handler moves a thread to `{}`", container.name);
                    let unused = Diagnostic::warning("E0213", title, container.at, "stays empty");
                    diagnostics.push(unused.help("remove it: policies cannot name it"));
                }
                continue;
            }
        };
        let title = format!("a framework has no use for a {} container", container.class.word());
        let useless = Diagnostic::error("E0205", title, container.at, "");
        diagnostics.push(useless.note(reason).help("lend policies BLOCKED containers only"));
    }
}

/// All events whose types are about threads, including the timer event.
fn events(framework: &Framework) -> impl Iterator<Item = &Event> {
    framework.events.iter().filter(|event| !event.is_global()).chain(&framework.timer)
}

fn moves(framework: &Framework) -> impl Iterator<Item = &Move> {
    events(framework).flat_map(|event| &event.rules).flat_map(|rule| &rule.moves)
}

fn class_of(condition: &Condition) -> StateClass {
    match condition {
        Condition::Some(class) | Condition::None(class) => *class,
    }
}

/// The states of a thread before and after a move.
fn stages(step: &Move) -> (Stage, Stage) {
    match step {
        Move::Parameter(_, from, to) | Move::One(from, to) => (*from, *to),
    }
}

/// Where rules say that a parameter goes.
fn ends<'a>(rules: impl Iterator<Item = &'a Rule>, parameter: usize) -> Vec<Stage> {
    let moves = rules.flat_map(|rule| &rule.moves);
    let of_it = moves.filter_map(|step| match step {
        Move::Parameter(index, _, to) if *index == parameter => Some(*to),
        Move::Parameter(..) | Move::One(..) => None,
    });
    of_it.collect()
}

/// "`a`", "`a` and `b`"
fn all_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// "READY", "READY or BLOCKED"
fn any_of(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
