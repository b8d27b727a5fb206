//! The one way to write a policy, a hierarchy, scenarios or a framework description: what `catapults fmt` does.
//!
//! It works on tokens and comments with little knowledge of structure (`structure.rs`): what a statement says does not matter,
//! so a construct that the parser learns needs nothing here. The tokens come out as they went in, so the meaning is kept.
//! Formatting what is formatted changes nothing.
//!
//! - An indentation is two spaces, a continued line four more. A line has at most [`WIDTH`] characters, where that can be.
//! - A block stands on one line if its author wrote it so and it fits. A statement's own line breaks are the formatter's,
//!   those between statements the author's; of several empty lines one stays.
//! - Comments stay where they stand: on a line of their own, or after code. Those after code stay aligned if they were.
//! - Handlers of one line, one after another, have their braces aligned.
//! - In a framework description what is no statement, the type of an event, a sequence or the list of a command, keeps the line
//!   breaks of its author.

mod description;
mod layout;
mod lines;
mod scan;
mod spacing;
mod structure;

use crate::diagnostics::Diagnostics;
use crate::framework;
use crate::hierarchy;
use crate::scenario;
use crate::source::Source;
use crate::syntax::{self, Dialect};

/// How long a line may be, in characters.
pub const WIDTH: usize = 120;

/// Why a text stays as it is.
#[derive(Debug)]
pub enum Unformatted {
    /// It is no policy, in no dialect, no hierarchy, no scenario and no framework description.
    Refused(Diagnostics),
    /// What came out does not say what went in: a mistake of this module.
    Mistake,
}

/// The policy, written as policies are, or the hierarchy, scenarios or framework description as those are.
pub fn format(source: &Source) -> Result<String, Unformatted> {
    refuse(source)?;
    let tokens = scan::scan(&source.text);
    let formatted = settled(layout::lay_out(&tokens));
    if scan::same(&tokens, &scan::scan(&formatted)) && refuse(&Source::new("", formatted.as_str())).is_ok() {
        Ok(formatted)
    } else {
        Err(Unformatted::Mistake)
    }
}

/// The text, laid out until it stays as it is.
///
/// Where a comment goes depends on the columns of those around it, and some come to stand in one column by being laid out.
fn settled(mut text: String) -> String {
    const MOST: usize = 4;
    for _ in 0..MOST {
        let again = layout::lay_out(&scan::scan(&text));
        if again == text {
            break;
        }
        text = again;
    }
    text
}

/// What a text is, or was to be.
enum Kind {
    Policy,
    Hierarchy,
    Scenarios,
    Description,
}

impl Kind {
    fn of(source: &Source) -> Kind {
        let first = syntax::tokens(&source.text).next();
        match first.and_then(|at| source.text.get(at.start as usize..at.end as usize)) {
            Some("scheduler") => Kind::Policy,
            Some("hierarchy") => Kind::Hierarchy,
            Some("scenario") => Kind::Scenarios,
            Some("framework") => Kind::Description,
            Some(_) | None if source.name.ends_with(".framework") => Kind::Description,
            Some(_) | None if source.name.ends_with(".hierarchy") => Kind::Hierarchy,
            Some(_) | None if source.name.ends_with(".scenario") => Kind::Scenarios,
            Some(_) | None => Kind::Policy,
        }
    }
}

/// Only a text that can be read is formatted.
fn refuse(source: &Source) -> Result<(), Unformatted> {
    let mut diagnostics = Diagnostics::new();
    match Kind::of(source) {
        Kind::Policy => {
            syntax::parse(source, &Dialect::of_everything(), &mut diagnostics);
        }
        Kind::Hierarchy => hierarchy::read_through(source, &mut diagnostics),
        Kind::Scenarios => drop(scenario::read(source, &mut diagnostics)),
        Kind::Description => framework::read_through(source, &mut diagnostics),
    }
    if diagnostics.has_errors() { Err(Unformatted::Refused(diagnostics)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
