//! Expressions: with C's own operators where they mean the same, and with the parentheses that careful readers want.

use super::arrays::Helper;
use super::handler::Body;
use super::verbatim;
use crate::policy::{
    AttributeId, BinaryOperator, Comparison, ContainerKind, ContainerRef, Element, Entity, Expression, LinkId, LocalId,
    Place, Policy, Referent, Thread, Type, UnaryOperator, Value,
};
use crate::vocabulary::in_unit;

/// How tightly an operator binds; the higher, the tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Sum,
    Product,
    Unary,
    Primary,
}

/// A piece of C and how tightly it holds together.
struct Piece {
    text: String,
    level: Level,
}

impl Piece {
    fn primary(text: impl Into<String>) -> Self {
        Piece { text: text.into(), level: Level::Primary }
    }

    fn in_parentheses(self) -> String {
        format!("({})", self.text)
    }

    /// The text as an operand of an operator that binds at `level`.
    fn at_least(self, level: Level) -> String {
        if self.level < level { self.in_parentheses() } else { self.text }
    }
}

/// The value of an expression.
pub(super) fn expression(body: &mut Body, value: &Expression) -> String {
    piece(body, value).text
}

/// A value as C writes it.
pub(super) fn literal(value: Value) -> String {
    match value {
        Value::Int(i64::MIN) => "INT64_MIN".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Float(float) if float.get().is_infinite() => {
            format!("{}__builtin_inf()", if float.get() < 0.0 { "-" } else { "" })
        }
        Value::Float(_) => value.to_string(),
        Value::Time(0) => "0".to_owned(),
        Value::Time(i64::MIN) => "INT64_MIN".to_owned(),
        Value::Time(value) => match in_unit(value) {
            (1, unit) => format!("CATAPULTS_{}", unit.to_ascii_uppercase()),
            (count, unit) => format!("{count} * CATAPULTS_{}", unit.to_ascii_uppercase()),
        },
    }
}

/// How tightly a value binds as it is written.
fn level(value: Value) -> Level {
    match value {
        Value::Int(value) if value < 0 => Level::Unary,
        Value::Float(value) if value.get().is_sign_negative() => Level::Unary,
        Value::Float(_) => Level::Primary,
        Value::Int(_) | Value::Bool(_) | Value::Time(0 | i64::MIN) => Level::Primary,
        Value::Time(value) if in_unit(value).0 == 1 => Level::Primary,
        Value::Time(_) => Level::Product,
    }
}

