//! `dispatch` stands in an event that dispatches, and names a RUNNING threadref that can hold a thread. (`check`
//! refuses the former in source, with the same code; a policy can also come as text.)

use super::state::Why;
use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Event;
use crate::policy::{StateClass, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    // A query that dispatches has been refused already.
    if handling.handler.returns.is_some() {
        return;
    }
    walk::statements(&handling.handler.body, &mut |statement| {
        let StatementKind::Dispatch { slot } = &statement.kind else { return };
        let (name, container) = (handling.name(*slot), handling.container(*slot));
        if !handling.event.is_some_and(Event::dispatches) {
            let title = format!("`{}` is not an event that dispatches", handling.handler.written);
            diagnostics.push(
                Diagnostic::error("E0314", title, statement.at, "not here")
                    .note("the host asks what to run by an event of its own, when nothing runs")
                    .help("put the thread that is to run next into the container where that event looks for it"),
            );
        } else if container.class != StateClass::Running {
            let title = format!("{name} is dispatched but is no RUNNING container");
            diagnostics.push(
                handling
                    .called(statement, Diagnostic::error("E0408", title, statement.at, ""))
                    .related(container.at, format!("{name} is {}", container.class.word()))
                    .help("move the thread to a RUNNING threadref and dispatch that"),
            );
        } else if let Some(state) = handling.before(statement.id)
            && state.empty(*slot)
        {
            let title = format!("{name} is always empty in {}", handling.statement(statement));
            let diagnostic = Diagnostic::error("E0408", title, statement.at, "there is no thread to run");
            let diagnostic = handling.called(statement, diagnostic);
            let diagnostic = match state.size(*slot).why {
                Why::Between => diagnostic.note("no handler leaves a thread there"),
                Why::Given => diagnostic.note("nothing runs when this event is raised"),
                Why::Tested(at) | Why::Moved(at) => diagnostic.related(at, format!("{name} is empty after this")),
                Why::Unknown => diagnostic,
            };
            diagnostics.push(diagnostic.help(format!("move a thread there first: `ready => {};`", container.name)));
        }
    });
}
