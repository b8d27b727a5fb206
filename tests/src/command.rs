//! The `catapults` command in a folder of its own, and what it says.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::{catapults, root};

/// The command with these arguments, in a folder.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(catapults());
    command.env("CATAPULTS_FRAMEWORKS", root().join("frameworks")).env("XDG_CACHE_HOME", folder.join("cache"));
    command.env_remove("NO_COLOR").current_dir(folder).args(arguments);
    command
}

/// What it does, without any input.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).stdin(Stdio::null()).output().unwrap()
}

/// The same, with this on its standard input.
pub fn with_input(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = command(folder, arguments);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Whoever is refused reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Both of its outputs.
pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The text of a policy of the library.
pub fn policy(name: &str) -> String {
    fs::read_to_string(root().join("policies").join(name)).unwrap()
}

/// A folder with a policy, a scenario that it is for, a recording of that, and a table of tasks.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fifo.sched"), policy("fifo.sched")).unwrap();
    fs::write(folder.path().join("fifo.scenario"), SCENARIO).unwrap();
    assert!(run(folder.path(), &["sim", "fifo.scenario", "--trace", "a.trace"]).status.success());
    fs::copy(root().join("tests/cli/admit/car.csv"), folder.path().join("tasks.csv")).unwrap();
    fs::copy(root().join("tests/cli/linux.txt"), folder.path().join("linux.txt")).unwrap();
    folder
}

/// A scenario for one of them.
pub const SCENARIO: &str = "scenario s { policy \"fifo.sched\"; thread a * 2 { run 1ms; yield; run 1ms; } }\n";
