//! A thread changes its state class only as the host expects: a policy does not wake, block or run a thread on its own.

use std::collections::BTreeSet;

use super::state::Spot;
use super::{Handling, alternatives, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Move, Stage};
use crate::policy::{Container, ContainerId, Element, Source, StateClass, Statement, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    // A query that moves a thread has been refused already.
    if handling.handler.returns.is_some() {
        return;
    }
    walk::statements(&handling.handler.body, &mut |statement| {
        if let StatementKind::Transfer { source, destination } = &statement.kind
            && let Some(state) = handling.before(statement.id)
        {
            // All elements of an array have one class, so the first candidate stands for all.
            let Some(destination) = destination.candidates().next() else { return };
            let sources: Vec<ContainerId> = match source {
                Source::Container(container) => container.candidates().take(1).collect(),
                Source::Thread(local) => {
                    if let [first, rest @ ..] = handling.destinations(*local).as_slice() {
                        ruled(handling, statement, [*first].iter().chain(rest), destination, diagnostics);
                        return;
                    }
                    let places = state.places(*local).into_iter().flatten();
                    let mut sources: Vec<ContainerId> = places.filter_map(|spot: &Spot| spot.container()).collect();
                    sources.dedup_by_key(|source| array(handling, *source));
                    sources
                }
            };
            free(handling, statement, &sources, destination, diagnostics);
        }
    });
}

/// The name of a container's array, or else its own name.
fn array<'a>(handling: &Handling<'a>, container: ContainerId) -> &'a str {
    Element::array(&handling.container(container).name)
}

/// The event type says where this thread ends, which is another property. But only a dispatch makes it run.
fn ruled<'a>(
    handling: &Handling,
    statement: &Statement,
    mut destinations: impl Iterator<Item = &'a Stage>,
    destination: ContainerId,
    diagnostics: &mut Diagnostics,
) {
    let running = handling.container(destination).class == StateClass::Running;
    if running && !destinations.any(|stage| *stage == Stage::In(StateClass::Running)) {
        refuse(handling, statement, &[], destination, diagnostics);
    }
}

/// The event type says nothing about this thread, which comes from one of `sources`.
fn free(
    handling: &Handling,
    statement: &Statement,
    sources: &[ContainerId],
    to: ContainerId,
    diagnostics: &mut Diagnostics,
) {
    let refused = sources.iter().copied().filter(|from| !is_free(handling, *from, to));
    let refused: Vec<ContainerId> = refused.collect();
    if !refused.is_empty() {
        refuse(handling, statement, &refused, to, diagnostics);
    }
}

fn is_free(handling: &Handling, from: ContainerId, to: ContainerId) -> bool {
    let classes = (handling.container(from).class, handling.container(to).class);
    let dispatches = handling.event.is_some_and(Event::dispatches);
    let allowed = match classes {
        (StateClass::Running, StateClass::Running) => dispatches,
        // The policy preempts: the host finds nothing running and asks again. But a thread given to another node must
        // not have run here.
        (StateClass::Running, StateClass::Ready) => !handling.event.is_some_and(Event::gives_away),
        (from, to) => from == to,
    };
    allowed || handling.event.into_iter().flat_map(some_threads).any(|step| step == classes)
}

/// The classes between which an event's type lets some thread move.
fn some_threads(event: &Event) -> impl Iterator<Item = (StateClass, StateClass)> {
    event.rules.iter().flat_map(|rule| &rule.moves).filter_map(|step| match step {
        Move::One(Stage::In(from), Stage::In(to)) => Some((*from, *to)),
        Move::One(..) | Move::Parameter(..) => None,
    })
}

/// One diagnostic, however many containers the thread can come from.
fn refuse(
    handling: &Handling,
    statement: &Statement,
    from: &[ContainerId],
    to: ContainerId,
    diagnostics: &mut Diagnostics,
) {
    let (target, event) = (handling.container(to), &handling.handler.written);
    let sources: Vec<&Container> = from.iter().map(|from| handling.container(*from)).collect();
    let what = handling.statement(statement);
    let (title, help) = match (sources.first().map(|source| source.class), target.class) {
        (_, StateClass::Running) => (
            format!("`{event}` cannot make a thread run, as {what} does"),
            "move it to a READY container; the event that dispatches will find it there",
        ),
        (Some(StateClass::Blocked), _) => (
            format!("`{event}` cannot wake a blocked thread, as {what} does"),
            "leave the thread there until the host reports that it can run",
        ),
        (Some(StateClass::Terminated), _) => (
            format!("`{event}` cannot bring back a thread that has ended, as {what} does"),
            "a thread in a TERMINATED container can only be destroyed",
        ),
        (_, StateClass::Blocked) => (
            format!("`{event}` cannot block a thread that the host did not block, as {what} does"),
            "keep it in another READY container: nothing would ever wake it",
        ),
        (Some(StateClass::Running), StateClass::Ready) => (
            format!("`{event}` cannot preempt the thread that runs, as {what} does"),
            "leave it where it is: only threads that did not run before can be given to a node",
        ),
        (_, class) => (
            format!("`{event}` cannot move a thread to a {} container, as {what} does", class.word()),
            "move it only as the type of the event says",
        ),
    };
    let classes: BTreeSet<StateClass> = sources.iter().map(|source| source.class).collect();
    let classes: Vec<String> = classes.into_iter().map(|class| class.word().to_owned()).collect();
    let label = match classes.as_slice() {
        [] => format!("to {}", target.class.word()),
        classes => format!("from {} to {}", alternatives(classes), target.class.word()),
    };
    let mut diagnostic = handling.called(statement, Diagnostic::error("E0409", title, statement.at, label));
    for container in sources.into_iter().chain([target]) {
        diagnostic = diagnostic
            .related(container.at, format!("`{}` is {}", Element::array(&container.name), container.class.word()));
    }
    if let Some(rules) = handling.rules() {
        diagnostic = diagnostic.note(rules);
    }
    diagnostics.push(diagnostic.help(help));
}
