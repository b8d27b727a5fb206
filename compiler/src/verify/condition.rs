//! What a condition tells about containers and values when it holds, and when it does not.

use std::collections::BTreeSet;

use super::open;
use super::state::{Spot, State, Why};
use super::values::{Range, element, evaluate, most_threads, with};
use crate::policy::{
    At, BinaryOperator, Comparison, ContainerRef, Element, Entity, Expression, LocalId, Policy, StateClass, Thread,
    UnaryOperator, Value,
};

/// The state after `condition` has had this `outcome`. `None`: it cannot have it.
pub(super) fn assume(policy: &Policy, state: State, condition: &Expression, outcome: bool, at: At) -> Option<State> {
    if let Some(Value::Bool(value)) = constant(policy, condition) {
        return (value == outcome).then_some(state);
    }
    if let Expression::Unary(UnaryOperator::Not, operand) = condition {
        return assume(policy, state, operand, !outcome, at);
    }
    if let Expression::Binary(operator, left, right) = condition
        && let Some(each) = operator.goes_on_if()
    {
        return both(policy, state, left, right, outcome, each, at);
    }
    if let Expression::Choose(test, one, other) = condition {
        let one = branch(policy, &state, test, true, at).and_then(|state| assume(policy, state, one, outcome, at));
        let other = branch(policy, &state, test, false, at).and_then(|state| assume(policy, state, other, outcome, at));
        return match (one, other) {
            (Some(a), Some(b)) => Some(a.join(b)),
            (one, None) | (None, one) => one,
        };
    }
    let before = state.sure.then(|| state.clone());
    let after = test(policy, state, condition, outcome, at)?;
    let found = |state: &State, outcome: bool| test(policy, state.clone(), condition, outcome, at);
    let closed = |before: &State| !open::may_come_out(policy, before, &after, condition, outcome, found);
    Some(if before.as_ref().is_some_and(closed) { after.unsure() } else { after })
}

/// The state in which one of two values is chosen because a condition had this `outcome`. `None`: it is never chosen.
/// Nothing is learnt from a condition that itself contains a choice: it would be evaluated twice for each one.
pub(super) fn branch(policy: &Policy, state: &State, condition: &Expression, outcome: bool, at: At) -> Option<State> {
    if condition.any(&|part| matches!(part, Expression::Choose(..))) {
        return Some(state.clone());
    }
    assume(policy, state.clone(), condition, outcome, at)
}

/// The same for a condition that is no `!`, `&&`, `||` or choice.
fn test(policy: &Policy, state: State, condition: &Expression, outcome: bool, at: At) -> Option<State> {
    match condition {
        Expression::NotZero(operand) => {
            compare(policy, state, (Comparison::NotEqual, operand, &Expression::Literal(Value::Int(0))), outcome, at)
        }
        Expression::Binary(operator, left, right) => match operator.comparison() {
            Some(comparison) => compare(policy, state, (comparison, left, right), outcome, at),
            None => Some(state),
        },
        Expression::In(Thread::Local(local), container, _) => inside(policy, state, *local, container, outcome, at),
        // What a threadref holds is in that threadref and in no other container.
        Expression::In(Thread::Slot(slot) | Thread::First(slot), container, _) => {
            match (container.may_be(*slot), container) {
                // It can be in another element of the array.
                (true, ContainerRef::Element { .. }) => Some(state),
                (inside, _) => (inside == outcome).then_some(state),
            }
        }
        Expression::Same(one, other) => same(policy, state, *one, *other, outcome),
        Expression::Read(_) => {
            narrowed(policy, state, condition, Comparison::Equal, Range::of(Value::Bool(outcome)), at)
        }
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Now
        | Expression::Convert(..)
        | Expression::Size(_)
        | Expression::Unary(..)
        | Expression::Choose(..)
        | Expression::Random(_)
        | Expression::Linked { .. }
        | Expression::Verbatim { .. } => Some(state),
    }
}

/// `&&` (`each` is true) or `||` (`each` is false): both operands are `each`, or the last one that is evaluated is not.
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

/// If two names mean one thread, each can only be where the other can be. If not, nothing follows, except for one name.
fn same(policy: &Policy, state: State, one: LocalId, other: LocalId, outcome: bool) -> Option<State> {
    match evaluate(policy, &state, &Expression::Same(one, other)).single() {
        Some(known) => ((known != 0) == outcome).then_some(state),
        None if outcome => {
            let of = |local: LocalId| state.places(local).cloned();
            let (Some(places), Some(others)) = (of(one), of(other)) else { return Some(state) };
            let state = state.with_places(one, |spot| others.contains(&spot))?;
            state.with_places(other, |spot| places.contains(&spot))
        }
        None => Some(state),
    }
}

fn inside(
    policy: &Policy,
    state: State,
    local: LocalId,
    container: &ContainerRef,
    outcome: bool,
    at: At,
) -> Option<State> {
    let inside = |spot: Spot| spot.container().is_some_and(|place| container.may_be(place));
    let kept = |spot: Spot| match (spot, outcome) {
        (Spot::Elsewhere, true) => runs_there(policy, container),
        (Spot::Elsewhere, false) => !all_run_there(policy, container),
        (Spot::Hand | Spot::In(_) | Spot::Gone, _) => inside(spot) == outcome,
    };
    match container {
        ContainerRef::One(_) | ContainerRef::Whole { .. } => state.with_places(local, kept),
        ContainerRef::Element { .. } if outcome && runs_there(policy, container) => state.with_places(local, kept),
        ContainerRef::Element { .. } if outcome => {
            with_size(policy, state.with_places(local, inside)?, container, 1, None, at)
        }
        // The thread can be in another element.
        ContainerRef::Element { .. } => Some(state),
    }
}

