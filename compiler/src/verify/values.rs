//! What is known of values: a range for each, and the range of an expression made of them. A float is represented by
//! its place in the order of all floats, an integer. No float is "not a number".
//!
//! Only what the handler alone changes is followed: its locals, the policy's variables, and attributes of threads that
//! locals name. Two reads of an import may differ. An assignment to an attribute by another name may concern any of
//! these threads.

use super::condition::{all_run_there, branch, runs_there, sizes};
use super::state::{Size, Spot, State, Why};
use crate::policy::{
    At, Attribute, BinaryOperator, Block, ContainerId, ContainerRef, Element, Entity, Expression, LocalKind, Place,
    Policy, Thread, Type, UnaryOperator, Value,
};

/// The values between two bounds, both included. For bools, `false` is 0 and `true` is 1; for floats, places in their
/// order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub ty: Type,
    pub least: i64,
    pub most: i64,
    /// How many of the lowest bits all values share, and these bits. They stay valid when a number wraps.
    pub low: (u32, i64),
    /// Where this is known from.
    pub why: Why,
    /// Whether each of the values is possible, as far as is known: see [`super::open`].
    pub open: bool,
}

/// Where a value is known from makes no difference to what is known.
impl PartialEq for Range {
    fn eq(&self, other: &Self) -> bool {
        (self.least, self.most, self.low) == (other.least, other.most, other.low)
    }
}

impl Eq for Range {}

impl Range {
    /// Every value of a type.
    pub fn any(policy: &Policy, ty: Type) -> Range {
        match ty {
            Type::Int => Range::between(ty, i64::MIN >> unused(policy), highest(policy)),
            Type::Bool => Range::between(ty, 0, 1),
            Type::Time => Range::between(ty, i64::MIN, i64::MAX),
            Type::Float => Range::between(ty, order(f64::NEG_INFINITY), order(f64::INFINITY)),
        }
    }

    /// One value.
    pub fn of(value: Value) -> Range {
        let number = match value {
            Value::Int(number) | Value::Time(number) => number,
            Value::Bool(truth) => i64::from(truth),
            Value::Float(float) => order(float.get()),
        };
        Range::between(value.ty(), number, number)
    }

    fn between(ty: Type, least: i64, most: i64) -> Range {
        let low = if least == most { (i64::BITS, least) } else { (0, 0) };
        Range { ty, least, most, low, why: Why::Unknown, open: false }
    }

    /// The values that end in these bits, or all if none does.
    fn ending_in(self, known: u32, bits: i64) -> Range {
        if self.low.0 >= known {
            return self;
        }
        let low = (known, kept(bits, known));
        let (up, down) = (kept(bits.wrapping_sub(self.least), known), kept(self.most.wrapping_sub(bits), known));
        match (self.least.checked_add(up), self.most.checked_sub(down)) {
            (Some(least), Some(most)) if known < i64::BITS && least < most => Range { least, most, low, ..self },
            (Some(least), Some(most)) if known < i64::BITS && least == most => {
                Range { least, most, low: (i64::BITS, least), ..self }
            }
            (_, _) => self,
        }
    }

    /// Whether some value ends in the bits that are known.
    fn is_possible(self) -> bool {
        let up = kept(self.low.1.wrapping_sub(self.least), self.low.0);
        self.low.0 == i64::BITS || self.least.checked_add(up).is_some_and(|least| least <= self.most)
    }

    /// The lowest bits in which the values of both agree.
    fn common(self, other: Range) -> (u32, i64) {
        let known = (self.low.1 ^ other.low.1).trailing_zeros().min(self.low.0).min(other.low.0);
        (known, kept(self.low.1, known))
    }

    /// The lowest and the highest float.
    pub fn floats(self, policy: &Policy) -> (f64, f64) {
        let any = Range::any(policy, Type::Float);
        (float(self.least.max(any.least)), float(self.most.min(any.most)))
    }

    /// The value, if it is only one.
    pub fn single(self) -> Option<i64> {
        (self.least == self.most).then_some(self.least)
    }

