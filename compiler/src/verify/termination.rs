//! A loop ends (2005, §2.3): "our compiler will generate a warning if it cannot be sure that the loop will terminate".
//!
//! Two kinds of loops are seen to end. One counts: its condition compares a counter with a bound, and each turn takes the
//! counter one step nearer to it. The other empties: each turn takes a thread out of a container into which no turn puts one.

use std::collections::BTreeSet;

use super::condition::constant;
use super::{Facts, Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{
    BinaryOperator, Block, ContainerId, Expression, Place, Policy, Source, Statement, StatementKind, Test, Value,
};

/// `facts` of the handler's transfers say where threads can come from.
pub(super) fn check(handling: &Handling, facts: &[Facts], diagnostics: &mut Diagnostics) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let StatementKind::Loop { condition, body, step, .. } = &statement.kind else { return };
        if is_endless(handling.policy, statement) {
            // `for (;;)` has no condition, `while (true)` none that says anything.
            let without = *condition == Expression::Literal(Value::Bool(true));
            let label = if without { "nothing ends it" } else { "always true" };
            let diagnostic = Diagnostic::error("E0413", "this loop never ends", statement.at, label);
            diagnostics.push(
                handling
                    .called(statement, diagnostic)
                    .note("nothing in its body ends the handler, and the host would wait for it for ever")
                    .help("write a condition that a turn can make false, or `return` from the loop"),
            );
        } else if !is_once(handling.policy, condition)
            && !counts(handling.policy, condition, body, step)
            && !empties(facts, body, step)
        {
            let diagnostic = Diagnostic::warning("E0413", "this loop may not end", statement.at, "no bound is evident");
            diagnostics.push(
                handling
                    .called(statement, diagnostic)
                    .note("the host waits for a handler as long as it takes")
                    .help("count the turns as well: `for (int i = 0; i < 10 && …; i++)`")
                    .help(
                        "or take a thread out of a container in every turn, and put none in: `while (|a| > 0) a => b;`",
                    ),
            );
        }
    });
}

/// Whether the condition is never true.
fn is_once(policy: &Policy, condition: &Expression) -> bool {
    constant(policy, condition) == Some(Value::Bool(false))
}

/// Whether it is a loop without a way out.
pub(super) fn is_endless(policy: &Policy, statement: &Statement) -> bool {
    let StatementKind::Loop { condition, body, .. } = &statement.kind else { return false };
    let mut way_out = constant(policy, condition) != Some(Value::Bool(true));
    walk::statements(body, &mut |statement| way_out |= ends(statement));
    !way_out
}

fn ends(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. })
}

/// Whether the loop goes on only while a counter is on one side of a bound, and each turn takes it towards the other.
fn counts(policy: &Policy, condition: &Expression, body: &Block, step: &Block) -> bool {
    use BinaryOperator::{And, Greater, GreaterOrEqual, Less, LessOrEqual};
    let Expression::Binary(operator, left, right) = condition else { return false };
    if *operator == And {
        return counts(policy, left, body, step) || counts(policy, right, body, step);
    }
    let rises =
        |counter: &Expression, bound: &Expression, equal: bool| nears(policy, counter, bound, equal, 1, body, step);
    let falls =
        |counter: &Expression, bound: &Expression, equal: bool| nears(policy, counter, bound, equal, -1, body, step);
    let strictly = *operator == Less || *operator == Greater;
    if *operator == Less || *operator == LessOrEqual {
        rises(left, right, !strictly) || falls(right, left, !strictly)
    } else if *operator == Greater || *operator == GreaterOrEqual {
        falls(left, right, !strictly) || rises(right, left, !strictly)
    } else {
        false
    }
}

/// Whether each turn takes this counter towards this bound, up (`sign` 1) or down (-1), and not past the end of `int`.
fn nears(
    policy: &Policy,
    counter: &Expression,
    bound: &Expression,
    equal: bool,
    sign: i128,
    body: &Block,
    step: &Block,
) -> bool {
    let Expression::Read(counter @ (Place::Local(_) | Place::Variable(_))) = counter else { return false };
    // What stands directly in the body or is the step is done in each turn, once.
    let Some(stride) = body.iter().chain(step).find_map(|statement| stride(policy, statement, counter)) else {
        return false;
    };
    let stride = sign * stride;
    if assignments(body, step, counter) != 1 || stride <= 0 {
        return false;
    }
    let fits = |bound: i64, highest: i64| {
        let last = sign * i128::from(bound) - i128::from(!equal);
        last + stride <= i128::from(highest)
    };
    match constant(policy, bound) {
        Some(Value::Int(bound)) => fits(bound, i64::MAX >> (64 - policy.int_bits)),
        Some(Value::Time(bound)) => fits(bound, i64::MAX),
        // Strictly below any bound there is room for one more.
        Some(Value::Bool(_) | Value::Float(_)) | None => stride == 1 && !equal && is_steady(bound, body, step),
    }
}

