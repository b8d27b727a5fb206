//! What the `catapults` command does to files that somebody has, and to an output that takes nothing more.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use catapults_tests::command::{SCENARIO, command, folder, policy, run, said};
use catapults_tests::root;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The same where SIGINT is not ignored, as it is of whatever a shell starts in the background, a test among it.
fn interruptible(folder: &Path, arguments: &[&str]) -> Command {
    let plain = command(folder, arguments);
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(plain.get_program()).args(plain.get_args()).current_dir(folder);
    command.env("CATAPULTS_FRAMEWORKS", root().join("frameworks"));
    command
}

#[test]
fn nothing_is_replaced_that_nobody_named() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str]| run(folder.path(), arguments);
    for (arguments, files) in [
        (&["trace", "plot", "a.trace"][..], &["a.svg"][..]),
        (&["trace", "html", "a.trace"], &["a.html"]),
        (&["trace", "export", "a.trace"], &["a.json"]),
        (&["build", "--as", "source", "fifo.sched", "-o", "."], &["fifo.c"]),
        (&["build", "fifo.sched", "-o", "."], &["fifo.c", "fifo-traced.c", "fifo.so"]),
        (&["manual", "."], &["catapults.1", "catapults-trace-plot.1"]),
    ] {
        for file in files {
            files.iter().for_each(|file| drop(fs::remove_file(path(file))));
            fs::write(path(file), "somebody's\n").unwrap();
            let refused = run(arguments);
            assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {}", said(&refused));
            assert!(said(&refused).contains("error[E0520]: a file of this name"), "{arguments:?}: {}", said(&refused));
            assert!(said(&refused).contains("--force"), "{}", said(&refused));
            assert_eq!(fs::read_to_string(path(file)).unwrap(), "somebody's\n", "{arguments:?}");
            let forced = run(&[arguments, &["--force"][..]].concat());
            assert!(forced.status.success(), "{arguments:?}: {}", said(&forced));
            assert_ne!(fs::read(path(file)).unwrap(), b"somebody's\n", "{arguments:?}");
        }
    }
    // Nor a folder, where what is built is one.
    fs::create_dir(path("fifo-freertos")).unwrap();
    fs::write(path("fifo-freertos/a"), "somebody's\n").unwrap();
    fs::remove_file(path("fifo.c")).unwrap();
    let refused = run(&["build", "--framework", "freertos", "fifo.sched", "-o", "."]);
    assert!(said(&refused).contains("error[E0520]: a folder of this name"), "{}", said(&refused));
    assert_eq!(fs::read_to_string(path("fifo-freertos/a")).unwrap(), "somebody's\n");
    fs::remove_file(path("fifo.so")).unwrap();
    // What was named is, and what we made is made anew.
    for arguments in [
        &["trace", "plot", "a.trace", "-o", "a.svg"][..],
        &["trace", "html", "a.trace", "-o", "a.html"],
        &["trace", "export", "a.trace", "-o", "a.json"],
        &["trace", "to-scenario", "a.trace", "-o", "a.json"],
        &["build", "fifo.sched", "-o", "."],
        &["build", "fifo.sched", "-o", "."],
        &["sim", "fifo.scenario", "--trace", "a.trace", "--plot", "a.svg", "--html", "a.html"],
        &["test", "fifo.scenario", "--junit", "a.json"],
        &["manual", "."],
    ] {
        let done = run(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", said(&done));
    }
}

