//! A thread is destroyed only when the host says that it has ended.

use super::state::Spot;
use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Stage;
use crate::policy::{ContainerId, Source, StateClass, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    // A query that destroys a thread has been refused already.
    if handling.handler.returns.is_some() {
        return;
    }
    walk::statements(&handling.handler.body, &mut |statement| {
        let StatementKind::Destroy { source } = &statement.kind else { return };
        let Some(state) = handling.before(statement.id) else { return };
        let ended = |container: &ContainerId| handling.container(*container).class == StateClass::Terminated;
        let allowed = match source {
            Source::Container(container) => container.candidates().all(|container| ended(&container)),
            Source::Thread(local) => {
                handling.destinations(*local).contains(&Stage::In(StateClass::Terminated))
                    || state
                        .places(*local)
                        .into_iter()
                        .flatten()
                        .all(|spot: &Spot| spot.container().as_ref().is_some_and(ended))
            }
        };
        if !allowed {
            let (event, what) = (&handling.handler.written, handling.statement(statement));
            let title = format!("`{event}` cannot end a thread, as {what} does");
            let diagnostic = Diagnostic::error("E0412", title, statement.at, "");
            diagnostics.push(
                handling
                    .called(statement, diagnostic)
                    .note("the host still knows the thread: the policy would lose it")
                    .help("destroy a thread in the event that says it has ended"),
            );
        }
    });
}
