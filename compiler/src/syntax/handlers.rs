//! Parses handlers: headers and bodies.

use super::ast::{Block, Handler, HandlerKind, Name};
use super::lexer::TokenKind;
use super::parser::{Parse, Parser, Reported};
use super::words::RESERVED;
use crate::vocabulary::{At, Type};

impl Parser<'_> {
    // Production: handler.
    /// `None` if the header cannot be read. The body is read nevertheless, to report the errors in it.
    pub(super) fn handler(&mut self, kind: HandlerKind) -> Parse<Option<Handler>> {
        let start = self.advance().at;
        let header = self.handler_header(kind);
        let at = self.since(start);
        match header {
            Ok((names, parameters, returns)) => {
                let body = self.block("the handler")?;
                Ok(Some(Handler { kind, names, parameters, returns, body, at }))
            }
            Err(Reported) => {
                self.lost.handlers = true;
                while !self.is_end()
                    && !self.is_sign("{")
                    && !self.is_sign("}")
                    && !self.is_sign(";")
                    && !self.starts_handler()
                {
                    self.advance();
                }
                if self.is_sign("{") {
                    self.block("the handler")?;
                } else if self.is_sign(";") {
                    self.advance();
                }
                Ok(None)
            }
        }
    }

    #[expect(clippy::type_complexity, reason = "the three parts of a header, taken apart at once by the only caller")]
    fn handler_header(&mut self, kind: HandlerKind) -> Parse<(Vec<Name>, Vec<Name>, Option<(Type, At)>)> {
        let what = if kind == HandlerKind::Event { "the name of an event" } else { "the name of a query" };
        let mut names = vec![self.event_name(what)?];
        while kind == HandlerKind::Event && self.eat_sign(",") {
            names.push(self.event_name(what)?);
        }
        if kind == HandlerKind::Query && self.is_sign(",") {
            let second = self.unexpected("`(` or `{`").note("only events share a handler");
            return Err(self.report(second.help("write a handler for each query")));
        }
        let parameters = self.parameters()?;
        if !parameters.is_empty() && self.is_sign(",") {
            let after = self.unexpected("`{`").note("the events of one handler share its parameters");
            return Err(
                self.report(after.help("write all events before the parameters: `event switch_out, block.*(t) { … }`"))
            );
        }
        let returns = if kind == HandlerKind::Query && self.eat_sign(":") { Some(self.value_type()?) } else { None };
        if !self.is_sign("{") {
            return Err(self.expected(if parameters.is_empty() { "`(` or `{`" } else { "`{`" }));
        }
        Ok((names, parameters, returns))
    }

    // Productions: event, query, event_family.
    pub(crate) fn event_name(&mut self, what: &str) -> Parse<Name> {
        let start = self.token.at;
        let mut text = String::new();
        loop {
            if self.token.kind == TokenKind::Word {
                text.push_str(self.written(self.token.at));
                self.advance();
            } else if !text.is_empty() && self.eat_sign("*") {
                text.push('*');
                break;
            } else {
                return Err(self.expected(what));
            }
            if !self.eat_sign(".") {
                break;
            }
            text.push('.');
        }
        Ok(Name { text, at: self.since(start) })
    }

    // Production: parameters.
    pub(crate) fn parameters(&mut self) -> Parse<Vec<Name>> {
        let mut parameters = Vec::new();
        if !self.eat_sign("(") || self.eat_sign(")") {
            return Ok(parameters);
        }
        loop {
            if self.word().is_some_and(|word| RESERVED.contains(&word)) && self.following.kind == TokenKind::Word {
                let alone = if self.is_word("node") {
                    "write its name alone: whether it is a thread or a node follows from the event"
                } else {
                    "a parameter is always a thread: write its name alone"
                };
                let typed = self.unexpected("a name").help(alone);
                return Err(self.report(typed));
            }
            parameters.push(self.name("a name for the thread")?);
            if self.eat_sign(")") {
                return Ok(parameters);
            }
            if !self.eat_sign(",") {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    /// A block of the policy language in a framework description.
    pub(crate) fn default_body(&mut self) -> Parse<Block> {
        self.block("the default handler")
    }
}
