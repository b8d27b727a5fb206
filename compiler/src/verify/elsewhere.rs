//! A thread that a link names can run on another processor, and is then in no container of this one. So no statement
//! moves or re-files it here before a test has shown where it is.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{
    AttributeId, Container, ContainerKind, Element, Entity, LocalId, Owner, Place, Policy, Source, StateClass,
    Statement, StatementKind, Thread,
};

use super::state::{Spot, State};
use super::{Handling, walk};

/// Returns whether there was no error.
pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) -> bool {
    if handling.policy.links.is_empty() {
        return true;
    }
    let mut right = true;
    walk::statements(&handling.handler.body, &mut |statement| {
        let Some(state) = handling.before(statement.id) else { return };
        let touched = touched(handling.policy, statement).filter(|(local, _)| is_elsewhere(state, *local));
        let Some((local, moves)) = touched else { return };
        let name = handling.local(local);
        let title = format!("{name} may run on another processor in {}", handling.statement(statement));
        let label = if moves { "it may be in no container here" } else { "it would be re-filed where it runs" };
        let diagnostic = Diagnostic::error("E0419", title, statement.at, label);
        let help = match somewhere(handling, state, statement, local) {
            Some(container) => {
                format!("test where it is first: `if ({} in {container}) {{ … }}`", name.trim_matches('`'))
            }
            None => "leave it where it is: the events that name it move it".to_owned(),
        };
        diagnostics.push(handling.called(statement, diagnostic).help(help));
        right = false;
    });
    right
}

/// The named thread that a statement moves (`true`), or re-files where it runs (`false`).
fn touched(policy: &Policy, statement: &Statement) -> Option<(LocalId, bool)> {
    if let Some((source, _)) = statement.moves() {
        return match source {
            Source::Thread(local) => Some((*local, true)),
            Source::Container(_) => None,
        };
    }
    if let StatementKind::Set { place: Place::Attribute(Thread::Local(local), attribute), .. } = &statement.kind {
        return runs_sorted_by(policy, *attribute).then_some((*local, false));
    }
    None
}

/// A container of the policy in which the thread can be, and from which the statement can move it.
fn somewhere<'a>(handling: &Handling<'a>, state: &State, statement: &Statement, local: LocalId) -> Option<&'a str> {
    let to = statement.moves().and_then(|(_, to)| to?.candidates().next()).map(|to| handling.container(to).class);
    let classes: &[StateClass] = match to {
        // The policy itself changes no other class.
        Some(StateClass::Running | StateClass::Ready) => &[StateClass::Ready],
        Some(StateClass::Blocked) => &[StateClass::Blocked],
        Some(StateClass::Terminated) => &[StateClass::Terminated],
        None => &[StateClass::Ready, StateClass::Blocked],
    };
    let known = state.places(local)?.iter().filter_map(|spot| spot.container()).map(|id| handling.container(id));
    let own: Vec<&Container> = known.filter(|container| container.owner == Owner::Policy).collect();
    let found = classes.iter().find_map(|class| own.iter().find(|container| container.class == *class))?;
    Some(Element::array(&found.name))
}

fn is_elsewhere(state: &State, local: LocalId) -> bool {
    state.places(local).is_some_and(|places| places.contains(&Spot::Elsewhere))
}

fn runs_sorted_by(policy: &Policy, attribute: AttributeId) -> bool {
    let mut running = policy.holding(Entity::Thread).map(|id| &policy.containers[id.0]);
    running.any(|container| {
        container.class == StateClass::Running
            && match &container.kind {
                ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => {
                    keys.iter().any(|key| key.attribute == attribute)
                }
                ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
            }
    })
}
