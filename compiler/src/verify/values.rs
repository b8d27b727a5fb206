//! What is known of values: of each int, bool and time a range, and the range of an expression made of them. Of floats nothing.
//!
//! Only what nobody but the handler changes is followed: its locals, and the variables of the policy. Two reads of an import
//! differ, and another name can stand for the thread of an attribute.

use super::condition::sizes;
use super::state::{Spot, State, Why};
use crate::policy::{
    BinaryOperator, Block, ContainerRef, Expression, LocalKind, Place, Policy, Thread, Type, UnaryOperator, Value,
};

/// The values between two bounds, both included; of bools, `false` is 0 and `true` is 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub ty: Type,
    pub least: i64,
    pub most: i64,
    /// Where this is known from.
    pub why: Why,
}

/// Why a value is known does not matter to what is known.
impl PartialEq for Range {
    fn eq(&self, other: &Self) -> bool {
        (self.least, self.most) == (other.least, other.most)
    }
}

impl Eq for Range {}

impl Range {
    /// Every value of a type.
    pub fn any(policy: &Policy, ty: Type) -> Range {
        match ty {
            Type::Int => Range::between(ty, i64::MIN >> unused(policy), highest(policy)),
            Type::Bool => Range::between(ty, 0, 1),
            // Of floats nothing is known: their range is always this.
            Type::Time | Type::Float => Range::between(ty, i64::MIN, i64::MAX),
        }
    }

    /// One value.
    pub fn of(value: Value) -> Range {
        let number = match value {
            Value::Int(number) | Value::Time(number) => number,
            Value::Bool(truth) => i64::from(truth),
            Value::Float(_) => return Range::between(Type::Float, i64::MIN, i64::MAX),
        };
        Range::between(value.ty(), number, number)
    }

    fn between(ty: Type, least: i64, most: i64) -> Range {
        Range { ty, least, most, why: Why::Unknown }
    }

    /// The value, if it is only one.
    pub fn single(self) -> Option<i64> {
        (self.least == self.most).then_some(self.least)
    }

    /// The same, known from elsewhere.
    pub fn because(self, why: Why) -> Range {
        Range { why, ..self }
    }

    /// The values that are in both. `None`: there are none.
    pub fn within(self, least: i64, most: i64, why: Why) -> Option<Range> {
        let narrowed = Range { least: self.least.max(least), most: self.most.min(most), ..self };
        let why = if narrowed == self { self.why } else { why };
        (narrowed.least <= narrowed.most).then_some(Range { why, ..narrowed })
    }

    /// The values that are in one of them, and those between.
    pub fn join(self, other: Range) -> Range {
        let why = if self.why == other.why { self.why } else { Why::Unknown };
        Range { least: self.least.min(other.least), most: self.most.max(other.most), why, ..self }
    }

    /// `self`, and where `next` reaches beyond it the next of these steps, or every value of the type.
    pub fn widen(self, next: Range, steps: &[i64], any: Range) -> Range {
        let least = if next.least < self.least {
            let below = steps.partition_point(|step| *step <= next.least);
            below.checked_sub(1).and_then(|step| steps.get(step)).map_or(any.least, |step| any.least.max(*step))
        } else {
            self.least
        };
        let most = if next.most > self.most {
            let above = steps.partition_point(|step| *step < next.most);
            steps.get(above).map_or(any.most, |step| any.most.min(*step))
        } else {
            self.most
        };
        Range { least, most, why: Why::Unknown, ..self }
    }
}

/// The highest int of a policy. It stands for every size from there on, too.
pub(super) fn highest(policy: &Policy) -> i64 {
    i64::MAX >> unused(policy)
}

fn unused(policy: &Policy) -> u32 {
    64 - u32::from(policy.int_bits)
}

/// At the start of a handler: nothing is known of its variables and those of the policy, which come first.
pub(super) fn unknown(policy: &Policy, locals: impl Iterator<Item = LocalKind>) -> Vec<Range> {
    let own = policy.variables.iter().map(|variable| Range::any(policy, variable.ty));
    let of_handler = locals.map(|kind| match kind {
        LocalKind::Value(ty) => Range::any(policy, ty),
        // It names a thread or a node; nobody asks for its value.
        LocalKind::Thread | LocalKind::Node => Range::any(policy, Type::Int),
    });
    own.chain(of_handler).collect()
}

