//! The Catapults compiler: from the text of a `.sched` file to files for a host, or to an interpreter.
//!
//! ```text
//! policy.sched ──► syntax ──► check ──► Policy ──► verify ──► Verified<Policy> ──► emit ──► C
//!                    ▲          ▲                    ▲               │
//! NAME.framework ────┴──────────┴────────────────────┘               └──► interp
//! ```
//!
//! Pure: it reads and writes no file, and names no host. Each stage sees only what stands left of it.

pub mod check;
pub mod diagnostics;
pub mod emit;
pub mod format;
pub mod framework;
pub mod hierarchy;
pub mod interp;
pub mod policy;
pub mod scenario;
pub mod source;
pub mod syntax;
pub mod verify;
pub mod vocabulary;

use diagnostics::Diagnostics;
use framework::Framework;
use hierarchy::{Found, Hierarchy, NotFound};
use policy::Policy;
use source::Source;
use verify::Verified;

/// The whole front end: a policy in this framework's dialect that is safe to run, or everything that is wrong with it.
///
/// Diagnostics that are not errors come back beside the policy.
pub fn compile(source: &Source, framework: &Framework) -> Result<(Verified<Policy>, Diagnostics), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let tree = syntax::parse(source, &framework.dialect, &mut diagnostics);
    let policy = check::check(source, &tree, framework, &mut diagnostics);
    let verified = policy.and_then(|policy| verify::verify(policy, framework, &mut diagnostics));
    if let Some(verified) = &verified {
        emit::check_size(verified.policy(), framework, &mut diagnostics);
    }
    match verified {
        Some(verified) if !diagnostics.has_errors() => {
            check::unused(&tree, &mut diagnostics);
            Ok((verified, diagnostics))
        }
        Some(_) | None => Err(diagnostics),
    }
}

/// What became of a hierarchy, with what is to be said of it and of its policies: the policies first, in the order in which they are named.
#[derive(Debug)]
pub struct Judged {
    /// `None`: something is wrong, and said.
    pub hierarchy: Option<Hierarchy>,
    /// Of each file.
    pub said: Vec<(Source, Diagnostics)>,
}

/// A hierarchy of schedulers, each of a policy that [`compile`] accepts. `find` reads a policy by its path from the hierarchy's folder.
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
