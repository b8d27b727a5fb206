//! The reason of a `fail`: text with values in braces, `"a load of {booked + load}"`.
//!
//! A string is one token. What stands in its braces is read apart, by the same parser, from there to the brace.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::At;

use super::ast::{self, Expression};
use super::parser::{Parse, Parser, Reported};

impl Parser<'_> {
    /// The current token is the string.
    pub(super) fn reason(&mut self) -> Parse<ast::Reason> {
        let at = self.token.at;
        let mut reason = ast::Reason { texts: vec![String::new()], values: Vec::new(), at };
        let written = self.written(at);
        let mut rest = at.start as usize + 1;
        let end = (at.start as usize + written.len()).saturating_sub(1);
        let whole = self.written(At { start: 0, ..at });
        while let Some(found) = whole.get(rest..end).and_then(|text| text.chars().next()) {
            let next = whole.get(rest + found.len_utf8()..end).and_then(|text| text.chars().next());
            let text = reason.texts.last_mut();
            match (found, next) {
                // The string is whole, so something follows a backslash.
                ('\\', Some(escaped)) => {
                    text.into_iter().for_each(|text| text.push(escaped));
                    rest += 1 + escaped.len_utf8();
                }
                ('{', Some('{')) | ('}', Some('}')) => {
                    text.into_iter().for_each(|text| text.push(found));
                    rest += 2;
                }
                ('{', _) => {
                    let Some(length) = whole.get(rest..end).and_then(|text| text.find('}')) else {
                        return Err(self.brace(at, rest, "`{` begins a value, and no `}` ends it"));
                    };
                    let inside = At { start: offset(rest + 1), end: offset(rest + length), ..at };
                    if let Some(inner) = self.written(inside).find('{') {
                        let inner = rest + 1 + inner;
                        return Err(self.brace(at, inner, "`{` stands within a value"));
                    }
                    reason.values.push(self.value_at(inside)?);
                    reason.texts.push(String::new());
                    rest += length + 1;
                }
                ('}', _) => return Err(self.brace(at, rest, "`}` ends no value")),
                _ => {
                    text.into_iter().for_each(|text| text.push(found));
                    rest += found.len_utf8();
                }
            }
        }
        self.advance();
        Ok(reason)
    }

    /// A brace that belongs to no other.
    fn brace(&mut self, text: At, place: usize, title: &str) -> Reported {
        let at = At { start: offset(place), end: offset(place + 1), line: text.line };
        let diagnostic = Diagnostic::error("E0111", title, at, "here");
        self.report(diagnostic.help("write `{{` or `}}` for a brace that is text"))
    }

    /// The expression in the braces of a string.
    fn value_at(&mut self, inside: At) -> Parse<Expression> {
        if self.written(inside).trim().is_empty() {
            let around = At { start: inside.start - 1, end: inside.end + 1, line: inside.line };
            let diagnostic = Diagnostic::error("E0334", "a value of this reason is empty", around, "no value");
            return Err(self.report(diagnostic.help("write an expression, or `{{}}` for braces that are text")));
        }
        if self.bad_within(inside) {
            let title = "this is no value of a reason";
            return Err(self.report(Diagnostic::error("E0334", title, inside, "not an expression")));
        }
        self.apart(inside, "E0334", |parser| {
            let value = parser.expression()?;
            if parser.is_end() { Ok(value) } else { Err(parser.expected("`}`")) }
        })
    }
}

/// Offsets fit: a source is no longer than [`crate::source::Source::LONGEST_SCENARIOS`].
fn offset(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
