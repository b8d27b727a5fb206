//! Collects lines, and aligns parts of consecutive ones.

use super::WIDTH;

/// A line without its end.
#[derive(Debug, Default)]
struct Line {
    /// Includes the indentation. A long comment or a `verbatim` block contains line breaks.
    code: String,
    /// A comment after the code, and its column.
    trailing: Option<(String, usize)>,
    /// For a handler on this line: its first word, and the offset of its brace.
    handler: Option<(String, usize)>,
}

/// The text so far: whole lines, and the one that is being written.
#[derive(Debug, Default)]
pub(super) struct Lines {
    done: Vec<Line>,
    current: Line,
    /// Whether anything stands on the current line.
    begun: bool,
}

impl Lines {
    /// Ends the line, if there is anything on it.
    pub(super) fn end_line(&mut self) {
        if self.begun {
            self.done.push(std::mem::take(&mut self.current));
            self.begun = false;
        }
    }

    /// Leaves a line empty, unless the one before is.
    pub(super) fn empty_line(&mut self) {
        self.end_line();
        if self.done.last().is_some_and(|line| !line.code.is_empty() || line.trailing.is_some()) {
            self.done.push(Line::default());
        }
    }

    /// Ends the line, if there is one, and indents the next.
    pub(super) fn start_line(&mut self, indentation: usize) {
        self.end_line();
        self.current.code = " ".repeat(indentation);
        self.begun = true;
    }

    /// Adds to the line, which must have no trailing comment.
    pub(super) fn push(&mut self, space: bool, text: &str) {
        if space && !self.current.code.is_empty() && !self.current.code.ends_with(' ') {
            self.current.code.push(' ');
        }
        self.current.code.push_str(text);
        self.begun = true;
    }

    /// Puts a comment at the end of the last line, which may have one already.
    pub(super) fn trail(&mut self, comment: &str, column: usize) {
        let line = if self.begun { Some(&mut self.current) } else { self.done.last_mut() };
        let Some(line) = line else {
            self.push(false, comment);
            return;
        };
        match &mut line.trailing {
            Some((text, _)) => {
                text.push(' ');
                text.push_str(comment);
            }
            None => line.trailing = Some((comment.to_owned(), column)),
        }
    }

    /// Puts a comment under the trailing one of the last line, if both stood in one column. Returns whether it did.
    pub(super) fn trail_below(&mut self, comment: &str, column: usize) -> bool {
        let last = if self.begun { Some(&self.current) } else { self.done.last() };
        let below = last.and_then(|line| line.trailing.as_ref()).is_some_and(|(text, above)| {
            *above == column && text.starts_with("//") && comment.starts_with("//") && column > 0
        });
        if below {
            self.end_line();
            self.current.trailing = Some((comment.to_owned(), column));
            self.begun = true;
        }
        below
    }

    /// Whether nothing more can stand on the line.
    pub(super) fn is_closed(&self) -> bool {
        !self.begun || self.current.trailing.is_some()
    }

    /// Whether the line has nothing but its indentation.
    pub(super) fn is_fresh(&self) -> bool {
        self.current.code.trim_start_matches(' ').is_empty()
    }

    /// How many characters the line has.
    pub(super) fn column(&self) -> usize {
        width(&self.current.code)
    }

    /// Notes that the brace of a handler on one line comes next.
    pub(super) fn mark_handler(&mut self, word: &str) {
        self.current.handler = Some((word.to_owned(), self.current.code.len()));
    }

    /// The text of all lines, with handlers and comments aligned.
    pub(super) fn finish(mut self) -> String {
        self.end_line();
        while self.done.last().is_some_and(|line| line.code.is_empty() && line.trailing.is_none()) {
            self.done.pop();
        }
        for run in self.done.chunk_by_mut(|above, below| {
            let word = |line: &Line| line.handler.as_ref().map(|(word, _)| word.clone());
            word(above).is_some() && word(above) == word(below)
        }) {
            align_handlers(run);
        }
        align_comments(&mut self.done);
        let mut text = String::new();
        for line in &self.done {
            text.push_str(line.code.trim_end());
            if let Some((comment, column)) = &line.trailing {
                let code = if line.code.trim().is_empty() { 0 } else { width(&line.code) };
                text.push_str(&" ".repeat(column.saturating_sub(code)));
                text.push_str(comment);
            }
            text.push('\n');
        }
        text
    }
}

/// Puts the braces of handlers into one column, if all lines stay short enough.
fn align_handlers(run: &mut [Line]) {
    let brace = |line: &Line| line.handler.as_ref().map_or(0, |(_, brace)| *brace);
    let column = run.iter().map(brace).max().unwrap_or(0);
    if run.iter().all(|line| width(&line.code) + column - brace(line) <= WIDTH) {
        for line in run {
            let brace = brace(line);
            line.code.insert_str(brace, &" ".repeat(column - brace));
        }
    }
}

/// Gives each trailing comment its column.
///
/// Comments on consecutive lines are a group. A group that stood in one column stays there if the code leaves room and
/// the column is meant: the group has several comments, or another group has the same column. All others move as far to
/// the left as they can.
fn align_comments(lines: &mut [Line]) {
    let kept: Vec<(usize, Option<usize>)> =
        groups(lines).map(|group| (group.len(), common_column(group))).collect::<Vec<_>>();
    let mut next = kept.iter();
    for group in groups_mut(lines) {
        let Some((length, column)) = next.next() else { return };
        let meant = |wanted: usize| *length > 1 || kept.iter().filter(|(_, other)| *other == Some(wanted)).count() > 1;
        let column = match column {
            Some(column) if meant(*column) => *column,
            Some(_) | None => group.iter().map(room).max().unwrap_or(0),
        };
        let fits = |line: &Line| line.trailing.as_ref().is_none_or(|(text, _)| column + width(text) <= WIDTH);
        let together = common_column(group) == Some(column) || group.iter().all(fits);
        for line in group {
            let least = room(line);
            if let Some((_, there)) = &mut line.trailing {
                *there = if together { column } else { least };
            }
        }
    }
}

fn groups(lines: &[Line]) -> impl Iterator<Item = &[Line]> {
    let trails = |line: &Line| line.trailing.is_some();
    lines.chunk_by(move |above, below| trails(above) && trails(below)).filter(move |group| group.iter().all(trails))
}

fn groups_mut(lines: &mut [Line]) -> impl Iterator<Item = &mut [Line]> {
    let trails = |line: &Line| line.trailing.is_some();
    lines.chunk_by_mut(move |above, below| trails(above) && trails(below)).filter(move |group| group.iter().all(trails))
}

/// The column in which all of these comments stood, if the code leaves room for it.
fn common_column(group: &[Line]) -> Option<usize> {
    let column = |line: &Line| line.trailing.as_ref().map(|(_, column)| *column);
    let first = column(group.first()?)?;
    group.iter().all(|line| column(line) == Some(first) && room(line) <= first).then_some(first)
}

/// The first column in which a comment can stand.
fn room(line: &Line) -> usize {
    if line.code.trim().is_empty() { 0 } else { width(&line.code) + 1 }
}

/// The width of the last line of a text, in characters. A tabulator goes to the next multiple of eight.
pub(super) fn width(text: &str) -> usize {
    let line = text.rsplit('\n').next().unwrap_or_default();
    line.chars().fold(0, |column, character| if character == '\t' { column / 8 * 8 + 8 } else { column + 1 })
}
