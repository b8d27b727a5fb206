//! Resolves names and types: from the tree to the policy.
//!
//! [`declarations`] enters what the sections declare. [`handlers`] finds the handler of each event, or takes the
//! framework's. [`statements`] and [`expressions`] resolve and type the bodies. [`functions`] inlines calls.
//! [`shared`] judges those of other files. [`classes`] infers state classes that are not declared. [`unused`] warns of what is never used.

mod classes;
mod constants;
mod declarations;
mod expressions;
mod families;
mod functions;
mod handlers;
mod links;
mod missing;
mod scope;
mod shared;
mod statements;
mod symbols;
mod unused;
mod values;
mod verbatim;

pub use shared::{check_functions, no_policy};
pub use unused::unused;
pub(crate) use unused::unused_constants;
pub(crate) use values::Values;

use crate::diagnostics::Diagnostics;
use crate::framework::Framework;
use crate::policy::{Policy, UsedFile};
use crate::source::Source;
use crate::syntax::ast;

/// The policy that the tree describes. `None` if the tree or this stage has errors. A policy that lacks required
/// handlers has an error too, but is returned if the rest can be judged: the author wants all errors at once.
pub fn check(
    source: &Source,
    tree: &ast::Scheduler,
    framework: &Framework,
    diagnostics: &mut Diagnostics,
) -> Option<Policy> {
    let framework = &framework.as_met(tree.timers.iter().map(|timer| timer.name.text.as_str()), !tree.nodes.is_empty());
    let mut policy = Policy {
        name: tree.name.text.clone(),
        source: source.name.clone(),
        used: source.uses.files.iter().map(|used| UsedFile { name: used.name.clone(), start: used.start }).collect(),
        preamble: verbatim::preamble(tree, &framework.language),
        ..nothing(framework)
    };
    let symbols = declarations::declare(tree, framework, &mut policy, diagnostics);
    let missing = handlers::handle(tree, framework, &symbols, &mut policy, diagnostics);
    // The rest judges all handlers together, which makes no sense while some of them have errors.
    let sound = !diagnostics.has_errors();
    let complete = missing.is_empty();
    // What a family lacks is told where it is named; what happens to nodes themselves is the scheduler's.
    let (of_nodes, others) = missing.apart(tree.joined.is_some());
    let named = tree.joined.as_ref().map_or(tree.name.at, |family| family.name.at);
    for (missing, at) in [(of_nodes, tree.name.at), (others, named)] {
        if !missing.is_empty() {
            diagnostics.push(missing.report(source, at, tree, framework, &policy));
        }
    }
    if !sound {
        return None;
    }
    let mut inferred = Diagnostics::new();
    classes::infer(tree, framework, &mut policy, &mut inferred);
    let known = !inferred.has_errors();
    if complete {
        // Otherwise a missing handler might be the one that shows the class, or uses the container.
        diagnostics.append(inferred);
    }
    if !known {
        return None;
    }
    handlers::answer(framework, &mut policy);
    policy.number_statements();
    Some(policy)
}

/// An empty policy for this framework.
fn nothing(framework: &Framework) -> Policy {
    Policy {
        name: String::new(),
        framework: framework.name.clone(),
        source: String::new(),
        used: Vec::new(),
        int_bits: framework.int_bits,
        capacity: framework.capacity,
        preamble: Vec::new(),
        constants: Vec::new(),
        attributes: Vec::new(),
        links: Vec::new(),
        thread_imports: Vec::new(),
        imports: Vec::new(),
        variables: Vec::new(),
        containers: Vec::new(),
        families: None,
        events: Vec::new(),
        queries: Vec::new(),
    }
}
