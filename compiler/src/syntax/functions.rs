//! Functions and their calls.

use super::ast::{Call, Function, Name, Parameter};
use super::parser::{Parse, Parser};

impl Parser<'_> {
    // Productions: function, parameter.
    pub(super) fn function(&mut self) -> Parse<Function> {
        let start = self.advance().at;
        let returns = self.type_before_name()?;
        let name = self.name("the type of the function's value, or its name")?;
        self.expect_sign("(")?;
        let parameters = self.list(|parser| {
            let ty = parser.type_before_name()?;
            Ok(Parameter { ty, name: parser.name("the name of a thread, or the type of a value")? })
        })?;
        let at = self.since(start);
        let body = self.block("the function")?;
        Ok(Function { name, parameters, returns, body, shared: false, at })
    }

    // Production: call.
    pub(super) fn call(&mut self, name: Name) -> Parse<Call> {
        self.expect_sign("(")?;
        let arguments = self.list(|parser| parser.deeper(Self::expression))?;
        Ok(Call { name, arguments })
    }

    /// Reads items separated by commas, and the `)` after them. The `(` has been read.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.eat_sign(")") {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat_sign(")") {
                return Ok(items);
            }
            if !self.eat_sign(",") {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    fn type_before_name(&mut self) -> Parse<Option<crate::vocabulary::Type>> {
        if self.type_word().is_some() { self.value_type().map(|(ty, _)| Some(ty)) } else { Ok(None) }
    }
}