/// Which value of a state a place has, if it is one that is followed.
pub(super) fn index(policy: &Policy, place: &Place) -> Option<usize> {
    match place {
        Place::Variable(variable) => Some(variable.0),
        Place::Local(local) => Some(policy.variables.len() + local.0),
        Place::Import(_)
        | Place::VariableElement { .. }
        | Place::Attribute(..)
        | Place::AttributeElement { .. }
        | Place::ThreadImport(..) => None,
    }
}

/// The values that an expression can have.
pub(super) fn evaluate(policy: &Policy, state: &State, expression: &Expression) -> Range {
    match expression {
        Expression::Literal(value) => Range::of(*value),
        Expression::ConstantElement { first, length, .. } => {
            let all = policy.constants.iter().skip(first.0).take(*length).map(|constant| Range::of(constant.value));
            all.reduce(Range::join).unwrap_or(Range::any(policy, Type::Int))
        }
        Expression::Read(place) if index(policy, place).is_some() => {
            index(policy, place).map_or(Range::any(policy, Type::Int), |index| state.value(index))
        }
        // The types of locals are known from the state.
        Expression::Read(_) | Expression::Now | Expression::Verbatim { .. } => {
            Range::any(policy, policy.type_of(&[], expression).unwrap_or(Type::Int))
        }
        Expression::Convert(ty, _) => Range::any(policy, *ty),
        Expression::Constant(constant) => {
            policy.constants.get(constant.0).map_or(Range::any(policy, Type::Int), |constant| Range::of(constant.value))
        }
        Expression::Size(container) => {
            let size = state.size_of(container);
            let most = highest(policy);
            let bound = |threads: u64| i64::try_from(threads).unwrap_or(i64::MAX).min(most);
            Range::between(Type::Int, bound(size.least), size.most.map_or(most, bound)).because(size.why)
        }
        Expression::In(Thread::Slot(slot), container) => match (container.may_be(*slot), container) {
            (true, ContainerRef::Element { .. }) => Range::any(policy, Type::Bool),
            (inside, _) => Range::of(Value::Bool(inside)),
        },
        Expression::In(Thread::Local(local), container) => match state.places(*local) {
            Some(places) if !places.iter().any(|spot| in_it(spot, container)) => Range::of(Value::Bool(false)),
            Some(places)
                if places.iter().all(|spot| in_it(spot, container))
                    && !matches!(container, ContainerRef::Element { .. }) =>
            {
                Range::of(Value::Bool(true))
            }
            Some(_) | None => Range::any(policy, Type::Bool),
        },
        Expression::Unary(UnaryOperator::Negate, operand) => {
            let range = evaluate(policy, state, operand);
            if range.ty == Type::Float {
                return range;
            }
            exact(policy, range.ty, -i128::from(range.most), -i128::from(range.least))
        }
        Expression::Unary(UnaryOperator::Not, operand) => {
            let range = evaluate(policy, state, operand);
            truth(range.most > 0, range.least <= 0)
        }
        Expression::NotZero(operand) => {
            let range = evaluate(policy, state, operand);
            truth(range.least <= 0 && range.most >= 0, range.single() != Some(0))
        }
        Expression::Binary(operator, left, right) => {
            let mut containers = Vec::new();
            // A sum of sizes does not wrap in 64 bits: there are no so many threads.
            if policy.int_bits == 64 && sizes(expression, &mut containers) {
                let least = containers.iter().fold(0_u64, |sum, one| sum.saturating_add(state.size_of(one).least));
                let each = containers.iter().map(|container| state.size_of(container).most);
                let most = each.reduce(|sum, one| sum?.checked_add(one?)).flatten();
                let bound = |threads: u64| i64::try_from(threads).unwrap_or(i64::MAX);
                return Range::between(Type::Int, bound(least), most.map_or(i64::MAX, bound));
            }
            let (left, right) = (evaluate(policy, state, left), evaluate(policy, state, right));
            binary(policy, *operator, left, right)
        }
    }
}

/// Whether a spot is in what is named, or can be.
fn in_it(spot: &Spot, container: &ContainerRef) -> bool {
    spot.container().is_some_and(|place| container.may_be(place))
}

fn truth(can_be_false: bool, can_be_true: bool) -> Range {
    Range::between(Type::Bool, i64::from(!can_be_false), i64::from(can_be_true))
}

