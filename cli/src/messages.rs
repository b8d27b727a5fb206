//! Messages for programs: `--message-format`. `docs/messages.md` describes the objects.

use catapults_compiler::diagnostics::{Diagnostic, Diagnostics, Severity, Suggestion};
use catapults_compiler::source::{File, Source};
use catapults_compiler::vocabulary::At;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::fmt::Write;

/// How messages are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// With the lines that they are about
    #[default]
    Human,
    /// One line each: FILE:LINE:COLUMN: error[CODE]: TITLE
    Short,
    /// One JSON object per line, on standard error; docs/messages.md describes them
    Json,
}

/// `x.sched:2:5: error[E0301]: …`, a line for each diagnostic.
pub fn short(source: &Source, diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.in_order() {
        let at = diagnostic.primary.0;
        let _ = write!(text, "{}:", file_of(source, at).name);
        if at.line > 0 {
            let (line, column) = source.position(at.start);
            let _ = write!(text, "{line}:{column}:");
        }
        let _ = write!(text, " {}", severity(diagnostic.severity));
        if !diagnostic.code.is_empty() {
            let _ = write!(text, "[{}]", diagnostic.code);
        }
        let _ = writeln!(text, ": {}", diagnostic.title.replace('\n', " "));
    }
    if diagnostics.omitted() > 0 {
        let _ = writeln!(text, "{}: error: {} more errors", source.name, diagnostics.omitted());
    }
    text
}

/// An object for each diagnostic, and one for those that were only counted.
pub fn objects(source: &Source, diagnostics: &Diagnostics) -> Vec<Value> {
    let mut objects: Vec<Value> =
        diagnostics.in_order().into_iter().map(|diagnostic| object(source, diagnostic)).collect();
    if diagnostics.omitted() > 0 {
        objects.push(json!({ "type": "omitted", "file": source.name, "errors": diagnostics.omitted() }));
    }
    objects
}

fn object(source: &Source, diagnostic: &Diagnostic) -> Value {
    let primary = std::iter::once((&diagnostic.primary, true));
    let places = primary.chain(diagnostic.related.iter().map(|place| (place, false)));
    let spans: Vec<Value> = places
        .filter(|((at, _), _)| at.line > 0)
        .map(|((at, label), primary)| span(source, *at, label, primary))
        .collect();
    let suggestions: Vec<Value> = diagnostic.suggestions.iter().map(|change| suggestion(source, change)).collect();
    json!({
        "type": "diagnostic",
        "severity": severity(diagnostic.severity),
        "code": Some(diagnostic.code).filter(|code| !code.is_empty()),
        "title": diagnostic.title,
        "file": file_of(source, diagnostic.primary.0).name,
        "spans": spans,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "suggestions": suggestions,
        "rendered": diagnostic.render(source, false),
    })
}

/// The file that a diagnostic is about. Without a place, it is about the source.
fn file_of(source: &Source, at: At) -> File<'_> {
    source.file(if at.line > 0 { at.start } else { 0 })
}

fn span(source: &Source, at: At, label: &str, primary: bool) -> Value {
    let (line, column) = source.position(at.start);
    let (end_line, end_column) = source.position(at.end);
    let file = source.file(at.start);
    json!({
        "file": file.name,
        "start": at.start - file.start,
        "end": at.end - file.start,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "label": label,
        "primary": primary,
    })
}

fn suggestion(source: &Source, change: &Suggestion) -> Value {
    let (line, column) = source.position(change.at.start);
    let (end_line, end_column) = source.position(change.at.end);
    let file = source.file(change.at.start);
    json!({
        "file": file.name,
        "start": change.at.start - file.start,
        "end": change.at.end - file.start,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "text": change.text,
    })
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
