//! Divides the tokens into lines.

use std::ops::Range;

use super::WIDTH;
use super::lines::{Lines, width};
use super::scan::{Comment, Token};
use super::spacing::{self, Gap};
use super::structure::{Body, Clause, Item, items};

const INDENTATION: usize = 2;
const CONTINUATION: usize = 4;

/// Lays out tokens as a text.
pub(super) fn lay_out(tokens: &[Token]) -> String {
    let (items, words) = items(tokens);
    let mut layout = Layout { tokens, words: &words, lines: Lines::default() };
    layout.items(&items, 0);
    if let Some(end) = tokens.last() {
        layout.comments_before_end(end, 0, items.is_empty());
    }
    layout.lines.finish()
}

/// Whether the tokens were written on one line.
fn same_line(tokens: &[Token]) -> bool {
    tokens.iter().skip(1).all(|token| !token.newline && !token.text.contains('\n'))
}

struct Layout<'a> {
    tokens: &'a [Token<'a>],
    /// The ranges of a description's words that are not statements, in order.
    words: &'a [Range<usize>],
    lines: Lines,
}

impl Layout<'_> {
    /// Writes statements, declarations or sections, from the first line of a block on.
    fn items(&mut self, items: &[Item], indentation: usize) {
        for (index, item) in items.iter().enumerate() {
            let start = item.range().start;
            let before = index.checked_sub(1).map(|before| &items[before]);
            let joined = before.is_some_and(|before| self.joins(before, item));
            if !joined {
                self.lead(start, indentation, index == 0);
            }
            self.item(item, indentation, joined);
        }
    }

    /// Whether a statement goes on the line of the one before.
    fn joins(&self, before: &Item, item: &Item) -> bool {
        let first = &self.tokens[item.range().start];
        before.is_plain()
            && item.is_plain()
            && !first.newline
            && !first.comments.iter().any(|comment| comment.ends_line || comment.is_long())
            && !self.lines.is_closed()
            && self.is_whole_line(before.range())
            && self.on_one_line(item, WIDTH).is_some_and(|text| {
                let inline: usize = first.comments.iter().map(|comment| width(comment.text) + 1).sum();
                self.lines.column() + 1 + inline + width(&text) <= WIDTH
            })
    }

    /// Whether these tokens were written to the current line without a break.
    fn is_whole_line(&self, range: Range<usize>) -> bool {
        self.plain(range, WIDTH).is_some()
    }

    /// Writes the comments before the first token of an item, and begins its line.
    fn lead(&mut self, token: usize, indentation: usize, first: bool) {
        let mut first = first;
        let mut inline = false;
        let comments = &self.tokens[token].comments;
        for comment in comments {
            self.comment(comment, indentation, first, inline);
            inline = !comment.trails() && !comment.ends_line && !comment.is_long();
            first &= comment.trails();
        }
        if self.tokens[token].blank && !first && !inline {
            self.lines.empty_line();
        }
        if !inline {
            self.lines.start_line(indentation);
        }
    }

    /// Writes a comment between items. `inline`: after another one, on its line.
    fn comment(&mut self, comment: &Comment, indentation: usize, first: bool, inline: bool) {
        if comment.trails() && (!first || !self.lines.is_closed()) {
            return self.lines.trail(comment.text, comment.column);
        }
        if !comment.blank && comment.starts_line && self.lines.trail_below(comment.text, comment.column) {
            return;
        }
        if comment.blank && !first {
            self.lines.empty_line();
        }
        if !inline {
            self.lines.start_line(indentation);
        }
        self.lines.push(inline, &shifted(comment.text, indentation));
    }

    /// Writes the comments before the end of a block, or of the file.
    fn comments_before_end(&mut self, end: &Token, indentation: usize, first: bool) {
        let mut first = first;
        for comment in &end.comments {
            let trails = !comment.starts_line && !comment.is_long();
            if trails && (!first || !self.lines.is_closed()) {
                self.lines.trail(comment.text, comment.column);
            } else {
                self.comment(comment, indentation, first, false);
            }
            first = false;
        }
    }

    /// Writes an item. Its line is begun. `joined`: it goes after another one.
    fn item(&mut self, item: &Item, indentation: usize, joined: bool) {
        if joined {
            self.inline_comments(item.range().start);
        }
        if self.stands_on_one_line(item)
            && let Some(text) = self.on_one_line(item, WIDTH)
            && self.lines.column() + width(&text) + usize::from(!self.lines.is_fresh()) <= WIDTH
        {
            return self.flat_item(item, &text);
        }
        let word = self.tokens[item.range().start].text;
        for (index, clause) in item.clauses.iter().enumerate() {
            if let Some(before) = index.checked_sub(1) {
                self.next_clause(&item.clauses[before], clause, indentation);
            }
            let whole = self.head(clause, indentation);
            match &clause.body {
                None => {}
                Some(Body::Braces(open, items, close)) => {
                    if !clause.head.is_empty() {
                        self.comments_in_statement(*open, indentation);
                    }
                    let last = index + 1 == item.clauses.len();
                    let values = word == "thread" && !last && same_line(&self.tokens[*open..=*close]);
                    match self.flat_block(items, *close).filter(|_| values) {
                        Some(text) => self.lines.push(true, &text),
                        None => self.block(items, *close, indentation),
                    }
                }
                Some(Body::Single(single)) => self.single(single, indentation, whole),
            }
        }
    }

    /// Writes an item that fits on the current line.
    fn flat_item(&mut self, item: &Item, text: &str) {
        let start = item.range().start;
        let space = !self.lines.is_fresh();
        let word = self.tokens[start].text;
        let clauses = item.clauses.as_slice();
        let aligned = match (clauses, word) {
            ([Clause { head, body: Some(Body::Braces(..)) }, ..], "event" | "query" | "function") => Some(head.clone()),
            // `query size : int = count READY;`
            ([Clause { head, body: None }], "query") => {
                head.clone().find(|index| self.tokens[*index].text == "=").map(|equals| head.start..equals)
            }
            (_, _) => None,
        };
        if let Some(written) = aligned.and_then(|head| self.plain(head, WIDTH)) {
            self.lines.push(space, &written);
            self.lines.push(true, "");
            self.lines.mark_handler(word);
            return self.lines.push(false, text.get(written.len()..).unwrap_or_default().trim_start());
        }
        self.lines.push(space, text);
    }

    /// Whether an item stays on one line because its author put it there. Whole files never do, plain statements only if
    /// they are queries.
    fn stands_on_one_line(&self, item: &Item) -> bool {
        let same_line = |range: Range<usize>| same_line(&self.tokens[range]);
        let range = item.range();
        match item.clauses.as_slice() {
            _ if item.is_plain() => self.tokens[range.start].text == "query",
            _ if matches!(self.tokens[range.start].text, "framework" | "hierarchy" | "scenario") => false,
            [_, _, ..] if self.tokens[range.start].text == "thread" => same_line(range),
            _ if self.tokens[range.start].text == "scheduler" && self.tokens[0].text != "hierarchy" => false,
            [Clause { body: Some(Body::Braces(open, items, close)), .. }] => {
                let empty = items.is_empty() && self.tokens[*close].comments.is_empty();
                empty || same_line(*open..close + 1)
            }
            _ => same_line(range),
        }
    }

    /// Goes to the next clause: beside a brace, unless a comment or a long text is in the way.
    fn next_clause(&mut self, before: &Clause, clause: &Clause, indentation: usize) {
        let text: usize = clause.head.clone().map(|token| 1 + first_width(self.tokens[token].text)).sum();
        let beside = match &before.body {
            Some(Body::Single(_)) => false,
            Some(Body::Braces(..)) => true,
            None => self.lines.column() + text <= WIDTH,
        };
        if !beside || !self.tokens[clause.head.start].comments.is_empty() {
            self.lead_without_blank(clause.head.start, indentation);
        }
    }

    /// As [`Self::lead`], without empty lines: before an `else`.
    fn lead_without_blank(&mut self, token: usize, indentation: usize) {
        let mut inline = false;
        for comment in &self.tokens[token].comments {
            self.comment(comment, indentation, true, inline);
            inline = !comment.trails() && !comment.ends_line && !comment.is_long();
        }
        if !inline {
            self.lines.start_line(indentation);
        }
    }

    /// Writes the tokens of a clause before its body. Returns whether they are all on the current line.
    fn head(&mut self, clause: &Clause, indentation: usize) -> bool {
        if clause.head.is_empty() {
            return true;
        }
        let reserve = if matches!(clause.body, Some(Body::Braces(..))) { " {".len() } else { 0 };
        self.statement(clause.head.clone(), indentation, reserve)
    }

    /// The values of a thread in a scenario, on the current line, if there is room for them and what follows.
    fn flat_block(&self, items: &[Item], close: usize) -> Option<String> {
        if !self.tokens[close].comments.is_empty() || self.lines.is_closed() {
            return None;
        }
        let texts: Option<Vec<String>> = items
            .iter()
            .map(|item| {
                let plain = self.tokens[item.range().start].comments.is_empty();
                if plain { self.on_one_line(item, WIDTH) } else { None }
            })
            .collect();
        let text = format!("{{ {} }}", texts?.join(" "));
        (!items.is_empty() && self.lines.column() + 1 + width(&text) + " {".len() <= WIDTH).then_some(text)
    }

    /// Writes ` {`, the lines of a block, and `}`. An empty block stays on the line.
    fn block(&mut self, items: &[Item], close: usize, indentation: usize) {
        if self.lines.is_closed() {
            self.lines.start_line(indentation);
        }
        self.lines.push(true, "{");
        let end = &self.tokens[close];
        if items.is_empty() && end.comments.is_empty() {
            return self.lines.push(true, "}");
        }
        let inner = indentation + INDENTATION;
        self.items(items, inner);
        self.comments_before_end(end, inner, items.is_empty());
        self.lines.start_line(indentation);
        self.lines.push(false, "}");
    }

    /// Writes the single statement of an `if` or a loop: beside it, if its author wrote it there and it fits.
    fn single(&mut self, item: &Item, indentation: usize, beside: bool) {
        let first = &self.tokens[item.range().start];
        let on_one_line = self.on_one_line(item, WIDTH).filter(|_| item.is_plain() || self.stands_on_one_line(item));
        if let Some(text) = on_one_line
            && beside
            && !first.newline
            && first.comments.is_empty()
            && !self.lines.is_closed()
            && self.lines.column() + 1 + width(&text) <= WIDTH
        {
            return self.lines.push(true, &text);
        }
        let inner = indentation + INDENTATION;
        self.lead_without_blank(item.range().start, inner);
        self.item(item, inner, false);
    }

    /// Writes a statement's tokens on a line that is begun, with breaks as needed. Returns whether one line was enough.
    ///
    /// After the last token `reserve` characters stay free.
    fn statement(&mut self, range: Range<usize>, indentation: usize, reserve: usize) -> bool {
        let tokens = &self.tokens[range.clone()];
        let gaps = self.gaps(range.clone());
        let mut whole = true;
        let mut start = 0;
        while start < tokens.len() {
            // Up to a comment that ends its line.
            let end = (start + 1..tokens.len()).find(|index| self.breaks(range.start + index)).unwrap_or(tokens.len());
            let reserve = if end == tokens.len() { reserve } else { 0 };
            whole &= self.segment(range.start, &gaps, start..end, indentation, reserve);
            if end < tokens.len() {
                whole = false;
                self.comments_in_statement(range.start + end, indentation);
                if self.lines.is_closed() {
                    self.lines.start_line(indentation + CONTINUATION);
                }
            }
            start = end;
        }
        whole
    }

    fn gaps(&self, range: Range<usize>) -> Vec<Gap> {
        let before = self.words.partition_point(|words| words.end <= range.start);
        let words = self.words.get(before).is_some_and(|words| words.contains(&range.start));
        let tokens = &self.tokens[range];
        if words { spacing::of_words(tokens) } else { spacing::of_statement(tokens) }
    }

    /// Whether a line ends before this token because of a comment.
    fn breaks(&self, token: usize) -> bool {
        self.tokens[token].comments.iter().any(|comment| comment.ends_line || comment.starts_line || comment.is_long())
    }

    /// Writes tokens without a comment that breaks the line, on as many lines as needed. Returns whether one sufficed.
    fn segment(
        &mut self,
        offset: usize,
        gaps: &[Gap],
        range: Range<usize>,
        indentation: usize,
        reserve: usize,
    ) -> bool {
        let pieces: Vec<Piece> =
            range.clone().map(|index| self.piece(offset + index, gaps[index], index == range.start)).collect();
        let mut whole = true;
        let mut start = 0;
        while start < pieces.len() {
            if start > 0 {
                whole = false;
                self.lines.start_line(indentation + if pieces[start].gap.line { 0 } else { CONTINUATION });
            }
            let beside = start == 0 && !self.lines.is_fresh();
            let end = start + line_length(&pieces[start..], self.lines.column() + usize::from(beside), reserve);
            for (index, piece) in pieces[start..end].iter().enumerate() {
                self.lines.push(if index == 0 { beside } else { piece.gap.space }, &piece.text);
                whole &= !piece.text.contains('\n');
            }
            start = end;
        }
        whole
    }

    /// A token with the comments before it, unless it is the first.
    fn piece(&self, token: usize, gap: Gap, first: bool) -> Piece {
        let token = &self.tokens[token];
        let comments = if first { &[][..] } else { &token.comments[..] };
        let text: String = comments.iter().map(|comment| format!("{} ", comment.text)).collect();
        Piece { gap: Gap { space: gap.space || !text.is_empty(), ..gap }, text: text + token.text }
    }

    /// Writes the comments before a token that is not the first of its statement.
    fn comments_in_statement(&mut self, token: usize, indentation: usize) {
        let inner = indentation + CONTINUATION;
        for comment in &self.tokens[token].comments {
            if comment.trails() && !self.lines.is_fresh() {
                self.lines.trail(comment.text, comment.column);
            } else if !comment.starts_line && !comment.ends_line && !comment.is_long() && !self.lines.is_closed() {
                self.lines.push(true, comment.text);
            } else if !comment.starts_line || !self.lines.trail_below(comment.text, comment.column) {
                self.lines.start_line(inner);
                self.lines.push(false, &shifted(comment.text, inner));
                if comment.ends_line || comment.is_long() {
                    self.lines.end_line();
                }
            }
        }
    }

    /// Writes the comments before a token on its line.
    fn inline_comments(&mut self, token: usize) {
        for comment in &self.tokens[token].comments {
            self.lines.push(true, comment.text);
        }
    }

    /// An item on one line of at most `most` characters, without the comments before it. `None`: impossible.
    fn on_one_line(&self, item: &Item, most: usize) -> Option<String> {
        let mut text = String::new();
        for (index, clause) in item.clauses.iter().enumerate() {
            if index > 0 {
                text.push(' ');
                text.push_str(&self.inline(clause.head.start)?);
            }
            text.push_str(&self.plain(clause.head.clone(), most)?);
            match &clause.body {
                None => {}
                Some(Body::Single(single)) => {
                    text.push(' ');
                    text.push_str(&self.inline(single.range().start)?);
                    text.push_str(&self.on_one_line(single, most.checked_sub(text.len())?)?);
                }
                Some(Body::Braces(open, items, close)) => {
                    if !clause.head.is_empty() {
                        text.push(' ');
                        text.push_str(&self.inline(*open)?);
                    }
                    text.push('{');
                    for item in items {
                        text.push(' ');
                        text.push_str(&self.inline(item.range().start)?);
                        text.push_str(&self.on_one_line(item, most.checked_sub(text.len())?)?);
                    }
                    text.push(' ');
                    text.push_str(&self.inline(*close)?);
                    text.push('}');
                }
            }
        }
        (width(&text) <= most).then_some(text)
    }

    /// Tokens on one line, without the comments before the first.
    fn plain(&self, range: Range<usize>, most: usize) -> Option<String> {
        if range.is_empty() {
            return Some(String::new());
        }
        let length = self.tokens.get(range.end.checked_sub(1)?)?.start.checked_sub(self.tokens[range.start].start);
        // Comments and white space make a text longer, but hardly by so much.
        if length? > 100 * WIDTH {
            return None;
        }
        let mut text = String::new();
        for (index, gap) in range.clone().zip(self.gaps(range.clone())) {
            let comments = if index == range.start { String::new() } else { self.inline(index)? };
            if gap.space || !comments.is_empty() {
                text.push(' ');
            }
            text.push_str(&comments);
            text.push_str(self.tokens[index].text);
        }
        (!text.contains('\n') && width(&text) <= most).then_some(text)
    }

    /// The comments before a token, each with a space after it. `None`: one of them breaks the line.
    fn inline(&self, token: usize) -> Option<String> {
        let comments = &self.tokens[token].comments;
        let fine = comments.iter().all(|comment| !comment.ends_line && !comment.starts_line && !comment.is_long());
        fine.then(|| comments.iter().map(|comment| format!("{} ", comment.text)).collect())
    }
}

