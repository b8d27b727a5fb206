//! Values that the application chooses, as far as is known: a decision on them can have either outcome.

use super::state::State;
use super::values::{evaluate, known};
use crate::policy::{BinaryOperator, Expression, Place, Policy, Type};

/// Whether a test can have had this outcome, as far as is known: no other was possible, or both are. `found` says what
/// is known after an outcome; `None`: it is not possible.
pub(super) fn may_come_out(
    policy: &Policy,
    before: &State,
    after: &State,
    test: &Expression,
    outcome: bool,
    found: impl Fn(&State, bool) -> Option<State>,
) -> bool {
    if found(before, !outcome).is_none() {
        return true;
    }
    // The state must keep what a test of numbers shows, or the same number could later count as another.
    is_open(policy, before, test) && (test.any(&|it| is_told(it)) || found(after, !outcome).is_none())
}

/// Whether an expression can have each value within its known bounds, as far as is known.
pub(super) fn is_open(policy: &Policy, state: &State, expression: &Expression) -> bool {
    let is_single = |expression: &Expression| evaluate(policy, state, expression).single().is_some();
    match expression {
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Unary(..)
        | Expression::NotZero(_) => expression.parts().all(|part| is_open(policy, state, part)),
        Expression::Read(place) => {
            let value = known(policy, state, place);
            is_told(expression) || value.is_some_and(|value| value.open || value.single().is_some())
        }
        // Arithmetic, or a number combined with itself, need not reach every value.
        Expression::Binary(operator, left, right) => {
            let (both, each) = (is_open(policy, state, left) && is_open(policy, state, right), [left, right]);
            match operator {
                BinaryOperator::Add | BinaryOperator::Subtract => {
                    both && each.iter().any(|side| is_single(side) || is_told(side))
                }
                BinaryOperator::Divide | BinaryOperator::Remainder => is_told(left) && is_single(right),
                BinaryOperator::BitAnd
                | BinaryOperator::BitOr
                | BinaryOperator::BitXor
                | BinaryOperator::ShiftLeft
                | BinaryOperator::ShiftRight => is_single(expression),
                BinaryOperator::Multiply | BinaryOperator::Least | BinaryOperator::Greatest => is_single(expression),
                BinaryOperator::Equal
                | BinaryOperator::NotEqual
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual
                | BinaryOperator::And
                | BinaryOperator::Or => both,
            }
        }
        // The range also has numbers that no element has.
        Expression::ConstantElement { .. }
        | Expression::Convert(..)
        | Expression::Choose(..)
        | Expression::Same(..)
        | Expression::Linked { .. }
        // A draw depends on those before it.
        | Expression::Random(_) => is_single(expression),
        Expression::Verbatim { .. } => false,
    }
}

/// Whether an assigned value can be each one within its known bounds, whatever else is known from now on: it consists
/// of imports, and of no other number about which anything else is known.
pub(super) fn is_fresh(policy: &Policy, state: &State, value: &Expression) -> bool {
    use BinaryOperator::{Add, Subtract};
    if is_told(value) || evaluate(policy, state, value).single().is_some() {
        return true;
    }
    if let Expression::Binary(operator, left, right) = value {
        let computes = evaluate(policy, state, value).ty != Type::Bool;
        return (!computes || matches!(operator, Add | Subtract))
            && is_fresh(policy, state, left)
            && is_fresh(policy, state, right);
    }
    matches!(value, Expression::Unary(_, operand) | Expression::NotZero(operand) if is_fresh(policy, state, operand))
}

/// Whether a test of numbers is open by itself: it compares an open number with another one, or with a known one.
pub(super) fn is_free(policy: &Policy, state: &State, test: &Expression) -> bool {
    let simple = |side: &Expression| {
        matches!(side, Expression::Read(_)) && is_open(policy, state, side)
            || evaluate(policy, state, side).single().is_some()
    };
    if let Expression::Binary(operator, left, right) = test {
        return operator.comparison().is_some() && left != right && simple(left) && simple(right);
    }
    if let Expression::NotZero(operand) = test {
        simple(operand)
    } else {
        matches!(test, Expression::Read(_)) && simple(test)
    }
}

/// Whether an expression is read from the application, anew each time.
pub(super) fn is_told(expression: &Expression) -> bool {
    matches!(expression, Expression::Read(Place::Import(_) | Place::ThreadImport(..)))
}

/// Whether two evaluations may differ although the handler changed nothing in between.
pub(super) fn may_differ(expression: &Expression) -> bool {
    is_told(expression) || matches!(expression, Expression::Verbatim { .. } | Expression::Random(_))
}