/// Nothing is simulated, explored or read for an output that cannot be.
#[test]
fn an_output_that_cannot_be_written_is_told_first() {
    let folder = folder();
    fs::create_dir(folder.path().join("below")).unwrap();
    for arguments in [
        &["sim", "fifo.scenario", "--plot", "nowhere/a.svg"][..],
        &["sim", "fifo.scenario", "--html", "nowhere/a.html"],
        &["sim", "fifo.scenario", "--trace", "nowhere/a.trace"],
        &["sim", "fifo.scenario", "--trace", "below"],
        &["test", "fifo.scenario", "--junit", "nowhere/a.xml"],
        &["admit", "tasks.csv", "--policy", "edf", "--poet", "nowhere/a.yaml"],
        &["test", "fifo.scenario", "--junit", "below"],
        &["explore", "fifo.sched", "--save", "fifo.sched/a.script"],
        &["explore", "fifo.sched", "--save", "nowhere/a.scenario"],
        &["trace", "plot", "a.trace", "-o", "nowhere/a.svg"],
        &["trace", "html", "a.trace", "-o", "nowhere/a.html"],
        &["trace", "export", "a.trace", "-o", "nowhere/a.json"],
        &["trace", "to-scenario", "a.trace", "-o", "nowhere/a.scenario"],
        &["trace", "import", "a.trace", "-o", "nowhere/b.trace"],
        &["build", "fifo.sched", "-o", "fifo.sched/below"],
        &["build", "fifo.sched", "-o", "a.trace"],
    ] {
        let refused = run(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {}", said(&refused));
        // `test` says at the end what came of it all, whatever it was.
        let done = String::from_utf8_lossy(&refused.stdout).replace("test result: FAILED. 0 passed; 0 failed\n", "");
        assert!(done.is_empty(), "{arguments:?}: {}", said(&refused));
        assert!(said(&refused).contains("error[E0503]"), "{arguments:?}: {}", said(&refused));
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 6, "nothing is left behind: {left:?}");
}

/// Whatever the two are called: one would take the place of the other.
#[test]
fn two_outputs_are_two_files() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("below")).unwrap();
    fs::write(path("there.svg"), "somebody's\n").unwrap();
    fs::hard_link(path("there.svg"), path("same.svg")).unwrap();
    std::os::unix::fs::symlink("there.svg", path("link.svg")).unwrap();
    std::os::unix::fs::symlink("below/new.svg", path("dangling.svg")).unwrap();
    std::os::unix::fs::symlink("below", path("folder")).unwrap();
    let full = path("new.svg").display().to_string();
    let sim = |plot: &str, trace: &str| run(folder.path(), &["sim", "fifo.scenario", "--plot", plot, "--trace", trace]);
    for (plot, trace) in [
        ("new.svg", "new.svg"),
        ("new.svg", "./new.svg"),
        ("below/../new.svg", "new.svg"),
        ("new.svg", &full),
        ("there.svg", "there.svg"),
        ("there.svg", "link.svg"),
        ("there.svg", "same.svg"),
        ("below/new.svg", "dangling.svg"),
        ("folder/new.svg", "below/new.svg"),
    ] {
        let refused = sim(plot, trace);
        assert_eq!(refused.status.code(), Some(2), "{plot} {trace}: {}", said(&refused));
        assert!(said(&refused).contains("error[E0519]: one output would replace the other"), "{}", said(&refused));
        assert!(refused.stdout.is_empty() && !path("new.svg").exists() && !path("below/new.svg").exists());
        assert_eq!(fs::read_to_string(path("there.svg")).unwrap(), "somebody's\n");
    }
    for (plot, trace) in [("new.svg", "below/new.svg"), ("/dev/null", "/dev/null")] {
        let done = sim(plot, trace);
        // A recording is completed at its beginning, but for the device that has none.
        assert!(done.status.success(), "{plot} {trace}: {}", said(&done));
    }
    assert!(fs::read(path("below/new.svg")).unwrap().starts_with(b"CATTRACE"));
    assert!(fs::read(path("new.svg")).unwrap().starts_with(b"<"));
}

/// A policy that is there is none of what `explore` writes, and a folder that is not there is not made.
#[test]
fn a_finding_is_saved_where_it_is_told() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::copy(root().join("tests/run/refusal.sched"), path("wrong.sched")).unwrap();
    fs::write(path("mine.sched"), policy("edf.sched")).unwrap();
    let save = |file: &str| run(folder.path(), &["explore", "wrong.sched", "--save", file]);
    for file in ["mine.sched", "mine", "mine.trace", "mine.scenario.old"] {
        let refused = save(file);
        assert_eq!(refused.status.code(), Some(2), "{file}: {}", said(&refused));
        assert!(said(&refused).contains("error[E0503]: the ending of"), "{file}: {}", said(&refused));
        assert!(refused.stdout.is_empty());
    }
    assert_eq!(fs::read_to_string(path("mine.sched")).unwrap(), policy("edf.sched"));
    let refused = save("nowhere/found.scenario");
    assert!(refused.status.code() == Some(1) && said(&refused).contains("error[E0503]"), "{}", said(&refused));
    assert!(refused.stdout.is_empty() && !path("nowhere").exists());
    for file in ["found.scenario", "found.script", "./found.scenario", "/dev/null"] {
        let found = save(file);
        assert!(found.status.code() == Some(1) && said(&found).contains("saved as "), "{file}: {}", said(&found));
    }
    assert!(path("found.scenario").exists() && path("found.script").exists());
}

