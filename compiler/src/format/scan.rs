//! A text as tokens, each with the comments and line breaks before it.

use super::lines::width;
use crate::syntax::lexer::{Lexer, TokenKind};
use crate::syntax::raw::closing_brace;

/// A token of a policy. The last one of a text is empty: its end.
#[derive(Debug)]
pub(super) struct Token<'a> {
    /// As written. For a `verbatim` block, the braces and all between them, byte for byte.
    pub(super) text: &'a str,
    pub(super) kind: Kind,
    /// Between the token before and this one.
    pub(super) comments: Vec<Comment<'a>>,
    /// Whether a new line starts between the token before and this one.
    pub(super) newline: bool,
    /// Whether there is an empty line between what stands before (a comment, too) and this one.
    pub(super) blank: bool,
    /// Where it starts, in bytes.
    pub(super) start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// Brackets, punctuation, operators.
    Sign,
    /// Numbers, strings, and whatever else is one piece and stands for a value.
    Value,
    /// `{ … }` after `verbatim`.
    Verbatim,
    End,
}

#[derive(Debug)]
pub(super) struct Comment<'a> {
    /// Without white space at its end.
    pub(super) text: &'a str,
    /// Nothing stands before it on its line.
    pub(super) starts_line: bool,
    /// Nothing stands after it on its last line.
    pub(super) ends_line: bool,
    /// There is an empty line before it.
    pub(super) blank: bool,
    /// How many characters stand before it on its line.
    pub(super) column: usize,
}

impl Comment<'_> {
    /// Whether it stands after code, to the end of the line.
    pub(super) fn trails(&self) -> bool {
        !self.starts_line && self.ends_line && !self.is_long()
    }

    /// Whether it has several lines.
    pub(super) fn is_long(&self) -> bool {
        self.text.contains('\n')
    }
}

/// All tokens of a text; the last is of [`Kind::End`].
pub(super) fn scan(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token> = Vec::new();
    let (mut base, mut lexer, mut end) = (0, Lexer::new(text), text.len() - text.trim_start_matches('\u{feff}').len());
    loop {
        let token = lexer.next();
        let start = (base + token.at.start as usize).min(text.len());
        let mut after = (base + token.at.end as usize).min(text.len());
        // All other tokens count as values.
        let mut kind = if token.kind == TokenKind::Word {
            Kind::Word
        } else if matches!(token.kind, TokenKind::Sign(_)) {
            Kind::Sign
        } else if token.kind == TokenKind::End {
            Kind::End
        } else {
            Kind::Value
        };
        if &text[start..after] == "{" && opens_verbatim(&tokens) {
            kind = Kind::Verbatim;
            after = closing_brace(&text[start + 1..]).map_or(text.len(), |length| start + length + 2);
            base = after;
            lexer = Lexer::new(&text[after..]);
        }
        // `|=` is read as two signs.
        if &text[start..after] == "="
            && let Some(bar) = tokens.last_mut().filter(|bar| bar.text == "|" && bar.start + 1 == start)
        {
            bar.text = &text[bar.start..after];
            end = after;
            continue;
        }
        let (comments, blank) = comments(text, end, start);
        let newline = text[end..start].contains('\n');
        tokens.push(Token { text: &text[start..after], kind, comments, newline, blank, start });
        if kind == Kind::End {
            return tokens;
        }
        end = after;
    }
}

/// Whether the tokens end with `verbatim LANGUAGE` or `verbatim LANGUAGE TYPE`.
fn opens_verbatim(tokens: &[Token]) -> bool {
    let words = tokens.iter().rev().take_while(|token| token.kind == Kind::Word).take(3);
    words.skip(1).any(|token| token.text == "verbatim")
}

/// The comments between two tokens, and whether there is an empty line after the last.
fn comments(text: &str, start: usize, end: usize) -> (Vec<Comment<'_>>, bool) {
    let mut found: Vec<Comment> = Vec::new();
    let mut at = start;
    loop {
        let rest = &text[at..end];
        let white = rest.len() - rest.trim_start().len();
        let lines = rest[..white].matches('\n').count();
        if let Some(last) = found.last_mut() {
            last.ends_line |= lines > 0 || (white == rest.len() && end == text.len());
        }
        let blank = lines > 1 || (lines > 0 && at == 0);
        let rest = &rest[white..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            inside.find("*/").map_or(rest.len(), |inner| inner + 4)
        } else {
            return (found, blank);
        };
        let written = rest[..length].trim_end();
        let ends_line = written.starts_with("//");
        let before = &text[..at + white];
        let starts_line = lines > 0 || before.trim_start_matches('\u{feff}').trim_start().is_empty();
        found.push(Comment { text: written, starts_line, ends_line, blank, column: width(before) });
        at += white + length;
    }
}

/// Whether two texts have the same tokens and, but for white space at the ends of lines, the same comments.
pub(super) fn same(left: &[Token], right: &[Token]) -> bool {
    let comments = |token: &Token| -> Vec<Vec<String>> {
        token.comments.iter().map(|comment| comment.text.lines().map(|line| line.trim().to_owned()).collect()).collect()
    };
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| {
            left.kind == right.kind && left.text == right.text && comments(left) == comments(right)
        })
}
