//! Translation into what a host loads. Each family of target languages has a folder; the framework's `language`
//! chooses.

mod c;
mod language;
mod python;
mod shape;

pub use language::Abilities;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Argument, Build, Feature, Framework};
use crate::hierarchy::Hierarchy;
use crate::policy::{Block, Expression, Owner, Policy, StatementKind, Type};
use crate::verify::Verified;
use language::Language;
use std::fmt;

/// The languages of each folder. Nothing else in the project names a target language.
const FAMILIES: &[&[&dyn Language]] = &[c::LANGUAGES, python::LANGUAGES];

/// A generated file; the caller decides where it goes. Files of one translation go into one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder: `fifo.c`.
    pub name: String,
    /// Its whole text.
    pub text: String,
    /// What it is for.
    pub part: Part,
}

/// The role of a generated file in the command that builds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One of `{source}`.
    Source,
    /// One of `{traced}`: the same as a source, for hosts that record why a thread was moved (`CATAPULTS_TRACED` in
    /// `catapults/policy.h`). Only for builds that ask for it.
    Traced,
    /// Included by other files, which name it.
    Included,
}

/// Why a policy cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The framework names a language into which nothing here translates.
    UnknownLanguage {
        /// After `language` in the framework description.
        language: String,
    },
    /// The number of a container would not fit into a thread; see [`Abilities::most_containers`].
    TooManyContainers {
        /// How many the policy has, including the framework's.
        containers: usize,
        /// How many it can have.
        most: usize,
    },
    /// Hosts of this language lack what is needed: hierarchies, or nodes.
    Lacks {
        /// After `language` in the framework description.
        language: String,
        /// What they have.
        abilities: Abilities,
    },
    /// Nothing here translates a part of policies into this language.
    Untranslated {
        /// After `language` in the framework description.
        language: String,
        /// That part.
        feature: Feature,
    },
}

/// The available languages, as frameworks name them.
pub fn languages() -> impl Iterator<Item = &'static str> {
    all().map(Language::name)
}

/// What the framework's language supports.
///
/// # Errors
/// It is none of [`languages`].
pub fn abilities(framework: &Framework) -> Result<Abilities, Refusal> {
    Ok(language(framework)?.abilities())
}

/// Translates a policy for the host that the framework describes. The first file is a source with the policy's name.
///
/// # Errors
/// The framework's language is none of [`languages`], or lacks what the policy needs; [`crate::compile`] refuses most
/// of the latter.
pub fn emit(policy: &Verified<Policy>, framework: &Framework) -> Result<Vec<File>, Refusal> {
    let language = language(framework)?;
    let abilities = language.abilities();
    for feature in Feature::ALL.into_iter().filter(|feature| uses(policy.policy(), *feature)) {
        can_have(framework, feature)?;
    }
    let (containers, most) = (policy.policy().containers.len(), abilities.most_containers);
    if containers > most {
        return Err(Refusal::TooManyContainers { containers, most });
    }
    Ok(language.policy(policy, framework))
}

/// Translates a hierarchy. The host builds all files together; the first is a source with the hierarchy's name.
///
/// # Errors
/// The framework's language is none of [`languages`], or its hosts have no hierarchies.
pub fn emit_hierarchy(hierarchy: &Hierarchy, framework: &Framework) -> Result<Vec<File>, Refusal> {
    can_have(framework, Feature::Hierarchies)?;
    Ok(language(framework)?.hierarchy(hierarchy, framework))
}

/// Whether the framework's language supports this optional part of policies.
///
/// # Errors
/// It does not, or it is none of [`languages`].
pub fn can_have(framework: &Framework, feature: Feature) -> Result<(), Refusal> {
    let language = language(framework)?;
    let abilities = language.abilities();
    let untranslated = Refusal::Untranslated { language: language.name().to_owned(), feature };
    match feature {
        Feature::Hierarchies if !abilities.hierarchies => Err(lacks(language)),
        Feature::Nodes if !abilities.nodes => Err(lacks(language)),
        Feature::Timers if !abilities.timers => Err(untranslated),
        Feature::Verbatim if !abilities.verbatim => Err(untranslated),
        Feature::Families if !abilities.families => Err(untranslated),
        Feature::Hierarchies
        | Feature::Nodes
        | Feature::Families
        | Feature::Failure
        | Feature::Loops
        | Feature::Time
        | Feature::Timers
        | Feature::Verbatim
        | Feature::Floats => Ok(()),
    }
}

/// Whether a file that begins like this was generated here, so that it can be overwritten.
pub fn is_generated(start: &str) -> bool {
    all().any(|language| language.is_generated(start))
}

fn all() -> impl Iterator<Item = &'static dyn Language> {
    FAMILIES.iter().copied().flatten().copied()
}

fn language(framework: &Framework) -> Result<&'static dyn Language, Refusal> {
    let found = all().find(|language| language.name() == framework.language);
    found.ok_or_else(|| Refusal::UnknownLanguage { language: framework.language.clone() })
}

fn lacks(language: &dyn Language) -> Refusal {
    Refusal::Lacks { language: language.name().to_owned(), abilities: language.abilities() }
}

/// Refuses a policy that has more containers than fit.
pub(crate) fn check_size(policy: &Policy, framework: &Framework, diagnostics: &mut Diagnostics) {
    // An unknown language sets no bound.
    let most = abilities(framework).map_or(usize::MAX, |abilities| abilities.most_containers);
    if policy.containers.len() <= most {
        return;
    }
    let own = policy.containers.iter().filter(|container| container.owner == Owner::Policy);
    let lent = policy.containers.len() - own.clone().count();
    // All elements of an array are declared at one place.
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

/// The words, with placeholders, of the command that makes of these policies what their host loads.
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
        // A policy does not show whether there are others.
        Feature::Hierarchies => false,
        Feature::Nodes => policy.has_nodes(),
        Feature::Families => policy.families.is_some(),
    }
}

fn any_statement(block: &Block, such: &dyn Fn(&StatementKind) -> bool) -> bool {
    block.iter().any(|statement| such(&statement.kind) || statement.blocks().any(|inner| any_statement(inner, such)))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownLanguage { language } => {
                write!(
                    f,
                    "no policy can be translated into `{language}`; languages: {}",
                    languages().collect::<Vec<_>>().join(", ")
                )
            }
            Refusal::Lacks { language, abilities: Abilities { hierarchies: false, nodes: false, .. } } => write!(
                f,
                "no hierarchy, and no policy with nodes, can be translated into `{language}`, whose hosts have one scheduler"
            ),
            Refusal::Lacks { language, abilities } => {
                let what = if abilities.nodes { "hierarchy" } else { "policy with nodes" };
                write!(f, "no {what} can be translated into `{language}`")
            }
            Refusal::Untranslated { language, feature } => {
                write!(f, "no policy with {} can be translated into `{language}`", feature.word())
            }
            Refusal::TooManyContainers { containers, most } => {
                write!(f, "a policy has at most {most} containers in this language; this one has {containers}")
            }
        }
    }
}

impl std::error::Error for Refusal {}
