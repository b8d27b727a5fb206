//! Renders diagnostics as rustc does, with its renderer.

use annotate_snippets::renderer::{DecorStyle, Renderer};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Snippet};

use crate::source::{File, Source};
use crate::vocabulary::At;

use super::{Diagnostic, Diagnostics, Severity};

/// Lines longer than this, in bytes, are not shown.
const LONGEST_LINE: usize = 2000;

impl Diagnostics {
    /// All of them as text, in the order of the source, each followed by an empty line.
    ///
    /// `source` is the text that they are about; `color` adds escape sequences for a terminal.
    pub fn render(&self, source: &Source, color: bool) -> String {
        let mut text = String::new();
        for diagnostic in self.in_order() {
            text.push_str(&diagnostic.render(source, color));
            text.push_str("\n\n");
        }
        if self.more > 0 {
            text.push_str(&format!("... and {} more errors\n\n", self.more));
        }
        text
    }
}

impl Diagnostic {
    /// One diagnostic, without a newline after it.
    pub fn render(&self, source: &Source, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() }.decor_style(DecorStyle::Ascii);
        renderer.render(&[self.group(source)])
    }

    fn group<'a>(&'a self, source: &'a Source) -> Group<'a> {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title = level.primary_title(self.title.as_str());
        let title = if self.code.is_empty() { title } else { title.id(self.code) };
        let snippets = self.snippets(source);
        let group = if snippets.is_empty() { title.element(self.origin(source)) } else { title.elements(snippets) };
        let notes = self.notes.iter().map(|note| Level::NOTE.message(note.as_str()));
        let help = self.help.iter().map(|help| Level::HELP.message(help.as_str()));
        group.elements(notes).elements(help)
    }

    /// The lines that it points at, those of the file with the primary place first; none if it points at none, or if
    /// they are too long to be shown.
    fn snippets<'a>(&'a self, source: &'a Source) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
        if self.primary.0.line == 0 {
            return Vec::new();
        }
        let placed = self.related.iter().filter(|(at, _)| at.line > 0);
        let mut files: Vec<(File<'a>, Vec<Place<'a>>)> = Vec::new();
        for (kind, place) in std::iter::once((AnnotationKind::Primary, &self.primary))
            .chain(placed.map(|place| (AnnotationKind::Context, place)))
        {
            let file = source.file(place.0.start);
            if line_length(file.text, place.0.start - file.start) > LONGEST_LINE {
                return Vec::new();
            }
            match files.iter_mut().find(|(known, _)| known.start == file.start) {
                Some((_, places)) => places.push((kind, place)),
                None => files.push((file, vec![(kind, place)])),
            }
        }
        files.into_iter().filter_map(|(file, places)| snippet(file, &places)).collect()
    }

    fn origin<'a>(&self, source: &'a Source) -> Origin<'a> {
        let at = self.primary.0;
        if at.line == 0 {
            return Origin::path(source.name.as_str());
        }
        let (_, column) = source.position(at.start);
        Origin::path(source.file(at.start).name).line(at.line as usize).char_column(column)
    }
}

/// A place and its label.
type Place<'a> = (AnnotationKind, &'a (At, String));

/// The lines of one file.
fn snippet<'a>(file: File<'a>, places: &[Place<'a>]) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let within = |place: u32| (place - file.start) as usize;
    let first = places.iter().map(|(_, (at, _))| at).min_by_key(|at| at.start)?;
    let end = places.iter().map(|(_, (at, _))| within(at.end)).max()?;
    let start = file.text.get(..within(first.start))?.rfind('\n').map_or(0, |newline| newline + 1);
    let end = file.text.get(end..)?.find('\n').map_or(file.text.len(), |newline| end + newline);
    let annotations = places.iter().map(|(kind, (at, label))| {
        let span = kind.span(within(at.start) - start..within(at.end) - start);
        if label.is_empty() { span } else { span.label(label.as_str()) }
    });
    let snippet = Snippet::source(&file.text[start..end]).path(file.name).line_start(first.line as usize);
    Some(snippet.annotations(annotations))
}

/// The length of the line on which a place of a text is.
fn line_length(text: &str, place: u32) -> usize {
    let (before, after) = text.split_at_checked(place as usize).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    before.len() - start + after.find('\n').unwrap_or(after.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, diagnostic: Diagnostic) -> String {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        diagnostics.render(&Source::new("x.sched", text), false)
    }

    #[test]
    fn looks_like_rustc() {
        let at = |start, end, line| At { start, end, line };
        let wrong = Diagnostic::error("E0301", "`b` is not declared", at(12, 13, 3), "unknown name")
            .related(at(0, 1, 1), "`a` is")
            .note("a note")
            .help("did you mean `a`?");
        let text = rendered("a = 1\nc\n    b;\n", wrong);
        assert!(text.starts_with("error[E0301]: `b` is not declared\n --> x.sched:3:5\n"), "{text}");
        assert!(text.contains("1 | a = 1\n  | - `a` is\n"), "{text}");
        assert!(
            text.contains("3 |     b;\n  |     ^ unknown name\n  |\n  = note: a note\n  = help: did you mean `a`?\n"),
            "{text}"
        );
    }

    #[test]
    fn a_line_of_a_megabyte_is_not_shown() {
        let text = "x".repeat(1 << 20);
        let shown = rendered(&text, Diagnostic::error("E0101", "wrong", At { start: 7, end: 8, line: 1 }, "here"));
        assert!(shown.starts_with("error[E0101]: wrong\n--> x.sched:1:8\n") && shown.len() < 200, "{shown}");
    }

    #[test]
    fn without_a_place_only_the_file_is_named() {
        let shown = rendered("x", Diagnostic::error("E0105", "too long", At::default(), ""));
        assert_eq!(shown, "error[E0105]: too long\n--> x.sched\n\n");
    }
}
