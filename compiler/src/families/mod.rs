//! Policies for several families of nodes (CATAPULTS 2005, §9.1.1).
//!
//! ```text
//! scheduler ──┬─ with fast.family ──► check ──► verify ──┐
//!             └─ with slow.family ──► check ──► verify ──┴──► one Verified<Policy>
//! ```
//!
//! [`tree`] joins the scheduler with a family: a node of that family runs nothing else, so the two are judged as one
//! policy. [`agreement`] says what families may not do, alone or together. [`said`] tells once what was found for
//! several of them. [`crate::verify`] puts the policies together: each handler then asks first which family the node is
//! of. So no later stage need know of families but hosts, which say that.

mod agreement;
mod said;
mod tree;

use crate::check;
use crate::diagnostics::Diagnostics;
use crate::framework::Framework;
use crate::policy::Policy;
use crate::source::Source;
use crate::syntax::ast::Scheduler;
use crate::verify::{self, OfFamily, Verified};

/// The policy of a scheduler with all its families, or `None` with everything that is wrong with it.
pub(crate) fn compile(
    source: &Source,
    tree: &Scheduler,
    framework: &Framework,
    diagnostics: &mut Diagnostics,
) -> Option<Verified<Policy>> {
    agreement::check(source, tree, framework, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let mut said = said::Said::new(tree);
    let mut policies = Vec::new();
    for family in tree::of_families(tree) {
        let mut of_family = Diagnostics::new();
        let policy = check::check(source, &family.tree, framework, &mut of_family);
        let verified = policy.and_then(|policy| verify::verify(policy, framework, &mut of_family));
        if verified.is_some() && !of_family.has_errors() {
            check::unused(&family.tree, &mut of_family);
        }
        said.add(source, of_family);
        policies.extend(verified.map(|verified| {
            let own = family.own(verified.policy());
            OfFamily { verified, name: family.name.text, at: family.name.at, own }
        }));
    }
    let mut of_all = Diagnostics::new();
    if policies.len() == tree.families.len() {
        check::unused(&tree::with_all(tree), &mut of_all);
    }
    diagnostics.append(said.together(&of_all));
    if diagnostics.has_errors() || policies.len() < tree.families.len() {
        return None;
    }
    agreement::check_policies(tree, &policies, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    match verify::join_families(&policies, framework) {
        Ok(joined) => joined,
        Err(unlike) => {
            diagnostics.push(agreement::not_the_same(&unlike));
            None
        }
    }
}
