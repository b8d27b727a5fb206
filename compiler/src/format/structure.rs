//! The structure of a policy, or of a framework description (`description.rs`), as far as a formatter needs it: where
//! statements start and end, and what is in blocks.

use std::ops::Range;

use super::scan::{Kind, Token};

/// A statement, a declaration, a section, a handler: `head body head body …`.
///
/// `if` has a clause for each of its branches, `verbatim` one for each alternative, `do` one for its body and one for
/// its condition; all others have one clause.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) clauses: Vec<Clause>,
}

/// A head, and the body that belongs to it.
#[derive(Debug)]
pub(super) struct Clause {
    /// The indices of its tokens. Empty before a lone block.
    pub(super) head: Range<usize>,
    pub(super) body: Option<Body>,
}

#[derive(Debug)]
pub(super) enum Body {
    /// `{ … }`: the indices of the braces, and the items between them.
    Braces(usize, Vec<Item>, usize),
    /// A statement alone.
    Single(Box<Item>),
}

impl Item {
    /// All its tokens.
    pub(super) fn range(&self) -> Range<usize> {
        let start = self.clauses.first().map_or(0, Clause::start);
        let end = self.clauses.last().map_or(start, Clause::end);
        start..end
    }

    /// Whether it has no block and no statement in it.
    pub(super) fn is_plain(&self) -> bool {
        self.clauses.iter().all(|clause| clause.body.is_none())
    }
}

impl Clause {
    fn start(&self) -> usize {
        match &self.body {
            Some(Body::Braces(open, ..)) if self.head.is_empty() => *open,
            Some(_) | None => self.head.start,
        }
    }

    fn end(&self) -> usize {
        match &self.body {
            Some(Body::Braces(_, _, close)) => close + 1,
            Some(Body::Single(item)) => item.range().end,
            None => self.head.end,
        }
    }
}

/// The structure of tokens that can be parsed; all others are at least kept. Also, in order, the ranges of words that
/// keep their author's lines.
pub(super) fn items(tokens: &[Token]) -> (Vec<Item>, Vec<Range<usize>>) {
    let mut reader = Reader { tokens, at: 0, words: Vec::new() };
    let mut items = if reader.is("framework") { reader.description() } else { Vec::new() };
    while reader.at + 1 < tokens.len() {
        items.push(reader.item());
    }
    (items, reader.words)
}

pub(super) struct Reader<'a> {
    pub(super) tokens: &'a [Token<'a>],
    /// The token to be read next.
    pub(super) at: usize,
    /// The parts of a description read so far that are not statements.
    pub(super) words: Vec<Range<usize>>,
}

