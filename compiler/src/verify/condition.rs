//! What a condition tells of the containers when it holds, and when it does not.

use std::collections::BTreeSet;

use super::state::{Spot, State, Why};
use crate::policy::{At, BinaryOperator, ContainerId, Expression, LocalId, Policy, Thread, UnaryOperator, Value};

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
        Expression::In(Thread::Local(local), container) => inside(state, *local, *container, outcome),
        // What a threadref holds is in that threadref and in no other container.
        Expression::In(Thread::Slot(slot), container) => ((slot == container) == outcome).then_some(state),
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Read(_)
        | Expression::Now
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

fn inside(state: State, local: LocalId, container: ContainerId, outcome: bool) -> Option<State> {
    state.with_places(local, |spot| (spot == Spot::In(container)) == outcome)
}

type Comparison<'a> = (BinaryOperator, &'a Expression, &'a Expression);

fn compare(policy: &Policy, state: State, (operator, left, right): Comparison, outcome: bool, at: At) -> Option<State> {
    match (constant(policy, left), constant(policy, right)) {
        (_, Some(Value::Int(bound))) => bounded(policy, state, left, operator, bound, outcome, at),
        (Some(Value::Int(bound)), _) => bounded(policy, state, right, mirrored(operator), bound, outcome, at),
        (_, Some(Value::Bool(value))) => equal(policy, state, left, operator, value, outcome, at),
        (Some(Value::Bool(value)), _) => equal(policy, state, right, operator, value, outcome, at),
        // A time tells nothing of containers.
        (None | Some(Value::Time(_)), None | Some(Value::Time(_))) => Some(state),
    }
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

/// `|c| < bound` and the like, and sums of sizes.
fn bounded(
    policy: &Policy,
    state: State,
    left: &Expression,
    operator: BinaryOperator,
    bound: i64,
    outcome: bool,
    at: At,
) -> Option<State> {
    let mut containers = Vec::new();
    if !sizes(left, &mut containers) {
        return Some(state);
    }
    let single = containers.len() == 1;
    // A sum of sizes does not wrap in 64 bits; in fewer it can.
    if !single && policy.int_bits < 64 {
        return Some(state);
    }
    let operator = if outcome { operator } else { negated(operator)? };
    let (bound, highest) = (i128::from(bound), i128::from(i64::MAX >> (64 - policy.int_bits)));
    let (mut least, mut most) = match operator {
        BinaryOperator::Equal => (bound, bound),
        BinaryOperator::Less => (0, bound - 1),
        BinaryOperator::LessOrEqual => (0, bound),
        BinaryOperator::Greater => (bound + 1, highest),
        BinaryOperator::GreaterOrEqual => (bound, highest),
        BinaryOperator::NotEqual => (0, highest),
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Remainder
        | BinaryOperator::And
        | BinaryOperator::Or => return Some(state),
    };
    if operator == BinaryOperator::NotEqual && single {
        let size = state.size(containers[0]);
        if i128::from(size.least) == bound {
            least = bound + 1;
        }
        if size.most.map(i128::from) == Some(bound) {
            most = bound - 1;
        }
    } else if operator == BinaryOperator::NotEqual && bound == 0 {
        least = 1;
    }
    if most < 0 {
        return None;
    }
    let least = u64::try_from(least).unwrap_or(0);
    // The highest int stands for every size from there on.
    let most = if most < highest { u64::try_from(most).ok() } else { None };
    let why = Why::Tested(at);
    if single {
        return state.with_size(containers[0], least, most, why);
    }
    let mut state = state;
    for container in &containers {
        state = state.with_size(*container, 0, most, why)?;
    }
    if least == 0 { Some(state) } else { state.with_some(containers.into_iter().collect::<BTreeSet<_>>()) }
}

/// Whether this is a sum of sizes; the containers are added to the list.
fn sizes(expression: &Expression, containers: &mut Vec<ContainerId>) -> bool {
    match expression {
        Expression::Size(container) => {
            containers.push(*container);
            true
        }
        Expression::Binary(BinaryOperator::Add, left, right) => sizes(left, containers) && sizes(right, containers),
        Expression::Binary(..)
        | Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Read(_)
        | Expression::Now
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
        Expression::Unary(UnaryOperator::Negate, operand) => match constant(policy, operand)? {
            // The smallest int has no opposite; it wraps.
            Value::Int(int) if int > i64::MIN >> (64 - policy.int_bits) => Some(Value::Int(-int)),
            Value::Time(time) => time.checked_neg().map(Value::Time),
            Value::Int(_) | Value::Bool(_) => None,
        },
        Expression::Unary(UnaryOperator::Not, operand) => match constant(policy, operand)? {
            Value::Bool(truth) => Some(Value::Bool(!truth)),
            Value::Int(_) | Value::Time(_) => None,
        },
        Expression::NotZero(operand) => match constant(policy, operand)? {
            Value::Int(int) => Some(Value::Bool(int != 0)),
            Value::Bool(_) | Value::Time(_) => None,
        },
        Expression::Read(_)
        | Expression::Now
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