    /// The same range, known from elsewhere.
    pub fn because(self, why: Why) -> Range {
        Range { why, ..self }
    }

    /// Those that also lie between these bounds. `None`: there are none.
    pub fn within(self, least: i64, most: i64, why: Why) -> Option<Range> {
        let narrowed = Range { least: self.least.max(least), most: self.most.min(most), ..self };
        let why = if narrowed == self { self.why } else { why };
        if narrowed.least > narrowed.most || !narrowed.is_possible() {
            return None;
        }
        let low = if narrowed.least == narrowed.most { (i64::BITS, narrowed.least) } else { narrowed.low };
        Some(Range { why, low, ..narrowed })
    }

    /// The values in either range, and those in between.
    pub fn join(self, other: Range) -> Range {
        let why = if self.why == other.why { self.why } else { Why::Unknown };
        let open = self.open && other.open;
        Range {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            low: self.common(other),
            why,
            open,
            ..self
        }
    }

    /// `self`; where `next` reaches beyond it, up to the next of `steps`, or to the end of the type.
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
        Range { least, most, low: self.common(next), why: Why::Unknown, open: false, ..self }
    }
}

/// The lowest bits of a number.
fn kept(number: i64, bits: u32) -> i64 {
    if bits >= i64::BITS { number } else { number & (1_i64 << bits).wrapping_sub(1) }
}