impl Reader<'_> {
    pub(super) fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.text(self.at) == text
    }

    pub(super) fn is_end(&self) -> bool {
        self.at + 1 >= self.tokens.len()
    }

    /// Reads at least one token.
    fn item(&mut self) -> Item {
        let start = self.at;
        match self.text(start) {
            "if" => self.conditional(),
            "while" | "for" => {
                self.at += 1;
                self.parentheses();
                let head = start..self.at;
                Item { clauses: vec![Clause { head, body: self.body() }] }
            }
            "foreach" => {
                self.visited();
                let head = start..self.at;
                Item { clauses: vec![Clause { head, body: self.body() }] }
            }
            "do" => {
                self.at += 1;
                let head = start..self.at;
                let first = Clause { head, body: self.body() };
                let condition = self.at;
                self.statement();
                Item { clauses: vec![first, Clause { head: condition..self.at, body: None }] }
            }
            "verbatim" => self.alternatives(),
            "thread" if self.text(0) == "scenario" => self.simulated(),
            _ => {
                self.statement();
                let head = start..self.at;
                let ended = self.at > start && self.text(self.at - 1) == ";";
                let body = if self.is("{") && !ended { Some(self.braces()) } else { None };
                let mut clauses = vec![Clause { head, body }];
                // For a scheduler in a hierarchy. In a policy, no statement begins this way.
                if !ended && self.is("with") && self.text(self.at + 1) == "{" {
                    let head = self.at..self.at + 1;
                    self.at += 1;
                    clauses.push(Clause { head, body: Some(self.braces()) });
                }
                Item { clauses }
            }
        }
    }

    /// In a scenario: `thread NAME with { … } every 5ms { … }`
    fn simulated(&mut self) -> Item {
        let mut clauses = Vec::new();
        loop {
            let start = self.at;
            // The braces of the phases may follow the values of a `with` at once.
            if !self.is("{") {
                self.statement();
            }
            let head = start..self.at;
            let gives = self.at > start && self.text(self.at - 1) == "with";
            let ended = self.at > start && self.text(self.at - 1) == ";";
            let body = if self.is("{") && !ended { Some(self.braces()) } else { None };
            let ended = !gives || body.is_none() || self.is("}") || self.is_end();
            clauses.push(Clause { head, body });
            if ended {
                return Item { clauses };
            }
        }
    }

    fn conditional(&mut self) -> Item {
        let mut clauses = Vec::new();
        let mut start = self.at;
        loop {
            let conditional = self.is("if");
            if conditional {
                self.at += 1;
                self.parentheses();
            }
            let head = start..self.at;
            clauses.push(Clause { head, body: self.body() });
            if !conditional || !self.is("else") {
                return Item { clauses };
            }
            start = self.at;
            self.at += 1;
        }
    }

    /// `verbatim c { … } else verbatim python { … } else { … }`
    fn alternatives(&mut self) -> Item {
        let mut clauses = Vec::new();
        loop {
            let start = self.at;
            self.at += usize::from(self.is("else"));
            if !self.is("verbatim") {
                let head = start..self.at;
                clauses.push(Clause { head, body: self.body() });
                return Item { clauses };
            }
            while !self.is_end() && self.tokens[self.at].kind != Kind::Verbatim && !self.is(";") && !self.is("}") {
                self.at += 1;
            }
            let read = !self.is_end() && self.tokens[self.at].kind == Kind::Verbatim;
            self.at += usize::from(read);
            let more = self.is("else");
            self.at += usize::from(self.is(";"));
            clauses.push(Clause { head: start..self.at, body: None });
            if !more {
                return Item { clauses };
            }
        }
    }

    /// `foreach t in c`, `foreach (t in c)`, `foreach t in c[1]`
    fn visited(&mut self) {
        self.at += 1;
        if self.is("(") {
            return self.parentheses();
        }
        self.at = (self.at + 3).min(self.tokens.len() - 1);
        loop {
            match self.text(self.at) {
                "[" => self.brackets("[", "]"),
                "." => self.at = (self.at + 2).min(self.tokens.len() - 1),
                _ => return,
            }
        }
    }

    fn parentheses(&mut self) {
        self.brackets("(", ")");
    }

    /// Skips brackets and what is in them, if they start here.
    fn brackets(&mut self, opening: &str, closing: &str) {
        let mut open = 0_usize;
        while !self.is_end() {
            open += usize::from(self.is(opening));
            if open == 0 {
                return;
            }
            let closes = self.is(closing);
            self.at += 1;
            if closes {
                open -= 1;
                if open == 0 {
                    return;
                }
            }
        }
    }

    /// The body of an `if`, an `else` or a loop.
    fn body(&mut self) -> Option<Body> {
        if self.is_end() || self.is("}") {
            return None;
        }
        if self.is("{") { Some(self.braces()) } else { Some(Body::Single(Box::new(self.item()))) }
    }

    pub(super) fn braces(&mut self) -> Body {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        while !self.is_end() && !self.is("}") {
            items.push(self.item());
        }
        Body::Braces(open, items, self.closed())
    }

    /// Skips a `}`, if there is one.
    pub(super) fn closed(&mut self) -> usize {
        let close = self.at;
        self.at += usize::from(!self.is_end());
        close
    }

    /// Skips tokens through a `;`, or up to a block or the end of one. Braces after `=` or `enum` are no block.
    pub(super) fn statement(&mut self) {
        let start = self.at;
        let mut open = 0_usize;
        while !self.is_end() {
            let inside = open > 0;
            match self.text(self.at) {
                "(" | "[" => open += 1,
                ")" | "]" => open = open.saturating_sub(1),
                "{" if inside || (self.at > start && matches!(self.text(self.at - 1), "=" | "enum")) => open += 1,
                "{" => return,
                "}" if inside => open -= 1,
                // A lone one must be skipped.
                "}" if self.at == start => {
                    self.at += 1;
                    return;
                }
                "}" => return,
                ";" if !inside => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
