//! Text to tree. Hand-written recursive descent; each parse function stands under the production that it accepts.

pub mod ast;

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
}

/// The tree of what could be read; everything else is reported.
pub fn parse(source: &Source, dialect: &Dialect, diagnostics: &mut Diagnostics) -> ast::Scheduler {
    let _ = (source, dialect, diagnostics);
    ast::Scheduler::default()
}