/// Each command, with something to say; but `run`, whose program says it, and those that ask a program that runs (live.rs).
const ALL: [&[&str]; 33] = [
    &["--help"],
    &["--version"],
    &["help", "sim"],
    &["demo"],
    &["new", "made"],
    &["check", "fifo.sched"],
    &["check", "--explain-guards", "fifo.sched"],
    &["explore", "--threads", "1", "fifo.sched"],
    &["fmt", "-"],
    &["fmt", "--check", "fifo.sched"],
    &["build", "--as", "source", "fifo.sched"],
    &["sim", "fifo.sched"],
    &["sim", "--log", "fifo.scenario"],
    &["sim", "--html", "a.html", "fifo.scenario"],
    &["test", "fifo.scenario"],
    &["admit", "--policy", "edf", "tasks.csv"],
    &["wcet", "fifo.sched"],
    &["ir", "fifo.sched"],
    &["grammar"],
    &["explain"],
    &["completions", "bash"],
    &["manual", "man"],
    &["unpack", "tree"],
    &["framework", "list"],
    &["framework", "check", "native"],
    &["trace", "show", "a.trace"],
    &["trace", "summary", "a.trace"],
    &["trace", "compare", "a.trace", "a.trace"],
    &["trace", "to-scenario", "a.trace"],
    &["trace", "plot", "--force", "a.trace"],
    &["trace", "html", "--force", "a.trace"],
    &["trace", "export", "--force", "a.trace"],
    &["trace", "import", "linux.txt", "-o", "b.trace"],
];

/// The commands that are below another one, as `--help` lists them; it alone, if none is.
fn below(command: &[String]) -> Vec<Vec<String>> {
    let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let help = run(root(), &arguments);
    assert!(help.status.success(), "{command:?}: {}", said(&help));
    let text = String::from_utf8(help.stdout).unwrap();
    let Some((_, listed)) = text.split_once("\nCommands:\n") else { return vec![command.to_vec()] };
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|name| below(&[command, &[name.to_owned()]].concat())).collect()
}

/// Whoever adds a command says above how it is given something to say.
#[test]
fn every_command_is_tried() {
    let all = below(&[]);
    assert!(all.len() > 15, "{all:?}");
    for command in all.iter().filter(|command| !["run", "top", "set", "replace"].contains(&command[0].as_str())) {
        let tried = ALL.iter().any(|arguments| {
            arguments.iter().zip(command).filter(|(one, other)| one == other).count() == command.len()
        });
        assert!(tried, "`catapults {}` is not in ALL", command.join(" "));
    }
}

#[test]
fn a_full_output_is_an_error() {
    let folder = folder();
    for arguments in ALL {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = command(folder.path(), arguments);
        let input = fs::File::open(folder.path().join("fifo.sched")).unwrap();
        let done = command.stdin(input).stdout(full).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{arguments:?}: {}", said(&done));
        assert!(said(&done).contains("error[E0503]: output cannot be written"), "{arguments:?}: {}", said(&done));
    }
    // Objects are on standard error.
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut json = command(folder.path(), &["explore", "--message-format", "json", "--threads", "1", "fifo.sched"]);
    assert_eq!(json.stderr(full).stdin(Stdio::null()).output().unwrap().status.code(), Some(1));
}

