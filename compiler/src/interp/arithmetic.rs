//! The operators. Everything wraps at the width of `int`; nothing stops.

use crate::policy::{BinaryOperator, UnaryOperator, Value};

/// A value as an int. Policies are typed, so a bool comes here only as a sort key: `true` is the higher one.
pub(super) fn int(value: Value) -> i64 {
    match value {
        Value::Int(int) => int,
        Value::Bool(truth) => i64::from(truth),
    }
}

/// A value as a condition.
pub(super) fn truth(value: Value) -> bool {
    match value {
        Value::Int(int) => int != 0,
        Value::Bool(truth) => truth,
    }
}

/// `|c|`. The highest int stands for itself and everything above it.
pub(super) fn size(threads: usize, bits: u8) -> Value {
    Value::Int(i64::try_from(threads).unwrap_or(i64::MAX).min(i64::MAX >> (64 - bits)))
}

/// `-x`, `!x`
pub(super) fn unary(operator: UnaryOperator, operand: Value, bits: u8) -> Value {
    match operator {
        UnaryOperator::Negate => Value::Int(wrap(int(operand).wrapping_neg(), bits)),
        UnaryOperator::Not => Value::Bool(!truth(operand)),
    }
}

/// The value of `&&` or `||` if the left operand decides it.
pub(super) fn decided(operator: BinaryOperator, left: Value) -> Option<Value> {
    match (operator, truth(left)) {
        (BinaryOperator::And, false) => Some(Value::Bool(false)),
        (BinaryOperator::Or, true) => Some(Value::Bool(true)),
        _ => None,
    }
}

/// Two operands, one value.
pub(super) fn binary(operator: BinaryOperator, left: Value, right: Value, bits: u8) -> Value {
    let (a, b) = (int(left), int(right));
    match operator {
        BinaryOperator::Add => Value::Int(wrap(a.wrapping_add(b), bits)),
        BinaryOperator::Subtract => Value::Int(wrap(a.wrapping_sub(b), bits)),
        BinaryOperator::Multiply => Value::Int(wrap(a.wrapping_mul(b), bits)),
        BinaryOperator::Divide => Value::Int(if b == 0 { 0 } else { wrap(a.wrapping_div(b), bits) }),
        BinaryOperator::Remainder => Value::Int(if b == 0 { 0 } else { a.wrapping_rem(b) }),
        BinaryOperator::Equal => Value::Bool(a == b),
        BinaryOperator::NotEqual => Value::Bool(a != b),
        BinaryOperator::Less => Value::Bool(a < b),
        BinaryOperator::LessOrEqual => Value::Bool(a <= b),
        BinaryOperator::Greater => Value::Bool(a > b),
        BinaryOperator::GreaterOrEqual => Value::Bool(a >= b),
        BinaryOperator::And => Value::Bool(truth(left) && truth(right)),
        BinaryOperator::Or => Value::Bool(truth(left) || truth(right)),
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
        int(binary(operator, Value::Int(a), Value::Int(b), bits))
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
    fn division_by_zero_is_zero_and_truncates() {
        assert_eq!(ints(BinaryOperator::Divide, 7, 0, 64), 0);
        assert_eq!(ints(BinaryOperator::Remainder, 7, 0, 64), 0);
        assert_eq!(ints(BinaryOperator::Divide, -7, 2, 64), -3);
        assert_eq!(ints(BinaryOperator::Remainder, -7, 2, 64), -1);
        assert_eq!(ints(BinaryOperator::Remainder, i64::MIN, -1, 64), 0);
    }

    #[test]
    fn sizes_stop_at_the_highest_int() {
        assert_eq!(size(40_000, 16), Value::Int(32_767));
        assert_eq!(size(40_000, 64), Value::Int(40_000));
    }
}
