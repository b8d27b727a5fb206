//! What a condition tells of containers and values when it holds, and when it does not.

use std::collections::BTreeSet;

use super::state::{Spot, State, Why};
use super::values::{Range, evaluate, highest, index};
use crate::policy::{
    At, BinaryOperator, ContainerRef, Element, Expression, LocalId, Policy, Thread, Type, UnaryOperator, Value,
};

/// The state after `condition` was found to be `outcome`. `None`: it cannot be.
pub(super) fn assume(policy: &Policy, state: State, condition: &Expression, outcome: bool, at: At) -> Option<State> {
    if let Some(Value::Bool(value)) = constant(policy, condition) {
        return (value == outcome).then_some(state);
    }
    match condition {
        Expression::Unary(UnaryOperator::Not, operand) => assume(policy, state, operand, !outcome, at),
        Expression::Binary(BinaryOperator::And, left, right) => both(policy, state, left, right, outcome, true, at),
        // `a || b` is `!(!a && !b)`.
        Expression::Binary(BinaryOperator::Or, left, right) => both(policy, state, left, right, outcome, false, at),
        Expression::NotZero(operand) => compare(
            policy,
            state,
            (BinaryOperator::NotEqual, operand, &Expression::Literal(Value::Int(0))),
            outcome,
            at,
        ),
        Expression::Binary(operator, left, right) => compare(policy, state, (*operator, left, right), outcome, at),
        Expression::In(Thread::Local(local), container) => inside(state, *local, container, outcome, at),
        // What a threadref holds is in that threadref and in no other container.
        Expression::In(Thread::Slot(slot), container) => match (container.may_be(*slot), container) {
            // Of an array it can be another element.
            (true, ContainerRef::Element { .. }) => Some(state),
            (inside, _) => (inside == outcome).then_some(state),
        },
        Expression::Read(_) => {
            narrowed(policy, state, condition, BinaryOperator::Equal, Range::of(Value::Bool(outcome)), at)
        }
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Now
        | Expression::Convert(..)
        | Expression::Size(_)
        | Expression::Unary(UnaryOperator::Negate, _)
        | Expression::Verbatim { .. } => Some(state),
    }
}

/// `&&` (`each` is true) or `||` (`each` is false): both operands are `each`, or one of them is not and it is evaluated last.
fn both(
    policy: &Policy,
    state: State,
    left: &Expression,
    right: &Expression,
    outcome: bool,
    each: bool,
    at: At,
) -> Option<State> {
    let past_left = assume(policy, state.clone(), left, each, at);
    if outcome == each {
        return assume(policy, past_left?, right, each, at);
    }
    let by_left = assume(policy, state, left, !each, at);
    let by_right = past_left.and_then(|state| assume(policy, state, right, !each, at));
    match (by_left, by_right) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (one, None) | (None, one) => one,
    }
}

fn inside(state: State, local: LocalId, container: &ContainerRef, outcome: bool, at: At) -> Option<State> {
    let inside = |spot: Spot| spot.container().is_some_and(|place| container.may_be(place));
    match container {
        ContainerRef::One(_) | ContainerRef::Whole { .. } => state.with_places(local, |spot| inside(spot) == outcome),
        ContainerRef::Element { .. } if outcome => {
            state.with_places(local, inside)?.with_size_of(container, 1, None, Why::Tested(at))
        }
        // It can be in another element.
        ContainerRef::Element { .. } => Some(state),
    }
}

type Comparison<'a> = (BinaryOperator, &'a Expression, &'a Expression);

fn compare(policy: &Policy, state: State, (operator, left, right): Comparison, outcome: bool, at: At) -> Option<State> {
    match (constant(policy, left), constant(policy, right)) {
        (_, Some(Value::Bool(value))) => return equal(policy, state, left, operator, value, outcome, at),
        (Some(Value::Bool(value)), _) => return equal(policy, state, right, operator, value, outcome, at),
        (
            Some(Value::Int(_) | Value::Time(_) | Value::Float(_)) | None,
            Some(Value::Int(_) | Value::Time(_) | Value::Float(_)) | None,
        ) => {}
    }
    let Some(operator) = (if outcome { Some(operator) } else { negated(operator) }) else { return Some(state) };
    let bound = evaluate(policy, &state, right);
    if bound.ty == Type::Float {
        return Some(state);
    }
    let state = narrowed(policy, state, left, operator, bound, at)?;
    let bound = evaluate(policy, &state, left);
    narrowed(policy, state, right, mirrored(operator), bound, at)
}

/// A condition compared with `true` or `false`.
fn equal(
    policy: &Policy,
    state: State,
    condition: &Expression,
    operator: BinaryOperator,
    value: bool,
    outcome: bool,
    at: At,
) -> Option<State> {
    if operator == BinaryOperator::Equal {
        assume(policy, state, condition, value == outcome, at)
    } else if operator == BinaryOperator::NotEqual {
        assume(policy, state, condition, value != outcome, at)
    } else {
        Some(state)
    }
}