/// What was to be said beside the result was not heard: of each command that has something to say there.
#[test]
fn a_full_standard_error_is_an_error() {
    let folder = folder();
    let warned = policy("fifo.sched").replacen("data {", "thread { int unused; }\n  data {", 1);
    fs::write(folder.path().join("warned.sched"), &warned).unwrap();
    fs::write(folder.path().join("warned.scenario"), SCENARIO.replace("fifo", "warned")).unwrap();
    // What is of no use to anybody is told by all that read it.
    for (arguments, status) in [
        (&["check", "warned.sched"][..], 0),
        (&["check", "warned.scenario"], 0),
        (&["explore", "--threads", "1", "warned.sched"], 0),
        (&["explore", "--threads", "3", "--states", "5", "warned.sched"], 3),
        (&["build", "--as", "source", "warned.sched"], 0),
        (&["sim", "warned.sched"], 0),
        (&["sim", "warned.scenario"], 0),
        (&["test", "warned.scenario"], 0),
        (&["ir", "warned.sched"], 0),
    ] {
        let heard = run(folder.path(), arguments);
        assert_eq!(heard.status.code(), Some(status), "{arguments:?}: {}", said(&heard));
        assert!(!heard.stderr.is_empty(), "{arguments:?}: {}", said(&heard));
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let unheard = command(folder.path(), arguments).stdin(Stdio::null()).stderr(full).output().unwrap();
        assert_eq!(unheard.status.code(), Some(1), "{arguments:?}: {}", said(&unheard));
    }
    // Whoever has nothing to say there is not asked whether it could.
    for arguments in ALL {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let input = || fs::File::open(folder.path().join("fifo.sched")).unwrap();
        let heard = command(folder.path(), arguments).stdin(input()).output().unwrap();
        // `new` replaces nothing.
        for made in ["made.sched", "made.scenario"] {
            let _ = fs::remove_file(folder.path().join(made));
        }
        let done = command(folder.path(), arguments).stdin(input()).stderr(full).output().unwrap();
        let expected = if heard.stderr.is_empty() { heard.status.code() } else { Some(1) };
        assert_eq!(done.status.code(), expected, "{arguments:?}: {}", said(&heard));
    }
}

/// Started without a standard output, by `>&-`, a command could tell nobody what came of it.
#[test]
fn an_output_that_is_not_there_is_an_error() {
    let folder = folder();
    let closed = |arguments: &[&str], which: &str| {
        let plain = command(folder.path(), arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" \"$@\" {which}")]).arg(plain.get_program()).args(plain.get_args());
        shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(folder.path());
        shell.stdin(fs::File::open(folder.path().join("fifo.sched")).unwrap()).output().unwrap()
    };
    for arguments in ALL {
        let done = closed(arguments, ">&-");
        assert_eq!(done.status.code(), Some(1), "{arguments:?}: {}", said(&done));
        assert!(said(&done).contains("error[E0503]: output cannot be written: it is closed"), "{}", said(&done));
    }
    // Nothing has been done: not even what goes to files.
    for made in ["b.trace", "build", "made.sched", "made.scenario"] {
        assert!(!folder.path().join(made).exists(), "{made}");
    }
    assert_eq!(closed(&["nosuch"], ">&-").status.code(), Some(2));
    // Errors that cannot be told, and an input that is not there.
    assert_eq!(closed(&["check", "nowhere.sched"], "2>&-").status.code(), Some(1));
    assert_eq!(closed(&["check", "--message-format", "json", "fifo.sched"], "2>&-").status.code(), Some(1));
    assert!(closed(&["explain"], "2>&- <&-").status.success());
    let input = closed(&["check", "-"], "<&-");
    assert!(input.status.code() == Some(1) && said(&input).contains("error[E0501]"), "{}", said(&input));
    // A program has the streams that it was to have.
    let echo = |which: &str| closed(&["run", "fifo.sched", "--", "sh", "-c", "echo said"], which).status;
    assert!(echo("").success());
    assert!(!echo(">&-").success());
}

#[test]
fn a_closed_output_is_an_error_without_words() {
    let folder = folder();
    for arguments in ALL {
        let mut command = command(folder.path(), arguments);
        let input = fs::File::open(folder.path().join("fifo.sched")).unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = command.stdin(input).stdout(writer).output().unwrap();
        assert_eq!(done.status.code(), Some(141), "{arguments:?}: {}", said(&done));
        // Notes and warnings may have been told before.
        assert!(!said(&done).contains("error"), "{arguments:?}: {}", said(&done));
    }
}

/// What was explored until then is told.
#[test]
fn an_interrupted_exploration_says_what_it_has() {
    let folder = folder();
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        interrupted(folder.path(), signal, status);
    }
}

fn interrupted(folder: &Path, signal: &str, status: i32) {
    fs::write(folder.join("edf.sched"), policy("edf.sched")).unwrap();
    let mut explore = command(folder, &["explore", "--seconds", "0", "--threads", "8", "edf.sched", "fifo.sched"]);
    let mut child = explore.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It keeps what it has explored.
    let id = child.id();
    let kept = || {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
        size.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    while kept() < 24 << 10 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    let interrupt = Command::new("kill").args([&format!("-{signal}"), &id.to_string()]).status().unwrap();
    assert!(interrupt.success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(status), "{signal}: {}", said(&done));
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.starts_with("edf.sched: interrupted: nothing found until then"), "{}", said(&done));
    assert!(text.contains("until it was interrupted"), "{}", said(&done));
    assert!(text.contains("\ninterrupted: explored 1 policy"), "{}", said(&done));
    assert!(said(&done).contains("interrupted") && said(&done).contains("1 file not explored"), "{}", said(&done));
}