/// Text that is not broken.
struct Piece {
    gap: Gap,
    text: String,
}

/// How many pieces, at least one, go on a line from a column on. After the very last, `reserve` characters stay free.
fn line_length(pieces: &[Piece], from: usize, reserve: usize) -> usize {
    let mut column = from;
    let mut best: Option<(usize, usize)> = None;
    for (index, piece) in pieces.iter().enumerate() {
        if let Some(rank) = piece.gap.rank.filter(|_| index > 0)
            && best.is_none_or(|(least, _)| rank <= least)
        {
            best = Some((rank, index));
        }
        column += usize::from(index > 0 && piece.gap.space);
        let long = piece.text.contains('\n');
        let after = if index + 1 == pieces.len() && !long { reserve } else { 0 };
        let first_line = first_width(&piece.text);
        if column + first_line + after > WIDTH
            && let Some((_, index)) = best
        {
            return index;
        }
        column = if long { width(&piece.text) } else { column + first_line };
    }
    pieces.len()
}

/// The width of the first line of a text, in characters.
fn first_width(text: &str) -> usize {
    text.lines().next().map_or(0, width)
}

/// A comment of several lines in its new place. Its lines move with it only if all of them start with a `*`.
fn shifted(text: &str, indentation: usize) -> String {
    let stars = text.lines().skip(1).all(|line| line.trim_start().starts_with('*'));
    let lines = text.lines().enumerate().map(|(index, line)| match index {
        0 => line.trim_end().to_owned(),
        _ if stars => format!("{} {}", " ".repeat(indentation), line.trim()),
        _ => line.trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
