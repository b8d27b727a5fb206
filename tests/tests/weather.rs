//! One application, one policy, every host: the weather station decides on each what the interpreter decides.
//!
//! Each folder `applications/weather/hosts/NAME` is a host. Its station writes what the policy is told and decides as a script; the steps
//! are the same everywhere, but for the event by which the first thread leaves, and the interpreter takes the same decisions, with
//! that host's framework. Besides, the commands of the application's README do what stands there.

use catapults_compiler::compile;
use catapults_compiler::source::Source;
use catapults_tests::replay::{Step, replay};
use catapults_tests::{catapults, framework_at, limited, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

const POLICY: &str = "applications/weather/weather.sched";
/// Short: the whole runs are `make weather`.
const CALCULATIONS: &str = "200";
/// Warm and cold come within so many calculations.
const SHOWN: &str = "shown 13";

/// Both tests that make programs use one folder.
static MAKING: Mutex<()> = Mutex::new(());

#[test]
fn every_host_decides_what_the_interpreter_decides() {
    let _making = MAKING.lock();
    let hosts = hosts();
    for (threads, expected) in [("6", 7), ("11", 12)] {
        let mut first: Option<(String, Vec<String>)> = None;
        for host in &hosts {
            let traced = make(host, "trace", &[("THREADS", threads)]);
            let lines: Vec<&str> = traced.lines().filter(|line| !line.starts_with("//")).collect();
            let decisions = decisions(host, &lines);
            assert!(decisions.len() > 300, "{host}, {threads} threads: {} decisions", decisions.len());
            let mut dispatched = decisions.clone();
            dispatched.sort();
            dispatched.dedup();
            assert_eq!(dispatched.len(), expected, "{host}, {threads} threads: somebody never ran\n{traced}");
            assert!(traced.contains(SHOWN), "{host}: it is never warm\n{traced}");

            // The first thread leaves in a way of the host's own.
            let neutral: Vec<String> =
                lines.iter().filter(|line| !leaves(line)).map(|line| (*line).to_owned()).collect();
            assert_eq!(neutral.len() + 1, lines.len(), "{host}: the first thread leaves once\n{traced}");
            let (other, of_other) = first.get_or_insert_with(|| (host.clone(), neutral.clone()));
            for (number, (line, of_other)) in neutral.iter().zip(&*of_other).enumerate() {
                assert_eq!(line, of_other, "step {} of {threads} threads, {host} and {other}", number + 1);
            }
            assert_eq!(neutral.len(), of_other.len(), "{threads} threads, {host} and {other}");
        }
    }
}

fn leaves(line: &str) -> bool {
    line == "exit 1" || line.starts_with("block.")
}

/// Of a trace; checked against the interpreter.
fn decisions(host: &str, lines: &[&str]) -> Vec<String> {
    let framework = framework_at(&format!("frameworks/{host}/{host}.framework"));
    let source = Source::new(POLICY, fs::read_to_string(root().join(POLICY)).unwrap());
    let (policy, _) =
        compile(&source, &framework).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
    let step = |line: &&str| line.split_once(" -> ").map_or(*line, |(step, _)| step).parse();
    let steps: Result<Vec<Step>, String> = lines.iter().map(step).collect();
    let interpreted = replay(&policy, &steps.unwrap_or_else(|wrong| panic!("{host}: {wrong}")));
    let decided: Vec<String> =
        lines.iter().filter(|line| line.contains(" -> ")).map(|line| (*line).to_owned()).collect();
    for (number, (host_decided, interpreter)) in decided.iter().zip(&interpreted).enumerate() {
        assert_eq!(host_decided, interpreter, "decision {} on {host}, and in the interpreter", number + 1);
    }
    assert_eq!(decided.len(), interpreted.len(), "{host}");
    decided
}

/// The short form of `make weather`: on every host and under either scheduler the station does the same work.
#[test]
fn every_host_does_the_same_work() {
    let _making = MAKING.lock();
    let mut first: Option<Vec<String>> = None;
    for host in hosts() {
        for scheduler in ["generic", "weather"] {
            let printed = make(&host, "measure", &[("SCHEDULER", scheduler), ("THREADS", "6")]);
            let (duration, code) = (number(&printed, "duration "), number(&printed, "code "));
            assert!(duration > 0.0 && code > 0.0, "{host} under {scheduler} prints\n{printed}");
            let work: Vec<String> = printed.lines().take(5).map(str::to_owned).collect();
            let expected = first.get_or_insert_with(|| work.clone());
            assert_eq!(&work, expected, "{host} under {scheduler}");
        }
    }
    assert_eq!(first.unwrap(), ["calculations 200", "standard 66", "slow 33", SHOWN, "lost 0"]);
}

/// The bounds that `make weather` shows: beside a scheduler for the same policy that was written by hand in C.
#[test]
fn a_generated_scheduler_is_as_good_as_one_by_hand() {
    let _making = MAKING.lock();
    let in_c = |name: &str| root().join(format!("bench/rabbit/{name}.c")).display().to_string();
    let by_hand = in_c("by_hand");
    let yielded = |scheduler: &str| number(&make_in("bench/rabbit", "yield", &[("SCHEDULER", scheduler)]), "yield ");
    let bare = yielded(&in_c("bare"));
    let (generated, written) = (yielded("weather") - bare, yielded(&by_hand) - bare);
    assert!(written > 100.0 && generated <= 1.3 * written, "a decision: {generated} clocks, by hand {written}");
    let code = |scheduler: &str| number(&make("rabbit", "measure", &[("SCHEDULER", scheduler)]), "code ");
    let (generated, written) = (code("weather"), code(&by_hand));
    assert!(written > 1000.0 && generated <= 1.15 * written, "code: {generated} bytes, by hand {written}");
}

/// The number that stands after a word at the beginning of a line.
fn number(printed: &str, name: &str) -> f64 {
    let line = printed.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let number = line.split_whitespace().next().and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no `{name}` in\n{printed}"))
}

fn hosts() -> Vec<String> {
    let entries = fs::read_dir(root().join("applications/weather/hosts")).unwrap();
    let mut hosts: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    hosts.sort();
    assert!(hosts.len() > 1);
    hosts
}

/// What a target of a host's Makefile prints.
fn make(host: &str, target: &str, variables: &[(&str, &str)]) -> String {
    make_in(&format!("applications/weather/hosts/{host}"), target, variables)
}

fn make_in(folder: &str, target: &str, variables: &[(&str, &str)]) -> String {
    let mut command = limited("make");
    command.args(["--silent", "-j2", "-C"]).arg(root().join(folder)).arg(target);
    command.arg(format!("BUILD={}/weather", env!("CARGO_TARGET_TMPDIR"))).arg(format!("CALCULATIONS={CALCULATIONS}"));
    command.args(variables.iter().map(|(name, value)| format!("{name}={value}")));
    let output = command.env("CATAPULTS", catapults()).env_remove("MAKEFLAGS").output().unwrap();
    assert!(output.status.success(), "{folder}, {target} {variables:?}:\n{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// In a clone, as it is after `make build`. What a command prints has to stand below it, but for durations and sizes.
#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    let readme = fs::read_to_string(root().join("applications/weather/README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cache = clone_into(folder.path());
    for part in ["frameworks/native", "frameworks/pth", "applications/weather"] {
        let mut make = Command::new("make");
        make.args(["-j2", "-C", part, "all"]).current_dir(folder.path());
        let made = without_ours(&mut make).output().unwrap();
        assert!(made.status.success(), "{part}: {}", said(&made));
    }
    let mut commands = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for session in block.split("$ ").filter(|session| !session.trim().is_empty()) {
            let (command, expected) = session.split_once('\n').unwrap();
            let mut shell = limited("sh");
            shell.args(["-c", command]).current_dir(folder.path()).env("XDG_CACHE_HOME", &cache);
            let output = without_ours(&mut shell).output().unwrap();
            assert!(output.status.success(), "{command}: {}\n{}", output.status, said(&output));
            assert_eq!(without_figures(&said(&output)), without_figures(expected), "{command}");
            commands += 1;
        }
    }
    assert!(commands >= 5, "only {commands} commands were found");
}

/// Without what `make test` gives to its tests.
fn without_ours(command: &mut Command) -> &mut Command {
    ["MAKEFLAGS", "BUILD", "CATAPULTS", "CATAPULTS_POLICY"]
        .iter()
        .fold(command, |command, name| command.env_remove(name))
}

/// A folder with the files of this repository and the compiler; returns a cache beside them.
fn clone_into(folder: &Path) -> PathBuf {
    let listed =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(root()).output().unwrap();
    for path in String::from_utf8(listed.stdout).unwrap().lines() {
        let (from, to) = (root().join(path), folder.join(path));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        match fs::read_link(&from) {
            Ok(target) => std::os::unix::fs::symlink(target, to).unwrap(),
            Err(_) if from.is_file() => drop(fs::copy(from, to).unwrap()),
            Err(_) => {}
        }
    }
    fs::create_dir_all(folder.join("build/bin")).unwrap();
    std::os::unix::fs::symlink(catapults(), folder.join("build/bin/catapults")).unwrap();

    // Toolchains stay where they are; what `catapults run` builds is gone with the folder.
    let cache = folder.join("cache");
    fs::create_dir_all(cache.join("catapults")).unwrap();
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let users = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home).unwrap().join("catapults");
    for entry in fs::read_dir(users).into_iter().flatten().flatten() {
        let name = entry.file_name();
        // Names of what `catapults run` has built are numbers.
        if name.to_string_lossy().contains('-') {
            std::os::unix::fs::symlink(entry.path(), cache.join("catapults").join(name)).unwrap();
        }
    }
    cache
}

fn without_figures(text: &str) -> String {
    let line = |line: &str| match line.split_once(' ') {
        Some(("duration", rest)) => format!("duration N {}", rest.split_whitespace().next_back().unwrap_or_default()),
        Some(("code", _)) => "code N".to_owned(),
        _ => line.trim_end().to_owned(),
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}
