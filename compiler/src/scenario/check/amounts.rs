//! Amounts of a scenario: written, drawn from a distribution, or read from a file of numbers.

use std::sync::Arc;

use super::Checker;
use crate::diagnostics::Diagnostic;
use crate::scenario::Amount;
use crate::scenario::reader::AmountDraft;
use crate::syntax::ast::{Call, Expression, ExpressionKind, Name};
use crate::vocabulary::{Type, Value};

impl<'a> Checker<'a, '_> {
    /// An amount of this type. `duration`: it is not negative.
    pub(in crate::scenario) fn amount(&mut self, amount: &'a AmountDraft, ty: Type, duration: bool) -> Option<Amount> {
        match amount {
            AmountDraft::Written(expression) => match distribution(expression) {
                Some(call) => self.drawn(call, ty),
                None if duration => self.time(expression, 0).map(|nanoseconds| Amount::Fixed(Value::Time(nanoseconds))),
                None => self.compute(expression, ty).map(Amount::Fixed),
            },
            AmountDraft::File(file) => match (self.numbers)(file) {
                Ok(list) if list.is_empty() => {
                    let title = format!("`{}` has no numbers", file.path);
                    self.diagnostics.push(Diagnostic::error("E0706", title, file.at, ""));
                    None
                }
                Ok(list) => Some(Amount::Listed(ty, Arc::from(list))),
                Err(why) => {
                    let title = format!("`{}` cannot be used", file.path);
                    let unusable = Diagnostic::error("E0706", title, file.at, "").note(why);
                    self.diagnostics
                        .push(unusable.help("a file has one number on each line; times are in nanoseconds"));
                    None
                }
            },
        }
    }

    pub(super) fn fixed(&mut self, word: &Name, amount: &'a AmountDraft, least: i64) -> Option<i64> {
        match amount {
            AmountDraft::Written(expression) if distribution(expression).is_none() => self.time(expression, least),
            AmountDraft::Written(_) | AmountDraft::File(_) => {
                let title = format!("a `{}` must be constant", word.text);
                let drawn = Diagnostic::error("E0704", title, word.at, "");
                self.diagnostics
                    .push(drawn.help("write a duration; what comes irregularly comes `every exponential(5ms)`"));
                None
            }
        }
    }

    fn drawn(&mut self, call: &'a Call, ty: Type) -> Option<Amount> {
        let Call { name: word, arguments } = call;
        let (count, shape) = match word.text.as_str() {
            "exponential" => (1, "exponential(MEAN)"),
            "uniform" => (2, "uniform(LEAST, MOST)"),
            _ => (2, "pareto(LEAST, SHAPE)"),
        };
        if arguments.len() != count || ty == Type::Bool {
            let title = format!("`{}` cannot be used like this", word.text);
            self.diagnostics.push(Diagnostic::error("E0704", title, word.at, "").help(format!("write `{shape}`")));
            return None;
        }
        let least = self.positive(&arguments[0], ty)?;
        if word.text == "exponential" {
            return Some(Amount::Exponential(least));
        }
        let second = &arguments[1];
        if word.text == "uniform" {
            let most = self.positive(second, ty)?;
            if number(most) < number(least) {
                let title = "the highest number is less than the lowest one";
                self.diagnostics.push(Diagnostic::error("E0704", title, second.at, ""));
                return None;
            }
            return Some(Amount::Uniform(least, most));
        }
        let whole = matches!(second.kind, ExpressionKind::Int(_));
        let shape = self.compute(second, if whole { Type::Int } else { Type::Float })?;
        if number(shape) <= 0.0 {
            let title = "the shape of a Pareto distribution is more than 0";
            self.diagnostics.push(Diagnostic::error("E0704", title, second.at, ""));
            return None;
        }
        Some(Amount::Pareto { least, shape: number(shape) })
    }

    /// It is not negative.
    fn positive(&mut self, expression: &'a Expression, ty: Type) -> Option<Value> {
        let value = self.compute(expression, ty)?;
        if number(value) < 0.0 {
            self.diagnostics.push(Diagnostic::error("E0704", "this must be no less than 0", expression.at, ""));
            return None;
        }
        Some(value)
    }
}

/// `exponential(5ms)`: a call of one of the distributions.
pub(super) fn distribution(expression: &Expression) -> Option<&Call> {
    let ExpressionKind::Call(call) = &expression.kind else { return None };
    ["uniform", "exponential", "pareto"].contains(&&*call.name.text).then_some(call)
}

fn number(value: Value) -> f64 {
    match value {
        Value::Int(value) | Value::Time(value) => value as f64,
        Value::Float(value) => value.get(),
        Value::Bool(truth) => f64::from(u8::from(truth)),
    }
}
