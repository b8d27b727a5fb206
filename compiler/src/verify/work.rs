//! An event that dispatches leaves one thread running. The host idles only when nothing is ready.

use super::flow::{End, EndKind};
use super::situation::{Situation, of_class};
use super::state::Size;
use super::{Handling, alternatives, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Move, Stage};
use crate::policy::{ContainerId, Entity, StateClass, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    let Some(event) = handling.event.filter(|event| event.dispatches()) else { return };
    let bad = |situation: &Situation, end: &End| match end.kind {
        EndKind::Dispatch(slot) => !others(handling, slot, end).is_empty(),
        EndKind::Last | EndKind::Return => {
            !more(handling, situation, end).is_empty() || !ready(handling, situation, end).is_empty()
        }
        EndKind::Fail => false,
    };
    for (situation, end) in handling.bad_ends(bad) {
        match end.kind {
            EndKind::Dispatch(slot) => one_runs(handling, situation, &end, slot, diagnostics),
            EndKind::Last | EndKind::Return if !more(handling, situation, &end).is_empty() => {
                left_running(handling, situation, &end, diagnostics);
            }
            EndKind::Last | EndKind::Return => left_ready(handling, event, situation, &end, diagnostics),
            EndKind::Fail => {}
        }
    }
}

/// At a dispatch: where a thread may run besides the one that is dispatched.
fn others(handling: &Handling, slot: ContainerId, end: &End) -> Vec<ContainerId> {
    let alone = |size: Size| size.most.is_some_and(|most| most <= 1);
    let runs = |container: &ContainerId| {
        if *container == slot { !alone(end.state.size(slot)) } else { !end.state.empty(*container) }
    };
    of_class(handling.policy, Entity::Thread, StateClass::Running).filter(runs).collect()
}

/// At any other end: where a thread may run that did not run before.
fn more(handling: &Handling, situation: &Situation, end: &End) -> Vec<ContainerId> {
    let grown = |container: &ContainerId| {
        let (before, after) = (situation.start.size(*container).most, end.state.size(*container).most);
        before.is_some_and(|before| after.is_none_or(|after| after > before))
    };
    of_class(handling.policy, Entity::Thread, StateClass::Running).filter(grown).collect()
}

/// At any other end: where a thread may be ready, unless a rule lets the host idle.
fn ready(handling: &Handling, situation: &Situation, end: &End) -> Vec<ContainerId> {
    let demands = situation.rules.iter().map(|rule| {
        rule.moves.iter().find_map(|step| match step {
            Move::One(Stage::In(from), Stage::In(StateClass::Running)) => Some(*from),
            Move::One(..) | Move::Parameter(..) => None,
        })
    });
    // Some rule demands no dispatch.
    let Some(classes) = demands.collect::<Option<Vec<StateClass>>>() else { return Vec::new() };
    let containers = classes.iter().flat_map(|class| of_class(handling.policy, Entity::Thread, *class));
    containers.filter(|container| !end.state.empty(*container)).collect()
}

fn one_runs(handling: &Handling, situation: &Situation, end: &End, slot: ContainerId, diagnostics: &mut Diagnostics) {
    let bad = |other: &End| other.at == end.at && !others(handling, slot, other).is_empty();
    let names = names(handling, &others(handling, slot, end));
    let title = format!("a second thread may be left running in {names}");
    let diagnostic = Diagnostic::error("E0410", title, end.at, "one thread is dispatched");
    diagnostics.push(
        handling
            .explained(diagnostic, situation, end, bad)
            .note("the host runs the thread dispatched; another in a RUNNING container would never run")
            .help("move one thread to a RUNNING container, and dispatch it"),
    );
}

fn left_running(handling: &Handling, situation: &Situation, end: &End, diagnostics: &mut Diagnostics) {
    let bad = |other: &End| other.at == end.at && !more(handling, situation, other).is_empty();
    let event = &handling.handler.written;
    let names = names(handling, &more(handling, situation, end));
    let title = format!("`{event}` can end with a thread in {names} that is not dispatched");
    let diagnostic = Diagnostic::error("E0410", title, end.at, "ends without `dispatch`");
    let help = if dispatches(handling) {
        "end the path with `dispatch`".to_owned()
    } else {
        format!("`{event}` has no `dispatch` at all: end it with one, such as `dispatch current;`")
    };
    diagnostics.push(handling.explained(diagnostic, situation, end, bad).help(help));
}

fn left_ready(handling: &Handling, event: &Event, situation: &Situation, end: &End, diagnostics: &mut Diagnostics) {
    let bad =
        |other: &End| other.at == end.at && other.kind == end.kind && !ready(handling, situation, other).is_empty();
    let written = if handling.handler.written.is_empty() { &event.name } else { &handling.handler.written };
    let mut places = ready(handling, situation, end);
    // Containers that nothing fills need not be mentioned.
    let filled = walk::filled(handling.policy);
    if places.iter().any(|container| filled.contains(container)) {
        places.retain(|container| filled.contains(container));
    }
    let names = names(handling, &places);
    let title = format!("`{written}` can end without `dispatch` though a thread is ready in {names}");
    let diagnostic = Diagnostic::error("E0410", title, end.at, "the processor would idle");
    let help = if dispatches(handling) {
        "on this path too, move a thread that is ready to a RUNNING threadref and `dispatch` it".to_owned()
    } else {
        format!(
            "`{written}` has no `dispatch` at all: move a thread that is ready to a RUNNING threadref and `dispatch` it"
        )
    };
    diagnostics.push(handling.explained(diagnostic, situation, end, bad).help(help));
}

/// Whether the handler dispatches anywhere.
fn dispatches(handling: &Handling) -> bool {
    let mut dispatches = false;
    walk::statements(&handling.handler.body, &mut |statement| {
        dispatches |= matches!(statement.kind, StatementKind::Dispatch { .. });
    });
    dispatches
}

fn names(handling: &Handling, containers: &[ContainerId]) -> String {
    alternatives(&handling.names(containers))
}
