//! Helpers of the tests.

pub mod admission;
pub mod choices;
pub mod clocks;
pub mod command;
pub mod compiled;
pub mod differential;
pub mod examples;
pub mod faults;
pub mod fuzz;
pub mod grammar;
pub mod hierarchies;
pub mod host;
pub mod mutants;
pub mod packets;
pub mod policies;
pub mod posix;
pub mod promises;
pub mod recorded;
pub mod replay;
pub mod repository;
pub mod scenarios;
pub mod steps;
pub mod theory;
pub mod trees;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use catapults_compiler::framework::{self, Framework};
use catapults_compiler::source::Source;
use catapults_compiler::syntax::{self, NotUsed, Wanted};

/// The folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// How long the calling thread has had a processor. What it takes to do something is told by that, whatever else the machine does.
pub fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// Waits until it is so. The limit is for what never comes, and far beyond what a machine takes that has other things to do.
pub fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(120), "not in two minutes: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The framework that is described at a path from the root.
pub fn framework_at(path: &str) -> Framework {
    let bytes = fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let source = Source::from_bytes(path, bytes).unwrap();
    framework::read(&source).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)))
}

/// The description of the native runtime.
pub fn native() -> Framework {
    framework_at("frameworks/native/native.framework")
}

/// The framework of `tests/ui/frameworks` that a line `// framework: NAME` of a policy names, else the native one.
pub fn framework_for(policy: &Source) -> Framework {
    match policy.text.lines().find_map(|line| line.strip_prefix("// framework: ")) {
        Some(name) => framework_at(&format!("tests/ui/frameworks/{}.framework", name.trim())),
        None => native(),
    }
}

/// The policies that are shipped, in order.
pub fn shipped_policies() -> Vec<PathBuf> {
    let folder = root().join("policies");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut policies: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "sched")).collect();
    policies.sort();
    assert!(!policies.is_empty());
    policies
}

/// A policy and what it uses, called by its path.
pub fn policy_at(path: &Path) -> Source {
    named_policy(path.display().to_string(), path)
}

/// A policy and what it uses.
pub fn named_policy(name: impl Into<String>, path: &Path) -> Source {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    brought(Source::new(name, text), path.parent().unwrap())
}

/// A text with the files that it uses, which are below its folder or in the library.
pub fn brought(source: Source, folder: &Path) -> Source {
    let (own, text) = (source.name.clone(), source.text.clone());
    syntax::bring(source, &mut |wanted: Wanted<'_>| {
        if wanted.path == own {
            return Ok(Source::new(own.as_str(), text.as_str()));
        }
        let beside = Path::new(wanted.user).parent().filter(|_| wanted.user != own).unwrap_or(Path::new(""));
        let path = beside.join(wanted.path);
        let looked = [folder.join(&path), root().join("policies").join(&path)];
        match looked.iter().find(|path| path.exists()) {
            Some(found) if found.is_dir() => Err(NotUsed::Refused("it is a folder".to_owned())),
            Some(found) => {
                let bytes = fs::read(found).unwrap();
                Source::from_bytes(path.display().to_string(), bytes).map_err(NotUsed::Unreadable)
            }
            None => Err(NotUsed::Missing { looked: vec![format!("`{}`", path.display())], known: Vec::new() }),
        }
    })
}

/// A program that is given five minutes: then its exit status is 124, that of `timeout`.
pub fn limited(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "300"]).arg(program);
    command
}

/// The `catapults` command, built as the calling test was. `CATAPULTS_TESTED` names one that is: for this package alone its libraries
/// would be compiled anew, with fewer features than all have together.
pub fn catapults() -> PathBuf {
    if let Some(built) = std::env::var_os("CATAPULTS_TESTED") {
        return built.into();
    }
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "catapults-cli"])
        .args(if cfg!(debug_assertions) { &[][..] } else { &["--release"] })
        .current_dir(root())
        .status()
        .unwrap();
    assert!(status.success());
    // This test is target/PROFILE/deps/NAME-HASH.
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("catapults")
}
