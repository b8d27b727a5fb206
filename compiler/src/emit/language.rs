//! What an emitter is to the rest of the compiler.

use super::File;
use crate::framework::Framework;
use crate::hierarchy::Hierarchy;
use crate::policy::Policy;
use crate::verify::Verified;

/// A target language, as frameworks name it after `language`.
pub(super) trait Language: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What can be said in it.
    fn abilities(&self) -> Abilities;

    /// Translates a policy that needs no more than that.
    fn policy(&self, policy: &Verified<Policy>, framework: &Framework) -> Vec<File>;

    /// Translates a hierarchy, if it can have one. The first file is called as the hierarchy is.
    fn hierarchy(&self, hierarchy: &Hierarchy, framework: &Framework) -> Vec<File>;

    /// Whether a file that begins like this is one of these translations.
    fn is_generated(&self, start: &str) -> bool;
}

/// What the contract between generated code and its hosts has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// A host can load what is built: there is a description of the policy in it.
    pub loaded: bool,
    /// Several schedulers at once, each with its place among the others.
    pub hierarchies: bool,
    /// An instance of a policy for each node.
    pub nodes: bool,
    /// How many containers a policy can have, the framework's included: each thread keeps the number of its own.
    pub most_containers: usize,
}
