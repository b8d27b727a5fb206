//! The one way to write a policy, a hierarchy, scenarios or a framework description: what `catapults fmt` does.
//!
//! It works on tokens and comments with little knowledge of structure (`structure.rs`). It ignores what a statement
//! says, so a new construct of the parser needs nothing here. All tokens are kept, so the meaning is kept. Formatting a
//! formatted text changes nothing.
//!
//! - An indentation is two spaces, a continued line four more. A line has at most [`WIDTH`] characters, if possible.
//! - A block stands on one line if its author wrote it so and it fits. The formatter breaks lines within statements,
//!   the author between them. Of several empty lines, one stays.
//! - Comments stay where they stand: on a line of their own, or after code. Those after code stay aligned if they were.
//! - The braces of consecutive handlers of one line are aligned.
//! - In a framework description, the type of an event, a sequence and the list of a command keep their author's line
//!   breaks.

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
    /// It is not a policy of any dialect, nor a hierarchy, a scenario or a framework description.
    Refused(Diagnostics),
    /// The result does not say what the text said: a mistake of this module.
    Mistake,
}

/// Formats a policy, a hierarchy, scenarios or a framework description.
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

/// Lays out the text until it no longer changes.
///
/// The place of a comment depends on the columns of those around it, and the layout can move some into one column.
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

/// What a text is, or was meant to be.
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
            Some("scheduler" | "use" | "function") => Kind::Policy,
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

/// Refuses a text that cannot be read.
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
