//! A default handler does what its event's type demands. The framework's author answers for it, not those of policies.

use super::{Event, Framework, Move, Rule, Stage, all_of, any_of, ends};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Absent;
use crate::syntax::ast::{Block, StatementKind};
use crate::vocabulary::{At, StateClass};

pub(super) fn check(framework: &Framework, diagnostics: &mut Diagnostics) {
    for event in &framework.events {
        match &event.absent {
            Absent::Required | Absent::Optional => {}
            Absent::Body(body) => own(framework, event, body, diagnostics),
            Absent::Like(other) => {
                if let Some(model) = framework.events.iter().find(|event| event.name == *other) {
                    like(event, model, diagnostics);
                }
            }
        }
    }
}

/// Whether a default handler moves threads to this container.
pub(super) fn fills(framework: &Framework, container: &str) -> bool {
    let bodies = framework.events.iter().filter_map(|event| match &event.absent {
        Absent::Body(body) => Some(body),
        Absent::Required | Absent::Optional | Absent::Like(_) => None,
    });
    bodies.flat_map(steps).any(|(_, destination, _)| destination == Some(container))
}

/// Where a thread is after a default handler.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Where it was.
    Kept,
    In(StateClass),
    Destroyed,
}

fn own(framework: &Framework, event: &Event, body: &Block, diagnostics: &mut Diagnostics) {
    let mut all = vec![(End::Kept, event.at); event.parameters.len()];
    for (thread, destination, at) in steps(body) {
        let Some(end) = event.parameters.iter().position(|name| name == thread).and_then(|index| all.get_mut(index))
        else {
            continue;
        };
        if end.0 == End::Destroyed {
            let title = format!("the default handler of `{}` uses `{thread}` after it has destroyed it", event.name);
            diagnostics.push(Diagnostic::error("E0210", title, at, "it is gone").related(end.1, "destroyed here"));
            return;
        }
        let container = framework.containers.iter().find(|container| Some(container.name.as_str()) == destination);
        *end = (container.map_or(End::Destroyed, |container| End::In(container.class)), at);
    }
    // An event without a type only demands that threads stay where they are.
    let untyped = Rule { given: Vec::new(), moves: Vec::new(), at: event.at };
    let rules = if event.rules.is_empty() { std::slice::from_ref(&untyped) } else { event.rules.as_slice() };
    for rule in rules {
        let alternatives: Vec<&Rule> = rules.iter().filter(|other| applies(other, rule)).collect();
        let content = |other: &&Rule| all.iter().enumerate().all(|(index, (end, _))| suits(other, rule, index, *end));
        if alternatives.iter().any(content) {
            continue;
        }
        let Some(index) = (0..all.len()).find(|index| !suits(rule, rule, *index, all[*index].0)) else { continue };
        report(event, rule, index, all[index], diagnostics);
        return;
    }
}

fn report(event: &Event, rule: &Rule, index: usize, (end, at): (End, At), diagnostics: &mut Diagnostics) {
    let name = &event.parameters[index];
    let title = match end {
        End::Kept => format!("the default handler of `{}` leaves `{name}` where it is", event.name),
        End::In(class) => format!("the default handler of `{}` leaves `{name}` {}", event.name, class.word()),
        End::Destroyed => format!("the default handler of `{}` destroys `{name}`", event.name),
    };
    let asked = ends(std::iter::once(rule), index);
    let wanted = match asked.first() {
        Some(Stage::In(StateClass::Terminated)) => "the type says that it has ended: it must be destroyed".to_owned(),
        Some(Stage::In(class)) => format!("the type says that it ends {}", class.word()),
        Some(Stage::Placed) => "the type says that it goes to a node".to_owned(),
        Some(Stage::New) | None => "the type says nothing of it: it must stay where it is".to_owned(),
    };
    let diagnostic = Diagnostic::error("E0210", title, at, wanted);
    let diagnostic =
        if rule.at == event.at { diagnostic } else { diagnostic.related(rule.at, "the type of the event") };
    diagnostics
        .push(diagnostic.help("change the handler or the type; without a default, policies must have a handler"));
}

/// Whether a parameter's end satisfies a rule, for a thread that starts as `start` says.
fn suits(rule: &Rule, start: &Rule, parameter: usize, end: End) -> bool {
    match (ends(std::iter::once(rule), parameter).first(), end) {
        (Some(Stage::In(StateClass::Terminated)), end) => end == End::Destroyed,
        (Some(Stage::In(asked)), End::In(class)) => class == *asked,
        (Some(Stage::In(asked)), End::Kept) => starts(start).contains(&(parameter, Stage::In(*asked))),
        (Some(Stage::In(_)), End::Destroyed) | (Some(Stage::Placed), _) => false,
        (Some(Stage::New) | None, end) => end == End::Kept,
    }
}

/// Whether `other` applies in every situation in which `rule` does.
fn applies(other: &Rule, rule: &Rule) -> bool {
    let known = starts(rule);
    other.given.iter().all(|condition| rule.given.contains(condition))
        && starts(other).iter().all(|start| known.contains(start))
}

fn starts(rule: &Rule) -> Vec<(usize, Stage)> {
    let parameters = rule.moves.iter().filter_map(|step| match step {
        Move::Parameter(index, from, _) => Some((*index, *from)),
        Move::One(..) => None,
    });
    parameters.collect()
}

/// If the types of two events have no end of a thread in common, no handler satisfies both.
fn like(event: &Event, model: &Event, diagnostics: &mut Diagnostics) {
    for index in 0..event.parameters.len() {
        let (asked, done) = (ends(event.rules.iter(), index), ends(model.rules.iter(), index));
        if asked.is_empty() || done.is_empty() || asked.iter().any(|end| done.contains(end)) {
            continue;
        }
        let title = format!("no handler of `{}` does what the type of `{}` asks for", model.name, event.name);
        let words = |ends: &[Stage]| {
            let mut words: Vec<&str> = ends.iter().map(|stage| stage.word()).collect();
            words.dedup();
            any_of(&words)
        };
        let name = all_of(&[event.parameters[index].as_str()]);
        let diagnostic = Diagnostic::error("E0210", title, event.at, format!("{name} ends {}", words(&asked)));
        let diagnostic = diagnostic.related(model.at, format!("the thread ends {}", words(&done)));
        diagnostics.push(diagnostic.help("name an event with the same type, or write a default of its own"));
        return;
    }
}

/// The statements of a default handler: a thread, its container (`None`: it is destroyed), and the place in the source.
fn steps(body: &Block) -> impl Iterator<Item = (&str, Option<&str>, At)> {
    body.statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Transfer { source, destination } => {
            Some((source.name.text.as_str(), Some(destination.name.text.as_str()), statement.at))
        }
        StatementKind::Destroy(thread) => Some((thread.name.text.as_str(), None, statement.at)),
        // The reader has refused all others.
        StatementKind::Declare(_)
        | StatementKind::DeclareCursor(_)
        | StatementKind::Dispatch(_)
        | StatementKind::Assign { .. }
        | StatementKind::If { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Return(_)
        | StatementKind::Leave(_)
        | StatementKind::Fail(_)
        | StatementKind::Call(_)
        | StatementKind::Verbatim { .. }
        | StatementKind::Block(_)
        | StatementKind::Lost => None,
    })
}
