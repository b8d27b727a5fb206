//! `catapults top`, `set` and `replace`: a program that runs is seen and changed.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use catapults_tests::command::said;
use catapults_tests::{catapults, limited, root};

struct Program {
    child: Child,
    process: String,
    lines: BufReader<std::process::ChildStdout>,
}

fn tool(cache: &Path) -> Command {
    let mut command = limited(catapults());
    command.env("CATAPULTS_FRAMEWORKS", root().join("frameworks")).env("XDG_CACHE_HOME", cache).env("NO_COLOR", "1");
    command
}

impl Program {
    /// Under `round_robin`. The command becomes the program, which writes a line once its threads are there.
    fn start(folder: &Path, program: &Path) -> Program {
        let mut command = Command::new(catapults());
        command.env("CATAPULTS_FRAMEWORKS", root().join("frameworks")).env("XDG_CACHE_HOME", folder.join("cache"));
        command.arg("run").arg(library("round_robin")).arg("--").arg(program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut started = Program { process: child.id().to_string(), child, lines };
        assert_eq!(started.line(), "begun");
        started
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Whether it answers at its standard input, and so goes on.
    fn goes_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b".").unwrap();
        assert_eq!(self.line().len(), 2);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn library(policy: &str) -> PathBuf {
    root().join(format!("policies/{policy}.sched"))
}

fn ask(folder: &Path, words: &[&str]) -> Output {
    tool(&folder.join("cache")).args(words).output().unwrap()
}

fn succeeds(folder: &Path, words: &[&str]) -> String {
    let done = ask(folder, words);
    assert!(done.status.success(), "{words:?}: {}", said(&done));
    said(&done)
}

fn refused(folder: &Path, words: &[&str], why: &str) {
    let done = ask(folder, words);
    assert_eq!(done.status.code(), Some(1), "{words:?}: {}", said(&done));
    assert!(said(&done).contains(why), "{words:?}: {}", said(&done));
}

#[test]
fn a_program_for_posix_threads_is_seen_and_changed() {
    let build = root().join("build").display().to_string();
    let mut make = Command::new("make");
    make.args(["--silent", "-j2", "-C"]).arg(root().join("frameworks/native")).arg(format!("BUILD={build}"));
    let made = make.arg("beneath").env_remove("MAKEFLAGS").env_remove("OUT").output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let folder = tempfile::tempdir().unwrap();
    let (folder, program) = (folder.path(), folder.path().join("turns"));
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
    let made = compiler.arg(&program).arg(root().join("tests/live/turns.c")).output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let mut program = Program::start(folder, &program);
    let process = program.process.clone();

    // Threads name themselves, some time after they have begun.
    let named = |table: &String| table.contains("  one") && table.contains("  other");
    let table = (0..500).map(|_| succeeds(folder, &["top", &process])).find(named).expect("threads with their names");
    assert!(table.contains("policy round_robin") && table.contains("variables: quantum = 10ms"), "{table}");
    assert!(!table.contains('\x1b'), "{table}");
    let object: serde_json::Value = serde_json::from_str(&succeeds(folder, &["top", "--json", &process])).unwrap();
    assert_eq!(object["threads"].as_array().unwrap().len(), 4, "{object}");

    for words in [&["top", "--json", &process][..], &["top", &process]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = tool(&folder.join("cache")).args(words).stdout(full).output().unwrap();
        assert!(done.status.code() == Some(1) && said(&done).contains("error[E0503]"), "{words:?}: {}", said(&done));
    }

    succeeds(folder, &["set", &process, "quantum=3ms"]);
    assert!(succeeds(folder, &["top", "--once", &process]).contains("quantum = 3ms"));
    refused(folder, &["set", &process, "quantm=3ms"], "did you mean `quantum`?");
    refused(folder, &["set", &process, "quantum=3"], "is of the type time");
    refused(
        folder,
        &["set", &process, "--thread", "nobody", "quantum=3ms"],
        "error[E0531]: there is no thread `nobody`",
    );

    succeeds(folder, &["replace", &process, &library("fixed_priority").display().to_string()]);
    succeeds(folder, &["set", &process, "--thread", "other", "priority=5"]);
    refused(folder, &["set", &process, "priority=5"], "each thread has one: say whose, by --thread");
    assert!(succeeds(folder, &["top", &process]).contains("policy fixed_priority"));
    refused(folder, &["replace", &process, "/bin/true"], "error[E0532]");
    succeeds(folder, &["set", &process, "--thread", "main", "priority=9"]);
    program.goes_on();

    drop(program);
    refused(folder, &["top", &process], "error[E0530]: there is no such process, or it has ended");
    let own = std::process::id().to_string();
    refused(folder, &["top", &own], "error[E0530]: the process does not run under a policy");
}
