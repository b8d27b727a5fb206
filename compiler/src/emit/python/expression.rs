//! Expressions: with Python's own operators where they mean the same, and wrapped at the width of their type.

use super::handler::Body;
use crate::policy::{
    BinaryOperator, ContainerRef, Expression, LinkId, Place, Referent, Thread, Type, UnaryOperator, Value,
};
use crate::vocabulary::in_unit;

/// How tightly an operator binds; the higher, the tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Choice,
    Or,
    And,
    Not,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// A piece of Python and how tightly it holds together.
struct Piece {
    text: String,
    level: Level,
}

impl Piece {
    fn new(level: Level, text: impl Into<String>) -> Self {
        Piece { text: text.into(), level }
    }

    fn primary(text: impl Into<String>) -> Self {
        Piece::new(Level::Primary, text)
    }

    /// The text as an operand of an operator that binds at `level`.
    fn at_least(self, level: Level) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text }
    }
}

/// The value of an expression.
pub(super) fn expression(body: &mut Body, value: &Expression) -> String {
    piece(body, value).text
}

/// A value, and the helpers that it is written with.
pub(super) fn literal(value: Value) -> (String, Option<&'static str>) {
    match value {
        Value::Int(value) => (value.to_string(), None),
        Value::Bool(true) => ("True".to_owned(), None),
        Value::Bool(false) => ("False".to_owned(), None),
        Value::Float(float) if float.get().is_infinite() => {
            (format!("{}INFINITY", if float.get() < 0.0 { "-" } else { "" }), Some("INFINITY"))
        }
        Value::Float(_) => (value.to_string(), None),
        Value::Time(value) => {
            let (count, unit) = in_unit(value);
            let unit = match unit {
                "s" => "S",
                "ms" => "MS",
                "us" => "US",
                _ => return (value.to_string(), None),
            };
            (if count == 1 { unit.to_owned() } else { format!("{count} * {unit}") }, Some(unit))
        }
    }
}

/// How tightly a value binds as it is written.
fn level(value: Value) -> Level {
    match value {
        Value::Int(value) if value < 0 => Level::Unary,
        Value::Float(value) if value.get().is_sign_negative() => Level::Unary,
        Value::Int(_) | Value::Bool(_) | Value::Float(_) => Level::Primary,
        Value::Time(value) => match in_unit(value) {
            (1, "s" | "ms" | "us") => Level::Primary,
            (_, "s" | "ms" | "us") => Level::Product,
            (count, _) if count < 0 => Level::Unary,
            _ => Level::Primary,
        },
    }
}

fn piece(body: &mut Body, value: &Expression) -> Piece {
    match value {
        Expression::Literal(value) => {
            let (text, helper) = literal(*value);
            helper.into_iter().for_each(|helper| body.help(helper));
            Piece::new(level(*value), text)
        }
        Expression::Constant(id) => {
            let name = body.names.constants[id.0].clone();
            Piece::primary(match body.policy.constants[id.0].element {
                Some(element) => format!("{name}[{}]", element.index),
                None => name,
            })
        }
        Expression::ConstantElement { first, length, index } => {
            let index = element(body, index, *length);
            Piece::primary(format!("{}[{index}]", body.names.constants[first.0]))
        }
        Expression::Read(place) => Piece::primary(self::place(body, place)),
        Expression::Convert(Type::Float, operand) => Piece::primary(format!("float({})", piece(body, operand).text)),
        Expression::Convert(Type::Int | Type::Bool | Type::Time, operand) => {
            body.help("truncated");
            let (operand, bits) = (piece(body, operand).text, body.policy.int_bits);
            Piece::primary(format!("truncated({operand}, {bits})"))
        }
        Expression::Now => Piece::primary(body.shared("now")),
        Expression::Random(below) => {
            let below = piece(body, below).text;
            Piece::primary(format!("{}({below})", body.shared("random.below")))
        }
        Expression::Size(container) => size(body, container),
        Expression::In(thread, container, _) => within(body, "in", *thread, container),
        Expression::Same(one, other) => {
            Piece::new(Level::Comparison, format!("{} is {}", body.local(*one), body.local(*other)))
        }
        Expression::Linked { thread, link, to } => linked(body, "is", *thread, *link, to),
        Expression::Unary(UnaryOperator::Not, operand) => not(body, operand),
        Expression::Unary(UnaryOperator::Negate, operand) if body.type_of(value) == Type::Float => {
            let operand = piece(body, operand).at_least(Level::Unary);
            Piece::new(Level::Unary, format!("-{operand}"))
        }
        Expression::Unary(UnaryOperator::Negate, _) => wrapped(body, value),
        Expression::Binary(operator, left, right) => binary(body, value, *operator, left, right),
        Expression::NotZero(operand) => compared(body, operand, "!=", &ZERO),
        Expression::Choose(condition, one, other) => {
            let [condition, one, other] = [condition, one, other].map(|part| piece(body, part).at_least(Level::Or));
            Piece::new(Level::Choice, format!("{one} if {condition} else {other}"))
        }
        // No policy with text in another language gets here, unless the text has a meaning of its own.
        Expression::Verbatim { otherwise, ty, .. } => match otherwise {
            Some(otherwise) => piece(body, otherwise),
            None => Piece::primary(super::zero(*ty)),
        },
    }
}

