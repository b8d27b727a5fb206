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
pub mod interp;
pub mod policy;
pub mod source;
pub mod syntax;
pub mod verify;
pub mod vocabulary;

use diagnostics::Diagnostics;
use framework::Framework;
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
