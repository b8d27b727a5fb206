//! Loops.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::{At, Test, Type};

use super::Feature;
use super::ast::{Expression, Statement, StatementKind};
use super::parser::{Parse, Parser};

impl Parser<'_> {
    // visit = "foreach" ( NAME "in" NAME | "(" NAME "in" NAME ")" ) statement ;
    pub(super) fn visit(&mut self, start: At) -> Parse<Statement> {
        self.advance();
        let parenthesis = self.eat_sign("(");
        let cursor = self.name("a name for the thread visited")?;
        self.expect_word("in")?;
        let container = self.name("the name of a container")?;
        if parenthesis {
            self.expect_sign(")")?;
        }
        let at = self.since(start);
        let body = self.branch()?;
        Ok(Statement { kind: StatementKind::Foreach { cursor, container, body }, at })
    }

    // repetition = "while" "(" expression ")" statement
    //            | "do" statement "while" "(" expression ")" ";"
    //            | "for" "(" [ attributes | assignment ] ";" [ expression ] ";" [ assignment ] ")" statement ;
    pub(super) fn repetition(&mut self, start: At) -> Parse<Statement> {
        if self.eat_word("do") {
            return self.tested_last();
        }
        let (mut first, mut step) = (None, None);
        let condition: Option<Expression>;
        if self.eat_word("while") {
            condition = Some(self.condition()?);
        } else {
            self.advance();
            self.expect_sign("(")?;
            first = self.header_part(";")?;
            self.expect_semicolon()?;
            condition = if self.is_sign(";") { None } else { Some(self.expression()?) };
            self.expect_semicolon()?;
            step = self.header_part(")")?;
            self.expect_sign(")")?;
        }
        let at = self.since(start);
        let body = self.branch()?;
        Ok(Statement { kind: StatementKind::Loop { start: first, condition, test: Test::Before, body, step }, at })
    }

    /// The rest of `do … while (…);`
    fn tested_last(&mut self) -> Parse<Statement> {
        let body = self.branch()?;
        let start = self.token.at;
        self.expect_word("while")?;
        let condition = Some(self.condition()?);
        let kind = StatementKind::Loop { start: None, condition, test: Test::After, body, step: None };
        self.finish(start, kind)
    }

    /// What stands before the first `;` of a `for`, or after the second; nothing before `end`.
    fn header_part(&mut self, end: &str) -> Parse<Option<Box<Statement>>> {
        if self.is_sign(end) {
            return Ok(None);
        }
        let start = self.token.at;
        let declares = end == ";";
        let kind = match self.word() {
            Some("int") if declares => self.variables(Type::Int, "=", false).map(StatementKind::Declare)?,
            Some("bool") if declares => self.variables(Type::Bool, "=", false).map(StatementKind::Declare)?,
            Some(_) | None => self.change()?,
        };
        if matches!(kind, StatementKind::Transfer { .. }) {
            let title = "no thread is moved between the parentheses of a `for`";
            let help = "write the transfer as a statement: before the loop, or last in its body";
            return Err(self.report(Diagnostic::error("E0101", title, start, "expected an assignment").help(help)));
        }
        Ok(Some(Box::new(Statement { at: self.since(start), kind })))
    }

    /// Reports and passes a loop that this framework does not have; whether there was one.
    pub(super) fn refused_loop(&mut self, start: At) -> bool {
        let starts = matches!(self.word(), Some("for" | "while" | "do"));
        let dialect = self.dialect.filter(|dialect| starts && !dialect.features.contains(&Feature::Loops));
        let Some(dialect) = dialect else { return false };
        let (name, word) = (&dialect.framework, self.written(start));
        let title = format!("framework `{name}` has no `{word}` loops");
        let reason = format!(
            "in `{name}` every handler must be seen to end: its description does not list `loops` in `dialect`"
        );
        let diagnostic = Diagnostic::error("E0108", title, start, "not in this framework's dialect").note(reason);
        self.report(diagnostic.help("visit the threads of a container with `foreach t in c`"));
        self.skip_loop(start);
        true
    }
}