const ZERO: Expression = Expression::Literal(Value::Int(0));

fn not(body: &mut Body, operand: &Expression) -> Piece {
    match operand {
        Expression::Same(one, other) => {
            Piece::new(Level::Comparison, format!("{} is not {}", body.local(*one), body.local(*other)))
        }
        Expression::Linked { thread, link, to } => linked(body, "is not", *thread, *link, to),
        Expression::In(thread, container, _) => within(body, "not in", *thread, container),
        Expression::NotZero(operand) => compared(body, operand, "==", &ZERO),
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Read(_)
        | Expression::Convert(..)
        | Expression::Now
        | Expression::Random(_)
        | Expression::Size(_)
        | Expression::Unary(..)
        | Expression::Binary(..)
        | Expression::Choose(..)
        | Expression::Verbatim { .. } => {
            let operand = piece(body, operand).at_least(Level::Comparison);
            Piece::new(Level::Not, format!("not {operand}"))
        }
    }
}

/// `|c|`. The highest int stands for itself and everything above it.
fn size(body: &mut Body, container: &ContainerRef) -> Piece {
    let count = match container {
        ContainerRef::Whole { first, .. } => format!("sum(map(len, {}))", body.array(*first)),
        ContainerRef::One(_) | ContainerRef::Element { .. } => {
            let container = self::container(body, container);
            format!("len({container})")
        }
    };
    let bits = body.policy.int_bits;
    Piece::primary(if bits < 64 { format!("min({count}, {})", i64::MAX >> (64 - bits)) } else { count })
}

fn within(body: &mut Body, operator: &str, thread: Thread, container: &ContainerRef) -> Piece {
    let thread = self::thread(body, thread);
    let text = match container {
        ContainerRef::Whole { first, .. } => format!("{thread}.container {operator} {}", body.array(*first)),
        ContainerRef::One(_) | ContainerRef::Element { .. } => {
            let container = self::container(body, container);
            format!("{thread} {operator} {container}")
        }
    };
    Piece::new(Level::Comparison, text)
}

fn linked(body: &mut Body, operator: &str, thread: Thread, link: LinkId, to: &Referent) -> Piece {
    let (thread, to) = (self::thread(body, thread), referent(body, to));
    Piece::new(Level::Comparison, format!("{thread}.{} {operator} {to}", body.names.links[link.0]))
}

/// What a link is set to, or compared with.
pub(super) fn referent(body: &mut Body, to: &Referent) -> String {
    match to {
        Referent::None => "None".to_owned(),
        Referent::Thread(local) => body.local(*local),
        Referent::Held(slot) => {
            let slot = container(body, slot);
            format!("{slot}.held")
        }
        Referent::Linked(thread, link) => {
            let thread = self::thread(body, *thread);
            format!("{thread}.{}", body.names.links[link.0])
        }
    }
}

/// A sum, difference, product or negation, kept at the width of its type.
fn wrapped(body: &mut Body, value: &Expression) -> Piece {
    let wrap = body.wrap(body.type_of(value));
    let text = unwrapped(body, value).text;
    Piece::primary(format!("{wrap}({text})"))
}

