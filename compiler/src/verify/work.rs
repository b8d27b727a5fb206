//! An event that dispatches leaves one thread running, and the host idle only when nothing is ready.

use super::flow::{End, EndKind};
use super::situation::{Situation, of_class};
use super::state::Size;
use super::{Handling, along, alternatives};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Move, Stage};
use crate::policy::{ContainerId, StateClass};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    let Some(event) = handling.event.filter(|event| event.dispatches()) else { return };
    for (situation, end) in handling.ends() {
        match end.kind {
            EndKind::Dispatch(slot) => one_runs(handling, situation, end, slot, diagnostics),
            EndKind::Last | EndKind::Return => {
                if !left_running(handling, situation, end, diagnostics) {
                    left_ready(handling, event, situation, end, diagnostics);
                }
            }
            EndKind::Fail => {}
        }
    }
}

/// At a dispatch: the thread dispatched, and no other.
fn one_runs(handling: &Handling, situation: &Situation, end: &End, slot: ContainerId, diagnostics: &mut Diagnostics) {
    let others = |end: &End| -> Vec<ContainerId> {
        let running = of_class(handling.policy, StateClass::Running);
        let alone = |size: Size| size.most.is_some_and(|most| most <= 1);
        running
            .filter(
                |container| {
                    if *container == slot { !alone(end.state.size(slot)) } else { !end.state.empty(*container) }
                },
            )
            .collect()
    };
    let left = others(end);
    if left.is_empty() {
        return;
    }
    let path = handling.path_to(situation, |other| other.at == end.at && !others(other).is_empty());
    let names = names(handling, &left);
    let title = format!("a second thread may be left running in {names}");
    let diagnostic = Diagnostic::error("E0410", title, end.at, "one thread is dispatched");
    diagnostics.push(
        along(diagnostic, &path)
            .note("the host runs the thread dispatched; another in a RUNNING container would never run")
            .help("move one thread to a RUNNING container, and dispatch it"),
    );
}

/// At any other end: whether somebody runs who did not before.
fn left_running(handling: &Handling, situation: &Situation, end: &End, diagnostics: &mut Diagnostics) -> bool {
    let more = |end: &End| -> Vec<ContainerId> {
        of_class(handling.policy, StateClass::Running)
            .filter(|container| {
                let (before, after) = (situation.start.size(*container).most, end.state.size(*container).most);
                before.is_some_and(|before| after.is_none_or(|after| after > before))
            })
            .collect()
    };
    let left = more(end);
    if left.is_empty() {
        return false;
    }
    let path = handling.path_to(situation, |other| other.at == end.at && !more(other).is_empty());
    let event = &handling.handler.written;
    let title = format!("`{event}` can end with a thread in {} that is not dispatched", names(handling, &left));
    let diagnostic = Diagnostic::error("E0410", title, end.at, "ends without `dispatch`");
    diagnostics.push(along(diagnostic, &path).help("end the path with `dispatch`"));
    true
}

/// At any other end: nobody is ready, unless a rule lets the host idle.
fn left_ready(handling: &Handling, event: &Event, situation: &Situation, end: &End, diagnostics: &mut Diagnostics) {
    let demands = situation.rules.iter().map(|rule| {
        rule.moves.iter().find_map(|step| match step {
            Move::One(Stage::In(from), Stage::In(StateClass::Running)) => Some(*from),
            Move::One(..) | Move::Parameter(..) => None,
        })
    });
    // Some rule is content without a dispatch.
    let Some(classes) = demands.collect::<Option<Vec<StateClass>>>() else { return };
    let ready = |end: &End| -> Vec<ContainerId> {
        let containers = classes.iter().flat_map(|class| of_class(handling.policy, *class));
        containers.filter(|container| !end.state.empty(*container)).collect()
    };
    let left = ready(end);
    if left.is_empty() {
        return;
    }
    let path =
        handling.path_to(situation, |other| other.at == end.at && other.kind == end.kind && !ready(other).is_empty());
    let written = if handling.handler.written.is_empty() { &event.name } else { &handling.handler.written };
    let title =
        format!("`{written}` can end without `dispatch` though a thread is ready in {}", names(handling, &left));
    let diagnostic = Diagnostic::error("E0410", title, end.at, "the processor would idle");
    diagnostics.push(
        along(diagnostic, &path)
            .help("on this path too, move a thread that is ready to a RUNNING threadref and `dispatch` it"),
    );
}

fn names(handling: &Handling, containers: &[ContainerId]) -> String {
    alternatives(&containers.iter().map(|container| handling.name(*container)).collect::<Vec<_>>())
}
