//! Random amounts of a scenario. The same seed gives the same amounts.

use catapults_compiler::scenario::Amount;
use catapults_compiler::vocabulary::{Float, Type, Value};
use fastrand::Rng;

/// Draws an amount as the scenario describes it. `next` counts what was drawn from the list so far.
pub(super) fn draw(amount: &Amount, rng: &mut Rng, next: &mut usize) -> Value {
    match amount {
        Amount::Fixed(value) => *value,
        Amount::Uniform(least, most) => match (*least, *most) {
            (Value::Int(least), Value::Int(most)) => Value::Int(rng.i64(least..=most)),
            (Value::Time(least), Value::Time(most)) => Value::Time(rng.i64(least..=most)),
            (least, most) => of(least.ty(), number(least) + rng.f64() * (number(most) - number(least))),
        },
        // `1.0 -`, because the logarithm of 0 is infinite.
        Amount::Exponential(mean) => of(mean.ty(), -number(*mean) * (1.0 - rng.f64()).ln()),
        Amount::Pareto { least, shape } => of(least.ty(), number(*least) / (1.0 - rng.f64()).powf(1.0 / shape)),
        Amount::Listed(ty, list) => {
            let value = list[*next % list.len()];
            *next += 1;
            match ty {
                Type::Int => Value::Int(value),
                Type::Time => Value::Time(value),
                Type::Bool => Value::Bool(value != 0),
                Type::Float => Value::Float(Float::new(value as f64)),
            }
        }
    }
}

/// In nanoseconds, but no more than `LONGEST`.
pub(super) fn nanoseconds(value: Value) -> i64 {
    const LONGEST: i64 = i64::MAX / 8;
    match value {
        Value::Time(value) | Value::Int(value) => value.clamp(0, LONGEST),
        Value::Float(_) | Value::Bool(_) => 0,
    }
}

fn number(value: Value) -> f64 {
    match value {
        Value::Int(value) | Value::Time(value) => value as f64,
        Value::Float(value) => value.get(),
        Value::Bool(_) => 0.0,
    }
}

fn of(ty: Type, number: f64) -> Value {
    match ty {
        Type::Int => Value::Int(number.round() as i64),
        Type::Time => Value::Time(number.round() as i64),
        Type::Float => Value::Float(Float::new(number)),
        Type::Bool => Value::Bool(number != 0.0),
    }
}
