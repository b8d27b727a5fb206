//! The handler of an event does something (2005, §6.1: "failure of an event handler to produce a side effect").

use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Absent;
use crate::policy::{Owner, Place, Statement, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    let handler = handling.handler;
    let Some(event) = handling.event.filter(|_| handler.owner == Owner::Policy) else { return };
    // An empty handler is intended if the event's type demands nothing.
    if handler.body.is_empty() && event.rules.is_empty() {
        return;
    }
    let mut effect = false;
    walk::statements(&handler.body, &mut |statement| {
        effect |= has_effect(statement);
    });
    if effect {
        return;
    }
    let title = format!("`{}` does nothing", handler.written);
    let diagnostic = Diagnostic::warning("E0415", title, handler.at, "no statement in it has an effect");
    diagnostics.push(match event.absent {
        Absent::Optional => diagnostic.help("leave the handler out: the host does without it"),
        Absent::Body(_) | Absent::Like(_) => diagnostic.help("leave the handler out: the framework has one"),
        Absent::Required => diagnostic.help("move a thread, or assign what outlives the handler"),
    });
}

/// Whether a statement leaves a trace that somebody can see afterwards.
fn has_effect(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Set { place, .. } => match place {
            Place::Local(_) => false,
            Place::Variable(_)
            | Place::VariableElement { .. }
            | Place::Import(_)
            | Place::Attribute(..)
            | Place::AttributeElement { .. }
            | Place::ThreadImport(..) => true,
        },
        StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Fail { .. } => true,
        StatementKind::If { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Return { .. } => false,
    }
}
