//! What must survive any bytes: a target for each of the compiler's ways in, the texts to start from, and ways to change them.
//!
//! libFuzzer drives the targets in `make fuzz` (`tests/fuzz`), random changes in `make test`, and both keep the bytes that broke
//! one as a file in `tests/fuzz/reproducers/TARGET`, which is a test from then on.

mod changes;
mod seeds;
mod targets;
mod workloads;

use std::path::PathBuf;

pub use changes::changed;
pub use seeds::dictionary;

/// One way in.
#[derive(Clone, Copy)]
pub struct Target {
    /// Also the name of its program in `tests/fuzz`.
    pub name: &'static str,
    /// Panics if the compiler does what it must not.
    pub run: fn(&[u8]),
    /// What to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 15] = [
    Target { name: "lexer", run: targets::lexer, seeds: seeds::texts },
    Target { name: "parser", run: targets::parser, seeds: seeds::policies },
    Target { name: "format", run: targets::format, seeds: seeds::formatted },
    Target { name: "checker", run: targets::checker, seeds: seeds::policies },
    Target { name: "ir", run: targets::ir, seeds: seeds::representations },
    Target { name: "framework", run: targets::framework, seeds: seeds::frameworks },
    Target { name: "hierarchy", run: targets::hierarchy, seeds: seeds::hierarchies },
    Target { name: "script", run: targets::script, seeds: seeds::scripts },
    Target { name: "trace", run: targets::trace, seeds: seeds::traces },
    Target { name: "scenario", run: workloads::scenarios, seeds: seeds::scenarios },
    Target { name: "rtapp", run: workloads::rtapp, seeds: seeds::rtapp },
    Target { name: "tasks", run: workloads::tasks, seeds: seeds::tasks },
    Target { name: "linux", run: workloads::linux, seeds: seeds::linux },
    Target { name: "packets", run: workloads::packets, seeds: seeds::packets },
    Target { name: "soundness", run: targets::soundness, seeds: seeds::choices },
];

/// Runs a target by its name.
///
/// # Panics
/// If there is none of that name, and as [`Target::run`].
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("no target is called {name}")).run)(bytes);
}

/// The folder of the bytes that broke a target once.
pub fn reproducers(target: &Target) -> PathBuf {
    crate::root().join("tests/fuzz/reproducers").join(target.name)
}