/// The state in which an expression compares like this with some value of a range. `None`: it cannot.
fn narrowed(
    policy: &Policy,
    state: State,
    expression: &Expression,
    operator: BinaryOperator,
    bound: Range,
    at: At,
) -> Option<State> {
    let own = evaluate(policy, &state, expression);
    let (least, most) = match operator {
        BinaryOperator::Equal => (bound.least, bound.most),
        // Nothing is below the lowest value.
        BinaryOperator::Less => (i64::MIN, bound.most.checked_sub(1)?),
        BinaryOperator::LessOrEqual => (i64::MIN, bound.most),
        BinaryOperator::Greater => (bound.least.checked_add(1)?, i64::MAX),
        BinaryOperator::GreaterOrEqual => (bound.least, i64::MAX),
        BinaryOperator::NotEqual if bound.single() == Some(own.least) => (own.least.checked_add(1)?, i64::MAX),
        BinaryOperator::NotEqual if bound.single() == Some(own.most) => (i64::MIN, own.most.checked_sub(1)?),
        BinaryOperator::NotEqual => (i64::MIN, i64::MAX),
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Remainder
        | BinaryOperator::And
        | BinaryOperator::Or => return Some(state),
    };
    let narrow = own.within(least, most, Why::Tested(at))?;
    if narrow == own {
        return Some(state);
    }
    if let Expression::Read(place) = expression {
        return Some(match index(policy, place) {
            Some(index) => state.with_value(index, narrow),
            None => state,
        });
    }
    let mut containers = Vec::new();
    if !sizes(expression, &mut containers) {
        return Some(state);
    }
    let least = u64::try_from(narrow.least).unwrap_or(0);
    // The highest int stands for every size from there on.
    let most = if narrow.most < highest(policy) { u64::try_from(narrow.most).ok() } else { None };
    let why = Why::Tested(at);
    if let [container] = containers.as_slice() {
        return state.with_size_of(container, least, most, why);
    }
    // In fewer than 64 bits a sum can wrap.
    if policy.int_bits < 64 {
        return Some(state);
    }
    let mut state = state;
    for container in &containers {
        state = state.with_size_of(container, 0, most, why)?;
    }
    if least == 0 {
        return Some(state);
    }
    state.with_some(containers.iter().flat_map(|container| container.candidates()).collect::<BTreeSet<_>>())
}

/// Whether this is a sum of sizes; the containers are added to the list.
pub(super) fn sizes<'a>(expression: &'a Expression, containers: &mut Vec<&'a ContainerRef>) -> bool {
    match expression {
        Expression::Size(container) => {
            containers.push(container);
            true
        }
        Expression::Binary(BinaryOperator::Add, left, right) => sizes(left, containers) && sizes(right, containers),
        Expression::Binary(..)
        | Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Read(_)
        | Expression::Now
        | Expression::Convert(..)
        | Expression::In(..)
        | Expression::Unary(..)
        | Expression::NotZero(_)
        | Expression::Verbatim { .. } => false,
    }
}

/// The value of an expression that has the same value everywhere. Only what people write as bounds: no arithmetic.
pub(super) fn constant(policy: &Policy, expression: &Expression) -> Option<Value> {
    match expression {
        Expression::Literal(value) => Some(*value),
        Expression::Constant(constant) => policy.constants.get(constant.0).map(|constant| constant.value),
        Expression::ConstantElement { first, length, index } => match constant(policy, index)? {
            Value::Int(index) => {
                policy.constants.get(first.0 + Element::nearest(index, *length)).map(|constant| constant.value)
            }
            Value::Bool(_) | Value::Time(_) | Value::Float(_) => None,
        },
        Expression::Unary(UnaryOperator::Negate, operand) => match constant(policy, operand)? {
            // The smallest int has no opposite; it wraps.
            Value::Int(int) if int > i64::MIN >> (64 - policy.int_bits) => Some(Value::Int(-int)),
            Value::Time(time) => time.checked_neg().map(Value::Time),
            Value::Int(_) | Value::Bool(_) | Value::Float(_) => None,
        },
        Expression::Unary(UnaryOperator::Not, operand) => match constant(policy, operand)? {
            Value::Bool(truth) => Some(Value::Bool(!truth)),
            Value::Int(_) | Value::Time(_) | Value::Float(_) => None,
        },
        Expression::NotZero(operand) => match constant(policy, operand)? {
            Value::Int(int) => Some(Value::Bool(int != 0)),
            Value::Bool(_) | Value::Time(_) | Value::Float(_) => None,
        },
        Expression::Read(_)
        | Expression::Now
        | Expression::Convert(..)
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Binary(..)
        | Expression::Verbatim { .. } => None,
    }
}

/// The operator after the operands have changed places.
fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Remainder
        | BinaryOperator::And
        | BinaryOperator::Or => operator,
    }
}

/// The comparison that holds exactly when this one does not.
fn negated(operator: BinaryOperator) -> Option<BinaryOperator> {
    match operator {
        BinaryOperator::Equal => Some(BinaryOperator::NotEqual),
        BinaryOperator::NotEqual => Some(BinaryOperator::Equal),
        BinaryOperator::Less => Some(BinaryOperator::GreaterOrEqual),
        BinaryOperator::LessOrEqual => Some(BinaryOperator::Greater),
        BinaryOperator::Greater => Some(BinaryOperator::LessOrEqual),
        BinaryOperator::GreaterOrEqual => Some(BinaryOperator::Less),
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Remainder
        | BinaryOperator::And
        | BinaryOperator::Or => None,
    }
}
