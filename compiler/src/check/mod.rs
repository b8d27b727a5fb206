//! Names and types: from the tree to the policy.
//!
//! [`declarations`] enters what the sections declare, [`handlers`] finds the handler of each event and fills in the
//! framework's, [`statements`] and [`expressions`] resolve and type their bodies, [`functions`] writes calls out, [`classes`] infers what is not declared, and
//! [`unused`] says what is declared in vain.

mod classes;
mod constants;
mod declarations;
mod expressions;
mod functions;
mod handlers;
mod links;
mod missing;
mod scope;
mod statements;
mod symbols;
mod unused;
mod values;
mod verbatim;

pub use unused::unused;
pub(crate) use unused::unused_constants;
pub(crate) use values::Values;

use crate::diagnostics::Diagnostics;
use crate::framework::Framework;
use crate::policy::Policy;
use crate::source::Source;
use crate::syntax::ast;

/// The policy that the tree describes, or nothing if the tree or this stage has errors. A policy that lacks required
/// handlers is refused too, but comes back if the rest of it can be judged: the author wants to know all at once.
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
        preamble: verbatim::preamble(tree, &framework.language),
        ..nothing(framework)
    };
    let symbols = declarations::declare(tree, framework, &mut policy, diagnostics);
    let missing = handlers::handle(tree, framework, &symbols, &mut policy, diagnostics);
    // What follows judges handlers together, which makes no sense while some of them have errors.
    let sound = !diagnostics.has_errors();
    let complete = missing.is_empty();
    if !complete {
        diagnostics.push(missing.report(source, tree, framework, &policy));
    }
    if !sound {
        return None;
    }
    let mut inferred = Diagnostics::new();
    classes::infer(tree, framework, &mut policy, &mut inferred);
    let known = !inferred.has_errors();
    if complete {
        // Else the handlers that are missing may be those that would show the class, or use the container.
        diagnostics.append(inferred);
    }
    if !known {
        return None;
    }
    handlers::answer(framework, &mut policy);
    policy.number_statements();
    Some(policy)
}

/// A policy for this framework in which nothing is declared.
fn nothing(framework: &Framework) -> Policy {
    Policy {
        name: String::new(),
        framework: framework.name.clone(),
        source: String::new(),
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
        events: Vec::new(),
        queries: Vec::new(),
    }
}
