//! Nothing stands behind a statement that ends the handler (2005, §6.1).

use super::Handling;
use super::condition::constant;
use super::termination::is_endless;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{Block, Statement, StatementKind, Test, Value};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    block(handling, &handling.handler.body, diagnostics);
}

/// The statement by which a block always ends the handler.
fn block<'a>(handling: &Handling, statements: &'a Block, diagnostics: &mut Diagnostics) -> Option<&'a Statement> {
    let mut ended: Option<&Statement> = None;
    for (index, statement) in statements.iter().enumerate() {
        if index > 0
            && let Some(end) = ended
        {
            let looping = matches!(end.kind, StatementKind::Loop { .. });
            if looping && is_endless(handling.policy, end) {
                // The loop itself is refused.
                return ended;
            }
            let what = if looping { "the loop".to_owned() } else { handling.statement(end) };
            let past =
                if looping { "the loop has no way out but to end the handler" } else { "the handler has ended here" };
            diagnostics.push(
                Diagnostic::error(
                    "E0407",
                    format!("this is never reached after {what}"),
                    statement.at,
                    "never reached",
                )
                .related(end.at, past)
                .help("remove it, or put it before the statement that ends the handler"),
            );
            // What follows is as unreachable; once is enough.
            return ended;
        }
        ended = match &statement.kind {
            StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. } => {
                Some(statement)
            }
            StatementKind::If { then, otherwise, .. } => {
                let first = block(handling, then, diagnostics);
                let second = block(handling, otherwise, diagnostics);
                first.and(second)
            }
            StatementKind::Foreach { .. } | StatementKind::Verbatim { .. } => {
                for body in statement.blocks() {
                    block(handling, body, diagnostics);
                }
                None
            }
            StatementKind::Loop { condition, test, body, step } => {
                let end = block(handling, body, diagnostics);
                match (constant(handling.policy, condition), test) {
                    // There is no way out but to end the handler.
                    (Some(Value::Bool(true)), _) => Some(statement),
                    (_, Test::After) if end.is_some() => end,
                    (_, Test::Before | Test::After) => {
                        block(handling, step, diagnostics);
                        None
                    }
                }
            }
            StatementKind::Set { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. } => None,
        };
    }
    ended
}
