//! What has no bound in clocks, and why.

use super::Bounded;
use crate::console::Console;
use crate::failure::Failure;
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use catapults_wcet::image;
use catapults_wcet::refused::{Refused, Why};
use std::fs;

/// Tells of each place once, and of which functions have no bound because of it.
pub fn told(console: &Console, bounded: &Bounded<'_>, refused: Vec<(String, Refused)>) -> Result<(), Failure> {
    let mut places: Vec<(Refused, Vec<String>)> = Vec::new();
    for (entry, refused) in refused {
        match places.iter_mut().find(|(known, _)| *known == refused) {
            Some((_, entries)) => entries.push(entry),
            None => places.push((refused, vec![entry])),
        }
    }
    let any = !places.is_empty();
    for (refused, entries) in places {
        let (source, at, place) = place(bounded, &refused);
        let names: Vec<String> = entries.iter().map(|entry| format!("`{entry}`")).collect();
        let verb = if entries.len() == 1 { "has" } else { "have" };
        let label = if at.line == 0 { String::new() } else { "here".to_owned() };
        let mut diagnostic = Diagnostic::error("E0554", refused.title(), at, label);
        if let Some(place) = place {
            diagnostic = diagnostic.note(place);
        }
        diagnostic = diagnostic
            .note(format!("the instruction is at 0x{:04X}, in {}", refused.at, refused.function))
            .note(format!("so {} {verb} no bound", names.join(", ")))
            .help(help(&refused.why));
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        console.diagnostics(&source, &diagnostics);
    }
    if any { Err(Failure::Said) } else { Ok(()) }
}

fn help(why: &Why) -> &'static str {
    match why {
        Why::Endless => {
            "count the turns as well, up to a constant; in C, say `/* at most n - 1 turns */` in the loop's line if that is true"
        }
        Why::Merged(..) => "write the loops in functions of their own",
        Why::Move => "move a number of bytes that is a constant",
        Why::Unknown(_)
        | Why::Tangled
        | Why::Recursive(_)
        | Why::Indirect
        | Why::Away
        | Why::SwitchesInLoop
        | Why::SwitchesAgain
        | Why::NoPath => "docs/wcet.md (\"In clocks\") says what code can be bounded",
    }
}

/// The source, the line in it, and what more there is to say of that.
fn place(bounded: &Bounded<'_>, refused: &Refused) -> (Source, At, Option<String>) {
    let Some(source) = &refused.source else { return (Source::new(&*refused.function, ""), At::default(), None) };
    let name = bounded.source.name.rsplit('/').next();
    let own = source.origin().and_then(|place| place.rsplit_once(':')).filter(|(file, _)| Some(*file) == name);
    if let Some(line) = own.and_then(|(_, line)| line.parse().ok()) {
        return (bounded.source.clone(), at(&bounded.source.text, line), None);
    }
    let short = bounded.program.short(&source.file).to_owned();
    match fs::read_to_string(&source.file) {
        Ok(text) => {
            let at = at(&text, source.line);
            (Source::new(short, text), at, None)
        }
        Err(_) => (Source::new(short, ""), At::default(), Some(shown(source))),
    }
}

fn shown(source: &image::Source) -> String {
    format!("in line {}: {}", source.line, source.text)
}

/// A whole line, without the white space around it.
fn at(text: &str, line: u32) -> At {
    let mut start = 0;
    for (number, one) in (1..).zip(text.split_inclusive('\n')) {
        if number == line {
            let from = start + one.len() - one.trim_start().len();
            let to = from + one.trim().len();
            let of = |offset: usize| u32::try_from(offset).unwrap_or(0);
            return At { start: of(from), end: of(to), line };
        }
        start += one.len();
    }
    At::default()
}
