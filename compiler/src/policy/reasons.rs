//! Why a request is refused: text, and values that the policy has at that moment.

use super::Expression;
use crate::vocabulary::{Type, Value};

/// `"a load of {booked + load} of {WHOLE}"`. Values are evaluated before the request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What is around the values: one more than there are values.
    pub texts: Vec<String>,
    /// At most [`Reason::MOST_VALUES`]; none is a float.
    pub values: Vec<(Expression, Type)>,
}

impl Reason {
    /// How many values a reason has at most.
    pub const MOST_VALUES: usize = 4;
    /// How many bytes a reason with values has at most, whatever the values. Hosts keep it in a buffer of one more.
    pub const MOST_BYTES: usize = 127;

    /// Its text, if it has no values.
    pub fn constant(&self) -> Option<&str> {
        self.texts.first().filter(|_| self.values.is_empty()).map(String::as_str)
    }

    /// Its text with `{}` for each value. A reader of it cannot tell text in braces from a value; people can.
    pub fn pattern(&self) -> String {
        self.texts.join("{}")
    }

    /// Its text with the values.
    pub fn filled(&self, values: &[Value]) -> String {
        let mut text = self.texts.first().cloned().unwrap_or_default();
        for (value, after) in values.iter().zip(self.texts.iter().skip(1)) {
            text.push_str(&value.to_string());
            text.push_str(after);
        }
        text
    }

    /// How many bytes the text has at most.
    pub fn longest(&self) -> usize {
        let texts: usize = self.texts.iter().map(String::len).sum();
        let values: usize = self.values.iter().map(|(_, ty)| width(*ty)).sum();
        texts + values
    }
}

/// How many bytes a value has at most.
fn width(ty: Type) -> usize {
    match ty {
        Type::Bool => "false".len(),
        Type::Int => i64::MIN.to_string().len(),
        Type::Time => Value::Time(i64::MIN + 1).to_string().len(),
        Type::Float => 0,
    }
}
