//! Hierarchies of schedulers: which policies run at once, which has the processor from which, and with what values.
//!
//! A `NAME.hierarchy` file is read in three steps, because it names other files, and nothing here opens files. [`read`]
//! says what is written and which policies are needed; the caller compiles these; [`check`] puts the two together. To
//! its parent a scheduler is a thread, so what holds of a policy and its threads holds of each level.

mod parameters;
mod reader;
mod tree;

pub(crate) use reader::read_through;
pub use reader::{Draft, PolicyName, read};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::Policy;
use crate::source::{Source, Unreadable};
use crate::syntax::Dialect;
use crate::syntax::grammar::{self, Grammar};
use crate::syntax::words::nearest;
use crate::verify::Verified;
use crate::vocabulary::{At, Value};

/// A hierarchy of schedulers that is safe to run, as each of its policies is. Only [`check`] makes one.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    name: String,
    framework: String,
    source: String,
    policies: Vec<Verified<Policy>>,
    nodes: Vec<Node>,
    default: usize,
}

/// A scheduler of a hierarchy: an instance of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique in the hierarchy.
    pub name: String,
    /// An index into [`Hierarchy::policies`].
    pub policy: usize,
    /// An index into [`Hierarchy::nodes`], less than its own; `None` for the root, which stands first.
    pub parent: Option<usize>,
    /// The values of variables that policies import.
    pub parameters: Vec<Parameter>,
    /// Its name, in the source.
    pub at: At,
}

/// A value for a variable that a policy imports.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The variable.
    pub name: String,
    /// Of the variable's type.
    pub value: Value,
    /// Whether it is a variable of the scheduler's record at its parent, one of the `threadimports` of the parent's
    /// policy. Else it is one of the `imports` of the scheduler's own.
    pub at_parent: bool,
    /// In the source.
    pub at: At,
}

/// Why a policy that a hierarchy names could not be read.
#[derive(Debug)]
pub enum NotFound {
    /// There is none of that name.
    Missing {
        /// Where it was looked for, or what the system said: "there is no policies/edg.sched".
        why: String,
        /// Names that would have been found.
        known: Vec<String>,
    },
    /// The file is no text.
    Unreadable(Box<Unreadable>),
}

/// What became of a policy that a hierarchy names, in the order of [`Draft::policies`].
#[derive(Debug)]
pub enum Found {
    /// It is safe to run.
    Policy(Box<Verified<Policy>>),
    /// It has errors, which have been reported.
    Refused,
    /// There is none.
    Missing {
        /// As in [`NotFound::Missing`].
        why: String,
        /// As in [`NotFound::Missing`].
        known: Vec<String>,
    },
}

impl Hierarchy {
    /// The name after `hierarchy`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The framework that its policies are for.
    pub fn framework(&self) -> &str {
        &self.framework
    }

    /// The file that it was read from, as it was named.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its policies, each once, however many schedulers are instances of it.
    pub fn policies(&self) -> &[Verified<Policy>] {
        &self.policies
    }

    /// Its schedulers: the root first, each parent before its children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Where threads go for which nothing else is said: an index into [`Hierarchy::nodes`].
    pub fn default(&self) -> usize {
        self.default
    }
}

/// The grammar of hierarchies for a framework of this dialect.
pub fn grammar(dialect: &Dialect) -> Grammar {
    grammar::for_hierarchies(include_str!("grammar.ebnf"), dialect)
}

/// The hierarchy, or `None` if anything is wrong with it. `found`: what became of the policies that the draft names.
pub fn check(
    source: &Source,
    draft: &Draft,
    found: Vec<Found>,
    framework: &Framework,
    diagnostics: &mut Diagnostics,
) -> Option<Hierarchy> {
    let names = draft.policies();
    let mut policies = Vec::new();
    // For each policy that is named: its index among those that are safe to run.
    let mut indices = Vec::new();
    for (name, found) in names.iter().zip(found) {
        let index = match found {
            Found::Policy(policy) => {
                policies.push(*policy);
                Some(policies.len() - 1)
            }
            Found::Refused => {
                diagnostics.push(refused(name));
                None
            }
            Found::Missing { why, known } => {
                diagnostics.push(missing(name, why, &known));
                None
            }
        };
        indices.push(index);
    }
    let policy_of = |path: &str| names.iter().position(|name| name.path == path).and_then(|place| indices[place]);
    let chosen: Vec<Option<usize>> =
        draft.schedulers.iter().map(|scheduler| policy_of(&scheduler.policy.path)).collect();
    let tree = tree::check(draft, diagnostics);
    let has_nodes = |index: usize| chosen[index].is_some_and(|policy| policies[policy].policy().has_nodes());
    for (index, scheduler) in draft.schedulers.iter().enumerate() {
        if tree.parents[index].is_some() && has_nodes(index) {
            diagnostics.push(nodes_below(&scheduler.policy));
        }
    }
    let of = |index: usize| chosen[index].map(|policy| policies[policy].policy());
    let parameters = parameters::check(draft, &tree.parents, &of, framework, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let place = |index: usize| tree.order.iter().position(|other| *other == index);
    let node = |index: &usize| {
        let scheduler = &draft.schedulers[*index];
        Some(Node {
            name: scheduler.name.text.clone(),
            policy: chosen[*index]?,
            parent: tree.parents[*index].and_then(place),
            parameters: parameters[*index].clone(),
            at: scheduler.name.at,
        })
    };
    let nodes = tree.order.iter().map(node).collect::<Option<Vec<Node>>>()?;
    Some(Hierarchy {
        name: draft.name.text.clone(),
        framework: framework.name.clone(),
        source: source.name.clone(),
        policies,
        nodes,
        default: place(tree.default?)?,
    })
}

fn nodes_below(name: &PolicyName) -> Diagnostic {
    let title = format!("the policy `{}` keeps nodes, and its scheduler is not the root", name.written);
    Diagnostic::error("E0605", title, name.at, "has an instance for each node")
        .note("a scheduler that has the processor from another one is asked on any processor, and has one instance")
        .help("let it be the root, or use a policy without `nodes` here")
}

fn refused(name: &PolicyName) -> Diagnostic {
    let title = format!("the policy `{}` is refused", name.written);
    Diagnostic::error("E0605", title, name.at, "").note("what is wrong with it is said above")
}

fn missing(name: &PolicyName, why: String, known: &[String]) -> Diagnostic {
    let title = format!("the policy `{}` is not found", name.written);
    let missing = Diagnostic::error("E0605", title, name.at, "").note(why);
    match nearest(&name.written, known.iter().map(String::as_str)) {
        Some(near) if name.is_path => missing.help(format!("did you mean `\"{near}\"`?")),
        Some(near) => missing.help(format!("did you mean `{near}`?")).suggest(name.at, near),
        None if name.is_path => missing,
        None => {
            let path = &name.path;
            missing.help(format!("put `{path}` beside the hierarchy, or write where it is: `\"folder/{path}\"`"))
        }
    }
}
