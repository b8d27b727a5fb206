//! Going through the statements and expressions of a handler.

use crate::policy::{Block, Expression, Policy, Statement, StatementKind};

/// Visits every statement, in the order of their numbers.
pub(super) fn statements<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        visit(statement);
        for inner in statement.blocks() {
            statements(inner, visit);
        }
    }
}

/// The expression that a statement evaluates, if it does.
pub(super) fn expression(statement: &Statement) -> Option<&Expression> {
    match &statement.kind {
        StatementKind::Set { value, .. } => Some(value),
        StatementKind::If { condition, .. } | StatementKind::Loop { condition, .. } => Some(condition),
        StatementKind::Return { value } => value.as_ref(),
        StatementKind::Transfer { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Fail { .. } => None,
    }
}

/// Whether there is verbatim text in an expression; `alone`: text for which nothing stands.
pub(super) fn has_verbatim(expression: &Expression, alone: bool) -> bool {
    match expression {
        Expression::Verbatim { otherwise: None, .. } => true,
        Expression::Verbatim { otherwise: Some(otherwise), .. } => !alone || has_verbatim(otherwise, alone),
        Expression::Unary(_, operand) | Expression::Convert(_, operand) | Expression::NotZero(operand) => {
            has_verbatim(operand, alone)
        }
        Expression::Binary(_, left, right) => has_verbatim(left, alone) || has_verbatim(right, alone),
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Read(_)
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..) => false,
    }
}

/// How many statements there are.
pub(super) fn count(policy: &Policy) -> usize {
    let mut count = 0;
    for handler in policy.events.iter().chain(&policy.queries) {
        statements(&handler.body, &mut |statement| count = count.max(statement.id.0 + 1));
    }
    count
}
