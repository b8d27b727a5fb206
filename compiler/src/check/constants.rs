//! What is computed before run time: constants and initialisers. Here alone overflow and division by zero are errors: at
//! run time `int` wraps, but nobody writes a constant that does.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{BinaryOperator, Constant, Expression, UnaryOperator};
use crate::vocabulary::{At, Value};

/// The value of an expression that `check` has typed. `None` if it has none; that is reported.
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
                Why::DivisionByZero => Diagnostic::error("E0311", "the value is divided by zero", at, ""),
            };
            diagnostics.push(diagnostic);
            None
        }
    }
}

/// What an `int` holds, for a note.
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
    DivisionByZero,
}

fn value(expression: &Expression, int_bits: u8, constants: &[Constant]) -> Result<Value, Why> {
    let inner = |expression: &Expression| value(expression, int_bits, constants);
    let fits = |value: Option<i64>| match value {
        Some(value) if value <= most(int_bits) && value >= -most(int_bits) - 1 => Ok(Value::Int(value)),
        Some(_) | None => Err(Why::Overflow),
    };
    match expression {
        Expression::Literal(value) => Ok(*value),
        Expression::Constant(id) => constants.get(id.0).map(|constant| constant.value).ok_or(Why::RunTime),
        Expression::Read(_) | Expression::Size(_) | Expression::In(..) => Err(Why::RunTime),
        Expression::NotZero(operand) => Ok(Value::Bool(inner(operand)? != Value::Int(0))),
        Expression::Unary(operator, operand) => match (operator, inner(operand)?) {
            (UnaryOperator::Negate, Value::Int(value)) => fits(value.checked_neg()),
            (UnaryOperator::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnaryOperator::Negate | UnaryOperator::Not, Value::Int(_) | Value::Bool(_)) => Err(Why::RunTime),
        },
        Expression::Binary(operator, left, right) => match (inner(left)?, inner(right)?) {
            (Value::Int(left), Value::Int(right)) => match operator {
                BinaryOperator::Add => fits(left.checked_add(right)),
                BinaryOperator::Subtract => fits(left.checked_sub(right)),
                BinaryOperator::Multiply => fits(left.checked_mul(right)),
                BinaryOperator::Divide | BinaryOperator::Remainder if right == 0 => Err(Why::DivisionByZero),
                BinaryOperator::Divide => fits(left.checked_div(right)),
                BinaryOperator::Remainder => Ok(Value::Int(left.checked_rem(right).unwrap_or(0))),
                BinaryOperator::Equal => Ok(Value::Bool(left == right)),
                BinaryOperator::NotEqual => Ok(Value::Bool(left != right)),
                BinaryOperator::Less => Ok(Value::Bool(left < right)),
                BinaryOperator::LessOrEqual => Ok(Value::Bool(left <= right)),
                BinaryOperator::Greater => Ok(Value::Bool(left > right)),
                BinaryOperator::GreaterOrEqual => Ok(Value::Bool(left >= right)),
                BinaryOperator::And | BinaryOperator::Or => Err(Why::RunTime),
            },
            (Value::Bool(left), Value::Bool(right)) => match operator {
                BinaryOperator::And => Ok(Value::Bool(left && right)),
                BinaryOperator::Or => Ok(Value::Bool(left || right)),
                BinaryOperator::Equal => Ok(Value::Bool(left == right)),
                BinaryOperator::NotEqual => Ok(Value::Bool(left != right)),
                BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Remainder
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual => Err(Why::RunTime),
            },
            (Value::Int(_), Value::Bool(_)) | (Value::Bool(_), Value::Int(_)) => Err(Why::RunTime),
        },
    }
}
