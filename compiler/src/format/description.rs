//! The structure of a framework description, without knowing what its lines say.
//!
//! A line is an item that ends with `;`, or with the `}` of its last block; `default` continues the line before. Braces
//! contain statements if there is a `;` in them. Otherwise, they contain lines of words, which stay as their author
//! broke them: the type of an event, a sequence, the list of a command.

use super::structure::{Body, Clause, Item, Reader};

/// Tokens that cannot start a line of words.
const TIED: [&str; 6] = [",", ":", ".", "*", "?", ";"];

impl Reader<'_> {
    /// Reads `framework NAME { … }`.
    pub(super) fn description(&mut self) -> Vec<Item> {
        let start = self.at;
        self.statement();
        let head = start..self.at;
        let open = self.at;
        if !self.is("{") {
            return vec![Item { clauses: vec![Clause { head, body: None }] }];
        }
        self.at += 1;
        let mut lines = Vec::new();
        while !self.is_end() && !self.is("}") {
            lines.push(self.line());
        }
        let close = self.closed();
        vec![Item { clauses: vec![Clause { head, body: Some(Body::Braces(open, lines, close)) }] }]
    }

    /// Reads a line of a description, at least one token.
    fn line(&mut self) -> Item {
        let mut clauses = Vec::new();
        loop {
            let start = self.at;
            self.statement();
            let head = start..self.at;
            let before = self.text(self.at.saturating_sub(1));
            let body = match before {
                ";" | "}" => None,
                _ if !self.is("{") => None,
                "default" => Some(self.braces()),
                _ => Some(self.described()),
            };
            let ended = body.is_none();
            clauses.push(Clause { head, body });
            if ended || !self.is("default") {
                return Item { clauses };
            }
        }
    }

    /// Reads what is in braces.
    fn described(&mut self) -> Body {
        let mut close = self.at + 1;
        while close + 1 < self.tokens.len() && !matches!(self.text(close), "{" | "}" | ";") {
            close += 1;
        }
        if self.text(close) != "}" {
            return self.braces();
        }
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        while self.at < close {
            let start = self.at;
            self.words(close);
            self.words.push(start..self.at);
            items.push(Item { clauses: vec![Clause { head: start..self.at, body: None }] });
        }
        Body::Braces(open, items, self.closed())
    }

    /// Skips words up to where their author started a line, outside of parentheses.
    fn words(&mut self, close: usize) {
        let start = self.at;
        let mut open = 0_usize;
        while self.at < close {
            let (token, before) = (&self.tokens[self.at], self.text(self.at.saturating_sub(1)));
            if self.at > start && open == 0 && token.newline && before != "." && !TIED.contains(&token.text) {
                return;
            }
            open += usize::from(token.text == "(");
            open = open.saturating_sub(usize::from(token.text == ")"));
            self.at += 1;
        }
    }
}