fn piece(body: &mut Body, value: &Expression) -> Piece {
    if let Some(Sum { value, beyond: true }) = sum(body.policy, value) {
        return Piece { text: literal(value), level: level(value) };
    }
    match value {
        Expression::Literal(value) => Piece { text: literal(*value), level: level(*value) },
        Expression::Constant(id) => Piece::primary(body.names.constants[id.0].clone()),
        Expression::ConstantElement { first, length, index } => {
            let element = body.element(index, *length);
            Piece::primary(format!("{}[{element}]", Element::array(&body.names.constants[first.0])))
        }
        Expression::Read(place) => read(body, place),
        Expression::Convert(Type::Float, operand) => {
            let operand = piece(body, operand).at_least(Level::Unary);
            Piece { text: format!("(double){operand}"), level: Level::Unary }
        }
        Expression::Convert(Type::Int | Type::Bool | Type::Time, operand) => {
            let (operand, bits) = (piece(body, operand).text, body.policy.int_bits);
            Piece::primary(format!("catapults_truncate({operand}, {bits})"))
        }
        Expression::Now => Piece::primary(body.shared_member(&body.names.now)),
        Expression::Random(below) => {
            let (generator, below) = (body.shared_member(&body.names.random), piece(body, below).text);
            Piece::primary(format!("catapults_random(&{generator}, {below})"))
        }
        Expression::Size(container) => {
            let Some(member) = body.lookup(container) else {
                return Piece::primary(body.help(Helper::Count, container));
            };
            Piece::primary(body.names.host.contract.count(body.kind(container), &member))
        }
        Expression::In(thread, container, _) => {
            let thread = body.thread(*thread);
            match container {
                ContainerRef::One(only) => {
                    let text = format!("{thread}->container == {}", body.names.numbers[only.0]);
                    Piece { text, level: Level::Equality }
                }
                ContainerRef::Element { first, length, index } => {
                    let element = body.element(index, *length);
                    let text = format!("{thread}->container == {} + {element}", body.names.numbers[first.0]);
                    Piece { text, level: Level::Equality }
                }
                ContainerRef::Whole { first, length } => {
                    let text = super::arrays::within(&thread, &body.names.numbers[first.0], *length);
                    Piece { text, level: Level::And }
                }
            }
        }
        Expression::Same(one, other) => same(body, "==", *one, *other),
        Expression::Linked { thread, link, to } => linked(body, "==", *thread, *link, to),
        Expression::Unary(UnaryOperator::Negate, operand) => {
            let negated = piece(body, operand).at_least(Level::Primary);
            narrow(body, value, Piece { text: format!("-{negated}"), level: Level::Unary })
        }
        Expression::Unary(UnaryOperator::Not, operand) => not(body, operand),
        Expression::Choose(condition, one, other) => {
            let [condition, one, other] = [condition, one, other].map(|part| piece(body, part).at_least(Level::Or));
            Piece { text: format!("{condition} ? {one} : {other}"), level: Level::Choice }
        }
        Expression::Binary(operator, left, right) => binary(body, value, *operator, left, right),
        Expression::NotZero(operand) => {
            let operand = piece(body, operand).at_least(Level::Sum);
            Piece { text: format!("{operand} != 0"), level: Level::Equality }
        }
        Expression::Verbatim { ty, text, .. } => {
            let text = verbatim::value(body, text);
            if *ty == Type::Float {
                return Piece::primary(format!("catapults_number({text})"));
            }
            Piece { text: format!("({})({text})", super::type_name(*ty)), level: Level::Unary }
        }
    }
}

/// The result of arithmetic on constants.
struct Sum {
    value: Value,
    /// A number did not fit on the way, so a C compiler would complain of the sum.
    beyond: bool,
}

fn sum(policy: &Policy, expression: &Expression) -> Option<Sum> {
    let wide = |value: Value| match value {
        Value::Int(value) => Some((i128::from(value), false)),
        Value::Time(value) => Some((i128::from(value), true)),
        Value::Bool(_) | Value::Float(_) => None,
    };
    let (exact, is_time, beyond) = match expression {
        Expression::Literal(value) => return wide(*value).map(|_| Sum { value: *value, beyond: false }),
        Expression::Constant(id) => {
            let value = policy.constants[id.0].value;
            return wide(value).map(|_| Sum { value, beyond: false });
        }
        Expression::Unary(UnaryOperator::Negate, operand) => {
            let operand = sum(policy, operand)?;
            let (value, is_time) = wide(operand.value)?;
            (-value, is_time, operand.beyond)
        }
        Expression::Binary(operator, left, right) => {
            let (left, right) = (sum(policy, left)?, sum(policy, right)?);
            let ((first, time), (second, other_time)) = (wide(left.value)?, wide(right.value)?);
            let exact = if *operator == BinaryOperator::Add {
                first + second
            } else if *operator == BinaryOperator::Subtract {
                first - second
            } else if *operator == BinaryOperator::Multiply {
                first * second
            } else {
                return None;
            };
            (exact, time || other_time, left.beyond || right.beyond)
        }
        Expression::Unary(UnaryOperator::Not, _)
        | Expression::ConstantElement { .. }
        | Expression::Read(_)
        | Expression::Convert(..)
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Same(..)
        | Expression::Linked { .. }
        | Expression::NotZero(_)
        | Expression::Choose(..)
        | Expression::Random(_)
        | Expression::Verbatim { .. } => return None,
    };
    let beyond_width = if is_time { 0 } else { 64 - u32::from(policy.int_bits) };
    let wrapped = (exact as i64) << beyond_width >> beyond_width;
    let value = if is_time { Value::Time(wrapped) } else { Value::Int(wrapped) };
    Some(Sum { value, beyond: beyond || i128::from(wrapped) != exact })
}

