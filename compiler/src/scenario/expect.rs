//! Reads expectations.

use crate::diagnostics::Diagnostic;
use crate::syntax::ast::Name;
use crate::syntax::lexer::{TokenKind, unescape};
use crate::syntax::parser::{Parse, Reported};
use crate::syntax::tokens;

use super::reader::{ExpectationDraft, ExpectedDraft, MeasureDraft, Quantity, Reader};

/// What can be measured, as scenarios write it.
pub(super) const MEASURES: [&str; 10] =
    ["share", "idle", "response", "latency", "misses", "jobs", "dispatches", "preemptions", "refusals", "end"];
/// Which number is taken of many.
pub(super) const STATISTICS: [&str; 7] = ["worst", "mean", "median", "p90", "p95", "p99", "p999"];

impl Reader<'_> {
    // Production: expectation.
    pub(super) fn expectation(&mut self) -> Parse<()> {
        self.parser.advance();
        let start = self.parser.token.at;
        let what = self.expected()?;
        let at = self.parser.since(start);
        let text = respaced(self.parser.written(at));
        self.parser.expect_semicolon()?;
        self.draft.expectations.push(ExpectationDraft { what, text, at });
        Ok(())
    }

    fn expected(&mut self) -> Parse<ExpectedDraft> {
        let Some(word) = self.parser.word() else { return Err(self.parser.expected("what is expected")) };
        let known = ["order", "dispatched", "refusal"].contains(&word)
            || STATISTICS.contains(&word)
            || MEASURES.contains(&word);
        let first = if known { self.any_word() } else { self.parser.name("what is expected")? };
        // A thread can have any name.
        if self.parser.is_word("never") && self.parser.follows_word("overlaps") {
            self.parser.advance();
            self.parser.advance();
            return Ok(ExpectedDraft::NeverOverlaps(first, self.parser.name("the name of a thread")?));
        }
        if self.parser.is_word("runs") && self.parser.follows_word("within") {
            self.parser.advance();
            self.parser.advance();
            return Ok(ExpectedDraft::Runs(first, self.parser.expression()?));
        }
        match word {
            "refusal" => self.said().map(|(of, text)| ExpectedDraft::Says(of, text)),
            "order" => self.names().map(ExpectedDraft::Order),
            "dispatched" => self.names().map(ExpectedDraft::Dispatched),
            _ if STATISTICS.contains(&word) => {
                if !self.parser.word().is_some_and(|word| MEASURES.contains(&word)) {
                    return Err(self.parser.expected("`response` or `latency`"));
                }
                let measure = self.any_word();
                self.measured(Some(first), measure)
            }
            _ if MEASURES.contains(&word) => self.measured(None, first),
            _ => Err(self.nothing_known()),
        }
    }

    fn nothing_known(&mut self) -> Reported {
        let unexpected = self.parser.unexpected("`never overlaps` or `runs within`");
        let measures: Vec<String> = MEASURES.iter().map(|word| format!("`{word}`")).collect();
        self.parser.report(unexpected.note(format!("what is measured: {}", measures.join(", "))).help(
            "for example `expect p99 response of A <= 20ms;`, `expect share of A = 50% within 2%;`, `expect order A, B;`",
        ))
    }

    // Productions: measured, statistic, measure, compared.
    fn measured(&mut self, statistic: Option<Name>, measure: Name) -> Parse<ExpectedDraft> {
        let of = if self.parser.eat_word("of") { Some(self.parser.name("the name of a thread")?) } else { None };
        let window = if self.parser.eat_word("from") {
            // A comparison follows.
            let from = self.parser.sum()?;
            self.parser.expect_word("to")?;
            Some((from, self.parser.sum()?))
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
        let bound = self.quantity()?;
        let mut tolerance = None;
        if self.parser.is_word("within") {
            let at = self.parser.advance().at;
            if relation != "=" {
                let useless = Diagnostic::error("E0701", "`within` needs `=`", at, "");
                return Err(self
                    .parser
                    .report(useless.help(format!("leave it out, or write `=` instead of `{relation}`"))));
            }
            tolerance = Some(self.quantity()?);
        }
        let because = if self.parser.eat_word("because") { Some(self.reason_of_refusals()?) } else { None };
        let measured = MeasureDraft { statistic, measure, of, window, relation, bound, tolerance, because };
        Ok(ExpectedDraft::Measure(Box::new(measured)))
    }

    fn said(&mut self) -> Parse<(Name, String)> {
        self.parser.expect_word("of")?;
        let of = self.parser.name("the name of a thread")?;
        self.parser.expect_word("says")?;
        Ok((of, self.reason_of_refusals()?))
    }

    fn reason_of_refusals(&mut self) -> Parse<String> {
        if self.parser.token.kind != TokenKind::Text {
            return Err(self.parser.expected("the reason as a string"));
        }
        let at = self.parser.advance().at;
        Ok(unescape(self.parser.written(at)))
    }

    // Production: quantity.
    fn quantity(&mut self) -> Parse<Quantity> {
        self.parser.percent_ends = true;
        let value = self.parser.expression();
        self.parser.percent_ends = false;
        let value = value?;
        let text = self.parser.written(value.at);
        let tokens = tokens(text).map(|at| &text[at.start as usize..at.end as usize]);
        let written = tokens.collect();
        Ok(Quantity { value, written, percent: self.parser.eat_sign("%") })
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

/// The text without comments, and with uniform spaces.
fn respaced(text: &str) -> String {
    let mut out = String::new();
    for at in tokens(text) {
        let token = text.get(at.start as usize..at.end as usize).unwrap_or_default();
        let close = matches!(token, "%" | "," | "." | ")" | "]") || out.ends_with(['(', '[', '.']);
        if !out.is_empty() && !close {
            out.push(' ');
        }
        out.push_str(token);
    }
    out
}
