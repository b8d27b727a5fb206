//! The operators. Everything wraps at the width of `int`; nothing stops.

use crate::policy::{BinaryOperator, Float, UnaryOperator, Value};

/// A value as a number with the same order: an int, or the nanoseconds of a time. A bool or a float comes here only as
/// a sort key.
pub(super) fn number(value: Value) -> i64 {
    match value {
        Value::Int(number) | Value::Time(number) => number,
        Value::Bool(truth) => i64::from(truth),
        // Both zeros are equal. Without the sign, the bits of floats are in order; those of negative floats in reverse.
        Value::Float(float) if float.get() == 0.0 => 0,
        Value::Float(float) => {
            let bits = float.get().to_bits().cast_signed();
            if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
        }
    }
}

/// A value as a condition.
pub(super) fn truth(value: Value) -> bool {
    match value {
        Value::Int(number) | Value::Time(number) => number != 0,
        Value::Bool(truth) => truth,
        Value::Float(float) => float.get() != 0.0,
    }
}

/// `|c|`. The highest int stands for itself and everything above it.
pub(super) fn size(threads: usize, bits: u8) -> Value {
    Value::Int(i64::try_from(threads).unwrap_or(i64::MAX).min(i64::MAX >> (64 - bits)))
}

/// `-x`, `!x`
pub(super) fn unary(operator: UnaryOperator, operand: Value, bits: u8) -> Value {
    match operator {
        UnaryOperator::Negate => match operand {
            Value::Time(time) => Value::Time(time.wrapping_neg()),
            Value::Float(float) => Value::Float(Float::new(-float.get())),
            Value::Int(_) | Value::Bool(_) => Value::Int(wrap(number(operand).wrapping_neg(), bits)),
        },
        UnaryOperator::Not => Value::Bool(!truth(operand)),
    }
}

/// The value of `&&` or `||` if the left operand decides it.
pub(super) fn decided(operator: BinaryOperator, left: Value) -> Option<Value> {
    operator.goes_on_if().filter(|goes_on| *goes_on != truth(left)).map(|goes_on| Value::Bool(!goes_on))
}

/// The value of a binary operator.
pub(super) fn binary(operator: BinaryOperator, left: Value, right: Value, bits: u8) -> Value {
    if let (Value::Float(left), Value::Float(right)) = (left, right) {
        return floats(operator, left.get(), right.get());
    }
    let (a, b) = (number(left), number(right));
    if let Some(comparison) = operator.comparison() {
        return Value::Bool(comparison.holds(a, b));
    }
    if operator.is_called() {
        let right_one = if operator == BinaryOperator::Least { b < a } else { b > a };
        return if right_one { right } else { left };
    }
    let times = (matches!(left, Value::Time(_)), matches!(right, Value::Time(_)));
    // A time is 64 bits wide, whatever the width of an int.
    let made = |value: i64| match times {
        (true, _) | (_, true) => Value::Time(value),
        (false, false) => Value::Int(wrap(value, bits)),
    };
    match operator {
        BinaryOperator::Add => made(a.wrapping_add(b)),
        BinaryOperator::Subtract => made(a.wrapping_sub(b)),
        BinaryOperator::Multiply => made(a.wrapping_mul(b)),
        BinaryOperator::Divide => {
            let quotient = if b == 0 { 0 } else { a.wrapping_div(b) };
            if times == (true, true) { Value::Int(wrap(quotient, bits)) } else { made(quotient) }
        }
        BinaryOperator::Remainder => made(if b == 0 { 0 } else { a.wrapping_rem(b) }),
        BinaryOperator::And => Value::Bool(truth(left) && truth(right)),
        BinaryOperator::Or => Value::Bool(truth(left) || truth(right)),
        BinaryOperator::BitAnd => made(a & b),
        BinaryOperator::BitOr => made(a | b),
        BinaryOperator::BitXor => made(a ^ b),
        BinaryOperator::ShiftLeft if b >= i64::from(bits) => made(0),
        BinaryOperator::ShiftLeft => made(a << b.max(0)),
        BinaryOperator::ShiftRight => made(a >> b.clamp(0, 63)),
        // Handled above.
        BinaryOperator::Least | BinaryOperator::Greatest => left,
        BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => Value::Bool(false),
    }
}

/// A result that is not a number becomes 0.
fn floats(operator: BinaryOperator, a: f64, b: f64) -> Value {
    if let Some(comparison) = operator.comparison() {
        return Value::Bool(comparison.holds(a, b));
    }
    let made = |value| Value::Float(Float::new(value));
    match operator {
        BinaryOperator::Add => made(a + b),
        BinaryOperator::Subtract => made(a - b),
        BinaryOperator::Multiply => made(a * b),
        BinaryOperator::Divide => made(a / b),
        BinaryOperator::Least => made(if b < a { b } else { a }),
        BinaryOperator::Greatest => made(if b > a { b } else { a }),
        // None of these gives a float.
        BinaryOperator::Remainder
        | BinaryOperator::BitAnd
        | BinaryOperator::BitOr
        | BinaryOperator::BitXor
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => made(0.0),
    }
}

