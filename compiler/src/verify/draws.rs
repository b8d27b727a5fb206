//! Draws have one order, so that every target draws the same: a statement assigns each by itself. Where a draw stands
//! in an expression, `check` puts such a statement before it.

use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{Expression, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let apart = match &statement.kind {
            StatementKind::Set { place, value: Expression::Random(below) } => {
                !below.draws() && !place.index().is_some_and(Expression::draws)
            }
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Fail { .. } => !statement.expressions().any(Expression::draws),
        };
        if !apart {
            let diagnostic = Diagnostic::error("E0324", "a draw within an expression", statement.at, "in no order");
            diagnostics.push(diagnostic.help("assign it to a variable in a statement before"));
        }
    });
}
