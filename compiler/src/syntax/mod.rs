//! Text to tree. Hand-written recursive descent; each parse function stands under the production that it accepts.

pub mod ast;
pub mod header;

mod declarations;
mod expressions;
mod functions;
pub(crate) mod lexer;
mod loops;
pub(crate) mod parser;
mod statements;
pub(crate) mod words;

use std::collections::BTreeSet;

use crate::diagnostics::Diagnostics;
use crate::source::Source;

/// The part of the language that exists in one framework.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The framework, for messages.
    pub framework: String,
    /// The optional parts that exist there.
    pub features: BTreeSet<Feature>,
}

/// An optional part of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// `fail "reason";` in events that may fail.
    Failure,
    /// `for`, `while` and `do`: loops whose end nobody may foresee.
    Loops,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 2] = [Feature::Failure, Feature::Loops];

    /// As a framework description writes it.
    pub fn word(self) -> &'static str {
        match self {
            Feature::Failure => "failure",
            Feature::Loops => "loops",
        }
    }
}

/// The tree of what could be read; everything else is reported.
pub fn parse(source: &Source, dialect: &Dialect, diagnostics: &mut Diagnostics) -> ast::Scheduler {
    if let Some(too_long) = source.too_long() {
        diagnostics.push(too_long);
        let lost = ast::Lost { names: BTreeSet::new(), handlers: true };
        return ast::Scheduler { lost, ..ast::Scheduler::default() };
    }
    parser::Parser::new(source, Some(dialect), "E0101", diagnostics).scheduler()
}
