//! Scripts, run in the interpreter.

use catapults_compiler::interp::{Machine, Stop, Variables};
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
pub use catapults_simulator::script::{Step, parse, perform};

/// Runs a script in the interpreter. It ends at a guard that fails: the policy is out then.
///
/// # Panics
/// If the interpreter finds a mistake of the verifier, a loop does not end, or the script is none for this policy.
pub fn replay(verified: &Verified<Policy>, script: &[Step]) -> Vec<String> {
    let mut machine = Machine::new(verified);
    let mut application = Variables::default();
    let mut decisions = Vec::new();
    for step in script {
        match perform(&mut machine, &mut application, verified.policy(), step) {
            Ok(decision) => decisions.extend(decision),
            Err(stop @ (Stop::Unproved { .. } | Stop::Misuse(_) | Stop::Overrun { .. })) => panic!("{step}: {stop:?}"),
            Err(Stop::Fail { reason, .. }) => decisions.push(format!("{step} -> fail {reason}")),
            Err(Stop::Guard { line, text }) => {
                decisions.push(format!("{step} -> guard {line} {text}"));
                break;
            }
        }
    }
    decisions
}
