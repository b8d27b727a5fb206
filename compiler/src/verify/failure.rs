//! `fail` refuses a request before anything has been done for it, and stands only where the host accepts a refusal.
//! (`check` refuses the latter in source, with the same code; a policy can also come as text.)

use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::covers;
use crate::policy::StatementKind;

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    // A query that fails has been refused already.
    if handling.handler.returns.is_some() {
        return;
    }
    walk::statements(&handling.handler.body, &mut |statement| {
        if !matches!(statement.kind, StatementKind::Fail { .. }) {
            return;
        }
        if !handling.event.is_some_and(|event| event.may_fail) {
            let (name, written) = (&handling.handler.name, &handling.handler.written);
            // The framework has it handled like another event.
            let like = name != written && !covers(written, name);
            let title = format!("`{}` cannot fail", if like { name } else { written });
            let diagnostic = Diagnostic::error("E0315", title, statement.at, "the host accepts no refusal here");
            diagnostics.push(if like {
                diagnostic
                    .note(format!("without a handler of its own `{name}` is handled like `{written}`"))
                    .help(format!("write a handler for `{name}`"))
            } else {
                diagnostic.help("fail in an event that the framework describes with `may fail`")
            });
        } else if let Some(effect) = handling.before(statement.id).and_then(|state| state.effect) {
            let title = "this fails after something was done";
            let diagnostic = Diagnostic::error("E0404", title, statement.at, "refuses the request");
            diagnostics.push(
                handling.called(statement, diagnostic).related(effect, "this would not be undone").help(
                    "decide first: put the `fail` before anything that changes a thread, a container or a variable",
                ),
            );
        }
    });
}
