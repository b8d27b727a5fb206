//! Scripts, run in the interpreter.

use catapults_compiler::interp::{Machine, Position, Stop, ThreadId, Variables};
use catapults_compiler::policy::{Container, ContainerId, Policy, StateClass};
use catapults_compiler::verify::Verified;
pub use catapults_simulator::script::{Step, parse, perform};

/// Runs a script in the interpreter. It ends at a guard that fails: the policy is out then. So it does at a mistake of the verifier
/// and at a loop that does not end, which are decisions, too: a script that `catapults explore` saves may end so.
///
/// # Panics
/// As [`Replay::step`].
pub fn replay(verified: &Verified<Policy>, script: &[Step]) -> Vec<String> {
    let mut replay = Replay::new(verified);
    script.iter().for_each(|step| replay.step(step));
    replay.decisions
}

/// A script being run.
pub struct Replay<'a> {
    policy: &'a Policy,
    machine: Machine<'a>,
    application: Variables,
    /// Whether the policy was stopped.
    out: bool,
    /// What was decided so far.
    pub decisions: Vec<String>,
}

impl<'a> Replay<'a> {
    /// Before the first step.
    pub fn new(verified: &'a Verified<Policy>) -> Self {
        let (machine, application) = (Machine::new(verified), Variables::default());
        Replay { policy: verified.policy(), machine, application, out: false, decisions: Vec::new() }
    }

    /// Whether a thread is RUNNING.
    pub fn runs(&self, thread: ThreadId) -> bool {
        let running = |(_, container): &(usize, &Container)| container.class == StateClass::Running;
        let mut containers = self.policy.containers.iter().enumerate().filter(running);
        containers.any(|(index, _)| self.machine.position(thread) == Some(Position::In(ContainerId(index))))
    }

    /// Takes one step, unless the policy is out.
    ///
    /// # Panics
    /// If the step is none for this policy.
    pub fn step(&mut self, step: &Step) {
        if self.out {
            return;
        }
        match perform(&mut self.machine, &mut self.application, self.policy, step) {
            Ok(decision) => self.decisions.extend(decision),
            Err(Stop::Misuse(text)) => panic!("{step}: {text}"),
            Err(Stop::Unproved { line, text }) => {
                self.decisions.push(format!("{step} -> unproved {line} {text}"));
                self.out = true;
            }
            Err(Stop::Overrun { line }) => {
                self.decisions.push(format!("{step} -> overrun {line}"));
                self.out = true;
            }
            Err(Stop::Fail { reason, .. }) => self.decisions.push(format!("{step} -> fail {reason}")),
            Err(Stop::Guard { line, text }) => {
                self.decisions.push(format!("{step} -> guard {line} {text}"));
                self.out = true;
            }
        }
    }
}
