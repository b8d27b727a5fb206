//! A transfer finds a thread at its source and, if its destination is a threadref, an empty slot (2005, §4.2).
//!
//! What is proved costs nothing at run time; what is not becomes a guard; what is certain to fail is refused.

use super::flow::{is_threadref, past_guards};
use super::state::{Spot, State};
use super::values::element;
use super::{Facts, Guard, Handling, known_from, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{
    AttributeId, Container, ContainerId, ContainerKind, ContainerRef, Entity, LocalId, Place, Source, Statement,
    StatementKind, Thread,
};

/// Records what is known of each statement, and refuses transfers that cannot succeed.
pub(super) fn check(handling: &Handling, facts: &mut [Facts], diagnostics: &mut Diagnostics) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let before = handling.before(statement.id);
        facts[statement.id.0] = match before {
            Some(state) => Facts { guards: left(handling, statement), ..known(handling, statement, state) },
            None => feared(handling, statement),
        };
        if let Some(state) = before {
            refuse(handling, statement, state, diagnostics);
        }
    });
}

/// The guards that are not proved on every path to a statement.
fn left(handling: &Handling, statement: &Statement) -> Vec<Guard> {
    let open = |guard: &Guard| {
        !handling.all_before(statement.id).all(|state| match guard {
            Guard::Holds(container) => state.any_in(&element(handling.policy, state, container)),
            Guard::Vacant(container) => state.none_in(&element(handling.policy, state, container)),
        })
    };
    guards(handling, statement).into_iter().filter(open).collect()
}

/// What else is known of a statement that is reached in this state.
fn known(handling: &Handling, statement: &Statement, state: &State) -> Facts {
    let mut facts = Facts::default();
    match &statement.kind {
        StatementKind::Transfer { source: Source::Thread(local), .. }
        | StatementKind::Send { source: Source::Thread(local), .. }
        | StatementKind::Destroy { source: Source::Thread(local) } => {
            let places = state.places(*local).into_iter().flatten();
            facts.positions = places.clone().filter_map(|spot| spot.container()).collect();
            facts.in_hand = places.into_iter().any(|spot| *spot == Spot::Hand);
        }
        StatementKind::Set { place: Place::Attribute(Thread::Local(local), attribute), .. } => {
            let containers = state.places(*local).into_iter().flatten().filter_map(|spot| spot.container());
            facts.refile = containers.filter(|id| is_sorted_by(handling.container(*id), *attribute)).collect();
        }
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::If { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Return { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => {}
    }
    facts
}

/// The facts of a statement that is never reached. They are safe even if it is: its thread can be in any container that
/// the handler has. A global handler has the containers of nodes, any other those of threads.
fn feared(handling: &Handling, statement: &Statement) -> Facts {
    let could_hold = |local: LocalId| {
        let holds = handling.entity(local);
        let all = (0..handling.policy.containers.len()).map(ContainerId);
        all.filter(move |id| {
            handling.container(*id).holds == holds && (holds == Entity::Node) == handling.handler.global
        })
    };
    let refile = match &statement.kind {
        StatementKind::Set { place: Place::Attribute(Thread::Local(local), attribute), .. } => {
            could_hold(*local).filter(|id| is_sorted_by(handling.container(*id), *attribute)).collect()
        }
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::If { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Return { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => Vec::new(),
    };
    let named = match statement.moves() {
        Some((Source::Thread(local), _)) => Some(*local),
        Some(_) | None => None,
    };
    let positions = named.map_or_else(Vec::new, |local| could_hold(local).collect());
    Facts { guards: guards(handling, statement), never: true, positions, in_hand: named.is_some(), refile }
}

/// All guards that a statement can need.
pub(super) fn guards(handling: &Handling, statement: &Statement) -> Vec<Guard> {
    let mut guards = Vec::new();
    if let StatementKind::Dispatch { slot } = &statement.kind {
        guards.push(Guard::Holds(ContainerRef::One(*slot)));
    }
    if let Some((source, destination)) = statement.moves() {
        if let Source::Container(container) = source {
            guards.push(Guard::Holds(container.clone()));
        }
        let slot = destination.filter(|slot| is_threadref(handling.policy, slot));
        guards.extend(slot.cloned().map(Guard::Vacant));
    }
    guards
}

fn is_sorted_by(container: &Container, attribute: AttributeId) -> bool {
    match &container.kind {
        ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => keys.iter().any(|key| key.attribute == attribute),
        ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
    }
}

/// Refuses what fails whenever it is reached.
fn refuse(handling: &Handling, statement: &Statement, state: &State, diagnostics: &mut Diagnostics) {
    let Some((source, destination)) = statement.moves() else { return };
    let what = handling.statement(statement);
    match source {
        Source::Container(container) if state.none_in(container) => {
            let written = handling.reference(container);
            let name = format!("`{written}`");
            let diagnostic =
                Diagnostic::error("E0401", format!("{name} is always empty in {what}"), statement.at, "always fails");
            let why = state.size_of(container).why;
            diagnostics.push(
                known_from(handling.called(statement, diagnostic), why, &format!("{name} is empty"))
                    .help(format!("take the thread from a container that holds one, or test `|{written}| > 0` first")),
            );
            return;
        }
        Source::Thread(local) => match state.places(*local) {
            None => {
                let title = format!("{} names no thread here", handling.local(*local));
                let diagnostic = Diagnostic::error("E0401", title, statement.at, "outside its `foreach`");
                diagnostics
                    .push(handling.called(statement, diagnostic).help("move the statement into the body of the loop"));
                return;
            }
            Some(places) if places.contains(&Spot::Gone) => {
                let name = handling.local(*local);
                let sure = if places.len() == 1 { "has been" } else { "may have been" };
                let sent = handling.sends();
                let fate = if sent { "sent to a node" } else { "destroyed" };
                let title = format!("{name} {sure} {fate} before {what}");
                let label = if sent { "it may have left this node" } else { "the thread may no longer exist" };
                let diagnostic = Diagnostic::error("E0401", title, statement.at, label);
                let help = if sent {
                    "send a thread to one node, and end the handler or the loop with `return;`"
                } else {
                    "destroy a thread last, and only once"
                };
                diagnostics.push(handling.called(statement, diagnostic).help(help));
                return;
            }
            Some(_) => {}
        },
        Source::Container(_) => {}
    }
    let Some(slot) = destination.filter(|slot| is_threadref(handling.policy, slot)) else { return };
    let passes =
        |state: &State| past_guards(handling.policy, state.clone(), source, destination, statement.at).is_some();
    if handling.all_before(statement.id).any(passes) {
        return;
    }
    let name = format!("`{}`", handling.reference(slot));
    let held = handling.policy.held_by(slot);
    let (held, one) = match held {
        Entity::Thread => ("thread", "a threadref holds one thread at most"),
        Entity::Node => ("node", "what is declared with `node` holds one at most"),
    };
    let title = format!("{name} always holds a {held} already in {what}");
    let diagnostic = Diagnostic::error("E0401", title, statement.at, "always fails");
    diagnostics.push(
        known_from(handling.called(statement, diagnostic), state.size_of(slot).why, &format!("{name} holds a {held}"))
            .note(one)
            .help(format!("move the {held} in {name} elsewhere first, or use a queue")),
    );
}
