//! Loops.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::{At, Test};

use super::Feature;
use super::ast::{Expression, Statement, StatementKind};
use super::habits::VISIT;
use super::lexer::TokenKind;
use super::parser::{Parse, Parser, Reported};

impl Parser<'_> {
    // Productions: statement, visited.
    pub(super) fn visit(&mut self, start: At) -> Parse<Statement> {
        self.advance();
        let parenthesis = self.eat_sign("(");
        let cursor = self.name("a name for the thread visited")?;
        if !self.is_word("in") {
            let other = self.unexpected("`in`").help("write `foreach t in c`");
            return Err(self.report(other));
        }
        self.advance();
        let (container, _) = self.reference("the name of a container")?;
        let link = if self.eat_sign(".") { Some(self.name("the name of a threadref")?) } else { None };
        if let Some(link) = &link
            && self.is_sign(".")
        {
            return Err(self.no_name(&container, link));
        }
        if parenthesis {
            self.expect_sign(")")?;
        }
        let at = self.since(start);
        let body = self.branch()?;
        let kind = match link {
            None => StatementKind::Foreach { cursor, container, body },
            Some(link) => StatementKind::Follow { cursor, thread: container, link, body },
        };
        Ok(Statement { kind, at })
    }

    // Production: statement.
    pub(super) fn repetition(&mut self, start: At) -> Parse<Statement> {
        if self.eat_word("do") {
            return self.tested_last();
        }
        if self.eat_word("while") {
            let condition = Some(self.condition()?);
            let at = self.since(start);
            let body = self.branch()?;
            let kind = StatementKind::Loop { start: None, condition, test: Test::Before, body, step: None };
            return Ok(Statement { kind, at });
        }
        self.advance();
        if !self.is_sign("(") {
            let bare =
                self.unexpected("`(`").help("a loop that counts is `for (int i = 0; i < 10; i++) …`").help(VISIT);
            return Err(self.report(bare));
        }
        self.advance();
        let header = self.header();
        if header.is_err() {
            self.skip_header(start);
        }
        let at = self.since(start);
        let body = self.branch()?;
        Ok(match header {
            Ok((first, condition, step)) => {
                Statement { kind: StatementKind::Loop { start: first, condition, test: Test::Before, body, step }, at }
            }
            // The body is kept, so that its errors are reported too.
            Err(Reported) => Statement { kind: StatementKind::Block(body), at },
        })
    }

    #[expect(clippy::type_complexity, reason = "the three parts of a header, taken apart at once by the only caller")]
    fn header(&mut self) -> Parse<(Option<Box<Statement>>, Option<Expression>, Option<Box<Statement>>)> {
        if self.token.kind == TokenKind::Word
            && (self.follows_word("in") || self.follows_word("of") || self.follows_sign(":"))
        {
            self.advance();
            let each = self.unexpected("`=`").help(VISIT);
            return Err(self.report(each));
        }
        let first = self.header_part(";")?;
        self.expect_semicolon()?;
        let condition = if self.is_sign(";") { None } else { Some(self.expression()?) };
        self.expect_semicolon()?;
        let step = self.header_part(")")?;
        self.expect_sign(")")?;
        Ok((first, condition, step))
    }

    /// Skips the rest of a header and its `)`.
    fn skip_header(&mut self, start: At) {
        let mut open = 1_usize;
        while !self.is_end() && !self.is_sign("{") && !self.is_sign("}") && !self.starts_handler() {
            let closes = self.is_sign(")");
            open = if self.is_sign("(") { open + 1 } else { open.saturating_sub(usize::from(closes)) };
            self.advance();
            if closes && open == 0 {
                break;
            }
        }
        self.lose(start);
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

    /// Reads the part of a `for` before the first `;` or after the second. It is empty if `end` follows.
    fn header_part(&mut self, end: &str) -> Parse<Option<Box<Statement>>> {
        if self.is_sign(end) {
            return Ok(None);
        }
        let start = self.token.at;
        let declares = end == ";";
        let kind = match self.word() {
            Some(_) if declares && let Some(ty) = self.type_word() => self.declare(ty)?,
            Some(_) | None => self.change()?,
        };
        if matches!(kind, StatementKind::Transfer { .. } | StatementKind::Call(_)) {
            let title = "only assignments can be in the parentheses of a `for`";
            let help = "write this as a statement: before the loop, or last in its body";
            return Err(self.report(Diagnostic::error("E0101", title, start, "expected an assignment").help(help)));
        }
        Ok(Some(Box::new(Statement { at: self.since(start), kind })))
    }

    /// Reports and skips a loop that this framework does not have. Returns whether there was one.
    pub(super) fn refused_loop(&mut self, start: At) -> bool {
        let starts = matches!(self.word(), Some("for" | "while" | "do"));
        if !starts || !self.demand(Feature::Loops, &format!("`{}` loops", self.written(start)), start) {
            return false;
        }
        self.skip_loop(start);
        true
    }
}