/// The place of a float in the order of all floats. Both zeros are one.
fn order(float: f64) -> i64 {
    let bits = if float == 0.0 { 0 } else { float.to_bits().cast_signed() };
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

/// No container holds more threads than this: each takes at least a byte, and ints of fewer bits end before.
pub(super) fn most_threads(policy: &Policy) -> i64 {
    highest(policy).min(i64::MAX >> 8)
}

/// The highest int of a policy. It also stands for every greater size.
pub(super) fn highest(policy: &Policy) -> i64 {
    i64::MAX >> unused(policy)
}

fn unused(policy: &Policy) -> u32 {
    64 - u32::from(policy.int_bits)
}

/// Values of which nothing is known: those of the policy's variables, then those of the handler's.
pub(super) fn unknown(policy: &Policy, locals: impl Iterator<Item = LocalKind>) -> Vec<Range> {
    let own = policy.variables.iter().map(|variable| Range::any(policy, variable.ty));
    let of_handler = locals.map(|kind| match kind {
        LocalKind::Value(ty) => Range::any(policy, ty),
        // It names a thread or a node, and nobody asks for its value.
        LocalKind::Thread | LocalKind::Node => Range::any(policy, Type::Int),
    });
    own.chain(of_handler).collect()
}

/// The index of a variable among the values of a state.
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

/// What a place can hold, if it is followed.
pub(super) fn known(policy: &Policy, state: &State, place: &Place) -> Option<Range> {
    if let Place::Attribute(Thread::Local(local), attribute) = place {
        let any = Range::any(policy, policy.attributes.get(attribute.0)?.ty);
        let known = state.attribute(*local, attribute.0)?;
        return Some(known.within(any.least, any.most, known.why).unwrap_or(any));
    }
    index(policy, place).map(|index| state.value(index))
}

/// The state in which a place holds one of these values, if it is followed.
pub(super) fn with(policy: &Policy, state: State, place: &Place, range: Range) -> State {
    match (place, index(policy, place)) {
        (Place::Attribute(Thread::Local(local), attribute), _) if is_followed(policy, place) => {
            state.with_attribute(*local, attribute.0, range)
        }
        (_, Some(index)) => state.with_value(index, range),
        (_, None) => state,
    }
}

/// Whether the value of a place is followed. The host itself assigns some attributes of nodes, and timers.
pub(super) fn is_followed(policy: &Policy, place: &Place) -> bool {
    let own = |attribute: &Attribute| attribute.of == Entity::Thread && attribute.timer.is_none();
    match place {
        Place::Attribute(Thread::Local(_), attribute) => policy.attributes.get(attribute.0).is_some_and(own),
        Place::Attribute(Thread::Slot(_) | Thread::First(_), _)
        | Place::Variable(_)
        | Place::Local(_)
        | Place::Import(_)
        | Place::VariableElement { .. }
        | Place::AttributeElement { .. }
        | Place::ThreadImport(..) => index(policy, place).is_some(),
    }
}

/// The variable, by its index in the state, to which an expression adds a number without wrapping, and that number.
pub(super) fn steps_by(policy: &Policy, state: &State, value: &Expression) -> Option<(usize, i64)> {
    let (place, by) = match value {
        Expression::Read(place) => (place, 0),
        Expression::Binary(operator, left, right) => {
            let Expression::Read(place) = &**left else { return None };
            let range = evaluate(policy, state, right);
            let by = range.single().filter(|_| range.ty == Type::Int)?;
            if *operator == BinaryOperator::Add {
                (place, by)
            } else if *operator == BinaryOperator::Subtract {
                (place, by.checked_neg()?)
            } else {
                return None;
            }
        }
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Unary(..)
        | Expression::Convert(..)
        | Expression::Choose(..)
        | Expression::Random(_)
        | Expression::Same(..)
        | Expression::Linked { .. }
        | Expression::NotZero(_)
        | Expression::Verbatim { .. } => return None,
    };
    let (variable, any) = (index(policy, place)?, Range::any(policy, Type::Int));
    let range = state.value(variable);
    let fits = |end: i64| end.checked_add(by).is_some_and(|end| (any.least..=any.most).contains(&end));
    (range.ty == Type::Int && fits(range.least) && fits(range.most)).then_some((variable, by))
}

/// The values that an expression can have.
pub(super) fn evaluate(policy: &Policy, state: &State, expression: &Expression) -> Range {
    match expression {
        Expression::Literal(value) => Range::of(*value),
        Expression::ConstantElement { first, length, index } => {
            let index = evaluate(policy, state, index);
            let (from, to) = (Element::nearest(index.least, *length), Element::nearest(index.most, *length));
            let named = policy.constants.iter().skip(first.0 + from).take(to + 1 - from);
            let all = named.map(|constant| Range::of(constant.value));
            all.reduce(Range::join).unwrap_or(Range::any(policy, Type::Int))
        }
        // The types of locals are known from the state.
        Expression::Read(place) => known(policy, state, place)
            .unwrap_or_else(|| Range::any(policy, policy.type_of(&[], expression).unwrap_or(Type::Int))),
        Expression::Now | Expression::Linked { .. } | Expression::Verbatim { .. } => {
            Range::any(policy, policy.type_of(&[], expression).unwrap_or(Type::Int))
        }
        Expression::Convert(ty, operand) => convert(policy, *ty, evaluate(policy, state, operand)),
        Expression::Constant(constant) => {
            policy.constants.get(constant.0).map_or(Range::any(policy, Type::Int), |constant| Range::of(constant.value))
        }
        Expression::Size(container) => {
            let size = state.size_of(&element(policy, state, container));
            let most = most_threads(policy);
            let bound = |threads: u64| i64::try_from(threads).unwrap_or(i64::MAX).min(most);
            Range::between(Type::Int, bound(size.least), size.most.map_or(most, bound)).because(size.why)
        }
        Expression::In(Thread::Slot(slot) | Thread::First(slot), container, _) => {
            match (container.may_be(*slot), container) {
                (true, ContainerRef::Element { .. }) => Range::any(policy, Type::Bool),
                (inside, _) => Range::of(Value::Bool(inside)),
            }
        }
        Expression::In(Thread::Local(local), container, _) => {
            let Some(places) = state.places(*local) else { return Range::any(policy, Type::Bool) };
            let elsewhere = places.contains(&Spot::Elsewhere);
            let possible =
                places.iter().any(|spot| in_it(spot, container)) || elsewhere && runs_there(policy, container);
            let mut known = places.iter().filter(|spot| **spot != Spot::Elsewhere);
            let certain = known.all(|spot| in_it(spot, container)) && (!elsewhere || all_run_there(policy, container));
            match (possible, certain) {
                (false, _) => Range::of(Value::Bool(false)),
                (true, true) if !matches!(container, ContainerRef::Element { .. }) => Range::of(Value::Bool(true)),
                (true, _) => Range::any(policy, Type::Bool),
            }
        }
        Expression::Same(one, other) => match (state.places(*one), state.places(*other)) {
            (_, _) if one == other => Range::of(Value::Bool(true)),
            (Some(places), Some(others)) if places.is_disjoint(others) => Range::of(Value::Bool(false)),
            (_, _) => Range::any(policy, Type::Bool),
        },
        Expression::Unary(UnaryOperator::Negate, operand) => {
            let range = evaluate(policy, state, operand);
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
        // With a bound below 1, the draw is 0.
        Expression::Random(below) => {
            Range::between(Type::Int, 0, evaluate(policy, state, below).most.saturating_sub(1).max(0))
        }
        Expression::Choose(condition, one, other) => {
            let of = |outcome: bool, value: &Expression| {
                branch(policy, state, condition, outcome, At::default()).map(|state| evaluate(policy, &state, value))
            };
            let both = [of(true, one), of(false, other)].into_iter().flatten().reduce(Range::join);
            let any = || Range::any(policy, policy.type_of(&[], one).unwrap_or(Type::Int));
            // A source would refer to the place of the condition's test, and there is none here.
            Range { open: false, why: Why::Unknown, ..both.unwrap_or_else(any) }
        }
        Expression::Binary(operator, left, right) => {
            let mut containers = Vec::new();
            // A sum of sizes does not wrap in 64 bits: there cannot be that many threads.
            if policy.int_bits == 64 && sizes(expression, &mut containers) {
                let sizes: Vec<Size> =
                    containers.iter().map(|one| state.size_of(&element(policy, state, one))).collect();
                let least = sizes.iter().fold(0_u64, |sum, one| sum.saturating_add(one.least));
                let each = sizes.iter().map(|size| size.most);
                let most = each.reduce(|sum, one| sum?.checked_add(one?)).flatten();
                let bound = |threads: u64| i64::try_from(threads).unwrap_or(i64::MAX);
                return Range::between(Type::Int, bound(least), most.map_or(i64::MAX, bound));
            }
            let (left, right) = (evaluate(policy, state, left), evaluate(policy, state, right));
            binary(policy, *operator, left, right)
        }
    }
}

/// The container that is named; an element of an array itself, if its index is known.
pub(super) fn element(policy: &Policy, state: &State, container: &ContainerRef) -> ContainerRef {
    match container {
        ContainerRef::Element { first, length, index } => match evaluate(policy, state, index).single() {
            Some(index) => ContainerRef::One(ContainerId(first.0 + Element::nearest(index, *length))),
            None => container.clone(),
        },
        ContainerRef::One(_) | ContainerRef::Whole { .. } => container.clone(),
    }
}

/// Whether a spot is, or can be, in what `container` names.
fn in_it(spot: &Spot, container: &ContainerRef) -> bool {
    spot.container().is_some_and(|place| container.may_be(place))
}

fn truth(can_be_false: bool, can_be_true: bool) -> Range {
    Range::between(Type::Bool, i64::from(!can_be_false), i64::from(can_be_true))
}

fn binary(policy: &Policy, operator: BinaryOperator, a: Range, b: Range) -> Range {
    use BinaryOperator::{Add, Multiply, Subtract};
    // A policy that comes as text may combine any types. Nothing is known of the result.
    let Some(ty) = operator.joins(a.ty, b.ty) else { return Range::between(a.ty, i64::MIN, i64::MAX) };
    if operator.is_called() {
        let of = |one: i64, other: i64| if operator == BinaryOperator::Least { one.min(other) } else { one.max(other) };
        let (known, low) = a.common(b);
        return Range::between(ty, of(a.least, b.least), of(a.most, b.most)).ending_in(known, low);
    }
    if ty == Type::Float && matches!(operator, Add | Subtract | Multiply) {
        return floats(policy, operator, a, b);
    }
    if ty == Type::Float {
        return Range::any(policy, ty);
    }
    let corners = |of: &dyn Fn(i128, i128) -> i128| {
        let ends = |range: Range| [i128::from(range.least), i128::from(range.most)];
        let all = ends(a).into_iter().flat_map(|a| ends(b).map(|b| of(a, b)));
        let (least, most) = all.fold((i128::MAX, i128::MIN), |(least, most), one| (least.min(one), most.max(one)));
        exact(policy, ty, least, most)
    };
    // Low bits of sums and products follow from the operands', even if they wrap; modulo a power of two keeps them.
    let width = if ty == Type::Int { u32::from(policy.int_bits) } else { i64::BITS };
    let both = a.low.0.min(b.low.0).min(width);
    let power = b.single().filter(|by| *by > 0 && by.count_ones() == 1).map_or(0, i64::trailing_zeros);
    let (same, meet) = (
        a.single().is_some() && a.single() == b.single(),
        a.least <= b.most && b.least <= a.most && kept(a.low.1 ^ b.low.1, a.low.0.min(b.low.0)) == 0,
    );
    match operator {
        Add => corners(&|a, b| a + b).ending_in(both, a.low.1.wrapping_add(b.low.1)),
        Subtract => corners(&|a, b| a - b).ending_in(both, a.low.1.wrapping_sub(b.low.1)),
        Multiply => corners(&|a, b| a * b).ending_in(both, a.low.1.wrapping_mul(b.low.1)),
        BinaryOperator::Divide => divide(policy, ty, a, b),
        BinaryOperator::Remainder => remainder(ty, a, b).ending_in(a.low.0.min(power), a.low.1),
        BinaryOperator::Equal => truth(!same, meet),
        BinaryOperator::NotEqual => truth(meet, !same),
        BinaryOperator::Less => truth(a.most >= b.least, a.least < b.most),
        BinaryOperator::LessOrEqual => truth(a.most > b.least, a.least <= b.most),
        BinaryOperator::Greater => truth(a.least <= b.most, a.most > b.least),
        BinaryOperator::GreaterOrEqual => truth(a.least < b.most, a.most >= b.least),
        BinaryOperator::And => Range::between(ty, a.least.min(b.least), a.most.min(b.most)),
        BinaryOperator::Or => Range::between(ty, a.least.max(b.least), a.most.max(b.most)),
        BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor => bits(policy, operator, a, b),
        BinaryOperator::ShiftLeft => shifted_left(policy, a, b),
        BinaryOperator::ShiftRight => {
            let amounts = [b.least, b.most].map(|by| by.clamp(0, 63));
            let all = || [a.least, a.most].into_iter().flat_map(|a| amounts.map(|by| a >> by));
            Range::between(ty, all().min().unwrap_or(i64::MIN), all().max().unwrap_or(i64::MAX))
        }
        // Handled above.
        BinaryOperator::Least | BinaryOperator::Greatest => Range::any(policy, ty),
    }
}

/// `&`, `|` and `^` of ints. If neither is negative, the result has no more bits than the higher one.
fn bits(policy: &Policy, operator: BinaryOperator, a: Range, b: Range) -> Range {
    let of = |a: i64, b: i64| {
        if operator == BinaryOperator::BitAnd {
            a & b
        } else if operator == BinaryOperator::BitOr {
            a | b
        } else {
            a ^ b
        }
    };
    if let (Some(a), Some(b)) = (a.single(), b.single()) {
        return Range::between(Type::Int, of(a, b), of(a, b));
    }
    let any = Range::any(policy, Type::Int);
    let positive = (a.least >= 0, b.least >= 0);
    let ones = i64::MAX.checked_shr(a.most.max(b.most).max(0).leading_zeros() - 1).unwrap_or(0);
    let (least, most) = match (operator, positive) {
        (BinaryOperator::BitAnd, (true, true)) => (0, a.most.min(b.most)),
        (BinaryOperator::BitAnd, (true, false)) => (0, a.most),
        (BinaryOperator::BitAnd, (false, true)) => (0, b.most),
        (BinaryOperator::BitAnd, (false, false)) => (any.least, a.most.max(b.most)),
        (BinaryOperator::BitOr, (true, true)) => (a.least.max(b.least), ones),
        (BinaryOperator::BitOr, _) if a.most < 0 || b.most < 0 => (any.least, -1),
        (_, (true, true)) => (0, ones),
        (_, _) => (any.least, any.most),
    };
    let known = a.low.0.min(b.low.0);
    // `x & ~7` ends in zeros, whatever `x` is.
    let zeros = |of: Range| of.low.1.trailing_zeros().min(of.low.0);
    let none = if operator == BinaryOperator::BitAnd { zeros(a).max(zeros(b)) } else { 0 };
    Range::between(Type::Int, least, most).ending_in(known, of(a.low.1, b.low.1)).ending_in(none, 0)
}

/// If the amount is the width or more, no bit remains.
fn shifted_left(policy: &Policy, a: Range, by: Range) -> Range {
    let width = i64::from(policy.int_bits);
    if by.least >= width {
        return Range::of(Value::Int(0));
    }
    let amounts = [by.least, by.most].map(|by| by.clamp(0, 64));
    let all = || [a.least, a.most].into_iter().flat_map(|a| amounts.map(|by| i128::from(a) << by));
    let made = exact(policy, Type::Int, all().min().unwrap_or(i128::MIN), all().max().unwrap_or(i128::MAX));
    let amount = u32::try_from(amounts[0]).unwrap_or(0);
    let known = if by.single().is_some() { a.low.0.saturating_add(amount) } else { amount };
    made.ending_in(known.min(u32::from(policy.int_bits)), a.low.1.checked_shl(amount).unwrap_or(0))
}

/// Rounded sums, differences and products of floats stay in order, so those of the bounds bound all others. If one of
/// these is "not a number", the result can be any float.
fn floats(policy: &Policy, operator: BinaryOperator, a: Range, b: Range) -> Range {
    let of = |a: f64, b: f64| {
        if operator == BinaryOperator::Add {
            a + b
        } else if operator == BinaryOperator::Subtract {
            a - b
        } else {
            a * b
        }
    };
    let any = Range::any(policy, Type::Float);
    let ends = |range: Range| [range.least.max(any.least), range.most.min(any.most)].map(float);
    let all: Vec<f64> = ends(a).into_iter().flat_map(|a| ends(b).map(|b| of(a, b))).collect();
    if all.iter().any(|one| one.is_nan()) {
        return any;
    }
    let places = || all.iter().map(|one| order(*one));
    match (places().min(), places().max()) {
        (Some(least), Some(most)) => Range::between(Type::Float, least, most),
        (_, _) => any,
    }
}

/// A conversion keeps the order.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as the interpreter does it")]
fn convert(policy: &Policy, ty: Type, operand: Range) -> Range {
    let any = Range::any(policy, ty);
    let (least, most) = match (operand.ty, ty) {
        (Type::Int, Type::Float) => (order(operand.least as f64), order(operand.most as f64)),
        (Type::Float, Type::Int) => {
            let whole = |float: f64| (float as i64).clamp(any.least, any.most);
            let (least, most) = operand.floats(policy);
            (whole(least), whole(most))
        }
        (_, _) => return any,
    };
    Range::between(ty, least, most).because(operand.why)
}

/// The float at a place in the order of all floats.
fn float(place: i64) -> f64 {
    f64::from_bits(if place < 0 { i64::MIN.wrapping_sub(place) } else { place }.cast_unsigned())
}

/// These values, or every one of the type if one of them wraps.
fn exact(policy: &Policy, ty: Type, least: i128, most: i128) -> Range {
    let any = Range::any(policy, ty);
    match (i64::try_from(least), i64::try_from(most)) {
        (Ok(least), Ok(most)) if least >= any.least && most <= any.most => Range::between(ty, least, most),
        (_, _) => any,
    }
}

/// By zero it is 0, and the smallest int by -1 wraps.
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

/// By zero it is 0. Otherwise it is nearer to zero than the divisor, and has the sign of the dividend.
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
    if let Expression::Literal(value @ (Value::Int(_) | Value::Time(_) | Value::Float(_))) = expression {
        steps.extend(Range::of(*value).single());
    }
    expression.parts().for_each(|part| of_expression(part, steps));
}
