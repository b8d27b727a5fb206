//! Handlers that are one. A handler written once for several events stands in the policy once for each. If the host
//! treats two of these events alike, the same holds in both: the first is followed and judged for both.

use crate::framework::automaton::Order;
use crate::framework::life::Lives;
use crate::framework::{Event, Framework};
use crate::policy::{Block, Handler, Policy, Statement, StatementKind};

/// By handler of an event: the first handler that it is one with, or itself.
pub(super) fn firsts(policy: &Policy, framework: &Framework) -> Vec<usize> {
    let (order, lives) = (Order::of(framework), Lives::of(framework));
    let event = |handler: &Handler| framework.events.iter().find(|event| event.name == handler.name);
    let handlers: Vec<(&Handler, Option<&Event>)> =
        policy.events.iter().map(|handler| (handler, event(handler))).collect();
    let come_alike =
        |one: &Event, other: &Event| order.alike(&one.name, &other.name) && lives.alike(&one.name, &other.name);
    let mut firsts: Vec<usize> = Vec::with_capacity(handlers.len());
    for (index, (handler, event)) in handlers.iter().enumerate() {
        let is_one = |earlier: &usize| {
            let (first, its_event) = handlers[*earlier];
            firsts[*earlier] == *earlier
                && event.zip(its_event).is_some_and(|(one, other)| are_alike(one, other) && come_alike(one, other))
                && are_one(first, handler)
        };
        let first = (0..index).find(is_one).unwrap_or(index);
        firsts.push(first);
    }
    firsts
}

/// Whether a host expects the same of two events.
fn are_alike(one: &Event, other: &Event) -> bool {
    one.rules == other.rules && one.may_fail == other.may_fail
}

/// Whether two handlers are the same, but for the name of the event and the numbers of the statements.
fn are_one(one: &Handler, other: &Handler) -> bool {
    let rest = |handler: &Handler| (handler.at, handler.owner, handler.parameters, handler.returns);
    rest(one) == rest(other)
        && one.written == other.written
        && one.locals == other.locals
        && is_same_block(&one.body, &other.body)
}

fn is_same_block(one: &Block, other: &Block) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}

fn is_same(one: &Statement, other: &Statement) -> bool {
    let own = match (&one.kind, &other.kind) {
        (StatementKind::If { condition, .. }, StatementKind::If { condition: other, .. }) => condition == other,
        (
            StatementKind::Foreach { cursor, container, .. },
            StatementKind::Foreach { cursor: of_other, container: other, .. },
        ) => cursor == of_other && container == other,
        (
            StatementKind::Follow { cursor, thread, link, .. },
            StatementKind::Follow { cursor: of_other, thread: other, link: other_link, .. },
        ) => (cursor, thread, link) == (of_other, other, other_link),
        (StatementKind::Loop { condition, test, .. }, StatementKind::Loop { condition: other, test: of_other, .. }) => {
            condition == other && test == of_other
        }
        // These contain no statements, or are rare.
        (
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. },
            other,
        ) => one.kind == *other,
    };
    own && (one.at, one.called) == (other.at, other.called)
        && one.blocks().map(Vec::len).eq(other.blocks().map(Vec::len))
        && one.blocks().zip(other.blocks()).all(|(one, other)| is_same_block(one, other))
}