/// How far an assignment takes the counter; `None` if it is another statement.
fn stride(policy: &Policy, statement: &Statement, counter: &Place) -> Option<i128> {
    let StatementKind::Set { place, value: Expression::Binary(operator, left, right) } = &statement.kind else {
        return None;
    };
    if place != counter || **left != Expression::Read(counter.clone()) {
        return None;
    }
    let Some(Value::Int(by) | Value::Time(by)) = constant(policy, right) else { return None };
    if *operator == BinaryOperator::Add {
        Some(i128::from(by))
    } else if *operator == BinaryOperator::Subtract {
        Some(-i128::from(by))
    } else {
        None
    }
}

/// How many statements of a loop assign a place.
fn assignments(body: &Block, step: &Block, sought: &Place) -> usize {
    let mut count = 0;
    for block in [body, step] {
        walk::statements(block, &mut |statement| {
            let assigns = match &statement.kind {
                StatementKind::Set { place, .. } => may_be(place, sought),
                // Text that is not ours may find a way to what it does not name, but for locals.
                StatementKind::Verbatim { text, .. } => {
                    !matches!(sought, Place::Local(_)) || text.places().any(|place| may_be(place, sought))
                }
                StatementKind::Transfer { .. }
                | StatementKind::Send { .. }
                | StatementKind::Destroy { .. }
                | StatementKind::Dispatch { .. }
                | StatementKind::If { .. }
                | StatementKind::Foreach { .. }
                | StatementKind::Loop { .. }
                | StatementKind::Return { .. }
                | StatementKind::Fail { .. } => false,
            };
            count += usize::from(assigns);
        });
    }
    count
}

/// Whether an assignment to a place can change a variable.
fn may_be(place: &Place, sought: &Place) -> bool {
    let (some, wanted) = (place.variables(), sought.variables());
    place == sought || some.start < wanted.end && wanted.start < some.end
}

/// Whether a bound is made of what no turn changes, and of sizes of containers: no loop makes threads.
fn is_steady(bound: &Expression, body: &Block, step: &Block) -> bool {
    match bound {
        Expression::Literal(_) | Expression::Constant(_) | Expression::Size(_) => true,
        Expression::ConstantElement { index, .. } => is_steady(index, body, step),
        Expression::Read(place @ (Place::Local(_) | Place::Variable(_) | Place::VariableElement { .. })) => {
            assignments(body, step, place) == 0 && place.index().is_none_or(|index| is_steady(index, body, step))
        }
        Expression::Unary(_, operand) | Expression::Convert(_, operand) => is_steady(operand, body, step),
        Expression::Binary(_, left, right) => is_steady(left, body, step) && is_steady(right, body, step),
        // The application changes imports, and another name can stand for the thread of an attribute.
        Expression::Read(
            Place::Import(_) | Place::Attribute(..) | Place::AttributeElement { .. } | Place::ThreadImport(..),
        )
        | Expression::Now
        | Expression::In(..)
        | Expression::NotZero(_)
        | Expression::Verbatim { .. } => false,
    }
}

/// Whether each turn takes a thread out of containers into which no turn puts one: so many turns as threads, at most.
fn empties(facts: &[Facts], body: &Block, step: &Block) -> bool {
    let mut filled = BTreeSet::new();
    for block in [body, step] {
        walk::statements(block, &mut |statement| {
            if let StatementKind::Transfer { destination, .. } = &statement.kind {
                filled.extend(destination.candidates());
            }
        });
    }
    takes(facts, body, &filled) || takes(facts, step, &filled)
}

/// Whether whoever comes to the end of a block has taken a thread out of a container that is not `filled`.
fn takes(facts: &[Facts], block: &Block, filled: &BTreeSet<ContainerId>) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::Transfer { source, .. }
        | StatementKind::Send { source, .. }
        | StatementKind::Destroy { source } => match source {
            Source::Container(container) => container.candidates().all(|place| !filled.contains(&place)),
            Source::Thread(_) => {
                let facts = &facts[statement.id.0];
                !facts.in_hand && facts.positions.iter().all(|position| !filled.contains(position))
            }
        },
        StatementKind::If { then, otherwise, .. } => takes(facts, then, filled) && takes(facts, otherwise, filled),
        StatementKind::Loop { test: Test::After, body, .. } => takes(facts, body, filled),
        StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. } => true,
        StatementKind::Set { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Loop { test: Test::Before, .. } => false,
    })
}
