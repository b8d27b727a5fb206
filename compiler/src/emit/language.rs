//! The interface of emitters to the rest of the compiler.

use super::File;
use crate::framework::Framework;
use crate::hierarchy::Hierarchy;
use crate::policy::Policy;
use crate::verify::Verified;

/// A target language, as frameworks name it after `language`.
pub(super) trait Language: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What this language supports.
    fn abilities(&self) -> Abilities;

    /// Translates a policy that needs no more than that.
    fn policy(&self, policy: &Verified<Policy>, framework: &Framework) -> Vec<File>;

    /// Translates a hierarchy, if the language supports them. The first file has the hierarchy's name.
    fn hierarchy(&self, hierarchy: &Hierarchy, framework: &Framework) -> Vec<File>;

    /// Whether a file that begins like this is one of its translations.
    fn is_generated(&self, start: &str) -> bool;
}

/// What the contract between generated code and its hosts supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// A host can load what is built, because it contains a description of the policy.
    pub loaded: bool,
    /// Several schedulers at once, each with its place among the others.
    pub hierarchies: bool,
    /// An instance of a policy for each node.
    pub nodes: bool,
    /// Nodes of several families.
    pub families: bool,
    /// Timers of policies.
    pub timers: bool,
    /// Text of the target language within policies.
    pub verbatim: bool,
    /// How many containers a policy can have, including the framework's: each thread keeps the number of its container.
    pub most_containers: usize,
}
