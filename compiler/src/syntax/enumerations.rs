//! Enumerations: constants that are numbered by their order, and variables for their values.

use crate::vocabulary::Type;

use super::ast::{Expression, ExpressionKind, Name, Scheduler, Variable};
use super::parser::{Parse, Parser, Reported};

impl Parser<'_> {
    // Production: enumeration.
    /// Constants of type `int`, numbered from 0, and variables for their values.
    pub(super) fn enumeration(&mut self, scheduler: &mut Scheduler) -> Parse<()> {
        let names = match self.enumerators() {
            Ok(names) => names,
            Err(Reported) => {
                self.leave_enumerators();
                return Err(Reported);
            }
        };
        for (value, name) in (0..).zip(&names) {
            let initial = Some(Expression { kind: ExpressionKind::Int(value), at: name.at });
            scheduler.constants.push(Variable { ty: Type::Int, name: name.clone(), array: None, initial });
        }
        scheduler.enumerations.push(names);
        if !self.is_sign(";") {
            scheduler.variables.extend(self.named_variables(Type::Int, "=", false)?);
        }
        Ok(())
    }

    /// Skips the rest of an `enum`'s braces.
    fn leave_enumerators(&mut self) {
        while !self.is_sign("}") && !self.is_sign(";") && !self.is_end() {
            self.advance();
        }
        self.eat_sign("}");
    }

    /// Reports an `enum` where only variables can be declared.
    pub(super) fn misplaced_enumeration(&mut self, expected: &str) -> Reported {
        let misplaced = self.unexpected(expected);
        let help = "declare `enum { … };` in `data { … }`, and an `int` here, which can hold these constants";
        let reported = self.report(misplaced.help(help));
        self.leave_enumerators();
        reported
    }

    // Production: enumeration.
    /// The names in the braces.
    fn enumerators(&mut self) -> Parse<Vec<Name>> {
        if !self.is_sign("{") {
            let named =
                self.unexpected("`{`").help("write `enum { FIRST, SECOND } x;`: an `enum` is no type, and has no name");
            return Err(self.report(named));
        }
        self.advance();
        let mut names = Vec::new();
        while names.is_empty() || !self.is_sign("}") {
            names.push(self.name("a name for one of the values")?);
            if !self.eat_sign(",") {
                break;
            }
        }
        if !self.eat_sign("}") {
            return Err(self.expected("`,` or `}`"));
        }
        Ok(names)
    }
}
