//! A thread goes to a node only where the event type says so, because the host has to know of it.

use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Move, Stage};
use crate::policy::{ContainerId, Source, StateClass, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    // A query that sends a thread has been refused already.
    if handling.handler.returns.is_some() {
        return;
    }
    walk::statements(&handling.handler.body, &mut |statement| {
        let StatementKind::Send { source, .. } = &statement.kind else { return };
        let Some(state) = handling.before(statement.id) else { return };
        let free = |container: ContainerId| {
            let class = handling.container(container).class;
            handling.event.into_iter().flat_map(given_away).any(|from| from == class)
        };
        let allowed = match source {
            Source::Container(container) => container.candidates().all(free),
            Source::Thread(local) => match handling.destinations(*local).as_slice() {
                [] => {
                    let mut places = state.places(*local).into_iter().flatten();
                    places.all(|spot| spot.container().is_some_and(free))
                }
                stages => stages.contains(&Stage::Placed),
            },
        };
        if !allowed {
            let (event, what) = (&handling.handler.written, handling.statement(statement));
            let title = format!("`{event}` cannot send a thread to a node, as {what} does");
            let diagnostic = Diagnostic::error("E0416", title, statement.at, "");
            diagnostics.push(
                handling
                    .called(statement, diagnostic)
                    .note("the type of the event does not say so: the host would still look for the thread here")
                    .help("keep the thread here, and give it to another node in the event that asks for one"),
            );
        }
    });
}

/// The classes from which an event's type lets some thread go to a node.
fn given_away(event: &Event) -> impl Iterator<Item = StateClass> {
    event.rules.iter().flat_map(|rule| &rule.moves).filter_map(|step| match step {
        Move::One(Stage::In(from), Stage::Placed) => Some(*from),
        Move::One(..) | Move::Parameter(..) => None,
    })
}
