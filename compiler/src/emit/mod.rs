//! Translation into what a host loads. A file or folder per target language, chosen by the framework's `language`.

mod c;

use c::Style;

use crate::framework::{Argument, Build, Feature, Framework};
use crate::policy::{Block, Expression, Policy, StatementKind, Type};
use crate::verify::Verified;
use std::fmt;

/// A generated file; whoever asked for it decides where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder: `fifo.c`.
    pub name: String,
    /// Its whole text.
    pub text: String,
}

/// The framework asks for a language that nothing here translates into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLanguage {
    /// After `language` in the framework description.
    pub language: String,
}

/// The languages that there are, as frameworks name them.
pub const LANGUAGES: &[&str] = &["c", "embedded_c"];

/// Translates a policy for the host that the framework describes. The first file is the one that the host builds.
///
/// # Errors
/// The framework's language is none of [`LANGUAGES`].
pub fn emit(policy: &Verified<Policy>, framework: &Framework) -> Result<Vec<File>, UnknownLanguage> {
    match framework.language.as_str() {
        "c" => Ok(vec![c::emit(policy, framework, Style::Loaded)]),
        "embedded_c" => Ok(vec![c::emit(policy, framework, Style::Embedded)]),
        _ => Err(UnknownLanguage { language: framework.language.clone() }),
    }
}

/// The words of the command that makes of this policy what its host loads, with their placeholders.
pub fn command<'a>(build: &'a Build, policy: &Policy) -> impl Iterator<Item = &'a str> {
    let wanted = |argument: &&Argument| argument.only.is_none_or(|(feature, with)| uses(policy, feature) == with);
    build.command.iter().filter(wanted).map(|argument| argument.text.as_str())
}

/// Whether a policy uses an optional part of the language.
fn uses(policy: &Policy, feature: Feature) -> bool {
    let any = |such: &dyn Fn(&StatementKind) -> bool| {
        let mut handlers = policy.events.iter().chain(&policy.queries);
        handlers.any(|handler| any_statement(&handler.body, such))
    };
    match feature {
        Feature::Failure => any(&|kind| matches!(kind, StatementKind::Fail { .. })),
        Feature::Loops => any(&|kind| matches!(kind, StatementKind::Loop { .. })),
        Feature::Time => policy.uses(Type::Time) || policy.uses_now(),
        Feature::Timers => policy.timers().next().is_some(),
        Feature::Verbatim => {
            !policy.preamble.is_empty()
                || any(&|kind| matches!(kind, StatementKind::Verbatim { .. }))
                || policy.has(&|it| matches!(it, Expression::Verbatim { .. }))
        }
        Feature::Floats => policy.uses(Type::Float),
    }
}

fn any_statement(block: &Block, such: &dyn Fn(&StatementKind) -> bool) -> bool {
    block.iter().any(|statement| such(&statement.kind) || statement.blocks().any(|inner| any_statement(inner, such)))
}

impl fmt::Display for UnknownLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no policy can be translated into `{}`; languages: {}", self.language, LANGUAGES.join(", "))
    }
}

impl std::error::Error for UnknownLanguage {}