fn read(body: &mut Body, place: &Place) -> Piece {
    let text = body.place(place);
    Piece::primary(match place {
        Place::Import(_) | Place::ThreadImport(..) if !body.names.host.imports_point() => text,
        Place::Import(_) | Place::ThreadImport(..) if body.is_float(place) => format!("catapults_read_float({text})"),
        Place::Import(_) | Place::ThreadImport(..) => format!("CATAPULTS_READ({text})"),
        Place::Variable(_)
        | Place::VariableElement { .. }
        | Place::Local(_)
        | Place::Attribute(..)
        | Place::AttributeElement { .. } => text,
    })
}

fn same(body: &mut Body, operator: &str, one: LocalId, other: LocalId) -> Piece {
    let (one, other) = (body.local(one), body.local(other));
    Piece { text: format!("{one} {operator} {other}"), level: Level::Equality }
}

fn linked(body: &mut Body, operator: &str, thread: Thread, link: LinkId, to: &Referent) -> Piece {
    let (linked, to) = (body.linked(thread, link), body.referent(to));
    Piece { text: format!("{linked} {operator} {to}"), level: Level::Equality }
}

fn not(body: &mut Body, operand: &Expression) -> Piece {
    if let Expression::Same(one, other) = operand {
        return same(body, "!=", *one, *other);
    }
    if let Expression::Linked { thread, link, to } = operand {
        return linked(body, "!=", *thread, *link, to);
    }
    if let Expression::NotZero(operand) = operand {
        let operand = piece(body, operand).at_least(Level::Sum);
        return Piece { text: format!("{operand} == 0"), level: Level::Equality };
    }
    let operand = piece(body, operand).at_least(Level::Primary);
    Piece { text: format!("!{operand}"), level: Level::Unary }
}

/// `whole` is `left operator right`.
fn binary(
    body: &mut Body,
    whole: &Expression,
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
) -> Piece {
    if let Some(test) = occupied(body, operator, left, right) {
        return test;
    }
    if operator == BinaryOperator::BitXor && *right == Expression::Literal(Value::Int(-1)) {
        let operand = piece(body, left).at_least(Level::Primary);
        return Piece { text: format!("~{operand}"), level: Level::Unary };
    }
    let next = literal_after(body, operator, right);
    let (symbol, level) = match operator {
        // A small processor tests the sign of a difference.
        BinaryOperator::LessOrEqual if next.is_some() => ("<", Level::Relation),
        BinaryOperator::Greater if next.is_some() => (">=", Level::Relation),
        BinaryOperator::Divide if is_float(body, whole) => ("/", Level::Product),
        BinaryOperator::Divide => return division(body, whole, "catapults_divide", " / ", left, right),
        BinaryOperator::Remainder => return division(body, whole, "catapults_remainder", " % ", left, right),
        BinaryOperator::ShiftLeft => {
            let shifted = called(body, "catapults_shift_left", left, right);
            return narrow(body, whole, shifted);
        }
        BinaryOperator::ShiftRight => return called(body, "catapults_shift_right", left, right),
        BinaryOperator::BitAnd => ("&", Level::BitAnd),
        BinaryOperator::BitXor => ("^", Level::BitXor),
        BinaryOperator::BitOr => ("|", Level::BitOr),
        BinaryOperator::Least => return called(body, "catapults_min", left, right),
        BinaryOperator::Greatest => return called(body, "catapults_max", left, right),
        BinaryOperator::Multiply => ("*", Level::Product),
        BinaryOperator::Add => ("+", Level::Sum),
        BinaryOperator::Subtract => ("-", Level::Sum),
        BinaryOperator::Less => ("<", Level::Relation),
        BinaryOperator::LessOrEqual => ("<=", Level::Relation),
        BinaryOperator::Greater => (">", Level::Relation),
        BinaryOperator::GreaterOrEqual => (">=", Level::Relation),
        BinaryOperator::Equal => ("==", Level::Equality),
        BinaryOperator::NotEqual => ("!=", Level::Equality),
        BinaryOperator::And => ("&&", Level::And),
        BinaryOperator::Or => ("||", Level::Or),
    };
    let (left, right) = (piece(body, left), piece(body, next.as_ref().unwrap_or(right)));
    let (left, right) = match level {
        // `a == b == c` and `!a == b` have a meaning in C that few expect.
        Level::Equality | Level::Relation => (comparand(left), comparand(right)),
        Level::Or => (disjunct(left), disjunct(right)),
        Level::And => (left.at_least(Level::And), right.at_least(Level::Equality)),
        // C compilers ask for these parentheses, too.
        Level::BitOr | Level::BitXor | Level::BitAnd => (left.at_least(Level::Unary), right.at_least(Level::Unary)),
        Level::Sum => (left.at_least(Level::Sum), right.at_least(Level::Product)),
        Level::Product => (left.at_least(Level::Product), right.at_least(Level::Unary)),
        Level::Choice | Level::Unary | Level::Primary => (left.in_parentheses(), right.in_parentheses()),
    };
    let made = Piece { text: format!("{left} {symbol} {right}"), level };
    match level {
        // A result that is not a number becomes 0.
        Level::Sum | Level::Product if is_float(body, whole) => {
            Piece::primary(format!("catapults_number({})", made.text))
        }
        Level::Sum | Level::Product => narrow(body, whole, made),
        Level::Choice
        | Level::Or
        | Level::And
        | Level::BitOr
        | Level::BitXor
        | Level::BitAnd
        | Level::Equality
        | Level::Relation
        | Level::Unary
        | Level::Primary => made,
    }
}