/// Whether a thread that runs on another processor can be in this container, as the handlers there see it.
pub(super) fn runs_there(policy: &Policy, container: &ContainerRef) -> bool {
    container.candidates().any(|id| policy.containers[id.0].class == StateClass::Running)
}

/// Whether it certainly is in this container.
pub(super) fn all_run_there(policy: &Policy, container: &ContainerRef) -> bool {
    let mut running = policy.holding(Entity::Thread).filter(|id| policy.containers[id.0].class == StateClass::Running);
    running.all(|id| container.may_be(id))
}

type Compared<'a> = (Comparison, &'a Expression, &'a Expression);

fn compare(policy: &Policy, state: State, (operator, left, right): Compared, outcome: bool, at: At) -> Option<State> {
    // Two reads give the same value, unless the application can change it in between.
    if left == right && !left.any(&open::may_differ) {
        // No float is "not a number".
        return (operator.holds(0, 0) == outcome).then_some(state);
    }
    match (constant(policy, left), constant(policy, right)) {
        (_, Some(Value::Bool(value))) => return equal(policy, state, left, operator, value, outcome, at),
        (Some(Value::Bool(value)), _) => return equal(policy, state, right, operator, value, outcome, at),
        (
            Some(Value::Int(_) | Value::Time(_) | Value::Float(_)) | None,
            Some(Value::Int(_) | Value::Time(_) | Value::Float(_)) | None,
        ) => {}
    }
    let operator = if outcome { operator } else { operator.negated() };
    let bound = evaluate(policy, &state, right);
    let state = narrowed(policy, state, left, operator, bound, at)?;
    let bound = evaluate(policy, &state, left);
    narrowed(policy, state, right, operator.mirrored(), bound, at)
}

/// A condition compared with `true` or `false`.
fn equal(
    policy: &Policy,
    state: State,
    condition: &Expression,
    operator: Comparison,
    value: bool,
    outcome: bool,
    at: At,
) -> Option<State> {
    if operator == Comparison::Equal {
        assume(policy, state, condition, value == outcome, at)
    } else if operator == Comparison::NotEqual {
        assume(policy, state, condition, value != outcome, at)
    } else {
        Some(state)
    }
}

/// The state in which `expression` compares like this with some value of `bound`. `None`: it cannot.
fn narrowed(
    policy: &Policy,
    state: State,
    expression: &Expression,
    operator: Comparison,
    bound: Range,
    at: At,
) -> Option<State> {
    let own = evaluate(policy, &state, expression);
    let (least, most) = match operator {
        Comparison::Equal => (bound.least, bound.most),
        // Nothing is below the lowest value.
        Comparison::Less => (i64::MIN, bound.most.checked_sub(1)?),
        Comparison::LessOrEqual => (i64::MIN, bound.most),
        Comparison::Greater => (bound.least.checked_add(1)?, i64::MAX),
        Comparison::GreaterOrEqual => (bound.least, i64::MAX),
        Comparison::NotEqual if bound.single() == Some(own.least) => (own.least.checked_add(1)?, i64::MAX),
        Comparison::NotEqual if bound.single() == Some(own.most) => (i64::MIN, own.most.checked_sub(1)?),
        Comparison::NotEqual => (i64::MIN, i64::MAX),
    };
    let narrow = own.within(least, most, Why::Tested(at))?;
    if narrow == own {
        return Some(state);
    }
    if let Expression::Read(place) = expression {
        return with(policy, state, place, narrow).with_counted(Why::Tested(at));
    }
    let mut containers = Vec::new();
    if !sizes(expression, &mut containers) {
        return Some(state);
    }
    let least = u64::try_from(narrow.least).unwrap_or(0);
    // The highest int stands for itself and for every larger size.
    let most = if narrow.most < most_threads(policy) { u64::try_from(narrow.most).ok() } else { None };
    if let [container] = containers.as_slice() {
        return with_size(policy, state, container, least, most, at);
    }
    // In fewer than 64 bits a sum can wrap.
    if policy.int_bits < 64 {
        return Some(state);
    }
    let mut state = state;
    for container in &containers {
        state = with_size(policy, state, container, 0, most, at)?;
    }
    if least == 0 {
        return Some(state);
    }
    state.with_some(containers.iter().flat_map(|container| container.candidates()).collect::<BTreeSet<_>>())
}

/// The state in which a container holds so many threads. They are noted for its index and, if that is known, for the
/// element itself.
fn with_size(
    policy: &Policy,
    state: State,
    container: &ContainerRef,
    least: u64,
    most: Option<u64>,
    at: At,
) -> Option<State> {
    let now = element(policy, &state, container);
    let state = if now == *container { state } else { state.with_size_of(&now, least, most, Why::Tested(at))? };
    state.with_size_of(container, least, most, Why::Tested(at))
}

/// Whether this is a sum of sizes. Appends its containers to the list.
pub(super) fn sizes<'a>(expression: &'a Expression, containers: &mut Vec<&'a ContainerRef>) -> bool {
    if let Expression::Size(container) = expression {
        containers.push(container);
        return true;
    }
    matches!(expression, Expression::Binary(BinaryOperator::Add, left, right)
        if sizes(left, containers) && sizes(right, containers))
}

/// The value of an expression that is constant. Only what people write as bounds is computed, and no arithmetic.
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
        | Expression::Same(..)
        | Expression::Linked { .. }
        | Expression::Binary(..)
        | Expression::Choose(..)
        | Expression::Random(_)
        | Expression::Verbatim { .. } => None,
    }
}
