//! Translation into what a host loads. A file or folder per target language, chosen by the framework's `language`.

mod c;

use c::Style;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Argument, Build, Feature, Framework};
use crate::hierarchy::Hierarchy;
use crate::policy::{Block, Expression, Owner, Policy, StatementKind, Type};
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

/// Why a policy cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The framework asks for a language that nothing here translates into.
    UnknownLanguage {
        /// After `language` in the framework description.
        language: String,
    },
    /// The number of a container would not fit into a thread; see [`most_containers`].
    TooManyContainers {
        /// How many the policy has, with the framework's.
        containers: usize,
        /// How many it can have.
        most: usize,
    },
    /// Hosts of this language have one scheduler: no hierarchy, and no nodes.
    OneScheduler {
        /// After `language` in the framework description.
        language: String,
    },
}

/// The languages that there are, as frameworks name them.
pub const LANGUAGES: &[&str] = &["c", "embedded_c"];

/// Translates a policy for the host that the framework describes. The first file is the one that the host builds.
///
/// # Errors
/// The framework's language is none of [`LANGUAGES`], or cannot say what the policy says; [`crate::compile`] refuses the latter.
pub fn emit(policy: &Verified<Policy>, framework: &Framework) -> Result<Vec<File>, Refusal> {
    let style = style(framework).ok_or_else(|| Refusal::UnknownLanguage { language: framework.language.clone() })?;
    if policy.policy().has_nodes() && style == Style::Embedded {
        return Err(Refusal::OneScheduler { language: framework.language.clone() });
    }
    let (containers, most) = (policy.policy().containers.len(), style.most_containers());
    if containers > most {
        return Err(Refusal::TooManyContainers { containers, most });
    }
    Ok(vec![c::emit(policy, framework, style)])
}

/// A file that includes a generated one, and so has the same once more, for hosts that record why a thread was moved
/// (`CATAPULTS_TRACED` in `catapults/policy.h`). It is built together with that one, and stands in the same folder.
pub fn traced(file: &str) -> File {
    c::traced(file)
}

/// Translates a hierarchy. The host builds all the files together; the first is called as the hierarchy is.
///
/// # Errors
/// The framework's language is none of [`LANGUAGES`], or its host has one scheduler.
pub fn emit_hierarchy(hierarchy: &Hierarchy, framework: &Framework) -> Result<Vec<File>, Refusal> {
    can_have_hierarchies(framework)?;
    Ok(c::hierarchy::emit(hierarchy, framework))
}

/// Whether the framework's language is one that hierarchies are translated into.
///
/// # Errors
/// As [`emit_hierarchy`].
pub fn can_have_hierarchies(framework: &Framework) -> Result<(), Refusal> {
    let language = || framework.language.clone();
    match style(framework) {
        None => Err(Refusal::UnknownLanguage { language: language() }),
        Some(Style::Embedded) => Err(Refusal::OneScheduler { language: language() }),
        Some(Style::Loaded) => Ok(()),
    }
}

/// How many containers a policy for this framework can have, the framework's included: each thread keeps the number of its own. A
/// language that is not known sets no bound.
pub fn most_containers(framework: &Framework) -> usize {
    style(framework).map_or(usize::MAX, Style::most_containers)
}

fn style(framework: &Framework) -> Option<Style> {
    match framework.language.as_str() {
        "c" => Some(Style::Loaded),
        "embedded_c" => Some(Style::Embedded),
        _ => None,
    }
}

/// Says that a policy has more containers than fit.
pub(crate) fn check_size(policy: &Policy, framework: &Framework, diagnostics: &mut Diagnostics) {
    let most = most_containers(framework);
    if policy.containers.len() <= most {
        return;
    }
    let own = policy.containers.iter().filter(|container| container.owner == Owner::Policy);
    let lent = policy.containers.len() - own.clone().count();
    // Elements of an array are declared at one place.
    let excess = own.clone().nth(most.saturating_sub(lent)).or_else(|| own.clone().next_back());
    let title = format!(
        "a policy for {} has at most {most} containers, each element of an array counted; this one has {}",
        framework.name,
        policy.containers.len()
    );
    diagnostics.push(
        Diagnostic::error(
            "E0322",
            title,
            excess.map_or_else(Default::default, |container| container.at),
            "with this one there are more",
        )
        .note("a thread keeps the number of the container that it is in, in one byte here")
        .help("use shorter arrays, or a `pqueue` that is sorted by what would be the index"),
    );
}

/// The words of the command that makes of these policies what their host loads, with their placeholders.
pub fn command<'a>(build: &'a Build, policies: &[&Policy]) -> impl Iterator<Item = &'a str> + use<'a> {
    let used = |feature: &Feature| policies.iter().any(|policy| uses(policy, *feature));
    let used: Vec<Feature> = Feature::ALL.into_iter().filter(used).collect();
    let wanted =
        move |argument: &&Argument| argument.only.is_none_or(|(feature, with)| used.contains(&feature) == with);
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
        // Policies do not tell whether there are others.
        Feature::Hierarchies => false,
        Feature::Nodes => policy.has_nodes(),
    }
}

fn any_statement(block: &Block, such: &dyn Fn(&StatementKind) -> bool) -> bool {
    block.iter().any(|statement| such(&statement.kind) || statement.blocks().any(|inner| any_statement(inner, such)))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownLanguage { language } => {
                write!(f, "no policy can be translated into `{language}`; languages: {}", LANGUAGES.join(", "))
            }
            Refusal::OneScheduler { language } => {
                write!(
                    f,
                    "no hierarchy, and no policy with nodes, can be translated into `{language}`, whose hosts have one scheduler"
                )
            }
            Refusal::TooManyContainers { containers, most } => {
                write!(f, "a policy has at most {most} containers in this language; this one has {containers}")
            }
        }
    }
}

impl std::error::Error for Refusal {}
