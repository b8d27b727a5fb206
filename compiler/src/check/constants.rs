//! Computes constants and initialisers. Overflow and division by zero are errors only here: at run time `int` wraps,
//! but nobody writes a constant that does.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{BinaryOperator, Comparison, Constant, Element, Expression, UnaryOperator};
use crate::vocabulary::{At, Float, Value};

/// The value of an expression that `check` has typed. `None`: it has no value, which is reported.
pub(super) fn evaluate(
    expression: &Expression,
    at: At,
    int_bits: u8,
    constants: &[Constant],
    diagnostics: &mut Diagnostics,
) -> Option<Value> {
    match value(expression, int_bits, constants) {
        Ok(value) => Some(value),
        Err(why) => {
            let diagnostic = match why {
                Why::RunTime => Diagnostic::error(
                    "E0312",
                    "this is not known before run time",
                    at,
                    "expected a constant expression",
                )
                .help("use numbers and constants only; set other values in the handler of the event that comes first"),
                Why::Overflow => {
                    Diagnostic::error("E0311", format!("the value does not fit in an `int` of {int_bits} bits"), at, "")
                        .note(range(int_bits))
                }
                Why::TooLong => Diagnostic::error("E0311", "the duration is too long", at, "").note(LONGEST),
                Why::Infinite => Diagnostic::error("E0311", "the number is too high for a `float`", at, ""),
                Why::DivisionByZero => Diagnostic::error("E0311", "the value is divided by zero", at, ""),
            };
            diagnostics.push(diagnostic);
            None
        }
    }
}

/// The range of a `time`, for a note.
pub(super) const LONGEST: &str = "a `time` is at most 9223372036854775807ns, 292 years";

/// As `evaluate`, for an expression that need not have a value.
pub(super) fn known(expression: &Expression, int_bits: u8, constants: &[Constant]) -> Option<Value> {
    value(expression, int_bits, constants).ok()
}

/// The range of an `int`, for a note.
pub(super) fn range(int_bits: u8) -> String {
    let most = most(int_bits);
    format!("an `int` of {int_bits} bits holds {} to {most}", -most - 1)
}

/// The largest `int`.
pub(super) fn most(int_bits: u8) -> i64 {
    i64::MAX >> (64 - u32::from(int_bits))
}

enum Why {
    RunTime,
    Overflow,
    TooLong,
    Infinite,
    DivisionByZero,
}

fn value(expression: &Expression, int_bits: u8, constants: &[Constant]) -> Result<Value, Why> {
    let inner = |expression: &Expression| value(expression, int_bits, constants);
    let fits = |value: Option<i64>| match value {
        Some(value) if value <= most(int_bits) && value >= -most(int_bits) - 1 => Ok(Value::Int(value)),
        Some(_) | None => Err(Why::Overflow),
    };
    let finite = |value: f64| if value.is_finite() { Ok(Value::Float(Float::new(value))) } else { Err(Why::Infinite) };
    let long = |value: Option<i64>| value.map(Value::Time).ok_or(Why::TooLong);
    match expression {
        Expression::Literal(value) => Ok(*value),
        Expression::Constant(id) => constants.get(id.0).map(|constant| constant.value).ok_or(Why::RunTime),
        Expression::ConstantElement { first, length, index } => match inner(index)? {
            Value::Int(index) => {
                let element = constants.get(first.0 + Element::nearest(index, *length));
                element.map(|constant| constant.value).ok_or(Why::RunTime)
            }
            Value::Bool(_) | Value::Time(_) | Value::Float(_) => Err(Why::RunTime),
        },
        Expression::Read(_)
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Same(..)
        | Expression::Linked { .. }
        | Expression::Random(_)
        | Expression::Verbatim { .. } => Err(Why::RunTime),
        Expression::Convert(_, operand) => match inner(operand)? {
            Value::Int(int) => finite(int as f64),
            Value::Float(float) => {
                let whole = float.get().trunc();
                let end = -((-most(int_bits) - 1) as f64);
                if whole < end && whole >= -end { Ok(Value::Int(whole as i64)) } else { Err(Why::Overflow) }
            }
            Value::Bool(_) | Value::Time(_) => Err(Why::RunTime),
        },
        Expression::Choose(condition, one, other) => {
            inner(if inner(condition)? == Value::Bool(true) { one } else { other })
        }
        Expression::NotZero(operand) => Ok(Value::Bool(inner(operand)? != Value::Int(0))),
        Expression::Unary(operator, operand) => match (operator, inner(operand)?) {
            (UnaryOperator::Negate, Value::Int(value)) => fits(value.checked_neg()),
            (UnaryOperator::Negate, Value::Time(value)) => long(value.checked_neg()),
            (UnaryOperator::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnaryOperator::Negate, Value::Float(value)) => finite(-value.get()),
            (UnaryOperator::Negate, Value::Bool(_))
            | (UnaryOperator::Not, Value::Int(_) | Value::Time(_) | Value::Float(_)) => Err(Why::RunTime),
        },
        Expression::Binary(operator, left, right) => {
            let (left, right) = (inner(left)?, inner(right)?);
            if let Some(comparison) = operator.comparison() {
                return Ok(Value::Bool(compared(comparison, left, right).ok_or(Why::RunTime)?));
            }
            match (left, right) {
                (Value::Int(left), Value::Int(right)) => arithmetic(*operator, left, right, &fits, &fits),
                (Value::Time(left), Value::Time(right)) => arithmetic(*operator, left, right, &long, &fits),
                (Value::Time(time), Value::Int(int)) | (Value::Int(int), Value::Time(time)) => {
                    if *operator == BinaryOperator::Multiply {
                        long(time.checked_mul(int))
                    } else if *operator != BinaryOperator::Divide {
                        Err(Why::RunTime)
                    } else if int == 0 {
                        Err(Why::DivisionByZero)
                    } else {
                        long(time.checked_div(int))
                    }
                }
                (Value::Bool(left), Value::Bool(right)) => {
                    let goes_on = operator.goes_on_if().ok_or(Why::RunTime)?;
                    Ok(Value::Bool(if left == goes_on { right } else { left }))
                }
                (Value::Float(left), Value::Float(right)) => {
                    floats(*operator, left.get(), right.get()).and_then(finite)
                }
                // The types have been checked.
                (Value::Int(_) | Value::Time(_) | Value::Bool(_) | Value::Float(_), _) => Err(Why::RunTime),
            }
        }
    }
}

