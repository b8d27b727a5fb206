//! `catapults explain`.

use crate::arguments::Explain;
use crate::console::Console;
use crate::failure::Failure;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::fmt::Write;

/// The pages of `docs/errors`: code and text.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

pub fn explain(console: &Console, arguments: &Explain) -> Result<(), Failure> {
    let Some(wanted) = &arguments.code else { return console.result(&list(PAGES.iter())) };
    let code = normal(wanted);
    match PAGES.iter().find(|page| page.0 == code) {
        Some((_, text)) => console.result(text),
        None => Err(unknown(wanted, &code)),
    }
}

/// `e401`, `error[E0401]` and `401` are taken for E0401.
fn normal(wanted: &str) -> String {
    let digits: String = wanted.chars().filter(char::is_ascii_digit).collect();
    format!("E{digits:0>4}")
}

fn list<'a>(pages: impl Iterator<Item = &'a (&'static str, &'static str)>) -> String {
    let mut text = String::new();
    for (code, page) in pages {
        let title = page.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        let title = title.strip_prefix(code).unwrap_or(title).trim_start_matches([':', ' ', '—', '-']);
        let _ = writeln!(text, "{code}  {title}");
    }
    text
}

fn unknown(wanted: &str, code: &str) -> Failure {
    let mut near: Vec<_> = PAGES.iter().map(|page| (strsim::damerau_levenshtein(page.0, code), page)).collect();
    near.sort();
    near.retain(|(distance, _)| *distance <= 2);
    near.truncate(5);
    let mut diagnostic = Diagnostic::error("E0508", format!("there is no error `{wanted}`"), At::default(), "");
    if !near.is_empty() {
        let near = list(near.iter().map(|(_, page)| *page));
        diagnostic = diagnostic.note(format!("there is\n{}", near.trim_end()));
    }
    Failure::of_usage("explain", diagnostic.help("`catapults explain` lists all"))
}