/// Whoever interrupts a command finds nothing of what was not done.
#[test]
fn nothing_unfinished_is_left_by_who_is_interrupted() {
    let folder = folder();
    let mut import = interruptible(folder.path(), &["trace", "import", "-", "-o", "b.trace"]);
    let mut child = import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = fs::read(root().join("tests/cli/linux.txt")).unwrap();
    // More may come.
    let mut input = child.stdin.take().unwrap();
    input.write_all(&lines).unwrap();
    let unfinished = folder.path().join(format!("b.trace.{}", child.id()));
    while !unfinished.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&done.status), Some(2), "{}", said(&done));
    assert!(!unfinished.exists() && !folder.path().join("b.trace").exists());
}

/// Names are what somebody chose: those of files, threads and policies, and the text of a file.
#[test]
fn no_escape_sequences_are_written_into_a_file() {
    let folder = folder();
    let name = "a\u{1b}[31mb\u{1b}]0;c\u{7}";
    let path = |ending: &str| format!("{name}.{ending}");
    let put = |ending: &str, text: &str| fs::write(folder.path().join(path(ending)), text).unwrap();
    put("sched", &policy("fifo.sched"));
    put("txt", &fs::read_to_string(root().join("tests/cli/linux_escape.txt")).unwrap());
    put("scenario", &format!("scenario s {{ policy \"fifo.sched\"; thread a {{ run 1ms; }} }} // {name}"));
    put("json", &format!("{{\"tasks\": {{\"{}\": {{\"iorun\": 5}}}}}}", name.escape_unicode()));
    put("hierarchy", &format!("hierarchy {name} {{"));
    put("framework", &format!("framework {name} {{"));
    fs::copy(folder.path().join("a.trace"), folder.path().join(path("trace"))).unwrap();
    let (sched, txt, scenario) = (path("sched"), path("txt"), path("scenario"));
    let (json, hierarchy, framework, trace) = (path("json"), path("hierarchy"), path("framework"), path("trace"));
    let missing = format!("{name}/nowhere");
    for arguments in [
        &["check", &sched, &scenario, &hierarchy, &json, &framework, &missing][..],
        &["check", "--message-format", "short", &hierarchy, &missing],
        &["check", "--message-format", "json", &hierarchy, &missing],
        &["check", "--framework", name, &sched],
        &["explore", "--threads", "1", &sched, &hierarchy],
        &["fmt", "--check", &scenario, &missing],
        &["fmt", &scenario],
        &["build", &sched, "-o", name],
        &["build", &sched, "--as", name],
        &["sim", &scenario],
        &["sim", "--policy", "fifo.sched", &json],
        &["sim", "--only", name, &scenario],
        &["sim", "--seed", name, &scenario],
        &["test", &scenario, &missing],
        &["framework", "check", &framework, name],
        &["trace", "import", &txt, "-o", &trace],
        &["trace", "show", &trace],
        &["trace", "show", "--thread", name, &trace],
        &["trace", "summary", "--histograms", &trace],
        &["trace", "plot", &trace],
        &["trace", "html", &trace, &trace],
        &["trace", "export", &trace, "-o", &missing],
        &["trace", "compare", &trace, "a.trace"],
        &["explain", name],
        &["run", &missing, "--", "true"],
        &[name],
    ] {
        let done = run(folder.path(), arguments);
        assert!(!done.stdout.contains(&0x1b) && !done.stderr.contains(&0x1b), "{arguments:?}: {}", said(&done));
        assert!(!done.stdout.contains(&7) && !done.stderr.contains(&7), "{arguments:?}: {}", said(&done));
    }
    // A name that is no text.
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"\xff\x1b[31m.sched"));
    let done = command(folder.path(), &["check"]).arg(odd).stdin(Stdio::null()).output().unwrap();
    assert!(done.status.code() == Some(1) && !done.stderr.contains(&0x1b), "{}", said(&done));
}