/// Whether a comparison holds for two values of one type.
fn compared(comparison: Comparison, left: Value, right: Value) -> Option<bool> {
    Some(match (left, right) {
        (Value::Int(left), Value::Int(right)) | (Value::Time(left), Value::Time(right)) => {
            comparison.holds(left, right)
        }
        (Value::Bool(left), Value::Bool(right)) => comparison.holds(left, right),
        (Value::Float(left), Value::Float(right)) => comparison.holds(left.get(), right.get()),
        (Value::Int(_) | Value::Time(_) | Value::Bool(_) | Value::Float(_), _) => return None,
    })
}

fn floats(operator: BinaryOperator, left: f64, right: f64) -> Result<f64, Why> {
    match operator {
        BinaryOperator::Add => Ok(left + right),
        BinaryOperator::Subtract => Ok(left - right),
        BinaryOperator::Multiply => Ok(left * right),
        BinaryOperator::Divide if right == 0.0 => Err(Why::DivisionByZero),
        BinaryOperator::Divide => Ok(left / right),
        BinaryOperator::Least => Ok(if right < left { right } else { left }),
        BinaryOperator::Greatest => Ok(if right > left { right } else { left }),
        BinaryOperator::Remainder
        | BinaryOperator::BitAnd
        | BinaryOperator::BitOr
        | BinaryOperator::BitXor
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual
        | BinaryOperator::And
        | BinaryOperator::Or => Err(Why::RunTime),
    }
}

/// Computes with two values of one type. `fits` makes a value of that type, `int` the quotient.
fn arithmetic(
    operator: BinaryOperator,
    left: i64,
    right: i64,
    fits: &dyn Fn(Option<i64>) -> Result<Value, Why>,
    int: &dyn Fn(Option<i64>) -> Result<Value, Why>,
) -> Result<Value, Why> {
    match operator {
        BinaryOperator::Add => fits(left.checked_add(right)),
        BinaryOperator::Subtract => fits(left.checked_sub(right)),
        BinaryOperator::Multiply => fits(left.checked_mul(right)),
        BinaryOperator::Divide | BinaryOperator::Remainder if right == 0 => Err(Why::DivisionByZero),
        BinaryOperator::Divide => int(left.checked_div(right)),
        BinaryOperator::BitAnd => fits(Some(left & right)),
        BinaryOperator::BitOr => fits(Some(left | right)),
        BinaryOperator::BitXor => fits(Some(left ^ right)),
        // If bits are lost, the number does not fit.
        BinaryOperator::ShiftLeft => fits(i64::try_from(i128::from(left) << right.clamp(0, 64)).ok()),
        BinaryOperator::ShiftRight => fits(Some(left >> right.clamp(0, 63))),
        BinaryOperator::Least => fits(Some(left.min(right))),
        BinaryOperator::Greatest => fits(Some(left.max(right))),
        BinaryOperator::Remainder => fits(Some(left.checked_rem(right).unwrap_or(0))),
        BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual
        | BinaryOperator::And
        | BinaryOperator::Or => Err(Why::RunTime),
    }
}
