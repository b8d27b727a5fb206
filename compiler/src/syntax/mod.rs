//! Parses text into a tree, by hand-written recursive descent. Each function names its productions of [`grammar`].

pub mod ast;
pub mod grammar;
pub mod header;

mod declarations;
mod enumerations;
mod expressions;
mod families;
mod functions;
mod habits;
mod handlers;
pub(crate) mod lexer;
mod loops;
pub(crate) mod parser;
pub(crate) mod raw;
mod reasons;
mod statements;
mod uses;
mod verbatim;
pub(crate) mod words;

pub use families::{families_of_used, is_family};
pub use uses::{NotUsed, Wanted, bring, functions_of_used, is_of_functions};

use std::collections::BTreeSet;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Source;
use crate::vocabulary::At;

/// The part of the language that exists in one framework.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The framework, for messages.
    pub framework: String,
    /// The optional parts that it has.
    pub features: BTreeSet<Feature>,
}

impl Dialect {
    /// The dialect that has everything, for tools that know no framework.
    pub fn of_everything() -> Self {
        Dialect { framework: String::new(), features: BTreeSet::from(Feature::ALL) }
    }

    /// The error for an optional part that is used at a place, if this framework does not have that part.
    pub(crate) fn lacking(&self, feature: Feature, what: &str, at: At) -> Option<Diagnostic> {
        if self.features.contains(&feature) {
            return None;
        }
        let (name, word, reason) = (&self.framework, feature.word(), feature.reason());
        let title = format!("framework `{name}` has no {what}");
        let reason = format!("in `{name}` {reason}: its description does not list `{word}` in `dialect`");
        let diagnostic = Diagnostic::error("E0108", title, at, "not in this framework's dialect").note(reason);
        Some(match feature.instead(self) {
            Some(instead) => diagnostic.help(instead),
            None => diagnostic,
        })
    }
}

/// An optional part of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// `fail "reason";` in events that may fail.
    Failure,
    /// `for`, `while` and `do`: loops that perhaps never end.
    Loops,
    /// The type `time`, durations (`25ms`) and `now`.
    Time,
    /// `timer slice;`: instants at which the host raises an event.
    Timers,
    /// `verbatim c { … }`: text in the language that policies are translated into.
    Verbatim,
    /// The type `float`, numbers with a fraction, and their conversions.
    Floats,
    /// `hierarchy NAME { … }`: several schedulers at once. Each except the root is a thread to its parent.
    Hierarchies,
    /// `nodes { … }`, `global { … }`, events of nodes, and `t => n`. Each node has an instance of the policy.
    Nodes,
    /// `nodefamilies { … }`: nodes of several kinds, each with handlers and data of its own.
    Families,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 9] = [
        Feature::Failure,
        Feature::Loops,
        Feature::Time,
        Feature::Timers,
        Feature::Verbatim,
        Feature::Floats,
        Feature::Hierarchies,
        Feature::Nodes,
        Feature::Families,
    ];

    /// The word for it in a framework description.
    pub fn word(self) -> &'static str {
        match self {
            Feature::Failure => "failure",
            Feature::Loops => "loops",
            Feature::Time => "time",
            Feature::Timers => "timers",
            Feature::Verbatim => "verbatim",
            Feature::Floats => "floats",
            Feature::Hierarchies => "hierarchies",
            Feature::Nodes => "nodes",
            Feature::Families => "families",
        }
    }

    /// Why a framework lacks it. Follows "in `plain`".
    fn reason(self) -> &'static str {
        match self {
            Feature::Failure => "the application's calls cannot be refused",
            Feature::Loops => "every handler must provably end",
            Feature::Time => "policies have no clock",
            Feature::Timers => "no event tells that an instant has come",
            Feature::Verbatim => "policies contain no text in another language",
            Feature::Floats => "policies compute with whole numbers alone",
            Feature::Hierarchies => "one scheduler decides for all threads",
            Feature::Nodes => "there is one scheduler, whatever it runs on",
            Feature::Families => "all nodes are alike",
        }
    }

    /// What to do without it, in this dialect.
    fn instead(self, dialect: &Dialect) -> Option<&'static str> {
        match self {
            Feature::Failure | Feature::Hierarchies => None,
            Feature::Loops => Some("visit the threads of a container with `foreach t in c`"),
            Feature::Floats => Some("scale the value and use an `int`"),
            Feature::Nodes => Some("leave it out: there is one instance of `data`"),
            Feature::Families => Some("give all nodes the same handlers, and tell nodes apart by their properties"),
            Feature::Time => Some("count in decisions or in units of your own, with an `int`"),
            Feature::Timers if dialect.features.contains(&Feature::Time) => {
                Some("compare instants in the handlers of other events")
            }
            Feature::Timers => Some("count decisions in the handlers of other events, with an `int`"),
            Feature::Verbatim => Some("import a variable of the application that says the same"),
        }
    }
}

/// Parses a policy, or a file of functions. What cannot be read is reported and left out, and so are used files.
pub fn parse(source: &Source, dialect: &Dialect, diagnostics: &mut Diagnostics) -> ast::Scheduler {
    if let Some(too_long) = source.too_long(Source::LONGEST) {
        diagnostics.push(too_long);
        let lost = ast::Lost { handlers: true, ..ast::Lost::default() };
        return ast::Scheduler { lost, ..ast::Scheduler::default() };
    }
    parser::Parser::new(source, Some(dialect), "E0101", diagnostics).file()
}

/// The places of the tokens of a text, in order. Between them are white space and comments.
pub fn tokens(text: &str) -> impl Iterator<Item = At> {
    let mut lexer = lexer::Lexer::new(text);
    std::iter::from_fn(move || {
        let token = lexer.next();
        (token.kind != lexer::TokenKind::End).then_some(token.at)
    })
}
