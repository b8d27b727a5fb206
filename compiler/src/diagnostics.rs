//! Messages to the author of a policy: data here, and one renderer for all.

mod render;

use crate::source::Source;
use crate::vocabulary::At;

/// Everything found so far, in the order in which it was found. After [`Diagnostics::MOST`], errors are only counted.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// Errors that are not in the list.
    more: usize,
}

/// One message: a code with a page in `docs/errors`, a title in lower case, the place, the other places, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it refuses the policy.
    pub severity: Severity,
    /// `E0101`; its page is `docs/errors/E0101.md`. Empty for a note.
    pub code: &'static str,
    /// In lower case, without a full stop.
    pub title: String,
    /// The place itself, with a short label (may be empty).
    pub primary: (At, String),
    /// Other places that explain it, each with its label.
    pub related: Vec<(At, String)>,
    /// Facts that have no place.
    pub notes: Vec<String>,
    /// What to write instead, or what to do next.
    pub help: Vec<String>,
    /// Changes of the text that correct it, for programs. `help` is for people.
    pub suggestions: Vec<Suggestion>,
    /// The part of the place that is meant, while its own place is unknown: see [`Diagnostics::narrow`].
    pub part: Option<Part>,
}

/// A part of a place, as it is written there apart from blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What is written.
    pub text: String,
    /// The label, if it is found.
    pub label: String,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What is replaced. If it is empty, the text is inserted there.
    pub at: At,
    /// The replacement.
    pub text: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The policy is refused.
    Error,
    /// The policy is accepted.
    Warning,
    /// Nothing is wrong: it answers a question.
    Note,
}

impl Diagnostics {
    /// Nothing found yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many are kept: nobody reads more, and no input shall make the compiler slow.
    pub const MOST: usize = 100;

    /// Adds one, unless it is in the list already: a handler for a family is judged once for each member.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.more += usize::from(diagnostic.severity == Severity::Error);
        } else if !self.list.contains(&diagnostic) {
            self.list.push(diagnostic);
        }
    }

    /// Adds all of another list.
    pub fn append(&mut self, others: Diagnostics) {
        self.more += others.more;
        others.list.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// Removes the errors for which `keep` does not hold.
    pub fn retain_errors(&mut self, keep: impl Fn(&Diagnostic) -> bool) {
        self.list.retain(|one| one.severity != Severity::Error || keep(one));
    }

    /// The same for the text that this one was made of. `place` maps each place. Suggestions are left out.
    #[must_use]
    pub fn placed(&self, place: impl Fn(At) -> At) -> Diagnostics {
        let mut placed = Diagnostics { list: Vec::new(), more: self.more };
        for one in &self.list {
            let related = one.related.iter().map(|(at, label)| (place(*at), label.clone())).collect();
            let primary = (place(one.primary.0), one.primary.1.clone());
            placed.push(Diagnostic { primary, related, suggestions: Vec::new(), ..one.clone() });
        }
        placed
    }

    /// Points at the parts that are meant, where a place contains its part exactly once.
    pub fn narrow(&mut self, text: &str) {
        for diagnostic in &mut self.list {
            if let Some(part) = diagnostic.part.take()
                && let Some(at) = only(text, diagnostic.primary.0, &part.text)
            {
                diagnostic.primary = (at, part.label);
            }
        }
    }

    /// Tells from where a file is used, of what is found in it.
    pub fn tell_uses(&mut self, source: &Source) {
        for diagnostic in &mut self.list {
            let mut file = source.used_at(diagnostic.primary.0.start).filter(|_| diagnostic.primary.0.line > 0);
            while let Some(used) = file {
                diagnostic.related.push((used.by, "used here".to_owned()));
                file = source.used_at(used.by.start);
            }
        }
    }

    /// Whether further ones are only counted.
    pub fn is_full(&self) -> bool {
        self.list.len() >= Self::MOST
    }

    /// How many of them refuse the policy.
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count() + self.more
    }

    /// How many of them are warnings.
    pub fn warnings(&self) -> usize {
        self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).count()
    }

    /// Whether any of them refuses the policy.
    pub fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// Those in the list, in the order of the source.
    pub fn in_order(&self) -> Vec<&Diagnostic> {
        let mut ordered: Vec<&Diagnostic> = self.list.iter().collect();
        ordered.sort_by_key(|diagnostic| diagnostic.primary.0.start);
        ordered
    }

    /// How many errors there are that are not in the list.
    pub fn omitted(&self) -> usize {
        self.more
    }

    /// All in the list, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }
}

/// Where a part is written within a place, if it is written there once.
fn only(text: &str, within: At, part: &str) -> Option<At> {
    let place = text.get(within.start as usize..within.end as usize)?;
    let wanted: Vec<char> = part.chars().filter(|c| !c.is_whitespace()).collect();
    let written: Vec<(usize, char)> = place.char_indices().filter(|(_, c)| !c.is_whitespace()).collect();
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut found = None;
    for window in written.windows(wanted.len().max(1)) {
        let (Some((first, _)), Some((last, end))) = (window.first(), window.last()) else { continue };
        let behind = last + end.len_utf8();
        let cut = |inside: Option<&char>, outside: Option<char>| in_word(inside.copied()) && in_word(outside);
        if window.iter().map(|(_, c)| c).ne(&wanted)
            || cut(wanted.first(), place[..*first].chars().next_back())
            || cut(wanted.last(), place[behind..].chars().next())
        {
            continue;
        }
        if found.replace((*first, behind)).is_some() {
            return None;
        }
    }
    let (first, behind) = found?;
    let offset = |inside: usize| within.start + u32::try_from(inside).unwrap_or(0);
    let lines = place[..first].bytes().filter(|byte| *byte == b'\n').count();
    Some(At { start: offset(first), end: offset(behind), line: within.line + u32::try_from(lines).unwrap_or(0) })
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, title: impl Into<String>, at: At, label: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            title: title.into(),
            primary: (at, label.into()),
            related: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestions: Vec::new(),
            part: None,
        }
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, title: impl Into<String>, at: At, label: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, title, at, label) }
    }

    /// Makes it a warning about something that has no effect and does no harm.
    pub fn without_effect(self) -> Self {
        let mut primary = self.primary;
        "of no effect".clone_into(&mut primary.1);
        Diagnostic { severity: Severity::Warning, primary, help: Vec::new(), suggestions: Vec::new(), ..self }
    }

    /// An answer about a place.
    pub fn remark(title: impl Into<String>, at: At, label: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Note, ..Self::error("", title, at, label) }
    }

    /// Adds the part of the place that is meant.
    pub fn of_part(mut self, text: impl Into<String>, label: impl Into<String>) -> Self {
        self.part = Some(Part { text: text.into(), label: label.into() });
        self
    }

    /// Points at another place too.
    pub fn related(mut self, at: At, label: impl Into<String>) -> Self {
        self.related.push((at, label.into()));
        self
    }

    /// Adds a fact.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a change that corrects it.
    pub fn suggest(mut self, at: At, text: impl Into<String>) -> Self {
        self.suggestions.push(Suggestion { at, text: text.into() });
        self
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}