fn binary(policy: &Policy, operator: BinaryOperator, a: Range, b: Range) -> Range {
    // A policy that comes as text may join what does not go together: nothing is known of that.
    let Some(ty) = operator.joins(a.ty, b.ty) else { return Range::between(a.ty, i64::MIN, i64::MAX) };
    if a.ty == Type::Float {
        return Range::any(policy, ty);
    }
    let corners = |of: &dyn Fn(i128, i128) -> i128| {
        let ends = |range: Range| [i128::from(range.least), i128::from(range.most)];
        let all = ends(a).into_iter().flat_map(|a| ends(b).map(|b| of(a, b)));
        let (least, most) = all.fold((i128::MAX, i128::MIN), |(least, most), one| (least.min(one), most.max(one)));
        exact(policy, ty, least, most)
    };
    let (same, meet) = (a.single().is_some() && a == b, a.least <= b.most && b.least <= a.most);
    match operator {
        BinaryOperator::Add => corners(&|a, b| a + b),
        BinaryOperator::Subtract => corners(&|a, b| a - b),
        BinaryOperator::Multiply => corners(&|a, b| a * b),
        BinaryOperator::Divide => divide(policy, ty, a, b),
        BinaryOperator::Remainder => remainder(ty, a, b),
        BinaryOperator::Equal => truth(!same, meet),
        BinaryOperator::NotEqual => truth(meet, !same),
        BinaryOperator::Less => truth(a.most >= b.least, a.least < b.most),
        BinaryOperator::LessOrEqual => truth(a.most > b.least, a.least <= b.most),
        BinaryOperator::Greater => truth(a.least <= b.most, a.most > b.least),
        BinaryOperator::GreaterOrEqual => truth(a.least < b.most, a.most >= b.least),
        BinaryOperator::And => Range::between(ty, a.least.min(b.least), a.most.min(b.most)),
        BinaryOperator::Or => Range::between(ty, a.least.max(b.least), a.most.max(b.most)),
    }
}

/// These values, or every one of the type if one of them wraps.
fn exact(policy: &Policy, ty: Type, least: i128, most: i128) -> Range {
    let any = Range::any(policy, ty);
    match (i64::try_from(least), i64::try_from(most)) {
        (Ok(least), Ok(most)) if least >= any.least && most <= any.most => Range::between(ty, least, most),
        (_, _) => any,
    }
}

/// By zero it is 0; the smallest int by -1 wraps.
fn divide(policy: &Policy, ty: Type, a: Range, b: Range) -> Range {
    let divisors = [b.least, b.most, -1, 1].into_iter().filter(|by| *by != 0 && b.least <= *by && *by <= b.most);
    let mut all: Vec<i128> =
        divisors.flat_map(|by| [a.least, a.most].map(|a| i128::from(a) / i128::from(by))).collect();
    if b.least <= 0 && b.most >= 0 {
        all.push(0);
    }
    let (least, most) = all.iter().fold((i128::MAX, i128::MIN), |(least, most), one| (least.min(*one), most.max(*one)));
    exact(policy, ty, least, most)
}

/// By zero it is 0, else nearer to zero than the divisor, and with the sign of the dividend.
fn remainder(ty: Type, a: Range, b: Range) -> Range {
    if let (Some(a), Some(b)) = (a.single(), b.single()) {
        let exact = if b == 0 { 0 } else { a.wrapping_rem(b) };
        return Range::between(ty, exact, exact);
    }
    let most = b.least.unsigned_abs().max(b.most.unsigned_abs()).saturating_sub(1);
    let bound = i64::try_from(most).unwrap_or(i64::MAX);
    Range::between(ty, a.least.min(0).max(-bound), a.most.max(0).min(bound))
}

/// The bounds at which ranges come to rest: the constants of a policy and their neighbours, in order.
pub(super) fn steps(policy: &Policy) -> Vec<i64> {
    let mut steps = vec![0];
    let ints = policy.constants.iter().map(|constant| constant.value);
    let ints = ints.chain(policy.variables.iter().map(|variable| variable.initial));
    steps.extend(ints.filter_map(|value| Range::of(value).single()));
    for handler in policy.events.iter().chain(&policy.queries) {
        of_block(&handler.body, &mut steps);
    }
    let near = |step: i64| [step.saturating_sub(1), step, step.saturating_add(1)];
    let mut steps: Vec<i64> = steps.into_iter().flat_map(near).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn of_block(block: &Block, steps: &mut Vec<i64>) {
    super::walk::statements(block, &mut |statement| {
        statement.expressions().for_each(|expression| of_expression(expression, steps));
    });
}

fn of_expression(expression: &Expression, steps: &mut Vec<i64>) {
    if let Expression::Literal(Value::Int(number) | Value::Time(number)) = expression {
        steps.push(*number);
    }
    expression.parts().for_each(|part| of_expression(part, steps));
}