/// `float(x)`, `int(x)`
pub(super) fn convert(operand: Value, bits: u8) -> Value {
    match operand {
        Value::Float(float) => {
            let highest = i64::MAX >> (64 - bits);
            Value::Int((float.get() as i64).clamp(-highest - 1, highest))
        }
        Value::Int(_) | Value::Bool(_) | Value::Time(_) => Value::Float(Float::new(number(operand) as f64)),
    }
}

/// Keeps the low `bits` bits, the highest of them as the sign.
fn wrap(value: i64, bits: u8) -> i64 {
    let unused = 64 - u32::from(bits);
    (value << unused) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(operator: BinaryOperator, a: i64, b: i64, bits: u8) -> i64 {
        number(binary(operator, Value::Int(a), Value::Int(b), bits))
    }

    #[test]
    fn arithmetic_wraps_at_the_width() {
        assert_eq!(ints(BinaryOperator::Add, 32_767, 1, 16), -32_768);
        assert_eq!(ints(BinaryOperator::Subtract, i64::MIN, 1, 64), i64::MAX);
        assert_eq!(ints(BinaryOperator::Multiply, 1 << 20, 1 << 12, 32), 0);
        assert_eq!(ints(BinaryOperator::Divide, -32_768, -1, 16), -32_768);
        assert_eq!(ints(BinaryOperator::Divide, i64::MIN, -1, 64), i64::MIN);
        assert_eq!(unary(UnaryOperator::Negate, Value::Int(i64::MIN), 64), Value::Int(i64::MIN));
    }

    #[test]
    fn shifts_are_total() {
        assert_eq!(ints(BinaryOperator::ShiftLeft, 1, 15, 16), -32_768);
        assert_eq!(ints(BinaryOperator::ShiftLeft, 1, 16, 16), 0);
        assert_eq!(ints(BinaryOperator::ShiftLeft, 3, -1, 64), 3);
        assert_eq!(ints(BinaryOperator::ShiftLeft, -1, i64::MAX, 64), 0);
        assert_eq!(ints(BinaryOperator::ShiftRight, -5, 1, 64), -3);
        assert_eq!(ints(BinaryOperator::ShiftRight, -5, 1000, 16), -1);
        assert_eq!(ints(BinaryOperator::ShiftRight, 5, i64::MIN, 16), 5);
        assert_eq!(ints(BinaryOperator::BitXor, 5, -1, 16), -6);
    }

    #[test]
    fn division_by_zero_is_zero_and_truncates() {
        assert_eq!(ints(BinaryOperator::Divide, 7, 0, 64), 0);
        assert_eq!(ints(BinaryOperator::Remainder, 7, 0, 64), 0);
        assert_eq!(ints(BinaryOperator::Divide, -7, 2, 64), -3);
        assert_eq!(ints(BinaryOperator::Remainder, -7, 2, 64), -1);
        assert_eq!(ints(BinaryOperator::Remainder, i64::MIN, -1, 64), 0);
    }

    #[test]
    fn times_are_wide_where_ints_are_narrow() {
        let (second, many) = (Value::Time(1_000_000_000), Value::Int(30_000));
        assert_eq!(binary(BinaryOperator::Multiply, many, second, 16), Value::Time(30_000_000_000_000));
        assert_eq!(binary(BinaryOperator::Divide, second, many, 16), Value::Time(33_333));
        assert_eq!(binary(BinaryOperator::Divide, second, Value::Time(1000), 16), Value::Int(16_960));
        assert_eq!(binary(BinaryOperator::Divide, Value::Time(i64::MIN), Value::Int(-1), 16), Value::Time(i64::MIN));
        assert_eq!(binary(BinaryOperator::Remainder, second, Value::Time(0), 16), Value::Time(0));
        assert_eq!(unary(UnaryOperator::Negate, second, 16), Value::Time(-1_000_000_000));
    }

    #[test]
    fn floats_are_total_and_in_order() {
        let float = |value| Value::Float(Float::new(value));
        let (zero, infinite) = (float(0.0), float(f64::INFINITY));
        assert_eq!(binary(BinaryOperator::Divide, zero, zero, 64), zero);
        assert_eq!(binary(BinaryOperator::Subtract, infinite, infinite, 64), zero);
        assert_eq!(binary(BinaryOperator::Multiply, zero, infinite, 64), zero);
        assert_eq!(float(f64::NAN), zero);
        assert_eq!(convert(float(-2.9), 64), Value::Int(-2));
        assert_eq!(convert(float(1e300), 64), Value::Int(i64::MAX));
        assert_eq!(convert(float(40_000.0), 16), Value::Int(32_767));
        assert_eq!(convert(float(-40_000.0), 16), Value::Int(-32_768));
        let rising =
            [f64::NEG_INFINITY, -2.5, -1e-300, 0.0, 1e-300, 1.0, f64::INFINITY].map(|value| number(float(value)));
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        assert_eq!(number(float(-0.0)), number(float(0.0)));
    }

    #[test]
    fn sizes_stop_at_the_highest_int() {
        assert_eq!(size(40_000, 16), Value::Int(32_767));
        assert_eq!(size(40_000, 64), Value::Int(40_000));
    }
}
