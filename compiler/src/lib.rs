//! The Catapults compiler: from the text of a `.sched` file to files for a host, or to an interpreter.
//!
//! ```text
//! policy.sched ──► syntax ──► check ──► Policy ──► verify ──► Verified<Policy> ──► emit ──► C
//!                    ▲          ▲                    ▲               │
//! NAME.framework ────┴──────────┴────────────────────┘               └──► interp
//! ```
//!
//! A scheduler with families of nodes goes this way once with each: see `families`. NAME.hierarchy and NAME.scenario refer to policies that are safe to run: `compile_hierarchy`, `compile_scenarios`.
//!
//! The compiler is pure: it reads and writes no file, and names no host. Each stage sees only what is to its left.

pub mod check;
pub mod diagnostics;
pub mod emit;
mod families;
pub mod format;
pub mod framework;
pub mod hierarchy;
pub mod interp;
pub mod policy;
pub mod program;
pub mod scenario;
pub mod source;
pub mod steps;
pub mod syntax;
pub mod verify;
pub mod vocabulary;

use diagnostics::Diagnostics;
use framework::Framework;
use hierarchy::{Found, Hierarchy, NotFound};
use policy::Policy;
use scenario::{Decides, Scenario, Surroundings};
use source::Source;
use syntax::ast::FileKind;
use verify::Verified;

/// The whole front end: a policy in this framework's dialect that is safe to run, or everything that is wrong with it.
///
/// Warnings are returned with the policy.
pub fn compile(source: &Source, framework: &Framework) -> Result<(Verified<Policy>, Diagnostics), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut tree = syntax::parse(source, &framework.dialect, &mut diagnostics);
    if tree.kind != FileKind::Policy {
        diagnostics.push(check::no_policy(&tree));
        return Err(diagnostics);
    }
    syntax::functions_of_used(source, &framework.dialect, &mut tree, &mut diagnostics);
    let verified = if tree.lost.families {
        None
    } else if tree.families.is_empty() {
        let policy = check::check(source, &tree, framework, &mut diagnostics);
        policy.and_then(|policy| verify::verify(policy, framework, &mut diagnostics))
    } else {
        syntax::families_of_used(source, &framework.dialect, &mut tree, &mut diagnostics);
        families::compile(source, &tree, framework, &mut diagnostics)
    };
    diagnostics.narrow(source.whole());
    if let Some(verified) = &verified {
        emit::check_size(verified.policy(), framework, &mut diagnostics);
    }
    match verified {
        Some(verified) if !diagnostics.has_errors() => {
            // With families, this has been done with each.
            if tree.families.is_empty() {
                check::unused(&tree, &mut diagnostics);
            }
            diagnostics.tell_uses(source);
            Ok((verified, diagnostics))
        }
        Some(_) | None => {
            diagnostics.tell_uses(source);
            Err(diagnostics)
        }
    }
}

/// Everything that is wrong with a file of functions, apart from a policy that uses it. Without errors, policies of
/// this framework can.
pub fn check_functions(source: &Source, framework: &Framework) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut tree = syntax::parse(source, &framework.dialect, &mut diagnostics);
    syntax::functions_of_used(source, &framework.dialect, &mut tree, &mut diagnostics);
    check::check_functions(&tree, framework, &mut diagnostics);
    diagnostics.tell_uses(source);
    diagnostics
}

/// The result of compiling a hierarchy. Diagnostics of its policies come first, in the order in which they are named.
#[derive(Debug)]
pub struct Judged {
    /// `None`: there are errors, which are reported.
    pub hierarchy: Option<Hierarchy>,
    /// The diagnostics of each file.
    pub said: Vec<(Source, Diagnostics)>,
}

/// Compiles a hierarchy of policies that [`compile`] accepts. `find` reads a policy by its path from the file's folder.
pub fn compile_hierarchy(
    source: &Source,
    framework: &Framework,
    find: &mut dyn FnMut(&str) -> Result<Source, NotFound>,
) -> Judged {
    let mut diagnostics = Diagnostics::new();
    let mut said = Vec::new();
    let draft = hierarchy::read(source, framework, &mut diagnostics);
    let mut found = Vec::new();
    for name in draft.policies() {
        found.push(match find(&name.path) {
            Ok(policy) => {
                let compiled = compile(&policy, framework);
                let (outcome, of_policy) = match compiled {
                    Ok((verified, warnings)) => (Found::Policy(Box::new(verified)), warnings),
                    Err(errors) => (Found::Refused, errors),
                };
                said.push((policy, of_policy));
                outcome
            }
            Err(NotFound::Unreadable(unreadable)) => {
                said.push((unreadable.source, unreadable.diagnostics));
                Found::Refused
            }
            Err(NotFound::Missing { why, known }) => Found::Missing { why, known },
        });
    }
    let hierarchy = hierarchy::check(source, &draft, found, framework, &mut diagnostics);
    said.push((source.clone(), diagnostics));
    Judged { hierarchy, said }
}

/// The result of compiling the scenarios of a file.
#[derive(Debug)]
pub struct Staged<P> {
    /// Those that can be simulated, each with its policy, in order.
    pub scenarios: Vec<(Scenario, P)>,
    /// The names of all scenarios.
    pub names: Vec<String>,
    /// The diagnostics of the file, without those of its policies.
    pub said: Diagnostics,
    /// Whether a policy is refused.
    pub refused: bool,
}

/// Compiles the scenarios of a file whose names are `wanted`, for policies that [`compile`] accepts.
pub fn compile_scenarios<S: Surroundings>(
    source: &Source,
    framework: &Framework,
    wanted: &dyn Fn(&str) -> bool,
    surroundings: &mut S,
) -> Staged<S::Policy> {
    let mut said = Diagnostics::new();
    let drafts = scenario::read(source, &mut said);
    let names = drafts.iter().map(|draft| draft.name.text.clone()).collect();
    let (mut scenarios, mut refused) = (Vec::new(), false);
    // Something that could be read may need what could not.
    let drafts = if said.has_errors() { Vec::new() } else { drafts };
    scenario::twice(&drafts, &mut said);
    for draft in drafts.iter().filter(|draft| wanted(&draft.name.text)) {
        let mut instead = false;
        let policy = match surroundings.policy(draft) {
            scenario::Found::Policy(policy) => Some(policy),
            scenario::Found::Instead(policy) => {
                instead = true;
                Some(policy)
            }
            scenario::Found::Refused => {
                refused = true;
                None
            }
            scenario::Found::None(why, help) => {
                said.push(scenario::without_policy(draft, why, help));
                None
            }
        };
        let mut subject = policy.as_ref().map_or(scenario::Subject::UNKNOWN, |policy| policy.subject());
        subject.instead = instead;
        let mut numbers = |file: &scenario::FileName| surroundings.numbers(file);
        let checked = scenario::check(draft, &subject, framework, &mut numbers, &mut said);
        drop(subject);
        scenarios.extend(checked.zip(policy));
    }
    Staged { scenarios, names, said, refused }
}