/// Within a sum or product that is wrapped as a whole, its parts of the same width need not be.
fn unwrapped(body: &mut Body, value: &Expression) -> Piece {
    let ty = body.type_of(value);
    let part = |body: &mut Body, part: &Expression| {
        if body.bits(body.type_of(part)) == body.bits(ty) { unwrapped(body, part) } else { piece(body, part) }
    };
    match value {
        Expression::Unary(UnaryOperator::Negate, operand) => {
            let operand = part(body, operand).at_least(Level::Unary);
            Piece::new(Level::Unary, format!("-{operand}"))
        }
        Expression::Binary(operator, left, right) => {
            let (symbol, level, after) = match operator {
                BinaryOperator::Add => ("+", Level::Sum, Level::Sum),
                BinaryOperator::Subtract => ("-", Level::Sum, Level::Product),
                BinaryOperator::Multiply => ("*", Level::Product, Level::Product),
                BinaryOperator::Divide
                | BinaryOperator::Remainder
                | BinaryOperator::Equal
                | BinaryOperator::NotEqual
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual
                | BinaryOperator::And
                | BinaryOperator::Or
                | BinaryOperator::Least
                | BinaryOperator::Greatest
                | BinaryOperator::BitAnd
                | BinaryOperator::BitOr
                | BinaryOperator::BitXor
                | BinaryOperator::ShiftLeft
                | BinaryOperator::ShiftRight => return piece(body, value),
            };
            let (left, right) = (part(body, left), part(body, right));
            Piece::new(level, format!("{} {symbol} {}", left.at_least(level), right.at_least(after)))
        }
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Read(_)
        | Expression::Convert(..)
        | Expression::Now
        | Expression::Random(_)
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Same(..)
        | Expression::Linked { .. }
        | Expression::Unary(UnaryOperator::Not, _)
        | Expression::NotZero(_)
        | Expression::Choose(..)
        | Expression::Verbatim { .. } => piece(body, value),
    }
}

/// `whole` is `left operator right`.
fn binary(
    body: &mut Body,
    whole: &Expression,
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
) -> Piece {
    let ty = body.type_of(whole);
    match operator {
        BinaryOperator::Add if ty == Type::Float => float(body, left, "+", Level::Sum, right),
        BinaryOperator::Subtract if ty == Type::Float => float(body, left, "-", Level::Sum, right),
        BinaryOperator::Multiply if ty == Type::Float => float(body, left, "*", Level::Product, right),
        BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => wrapped(body, whole),
        BinaryOperator::Divide if ty == Type::Float => called(body, "ratio", left, right),
        BinaryOperator::Divide => {
            let quotient = called(body, "quotient", left, right);
            // Only the least number divided by -1 is too large; and a quotient of times may be for an int.
            let fits = matches!(right, Expression::Literal(Value::Int(by)) if *by != -1);
            if fits {
                return quotient;
            }
            Piece::primary(format!("{}({})", body.wrap(ty), quotient.text))
        }
        BinaryOperator::Remainder => called(body, "remainder", left, right),
        BinaryOperator::Least => called(body, "min", left, right),
        BinaryOperator::Greatest => called(body, "max", left, right),
        BinaryOperator::ShiftLeft => {
            body.help("shift_left");
            let (left, right, bits) = (piece(body, left).text, piece(body, right).text, body.policy.int_bits);
            Piece::primary(format!("shift_left({left}, {right}, {bits})"))
        }
        BinaryOperator::ShiftRight => match right {
            Expression::Literal(Value::Int(by @ 0..64)) => {
                let left = piece(body, left).at_least(Level::Shift);
                Piece::new(Level::Shift, format!("{left} >> {by}"))
            }
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Convert(..)
            | Expression::Now
            | Expression::Random(_)
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::NotZero(_)
            | Expression::Choose(..)
            | Expression::Verbatim { .. } => called(body, "shift_right", left, right),
        },
        BinaryOperator::BitAnd => joined(body, left, "&", Level::BitAnd, right),
        BinaryOperator::BitOr => joined(body, left, "|", Level::BitOr, right),
        BinaryOperator::BitXor => joined(body, left, "^", Level::BitXor, right),
        BinaryOperator::And => joined(body, left, "and", Level::And, right),
        BinaryOperator::Or => joined(body, left, "or", Level::Or, right),
        BinaryOperator::Equal => compared(body, left, "==", right),
        BinaryOperator::NotEqual => compared(body, left, "!=", right),
        BinaryOperator::Less => compared(body, left, "<", right),
        BinaryOperator::LessOrEqual => compared(body, left, "<=", right),
        BinaryOperator::Greater => compared(body, left, ">", right),
        BinaryOperator::GreaterOrEqual => compared(body, left, ">=", right),
    }
}

