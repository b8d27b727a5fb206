//! Names and types: from the tree to the policy.

use crate::diagnostics::Diagnostics;
use crate::framework::Framework;
use crate::policy::Policy;
use crate::source::Source;
use crate::syntax::ast;

/// The policy that the tree describes, or nothing if the tree or this stage has errors.
pub fn check(source: &Source, tree: &ast::Scheduler, framework: &Framework, diagnostics: &mut Diagnostics) -> Option<Policy> {
    let _ = (source, tree, framework, diagnostics);
    None
}