/// In a small host, for `x > 3`: 4, for `x >= 4`.
fn literal_after(body: &Body, operator: BinaryOperator, right: &Expression) -> Option<Expression> {
    let strict = matches!(operator, BinaryOperator::Greater | BinaryOperator::LessOrEqual);
    let Expression::Literal(Value::Int(value)) = right else { return None };
    let highest = i64::MAX >> (64 - u32::from(body.policy.int_bits));
    (body.is_small() && strict && *value < highest).then(|| Expression::Literal(Value::Int(value + 1)))
}

fn comparand(operand: Piece) -> String {
    if operand.text.starts_with('!') { operand.in_parentheses() } else { operand.at_least(Level::Sum) }
}

fn disjunct(operand: Piece) -> String {
    if operand.level == Level::And { operand.in_parentheses() } else { operand.at_least(Level::Or) }
}

/// `|slot| == 1`, in a small host also `|queue| > 0`, and the like: compares a pointer, and counts nothing.
fn occupied(body: &mut Body, operator: BinaryOperator, left: &Expression, right: &Expression) -> Option<Piece> {
    let (Expression::Size(slot), Expression::Literal(Value::Int(literal))) = (left, right) else { return None };
    if matches!(slot, ContainerRef::Whole { .. }) {
        return None;
    }
    let is_slot = *body.kind(slot) == ContainerKind::Threadref;
    // Only these comparisons ask just whether a longer container is empty.
    let comparison = operator.comparison()?;
    let of_emptiness = match comparison {
        Comparison::Equal | Comparison::NotEqual | Comparison::Greater | Comparison::LessOrEqual => 0,
        Comparison::Less | Comparison::GreaterOrEqual => 1,
    };
    if !(is_slot || body.is_small() && *literal == of_emptiness) {
        return None;
    }
    let holds = |size: i64| comparison.holds(size, *literal);
    let member = body.lookup(slot)?;
    let member = if is_slot { member } else { format!("{member}.first") };
    match (holds(0), holds(1)) {
        (false, true) => Some(Piece { text: format!("{member} != NULL"), level: Level::Equality }),
        (true, false) => Some(Piece { text: format!("{member} == NULL"), level: Level::Equality }),
        (always, _) => Some(Piece::primary(always.to_string())),
    }
}

/// C's operator if the divisor is a literal on which the two agree, else the function that treats 0 and -1.
fn division(
    body: &mut Body,
    whole: &Expression,
    function: &str,
    symbol: &str,
    left: &Expression,
    right: &Expression,
) -> Piece {
    let (dividend, divisor) = (piece(body, left), piece(body, right));
    let plain = matches!(right, Expression::Literal(Value::Int(value) | Value::Time(value)) if *value > 0);
    let quotient = if plain {
        let (dividend, divisor) = (dividend.at_least(Level::Product), divisor.at_least(Level::Unary));
        Piece { text: format!("{dividend}{symbol}{divisor}"), level: Level::Product }
    } else {
        let is_time = |value: &Expression| body.policy.type_of(&body.handler.locals, value) == Some(Type::Time);
        let width = if is_time(left) || is_time(right) { body.names.host.contract.of_times() } else { "" };
        Piece::primary(format!("{function}{width}({}, {})", dividend.text, divisor.text))
    };
    narrow(body, whole, quotient)
}

