//! Walks through the statements and expressions of a handler.

use std::collections::BTreeSet;

use crate::policy::{Block, ContainerId, Expression, Leave, Policy, Statement, StatementKind};

/// Visits every statement, in the order of their numbers.
pub(super) fn statements<'a>(block: &'a [Statement], visit: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        visit(statement);
        for inner in statement.blocks() {
            statements(inner, visit);
        }
    }
}

/// Whether every path through a block does what is sought, or ends the handler or the enclosing loop.
pub(super) fn certainly(block: &[Statement], sought: &impl Fn(&Statement) -> bool) -> bool {
    for statement in block {
        let own = |leaves: Leave| statement.is_loop() && statement.blocks().flatten().any(|inner| inner.leaves(leaves));
        let mut branches = statement.branches();
        // A turn that leaves a loop early does not reach the end of its body.
        if own(Leave::Loop) || own(Leave::Turn) {
            branches.clear();
        }
        let inside = !branches.is_empty() && branches.into_iter().all(|inner| certainly(inner, sought));
        let out = matches!(statement.kind, StatementKind::Leave { what: Leave::Loop });
        if sought(statement) || statement.ends() || out || inside {
            return true;
        }
        // Not every path reaches what follows.
        if statement.leaves(Leave::Turn) {
            return false;
        }
    }
    false
}

/// Whether there is verbatim text in an expression; `alone`: only text without an `else` part.
pub(super) fn has_verbatim(expression: &Expression, alone: bool) -> bool {
    let own = matches!(expression, Expression::Verbatim { otherwise, .. } if !alone || otherwise.is_none());
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

/// How many statements there are in a policy.
pub(super) fn count(policy: &Policy) -> usize {
    let mut count = 0;
    for handler in policy.events.iter().chain(&policy.queries) {
        statements(&handler.body, &mut |statement| count = count.max(statement.id.0 + 1));
    }
    count
}