/// A result that is not a number becomes 0.
fn float(body: &mut Body, left: &Expression, symbol: &str, level: Level, right: &Expression) -> Piece {
    body.help("number");
    let (left, right) = (piece(body, left), piece(body, right));
    // Floats are not associative.
    let after = if level == Level::Sum { Level::Product } else { Level::Unary };
    Piece::primary(format!("number({} {symbol} {})", left.at_least(level), right.at_least(after)))
}

fn called(body: &mut Body, function: &'static str, left: &Expression, right: &Expression) -> Piece {
    if !["min", "max"].contains(&function) {
        body.help(function);
    }
    let (left, right) = (piece(body, left).text, piece(body, right).text);
    Piece::primary(format!("{function}({left}, {right})"))
}

fn joined(body: &mut Body, left: &Expression, symbol: &str, level: Level, right: &Expression) -> Piece {
    let (left, right) = (piece(body, left).at_least(level), piece(body, right).at_least(level));
    Piece::new(level, format!("{left} {symbol} {right}"))
}

/// In Python, `a < b < c` is two comparisons.
fn compared(body: &mut Body, left: &Expression, symbol: &str, right: &Expression) -> Piece {
    let (left, right) = (piece(body, left).at_least(Level::BitOr), piece(body, right).at_least(Level::BitOr));
    Piece::new(Level::Comparison, format!("{left} {symbol} {right}"))
}

/// What can be read and assigned.
pub(super) fn place(body: &mut Body, place: &Place) -> String {
    match place {
        Place::Variable(variable) => {
            let (name, declared) = (body.names.variables[variable.0].clone(), &body.policy.variables[variable.0]);
            let (global, element) = (declared.global, declared.element);
            let member = if global { body.shared(&name) } else { format!("self.{name}") };
            element.map_or(member.clone(), |element| format!("{member}[{}]", element.index))
        }
        Place::VariableElement { first, length, index } => {
            let index = element(body, index, *length);
            let (name, global) = (body.names.variables[first.0].clone(), body.policy.variables[first.0].global);
            let member = if global { body.shared(&name) } else { format!("self.{name}") };
            format!("{member}[{index}]")
        }
        Place::Local(local) => body.local(*local),
        Place::Import(import) => body.shared(&body.names.imports[import.0]),
        Place::Attribute(thread, attribute) => {
            let member = format!("{}.{}", self::thread(body, *thread), body.names.attributes[attribute.0]);
            let element = body.policy.attributes[attribute.0].element;
            element.map_or(member.clone(), |element| format!("{member}[{}]", element.index))
        }
        Place::AttributeElement { thread, first, length, index } => {
            let index = element(body, index, *length);
            format!("{}.{}[{index}]", self::thread(body, *thread), body.names.attributes[first.0])
        }
        Place::ThreadImport(thread, import) => {
            format!("{}.{}", self::thread(body, *thread), body.names.thread_imports[import.0])
        }
    }
}

/// A thread or node.
pub(super) fn thread(body: &mut Body, thread: Thread) -> String {
    match thread {
        Thread::Local(local) => body.local(local),
        Thread::Slot(slot) | Thread::First(slot) => format!("{}.first", body.container(slot)),
    }
}

/// One container.
pub(super) fn container(body: &mut Body, container: &ContainerRef) -> String {
    match container {
        ContainerRef::One(only) => body.container(*only),
        ContainerRef::Element { first, length, index } => {
            let index = element(body, index, *length);
            format!("{}[{index}]", body.array(*first))
        }
        // Whose threads are asked for is that which has some: see `transfers`.
        ContainerRef::Whole { first, .. } => {
            body.help("occupied");
            format!("occupied({})", body.array(*first))
        }
    }
}

/// An index. One that is out of range means the nearest element.
fn element(body: &mut Body, index: &Expression, length: usize) -> String {
    body.help("nearest");
    let index = piece(body, index).text;
    format!("nearest({index}, {length})")
}