/// A call of a function of two values of one type, with the suffix for their width.
fn called(body: &mut Body, function: &str, left: &Expression, right: &Expression) -> Piece {
    let width = match body.policy.type_of(&body.handler.locals, left) {
        Some(Type::Float) => "_float",
        Some(Type::Time) => body.names.host.contract.of_times(),
        Some(Type::Int | Type::Bool) | None => "",
    };
    let (left, right) = (piece(body, left).text, piece(body, right).text);
    Piece::primary(format!("{function}{width}({left}, {right})"))
}

/// Arithmetic is done in C's `int` or wider. At a narrower `int` of the policy, results other than times are cut off.
fn narrow(body: &Body, expression: &Expression, value: Piece) -> Piece {
    match (body.policy.int_bits, body.policy.type_of(&body.handler.locals, expression)) {
        (64, _) | (_, Some(Type::Time | Type::Float)) => value,
        (_, Some(Type::Int | Type::Bool) | None) => {
            Piece { text: format!("(catapults_int)({})", value.text), level: Level::Unary }
        }
    }
}

fn is_float(body: &Body, expression: &Expression) -> bool {
    body.policy.type_of(&body.handler.locals, expression) == Some(Type::Float)
}

impl Body<'_> {
    /// Whether the host counts its bytes.
    pub(super) fn is_small(&self) -> bool {
        self.names.host.contract.is_small()
    }

    pub(super) fn is_float(&self, place: &Place) -> bool {
        is_float(self, &Expression::Read(place.clone()))
    }

    /// A pointer to a thread.
    pub(super) fn thread(&mut self, thread: Thread) -> String {
        match thread {
            Thread::Local(local) => self.local(local),
            Thread::Slot(slot) => self.container(slot),
            Thread::First(container) => {
                let member = self.container(container);
                match &self.policy.containers[container.0].kind {
                    ContainerKind::Threadref => member,
                    ContainerKind::Queue | ContainerKind::Stack => format!("{member}.first"),
                    kind @ (ContainerKind::Pqueue(_) | ContainerKind::Pstack(_)) => {
                        format!("catapults_sorted_first(&{member}, {})", super::ties(kind))
                    }
                }
            }
        }
    }

    /// Whether an attribute is a timer.
    pub(super) fn is_timer(&self, attribute: AttributeId) -> bool {
        self.policy.attributes[attribute.0].timer.is_some()
    }

    /// What holds the value; for imports, the pointer to it.
    pub(super) fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Variable(id) if self.policy.variables[id.0].global => {
                self.shared_member(&self.names.variables[id.0])
            }
            Place::Variable(id) => self.member(&self.names.variables[id.0]),
            Place::VariableElement { first, length, index } => {
                let element = self.element(index, *length);
                let array = Element::array(&self.names.variables[first.0]);
                let global = self.policy.variables[first.0].global;
                let array = if global { self.shared_member(array) } else { self.member(array) };
                self.names.host.element(&array, &element)
            }
            Place::Local(id) => self.local(*id),
            Place::Import(id) => self.shared_member(&self.names.imports[id.0].0),
            Place::Attribute(thread, id) => {
                let thread = self.thread(*thread);
                // For a timer, its instant.
                let instant = if self.is_timer(*id) { ".instant" } else { "" };
                let of = match self.policy.attributes[id.0].of {
                    Entity::Thread => &self.names.thread,
                    Entity::Node => &self.names.node,
                };
                format!("{of}({thread})->{}{instant}", self.names.attributes[id.0])
            }
            Place::AttributeElement { thread, first, length, index } => {
                let (element, thread) = (self.element(index, *length), self.thread(*thread));
                let array = Element::array(&self.names.attributes[first.0]);
                self.names.host.element(&format!("{}({thread})->{array}", self.names.thread), &element)
            }
            Place::ThreadImport(thread, id) => {
                let thread = self.thread(*thread);
                format!("{}({thread})->{}", self.names.thread, self.names.thread_imports[id.0].0)
            }
        }
    }
}
