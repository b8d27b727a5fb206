//! A query only looks and changes nothing: the host can ask at any time, and as often as it likes.

use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{Place, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    if handling.handler.returns.is_none() {
        return;
    }
    walk::statements(&handling.handler.body, &mut |statement| {
        let effect = match &statement.kind {
            StatementKind::Set { place: Place::Local(_), value } if value.draws() => "draws a number",
            StatementKind::Set { place: Place::Local(_), .. }
            | StatementKind::If { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return { .. } => return,
            StatementKind::Set { .. } | StatementKind::Link { .. } => "assigns what outlives it",
            StatementKind::Transfer { .. } => "moves a thread",
            StatementKind::Send { .. } => "sends a thread to a node",
            StatementKind::Destroy { .. } => "destroys a thread",
            StatementKind::Dispatch { .. } => "dispatches a thread",
            StatementKind::Fail { .. } => "fails",
            StatementKind::Verbatim { .. } => "has verbatim text, whose effect is not known",
        };
        let query = &handling.handler.written;
        diagnostics.push(
            Diagnostic::error("E0406", format!("the query `{query}` {effect}"), statement.at, "not in a query")
                .note("a query changes nothing: the host asks at any time, and as often as it likes")
                .help("do this in the handler of an event, and keep in a variable what the query is to answer"),
        );
    });
}
