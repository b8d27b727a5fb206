//! Going through the statements and expressions of a handler.

use std::collections::BTreeSet;

use crate::policy::{Block, ContainerId, Expression, Policy, Statement, StatementKind};

/// Visits every statement, in the order of their numbers.
pub(super) fn statements<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        visit(statement);
        for inner in statement.blocks() {
            statements(inner, visit);
        }
    }
}

/// Whether there is verbatim text in an expression; `alone`: text for which nothing stands.
pub(super) fn has_verbatim(expression: &Expression, alone: bool) -> bool {
    let own = match expression {
        Expression::Verbatim { otherwise, .. } => !alone || otherwise.is_none(),
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Read(_)
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Unary(..)
        | Expression::Convert(..)
        | Expression::Binary(..)
        | Expression::NotZero(_) => false,
    };
    own || expression.parts().any(|part| has_verbatim(part, alone))
}

/// The containers into which some handler moves a thread.
pub(super) fn filled(policy: &Policy) -> BTreeSet<ContainerId> {
    let mut filled = BTreeSet::new();
    for handler in &policy.events {
        statements(&handler.body, &mut |statement| {
            if let StatementKind::Transfer { destination, .. } = &statement.kind {
                filled.extend(destination.candidates());
            }
        });
    }
    filled
}

/// How many statements there are in a block, at any depth.
pub(super) fn length(block: &Block) -> usize {
    let mut length = 0;
    statements(block, &mut |_| length += 1);
    length
}

/// How many statements there are.
pub(super) fn count(policy: &Policy) -> usize {
    let mut count = 0;
    for handler in policy.events.iter().chain(&policy.queries) {
        statements(&handler.body, &mut |statement| count = count.max(statement.id.0 + 1));
    }
    count
}
