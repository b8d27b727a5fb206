//! Reads what is expected.

use crate::diagnostics::Diagnostic;
use crate::syntax::ast::Name;
use crate::syntax::lexer::{TokenKind, unescape};
use crate::syntax::parser::Parse;

use super::reader::{ExpectationDraft, ExpectedDraft, MeasureDraft, Reader};

/// What can be measured, as it is written.
pub(super) const MEASURES: [&str; 10] =
    ["share", "idle", "response", "latency", "misses", "jobs", "dispatches", "preemptions", "refusals", "end"];
/// Of which number of many.
pub(super) const STATISTICS: [&str; 7] = ["worst", "mean", "median", "p90", "p95", "p99", "p999"];

impl Reader<'_> {
    // Production: expectation.
    pub(super) fn expectation(&mut self) -> Parse<()> {
        self.parser.advance();
        let start = self.parser.token.at;
        let what = self.expected()?;
        let at = self.parser.since(start);
        let text = self.parser.written(at).split_whitespace().collect::<Vec<_>>().join(" ");
        self.parser.expect_semicolon()?;
        self.draft.expectations.push(ExpectationDraft { what, text, at });
        Ok(())
    }

    fn expected(&mut self) -> Parse<ExpectedDraft> {
        match self.parser.word() {
            Some("order") if !self.parser.follows_word("never") && !self.parser.follows_word("runs") => {
                self.parser.advance();
                self.names().map(ExpectedDraft::Order)
            }
            Some("dispatched") => {
                self.parser.advance();
                self.names().map(ExpectedDraft::Dispatched)
            }
            Some(word) if STATISTICS.contains(&word) => {
                let statistic = self.any_word();
                if !self.parser.word().is_some_and(|word| MEASURES.contains(&word)) {
                    return Err(self.parser.expected("`response` or `latency`"));
                }
                self.measure(Some(statistic))
            }
            Some(word) if MEASURES.contains(&word) => self.measure(None),
            Some(_) => self.of_threads(),
            None => Err(self.parser.expected("what is expected")),
        }
    }

    // Production: of_threads.
    fn of_threads(&mut self) -> Parse<ExpectedDraft> {
        let name = self.parser.name("what is expected")?;
        if self.parser.eat_word("never") {
            self.parser.expect_word("overlaps")?;
            let other = self.parser.name("the name of a thread")?;
            return Ok(ExpectedDraft::NeverOverlaps(name, other));
        }
        if self.parser.eat_word("runs") {
            self.parser.expect_word("within")?;
            let within = self.parser.expression()?;
            return Ok(ExpectedDraft::Runs(name, within));
        }
        let unexpected = self.parser.unexpected("`never overlaps` or `runs within`");
        let measures: Vec<String> = MEASURES.iter().map(|word| format!("`{word}`")).collect();
        Err(self.parser.report(unexpected.note(format!("what is measured: {}", measures.join(", "))).help(
            "for example `expect p99 response of A <= 20ms;`, `expect share of A = 50% within 2%;`, `expect order A, B;`",
        )))
    }

    // Production: measure.
    fn measure(&mut self, statistic: Option<Name>) -> Parse<ExpectedDraft> {
        let measure = self.any_word();
        let of = if self.parser.eat_word("of") { Some(self.parser.name("the name of a thread")?) } else { None };
        let window = if self.parser.eat_word("from") {
            let from = self.parser.expression()?;
            self.parser.expect_word("to")?;
            Some((from, self.parser.expression()?))
        } else {
            None
        };
        let relation = match self.parser.token.kind {
            TokenKind::Sign(sign @ ("=" | "==" | "<" | "<=" | ">" | ">=")) => {
                self.parser.advance();
                if sign == "==" { "=".to_owned() } else { sign.to_owned() }
            }
            TokenKind::Word
            | TokenKind::Number(_)
            | TokenKind::Duration(_)
            | TokenKind::Float(_)
            | TokenKind::Text
            | TokenKind::Sign(_)
            | TokenKind::Bad(_)
            | TokenKind::End => return Err(self.parser.expected("`=`, `<`, `<=`, `>` or `>=`")),
        };
        let (bound, percent) = self.quantity()?;
        let (mut tolerance, mut tolerance_percent) = (None, false);
        if self.parser.is_word("within") {
            let at = self.parser.advance().at;
            if relation != "=" {
                let useless = Diagnostic::error("E0701", "only an equal number can be `within` another", at, "");
                return Err(self
                    .parser
                    .report(useless.help(format!("leave it out, or write `=` instead of `{relation}`"))));
            }
            let (value, percent) = self.quantity()?;
            (tolerance, tolerance_percent) = (Some(value), percent);
        }
        let because = if self.parser.eat_word("because") {
            if self.parser.token.kind != TokenKind::Text {
                return Err(self.parser.expected("the reason as a string"));
            }
            let at = self.parser.advance().at;
            Some(unescape(self.parser.written(at)))
        } else {
            None
        };
        let measured = MeasureDraft {
            statistic,
            measure,
            of,
            window,
            relation,
            bound,
            percent,
            tolerance,
            tolerance_percent,
            because,
        };
        Ok(ExpectedDraft::Measure(Box::new(measured)))
    }

    /// `20ms`, `5%`. A `%` stands last, so it is no remainder: the number before it is alone, or in parentheses.
    fn quantity(&mut self) -> Parse<(crate::syntax::ast::Expression, bool)> {
        let number = matches!(self.parser.token.kind, TokenKind::Number(_) | TokenKind::Float(_));
        let value = if number && self.parser.follows_sign("%") {
            self.parser.number_alone()?
        } else {
            self.parser.expression()?
        };
        Ok((value, self.parser.eat_sign("%")))
    }

    // Production: names.
    fn names(&mut self) -> Parse<Vec<Name>> {
        let mut names = vec![self.parser.name("the name of a thread")?];
        while self.parser.eat_sign(",") {
            names.push(self.parser.name("the name of a thread")?);
        }
        Ok(names)
    }
}
