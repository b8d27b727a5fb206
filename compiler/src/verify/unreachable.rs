//! No statement follows one that ends the handler (2005, §6.1).

use super::condition::constant;
use super::termination::endless;
use super::{Facts, Handling};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{Block, Leave, Statement, StatementKind, Test, Value};

pub(super) fn check(handling: &Handling, facts: &[Facts], diagnostics: &mut Diagnostics) {
    block(handling, facts, &handling.handler.body, diagnostics);
}

/// The statement by which a block always ends the handler.
fn block<'a>(
    handling: &Handling,
    facts: &[Facts],
    statements: &'a Block,
    diagnostics: &mut Diagnostics,
) -> Option<&'a Statement> {
    let mut ended: Option<&Statement> = None;
    for (index, statement) in statements.iter().enumerate() {
        if index > 0
            && let Some(end) = ended
        {
            let looping = matches!(end.kind, StatementKind::Loop { .. });
            if looping && endless(handling, facts, end).is_some() {
                // The loop itself is refused.
                return ended;
            }
            let what = if looping { "the loop".to_owned() } else { handling.statement(end) };
            let past = if looping {
                "the loop has no way out but to end the handler"
            } else if matches!(end.kind, StatementKind::Leave { what: Leave::Loop }) {
                "the loop has ended here"
            } else if matches!(end.kind, StatementKind::Leave { what: Leave::Turn }) {
                "the turn of the loop has ended here"
            } else {
                "the handler has ended here"
            };
            diagnostics.push(
                Diagnostic::error(
                    "E0407",
                    format!("this is never reached after {what}"),
                    statement.at,
                    "never reached",
                )
                .related(end.at, past)
                .help("remove it, or put it before that statement"),
            );
            // What follows is unreachable, too; one report is enough.
            return ended;
        }
        ended = match &statement.kind {
            StatementKind::Dispatch { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => Some(statement),
            StatementKind::If { then, otherwise, .. } => {
                let first = block(handling, facts, then, diagnostics);
                let second = block(handling, facts, otherwise, diagnostics);
                first.and(second)
            }
            StatementKind::Foreach { .. } | StatementKind::Follow { .. } | StatementKind::Verbatim { .. } => {
                for body in statement.blocks() {
                    block(handling, facts, body, diagnostics);
                }
                None
            }
            StatementKind::Loop { condition, test, body, step } => {
                let end = block(handling, facts, body, diagnostics);
                let can_leave = |what: Leave| body.iter().any(|inner| inner.leaves(what));
                if can_leave(Leave::Loop) || can_leave(Leave::Turn) {
                    block(handling, facts, step, diagnostics);
                    ended = None;
                    continue;
                }
                match (constant(handling.policy, condition), test) {
                    // There is no way out but to end the handler.
                    (Some(Value::Bool(true)), _) => Some(statement),
                    (_, Test::After) if end.is_some() => end,
                    (_, Test::Before | Test::After) => {
                        block(handling, facts, step, diagnostics);
                        None
                    }
                }
            }
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. } => None,
        };
    }
    ended
}
